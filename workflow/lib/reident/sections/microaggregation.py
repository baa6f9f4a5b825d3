"""The section `microaggregate` of a study: a file, the protection, and what the intruder holds (METHODS §9)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from reident.sections.base import Section
from reident.sections.codes import Codes, clean, normaliser, number
from reident.sections.exact import Rational
from reident.sections.files import Files, LinkFile, Name, RecordFile, SourceFile, one_or_many
from reident.sections.linkage import Column

ORIGINAL = "original"
"""The side of the file that is micro-aggregated."""

PUFID = "pufid"
"""The key of the masked file, drawn at random."""

ROW = "row"
"""The key of the original file where the study names none: the number of the record, the first one 1."""

PERSON = "person"
"""The key of a simulated file."""

Aggregate = Literal["mean", "median"]
Share = Annotated[float, Field(ge=0, lt=1)]


class Corresponding(Section):
    """What the intruder holds is not the file itself but one whose values deviate from it."""

    deviating: int = Field(
        3,
        ge=0,
        description="In each record 0 to so many of the `variables`, each number equally likely, deviate by up to "
        "`by`.",
    )
    by: Share = Field(0.3, description="Their largest deviation, as a share of the value, up or down.")
    others_from: Share = Field(
        0.01, description="The smallest deviation of the other variables, up or down alike."
    )
    others_to: Share = Field(0.03, description="Their largest deviation.")

    @model_validator(mode="after")
    def _in_order(self) -> Corresponding:
        if self.others_from > self.others_to:
            raise ValueError("`others_from` is above `others_to`; swap the two.")
        return self


class Microaggregate(SourceFile):
    """A file that is micro-aggregated, sampled, and compared with itself: the truth is known by construction."""

    path: str = Field(
        "",
        description="The file, relative to the study file; empty: the simulated `skewed-amounts`.",
    )
    id: Annotated[
        tuple[Name, ...], BeforeValidator(one_or_many, json_schema_input_type=Name | tuple[Name, ...])
    ] = Field(
        (), description="The column, or columns, of its key, compared as text; empty: records are numbered."
    )
    variables: tuple[Name, ...] = Field(
        min_length=1,
        description="The numeric columns that are micro-aggregated, one at a time. The other columns that the study "
        "names are released as they are. Source: METHODS §9.",
    )
    missing: Codes = Field(
        (),
        description="The codes of these columns that mean missing, which stay as they are and are in no group; "
        "declare them for the linking variables too.",
    )
    k: int = Field(
        3,
        ge=1,
        description="The size of the groups of consecutive values; the last one takes the remainder. Source: METHODS "
        "§9.",
    )
    aggregate: Aggregate = Field("mean", description="What replaces the values of a group.")
    sampling_fraction: Rational = Field(
        Fraction(1),
        gt=0,
        le=1,
        description="The share of the masked records that are released, drawn at random, at least one record.",
    )
    corresponding: Corresponding | None = Field(
        None,
        description="The deviations of the intruder's file; absent: the intruder holds the original file.",
    )
    seed: int = Field(2026, ge=0, description="The seed of the sample, the keys and the deviations.")

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns of the intruder's file."""
        return self.id or ((ROW,) if self.path else (PERSON,))

    @property
    def source(self) -> SourceFile:
        """The file itself, declared or simulated."""
        names = {name: getattr(self, name) for name in SourceFile.model_fields if name != "path"}
        return SourceFile(path=self.path or f"{ORIGINAL}.csv", **names)

    @property
    def files(self) -> Files:
        """The files that come of it."""
        return Files(
            puf=RecordFile(path="puf.csv", id=(PUFID,)),
            eif=RecordFile(path="eif.csv", id=self.key),
            iuf=LinkFile(path="iuf.csv", puf_id=(PUFID,), eif_id=self.key),
        )

    def check_columns(self, used: Sequence[Column]) -> None:
        """Refuse to compare, or to stratify by, the key of the intruder's file, or missing values as values.

        Raises
        ------
        ValueError
        """
        for name in (own.eif for own in used):
            if name in self.key:
                where = "or from `id`" if self.id else "or give the file a key as `microaggregate.id`"
                raise ValueError(
                    f"the column `{name}` is the key of the file that is attacked; remove it from `linking_variables` "
                    f"and `strata`, {where}."
                )
        for own, side in itertools.product(used, ("puf", "eif")):
            if getattr(own, side) in self.variables:
                self._check_missing(own, side)

    def _check_missing(self, own: Column, side: str) -> None:
        """Refuse a code that micro-aggregation leaves out and a variable would take for a value, silently.

        A number does not take a code that is none: that is an error where the code occurs.
        """
        coding = own.coding(side)
        normal = normaliser(coding)
        known = {normal(code) for code in (*coding.missing, *coding.recode)}
        for code in self.missing:
            silent = coding.kind != "numeric" or number(clean(code)) is not None
            if silent and normal(code) not in known:
                raise ValueError(
                    f"`microaggregate.missing` names the code `{code}`, which `{own.name}` would compare as a value; "
                    f"add it to the `missing` of `{own.name}`."
                )

    @model_validator(mode="after")
    def _columns_fit(self) -> Microaggregate:
        for name in self.variables:
            if self.variables.count(name) > 1:
                raise ValueError(f"`{name}` stands twice in `variables`; keep one of the two.")
            if name in self.key:
                raise ValueError(f"`{name}` is a key column; remove it from `variables` or from `id`.")
        if PUFID in (*self.key, *self.variables):
            raise ValueError(f"`{PUFID}` will be the key of the masked file; give the column another name.")
        if self.decimal != ".":
            raise ValueError(
                "masked files are written with decimal points; write the original with them, too."
            )
        if self.id and not self.path:
            raise ValueError("a simulated file has a key of its own; remove `id`, or name a file as `path`.")
        return self
