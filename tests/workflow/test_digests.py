"""No digest on a page, or in a bag without the source files, tells a true link: tried, listed, and by two truths.

The attack tries the right guess of every secret file, in all its forms. The list names every digest by why it tells
nothing; one that it does not know fails. Two truths with the same counts must give the same bytes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from making import bags
from oracles import digests
from reident.archive import content, layout
from reident.archive.crate import Crate
from reident.ledger.chain import sealed as complete
from reident.pipeline import release
from reident.study.model import Study
from workflow.commands import CHECKOUT, PRELOADED, reident, snakemake
from workflow.test_matching_study import MATCHING
from workflow.test_matching_study import study_file as write_matching
from workflow.test_matching_study import write as write_synthetic

from workflow import small

pytestmark = pytest.mark.slow

TWINS = {
    **copy.deepcopy(small.STUDY), "id": "twins", "strata": [], "metrics": {"taxicab": {}, "unicity": {}},
    "decision": {"conditional_rate_at_most": 0.05}, "release": {"policy": "midpoint-6"},
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
    write_matching(folder / "in", {"id": "synthetic", "matching": MATCHING})
    ended = snakemake(studies=["../in/synthetic.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return shown(folder, "synthetic", "../in/synthetic.yaml")


@pytest.fixture(scope="module", params=["twins", "small", "synthetic"])
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
    lines = [
        line
        for name, key in ((layout.OUTPUTS, "outputs"), (layout.INPUTS, "inputs"))
        for line in json.loads(files[name])[key]
    ]
    return {line["path"]: line for line in lines}


def secrets(run: Run) -> dict[str, set[str]]:
    """The guesses of every file of which the bag has no digest, and the full entries of the ledger about them.

    The tables of an edition are no secret: the edition has them.
    """
    found: dict[str, set[str]] = {}
    published = {hashlib.sha256(data).hexdigest() for data in contents(run).values()}
    for path, line in in_bag(run).items():
        if line["sha256"] is None and line["rows"] != 0:
            file = run.results / path if (run.results / path).is_file() else run.folder / "in" / path
            if hashlib.sha256(file.read_bytes()).hexdigest() not in published:
                found[path] = digests.guesses(file)
    for file in sorted((run.results / "ledger").glob("*.json")):
        if any(f'"path": "{path}"' in file.read_text() or f'"source:{path}"' in file.read_text() for path in found):
            found[file.name] = digests.guesses(file) | {json.loads(file.read_text())["sha256"]}
    return found


def test_trying_every_digest_finds_no_link(run):
    hidden = secrets(run)
    least = 15 if (run.results / "rates.csv").is_file() else 5  # the study of synthetic files has few tables
    assert len(hidden) > least
    assert digests.told(run.texts, hidden) == set()
    ledger = {"ledger": "".join(file.read_text() for file in (run.results / "ledger").glob("*.json"))}
    assert len(digests.told(ledger, hidden)) > least, "the ledger in the results has these digests, so the attack works"


def reasons(run: Run) -> dict[str, str]:
    """Every digest that may be on a page or in the bag, with why it tells nothing."""
    files, lines = digests.shown(run.bag), in_bag(run)
    known = {}

    def know(reason: str, *values: str) -> None:
        known.update(dict.fromkeys(filter(None, values), reason))

    with zipfile.ZipFile(run.bag) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            know("of a file that is in the bag", hashlib.sha256(data).hexdigest(), hashlib.sha512(data).hexdigest())
    for side in ("puf", "eif", "synthetic_1", "synthetic_2"):
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
    for file in (run.results / "ledger").glob("*.json"):
        know("of the code", json.loads(file.read_text(encoding="utf-8"))["library_digest"])
    code = release.describe()
    know("of the code", code["tree"], code["commit"], code["lock"])
    know(
        "of the notebook, a part of the code",
        *(hashlib.sha256(file.read_bytes()).hexdigest() for file in (CHECKOUT / "workflow/notebooks").glob("*.ipynb")),
    )
    know("of all that is in the bag", run.bag.stem.rpartition("-")[2])
    urn = next(line for line in files[layout.INFO].splitlines() if line.startswith("External-Identifier"))
    know("of the manifest of the bag", urn.rpartition(":")[2].replace("-", ""))
    know("of suspected pairs, which who has both files computes", *of_pairs(run.results))
    return known


def of_pairs(results: Path) -> set[str]:
    """The digests of the pairs that count for each count of an edition, without their column on links."""
    sets = {}
    for file in (results / "confirmed").glob("*.pairs.parquet"):
        table = pd.read_parquet(file, columns=["puf", "eif"])
        sets[file] = set(table.itertuples(index=False, name=None))
    chosen = [*sets.values(), set().union(*sets.values()), set.intersection(*sets.values())] if sets else []
    for pairs in sets.values():
        candidates = Counter(puf for puf, _ in pairs)
        chosen.append({pair for pair in pairs if candidates[pair[0]] == 1})
    return {hashlib.sha256(np.array(sorted(pairs), "<i8").tobytes()).hexdigest() for pairs in chosen}


def test_every_digest_is_listed_with_why_it_tells_nothing(run):
    known = reasons(run)
    unknown = {
        (name, digest)
        for name, text in run.texts.items()
        for digest in digests.digests(text)
        if not any(value.startswith(digest) for value in known) and not is_of_the_page(name, digest)
    }
    assert unknown == set()
    for path, line in in_bag(run).items():
        assert (line["sha256"] is None) == (line["size"] is None), path


def is_of_the_page(name: str, digest: str) -> bool:
    """Whether a digest is about a page alone, which a test makes with another truth: of a PDF or of a script."""
    return (name.endswith(".pdf") and len(digest) in (24, 32, 40, 48)) or (name.endswith(".html") and len(digest) == 40)


def test_the_sum_of_all_sizes_tells_no_size(run):
    total = json.loads(digests.shown(run.bag)[layout.COST])["total"]["disk_bytes"]
    assert total > 0
    assert total % 1_000_000 == 0


def test_two_truths_with_the_same_counts_give_the_same_bytes(one, tmp_path):
    """Whatever a digest is of, and a digest of digests: nothing that leaves depends on which of two links is true."""
    two = twins(tmp_path / "two", other=True)
    assert (one.folder / "in/iuf.csv").read_bytes() != (two.folder / "in/iuf.csv").read_bytes()
    first, second = bag_files(one), bag_files(two)
    differ = {name for name in first if first[name] != second.get(name)}
    assert differ <= {layout.COST, layout.CRATE, layout.PAYLOAD_MANIFEST, layout.TAG_MANIFEST, layout.INFO}
    assert json.loads(first[layout.COST])["steps"], "the times of the steps differ from run to run"
    pages = [path for path in (one.folder / "run/reports/twins").rglob("*") if path.is_file() and path.suffix != ".zip"]
    assert len(pages) > 4
    for page in pages:
        assert page.read_bytes() == (two.folder / page.relative_to(one.folder)).read_bytes(), page.name


def bag_files(run: Run) -> dict[str, str]:
    return {name: text for name, text in digests.shown(run.bag).items() if not name.endswith(".zip")}


# A bag whose files contradict each other; its manifests, its ledger and its name fit.


def contents(run: Run) -> dict[str, bytes]:
    with zipfile.ZipFile(run.bag) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def rewritten(run: Run, folder: Path, **changes: tuple[bytes, bytes]) -> str:
    """What `reident verify` says of the bag with other bytes in some files, and all that is about these made to fit."""
    files = contents(run)
    for name, (old, new) in changes.items():
        assert old in files[name], name
        files[name] = files[name].replace(old, new)
    outputs = json.loads(files[layout.OUTPUTS])
    for line in outputs["outputs"]:
        if line["bag"] and (data := files[layout.PAYLOAD + line["bag"]]) is not None:
            line |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    files[layout.OUTPUTS] = json.dumps(outputs).encode()
    lines = {line["path"]: line for line in outputs["outputs"]}
    for name in [name for name in files if name.startswith(layout.LEDGER)]:
        entry = json.loads(files[name])
        for line in [line for part in ("inputs", "outputs") for line in flat(entry[part])]:
            line |= {key: lines.get(line["path"], line)[key] for key in ("sha256", "size")}
        files[name] = bags.entry(entry)
    if layout.CRATE not in changes:
        files[layout.CRATE] = json.dumps(described(files)).encode()
    tagged = {
        name: data for name, data in bags.tagged(files, layout.VERSION).items() if not name.startswith("signatures/")
    }
    return reident("verify", bags.written(folder, tagged, run.study), folder=folder).shown


def described(files: dict[str, bytes]) -> dict:
    """The crate of the files of a bag."""
    documents = {name: json.loads(data) for name, data in files.items() if name.endswith(".json")}
    sizes = {name: len(data) for name, data in files.items()}
    sizes |= {layout.STUDY: sizes[STUDY], layout.CODE: sizes[f"{layout.CODE}Snakefile"]}
    study = Study.model_validate(documents[layout.RESOLVED])
    return Crate(study, STUDY.removeprefix(layout.STUDY), documents, sizes).describe()


def flat(part: dict) -> list[dict]:
    return [line for value in part.values() for line in (value if isinstance(value, list) else [value])]


LIMITS, SUMMARY = f"{layout.TABLES}verdict/limits.csv", f"{layout.TABLES}verdict/summary.csv"
STUDY = f"{layout.STUDY}twins.yaml"
CONTRADICTIONS = {
    "a verdict that its tables do not have": ({layout.DECISION: (b'"breaks"', b'"passes"')}, "contradicts"),
    "a study file with another limit": ({STUDY: (b"0.05", b"0.95")}, "is not the study of"),
    "a rule with another limit": ({layout.DECISION: (b'at_most": 0.05', b'at_most": 0.95')}, "is not that of"),
    "a study and its file with another limit": (
        {
            STUDY: (b"0.05", b"0.95"), layout.RESOLVED: (b"0.05", b"0.95"),
            layout.DECISION: (b'at_most": 0.05', b'at_most": 0.95'),
        },
        "is not what the tables of the bag come to",
    ),
    "limits that the rates do not give": (
        {LIMITS: (b"breaks", b"passes"), layout.DECISION: (b'"breaks"', b'"passes"')},
        "is not what the tables of the bag come to",
    ),
    "a verdict that the limits do not give": (
        {SUMMARY: (b",above,", b",within,"), layout.DECISION: (b'"verdict": "above"', b'"verdict": "within"')},
        "is not what the tables of the bag come to",
    ),
    "a study file that is none": ({STUDY: (b"metrics", b"metrix")}, "is not the study file of what was computed"),
}  # fmt: skip


def test_a_bag_that_is_made_anew_verifies(one, tmp_path):
    assert "Error" not in rewritten(one, tmp_path)


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_bag_that_contradicts_itself_is_refused(case, one, tmp_path):
    changes, sentence = CONTRADICTIONS[case]
    shown_ = rewritten(one, tmp_path, **changes)
    assert shown_.startswith("Error: "), shown_
    assert sentence in shown_


def test_a_crate_that_says_another_verdict_is_refused(one, tmp_path):
    """It is in no list, so that nothing else says that it was changed."""
    said = b"Verdict on the release: "
    assert "does not describe the other files" in rewritten(one, tmp_path, **{layout.CRATE: (said, said + b"not ")})
