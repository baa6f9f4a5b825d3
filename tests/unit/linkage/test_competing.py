"""Levels of differences and competition against EM and probabilities pair by pair (METHODS §4.6)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import in_strata, manifest, pairs
from oracles import competing as oracle
from reident.linkage import scoring, weights
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.metrics.fellegi_sunter import Options, log_odds
from reident.linkage.metrics.levels import of_table
from reident.linkage.settings import OrderedVariable, ScoringSettings, WeighingSettings
from reident.linkage.strata import pack

ORDER = tuple("01234")


def drawn(generator):
    """Strata and variables: numbers with ties and without, amounts, bands, categories; missing values, empty files."""
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
    return strata, variables


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


def settings(variables, *, competition, informed, threshold):
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
        threshold={"probability": threshold},
    )
    part = WeighingSettings(tuple(names), threshold, None, informed, partial, True, bands, competition)
    return part, ScoringSettings(tuple(names), "stratum", 4, options)


def scored(part, files, lines, table, estimates, threads=1):
    found = []
    setting = ScoringContext(threads=threads, weights=estimates)
    blocks = pack(table, 1)
    scoring.score_shard(part, REGISTRY["fellegi_sunter"], files, lines, table, blocks, setting, found.append)
    return pa.concat_tables(found)


@examples(300)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_and_scores_equal_those_pair_by_pair(seed):
    generator = np.random.default_rng(seed)
    strata, variables = drawn(generator)
    if not any(puf and eif for puf, eif in strata):
        return
    competition, informed = bool(generator.random() < 0.7), bool(generator.random() < 0.3)
    threshold = float(generator.choice([0.001, 0.1, 0.5]))
    part, scoring_part = settings(variables, competition=competition, informed=informed, threshold=threshold)
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
    levels, m, u, prior, rounds = oracle.estimate(strata, variables, competition, true if informed else None)
    assert found.model["prior"].iloc[0] == pytest.approx(prior, rel=1e-6)
    assert found.model["rounds"].iloc[0] == rounds
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
    expected = oracle.score(levels, bits, found.model["prior"].iloc[0], competition)
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
    for puf, candidates in by_record.items():
        candidates.sort(key=lambda one: (-one[0], one[1]))
        kept = [one for one in candidates if sum(other[0] >= one[0] for other in candidates) <= 4]
        assert ours[puf] == (kept or [None])
