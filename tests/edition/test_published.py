"""A reader who has both files and all that is published excludes nothing that the theorem leaves (METHODS §11.2)."""

import csv
import io
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import settings
from making import edition as making
from making import statements
from reident.edition import publish
from reident.edition.texts import interval
from reident.pipeline.editions import Bound
from reident.report import edition as page
from reident.sections.edition import ALL, ANY, ATTACK, METRIC, SINGLE
from scipy import optimize, sparse

pytestmark = pytest.mark.many

STUDIES = 6 if settings().max_examples <= 10 else 100
"""Drawn studies in the quick tests, and in all of them."""


def drawn(seed):
    """Return the results of a drawn study, and what its edition is made with."""
    rng = random.Random(seed)  # noqa: S311 - drawn studies
    n, right = rng.choice((12, 30, 60, 120, 250, 500)), rng.choice((0.0, 0.05, 0.2, 0.45))
    bounds = (
        Bound("conditional_rate_at_most", ATTACK, METRIC, rng.choice(making.METRICS), rng.choice((0.05, 0.2, 0.5))),
        Bound("single_rate_at_most", ATTACK, SINGLE, rng.choice(making.METRICS), 0.3, ("wilson", 0.95)),
        Bound("confirmed_by_any_at_most", ATTACK, ANY, "", rng.choice((0, 20, 100))),
    )
    options = {
        "policy": rng.choice(statements.BUNDLED),
        "by_stratum": rng.random() < 0.5,
        "one_to_one": rng.random() < 0.7,
        "bounds": bounds[: rng.randint(0, 3)],
    }
    return making.attacked(np.random.default_rng(seed), n=n, right=right), options


class Reader:
    """A reader who has both files, and so every suspected pair, and the published file and table of an edition."""

    def __init__(self, tables, edition):
        self.frames = [table.to_pandas() for table in tables["pairs"]]
        self.found = [set(zip(frame["puf"], frame["eif"], strict=True)) for frame in self.frames]
        self.pairs = sorted(set.union(*self.found))
        self.strata = tables["strata"].to_pandas()["stratum"].tolist()
        puf, eif = (np.array(side) for side in zip(*self.pairs, strict=True))
        groups = [puf, eif] if edition.one_to_one else [puf]
        self.alone = sparse.vstack([sparse.csr_array(np.unique(group)[:, None] == group) for group in groups])
        self.told = self._told(edition)

    def counting(self, count):
        """Return the pairs that count for a number of the published table."""
        found = dict(zip(making.METRICS, self.found, strict=True))
        chosen = [found[name] for name in count["metrics"].split(" + ")]
        counts = set.intersection(*chosen) if count["count"] == ALL else set.union(*chosen)
        if count["count"] == SINGLE:
            alone = pd.Series([p for p, _ in counts]).value_counts()
            counts = {pair for pair in counts if alone[pair[0]] == 1}
        number = {"North": 0, "South": 1}.get(count["stratum"])
        return {pair for pair in counts if not count["stratum"] or self.strata[pair[0]] == number}

    def _told(self, edition):
        """Return the pairs of each count, the smallest and the largest count by table, file and limits."""
        (part,) = edition.parts
        table = list(csv.DictReader(io.StringIO(publish.table(edition).to_csv(index=False))))
        told = []
        for at, (line, count) in enumerate(zip(table, part.counts, strict=True)):
            counts = self.counting(line)
            low, high = 0, len({p for p, _ in counts})
            if line["found_from"] != publish.WITHHELD:
                low = interval(edition.policy, line["found_from"])[0]
                high = min(high, interval(edition.policy, line["found_to"])[1])
            low = max(low, count.at_least or 0)
            high = high if count.at_most is None else min(high, count.at_most)
            for limit in part.limits:
                if limit.count == at and limit.interval is None:
                    whole = len(self.strata) if limit.limit == "confirmed_rate_at_most" else len({p for p, _ in counts})
                    largest = int(limit.bound * whole + 1e-9) if "rate" in limit.limit else int(limit.bound)
                    low = max(low, largest + 1) if limit.outcome == "above" else low
                    high = min(high, largest) if limit.outcome == "within" else high
            told.append((counts, low, high))
        return told

    def links(self, given, told):
        """Return links that agree with what is told and are those given for some records; None if there are none."""
        rows = [np.array([pair in counts for pair in self.pairs], float) for counts, _, _ in told]
        records = np.array([p for p, _ in self.pairs])
        fixed = np.isin(records, sorted(given))
        chosen = np.array([given.get(p) == e for p, e in self.pairs])
        solved = optimize.milp(
            np.zeros(len(self.pairs)),
            constraints=[
                optimize.LinearConstraint(self.alone, 0, 1),
                optimize.LinearConstraint(np.array(rows), [low for _, low, _ in told], [high for *_, high in told]),
            ],
            bounds=optimize.Bounds(np.where(fixed, chosen, 0), np.where(fixed, chosen, 1)),
            integrality=1,
        )
        return None if solved.x is None else {pair for pair, x in zip(self.pairs, solved.x, strict=True) if x > 0.5}

    def draw(self, rng, free):
        """Return links of records that could be theirs: for each one of its candidates, or none."""
        records = sorted({p for p, _ in self.pairs})
        given, used = {}, set()
        for record in rng.sample(records, min(free, len(records))):
            candidates = [e for p, e in self.pairs if p == record and e not in used]
            given[record] = rng.choice([None, *candidates]) if rng.random() < 0.5 else next(iter(candidates), None)
            used |= {given[record]}
        return given


def with_links(tables, links):
    """Return results with other links."""
    pairs = []
    for table in tables["pairs"]:
        lines = zip(table["puf"].to_pylist(), table["eif"].to_pylist(), strict=True)
        confirmed = pa.array([pair in links for pair in lines], pa.bool_())
        pairs.append(table.set_column(2, "confirmed", confirmed))
    return tables | {"pairs": pairs}


def everything(edition, *, pages):
    """Return every byte that is published."""
    files = publish.text(edition), publish.table(edition).to_csv(index=False)
    return (*files, *page.render(edition)) if pages else files


@pytest.mark.parametrize("seed", range(STUDIES))
def test_all_that_could_be_true_of_so_many_records_is_published_alike(seed):
    tables, options = drawn(seed)
    edition = making.made(tables, **options)
    reader, rng = Reader(tables, edition), random.Random(seed)  # noqa: S311 - drawn studies
    pages = seed % 10 == 0
    expected = everything(edition, pages=pages)
    for _ in range(3):
        links = reader.links(reader.draw(rng, edition.free), reader.told)
        assert links is not None
        assert everything(making.made(with_links(tables, links), **options), pages=pages) == expected


def test_exact_counts_would_exclude_much():
    """What the programs find, had each count been published as it is."""
    excluded = 0
    for seed in range(STUDIES):
        tables, options = drawn(seed)
        edition = making.made(tables, **options)
        reader, rng = Reader(tables, edition), random.Random(seed)  # noqa: S311 - drawn studies
        true = {
            pair
            for frame in reader.frames
            for pair in frame[frame["confirmed"]][["puf", "eif"]].itertuples(index=False, name=None)
        }
        exact = [(counts, len({p for p, _ in counts & true})) for counts, _, _ in reader.told]
        told = [(counts, n, n) for counts, n in exact]
        excluded += any(reader.links(reader.draw(rng, edition.free), told) is None for _ in range(3))
    assert excluded > STUDIES // 4
