"""A module that was edited runs as edited, though its size and its time stamp are what they were."""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest
from reident.ledger import bytecode


@pytest.fixture
def source(tmp_path) -> Path:
    """A module that is compiled by time stamp."""
    path = tmp_path / "package" / "module.py"
    path.parent.mkdir()
    path.write_text("number = 1\n", encoding="utf-8")
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    return path


def edit(source: Path, number: int) -> None:
    """Another number, in as many bytes and with the same time stamp."""
    before = source.stat()
    source.write_text(f"number = {number}\n", encoding="utf-8")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))


def imported(source: Path) -> int:
    """The number that a process of its own finds."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", "from package.module import number; print(number)"]
    return int(subprocess.check_output(command, cwd=source.parents[1], env=environment))


@pytest.mark.parametrize("writes", [True, False], ids=["compiled again", "without compiling"])
def test_an_edit_is_seen_by_its_content(source, monkeypatch, writes):
    monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
    edit(source, 2)
    assert imported(source) == 1, "Python holds by content now: reident.bytecode is needed no more"
    bytecode.check_by_content(source.parent)
    assert any((source.parent / "__pycache__").iterdir()) is writes
    assert imported(source) == 2
    if writes:
        edit(source, 3)
        assert imported(source) == 3
        edit(source, 4)
        bytecode.check_by_content(source.parent)
        assert imported(source) == 4


def test_a_module_that_cannot_be_compiled_is_left_to_who_imports_it(source):
    source.write_text("number = \n", encoding="utf-8")
    bytecode.check_by_content(source.parent)
    with pytest.raises(subprocess.CalledProcessError):
        imported(source)
