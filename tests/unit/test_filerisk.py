"""Risk of one file: cells, DIS, SUDA's weights, DIS-SUDA, by cases that a reader can check by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from reident.filerisk import coarser, dis, dis_suda, matches, numerical_study, suda, uniques

RECORDS = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1], [0, -1]], np.int32)
"""A pair, two uniques, a triple, and a record that misses a value."""


def test_cell_sizes_leave_out_records_that_miss_a_value():
    assert uniques.cell_sizes(RECORDS).tolist() == [2, 2, 1, 1, 3, 3, 3, 0]
    assert uniques.cell_numbers(RECORDS).tolist() == [0, 0, 1, 2, 3, 3, 3, -1]


def test_partition_structure_and_counts():
    sizes = uniques.cell_sizes(RECORDS)
    assert uniques.partition_structure(sizes).to_numpy().tolist() == [[1, 2, 2], [2, 1, 2], [3, 1, 3]]
    assert (uniques.n_unique(sizes), uniques.n_in_pairs(sizes)) == (2, 2)
    assert [uniques.k_anonymity_violations(sizes, k) for k in (1, 2, 3, 4)] == [0, 2, 4, 7]


@pytest.mark.parametrize("codes", [np.zeros((0, 2), np.int32), np.full((3, 2), -1, np.int32)])
def test_cells_of_no_record(codes):
    sizes = uniques.cell_sizes(codes)
    assert sizes.tolist() == [0] * len(codes)
    assert len(uniques.partition_structure(sizes)) == 0
    assert uniques.k_anonymity_violations(sizes, 5) == 0


def test_special_uniques_are_unique_on_a_proper_subset_too():
    codes = np.array([[0, 0], [0, 1], [1, 0], [2, 1], [2, -1], [3, -1]], np.int32)
    sizes = uniques.cell_sizes(codes)
    assert suda.scores(codes).msus.order.tolist() == [2, 2, 1, 2, 0, 1]
    # the last record is unique on a part of the key, but in no cell of the whole: no sample unique
    special = coarser.compare(codes, sizes, ["x", "y"]).special
    assert special.tolist() == [False, False, True, False, False, False]


def test_special_uniques_on_the_corners_of_a_cube():
    """All corners of a cube but one: its three neighbours are alone on an edge, the others on the whole key only."""
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], np.int32)
    found = coarser.compare(codes, uniques.cell_sizes(codes), ["x", "y", "z"])
    assert found.special.tolist() == [True] * 3 + [False] * 4
    assert found.n_surviving.tolist() == [1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("u", "p", "f", "expected"),
    [
        (10, 20, 0.1, 1 / 19),
        (10, 0, 0.1, 1.0),
        (0, 20, 0.1, 0.0),
        (3, 7, 1.0, 1.0),
        (0, 0, 0.1, math.nan),
        (0, 7, 1.0, math.nan),
    ],
)
def test_general_dis(u, p, f, expected):
    assert dis.general(u, p, f) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, math.nan])
def test_a_fraction_outside_its_range_is_an_error(fraction):
    with pytest.raises(ValueError, match="fraction"):
        dis.general(1, 1, fraction)


def test_sampling_fraction_from_weights():
    assert dis.sampling_fraction(np.array([40.0, 60.0])) == pytest.approx(0.02)
    for wrong in ([], [np.nan, 5.0], [-1.0, 9.0], [0.5, 0.5]):
        with pytest.raises(ValueError, match="weights"):
            dis.sampling_fraction(np.array(wrong))


def of(cells):
    return matches.by_number(cells, cells)


def test_special_dis_agrees_with_the_general_form_and_is_seeded():
    cells = np.concatenate(
        [np.arange(100), np.repeat(np.arange(100, 180), 2), np.repeat(np.arange(180, 200), 5)]
    )
    found = dis.special(of(cells), 0.3, np.random.default_rng(1), removed=1, tolerance=0.01)
    assert found.general == pytest.approx(100 * 0.3 / (100 * 0.3 + 160 * 0.7))
    assert found.standard_error <= 0.01
    assert abs(found.difference) < 4
    assert found == dis.special(of(cells), 0.3, np.random.default_rng(1), removed=1, tolerance=0.01)


def test_special_dis_where_nothing_can_be_unique():
    for cells in (np.zeros(0, np.int64), np.full(5, -1), np.zeros(5, np.int64)):
        found = dis.special(of(cells), 0.3, np.random.default_rng(1))
        assert (found.rounds, found.unique_matches) == (0, 0)
        assert math.isnan(found.estimate)
        assert math.isnan(found.difference)


def test_special_dis_where_every_match_is_right():
    found = dis.special(of(np.arange(50)), 0.5, np.random.default_rng(1))
    assert (found.estimate, found.standard_error, found.general) == (1.0, 0.0, 1.0)
    assert found.ended == "exact"


def test_special_dis_is_never_certain_by_chance():
    """Three uniques and a pair among 10,000: in a thousand rounds hardly a match, and often none that is right."""
    cells = np.concatenate([np.arange(3), [3, 3], np.repeat(np.arange(4, 2003), 5)])
    for seed in range(20):
        found = dis.special(of(cells), 0.05, np.random.default_rng(seed), tolerance=0.05)
        assert found.general == pytest.approx(0.15 / (0.15 + 1.9))
        assert 0 < found.standard_error <= 0.05
        assert abs(found.difference) < 4
        assert found.ended == "standard error"


def test_the_error_of_matches_of_one_kind_is_that_with_one_of_the_other_kind():
    """Ten rounds with a wrong match each, and an eleventh with a right one: residuals −1/11, ten times, and 10/11."""
    error = dis._error(np.ones(10), np.zeros(10), by_chance=True)
    assert error == pytest.approx(math.sqrt(11 / 10 * (10 * (1 / 11) ** 2 + (10 / 11) ** 2)) / 11)
    assert dis._error(np.ones(10), np.ones(10), by_chance=True) == pytest.approx(error)
    assert dis._error(np.ones(10), np.zeros(10), by_chance=False) == 0
    assert math.isnan(dis._error(np.zeros(10), np.zeros(10), by_chance=True))


def test_special_dis_says_that_its_rounds_ended_it():
    cells = np.concatenate([np.arange(100), np.repeat(np.arange(100, 180), 2)])
    found = dis.special(of(cells), 0.3, np.random.default_rng(1), tolerance=0.0001, most_rounds=300)
    assert (found.rounds, found.ended) == (300, "rounds")
    assert found.standard_error > 0.0001


@pytest.mark.parametrize(
    ("n_keys", "largest", "weighting", "expected"),
    [
        (4, 3, "elliot", [0, 6, 2, 1]),
        (4, 4, "elliot", [0, 6, 2, 1, 1]),
        (5, 2, "elliot", [0, 12, 3]),
        (1, 1, "elliot", [0, 1]),
        (4, 4, "normalised", [0, 1.75, 0.5, 0.25, 0]),
    ],
)
def test_weights_by_size(n_keys, largest, weighting, expected):
    assert suda.size_weights(n_keys, largest, weighting).tolist() == expected


def test_wrong_sizes_and_weightings_are_errors():
    for n_keys, largest, weighting in ((4, 0, "elliot"), (4, 5, "elliot"), (0, 0, "elliot"), (4, 3, "other")):
        with pytest.raises(ValueError, match=r"size|weighting"):
            suda.size_weights(n_keys, largest, weighting)


def test_suda_of_no_record_and_of_none_that_is_unique():
    for codes in (np.zeros((0, 2), np.int32), np.zeros((3, 2), np.int32), np.full((3, 2), -1, np.int32)):
        found = suda.scores(codes)
        assert found.score.tolist() == [0] * len(codes)
        assert suda.by_variable(found, ["a", "b"])["contribution"].isna().all()
        assert suda.by_size(found)["n_msu"].tolist() == [0, 0]


def test_elliot_manning_hands_on_what_is_above_one():
    """Five uniques and P = 4, f = 0.5: T = 5·2.5/(2.5 + 2) = 25/9; shares 8 : 1 : 1 : 1 : 1, the first capped."""
    score = np.exp(np.array([8.0, 1, 1, 1, 1, 9, 9, 9, 9]))
    sizes = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2])
    found = dis_suda.elliot_manning(score, sizes, 0.5)
    rest = (25 / 9 - 1) / 4
    assert found.risk.tolist() == pytest.approx([1, rest, rest, rest, rest, 0, 0, 0, 0])
    assert (found.n_unique, found.n_in_pairs, found.fraction, found.hazards) == (5, 4, 0.5, ())


def test_elliot_manning_equals_the_rounds_of_the_paper():
    """Handing on the excess step by step, as the source describes it."""
    rng = np.random.default_rng(4)
    logs = rng.exponential(1, 40)
    sizes = np.array([1] * 40 + [2] * 10)
    score = np.concatenate([np.exp(logs), np.zeros(10)])
    left, values = dis.general(40, 10, 0.5) * 40, np.zeros(40)
    for _ in range(1000):
        below = values < 1
        values[below] += left * logs[below] / logs[below].sum()
        left = np.maximum(values - 1, 0).sum()
        values = np.minimum(values, 1)
        if left < 1e-13:
            break
    assert dis_suda.elliot_manning(score, sizes, 0.5).risk[:40] == pytest.approx(values, abs=1e-9)
    assert (values == 1).sum() > 5


def test_every_log_zero_is_shared_equally():
    found = dis_suda.elliot_manning(np.ones(4), np.array([1, 1, 2, 2]), 0.5)
    assert found.risk.tolist() == pytest.approx([0.5, 0.5, 0, 0])
    assert "equal shares" in found.hazards[0]


def test_uniques_without_a_share_take_what_the_others_cannot():
    found = dis_suda.elliot_manning(np.array([9.0, 1, 1, 0, 0]), np.array([1, 1, 1, 2, 2]), 0.9)
    total = 3 * dis.general(3, 2, 0.9)
    assert found.risk.tolist() == pytest.approx([1, (total - 1) / 2, (total - 1) / 2, 0, 0])
    assert "no share" in found.hazards[0]


def test_user_guide_by_hand():
    """Scores 6 and 2 of four keys: Q = 1.2."""
    score, sizes = np.array([6.0, 2, 0, 0]), np.array([1, 1, 2, 2])
    found = dis_suda.user_guide(score, sizes, 0.1, 4)
    adjust = 6**-1.2 + 2**-1.2
    expected = [1 / (1 + 2 * 0.9 / 0.1 / (s**1.2 * adjust)) for s in (6, 2)]
    assert found.risk.tolist() == pytest.approx([*expected, 0, 0])
    assert found.q == pytest.approx(1.2)
    assert found.hazards == ()


def test_hazards_are_flagged_where_they_occur():
    no_pair = dis_suda.user_guide(np.array([6.0, 2]), np.array([1, 1]), 0.1, 4)
    assert no_pair.risk.tolist() == [1, 1]
    assert "No record is in a pair" in no_pair.hazards[0]
    inverted = dis_suda.user_guide(np.array([6.0, 2, 0, 0]), np.array([1, 1, 2, 2]), 0.1, 29)
    assert inverted.risk[0] < inverted.risk[1]
    assert "ranks higher scores lower" in inverted.hazards[0]
    assert dis_suda.user_guide(np.array([6.0, 2, 0, 0]), np.array([1, 1, 2, 2]), 0.1, 28).hazards == ()
    for undefined in (
        dis_suda.elliot_manning(np.zeros(3), np.array([3, 3, 3]), 0.1),
        dis_suda.user_guide(np.zeros(3), np.array([3, 3, 3]), 0.1, 4),
    ):
        assert undefined.risk.tolist() == [0, 0, 0]
        assert "undefined" in undefined.hazards[0]
    scoreless = dis_suda.user_guide(np.array([6.0, 0, 0, 0, 0]), np.array([1, 1, 1, 2, 2]), 0.1, 4)
    assert scoreless.risk.tolist() == pytest.approx([1 / (1 + 2 * 0.9 / 0.1), 0, 0, 0, 0])
    assert scoreless.hazards == (
        "The formula is not defined for the score 0 of 2 sample uniques: 0, and not in the sum.",
    )
    outside = dis_suda.elliot_manning(np.array([6.0, 4, 0, 0]), np.array([1, 0, 2, 2]), 0.1)
    assert outside.risk[1] == 0
    assert "miss a value" in outside.hazards[0]


def test_population_reciprocal():
    population = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, -1]], np.int32)
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, -1]], np.int32)
    assert dis_suda.population_reciprocal(codes, population).tolist() == pytest.approx(
        [0.5, 1, math.nan, math.nan], nan_ok=True
    )


def test_calibration_classes():
    values = np.array([0, 0.05, 0.1, 0.11, 1, 1, 0.5])
    reciprocal = np.array([0.1, 0.2, 0.4, 0.5, 1, 0.5, math.nan])
    table = dis_suda.calibration(values, reciprocal)
    assert len(table) == 12
    assert table["n"].tolist() == [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert table["mean_reciprocal"].tolist()[:3] == pytest.approx([0.1, 0.3, 0.5])
    assert table["mean_reciprocal"].tolist()[-1] == 0.75


def test_match_probability_counts_persons_and_not_cells():
    """Two uniques of the file, one alone in the population and one of nine alike: two right of ten matches."""
    assert dis_suda.match_probability(np.array([1, 1 / 9, math.nan])) == pytest.approx(0.2)
    assert math.isnan(dis_suda.match_probability(np.array([math.nan])))


def test_tenths_hold_equal_values_together():
    values = np.array([0.1] * 15 + [0.2, 0.3, 0.4, 0.5, 0.6])
    table = dis_suda.tenths(values, np.full(20, 0.5))
    assert table["n"].tolist() == [15, 0, 0, 0, 0, 0, 0, 1, 2, 2]
    assert table["mean_dis_suda"].iloc[-1] == pytest.approx(0.55)
    assert table["match_probability"].iloc[0] == 0.5


def test_correlation_of_too_few_or_of_a_constant_is_undefined():
    assert math.isnan(dis_suda.correlation(np.array([0.5]), np.array([1.0])))
    assert math.isnan(dis_suda.correlation(np.array([0.5, 0.5]), np.array([1.0, 0.5])))
    assert dis_suda.correlation(np.array([0.1, 0.2, 9]), np.array([0.5, 1, math.nan])) == pytest.approx(1)


def test_stratified_sample_takes_the_fraction_of_every_stratum():
    strata = np.array(["a"] * 100 + ["b"] * 50)
    taken = numerical_study.stratified_sample(strata, 0.1, np.random.default_rng(1))
    assert np.bincount(taken >= 100).tolist() == [10, 5]
    assert (np.diff(taken) > 0).all()


def test_numerical_study_on_a_small_population():
    rng = np.random.default_rng(2)
    population = (rng.random((3000, 5)) ** 2 * [3, 5, 8, 4, 6]).astype(np.int32)
    strata = np.repeat([0, 1], 1500)
    run = {"fraction": 0.1, "samples": 4}
    found = numerical_study.repeated_samples(population, strata, rng=np.random.default_rng(3), **run)
    assert found.by_sample["n"].tolist() == [300] * 4
    assert found.by_class.groupby("definition")["n"].sum().tolist() == [1200, 1200]
    assert found.by_tenth.groupby("definition")["n"].sum().tolist() == [found.by_sample["uniques"].sum()] * 2
    # DIS estimates the uniques divided by the persons in their cells, and no mean of reciprocals is below that.
    assert found.by_sample["dis"].mean() == pytest.approx(
        found.by_sample["match_probability"].mean(), abs=0.05
    )
    assert (found.by_sample["mean_reciprocal"] >= found.by_sample["match_probability"]).all()
    again = numerical_study.repeated_samples(
        population, strata, rng=np.random.default_rng(3), threads=2, **run
    )
    assert all(one.equals(other) for one, other in zip(found, again, strict=True))


def test_uniques_have_no_share_of_a_probability_that_is_undefined():
    found = dis_suda.elliot_manning(np.array([6.0, 2, 0]), np.array([1, 1, 3]), 0.1, math.nan)
    assert found.risk.tolist() == [0, 0, 0]
    assert "pr(cm|um) is undefined" in found.hazards[0]
    half = dis_suda.elliot_manning(np.array([6.0, 6, 0]), np.array([1, 1, 3]), 0.1, 0.5)
    assert half.risk.tolist() == pytest.approx([0.5, 0.5, 0])
    assert (half.dis, half.hazards) == (0.5, ())


def test_sets_of_sixty_variables_in_words():
    """Records 0 and 1 are alike but for the first and the last of 60 variables, record 2 but for all."""
    codes = np.zeros((3, 60), np.int32)
    codes[1, [0, 59]], codes[2] = 1, 2
    names = [f"k{j}" for j in range(60)]
    found = suda.scores(codes, max_order=2)
    assert suda.in_words(found.msus.variables, names) == ["k0", "k0", "k0"]
    assert found.msus.counts[:, 1].tolist() == [2, 2, 60]
    codes = np.vstack([codes, codes[2], codes[0]])
    codes[4, 59] = 1
    found = suda.scores(codes, max_order=2)
    assert suda.in_words(found.msus.variables, names) == ["k59", "k0", "", "", "k0 × k59"]


@pytest.mark.parametrize("weighting", ["elliot", "normalised"])
@pytest.mark.parametrize(("n_keys", "largest"), [(58, 6), (60, 7), (60, 4)])
def test_weights_of_many_key_variables_are_finite_and_fall(weighting, n_keys, largest):
    weights = suda.size_weights(n_keys, largest, weighting)[1:]
    assert np.isfinite(weights).all()
    assert (np.diff(weights) < 0).all()
    if weighting == "elliot":
        assert weights[-1] == n_keys - largest
    else:
        assert weights[0] == float(Fraction(2 ** (n_keys - 1) - 1, n_keys))


def test_user_guide_with_scores_whose_powers_are_too_large():
    """Q = 1 + (8 − 256)/20: the lowest score has the largest power of Q, and risk follows its ratios."""
    score, sizes = np.array([1e70, 1e76, 2e70, 0, 0]), np.array([1, 1, 1, 2, 2])
    found = dis_suda.user_guide(score, sizes, 0.5, 256)
    q = Fraction(20 - 248, 20)
    relative = [float(Fraction(int(s)) / 10**70) ** float(q) for s in score[:3]]
    expected = [1 / (1 + 2 / (r * sum(1 / x for x in relative))) for r in relative]
    assert found.risk[:3] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(found.risk).all()
