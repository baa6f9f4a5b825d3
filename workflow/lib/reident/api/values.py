"""`reident.confirm_values`: what a released file without records of people tells about persons (METHODS §14)."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from reident.api.frames import Frame, Metrics, Names, Variables, by_name, data_frame, items, with_codes
from reident.api.study import StudyFiles, file_section, of_frames, sole_study
from reident.api.tables import Tables, made_by, threads_or_all, told
from reident.linkage.metrics.contract import ScoringContext
from reident.values import prepare, rates, step


def confirm_values(
    released: StudyFiles | Frame,
    external: Frame | None = None,
    confidential: Frame | None = None,
    /,
    *,
    variables: Variables = (),
    learn: Variables = (),
    within: Mapping[str, float] | None = None,
    person: Names = "person",
    strata: Variables = (),
    metrics: Metrics = ("euclidean",),
    threads: int | None = None,
) -> Tables:
    """Link persons to released records, and confirm what is learnt about them by their confidential values.

    Parameters
    ----------
    released, external, confidential : data frame
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
    reident.InputError
        As :func:`reident.attack` does.

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
    study = sole_study(confirm_values, locals(), "confirm")
    threads = threads_or_all(threads)
    if study is None:
        if external is None or confidential is None:
            raise TypeError("`confirm_values` takes a study, or three data frames: released, external and confidential")
        person = items(person)
        arguments = {"released": released, "external": external, "confidential": confidential}
        puf, eif, iuf = (data_frame(name, value) for name, value in arguments.items())
        linked, of_learnt = {"puf": puf, "eif": eif}, {"puf": puf, "iuf": iuf}
        sections: dict[str, Any] = {
            "files": {
                "puf": file_section("released"),
                "eif": file_section("external", id=person),
                "iuf": file_section("confidential", eif_id=person),
            },
            "linking_variables": with_codes(variables, linked, by_side=True),
            "strata": with_codes(strata, linked, by_side=True),
            "metrics": by_name(metrics),
            "confirm": {"by": "values", "learn": with_codes(learn, of_learnt), "within": within or {}},
        }
        study = of_frames(sections, {**linked, "iuf": iuf})
    settings = step.confirming(study.model)
    prepared = prepare.prepare(settings, study.texts(settings.extracts))
    context = ScoringContext(threads=threads, functions=study.functions)
    made = rates.confirm(settings, prepared, context)
    warnings = told("values/warnings.csv", prepared.warnings)
    tables = SimpleNamespace(**made._asdict(), account=prepared.account, warnings=prepared.warnings)
    return Tables({**made_by("confirm_values", tables), "warnings": warnings})
