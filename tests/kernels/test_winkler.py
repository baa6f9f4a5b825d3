"""Winkler gives what the definition gives: every rule, ties, missing values, blocks, scopes (METHODS §4.5, §5)."""

import functools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import winkler as oracle
from oracles.mixed import following
from oracles.pairs import second
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.metrics.winkler import METRIC, Closest, Nearest, Options
from reident.linkage.pairing import Pairing, Records, Scope
from reident.sections.linkage import LinkingVariable

# Decimals without an exact binary form, whole numbers, few and many ties, all equal.
POOLS = [
    [Fraction(at, 10) for at in range(12)],
    [Fraction(at, 10) for at in (-3, 1, 2, 3, 7, 1000001)],
    [Fraction(at, 1000) + 12345 for at in range(40)],
    [Fraction(at) for at in range(3)],
    [Fraction(7)],
]
AGREEMENTS = ["half_gap", "printed", "midpoint", *({"nearest": g} for g in (1, 2, 3, 5, 9, 100))]


@st.composite
def comparisons(draw):
    """(numeric?, PUF, EIF) as rows of fractions or None; the PUF's numbers may be means of groups."""
    n_puf, n_eif = draw(st.integers(0, 12)), draw(st.sampled_from([0, 1, 2, 5, 12, 40]))
    numeric = draw(st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    missing = draw(st.sampled_from([0, 0, 0.1, 0.5, 1]))
    columns = []
    for is_number in numeric:
        pool = draw(st.sampled_from(POOLS)) if is_number else list(range(draw(st.integers(1, 4))))
        sides = [[pool[at] for at in rng.integers(0, len(pool), n)] for n in (n_puf, n_eif)]
        if is_number and draw(st.booleans()):
            sides[0] = [(x + y) / 2 for x, y in zip(sides[0], reversed(sides[0]), strict=True)]
        columns.append([[None if rng.random() < missing else x for x in side] for side in sides])
    return numeric, *([list(row) for row in zip(*side, strict=True)] for side in zip(*columns, strict=True))


def as_pairing(numeric, puf, eif, block=slice(None), scope=None):
    def records(rows):
        values = [
            [float(x) if n and x is not None else np.nan for n, x in zip(numeric, row, strict=True)] for row in rows
        ]
        codes = [[-1 if n or x is None else x for n, x in zip(numeric, row, strict=True)] for row in rows]
        shape = len(rows), len(numeric)
        return Records(np.array(codes, np.int32).reshape(shape), np.array(values, float).reshape(shape))

    variables = tuple(
        LinkingVariable(name=f"x{j}", type="numeric" if n else "categorical") for j, n in enumerate(numeric)
    )
    labels = tuple(None if n else ["a", "b", "c", "d"] for n in numeric)
    taken = scope or (puf, eif)
    return Pairing(
        variables,
        records(puf).take(block),
        records(eif),
        labels,
        np.full(len(numeric), np.nan),
        Scope(*(records(rows).values for rows in taken)),
    )


def score(pairing, agreement, min_agree, keep, threads=1):
    options = Options(agreement=agreement, min_agree=min_agree)
    puf, eif, score, ambiguous, *_, after, _ = METRIC.score(pairing, options, ScoringContext(keep, threads))
    rows = list(zip(puf.tolist(), eif.tolist(), score.tolist(), strict=True))
    return rows, ambiguous.tolist(), following(ambiguous, *after)


@given(comparisons(), st.sampled_from(AGREEMENTS), st.data())
def test_the_metric_is_the_definition(drawn, agreement, data):
    numeric, puf, eif = drawn
    min_agree = data.draw(st.integers(1, len(numeric)))
    keep, threads = data.draw(st.sampled_from([1, 2, 5, 20])), data.draw(st.integers(1, 2))
    counts = oracle.agreements(puf, eif, numeric, (puf, eif), agreement)
    expected = oracle.kept(counts, len(puf), min_agree, keep)
    assert score(as_pairing(numeric, puf, eif), agreement, min_agree, keep, threads) == expected


@given(comparisons(), st.data())
def test_the_closest_are_those_of_the_definition(drawn, data):
    numeric, puf, eif = drawn
    m = data.draw(st.integers(1, len(numeric)))
    keep, threads = data.draw(st.sampled_from([1, 2, 5, 20])), data.draw(st.integers(1, 2))
    expected = oracle.lowest(oracle.distances(puf, eif, numeric, (puf, eif), m), len(puf), keep)
    assert score(as_pairing(numeric, puf, eif), {"closest": m}, 1, keep, threads) == expected


@given(comparisons(), comparisons(), st.sampled_from(AGREEMENTS), st.data())
def test_a_block_in_a_wider_scope(drawn, other, agreement, data):
    """Neighbours and nearest values are those of the scope, whichever records of it are compared."""
    numeric, puf, eif = drawn
    v = min(len(numeric), len(other[0]))
    numeric, puf, eif = numeric[:v], [row[:v] for row in puf], [row[:v] for row in eif]
    more = [[row[:v] for row in side] for side in other[1:]]
    if numeric != other[0][:v]:
        more = [[], []]
    scope = puf + more[0], eif + more[1]
    start = data.draw(st.integers(0, len(puf)))
    stop = data.draw(st.integers(start, len(puf)))
    m = data.draw(st.integers(1, v))
    counts = oracle.agreements(puf, eif, numeric, scope, agreement)
    distances = oracle.distances(puf, eif, numeric, scope, m)
    for rule, (rows, *of_record) in (
        (agreement, oracle.kept(counts, len(puf), 1, 5)),
        ({"closest": m}, oracle.lowest(distances, len(puf), 5)),
    ):
        inside = [(i - start, *rest) for i, *rest in rows if start <= i < stop]
        expected = inside, *(values[start:stop] for values in of_record)
        assert score(as_pairing(numeric, puf, eif, slice(start, stop), scope), rule, 1, 5) == expected


def large(g=None):
    """Files in which every path of the scan is taken: many records, few and many ties, missing values."""
    rng = np.random.default_rng(3)
    eif = np.column_stack(
        [rng.permutation(3000), rng.integers(0, 60, 3000), rng.integers(0, 3, 3000), rng.lognormal(size=3000)]
    )
    puf = np.column_stack([eif[:700, 0] // 3 * 3 + 1, eif[:700, 1:3], np.round(eif[:700, 3], 2)])
    for part in (puf, eif):
        part[rng.random(part.shape) < 0.03] = np.nan
    empty = [np.full(part.shape, -1, np.int32) for part in (puf, eif)]
    variables = tuple(LinkingVariable(name=f"x{j}", type="numeric") for j in range(4))
    return Pairing(
        variables, Records(empty[0], puf), Records(empty[1], eif), (None,) * 4, np.full(4, np.nan), Scope(puf, eif)
    )


def test_threads_make_no_difference():
    rules = [(rule, least) for rule in ("half_gap", "midpoint", Nearest(nearest=40)) for least in (1, 2, 4)]
    for agreement, min_agree in [*rules, *((Closest(closest=m), 1) for m in (2, 3, 4))]:
        one, two = (score(large(), agreement, min_agree, 20, threads) for threads in (1, 2))
        assert one == two
        assert one[0]


@pytest.mark.parametrize("rule", ["half_gap", {"closest": 2}, {"closest": 3}], ids=str)
def test_blocks_make_no_difference(rule):
    whole = large()
    rows, *of_record = score(whole, rule, 1, 20)
    assert rows
    parts = [slice(0, 256), slice(256, 257), slice(257, 700)]
    pieces = [(part.start, score(whole._replace(puf=whole.puf.take(part)), rule, 1, 20)) for part in parts]
    assert [(start + i, *rest) for start, (part, *_) in pieces for i, *rest in part] == rows
    assert [[one for _, (_, *parts) in pieces for one in parts[at]] for at in (0, 1)] == of_record


@functools.cache
def levels_of(m):
    """The levels of all pairs of many records, which do not depend on how many are kept."""
    pairing = large()
    return oracle.levels_of_many(pairing.puf.values, pairing.eif.values, m)


@pytest.mark.parametrize("keep", [1, 5, 20])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_closest_of_many_records(m, keep):
    """Windows grow in steps, and steps are undone, which few records do not need."""
    pairing, levels = large(), levels_of(m)
    rows, ambiguous, after = [], [], []
    for i, level in enumerate(levels):
        best, bound = np.sort(level)[[0, keep]]
        kept = np.flatnonzero((level < bound) & (level < np.inf))
        rows += [(i, k, level[k]) for k in sorted(kept.tolist(), key=lambda k: (level[k], k))]
        ambiguous.append(bool(best == bound < np.inf))
        after.append(None if ambiguous[-1] else second(level[level < np.inf].tolist()))
    assert score(pairing, {"closest": m}, 1, keep) == (rows, ambiguous, after)
    assert rows if m > 1 else all(ambiguous)


def test_the_closest_are_few_if_most_values_are_missing():
    """Windows end before enough records are found, where the masked value misses some variables too."""
    pairing = large()
    values = pairing.eif.values.copy()
    values[np.random.default_rng(4).random(values.shape) < 0.9] = np.nan
    pairing = pairing._replace(eif=pairing.eif._replace(values=values), scope=Scope(pairing.puf.values, values))
    levels = oracle.levels_of_many(pairing.puf.values, values, 3)
    rows, ambiguous, _ = score(pairing, {"closest": 3}, 1, 3000)
    assert {(i, k): level for i, k, level in rows} == {
        (i, k): levels[i, k] for i, k in np.argwhere(levels < np.inf).tolist()
    }
    assert rows
    assert not any(ambiguous)
