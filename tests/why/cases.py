"""What other tests make of the explanation of claims."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from making.additions import amend, metrics_of, study_of
from making.changes import Change
from making.report import Shape, write_results
from reident.pipeline.tables import TABLES


def write_why(
    folder: Path, prevented: Sequence[int] = (30, 12, 0), n_confirmed: int = 40, new: Sequence[int] = (4, 13, 0)
) -> Path:
    """Add tables to the results in a folder: each change of the first variable prevents as many records as given.

    Those of each further variable prevent one record fewer; all confirm as many other records as given.
    """
    n, titles, recodings, variables = n_confirmed, ("left out", "width 10", "top 85"), [], []
    for at, variable in enumerate(study_of(folder)["linking_variables"]):
        lost = [max(count - at, 0) for count in prevented]
        for title, less, more in zip(titles, lost, new, strict=True):
            recodings.append((variable["name"], title, n, less, less / n if n else None, more, more - less))
        sets = (n // 4, 1 / (at + 2)) if n else (0, None)
        variables.append((variable["name"], n, lost[0], lost[0] / n if n else None, n, n // 2, *sets))
    (folder / "why").mkdir()
    for metric in metrics_of(folder):
        for table, rows in zip(TABLES["explain"][1:], (recodings, variables), strict=True):
            path = folder / "why" / f"{metric}.{table.output}.csv"
            pd.DataFrame(rows, columns=table.names).to_csv(path, index=False)
    return amend(folder, why={"recodings": None, "max_size": 4})


CHANGES: dict[str, list[Change]] = {
    "linked": [
        {"why": {}},
        {"why": {"max_size": "2"}, "confirmed_csv": True},
        {"why": {"recodings": [{"variable": "age", "width": "10"}, {"variable": "age", "bottom": "20", "top": "60"}]}},
        {"why": {"recodings": [{"variable": "school", "name": "two levels", "recode": {"1": "low", "2": "low"}}]}},
    ],
    "dated": [
        {"why": {"recodings": [{"variable": "since", "to": "quarter"}]}},
        {"why": {"recodings": [{"variable": "since", "earliest": "1950-01-01", "latest": "2020-12-31"}]}},
    ],
}


FIGURES = {"why": lambda folder: write_why(write_results(folder, Shape()))}
CELLS = ["why"]
HOUSEHOLDS: Change = {"why.max_size": 4}
ATTACKED_AGAIN = {
    "step": "explain",
    "sections": {"why": {}},
    "for_changes_of": {
        "the rank limit",
        "the number of bins",
        "α",
        "the order of categories, which counts for weights",
    },
    "for_options": {"why": {"max_size": "2"}},
}
