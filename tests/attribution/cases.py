"""What other tests make of attribute disclosure."""

from typing import Any

from making.attribution import write_learnt
from making.changes import DATE, HEAD, Change, forms, labelled, typings, under

LEARNT: list[Change] = [
    *HEAD,
    *forms("attribute_disclosure.original", "people"),
    *forms("attribute_disclosure.released.0", "synthetic"),
    {"attribute_disclosure.original.id": None, "attribute_disclosure.released.0.id": None},
    {"attribute_disclosure.original.id": None},
    {"attribute_disclosure.original.pad": {"school": "2"}, "attribute_disclosure.released.0.pad": {"school": "2"}},
    *typings("attribute_disclosure.keys.1"),
    *typings("attribute_disclosure.targets.1"),
    labelled("attribute_disclosure.keys.1"),
    labelled("attribute_disclosure.targets.1"),
    {"attribute_disclosure.keys.0.type": "numeric"},
    {"attribute_disclosure.keys.0.type": "numeric",
     "attribute_disclosure.keys.0.convert": {"times": "2", "plus": "1"}},
    {"attribute_disclosure.keys.0.name": "years", "attribute_disclosure.keys.0.column": "age"},
    {"attribute_disclosure.keys": [{"name": "since", **DATE}, {"name": "sex"}, {"name": "region"}]},
    {"attribute_disclosure.targets": [{"name": "since", **DATE, "within": {"absolute": "60"}}, {"name": "school"}]},
    {"attribute_disclosure.keys.1.recode": {"3": "2"}},
    {"attribute_disclosure.keys.1.order": ["1", "2", "3", "-9"]},
    {"attribute_disclosure.targets.1.recode": {"3": "2"}},
    {"attribute_disclosure.targets.1.order": ["1", "2", "3", "-9"]},
    {"attribute_disclosure.targets.1.name": "class", "attribute_disclosure.targets.1.column": "school"},
    {"attribute_disclosure.max_keys": "1"},
    {"decision": {"disco_at_most": "0.1"}},
    {"decision": {"disco_at_most": {"school": "0.2"}}},
    {"attribute_disclosure.sets": [["sex"], ["sex", "region"]]},
    {"attribute_disclosure.missing": "category"},
    {"attribute_disclosure.targets.0.within": {"absolute": "1000"}},
    {"attribute_disclosure.targets.0.convert": {"times": "2", "plus": "1"}},
    {"attribute_disclosure.released": [{"path": "synthetic.csv", "id": "id"}, {"path": "people.csv"}]},
    {"attribute_disclosure.holdout": {"path": "synthetic.csv"}},
    *(
        {"attribute_disclosure.holdout": under(form, "attribute_disclosure.holdout")}
        for form in forms("attribute_disclosure.holdout", "people")
    ),
    {"attribute_disclosure.holdout": {"path": "people.csv", "pad": {"school": "2"}}},
    {"binning.bins": "3"},
]  # fmt: skip
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "learnt": (
        {
            "attribute_disclosure": {
                "original": {"path": "people.csv", "id": "id"},
                "released": [{"path": "synthetic.csv", "id": "id"}],
                "keys": [{"name": "age"}, {"name": "sex"}, {"name": "region"}],
                "targets": [{"name": "income", "type": "numeric", "within": {"relative": "0.2"}}, {"name": "school"}],
            }
        },
        LEARNT,
    )
}
CHANGES: dict[str, list[Change]] = {
    "synthetic": [{"attribute_disclosure": {"released": "synthetic", "keys": ["AGE", "SEX"], "targets": ["OCC"]}}]
}


FIGURES = {"attribution": write_learnt}
