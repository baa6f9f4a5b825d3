"""The rates of Winkler's metric by the number of variables that must agree (METHODS §4.5)."""

import pandas as pd
import pyarrow as pa
from making.studies import pairs, study
from reident.linkage.agreements import agreements
from reident.pipeline import parts


def test_the_range_of_min_agree():
    variables = [{"name": name, "type": "numeric"} for name in "abc"]
    part = parts.counting(study(linking_variables=variables, metrics={"winkler": {}}))
    suspected = pairs("1 0", "1 1", "2 0", "2 1", "3 0")
    suspected = suspected.append_column("score", pa.array([3.0, 1.0, 2.0, 2.0, 1.0]))
    suspected = suspected.append_column("confirmed", pa.array([True, False, False, True, False]))
    rates = pd.DataFrame({"metric": ["winkler"], "stratum": ["ALL"], "n_puf": [10]})
    table = agreements(part, suspected, rates)
    assert table["min_agree"].tolist() == [1, 2, 3]
    assert table["n_pairs"].tolist() == [5, 3, 1]
    assert table["n_suspected"].tolist() == [3, 2, 1]
    assert table["n_confirmed"].tolist() == [2, 2, 1]
    assert table["confirmed_rate"].tolist() == [0.2, 0.2, 0.1]
