"""The guard of a kernel: nothing that is closed can be opened, listed or linked by any name (METHODS §11)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from reident.report.closed import guard
from reident.report.kernel import GUARDED, LAUNCHER, _started_by


@pytest.fixture
def run(tmp_path):
    """Return the folder of a run with results, a study file and public files."""
    for name in (
        "results/example/rates.csv",
        "reports/example/releasable/attack.csv",
        "study.yaml",
        "results-old.csv",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("n\n1\n")
    return tmp_path


def hook(run: Path):
    return guard((run / "results", run / "study.yaml", run / "later"))


@pytest.mark.parametrize("event", ["open", "os.listdir", "os.scandir", "os.chdir", "glob.glob"])
@pytest.mark.parametrize(
    "name",
    [
        "results", "results/example", "results/example/rates.csv", "results/no-such-file", "study.yaml",
        "later/rates.csv", "reports/../results/example/rates.csv", "./results//example",
    ],
)  # fmt: skip
def test_what_is_closed_is_refused(run, event, name):
    for path in (str(run / name), os.fsencode(run / name), f"{run}/{name}"):
        with pytest.raises(PermissionError, match="is closed to this notebook"):
            hook(run)(event, (path, "r", 0))


@pytest.mark.parametrize(
    "name",
    ["reports/example/releasable", "reports/example/releasable/attack.csv", "results-old.csv", "study.yml"],
)
def test_what_is_beside_it_is_open(run, name):
    hook(run)("open", (str(run / name), "r", 0))
    hook(run)("os.listdir", (str(run / name),))


def test_relative_paths_and_links_lead_to_what_is_closed(run, monkeypatch):
    refuse = hook(run)
    (run / "alias").symlink_to("results/example")
    os.link(run / "study.yaml", run / "copy.yaml")
    monkeypatch.chdir(run / "reports")
    for path in (
        "../results/example/rates.csv",
        "../alias/rates.csv",
        str(run / "copy.yaml"),
        "/proc/self/cwd/../study.yaml",
    ):
        with pytest.raises(PermissionError):
            refuse("open", (path, "r", 0))


def test_neither_links_to_it_nor_descriptors_above_it_are_made(run):
    refuse = hook(run)
    for event in ("os.link", "os.symlink", "os.rename"):
        with pytest.raises(PermissionError):
            refuse(event, (str(run / "results/example/rates.csv"), str(run / "mine.csv"), -1, -1))
        with pytest.raises(PermissionError):
            refuse(event, (str(run / "mine.csv"), str(run / "results/mine.csv"), -1, -1))
    with pytest.raises(PermissionError):
        refuse("open", (str(run), None, os.O_RDONLY))
    refuse("os.listdir", (str(run),))
    refuse("open", (3, "r", 0))


@pytest.mark.parametrize(
    "event", ["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "ctypes.dlopen"]
)
def test_programs_and_libraries_are_refused(run, event):
    with pytest.raises(PermissionError, match="must not start programs or load libraries"):
        hook(run)(event, ("cat", ["cat"], None, None))


@pytest.mark.parametrize("name", ["pyarrow", "pyarrow.csv", "sqlite3", "pyreadstat"])
def test_packages_that_read_files_by_compiled_code_are_refused(run, name):
    with pytest.raises(ImportError, match="cannot be imported"):
        hook(run)("import", (name, None, None, None, None))
    hook(run)("import", ("csv", None, None, None, None))


def test_a_kernel_that_is_started_otherwise_is_not_started_without_its_guard():
    command = ["python", "-m", "ipykernel_launcher", "-f", "file"]
    assert _started_by(GUARDED, command) == ["python", "-m", "reident.report.closed", "-f", "file"]
    assert _started_by(LAUNCHER, command) == command
    with pytest.raises(RuntimeError, match="cannot be guarded"):
        _started_by(GUARDED, ["python", "-m", "another_kernel"])
