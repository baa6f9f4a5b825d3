"""A module of the library runs as its source is now, even if an edit kept its size and time stamp."""

import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import reident
from reident import starter


@pytest.fixture
def module(tmp_path) -> Path:
    """A module of a small copy of the package, compiled as Python does it by default."""
    package = tmp_path / "reident"
    (package / "inner").mkdir(parents=True)
    shutil.copy(reident.__file__, package)
    shutil.copy(starter.__file__, package)
    (package / "inner" / "__init__.py").touch()
    path = package / "inner" / "module.py"
    path.write_text("number = 1\n", encoding="utf-8")
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    return path


def edit(module: Path, number: int) -> None:
    """Write another number, in as many bytes and with the same time stamp."""
    before = module.stat()
    module.write_text(f"number = {number}\n", encoding="utf-8")
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))


def imported(module: Path, writes: bool = True) -> int:
    """Return the number that a process of its own imports."""
    environment = {**os.environ, "PYTHONPATH": str(module.parents[2])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    options = [] if writes else ["-B"]
    command = [sys.executable, *options, "-c", "from reident.inner.module import number; print(number)"]
    return int(subprocess.check_output(command, env=environment))


@pytest.mark.parametrize("writes", [True, False], ids=["compiled again", "without compiling"])
def test_an_edit_is_seen_by_its_content(module, writes):
    edit(module, 2)
    assert imported(module, writes) == 2
    edit(module, 3)
    assert imported(module, writes) == 3


def test_an_unchanged_module_is_not_compiled_again(module):
    imported(module)
    (compiled,) = module.parent.glob("__pycache__/module.*")
    before = compiled.stat().st_mtime_ns
    assert imported(module) == 1
    assert compiled.stat().st_mtime_ns == before


def test_a_module_with_an_error_of_syntax_cannot_be_imported(module):
    module.write_text("number = \n", encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        imported(module)
