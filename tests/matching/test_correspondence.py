"""Files whose rows correspond, are in another order, or are drawn anew (METHODS §8)."""

import math
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.matching import prepare as intake
from reident.matching import step as matching_step
from reident.matching.correspondence import compare
from reident.matching.pairing import pair, tell
from reident.matching.section import Matching

N = 1000


def drawn(seed=1, n=N, **sizes):
    draw = np.random.default_rng(seed)
    return {name: draw.integers(0, size, n) for name, size in sizes.items()}


def typed(columns):
    return pa.table({name: pa.chunked_array([pa.array(values).cast(pa.string())]) for name, values in columns.items()})


def finding(confidential, synthetic, *, keyed=False):
    return compare(typed(confidential), typed(synthetic), list(confidential), keyed=keyed)[0]


PEOPLE = drawn(sex=2, region=9, age=70)


def reordered(order):
    return {name: values[order] for name, values in PEOPLE.items()}


def test_files_that_agree():
    found = finding(PEOPLE, PEOPLE)
    assert found[:3] == (N, N, N)
    assert (found.correspondence, found.finding) == (1, "agree")


def test_a_shuffled_file():
    found = finding(PEOPLE, reordered(np.random.default_rng(2).permutation(N)))
    assert found.finding == "another_order"
    assert found.n_possible == N
    assert abs(found.correspondence) < 0.05


@pytest.mark.parametrize("by", ["sex", "region"])
def test_a_file_sorted_by_a_known_variable(by):
    """The other variables give the order away, even where both files are sorted."""
    order = np.argsort(PEOPLE[by], kind="stable")
    sorted_first = reordered(order)
    shuffled = np.random.default_rng(3).permutation(N)
    sorted_second = reordered(shuffled[np.argsort(PEOPLE[by][shuffled], kind="stable")])
    assert finding(PEOPLE, sorted_first).finding == "another_order"
    assert finding(sorted_first, sorted_second).finding == "another_order"


@pytest.mark.parametrize(
    ("missing_row", "expected"), [(0, "another_order"), (400, "another_order"), (600, "differ"), (995, "differ")]
)
def test_a_file_that_lost_a_row_and_gained_one(missing_row, expected):
    order = [*range(missing_row), *range(missing_row + 1, N), missing_row]
    found = finding(PEOPLE, reordered(np.array(order)))
    assert found.finding == expected


def test_a_shuffled_file_with_a_few_changes():
    shuffled = reordered(np.random.default_rng(2).permutation(N))
    shuffled["age"][:1] = 99
    assert finding(PEOPLE, shuffled).finding == "another_order"


def test_a_known_variable_that_was_changed_in_some_rows():
    changed = {**PEOPLE, "age": np.where(np.arange(N) < 20, 99, PEOPLE["age"])}
    found = finding(PEOPLE, changed)
    assert found.finding == "differ"
    assert found.n_agree == found.n_possible == N - 20


def test_a_known_variable_that_was_changed_in_every_row():
    """The others agree, so the rows correspond; no order of the rows makes them agree on all known variables."""
    found = finding(PEOPLE, {**PEOPLE, "age": PEOPLE["age"] + 100})
    assert found.finding == "differ"
    assert found.n_possible == 0
    assert finding(PEOPLE, {**PEOPLE, "age": PEOPLE["age"] + 1}).finding == "differ"


def test_a_fully_synthetic_file():
    """All variables are drawn anew from the same distribution."""
    again = drawn(seed=9, sex=2, region=9, age=70)
    assert finding(PEOPLE, again).finding == "fully_synthetic"
    assert finding(PEOPLE, again, keyed=True).finding == "fully_synthetic"


def test_no_value_in_common_row_by_row():
    again = {name: values + 100 for name, values in PEOPLE.items()}
    found = finding(PEOPLE, again)
    assert found.finding == "fully_synthetic"
    assert math.isnan(found.correspondence)


def test_a_key_says_which_rows_correspond():
    """Region and age that were swapped within each sex look like rows in another order, unless a key says otherwise."""
    swapped = {name: values.copy() for name, values in PEOPLE.items()}
    for sex in (0, 1):
        at = np.flatnonzero(PEOPLE["sex"] == sex)
        for name in ("region", "age"):
            swapped[name][at] = PEOPLE[name][at[::-1]]
    assert finding(PEOPLE, swapped).finding == "another_order"
    assert finding(PEOPLE, swapped, keyed=True).finding == "differ"


@pytest.mark.parametrize("known", [[], ["constant"]])
def test_no_known_variable_can_tell(known):
    table = typed({"constant": np.zeros(5, int)})
    found, differ = compare(table, table, known, keyed=False)
    assert (found.finding, differ) == ("unknown", {})
    assert math.isnan(found.correspondence)


def test_missing_values_agree_with_missing_values():
    text = pa.table({"a": pa.chunked_array([pa.array(["1", None, None], pa.string())])})
    number = pa.table({"a": pa.chunked_array([pa.array([1.0, None, None])])})
    other = pa.table({"a": pa.chunked_array([pa.array(["1", None, "1"], pa.string())])})
    for table in (text, number):
        assert compare(table, table, ["a"], keyed=False)[0].n_agree == 3
    found, differ = compare(text, other, ["a"], keyed=False)
    assert (found.n_agree, differ) == (2, {"a": 1})


CODES = st.lists(
    st.tuples(st.sampled_from(["1", "2", None]), st.sampled_from([1.0, 2.0, None])), min_size=1, max_size=5
)


@given(CODES, st.data())
@examples(200)
def test_numbers_are_those_over_all_orders(rows, data):
    """Agreements by chance and at most, by brute force over every permutation of the rows."""
    copy = data.draw(st.lists(st.sampled_from(rows) | st.just(("2", None)), min_size=len(rows), max_size=len(rows)))
    tables = [
        pa.table(
            {
                "text": pa.chunked_array([pa.array([row[0] for row in own], pa.string())]),
                "number": pa.chunked_array([pa.array([row[1] for row in own], pa.float64())]),
            }
        )
        for own in (rows, copy)
    ]
    found, differ = compare(*tables, ["text", "number"], keyed=False)
    agreements = [sum(a == b for a, b in zip(rows, order, strict=True)) for order in permutations(copy)]
    assert found.n_agree == agreements[0]
    assert found.n_possible == max(agreements)
    assert found.by_chance == pytest.approx(sum(agreements) / len(agreements))
    expected = {
        name: sum(a[at] != b[at] for a, b in zip(rows, copy, strict=True)) for at, name in enumerate(["text", "number"])
    }
    assert differ == {name: rows for name, rows in expected.items() if rows}


def warnings_of(synthetic, **keys):
    study = {
        "confidential": {"path": "confidential.csv"}, "synthetic": [{"path": "syn.csv"}],
        "known": ["sex", "region"], "synthesized": ["age"], **keys,
    }  # fmt: skip
    options = Matching.model_validate(study)
    with_id = {"id": np.arange(N)}
    files = [typed({**with_id, **file}) for file in (PEOPLE, synthetic)]  # a file may have an id of its own
    prepared = intake.prepare(matching_step.matched_files(options), files[0], [files[1]])
    assert prepared.correspondence["file"].tolist() == ["1"]
    return prepared.warnings


KEYED = {"confidential": {"path": "confidential.csv", "id": "id"}}
SHUFFLED = reordered(np.random.default_rng(2).permutation(N))
REDRAWN = {**PEOPLE, "id": np.random.default_rng(4).permutation(N)}
NOISY = {**REDRAWN, "age": PEOPLE["age"] + np.random.default_rng(5).integers(-9, 10, N)}
FEW = {**PEOPLE, "region": np.where(np.arange(N) < 20, PEOPLE["region"][::-1], PEOPLE["region"])}
N_FEW = int((FEW["region"] != PEOPLE["region"]).sum())


@pytest.mark.parametrize(
    ("synthetic", "keys", "severity", "words"),
    [
        (PEOPLE, {}, None, ""),
        (SHUFFLED, {}, "invalidates", "The rows do not seem to correspond"),
        (SHUFFLED, KEYED, "invalidates", "the keys do not name the same people"),
        (FEW, {}, "understates", f"rows: region ({N_FEW}). Known variables are not synthesized. If the rows do not"),
        (FEW, KEYED, "notable", "Name them under `synthesized`"),
        (PEOPLE, {"known": []}, None, ""),
        (PEOPLE, {"known": []} | KEYED, None, ""),
        (REDRAWN, KEYED, "invalidates", "by the key no more than strangers do"),
        (REDRAWN, {"known": []} | KEYED, "invalidates", "Remove `id`, so that rows correspond by order"),
        (NOISY, {"known": []} | KEYED, "invalidates", "by the key no more than strangers do"),
    ],
)  # fmt: skip
def test_what_the_analyst_reads(synthetic, keys, severity, words):
    found = warnings_of(synthetic, **keys)
    assert list(found["severity"]) == ([] if severity is None else [severity])
    assert all(words in warning for warning in found["warning"])
    differ = (synthetic["sex"] != PEOPLE["sex"]) | (synthetic["region"] != PEOPLE["region"])
    assert list(found["affected"].dropna()) == [differ.sum()] * int(differ.any() and severity is not None)


@pytest.mark.parametrize(("keys", "reason"), [({}, "its rows do not"), (KEYED, "the keys do not")])
def test_a_file_drawn_anew_without_known_variables(keys, reason):
    anew = drawn(seed=9, sex=2, region=9, age=70)
    found = warnings_of(anew, known=[], synthesized=["sex", "region", "age"], **keys)
    assert found["code"].tolist() == ["by_chance"]
    assert reason in found["warning"].item()


def test_few_records_accuse_no_key():
    columns = [pa.chunked_array([list("aabbc")])], [pa.chunked_array([list("bacab")])]
    assert tell(pair(*columns, 5), None) == "key"


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12))
@examples(100)
def test_agreement_of_codes_is_kappa_over_all_orders(rows):
    """Cohen's kappa, from the mean of the agreement over every pair of records."""
    sides = [[None if side[at] < 0 else str(side[at]) for side in rows] for at in (0, 1)]
    found = pair(*([pa.chunked_array([pa.array(side, pa.string())])] for side in sides), len(rows)).agreement[0]
    both = [row for row in zip(*sides, strict=True) if None not in row]
    if min((len(set(side)) for side in zip(*both, strict=True)), default=0) < 2:
        assert math.isnan(found)
        return
    observed = sum(a == b for a, b in both) / len(both)
    chance = sum(a == b for a, _ in both for _, b in both) / len(both) ** 2
    assert found == pytest.approx((observed - chance) / (1 - chance))


@examples(60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=12),
    seed=st.integers(0, 20),
)
def test_rows_that_agree_are_counted_over_all_variables(rows, seed):
    confidential = dict(zip("abc", np.array(rows).T, strict=True))
    order = np.random.default_rng(seed).permutation(len(rows))
    synthetic = {name: values[order] for name, values in confidential.items()}
    synthetic["c"] = 1 - synthetic["c"] if seed % 2 else synthetic["c"]
    found = finding(confidential, synthetic)
    own, theirs = (list(zip(*(file[name] for name in "abc"), strict=True)) for file in (confidential, synthetic))
    assert found.n_agree == sum(a == b for a, b in zip(own, theirs, strict=True))
    assert found.n_possible == sum(min(own.count(row), theirs.count(row)) for row in set(own))
    assert found.by_chance == sum(own.count(row) * theirs.count(row) for row in set(own)) / len(own)
