"""The attack on units is what its definition says, and that on units of one row is the attack on records."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reident
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import surest as claims
from oracles import units as oracle
from pandas.testing import assert_frame_equal
from reident.errors import InputError

KEYS = {"puf": "hh", "eif": "household"}


@st.composite
def studies(draw, largest=4, most=7):
    """Variables, and the units of both files: few values, so that pairs tie; a file may hold nothing that fits."""
    n_own, n_members = draw(st.sampled_from([(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (1, 0), (2, 3)]))
    kinds = [draw(st.sampled_from(["categorical", "numeric"])) for _ in range(n_own + n_members)]
    variables = [(f"x{j}", kind, j < n_own) for j, kind in enumerate(kinds)]
    lacking = draw(st.sampled_from([0, 0, 0.2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_values, n_strata = draw(st.integers(2, 4)), draw(st.integers(1, 2))

    def value(j):
        if rng.random() < lacking:
            return None
        return "abcd"[rng.integers(n_values)] if kinds[j] == "categorical" else int(rng.integers(3 * n_values))

    def unit(side, number):
        own = tuple(value(j) for j in range(n_own))
        size = int(rng.integers(1, largest + 1))
        members = tuple(tuple(value(n_own + j) for j in range(n_members)) for _ in range(size))
        return oracle.Unit(f"{side}{number}", "st"[rng.integers(n_strata)], own, members)

    puf = [unit("p", number) for number in range(draw(st.integers(1, most)))]
    eif = [unit("e", number) for number in range(draw(st.integers(1, most)))]
    for number, one in enumerate(eif):  # some units of the EIF are ones of the PUF, or nearly so
        if rng.random() < 0.5:
            copied = puf[rng.integers(len(puf))]
            members = list(copied.members)
            rng.shuffle(members)
            if len(members) > 1 and rng.random() < 0.3:
                members.pop()
            eif[number] = oracle.Unit(one.key, copied.stratum, copied.own, tuple(map(tuple, members)))
    return variables, puf, eif


def frame(variables, units, key, shuffle):
    """One row for each member; an own value is missing in some rows of a unit that has one."""
    n_own, rows = sum(of_unit for _, _, of_unit in variables), []
    for unit in units:
        for at, member in enumerate(unit.members):
            own = [x if at == 0 or (len(unit.members) + at) % 2 else None for x in unit.own]
            rows.append([unit.key, f"{unit.key}-{at}", unit.stratum, *own, *member])
    names = [key, f"{key}_row", "village", *(name for name, _, _ in variables)]
    assert n_own <= len(variables)
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=shuffle).reset_index(drop=True)


def sections(variables):
    return [{"name": name, "type": kind, **({"level": "unit"} if of_unit else {})} for name, kind, of_unit in variables]


def attacked(variables, puf, eif, metrics, members="all", keep=20, max_pairs=5, links=None, **keys):
    links = pd.DataFrame([[p.key, e.key] for p, e in zip(puf, eif, strict=False)]) if links is None else links
    keys = keys or {"puf_id": "hh", "eif_id": "household"}
    try:
        return reident.attack(
            frame(variables, puf, "hh", 1),
            frame(variables, eif, "household", 2),
            links,
            variables=sections(variables),
            strata=["village"],
            metrics=metrics,
            units={**KEYS, "members": members},
            rank_filter={"max_pairs": max_pairs, "keep": keep},
            threads=1,
            **keys,
        )
    except InputError as error:
        # Few records may have no code, or no stratum, in common.
        assume("no code of" not in str(error) and "in common" not in str(error))
        raise


def pairs_of(table, column="score"):
    keys = zip(table["hh"], table["household"], strict=True)
    if column == "order":
        return dict(zip(keys, table["order"], strict=True))
    return dict(zip(keys, zip(table["score"], table["rank"], strict=True), strict=True))


@examples(300)
@given(
    drawn=studies(),
    members=st.sampled_from(["all", "some"]),
    limits=st.sampled_from([(1, 1), (2, 3), (5, 20)]),
    norm=st.sampled_from(["primer", "rms"]),
    threshold=st.sampled_from([None, 1, Fraction(5, 2)]),
)
def test_units_are_what_the_definition_says(drawn, members, limits, norm, threshold):
    variables, puf, eif = drawn
    metrics = {"taxicab": {}, "euclidean": {"norm": norm}}
    metrics["adhoc"] = {} if threshold is None else {"threshold": float(threshold)}
    found = attacked(variables, puf, eif, metrics, members, *limits[::-1])
    whole = members == "all"
    for metric, expected in (
        ("taxicab", oracle.taxicab(variables, puf, eif, whole)),
        ("euclidean", oracle.euclidean(variables, puf, eif, whole, norm)),
        ("adhoc", oracle.adhoc(variables, puf, eif, whole, threshold)),
    ):
        assert pairs_of(found.confirmed[metric]) == oracle.kept(expected, limits[0]), metric
        links = {(p.key, e.key) for p, e in zip(puf, eif, strict=False)}
        right = {p for p, e in oracle.kept(expected, limits[0]) if (p, e) in links}
        rates = found.rates[found.rates["stratum"] == "ALL"].set_index("metric")
        assert rates.at[metric, "n_confirmed"] == len(right)
        # The most evidence is best, whatever is kept.
        evidence = [(p, e, pair[1]) for (p, e), pair in expected.items()]
        lines = claims.lines(claims.claims(evidence, links, low_is_best=False), {}, low_is_best=False)
        columns = ["n_candidates", "n_next", "n_claims", "n_right"]
        ordered = [[*line[2:5], float(line[5])] for line in lines]
        assert found.surest[metric][columns].to_numpy().tolist() == [pytest.approx(line) for line in ordered], metric


@examples(20)
@given(drawn=studies(largest=14, most=4), members=st.sampled_from(["all", "some"]))
def test_larger_units_are_what_the_definition_says(drawn, members):
    variables, puf, eif = drawn
    found = attacked(variables, puf, eif, {"taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}}, members)
    for metric in ("taxicab", "adhoc"):
        expected = oracle.kept(getattr(oracle, metric)(variables, puf, eif, members == "all"), 5)
        assert pairs_of(found.confirmed[metric]) == expected, metric
    expected = oracle.kept(oracle.euclidean(variables, puf, eif, members == "all", "rms"), 5)
    assert pairs_of(found.confirmed["euclidean"]) == expected


@examples(100)
@given(drawn=studies(), options=st.sampled_from([("full", None), ("all", None), ("all", 1), ("all", 2)]))
def test_profiles_are_what_the_definition_says(drawn, options):
    variables, puf, eif = drawn
    interactions, max_order = options
    found = attacked(variables, puf, eif, {"unicity": {"interactions": interactions, "max_order": max_order}})
    v = len(variables)
    orders = [v] if interactions == "full" else range(1, min(max_order or v, v) + 1)
    assert pairs_of(found.confirmed["unicity"], "order") == oracle.unicity(variables, puf, eif, orders)


@examples(50)
@given(drawn=studies(), members=st.sampled_from(["all", "some"]))
def test_members_are_counted_and_named(drawn, members):
    """The links are of rows: those of the first members of each unit, in their order."""
    variables, puf, eif = drawn
    both = list(zip(puf, eif, strict=False))
    linked = [
        (p, e, at) for p, e in both if p.stratum == e.stratum for at in range(min(len(p.members), len(e.members)))
    ]
    assume(linked)
    links = pd.DataFrame([[f"{p.key}-{at}", f"{e.key}-{at}"] for p, e, at in linked])
    rows = {"puf_id": "hh_row", "eif_id": "household_row"}
    found = attacked(variables, puf, eif, {"taxicab": {}}, members, links=links, **rows)
    confirmed = set(found.confirmed["taxicab"].query("confirmed")["hh"])
    whole = found.members.query("stratum == 'ALL'").iloc[0]
    assert whole["n_members"] == sum(len(unit.members) for unit in puf)
    assert whole["n_eif_members"] == sum(len(unit.members) for unit in eif)
    assert whole["n_confirmed_members"] == sum(len(unit.members) for unit in puf if unit.key in confirmed)
    assert whole["n_linked_members"] == len(linked)
    by_key = [{unit.key: unit for unit in side} for side in oracle.binned(variables, puf, eif)]

    def cost_of(p, e):
        return sum(Fraction(1, 2) if None in (x, y) else Fraction(x != y) for x, y in zip(p, e, strict=True))

    right = 0
    for p, e in both:
        if p.key in confirmed and p.stratum == e.stratum:
            own = [(at, at) for one, _, at in linked if one.key == p.key]
            right += len(oracle.named(by_key[0][p.key], by_key[1][e.key], own, cost_of))
    assert whole["n_named_members"] == right
    sizes = found.sizes
    assert sizes["n_units"].sum() == len(puf)
    assert sizes["n_confirmed"].sum() == len(confirmed)


@examples(30)
@given(drawn=studies(largest=1))
def test_units_of_one_row_are_records(drawn):
    variables, puf, eif = drawn
    metrics = {"unicity": {"interactions": "all"}, "taxicab": {}, "euclidean": {}, "adhoc": {}}
    of_units = attacked(variables, puf, eif, metrics)
    sides = frame(variables, puf, "hh", 1), frame(variables, eif, "household", 2)
    links = pd.DataFrame([[p.key, e.key] for p, e in zip(puf, eif, strict=False)])
    plain = [{key: x for key, x in one.items() if key != "level"} for one in sections(variables)]
    of_records = reident.attack(
        *sides, links, variables=plain, strata=["village"], metrics=metrics, threads=1, puf_id="hh", eif_id="household"
    )
    assert_frame_equal(of_units.rates, of_records.rates)
    for metric in metrics:
        assert_frame_equal(of_units.confirmed[metric], of_records.confirmed[metric])
        assert_frame_equal(of_units.rank_curves[metric], of_records.rank_curves[metric])
        assert_frame_equal(of_units.surest[metric], of_records.surest[metric])


HOUSEHOLDS = {
    "ada": [(34, "f"), (36, "m"), (2, "f")],
    "bo": [(34, "f"), (36, "f"), (2, "f")],
    "cy": [(34, "f"), (36, "m")],
    "di": [(34, "f")],
    "ed": [(34, "m"), (34, "m"), (36, "f"), (2, "m")],
}


def rows_of(households, key):
    rows = [(name, age, sex) for name, members in households.items() for age, sex in members]
    return pd.DataFrame(rows, columns=[key, "age", "sex"])


def test_households_that_no_member_gives_away_are_found_by_all_of_them():
    puf, eif = rows_of(HOUSEHOLDS, "hh"), rows_of(dict(reversed(HOUSEHOLDS.items())), "household")
    links = pd.DataFrame({"hh": list(HOUSEHOLDS), "household": list(HOUSEHOLDS)})
    variables = {"age": "categorical", "sex": "categorical"}
    metrics = {"unicity": {}, "taxicab": {}, "euclidean": {}, "adhoc": {}}
    found = reident.attack(puf, eif, links, variables=variables, metrics=metrics, units=KEYS)
    for metric in metrics:
        whole = found.rates[found.rates["stratum"] == "ALL"].set_index("metric").loc[metric]
        assert (whole["n_puf"], whole["n_confirmed"], whole["best_rank_correct"]) == (5, 5, 5.0)
        people = found.members[found.members["stratum"] == "ALL"].set_index("metric").loc[metric]
        assert (people["n_members"], people["n_confirmed_members"]) == (13, 13)
    single = {name: frame_.assign(person=range(len(frame_))) for name, frame_ in (("puf", puf), ("eif", eif))}
    places = pd.DataFrame(
        [(i, k) for i, p in puf.iterrows() for k, e in eif.iterrows() if tuple(p) == tuple(e)]
    ).drop_duplicates(0)
    by_people = reident.attack(
        single["puf"], single["eif"], places, variables=variables, metrics=["unicity"], puf_id="person", eif_id="person"
    )
    assert by_people.rates["n_confirmed"].iloc[0] < 5


@pytest.mark.parametrize("members", ["all", "some"])
def test_a_missing_member_costs_what_one_costs_of_whom_nothing_is_known(members):
    variables = [("x0", "categorical", False), ("x1", "categorical", False)]
    puf = [oracle.Unit("p", "s", (), (("a", "b"), ("c", "d")))]
    eif = [oracle.Unit("e", "s", (), (("a", "b"),))]
    found = attacked(variables, puf, eif, {"taxicab": {}}, members)
    scores = found.confirmed["taxicab"]["score"].tolist()
    assert scores == ([] if members == "all" else [0.0])  # (0 + ½·2)/2 over two variables is the limit, ¼
    assert math.isclose(found.sizes["n_out_of_reach"].sum(), 1 if members == "all" else 0)
