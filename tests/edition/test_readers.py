"""Who holds both files and reads the page learns of no record, and of no few records, what it is (METHODS §11.2)."""

import csv
import io
import random

import numpy as np
import pytest
from hypothesis import settings
from making import edition as making
from making import statements
from oracles.readers import Reader
from reident.edition import publish

pytestmark = pytest.mark.many

STUDIES = max(settings().max_examples * 2, 20)
"""Drawn studies: 20 in the quick tests, 100 in all of them."""

POLICIES = [*statements.BUNDLED, "small-3", "redact-5"]


def study(seed):
    """Return a drawn study: its policy, its results, and whether readers take links to be one to one."""
    rng = random.Random(seed)  # noqa: S311 - drawn studies
    metrics = making.METRICS[: rng.randint(1, 3)]
    n = rng.choice((12, 40, 90, 150))
    tables = making.attacked(np.random.default_rng(seed), n, rng.choice((0.05, 0.2, 0.5)), metrics)
    return rng.choice(POLICIES), tables, {"metrics": metrics, "one_to_one": rng.random() < 0.6, "bounds": bounds(rng)}


def bounds(rng):
    limit = making.SHARE[0]
    return (limit._replace(metric="unicity", bound=rng.choice((0.05, 0.2, 0.4))),)


def pairs_of(tables, metrics):
    """Return the pairs that count for each count of the table, by its name there."""
    sets = {
        name: set(zip(t["puf"].to_pylist(), t["eif"].to_pylist(), strict=True))
        for name, t in zip(metrics, tables["pairs"], strict=True)
    }
    every = " + ".join(metrics)
    of = {("any", every): set.union(*sets.values()), ("all", every): set.intersection(*sets.values())}
    for name, own in sets.items():
        candidates = [p for p, _ in own]
        of["metric", name] = own
        of["single", name] = {(p, e) for p, e in own if candidates.count(p) == 1}
    return of


def reader_of(seed):
    name, tables, options = study(seed)
    edition = making.made(tables, name, **options)
    # What is read: the table for people, and the outcomes of limits in the file for programs.
    lines = list(csv.DictReader(io.StringIO(publish.table(edition).to_csv(index=False))))
    pairs = pairs_of(tables, options["metrics"])
    told = {
        (line["count"], line["metrics"]): tuple(
            "" if line[end] == publish.WITHHELD else line[end] for end in ("found_from", "found_to")
        )
        for line in lines
    }
    (part,) = edition.parts
    limits = []
    for limit in part.limits:
        count = part.counts[limit.count]
        key = count.kind, " + ".join(count.metrics)
        limits.append((key, int(limit.bound * len({p for p, _ in pairs[key]}) + 1e-9), limit.outcome))
    reader = Reader(name, {key: pairs[key] for key in told}, told, limits, one_to_one=options["one_to_one"])
    return reader, edition.free


@pytest.mark.parametrize("seed", range(STUDIES))
def test_any_few_records_can_be_anything(seed):
    reader, free = reader_of(seed)
    records = sorted({p for p, _ in reader.pairs})
    rng = random.Random(seed)  # noqa: S311 - drawn studies
    for record in rng.sample(records, min(4, len(records))):
        assert reader.can_be(unlinked=[record])
        for pair in [pair for pair in reader.pairs if pair[0] == record]:
            assert reader.can_be([pair]), "a candidate is excluded"
    for _ in range(6):
        chosen = rng.sample(records, min(free, len(records)))
        unlinked = [record for record in chosen if rng.random() < rng.choice((0, 0.5, 1))]
        linked, used = [], set()
        for record in set(chosen) - set(unlinked):
            candidates = [pair for pair in reader.pairs if pair[0] == record and pair[1] not in used]
            if candidates:
                linked.append(rng.choice(candidates))
                used.add(linked[-1][1])
        assert reader.can_be(linked, unlinked)


def test_the_reader_would_learn_from_exact_counts():
    """The reader is no weak one: told the own texts of small counts, it is certain of records."""
    pairs = {"any": {(p, p) for p in range(15)}}
    reader = Reader("census-drb", pairs, {"any": ("20", "20")}, [], one_to_one=True)
    assert not reader.can_be(unlinked=[3])
    assert not Reader("census-drb", pairs, {}, [("any", 0, "within")], one_to_one=True).can_be([(3, 3)])
