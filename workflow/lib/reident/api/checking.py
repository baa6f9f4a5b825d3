"""The warnings of an attack in memory, on its files, their description and its results (METHODS §1.1, §2, §4)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import pandas as pd
import pyarrow as pa

from reident.api.frames import frame_text
from reident.api.study import StudyFiles
from reident.errors import InputError
from reident.intake import step as intake_step
from reident.intake.prepare import PreparedFiles
from reident.linkage import calibration
from reident.linkage.attack import Attack
from reident.linkage.metrics import REGISTRY
from reident.linkage.strata import Strata
from reident.plausibility import check, grouping
from reident.plausibility import step as plausibility_step
from reident.verdict import step as verdict_step
from reident.verdict import warnings

SIDES = ("puf", "eif")


def check_description(
    study: StudyFiles, drawn: Mapping[str, pd.DataFrame], typed: PreparedFiles, stratified: Strata
) -> pd.DataFrame:
    """Check the description of a study as its step does; ``drawn`` are the files that the study makes."""
    prepared, strata = ({side: getattr(tables, side) for side in SIDES} for tables in (typed, stratified))
    account = pd.concat([typed.account, stratified.account])
    texts = _grouping_texts(study, drawn) if grouping.is_of_rows(prepared) else {}
    return check.check(plausibility_step.checking(study.model), prepared, typed.iuf, strata, account, texts)


def _grouping_texts(study: StudyFiles, drawn: Mapping[str, pd.DataFrame]) -> dict[str, pa.Table]:
    """Return the text of the columns of both files that may group rows."""
    settings, frames = intake_step.preparing(study.model), {**drawn, **study.frames}
    paths = {side: study.path.parent / settings.file(side).path for side in SIDES if side not in frames}
    columns = grouping.further(settings, paths, {side: list(frames[side]) for side in SIDES if side in frames})
    for side in columns.keys() & study.frames.keys():
        columns[side] = [name for name in columns[side] if _has_text(study.frames[side], name)]
    wanted = grouping.extracts(settings, columns)
    return {side: pa.concat_tables(batches) for side, batches in study.texts(wanted, made=drawn).items()}


def _has_text(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column can be read: one that the study does not name may hold anything."""
    with contextlib.suppress(InputError):
        frame_text("", frame, [name], [])
        return True
    return False


def warnings_of(
    study: StudyFiles, typed: PreparedFiles, stratified: Strata, checks: pd.DataFrame, made: Attack
) -> pd.DataFrame:
    """Return all warnings of an attack but those on the limits of the study, the gravest first."""
    tables = {"strata/account.csv": stratified.account, "plausibility.csv": checks, "rates.csv": made.rates}
    if made.weights is not None:
        tables["weights/model.csv"] = model = made.weights.model
        (pairs,) = (one.positions for name, one in made.metrics.items() if REGISTRY[name].weighs)
        tables["weights/calibration.csv"] = calibration.calibrate(pairs, model)
    if made.members is not None:
        tables["units/sizes.csv"] = made.members.sizes
    of_results = warnings.of_attack(verdict_step.judging(study.model), tables)
    return warnings.gravest_first(pd.concat([typed.warnings, of_results], ignore_index=True))
