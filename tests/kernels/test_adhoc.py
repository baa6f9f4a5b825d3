"""Adhoc's kernel on large files, its bounds, and what it refuses (METHODS §4.4, §5); small files are properties."""

import numpy as np
import pytest
from making.examples import cases
from making.kernels import kernel_rule
from oracles import adhoc as oracle
from oracles.bounds import byte_sums
from oracles.mixed import arrays_of, as_rows, records
from reident.kernels import adhoc, adhoc_rules
from reident.kernels.adhoc_profiles import SPARE
from reident.kernels.adhoc_query import empty_query
from reident.kernels.buffers import SearchFiles

ONE = 10**12
HIGHEST = 5 * ONE

EXACT = ("exact",)

TABLE = ("table", [[5 * ONE, 3 * ONE, 0], [2 * ONE, 4 * ONE, ONE], [0, 0, HIGHEST]])
STEPS = ("bands", [(0.1, 0.0, 5 * ONE), (0.5, 0.0, 3 * ONE), (2.0, 0.0, ONE)], 0)
SHARES = ("bands", [(0.0, 0.0, 5 * ONE), (0.0, 0.1, 4 * ONE), (0.0, 0.5, 2 * ONE)], ONE)
DISORDER = ("bands", [(1.0, 0.0, ONE), (0.5, 0.0, 5 * ONE), (3.0, 0.0, 4 * ONE), (2.0, 0.0, 0)], 2 * ONE)

MIXED = ("bands", [(1.0, 0.0, 4 * ONE), (0.0, 0.1, 5 * ONE)], 0)
THIRDS = ("bands", [(0.1, 0.0, 3_333_333_333_333)], 1_111_111_111_111)


def nearest(*arrays, **options):
    return adhoc.nearest(*arrays, **{"scale": ONE} | options)


ALL = {"above": -1, "keep": 100}


DIAGONAL = ("table", [[max(5 - abs(a - b), 0) * ONE for b in range(90)] for a in range(90)])
WIDE = ("table", [[(a * b) % 6 * ONE for b in range(600)] for a in range(600)])
SKEWED = ("bands", [(0.0, 0.5, 5 * ONE), (0.1, 0.0, 3_300_000_000_000)], 0)

MANY = [(4, EXACT), (30, EXACT), (90, DIAGONAL), ("skewed", SKEWED), ("continuous", STEPS), ("heaped", SHARES)]

LARGE = [
    ("several groups of leaves", 3, 9000,
     [(12, EXACT), (30, EXACT), (90, DIAGONAL), ("skewed", SKEWED), ("continuous", STEPS)], 0.05, {}),
    ("several groups, everything is suspected", 3, 9000, [(4, EXACT)] * 5 + [("continuous", STEPS)] * 5, 0.05,
     {"above": -1}),
    ("one more than a group of leaves", 2, 4097, [(3, EXACT), ("small", STEPS)], 0.3, {"above": -1}),
    ("all records equal", 2, 5000, [(1, EXACT), ("constant", STEPS)], 0.0, {}),
    ("few distinct records, all of them tied", 3, 5000, [(2, EXACT), ("heaped", STEPS)], 0.2,
     {"keep": 400, "above": -1}),
    ("more groups than a block of boxes holds", 1, 290_000, [("skewed", SKEWED)], 0.05, {"keep": 3}),
    ("records that search in two rounds", 1200, 90, [(5, EXACT), ("small", STEPS)], 0.1, {}),
    ("many variables", 3, 1500, [(2, EXACT)] * 40 + [("small", STEPS)] * 4, 0.05, {}),
    ("more categories than bytes", 3, 1500, [(900, EXACT)] * 20 + [(600, WIDE)], 0.02, {"above": -1}),
    ("more variables than bytes count", 3, 300, [(2, EXACT)] * 300 + [("small", STEPS)] * 12, 0.05, {}),
    ("sums that saturate", 3, 700, [(3, EXACT)] * 30 + [("continuous", THIRDS)] * 40, 0.05, {"above": -1}),
    ("everything missing", 3, 700, [(3, EXACT), ("small", STEPS)], 1.0, {"above": -1, "keep": 1000}),
    ("many passes over both trees", 300, 400, MANY, 0.05, {"keep": 2}),
]  # fmt: skip


def drawn(n_puf, n_eif, variables, missing):
    generator = np.random.default_rng(n_eif)
    kinds = [kind for kind, _ in variables]
    puf_codes, puf_values = records(generator, n_puf, kinds, missing)
    eif_codes, eif_values = records(generator, n_eif, kinds, missing)
    return (puf_codes, eif_codes, puf_values, eif_values), [rule for _, rule in variables]


@pytest.mark.parametrize(("n_puf", "n_eif", "variables", "missing", "options"), cases(LARGE))
def test_large(n_puf, n_eif, variables, missing, options):
    arrays, rules = drawn(n_puf, n_eif, variables, missing)
    options = {"above": len(rules) * HIGHEST // 2, "keep": 20} | options
    expected, kernel_rules = oracle.nearest(*arrays, rules, **options), [kernel_rule(rule) for rule in rules]
    for threads in (1, 2):
        done = []
        result = nearest(*arrays, kernel_rules, **options, threads=threads, progress=done.append)
        assert as_rows(result) == expected
        assert done == sorted(done)
        assert done[-1] == 1


MANY_KINDS = [
    (5, EXACT),
    (300, EXACT),
    (90, DIAGONAL),
    ("continuous", STEPS),
    ("skewed", SKEWED),
    ("small", DISORDER),
    ("heaped", SHARES),
]


@pytest.mark.parametrize("cut", range(len(MANY_KINDS) + 1))
def test_the_result_does_not_depend_on_the_blocks_of_variables(monkeypatch, cut):
    monkeypatch.setattr(adhoc, "_cut", lambda *_: cut)
    arrays, rules = drawn(20, 700, MANY_KINDS, 0.1)
    result = nearest(*arrays, [kernel_rule(rule) for rule in rules], above=14 * ONE, keep=20)
    assert as_rows(result) == oracle.nearest(*arrays, rules, above=14 * ONE, keep=20)


@pytest.mark.parametrize("records", [1, 64, 10**6])
@pytest.mark.parametrize("keep", [1, 300])
def test_the_result_does_not_depend_on_the_sample(monkeypatch, records, keep):
    monkeypatch.setattr(adhoc, "SAMPLE", records)
    arrays, rules = drawn(20, 700, MANY_KINDS, 0.1)
    result = nearest(*arrays, [kernel_rule(rule) for rule in rules], above=14 * ONE, keep=keep)
    assert as_rows(result) == oracle.nearest(*arrays, rules, above=14 * ONE, keep=keep)


RUGGED = ("table", (np.random.default_rng(5).integers(0, 6, (40, 40)) * ONE).tolist())


@pytest.mark.parametrize("keep", [1, 5])
def test_records_that_end_far_from_the_expected_bound(keep):
    """Every second PUF record has three equal EIF records, and the others have none."""
    kinds = [(40, RUGGED), (90, DIAGONAL), (600, WIDE), (9, EXACT), ("heaped", SHARES), ("small", DISORDER)]
    arrays, rules = drawn(400, 300, kinds, 0.05)
    twins = np.arange(0, 400, 2)
    eif_codes, eif_values = (np.concatenate([eif, *[puf[twins]] * 3]) for puf, eif in (arrays[:2], arrays[2:]))
    arrays = arrays[0], eif_codes, arrays[2], eif_values
    expected = oracle.nearest(*arrays, rules, above=-1, keep=keep)
    for threads in (1, 2):
        result = nearest(*arrays, [kernel_rule(rule) for rule in rules], above=-1, keep=keep, threads=threads)
        assert as_rows(result) == expected


VARIABLES = [
    [("continuous", STEPS)] * 5 + [(3, EXACT)] * 5,
    [("continuous", THIRDS)] * 64,
    [(2, EXACT)] * 200 + [("small", STEPS)] * 150,
    [("skewed", SKEWED), ("small", DISORDER), ("huge", MIXED), ("tiny", SHARES), (90, DIAGONAL), (3, TABLE)] * 3,
    [(80, EXACT)] * 20 + [(900, EXACT), (600, WIDE)],
    [("continuous", STEPS)],
    [(40, RUGGED)] * 3 + [(90, DIAGONAL), (3, TABLE), (9, EXACT)],
]


@pytest.mark.parametrize("above", [-1, None])
@pytest.mark.parametrize("variables", VARIABLES)
def test_bytes_cost_no_more_than_the_pair_and_boxes_no_more_than_their_records(variables, above):
    arrays, rules = drawn(15, 300, variables, 0.1)
    files, flat = SearchFiles(*arrays), adhoc_rules.flatten([kernel_rule(rule) for rule in rules], ONE)
    total = int(flat.highest.sum())
    threshold = total + 1 if above is None else total // 2
    model, puf_rows, eif_rows, coordinates = adhoc._prepare(files, flat, threshold)
    _, model, index = adhoc._build(model, puf_rows, eif_rows, coordinates, 1)
    level = np.full((15, 300), -1, np.int64)
    base = np.zeros(15, np.int64)
    sums = np.full((2, 15, 300, 2), -1, np.int64)
    boxes = np.full((2, 15, 300, 2, 2), -1, np.int64)
    byte_sums(model, index, puf_rows, empty_query(model), level, base, sums, boxes)
    pairs, *_ = oracle.nearest(*arrays, rules, above=-1, keep=300)
    cost = np.full((15, 300), -1, np.int64)
    for i, r, score in pairs:
        cost[i, r] = total - score
    assert (level == cost).all()
    assert -(-threshold // model.unit) <= 255
    assert (sums >= 0).all()
    assert (sums[0] == sums[1]).all()  # what a pass leaves out as considered, by either tree
    assert (base[:, None] + model.unit * sums[0].sum(axis=2) <= cost).all()
    assert (boxes >= 0).all()
    assert (boxes <= sums[..., None]).all()
    # Useful, too: costs that are multiples of the unit are hardly lost.
    if all(rule in (EXACT, TABLE, DIAGONAL, RUGGED) for rule in rules):
        costs = np.minimum((cost - base[:, None]) // model.unit, 255)
        lost = costs - np.minimum(sums[0].sum(axis=2), 255)
        assert lost.sum() <= costs.sum() / SPARE


REFUSED = [
    ("columns", [EXACT], {}),
    ("keep", [EXACT, STEPS], {"keep": 0}),
    ("scale", [EXACT, EXACT], {"scale": 10 * ONE}),
    ("between 0 and 5", [("table", [[-1, 0], [0, 0]]), STEPS], {}),
    ("between 0 and 5", [EXACT, ("bands", [], HIGHEST + 1)], {}),
    ("as many rows as columns", [("table", [[0, 0]]), STEPS], {}),
    ("fewer rows", [("table", [[0]]), STEPS], {}),
]


@pytest.mark.parametrize(("words", "rules", "changed"), REFUSED)
def test_invalid_rules_are_refused(words, rules, changed):
    arrays = arrays_of([(1, 2.0)], [(1, 2.0)], [False, True])
    with pytest.raises(ValueError, match=words):
        nearest(*arrays, [kernel_rule(rule) for rule in rules], **ALL | changed)
