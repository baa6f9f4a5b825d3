"""Signatures by the real `ssh-keygen`: who may sign, who is believed, and one sentence for everything else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from making import bags
from reident.archive import signing
from reident.errors import InputError

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")

DATA = b"what is signed\n"


def keygen(*arguments: str, data: bytes = b"") -> bytes:
    return subprocess.run(["ssh-keygen", *arguments], input=data, capture_output=True, check=True).stdout


def key(folder: Path, name: str = "key", *options: str, words: str = "") -> Path:
    """A new key; ed25519 unless options say otherwise."""
    keygen("-q", "-t", "ed25519", "-N", words, "-C", name, "-f", str(folder / name), *options)
    return folder / name


@pytest.mark.parametrize("kind", [("ed25519",), ("ecdsa", "-b", "521"), ("rsa", "-b", "2048")])
def test_a_signature_of_any_kind_of_key_holds_and_names_its_key(tmp_path, kind):
    name = key(tmp_path, "key", "-t", *kind)
    signature = signing.sign(DATA, name)
    shown = keygen("-l", "-f", f"{name}.pub").decode().split()[1]
    signer = signing.verify(DATA, signature)
    assert (signer.fingerprint, signer.principal) == (shown, None)
    assert signing.fingerprint(signature) == shown
    assert len(signer.key) == 16
    assert signing.verify(DATA, signature, bags.allowed(tmp_path, name)).principal == name.name


def _open(folder):
    name = key(folder)
    name.chmod(0o644)
    return name


def _no_key(folder):
    (folder / "text").write_text("not a key\n")
    (folder / "text").chmod(0o600)
    return folder / "text"


def _public_alone(folder):
    name = key(folder)
    name.unlink()
    return Path(f"{name}.pub")


UNUSABLE = {
    "with a passphrase": (
        lambda folder: key(folder, words="secret"),
        "has a passphrase. Add the key to the agent with `ssh-add`",
    ),
    "open to others": (_open, "can be read by others. Close it with `chmod 600`"),
    "not a key": (_no_key, "is not a key that `ssh-keygen` can sign with"),
    "public, and in no agent": (_public_alone, "is not a key that `ssh-keygen` can sign with"),
    "absent": (lambda folder: folder / "none", "does not exist. Correct the path."),
    "a folder": (lambda folder: folder, "does not exist. Correct the path."),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_key_that_cannot_sign_is_refused_at_once_and_nobody_is_asked(tmp_path, monkeypatch, name):
    make, what = UNUSABLE[name]
    asked = tmp_path / "asked"
    asked.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-asked\necho secret\n")
    asked.chmod(0o700)
    monkeypatch.setenv("SSH_ASKPASS", str(asked))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(InputError) as error:
        signing.sign(DATA, make(tmp_path))
    assert what in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "was-asked").exists()


def test_without_openssh_there_is_one_sentence(tmp_path, monkeypatch):
    name = key(tmp_path)
    signature = signing.sign(DATA, name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="`ssh-keygen` is not installed"):
        signing.sign(DATA, name)
    with pytest.raises(InputError, match="`ssh-keygen` is not installed"):
        signing.verify(DATA, signature)


def test_every_changed_byte_of_a_signature_is_seen(tmp_path):
    name = key(tmp_path)
    signature, file = signing.sign(DATA, name), bags.allowed(tmp_path, name)
    body = range(signature.index(b"\n") + 1, signature.rindex(b"-----END") - 1)
    for at in [*body][::23]:
        if signature[at : at + 1] == b"\n":
            continue
        letter = b"A" if signature[at : at + 1] != b"A" else b"B"
        with pytest.raises(ValueError, match=r"is (not|by)"):
            signing.verify(DATA, signature[:at] + letter + signature[at + 1 :], file)


BAD = {
    "empty": b"",
    "text": b"hello\n",
    "not ASCII": "é".encode(),
    "a frame around nothing": b"-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
    "a frame around too little": b"-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAf////8=\n-----END SSH SIGNATURE-----\n",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_a_signature_is_refused(name):
    with pytest.raises(ValueError, match="is not a signature"):
        signing.verify(DATA, BAD[name])


def test_a_signature_of_other_data_or_for_another_purpose_does_not_hold(tmp_path):
    name = key(tmp_path)
    with pytest.raises(ValueError, match="is not a valid signature"):
        signing.verify(DATA + b" ", signing.sign(DATA, name))
    other = keygen("-Y", "sign", "-n", "file", "-f", str(name), data=DATA)
    with pytest.raises(ValueError, match="is not a valid signature"):
        signing.verify(DATA, other)


SIGNERS = {
    "another key": lambda folder, _: bags.allowed(folder, key(folder, "other")),
    "nobody": lambda folder, _: bags.allowed(folder),
}


@pytest.mark.parametrize("case", SIGNERS)
def test_a_valid_signature_by_nobody_who_is_allowed_is_refused(tmp_path, case):
    name = key(tmp_path)
    signature = signing.sign(DATA, name)
    shown = re.escape(signing.fingerprint(signature))
    with pytest.raises(ValueError, match=f"is by the key {shown}, which .* does not allow"):
        signing.verify(DATA, signature, SIGNERS[case](tmp_path, name))


def test_the_file_of_signers_must_be_there(tmp_path):
    signature = signing.sign(DATA, key(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        signing.verify(DATA, signature, tmp_path / "none")
