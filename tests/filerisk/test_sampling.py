"""DIS against the truth in populations that are fully known: incomplete keys, sampling error, perturbed files."""

import math

import numpy as np
import pytest
from making import samples
from making.samples import attacked, drawn, population
from reident.filerisk import dis, matches, uniques, wildcards

INCOMPLETE = [0, 0.1, 0.27, 0.5]


def columns(make, people, fraction, incomplete, n, seed):
    """The fields of n samples, each as an array."""
    draws = [make(people, fraction, incomplete, draw) for draw in np.random.default_rng(seed).spawn(n)]
    return [np.array(column) for column in zip(*draws, strict=True)]


def errors_away(estimate, truth):
    """The mean difference from the truth in standard errors of that mean."""
    difference = estimate - truth
    return difference.mean() / (difference.std(ddof=1) / math.sqrt(len(difference)))


def check_interval(low, high, truth):
    """It is an interval of the probability over all samples, and contains that of each sample less often."""
    expected = truth.mean()
    assert 0.93 <= ((low <= expected) & (expected <= high)).mean() <= 0.99
    assert 0.87 <= ((low <= truth) & (truth <= high)).mean() <= 0.97


@pytest.mark.parametrize("incomplete", INCOMPLETE)
def test_dis_is_within_two_standard_errors_of_the_truth(incomplete):
    estimate, uncorrected, _, _, _, truth = columns(drawn, population(8_000), 0.3, incomplete, 60, 3)
    assert abs(errors_away(estimate, truth)) <= 2
    if incomplete:
        assert errors_away(uncorrected, truth) > 5
    else:
        assert (estimate == uncorrected).all()


def test_the_special_form_is_within_two_standard_errors_of_the_truth_with_incomplete_keys():
    people, found = population(8_000), []
    for draw in np.random.default_rng(4).spawn(15):
        codes = samples.sampled(people, 0.3, 0.27, draw)
        in_cells = dis.of_cells(0.3, float((codes >= 0).all(axis=1).mean()))
        special = dis.special(matches.by_cell(codes), in_cells, draw, tolerance=0.01)
        found.append((special.estimate, samples.true_probability(codes, people)))
    assert abs(errors_away(*np.array(found).T)) <= 2


@pytest.mark.long
@pytest.mark.parametrize("incomplete", INCOMPLETE)
def test_dis_its_error_and_its_interval_over_a_thousand_samples(incomplete):
    estimate, uncorrected, error, low, high, truth = columns(drawn, population(), 0.05, incomplete, 1000, 7)
    assert abs(errors_away(estimate, truth)) <= 2
    assert incomplete == 0 or errors_away(uncorrected, truth) > 20
    # The standard error of a variance of 1,000 values is 4.5 %.
    assert (estimate - truth).var(ddof=1) / (error**2).mean() == pytest.approx(1, abs=0.1)
    check_interval(low, high, truth)


@pytest.mark.parametrize("incomplete", [0, 0.27])
def test_the_sampling_error_is_the_empirical_one(incomplete):
    estimate, _, error, low, high, truth = columns(drawn, population(8_000), 0.3, incomplete, 200, 5)
    # The standard error of a variance of 200 values is 10 %.
    assert (estimate - truth).var(ddof=1) / (error**2).mean() == pytest.approx(1, abs=0.25)
    check_interval(low, high, truth)


def test_the_variance_is_that_of_the_formula():
    """v = f²n₁²·{2(1 − f)(2 − f)n₂ + 6(1 − f)²n₃} / {f·n₁ + 2(1 − f)n₂}⁴ for 50 uniques, 20 pairs, 10 triples."""
    f, n1, n2, n3 = 0.2, 50, 20, 10
    expected = f**2 * n1**2 * (2 * (1 - f) * (2 - f) * n2 + 6 * (1 - f) ** 2 * n3)
    expected /= (f * n1 + 2 * (1 - f) * n2) ** 4
    assert dis.sampling_error(n1, 2 * n2, 3 * n3, f) == pytest.approx(math.sqrt(expected))


@pytest.mark.parametrize(
    ("fraction", "complete", "of_population", "expected"),
    [(0.1, 1.0, 1.0, 0.1), (0.1, 0.73, 1.0, 0.073), (0.1, 0.0, 1.0, 0.1), (0.1, 0.7, 0.7, 0.1), (1.0, 0.8, 0.7, 1.0)],
)
def test_the_sampling_fraction_of_the_cells(fraction, complete, of_population, expected):
    assert dis.of_cells(fraction, complete, of_population) == pytest.approx(expected)


@pytest.mark.parametrize("incomplete", [0.1, 0.5])
def test_dis_with_wildcards_is_within_two_standard_errors_of_the_truth(incomplete):
    """Every person of the population is matched, by a complete key, with records that match every missing value."""
    people, found = population(3_000), []
    for draw in np.random.default_rng(9).spawn(25):
        taken = np.flatnonzero(draw.random(len(people)) < 0.3)
        codes = samples.with_missing(people[taken], incomplete, draw)
        unique = wildcards.matches(people, codes) == 1
        truth = unique[taken].sum() / unique.sum()
        found.append((dis.of_file(codes, uniques.cell_sizes(codes, wildcard=True), 0.3), truth))
    assert abs(errors_away(*np.array(found).T)) <= 2


@pytest.mark.parametrize("incomplete", [0, 0.27])
def test_perturbation_aware_dis_is_within_two_standard_errors_of_the_attack(incomplete):
    by_file, by_original, truth = columns(attacked, population(8_000), 0.3, incomplete, 60, 6)
    assert abs(errors_away(by_original, truth)) <= 2
    assert errors_away(by_file, truth) > 5
