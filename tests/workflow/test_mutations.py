"""What may happen to a finished study, one change at a time: running again gives the right bytes. `snakemake check`
reports each change before the run, and nothing after it.

An input that changes while a step reads it: tests/unit/ledger/test_ledger.py."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import py_compile
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from reident.ledger import check
from reident.pipeline import digests
from reident.pipeline.family import Family
from workflow.commands import CHECKOUT, PRELOADED, Ended, copied, made, snakemake

from workflow import library_run, small

pytestmark = pytest.mark.slow

RATES = made("small", "study.json", "rates.csv")
STUDY = copy.deepcopy(small.STUDY)
STUDY["metrics"] = {"taxicab": {"alpha": "1/3"}}
ROWS = small.rows(60, 90)


class Copy:
    """A copy of the finished study, and the checkout by which it is run."""

    def __init__(self, folder: Path, checkout: Path = CHECKOUT) -> None:
        self.folder, self.checkout = folder, checkout
        self.inputs, self.work = folder / "in", folder / "run"
        self.results, self.reports = self.work / "results" / "small", self.work / "reports" / "small"

    def run(self, *targets: str) -> Ended:
        return snakemake(
            *targets,
            studies=["../in/small.yaml"],
            folder=self.work,
            checkout=self.checkout,
            program=PRELOADED,
        )

    def made(self) -> dict[str, bytes]:
        """Every result, entry and report, but not what an earlier moment may have left beside them."""
        return {
            path.relative_to(self.work).as_posix(): path.read_bytes()
            for top in (self.results, self.reports)
            for path in sorted(top.rglob("*"))
            if path.is_file() and not {"logs", "benchmarks"} & set(path.parts) and path.suffix != ".lock"
        }

    def results_alone(self) -> dict[str, bytes]:
        """Every result that does not show the ledger, and no entry of it."""
        shows = ("ledger/", "set-aside/", "disclosure-review")
        return {path: content for path, content in self.made().items() if not any(map(path.count, shows))}

    def check(self) -> check.Checked:
        with contextlib.chdir(self.work):
            notebook = self.checkout / "workflow" / "notebooks" / "disclosure-review.ipynb"
            return check.check(Family(Path("../in/small.yaml")), Path("results"), notebook)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Copy:
    """A finished study."""
    found = Copy(tmp_path_factory.mktemp("whole"))
    small.write(found.inputs, STUDY, ROWS)
    ended = found.run()
    assert ended.code == 0, ended.shown
    return found


@pytest.fixture
def again(whole, tmp_path) -> Copy:
    shutil.copytree(whole.folder, tmp_path / "again")
    return Copy(tmp_path / "again")


@contextlib.contextmanager
def kept(path: Path) -> Iterator[None]:
    """Whatever happens to a file, its time stamps stay."""
    before = path.stat()
    yield
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class Case(NamedTuple):
    """A change, whether time stamps are kept, and what follows."""

    sentence: str
    file: str
    change: Callable[[Path], object]
    keeps: bool = True
    long: bool = False
    """Whether it differs little from another."""


def parameters(cases: list[Case]) -> list:
    return [
        pytest.param(case, id=case.sentence, marks=[pytest.mark.long] if case.long else []) for case in cases
    ]


def edit(path: Path) -> None:
    """Another byte at the same place, so that the size stays."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def apply(again: Copy, case: Case) -> Path:
    path = again.work / case.file
    with kept(path) if case.keeps and case.change is not Path.unlink else contextlib.nullcontext():
        case.change(path)
    return path


# Results that were edited: set aside and computed anew

R = "results/small"
EDITED = [
    Case("the study with its defaults", f"{R}/study.json", edit),
    Case("a prepared file", f"{R}/prepared/puf.parquet", edit),
    Case("a prepared file, seen by its time", f"{R}/prepared/eif.parquet", edit, keeps=False, long=True),
    Case("a prepared file cut", f"{R}/prepared/iuf.parquet", cut),
    Case("the strata", f"{R}/strata/manifest.csv", edit, long=True),
    Case("the binned file", f"{R}/binned/eif.parquet", edit, long=True),
    Case("scores", f"{R}/scores/taxicab/0001.parquet", edit),
    Case("suspected pairs emptied", f"{R}/suspected/taxicab.parquet", empty),
    Case("confirmed pairs", f"{R}/confirmed/taxicab.parquet", edit, keeps=False),
    Case("rates", f"{R}/rates.csv", edit),
    Case("rates, seen by their time", f"{R}/rates.csv", edit, keeps=False, long=True),
    Case("a table of the report", f"{R}/description/overlap.csv", edit),
    Case("the executed notebook", f"{R}/disclosure-review.ipynb", edit),
    Case("the report", "reports/small/disclosure-review.html", edit),
    Case(
        "the report, seen by its time", "reports/small/disclosure-review.html", edit, keeps=False, long=True
    ),
    Case("the printed report", "reports/small/disclosure-review.pdf", cut),
]


@pytest.mark.parametrize("case", parameters(EDITED))
def test_an_edited_result_is_set_aside_and_computed_anew(again, whole, case):
    edited = apply(again, case).read_bytes()
    found = again.check()
    assert not found.closes
    assert f"{case.file} is not what its step wrote" in found.line
    assert "Run `snakemake --config study=../in/small.yaml`" in found.line
    ended = again.run()
    assert ended.code == 0, ended.shown
    (kept,) = (path for path in (again.results / "set-aside").rglob("*") if path.is_file())
    assert kept.read_bytes() == edited
    name = kept.relative_to(again.work).as_posix()
    assert f"Warning: {case.file} is not what its step wrote. It is kept as {name}" in ended.shown
    # The entry of the step tells of it, and with it the report.
    assert again.results_alone() == whole.results_alone()
    assert again.check().closes


# What is lost, of results, ledger and the scheduler's records: made again, the same bytes


def swap_entries(path: Path) -> None:
    """The entry of another step."""
    shutil.copyfile(path.with_name("rank.taxicab.json"), path)


def forge(path: Path) -> None:
    """Another number, in an entry that is well-formed."""
    entry = json.loads(path.read_text(encoding="utf-8"))
    next(iter(entry["outputs"].values()))["size"] += 1
    path.write_text(json.dumps(entry, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def cut_records(folder: Path) -> None:
    for record in sorted((folder / "metadata").rglob("*")):
        if record.is_file():
            cut(record)


def lock(folder: Path) -> None:
    """As a run leaves it that was killed."""
    for kind in ("input", "output"):
        file = folder / "locks" / f"0.{kind}.lock"
        file.parent.mkdir(exist_ok=True)
        file.write_text("results/small/rates.csv\n", encoding="utf-8")


LOST = [
    Case("a prepared file lost", f"{R}/prepared/puf.parquet", Path.unlink, long=True),
    Case("a table that no step reads lost", f"{R}/suspected/taxicab.distribution.csv", Path.unlink),
    Case("rates lost", f"{R}/rates.csv", Path.unlink, long=True),
    Case("the executed notebook lost", f"{R}/disclosure-review.ipynb", Path.unlink, long=True),
    Case("the printed report lost", "reports/small/disclosure-review.pdf", Path.unlink),
    Case("the first entry lost", f"{R}/ledger/resolve.json", Path.unlink, long=True),
    Case("an entry lost", f"{R}/ledger/bin.json", Path.unlink),
    Case("the last entry lost", f"{R}/ledger/report.json", Path.unlink),
    Case("an entry cut", f"{R}/ledger/rate.json", cut, long=True),
    Case("an entry emptied", f"{R}/ledger/describe.json", empty, long=True),
    Case("a number of an entry edited", f"{R}/ledger/confirm.taxicab.json", forge),
    Case("an entry in place of another", f"{R}/ledger/rate.json", swap_entries, long=True),
    Case("the whole ledger lost", f"{R}/ledger", shutil.rmtree, keeps=False),
]

BESIDE = {
    f"{R}/suspected/taxicab.distribution.csv",
    f"{R}/disclosure-review.ipynb",
    "reports/small/disclosure-review.pdf",
    f"{R}/ledger/describe.json",
    f"{R}/ledger/report.json",
    f"{R}/ledger",
}
"""What rates do not rest on."""


@pytest.mark.parametrize("case", parameters(LOST))
def test_what_is_lost_is_made_again(again, whole, case):
    apply(again, case)
    found = again.check()
    assert (
        not found.closes
        or "there are no results yet" in found.line
        or "not made yet: the report" in found.line
    )
    ended = again.run(*([] if case.file in BESIDE else RATES))
    assert ended.code == 0, ended.shown
    assert again.made() == whole.made()
    assert again.check().closes


RECORDS = [
    Case("all records lost", ".snakemake", shutil.rmtree, keeps=False),
    Case("records cut", ".snakemake", cut_records, keeps=False, long=True),
    Case("a lock left over", ".snakemake", lock, keeps=False),
]


@pytest.mark.parametrize("case", parameters(RECORDS))
def test_what_happens_to_the_records_of_the_scheduler_changes_nothing(again, whole, case):
    apply(again, case)
    ended = again.run()
    assert ended.code == 0, ended.shown
    assert again.made() == whole.made()


# Sources, the study, the code: what depends on them is made anew


def swap(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def sources(side: str, old: str, new: str) -> dict[str, list[list[str]]]:
    """The rows of the sources with a text swapped in one of them."""
    other = copy.deepcopy(ROWS)
    other[side] = [line.split(",") for line in small.csv_text(ROWS[side]).replace(old, new).splitlines()]
    return other


@pytest.mark.parametrize(
    ("side", "old", "new", "keeps"),
    [
        ("puf", "rent", "free", True),
        ("eif", "own", "free", True),
        ("iuf", "\n01,", "\n10,", False),
    ],
    ids=["puf", "eif", "iuf, seen by its time"],
)
def test_a_changed_source_gives_its_own_numbers(again, side, old, new, keeps):
    path = again.inputs / f"{side}.csv"
    with kept(path) if keeps else contextlib.nullcontext():
        swap(path, (old, new))
    found = again.check()
    assert not found.closes
    assert f"was made from a different version of {side}.csv" in found.line
    ended = again.run(*RATES)
    if ended.code:  # links whose records are no more
        assert side == "iuf"
        assert len(ended.errors) == 1, ended.shown
        return
    library_run.assert_rates(again.results, STUDY, sources(side, old, new))


def set_alpha(study: dict) -> None:
    study["metrics"]["taxicab"]["alpha"] = "1/2"


def swap_missing_codes(study: dict) -> None:
    """Two values of one option in each other's place."""
    study["linking_variables"][3]["recode"]["eif"] = {"M": "2", "F": "1"}


@pytest.mark.parametrize("change", [set_alpha, swap_missing_codes], ids=["a parameter", "two values swapped"])
def test_a_changed_study_gives_its_own_numbers_though_its_time_stamp_is_kept(again, change):
    study = copy.deepcopy(STUDY)
    change(study)
    with kept(again.inputs / "small.yaml"):
        small.write(again.inputs, study, {})
    found = again.check()
    assert not found.closes
    assert "was made with different study settings" in found.line
    assert again.run(*RATES).code == 0
    library_run.assert_rates(again.results, study, ROWS)


LIBRARY = "workflow/lib/reident"
RATE = {"rate": 1, "judge": 1, "report": 1, "all": 1}
REPORT = {"report": 1, "all": 1}
CODE = [
    (
        "a module of a step, with the records lost",
        f"{LIBRARY}/linkage/rates.py",
        "\n# edited\n",
        RATE,
        "lost",
    ),
    ("the adapter of a step", "workflow/scripts/rate.py", "\n# edited\n", RATE, "whole"),
    ("a helper of the notebook", f"{LIBRARY}/report/tables/__init__.py", "\n# edited\n", REPORT, "whole"),
    (
        "the notebook, with the records lost",
        "workflow/notebooks/disclosure-review.ipynb",
        "\n",
        REPORT,
        "lost",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "file", "more", "planned", "records"), CODE, ids=[case[0] for case in CODE]
)
def test_edited_code_runs_again_though_its_time_stamp_is_kept(
    again, tmp_path, sentence, file, more, planned, records
):
    own = Copy(again.folder, copied(tmp_path / "checkout"))
    path = own.checkout / file
    with kept(path):
        path.write_bytes(path.read_bytes() + more.encode())
    if records == "lost":
        shutil.rmtree(own.work / ".snakemake")
    ended = own.run()
    assert ended.code == 0, ended.shown
    assert ended.planned == planned


def test_edited_code_of_the_same_size_and_time_gives_its_own_numbers(again, whole, tmp_path):
    """Though Python has a compiled module, which it trusts by size and time."""
    own = Copy(again.folder, copied(tmp_path / "checkout"))
    path = own.checkout / LIBRARY / "linkage" / "rates.py"
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    old, new = 'share(confirmed, counts["n_linked"])', 'share(counts["n_linked"], confirmed)'
    with kept(path):
        swap(path, (old, new))
    ended = own.run(*RATES)
    assert ended.code == 0, ended.shown
    before, after = (pd.read_csv(one.results / "rates.csv")["reach"] for one in (whole, own))
    assert 0 < before[0] < 1
    assert after[0] == pytest.approx(1 / before[0])


def test_an_unknown_file_is_reported_and_left_alone(again, whole):
    mine = again.results / "notes.txt"
    mine.write_text("mine", encoding="utf-8")
    found = again.check()
    assert found.closes
    assert "not made by any step: results/small/notes.txt" in found.line
    assert again.run().planned == {}
    assert mine.read_text(encoding="utf-8") == "mine"


def test_other_installed_versions_of_packages_are_reported(again, monkeypatch):
    assert "other versions" not in again.check().line
    monkeypatch.setattr(check, "versions", lambda: {**digests.versions(), "numpy": "0.1"})
    found = again.check()
    assert found.closes
    assert f"made with other versions than those installed: numpy {np.__version__} (0.1)" in found.line


@pytest.mark.quick
def test_the_target_check_walks_and_changes_nothing(again):
    before = {path: path.stat().st_mtime_ns for path in again.results.rglob("*")}
    ended = again.run("check")
    assert ended.code == 0, ended.shown
    assert "small: the chain closes: " in ended.shown
    assert {path: path.stat().st_mtime_ns for path in again.results.rglob("*")} == before
    with kept(again.results / "rates.csv"):
        edit(again.results / "rates.csv")
    ended = again.run("check")
    assert ended.code == 1
    (message,) = ended.errors
    assert "results/small/rates.csv is not what its step wrote. Run `snakemake" in message
