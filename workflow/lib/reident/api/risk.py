"""`reident.file_risk`, `matching_risk` and `closest`: the risk of one file, and of synthetic files (METHODS §7, §8)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from reident.api.frames import Frame, Names, Variables, as_text, data_frame, is_frame, items, with_codes, with_keys
from reident.api.study import StudyFiles, file_section, of_frames, sole_study
from reident.api.tables import Tables, made_by, threads_or_all, told
from reident.distances import measure as distances
from reident.distances import premise
from reident.distances import step as closest_step
from reident.errors import InputError
from reident.filerisk import assessment, modelling, numerical_study, profiles, scenarios, thresholds
from reident.filerisk import prepare as filerisk
from reident.filerisk import step as filerisk_step
from reident.filerisk.section import POPULATION as PEOPLE
from reident.filerisk.section import SURVEY, UNPERTURBED
from reident.filerisk.settings import FILE, ORIGINAL, POPULATION
from reident.intake.records import in_memory
from reident.intake.severity import table
from reident.intake.sources import opened
from reident.matching import prepare as matching
from reident.matching import step as matching_step
from reident.matching import summary
from reident.matching.section import ALL_SUBSETS, HOLDOUT
from reident.matching.settings import CONFIDENTIAL, synthetic_side
from reident.pipeline.steps import STEPS

FILE_STEPS: Mapping[str, Callable[..., Any]] = {
    "assess_file": assessment.assess,
    "model_population": modelling.model,
    "assess_scenarios": scenarios.assess,
    "measure_thresholds": thresholds.measure,
    "assess_units": profiles.assess,
    "sample_population": numerical_study.run,
}
"""The functions of the steps that measure the risk of one file."""


def file_risk(
    file: StudyFiles | Frame,
    /,
    *,
    keys: Variables = (),
    sampling_fraction: float | None = None,
    weight: str | None = None,
    id: Names | None = None,  # noqa: A002 - the key of a study file
    population: Frame | Mapping[str, Any] | None = None,
    original: Frame | Mapping[str, Any] | None = None,
    sensitive: Variables = (),
    threads: int | None = None,
    **options: Any,
) -> Tables:
    """Measure the risk of one file: sample uniques, DIS, SUDA and DIS-SUDA.

    Parameters
    ----------
    file : data frame
        The file; NaN is missing. Or a study of :func:`reident.read_study`, which takes none of the keys below.
    keys : str, sequence of str or mapping
        The key variables, which are compared as categories.
    sampling_fraction : float, optional
        The share of the population in the file. Exactly one of this and `weight`.
    weight : str, optional
        The column of the weights.
    id : str or sequence of str, optional
        The columns that identify a record. By default, its row does, counted from 1.
    population : data frame, or mapping, optional
        The population that the file is a sample of, with the columns of the key variables; or the section
        ``{"file": population, "numerical_study": {}}``.
    original : data frame, optional
        The records before perturbation, with the columns of `id` and of the key variables.
    sensitive : sequence of str or mapping, optional
        The variables whose diversity is measured for each of `scenarios` and `key_sets`.
    threads : int, optional
        By default one for each processor.
    **options
        Further keys of the section `file_risk` of a study file, such as ``max_order=3``, ``units="household"`` or
        ``scenarios=[{"name": "neighbour", "known": ["age"]}]``.

    Returns
    -------
    Tables
        The tables of `filerisk/` in docs/DATA.md: ``summary``, ``records``, ``variables``, ``risks``, …; those of what
        was asked for, such as ``scenarios``, ``diversity``, ``individual`` and ``units``; and ``warnings``, valid
        input that may be a mistake.

    Examples
    --------
    >>> import pandas as pd
    >>> import reident
    >>> frame = pd.DataFrame({"age": [30, 30, 40, 50], "sex": ["f", "f", "m", "m"]})
    >>> risk = reident.file_risk(frame, keys=["age", "sex"], sampling_fraction=0.02)
    >>> int(risk.records["unique"].sum())
    2
    """
    study = sole_study(file_risk, locals(), "file_risk")
    threads = threads_or_all(threads)
    if study is None:
        _refuse(options, {"file": "Give the data frame first.", "key_variables": "Call it `keys`."})
        people = dict(population) if isinstance(population, Mapping) else {"file": population}
        given = {
            SURVEY: ("file", file),
            PEOPLE: ("population", people.get("file")),
            UNPERTURBED: ("original", original),
        }
        given = {side: argument for side, argument in given.items() if not isinstance(argument[1], Mapping | None)}
        frames = {side: data_frame(*argument) for side, argument in given.items()}
        if is_frame(people.get("file")):
            people["file"] = file_section("population")
        key = with_codes(keys, frames)
        section = {
            "file": file_section("file", id=id),
            "key_variables": key,
            "sampling_fraction": sampling_fraction,
            "weight": weight,
            "population": people if population is not None else None,
            "original": original if isinstance(original, Mapping | None) else file_section("original"),
            "sensitive": _targets(sensitive, key, frames[SURVEY]) or None,
            **options,
        }
        study = of_frames({"file_risk": _given(section)}, frames)
    settings = filerisk_step.risk_files(study.model)
    texts_of = {FILE: settings.side, POPULATION: PEOPLE, ORIGINAL: UNPERTURBED}
    with opened(settings.extracts, study.texts(settings.extracts, texts_of)) as texts:
        typed = in_memory(texts_of, lambda sinks: filerisk.prepare_files(settings, texts, sinks))
    made: dict[str, pd.DataFrame] = {}
    for rule, measure in FILE_STEPS.items():
        if STEPS[rule].wanted(study.model):
            taken = inspect.signature(measure).parameters.keys()
            arguments = {name: value for name, value in {**typed, "threads": threads}.items() if name in taken}
            made |= made_by(rule, measure(STEPS[rule].settings_of(study.model, None), **arguments))
    made = _keyed(made, study, settings.side, settings.id)
    return Tables({**made, "warnings": told("filerisk/warnings.csv", typed["warnings"])})


def _targets(sensitive: Variables, key: list[dict[str, Any]], frame: pd.DataFrame) -> list[Any]:
    """Return the sensitive variables; a key variable is given by its name, and has its missing codes already."""
    names = {as_text(variable.get("name")) for variable in key}
    variables = items(sensitive)
    codes = with_codes(variables, {SURVEY: frame})
    return [one if as_text(coded.get("name")) in names else coded for one, coded in zip(variables, codes, strict=True)]


def matching_risk(
    confidential: StudyFiles | Frame,
    synthetic: Frame | Iterable[Frame] = (),
    /,
    *,
    known: Variables = (),
    synthesized: Variables = (),
    radius: Mapping[str, Any] | None = None,
    id: Names | None = None,  # noqa: A002 - the key of a study file
    **options: Any,
) -> Tables:
    """Measure the matching-based risk of synthetic files.

    Parameters
    ----------
    confidential : data frame
        The confidential file; NaN is missing. Or a study of :func:`reident.read_study`, which takes none of the keys
        below.
    synthetic : data frame, or iterable of data frames
        The synthetic files, whose rows are about the same people in the same order, unless `id` names their key.
    known, synthesized : str, sequence of str or mapping
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
    study = sole_study(matching_risk, locals(), "matching")
    if study is None:
        own = {"closest": "Call `reident.closest`.", "confidential": _FIRST, "synthetic": _FIRST}
        _refuse(options, own)
        study = _matched(confidential, synthetic, None, {"known": known, **options}, synthesized, radius, id)
    tables = _matching_tables(study)
    rules = matching_step.match_rules(study.model.matched)
    found = summary.match_files(rules, tables[CONFIDENTIAL], tables["synthetic"])
    made = _keyed(made_by("match", found), study, CONFIDENTIAL, study.model.matched.key())
    return Tables({**made, "warnings": told("matching/warnings.csv", tables["warnings"])})


def closest(
    confidential: StudyFiles | Frame,
    synthetic: Frame | Iterable[Frame] = (),
    holdout: Frame | None = None,
    /,
    *,
    variables: Variables = (),
    numeric: Names | None = None,
    id: Names | None = None,  # noqa: A002 - the key of a study file
    threads: int | None = None,
) -> Tables:
    """Measure the distances of synthetic records to the closest confidential record.

    Parameters
    ----------
    confidential : data frame
        The confidential file; NaN is missing. Or a study of :func:`reident.read_study` with `matching.closest`, which
        takes none of the keys below.
    synthetic : data frame, or iterable of data frames
        The synthetic files.
    holdout : data frame, optional
        People who had no part in the synthesis.
    variables : str, sequence of str or mapping, optional
        By default the columns of the confidential file, without those of `id`.
    numeric : str or sequence of str, optional
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
    study = sole_study(closest, locals(), "matching.closest")
    threads = threads_or_all(threads)
    if study is None:
        keys = [as_text(name) for name in items(id)]
        columns = data_frame(CONFIDENTIAL, confidential, index=False)
        chosen = items(variables) or [name for name in columns if name not in keys]
        names = [as_text(one.get("name") if isinstance(one, Mapping) else one) for one in chosen]
        numbers = [name for name in names if _is_number(columns.get(name))] if numeric is None else items(numeric)
        section = {"known": [], "closest": {} if holdout is None else {"holdout": file_section(HOLDOUT)}}
        radius = {name: {"absolute": 0} for name in numbers}
        study = _matched(confidential, synthetic, holdout, section, chosen, radius, keys)
    tables = _matching_tables(study)
    files = tables[CONFIDENTIAL], tables["synthetic"], tables[HOLDOUT]
    found = distances.measure(closest_step.closest_rules(study.model), *files, threads=threads)
    # A distance does not depend on which records correspond.
    lines = [tables["warnings"].query("code not in ('unknown_order', 'by_chance', 'another_key')")]
    if not found.premise.empty:
        lines.append(table(premise.warnings(found.premise)))
    made = _keyed(made_by("measure_distances", found), study, CONFIDENTIAL, study.model.matched.key())
    return Tables({**made, "warnings": told("matching/warnings.csv", pd.concat(lines))})


_FIRST = "Give the data frames first."


def _refuse(options: Mapping[str, Any], others: Mapping[str, str]) -> None:
    """Refuse keys of a section that the function takes in another way."""
    for key, remedy in others.items():
        if key in options:
            raise InputError(f"`{key}` must not be given here. {remedy}")


def _keyed(made: dict[str, pd.DataFrame], study: StudyFiles, side: str, key: Names) -> dict[str, pd.DataFrame]:
    """Return tables whose keys of records have the types of the data frame that these are from, if there is one."""
    if side not in study.frames:
        return made
    columns = {name: study.frames[side][name] for name in key}
    return {name: with_keys(lines, columns) for name, lines in made.items()}


def _is_number(column: pd.Series | None) -> bool:
    return column is not None and is_numeric_dtype(column) and not is_bool_dtype(column)


def _given(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


def _matched(
    confidential: Frame,
    synthetic: Frame | Iterable[Frame],
    holdout: Frame | None,
    options: Mapping[str, Any],
    synthesized: Variables,
    radius: Mapping[str, Any] | None,
    key: Names | None,
) -> StudyFiles:
    """Return the study of a confidential file and synthetic files."""
    copies = {synthetic_side(at): copy for at, copy in enumerate(items(synthetic))}
    given = {CONFIDENTIAL: confidential, **copies} | ({} if holdout is None else {HOLDOUT: holdout})
    frames = {side: data_frame(side, value) for side, value in given.items()}
    section = {
        CONFIDENTIAL: file_section(CONFIDENTIAL, id=key),
        "synthetic": [file_section(side) for side in copies],
        "synthesized": with_codes(synthesized, frames),
        "radius": radius,
        **options,
    }
    for name in ("known", "candidates"):
        if name in section and section[name] != ALL_SUBSETS:
            section[name] = with_codes(section[name], frames)
    section["scenarios"] = [
        {**one, "known": with_codes(one.get("known"), frames)} if isinstance(one, Mapping) else one
        for one in items(section.get("scenarios"))
    ]
    return of_frames({"matching": _given(section)}, frames)


def _matching_tables(study: StudyFiles) -> dict[str, Any]:
    """Return the typed files of a study of synthetic data, by name."""
    settings = matching_step.matched_files(study.model.matched)
    with opened(settings.extracts, study.texts(settings.extracts)) as texts:
        names = (CONFIDENTIAL, "synthetic", HOLDOUT)
        return in_memory(names, lambda sinks: matching.prepare_files(settings, texts, sinks))
