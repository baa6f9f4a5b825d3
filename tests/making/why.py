"""Add what carries the confirmed claims to the results of a mock study."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from reident.linkage.explanation import RECODINGS, VARIABLES

TITLES = ("left out", "width 10", "top 85")


def write_why(
    folder: Path,
    prevented: Sequence[int] = (30, 12, 0),
    n_confirmed: int = 40,
    new: Sequence[int] = (4, 13, 0),
) -> Path:
    """Add tables to the results in a folder: each change of the first variable prevents as many records as given.

    Those of each further variable prevent one record fewer; all confirm as many other records as given.
    """
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    study["why"] = {"recodings": None, "max_size": 4}
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    names = [variable["name"] for variable in study["linking_variables"]]
    (folder / "why").mkdir()
    for metric, options in study["metrics"].items():
        if options is None:
            continue
        counts = [[max(n - at, 0) for n in prevented] for at in range(len(names))]
        recodings = [
            (name, title, n_confirmed, n, n / n_confirmed if n_confirmed else None, more, more - n)
            for name, own in zip(names, counts, strict=True)
            for title, n, more in zip(TITLES, own, new, strict=True)
        ]
        variables = [
            (
                name,
                n_confirmed,
                own[0],
                own[0] / n_confirmed if n_confirmed else None,
                n_confirmed,
                n_confirmed // 2,
            )
            + ((n_confirmed // 4, 1 / (at + 2)) if n_confirmed else (0, None))
            for at, (name, own) in enumerate(zip(names, counts, strict=True))
        ]
        tables = {"recodings": (recodings, RECODINGS), "variables": (variables, VARIABLES)}
        for kind, (rows, columns) in tables.items():
            path = folder / "why" / f"{metric}.{kind}.csv"
            pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return folder
