"""Columns that group rows in a study of single rows, and columns that merely repeat (METHODS §1.1)."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import grouped
from making.examples import cases, examples
from making.studies import study
from reident.intake import step as intake_step
from reident.plausibility import grouping

VARIABLES = ["age", "sex", "tenure"]


def unique_groups(frame, column, variables):
    """The groups that are alone with the multiset of their members' values, none of which is missing."""
    profiles = {}
    for group, members in frame[frame[column] != -1].groupby(column):
        values = members[["region", *variables]].to_numpy(float)
        if not np.isnan(values).any():
            profiles[group] = tuple(sorted(map(tuple, values.tolist())))
    counts = Counter(profiles.values())
    return {profile: group for group, profile in profiles.items() if counts[profile] == 1}


@examples(40)
@given(seed=st.integers(0, 10**6), households=st.integers(12, 120), known=st.sampled_from([0.5, 1.0]),
       missing=st.sampled_from([0.0, 0.1]), lost=st.sampled_from([0.0, 0.5, 0.9]))  # fmt: skip
def test_the_number_of_groups_that_are_unique_in_both_files(seed, households, known, missing, lost):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, households, known)
    links = links[rng.random(households)[puf["hh"].iloc[links[:, 0]]] >= lost]
    puf, eif = (file.astype({"age": float}) for file in (puf, eif))
    for file in (puf, eif):
        file["age"] = (file["age"] // 10).where(rng.random(len(file)) >= missing)
    lines = grouped.found(puf, eif, links, "hh", VARIABLES, declared=True)
    ours, theirs = (unique_groups(file, "hh", VARIABLES) for file in (puf, eif))
    both = ours.keys() & theirs.keys()
    of_links = {(puf["hh"].iloc[row], eif["hh"].iloc[other]) for row, other in links}
    linked = {side: {pair[at] for pair in of_links} for at, side in enumerate(("puf", "eif"))}
    of_several = [(ours[profile], theirs[profile]) for profile in both if len(profile) > 1]
    told = [pair for pair in of_several if pair[0] in linked["puf"] or pair[1] in linked["eif"]]
    right = sum(pair in of_links for pair in told)
    if not of_several or (of_links and (not right or 2 * right < len(told))):
        assert not lines
    elif lines:  # households of one alone do not show that the files group rows alike
        (line,) = lines
        assert (line.n, line.chance) == (len(both), puf["hh"].nunique())
        assert line.statistic == len(both) / puf["hh"].nunique()
        assert line.severity == ("understates" if line.statistic > 0.01 else "notable")
        assert line.proposal == "units: {puf: hh, eif: hh}"
    else:
        grouped_rows = [file["hh"].map(file["hh"].value_counts()).gt(1).mean() for file in (puf, eif)]
        assert min(grouped_rows) < grouping.MIN_GROUPED


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_merely_repeat_are_no_units(seed):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, int(rng.integers(200, 1500)), 1.0, off=0.0)
    for column, other in itertools.product(grouped.CODES, repeat=2):
        assert not grouped.found(puf, eif, links, column, VARIABLES, other=other)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["hh", "household", "HHID", "x1"])
def test_households_are_seen_by_their_name_or_by_what_their_members_share(name, seed):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, 400, 0.6)
    (line,) = grouped.found(puf, eif, links, "hh", VARIABLES, name=name)
    assert line.check == "groups"
    assert line.severity == "understates"


def test_households_of_other_people_are_no_evidence():
    rng = np.random.default_rng(1)
    puf, eif, links = grouped.two_files(rng, 300)
    eif["hh"] = rng.permutation(eif["hh"])
    assert not grouped.found(puf, eif, links, "hh", VARIABLES, declared=True)


CANDIDATES = [
    ("clusters by another name", {"rates": {"cluster": "hh"}}, ["xhh", "phone"], [("hh", "xhh"), ("hh", "phone")]),
    ("clusters by the same name", {"rates": {"cluster": "hh"}}, ["hh", "phone"], [("hh", "hh")]),
    ("the same name", {}, ["HH", "phone"], [("hh", "HH"), ("hh", "phone")]),
    ("two names", {}, ["phone"], [("hh", "phone")]),
    ("many columns", {}, [f"home_{n}" for n in range(101)], []),
    ("many columns, two names of households", {}, [*(f"a{n}" for n in range(100)), "xhh"], [("hh", "xhh")]),
]


@pytest.mark.parametrize(("fields", "columns", "pairs"), cases(CANDIDATES))
def test_columns_that_are_looked_at(fields, columns, pairs):
    model = study(linking_variables=[{"name": "age", "type": "numeric"}], **fields)
    settings = intake_step.preparing(model)
    found = grouping.candidates(
        settings, {"puf": [*settings.columns_of("puf"), "hh"], "eif": [*settings.columns_of("eif"), *columns]}
    )
    assert [(one.puf[0], one.eif[0]) for one in found] == pairs


def test_parts_of_composite_keys_are_looked_at_and_units_are_not():
    files = {"puf": {"path": "p.csv", "id": ["hh", "person"]}, "eif": {"path": "e.csv", "id": ["home", "nr"]},
             "iuf": {"path": "i.csv", "puf_id": ["hh", "person"], "eif_id": ["home", "nr"]}}  # fmt: skip
    variables = [{"name": "age", "type": "numeric"}]
    columns = {"puf": ["hh", "person", "age"], "eif": ["home", "nr", "age"]}
    settings = intake_step.preparing(study(files=files, linking_variables=variables))
    assert [(one.puf, one.eif) for one in grouping.candidates(settings, columns)] == [
        (("hh",), ("home",)), (("person",), ("nr",)),
    ]  # fmt: skip
    units = study(files=files, linking_variables=variables, units={"puf": "hh", "eif": "home"})
    assert grouping.candidates(intake_step.preparing(units), columns) == []


def test_agreement_of_groups_is_a_share_of_pairs():
    puf = np.array([0, 0, 0, 1, 1, -1])
    eif = np.array([5, 5, 6, 7, 7, 7])
    pairs = [(i, j) for i in range(5) for j in range(i)]
    ours, theirs = ({(i, j) for i, j in pairs if side[i] == side[j]} for side in (puf, eif))
    assert grouping.agreement(puf, eif) == len(ours & theirs) / len(ours | theirs)
    assert grouping.agreement(np.array([1, 2]), np.array([1, 2])) == 0.0


UNITS = """hh xhh HRHHID DB030 IDENTMEN HSERIALP ahid idhh ménage núcleo vivienda UNIT kunde household_number
Haushaltsnummer person_id patient customer enrolee"""
TOLD = "hhsize hhincome household_type persons case_mix family_status region"


def test_names_of_units_and_of_what_is_told_of_them():
    assert [name for name in UNITS.split() if not grouping.names_units(name)] == []
    assert [name for name in TOLD.split() if grouping.names_units(name)] == []


@pytest.mark.parametrize("seed", range(3))
def test_households_are_seen_where_the_head_of_each_alone_is_linked(seed):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, 400, 0.6)
    heads = links[~puf["hh"].iloc[links[:, 0]].duplicated().to_numpy()]
    (line,) = grouped.found(puf, eif, heads, "hh", VARIABLES)
    assert line.n == grouped.found(puf, eif, links, "hh", VARIABLES)[0].n


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lost", [0.5, 0.9])
def test_households_are_seen_where_most_links_are_lost(lost, seed):
    """A household without a link tells nothing, neither for nor against the column."""
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, 400, 0.6)
    kept = links[rng.random(400)[puf["hh"].iloc[links[:, 0]]] >= lost]
    (line,) = grouped.found(puf, eif, kept, "hh", VARIABLES)
    assert line == grouped.found(puf, eif, links, "hh", VARIABLES)[0]


@pytest.mark.parametrize("seed", range(6))
def test_households_are_seen_where_a_tenth_of_the_values_is_missing(seed):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, 400, 0.6)
    puf, eif = (file.astype(dict.fromkeys(VARIABLES, float)) for file in (puf, eif))
    for file, variable in itertools.product((puf, eif), VARIABLES):
        file[variable] = file[variable].where(rng.random(len(file)) >= 0.1)
    (line,) = grouped.found(puf, eif, links, "hh", VARIABLES)
    assert line.severity == "understates"


@pytest.mark.parametrize("seed", range(3))
def test_a_code_for_no_household_hides_no_other(seed):
    rng = np.random.default_rng(seed)
    puf, eif, links = grouped.two_files(rng, 400, 0.6)
    for file in (puf, eif):
        file["hh"] = file["hh"].where(rng.random(len(file)) < 0.9, 10**6)
    (line,) = grouped.found(puf, eif, links, "hh", VARIABLES)
    assert line.n > 5


def test_numbers_that_repeat_in_every_region_are_told_with_it():
    """Two columns of one name, and a column inside the strata."""
    variables = [{"name": "age", "type": "numeric"}]
    model = study(linking_variables=variables, strata=[{"name": "region", "puf": "REG", "eif": "r"}])
    settings = intake_step.preparing(model)
    columns = {side: [*settings.columns_of(side), "psu", "hh"] for side in ("puf", "eif")}
    found = [(one.puf, one.eif) for one in grouping.candidates(settings, columns)]
    assert (("REG", "hh"), ("r", "hh")) in found
    assert (("psu", "hh"), ("psu", "hh")) in found


def test_units_of_one_row_may_be_too_small():
    units = study(linking_variables=[{"name": "age", "type": "numeric"}], units={"puf": "pid", "eif": "eid"})
    settings = intake_step.preparing(units)
    columns = {side: [*settings.columns_of(side), "hh"] for side in ("puf", "eif")}
    assert [(one.puf, one.eif) for one in grouping.candidates(settings, columns)] == [(("hh",), ("hh",))]
    rows, several = (pa.table({"n_members": pa.array(n, pa.int32())}) for n in ([1, 1], [1, 2]))
    assert grouping.is_of_rows({"puf": rows, "eif": rows})
    assert not grouping.is_of_rows({"puf": rows, "eif": several})


def test_two_columns_together_and_empty_ones():
    """An area and a number in it are one group; a row without either has none; the order is that of the keys."""
    settings = intake_step.preparing(study(linking_variables=[{"name": "age", "type": "numeric"}]))
    rows = [("3", "a", "1"), ("1", "a", "1"), ("2", "b", "1"), ("5", "", "1"), ("4", "a", "2")]
    texts = {}
    for side in ("puf", "eif"):
        (key,) = settings.keys_of(side)
        texts[side] = pa.table(dict(zip((key, "area", "hh"), map(list, zip(*rows, strict=True)), strict=True)))
    (groups,) = grouping.coded(settings, [grouping.Candidate(("area", "hh"), ("area", "hh"), False)], texts)
    for codes in groups.codes.values():
        by_key = dict(zip("12345", codes.tolist(), strict=True))
        assert by_key["5"] == -1
        assert by_key["1"] == by_key["3"]
        assert len({by_key[key] for key in "124"}) == 3
