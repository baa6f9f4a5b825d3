"""Hold the weights of Fellegi–Sunter against Splink's and recordlinkage's: ``python evidence.py [RECORDS]``.

Our step estimates m, u and the prior on drawn files of 1,000 records with 5 % missing, and our metric scores all pairs;
the peers take the same m, u and prior and score all pairs too. Makes ``results/benchmarks/evidence.csv``. The model and
the peers' figures for a few pairs are kept in tests/linkage/published.json, which a test reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import draw
import numpy as np
import pandas as pd
import pyarrow as pa
from reident.linkage import weights
from reident.linkage.metrics import fellegi_sunter
from reident.linkage.metrics.contract import Estimates, Scored, ScoringContext
from reident.linkage.metrics.fellegi_sunter import Options
from reident.linkage.metrics.levels import LEVELS
from reident.linkage.pairing import Comparison
from reident.linkage.settings import OrderedVariable, WeighingSettings

CHECKOUT = Path(__file__).resolve().parents[2]
OUT = CHECKOUT / "results" / "benchmarks"
KEPT = CHECKOUT / "tests" / "linkage" / "published.json"
LEAST = -1000.0
CLOSE = 1e-9
PARTIAL = ("x2", "x5", "x8")
N_KEPT = 40


def weighed(
    data: dict[str, np.ndarray], options: Options, keep: int, threads: int = 1, n_strata: int = 1
) -> tuple[Estimates, Scored]:
    """The model that a blind intruder estimates from all pairs, and the pairs by their weights; people have strata."""
    estimates, comparison, context = estimated(data, options, keep, threads, n_strata)
    return estimates, scored(comparison, options, context, n_strata)


def scored(comparison: Comparison, options: Options, context: ScoringContext, n_strata: int) -> Scored:
    """The pairs of all strata by their weights, by row number."""
    found = []
    for stratum in range(n_strata):
        puf, eif = (comparison.rows(side, stratum) for side in ("puf", "eif"))
        one = fellegi_sunter.score(comparison.pairing(stratum), options, context)
        found.append(one._replace(puf=puf[one.puf], eif=eif[one.eif]))
    names = ("puf", "eif", "score", "ambiguous")
    return Scored(*(np.concatenate([getattr(one, name) for one in found]) for name in names))


def estimated(
    data: dict[str, np.ndarray], options: Options, keep: int, threads: int = 1, n_strata: int = 1
) -> tuple[Estimates, Comparison, ScoringContext]:
    """The model, and what pairs are scored from."""
    tables, strata = {}, {}
    for side in ("puf", "eif"):
        codes = data[f"{side}_codes"].astype(np.int32)
        tables[side] = pa.table({f"x{at}": pa.array(own, mask=own < 0) for at, own in enumerate(codes.T)})
        strata[side] = pa.table({"stratum": pa.array((data[f"{side}_people"] % n_strata).astype(np.int32))})
    n = [np.bincount(table["stratum"].to_numpy(), minlength=n_strata) for table in strata.values()]
    names = [f"s{at:04}" for at in range(n_strata)]
    manifest = pd.DataFrame({"stratum": names, "n_puf": n[0], "n_eif": n[1], "pairs": n[0] * n[1]})
    variables = tuple(OrderedVariable(name, "numeric") for name in tables["puf"].column_names)
    limit = options.threshold
    how = {"competition": options.competition, "frequency": options.frequency}
    settings = WeighingSettings(variables, limit.probability, limit.weight, False, options.partial, **how)
    estimates = weights.estimate(settings, tables, strata, manifest, threads=threads)
    return estimates, Comparison(variables, tables, strata, n_strata), ScoringContext(keep, threads, weights=estimates)


def ours(data: dict[str, np.ndarray]) -> tuple[Estimates, np.ndarray, np.ndarray]:
    """The model, the levels of all pairs int8 (n_puf, n_eif, v), and their weights (n_puf, n_eif)."""
    codes = [data[f"{side}_codes"] for side in ("puf", "eif")]
    n = [len(own) for own in codes]
    options = Options(levels="bins", competition=False, frequency=False, partial=PARTIAL, threshold={"weight": LEAST})
    estimates, scored = weighed(data, options, n[0] * n[1])
    weight = np.full(n, np.nan)
    weight[scored.puf, scored.eif] = scored.score
    apart = np.abs(codes[0][:, None, :] - codes[1][None, :, :])
    near = np.array([f"x{at}" in PARTIAL for at in range(codes[0].shape[1])])
    level = np.where(apart == 0, 0, np.where((apart == 1) & near, 1, 2))
    level[(codes[0][:, None, :] < 0) | (codes[1][None, :, :] < 0)] = LEVELS.index("missing")
    return estimates, level.astype(np.int8), weight


def main(records: str = "1000") -> None:
    """Estimate, score, let the peers score, compare."""
    data = dict(np.load(draw.files(int(records), 10, 0, OUT / "files")))
    estimates, level, weight = ours(data)
    model = OUT / "evidence-model.json"
    prior = float(estimates.model["prior"].iloc[0])
    rows = estimates.levels.dropna(subset=["m"])
    lines = [list(line) for line in rows[["variable", "level", "m", "u"]].itertuples(index=False, name=None)]
    model.write_text(json.dumps({"prior": prior, "levels": lines}), encoding="utf-8")
    np.savez(OUT / "evidence.npz", puf=data["puf_codes"], eif=data["eif_codes"], level=level)
    peers = [str(CHECKOUT / ".venv-peers" / "bin" / "python"), "evidence_peers.py", str(model)]
    subprocess.run([*peers, str(OUT / "evidence.npz")], cwd=Path(__file__).parent, check=True)
    found = np.load(OUT / "evidence-peers.npz")
    probability, table = fellegi_sunter.match_probability(weight, prior), []
    for peer in ("splink", "recordlinkage"):
        apart = [np.abs(found[f"{peer}_weight"] - weight), np.abs(found[f"{peer}_probability"] - probability)]
        table.append((peer, weight.size, *(float(own.max()) for own in apart)))
    frame = pd.DataFrame(table, columns=["peer", "pairs", "weight", "probability"])
    frame.to_csv(OUT / "evidence.csv", index=False)
    print(frame.to_string(index=False))
    keep(lines, prior, level, found)
    if not (frame[["weight", "probability"]] <= CLOSE).all(axis=None):
        sys.exit(f"Weights or probabilities differ by more than {CLOSE}.")


def keep(lines: list[list], prior: float, level: np.ndarray, found: dict[str, np.ndarray]) -> None:
    """Write the model and the peers' figures for pairs from the lightest to the heaviest."""
    order = np.argsort(found["splink_weight"], axis=None, kind="stable")
    places = order[np.linspace(0, len(order) - 1, N_KEPT).astype(int)]
    flat = level.reshape(-1, level.shape[2])
    pairs = [
        {"levels": [LEVELS[one] for one in flat[at]]} | {name: float(found[name].flat[at]) for name in found}
        for at in places
    ]
    text = json.dumps({"source": "Splink 5.0.0, recordlinkage 0.16", "prior": prior, "levels": lines})
    body = ",\n".join(json.dumps(pair) for pair in pairs)
    KEPT.write_text(f'{text[:-1]},\n"pairs": [\n{body}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
