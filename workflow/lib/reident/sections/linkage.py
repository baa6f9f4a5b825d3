"""The sections of a study that links records: files, strata, linking variables, bins, rank filter, rates.

METHODS §1–6. The metrics have sections of their own, beside what computes them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from reident.sections.base import Section
from reident.sections.codes import Codes, Coding, IntegerCoded, both_spellings, listed, normaliser
from reident.sections.files import Name

MAX_LINKING_VARIABLES = 64


class PerFile(Section):
    """Missing codes of each file."""

    puf: Codes = Field((), description="In the public use file.")
    eif: Codes = Field((), description="In the external intruder file.")


class Recodes(Section):
    """Recode tables of each file, from the file's code to the study's."""

    puf: dict[str, str] = Field(default_factory=dict, description="Of the public use file.")
    eif: dict[str, str] = Field(default_factory=dict, description="Of the external intruder file.")


def _for_both(value: Any) -> Any:
    """A list of missing codes stands for both files."""
    codes = listed(value)
    return {"puf": codes, "eif": codes} if isinstance(codes, list) else codes


MissingCodes = Annotated[
    PerFile, BeforeValidator(_for_both, json_schema_input_type=str | tuple[str, ...] | PerFile)
]


class Column(Section):
    """A variable that both files hold."""

    model_config = ConfigDict(json_schema_extra=both_spellings)

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
    integer_coded: IntegerCoded = False

    @model_validator(mode="before")
    @classmethod
    def _columns_default_to_the_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            return {"puf": value["name"], "eif": value["name"], **value}
        return value

    def coding(self, side: str, decimal: str = ".") -> Coding:
        """Return how the texts of this variable are read in one file; a strata variable is categorical."""
        return Coding(
            getattr(self, "type", "categorical"),
            getattr(self.missing, side),
            getattr(self.recode, side),
            getattr(self, "order", None),
            self.integer_coded,
            decimal,
        )

    @model_validator(mode="after")
    def _recoded_is_no_missing_code(self) -> Column:
        for side in ("puf", "eif"):
            coding = self.coding(side)
            normal = normaliser(coding)
            missing = {normal(code) for code in coding.missing}
            for code, target in coding.recode.items():
                if normal(target) in missing and normal(code) not in missing:
                    raise ValueError(
                        f"`recode` of `{self.name}` makes `{target}` of a code of the {side}, for which `missing` "
                        "declares it; missing codes are looked up before recoding, so that it would be a value: add "
                        f"`{code}` to `missing` in place of recoding it."
                    )
        return self


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
