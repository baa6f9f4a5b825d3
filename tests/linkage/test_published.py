"""Splink's and recordlinkage's weights and match probabilities for a given model (METHODS §4.6).

published.json has a model with 5 % of values missing and three variables with partial agreement, and both programs'
figures for pairs from the lightest to the heaviest; tests/benchmarks/evidence.py makes it, and compares all pairs.
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reident.linkage.metrics import fellegi_sunter
from reident.linkage.metrics.contract import Estimates, ScoringContext
from reident.linkage.metrics.fellegi_sunter import Options
from reident.linkage.metrics.levels import LEVELS
from reident.linkage.pairing import Pairing, Records, Scope
from reident.linkage.settings import OrderedVariable
from reident.linkage.weights import weight

KEPT = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
NAMES = list(dict.fromkeys(name for name, *_ in KEPT["levels"]))
PARTIAL = tuple(name for name, level, *_ in KEPT["levels"] if level == "partial")
CODE = {"agree": 5, "partial": 6, "differ": 9, "missing": -1}
"""The code of an EIF value that has a level with the code 5."""


def scored():
    """Score a PUF record of fives with one EIF record for each of the pairs; its pair is at the same place."""
    levels = pd.DataFrame(
        [(name, level, weight(m, u)) for name, level, m, u in KEPT["levels"]], columns=["variable", "level", "weight"]
    )
    model = pd.DataFrame({"prior": [KEPT["prior"]], "least_weight": [-1000.0]})
    codes = np.array([[CODE[level] for level in pair["levels"]] for pair in KEPT["pairs"]], np.int32)
    sides = [np.full((1, len(NAMES)), 5, np.int32), codes]
    numbers = [np.full(own.shape, np.nan) for own in sides]
    variables = tuple(OrderedVariable(name, "numeric") for name in NAMES)
    records = [Records(*own) for own in zip(sides, numbers, strict=True)]
    pairing = Pairing(variables, *records, (None,) * len(NAMES), np.ones(len(NAMES)), Scope(*numbers))
    options = Options(levels="bins", competition=False, frequency=False, partial=PARTIAL, threshold={"weight": -1000})
    found = fellegi_sunter.score(pairing, options, ScoringContext(len(codes), weights=Estimates(levels, model)))
    totals = np.full(len(codes), math.nan)
    totals[found.eif] = found.score
    return totals


@pytest.mark.parametrize("peer", ["splink", "recordlinkage"])
def test_weights_and_probabilities_are_those_of_the_programs(peer):
    assert {level for pair in KEPT["pairs"] for level in pair["levels"]} == set(LEVELS)
    totals = scored()
    theirs = [pair[f"{peer}_weight"] for pair in KEPT["pairs"]]
    np.testing.assert_allclose(totals, theirs, rtol=0, atol=1e-9)
    probability = fellegi_sunter.match_probability(totals, KEPT["prior"])
    expected = [pair[f"{peer}_probability"] for pair in KEPT["pairs"]]
    np.testing.assert_allclose(probability, expected, rtol=1e-9, atol=0)
    assert probability.min() < 1e-6
    assert probability.max() > 0.99
