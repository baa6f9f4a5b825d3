"""Weights and match probabilities of all pairs by general tools: ``python evidence_peers.py MODEL FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

LEVELS = ("agree", "partial", "differ", "missing")


def splink(data: dict[str, np.ndarray], model: dict) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of a linker that is given m, u and the prior; its match weight has the prior in it."""
    from splink import DuckDBAPI, Linker

    levels = pd.DataFrame(model["levels"], columns=["name", "level", "m", "u"])
    condition = {"agree": "{0}_l = {0}_r", "partial": "abs({0}_l - {0}_r) = 1", "differ": "ELSE"}
    comparisons = [
        {
            "output_column_name": name,
            "comparison_levels": [
                {"sql_condition": f"{name}_l is null or {name}_r is null", "is_null_level": True},
                *(
                    {
                        "sql_condition": condition[line.level].format(name),
                        "m_probability": line.m,
                        "u_probability": line.u,
                    }
                    for line in own.itertuples()
                ),
            ],
        }
        for name, own in levels.groupby("name", sort=False)
    ]
    settings = {
        "link_type": "link_only",
        "unique_id_column_name": "i",
        "comparisons": comparisons,
        "blocking_rules_to_generate_predictions": ["1=1"],
        "probability_two_random_records_match": model["prior"],
    }
    api, frames = DuckDBAPI(), []
    for side in ("puf", "eif"):
        frame = pd.DataFrame(data[side], columns=[f"x{at}" for at in range(data[side].shape[1])]).astype("Int64")
        frame = frame.mask(frame < 0).assign(i=np.arange(len(frame)))
        frames.append(api.register(frame, dataset_display_name=side[0]))
    scored = Linker(frames, settings).inference.predict().as_pandas_dataframe()
    swap = scored["source_dataset_l"].str.startswith("e").to_numpy()
    puf, eif = (np.where(swap, scored[b], scored[a]) for a, b in (("i_l", "i_r"), ("i_r", "i_l")))
    weight, probability = (np.full((len(data["puf"]), len(data["eif"])), np.nan) for _ in range(2))
    odds = np.log2(model["prior"]) - np.log2(1 - model["prior"])
    weight[puf, eif] = scored["match_weight"] - odds
    probability[puf, eif] = scored["match_probability"]
    return weight, probability


def recordlinkage(data: dict[str, np.ndarray], model: dict) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of its classifier on comparison vectors, with the parameters put in place of fitted ones."""
    from recordlinkage import NaiveBayesClassifier

    vectors = data["level"].reshape(-1, data["level"].shape[2]).astype(float)
    names = [f"x{at}" for at in range(vectors.shape[1])]
    features = pd.DataFrame(vectors, columns=names)
    classifier = NaiveBayesClassifier(binarize=None)
    links = features.index[:: max(len(features) // 100, 1)]
    classifier.fit(features, links)  # learns which levels there are
    known = {(name, level): (m, u) for name, level, m, u in model["levels"]}
    columns = [
        known.get((name, LEVELS[int(code)]), (1.0, 1.0))
        for name, codes in zip(names, classifier.kernel.labels_, strict=True)
        for code in codes
    ]
    m, u = np.log(np.array(columns)).T
    classifier.kernel.feature_log_prob_ = np.stack([u, m])
    weight_of = classifier.kernel._joint_log_likelihood
    classifier.kernel.class_log_prior_ = np.zeros(2)
    likelihood = weight_of(vectors)
    classifier.kernel.class_log_prior_ = np.log([1 - model["prior"], model["prior"]])
    shape = data["level"].shape[:2]
    weight = (likelihood[:, 1] - likelihood[:, 0]) / np.log(2)
    return weight.reshape(shape), classifier.prob(features).to_numpy().reshape(shape)


if __name__ == "__main__":
    model, data = json.loads(Path(sys.argv[1]).read_text()), dict(np.load(sys.argv[2]))
    out = {}
    for peer in (splink, recordlinkage):
        out[f"{peer.__name__}_weight"], out[f"{peer.__name__}_probability"] = peer(data, model)
    np.savez(Path(sys.argv[2]).with_name("evidence-peers.npz"), **out)
