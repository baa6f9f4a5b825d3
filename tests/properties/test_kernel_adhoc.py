"""Adhoc's kernel gives what the definition gives, on whatever records and rules (METHODS §4.4, §5)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import adhoc as oracle
from oracles.mixed import SHAPES, as_rows, records
from reident.kernels import adhoc
from reident.kernels.adhoc import Bands, Exact, Table
from reident.kernels.blocks import nearest_blocks

ONE = 10**12
HIGHEST = 5 * ONE


def nearest(*arrays, **options):
    return adhoc.nearest(*arrays, scale=ONE, **options)


CATEGORIES = [1, 2, 3, 30, 63, 64, 65, 150]

SIZES = st.one_of(
    st.tuples(st.integers(0, 6), st.integers(0, 12)),
    st.tuples(st.integers(1, 4), st.sampled_from([63, 64, 65, 127, 128, 129, 511, 512, 513])),
    st.tuples(st.sampled_from([127, 128, 129]), st.integers(1, 12)),
    st.tuples(st.just(2), st.sampled_from([1023, 1024, 1025, 1100])),
)

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


def kernel_rule(rule):
    if rule[0] == "exact":
        return Exact()
    if rule[0] == "table":
        return Table(np.array(rule[1], np.int64))
    within, share, score = zip(*rule[1], strict=True) if rule[1] else ((), (), ())
    return Bands(np.array(within), np.array(share), np.array(score, np.int64), rule[2])


@st.composite
def comparisons(draw):
    (n_puf, n_eif) = draw(SIZES)
    kinds = draw(
        st.lists(
            st.one_of(st.sampled_from(CATEGORIES), st.sampled_from(sorted(SHAPES))), min_size=1, max_size=20
        )
    )
    missing = draw(st.sampled_from([0.0, 0.05, 0.4, 1.0]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    eif_codes, eif_values = records(generator, n_eif, kinds, missing)
    puf_codes, puf_values = records(generator, n_puf, kinds, missing)
    if n_eif:  # most PUF records differ from an EIF record on one variable only
        near = generator.random(n_puf) < 0.7
        twins, j = generator.integers(0, n_eif, n_puf), generator.integers(0, len(kinds))
        codes, values = eif_codes[twins], eif_values[twins]
        codes[:, j], values[:, j] = puf_codes[:, j], puf_values[:, j]
        puf_codes[near], puf_values[near] = codes[near], values[near]
    rules = [draw(rules_of(kind, generator)) for kind in kinds]
    options = {
        "above": draw(st.sampled_from([-1, 0, len(kinds) * HIGHEST // 2, len(kinds) * HIGHEST // 5])),
        "keep": draw(st.sampled_from([1, 2, 5, 20, 600])),
    }
    return (puf_codes, eif_codes, puf_values, eif_values), rules, options


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
    result = nearest_blocks(
        lambda rows, columns: sums[rows, columns], n_puf, n_eif, above=3, keep=keep, block=block
    )
    rows, ambiguous = [], []
    for i, row in enumerate(sums.tolist()):
        suspected = sorted((-total, k) for k, total in enumerate(row) if total > 3)
        kept = oracle.ranks_within([h for h, _ in suspected], keep)
        ambiguous.append(bool(suspected) and not kept)
        rows += [(i, k, -h) for h, k in suspected if h in kept]
    assert as_rows(result) == (rows, ambiguous)
