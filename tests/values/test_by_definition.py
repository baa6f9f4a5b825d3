"""Confirmation by values equals its definition on random studies (METHODS §14)."""

import math
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making import values as made
from making.examples import examples
from oracles import values as oracle
from reident.errors import InputError
from reident.linkage.metrics.contract import ScoringContext
from reident.study.model import Study
from reident.values import prepare, step
from reident.values import rates as rating

LINKING = ("sex", "age", "work")
BLOCKS, SEXES, WORKS = [None, "1", "2", "3"], [None, "f", "m"], ["a", "b"]
AGES, INCOMES = [None, 30, 30.5, 31, 32, 33], [None, 0.1, 0.2, 0.3, 0.4]
RACES, TONGUES = [None, "A", "B", "C"], ["x", "y"]
VALUES = {
    "block": BLOCKS,
    "sex": SEXES,
    "age": AGES,
    "work": WORKS,
    "race": RACES,
    "tongue": TONGUES,
    "income": INCOMES,
}


@st.composite
def files(draw):
    """The external records and the confidential ones by person, the released ones, and what is learnt and compared."""
    random = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - made-up records

    def records(n, names):
        return [{name: random.choice(VALUES[name]) for name in names} for _ in range(n)]

    learn = draw(st.sampled_from([("race",), ("race", "tongue"), ("race", "income"), ("income",)]))
    released = records(draw(st.integers(1, 14)), VALUES)
    people = [f"p{at:02d}" for at in range(draw(st.integers(1, 14)))]
    confidential = dict(zip(people, records(len(people), VALUES), strict=True))
    external = dict(zip(people, records(len(people), ("block", *LINKING)), strict=True))
    for at, (person, record) in enumerate(external.items()):
        if random.random() < 0.7:  # what the intruder knows is often right
            record.update({name: confidential[person][name] for name in record})
        if random.random() < 0.3 and at < len(released):  # and some people were copied
            released[at] = dict(confidential[person])
    for person in people:
        if random.random() < 0.2:
            del random.choice([external, confidential])[person]
    within = {name: random.choice([0, 0.1, 0.5, 1]) for name in ("age", "income") if draw(st.booleans())}
    within = {name: size for name, size in within.items() if name == "age" or name in learn}
    strata = ("block",) if draw(st.booleans()) else ()
    return external, released, confidential, learn, within, strata


def study(learn, within, strata, metrics=None):
    numeric = ("age", "income")

    def section(name):
        return {"name": name, "type": "numeric" if name in numeric else "categorical", "missing": [""]}

    return {
        "id": "values",
        "files": {
            "puf": {"path": "released.csv"},
            "eif": {"path": "external.csv", "id": "person"},
            "iuf": {"path": "confidential.csv", "eif_id": "person"},
        },
        "strata": [{"name": name, "missing": [""]} for name in strata],
        "linking_variables": [section(name) for name in LINKING],
        "metrics": metrics or {"adhoc": {"threshold": 0, "scores": dict.fromkeys(LINKING, "exact")}},
        "confirm": {"by": "values", "learn": [section(name) for name in learn], "within": within},
    }


def table(records, people=None):
    names = list(records[0]) if records else []
    columns = {name: ["" if one[name] is None else str(one[name]) for one in records] for name in names}
    return pa.table(({} if people is None else {"person": list(people)}) | columns)


def confirmed(spec, external, released, confidential, budget=rating.BUDGET):
    settings = step.confirming(Study.model_validate(spec))
    texts = {
        "puf": [table(released)],
        "eif": [table(list(external.values()), external)],
        "iuf": [table(list(confidential.values()), confidential)],
    }
    return rating.confirm(settings, prepare.prepare(settings, texts), ScoringContext(), budget)


def shuffled(records, seed):
    items = list(records.items())
    Random(seed).shuffle(items)  # noqa: S311 - made-up records
    return dict(items)


@given(files())
@examples(60, many=300)
def test_rates_are_those_of_sets_of_people(drawn):
    external, released, confidential, learn, within, strata = drawn
    assume(external and confidential)
    try:
        found = confirmed(study(learn, within, strata), external, released, confidential)
    except InputError:  # no stratum, no code or no person in common
        assume(False)
    best = {person: oracle.nearest(record, released, LINKING, strata) for person, record in external.items()}
    expected = oracle.rates(external, released, confidential, best, learn, within, strata)
    labels = found.strata.set_index("stratum")[list(strata)].apply(tuple, axis=1) if strata else None
    for people in ("all", "unusual"):
        lines = found.rates[found.rates["people"] == people].set_index("stratum")
        wanted = {place: sums for (place, group), sums in expected.items() if group == people}
        assert set(lines.index) - {"ALL"} == {
            name for name in found.strata["stratum"] if (labels[name] if strata else ()) in wanted
        }
        whole = [sum(column) for column in zip(*wanted.values(), strict=True)] or [Fraction(0)] * 6
        for name, line in lines.iterrows():
            same(line, whole if name == "ALL" else wanted[labels[name] if strata else ()])


def same(line, sums):
    n, putative, claims, *guesses = sums
    assert line["n_persons"] == n
    assert line["putative"] == pytest.approx(float(putative), abs=1e-12)
    assert line["confirmed"] == pytest.approx(float(claims), abs=1e-12)
    if not putative:
        assert math.isnan(line["precision"])
        assert math.isnan(line["excess"])
        return
    shares = [float(value / putative) for value in (claims, *guesses)]
    for name, share in zip(("precision", "modal", "proportional", "unlinked"), shares, strict=True):
        assert line[name] == pytest.approx(share, abs=1e-12), name
    assert line["excess"] == pytest.approx(shares[0] - max(shares[1:3]), abs=1e-12)


@given(files(), st.integers(1, 40), st.integers(0, 100))
@examples(20, many=60)
def test_no_rate_depends_on_the_order_of_records_or_on_shards(drawn, budget, seed):
    external, released, confidential, learn, within, strata = drawn
    spec = study(learn, within, strata)
    try:
        found = confirmed(spec, external, released, confidential)
    except (InputError, IndexError):
        assume(False)
    moved = [released[at] for at in Random(seed).sample(range(len(released)), len(released))]  # noqa: S311 - made-up records
    again = confirmed(spec, shuffled(external, seed), moved, shuffled(confidential, seed), budget)
    assert found.rates.equals(again.rates)
    assert found.strata.equals(again.strata)


@pytest.mark.parametrize("age", ["exact", "one", "binned"])
def test_agreement_is_that_of_the_public_reconstruction_code(age):
    """Cell by cell: each released record of a block file beside the person whom it claims to be, by each rule."""
    random = Random(7)  # noqa: S311 - made-up records
    people = made.population(random, blocks=6, sizes=(8, 30))
    released = made.reconstructed(people)
    names = made.COLUMNS
    persons = {f"p{at:03d}": dict(zip(names, one, strict=True)) for at, one in enumerate(people)}
    records = [dict(zip(names, one, strict=True)) for one in released]
    if age == "binned":  # a study declares the bins as codes
        for one in (*persons.values(), *records):
            one["age"] = str(oracle.bin_of(int(one["age"])))
    external = {person: {name: one[name] for name in made.KNOWN} for person, one in persons.items()}
    within = {"one": {"age": 1}, "exact": {"age": 0}, "binned": {"age": 0}}[age]
    spec = study(("race",), within, ("block",))
    spec["linking_variables"] = [{"name": "sex", "type": "categorical"}, {"name": "age", "type": "numeric"}]
    spec["metrics"] = {
        "adhoc": {"threshold": 5, "scores": {"sex": "exact", "age": {"bands": [{"within": 1, "score": 5}]}}}
    }
    if age != "one":
        spec["metrics"]["adhoc"]["scores"]["age"] = "exact"
    spec["confirm"]["learn"] = ["race", "ethnicity"]
    linked = 1 if age == "one" else 0
    cells = {}
    for person, one in persons.items():
        own = dict(one, age=int(one["age"]))
        candidates = [
            dict(record, age=int(record["age"]))
            for record in records
            if record["block"] == one["block"] and record["sex"] == one["sex"]
            if abs(int(record["age"]) - int(one["age"])) <= linked
        ]
        rule = age if age == "one" else "exact"
        right = Fraction(sum(oracle.census(own, record, rule) for record in candidates), len(candidates) or 1)
        cells[person] = bool(candidates), right
    found = confirmed(spec, external, records, persons)
    blocks = found.strata.set_index("stratum")["block"].to_dict()
    for line in found.rates[found.rates["people"] == "all"].itertuples():
        here = [
            cell
            for person, cell in cells.items()
            if persons[person]["block"] == blocks.get(line.stratum) or line.stratum == "ALL"
        ]
        assert (line.putative, line.confirmed) == pytest.approx(
            [float(sum(sums)) for sums in zip(*here, strict=True)], abs=1e-9
        )
    for person in random.sample(sorted(persons), 20):
        alone = confirmed(spec, {person: external[person]}, records, persons).rates.iloc[0]
        assert (alone["putative"], alone["confirmed"]) == pytest.approx(
            [float(value) for value in cells[person]], abs=1e-9
        )
