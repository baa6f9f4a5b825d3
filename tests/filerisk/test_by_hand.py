"""Risk of one file: cells, DIS, SUDA's weights, DIS-SUDA, by cases that a reader can check by hand."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from reident.filerisk import dis, dis_suda, matches, numerical_study, suda
from reident.filerisk.prepare import STRATUM
from reident.filerisk.settings import SamplingSettings


def test_sampling_fraction_from_weights():
    assert dis.sampling_fraction(np.array([40.0, 60.0])) == pytest.approx(0.02)
    for wrong in ([], [np.nan, 5.0], [-1.0, 9.0], [0.5, 0.5]):
        with pytest.raises(ValueError, match="weights"):
            dis.sampling_fraction(np.array(wrong))


def of(cells):
    return matches.by_number(cells, cells)


def test_special_dis_agrees_with_the_general_form_and_is_seeded():
    cells = np.concatenate([np.arange(100), np.repeat(np.arange(100, 180), 2), np.repeat(np.arange(180, 200), 5)])
    found = dis.special(of(cells), 0.3, np.random.default_rng(1), removed=1, tolerance=0.01)
    assert found.general == pytest.approx(100 * 0.3 / (100 * 0.3 + 160 * 0.7))
    assert found.standard_error <= 0.01
    assert abs(found.difference) < 4
    assert found == dis.special(of(cells), 0.3, np.random.default_rng(1), removed=1, tolerance=0.01)


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
    error, by_chance = dis._error(np.ones(10), np.zeros(10))
    assert by_chance
    assert error == pytest.approx(math.sqrt(11 / 10 * (10 * (1 / 11) ** 2 + (10 / 11) ** 2)) / 11)
    assert dis._error(np.ones(10), np.ones(10)) == pytest.approx((error, True))
    one_round = np.array([2, 0, 0]), np.array([1, 0, 0])
    assert dis._error(*one_round)[0] > 0, "a round with two matches, of which one is right, is no certainty"
    assert math.isnan(dis._error(np.zeros(10), np.zeros(10))[0])


def test_wrong_sizes_and_weightings_are_errors():
    for n_keys, largest, weighting in ((4, 0, "elliot"), (4, 5, "elliot"), (0, 0, "elliot"), (4, 3, "other")):
        with pytest.raises(ValueError, match=r"size|weighting"):
            suda.size_weights(n_keys, largest, weighting)


def test_elliot_manning_hands_on_what_is_above_one():
    """Five uniques and P = 4, f = 0.5: T = 5·2.5/(2.5 + 2) = 25/9; shares 8 : 1 : 1 : 1 : 1, the first capped."""
    score = np.append(np.exp([8.0, 1, 1, 1, 1]), np.zeros(4))
    sizes = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2])
    found = dis_suda.elliot_manning(score, sizes, 0.5, dis.general(5, 4, 0.5))
    rest = (25 / 9 - 1) / 4
    assert found.risk.tolist() == pytest.approx([1, rest, rest, rest, rest, 0, 0, 0, 0])
    assert (found.n_unique, found.n_in_pairs, found.fraction, found.hazards) == (5, 4, 0.5, ())


def test_elliot_manning_equals_the_rounds_of_the_paper():
    """Handing on the excess step by step, as the source describes it."""
    rng = np.random.default_rng(4)
    logs = rng.exponential(1, 40)
    sizes = np.array([1] * 40 + [2] * 10)
    score = np.concatenate([np.exp(logs), np.zeros(10)])
    general = dis.general(40, 10, 0.5)
    left, values = general * 40, np.zeros(40)
    for _ in range(1000):
        below = values < 1
        values[below] += left * logs[below] / logs[below].sum()
        left = np.maximum(values - 1, 0).sum()
        values = np.minimum(values, 1)
        if left < 1e-13:
            break
    assert dis_suda.elliot_manning(score, sizes, 0.5, general).risk[:40] == pytest.approx(values, abs=1e-9)
    assert (values == 1).sum() > 5


def test_match_probability_counts_persons_and_not_cells():
    """Two uniques of the file, one alone in the population and one of nine alike: two right of ten matches."""
    assert dis_suda.match_probability(np.array([1, 1 / 9, math.nan])) == pytest.approx(0.2)
    assert math.isnan(dis_suda.match_probability(np.array([math.nan])))


def test_numerical_study_on_a_small_population():
    rng = np.random.default_rng(2)
    population = (rng.random((3000, 5)) ** 2 * [3, 5, 8, 4, 6]).astype(np.int32)
    strata = np.repeat([0, 1], 1500)
    names = tuple("abcde")
    options = SamplingSettings(names, 0.1, 4, 3, "elliot", None, wildcard=False)
    table = pa.table({**dict(zip(names, population.T, strict=True)), STRATUM: strata})
    found = numerical_study.run(options, table)
    assert found.by_sample["n"].tolist() == [300] * 4
    assert found.by_class.groupby("definition")["n"].sum().tolist() == [1200, 1200]
    assert found.by_tenth.groupby("definition")["n"].sum().tolist() == [found.by_sample["uniques"].sum()] * 2
    # DIS estimates the uniques divided by the persons in their cells, and no mean of reciprocals is below that.
    assert found.by_sample["dis"].mean() == pytest.approx(found.by_sample["match_probability"].mean(), abs=0.05)
    assert (found.by_sample["mean_reciprocal"] >= found.by_sample["match_probability"]).all()
    again = numerical_study.run(options, table, threads=2)
    assert all(one.equals(other) for one, other in zip(found, again, strict=True))


def test_user_guide_with_scores_whose_powers_are_too_large():
    """Q = 1 + (8 − 256)/20: the lowest score has the largest power of Q, and risk follows its ratios."""
    score, sizes = np.array([1e70, 1e76, 2e70, 0, 0]), np.array([1, 1, 1, 2, 2])
    found = dis_suda.user_guide(score, sizes, 0.5, 256, dis.general(3, 2, 0.5))
    q = Fraction(20 - 248, 20)
    relative = [float(Fraction(int(s)) / 10**70) ** float(q) for s in score[:3]]
    expected = [1 / (1 + 2 / (r * sum(1 / x for x in relative))) for r in relative]
    assert found.risk[:3] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(found.risk).all()
