"""Euclidean's kernel gives what the definition gives, on whatever records (METHODS §4.3, §5)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import euclidean as oracle
from oracles.mixed import as_rows, spreads, two_files
from reident.kernels import euclidean


def nearest(*arrays, alpha, norm, **options):
    """The kernel with the threshold of the definition."""
    threshold = oracle.threshold(alpha, norm)
    return euclidean.nearest(*arrays, alpha=alpha, norm=norm, threshold=threshold, scale=10**12, **options)


@st.composite
def comparisons(draw):
    arrays, kinds, generator = draw(two_files())
    options = {
        "numeric": np.array([isinstance(kind, str) for kind in kinds]),
        "alpha": draw(st.sampled_from([0.5, 0.25, 0.3, 1.0, 0.01, 1.5])),
        "norm": draw(st.sampled_from(["primer", "rms"])),
        "keep": draw(st.sampled_from([1, 2, 5, 20, 600])),
        "whole_steps": draw(st.booleans()),
    }
    # The spread of a whole study may be another than that of a few records.
    spread = spreads(arrays[2])
    spread[np.isfinite(spread)] *= generator.choice([1, 1, 1, 10, 0.1, 1e-3, 0], np.isfinite(spread).sum())
    return (*arrays, spread), options


@given(comparisons())
def test_pairs_levels_and_ambiguous_records_are_those_of_the_definition(comparison):
    arrays, options = comparison
    assert as_rows(nearest(*arrays, **options)) == oracle.nearest(*arrays, **options)


@given(comparisons(), st.integers(0, 2**32))
@examples(50)
def test_the_order_of_records_and_variables_changes_nothing(comparison, seed):
    (puf_codes, eif_codes, puf_values, eif_values, spread), options = comparison
    generator = np.random.default_rng(seed)
    p, e, v = (generator.permutation(n) for n in (len(puf_codes), len(eif_codes), len(spread)))
    rows, ambiguous, following = as_rows(nearest(puf_codes, eif_codes, puf_values, eif_values, spread, **options))
    shuffled, ambiguous_too, following_too = as_rows(
        nearest(
            puf_codes[p][:, v],
            eif_codes[e][:, v],
            puf_values[p][:, v],
            eif_values[e][:, v],
            spread[v],
            **options | {"numeric": options["numeric"][v]},
        )
    )
    assert sorted((p[i], e[k], h) for i, k, h in shuffled) == sorted(rows)
    assert np.array_equal(ambiguous_too, np.array(ambiguous, bool)[p])
    assert following_too == [following[i] for i in p]


@given(comparisons())
@examples(50)
def test_two_threads_give_the_same_result_as_one(comparison):
    arrays, options = comparison
    for one, two in zip(nearest(*arrays, **options), nearest(*arrays, **options, threads=2), strict=True):
        assert np.array_equal(one, two)
