"""Any folder serves as the working directory, and several users share one checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workflow.commands import CHECKOUT, SNAKEMAKE, copied, reident
from workflow.elsewhere import made, run

from workflow import small

STUDY = {**small.STUDY, "metrics": {"taxicab": {}}}
SNAKEFILE = f"--snakefile={CHECKOUT}/Snakefile"
STRATA = "results/small/strata/manifest.csv"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A user's folder, with a study and a configuration that names it."""
    small.write(tmp_path / "in", STUDY, small.rows(60, 90))
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("studies: [in/small.yaml]\n", encoding="utf-8")
    return tmp_path


def planned(ended) -> set[str]:
    """The ids of the studies of a dry run that tells of each job."""
    assert ended.code == 0, ended.shown
    return set(re.findall(r"results/([^/ ]+)/study\.json", ended.shown))


@pytest.mark.slow
def test_the_configuration_of_the_working_directory_is_used(folder):
    assert planned(run(folder, SNAKEFILE, "--dry-run", "--printshellcmds")) == {"small"}
    assert planned(run(folder.parent, SNAKEFILE, f"--directory={folder}", "--dry-run", "--printshellcmds")) == {"small"}
    (folder / "other.yaml").write_text("studies: [in/other.yaml]\n", encoding="utf-8")
    other = (folder / "in/small.yaml").read_text(encoding="utf-8").replace("id: small", "id: other")
    (folder / "in/other.yaml").write_text(other, encoding="utf-8")
    assert planned(run(folder, SNAKEFILE, "--dry-run", "--printshellcmds", "--configfile=other.yaml")) == {"other"}


@pytest.mark.slow
def test_blanks_umlauts_and_commas_in_the_paths_of_study_and_results(folder, tmp_path_factory):
    plain = run(folder, SNAKEFILE)
    assert plain.code == 0, plain.shown
    odd = tmp_path_factory.mktemp("base") / "Öffentliche Daten, 2026 (“neu”)"
    shutil.copytree(folder / "in", odd / "Studie für mich, und dich")
    ended = run(odd / "Arbeit ü", SNAKEFILE, "--config", "study=../Studie für mich, und dich/small.yaml")
    assert ended.code == 0, ended.shown
    assert made(odd / "Arbeit ü") == made(folder)
    checked = reident("check", "../Studie für mich, und dich/small.yaml", folder=odd / "Arbeit ü")
    assert checked.code == 0, checked.shown


@pytest.mark.slow
def test_blanks_and_umlauts_in_the_path_of_the_checkout(folder, tmp_path_factory):
    checkout = tmp_path_factory.mktemp("base") / "Prüfung der Daten, neu"
    checkout.mkdir()
    copied(checkout)
    ended = run(
        folder,
        f"--snakefile={checkout}/Snakefile",
        "results/small/binned/puf.parquet",
        program=SNAKEMAKE,  # with the library of that checkout
        PYTHONPATH="",
    )
    assert ended.code == 0, ended.shown
    assert (folder / "results/small/binned/puf.parquet").is_file()


def as_user(number: int) -> list[str]:
    """What to put before a command so that another user runs it, who may read everything and write nothing of ours."""
    capability = "+dac_read_search"
    return [
        "setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups",
        f"--inh-caps={capability}", f"--ambient-caps={capability}",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_two_users_at_once_on_one_checkout_that_they_only_read(folder, tmp_path_factory):
    base = tmp_path_factory.mktemp("base")
    for path in (base, *base.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/tmp"):  # noqa: S108 - not ours to open
            path.chmod(path.stat().st_mode | 0o011)
    checkout = base / "checkout"
    checkout.mkdir()
    copied(checkout)
    before = {path: path.lstat().st_mtime_ns for path in checkout.rglob("*")}
    runs = []
    for number in (61001, 61002):
        home = base / str(number)
        shutil.copytree(folder / "in", home / "in")
        for path in (home, *home.rglob("*")):
            os.chown(path, number, number)
        code = "from reident.kernels import cache; print(cache.FOLDER)"
        command = (
            f"{sys.executable} -m snakemake --snakefile {checkout}/Snakefile --cores 1 {STRATA} "
            f"--config study=in/small.yaml && {sys.executable} -c '{code}'"
        )
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "USER": str(number),
            "PYTHONPATH": str(checkout / "workflow/lib"),
        }
        runs.append(
            subprocess.Popen(
                [*as_user(number), "sh", "-c", command],
                cwd=home,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
        )
    for number, started in zip((61001, 61002), runs, strict=True):
        shown, _ = started.communicate(timeout=300)
        home = base / str(number)
        assert started.returncode == 0, shown
        assert (home / STRATA).stat().st_uid == number
        assert shown.splitlines()[-1].startswith(f"{home}/.cache/reident/kernels/")
    assert {path: path.lstat().st_mtime_ns for path in checkout.rglob("*")} == before


@pytest.mark.slow
def test_the_study_for_checks_runs_where_it_is_copied(tmp_path):
    shutil.copytree(CHECKOUT / ".test/config", tmp_path / "config")
    shutil.copytree(CHECKOUT / ".test/study", tmp_path / "study")
    ended = run(CHECKOUT, f"--directory={tmp_path}", "--dry-run", "--printshellcmds")
    assert planned(ended) == {"test"}
    assert "Warning" not in ended.shown or "ignored" not in ended.shown
