"""Whether the confidential file and the holdout are parts of one file: all labellings, and trials (METHODS §8.1)."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.closest import LEVEL, PEOPLE, margins, measured, people, rows_of, rules_of, table
from making.examples import examples
from oracles import premise as oracle
from reident.distances import measure as closest
from reident.distances import premise

CELLS = {
    True: [[None, 0.0, 1.0, 3.0], [1.0], [None, 0.1, 0.2, 0.3, 1e6], [-2.5, 2.5, 1e-9], [None], list(range(12))],
    False: [["a"], ["a", "b", "c"], [None, "a", "b"], [None]],
}


@st.composite
def pairs_of_files(draw, most):
    """(numeric, confidential, holdout): few values, so that records tie; missing values; one record."""
    numeric = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    cells = [draw(st.sampled_from(CELLS[is_number])) for is_number in numeric]
    row = st.tuples(*map(st.sampled_from, cells)).map(list)
    return numeric, *(draw(st.lists(row, min_size=1, max_size=most)) for _ in range(2))


def compared(numeric, confidential, holdout, threads=1, **changes):
    """The table of the comparison, without a synthetic file."""
    rules = replace(rules_of(numeric), **changes)
    files = closest.encode(rules, [table(numeric, rows) for rows in (confidential, holdout)])
    both = closest.united(*files)
    return premise.compare(rules, closest.around(rules, both, tuple(files), threads=threads))


@given(pairs_of_files(6))
@examples(150)
def test_every_number_is_that_of_all_labellings(files):
    found = compared(*files)
    statistics, means, deviations, probabilities = oracle.compare(*files)
    assert found["statistic"].tolist() == pytest.approx(statistics, abs=1e-8)
    assert found["expected"].tolist() == pytest.approx(means, abs=1e-8)
    assert found["deviation"].tolist() == pytest.approx(deviations, abs=1e-8)
    assert found["probability"].tolist() == pytest.approx(probabilities, abs=1e-12)
    assert found["differs"].tolist() == [p <= 1 - LEVEL + 1e-9 for p in probabilities]


@given(pairs_of_files(30))
@examples(60)
def test_drawn_relabellings_have_the_moments_of_all(files):
    """The expectations are known; draws differ from them by at most six standard errors."""
    numeric, confidential, holdout = files
    found = compared(*files)
    n_x, n_h = len(confidential), len(holdout)
    n = n_x + n_h
    near = oracle.neighbours(numeric, confidential + holdout)
    columns = zip(numeric, zip(*(confidential + holdout), strict=True), strict=True)
    expected = [(n_x * (n_x - 1) + n_h * (n_h - 1)) / (n * (n - 1)) if any(near) else 0.0]
    expected += [sum(len(group) < n for group in oracle.groups(*column)) for column in columns]
    for line, mean in zip(found.itertuples(), expected, strict=True):
        assert line.expected == pytest.approx(mean, abs=6 * line.deviation / math.sqrt(premise.MIN_DRAWS) + 1e-7)
    assert found["statistic"].iloc[0] == pytest.approx(float(oracle.share_of_own(near, set(range(n_x)))), abs=1e-8)


@given(pairs_of_files(30), st.randoms(use_true_random=False))
@examples(60)
def test_no_number_depends_on_the_order_of_rows_or_on_threads(files, random):
    numeric, *rows = files
    before = compared(numeric, *rows)
    for file in rows:
        random.shuffle(file)
    assert compared(numeric, *rows, threads=2).equals(before)


def test_a_higher_level_has_more_relabellings():
    """A difference that no relabelling reaches is beyond chance at any level."""
    draw = np.random.default_rng(3)
    files = draw.normal(0, 1, (60, 1)).tolist(), draw.normal(4, 1, (60, 1)).tolist()
    for level in (0.95, 0.999):
        assert compared([True], *files, level=level)["differs"].all(), level


def bent(draw, n, correlation):
    """Two amounts that are related, each with the same distribution whatever the relation."""
    first, other = draw.normal(size=(2, n))
    return np.column_stack([first, correlation * first + math.sqrt(1 - correlation**2) * other]).tolist()


def test_a_difference_in_what_occurs_together_shows_in_the_neighbours_alone():
    draw = np.random.default_rng(5)
    found = compared([True, True], bent(draw, 600, 0.95), bent(draw, 600, 0))
    assert found["differs"].tolist() == [True, False, False]
    (warning,) = premise.warnings(found)
    assert warning.code == "holdout_differs_jointly"


def test_a_warning_names_the_variables_that_differ():
    draw = np.random.default_rng(6)
    found = compared([True, True], bent(draw, 600, 0), [[a, b + 1] for a, b in bent(draw, 600, 0)])
    (warning,) = premise.warnings(found)
    assert (warning.code, warning.fields["names"]) == ("holdout_differs", "v1")
    assert not premise.warnings(pd.DataFrame(found).assign(differs=False))


def amounts(draw, n, v, shift=0.0):
    """Amounts with something in common; the first is shifted in standard deviations."""
    values = math.sqrt(0.4) * draw.normal(size=(n, 1)) + math.sqrt(0.6) * draw.normal(size=(n, v))
    values[:, 0] += shift
    return values


def without_memory(draw, file):
    """A normal distribution that is fitted to the file, a tenth of a deviation away from it in the first amount."""
    mean = file.mean(axis=0)
    mean[0] -= 0.1
    return draw.multivariate_normal(mean, np.cov(file.T), len(file))


def read(confidential, synthetic, holdout):
    """(comparable, memory) of files of amounts: memory as a share or copies show it, whatever the holdout is."""
    line = measured([True] * confidential.shape[1], *(f.tolist() for f in (confidential, synthetic, holdout)))
    own = line.closest.iloc[0]
    return own["comparable"], own["nearer"] or own["copied"]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_held", "v"), [(1000, 1000, 3), (2000, 1000, 4)])
def test_of_12_shifted_holdouts_none_is_read_as_memory(n, n_held, v):
    """Without the comparison of the files, some of them would be."""
    outcomes = []
    for seed, shift in enumerate(np.linspace(0.35, 0.6, 12)):
        draw = np.random.default_rng([8, n, seed])
        confidential, holdout = amounts(draw, n, v), amounts(draw, n_held, v, shift)
        outcomes.append(read(confidential, without_memory(draw, confidential), holdout))
    assert not any(comparable for comparable, _ in outcomes)
    assert sum(memory for _, memory in outcomes) >= 4


@pytest.mark.slow
def test_of_50_random_parts_a_few_are_accused():
    """At most the level but for two standard errors: of files that differ, and of memory."""
    outcomes = []
    for seed in range(50):
        draw = np.random.default_rng([9, seed])
        file = rows_of(people(draw, 1200))
        confidential, holdout = file[:600], file[600:]
        synthetic = rows_of(margins(draw, people(draw, 600)))
        own = measured(PEOPLE, confidential, synthetic, holdout).closest.iloc[0]
        outcomes.append((own["comparable"], own["nearer"] or own["copied"]))
    most = 50 * (1 - LEVEL) + 2 * math.sqrt(50 * LEVEL * (1 - LEVEL))
    assert sum(not comparable for comparable, _ in outcomes) <= most
    assert sum(memory and comparable for comparable, memory in outcomes) <= most


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_copies_are_seen_beside_random_parts(share):
    seen = 0
    for seed in range(10):
        draw = np.random.default_rng([10, seed])
        file = amounts(draw, 1600, 3)
        confidential, holdout = file[:800], file[800:]
        synthetic = without_memory(draw, confidential)
        n = int(share * len(confidential))
        synthetic[:n] = confidential[:n] + draw.normal(0, 0.01, (n, 3))
        comparable, memory = read(confidential, synthetic, holdout)
        seen += comparable and memory
    assert seen >= 9
