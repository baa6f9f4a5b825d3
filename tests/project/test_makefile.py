"""When `make` sets up anew, by what it would run; nothing is installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock")
FRESH, PACKAGE, ADDED = "-m venv", "--editable", "--requirement requirements-dev.lock"

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def planned(folder, target="development", *settings):
    """What `make` would run; nothing of the `make` that runs the tests is handed on."""
    command = ["make", "--dry-run", "--no-print-directory", target, *settings]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout


def link(folder, version):
    """A Python of a version, at a path of its own."""
    path = folder / f"python{version}"
    path.write_text(f"#!/bin/sh\necho {path}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose environment is as its locks say."""
    folder = tmp_path / "a checkout"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    for name in FILES:
        shutil.copy(CHECKOUT / name, folder)
    for stamp in re.findall(r"touch (\.venv/\S+)", planned(folder)):
        (folder / stamp).touch()
    return folder


def append(name):
    def change(folder):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("# another line\n")
        return folder

    return change


def move(folder):
    return folder.rename(folder.with_name("elsewhere"))


def interrupt(folder):
    next((folder / ".venv").glob("locked-*")).unlink()
    return folder


def replace_python(folder):
    path = folder / ".venv" / "bin" / "python"
    path.unlink()
    path.symlink_to(link(folder.parent, "3.12"))
    return folder


def test_an_environment_that_is_as_the_locks_say_stays(checkout):
    for target in ("setup", "development"):
        assert planned(checkout, target).strip() == ":"


@pytest.mark.parametrize(
    ("change", "runs"),
    [
        (append("requirements.lock"), {FRESH, PACKAGE, ADDED}),
        (append("requirements-dev.lock"), {ADDED}),
        (append("pyproject.toml"), {PACKAGE}),
        (move, {FRESH, PACKAGE, ADDED}),
        (interrupt, {FRESH, PACKAGE, ADDED}),
        (replace_python, {FRESH, PACKAGE, ADDED}),
    ],
    ids=["lock", "lock of tests", "project", "moved", "interrupted", "python"],
)
def test_what_changed_is_set_up_anew(checkout, change, runs):
    plan = planned(change(checkout))
    assert {what for what in (FRESH, PACKAGE, ADDED) if what in plan} == runs


def test_a_python_that_is_too_old_is_refused_before_anything_is_removed(checkout):
    path = checkout / "old"
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    ended = subprocess.run(
        ["make", "setup", f"PYTHON={path}"], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert ended.returncode
    assert "Error: Python 3.11, 3.12 or 3.13 is needed. Name one: make PYTHON=python3.12" in ended.stderr
    assert (checkout / ".venv" / "bin" / "python").exists()
