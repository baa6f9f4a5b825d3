"""Distances to the closest record where the answer is known: a synthesis that copies, and others (METHODS §8.1)."""

import numpy as np
import pytest
from making.closest import PEOPLE, margins, measured, people, rows_of

pytestmark = [pytest.mark.slow, pytest.mark.long]

N = 5_000


def judged(*files):
    """The line of confidential, synthetic and held out people."""
    return measured(PEOPLE, *map(rows_of, files)).closest.iloc[0]


def test_a_synthesis_that_copies_one_percent_is_seen_in_50_of_50():
    seen = 0
    for seed in range(50):
        draw = np.random.default_rng([1, seed])
        confidential, holdout = people(draw, N), people(draw, N)
        synthetic = margins(draw, confidential)
        synthetic[: N // 100] = confidential[draw.choice(N, N // 100, replace=False)]
        line = judged(confidential, synthetic, holdout)
        seen += line["copied"] or line["nearer"]
    assert seen == 50


def test_a_synthesis_that_resamples_margins_is_accused_in_at_most_5_percent_of_200():
    accused = covered = 0
    for seed in range(200):
        draw = np.random.default_rng([2, seed])
        confidential, holdout = people(draw, N), people(draw, N)
        line = judged(confidential, margins(draw, confidential), holdout)
        accused += line["copied"] or line["nearer"]
        covered += line["low"] <= 0 <= line["high"]
    assert accused <= 10
    assert covered >= 180
