"""Risk of one file: what holds for every file."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import uniform_files
from reident.filerisk import coarser, dis, dis_suda, matches, suda, uniques

CODES = uniform_files((0, 60), 5, 6, [0.0, 0.1])
FRACTIONS = st.sampled_from([0.01, 0.1, 0.5, 0.9, 1.0])


@examples(60)
@given(codes=CODES, fraction=FRACTIONS)
def test_general_dis_is_the_expectation_of_the_special_method_with_one_record_removed(codes, fraction):
    """Every record removed in turn, copied back or not, and matched against the rest, as the source describes."""
    records = [tuple(row) for row in codes.tolist() if min(row) >= 0]
    f = Fraction(fraction)
    correct = unique = Fraction(0)
    for i, record in enumerate(records):
        others = records[:i] + records[i + 1 :]
        if others.count(record) + 1 == 1:  # copied back
            correct, unique = correct + f, unique + f
        if others.count(record) == 1:  # not copied back
            unique += 1 - f
    sizes = uniques.cell_sizes(codes)
    formula = dis.general(uniques.n_unique(sizes), uniques.n_in_pairs(sizes), fraction)
    assert formula == pytest.approx(float(correct / unique) if unique else float("nan"), nan_ok=True)


@examples(60)
@given(
    cells=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    removed=st.integers(1, 4),
    fraction=st.sampled_from([0.4, 1.0]),
    seed=st.integers(0, 100),
)
def test_special_dis_is_exact_only_where_matches_of_one_kind_can_occur(cells, removed, fraction, seed):
    """Every set removed, and every set of these copied back."""
    removed = min(removed, len(cells))
    kinds = set()
    for away in combinations(range(len(cells)), removed):
        for back in product([True] if fraction == 1 else [True, False], repeat=removed):
            left = [cell for i, cell in enumerate(cells) if i not in away]
            left += [cells[i] for i, copied in zip(away, back, strict=True) if copied]
            kinds |= {copied for i, copied in zip(away, back, strict=True) if left.count(cells[i]) == 1}
    numbers = np.array(cells)
    found = dis.special(
        matches.by_number(numbers, numbers), fraction, np.random.default_rng(seed), removed=removed, tolerance=0.2
    )
    assume(found.rounds > 0)
    assert (found.ended == "exact") == (len(kinds) == 1)
    if len(kinds) == 1:
        assert found.estimate == float(kinds == {True})
        assert math.isnan(found.standard_error), "what the file decides has no error of a simulation"
        assert math.isnan(found.difference)
    else:
        assert found.standard_error > 0


@examples(100)
@given(codes=CODES, fraction=FRACTIONS, max_order=st.none() | st.integers(1, 3))
def test_elliot_manning_adds_up_to_the_risk_of_the_file(codes, fraction, max_order):
    sizes = uniques.cell_sizes(codes)
    score = suda.scores(codes, max_order=max_order).score
    general = dis.general(uniques.n_unique(sizes), uniques.n_in_pairs(sizes), fraction)
    found = dis_suda.elliot_manning(score, sizes, fraction, general)
    total = found.n_unique * general if found.n_unique else 0.0
    assert found.risk.sum() == pytest.approx(total)
    assert ((found.risk >= 0) & (found.risk <= 1)).all()
    assert not found.risk[sizes != 1].any()


@examples(100)
@given(codes=CODES, fraction=FRACTIONS)
def test_a_higher_score_never_has_less_risk(codes, fraction):
    sizes, score = uniques.cell_sizes(codes), suda.scores(codes).score
    unique = np.flatnonzero(sizes == 1)
    ranked = unique[np.argsort(score[unique], kind="stable")]
    general = dis.of_file(codes, sizes, fraction)
    definitions = dis_suda.by_definition(score, sizes, fraction, codes.shape[1], general)
    for found in definitions.values():
        assert (np.diff(found.risk[ranked]) >= -1e-12).all()


@examples(60)
@given(codes=CODES, fraction=FRACTIONS)
def test_user_guide_is_its_formula(codes, fraction):
    sizes, score = uniques.cell_sizes(codes), suda.scores(codes).score
    q = 1 + (8 - codes.shape[1]) / 20
    of = [i for i in range(len(codes)) if sizes[i] == 1]
    adjust = sum(score[i] ** -q for i in of)
    pairs = int((sizes == 2).sum())
    expected = [1 / (1 + pairs * (1 - fraction) / (fraction * score[i] ** q * adjust)) for i in of]
    found = dis_suda.user_guide(score, sizes, fraction, codes.shape[1], dis.of_file(codes, sizes, fraction))
    assert found.risk[of] == pytest.approx(expected)


@examples(60)
@given(codes=CODES)
def test_cells_are_those_of_equal_records(codes):
    records = [tuple(row) for row in codes.tolist()]
    expected = [records.count(record) if min(record) >= 0 else 0 for record in records]
    sizes = uniques.cell_sizes(codes)
    assert sizes.tolist() == expected
    structure = uniques.partition_structure(sizes)
    assert structure["n_records"].sum() == sum(size > 0 for size in expected)
    assert (structure["cell_size"] * structure["n_cells"] == structure["n_records"]).all()


@examples(60)
@given(codes=CODES, category=st.booleans())
def test_special_uniques_are_alone_on_a_part_of_the_key(codes, category):
    """Every proper subset tried for every record; missing values left out, or a category of their own."""
    codes = np.where(codes < 0, 9, codes).astype(np.int32) if category else codes
    n_keys = codes.shape[1]

    def alone(record, variables):
        own = [tuple(row[j] for j in variables) for row in codes.tolist()]
        return min(own[record]) >= 0 and own.count(own[record]) == 1

    parts = [part for size in range(1, n_keys) for part in combinations(range(n_keys), size)]
    expected = [alone(i, range(n_keys)) and any(alone(i, variables) for variables in parts) for i in range(len(codes))]
    names = [f"x{j}" for j in range(n_keys)]
    assert coarser.compare(codes, uniques.cell_sizes(codes), names).special.tolist() == expected


@examples(60)
@given(codes=CODES)
def test_every_sample_unique_has_a_score_and_levels_add_up(codes):
    found = suda.scores(codes)
    assert (found.score[uniques.cell_sizes(codes) == 1] >= 1).all()
    assume(found.score.sum() > 0)
    names = [f"x{j}" for j in range(codes.shape[1])]
    labels = [[str(x) for x in range(len(levels))] for levels in found.msus.by_level]
    by_level = suda.by_level(found, names, labels).groupby("variable")["contribution"].sum()
    by_variable = suda.by_variable(found, names).set_index("variable")["contribution"]
    assert by_variable[by_variable > 0].to_dict() == pytest.approx(by_level[by_level > 0].to_dict())


@examples(40)
@given(codes=CODES)
def test_a_file_that_is_its_population_has_its_cells(codes):
    reciprocal = dis_suda.population_reciprocal(codes, codes)
    sizes = uniques.cell_sizes(codes)
    assert np.isnan(reciprocal[sizes == 0]).all()
    assert reciprocal[sizes > 0] == pytest.approx(1 / sizes[sizes > 0])
