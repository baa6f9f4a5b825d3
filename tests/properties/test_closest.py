"""Distances to the closest record: what a loop over all pairs says, and where synthesis copies (METHODS §8.1)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.closest import LEVEL, PEOPLE, margins, measured, people, rows_of
from making.examples import examples
from oracles import closest as oracle
from reident.kernels import euclidean
from scipy.special import stdtrit


@st.composite
def studies(draw):
    """(numeric, confidential, synthetic, holdout): few values, so that records tie; copies; missing values."""
    numeric = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    cells = {
        True: draw(
            st.sampled_from(
                [[None, 0.0, 1.0, 3.0], [1.0], [None, 0.1, 0.2, 0.3, 1e6], [-2.5, 2.5, 1e-9], [None]]
            )
        ),
        False: draw(st.sampled_from([["a"], ["a", "b", "c"], [None, "a", "b"], [None]])),
    }
    row = st.tuples(*(st.sampled_from(cells[is_number]) for is_number in numeric)).map(list)
    n = draw(st.integers(1, 9))
    confidential = draw(st.lists(row, min_size=n, max_size=n))
    copied = draw(st.lists(st.one_of(row, st.sampled_from(confidential)), min_size=n, max_size=n))
    return numeric, confidential, copied, draw(st.lists(row, max_size=9))


@given(studies())
@examples(300)
def test_every_number_is_that_of_all_pairs(drawn):
    numeric, confidential, synthetic, holdout = drawn
    found = measured(*drawn)
    line, distances = oracle.measure(
        numeric, confidential, synthetic, holdout, lambda k: stdtrit(k, (1 + LEVEL) / 2)
    )
    own = found.closest.iloc[0]
    for name, value in line.items():
        if value is None:
            assert math.isnan(own.get(name, math.nan)), name
        else:
            assert own[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    assert found.records["confidential"].to_pylist() == distances[0]
    if not holdout:
        assert found.records["holdout"].null_count == len(synthetic)
        assert not {"share", "low", "alone_probability"} & set(found.closest)
        assert not found.closest[["nearer", "copied"]].any(axis=None)
        return
    assert found.records["holdout"].to_pylist() == distances[1]
    for percent in (0, 5, 50, 100):
        for values, name in zip(distances, ("confidential", "holdout"), strict=True):
            shown = found.distances.set_index("percent").at[percent, name]
            assert shown == pytest.approx(oracle.percentile(values, percent), abs=1e-15)
    ties = max(0.0, 0.5 - line["expected"]) * line["n_tied"] / len(synthetic)
    assert own["nearer"] == (own["low"] > ties)
    assert own["copied"] == (line["alone_probability"] <= (1 - LEVEL) / 2)


@given(studies(), st.randoms(use_true_random=False))
@examples(100)
def test_no_number_depends_on_the_order_of_rows_or_on_threads(drawn, random):
    numeric, *files = drawn
    before = measured(numeric, *files)
    for file in files:
        random.shuffle(file)
    after = measured(numeric, *files, threads=2)
    assert before.closest.equals(after.closest)
    assert before.distances.equals(after.distances)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans())
@examples(60)
def test_of_several_nearest_records_the_first_counts_in_files_of_many_leaves(seed, n_codes, numbers):
    """A few hundred records fill several boxes of the search, which must not lose a tie."""
    draw = np.random.default_rng(seed)
    puf, eif = (draw.integers(0, n_codes, (n, 2)) for n in (20, 700))
    eif = np.unique(eif, axis=0)
    numeric = np.full(2, numbers)
    codes = [np.where(numeric, -1, file).astype(np.int32) for file in (puf, eif)]
    values = [np.where(numeric, file, np.nan).astype(float) for file in (puf, eif)]
    spread = np.array([1.0, 3.0])
    levels, place = euclidean.two_nearest(*codes, *values, spread, numeric=numeric, alpha=0.5, scale=10**12)
    rows = [[float(x) for x in row] for row in eif]
    for at, row in enumerate(puf):
        scores = [oracle.score(numeric, spread, [float(x) for x in row], other) for other in rows]
        first, second = (
            sorted((own, k) for k, own in enumerate(scores))[:2]
            if len(scores) > 1
            else ((scores[0], 0), (-1, 0))
        )
        assert (levels[at].tolist(), place[at]) == ([first[0], second[0]], first[1])


@pytest.mark.parametrize(
    ("numeric", "confidential", "synthetic", "holdout", "interval"),
    [
        ([True], [[1.0]], [[1.0]], [[2.0]], (-0.5, 0.5)),
        ([False], [["a"]] * 4, [["a"]] * 4, [["a"]] * 4, (-0.5, 0.5)),
        ([False], [[None]] * 3, [[None]] * 3, [["a"]] * 6, (-1 / 3, 2 / 3)),
        ([True], [[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]], [[9.0]] * 3, (-0.5, 0.5)),
    ],
    ids=["one record", "all identical", "all missing", "three copies"],
)
def test_a_few_records_show_no_memory(numeric, confidential, synthetic, holdout, interval):
    line = measured(numeric, confidential, synthetic, holdout).closest.iloc[0]
    assert (line["low"], line["high"]) == pytest.approx(interval)
    assert not line["nearer"]
    assert not line["copied"]


N = 5_000


def judged(*files):
    """The line of confidential, synthetic and held out people."""
    return measured(PEOPLE, *map(rows_of, files)).closest.iloc[0]


@pytest.mark.slow
@pytest.mark.long
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


@pytest.mark.slow
@pytest.mark.long
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
