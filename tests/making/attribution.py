"""Makes the results folder of a study of attribute disclosure."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.matching import people
from making.report import write_computed
from making.studies import as_text
from reident.attribution import assessment, prepare
from reident.attribution import step as attribution_step
from reident.study import model as study

LEARNT = {
    "released": [{"path": "released_1.csv", "id": "person"}, {"path": "released_2.csv", "id": "person"}],
    "original": {"path": "original.csv", "id": "person"},
    "keys": ["sex", {"name": "age", "type": "numeric"}, "region"],
    "targets": ["job", {"name": "income", "type": "numeric", "missing": ["-9"], "within": {"relative": "0.1"}}],
}
WITHOUT_ID = {
    **LEARNT,
    "released": [{"path": "released_1.csv"}],
    "original": {"path": "original.csv"},
    "targets": ["job"],
}
HELD_OUT = {**WITHOUT_ID, "holdout": {"path": "holdout.csv"}}


def drawn(seed: int, n: int) -> pd.DataFrame:
    """Draw a file of text."""
    return people(np.random.default_rng(seed), n).astype(str)


def perturbed(file: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Exchange the jobs of some records."""
    draw = np.random.default_rng(seed)
    moved = np.flatnonzero(draw.random(len(file)) < 0.2)
    jobs = file["job"].to_numpy().copy()
    jobs[moved] = jobs[draw.permutation(moved)]
    return file.assign(job=jobs)


def texts(options: dict[str, Any], n: int = 300) -> dict[str, pa.Table]:
    """Return the files of a study of these options, by side."""
    original = drawn(4, n)
    files = {"attribution_original": original}
    for at, _ in enumerate(options["released"], start=1):
        files[f"attribution_released_{at}"] = perturbed(original, at)
    if "holdout" in options:
        files["attribution_holdout"] = drawn(5, n // 2)
    return {side: as_text(file) for side, file in files.items()}


def write_learnt(folder: Path, options: dict[str, Any] = LEARNT, *, n: int = 300, **keys: Any) -> Path:
    """Write the results of a study of `attribute_disclosure` alone, and return their folder.

    ``common`` gives nearly all records the same job.
    """
    common = keys.pop("common", False)
    spec = study.Study.model_validate({"id": "learnt", "attribute_disclosure": options, **keys})
    files = texts(options, n)
    if common:
        jobs = pa.array(["1"] * (n - 1) + ["2"])
        files = {side: text.set_column(4, "job", jobs) for side, text in files.items()}
    prepared = prepare.prepare(attribution_step.attribution_files(spec), files)
    assessed = assessment.assess(attribution_step.attribution_rules(spec), *prepared[:4])
    tables = {**prepared._asdict(), **assessed._asdict()}
    step = "assess_attribution"
    return write_computed(
        folder, "attribution", step, study.canonical_json(spec), tables, attribute_disclosure=prepared.warnings
    )
