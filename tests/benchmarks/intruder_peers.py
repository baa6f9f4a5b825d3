"""Gradient boosting of pairs that learns from a tenth of the links: ``python intruder_peers.py FOLDER``.

Reads the records of both files and the links by row number; writes `scores.parquet`, the pairs of the records of which
no link was given, with the probability after the other pairs of both records have been taken into account.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

KNOWN, FALSE = 0.1, 60


def features(puf: pd.DataFrame, eif: pd.DataFrame, p: np.ndarray, e: np.ndarray) -> np.ndarray:
    """What a pair shows: differences, how seldom records are as near, equality and how frequent the value is."""
    columns = []
    for name in puf.columns.drop("stratum"):
        if pd.api.types.is_numeric_dtype(puf[name]) and pd.api.types.is_numeric_dtype(eif[name]):
            a, b = puf[name].to_numpy(float), eif[name].to_numpy(float)
            amounts = np.sort(b[~np.isnan(b)])
            apart = np.abs(b[e] - a[p])
            near = np.searchsorted(amounts, a[p] + apart, "right") - np.searchsorted(amounts, a[p] - apart, "left")
            columns += [b[e] - a[p], np.log(np.maximum(near, 0.5) / len(amounts))]
            continue
        codes = pd.factorize(pd.concat([puf[name], eif[name]]))[0].astype(float)
        codes[codes < 0] = np.nan
        a, b = codes[: len(puf)], codes[len(puf) :]
        share = pd.Series(b).map(pd.Series(b).value_counts(normalize=True)).to_numpy()
        equal = np.where(np.isnan(a[p]) | np.isnan(b[e]), np.nan, a[p] == b[e])
        columns += [equal, np.where(equal == 1, np.log(share[e]), 0), a[p], b[e]]
    return np.stack(columns, axis=1)


def main(folder: str) -> None:
    """Learn, and score all pairs."""
    puf, eif, links = (pd.read_parquet(Path(folder) / f"{name}.parquet") for name in ("puf", "eif", "iuf"))
    strata = eif.groupby("stratum").indices
    pairs = [(i, k) for i, s in enumerate(puf["stratum"]) for k in strata.get(s, ())]
    p, e = np.array(pairs).T
    linked = set(zip(links["puf"], links["eif"], strict=True))
    y = np.array([pair in linked for pair in zip(p.tolist(), e.tolist(), strict=True)])
    rng = np.random.default_rng(7)
    of_links = np.unique(links["puf"])
    known = np.isin(np.arange(len(puf)), rng.choice(of_links, int(KNOWN * len(of_links)), replace=False))
    x = features(puf, eif, p, e)
    given = known[p]
    false = np.flatnonzero(given & ~y)
    rows = np.append(
        np.flatnonzero(given & y), rng.choice(false, min(len(false), FALSE * int((given & y).sum())), replace=False)
    )
    model = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.06, max_leaf_nodes=15, random_state=0)
    model.fit(x[rows], y[rows])
    probability = np.clip(model.predict_proba(x)[:, 1], 1e-9, 1 - 1e-9)
    sampled = y[rows].sum() / (~y[rows]).sum()
    odds = probability / (1 - probability) / sampled * known.sum() / max(given.sum(), 1)
    of_puf, of_eif = np.bincount(p, odds, len(puf)), np.bincount(e, odds, len(eif))
    score = odds / (1 + of_puf[p] + of_eif[e] - odds)
    frame = pd.DataFrame({"puf": p, "score": score, "confirmed": y})[~given]
    frame.to_parquet(Path(folder) / "scores.parquet")


if __name__ == "__main__":
    main(*sys.argv[1:])
