"""Waves of simulated panels: right pairs are not accused, and mistakes that lose people are told (METHODS §1.1)."""

from collections import Counter

import numpy as np
import pytest
from making import descriptions, panels

UNSEEN = ("people_of_another_sample", "part_recoded", "links_unique_join")
"""Kinds that no check of three files can see, or can see only in part (docs/how-to/pitfalls.md)."""

FEW = 0.2
"""A share of right best guesses up to which strangers fit as well as partners, so that nobody misses a link."""

LEVELS = {"": 0, "notable": 1, "understates": 2, "invalidates": 3}


def told(study: descriptions.Described) -> dict[tuple[str, str, str], int]:
    """How grave each warning of a study is, by scope, check and proposal."""
    lines = descriptions.checked(study)
    return {
        (line.scope, line.check, line.proposal): LEVELS[line.severity] for line in lines.itertuples() if line.severity
    }


def accused(study: descriptions.Described) -> bool:
    """Whether a right description has a grave warning; people who moved to another stratum are a fact."""
    return any(level > 1 and check != "links_outside" for (_, check, _), level in told(study).items())


@pytest.mark.slow
def test_right_waves_of_panels_are_hardly_ever_accused():
    pairs = [panels.draw(np.random.default_rng([31, at]), name) for at in range(2) for name in panels.PANELS]
    assert len(pairs) >= 30
    assert sum(map(accused, pairs)) <= 1


@pytest.mark.slow
def test_right_drawn_files_are_hardly_ever_accused():
    drawn = [descriptions.draw(np.random.default_rng([32, at])) for at in range(60)]
    assert sum(map(accused, drawn)) <= 1


@pytest.mark.slow
def test_mistakes_in_panels_that_lose_people_are_told():
    lost, silent = Counter[bool](), Counter[bool]()
    for kind in sorted(set(panels.MISTAKES) - set(UNSEEN)):
        rng = np.random.default_rng([33, sum(map(ord, kind))])
        right = panels.draw(rng, list(panels.PANELS)[int(rng.integers(len(panels.PANELS)))])
        wrong = panels.MISTAKES[kind](rng, right)
        found = [panels.best_guesses(study, np.random.default_rng(1)) for study in (right, wrong)]
        if found[1] <= 0.9 * found[0] and found[0] > FEW * len(right.links):
            usual, half = told(right), found[1] <= 0.5 * found[0]
            lost[half] += 1
            names = set() if len(right.eif) != len(wrong.eif) else panels.differing(right, wrong)
            silent[half] += not any(level > usual.get(key, 0) or key[0] in names for key, level in told(wrong).items())
    assert silent[True] == 0
    assert 10 * silent.total() <= lost.total()
    assert lost.total() >= 25
