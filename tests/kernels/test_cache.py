"""Where compiled kernels are kept: by content, for one user, wherever there is a place."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reident.kernels import cache

NAME = "0123456789abcdef"


@pytest.fixture
def roots(tmp_path, monkeypatch):
    """A user's cache and a checkout, both empty."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(cache, "CHECKOUT", tmp_path / "checkout")
    monkeypatch.setattr(cache, "WARM", tmp_path / "checkout" / ".cache" / "kernels")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "Snakefile").touch()
    return tmp_path


def test_two_checkouts_have_one_folder_until_a_source_differs(tmp_path, monkeypatch):
    digests = []
    for at, change in (("a", ""), ("b/deeper", ""), ("c", "# another line\n")):
        folder = shutil.copytree(cache.SOURCES, tmp_path / at, ignore=shutil.ignore_patterns("__pycache__"))
        with (folder / "cells.py").open("a", encoding="utf-8") as file:
            file.write(change)
        monkeypatch.setattr(cache, "SOURCES", folder)
        digests.append(cache.content_digest())
    assert digests[0] == digests[1] != digests[2]


def test_a_declared_folder_comes_before_the_user_s_cache(roots, monkeypatch):
    assert cache.open_folder(NAME) == roots / "caches" / "reident" / "kernels" / NAME
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(roots / "declared"))
    assert cache.open_folder(NAME) == roots / "declared" / NAME
    assert (roots / "declared" / NAME).stat().st_mode & 0o077 == 0


def test_what_an_image_has_compiled_is_there_for_each_user(roots):
    warm = roots / "checkout" / ".cache" / "kernels" / NAME
    warm.mkdir(parents=True)
    (warm / "kernel.nbi").write_bytes(b"compiled")
    folder = cache.open_folder(NAME)
    assert (folder / "kernel.nbi").read_bytes() == b"compiled"
    (folder / "kernel.nbi.tmp").write_bytes(b"compiled anew")
    (folder / "kernel.nbi.tmp").replace(folder / "kernel.nbi")  # as numba writes
    assert (warm / "kernel.nbi").read_bytes() == b"compiled"


def test_without_a_place_in_the_user_s_cache_kernels_are_kept_beside_the_workflow(roots):
    (roots / "caches").write_text("no folder", encoding="utf-8")
    assert cache.open_folder(NAME) == roots / "checkout" / ".cache" / "kernels" / NAME


def test_without_any_place_a_process_has_a_folder_of_its_own_and_removes_it(tmp_path):
    nowhere = tmp_path / "file"
    nowhere.touch()
    code = (
        "from pathlib import Path\nfrom reident.kernels import cache\n"
        f"cache.CHECKOUT = Path({str(tmp_path)!r})\nprint(cache.open_folder('{NAME}'))"
    )
    env = os.environ | {"XDG_CACHE_HOME": str(nowhere), "NUMBA_CACHE_DIR": str(nowhere), "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    folder = Path(ended.stdout.strip())
    assert folder.parent == tmp_path
    assert not folder.exists()


def test_kernels_that_nobody_has_loaded_for_long_are_removed(roots):
    root = roots / "caches" / "reident" / "kernels"
    for name, age in (("old", cache.MAX_AGE + 60), ("recent", cache.MAX_AGE - 3600)):
        (root / name).mkdir(parents=True)
        os.utime(root / name, (time.time() - age,) * 2)
    cache.open_folder(NAME)
    assert {path.name for path in root.iterdir()} == {"recent", NAME}
