"""What other tests make of the risk of one file."""

from pathlib import Path
from typing import Any

from making.changes import DATE, HEAD, Change, forms, labelled, typings, under
from making.filerisk import POPULATION, write_filerisk
from making.variants import vary

RISK: list[Change] = [
    *HEAD,
    *forms("file_risk.file", "people"),
    {"file_risk.file.id": None},
    {"file_risk.file.pad": {"school": "2"}},
    {"file_risk.original": {"path": "people.csv", "pad": {"school": "2"}}},
    {"file_risk.population": {"file": {"path": "people.csv", "pad": {"school": "2"}}}},
    *typings("file_risk.key_variables.1"),
    labelled("file_risk.key_variables.1"),
    {"decision": {"k_anonymity_at_least": "3"}},
    {"decision": {"k_anonymity_at_least": "3", "records_below_k_at_most": "0.2"}},
    {"decision": {"dis_at_most": "0.1"}},
    {"decision": {"share_above": {"risk": "0.04", "at_most": "0.1"}}},
    {"decision": {"k_map_at_least": "3", "average_risk_at_most": "0.2"}},
    {"decision": {"largest_risk_at_most": "0.1", "population_uniques_at_most": "2"}},
    {"decision": {"expected_reidentifications_at_most": "5"}},
    {"file_risk.population": {"file": {"path": "people.csv"}}, "decision": {"delta_presence_at_most": "0.5"}},
    {"file_risk.key_sets": {"up_to": "1"}, "file_risk.sensitive": ["income"],
     "decision": {"l_diversity_at_least": "2", "t_closeness_at_most": "0.5"}},
    {"file_risk.units": "house"},
    {"file_risk.key_variables": [{"name": "since", **DATE}, {"name": "sex"}]},
    {"file_risk.key_sets": {"up_to": "1"}, "file_risk.sensitive": [{"name": "since", **DATE}]},
    {"file_risk.key_variables.1.recode": {"3": "2"}},
    {"file_risk.key_variables.1.order": ["1", "2", "3", "-9"]},
    {"file_risk.key_variables.0.type": "numeric"},
    {
        "file_risk.key_variables.0.type": "numeric",
        "file_risk.key_variables.0.convert": {"times": "2", "plus": "1"},
    },
    {"file_risk.key_variables.0.name": "years", "file_risk.key_variables.0.column": "age"},
    {"file_risk.missing": "category"},
    {"file_risk.missing": "wildcard"},
    {"file_risk.collapse": [{"variable": "school", "recode": {"1": "2"}}]},
    {"file_risk.original": {"path": "synthetic.csv"}},
    {"file_risk.original": {"path": "synthetic.csv", "id": ["id"]}},
    *(
        {"file_risk.original": under(form, "file_risk.original")}
        for form in forms("file_risk.original", "people")
    ),
    {"file_risk.sampling_fraction": "0.3"},
    {"file_risk.sampling_fraction": None, "file_risk.weight": "weight"},
    {"file_risk.max_order": "2"},
    {"file_risk.weighting": "normalised"},
    {"file_risk.dis_suda": "user-guide"},
    {"file_risk.special": {"standard_error": "0.2"}},
    {"file_risk.special.seed": "7"},
    {"file_risk.population_models": {}},
    {"file_risk.population_models": {"log_linear": ["main"], "household": "region"}},
    {"file_risk.population_models": {"household": ["region", "school"], "seed": "3"}},
    {"file_risk.population_models.log_linear": [[["age", "sex"]], "two-way"]},
    {"file_risk.scenarios": [{"name": "Neighbour", "known": ["age", "sex"], "description": "Next door."}]},
    {"file_risk.scenarios": [{"name": "Employer", "known": ["sex"]}], "decision": {"unique_share_at_most": "0.1"}},
    {"file_risk.scenarios": [{"name": "Employer", "known": ["sex"]}],
     "decision": {"unique_share_at_most": {"Employer": "0.2"}}},
    {"file_risk.key_sets": {}},
    {"file_risk.key_sets": {"variables": ["age", "sex"], "up_to": "2"}},
    {"file_risk.key_sets": {}, "file_risk.sensitive": ["income"]},
    {
        "file_risk.key_sets": {"up_to": "1"},
        "file_risk.sensitive": [
            {
                "name": "place",
                "column": "region",
                "recode": {"N": "E"},
                "order": ["E", "S"],
                "labels": {"E": "east", "S": "south"},
            },
            {"name": "weight", "integer_coded": True},
        ],
    },
    {"file_risk.key_sets": {"up_to": "1"},
     "file_risk.sensitive": [
         {"name": "income", "type": "numeric", "distance": "ordered", "convert": {"times": "2", "plus": "1"}},
         {"name": "weight", "missing": ["4"]},
     ]},
    {"file_risk.population": {"file": {"path": "people.csv"}}},
    {"file_risk.population": {"file": {"path": "people.csv"}, "numerical_study": {"samples": "3"}}},
    {
        "file_risk.population": {
            "file": {"path": "people.csv"},
            "numerical_study": {"samples": "3", "fraction": "0.6", "strata": ["region"], "seed": "5"},
        }
    },
    *(
        {"file_risk.population": {"file": under(form, "file_risk.population.file")}}
        for form in forms("file_risk.population.file", "people")
    ),
    {"binning.bins": "3"},
]  # fmt: skip
AUTHORITIES: list[Change] = [
    {"simulate.seed": "3"},
    {"simulate.households": ["70", "60"]},
    {"simulate.fraction": "0.3"},
    {"file_risk.weighting": "normalised"},
    {"file_risk.population": {"numerical_study": {"samples": "2"}}},
]
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "risk": (
        {
            "file_risk": {
                "file": {"path": "people.csv", "id": "id"},
                "key_variables": [{"name": "age"}, {"name": "school"}, {"name": "sex"}],
                "sampling_fraction": "0.1",
                "special": {"standard_error": "0.1"},
            }
        },
        RISK,
    ),
    "authorities": (
        {
            "simulate": {"kind": "local-authorities", "households": ["60", "50"], "fraction": "0.2"},
            "file_risk": {
                "file": "survey",
                "key_variables": ["AGE", "SEX", "MARSTAT"],
                "sampling_fraction": "0.2",
                "special": {"standard_error": "0.1"},
                "population": {},
            },
        },
        AUTHORITIES,
    ),
}
CHANGES: dict[str, list[Change]] = {
    "survey": [{"file_risk": {"sampling_fraction": "0.1", "special": {"standard_error": "0.1"}}}]
}


def one_file(folder: Path) -> Path:
    """Write results for the figures, and variants."""
    return vary(write_filerisk(folder, ONE_FILE))


ONE_FILE = {
    **POPULATION,
    "population_models": {},
    "scenarios": [{"name": "Employer", "known": ["age", "sex", "job"]}],
    "key_sets": {"up_to": 2},
}
FIGURES = dict.fromkeys(["risk", "variants_risk", "scenarios"], one_file)
