"""Makes the results folder of a study of synthetic data."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.report import write_computed
from making.studies import as_text
from making.warnings import Sentence, warning_table
from reident.distances import measure as closest
from reident.distances import step as closest_step
from reident.matching import prepare as intake
from reident.matching import step as matching_step
from reident.matching.section import Matching
from reident.matching.summary import Matched, match_files
from reident.study import model as study

Change = Callable[[pd.DataFrame, int], pd.DataFrame]

MATCHING = {
    "confidential": {"path": "confidential.csv"},
    "synthetic": [{"path": f"synthetic_{file}.csv"} for file in (1, 2, 3)],
    "known": ["sex", "region"],
    "scenarios": [{"name": "neighbour", "known": ["sex", "age", "region"]}, {"name": "stranger", "known": []}],
    "synthesized": ["job", {"name": "income", "missing": ["-9"]}],
    "radius": {"income": {"relative": "0.1"}, "age": {"absolute": "1"}},
}
WITH_HOLDOUT = {**MATCHING, "closest": {"holdout": {"path": "holdout.csv"}}}
SUBSETS = {
    **{key: value for key, value in MATCHING.items() if key != "known"},
    "known": "all-subsets",
    "candidates": ["sex", "age", "region"],
}


def people(draw: np.random.Generator, n: int) -> pd.DataFrame:
    """Draw people; the income of a few is not stated."""
    income = np.where(draw.random(n) < 0.05, -9, np.round(np.exp(draw.normal(10, 0.7, n)), -2)).astype(int)
    columns = {
        "person": np.arange(n), "sex": draw.integers(1, 3, n), "age": draw.integers(18, 70, n),
        "region": draw.integers(1, 5, n), "job": draw.integers(0, 9, n), "income": income,
    }  # fmt: skip
    return pd.DataFrame(columns)


def matched(options: Matching, confidential: pa.Table, *synthetic: pa.Table) -> Matched:
    """Type the texts of files, and match them."""
    prepared = intake.prepare(matching_step.matched_files(options), confidential, synthetic)
    return match_files(matching_step.match_rules(options), prepared.confidential, prepared.synthetic)


def write_matching(
    folder: Path,
    matching: dict[str, Any] = MATCHING,
    *,
    n: int = 300,
    change: Change = lambda copy, _: copy,
    warnings: Sequence[Sentence] = (),
    holdout: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    **keys: Any,
) -> Path:
    """Write the results of a study of `matching` alone, computed by the library, and return their folder.

    `change` returns the columns of a synthetic file from these columns and the number of the file, and `holdout` those
    of the holdout from the confidential file; if absent, other people are drawn.
    """
    spec = study.Study.model_validate({"id": "synthetic", "matching": matching, **keys})
    draw = np.random.default_rng(4)
    files = [people(draw, n)]
    for number, _ in enumerate(spec.matched.synthetic, start=1):
        copy = files[0].copy()
        copy["job"] = people(draw, n)["job"]
        copy["income"] = files[0]["income"].sample(frac=1, random_state=1).to_numpy()
        files.append(change(copy, number))
    tables = [as_text(file) for file in files]
    held = None
    if spec.matched.holdout is not None:
        held = as_text(holdout(files[0]) if holdout else people(draw, n))
    prepared = intake.prepare(matching_step.matched_files(spec.matched), tables[0], tables[1:], holdout=held)
    summaries = match_files(matching_step.match_rules(spec.matched), prepared.confidential, prepared.synthetic)
    made = {**summaries._asdict(), **prepared._asdict()}
    if spec.matched.closest is not None:
        files = prepared.confidential, prepared.synthetic, prepared.holdout
        made |= closest.measure(closest_step.closest_rules(spec), *files)._asdict()
    every_warning = pd.concat([prepared.warnings, warning_table(warnings)])
    return write_computed(folder, "matching", "match", study.canonical_json(spec), made, matching=every_warning)


TRUE = people(np.random.default_rng(4), 300)
"""The people of the confidential file."""
