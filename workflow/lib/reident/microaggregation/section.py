"""The section `microaggregate` of a study file: a file, its protection, and the intruder's file (METHODS §9)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from reident.sections.base import Analysis, Codes, Rational, Section, one_or_many, refuse_repeats
from reident.sections.codes import clean, normaliser, number
from reident.sections.files import ORIGINAL, ExternalFile, LinkedFiles, LinkFile, Name, RecordFile, SourceFile
from reident.sections.linkage import StudyColumn
from reident.sections.recodes import Recoding

PUFID = "pufid"
"""The key of the masked file, whose values are drawn at random."""

ROW = "row"
"""The key of the original file if the study does not name one: the number of the record, from 1."""

PERSON = "person"
"""The key of a simulated file."""

Aggregate = Literal["mean", "median"]
Share = Annotated[float, Field(ge=0, lt=1)]


class Corresponding(Section):
    """The deviations of the intruder's file from the original file."""

    deviating: int = Field(3, ge=0)
    """The largest number of `variables` of a record that deviate by up to `by`; each number from 0 to it is equally
    likely."""
    by: Share = 0.3
    """The largest deviation of these variables, up or down, as a share of the value."""
    others_from: Share = 0.01
    """The smallest deviation of the other variables, up or down, as a share of the value."""
    others_to: Share = 0.03
    """The largest deviation of the other variables, up or down, as a share of the value."""

    @model_validator(mode="after")
    def _in_order(self) -> Corresponding:
        if self.others_from > self.others_to:
            raise ValueError("`.others_from` must be at most `others_to`. Swap the two values.")
        return self


class Microaggregate(SourceFile, Analysis):
    """A file that is micro-aggregated, sampled and compared with the original; the true links are known."""

    needs_metrics: ClassVar[bool] = True
    without_units: ClassVar[str] = "Remove it, or name the masked file under `files`."

    path: str = ""
    """The path of the file, relative to the study file. If absent: the simulated `skewed-amounts`."""
    id: Annotated[
        tuple[Name, ...], BeforeValidator(one_or_many(str), json_schema_input_type=Name | tuple[Name, ...])
    ] = ()
    """The column or columns of the key, which is compared as text. If absent: records are numbered."""
    variables: tuple[Name, ...] = Field(min_length=1)
    """The numeric columns that are micro-aggregated, one at a time. The other columns that the study names are released
    unchanged. Source: METHODS §9."""
    missing: Codes = ()
    """The codes of these columns that mean missing. They are released unchanged and belong to no group. Declare them
    for the linking variables as well."""
    k: int = Field(3, ge=1)
    """The size of the groups of consecutive values; the last group takes the remainder. Source: METHODS §9."""
    aggregate: Aggregate = "mean"
    """The statistic that replaces the values of a group."""
    sampling_fraction: Rational = Field(Fraction(1), gt=0, le=1)
    """The share of the masked records that are released, drawn at random; at least one record."""
    corresponding: Corresponding | None = None
    """The deviations of the intruder's file from the original file. If absent: the intruder's file is the original
    file."""
    seed: int = Field(2026, ge=0)
    """The seed of the sample, the keys and the deviations."""

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns of the intruder's file."""
        return self.id or ((ROW,) if self.path else (PERSON,))

    @property
    def source(self) -> SourceFile:
        """The original file, declared or simulated."""
        names = {name: getattr(self, name) for name in SourceFile.model_fields if name != "path"}
        return SourceFile(path=self.path or f"{ORIGINAL}.csv", **names)

    @property
    def files(self) -> LinkedFiles:
        """The three files that micro-aggregation creates."""
        return LinkedFiles(
            puf=RecordFile(path="puf.csv", id=(PUFID,)),
            eif=ExternalFile(path="eif.csv", id=self.key),
            iuf=LinkFile(path="iuf.csv", puf_id=(PUFID,), eif_id=self.key),
        )

    def check_columns(self, variables: Sequence[StudyColumn]) -> None:
        """Refuse to compare or to stratify by the key of the intruder's file, or to compare missing values."""
        for name in (variable.eif for variable in variables):
            if name in self.key:
                where = "or from `id`" if self.id else "or name another key as `microaggregate.id`"
                raise ValueError(
                    f"`{name}` must not be compared, because it is the key of the original file. Remove it from "
                    f"`linking_variables` and `strata`, {where}."
                )
        for variable, side in itertools.product(variables, ("puf", "eif")):
            if getattr(variable, side) in self.variables:
                if variable.date_of(side) is not None:
                    raise ValueError(
                        f"`.microaggregate.variables` must not have `{getattr(variable, side)}`, which is a date: the "
                        "mean of days is written as a number. Remove it, and give the variable `coarsen`."
                    )
                self._check_missing(variable, side)

    def _check_missing(self, variable: StudyColumn, side: str) -> None:
        """Refuse a missing code of micro-aggregation that a variable would silently read as a value.

        A numeric variable refuses a code that is not a number when it reads the file.
        """
        coding = variable.coding(side)
        normal = normaliser(coding)
        missing_codes, recode = {normal(code) for code in coding.missing}, Recoding(coding)
        for code in self.missing:
            silent = coding.kind != "numeric" or number(clean(code)) is not None
            if silent and normal(code) not in missing_codes and not recode.names(normal(code)):
                raise ValueError(
                    f"`.microaggregate.missing` declares the code `{code}`, but `{variable.name}` would compare it as "
                    f"a value. Add it to the `missing` of `{variable.name}`."
                )

    @model_validator(mode="after")
    def _columns_fit(self) -> Microaggregate:
        refuse_repeats(self.variables, "variables")
        for name in self.variables:
            if name in self.key:
                raise ValueError(
                    f"`{name}` must not be both a key column and a variable. Remove it from `variables` or from `id`."
                )
        if PUFID in (*self.key, *self.variables):
            raise ValueError(
                f"`{PUFID}` must not be a column, because it is the key of the masked file. Rename the column."
            )
        if self.decimal != ".":
            raise ValueError(
                "`.decimal` must be `.`, as in the masked file. Write the original file with decimal points."
            )
        if self.thousands:
            raise ValueError(
                "`.thousands` must not be given, as the masked file has none. Write the original file without them."
            )
        if self.id and not self.path:
            raise ValueError(
                "`.id` must not be given for a simulated file, which has its own key. Remove it, or add a `path`."
            )
        return self
