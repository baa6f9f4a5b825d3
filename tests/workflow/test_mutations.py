"""What may happen to a finished study, one change at a time: running again gives the right bytes, or a sentence that
names what to run, which then does. `reident check` reports each change before the run, and nothing after it.

An input that changes while a step reads it: tests/ledger/test_ledger.py."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from reident.ledger import chain, check
from reident.pipeline import digests, release
from reident.pipeline.family import Family
from reident.pipeline.steps import maker_of
from workflow.commands import CHECKOUT, PRELOADED, Ended, copied, made, reident, snakemake

from workflow import library_run, small

pytestmark = pytest.mark.slow

RATES = made("small", "study.json", "rates.csv")
WITHOUT_PRIVILEGES = (
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
    if os.geteuid() == 0
    else []
)
"""What to put before a command so that permissions count for root too."""
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
            *targets, studies=["../in/small.yaml"], folder=self.work, checkout=self.checkout, program=PRELOADED
        )

    def checked(self) -> Ended:
        return reident("check", "../in/small.yaml", folder=self.work, checkout=self.checkout)

    def made(self) -> dict[str, bytes]:
        """Every result, entry and report, but not what an earlier moment may have left beside them."""
        return {
            path.relative_to(self.work).as_posix(): path.read_bytes()
            for top in (self.results, self.reports)
            for path in sorted(top.rglob("*"))
            if path.is_file() and not {"logs", "benchmarks"} & set(path.parts)
        }

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
    return [pytest.param(case, id=case.sentence, marks=[pytest.mark.long] if case.long else []) for case in cases]


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


# Results that were edited: refused, and computed anew where their rule is forced

R = "results/small"
EDITED = [
    Case("the study with its defaults", f"{R}/study.json", edit, long=True),
    Case("a prepared file", f"{R}/prepared/puf.parquet", edit, long=True),
    Case("a prepared file, seen by its time", f"{R}/prepared/eif.parquet", edit, keeps=False, long=True),
    Case("a prepared file cut", f"{R}/prepared/iuf.parquet", cut),
    Case("the strata", f"{R}/strata/manifest.csv", edit, long=True),
    Case("the binned file", f"{R}/binned/eif.parquet", edit, long=True),
    Case("scores", f"{R}/scores/taxicab/1-of-1.parquet", edit),
    Case("suspected pairs emptied", f"{R}/suspected/taxicab.parquet", empty),
    Case("confirmed pairs", f"{R}/confirmed/taxicab.parquet", edit, keeps=False),
    Case("rates", f"{R}/rates.csv", edit, long=True),
    Case("rates, seen by their time", f"{R}/rates.csv", edit, keeps=False, long=True),
    Case("a table of the report", f"{R}/description/overlap.csv", edit, long=True),
    Case("the executed notebook", f"{R}/disclosure-review.ipynb", edit, long=True),
    Case("the report", "reports/small/disclosure-review.html", edit, long=True),
    Case("the report, seen by its time", "reports/small/disclosure-review.html", edit, keeps=False, long=True),
    Case("the printed report", "reports/small/disclosure-review.pdf", cut),
]


@pytest.mark.parametrize("case", parameters(EDITED))
def test_an_edited_result_is_refused_and_computed_anew_by_its_rule(again, whole, case):
    edited = apply(again, case).read_bytes()
    found = again.check()
    assert not found.closes
    rule = "report" if case.file.startswith("reports/") else maker_of(case.file)
    assert found.line == (
        f"small: the chain is broken. Run `snakemake --config study=../in/small.yaml --forcerun {rule}`.\n"
        f"  results that are not what their steps wrote: {case.file}"
    )
    refused = again.run()
    assert refused.code == 1, refused.shown
    whole_verdict = all(line in refused.shown for line in found.line.splitlines())
    assert f"{case.file} is not what its step wrote" in refused.shown or whole_verdict
    assert refused.advice == f"--forcerun {rule}"
    assert (again.work / case.file).read_bytes() == edited, "nobody but its step touches a result"
    forced = again.run(refused.advice)
    assert forced.code == 0, forced.shown
    assert again.made() == whole.made()
    assert again.check().closes


# What is lost, of results, ledger and the scheduler's records: the same bytes, at once or as the run says


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


LOST = [
    Case("a prepared file lost", f"{R}/prepared/puf.parquet", Path.unlink, long=True),
    Case("a table that no step reads lost", f"{R}/suspected/taxicab.distribution.csv", Path.unlink, long=True),
    Case("rates lost", f"{R}/rates.csv", Path.unlink, long=True),
    Case("the executed notebook lost", f"{R}/disclosure-review.ipynb", Path.unlink, long=True),
    Case("the printed report lost", "reports/small/disclosure-review.pdf", Path.unlink),
    Case("the first entry lost", f"{R}/ledger/resolve.json", Path.unlink, long=True),
    Case("an entry lost", f"{R}/ledger/bin.json", Path.unlink),
    Case("the last entry lost", f"{R}/ledger/report.json", Path.unlink, long=True),
    Case("an entry cut", f"{R}/ledger/rate.json", cut, long=True),
    Case("an entry emptied", f"{R}/ledger/resolve.json", empty, long=True),
    Case("a number of an entry edited", f"{R}/ledger/confirm.taxicab.json", forge),
    Case("an entry in place of another", f"{R}/ledger/rate.json", swap_entries, long=True),
    Case("the whole ledger lost", f"{R}/ledger", shutil.rmtree, keeps=False),
]


@pytest.mark.parametrize("case", parameters(LOST))
def test_what_is_lost_is_made_again(again, whole, case):
    """Snakemake notices a lost file only where a job that runs needs it; the conclusion names the others."""
    apply(again, case)
    found = again.check()
    assert not found.closes
    assert "Run `snakemake --config study=../in/small.yaml" in found.line
    ended = again.run()
    for _ in range(3):
        if ended.code:
            assert len(ended.errors) == 1, ended.shown
            ended = again.run(ended.advice)
    assert ended.code == 0, ended.shown
    assert again.made() == whole.made()
    assert again.check().closes


RECORDS = [
    Case("all records lost", ".snakemake", shutil.rmtree, keeps=False),
    Case("records cut", ".snakemake", cut_records, keeps=False, long=True),
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
    [("puf", "rent", "free", True), ("eif", "own", "free", True), ("iuf", "\n01,", "\n10,", False)],
    ids=["puf", "eif", "iuf, seen by its time"],
)
def test_a_changed_source_gives_its_own_numbers(again, side, old, new, keeps):
    path = again.inputs / f"{side}.csv"
    with kept(path) if keeps else contextlib.nullcontext():
        swap(path, (old, new))
    found = again.check()
    assert not found.closes
    assert found.line.endswith(f"\n  sources that changed after a step read them: ../in/{side}.csv")
    assert "If a source, the study file or the code changed by mistake, restore it instead." in found.line
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
    assert "\n  results made with different study settings: results/small/" in found.line
    assert again.run(*RATES).code == 0
    library_run.assert_rates(again.results, study, ROWS)


LIBRARY = "workflow/lib/reident"
RATE = {"rate": 1, "challenge": 1, "judge": 1, "report": 1}
REPORT = {"report": 1}
CODE = [
    ("a module of a step, with the records lost", f"{LIBRARY}/linkage/rates.py", "\n# edited\n", RATE, "lost"),
    ("the adapter of a step", "workflow/scripts/rate.py", "\n# edited\n", RATE, "whole"),
    ("a helper of the notebook", f"{LIBRARY}/report/blocks/__init__.py", "\n# edited\n", REPORT, "whole"),
    ("the notebook, with the records lost", "workflow/notebooks/disclosure-review.ipynb", "\n", REPORT, "lost"),
]


@pytest.mark.parametrize(("sentence", "file", "more", "planned", "records"), CODE, ids=[case[0] for case in CODE])
def test_edited_code_runs_again_though_its_time_stamp_is_kept(again, tmp_path, sentence, file, more, planned, records):
    own = Copy(again.folder, copied(tmp_path / "checkout"))
    path = own.checkout / file
    with kept(path):
        path.write_bytes(path.read_bytes() + more.encode())
    if records == "lost":
        shutil.rmtree(own.work / ".snakemake")
    ended = own.run()
    if records == "lost":
        assert ended.code == 1, ended.shown
        assert "results made by different code" in ended.shown
        ended = own.run(ended.advice)
    assert ended.code == 0, ended.shown
    assert ended.planned == planned
    assert own.checked().code == 0


def test_an_unknown_file_is_reported_and_left_alone(again, whole):
    mine = again.results / "notes.txt"
    mine.write_text("mine", encoding="utf-8")
    copy = again.results / "backup" / "rates.csv"
    copy.parent.mkdir()
    shutil.copy(again.results / "rates.csv", copy)
    bag = again.reports / "sealed" / "small-0123456789abcdef.zip"
    bag.parent.mkdir()
    bag.write_bytes(b"bag")
    found = again.check()
    assert found.closes
    assert found.line.endswith("not made by any step: results/small/backup/rates.csv, results/small/notes.txt")
    assert again.run().planned == {}
    assert mine.read_text(encoding="utf-8") == "mine"


# What `reident check` tells


def lines(found: check.Checked) -> dict[str, str]:
    """The indented lines of an answer, by what they are about."""
    _, *rest = found.line.split("\n  ")
    return dict(line.split(": ", 1) for line in rest)


def change_entry(path: Path, **fields: object) -> None:
    entry = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(chain.sealed({**entry, **fields}), indent=1, sort_keys=True) + "\n", "utf-8")


def test_every_break_is_listed_by_its_kind(again):
    swap(again.inputs / "puf.csv", ("rent", "free"))
    (again.inputs / "eif.csv").unlink()
    edit(again.results / "rates.csv")
    edit(again.reports / "disclosure-review.pdf")
    (again.results / "suspected" / "taxicab.parquet").unlink()
    cut(again.results / "ledger" / "resolve.json")
    change_entry(again.results / "ledger" / "bin.json", library_digest="0" * 64, release=None)
    change_entry(again.results / "ledger" / "judge.json", study_digest="0" * 64)
    (again.results / "ledger" / "stratify.json").unlink()
    found = again.check()
    assert not found.closes
    told = lines(found)
    released = told.pop("results made by different code")
    binned = ", ".join(f"results/small/binned/{name}" for name in ("cutpoints.csv", "eif.parquet", "puf.parquet"))
    assert released.startswith(f"{binned}; they were made by an earlier version of reident, and this is reident ")
    assert told == {
        "sources that changed after a step read them": "../in/puf.csv",
        "results that are not what their steps wrote": "reports/small/disclosure-review.pdf, results/small/rates.csv",
        "results that are missing": "results/small/suspected/taxicab.parquet",
        "entries of the ledger that are incomplete or edited": "results/small/ledger/resolve.json",
        "results that have no entry in the ledger": told["results that have no entry in the ledger"],
        "results made with different study settings": ", ".join(
            f"results/small/verdict/{name}.csv" for name in ("limits", "summary", "warnings")
        ),
        "not verified, because they are not there or cannot be read": "../in/eif.csv",
    }
    assert re.fullmatch(r"(results/small/\S+, ){4}\S+", told["results that have no entry in the ledger"])
    assert not re.search(r"\b(delete|remove)", found.line, re.IGNORECASE)


def test_other_code_and_packages_do_not_hide_that_results_were_changed(again, monkeypatch):
    """An auditor of later has neither the code nor the packages of the study."""
    monkeypatch.setattr(chain, "library_digest", lambda *_: "0" * 64)
    monkeypatch.setattr(check, "versions", lambda: {**digests.versions(), "numpy": "0.1"})
    edit(again.results / "rates.csv")
    (again.results / "confirmed" / "taxicab.parquet").unlink()
    found = again.check()
    assert not found.closes
    told = lines(found)
    assert told["results that are not what their steps wrote"] == "results/small/rates.csv"
    assert told["results that are missing"] == "results/small/confirmed/taxicab.parquet"
    assert re.search(
        r"and \d+ more; they were made by reident \S+, .*, and this is reident", told["results made by different code"]
    )
    assert told["made with other versions than those installed"] == f"numpy {np.__version__} (0.1)"


def test_an_entry_in_place_of_another_is_found(again):
    swap_entries(again.results / "ledger" / "rate.json")
    found = again.check()
    assert not found.closes
    assert "results/small/rates.csv" in lines(found)["results that have no entry in the ledger"]


def test_without_the_sources_everything_else_is_verified(again):
    for side in ("puf", "eif", "iuf"):
        (again.inputs / f"{side}.csv").unlink()
    found = again.check()
    assert found.closes
    assert "small: the chain closes: " in found.line
    assert set(found.absent) == {"../in/puf.csv", "../in/eif.csv", "../in/iuf.csv"}
    assert set(lines(found)) == {"not verified, because they are not there or cannot be read"}
    with kept(again.results / "rates.csv"):
        edit(again.results / "rates.csv")
    assert not again.check().closes
    ended = again.checked()
    assert ended.code == 1, ended.shown
    (message,) = ended.errors
    assert message.startswith("small: the chain is broken")
    ended = again.run()
    assert ended.code == 1
    assert len(ended.errors) == 1
    assert "`files.puf.path`: puf.csv does not exist. Correct the path" in ended.shown


def test_without_results_nothing_is_verified(again):
    shutil.rmtree(again.results)
    found = again.check()
    assert not found.closes
    assert found.line == "small: there are no results yet. Run `snakemake --config study=../in/small.yaml`."


def test_results_that_are_not_made_yet_are_no_break(again):
    (again.results / "ledger" / "report.json").unlink()
    (again.results / "disclosure-review.ipynb").unlink()
    shutil.rmtree(again.reports)
    found = again.check()
    assert found.closes
    assert lines(found) == {"not made yet": "the report"}


def test_another_commit_runs_nothing_again_and_is_named(again):
    """As after a commit that changes no code of a step."""
    other = {"version": "0.0.9", "commit": "c" * 40, "modified": False, "tree": "d" * 64}
    change_entry(again.results / "ledger" / "rate.json", release=other)
    found = again.check()
    assert found.closes
    assert f"reident 0.0.9, commit {'c' * 12}, sources {'d' * 12}" in found.line
    assert again.run().planned == {}


def test_every_entry_has_the_release_that_ran(again):
    entries = [json.loads(path.read_text(encoding="utf-8")) for path in again.results.glob("ledger/*.json")]
    assert entries
    recorded = release.recorded()
    for entry in entries:
        assert set(entry["release"]) == set(recorded)
        assert entry["release"]["version"] == recorded["version"]
        assert re.fullmatch(r"[0-9a-f]{64}", entry["release"]["tree"])


def test_other_installed_versions_of_packages_are_reported(again, monkeypatch):
    assert "other versions" not in again.check().line
    monkeypatch.setattr(check, "versions", lambda: {**digests.versions(), "numpy": "0.1"})
    found = again.check()
    assert found.closes
    assert lines(found) == {"made with other versions than those installed": f"numpy {np.__version__} (0.1)"}


def test_the_command_check_walks_and_changes_nothing(again):
    before = {path: path.stat().st_mtime_ns for path in again.work.rglob("*")}
    ended = again.checked()
    assert ended.code == 0, ended.shown
    assert "small: the chain closes: " in ended.shown
    assert {path: path.stat().st_mtime_ns for path in again.work.rglob("*")} == before
    with kept(again.results / "rates.csv"):
        edit(again.results / "rates.csv")
    ended = again.checked()
    assert ended.code == 1
    (message,) = ended.errors
    assert message.startswith("small: the chain is broken. Run `snakemake --config study=../in/small.yaml --")
    assert "  results that are not what their steps wrote: results/small/rates.csv" in ended.shown
    shutil.rmtree(again.work / "results")
    ended = again.checked()
    assert ended.code == 1
    assert ended.errors == {"small: there are no results yet. Run `snakemake --config study=../in/small.yaml`."}


def drop_record(path: Path) -> None:
    """Remove the last record of a file."""
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")


@pytest.mark.parametrize("last", ["rate", "score.taxicab.1-of-1"])
def test_the_results_of_a_run_that_went_no_further_are_verified(again, last):
    """As after `snakemake --until rate`, or a run that was stopped."""
    entries = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in again.results.glob("ledger/*.json")}
    behind, todo = set(), [last]
    while todo:
        name = todo.pop()
        behind.add(name)
        read = {line["path"] for line in chain.inputs(entries[name])}
        todo += [
            other for other, entry in entries.items() if read & {line["path"] for line in entry["outputs"].values()}
        ]
    for name in entries.keys() - behind:
        for line in entries[name]["outputs"].values():
            chain.located(again.results, "", line["path"]).unlink()
        (again.results / "ledger" / f"{name}.json").unlink()
    found = again.check()
    assert found.closes, found.line
    n = sum(len(entries[name]["outputs"]) for name in behind)
    assert (
        f"the chain closes: {n} results of {len(behind)} steps lead back to the sources; made by reident" in found.line
    )
    drop_record(again.inputs / "puf.csv")
    found = again.check()
    assert not found.closes
    assert lines(found)["sources that changed after a step read them"] == "../in/puf.csv"


def test_a_shard_left_from_another_number_of_shards_is_not_used(again):
    entry = json.loads((again.results / "ledger/score.taxicab.1-of-1.json").read_text(encoding="utf-8"))
    (line,) = entry["outputs"].values()
    left = again.results / "scores/taxicab/2-of-2.parquet"
    shutil.copyfile(again.results / line["path"], left)
    line["path"] = chain.recorded_path(left, again.results)
    entry |= {"step": "score.taxicab.2-of-2", "study_digest": "0" * 64}
    text = json.dumps(chain.sealed(entry), indent=1, sort_keys=True)
    (again.results / "ledger/score.taxicab.2-of-2.json").write_text(text, encoding="utf-8")
    found = again.check()
    assert found.closes, found.line
    assert "; 1 results that this study no longer uses are unchanged; " in found.line


def test_results_of_which_the_study_uses_none_are_no_chain(again):
    """The chain of nothing does not close."""
    for name in sorted(path.stem for path in again.results.glob("ledger/*.json")):
        if name != "score.taxicab.1-of-1":
            (again.results / "ledger" / f"{name}.json").unlink()
    for path in sorted(again.results.rglob("*")) + sorted(again.reports.rglob("*")):
        if path.is_file() and path.suffix != ".json" and "scores" not in path.parts:
            path.unlink()
    (again.results / "study.json").unlink()
    small.write(again.inputs, {**STUDY, "metrics": {"unicity": {}}}, {})
    found = again.check()
    assert not found.closes
    assert found.line.startswith("small: there are no results of this study as it is now. Run ")


def test_an_edition_that_the_study_no_longer_has_is_named(again):
    page = again.reports / "releasable" / "edition.html"
    page.parent.mkdir()
    page.write_text("an edition", encoding="utf-8")
    with contextlib.chdir(again.work):
        assert check.abandoned_editions(Family(Path("../in/small.yaml")), Path("results")) == [
            Path("reports/small/releasable/edition.html")
        ]
    ended = again.checked()
    assert ended.code == 0, ended.shown
    assert f"{check.ABANDONED}: reports/small/releasable/edition.html" in ended.shown


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="needs setpriv where root tests")
@pytest.mark.parametrize("name", ["", "ledger", "ledger/rate.json", "rates.csv"])
def test_results_of_another_user_are_refused_in_one_sentence(again, name):
    closed = again.results / name
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        command = [*WITHOUT_PRIVILEGES, sys.executable, "-P", "-m", "reident.command", "check", "../in/small.yaml"]
        ended = subprocess.run(command, cwd=again.work, capture_output=True, text=True, check=False)
    finally:
        closed.chmod(mode)
    assert ended.returncode == 1
    path = Path("results/small", name)
    assert ended.stdout + ended.stderr == (
        f"Error: small: {path} cannot be read (permission denied). Run the command as its owner.\n"
    )
