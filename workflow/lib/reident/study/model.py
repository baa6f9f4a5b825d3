"""The study: one immutable model of everything that a number depends on.

A study file is read into :class:`Study`, which fills in every default and refuses contradictions.
:func:`canonical_json` writes equal studies as equal texts, so their SHA-256 identifies the study.
"""

from __future__ import annotations

import json
import operator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from reident.attribution.section import AttributeDisclosure
from reident.attribution.section import Target as AttributeTarget
from reident.challenge.section import Challenge, Challenged
from reident.filerisk.section import POPULATION, SURVEY, FileRisk
from reident.larger.section import LargerIntruder
from reident.linkage.metrics import REGISTRY
from reident.matching.section import HOLDOUT, ConfidentialFile, Matching, SyntheticFile
from reident.microaggregation.section import Microaggregate
from reident.sections.base import Analysis, Day, Line, Pattern, Section, required
from reident.sections.checklist import Checklist
from reident.sections.decision import Decision
from reident.sections.files import ORIGINAL, SIMULATED, LinkedFiles, Name, SourceFile, table_keys
from reident.sections.keys import KeyVariable
from reident.sections.language import DEFAULT_LANGUAGE, Code
from reident.sections.linkage import MAX_LINKING_VARIABLES, Binning, LinkingVariable, RankFilter, Rates, Strata
from reident.sections.release import Release
from reident.sections.seal import Seal
from reident.sections.units import Units, with_keys
from reident.sections.variants import MAX_VARIANTS, Varied, split
from reident.sections.variants import check as check_variants
from reident.sections.variants import names as variant_names
from reident.simulation.section import (
    HouseholdSurvey,
    Linked,
    LocalAuthorities,
    Simulation,
    SkewedAmounts,
    SyntheticSurvey,
)
from reident.study import names, padding, units
from reident.study import reading as studyfile
from reident.study.metrics import ChosenMetrics
from reident.utility.section import Utility
from reident.values.section import Confirm, with_rows
from reident.why.section import Why


class Study(Section):
    """A re-identification study."""

    id: Annotated[
        str,
        Pattern(
            r"[a-z0-9-]+", "must consist of lower-case letters, digits and hyphens. Write for example survey-2026."
        ),
    ] = Field(max_length=80)
    """The name of the study, in lower-case letters, digits and hyphens. The results are in results/{id} and
    reports/{id}."""
    title: str = ""
    """The title of the report. If absent: the `id`."""
    agency: str = ""
    """The organisation that releases the file, for the front page."""
    intruder: Line | None = Field(None, exclude_if=operator.not_)
    """Who could hold a file like the intruder's, in a few words for the front page. If absent: the report says that
    it is not stated."""
    date: Day | None = None
    """The date of the report. If absent: its PDF does not conform to PDF/A, which requires one, and `reident seal`
    gives a warning."""
    predecessor: str | None = Field(None, exclude_if=operator.not_)
    """The `id` of the study of the earlier release, with which the page over all studies compares this one. If
    absent: the study whose `id` differs in its year alone."""
    language: Code = DEFAULT_LANGUAGE
    """The language of the report and of the releasable edition: `en` (English) or `de` (German). Tables and messages
    stay in English."""
    font: Name | None = Field(None, exclude_if=operator.not_)
    """A font file, TrueType or OpenType, with the letters of labels that the fonts of the report lack; of a
    collection, its first font. If absent: figures and the PDF have boxes in place of such letters, and a warning
    says so."""
    files: LinkedFiles | None = None
    """The three files that `metrics` compare. Exactly one of this, `microaggregate` and `simulate`."""
    microaggregate: Microaggregate | None = None
    """Instead of `files`: a file that is micro-aggregated and compared with the original. Source: METHODS §9."""
    simulate: Simulation | None = None
    """Simulated files, instead of `files` or the files of `matching`, `file_risk` or `microaggregate`."""
    units: Units | None = Field(None, exclude_if=operator.not_)
    """The units that are compared, if they are not single rows: households, or persons with several rows. Source:
    METHODS §4.7.
    """
    strata: Strata = ()
    """The strata variables: records are compared only if they are equal on all of these. Each is the name of a
    column of both files, or a section. Source: METHODS §2."""
    linking_variables: tuple[LinkingVariable, ...] = Field((), max_length=MAX_LINKING_VARIABLES)
    """The variables that the intruder compares. Required with `metrics`."""
    binning: Binning = Field(default_factory=Binning)
    """The categories of numeric variables for unicity, taxicab, Fellegi–Sunter and `file_risk`."""
    metrics: ChosenMetrics | None = None
    """The metrics to compute, at least one; `{}` takes the defaults of a metric. If absent: no records are linked."""
    rank_filter: RankFilter = Field(default_factory=RankFilter)
    rates: Rates = Field(default_factory=Rates)
    larger_intruder: LargerIntruder | None = Field(None, exclude_if=operator.not_)
    """What an intruder would confirm who holds more of the population than the external intruder file does. If absent:
    not computed. Source: METHODS §6.5."""
    challenge: Challenged = Field(default_factory=Challenge, exclude_if=Challenge().__eq__)
    """How far the attacks at hand are tried that the study does not declare: `all`, `none`, or as far as a section
    says. Source: METHODS §6.10.
    """
    matching: Matching | None = None
    """The matching-based risk of synthetic data. If absent: not computed. Source: METHODS §8."""
    file_risk: FileRisk | None = None
    """The risk of one file: uniques, DIS and SUDA. If absent: not computed. Source: METHODS §7."""
    attribute_disclosure: AttributeDisclosure | None = Field(None, exclude_if=operator.not_)
    """What an intruder who knows the keys of a person could learn about a target. If absent: not computed. Source:
    METHODS §12."""
    confirm: Confirm | None = Field(None, exclude_if=operator.not_)
    """The confirmation of claims by the values of people, where a released file has no records of people. If
    absent: by the true links of `files.iuf`. Source: METHODS §14."""
    decision: Decision | None = None
    """The limits of the verdict in the report. If absent: no verdict."""
    utility: Utility | None = Field(None, exclude_if=operator.not_)
    """What protection does to the data, measured against the file before protection. If absent: not measured. Source:
    METHODS §13."""
    why: Why | None = Field(None, exclude_if=operator.not_)
    """Which variables carry each confirmed claim, and which coarser values would have prevented it; `{}` takes the
    defaults. If absent: not computed. Source: METHODS §6.3."""
    checklist: Checklist | None = None
    """The board's checklist on the release, in the report. If absent: the report has none."""
    release: Release | None = None
    """The releasable edition, whose numbers follow a rounding policy. If absent: there is none. Source: METHODS §11."""
    variants: Annotated[tuple[Varied, ...], AfterValidator(check_variants)] = Field(
        (),
        description="The values to compare. Every combination of them is computed as a variant of the study, and the "
        f"report compares the rates of the study and its variants. At most {MAX_VARIANTS} combinations.",
    )

    together: str | None = Field(None, exclude_if=operator.not_)
    """The name of an item of `variants` whose values exchange the external intruder file with its links: the study
    then also measures the intruder who holds all of these files. Source:
    METHODS §6.6."""
    confirmed_csv: bool = Field(False, exclude_if=operator.not_)
    """Whether to write the confirmed and suspected pairs of each metric as `confirmed/{metric}.csv` too, for a
    spreadsheet, with the keys of records. Variants have none."""
    seal: Seal = Field(default_factory=Seal)
    """What `reident seal` makes of the study. Source: METHODS §10."""

    @property
    def chosen(self) -> dict[str, Section]:
        """The options of the metrics that are computed, in the order of the registry."""
        options = {name: getattr(self.metrics, name, None) for name in REGISTRY}
        return {name: option for name, option in options.items() if option is not None}

    @property
    def analyses(self) -> dict[str, Analysis]:
        """The sections of the analyses that the study has, by their keys."""
        sections = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: section for name, section in sections.items() if isinstance(section, Analysis)}

    @property
    def has_original(self) -> bool:
        """Whether the study has the released records as they were before protection, declared or simulated."""
        simulated = isinstance(self.simulate, HouseholdSurvey) and self.simulate.original
        return simulated or (self.files is not None and self.files.original is not None)

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The columns that identify a record of ``puf`` and of ``eif``, or a unit, see :func:`table_keys`."""
        units = self.units
        return self.linked_files.keys if units is None else table_keys({"puf": units.puf, "eif": units.eif})

    @property
    def linked_files(self) -> LinkedFiles:
        """The three files that the metrics compare: declared, masked or simulated."""
        if self.microaggregate is not None:
            return self.microaggregate.files
        return self.files or (self.simulate.files if isinstance(self.simulate, Linked) else SIMULATED)

    @property
    def intruders(self) -> Varied:
        """The item of `variants` with the files of the intruder who holds them all."""
        varied = dict(zip(variant_names(self.variants), self.variants, strict=True))
        if self.together not in varied:
            raise ValueError(
                "`.together` must be the name of an item of `variants`. Correct the name, or add the item."
            )
        return varied[self.together]

    @property
    def matched(self) -> Matching:
        """The section `matching` with its files, declared or simulated."""
        matching = required(self.matching, "matching")
        if matching.confidential is not None or not isinstance(self.simulate, SyntheticSurvey):
            return matching
        numbers = range(1, self.simulate.copies + 1)
        files: dict[str, Any] = {
            "confidential": ConfidentialFile(path="confidential.csv"),
            "synthetic": tuple(SyntheticFile(path=f"synthetic_{number}.csv") for number in numbers),
        }
        if matching.closest is not None and self.simulate.holdout:
            holdout = SourceFile(path=f"{HOLDOUT}.csv")
            files["closest"] = matching.closest.model_copy(update={"holdout": holdout})
        return matching.model_copy(update=files)

    @property
    def linked_sources(self) -> dict[str, SourceFile]:
        """The descriptions of ``puf``, ``eif`` and ``iuf``, declared or simulated; empty without `metrics`."""
        files = self.linked_files
        return {} if self.metrics is None else {"puf": files.puf, "eif": files.eif, "iuf": files.iuf}

    @property
    def matched_sources(self) -> dict[str, SourceFile]:
        """The descriptions of ``confidential``, ``synthetic_1`` …; empty without `matching`."""
        if self.matching is None:
            return {}
        copies = {f"synthetic_{at}": file for at, file in enumerate(self.matched.synthetic, start=1)}
        return {"confidential": self.matched.file(), **copies}

    @property
    def holdout_sources(self) -> dict[str, SourceFile]:
        """The description of ``holdout``, which distances to the closest record are compared with; empty without it."""
        holdout = self.matched.holdout if self.matching is not None else None
        return {HOLDOUT: holdout} if holdout else {}

    @property
    def risk(self) -> FileRisk:
        """The section `file_risk` with its units, where these can be compared."""
        risk = required(self.file_risk, "file_risk")
        return risk if risk.missing == "wildcard" else risk.model_copy(update={"units": self.risk_units})

    @property
    def risk_units(self) -> tuple[str, ...] | None:
        """The columns that identify a unit of the file of `file_risk`, wherever the study declares them."""
        if self.file_risk is None:
            return None
        return self.file_risk.units or getattr(self.units, self.file_risk.side, None)

    @property
    def risk_key(self) -> tuple[KeyVariable, ...]:
        """The key variables of `file_risk`; linking variables as they are declared."""
        return self.risk.key(self.linking_variables)

    @property
    def risk_sensitive(self) -> tuple[KeyVariable, ...]:
        """The sensitive variables of `file_risk` that are not in its key."""
        keys = {variable.name for variable in self.risk_key}
        return tuple(target for target in self.risk.targets(self.linking_variables) if target.name not in keys)

    @property
    def risk_id(self) -> tuple[str, ...]:
        """The columns that identify a record of the file of `file_risk`; empty if the row number does."""
        side = self.risk.side
        if side in ("puf", "eif"):
            return () if self.units is not None else tuple(getattr(self.linked_files, side).id)
        if side == SURVEY:
            names = self.risk.described_file.id or ()
            return () if names == self.risk_units else names  # which repeats; its rows are not named
        return self.matched.key(None if side == "confidential" else int(side.removeprefix("synthetic_")) - 1)

    @property
    def risk_sources(self) -> dict[str, SourceFile]:
        """The descriptions of the files of `file_risk` by side; empty without it."""
        others = {**self.linked_sources, **self.matched_sources}
        return {} if self.file_risk is None else self.file_risk.sources(others)

    @property
    def attributed(self) -> AttributeDisclosure:
        """The section `attribute_disclosure`."""
        return required(self.attribute_disclosure, "attribute_disclosure")

    @property
    def attribution_variables(self) -> tuple[tuple[KeyVariable, ...], tuple[AttributeTarget, ...]]:
        """The keys and targets of `attribute_disclosure`; variables of other sections as they are declared."""
        matched = self.matching.variables if self.matching else {}
        return self.attributed.variables(self.linking_variables, matched)

    @property
    def attribution_sources(self) -> dict[str, SourceFile]:
        """The descriptions of the files of `attribute_disclosure` by side: original, released, holdout."""
        if self.attribute_disclosure is None:
            return {}
        original = {ORIGINAL: self.files.original} if self.files and self.files.original else {}
        return self.attributed.sources({**original, **self.linked_sources}, self.matched_sources)

    @property
    def attribution_ids(self) -> dict[str, tuple[str, ...]]:
        """The columns that identify a person, by side of `attribute_disclosure`; empty where none do."""
        copies = len(self.matched_sources) - 1
        matched = [self.matched.key(at) for at in (None, *range(copies))] if self.matching else []
        return self.attributed.ids(self.linked_files.puf.id, dict(zip(self.matched_sources, matched, strict=True)))

    @property
    def sources(self) -> dict[str, SourceFile]:
        """The descriptions of all files that the study reads, by side."""
        original = self.microaggregate.source if self.microaggregate else self.files and self.files.original
        originals = {ORIGINAL: original} if original else {}
        sources = {**self.linked_sources, **self.matched_sources, **self.holdout_sources, **self.risk_sources}
        return sources | originals | self.attribution_sources

    @property
    def simulated(self) -> frozenset[str]:
        """The sides that `simulate` draws."""
        if isinstance(self.simulate, Linked):
            return frozenset(self.linked_sources)
        if isinstance(self.simulate, LocalAuthorities):
            return frozenset({SURVEY, POPULATION} & set(self.risk_sources))
        if isinstance(self.simulate, SkewedAmounts):
            return frozenset({ORIGINAL})
        drawn = {**self.matched_sources, **self.holdout_sources}
        return frozenset(drawn if isinstance(self.simulate, SyntheticSurvey) else ())

    @property
    def limited(self) -> dict[str, tuple[str, ...] | None]:
        """The names that limits apply to, by the section that the limits are for; None for one that is absent."""
        risk, disclosure = self.file_risk, self.attribute_disclosure
        scenarios, sensitive = (risk.scenarios, risk.sensitive) if risk else ((), ())
        return {
            "metrics": tuple(self.chosen) if self.metrics is not None and self.confirm is None else None,
            "confirm": None if self.confirm is None else tuple(self.chosen),
            "together": None if self.together is None else tuple(self.chosen),
            "file_risk": None if risk is None else (),
            "file_risk.population": None if risk is None or risk.population is None else (),
            "file_risk.scenarios": tuple(scenario.name for scenario in scenarios) or None,
            "file_risk.sensitive": tuple(variable.name for variable in sensitive) or None,
            "matching": None if self.matching is None else (),
            "matching.closest.holdout": () if self.holdout_sources else None,
            "attribute_disclosure": None if disclosure is None else tuple(one.name for one in disclosure.targets),
        }

    @property
    def made(self) -> dict[str, str]:
        """The sides of the files that the study creates, with the folder of its results that contains each file."""
        masked = {} if self.microaggregate is None else dict.fromkeys(self.linked_sources, "microaggregation")
        return masked | dict.fromkeys(self.simulated, "simulated")

    @model_validator(mode="before")
    @classmethod
    def _units_are_keys(cls, content: Any) -> Any:
        return with_rows(with_keys(content))

    @model_validator(mode="after")
    def _has_results(self) -> Study:
        if self.metrics is None:
            linked = [
                name for name in ("files", "units", "linking_variables", "strata", "together") if getattr(self, name)
            ]
            linked += [name for name, section in self.analyses.items() if section.needs_metrics]
            for name in linked:
                raise ValueError(
                    f"`.{name}` must not be given without `metrics`. Remove it, or add for example "
                    "`metrics: {taxicab: {}}`."
                )
        if not (self.metrics or self.matching or self.file_risk or self.attribute_disclosure):
            raise ValueError(
                "`metrics`, `matching`, `file_risk` or `attribute_disclosure` is missing. Add at least one of them."
            )
        if self.metrics is not None and not self.linking_variables:
            raise ValueError("`.linking_variables` is missing. List the variables that `metrics` compare.")
        return self

    @model_validator(mode="after")
    def _confirmation_fits(self) -> Study:
        if self.confirm is not None:
            self.confirm.check(self)
        return self

    @model_validator(mode="after")
    def _one_source(self) -> Study:
        households = isinstance(self.simulate, Linked)
        if self.metrics is None and households:
            raise _without_use(self.simulate, "metrics")
        if self.metrics is not None and sum([bool(self.files), bool(self.microaggregate), households]) != 1:
            raise ValueError(
                "`.metrics` must have exactly one source of records: `files`, `microaggregate`, or `simulate` with the "
                "kind `household-survey`, `households` or `visits`. Remove the others, or add one."
            )
        amounts = isinstance(self.simulate, SkewedAmounts)
        if amounts != (self.microaggregate is not None and not self.microaggregate.path):
            raise ValueError(
                "`.microaggregate` must have exactly one source: its `path`, or `simulate` with the kind "
                "`skewed-amounts`. Remove the other, or add one."
            )
        if self.file_risk is None and isinstance(self.simulate, LocalAuthorities):
            raise _without_use(self.simulate, "file_risk")
        survey = isinstance(self.simulate, SyntheticSurvey)
        if self.matching is None and survey:
            raise _without_use(self.simulate, "matching")
        if self.matching is not None and (self.matching.confidential is None) != survey:
            raise ValueError(
                "`.matching` must have exactly one source of files: its `confidential` and `synthetic`, or `simulate` "
                "with the kind `synthetic-survey`. Remove the other, or add one."
            )
        if self.matching is not None and self.matching.holdout is not None and survey:
            raise ValueError(
                "`.matching.closest.holdout` must not be given with `simulate`, which draws it. Remove it, and set "
                "`simulate.holdout`."
            )
        if isinstance(self.simulate, SyntheticSurvey) and self.simulate.holdout and not self.matched.closest:
            raise ValueError(
                "`.simulate.holdout` must not be given without `matching.closest`. Remove it, or add `closest: {}`."
            )
        return self

    @model_validator(mode="after")
    def _analyses_fit(self) -> Study:
        for section in self.analyses.values():
            section.fit(self)
        return self

    @model_validator(mode="after")
    def _limits_fit(self) -> Study:
        if self.decision is not None:
            key = [variable.name for variable in self.risk_key] if self.file_risk else ()
            self.decision.check(self.limited, self.file_risk.known_to_all(key) if self.file_risk else ())
        return self

    @model_validator(mode="after")
    def _together_fits(self) -> Study:
        if self.together is not None and not any(split(key)[0] in ("files", "simulate") for key in self.intruders.keys):
            raise ValueError(
                "`.together` must name an item of `variants` that exchanges the external file and its links, such as "
                "`files.eif.path` and `files.iuf.path`. Name another item."
            )
        return self

    @model_validator(mode="after")
    def _names_do_not_clash(self) -> Study:
        names.check(self.linking_variables, self.strata, self.keys)
        if self.microaggregate is not None:
            self.microaggregate.check_columns((*self.strata, *self.linking_variables))
            if self.rates.cluster:
                raise ValueError(
                    "`.rates.cluster` must not be given with `microaggregate`, whose masked file has no other columns. "
                    "Remove it."
                )
        return self

    @model_validator(mode="after")
    def _metrics_fit(self) -> Study:
        if self.metrics is not None and not self.chosen:
            raise ValueError("`.metrics` must have at least one metric. Add one, for example `taxicab: {}`.")
        for name, options in self.chosen.items():
            REGISTRY[name].check(options, self.linking_variables)
        return self

    @model_validator(mode="after")
    def _units_fit(self) -> Study:
        units.check(self)
        return self

    @model_validator(mode="after")
    def _pads_fit(self) -> Study:
        padding.check(self)
        return self


def _without_use(simulation: Section | None, section: str) -> ValueError:
    kind = getattr(simulation, "kind", "")
    return ValueError(
        f"`.simulate` must not have the kind `{kind}` without `{section}`. Add `{section}`, or remove `simulate`."
    )


def load(path: Path) -> Study:
    """Read, check and complete a study file, see :func:`reident.study.reading.load`."""
    return studyfile.load(path, Study)


def plain(study: Study) -> dict[str, Any]:
    """Return the study in plain values; metrics that are not computed are absent, as in a study file."""
    plain = study.model_dump(mode="json")
    if plain["metrics"] is not None:
        plain["metrics"] = {name: options for name, options in plain["metrics"].items() if options is not None}
    return plain


def canonical_json(study: Study) -> str:
    """Return the study with every default as JSON text; equal studies have equal texts.

    How a study is sealed changes none of its results, and is left out. So are `release` where a study has no such
    section, and the default language: studies of releases before these keys keep their text.
    """
    content = {key: value for key, value in plain(study).items() if key != "seal"}
    for key, default in (("release", None), ("language", DEFAULT_LANGUAGE)):
        if content[key] == default:
            del content[key]
    return json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
