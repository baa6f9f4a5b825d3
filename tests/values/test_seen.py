"""Copied people are seen among people with unusual values; records drawn from the margins of blocks show nothing."""

from random import Random

import pyarrow as pa
import pytest
from making import values as made
from reident.linkage.metrics.contract import ScoringContext
from reident.study.model import Study
from reident.values import prepare, rates, step

STUDY = {
    "id": "values",
    "files": {
        "puf": {"path": "released.csv"},
        "eif": {"path": "external.csv", "id": "person"},
        "iuf": {"path": "confidential.csv", "eif_id": "person"},
    },
    "strata": ["block"],
    "linking_variables": [
        {"name": "sex", "type": "categorical"},
        {"name": "month", "type": "categorical"},
        {"name": "age", "type": "numeric"},
    ],
    "metrics": {"euclidean": {}},
    "confirm": {"by": "values", "learn": ["race", "ethnicity", "work"], "within": {"age": 0}},
}
SETTINGS = step.confirming(Study.model_validate(STUDY))


def table(columns, records):
    return pa.table(dict(zip(columns, map(list, zip(*records, strict=True)), strict=True)))


COLUMNS = (*made.COLUMNS, "work", "month")


def unusual(seed, release, blocks):
    """The line of the people with unusual values, where the external file has most of a population."""
    random = Random(seed)  # noqa: S311 - made-up records
    people = [
        (*one, str(random.randint(1, 20)), str(random.randint(1, 12)))
        for one in made.population(random, blocks=blocks, sizes=(200, 300))
    ]
    months = {f"p{number:04d}": one[-1] for number, one in enumerate(people, start=1)}
    external = [(*one, months.get(one[0], "1")) for one in made.broker(random, people, 0.8)]
    texts = {
        "puf": [table(COLUMNS, release(random, people))],
        "eif": [table(("person", *made.KNOWN, "month"), external)],
        "iuf": [table(("person", *COLUMNS), made.named(people))],
    }
    found = rates.confirm(SETTINGS, prepare.prepare(SETTINGS, texts), ScoringContext()).rates
    return found[(found["stratum"] == "ALL") & (found["people"] == "unusual")].iloc[0]


def copying(random, people):
    return made.copying(random, people, 0.01)


def seen(release, draws, blocks):
    """In how many draws the interval of the excess is above zero, and the mean excess."""
    lines = [unusual(seed, release, blocks) for seed in range(draws)]
    return sum(line["excess_low"] > 0 for line in lines), sum(line["excess"] for line in lines) / draws


@pytest.mark.long
def test_copies_of_one_percent_are_seen():
    n, excess = seen(copying, 50, 40)
    assert n >= 45
    assert excess > 0.005


@pytest.mark.long
def test_records_drawn_from_margins_are_not_seen():
    n, excess = seen(made.resampled, 200, 40)
    assert n <= 10  # 2.5 % of 200, and chance
    assert abs(excess) < 0.005


def test_many_copies_are_seen_and_drawn_records_are_not():
    half = unusual(1, lambda random, people: made.copying(random, people, 0.5), 8)
    drawn = unusual(1, made.resampled, 8)
    assert half["excess_low"] > 0.1 > drawn["excess_low"]
    assert drawn["excess_high"] > 0 > drawn["excess_low"]
