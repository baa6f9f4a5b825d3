"""The rates of Winkler's metric by the number of variables that must agree (METHODS §4.5)."""

import pandas as pd
import pyarrow as pa
import pytest
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
    assert table["n_alone"].tolist() == [1, 1, 1]  # the first: two pairs share the best rank of the second
    assert table["among_three_rate"].tolist() == [0.2, 0.2, 0.1]


@pytest.mark.parametrize(
    ("scores", "linked", "alone", "few"),
    [
        ([3, 2, 2, 1], 0, 1, 1),
        ([3, 2, 2, 1], 1, 0, 1),  # with those before it, and its equal, among three
        ([3, 2, 2, 1], 3, 0, 0),
        ([3, 2, 2, 2], 1, 0, 0),
        ([3, 3, 1, 1], 1, 0, 1),
        ([3, 3, 3, 3], 1, 0, 0),
    ],
)
def test_first_places_by_the_pairs_up_to_the_rank(scores, linked, alone, few):
    variables = [{"name": name, "type": "numeric"} for name in "abc"]
    part = parts.counting(study(linking_variables=variables, metrics={"winkler": {}}))
    suspected = pairs(*(f"1 {at}" for at in range(4))).append_column("score", pa.array(scores, pa.float64()))
    suspected = suspected.append_column("confirmed", pa.array([at == linked for at in range(4)]))
    rates = pd.DataFrame({"metric": ["winkler"], "stratum": ["ALL"], "n_puf": [10]})
    line = agreements(part, suspected, rates).iloc[0]
    assert (line["n_alone"], line["n_among_three"]) == (alone, few)


def test_the_closest_have_one_line_without_min_agree():
    variables = [{"name": name, "type": "numeric"} for name in "abc"]
    options = {"winkler": {"agreement": {"closest": "2"}}}
    part = parts.counting(study(linking_variables=variables, metrics=options))
    suspected = pairs("1 0", "1 1", "2 0").append_column("score", pa.array([4.0, 9.0, 77.0]))
    suspected = suspected.append_column("confirmed", pa.array([True, False, True]))
    rates = pd.DataFrame({"metric": ["winkler"], "stratum": ["ALL"], "n_puf": [10]})
    table = agreements(part, suspected, rates)
    assert table["min_agree"].isna().tolist() == [True]
    assert table[["n_pairs", "n_suspected", "n_alone"]].to_numpy().tolist() == [[3, 2, 2]]
