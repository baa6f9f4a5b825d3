"""The counts of comparison patterns against the definition, on every path of the search (METHODS §4.6)."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import count_patterns
from oracles import patterns as oracle
from reident.kernels import patterns

SEEDS = st.integers(0, 2**32 - 1)
WAYS = {
    "pairs": {"RECORD_NS": 1e9},
    "sets": {"RECORD_NS": 1e-9},
    "merged sets": {"RECORD_NS": 1e-9, "LEAST_MERGED": 1},
    "both": {"RECORD_NS": 1.0, "LEAST_MERGED": 2, "LEAST_TASK_NS": 0.0},
    "sets in tasks": {"RECORD_NS": 1e-9, "LEAST_TASK_NS": 0.0},
    "several words": {"RECORD_NS": 1.0, "WORD": 12, "LEAST_TASK_NS": 0.0, "LEAST_MERGED": 2},
}
"""Where the search compares pairs, merges records, is divided, and how much of a record a word has."""


def counted(way, puf, eif, near, incomplete, threads=1):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(patterns, name, value)
        return count_patterns(puf, eif, near=near, incomplete=incomplete, threads=threads)


def by_word(table, near, incomplete):
    """{pattern: pairs} of a table of counts, without the patterns that no pair has."""
    words = [
        ["agree", "differ", *(["partial"] if partly else []), *(["missing"] if missing else [])]
        for partly, missing in zip(near, incomplete, strict=True)
    ]
    return {
        tuple(word[at] for word, at in zip(words, place, strict=True)): int(table[place])
        for place in zip(*(axis.tolist() for axis in np.nonzero(table)), strict=True)
    }


def incomplete_of(puf, eif):
    return [bool((puf[:, j] < 0).any() or (eif[:, j] < 0).any()) for j in range(puf.shape[1])]


@st.composite
def small_files(draw):
    v = draw(st.integers(1, 4))
    value = st.integers(-1, draw(st.integers(0, 4)))
    record = st.lists(value, min_size=v, max_size=v)
    puf, eif = (np.array(draw(st.lists(record, max_size=9)), np.int32).reshape(-1, v) for _ in range(2))
    return puf, eif, draw(st.lists(st.booleans(), min_size=v, max_size=v))


@given(case=small_files(), way=st.sampled_from(sorted(WAYS)))
def test_small_files_equal_the_definition(case, way):
    puf, eif, near = case
    incomplete = incomplete_of(puf, eif)
    found = counted(way, puf, eif, near, incomplete)
    assert by_word(found, near, incomplete) == oracle.count(puf, eif, near)


def by_numpy(puf, eif, near, incomplete):
    """The definition with whole matrices."""
    radix = [2 + partly + missing for partly, missing in zip(near, incomplete, strict=True)]
    at = np.zeros((len(puf), len(eif)), np.int64)
    for j, (partly, missing) in enumerate(zip(near, incomplete, strict=True)):
        a, b = puf[:, None, j].astype(np.int64), eif[None, :, j].astype(np.int64)
        state = np.where(a == b, 0, np.where((abs(a - b) == 1) & partly, 2, 1))
        if missing:
            state = np.where((a < 0) | (b < 0), radix[j] - 1, state)
        at = at * radix[j] + state
    return np.bincount(at.ravel(), minlength=np.prod(radix)).reshape(radix)


@examples(60)
@given(seed=SEEDS)
def test_larger_files_equal_the_definition_whatever_the_way_and_the_threads(seed):
    generator = np.random.default_rng(seed)
    v = generator.choice([1, 2, 5, 7])
    categories = generator.choice([1, 2, 4, 12, 300], v)
    missing = generator.choice([0, 0.05, 0.3, 0.9])
    sizes = generator.choice([1, 2, 40, 300, 700], 2)
    puf, eif = (generator.integers(0, categories, (n, v), dtype=np.int32) for n in sizes)
    if generator.random() < 0.5:
        puf[: len(eif)] = np.where(generator.random((len(puf[: len(eif)]), v)) < 0.9, eif[: len(puf)], puf[: len(eif)])
    for table in (puf, eif):
        table[generator.random(table.shape) < missing] = -1
    near = (generator.random(v) < 0.3).tolist()
    incomplete = [one or bool(generator.random() < 0.2) for one in incomplete_of(puf, eif)]
    expected = by_numpy(puf, eif, near, incomplete)
    for way in WAYS:
        assert (counted(way, puf, eif, near, incomplete, threads=2) == expected).all()
    order = generator.permutation(len(puf)), generator.permutation(len(eif))
    again = count_patterns(puf[order[0]], eif[order[1]], near=near, incomplete=incomplete)
    assert (again == expected).all()


@examples(20)
@given(seed=SEEDS)
def test_strata_add_up_whatever_the_order_of_the_variables(seed):
    generator = np.random.default_rng(seed)
    v = int(generator.integers(1, 7))
    near, incomplete = (generator.random(v) < 0.3).tolist(), [True] * v
    tally = patterns.Tally(near, incomplete, generator.permutation(v).tolist(), threads=2)
    expected = 0
    for _ in range(4):
        puf, eif = (generator.integers(-1, 4, (generator.choice([0, 1, 30, 200]), v), dtype=np.int32) for _ in range(2))
        tally.add(puf, eif)
        expected = expected + by_numpy(puf, eif, near, incomplete)
        assert (tally.counts() == expected).all()


def test_equal_records_are_counted_as_often_as_they_are_there():
    puf, eif = np.tile(np.int32([[0, 1], [-1, 1]]), (1000, 1)), np.tile(np.int32([[0, 1]]), (3000, 1))
    found = count_patterns(puf, eif, near=[False, False], incomplete=[True, False])
    assert by_word(found, [False, False], [True, False]) == Counter(
        {("agree", "agree"): 3_000_000, ("missing", "agree"): 3_000_000}
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"near": [False], "incomplete": [False]}, "same variables"),
        ({"near": [False] * 2, "incomplete": [False] * 2}, "declared complete"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, message):
    table = np.int32([[0, -1]])
    with pytest.raises(ValueError, match=message):
        count_patterns(table, table, **arguments)


def test_too_many_patterns_are_refused():
    table = np.zeros((1, 23), np.int32)
    with pytest.raises(ValueError, match="more than 4194304 patterns"):
        count_patterns(table, table, near=[False] * 23, incomplete=[False] * 23)
