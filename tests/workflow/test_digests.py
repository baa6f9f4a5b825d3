"""No digest on a page, or in a bag without the source files, tells a true link: tried, listed, and by two truths.

The attack tries the right guess of every secret file, in all its forms. The list names every digest by why it tells
nothing; one that it does not know fails. Two truths with the same counts must give the same bytes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from oracles import digests
from reident.archive import content, layout
from reident.ledger.chain import sealed as complete
from reident.pipeline import release
from workflow.commands import CHECKOUT, PRELOADED, reident, snakemake
from workflow.test_matching_study import study_file as write_matching
from workflow.test_matching_study import write as write_synthetic

from workflow import small

pytestmark = pytest.mark.slow

TWINS = {
    **copy.deepcopy(small.STUDY), "id": "twins", "strata": [], "metrics": {"taxicab": {}, "unicity": {}},
    "decision": {"conditional_rate_at_most": 0.05}, "release": {"policy": "midpoint-6"}, "why": {"metrics": ["taxicab"]},
    "confirmed_csv": True,
}  # fmt: skip
TWIN = ["9", "999"]


class Run(NamedTuple):
    """A finished study: its folder, and what is shown of it: pages, bag, and the pages on the bag."""

    folder: Path
    study: str
    bag: Path
    texts: dict[str, str]

    @property
    def results(self) -> Path:
        return self.folder / "run/results" / self.study


def shown(folder: Path, study: str, file: str) -> Run:
    """Seal a finished study, make the other pages, and collect every text that leaves."""
    run = folder / "run"
    ended = reident("seal", file, folder=run)
    assert ended.code == 0, ended.shown
    (bag,) = (run / f"reports/{study}/sealed").glob("*.zip")
    assert reident("reproduce", bag, folder=run).code == 3
    assert reident("compare", bag, file, folder=run).code == 0
    files = [path for path in (run / "reports").rglob("*") if path.is_file()]
    texts = {}
    for path in files:
        texts |= {f"{path.relative_to(run / 'reports')}: {name}": text for name, text in digests.shown(path).items()}
    return Run(folder, study, bag, {name: text for name, text in texts.items() if f": {layout.CODE}" not in name})


def twins(folder: Path, other: bool) -> Run:
    """A study in which a person has a twin in the EIF with the same values; the true link is to one of the two."""
    tables = small.rows(60, 90)
    linked = tables["iuf"][1]
    (row,) = [row for row in tables["eif"] if row[:2] == linked[2:]]
    tables["eif"].append([*TWIN, *row[2:]])
    assert len(",".join(TWIN)) == len(",".join(linked[2:])), "the files must have the same size"
    if other:
        linked[2:] = TWIN
    small.write(folder / "in", TWINS, tables)
    ended = snakemake(studies=["../in/twins.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return shown(folder, "twins", "../in/twins.yaml")


@pytest.fixture(scope="module")
def one(tmp_path_factory) -> Run:
    return twins(tmp_path_factory.mktemp("one"), other=False)


def synthetic(folder: Path) -> Run:
    write_synthetic(folder / "in")
    study = {"id": "synthetic", "matching": MATCHING}
    write_matching(folder / "in", study)
    ended = snakemake(studies=["../in/study.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return shown(folder, "synthetic", "../in/study.yaml")


@pytest.fixture(scope="module", params=["twins", "small"])
def run(request, tmp_path_factory) -> Run:
    """Three studies: an attack with an edition, one with all metrics, and synthetic files."""
    if request.param == "twins":
        return request.getfixturevalue("one")
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "synthetic":
        return synthetic(folder)
    shutil.copytree(request.getfixturevalue("finished").folder, folder, dirs_exist_ok=True)
    return shown(folder, "small", "../in/small.yaml")


def in_bag(run: Run) -> dict[str, dict]:
    """The lines of the bag about its outputs and inputs, by path."""
    files = digests.shown(run.bag)
    lines = [line for name, key in ((layout.OUTPUTS, "outputs"), (layout.INPUTS, "inputs")) for line in json.loads(files[name])[key]]
    return {line["path"]: line for line in lines}


def secrets(run: Run) -> dict[str, set[str]]:
    """The guesses of every file of which the bag has no digest, and the full entries of the ledger about them."""
    found = {}
    for path, line in in_bag(run).items():
        if line["sha256"] is None and line["rows"] != 0:
            file = run.results / path if (run.results / path).is_file() else run.folder / "in" / path
            found[path] = digests.guesses(file)
    for file in sorted((run.results / "ledger").glob("*.json")):
        if any(f'"path": "{path}"' in file.read_text() or f'"source:{path}"' in file.read_text() for path in found):
            found[file.name] = digests.guesses(file) | {json.loads(file.read_text())["sha256"]}
    return found


def test_trying_every_digest_finds_no_link(run):
    hidden = secrets(run)
    assert len(hidden) > 15
    assert digests.told(run.texts, hidden) == set()
    ledger = {"ledger": "".join(file.read_text() for file in (run.results / "ledger").glob("*.json"))}
    assert len(digests.told(ledger, hidden)) > 15, "the ledger in the results has these digests, so the attack works"


def reasons(run: Run) -> dict[str, str]:
    """Every digest that may be on a page or in the bag, with why it tells nothing."""
    files, lines = digests.shown(run.bag), in_bag(run)
    known = {}

    def know(reason: str, *values: str) -> None:
        known.update(dict.fromkeys(filter(None, values), reason))

    import zipfile  # noqa: PLC0415

    with zipfile.ZipFile(run.bag) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            know("of a file that is in the bag", hashlib.sha256(data).hexdigest(), hashlib.sha512(data).hexdigest())
    for side in ("puf", "eif"):
        if (file := run.folder / "in" / f"{side}.csv").is_file():
            know("of a file that an intruder holds", hashlib.sha256(file.read_bytes()).hexdigest())
    for path, line in lines.items():
        if line.get("bag") and line.get("content"):
            know("of the content of a table that is in the bag", content.digest(run.results / path))
    for name, text in files.items():
        if name.startswith(layout.LEDGER):
            entry = json.loads(text)
            assert complete(entry) == entry
            know("of an entry as it is in the bag", entry["sha256"])
            know("of the code", entry["library_digest"])
            know("of what the step takes from the study, which is in the bag", entry["study_digest"])
    code = release.describe()
    know("of the code", code["tree"], code["commit"], code["lock"])
    know("of the notebook, a part of the code",
         *(hashlib.sha256(file.read_bytes()).hexdigest() for file in (CHECKOUT / "workflow/notebooks").glob("*.ipynb")))
    know("of all that is in the bag", run.bag.stem.rpartition("-")[2])
    urn = next(line for line in files[layout.INFO].splitlines() if line.startswith("External-Identifier"))
    know("of the manifest of the bag", urn.rpartition(":")[2].replace("-", ""))
    return known


def test_every_digest_is_listed_with_why_it_tells_nothing(run):
    known = reasons(run)
    beginnings = {value[: len(digest)] for value in known for digest in [value]}
    unknown = {
        (name, digest)
        for name, text in run.texts.items()
        for digest in digests.digests(text)
        if not any(value.startswith(digest) for value in beginnings)
    }
    assert {(name, digest) for name, digest in unknown if not is_of_the_page(digest, run.texts[name])} == set()
    for path, line in in_bag(run).items():
        assert (line["sha256"] is None) == (line["size"] is None), path


def is_of_the_page(digest: str, text: str) -> bool:
    """Whether a digest is about the page alone: its script, its document in a PDF, the number of a person in none."""
    return f"sha256-{digest}" in text or digest in text and any(mark in text for mark in ("script-src", "%PDF"))


def test_the_sum_of_all_sizes_tells_no_size(run):
    total = json.loads(digests.shown(run.bag)[layout.COST])["total"]["disk_bytes"]
    assert total > 0
    assert total % 1_000_000 == 0


def test_two_truths_with_the_same_counts_give_the_same_bytes(one, tmp_path):
    """Whatever a digest is of, and a digest of digests: nothing that leaves depends on which of two links is true."""
    two = twins(tmp_path / "two", other=True)
    assert (one.folder / "in/iuf.csv").read_bytes() != (two.folder / "in/iuf.csv").read_bytes()
    differ = {name for name in bag_files(one) if bag_files(one)[name] != bag_files(two).get(name)}
    assert differ <= {layout.COST, layout.CRATE, layout.PAYLOAD_MANIFEST, layout.TAG_MANIFEST, layout.INFO}
    assert json.loads(bag_files(one)[layout.COST])["steps"], "the times of the steps differ from run to run"
    pages = [path for path in (one.folder / "run/reports/twins").rglob("*") if path.is_file() and path.suffix != ".zip"]
    assert len(pages) > 4
    for page in pages:
        assert page.read_bytes() == (two.folder / page.relative_to(one.folder)).read_bytes(), page.name


def bag_files(run: Run) -> dict[str, str]:
    return {name: text for name, text in digests.shown(run.bag).items() if not name.endswith(".zip")}
