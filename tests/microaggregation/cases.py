"""What other tests make of micro-aggregation."""

from typing import Any

from making.changes import HEAD, Change, forms
from making.microaggregation import write_masked

MASKED: list[Change] = [
    *HEAD,
    *forms("microaggregate", "amounts"),
    {"microaggregate.id": None, "microaggregate.seed": "4"},
    {"microaggregate.pad": {"id": "4", "staff": "3"}},
    {"microaggregate.variables": ["sales"]},
    {"microaggregate.missing": ["7"], "linking_variables.0.missing": ["7"], "linking_variables.1.missing": ["7"]},
    {"linking_variables.0.missing": ["5"]},
    {"linking_variables.0.recode": {"puf": {"4": "7"}, "eif": {"4": "7"}}},
    {"microaggregate.k": "4"},
    {"microaggregate.aggregate": "median"},
    {"microaggregate.sampling_fraction": "0.5"},
    {"microaggregate.corresponding": {"deviating": "1"}},
    {"microaggregate.corresponding": {"by": "0.1"}},
    {"microaggregate.corresponding": {"others_from": "0.02", "others_to": "0.05"}},
    {"microaggregate.seed": "9"},
    {"metrics.winkler.min_agree": "2"},
    {"metrics.winkler.agreement": "midpoint"},
    {"metrics.winkler.agreement": {"nearest": "3"}},
    {"metrics.winkler.agreement": {"closest": "2"}},
]  # fmt: skip
AMOUNTS: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.records": "50"},
    {"simulate.variables": "4"},
    {"simulate.sigma": "0.5"},
    {"simulate.correlation": "0.1"},
    {"microaggregate.k": "5"},
]
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "masked": (
        {
            "microaggregate": {"path": "amounts.csv", "id": "id", "variables": ["sales", "staff"]},
            "linking_variables": [
                {"name": "sales", "type": "numeric"},
                {"name": "staff", "type": "numeric"},
                {"name": "region", "type": "categorical"},
            ],
            "metrics": {"winkler": {}},
        },
        MASKED,
    ),
    "amounts": (
        {
            "simulate": {"kind": "skewed-amounts", "records": "40"},
            "microaggregate": {"variables": ["x1", "x2"]},
            "linking_variables": [{"name": "x1", "type": "numeric"}, {"name": "x2", "type": "numeric"}],
            "metrics": {"winkler": {}},
        },
        AMOUNTS,
    ),
}


FIGURES = {"masked": lambda folder: write_masked(folder).folder}
