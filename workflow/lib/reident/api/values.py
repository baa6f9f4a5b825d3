"""`reident.confirm_values`: what a released file without records of people tells about persons (METHODS §14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from reident.api.linked import with_codes, with_names
from reident.api.study import StudyFiles, file_section, named, of_frames, with_missing
from reident.api.tables import Tables, made_by, threads_or_all
from reident.errors import InputError
from reident.linkage.metrics.contract import ScoringContext
from reident.values import prepare, rates, step


def confirm_values(
    released: StudyFiles | pd.DataFrame,
    external: pd.DataFrame | None = None,
    confidential: pd.DataFrame | None = None,
    /,
    *,
    variables: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
    learn: Sequence[str | Mapping[str, Any]] = (),
    within: Mapping[str, float] | None = None,
    person: str | Sequence[str] = "person",
    strata: Sequence[str | Mapping[str, Any]] = (),
    metrics: Iterable[str] | Mapping[str, Mapping[str, Any]] = ("euclidean",),
    threads: int | None = None,
) -> Tables:
    """Link persons to released records, and confirm what is learnt about them by their confidential values.

    Parameters
    ----------
    released, external, confidential : pandas.DataFrame
        The released file, the external intruder file, and the confidential values of persons; NaN is missing. Instead
        of the three, a study of :func:`reident.read_study` with the section `confirm`, which takes none of the keys
        below.
    variables, strata, metrics
        As in :func:`reident.attack`; the external file has them and the released one, and the strata the confidential
        file too.
    learn : sequence of str or mapping
        The variables that the intruder learns from a released record.
    within : mapping, optional
        By numeric variable, the largest difference at which values agree.
    person : str or sequence of str
        The columns that name a person in the external and the confidential file.
    threads : int, optional
        By default one for each processor. No number depends on it.

    Returns
    -------
    Tables
        The tables of `values/` in docs/DATA.md: ``rates``, ``strata``, ``account``, ``warnings``.

    Raises
    ------
    reident.errors.InputError
        With the file, the column and the row (from 1), what is wrong, and what to do; never with a value.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> released = pd.DataFrame({"age": [34, 61, 47], "race": ["A", "B", "A"]})
    >>> external = pd.DataFrame({"person": ["x", "y"], "age": [34, 61]})
    >>> confidential = pd.DataFrame({"person": ["x", "y", "z"], "age": [34, 61, 20], "race": ["A", "B", "A"]})
    >>> found = reident.confirm_values(released, external, confidential, variables={"age": "numeric"}, learn=["race"])
    >>> found.rates[["people", "putative", "precision", "guess"]].head(2)
        people  putative  precision     guess
    0      all       2.0        1.0  0.500000
    1  unusual       1.0        1.0  0.333333
    """
    study = released
    if not isinstance(study, StudyFiles):
        if external is None or confidential is None:
            raise TypeError("`confirm_values` takes a study, or three data frames: released, external and confidential")
        frames = named(puf=study, eif=external, iuf=confidential)
        of_learnt = [frames["puf"], frames["iuf"]]
        sections: dict[str, Any] = {
            "files": {
                "puf": file_section("puf"),
                "eif": file_section("eif", id=person),
                "iuf": file_section("iuf", eif_id=person),
            },
            "linking_variables": [with_codes(one, frames) for one in with_names(variables)],
            "strata": [with_codes(one, frames) for one in strata],
            "metrics": metrics if isinstance(metrics, Mapping) else {name: {} for name in metrics},
            "confirm": {
                "by": "values",
                "learn": [_with_missing(one, of_learnt) for one in learn],
                "within": within or {},
            },
        }
        study = of_frames(sections, frames)
    if study.model.confirm is None:
        raise InputError(f"{study.path}: the study has no `confirm`. Add the section, or call another function.")
    settings = step.confirming(study.model)
    prepared = prepare.prepare(settings, study.texts(settings.extracts))
    context = ScoringContext(threads=threads_or_all(threads), functions=study.functions)
    made = rates.confirm(settings, prepared, context)
    tables = SimpleNamespace(**made._asdict(), account=prepared.account, warnings=prepared.warnings)
    return made_by("confirm_values", tables)


def _with_missing(variable: str | Mapping[str, Any], frames: Sequence[pd.DataFrame]) -> dict[str, Any]:
    section = {"name": variable} if isinstance(variable, str) else variable
    name = section.get("column", section.get("name"))
    return with_missing(section, {str(at): frame.get(name) for at, frame in enumerate(frames)}, by_side=False)
