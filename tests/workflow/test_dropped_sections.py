"""What a study no longer asks for is not in its report, though the tables of the run before lie there still; and the
report reads nothing but the inputs of its step."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from workflow.commands import CHECKOUT, PRELOADED, reident, snakemake
from workflow.test_filerisk_study import SECTION
from workflow.test_filerisk_study import write as write_population
from workflow.test_matching_study import MATCHING
from workflow.test_matching_study import write as write_synthetic

from workflow import small

pytestmark = pytest.mark.slow

STUDY = {
    **copy.deepcopy(small.STUDY),
    "metrics": {"taxicab": {"alpha": "1/3"}, "winkler": {}},
    "matching": MATCHING,
    "file_risk": SECTION,
    "checklist": {"answers": {"survey": "A survey of sailors."}},
    "variants": [{"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]}],
}

OPENED = """
import json, sys
from pathlib import Path

notebook, folder = sys.argv[1:]
found, root = set(), Path.cwd().resolve()


def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str | Path):
        path = Path(arguments[0]).resolve()
        if path.is_relative_to(root):
            found.add(path.relative_to(root).as_posix())


sys.addaudithook(note)
space = {}
for cell in json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), space)
        if cell["id"] == "parameters":
            space["results"] = folder
print(json.dumps(sorted(found)))
"""
"""Runs the cells of the review's notebook and prints the files below the working folder that they open."""


def write(folder: Path, change=lambda _: None) -> Path:
    study = copy.deepcopy(STUDY)
    change(study)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "small.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file


def run(folder: Path) -> None:
    ended = snakemake(studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A study with every section, taken to its report."""
    folder = tmp_path_factory.mktemp("sections")
    small.write(folder / "in", tables=small.rows(60, 90))
    write_population(folder / "in")
    write_synthetic(folder / "in")
    write(folder / "in")
    run(folder)
    return folder


def opened(folder: Path) -> set[str]:
    """What the cells of the notebook open in the results of the study."""
    notebook = CHECKOUT / "workflow" / "notebooks" / "disclosure-review.ipynb"
    ended = subprocess.run(
        [sys.executable, "-c", OPENED, str(notebook), "results/small"],
        cwd=folder / "run",
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "workflow" / "lib"), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {path.removeprefix("results/small/") for path in json.loads(ended.stdout.splitlines()[-1])}


def check_reads(folder: Path) -> set[str]:
    """See that the report reads its inputs alone, and entries of the ledger, which the step checks by themselves."""
    entry = json.loads((folder / "run/results/small/ledger/report.json").read_text(encoding="utf-8"))
    inputs = {line["path"] for lines in entry["inputs"].values() for line in lines}
    found = {path for path in opened(folder) if not re.match(r"(variants/[^/]+/)?ledger/", path)}
    assert found <= inputs
    return found


def shown(folder: Path) -> str:
    """The page, and all that the executed notebook shows, as plain letters."""
    page = (folder / "run/reports/small/disclosure-review.html").read_text(encoding="utf-8")
    notebook = (folder / "run/results/small/disclosure-review.ipynb").read_text(encoding="utf-8")
    return page + "".join(
        "".join(text).replace("\\", "")
        for cell in json.loads(notebook)["cells"]
        for output in cell.get("outputs", [])
        for text in output.get("data", {}).values()
    )


def drop_metrics(study: dict) -> None:
    for name in ("metrics", "files", "strata", "linking_variables", "variants"):
        del study[name]


DROPPED = {
    "winkler": (lambda study: study["metrics"].pop("winkler"), ["What the paper claims", "agreements.csv"]),
    "numerical study": (
        lambda study: study["file_risk"]["population"].pop("numerical_study"),
        ["Samples of the population", "filerisk/by_sample.csv"],
    ),
    "file_risk": (
        lambda study: study.pop("file_risk"),
        ["Risk of the file on its own", "filerisk/", "census.csv"],
    ),
    "matching": (lambda study: study.pop("matching"), ["Matching of synthetic data", "matching/"]),
    "checklist": (
        lambda study: study.pop("checklist"),
        ["board’s checklist", "A survey of sailors", "checklist.csv", "federal-disclosure-potential.yaml"],
    ),
    "variants": (lambda study: study.pop("variants"), ['id="variants"', "comparison/rates.csv"]),
    "metrics": (drop_metrics, ["The attack", "Conditional rate", "rates.csv", "iuf.csv"]),
}
"""What is dropped, and the words of the report that only it brings."""

ALIKE = {"winkler", "file_risk", "checklist", "variants"}
"""Those that differ little from others."""


def test_the_report_of_every_section_reads_all_its_tables_and_nothing_else(finished):
    entry = json.loads((finished / "run/results/small/ledger/report.json").read_text(encoding="utf-8"))
    lines = {name: [line["path"] for line in own] for name, own in entry["inputs"].items()}
    others = ("source_", "study", "notebook")
    tables = {path for name, own in lines.items() if not name.startswith(others) for path in own}
    # The comparison of variants has the rates of `agreements.csv`.
    not_shown = {"agreements.csv", "filerisk/scores.csv"}
    assert tables - check_reads(finished) <= not_shown
    text = shown(finished)
    sources = {"puf.csv": "PUF", "synthetic_1.csv": "synthetic 1"}
    for name, side in sources.items():
        assert f"[{name}]{{.file}} [{side}]{{.aside}}" in text
    assert [word for _, words in DROPPED.values() for word in words if word not in text] == []


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.long] if what in ALIKE else []) for what in DROPPED]
)
def test_a_dropped_section_leaves_no_trace_in_the_report(finished, tmp_path, what):
    change, words = DROPPED[what]
    folder = shutil.copytree(finished, tmp_path / "again", symlinks=True)
    write(folder / "in", change)
    run(folder)
    text = shown(folder)
    assert [word for word in words if word in text] == []


@pytest.mark.long
def test_a_stale_table_that_was_edited_does_not_come_back(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "again", symlinks=True)
    write(folder / "in", DROPPED["matching"][0])
    run(folder)
    (folder / "run/results/small/matching/warnings.csv").write_text("warning\nplanted\n", encoding="utf-8")
    write(folder / "in", lambda study: (study.pop("matching"), study.update(title="Again")))
    run(folder)
    assert "planted" not in shown(folder)
    checked = reident("check", "../in/small.yaml", folder=folder / "run")
    assert checked.code == 0, checked.shown
    left = "no longer used by this study, and changed or missing: results/small/matching/warnings.csv"
    assert left in checked.shown
    check_reads(folder)
