"""What other tests make of matching-based risk."""

from pathlib import Path
from typing import Any

import pandas as pd
from making.changes import HEAD, Change, forms, typings, under
from making.matching import SUBSETS, write_matching
from making.variants import vary

MATCHING: list[Change] = [
    *HEAD,
    *forms("matching.confidential", "people"),
    *forms("matching.synthetic.0", "synthetic"),
    {"matching.confidential.id": None, "matching.synthetic.0.id": None},
    {"matching.synthetic.0.id": ["id"]},
    {"matching.confidential.pad": {"school": "2"}, "matching.synthetic.0.pad": {"school": "2"}},
    *typings("matching.synthesized.1"),
    *typings("matching.known.1"),
    {"matching.known": None, "matching.scenarios": [{"name": "one", "known": ["age"]}]},
    {"matching.scenarios": [{"name": "two", "known": [{"name": "weight", "missing": ["1"], "integer_coded": True}]}]},
    {"matching.known": "all-subsets", "matching.candidates": ["age", "sex"], "matching.max_known": "1"},
    {"matching.known": "all-subsets",
     "matching.candidates": ["age", {"name": "sex", "missing": ["2"], "integer_coded": True}]},
    {"matching.radius": {"income": {"absolute": "5"}}},
    {"matching.radius": {"income": {"relative": "0.2"}, "age": {"absolute": "1"}}},
    {"matching.interval": "open"},
    {"matching.closest": {}},
    {"matching.closest": {"variables": ["age", "income"], "holdout": {"path": "synthetic.csv"}}},
    {"matching.closest": {"holdout": {"path": "people.csv", "pad": {"school": "2"}}}},
    *(
        {"matching.closest": {"holdout": under(form, "matching.closest.holdout")}}
        for form in forms("matching.closest.holdout", "people")
    ),
    {"matching.closest": {"holdout": {"path": "synthetic.csv"}}, "decision": {"nearer_excess_at_most": "0.1"}},
    {"matching.missing": "each_other"},
    {"matching.targets": {"variable": "sex", "equals": ["1"]}},
    {"matching.uncertain_targets": {"sampling_fraction": "0.3"}},
    {"matching.uncertain_targets": {"population_count": "weight"}},
    {"matching.targets": [{"variable": "age", "at_least": "30", "at_most": "55"}]},
    {"decision": {"expected_match_risk_at_most": "3"}},
    {"decision": {"true_match_rate_at_most": "0.1"}},
    {"decision": {"false_match_rate_at_least": "0.5"}},
]  # fmt: skip
SYNTHETIC: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": "60"},
    {"simulate.records": "45"},
    {"simulate.copies": "2"},
    {"simulate.noise": "0.5"},
    {"simulate.rounding": "1000"},
    {"simulate.missing": "0.4"},
    {"matching.missing": "each_other"},
]
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "matching": (
        {
            "matching": {
                "confidential": {"path": "people.csv", "id": "id"},
                "synthetic": [{"path": "synthetic.csv"}],
                "known": [{"name": "age"}, {"name": "sex"}],
                "synthesized": [{"name": "income"}, {"name": "school"}],
            }
        },
        MATCHING,
    ),
    "synthetic": (
        {
            "simulate": {
                "kind": "synthetic-survey",
                "households": "50",
                "records": "40",
                "copies": "1",
                "holdout": "9",
            },
            "matching": {"known": ["AGE", "SEX"], "synthesized": ["OCC"], "closest": {}},
        },
        SYNTHETIC,
    ),
}


def altered(summary: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    """Return the summary of another study, of lower risk."""
    columns = ["expected_match_risk", "true_match_rate"]
    return summary.assign(**summary[columns] / (1 + at))


COMPARED = {"matching": altered}


def with_subsets(folder: Path) -> Path:
    """Write results for the figures, and variants."""
    return vary(write_matching(folder, SUBSETS))


FIGURES = {"matching": with_subsets, "variants_matching": with_subsets}
