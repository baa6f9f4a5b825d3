"""Bad input, through the real command: one clear sentence that names the place and the remedy, nothing of the
data in it, and nothing left behind that a later run would take for a result."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow.commands import PRELOADED, SNAKEMAKE, THREE_FILES, Ended, made, snakemake

pytestmark = pytest.mark.slow

STUDY = (
    THREE_FILES
    + """\
strata: [region]
linking_variables:
  - {{name: age, type: numeric, missing: ["-9"]}}
  - {{name: trade, type: categorical, order: [TRADE-a, TRADE-b, TRADE-c]}}
metrics:
  taxicab: {{alpha: 0.5}}
  adhoc: {{scores: {{age: {{function: "own:score", sha256: {sha256}}}}}}}
"""
)
FUNCTION = "def score(puf, eif):\n    return 5.0 * (puf == eif)\n"
FILES = {
    "puf.csv": (
        "pufid,region,age,trade\n"
        "KEY-P1,ZONE-1,7041.625,TRADE-a\nKEY-P2,ZONE-1,7052.875,TRADE-b\nKEY-P3,ZONE-2,7063.375,TRADE-c\nKEY-P4,ZONE-2,-9,TRADE-a\n"
    ),
    "eif.csv": (
        "eifid,region,age,trade\n"
        "KEY-E1,ZONE-1,7041.625,TRADE-a\nKEY-E2,ZONE-1,7050.125,TRADE-b\nKEY-E3,ZONE-2,7063.375,TRADE-c\nKEY-E4,ZONE-2,7074.625,TRADE-a\n"
    ),
    "iuf.csv": "pufid,eifid\nKEY-P1,KEY-E1\nKEY-P3,KEY-E3\n",
    "own.py": FUNCTION,
}
SECRETS = re.compile(rb"KEY-|ZONE-|TRADE-|70[4-7]\d\.\d")
"""Keys and values of the data; they must not be shown."""


class Case(NamedTuple):
    """Files that are spoilt, and what the one sentence says."""

    name: str
    sentence: str
    spoilt: dict[str, str | bytes]
    says: tuple[str, ...]
    step: str = "prepare"
    target: str = "prepared/account.csv"


def change(name: str, old: str, new: str | bytes) -> dict[str, str | bytes]:
    """One file with one place changed."""
    text = FILES[name].encode()
    assert old.encode() in text
    return {name: text.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)}


SCORE = {"step": "score.adhoc.1-of-1", "target": "suspected/adhoc.parquet"}
CASES = [
    Case(
        "field-too-many",
        "a row with one field more than the header",
        change("puf.csv", "7052.875,", "7052.875,1,"),
        (
            "puf.csv, row 3: the row must have as many fields as the header (4), but has 5",
            "Quote fields that contain the delimiter",
        ),
    ),
    Case(
        "field-too-few",
        "a row with one field less than the header",
        change("eif.csv", "7063.375,", ""),
        ("eif.csv, row 4: the row must have as many fields as the header (4), but has 3",),
    ),
    Case(
        "field-shift",
        "every row has one field more than the header",
        {"puf.csv": FILES["puf.csv"].replace("\nKEY", "\n1,KEY")},
        ("puf.csv, row 2: the row must have as many fields as the header (4), but has 5",),
    ),
    Case(
        "blank-line",
        "a blank line between two records",
        change("puf.csv", "\nKEY-P3", "\n\nKEY-P3"),
        ("puf.csv, row 4: the row must have as many fields as the header (4), but has 0", "remove blank lines"),
    ),
    Case(
        "repeated-column",
        "a column name that is given twice in the header",
        change("puf.csv", "age,trade", "age,age"),
        ("puf.csv, row 1, column 4", "given twice", "Rename"),
    ),
    Case(
        "unknown-column",
        "the study names a column that the file does not have",
        change("eif.csv", "age,trade", "years,trade"),
        ("eif.csv, row 1", "no column `age`", "Correct the name in the study file"),
    ),
    Case(
        "other-delimiter",
        "fields are separated by semicolons, undeclared",
        {"eif.csv": FILES["eif.csv"].replace(",", ";")},
        ("eif.csv, row 1", "no column `eifid`", "delimiter"),
    ),
    Case(
        "undecodable",
        "the text is not utf-8",
        change("eif.csv", "TRADE-b", b"TRADE-\xe9"),
        ("eif.csv, line 3: the text is not utf-8", "Declare the `encoding`"),
    ),
    Case(
        "utf-16",
        "a file in UTF-16, undeclared",
        {"puf.csv": FILES["puf.csv"].encode("utf-16")},
        ("puf.csv, line 1: the text is not utf-8", "Declare the `encoding`"),
    ),
    Case(
        "nul-byte",
        "a NUL byte in a field",
        change("puf.csv", "7052.875", "70\x0052.875"),
        ("puf.csv, line 3: the line contains a NUL byte", "Export the file again"),
    ),
    Case(
        "unbalanced-quote",
        "a quote is never closed",
        change("puf.csv", "TRADE-b", '"TRADE-b'),
        ("puf.csv, line 3: a quote is never closed", "Close it"),
    ),
    Case(
        "quote-inside",
        "text after the closing quote of a field",
        change("eif.csv", "TRADE-b", '"TRADE"-b'),
        ("eif.csv, line 3: a quote is in the middle of a field", "double the quotes"),
    ),
    Case(
        "truncated-gzip",
        "a gzip archive that was cut",
        {"puf.csv": gzip.compress(FILES["puf.csv"].encode(), mtime=0)[:-12]},
        ("puf.csv: the gzip file is truncated or damaged", "Copy the file again"),
    ),
    Case("empty", "an empty file", {"eif.csv": ""}, ("eif.csv: the file is empty", "header")),
    Case(
        "header-only",
        "a header without a record",
        {"puf.csv": "pufid,region,age,trade\n"},
        ("puf.csv: the file has a header and no records", "Check the export"),
    ),
    Case(
        "duplicate-key",
        "a key that repeats",
        change("eif.csv", "KEY-E4", "KEY-E2"),
        ("eif.csv, row 5: the key (eifid) is not unique", "Keep one record per key"),
    ),
    Case(
        "empty-key",
        "a record without a key",
        change("puf.csv", "KEY-P2", ""),
        ("puf.csv, row 3, column `pufid`: the key must not be empty", "Give every record a key"),
    ),
    Case(
        "no-number",
        "a text in a numeric variable",
        change("puf.csv", "7063.375", "7063.375-"),
        ("puf.csv, row 4, column `age`", "not a number", "missing code"),
    ),
    Case(
        "outside-order",
        "a category that the declared order does not have",
        change("eif.csv", "TRADE-c", "TRADE-d"),
        ("eif.csv, row 4, column `trade`", "not in the declared `order`", "recode"),
    ),
    Case(
        "no-common-code",
        "the two files code a variable differently",
        {"eif.csv": FILES["eif.csv"].replace("ZONE", "ZONE-")},
        ("puf.csv and eif.csv, columns `region` and `region`", "no code", "recode"),
    ),
    Case(
        "unknown-link",
        "a link to a record that is not there",
        change("iuf.csv", "KEY-E3", "KEY-E7"),
        ("iuf.csv, row 3: the link names a record that is not in eif.csv (1 such links)", "unknown_links_at_most"),
    ),
    Case(
        "function-too-high",
        "a scoring function gives a score above 5",
        {"own.py": FUNCTION.replace("5.0", "5.1")},
        ("scoring function of `age`", "outside 0…5", "correct the function"),
        **SCORE,
    ),
    Case(
        "function-fails",
        "a scoring function fails, with a value of the data in its own message",
        {"own.py": "def score(puf, eif):\n    raise ValueError(puf)\n"},
        ("own.py, line 2: the scoring function of `age` failed (ValueError)", "It must take two arrays"),
        **SCORE,
    ),
    Case(
        "function-changed",
        "a scoring function is not the one that the study approves",
        {"own.py": FUNCTION + "# another version\n", "sha256": hashlib.sha256(FUNCTION.encode()).hexdigest()},
        ("own.py is not the file that the study approves", "give its SHA-256"),
        **SCORE,
    ),
]


def write(folder: Path, case: Case, spoilt: dict[str, str | bytes]) -> Path:
    """The files of a case and its study file, which approves the scoring function that lies there."""
    folder.mkdir(exist_ok=True)
    files = {**FILES, **spoilt}
    sha256 = files.pop("sha256", hashlib.sha256(files["own.py"].encode()).hexdigest())
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "study.yaml").write_text(STUDY.format(id=case.name, sha256=sha256), encoding="utf-8")
    return folder / "study.yaml"


class Runs(NamedTuple):
    """The run on all spoilt studies, what it left, and the run on the same studies once mended."""

    folder: Path
    spoilt: Ended
    left: dict[str, bytes]
    mended: Ended


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Runs:
    """All cases in one run, which goes on with the others where one fails; then all of them mended."""
    folder = tmp_path_factory.mktemp("bad-input")
    good = Case("good", "the same files, not spoilt", {}, (), target="suspected/adhoc.parquet")
    cases = [*CASES, good]
    targets = [target for case in cases for target in made(case.name, case.target)]

    def run(spoil: Callable[[Case], dict[str, str | bytes]]) -> Ended:
        files = [write(folder / case.name, case, spoil(case)) for case in cases]
        return snakemake(*targets, studies=files, folder=folder / "run", program=PRELOADED)

    spoilt = run(lambda case: case.spoilt)
    left = {str(path.relative_to(folder / "run")): path.read_bytes() for path in files_below(folder / "run")}
    return Runs(folder / "run", spoilt, left, run(lambda _: {}))


def files_below(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_is_reported_with_place_and_remedy(runs, case):
    said = runs.left[f"results/{case.name}/logs/{case.step}.log"].decode()
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    assert said.endswith(".\n")
    for part in case.says:
        assert part in said, (case.sentence, said)
    assert said.removeprefix("Error: ").strip() in runs.spoilt.errors


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_leaves_no_result_and_a_corrected_file_does(runs, case):
    results = f"results/{case.name}/"
    target = results + case.target
    later = [target, results + f"ledger/{case.step}.json"]
    assert not [name for name in runs.left if name in later], "a result of the step that failed"
    assert (runs.folder / target).read_bytes() == (
        runs.folder / results.replace(case.name, "good") / case.target
    ).read_bytes()


def test_a_run_with_bad_input_fails_and_shows_no_traceback(runs):
    assert runs.spoilt.code != 0
    assert "Traceback" not in runs.spoilt.shown
    assert len(runs.spoilt.errors) == len(CASES)
    assert runs.mended.code == 0, runs.mended.shown


def test_nothing_of_the_data_is_shown_or_logged(runs):
    """Neither in the terminal nor in any file of the run but the tables and the details that only the owner reads."""
    assert not SECRETS.findall(runs.spoilt.shown.encode())
    tables = re.compile(r"results/[^/]+/(prepared|strata|binned|scores|suspected|confidential)/.*")
    for name, content in runs.left.items():
        if not tables.fullmatch(name):
            assert not SECRETS.findall(content), name


@pytest.mark.quick
def test_one_bad_study_alone_fails(tmp_path):
    case = CASES[0]
    ended = snakemake(
        *made(case.name, case.target),
        studies=[write(tmp_path / "in", case, case.spoilt)],
        folder=tmp_path,
        program=SNAKEMAKE,
    )
    assert ended.code != 0
    assert len(ended.errors) == 1


# Mistakes in the study file: no job starts.

GOOD = STUDY.format(id="good", sha256=hashlib.sha256(FUNCTION.encode()).hexdigest())
STUDY_FILES = [
    ("path: eif.csv", "path: eiff.csv", ("line 4: `files.eif.path`: eiff.csv does not exist",)),
    ("path: eif.csv", "path: .", ("line 4: `files.eif.path`: . is a folder",)),
    ("  iuf:", "  # iuf:", ("line 2: `files.iuf` is missing. Add it",)),
    ("strata: [region]", "strata: [trade]", ("`trade` must not be both", "Remove it from one")),
    ("alpha: 0.5", "alpha: 1.5", ("line 11: `metrics.taxicab.alpha`", "must be at most 1")),
    ("alpha: 0.5", "alpha: 0", ("line 11: `metrics.taxicab.alpha`", "must be greater than 0")),
    (
        'age: {function: "own:score", sha256',
        "age: {bands: [{within: 0, score: 6}], beyond",
        ("line 12: `metrics.adhoc.scores.age.bands[1].score`", "must be at most 5"),
    ),
    (
        'age: {function: "own:score", sha256',
        "trade: {table: [{puf: TRADE-a, eif: TRADE-a, score: -1}], otherwise",
        ("line 12: `metrics.adhoc.scores.trade.table[1].score`", "must be at least 0"),
    ),
    ("strata:", "id: again\nstrata:", ("line 6: `id` is given twice. Remove one",)),
    ("strata:", "stratum:", ("line 6: `stratum` is not a known key. Did you mean `strata`?",)),
    ("id: good", "id: Good Study", ("line 1: `id`",)),
    (
        "strata: [region]",
        "strata: [region",
        ("line 6: ", "not valid YAML", "`[` is not closed by `]`", "Add `]`, or a comma."),
    ),
    ("type: numeric", "type: number", ("line 8: `linking_variables[1].type`", "`numeric`")),
]


@pytest.mark.parametrize(("old", "new", "says"), STUDY_FILES)
def test_a_mistake_in_the_study_file_is_reported_and_starts_nothing(tmp_path, old, new, says):
    file = write(tmp_path / "in", Case("good", "", {}, ()), {})
    assert GOOD.count(old) >= 1
    text = GOOD.replace(old, new, 1)
    if "beyond" in new or "otherwise" in new:
        text = re.sub(r"(beyond|otherwise): [0-9a-f]{64}", r"\1: 0", text)
    file.write_text(text, encoding="utf-8")
    ended = snakemake(*made("good", "prepared/account.csv"), studies=[file], folder=tmp_path / "run")
    assert ended.code != 0
    (said,) = ended.errors
    assert said.startswith(f"{file}, line "), said
    for part in says:
        assert part in said, said
    assert "Traceback" not in ended.shown
    assert 'File "' not in ended.shown
    assert not (tmp_path / "run" / "results").exists()


def test_a_missing_study_file_and_two_studies_with_one_id(tmp_path):
    file = write(tmp_path / "in", Case("good", "", {}, ()), {})
    other = write(tmp_path / "other", Case("good", "", {}, ()), {})
    for studies, part in (
        ([tmp_path / "no.yaml"], "no.yaml: the study file cannot be read"),
        ([file, other], "must not be that of another study"),
    ):
        ended = snakemake(studies=studies, folder=tmp_path / "run")
        assert ended.code != 0
        (said,) = ended.errors
        assert part in said
        assert 'File "' not in ended.shown


RUNS = [
    ("a number of shards that is not a number", "in", "shards=abc", "config: `shards` must be a positive integer"),
    ("a negative number of shards", "in", "shards=-5", "config: `shards` must be a positive integer"),
    ("an unknown key", "in", "stduy=x", "config: `stduy` is not a known key. Did you mean `study`?"),
    ("a folder with a brace", "in{a}", "shared_results=false", "study.yaml contains a brace"),
]


@pytest.mark.parametrize(("sentence", "folder", "config", "says"), RUNS, ids=[case[0] for case in RUNS])
def test_a_mistake_in_the_command_is_reported_and_starts_nothing(tmp_path, sentence, folder, config, says):
    file = write(tmp_path / folder, Case("good", "", {}, ()), {})
    ended = snakemake(config, *made("good", "prepared/account.csv"), studies=[file], folder=tmp_path / "run")
    assert ended.code != 0
    (said,) = ended.errors
    assert says in said
    assert 'File "' not in ended.shown
    assert not (tmp_path / "run" / "results").exists()
