"""Matches of one file's records: wildcards, perturbed files, coarser keys, against every pair and every subsample."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.kernels import uniform_files
from oracles import filerisk as oracle
from reident.filerisk import coarser, dis, matches, uniques, wildcards

CODES = uniform_files((0, 40), 5, 4, [0.0, 0.2, 0.6, 1.0])
SMALL = uniform_files((1, 5), 3, 3, [0.0, 0.3])
WILDCARD = st.booleans()
FRACTIONS = st.sampled_from([0.1, 0.5, 1.0])


def rows(codes):
    return [tuple(row) for row in codes.tolist()]


def fragment(released, known, wildcard):
    return (matches.by_wildcard if wildcard else matches.by_cell)(released, known)


def perturb(codes, seed):
    """Known values of which about a third are others, or missing, in the released file."""
    draw = np.random.default_rng(seed)
    other = draw.integers(-1, codes.max(initial=0) + 1, codes.shape)
    return np.where(draw.random(codes.shape) < 0.3, other, codes).astype(np.int32)


@given(codes=CODES, others=CODES, limit=st.sampled_from([1, 20, wildcards.MAX_FOLLOWED]))
def test_a_missing_value_matches_every_value(codes, others, limit):
    others = others[:, : codes.shape[1]]
    codes = codes[:, : others.shape[1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wildcards, "MAX_FOLLOWED", limit)
        found = wildcards.matches(codes, others)
    assert found.tolist() == oracle.match_counts(rows(codes), rows(others), wildcard=True)


@given(codes=CODES)
def test_conventions_count_violations_and_wildcards_never_more_than_categories(codes):
    table = uniques.conventions(codes, (2, 3, 5)).set_index("convention")
    expected = {
        "excluded": oracle.match_counts(rows(codes), rows(codes), wildcard=False),
        "category": [rows(codes).count(row) for row in rows(codes)],
        "wildcard": oracle.match_counts(rows(codes), rows(codes), wildcard=True),
    }
    for name, sizes in expected.items():
        assert table.at[name, "n_records"] == sum(size > 0 for size in sizes)
        for k in (2, 3, 5):
            assert table.at[name, f"below_{k}"] == sum(0 < size < k for size in sizes)
    below = table.drop(columns="n_records")
    assert (below.loc["wildcard"] <= below.loc["category"]).all()


@given(codes=SMALL, seed=st.integers(0, 1000), fraction=FRACTIONS, wildcard=WILDCARD)
def test_the_general_form_is_the_expectation_with_one_record_removed(codes, seed, fraction, wildcard):
    for released in (codes, perturb(codes, seed)):
        found = fragment(released, codes, wildcard)
        n_unique, n_in_pairs, n_wrong = found.counts
        expected = oracle.one_removed(rows(released), rows(codes), fraction, wildcard)
        formula = dis.general(n_unique, n_in_pairs, fraction, n_wrong)
        assert formula == pytest.approx(float("nan") if expected is None else expected, nan_ok=True)


@given(
    codes=SMALL,
    seed=st.integers(0, 1000),
    removed=st.integers(1, 3),
    fraction=st.sampled_from([0.4, 1.0]),
    wildcard=WILDCARD,
)
def test_the_special_form_is_exact_only_where_matches_of_one_kind_can_occur(codes, seed, removed, fraction, wildcard):
    released = perturb(codes, seed)
    expected = oracle.kinds(rows(released), rows(codes), removed, fraction, wildcard)
    found = fragment(released, codes, wildcard)
    assume(len(found.sizes) > 0)
    possible = dis._possible(found, fraction, min(removed, len(found.sizes)))
    assert possible == (True in expected, False in expected)


@given(codes=CODES, seed=st.integers(0, 1000), wildcard=WILDCARD)
def test_what_is_left_is_counted_among_the_records_that_are_left(codes, seed, wildcard):
    released, draw = perturb(codes, seed), np.random.default_rng(seed)
    found = fragment(released, codes, wildcard)
    n = len(found.sizes)
    assume(n > 0)
    at = draw.choice(n, draw.integers(1, n + 1), replace=False)
    back = draw.random(len(at)) < 0.5
    before = found.remaining(at, np.ones(len(at), bool))
    assert before.tolist() == found.sizes[at].tolist()
    # The records have an order of their own: the multisets of what is left are compared.
    pool = oracle.removable(rows(codes))
    order = sorted(pool, key=lambda i: _key(released, codes, i, wildcard))
    gone = {order[i] for i, kept in zip(at.tolist(), back.tolist(), strict=True) if not kept}
    left = [row for i, row in enumerate(rows(released)) if i not in gone]
    expected = oracle.match_counts([rows(codes)[order[i]] for i in at.tolist()], left, wildcard)
    assert found.remaining(at, back).tolist() == expected


def _key(released, known, i, wildcard):
    """The order in which the library numbers the records: by the released cell, then the known one."""
    if wildcard:
        return (*known[i].tolist(), *released[i].tolist())
    own = tuple(released[i].tolist())
    return (min(own) >= 0, own if min(own) >= 0 else (), tuple(known[i].tolist()))


@given(codes=SMALL, wildcard=WILDCARD, collapse=st.booleans())
def test_uniques_of_a_half_of_the_file_by_every_half(codes, wildcard, collapse):
    merged = np.zeros(4, np.int64)
    collapsed = [(0, merged)] if collapse else []
    sizes = uniques.cell_sizes(codes, wildcard=wildcard)
    names = [f"x{j}" for j in range(codes.shape[1])]
    found = coarser.compare(codes, sizes, names, collapsed, wildcard=wildcard)
    keys = [np.delete(codes, j, axis=1) for j in range(codes.shape[1])] if codes.shape[1] > 1 else []
    keys += [np.concatenate([np.minimum(codes[:, :1], 0), codes[:, 1:]], axis=1)] if collapse else []
    assert len(found.table) == len(keys)
    for line, coarse in zip(found.table.itertuples(), keys, strict=True):
        totals = oracle.halves(rows(codes), rows(coarse), wildcard)
        for name, kind in (("surviving", True), ("other", False)):
            whole = totals[kind, True] + totals[kind, False]
            assert getattr(line, f"half_{name}") == pytest.approx(float(whole))
            still = float(totals[kind, True] / whole) if whole else float("nan")
            assert getattr(line, f"still_{name}") == pytest.approx(still, nan_ok=True)


@given(codes=CODES, wildcard=WILDCARD)
def test_survivors_are_unique_on_the_coarser_key(codes, wildcard):
    sizes = uniques.cell_sizes(codes, wildcard=wildcard)
    names = [f"x{j}" for j in range(codes.shape[1])]
    found = coarser.compare(codes, sizes, names, wildcard=wildcard)
    expected = np.zeros(len(codes), np.int64)
    for j in range(codes.shape[1] if codes.shape[1] > 1 else 0):
        less = np.delete(codes, j, axis=1)
        alone = np.array(oracle.match_counts(rows(less), rows(less), wildcard)) == 1
        survives = alone.astype(bool) & (sizes == 1)
        assert found.table["n_surviving"].iloc[j] == survives.sum()
        expected += survives
    assert found.n_surviving.tolist() == expected.tolist()
    assert found.special.tolist() == (expected > 0).tolist()


@given(codes=CODES)
def test_words_of_many_columns_number_the_same_cells(codes):
    numbers = uniques.cell_numbers(codes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wildcards, "MAX_WORD", 1)
        assert uniques.cell_numbers(codes).tolist() == numbers.tolist()
        distinct, place = wildcards.distinct(codes + 1)
        assert distinct.tolist() == [list(row) for row in sorted(set(map(tuple, (codes + 1).tolist())))]
        assert distinct[place].tolist() == (codes + 1).tolist()
    known = [row for row in rows(codes) if min(row) >= 0]
    expected = {row: at for at, row in enumerate(sorted(set(known)))}
    assert numbers.tolist() == [expected.get(row, -1) for row in rows(codes)]
