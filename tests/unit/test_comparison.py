"""The comparison of variants: one line for each of them, as their own tables have it."""

from types import SimpleNamespace

import pandas as pd
from making.studies import study
from reident.pipeline import comparison

RATES = pd.DataFrame(
    {
        "metric": ["unicity", "unicity", "taxicab", "taxicab"],
        "stratum": ["ALL", "s0001", "ALL", "s0001"],
        "n_puf": [10, 5, 10, 5],
        "conditional_rate": ["0.30000000000000004", "", "0.1", "0.2"],
    }
)


def member(variant, place, **labels):
    return SimpleNamespace(variant=variant, place=place, labels=labels)


def test_every_variant_has_a_line_per_metric_of_the_whole_study_to_the_letter():
    members = [member("k-3", "", k="3"), member("k-10", "variants/k-10", k="10")]
    other = RATES.assign(conditional_rate=["", "", "0.5", "0.6"])
    found = comparison.compare("rates", members, [RATES, other])
    assert found.to_dict("list") == {
        "variant": ["k-3", "k-3", "k-10", "k-10"],
        "reference": ["yes", "yes", "no", "no"],
        "set_k": ["3", "3", "10", "10"],
        "metric": ["unicity", "taxicab", "unicity", "taxicab"],
        "n_puf": [10, 10, 10, 10],
        "conditional_rate": ["0.30000000000000004", "0.1", "", "0.5"],
    }


def test_of_matching_the_mean_of_the_files_is_compared():
    summary = pd.DataFrame({"file": ["1", "mean", "confidential"], "expected_match_risk": ["1", "2", "3"]})
    found = comparison.compare("matching", [member("study", "", seed="1")], [summary])
    assert found.to_dict("list") == {
        "variant": ["study"], "reference": ["yes"], "set_seed": ["1"], "expected_match_risk": ["2"],
    }  # fmt: skip


def test_a_study_compares_what_it_computes_and_nothing_without_variants():
    assert comparison.tables(study()) == []
    assert comparison.tables(study(variants=[{"set": "binning.bins", "values": [3]}])) == ["rates"]
