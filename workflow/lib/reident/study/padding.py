"""Check the columns that a study pads with zeros: it reads them, and writes their codes as they are padded."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from reident.filerisk.section import SURVEY
from reident.sections.codes import Coding, clean
from reident.sections.files import ORIGINAL, SourceFile
from reident.sections.keys import KeyVariable
from reident.sections.recodes import OTHERWISE, span

_DIGITS = re.compile(r"[0-9]+")


class _Variable(NamedTuple):
    """A variable of a file: its name, its column, and how it is read."""

    name: str
    column: str
    coding: Coding


class _File(NamedTuple):
    """A file as the study file has it, its variables, and the other columns that the study reads."""

    section: str
    source: SourceFile
    variables: Sequence[_Variable]
    columns: Sequence[str]


def check(study: Any) -> None:
    """Refuse to pad a column that is not read, and codes that are shorter than those of the padded column."""
    files = [file for file in _files(study) if file.source.pad]
    for section in {file.section: None for file in files}:
        group = [file for file in files if file.section == section]
        columns = {
            name for file in group for name in (*file.columns, *(variable.column for variable in file.variables))
        }
        for name in group[0].source.pad:
            if name not in columns:
                raise ValueError(
                    f"`.{section}.pad` must name columns that the study reads, and `{name}` is not one. Correct the "
                    "name, or remove it."
                )
        for file in group:
            for variable in file.variables:
                _check_codes(file, variable)


def _check_codes(file: _File, variable: _Variable) -> None:
    coding, width = variable.coding, file.source.pad.get(variable.column, 0)
    if coding.kind == "numeric" or coding.integer_coded:
        return  # `7` and `07` are the same number
    single = (code for code in coding.recode if code != OTHERWISE and span(code) is None)
    for code in (*coding.missing, *single):
        text = clean(code)
        if _DIGITS.fullmatch(text) and len(text) < width:
            raise ValueError(
                f"`{variable.name}` must name codes as `{file.section}.pad` pads them, and `{code}` has fewer than "
                f"{width} digits. Write `{text.zfill(width)}`."
            )


def _files(study: Any) -> Iterator[_File]:
    if study.metrics is not None:
        yield from _linked(study)
    if study.matching is not None and study.matching.confidential is not None:
        yield from _matched(study)
    if study.file_risk is not None:
        yield from _assessed(study)
    if study.attribute_disclosure is not None:
        yield from _attributed(study)


def _linked(study: Any) -> Iterator[_File]:
    columns = (*study.strata, *study.linking_variables)
    sides = {
        side: [_Variable(column.name, getattr(column, side), column.coding(side)) for column in columns]
        for side in ("puf", "eif")
    }
    if study.microaggregate is not None:
        options = study.microaggregate
        yield _File(
            "microaggregate", options.source, [*sides["puf"], *sides["eif"]], [*options.key, *options.variables]
        )
    if study.files is not None:
        files, cluster = study.files, study.rates.cluster or ()
        yield _File("files.puf", files.puf, sides["puf"], [*files.puf.id, *cluster])
        yield _File("files.eif", files.eif, sides["eif"], files.eif.id)
        yield _File("files.iuf", files.iuf, [], [*files.iuf.puf_id, *files.iuf.eif_id])
        if files.original is not None:
            yield _File(f"files.{ORIGINAL}", files.original, sides["puf"], [*files.puf.id, *cluster])


def _matched(study: Any) -> Iterator[_File]:
    options = study.matched
    variables = [
        _Variable(
            variable.name,
            variable.name,
            _coding(variable.missing, variable.integer_coded, variable.name in options.radius),
        )
        for variable in options.variables.values()
    ]
    targets = [
        _Variable(target.variable, target.variable, _coding(target.equals or (), numeric=target.numeric))
        for target in options.targets
    ]
    population = [options.population_count] if options.population_count else []
    yield _File("matching.confidential", options.file(), [*variables, *targets], [*options.key(), *population])
    for at, copy in enumerate(options.synthetic):
        yield _File(f"matching.synthetic[{at + 1}]", copy, variables, options.key(at))
    if options.holdout is not None:
        holdout_variables = [variable for variable in variables if variable.name in options.closest_variables]
        yield _File("matching.closest.holdout", options.holdout, holdout_variables, [])


def _coding(codes: Iterable[str], integer_coded: bool = False, numeric: bool = False) -> Coding:
    return Coding("numeric" if numeric else "categorical", codes, integer_coded=integer_coded)


def _of_keys(variables: Iterable[KeyVariable]) -> list[_Variable]:
    return [_Variable(variable.name, variable.column, variable.coding()) for variable in variables]


def _assessed(study: Any) -> Iterator[_File]:
    options, sources = study.risk, study.risk_sources
    variables = _of_keys(study.risk_key)
    named = "file_risk.file" if options.side == SURVEY else _named(options.side)
    weight = [options.weight] if options.weight else []
    models = options.population_models
    household = options.units or (models.household if models else None) or ()
    targets = _of_keys(study.risk_sensitive)
    yield _File(named, sources[options.side], [*variables, *targets], [*study.risk_id, *weight, *household])
    if options.original is not None:
        names = options.original.id or study.risk_id
        yield _File("file_risk.original", options.original, variables, names)
    if options.population is not None and options.population.file is not None:
        numerical = options.population.numerical_study
        strata = (numerical.strata or ()) if numerical else ()
        yield _File("file_risk.population.file", options.population.file, variables, strata)


def _attributed(study: Any) -> Iterator[_File]:
    variables = _of_keys(itertools.chain(*study.attribution_variables))
    ids = study.attribution_ids
    for side, source in study.attribution_sources.items():
        yield _File(_named(side), source, variables, ids.get(side, ()))


def _named(side: str) -> str:
    """Return where the study file has a file that several sections may read, by its side."""
    section, _, number = side.rpartition("_")
    lists = {"synthetic": "matching.synthetic", "attribution_released": "attribute_disclosure.released"}
    if section in lists:
        return f"{lists[section]}[{number}]"
    if side == "confidential":
        return "matching.confidential"
    return f"files.{side}" if section != "attribution" else f"attribute_disclosure.{number}"
