"""Distances to the closest record: what a loop over all pairs says, and where synthesis copies (METHODS §8.1)."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.closest import LEVEL, PEOPLE, margins, measured, people, rows_of
from making.examples import examples
from oracles import closest as oracle
from reident.kernels import euclidean
from reident.matching import relabelling


@st.composite
def studies(draw):
    """(numeric, confidential, synthetic, holdout): few values, so that records tie; copies; missing values."""
    numeric = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    cells = {
        True: draw(
            st.sampled_from([[None, 0.0, 1.0, 3.0], [1.0], [None, 0.1, 0.2, 0.3, 1e6], [-2.5, 2.5, 1e-9], [None]])
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
    line, distances = oracle.measure(numeric, confidential, synthetic, holdout)
    own = found.closest.iloc[0]
    for name, value in line.items():
        if value is None:
            assert math.isnan(own.get(name, math.nan)), name
        else:
            assert own[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    assert found.records["confidential"].to_pylist() == distances[0]
    if not holdout:
        assert found.records["holdout"].null_count == len(synthetic)
        assert not {"share", "alone_probability"} & set(found.closest)
        assert found.nearness.empty
        assert not found.closest[["nearer", "copied"]].any(axis=None)
        return
    assert found.records["holdout"].to_pylist() == distances[1]
    for percent in (0, 5, 50, 100):
        for values, name in zip(distances, ("confidential", "holdout"), strict=True):
            shown = found.distances.set_index("percent").at[percent, name]
            assert shown == pytest.approx(oracle.percentile(values, percent), abs=1e-15)
    spreads = oracle.spreads_of(numeric, synthetic)
    for tail in found.nearness.itertuples():
        n, cut, share, deviation, _ = oracle.nearness(numeric, spreads, confidential, synthetic, holdout, tail.percent)
        assert (tail.n_records, tail.distance) == (n, cut / 1e12)
        assert (tail.share, tail.deviation) == pytest.approx((float(share), deviation), rel=1e-9, abs=1e-12)
        assert tail.nearer == (tail.probability <= (1 - LEVEL) / 2)
        assert tail.nearer == (tail.share > tail.high + 1e-12)
    assert own["nearer"] == found.nearness["nearer"].any()
    assert own["copied"] == (line["alone_probability"] <= (1 - LEVEL) / 2)


@given(studies())
@examples(60)
def test_a_probability_is_that_of_all_labellings(drawn):
    """Within what 9,999 draws can tell: five standard errors."""
    numeric, confidential, synthetic, holdout = drawn
    if not holdout or len(confidential) + len(holdout) > 12:
        return
    spreads = oracle.spreads_of(numeric, synthetic)
    for tail in measured(*drawn).nearness.itertuples():
        weights = oracle.nearness(numeric, spreads, confidential, synthetic, holdout, tail.percent)[-1]
        exact = float(oracle.tail_of(weights, len(confidential)))
        assert tail.probability == pytest.approx(
            min(1, 3 * exact), abs=15 * math.sqrt(exact * (1 - exact) / 9999) + 3e-4
        )


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
    assert before.nearness.equals(after.nearness)


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
            sorted((own, k) for k, own in enumerate(scores))[:2] if len(scores) > 1 else ((scores[0], 0), (-1, 0))
        )
        assert (levels[at].tolist(), place[at]) == ([first[0], second[0]], first[1])


def digits(draw, n, v):
    """Records of v categories with three values, of which very many are equally near."""
    return draw.integers(0, 3, (n, v)).astype(str).tolist()


@pytest.mark.parametrize(("n", "n_held", "v"), [(400, 100, 4), (700, 1500, 6), (300, 300, 9)])
def test_all_nearest_records_count_in_files_of_many_leaves(n, n_held, v):
    """By all pairs in numpy."""
    draw = np.random.default_rng(n)
    files = digits(draw, n, v), digits(draw, n, v), digits(draw, n_held, v)
    confidential, synthetic, everyone = (np.array(rows) for rows in (*files[:2], files[0] + files[2]))
    apart = (synthetic[:, None] != everyone[None]).sum(axis=2)
    least = apart.min(axis=1, keepdims=True)
    is_near = apart == least
    cut = np.sort(least[:, 0])[math.ceil(0.05 * n) - 1]
    shares = is_near[:, : len(confidential)].sum(axis=1) / is_near.sum(axis=1)
    found = measured([False] * v, *files, threads=2).nearness.set_index("percent")["share"]
    assert found[100] == pytest.approx(shares.mean(), rel=1e-12)
    assert found[5] == pytest.approx(shares[least[:, 0] <= cut].mean(), rel=1e-12)


def test_weights_of_very_many_kinds_are_rounded():
    """To four bits, so that what is drawn has few classes; what is tested then differs little."""
    draw = np.random.default_rng(3)
    weights = draw.integers(1, 2**40, 20_000)
    times = np.stack([np.arange(20_000) % 2, 1 - np.arange(20_000) % 2])
    found = relabelling.judge(weights, times, float(weights.sum()), LEVEL, 1, [1, 1])
    assert (found.high - 0.5) / found.deviation == pytest.approx(1.96, abs=0.06)
    assert (0.5 - found.low) / found.deviation == pytest.approx(1.96, abs=0.06)


def test_memory_is_seen_with_many_files_as_with_one():
    """More files need more relabellings, since the level of each test is lower."""
    weights, times = (np.full(400, 2**20), np.stack([np.arange(400) < 200, np.arange(400) >= 200]).astype(np.int64))
    for n_tests in (3, 3000):
        found = relabelling.judge(weights * times[0], times, float(200 * 2**20), LEVEL, n_tests, [1, 1])
        assert found.beyond, n_tests
        assert found.probability <= 0.025, n_tests


@pytest.mark.parametrize(
    ("numeric", "confidential", "synthetic", "holdout", "band"),
    [
        ([True], [[1.0]], [[1.0]], [[2.0]], (0, 1)),
        ([False], [["a"]] * 4, [["a"]] * 4, [["a"]] * 4, (0.5, 0.5)),
        ([False], [[None]] * 3, [[None]] * 3, [["a"]] * 6, (1 / 3, 1 / 3)),
        ([True], [[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]], [[9.0]] * 3, (0, 1)),
    ],
    ids=["one record", "all identical", "all missing", "three copies"],
)
def test_a_few_records_show_no_memory(numeric, confidential, synthetic, holdout, band):
    found = measured(numeric, confidential, synthetic, holdout)
    last = found.nearness.iloc[-1]
    assert (last["low"], last["high"]) == pytest.approx(band)
    assert not found.closest.iloc[0][["nearer", "copied"]].any()


def tied_people(draw, n):
    """Incomes in thousands and two categories."""
    columns = np.round(np.exp(draw.normal(3.5, 0.6, n))), draw.integers(0, 3, n), draw.integers(0, 4, n)
    return [[float(a), str(b), str(c)] for a, b, c in zip(*columns, strict=True)]


def test_ties_do_not_move_the_share_whatever_the_sizes_of_the_files():
    """The mean of 40 draws without memory is the expectation, with a holdout a quarter as large."""
    shares = []
    for seed in range(40):
        draw = np.random.default_rng([4, seed])
        files = (tied_people(draw, n) for n in (200, 200, 50))
        shares.append(measured([True, False, False], *files).closest.iloc[0]["share"])
    assert np.mean(shares) == pytest.approx(0.8, abs=4 * np.std(shares) / math.sqrt(len(shares)))
    assert np.std(shares) < 0.05


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


def categories(draw, n):
    return draw.integers(0, 4, (n, 4)).astype(str).tolist()


def amounts(draw, n):
    return draw.normal(size=(n, 3)).tolist()


def mixed(draw, n):
    return rows_of(people(draw, n))


def collapsed(file, modes, share):
    """A synthesis of which a share of the records is one of a few."""

    def drawn(draw, n):
        rows = file(draw, n)
        return [rows[at % modes] if at < share * n else row for at, row in enumerate(rows)]

    return drawn


WITHOUT_MEMORY = {
    "tied categories, 80/20": ([False] * 4, categories, categories, 600, 150),
    "incomes in thousands, 80/20": ([True, False, False], tied_people, tied_people, 600, 150),
    "continuous, 50/50": ([True] * 3, amounts, amounts, 500, 500),
    "continuous, 80/20": ([True] * 3, amounts, amounts, 600, 150),
    "half are one record, 80/20": ([True] * 3, amounts, collapsed(amounts, 1, 0.5), 600, 150),
    "half are one record, 20/80": ([True] * 3, amounts, collapsed(amounts, 1, 0.5), 200, 800),
    "all are five records, 50/50": ([False] * 4, categories, collapsed(categories, 5, 1), 400, 400),
    "missing values, 33/67": (PEOPLE, mixed, mixed, 400, 800),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_files_without_memory_are_accused_in_at_most_5_percent_of_300(name):
    """But for three standard errors; the figures are in METHODS §8.1."""
    numeric, person, synthesis, n, n_held = WITHOUT_MEMORY[name]
    accused = 0
    for seed in range(300):
        draw = np.random.default_rng([5, seed])
        with patch.object(relabelling, "MIN_DRAWS", 1999):
            found = measured(numeric, person(draw, n), synthesis(draw, n), person(draw, n_held))
        accused += found.closest.iloc[0][["nearer", "copied"]].any()
    assert accused <= 15 + 3 * math.sqrt(300 * 0.05 * 0.95)


@pytest.mark.slow
@pytest.mark.parametrize(("n_held", "seen"), [(150, False), (1200, True)])
def test_near_copies_of_one_percent_are_seen_by_a_large_holdout_in_the_tail(n_held, seen):
    """One of three amounts is moved by a hundredth of a standard deviation; a small holdout cannot tell."""
    draw = np.random.default_rng(6)
    confidential, synthetic = draw.normal(size=(600, 3)), draw.normal(size=(600, 3))
    synthetic[:6] = confidential[:6]
    synthetic[:6, 0] += 0.01
    files = confidential.tolist(), synthetic.tolist(), amounts(draw, n_held)
    found = measured([True] * 3, *files)
    first = found.nearness.iloc[0]
    assert (first["nearer"], first["high"] == 1) == (seen, not seen)
    assert not found.closest.iloc[0]["copied"]
