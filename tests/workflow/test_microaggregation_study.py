"""A user's file of ten numeric columns through the real command: masked in two ways, attacked by every rule."""

from __future__ import annotations

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
import yaml
from oracles import microaggregation as masking
from oracles import winkler as oracle
from workflow.commands import PRELOADED, snakemake

pytestmark = pytest.mark.slow

COLUMNS = [f"b{at}" for at in range(1, 11)]
RULES = {"half gap": "half_gap", "midpoint": "midpoint", "nearest 4": {"nearest": 4}}
STUDY = {
    "id": "firms",
    "microaggregate": {"path": "firms.csv", "id": "firm", "variables": COLUMNS, "missing": [""]},
    "linking_variables": [{"name": name, "type": "numeric", "missing": [""]} for name in COLUMNS],
    "metrics": {"winkler": {}},
    "variants": [
        {"set": "microaggregate.k", "values": [3, 10]},
        {"set": "metrics.winkler.agreement", "name": "rule", "values": RULES},
    ],
}


def firms(n: int = 45) -> list[list[str]]:
    """Rows of the file: whole and decimal amounts, some missing, keys whose order is not that of the rows."""
    draw = Random(11)  # noqa: S311 - made-up firms
    return [
        [f"{(at * 7) % n:02d}"]
        + [
            "" if draw.random() < 0.03 else f"{draw.lognormvariate(4, 1):.{at % 2}f}"
            for _ in COLUMNS
        ]
        for at in range(n)
    ]  # fmt: skip


def write(folder: Path, rows: list[list[str]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "firms.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["firm", *COLUMNS], *rows])
    file = folder / "firms.yaml"
    file.write_text(yaml.safe_dump(STUDY, sort_keys=False), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("firms")
    ended = snakemake(studies=[write(folder, firms())], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return folder


def expected(k: int, rule: str | dict) -> list[tuple[int, int, int]]:
    """min_agree, suspected and re-identified records, by the definitions."""
    rows = sorted(firms())
    held = [[None if cell == "" else Fraction(cell) for cell in row[1:]] for row in rows]
    columns = zip(*held, strict=True)
    masked = [list(row) for row in zip(*(masking.microaggregate(own, k, "mean") for own in columns), strict=True)]
    counts = oracle.agreements(masked, held, [True] * 10, (masked, held), rule)
    kept, *_ = oracle.kept(counts, len(rows), 1, 5)
    suspected, right = defaultdict(set), defaultdict(set)
    for puf, eif, agree in kept:
        for least in range(1, agree + 1):
            suspected[least].add(puf)
            right[least] |= {puf} & {eif}
    return [(least, len(suspected[least]), len(right[least])) for least in range(1, 11)]


def test_every_way_is_what_the_definitions_give(finished):
    results = finished / "run" / "results" / "firms"
    found = defaultdict(list)
    with (results / "comparison" / "agreements.csv").open(encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            counts = (int(line[name]) for name in ("min_agree", "n_suspected", "n_confirmed"))
            found[line["set_k"], line["set_rule"]].append(tuple(counts))
    assert found == {(str(k), name): expected(k, rule) for k in (3, 10) for name, rule in RULES.items()}
    assert len({tuple(lines) for lines in found.values()}) == 6  # every way finds something else


def test_the_report_sets_the_rates_beside_the_claim(finished):
    page = (finished / "run" / "reports" / "firms" / "disclosure-review.html").read_text(encoding="utf-8")
    for said in ("What the paper claims, and what was observed", "close to 100", "k 10, rule nearest 4"):
        assert said in page


@pytest.mark.long
def test_the_same_rows_in_another_order_give_the_same_bytes(finished, tmp_path):
    file = write(tmp_path, firms()[::-1])
    names = ["agreements.csv", "microaggregation/puf.csv"]
    targets = [f"results/firms/{name}" for name in names]
    ended = snakemake(*targets, studies=[file], folder=tmp_path / "run", cores=1, program=PRELOADED)
    assert ended.code == 0, ended.shown
    for name in [*names, "microaggregation/eif.csv", "microaggregation/iuf.csv", "rates.csv"]:
        one, other = (folder / "run" / "results" / "firms" / name for folder in (finished, tmp_path))
        assert one.read_bytes() == other.read_bytes(), name
