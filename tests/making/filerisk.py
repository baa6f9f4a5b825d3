"""Makes files of people, and the results folder of a study of one file's risk."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from making.report import write_computed
from making.studies import as_text
from reident.filerisk import assessment, modelling, numerical_study, profiles, scenarios, thresholds
from reident.filerisk import prepare as intake
from reident.filerisk import step as filerisk_step
from reident.study import model as study

FILE_RISK = {
    "file": {"path": "survey.csv", "id": "pid"},
    "sampling_fraction": 0.1,
    "key_variables": [
        {"name": "age", "type": "numeric", "missing": ["-9"]},
        "sex",
        {"name": "job", "missing": ["-9"]},
        "region",
        "tenure",
    ],
    "special": {"standard_error": 0.05},
}
MODELLED = {
    **FILE_RISK,
    "population_models": {"log_linear": ["main", "two-way", [["age", "sex"], ["job", "region"]]], "household": "pid"},
}
SEVERAL = {
    **FILE_RISK,
    "key_variables": FILE_RISK["key_variables"][:4],
    "sensitive": ["tenure"],
    "scenarios": [
        {"name": "Neighbour", "known": ["age", "sex"], "description": "Lives next door."},
        {"name": "Employer", "known": ["job", "age", "sex"]},
    ],
    "key_sets": {"up_to": 2},
}
POPULATION = {
    **FILE_RISK,
    "population": {"file": {"path": "census.csv"}, "numerical_study": {"samples": 3, "strata": "region"}},
}


def drawn(n: int, seed: int = 4) -> pd.DataFrame:
    """Return people with a skewed key and missing values."""
    draw = np.random.default_rng(seed)
    age = np.where(draw.random(n) < 0.04, -9, draw.integers(16, 90, n))
    job = np.where(draw.random(n) < 0.03, -9, (draw.random(n) ** 2 * 12).astype(int))
    data = {
        "pid": np.arange(n) + 100,
        "age": age,
        "sex": draw.integers(1, 3, n),
        "job": job,
        "region": (draw.random(n) ** 2 * 5).astype(int) + 1,
        "tenure": (draw.random(n) ** 3 * 4).astype(int),
    }
    return pd.DataFrame(data).astype(str)


def perturbed(people: pd.DataFrame, share: float = 0.2, seed: int = 8) -> pd.DataFrame:
    """Return people of whom a share has the job of another one, and a few no job."""
    draw = np.random.default_rng(seed)
    changed = people.copy()
    swapped = np.flatnonzero(draw.random(len(people)) < share)
    changed.iloc[swapped, changed.columns.get_loc("job")] = people["job"].to_numpy()[np.roll(swapped, 1)]
    changed.iloc[draw.random(len(people)) < 0.02, changed.columns.get_loc("job")] = "-9"
    return changed


def prepared(
    section: dict[str, Any] = FILE_RISK,
    *,
    file: pd.DataFrame | None = None,
    original: pd.DataFrame | None = None,
    n: int = 300,
    **keys: Any,
) -> tuple[study.Study, intake.PreparedRisk]:
    """Return a study and its prepared files; the population has ten times the records of the file."""
    spec = study.Study.model_validate({"id": "risk", "file_risk": section, **keys})
    people = drawn(10 * n)
    sample = people.sample(n, random_state=1) if file is None else file
    return spec, intake.prepare(
        filerisk_step.risk_files(spec),
        as_text(sample),
        as_text(people) if spec.risk.population else None,
        None if original is None else as_text(original),
    )


def write_filerisk(folder: Path, section: dict[str, Any] = FILE_RISK, **keys: Any) -> Path:
    """Write the results of a study of `file_risk` alone, computed by the library, and return their folder."""
    spec, files = prepared(section, **keys)
    assessed = assessment.assess(
        filerisk_step.assessment(spec), files.file, files.population, files.original, files.categories
    )
    tables = {**assessed._asdict(), "categories": files.categories}
    tables |= {"account": files.account, "warnings": files.warnings}
    if spec.risk.population and spec.risk.population.numerical_study:
        tables |= numerical_study.run(filerisk_step.sampling(spec), files.population)._asdict()
    if spec.risk.population_models:
        modelled = modelling.model(filerisk_step.modelling(spec), files.file, files.population)
        tables |= {"population": modelled.population_models, "individual_classes": modelled.individual_classes}
    if spec.risk.scenarios or spec.risk.key_sets:
        tables |= scenarios.assess(filerisk_step.intruder_rules(spec), files.file, files.population)._asdict()
    tables |= thresholds.measure(
        filerisk_step.comparing_risks(spec), files.file, files.population, files.categories
    )._asdict()
    if spec.risk.units:
        tables["units"] = profiles.assess(filerisk_step.profiling(spec), files.file)
    (folder / "filerisk").mkdir(parents=True)
    pq.write_table(assessed.records, folder / "filerisk" / "records.parquet")
    return write_computed(
        folder, "filerisk", "assess_file", study.canonical_json(spec), tables, file_risk=files.warnings
    )
