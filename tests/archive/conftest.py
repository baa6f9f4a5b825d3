"""A small bag, and keys to sign it."""

import shutil

import pytest
from making import bags


@pytest.fixture(scope="session")
def payload(tmp_path_factory):
    return bags.payload(tmp_path_factory.mktemp("payload"))


@pytest.fixture(scope="session")
def files(payload):
    return bags.tagged(payload)


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    if shutil.which("ssh-keygen") is None:
        pytest.skip("OpenSSH is not installed")
    folder = tmp_path_factory.mktemp("keys")
    return {name: bags.key(folder, name) for name in ("agency", "board", "stranger")}
