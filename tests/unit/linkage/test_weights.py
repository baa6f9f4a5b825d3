"""Weights of evidence: counts of levels, EM against its definition pair by pair, smoothing (METHODS §4.6)."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.patterns import count_patterns
from oracles import patterns as oracle
from reident.errors import InputError
from reident.linkage import weights
from reident.linkage.metrics import fellegi_sunter
from reident.linkage.metrics.contract import Setting
from reident.linkage.metrics.fellegi_sunter import LEVELS, Options
from reident.linkage.pairing import Comparison
from reident.linkage.parts import OrderedVariable, Weighing

SEEDS = st.integers(0, 2**32 - 1)


def brute_force(puf, eif, near, most, rounds):
    """EM over all pairs, one after another; {level: expected links} by variable, and the prior."""
    pairs = [oracle.pattern(p, e, near) for p in puf.tolist() for e in eif.tolist()]
    used = [["agree", *(["partial"] if partly else []), "differ"] for partly in near]
    m = [{"agree": 0.9} | {level: 0.1 / (len(levels) - 1) for level in levels[1:]} for levels in used]
    counted = [
        {level: sum(found[j] == level for found in pairs) for level in levels}
        for j, levels in enumerate(used)
    ]
    u = [
        {level: n / max(sum(one.values()), 1) if sum(one.values()) else 1 / 3 for level, n in one.items()}
        for one in counted
    ]
    prior = most / 2
    for _ in range(rounds):
        m, u, prior = oracle.maximisation(pairs, oracle.expectation(pairs, m, u, prior), most, m, u)
    links = oracle.expectation(pairs, m, u, prior)
    sums = [
        {
            level: math.fsum(g for g, found in zip(links, pairs, strict=True) if found[j] == level)
            for level in levels
        }
        for j, levels in enumerate(used)
    ]
    return sums, prior


@examples(40)
@given(seed=SEEDS)
def test_em_equals_em_over_all_pairs(seed):
    generator = np.random.default_rng(seed)
    v = int(generator.integers(1, 5))
    near = (generator.random(v) < 0.3).tolist()
    n_puf, n_eif = generator.integers(1, 13, 2).tolist()
    puf, eif = (generator.integers(0, 4, (n, v), dtype=np.int32) for n in (n_puf, n_eif))
    same = min(n_puf, n_eif) // 2
    puf[:same] = eif[:same]
    missing = generator.choice([0, 0.1, 0.5])
    for table in (puf, eif):
        table[generator.random(table.shape) < missing] = -1
    incomplete = [bool((puf[:, j] < 0).any() or (eif[:, j] < 0).any()) for j in range(v)]
    counts = count_patterns(puf, eif, near=near, incomplete=incomplete)
    most = min(n_puf, n_eif) / (n_puf * n_eif)
    found = weights.maximise(counts, near, incomplete, most)
    sums, prior = brute_force(puf, eif, near, most, found.rounds)
    assert found.prior == pytest.approx(prior, rel=1e-9, abs=1e-12)
    for j, one in enumerate(sums):
        for level, expected in one.items():
            assert found.links[j, LEVELS.index(level)] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def files(puf, eif):
    """Binned tables of numeric variables x0, x1 …, None for missing."""
    return {
        side: pa.table(
            {f"x{j}": pa.array([row[j] for row in rows], pa.int32()) for j in range(len((puf + eif)[0]))}
        )
        for side, rows in (("puf", puf), ("eif", eif))
    }


def one_stratum(tables):
    strata = {
        side: pa.table({"stratum": pa.array([0] * table.num_rows, pa.int32())})
        for side, table in tables.items()
    }
    sizes = [tables[side].num_rows for side in ("puf", "eif")]
    manifest = pd.DataFrame(
        {"stratum": ["s0001"], "n_puf": sizes[:1], "n_eif": sizes[1:], "pairs": sizes[0] * sizes[1]}
    )
    return strata, manifest


def part(v, *, partial=(), informed=False, probability=0.5, weight=None):
    variables = tuple(OrderedVariable(f"x{j}", "numeric") for j in range(v))
    return Weighing(variables, partial, probability, weight, informed)


def links(*pairs):
    return pa.table(
        {side: pa.array([pair[at] for pair in pairs], pa.int32()) for at, side in enumerate(("puf", "eif"))}
    )


PUF, EIF = [[1, 1], [2, None], [3, 5]], [[1, 2], [2, 1], [1, 5], [4, None]]


def test_an_informed_intruder_counts_the_levels_of_the_links_and_of_the_other_pairs():
    tables = files(PUF, EIF)
    strata, manifest = one_stratum(tables)
    true = links((0, 0), (1, 1), (2, 2))
    found = weights.estimate(part(2, partial=("x1",), informed=True), tables, strata, manifest, true)
    lines = found.levels.set_index(["variable", "level"])
    assert lines["n_pairs"].to_dict() == {
        ("x0", "agree"): 3, ("x0", "differ"): 9,
        ("x1", "agree"): 2, ("x1", "partial"): 1, ("x1", "differ"): 3, ("x1", "missing"): 6,
    }  # fmt: skip
    # Links: x0 agrees in two of three; x1 is adjacent, missing and equal. Half a pair is added to each level.
    expected = {
        ("x0", "agree"): (2.5 / 4, 1.5 / 10), ("x0", "differ"): (1.5 / 4, 8.5 / 10),
        ("x1", "agree"): (1.5 / 3.5, 1.5 / 5.5), ("x1", "partial"): (1.5 / 3.5, 0.5 / 5.5),
        ("x1", "differ"): (0.5 / 3.5, 3.5 / 5.5),
    }  # fmt: skip
    for line, (m, u) in expected.items():
        assert lines.loc[line, ["m", "u"]].tolist() == pytest.approx([m, u], rel=1e-11)
        assert lines.loc[line, "weight"] == pytest.approx(math.log2(m / u), abs=1e-11)
    assert lines.loc[("x1", "missing"), "weight"] == 0
    model = found.model.iloc[0]
    assert (model["n_pairs"], model["rounds"], model["converged"]) == (12, 0, "yes")
    assert model["prior"] == pytest.approx(3.5 / 13, rel=1e-11)
    assert model["least_weight"] == pytest.approx(-math.log2(3.5 / 9.5), abs=1e-11)


def test_no_probability_is_0_or_1_without_links_or_with_levels_that_never_occur():
    tables = files([[1], [1]], [[1], [1], [1]])
    strata, manifest = one_stratum(tables)
    for informed, true in ((True, links()), (True, links((0, 0))), (False, None)):
        found = weights.estimate(part(1, informed=informed), tables, strata, manifest, true)
        probabilities = found.levels[["m", "u"]].to_numpy(float)
        assert ((probabilities > 0) & (probabilities < 1)).all()
        assert 0 < found.model["prior"].iloc[0] < 1
        assert np.isfinite(found.levels["weight"]).all()


def test_variables_that_are_always_missing_have_no_weight():
    tables = files([[None, 1], [None, 2]], [[None, 1], [None, 2], [None, 2]])
    strata, manifest = one_stratum(tables)
    found = weights.estimate(part(2), tables, strata, manifest)
    lines = found.levels[found.levels["variable"] == "x0"].set_index("level")
    assert lines["n_pairs"].to_dict() == {"agree": 0, "differ": 0, "missing": 6}
    assert lines["weight"].tolist() == [0, 0, 0]


def test_strata_are_added_up_and_empty_ones_add_nothing():
    tables = files([[1, 1], [2, 2], [1, 1], [9, 9]], [[1, 1], [2, 1], [1, 2]])
    strata = {
        "puf": pa.table({"stratum": pa.array([0, 0, 1, 2], pa.int32())}),
        "eif": pa.table({"stratum": pa.array([0, 0, 1], pa.int32())}),
    }
    manifest = pd.DataFrame(
        {"stratum": ["s1", "s2", "s3"], "n_puf": [2, 1, 1], "n_eif": [2, 1, 0], "pairs": [4, 1, 0]}
    )
    found = weights.estimate(part(2), tables, strata, manifest)
    lines = found.levels.set_index(["variable", "level"])["n_pairs"]
    assert (lines["x0", "agree"], lines["x0", "differ"]) == (3, 2)
    assert found.model["n_pairs"].iloc[0] == 5


def test_too_many_patterns_are_an_error_with_a_remedy():
    tables = files([[1] * 23], [[1] * 23])
    strata, manifest = one_stratum(tables)
    with pytest.raises(
        InputError, match=r"at most 4,194,304 .* Use fewer linking variables, or `m: informed`"
    ):
        weights.estimate(part(23), tables, strata, manifest)
    found = weights.estimate(part(23, informed=True), tables, strata, manifest, links((0, 0)))
    assert len(found.levels) == 46


def test_categories_are_neighbours_in_their_order():
    order = ("low", "middle", "high")
    variables = (OrderedVariable("x", "categorical", False, order),)
    tables = {"puf": pa.table({"x": ["low", "high", None]}), "eif": pa.table({"x": ["middle", "low"]})}
    strata, _ = one_stratum(tables)
    comparison = Comparison(variables, tables, strata, 1)
    records = fellegi_sunter.compared(comparison.pairing(0), ("x",))
    assert records.puf.ravel().tolist() == [0, 2, -1]
    assert records.eif.ravel().tolist() == [1, 0]


def score_by_definition(lines, prior, p, e, near):
    total = sum(lines.loc[(f"x{j}", state), "weight"] for j, state in enumerate(oracle.pattern(p, e, near)))
    probability = prior * 2**total / (prior * 2**total + 1 - prior)
    return total, probability


@pytest.mark.parametrize(
    "threshold", [{"probability": 0.2}, {"probability": 0.4}, {"weight": 0.0}, {"weight": -3.5}]
)
def test_scores_are_the_sums_of_the_weights_and_the_threshold_is_reached_or_not(threshold):
    generator = np.random.default_rng(5)
    puf = generator.integers(1, 9, (40, 3)).tolist()
    eif = [*puf[:20], *generator.integers(1, 9, (20, 3)).tolist()]
    puf[3][1] = eif[7][0] = None
    tables = files(puf, eif)
    strata, manifest = one_stratum(tables)
    own = {"probability": None, "weight": None} | threshold
    asked = part(3, partial=("x2",), informed=True, **own)
    true = links(*((at, at) for at in range(20)))
    estimates = weights.estimate(asked, tables, strata, manifest, true)
    pairing = Comparison(asked.variables, tables, strata, 1).pairing(0)
    options = Options(partial=("x2",), threshold=threshold)
    scored = fellegi_sunter.score(pairing, options, Setting(1600, weights=estimates))
    lines, prior = estimates.levels.set_index(["variable", "level"]), estimates.model["prior"].iloc[0]
    codes = [[[-1 if x is None else x for x in row] for row in rows] for rows in (puf, eif)]
    expected = {}
    for i, p in enumerate(codes[0]):
        for r, e in enumerate(codes[1]):
            total, probability = score_by_definition(lines, prior, p, e, [False, False, True])
            passes = (
                probability >= own["probability"] if own["weight"] is None else total >= own["weight"] - 1e-12
            )
            if passes:
                expected[i, r] = total
    found = dict(
        zip(zip(scored.puf.tolist(), scored.eif.tolist(), strict=True), scored.score.tolist(), strict=True)
    )
    assert found.keys() == expected.keys()
    assert len(found) > 0
    for pair, total in expected.items():
        assert found[pair] == pytest.approx(total, abs=1e-11)
    by_formula = fellegi_sunter.match_probability(scored.score, prior)
    again = [
        score_by_definition(lines, prior, codes[0][i], codes[1][r], [False, False, True])[1] for i, r in found
    ]
    np.testing.assert_allclose(by_formula, again, rtol=1e-9)


@pytest.mark.parametrize(
    ("weight", "expected"), [(100.0, -1), (6.0, 0), (3.1, 0), (3.0, 1), (-2.4, 1), (-2.5, 2)]
)
def test_the_tolerance_follows_from_the_weights(weight, expected):
    lines = pd.DataFrame(
        [
            ("a", "agree", 4.0),
            ("a", "differ", -1.5),
            ("b", "agree", 2.0),
            ("b", "differ", -1.0),
            ("b", "missing", 0.0),
        ],
        columns=["variable", "level", "weight"],
    )
    # Nothing differs: 6; `b` does: 3; both do: -2.5.
    least = fellegi_sunter.scaled(weight)
    assert fellegi_sunter.largest_tolerance(lines, least) == expected
