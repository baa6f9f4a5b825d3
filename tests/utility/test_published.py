"""pMSE of scikit-learn and statsmodels, and a regression of statsmodels, for two small files (METHODS §13).

tests/benchmarks/utility_peers.py makes published.json. scikit-learn minimises the same penalised loss; statsmodels has
no penalty, and its model has no category that is in one file alone.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from reident.linkage.settings import Variable
from reident.utility.measure import measure
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings

KEPT = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
TYPES = {"age": "numeric", "income": "numeric", "region": "categorical", "sex": "categorical"}


def measured(names=tuple(TYPES), **options):
    n = len(KEPT["original"]["age"])
    files = (
        pa.table({"pufid": [f"{at:03d}" for at in range(n)], **{name: KEPT[side][name] for name in names}})
        for side in ("original", "released")
    )
    settings = UtilitySettings(
        ("pufid",), tuple(Variable(name, TYPES[name]) for name in names), 5, None, 0.95, Utility(**options)
    )
    return measure(settings, *files)


@pytest.mark.parametrize("order", [1, 2])
def test_pmse_is_that_of_scikit_learn(order):
    summary = measured(interactions=order).summary.iloc[0]
    assert summary["pmse"] == pytest.approx(KEPT["pmse"][f"scikit-learn {order}"], rel=1e-7)


def test_pmse_is_that_of_statsmodels():
    summary = measured(("age", "income", "sex")).summary.iloc[0]
    assert summary["pmse"] == pytest.approx(KEPT["pmse"]["statsmodels without region"], rel=1e-6)


def test_intervals_of_the_regression_are_those_of_statsmodels():
    regression = {"response": "income", "predictors": ["age", "region"]}
    lines = measured(regression=regression).estimates.query("estimate == 'coefficient'")
    assert lines["level"].tolist() == ["", "", "E", "S"]
    for side in ("original", "released"):
        found = lines[[side, f"{side}_low", f"{side}_high"]].to_numpy()
        np.testing.assert_allclose(found, KEPT["coefficients"][side], rtol=1e-7)
