"""Key variables of a file whose risk is measured, and coarser codes of them (METHODS §7)."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from reident.sections.base import Codes, IntegerCoded, Labels, Section, name_alone, named_by_default
from reident.sections.codes import Coding, both_spellings, check_order
from reident.sections.conversion import Convert, check_convert
from reident.sections.dates import DateFormat, LatestYear, check_date, date_form
from reident.sections.days import DateForm
from reident.sections.files import Name
from reident.sections.recodes import check_recodes, check_spans

if TYPE_CHECKING:
    from reident.sections.linkage import LinkingVariable


MAX_SETS = 10_000
"""Sets of key variables that a study measures at most."""


class KeyVariable(Section):
    """A key variable."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

    name: Name
    """The name of the variable in the study."""
    column: Name = Field("", validate_default=False)
    """The column of the file, and of the population. If absent: the name of the variable."""
    type: Literal["categorical", "numeric", "date"] = "categorical"
    """How values are read: compared as codes, or, of numbers and dates, cut into bins at the quantiles of the whole
    file. Source: METHODS §1, §3, §7.
    """
    format: DateFormat | None = Field(None, exclude_if=operator.not_)
    """Dates: how they are written, as `format` of a linking variable. If absent: `YYYY-MM-DD`."""
    latest_year: LatestYear | None = Field(None, exclude_if=operator.not_)
    """Dates with `YY`: the latest year that two digits may mean."""
    missing: Codes = ()
    """The codes that mean missing; `""` is an empty cell. No other code is missing. Missing codes are looked up before
    recoding. Source: METHODS §1."""
    recode: dict[str, str] = Field(default_factory=dict)
    """The mapping from the codes of the file to those of the study, as other recode tables. Source: METHODS §1."""
    convert: Convert | None = Field(None, exclude_if=operator.not_)
    """Numeric: the mapping from the numbers of the file to those of the study, such as `{times: 0.01}` for two implied
    decimals; after `missing` and `recode`, exact as decimals. Source: METHODS §1."""
    order: tuple[str, ...] | None = Field(None, min_length=2)
    """Categorical: all categories after recoding, from lowest to highest."""
    integer_coded: IntegerCoded = False
    labels: Labels = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _column_defaults_to_the_name(cls, value: Any) -> Any:
        return named_by_default(value, "column")

    @model_validator(mode="after")
    def _type_fits(self) -> KeyVariable:
        check_order(self.type, self.order, integer_coded=self.integer_coded)
        check_convert(self.type, self.convert)
        check_date(self.type, self.format, self.latest_year, [form] if (form := self.date) is not None else [])
        return self

    @model_validator(mode="after")
    def _recodes_fit(self) -> KeyVariable:
        check_recodes(self.coding(), "recode", "missing")
        return self

    def coding(self, decimal: str = ".", thousands: str = "") -> Coding:
        """Return how its values are read, in a file with these separators."""
        convert = None if self.convert is None else self.convert.conversion
        kind: Literal["categorical", "numeric"] = "numeric" if self.is_numeric else "categorical"
        separators = decimal, thousands
        return Coding(kind, self.missing, self.recode, self.order, self.integer_coded, *separators, convert, self.date)

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, or dates, which are read as numbers."""
        return self.type != "categorical"

    @property
    def date(self) -> DateForm | None:
        """How the file writes dates; None if the variable has none."""
        return date_form(self.type, self.format, self.latest_year)


KeyVariables = tuple[
    Annotated[KeyVariable, BeforeValidator(name_alone, json_schema_input_type=Name | KeyVariable)], ...
]


class SensitiveVariable(KeyVariable):
    """A variable that an intruder wants to know."""

    distance: Literal["equal", "ordered"] = Field("equal", exclude_if=lambda distance: distance == "equal")
    """How far two values are apart for t-closeness; `ordered` needs a numeric variable or an `order`. Source: METHODS
    §7.5.
    """

    @property
    def is_name_alone(self) -> bool:
        """Whether nothing but its distance is declared beside the name."""
        return self.model_copy(update={"distance": "equal"}) == SensitiveVariable(name=self.name)

    def complete(self, entry: KeyVariable) -> SensitiveVariable:
        """Return a variable that is declared elsewhere with the distance of this one."""
        return SensitiveVariable(**entry.model_dump(), distance=self.distance)


SensitiveVariables = tuple[
    Annotated[SensitiveVariable, BeforeValidator(name_alone, json_schema_input_type=Name | SensitiveVariable)], ...
]


class Collapse(Section):
    """Coarser codes of one key variable."""

    variable: Name
    """The categorical key variable."""
    recode: dict[str, str] = Field(min_length=1)
    """The mapping from codes of the study to coarser ones, with the same keys as other recode tables. Codes that are
    not in it stay as they are."""

    @model_validator(mode="after")
    def _ranges_fit(self) -> Collapse:
        check_spans(self.recode, "recode")
        return self

    def check(self, key: Sequence[KeyVariable]) -> None:
        """Refuse a variable that is not in the key or has no codes."""
        types = {variable.name: variable.type for variable in key}
        if types.get(self.variable) != "categorical":
            raise ValueError(
                f"`.file_risk.collapse` must name categorical key variables, and `{self.variable}` is not one. Correct "
                "the name, or remove it."
            )


def of_linking(variable: LinkingVariable, side: str) -> KeyVariable:
    """Return a linking variable as a key variable of one file."""
    return KeyVariable(
        name=variable.name,
        column=getattr(variable, side),
        type=variable.type,
        missing=getattr(variable.missing, side),
        recode=getattr(variable.recode, side),
        convert=variable.convert_of(side),
        order=variable.order,
        integer_coded=variable.integer_coded,
        labels=variable.labels,
        format=None if variable.format is None else getattr(variable.format, side),
        latest_year=variable.latest_year,
    )


def taken_over(variable: KeyVariable, declared: Mapping[str, KeyVariable]) -> KeyVariable:
    """Return a variable; a name alone is the declared variable of this name, where there is one."""
    entry = declared.get(variable.name)
    return entry if entry is not None and variable == KeyVariable(name=variable.name) else variable


def sets_up_to(names: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Return every set of at most ``size`` names, by size and then in the order of the names."""
    sizes = range(1, min(size, len(names)) + 1)
    return [chosen for k in sizes for chosen in combinations(names, k)]


def n_sets_up_to(n: int, size: int) -> int:
    """Return how many sets of at most ``size`` of n names there are."""
    return sum(comb(n, k) for k in range(1, min(size, n) + 1))


def refuse_many_sets(n: int, key: str, remedy: str) -> None:
    """Refuse more than :data:`MAX_SETS` sets, which result from a key of the study file."""
    if n > MAX_SETS:
        raise ValueError(f"`.{key}` must result in at most {MAX_SETS:,} sets, but results in {n:,}. {remedy}")
