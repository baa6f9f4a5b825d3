"""Results of a study that is confirmed by values, computed by the library from the files of the example."""

from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import yaml
from making.report import write_computed
from making.values import EXAMPLE
from reident.linkage.metrics.contract import ScoringContext
from reident.study import model as study
from reident.values import prepare, rates, step

SPEC = yaml.safe_load((EXAMPLE.parent / "example-values.yaml").read_text(encoding="utf-8"))
del SPEC["variants"]


def texts(released: str) -> dict[str, list]:
    """The files of the example as text, by side; the released file is `synthetic` or `reconstructed`."""
    options = pc.ConvertOptions(
        column_types=dict.fromkeys(("person", "block", "sex", "age", "race", "ethnicity"), "string")
    )
    names = {"puf": released, "eif": "broker", "iuf": "population"}
    return {side: [pc.read_csv(EXAMPLE / f"{name}.csv", convert_options=options)] for side, name in names.items()}


def write_confirmed(folder: Path, released: str = "reconstructed", **keys: Any) -> Path:
    """Write the results of the example with one of its released files, and return their folder."""
    spec = study.Study.model_validate({**SPEC, **keys})
    settings = step.confirming(spec)
    prepared = prepare.prepare(settings, texts(released))
    tables = rates.confirm(settings, prepared, ScoringContext())._asdict() | {"account": prepared.account}
    return write_computed(
        folder, "values", "confirm_values", study.canonical_json(spec), tables, confirm=prepared.warnings
    )
