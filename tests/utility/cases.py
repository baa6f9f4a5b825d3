"""What other tests make of utility."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.additions import amend, study_of
from making.changes import Change
from making.report import Shape, write_results
from making.variants import PROTECTION, add_variants
from reident.linkage.settings import Variable
from reident.utility.measure import Measured, measure
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings


def write_utility(folder: Path, *, changed: float = 0.3, **options: Any) -> Path:
    """Add utility to the results of a study with a file before protection, which changes a share of the values."""
    study, utility = study_of(folder), Utility.model_validate(options)
    strata = [Variable(one["name"], "categorical") for one in study["strata"]]
    linking = [Variable(one["name"], one["type"]) for one in study["linking_variables"]]
    (folder / "utility").mkdir()
    for name, table in measured((*strata, *linking), utility, changed)._asdict().items():
        table.to_csv(folder / f"utility/{name}.csv", index=False)
    return amend(folder, utility=utility.model_dump(mode="json"))


def measured(variables: tuple[Variable, ...], utility: Utility, changed: float, n: int = 80) -> Measured:
    """Measure made-up records of these variables, of whose values a share is drawn anew."""
    rng = np.random.default_rng(4)
    files: dict[str, dict[str, Any]] = {side: {"pufid": [f"{at:02d}" for at in range(n)]} for side in "or"}
    for variable in variables:
        values = [rng.integers(0, 60 if variable.type == "numeric" else 3, n) for _ in range(2)]
        released = np.where(rng.random(n) < changed, values[1], values[0])
        for side, column in (("o", values[0]), ("r", released)):
            typed = column.astype(float) if variable.type == "numeric" else column.astype(str)
            files[side][variable.name] = pa.array(typed, mask=column == 0)
    return measure(UtilitySettings(("pufid",), variables, 5, None, 0.95, utility), *map(pa.table, files.values()))


CHANGES: dict[str, list[Change]] = {
    "linked": [
        {"files.original": {"path": "puf.csv"}, "utility": {}},
        {"files.original": {"path": "puf.csv"}, "utility": {"loss": "overlap"}},
        {"files.original": {"path": "puf.csv"}, "utility": {"interactions": "2"}},
        {
            "files.original": {"path": "puf.csv"},
            "utility": {"regression": {"response": "income", "predictors": ["age", "sex"]}},
        },
    ],
    "survey": [{"simulate.original": "true", "utility": {"loss": "pairwise"}}],
}


def altered(summary: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    """Return the utility of another study: more is lost where the rates are lower."""
    columns = ["values_changed", "pmse", "pmse_ratio", "loss"]
    return summary.assign(**summary[columns] * (1 + at / 2))


COMPARED = {"utility": altered}
CELLS = ["utility"]
HOUSEHOLDS: Change = {"utility": {}}


def before_protection(folder: Path) -> Path:
    """Write results of a study with a file before protection, and its variants."""
    labels = [{"protection": name} for name in ("weak", "strong")]
    return add_variants(write_utility(write_results(folder, Shape(original=True))), [PROTECTION], labels)


FIGURES = {"utility": before_protection}
