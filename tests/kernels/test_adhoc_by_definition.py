"""Adhoc's kernel gives what the definition gives, on whatever records and rules (METHODS §4.4, §5)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import kernel_rule
from oracles import adhoc as oracle
from oracles.mixed import as_rows, two_files
from oracles.pairs import highest_kept
from reident.kernels import adhoc
from reident.kernels.blocks import nearest_blocks

ONE = 10**12
HIGHEST = 5 * ONE


def nearest(*arrays, **options):
    return adhoc.nearest(*arrays, scale=ONE, **options)


# Whole scores, scores that float32 holds, and scores that it does not.
SCORES = st.one_of(
    st.integers(0, 5).map(lambda score: score * 10**12),
    st.sampled_from([HIGHEST // 8, 3_300_000_000_000, 1, HIGHEST - 1]),
)
WITHIN = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 39.0, 1e16, 1e308, float("inf")])
SHARE = st.sampled_from([0.0, 0.0, 4e-16, 0.1, 1.0, float("inf")])
BANDS = st.lists(st.tuples(WITHIN, SHARE, SCORES), max_size=6)


@st.composite
def rules_of(draw, kind, generator):
    """A rule for the oracle."""
    if isinstance(kind, str):
        return ("bands", draw(BANDS), draw(SCORES))
    if draw(st.booleans()):
        return ("exact",)
    choice = np.array([draw(SCORES) for _ in range(draw(st.integers(1, 4)))])
    return ("table", generator.choice(choice, (kind, kind)).tolist())


@st.composite
def comparisons(draw):
    arrays, kinds, generator = draw(two_files())
    rules = [draw(rules_of(kind, generator)) for kind in kinds]
    options = {
        "above": draw(st.sampled_from([-1, 0, len(kinds) * HIGHEST // 2, len(kinds) * HIGHEST // 5])),
        "keep": draw(st.sampled_from([1, 2, 5, 20, 600])),
    }
    return arrays, rules, options


@given(comparisons())
def test_pairs_levels_and_ambiguous_records_are_those_of_the_definition(comparison):
    arrays, rules, options = comparison
    result = nearest(*arrays, [kernel_rule(rule) for rule in rules], **options)
    assert as_rows(result) == oracle.nearest(*arrays, rules, **options)


@given(comparisons())
@examples(50)
def test_two_threads_give_the_same_result_as_one(comparison):
    arrays, rules, options = comparison
    rules = [kernel_rule(rule) for rule in rules]
    one, two = nearest(*arrays, rules, **options), nearest(*arrays, rules, **options, threads=2)
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a, b)


@given(
    st.integers(0, 40),
    st.integers(0, 40),
    st.sampled_from([1, 7, 64]),
    st.sampled_from([1, 3, 50]),
    st.integers(0, 2**32),
)
@examples(50)
def test_blocks_give_the_same_pairs_as_the_matrix_of_sums(n_puf, n_eif, block, keep, seed):
    sums = np.random.default_rng(seed).integers(0, 9, (n_puf, n_eif))
    result = nearest_blocks(lambda rows, columns: sums[rows, columns], n_puf, n_eif, above=3, keep=keep, block=block)
    suspected = [[(total, k) for k, total in enumerate(row) if total > 3] for row in sums.tolist()]
    assert as_rows(result) == highest_kept(suspected, keep)
