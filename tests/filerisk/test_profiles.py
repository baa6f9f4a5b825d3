"""Units of one file against their definition: every unit by the sorted list of its members' values (METHODS §7.7)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.filerisk import FILE_RISK, drawn, prepared
from oracles import scenarios as oracle
from pydantic import ValidationError
from reident.filerisk import profiles
from reident.filerisk import step as filerisk_step
from reident.filerisk.prepare import HOUSEHOLD, WEIGHT
from reident.filerisk.settings import ProfileSettings
from reident.sections.keys import sets_up_to

NAMES = ("a", "b", "c")
SAME = ("n_compared", "smallest", "n_unique", "unique_share", "below_3", "below_5", "dis", "dis_low", "dis_high")


def expected(file, units, keys, fraction):
    """The risk of the units on some variables, and the members of those that are unique."""
    members = {unit: [] for unit in units}
    for row, unit in enumerate(units):
        members[unit].append(tuple(file[name][row] for name in keys))
    profile = {unit: tuple(sorted(values)) for unit, values in members.items()}
    numbers = {one: at for at, one in enumerate(dict.fromkeys(profile.values()))}
    missing = {unit for unit, values in members.items() if min(map(min, values)) < 0}
    codes = {unit: -1 if unit in missing else numbers[profile[unit]] for unit in members}
    records = [(code,) for code in codes.values()]
    found = oracle.risk(records, [], [1 / fraction] * len(records), fraction, None, wildcard=False)
    alone = [unit for unit, code in codes.items() if code >= 0 and list(codes.values()).count(code) == 1]
    pairs = sum(list(codes.values()).count(code) == 2 for code in codes.values() if code >= 0)
    return found, sum(len(members[unit]) for unit in alone), pairs


@examples(150)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 40),
    n_units=st.integers(1, 15),
    levels=st.integers(1, 3),
    missing=st.sampled_from([0.0, 0.1, 1.0]),
    fraction=st.sampled_from([0.02, 0.25, 1.0]),
)
def test_units_are_alike_if_their_members_are(seed, n, n_units, levels, missing, fraction):
    rng = np.random.default_rng(seed)
    file = {name: np.where(rng.random(n) < missing, -1, rng.integers(0, levels, n)).astype(np.int32) for name in NAMES}
    units = np.unique(rng.integers(0, n_units, n), return_inverse=True)[1].astype(np.int32)
    table = pa.table({**file, HOUSEHOLD: units})
    settings = ProfileSettings(NAMES, (("Neighbour", ("b", "a")),), tuple(sets_up_to(NAMES, 2)), fraction)
    found = profiles.assess(settings, table)
    lines = [("", NAMES), *settings.scenarios, *(("", keys) for keys in settings.sets)]
    assert list(zip(found["scenario"], found["keys"], strict=True)) == [
        (name, " + ".join(keys)) for name, keys in lines
    ]
    for (_, keys), line in zip(lines, found.to_dict("records"), strict=True):
        risk, unique_members, pairs = expected(file, units.tolist(), keys, fraction)
        assert (line["n_units"], line["n_members"]) == (len(set(units.tolist())), n)
        assert (line["n_unique_members"], line["n_in_pairs"]) == (unique_members, pairs)
        for name in SAME:
            wanted = np.nan if risk[name] is None else risk[name]
            assert line[name] == pytest.approx(wanted, rel=1e-9, nan_ok=True), name


def test_records_in_another_order_are_the_same_units():
    rng = np.random.default_rng(3)
    file = {name: rng.integers(-1, 3, 60).astype(np.int32) for name in NAMES}
    units, weights = rng.integers(0, 20, 60).astype(np.int32), rng.integers(1, 9, 60) / 2
    table = pa.table({WEIGHT: weights, **file, HOUSEHOLD: np.unique(units, return_inverse=True)[1]})
    settings = ProfileSettings(NAMES, (), (("a", "b"),), None)
    first, second = (profiles.assess(settings, one) for one in (table, table.take(rng.permutation(60))))
    assert first.equals(second)


def test_units_of_one_record_are_records():
    spec, found = prepared({**FILE_RISK, "units": "pid"}, file=drawn(200))
    (line,) = profiles.assess(filerisk_step.profiling(spec), found.file).to_dict("records")
    codes = [tuple(row.values()) for row in found.file.select([one.name for one in spec.risk_key]).to_pylist()]
    whole = [row for row in codes if None not in row]
    assert line["n_compared"] == len(whole)
    assert line["n_unique"] == sum(whole.count(row) == 1 for row in whole)


def test_the_weight_of_a_unit_is_the_mean_of_its_members():
    table = pa.table({"a": pa.array([0, 0, 1], pa.int32()), WEIGHT: [10.0, 30.0, 5.0], HOUSEHOLD: pa.array([0, 0, 1])})
    (line,) = profiles.assess(ProfileSettings(("a",), (), (), None), table).to_dict("records")
    assert (line["n_unique"], line["dis"]) == (2, 1.0)
    twins = pa.concat_tables([table, table.set_column(2, HOUSEHOLD, pa.array([2, 2, 3]))])
    (line,) = profiles.assess(ProfileSettings(("a",), (), (), None), twins).to_dict("records")
    assert (line["n_unique"], line["n_in_pairs"], line["dis"]) == (0, 4, 0.0)


REFUSED = [
    ({"units": "hh", "missing": "wildcard"}, "`.units` must not be given with `missing: wildcard`"),
    ({"units": "hh", "population_models": {"household": "other"}}, "must have the columns of `units`"),
    ({"units": ["hh", "hh"]}, "is given twice in `file_risk.units`"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_options_that_do_not_go_with_units_are_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        prepared({**FILE_RISK, **fields}, file=drawn(10))
