"""Levels of differences and competition against EM and probabilities pair by pair (METHODS §4.6)."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import in_strata, manifest, pairs
from oracles import competing as oracle
from reident.kernels.compared import compare
from reident.linkage import scoring, weights
from reident.linkage.metrics import REGISTRY, candidates
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.metrics.fellegi_sunter import Options, log_odds
from reident.linkage.metrics.levels import Scale, of_categories, of_cuts, of_table
from reident.linkage.settings import OrderedVariable, ScoringSettings, WeighingSettings
from reident.linkage.strata import pack

ORDER = tuple("01234")
KEPT = 6


def drawn(seed):
    """A generator, strata of which one has pairs, and variables.

    Numbers with ties and without, amounts, bands, categories; missing values, empty files.
    """
    generator = np.random.default_rng(seed)
    kinds = [("number", None), ("number", [2.0, 0.5]), ("category", False), ("category", True)]
    variables = [kinds[at] for at in generator.integers(0, 4, generator.integers(1, 5))]
    missing, skew = generator.choice([0, 0.1, 0.5]), generator.random() < 0.5
    strata = []
    for _ in range(generator.integers(1, 4)):
        n_puf, n_eif = generator.choice([0, 1, 2, 5, 9], 2, p=[0.1, 0.15, 0.2, 0.3, 0.25]).tolist()
        puf = [tuple(value(generator, *kind, missing, skew) for kind in variables) for _ in range(n_puf)]
        eif = [tuple(value(generator, *kind, missing, skew) for kind in variables) for _ in range(n_eif)]
        for k in range(min(n_puf, n_eif) // 2):
            eif[k] = puf[k]
        strata.append((puf, eif))
    assume(any(puf and eif for puf, eif in strata))
    return generator, strata, variables


def value(generator, kind, _, missing, skew):
    if generator.random() < missing:
        return None
    if kind == "category":
        return int(generator.integers(0, 5))
    number = float(generator.integers(-3, 8))
    return round(number * float(np.exp(3 * generator.random())), 2) if skew else number / 4


def tables(strata, variables):
    files = {}
    for at, side in enumerate(("puf", "eif")):
        rows = [row for stratum in strata for row in stratum[at]]
        columns = {}
        for j, (kind, _) in enumerate(variables):
            values = [row[j] for row in rows]
            if kind == "number":
                columns[f"x{j}"] = pa.array(values, pa.float64())
            else:
                columns[f"x{j}"] = pa.array([None if v is None else str(v) for v in values], pa.string())
        files[side] = pa.table(columns)
    lines = {
        side: in_strata(*[s for s, stratum in enumerate(strata) for _ in stratum[at]])
        for at, side in enumerate(("puf", "eif"))
    }
    sizes = [(f"s{s:04}", len(puf), len(eif), 0) for s, (puf, eif) in enumerate(strata)]
    return files, lines, manifest(*sizes)


def settings(variables, *, competition, informed, threshold, frequency=False):
    names = [
        OrderedVariable(
            f"x{j}", "numeric" if kind == "number" else "categorical", order=() if kind == "number" else ORDER
        )
        for j, (kind, _) in enumerate(variables)
    ]
    partial = tuple(f"x{j}" for j, (kind, more) in enumerate(variables) if kind == "category" and more)
    bands = {f"x{j}": tuple(more) for j, (kind, more) in enumerate(variables) if kind == "number" and more}
    options = Options(
        m="informed" if informed else "blind",
        partial=partial,
        bands=bands,
        competition=competition,
        frequency=frequency,
        threshold={"probability": threshold},
    )
    part = WeighingSettings(tuple(names), threshold, None, informed, partial, True, bands, competition, frequency)
    return part, ScoringSettings(tuple(names), "stratum", KEPT, options)


def scored(part, files, lines, table, estimates, threads=1):
    found = []
    setting = ScoringContext(threads=threads, weights=estimates)
    blocks = pack(table, 1)
    scoring.score_shard(part, REGISTRY["fellegi_sunter"], files, lines, table, blocks, setting, found.append)
    return pa.concat_tables(found)


@examples(300)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_and_scores_equal_those_pair_by_pair(seed):
    generator, strata, variables = drawn(seed)
    competition, informed = bool(generator.random() < 0.7), bool(generator.random() < 0.3)
    threshold = float(generator.choice([0.001, 0.1, 0.5]))
    how = {"competition": competition, "informed": informed, "frequency": bool(generator.random() < 0.5)}
    part, scoring_part = settings(variables, threshold=threshold, **how)
    files, lines, table = tables(strata, variables)
    at, true = [0, 0], set()
    iuf = []
    for s, (puf, eif) in enumerate(strata):
        for k in range(min(len(puf), len(eif)) // 2):
            true.add((s, k, k))
            iuf.append(f"{at[0] + k} {at[1] + k}")
        at = [at[0] + len(puf), at[1] + len(eif)]
    links = pairs(*iuf)
    found = weights.estimate(part, files, lines, table, links, threads=int(generator.integers(1, 3)))
    known = true if informed else None
    levels, m, u, prior, counts = oracle.estimate(strata, variables, competition, known, how["frequency"])
    model = found.model.iloc[0]
    most = sum(min(len(puf), len(eif)) for puf, eif in strata)
    assert model["prior"] == pytest.approx(prior, rel=1e-4)
    assert model["held_links"] == pytest.approx(math.nan if informed else most / 2, nan_ok=True)
    assert (model["rounds"] > 25) != informed
    assert model["converged"] == "yes"
    bits = []
    for j, (own_m, own_u) in enumerate(zip(m, u, strict=True)):
        lines_of = found.levels[(found.levels["variable"] == f"x{j}") & (found.levels["level"] != "missing")]
        assert lines_of["level"].tolist() == list(own_m)
        assert lines_of["m"].tolist() == pytest.approx(list(own_m.values()), rel=1e-6)
        assert lines_of["u"].tolist() == pytest.approx(list(own_u.values()), rel=1e-6)
        assert lines_of["n_pairs"].tolist() == [sum(own[j] == name for own in levels.values()) for name in own_m]
        assert of_table(lines_of).distinct == list(own_m)
        units = [round(weight * oracle.UNIT) for weight in lines_of["weight"]]
        bits.append(dict(zip(lines_of["level"], units, strict=True)))
    u = [
        dict(zip(own, found.levels.loc[found.levels["variable"] == f"x{j}", "u"].dropna(), strict=True))
        for j, own in enumerate(u)
    ]
    expected = oracle.score(levels, bits, found.model["prior"].iloc[0], competition, u, counts)
    least = log_odds(threshold) - log_odds(found.model["prior"].iloc[0])
    firsts = [(sum(len(s[0]) for s in strata[:at]), sum(len(s[1]) for s in strata[:at])) for at in range(len(strata))]
    by_record = {}
    for (s, i, k), weight in expected.items():
        if weight >= round(least * oracle.UNIT):
            by_record.setdefault(firsts[s][0] + i, []).append((weight, firsts[s][1] + k))
    rows = scored(scoring_part, files, lines, table, found)
    ours = {}
    for puf, eif, score in zip(*(rows[name].to_pylist() for name in ("puf", "eif", "score")), strict=True):
        ours.setdefault(puf, []).append(None if eif is None else (round(score * oracle.UNIT), eif))
    assert set(ours) == set(by_record)
    for puf, ranked in by_record.items():
        ranked.sort(key=lambda one: (-one[0], one[1]))
        kept = [one for one in ranked if sum(other[0] >= one[0] for other in ranked) <= KEPT]
        assert ours[puf] == (kept or [None])


def made(strata, variables, **options):
    """The model, and the scores by pair of rows, of a study whose first records of each stratum are true links."""
    part, scoring_part = settings(variables, **options)
    files, lines, table = tables(strata, variables)
    found = weights.estimate(part, files, lines, table, pairs())
    rows = scored(scoring_part, files, lines, table, found).to_pydict()
    return found, {(p, e): s for p, e, s in zip(rows["puf"], rows["eif"], rows["score"], strict=True)}


@examples(100)
@given(seed=st.integers(0, 2**32 - 1))
def test_candidates_give_the_same_where_all_pairs_are_candidates(seed):
    generator, strata, variables = drawn(seed)
    how = {"competition": True, "informed": False, "threshold": 1e-9, "frequency": bool(generator.random() < 0.5)}
    every, scores = made(strata, variables, **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "MAX_PAIRS", 0)
        patch.setattr(candidates, "KEEP", 1000)
        patch.setattr(candidates, "BITS", 1000)
        patch.setattr(scoring, "MAX_SMALL", 0)
        listed, listed_scores = made(strata, variables, **how)
    assert listed.model["rounds"].tolist() == every.model["rounds"].tolist()
    assert listed.model["left_out"].iloc[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(listed.levels["weight"], every.levels["weight"], rtol=0, atol=1e-9)
    assert set(listed_scores) == set(scores)
    for pair, score in scores.items():
        assert listed_scores[pair] == pytest.approx(score, abs=1e-8)


@examples(100)
@given(seed=st.integers(0, 2**32 - 1), sampled=st.sampled_from([20, 10**9]))
def test_what_candidates_leave_out_is_below_the_bound(seed, sampled):
    generator, strata, variables = drawn(seed)
    frequency = bool(generator.random() < 0.5)
    part, _ = settings(variables, competition=True, informed=False, threshold=0.5, frequency=frequency)
    lists = []
    with pytest.MonkeyPatch.context() as patch:
        find = candidates.candidates
        patch.setattr(candidates, "candidates", lambda *a, **k: lists.append((a[0], find(*a, **k))) or lists[0][1])
        patch.setattr(candidates, "MAX_PAIRS", 0)
        patch.setattr(candidates, "SAMPLED", sampled)
        patch.setattr(candidates, "KEEP", int(generator.integers(1, 4)))
        patch.setattr(candidates, "BITS", int(generator.integers(-4, 4)))
        found = weights.estimate(part, *tables(strata, variables), pairs())
    levels, *_, counts = oracle.estimate(strata, variables, True, set(), frequency)
    m, u = (
        [
            dict(found.levels.loc[found.levels["variable"] == f"x{j}", ["level", name]].dropna().to_numpy())
            for j in range(len(variables))
        ]
        for name in ("m", "u")
    )
    probability = oracle.posterior(levels, m, u, found.model["prior"].iloc[0], True, counts)
    inside = sum(probability[pair] for pair in candidate_pairs(strata, *lists[0]))
    left_out = sum(probability.values()) - inside
    assert left_out <= found.model["left_out"].iloc[0] + 1e-9
    if sampled > 20:
        assert found.model["left_out"].iloc[0] <= sum(len(puf) for puf, eif in strata if eif)


def candidate_pairs(strata, files, found):
    """The candidates as (stratum, PUF record, EIF record)."""
    occupied = [s for s, (puf, eif) in enumerate(strata) if puf and eif]
    firsts = [
        dict(zip(occupied, np.cumsum([0, *(len(strata[s][at]) for s in occupied)]), strict=False)) for at in (0, 1)
    ]
    for i, (begin, end) in enumerate(zip(found.listed.first, found.listed.first[1:], strict=False)):
        s = occupied[files.stratum[i]]
        for r in found.listed.row[begin:end]:
            for a in files.puf.members[files.puf.first[i] : files.puf.first[i + 1]]:
                for b in files.eif.members[files.eif.first[r] : files.eif.first[r + 1]]:
                    yield s, int(a - firsts[0][s]), int(b - firsts[1][s])


@examples(100)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_pair_that_is_left_out_is_better_than_a_candidate(seed):
    generator = np.random.default_rng(seed)
    near, n = bool(generator.random() < 0.5), generator.integers(1, 40, 2)
    levels = [of_categories(near=near), of_cuts(Scale(math.nan, 0), [2, 5])][: int(generator.integers(1, 3))]
    values = tuple(generator.integers(0, 12, (size, len(levels))) for size in n)
    starts = np.array([0, n[0]]), np.array([0, n[1]])
    own = generator.integers(-5, 6, sum(len(found.distinct) for found in levels)) * oracle.UNIT
    if len(levels) == 2:
        own[len(levels[0].distinct) :] = [a * oracle.UNIT for a in (-3, -1, 1, 4, 1, -1, -3)]
    files = compare(*values, starts)
    found = candidates.candidates(files, levels, own, -2 * oracle.UNIT, 3)
    rows = [one.values.T for one in (files.puf, files.eif)]
    n = [len(one) for one in rows]
    at = [0, len(levels[0].distinct)]
    total = np.zeros(n, np.int64)
    for j, levels_of in enumerate(levels):
        apart = rows[1][None, :, j] - rows[0][:, None, j]
        number = np.array([levels_of.distinct.index(name) for name in levels_of.names])
        total += own[at[j] + number[np.searchsorted(levels_of.ends, apart)]]
    listed = np.zeros(n, bool)
    listed[np.repeat(np.arange(n[0]), np.diff(found.listed.first)), found.listed.row] = True
    for i in np.flatnonzero(~found.open_rows):
        lowest = total[i, listed[i]].min(initial=10 * oracle.UNIT)
        fits = listed[i].any() and (total[i] >= lowest).sum() == listed[i].sum()
        assert fits or not listed[i].any()
        if not listed[i].any():
            assert (total[i] < -2 * oracle.UNIT).all()
    for i in np.flatnonzero(found.open_rows):
        assert (total[i] == total[i].max()).sum() > 3
