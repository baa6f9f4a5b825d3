"""What other tests make of the confirmation by values."""

from typing import Any

from making.changes import DATE, Change, labelled, typings
from making.confirmed import write_confirmed

VALUED: list[Change] = [
    {"confirm.learn": ["income"]},
    {"confirm.learn": [{"name": "since", **DATE}], "confirm.within": {"since": "60"}},
    {"confirm.within": {"age": "0", "income": "5"}},
    {"confirm.by": "values"},
    *typings("confirm.learn.0"),
    labelled("confirm.learn.0"),
    {"confirm.learn.0.recode": {"3": "2"}},
    {"confirm.learn.0.order": ["1", "2", "3", "-9"]},
    {"confirm.learn.0.name": "class", "confirm.learn.0.column": "school"},
    {"confirm.learn.1.type": "categorical"},
    {"confirm.learn.1.convert": {"times": "2", "plus": "1"}},
    {"decision": {"excess_precision_at_most": "0.05"}},
    {"metrics": {"taxicab": {}, "adhoc": {}}},
    {"files.puf.path": "people.csv"},
    {"strata": []},
]
KINDS: dict[str, tuple[dict[str, Any], list[Change]]] = {
    "valued": (
        {
            "files": {
                "puf": {"path": "synthetic.csv"},
                "eif": {"path": "eif.csv", "id": ["broker", "serial"]},
                "iuf": {"path": "eif.csv", "eif_id": ["broker", "serial"]},
            },
            "strata": ["region"],
            "linking_variables": [{"name": "sex", "type": "categorical"}, {"name": "age", "type": "numeric"}],
            "metrics": {"euclidean": {}},
            "confirm": {
                "by": "values",
                "learn": [{"name": "school"}, {"name": "income", "type": "numeric"}],
                "within": {"age": "1"},
            },
        },
        VALUED,
    )
}


FIGURES = {"values": write_confirmed}
CELLS = ["values"]
