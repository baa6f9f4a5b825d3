"""The study: one immutable model of everything that a number depends on, and its digest.

A study file is read into :class:`Study`; every default is filled in, contradictions are
refused, and :func:`canonical_json` writes it in one way only, so that its SHA-256 names it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import date as Date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from reident import studyfile
from reident.columns import RESERVED
from reident.errors import InputError
from reident.metrics import REGISTRY, adhoc
from reident.section import Section
from reident.simulation import Simulation
from reident.sources import Name, Names, SourceFile

MAX_LINKING_VARIABLES = 64


class RecordFile(SourceFile):
    """The public use file or the external intruder file."""

    id: Names = Field(description="The column, or columns, of the key; compared as text.")


class LinkFile(SourceFile):
    """The internal use file with the true links."""

    puf_id: Names = Field(
        description="The column, or columns, with the key of the public use file, in the order of its `id`."
    )
    eif_id: Names = Field(description="The same for the key of the external intruder file.")
    unknown_links_at_most: int = Field(
        0,
        ge=0,
        description="How many links may name a record that is in neither file; the count is reported.",
    )


class Files(Section):
    """The three files of a study."""

    puf: RecordFile = Field(description="The public use file (PUF).")
    eif: RecordFile = Field(description="The external intruder file (EIF).")
    iuf: LinkFile = Field(description="The internal use file (IUF): the true links.")

    @model_validator(mode="after")
    def _key_widths(self) -> Files:
        for side, key in (("puf", self.iuf.puf_id), ("eif", self.iuf.eif_id)):
            width = len(getattr(self, side).id)
            if len(key) != width:
                raise ValueError(
                    f"`iuf.{side}_id` has {len(key)} columns and `{side}.id` has {width}; make them equal."
                )
        return self


class PerFile(Section):
    """Missing codes of each file."""

    puf: tuple[str, ...] = Field((), description="In the public use file.")
    eif: tuple[str, ...] = Field((), description="In the external intruder file.")


class Recodes(Section):
    """Recode tables of each file, from the file's code to the study's."""

    puf: dict[str, str] = Field(default_factory=dict, description="Of the public use file.")
    eif: dict[str, str] = Field(default_factory=dict, description="Of the external intruder file.")


def _for_both(value: Any) -> Any:
    """A list of missing codes stands for both files; an empty cell of the list is the empty text."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list | tuple):
        codes = ["" if code is None else code for code in value]
        return {"puf": codes, "eif": codes}
    return value


MissingCodes = Annotated[
    PerFile, BeforeValidator(_for_both, json_schema_input_type=str | tuple[str | None, ...] | PerFile)
]


def _both_spellings(schema: dict[str, Any]) -> None:
    schema["properties"]["integer-coded"] = schema["properties"]["integer_coded"]


class Column(Section):
    """A variable that both files hold."""

    model_config = ConfigDict(json_schema_extra=_both_spellings)

    name: Name = Field(description="The name in the study.")
    puf: Name = Field(
        "", validate_default=False, description="The column of the public use file; empty: the name."
    )
    eif: Name = Field(
        "", validate_default=False, description="The column of the intruder file; empty: the name."
    )
    missing: MissingCodes = Field(
        default_factory=PerFile,
        description='The codes that mean missing, for both files or as `{puf: [...], eif: [...]}`; `""` is an empty '
        "cell. Nothing else is missing. They are looked up before recoding. Source: METHODS §1.",
    )
    recode: Recodes = Field(
        default_factory=Recodes, description="From the code of a file to that of the study."
    )
    integer_coded: bool = Field(
        False,
        validation_alias=AliasChoices("integer_coded", "integer-coded"),
        description="Whether `1`, `01` and `1.0` are the same code; also written `integer-coded`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _columns_default_to_the_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            return {"puf": value["name"], "eif": value["name"], **value}
        return value


class StrataVariable(Column):
    """A variable that splits both files into strata."""


def _name_alone(value: Any) -> Any:
    """A strata variable may be written as its name alone, where nothing differs between the files."""
    return {"name": value} if isinstance(value, str) else value


Strata = tuple[
    Annotated[StrataVariable, BeforeValidator(_name_alone, json_schema_input_type=Name | StrataVariable)], ...
]


class LinkingVariable(Column):
    """A variable that the intruder compares."""

    type: Literal["numeric", "categorical"] = Field(
        description="How values are read; ordinal is categorical with a declared `order`."
    )
    order: tuple[str, ...] | None = Field(
        None, min_length=2, description="Categorical: every category after recoding, from lowest to highest."
    )

    @model_validator(mode="after")
    def _type_fits(self) -> LinkingVariable:
        if self.type == "numeric" and (self.order is not None or self.integer_coded):
            raise ValueError(
                "`order` and `integer_coded` go with `type: categorical`; remove them or change the type."
            )
        if self.order is not None and len(set(self.order)) < len(self.order):
            raise ValueError("a category stands twice in `order`; keep one of the two.")
        return self


class Binning(Section):
    """Categories of numeric variables for unicity and taxicab."""

    bins: int = Field(5, ge=2, le=1000, description="How many categories. Source: METHODS §3.")
    cutpoints: Literal["puf", "eif", "pooled", "each"] = Field(
        "puf",
        description="The file whose quantiles cut; `each` cuts either file by its own. Source: METHODS §3.",
    )
    scope: Literal["stratum", "study"] = Field(
        "stratum",
        description="Where cut points, and the standard deviations of the euclidean and adhoc metrics, are taken. "
        "Source: METHODS §3, §4.3.",
    )


class RankFilter(Section):
    """How many pairs of a record may be suspected."""

    max_pairs: int = Field(
        5,
        ge=1,
        description="A record's best ranks are suspected as long as they have at most so many pairs together. "
        "Source: METHODS §5.",
    )
    keep: int = Field(
        20,
        ge=1,
        le=10_000,
        description="The same for what scoring keeps, so that the report can show other limits; at least `max_pairs`. "
        "Source: METHODS §5.",
    )

    @model_validator(mode="after")
    def _keep_covers(self) -> RankFilter:
        if self.keep < self.max_pairs:
            raise ValueError(f"`keep` ({self.keep}) is below `max_pairs` ({self.max_pairs}); raise it.")
        return self


class Rates(Section):
    """The intervals of the rates."""

    interval: Literal["clopper-pearson", "wilson"] = Field(
        "clopper-pearson", description="How the interval of a rate is computed. Source: METHODS §6."
    )
    level: float = Field(0.95, gt=0, lt=1, description="The coverage of the interval.")


class Decision(Section):
    """What the verdict of the report compares with."""

    conditional_rate_at_most: float = Field(
        ge=0, le=1, description="The largest conditional rate, as a fraction, with which a metric passes."
    )


def _defaults_where_empty(value: Any) -> Any:
    return (
        {name: {} if options is None else options for name, options in value.items()}
        if isinstance(value, dict)
        else value
    )


_ONE_FIELD_PER_METRIC: dict[str, Any] = {
    name: (metric.options | None, Field(None, description=f"{metric.options.__doc__} Absent: not computed."))
    for name, metric in REGISTRY.items()
}

Metrics = create_model(
    "Metrics",
    __base__=Section,
    __doc__="The metrics that are computed; `{}` takes the defaults.",
    **_ONE_FIELD_PER_METRIC,
)


class Study(Section):
    """A re-identification study."""

    id: str = Field(
        pattern=r"^[a-z0-9-]+$",
        max_length=80,
        description="Lower-case letters, digits and hyphens: the results lie in results/{id} and reports/{id}.",
    )
    title: str = Field("", description="The title of the report; empty: the id.")
    agency: str = Field("", description="Who releases the file; shown on the front page.")
    date: Date | None = Field(None, description="The date of the report, YYYY-MM-DD; nothing else dates it.")
    files: Files | None = Field(None, description="The three files. This or `simulate`.")
    simulate: Simulation | None = Field(None, description="Simulated files in place of `files`.")
    strata: Strata = Field(
        (),
        description="Records are compared only inside equal values of all these variables. Each is the name of a "
        "column of both files, or a section where the files differ. Source: METHODS §2.",
    )
    linking_variables: tuple[LinkingVariable, ...] = Field(
        min_length=1, max_length=MAX_LINKING_VARIABLES, description="What the intruder compares."
    )
    binning: Binning = Field(
        default_factory=Binning, description="Categories of numeric variables, for unicity and taxicab."
    )
    metrics: Annotated[Metrics, BeforeValidator(_defaults_where_empty)] = Field(
        description="The metrics that are computed, at least one; `{}` takes the defaults."
    )
    rank_filter: RankFilter = Field(
        default_factory=RankFilter, description="How many pairs of a record may be suspected."
    )
    rates: Rates = Field(default_factory=Rates, description="The intervals of the rates.")
    decision: Decision | None = Field(
        None, description="What the verdict of the report compares with. Absent: no verdict."
    )

    @property
    def chosen(self) -> dict[str, Section]:
        """The options of the metrics that are computed, in the order of the registry."""
        return {name: options for name in REGISTRY if (options := getattr(self.metrics, name)) is not None}

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of ``puf`` and ``eif`` as the tables of the study name them.

        A name that both files use is told apart by the prefix ``puf_`` or ``eif_``.
        """
        own = {side: source.id for side, source in self.record_files.items()}
        shared = set(own["puf"]) & set(own["eif"])
        return {
            side: tuple(f"{side}_{name}" if name in shared else name for name in names)
            for side, names in own.items()
        }

    @property
    def record_files(self) -> dict[str, RecordFile]:
        """The descriptions of ``puf`` and ``eif``, declared or simulated."""
        files = self.files or SIMULATED
        return {"puf": files.puf, "eif": files.eif}

    @property
    def link_file(self) -> LinkFile:
        """The description of ``iuf``, declared or simulated."""
        return (self.files or SIMULATED).iuf

    @property
    def sources(self) -> dict[str, SourceFile]:
        """The descriptions of ``puf``, ``eif`` and ``iuf``, declared or simulated."""
        return {**self.record_files, "iuf": self.link_file}

    @model_validator(mode="after")
    def _one_source(self) -> Study:
        if (self.files is None) == (self.simulate is None):
            raise ValueError(
                "a study takes its records from `files` or from `simulate`: give exactly one of them."
            )
        return self

    @model_validator(mode="after")
    def _names_do_not_clash(self) -> Study:
        linking = [variable.name for variable in self.linking_variables]
        strata = [variable.name for variable in self.strata]
        for names, section in ((linking, "linking_variables"), (strata, "strata")):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"`{name}` stands twice in `{section}`; keep one of the two.")
        for variable in self.linking_variables:
            for stratum in self.strata:
                if (
                    variable.name == stratum.name
                    or variable.puf == stratum.puf
                    or variable.eif == stratum.eif
                ):
                    raise ValueError(
                        f"`{variable.name}` is both a strata variable and a linking variable; a pair in one stratum "
                        "always agrees on it: remove it from one of the two lists."
                    )
        keys = [name for names in self.keys.values() for name in names]
        for name in keys:
            if keys.count(name) > 1 or name in linking or name in strata:
                raise ValueError(
                    f"`{name}` is a key column and also something else; give the variable another `name`."
                )
        for name in [*keys, *linking, *strata]:
            if name in RESERVED:
                raise ValueError(f"`{name}` is the name of a result column; give it another `name`.")
        return self

    @model_validator(mode="after")
    def _metrics_fit(self) -> Study:
        if not self.chosen:
            raise ValueError("`metrics` names no metric; add at least one, for example `taxicab: {}`.")
        for name, options in self.chosen.items():
            REGISTRY[name].check(options, self.linking_variables)
        return self


SIMULATED = Files(
    puf=RecordFile(path="puf.csv", id=("pufid",)),
    eif=RecordFile(path="eif.csv", id=("broker", "serial")),
    iuf=LinkFile(path="iuf.csv", puf_id=("pufid",), eif_id=("broker", "serial")),
)
"""The files that the simulation writes."""


def load(path: Path) -> Study:
    """Read, check and complete a study file.

    Raises
    ------
    InputError
        With the file, line and key of the first mistake, what is wrong, and a remedy.
    """
    data, node = studyfile.read(path)
    try:
        return Study.model_validate(data)
    except ValidationError as error:
        raise studyfile.explain(error, path, data, node, _known_keys()) from None


def check_files(study: Study, path: Path) -> None:
    """See that every file that a study names is there, beside the study file at `path`.

    Raises
    ------
    InputError
        With the line and key of the first that is not.
    """
    named: dict[tuple[str, ...], str] = {}
    if study.files is not None:
        named = {("files", side, "path"): source.path for side, source in study.sources.items()}
    options = study.chosen.get("adhoc")
    if isinstance(options, adhoc.Options):
        for name, rule in options.scores.items():
            if rule.function is not None:
                named["metrics", "adhoc", "scores", name, "function"] = f"{rule.function.split(':')[0]}.py"
    for location, name in named.items():
        file = path.parent / name
        if file.is_dir():
            problem, remedy = "is a folder", "name the file in it"
        elif not file.exists():
            problem, remedy = "does not exist", "correct it; a path is relative to the study file"
        elif not os.access(file, os.R_OK):
            problem, remedy = "may not be read", "change its permissions"
        else:
            continue
        line = studyfile.line_of(studyfile.read(path)[1], location)
        raise InputError(f"{path}, line {line}: `{'.'.join(location)}`: {name} {problem}; {remedy}.")


def _known_keys() -> list[str]:
    return sorted(set(re.findall(r'"([a-z_]+)": \{', json.dumps(Study.model_json_schema()))))


def canonical_json(study: Study) -> str:
    """The study with every default, in the one spelling that its digest is taken of."""
    return json.dumps(_dumped(study), ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def _dumped(study: Study) -> dict[str, Any]:
    """The study in plain values; metrics that are not computed are absent, as in a study file."""
    plain = study.model_dump(mode="json")
    plain["metrics"] = {name: options for name, options in plain["metrics"].items() if options is not None}
    return plain


def parse(text: str) -> Study:
    """The study of a canonical JSON text, as `resolve` wrote it."""
    return Study.model_validate_json(text)


def part(study: Study, step: str, metric: str | None = None) -> dict[str, Any]:
    """What a step takes from the study itself, beside the files that it reads.

    A change of the study reruns the steps whose part changes, and what reads their results.
    """
    whole = _dumped(study)
    linking = [(variable["name"], variable["type"]) for variable in whole["linking_variables"]]
    names = {
        "keys": study.keys,
        "strata": [variable["name"] for variable in whole["strata"]],
        "linking": linking,
    }
    sources = {side: source.model_dump(mode="json") for side, source in study.sources.items()}
    parts: dict[str, dict[str, Any]] = {
        "simulate": {"simulate": whole["simulate"]},
        "prepare": {"sources": sources, "strata": whole["strata"], "linking": whole["linking_variables"]},
        "stratify": names,
        "bin": {**names, "binning": whole["binning"]},
        "score": {
            **names,
            "scope": study.binning.scope,
            "keep": study.rank_filter.keep,
            "options": whole["metrics"].get(metric),
        },
        "rank": {**names, "rank_filter": whole["rank_filter"]},
        "confirm": {**names, "keep": study.rank_filter.keep},
        "describe": {**names, "variables": whole["linking_variables"], "metrics": list(study.chosen)},
        "rate": {
            **names,
            "rates": whole["rates"],
            "rank_filter": whole["rank_filter"],
            "metrics": list(study.chosen),
        },
    }
    return parts.get(step, whole)  # `resolve` and `report` take everything


def digest(part: Any) -> str:
    """SHA-256 of any JSON-like part of a study."""
    text = json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


__all__ = ["InputError", "Study", "canonical_json", "check_files", "digest", "load", "parse"]
