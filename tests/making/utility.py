"""Add what protection does to the data to the results of a mock study: measures of a few drawn records."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from reident.linkage.parts import Variable
from reident.sections.utility import Utility
from reident.utility.measure import Measured, measure
from reident.utility.parts import Measuring

N = 80


def write_utility(folder: Path, *, changed: float = 0.3, **options: Any) -> Path:
    """Add utility to the results of a study with a file before protection, which changes a share of the values."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    utility = Utility.model_validate(options)
    strata = [Variable(one["name"], "categorical") for one in study["strata"]]
    linking = [Variable(one["name"], one["type"]) for one in study["linking_variables"]]
    measured = draw((*strata, *linking), utility, changed)
    (folder / "utility").mkdir()
    for name, table in measured._asdict().items():
        table.to_csv(folder / f"utility/{name}.csv", index=False)
    study["utility"] = utility.model_dump(mode="json")
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    return folder


def draw(variables: tuple[Variable, ...], utility: Utility, changed: float) -> Measured:
    """Measure made-up records of these variables, of whose values a share is drawn anew."""
    rng = np.random.default_rng(4)
    files: dict[str, dict[str, Any]] = {side: {"pufid": [f"{at:02d}" for at in range(N)]} for side in "or"}
    for variable in variables:
        values = [rng.integers(0, 60 if variable.type == "numeric" else 3, N) for _ in range(2)]
        released = np.where(rng.random(N) < changed, values[1], values[0])
        for side, own in (("o", values[0]), ("r", released)):
            missing = own == 0
            typed = own.astype(float) if variable.type == "numeric" else own.astype(str)
            files[side][variable.name] = pa.array(typed, mask=missing)
    return measure(Measuring(("pufid",), variables, 5, None, 0.95, utility), *map(pa.table, files.values()))
