"""`reident.file_risk`, `matching_risk` and `closest`: the risk of one file, and of synthetic files (METHODS §7, §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from reident.api.study import StudyFiles, file_section, named, of_frames, with_missing
from reident.api.tables import Tables, declared, made_by, threads_or_all
from reident.distances import measure as distances
from reident.distances import premise
from reident.distances import step as closest_step
from reident.filerisk import assessment, thresholds
from reident.filerisk import prepare as filerisk
from reident.filerisk import step as filerisk_step
from reident.filerisk.settings import FILE, ORIGINAL, POPULATION
from reident.intake.records import in_memory
from reident.intake.severity import table
from reident.intake.sources import opened
from reident.matching import prepare as matching
from reident.matching import step as matching_step
from reident.matching import summary
from reident.matching.section import HOLDOUT
from reident.matching.settings import CONFIDENTIAL, synthetic_side

Variables = Sequence[str | Mapping[str, Any]]


def file_risk(
    file: StudyFiles | pd.DataFrame,
    /,
    *,
    keys: Variables = (),
    sampling_fraction: float | None = None,
    weight: str | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the key of a study file
    threads: int | None = None,
    **options: Any,
) -> Tables:
    """Measure the risk of one file: sample uniques, DIS, SUDA and DIS-SUDA.

    Parameters
    ----------
    file : pandas.DataFrame
        The file; NaN is missing. Or a study of :func:`reident.read_study`, which takes none of the keys below.
    keys : sequence of str or mapping
        The key variables, which are compared as categories.
    sampling_fraction : float, optional
        The share of the population in the file. Exactly one of this and `weight`.
    weight : str, optional
        The column of the weights.
    id : str or sequence of str, optional
        The columns that identify a record. By default, its row does, counted from 1.
    threads : int, optional
        By default one for each processor.
    **options
        Further keys of the section `file_risk` of a study file, such as ``max_order=3``.

    Returns
    -------
    Tables
        The tables of `filerisk/` in docs/DATA.md: ``summary``, ``records``, ``variables``, ``risks``, …; and
        ``warnings``, valid input that may be a mistake.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> frame = pd.DataFrame({"age": [30, 30, 40, 50], "sex": ["f", "f", "m", "m"]})
    >>> risk = reident.file_risk(frame, keys=["age", "sex"], sampling_fraction=0.02)
    >>> int(risk.records["unique"].sum())
    2
    """
    if isinstance(file, StudyFiles):
        study = file
    else:
        frames = named(survey=file)
        section = {
            "file": file_section("file", id=id),
            "key_variables": [_with_missing(one, *frames.values()) for one in keys],
            "sampling_fraction": sampling_fraction,
            "weight": weight,
            **options,
        }
        study = of_frames({"file_risk": _given(section)}, frames)
    settings = filerisk_step.risk_files(study.model)
    texts_of = {FILE: settings.side, POPULATION: "population", ORIGINAL: "unperturbed"}
    with opened(settings.extracts, study.texts(settings.extracts, texts_of)) as texts:
        typed = in_memory(texts_of, lambda sinks: filerisk.prepare_files(settings, texts, sinks))
    tables = typed[FILE], typed[POPULATION], typed[ORIGINAL], typed["categories"]
    found = assessment.assess(filerisk_step.assessment(study.model), *tables, threads=threads_or_all(threads))
    sides = typed[FILE], typed[POPULATION], typed["categories"]
    compared = thresholds.measure(filerisk_step.comparing_risks(study.model), *sides, threads=threads_or_all(threads))
    made = {**made_by("assess_file", found), **made_by("measure_thresholds", compared)}
    return _with_warnings(made, "filerisk/warnings.csv", typed["warnings"])


def matching_risk(
    confidential: StudyFiles | pd.DataFrame,
    synthetic: Sequence[pd.DataFrame] = (),
    /,
    *,
    known: Variables = (),
    synthesized: Variables = (),
    radius: Mapping[str, Any] | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the key of a study file
    **options: Any,
) -> Tables:
    """Measure the matching-based risk of synthetic files.

    Parameters
    ----------
    confidential : pandas.DataFrame
        The confidential file; NaN is missing. Or a study of :func:`reident.read_study`, which takes none of the keys
        below.
    synthetic : sequence of pandas.DataFrame
        The synthetic files, whose rows are about the same people in the same order, unless `id` names their key.
    known, synthesized : sequence of str or mapping
        The variables that the intruder knows: those that are not synthesized, and those that are.
    radius : mapping, optional
        By numeric variable, when two numbers are equal: ``{"income": {"relative": 0.1}}``.
    id : str or sequence of str, optional
        The columns that identify a record in all files.
    **options
        Further keys of the section `matching` of a study file, such as ``targets``.

    Returns
    -------
    Tables
        The tables of `matching/` in docs/DATA.md: ``summary``, ``records``, …; and ``warnings``.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> confidential = pd.DataFrame({"age": [30, 40, 50], "income": ["low", "high", "low"]})
    >>> synthetic = pd.DataFrame({"age": [30, 40, 50], "income": ["low", "low", "low"]})
    >>> risk = reident.matching_risk(confidential, [synthetic], known=["age"], synthesized=["income"])
    >>> risk.summary[["file", "expected_match_risk", "unique_matches"]]
               file  expected_match_risk  unique_matches
    0             1                  2.0             2.0
    1          mean                  2.0             2.0
    2  confidential                  3.0             3.0
    """
    study = confidential
    if not isinstance(study, StudyFiles):
        section = {"known": known, "synthesized": synthesized, "radius": radius, **options}
        study = _matched(study, synthetic, None, section, id)
    tables = _matching_tables(study)
    found = summary.match_files(
        matching_step.match_rules(study.model.matched), tables[CONFIDENTIAL], tables["synthetic"]
    )
    return _with_warnings(made_by("match", found), "matching/warnings.csv", tables["warnings"])


def closest(
    confidential: StudyFiles | pd.DataFrame,
    synthetic: pd.DataFrame | Sequence[pd.DataFrame] = (),
    holdout: pd.DataFrame | None = None,
    /,
    *,
    variables: Sequence[str] = (),
    numeric: Sequence[str] | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the key of a study file
    threads: int | None = None,
) -> Tables:
    """Measure the distances of synthetic records to the closest confidential record.

    Parameters
    ----------
    confidential : pandas.DataFrame
        The confidential file; NaN is missing. Or a study of :func:`reident.read_study` with `matching.closest`, which
        takes none of the keys below.
    synthetic : pandas.DataFrame, or sequence of pandas.DataFrame
        The synthetic files.
    holdout : pandas.DataFrame, optional
        People who had no part in the synthesis.
    variables : sequence of str, optional
        By default the columns of the confidential file, without those of `id`.
    numeric : sequence of str, optional
        The variables that are compared as numbers. By default those whose columns have a numeric type.
    id : str or sequence of str, optional
        The columns that identify a record in all files.
    threads : int, optional
        By default one for each processor.

    Returns
    -------
    Tables
        The tables of `matching/` in docs/DATA.md that measure distances: ``closest``, ``records``, …; and ``warnings``.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> confidential = pd.DataFrame({"age": [30, 40, 50], "income": [10, 20, 30]})
    >>> synthetic = pd.DataFrame({"age": [30, 41, 52], "income": [10, 25, 31]})
    >>> found = reident.closest(confidential, synthetic)
    >>> len(found.records)
    3
    """
    study = confidential
    if not isinstance(study, StudyFiles):
        copies = [synthetic] if isinstance(synthetic, pd.DataFrame) else synthetic
        keys = [id] if isinstance(id, str) else list(id or ())
        file = named(confidential=study)["confidential"]
        names = list(variables) or [name for name in file.columns if name not in keys]
        numbers = [name for name in names if _is_number(file.get(name))] if numeric is None else numeric
        section = {
            "known": [],
            "synthesized": names,
            "radius": {name: {"absolute": 0} for name in numbers},
            "closest": {} if holdout is None else {"holdout": file_section(HOLDOUT)},
        }
        study = _matched(study, copies, holdout, section, id)
    tables = _matching_tables(study)
    files = tables[CONFIDENTIAL], tables["synthetic"], tables[HOLDOUT]
    found = distances.measure(closest_step.closest_rules(study.model), *files, threads=threads_or_all(threads))
    # A distance does not depend on which records correspond.
    warnings = [tables["warnings"].query("code not in ('unknown_order', 'by_chance', 'another_key')")]
    if not found.premise.empty:
        warnings.append(table(premise.warnings(found.premise)))
    return _with_warnings(made_by("measure_distances", found), "matching/warnings.csv", pd.concat(warnings))


def _with_warnings(made: Mapping[str, pd.DataFrame], path: str, warnings: pd.DataFrame) -> Tables:
    """Return tables with that of the warnings of reading the files, as the file of this path has it."""
    return Tables({**made, "warnings": declared(path, warnings)})


def _is_number(column: pd.Series | None) -> bool:
    return column is not None and is_numeric_dtype(column) and not is_bool_dtype(column)


def _given(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


def _with_missing(variable: str | Mapping[str, Any], *frames: pd.DataFrame) -> dict[str, Any]:
    name = variable if isinstance(variable, str) else variable.get("name")
    columns = {str(at): frame.get(name) for at, frame in enumerate(frames)}
    return with_missing(variable, columns, by_side=False)


def _matched(
    confidential: pd.DataFrame,
    synthetic: Sequence[pd.DataFrame],
    holdout: pd.DataFrame | None,
    section: Mapping[str, Any],
    key: str | Sequence[str] | None,
) -> StudyFiles:
    """Return the study of a confidential file and synthetic files."""
    copies = {synthetic_side(at): copy for at, copy in enumerate(synthetic)}
    holdouts = {} if holdout is None else {HOLDOUT: holdout}
    frames = named(**{CONFIDENTIAL: confidential}, **copies, **holdouts)
    complete = {
        name: [_with_missing(one, *frames.values()) for one in section[name]]
        if name in ("known", "synthesized") and not isinstance(section[name], str)
        else section[name]
        for name in section
    }
    files = {CONFIDENTIAL: file_section(CONFIDENTIAL, id=key), "synthetic": [file_section(side) for side in copies]}
    return of_frames({"matching": {**files, **_given(complete)}}, frames)


def _matching_tables(study: StudyFiles) -> dict[str, Any]:
    """Return the typed files of a study of synthetic data, by name."""
    settings = matching_step.matched_files(study.model.matched)
    with opened(settings.extracts, study.texts(settings.extracts)) as texts:
        names = (CONFIDENTIAL, "synthetic", HOLDOUT)
        return in_memory(names, lambda sinks: matching.prepare_files(settings, texts, sinks))
