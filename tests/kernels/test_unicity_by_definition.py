"""Shared sample uniques against the definition, and what must not change them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import skewed
from oracles import unicity as oracle
from reident.kernels import unicity
from reident.kernels.unicity import shared_uniques

SIZES = st.one_of(st.integers(0, 9), st.sampled_from([31, 32, 33, 63, 64, 65, 66, 130]))
SETS = st.sampled_from(["all", "full", "jointly_observed"])


def draw_files(seed, sizes, v, levels, missing, copies):
    """Two files with skewed categories, missing values and exact copies."""
    rng = np.random.default_rng(seed)
    top = rng.integers(1, levels + 1, v)
    return [skewed(rng, n, v, top, missing, copies) for n in sizes]


FILES = st.builds(
    draw_files,
    seed=st.integers(0, 2**32),
    sizes=st.tuples(SIZES, SIZES),
    v=st.integers(1, 6),
    levels=st.sampled_from([1, 2, 3, 5, 12, 70]),
    missing=st.sampled_from([0.0, 0.05, 0.4, 1.0]),
    copies=st.sampled_from([0.0, 0.0, 0.3]),
)


def rows(result):
    return list(zip(*(column.tolist() for column in result), strict=True))


@given(files=FILES, sets=SETS, max_order=st.none() | st.integers(1, 7), threads=st.integers(1, 2))
def test_equals_the_definition(files, sets, max_order, threads):
    puf, eif = files
    result = rows(shared_uniques(puf, eif, sets=sets, max_order=max_order, threads=threads))
    assert result == oracle.shared_uniques(puf, eif, sets, max_order)


@given(files=FILES, max_order=st.integers(1, 6), threads=st.integers(1, 2))
def test_sets_as_lists_of_positions_equal_the_definition(files, max_order, threads):
    """As for more variables than a cost has bits for."""
    puf, eif = files
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unicity, "_shift", lambda _v, _order: 64)
        result = rows(shared_uniques(puf, eif, max_order=max_order, threads=threads))
    assert result == oracle.shared_uniques(puf, eif, "all", max_order)


@pytest.mark.slow
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32), n=st.tuples(st.integers(2, 6), st.integers(2, 6)), missing=st.sampled_from([0, 0.2]))
@example(seed=1, n=(6, 6), missing=0.2)
def test_equals_the_definition_with_sixteen_variables(seed, n, missing):
    puf, eif = draw_files(seed, n, 16, 3, missing, 0.0)
    assert rows(shared_uniques(puf, eif)) == oracle.shared_uniques(puf, eif)


@examples(50)
@given(files=FILES, sets=SETS)
def test_exchanging_the_files_exchanges_the_records(files, sets):
    puf, eif = files
    there = {(p, e, k, s) for p, e, k, s in rows(shared_uniques(puf, eif, sets=sets))}
    back = {(p, e, k, s) for e, p, k, s in rows(shared_uniques(eif, puf, sets=sets))}
    assert there == back


@examples(50)
@given(files=FILES, sets=SETS, seed=st.integers(0, 2**32))
def test_order_of_records_and_names_of_categories_do_not_matter(files, sets, seed):
    puf, eif = files
    rng = np.random.default_rng(seed)
    names = np.append(rng.permutation(80), -1).astype(np.int32)
    of_puf, of_eif = rng.permutation(len(puf)), rng.permutation(len(eif))
    other = rows(shared_uniques(names[puf[of_puf]], names[eif[of_eif]], sets=sets))
    assert sorted((of_puf[p], of_eif[e], k, s) for p, e, k, s in other) == sorted(
        rows(shared_uniques(puf, eif, sets=sets))
    )


@examples(50)
@given(files=FILES, sets=SETS, seed=st.integers(0, 2**32))
def test_order_of_variables_changes_no_pair_and_no_order(files, sets, seed):
    puf, eif = files
    variables = np.random.default_rng(seed).permutation(puf.shape[1])
    other = rows(shared_uniques(puf[:, variables].copy(), eif[:, variables].copy(), sets=sets))
    assert [row[:3] for row in other] == [row[:3] for row in rows(shared_uniques(puf, eif, sets=sets))]


@examples(50)
@given(files=FILES, record=st.integers(0, 200))
def test_an_exact_copy_removes_the_pairs_of_its_record_and_changes_no_other(files, record):
    puf, eif = files
    if not len(puf):
        return
    record %= len(puf)
    before = {row[:2]: row[2:] for row in rows(shared_uniques(puf, eif))}
    after = {row[:2]: row[2:] for row in rows(shared_uniques(np.vstack([puf, puf[record]]), eif))}
    assert not any(p in (record, len(puf)) for p, _ in after)
    assert after == {pair: first for pair, first in before.items() if pair[0] != record}


@examples(50)
@given(files=FILES)
def test_other_options_give_a_subset_of_the_pairs_of_all_sets(files):
    every = {row[:2] for row in rows(shared_uniques(*files))}
    for sets in ("full", "jointly_observed"):
        assert {row[:2] for row in rows(shared_uniques(*files, sets=sets))} <= every
