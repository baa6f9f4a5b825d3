"""The sections of a study that links records: strata, linking variables, bins, rank filter, rates (METHODS §1–6).

The options of the metrics are declared in :mod:`reident.linkage.metrics`, beside the code that takes them.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from reident.sections.base import Codes, IntegerCoded, Labels, Section, name_alone, named_by_default, refuse_repeats
from reident.sections.coarsening import Coarsening
from reident.sections.codes import Coding, both_spellings, check_order, listed
from reident.sections.conversion import Conversions, Convert, check_convert
from reident.sections.dates import Formats, LatestYear, check_date, check_units, date_form
from reident.sections.days import DateForm
from reident.sections.files import Name, Names
from reident.sections.recodes import check_recodes

MAX_LINKING_VARIABLES = 64


class PerFile(Section):
    """The missing codes of each file."""

    puf: Codes = ()
    """The missing codes of the public use file."""
    eif: Codes = ()
    """The missing codes of the external intruder file."""


class Recodes(Section):
    """The recode tables of each file, from the file's codes to the study's."""

    puf: dict[str, str] = Field(default_factory=dict)
    """The recode table of the public use file. A key is a code; or a range of numbers, both ends included, such as
    `18-29` or `65-`; or `otherwise`, for every code without an entry of its own. Source: METHODS §1."""
    eif: dict[str, str] = Field(default_factory=dict)
    """The recode table of the external intruder file, written in the same way."""


def _for_both(value: Any) -> Any:
    """Let a list of missing codes apply to both files."""
    codes = listed(value)
    return {"puf": codes, "eif": codes} if isinstance(codes, list) else codes


MissingCodes = Annotated[PerFile, BeforeValidator(_for_both, json_schema_input_type=str | tuple[str, ...] | PerFile)]


class StudyColumn(Section):
    """A variable of both files."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name
    """The name of the variable in the study."""
    puf: Name = Field("", validate_default=False)
    """The column of the public use file. If absent: the name of the variable."""
    eif: Name = Field("", validate_default=False)
    """The column of the external intruder file. If absent: the name of the variable."""
    missing: MissingCodes = Field(default_factory=PerFile)
    """The codes that mean missing, for both files or as `{puf: [...], eif: [...]}`; `""` is an empty cell. Looked
    up before recoding. Source: METHODS §1."""
    recode: Recodes = Field(default_factory=Recodes)
    """The mappings from the codes of each file to those of the study."""
    integer_coded: IntegerCoded = False
    labels: Labels = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _columns_default_to_the_name(cls, value: Any) -> Any:
        return named_by_default(value, "puf", "eif")

    def coding(self, side: str, decimal: str = ".", thousands: str = "") -> Coding:
        """Return how one file's texts of this variable are read; a strata variable is categorical."""
        convert = self.convert_of(side)
        return Coding(
            "numeric" if self.is_numeric else "categorical",
            getattr(self.missing, side),
            getattr(self.recode, side),
            getattr(self, "order", None),
            self.integer_coded,
            decimal,
            thousands,
            None if convert is None else convert.conversion,
            self.date_of(side),
        )

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, or dates, which are read as numbers."""
        return getattr(self, "type", "categorical") != "categorical"

    def date_of(self, side: str) -> DateForm | None:  # noqa: ARG002 - a strata variable has none
        """Return how one file writes dates; None if the variable has none."""
        return None

    def convert_of(self, side: str) -> Convert | None:  # noqa: ARG002 - a strata variable has none
        """Return the conversion of the numbers of one file to those of the study."""
        return None

    @model_validator(mode="after")
    def _recodes_fit(self) -> StudyColumn:
        for side in ("puf", "eif"):
            check_recodes(self.coding(side), f"recode.{side}", f"missing.{side}")
        return self


class StrataVariable(StudyColumn):
    """A variable that divides both files into strata."""


Strata = tuple[
    Annotated[StrataVariable, BeforeValidator(name_alone, json_schema_input_type=Name | StrataVariable)], ...
]


class LinkingVariable(StudyColumn):
    """A variable that the intruder compares."""

    type: Literal["numeric", "categorical", "date"]
    """How values are read. An ordinal variable is categorical with a declared `order`. A date is the number of its day
    and compared as a number. Source: METHODS §1."""
    format: Formats | None = Field(None, exclude_if=operator.not_)
    """Dates: how they are written, for both files or as `{puf: …, eif: …}`: `YYYY` or `YY`, `MM` or `MMM` (jan …),
    `DD`, `hh`, `mm` and `ss`, with characters between them, such as `DD.MM.YYYY`. If absent: `YYYY-MM-DD`. Source:
    METHODS §1."""
    latest_year: LatestYear | None = Field(None, exclude_if=operator.not_)
    """Dates with `YY`: the latest year that two digits may mean; with 2026, 26 is 2026 and 27 is 1927."""
    order: tuple[str, ...] | None = Field(None, min_length=2)
    """Categorical: all categories after recoding, from lowest to highest."""
    convert: Conversions | None = Field(None, exclude_if=operator.not_)
    """Numeric: for each file the mapping of its numbers to those of the study: `{eif: {times: 1000}}` if it has
    thousands; of dates a shift in days, `{eif: {plus: 1}}`. Exact; after `missing` and `recode`, before `coarsen`.
    Source: METHODS §1."""
    coarsen: Coarsening | None = Field(None, exclude_if=operator.not_)
    """Coarser values of the variable in the attack, the same in both files, after `recode`. The file before
    protection does not have them. Source: METHODS §1."""
    level: Literal["member", "unit"] = Field("member", exclude_if=lambda level: level == "member")
    """With `units`: `unit` for a variable that is the same for all members of a unit, such as the tenure of a
    household; rows that miss it have the value of the others. Source: METHODS §4.7."""

    @model_validator(mode="after")
    def _type_fits(self) -> LinkingVariable:
        check_order(self.type, self.order, integer_coded=self.integer_coded)
        check_convert(self.type, self.convert)
        if self.coarsen is not None:
            self.coarsen.check(self.type, ".coarsen")
        forms = [form for side in ("puf", "eif") if (form := self.date_of(side)) is not None]
        check_date(self.type, self.format, self.latest_year, forms)
        check_units(forms, self.coarsen)
        return self

    def date_of(self, side: str) -> DateForm | None:
        """Return how one file writes dates; None if the variable has none."""
        form = "" if self.format is None else getattr(self.format, side)
        return date_form(self.type, form, self.latest_year)

    def convert_of(self, side: str) -> Convert | None:
        """Return the conversion of the numbers of one file to those of the study."""
        return getattr(self.convert, side, None)

    @property
    def compared_order(self) -> tuple[str, ...]:
        """The categories from lowest to highest as they are compared; empty without a declared order."""
        return coarser_order(self.order or (), self.coarsen, integer_coded=self.integer_coded)


def coarser_order(order: tuple[str, ...], coarsening: Coarsening | None, *, integer_coded: bool) -> tuple[str, ...]:
    """Return the order of coarser categories: each stands where the first of its categories stood."""
    if coarsening is None or coarsening.numeric:
        return order
    coarser = coarsening.coarser_code(integer_coded=integer_coded)
    return tuple(dict.fromkeys(coarser(code) for code in order))


class Binning(Section):
    """The categories of numeric variables for unicity, taxicab, Fellegi–Sunter and `file_risk`."""

    bins: int = Field(5, ge=2, le=1000)
    """The number of categories. Source: METHODS §3."""
    cutpoints: Literal["puf", "eif", "pooled", "each"] = "puf"
    """The file whose quantiles are the cut points; `each` cuts each file at its own quantiles. Source: METHODS §3."""
    scope: Literal["stratum", "study"] = "stratum"
    """The records from which cut points, and the standard deviations of the euclidean and adhoc metrics, are computed:
    each stratum, or the whole study. Source: METHODS §3, §4.3."""
    quantiles: Literal["averaged", "groups"] = "averaged"
    """How the categories are cut. `averaged`: at empirical quantiles with averaging. `groups`: by rank, as PROC RANK of
    SAS with GROUPS. Source: METHODS §3."""
    ties: Literal["mean", "high"] | None = None
    """With `quantiles: groups`: the rank of equal values, the mean or the highest of their ranks. If absent: `mean`.
    Source: METHODS §3."""

    @model_validator(mode="after")
    def _ties_go_with_groups(self) -> Binning:
        if self.ties is not None and self.quantiles != "groups":
            raise ValueError("`.ties` must not be given without `quantiles: groups`. Remove it, or add that.")
        return self

    @property
    def ranks(self) -> Literal["mean", "high"] | None:
        """The ranks of equal values where categories are groups of ranks; otherwise None."""
        return self.ties or "mean" if self.quantiles == "groups" else None


MAX_CANDIDATES = 5
"""A record whose best score more pairs share makes no claim, whatever the rank limit of a study is (METHODS §6.7)."""


class RankFilter(Section):
    """The largest number of suspected pairs of a record."""

    max_pairs: int = Field(5, ge=1)
    """The rank limit: the largest number of suspected pairs of a record. Source: METHODS §5."""
    keep: int = Field(20, ge=1, le=10_000)
    """The largest number of pairs of a record that scoring keeps, at least `max_pairs`. Source: METHODS §5."""

    @model_validator(mode="after")
    def _keep_covers(self) -> RankFilter:
        if self.keep < self.max_pairs:
            raise ValueError(
                f"`.keep` must be at least `max_pairs` ({self.max_pairs}), but is {self.keep}. Increase it."
            )
        return self

    @property
    def kept(self) -> int:
        """The largest number of pairs that scoring keeps: no fewer than a claim may have candidates."""
        return max(self.keep, MAX_CANDIDATES)


class Rates(Section):
    """The confidence intervals of the rates."""

    interval: Literal["clopper-pearson", "wilson", "clustered"] = "clopper-pearson"
    """The method for the confidence intervals of rates; `clustered` takes the clusters of `cluster` as independent.
    Source: METHODS §6.
    """
    level: float = Field(0.95, gt=0, lt=1)
    """The coverage of the intervals."""
    cluster: Names | None = None
    """The columns of the public use file that identify the cluster of a record, such as its household. Source: METHODS
    §6.
    """

    @model_validator(mode="after")
    def _cluster_fits(self) -> Rates:
        if self.interval == "clustered" and self.cluster is None:
            raise ValueError(
                "`.cluster` is missing. Name the columns of the public use file that identify a cluster, or choose "
                "another `interval`."
            )
        refuse_repeats(self.cluster or (), "rates.cluster")
        return self
