"""Several keys at once against their definitions (METHODS §7.5)."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.filerisk import prepared
from oracles import scenarios as oracle
from reident.filerisk import scenarios
from reident.filerisk import step as filerisk_step
from reident.filerisk.prepare import HOUSEHOLD, STRATUM, WEIGHT
from reident.filerisk.settings import PLACE, ScenarioSettings
from reident.sections.keys import sets_up_to

NAMES = ("a", "b", "c")
TARGETS = ("s", "t")


@st.composite
def studies(draw):
    """A file, perhaps with a population, weights and households, and what is measured of it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, levels = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    missing = draw(st.sampled_from([0.0, 0.2, 1.0]))
    wildcard, weighted, known = (draw(st.booleans()) for _ in range(3))

    def column(size, share):
        return np.where(rng.random(size) < share, -1, rng.integers(0, levels, size)).astype(np.int32)

    file = {name: column(n, missing) for name in NAMES}
    people = {name: column(2 * n, missing / 2) if known else column(0, 0) for name in NAMES}
    targets = {} if wildcard else {"s": column(n, missing / 2), "t": rng.integers(0, 5, n).astype(np.int32)}
    if targets:  # numbers in bins: the same as their places, or more of them
        finer = rng.integers(1, 4)
        targets[PLACE + "t"] = (targets["t"] * finer + rng.integers(0, finer, n)).astype(np.int32)
        targets[PLACE + "c"] = file["c"]
    households = rng.integers(0, 5, n) if draw(st.booleans()) else None
    weights = rng.integers(4, 40, n) / 4 if weighted else None
    rules = ScenarioSettings(
        (("Neighbour", ("b", "a")), ("Everyone", NAMES)),
        tuple(sets_up_to(NAMES, draw(st.integers(1, 3)))),
        ("c", *TARGETS) if targets else (),
        None if weighted else 0.25,
        wildcard,
        households is not None,
        ("c", "t") if targets else (),
    )
    return rules, file, people, targets, weights, households


def tables(file, people, targets, weights, households, order=None):
    """The prepared tables, the records in another order if one is given."""
    data = {**({} if weights is None else {WEIGHT: weights}), **file, **targets}
    if households is not None:
        data[HOUSEHOLD] = np.unique(households, return_inverse=True)[1].astype(np.int32)
    front = {name: pa.array(values, mask=None if name == WEIGHT else values < 0) for name, values in data.items()}
    table = pa.table(front) if order is None else pa.table(front).take(order)
    stratum = pa.array(np.zeros(len(people["a"]), np.int32))
    return table, pa.table({STRATUM: stratum, **{k: pa.array(v, mask=v < 0) for k, v in people.items()}})


def same(found, expected):
    """Whether the values of a line are those expected; None is not defined."""
    for name, value in expected.items():
        own = found[name]
        if value is None:
            assert own is None or own != own or str(own) == "<NA>", name
        else:
            assert float(own) == pytest.approx(value, rel=5.1e-9, abs=1e-11), name


def of_set(columns, keys):
    return list(zip(*(columns[name].tolist() for name in keys), strict=True))


@examples(120)
@given(study=studies())
def test_each_set_has_the_risk_of_its_definition(study):
    rules, file, people, targets, weights, households = study
    found = scenarios.assess(rules, *tables(file, people, targets, weights, households))
    given_weights = [4.0] * len(file["a"]) if weights is None else weights.tolist()
    fraction = 0.25 if weights is None else 1 / weights.mean()
    lines = [*rules.scenarios, *(("", keys) for keys in rules.sets)]
    home = None if households is None else households.tolist()
    for (name, keys), line in zip(lines, found.scenarios.to_dict("records"), strict=True):
        expected = oracle.risk(of_set(file, keys), of_set(people, keys), given_weights, fraction, home, rules.wildcard)
        assert (line["scenario"], line["keys"], line["size"]) == (name, " + ".join(keys), len(keys))
        same(line, expected)
    rows = iter(found.diversity.to_dict("records"))
    for _, keys in lines:
        for target in rules.sensitive:
            if target not in keys:
                line = next(rows)
                assert line["target"] == target
                expected = oracle.diversity(of_set(file, keys), {**file, **targets}[target].tolist())
                if (places := targets.get(PLACE + target)) is not None and expected["n_records"]:
                    expected["t"] = oracle.ordered_t(of_set(file, keys), places.tolist())
                same(line, expected)
                assert line["distance"] == ("ordered" if target in rules.ordered else "equal")
    assert next(rows, None) is None


@examples(60)
@given(study=studies())
def test_a_variable_adds_what_the_sets_without_it_lack(study):
    rules, file, people, targets, weights, households = study
    found = scenarios.assess(rules, *tables(file, people, targets, weights, households)).set_variables
    shares, uniques = {(): float(len(file["a"]) == 1)}, {(): set()}
    for keys in rules.sets:
        records = of_set(file, keys)
        sizes = [sum(oracle.agree(one, other, rules.wildcard) for other in records) for one in records]
        uniques[keys] = {i for i, f in enumerate(sizes) if f == 1}
        n = sum(f > 0 for f in sizes)
        shares[keys] = len(uniques[keys]) / n if n else None
    expected = oracle.contributions(shares, uniques, NAMES)
    assert list(found["variable"]) == list(NAMES)
    for line in found.to_dict("records"):
        same(line, expected[line["variable"]])


@examples(40)
@given(study=studies(), seed=st.integers(0, 99))
def test_neither_the_order_of_records_nor_threads_change_a_byte(study, seed):
    rules, *data = study
    order = np.random.default_rng(seed).permutation(len(data[0]["a"]))
    first = scenarios.assess(rules, *tables(*data))
    second = scenarios.assess(rules, *tables(*data, order=order), threads=3)
    for one, other in zip(first, second, strict=True):
        assert one.to_csv() == other.to_csv()


def test_the_ordered_distance_of_the_salaries_of_li_et_al():
    """Salaries of 3 to 11 thousand in three cells: {3, 4, 5} is .375 away from all of them (Li et al. 2007)."""
    salaries = {"young": [3, 4, 5], "old": [6, 11, 8], "middle": [7, 9, 10]}
    people = pd.DataFrame(
        [(cell, str(1000 * salary)) for cell, own in salaries.items() for salary in own], columns=["q", "s"]
    )
    numbers = {"name": "s", "type": "numeric"}
    categories = {"name": "s", "order": [str(1000 * salary) for salary in range(3, 12)]}
    for target, distance, expected in (
        ({**numbers, "distance": "ordered"}, "ordered", 0.375),
        ({**categories, "distance": "ordered"}, "ordered", 0.375),
        (categories, "equal", 2 / 3),
        (numbers, "equal", 5 / 9),  # bins of 2, 2, 2, 2, 1 salaries, of which the first cell has 2 and 1
    ):
        section = {
            "file": {"path": "f.csv"}, "sampling_fraction": 0.5, "key_variables": ["q"],
            "scenarios": [{"name": "N", "known": ["q"]}], "sensitive": [target],
        }  # fmt: skip
        spec, found = prepared(section, file=people)
        line = scenarios.assess(filerisk_step.intruder_rules(spec), found.file, found.population).diversity.iloc[0]
        assert line["distance"] == distance
        assert line["t"] == pytest.approx(expected, rel=1e-8)


def test_the_diversity_of_a_table_by_hand():
    """Three cells: {x: 3, y: 1}, {x: 1, y: 1, z: 1}, {z: 2}."""
    keys, values = [0, 0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 0, 1, 2, 2, 2]
    table = pa.table({"q": pa.array(keys, pa.int32()), "s": pa.array(values, pa.int32())})
    rules = ScenarioSettings((("Neighbour", ("q",)),), (), ("s",), 0.5, False, False)
    nobody = pa.table({"q": pa.array([], pa.int32())})
    line = scenarios.assess(rules, table, nobody).diversity.iloc[0]
    assert (line["distinct_l"], line["n_one_value"], line["n_shared_value"]) == (1, 2, 2)
    assert line["entropy_l"] == 1
    assert math.isnan(line["recursive_2"])
    assert line["t"] == pytest.approx((4 / 9 + 2 / 9 + 6 / 9) / 2, rel=1e-8)
    without = scenarios.assess(rules, table.slice(0, 7), nobody).diversity.iloc[0]
    assert without["entropy_l"] == pytest.approx(math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25)), rel=1e-8)
    assert without["recursive_2"] == 3
    assert math.isnan(without["recursive_3"])
