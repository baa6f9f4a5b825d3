"""Make the public files of a releasable edition from a seed, without running a study.

The numbers have no meaning, and no audit ran: only the forms of the files and the texts of the policy are real.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from reident.release import policies
from reident.release.cells import Published
from reident.report import layout
from reident.report.edition import analyses, annex, figures, front, tables
from reident.report.edition.reading import FORMS, Edition
from reident.sections.release import Policy
from reident.study import rounding

NOTEBOOK = Path(__file__).parents[2] / "workflow" / "notebooks" / "releasable.ipynb"

TITLES = {"unicity": "Unicity", "taxicab": "Taxicab", "euclidean": "Euclidean", "adhoc": "Ad hoc", "winkler": "Winkler"}
STRENGTH = {
    "unicity": (0.11, 0.17),
    "taxicab": (0.31, 0.02),
    "euclidean": (0.2, 0.06),
    "adhoc": (0.42, 0.035),
    "winkler": (0.6, 0.93),
}
FOUR = ("unicity", "taxicab", "euclidean", "adhoc")
REGIONS = ("Northport", "Lakeland", "Middleton", "Eastmarch", "Westwold", "Highmoor", "Southdale", "Far Isles")
LONG = tuple(
    f"Administrative district of {name}, outer parts and islands | {at}" for at, name in enumerate(REGIONS[:4] * 3)
)


@dataclass(frozen=True)
class Sample:
    """The properties of a sample edition."""

    metrics: tuple[str, ...] = FOUR
    strata: tuple[str, ...] = REGIONS
    records: int = 6000
    keep: int = 20
    variants: int = 0
    before: bool = False
    clusters: bool = False
    file: bool = False
    matching: int = 0
    cut_points: bool = True
    limits: bool = True
    policy: str = "census-drb"
    suppressed: float = 0.08
    after: bool = False
    interval: str = ""
    units: bool = False
    agency: str = "Office for National Statistics of Examplia"
    date: str | None = "2026-03-02"
    seed: int = 1


SAMPLES = {
    "example": Sample(),
    "small": Sample(records=60, strata=REGIONS[:3], keep=5),
    "hidden": Sample(suppressed=1.0, strata=REGIONS[:3], keep=3),
    "one-stratum": Sample(strata=("Whole | country",), metrics=("unicity",), keep=1),
    "long": Sample(strata=LONG, records=40000, metrics=("unicity", "taxicab", "euclidean", "adhoc", "winkler")),
    "many": Sample(strata=tuple(f"Stratum {at:03}" for at in range(90)), records=400000, keep=3),
    "plain": Sample(strata=(), metrics=("unicity", "taxicab"), keep=8, agency="", date=None, cut_points=False),
    "variants": Sample(variants=6, before=True, clusters=True, policy="midpoint-6", after=True),
    "clustered": Sample(clusters=True, interval="clustered"),
    "random": Sample(policy="base-5-random", records=900, keep=5),
    "redacted": Sample(policy="opensafely", records=300, keep=2, metrics=(*FOUR, "winkler")),
    "internal": Sample(policy="none", file=True),
    "matching": Sample(metrics=(), matching=3, cut_points=False),
    "file": Sample(metrics=(), file=True, cut_points=False, limits=False),
    "units": Sample(strata=REGIONS[:3], keep=5, clusters=True, file=True, interval="clustered", units=True),
}  # fmt: skip
"""Editions of every kind."""


def policy(sample: Sample) -> Policy:
    """Return the bundled policy of a sample."""
    return rounding.load(rounding.FOLDER / f"{sample.policy}.yaml")


class _Writer:
    """Publishes counts by the policy of a sample, as its texts."""

    def __init__(self, sample: Sample) -> None:
        self.sample, self.draw = sample, random.Random(sample.seed)  # noqa: S311 - numbers of a sample
        self.policy = policy(sample)

    def count(self, n: int, *, hide: bool = True) -> Published:
        if self.policy.rounding != "exact" and hide and self.draw.random() < self.sample.suppressed:
            return policies.WITHHELD
        return policies.publish(self.policy, n, seed="a seed")

    def rate(self, part: Published, whole: Published) -> str:
        return policies.rate(self.policy, part, whole)

    def attack(self, keys: list[str], n: int, factor: float = 1.0, *, one_limit: bool = False) -> list[str]:
        suspect, confirm = STRENGTH[keys[2]]
        suspected = min(n, round(n * suspect * factor * self.draw.uniform(0.85, 1.15)))
        confirmed = round(suspected * confirm * self.draw.uniform(0.8, 1.2))
        single = round(0.3 * suspected)
        first = [self.count(of, hide=self.sample.suppressed == 1) for of in (n, 2 * n, round(0.8 * n))]
        rest = [self.count(of) for of in (suspected, min(suspected, confirmed), n // 9, single, single // 7)]
        rates = [self.rate(rest[0], first[0]), self.rate(rest[1], first[0]), self.rate(rest[1], rest[0])]
        ends = policies.bounds(self.policy, rest[1], rest[0], self.sample.interval or "clopper-pearson")
        detail = ["", ""] if one_limit else [count.text for count in rest[3:]]
        texts = [count.text for count in (*first, *rest[:3])]
        return [*keys, *texts, *detail, *rates, *ends, self.rate(rest[4], rest[3])]


def write_released(folder: Path, sample: Sample = SAMPLES["example"]) -> Path:
    """Write the public files of a sample edition, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(sample)
    tables = {
        "attack.csv": _attack(writer),
        "clusters.csv": _clusters(writer) if sample.clusters else [],
        "file.csv": _file(writer) if sample.file else [],
        "matching.csv": _matching(writer),
        "cut-points.csv": _cut_points() if sample.cut_points else [],
        "limits.csv": _limits(sample) if sample.limits else [],
    }
    for name, lines in tables.items():
        form = FORMS[name]
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([[*form.labels, *form.counts, *form.shares], *lines])
    (folder / "release.json").write_text(json.dumps(_record(sample), indent=1), encoding="utf-8")
    return folder


def executed(edition: Edition) -> nbformat.NotebookNode:
    """Return the notebook with what its cells show for an edition, without a kernel."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith("display("):
            space = {"study": edition, "section": layout.section, "annex": annex, "figures": figures}
            space |= {"front": front, "analyses": analyses, "tables": tables}
            space["display"] = lambda *shown, cell=cell: cell.outputs.extend(map(_output, shown))
            exec(cell.source, space)  # noqa: S102 - the project's own notebook
    return notebook


def _output(shown: Any) -> nbformat.NotebookNode:
    bundle = shown._repr_mimebundle_()
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return nbformat.v4.new_output("display_data", data, metadata=metadata)


def _attack(writer: _Writer) -> list[list[str]]:
    sample, lines = writer.sample, []
    for metric in sample.metrics:
        limit = 0 if metric == "unicity" else min(5, sample.keep)
        lines.append(writer.attack(["released", "", metric, "ALL", str(limit)], sample.records))
        for at, label in enumerate(sample.strata):
            n = sample.records * (at + 1) * 2 // (len(sample.strata) * (len(sample.strata) + 1))
            lines.append(writer.attack(["released", "", metric, label, str(limit)], n))
        for other in range(1, sample.keep + 1 if limit else 1):
            if other != limit:
                factor = (1 + other / 8) / (1 + limit / 8)
                keys = ["released", "", metric, "ALL", str(other)]
                lines.append(writer.attack(keys, sample.records, factor, one_limit=True))
        for at in range(sample.variants):
            keys = ["released", f"v{at}", metric, "ALL", str(limit)]
            lines.append(writer.attack(keys, sample.records, 1 + at / 10))
        if sample.before:
            lines.append(writer.attack(["before", "", metric, "ALL", str(limit)], sample.records, 2.0))
    return lines


def _line(keys: list[str], counts: list[Published], rates: list[str]) -> list[str]:
    return [*keys, *(count.text for count in counts), *rates]


def _clusters(writer: _Writer) -> list[list[str]]:
    lines = []
    for metric in writer.sample.metrics:
        for stratum in ("ALL", *writer.sample.strata):
            counts = [writer.count(n) for n in (2400, 500, 60)]
            rates = [
                writer.rate(*pair) for pair in ((counts[1], counts[0]), (counts[2], counts[0]), (counts[2], counts[1]))
            ]
            lines.append(_line([metric, stratum], counts, rates))
    return lines


def _file(writer: _Writer) -> list[list[str]]:
    lines = []
    for at, convention in enumerate(("excluded", "category", "wildcard")):
        counts = [writer.count(n - 10 * at) for n in (6013, 412, 893, 1637)]
        lines.append(_line([convention], counts, [writer.rate(n, counts[0]) for n in counts[1:]]))
    return lines


def _matching(writer: _Writer) -> list[list[str]]:
    lines = []
    for file in range(writer.sample.matching):
        for scenario in ("age and sex", "everything that is not synthesized"):
            for low, high, n in ((0, 0, 140), (1, 1, 77), (2, 4, 310), (5, 9, 520), (10, "", 2000)):
                counts = [writer.count(n), writer.count(n // (3 + file))]
                keys = [scenario, f"synthetic {file + 1}", str(low), str(high)]
                lines.append(_line(keys, counts, [writer.rate(counts[1], counts[0])]))
    return sorted(lines, key=lambda line: (line[0], line[1]))


def _cut_points() -> list[list[str]]:
    points = {"age": ["24", "38", "51", "66"], "balance": ["-1100", "0.5", "12000", "45000"]}
    return [
        ["ALL", name, "puf", str(at + 1), low, high]
        for name, values in points.items()
        for at, (low, high) in enumerate(zip(["", *values], [*values, ""], strict=True))
    ]


def _limits(sample: Sample) -> list[list[str]]:
    lines = []
    for at, metric in enumerate(sample.metrics):
        outcome = ("passes", "breaks")[at % 2]
        lines.append(["attack", "conditional_rate_at_most", metric, "0.05", outcome])
        lines.append(["attack", "expected_correct_rate_at_most", metric, "0.02", "withheld"])
    if sample.matching:
        lines.append(["matching", "expected_match_risk_at_most", "age and sex", "12.5", "withheld"])
    return lines


def _record(sample: Sample) -> dict[str, Any]:
    return {
        "study": "example",
        "title": "Household survey 2026, public use file",
        "agency": sample.agency,
        "date": sample.date,
        "edition": 1,
        "reident": "0.1.0",
        "policy": policy(sample).model_dump(mode="json"),
        "known": ["puf"],
        **({"interval": sample.interval} if sample.interval else {}),
        "level": 0.95,
        "rank_limit": min(5, sample.keep),
        "metrics": {metric: TITLES[metric] for metric in sample.metrics},
        "strata": ["region"] if sample.strata else [],
        **({"units": True} if sample.units else {}),
        "variants": {f"v{at}": {"alpha": str(at / 4), "bins": "5"} for at in range(sample.variants)},
        "counts": {"exact": 0, "rounded": 950, "small": 120, "suppressed": 34},
        "after": [{"title": "Household survey 2026, first edition", "date": "2026-01-20"}] * sample.after,
        "statement": "Every number passed the gate of this policy and the audit of the whole edition.",
    }
