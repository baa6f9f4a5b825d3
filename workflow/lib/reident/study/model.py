"""The study: one immutable model of everything that a number depends on, and its digest.

A study file is read into :class:`Study`; every default is filled in, contradictions are
refused, and :func:`canonical_json` writes it in one way only, so that its SHA-256 names it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from reident.errors import InputError
from reident.linkage.metrics import REGISTRY
from reident.sections.base import Day, Section
from reident.sections.columns import RESERVED
from reident.sections.decision import Decision
from reident.sections.filerisk import POPULATION, SURVEY, FileRisk, KeyVariable
from reident.sections.files import SIMULATED, Files, LinkFile, RecordFile, SourceFile
from reident.sections.linkage import (
    MAX_LINKING_VARIABLES,
    Binning,
    LinkingVariable,
    RankFilter,
    Rates,
    Strata,
)
from reident.sections.matching import ConfidentialFile, Matching, SyntheticFile
from reident.sections.microaggregation import ORIGINAL, Microaggregate
from reident.sections.simulation import (
    HouseholdSurvey,
    LocalAuthorities,
    Simulation,
    SkewedAmounts,
    SyntheticSurvey,
)
from reident.sections.variants import MOST_VARIANTS, Varied
from reident.sections.variants import check as check_variants
from reident.study import reading as studyfile
from reident.study.named_files import check_files


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
    date: Day | None = Field(None, description="The date of the report, YYYY-MM-DD; nothing else dates it.")
    files: Files | None = Field(
        None, description="The three files that `metrics` compare. This, `microaggregate` or `simulate`."
    )
    microaggregate: Microaggregate | None = Field(
        None,
        description="In place of `files`: a file that is micro-aggregated and attacked by itself. Source: METHODS §9.",
    )
    simulate: Simulation | None = Field(
        None,
        description="Simulated files, in place of `files`, or of those of `matching`, `file_risk` or `microaggregate`.",
    )
    strata: Strata = Field(
        (),
        description="Records are compared only inside equal values of all these variables. Each is the name of a "
        "column of both files, or a section where the files differ. Source: METHODS §2.",
    )
    linking_variables: tuple[LinkingVariable, ...] = Field(
        (), max_length=MAX_LINKING_VARIABLES, description="What the intruder compares, with `metrics`."
    )
    binning: Binning = Field(
        default_factory=Binning, description="Categories of numeric variables, for unicity and taxicab."
    )
    metrics: Annotated[Metrics, BeforeValidator(_defaults_where_empty)] | None = Field(
        None,
        description="The metrics that are computed, at least one; `{}` takes the defaults. Absent: no records are "
        "linked.",
    )
    rank_filter: RankFilter = Field(
        default_factory=RankFilter, description="How many pairs of a record may be suspected."
    )
    rates: Rates = Field(default_factory=Rates, description="The intervals of the rates.")
    matching: Matching | None = Field(
        None, description="Matching-based risk of synthetic data; absent: not computed. Source: METHODS §8."
    )
    file_risk: FileRisk | None = Field(
        None, description="Risk of one file: uniques, DIS, SUDA; absent: not computed. Source: METHODS §7."
    )
    decision: Decision | None = Field(
        None, description="What the verdict of the report compares with. Absent: no verdict."
    )
    variants: Annotated[tuple[Varied, ...], AfterValidator(check_variants)] = Field(
        (),
        description="What is compared: every combination of the listed values is computed as a study of its own, "
        "beside the study as it stands, and the report compares their rates. At most "
        f"{MOST_VARIANTS} combinations.",
    )

    @property
    def chosen(self) -> dict[str, Section]:
        """The options of the metrics that are computed, in the order of the registry."""
        found = {name: getattr(self.metrics, name, None) for name in REGISTRY}
        return {name: options for name, options in found.items() if options is not None}

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of ``puf`` and ``eif``, see :attr:`Files.keys`."""
        return self.linked_files.keys

    @property
    def record_files(self) -> dict[str, RecordFile]:
        """The descriptions of ``puf`` and ``eif``, declared or made."""
        return {"puf": self.linked_files.puf, "eif": self.linked_files.eif}

    @property
    def link_file(self) -> LinkFile:
        """The description of ``iuf``, declared or made."""
        return self.linked_files.iuf

    @property
    def linked_files(self) -> Files:
        """The three files that the metrics compare: declared, masked or simulated."""
        if self.microaggregate is not None:
            return self.microaggregate.files
        return self.files or SIMULATED

    @property
    def microaggregated(self) -> Microaggregate:
        """The section `microaggregate`."""
        if self.microaggregate is None:
            raise ValueError("the study has no section `microaggregate`")
        return self.microaggregate

    @property
    def matched(self) -> Matching:
        """The section `matching` with its files, declared or simulated."""
        if self.matching is None:
            raise ValueError("the study has no section `matching`")
        if self.matching.confidential is not None or not isinstance(self.simulate, SyntheticSurvey):
            return self.matching
        numbers = range(1, self.simulate.copies + 1)
        files = {
            "confidential": ConfidentialFile(path="confidential.csv"),
            "synthetic": tuple(SyntheticFile(path=f"synthetic_{number}.csv") for number in numbers),
        }
        return self.matching.model_copy(update=files)

    @property
    def linked_sources(self) -> dict[str, SourceFile]:
        """The descriptions of ``puf``, ``eif`` and ``iuf``, declared or simulated; empty without `metrics`."""
        return {} if self.metrics is None else {**self.record_files, "iuf": self.link_file}

    @property
    def matched_sources(self) -> dict[str, SourceFile]:
        """The descriptions of ``confidential``, ``synthetic_1`` …; empty without `matching`."""
        if self.matching is None:
            return {}
        copies = {f"synthetic_{at}": file for at, file in enumerate(self.matched.synthetic, start=1)}
        return {"confidential": self.matched.file(), **copies}

    @property
    def risk(self) -> FileRisk:
        """The section `file_risk`."""
        if self.file_risk is None:
            raise ValueError("the study has no section `file_risk`")
        return self.file_risk

    @property
    def risk_key(self) -> tuple[KeyVariable, ...]:
        """The key variables of `file_risk`, linking variables as these are declared."""
        return self.risk.key(self.linking_variables)

    @property
    def risk_id(self) -> tuple[str, ...]:
        """The columns that name a record of the file of `file_risk`; empty: its row does."""
        side = self.risk.side
        if side in ("puf", "eif"):
            return self.record_files[side].id
        if side == SURVEY:
            return self.risk.own_file.id or ()
        return self.matched.key(None if side == "confidential" else int(side.removeprefix("synthetic_")) - 1)

    @property
    def risk_sources(self) -> dict[str, SourceFile]:
        """The descriptions of the file of `file_risk`, by its side, and of ``population``; empty without it."""
        others = {**self.linked_sources, **self.matched_sources}
        return {} if self.file_risk is None else self.file_risk.sources(others)

    @property
    def sources(self) -> dict[str, SourceFile]:
        """The descriptions of all files that the study reads, by side."""
        own = {} if self.microaggregate is None else {ORIGINAL: self.microaggregate.source}
        return {**self.linked_sources, **self.matched_sources, **self.risk_sources, **own}

    @property
    def simulated(self) -> frozenset[str]:
        """The sides that `simulate` draws."""
        if isinstance(self.simulate, HouseholdSurvey):
            return frozenset(self.linked_sources)
        if isinstance(self.simulate, LocalAuthorities):
            return frozenset({SURVEY, POPULATION} & set(self.risk_sources))
        if isinstance(self.simulate, SkewedAmounts):
            return frozenset({ORIGINAL})
        return frozenset(self.matched_sources if isinstance(self.simulate, SyntheticSurvey) else ())

    @property
    def made(self) -> dict[str, str]:
        """The sides that the study makes itself, and the folder of its results in which each of them lies."""
        masked = {} if self.microaggregate is None else dict.fromkeys(self.linked_sources, "microaggregation")
        return masked | dict.fromkeys(self.simulated, "simulated")

    @model_validator(mode="after")
    def _something_to_do(self) -> Study:
        if self.metrics is None:
            for name in ("files", "microaggregate", "linking_variables", "strata"):
                if getattr(self, name):
                    raise ValueError(
                        f"`{name}` belong to `metrics`, which the study does not have; add for example "
                        f"`metrics: {{taxicab: {{}}}}`, or remove `{name}`."
                    )
        if not (self.metrics or self.matching or self.file_risk):
            raise ValueError(
                "the study asks for nothing: add `metrics` with `files`, `matching` or `file_risk`."
            )
        if self.metrics is not None and not self.linking_variables:
            raise ValueError("`metrics` compare `linking_variables`; list what the intruder compares.")
        return self

    @model_validator(mode="after")
    def _one_source(self) -> Study:
        households = isinstance(self.simulate, HouseholdSurvey)
        if self.metrics is None and households:
            raise ValueError("`simulate` draws the files of `metrics`, which the study does not have.")
        if self.metrics is not None and sum([bool(self.files), bool(self.microaggregate), households]) != 1:
            raise ValueError(
                "`metrics` take their records from `files`, from `microaggregate` or from a simulated household "
                "survey: give exactly one of them."
            )
        amounts = isinstance(self.simulate, SkewedAmounts)
        if amounts != (self.microaggregate is not None and not self.microaggregate.path):
            raise ValueError(
                "`microaggregate` takes its file from its own `path` or from simulated `skewed-amounts`: give exactly "
                "one of them."
            )
        survey = isinstance(self.simulate, SyntheticSurvey)
        if self.matching is None and survey:
            raise ValueError("`simulate` draws the files of `matching`, which the study does not have.")
        if self.matching is not None and (self.matching.confidential is None) != survey:
            raise ValueError(
                "`matching` takes its files from its own `confidential` and `synthetic` or from a simulated "
                "synthetic-survey: give exactly one of them."
            )
        return self

    @model_validator(mode="after")
    def _risk_fits(self) -> Study:
        authorities = isinstance(self.simulate, LocalAuthorities)
        if self.file_risk is not None:
            self.file_risk.check_files({**self.linked_sources, **self.matched_sources}, simulated=authorities)
            self.file_risk.check_key(self.risk_key, self.risk_id)
        elif authorities:
            raise ValueError("`simulate` draws the files of `file_risk`, which the study does not have.")
        return self

    @model_validator(mode="after")
    def _limits_fit(self) -> Study:
        if self.decision is None:
            return self
        if self.metrics is None and self.decision.conditional_rate_at_most is not None:
            raise ValueError(
                "`decision` limits the conditional rate, which needs `metrics`; remove the limit."
            )
        if self.matching is None and self.decision.of_matching:
            raise ValueError(
                f"`decision` names `{next(iter(self.decision.of_matching))}`, which needs `matching`; remove it."
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
        if self.microaggregate is not None:
            self.microaggregate.check_columns((*self.strata, *self.linking_variables))
        for name in [*keys, *linking, *strata]:
            if name in RESERVED:
                raise ValueError(f"`{name}` is the name of a result column; give it another `name`.")
        return self

    @model_validator(mode="after")
    def _metrics_fit(self) -> Study:
        if self.metrics is not None and not self.chosen:
            raise ValueError("`metrics` names no metric; add at least one, for example `taxicab: {}`.")
        for name, options in self.chosen.items():
            REGISTRY[name].check(options, self.linking_variables)
        return self


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
        raise studyfile.explain(error, path, data, node, known_keys()) from None


def known_keys() -> list[str]:
    """Every key that a study file may have, for a mistake's `did you mean`."""
    return sorted(set(re.findall(r'"([a-z_]+)": \{', json.dumps(Study.model_json_schema()))))


def plain(study: Study) -> dict[str, Any]:
    """The study in plain values; metrics that are not computed are absent, as in a study file."""
    plain = study.model_dump(mode="json")
    if plain["metrics"] is not None:
        plain["metrics"] = {name: own for name, own in plain["metrics"].items() if own is not None}
    return plain


def canonical_json(study: Study) -> str:
    """The study with every default, in the one spelling that its digest is taken of."""
    return json.dumps(plain(study), ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def parse(text: str) -> Study:
    """The study of a canonical JSON text, as `resolve` wrote it."""
    return Study.model_validate_json(text)


__all__ = ["InputError", "Study", "canonical_json", "check_files", "known_keys", "load", "parse", "plain"]
