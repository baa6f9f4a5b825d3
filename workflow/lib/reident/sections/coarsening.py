"""Coarser values of a linking variable, the same for both files (METHODS §1, §6.2)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from reident.sections.base import Day, Rational, Section
from reident.sections.codes import Coding, normaliser
from reident.sections.exact import SCALE, rational_text
from reident.sections.files import Name
from reident.sections.recodes import Recoding, check_spans

_KEYS = {"numeric": ("width", "top", "bottom"), "date": ("to", "earliest", "latest"), "categorical": ("recode",)}

Width = Annotated[Rational, Field(gt=0)]


class Coarsening(Section):
    """Coarser values, after missing codes and recode tables, in both files."""

    width: Width | None = None
    """Numeric: the width of intervals that begin at the multiples of it. A number becomes the middle of its interval.
    Source: METHODS §1."""
    top: Rational | None = None
    """Numeric: larger numbers become this one, before `width` applies."""
    bottom: Rational | None = None
    """Numeric: smaller numbers become this one, before `width` applies."""
    recode: dict[str, str] | None = Field(None, min_length=1)
    """Categorical: a recode table from the codes of the study to coarser ones, written as `recode` of the variable."""
    to: Literal["day", "week", "month", "quarter", "year"] | None = Field(None, exclude_if=operator.not_)
    """Dates: the period whose middle a date becomes; weeks begin on Monday. Source: METHODS §1."""
    earliest: Day | None = Field(None, exclude_if=operator.not_)
    """Dates: earlier dates become this one, before `to` applies."""
    latest: Day | None = Field(None, exclude_if=operator.not_)
    """Dates: later dates become this one, before `to` applies."""

    @property
    def numeric(self) -> bool:
        """Whether it applies to numbers, or to the numbers of days."""
        return self.recode is None

    @property
    def keys(self) -> dict[str, list[str]]:
        """The keys that are given, by the type of variable that they apply to."""
        given = {kind: [key for key in keys if getattr(self, key) is not None] for kind, keys in _KEYS.items()}
        return {kind: keys for kind, keys in given.items() if keys}

    @model_validator(mode="after")
    def _has_one_form(self) -> Coarsening:
        if len(self.keys) != 1:
            raise ValueError(
                "must have either `recode`, or at least one of `width`, `top` and `bottom`, or of `to`, `earliest` and "
                "`latest`. Remove the others, or add what is missing."
            )
        for name in self.keys.get("numeric", ()):
            if getattr(self, name).denominator > SCALE:
                raise ValueError(f"`.{name}` must have at most 12 decimal places. Round it.")
        if self.top is not None and self.bottom is not None and self.top < self.bottom:
            raise ValueError("`.top` must be at least `bottom`. Swap the two numbers.")
        if self.earliest is not None and self.latest is not None and self.latest < self.earliest:
            raise ValueError("`.latest` must not be before `earliest`. Swap the two dates.")
        check_spans(self.recode or {}, "recode")
        return self

    def check(self, kind: str, key: str) -> None:
        """Refuse a coarsening that does not apply to a type of variable; `key` is its place."""
        if kind not in self.keys:
            *others, last = (f"`{name}`" for name in _KEYS[kind])
            keys = f"{', '.join(others)} or {last}" if others else last
            raise ValueError(
                f"`{key}` must have {keys}, because the variable is {kind}. Correct the keys or the type of the "
                "variable."
            )

    def coarser_code(self, *, integer_coded: bool) -> Callable[[str], str]:
        """Return a function that gives the coarser code of a code of the study."""
        coding = Coding("categorical", recode=self.recode or {}, integer_coded=integer_coded)
        normal, recoding = normaliser(coding), Recoding(coding)
        return lambda code: recoding(normal(code))

    @property
    def label(self) -> str:
        """Describe the coarsening in a few words: by the numbers of the study file, and never by a code."""
        given = {name: getattr(self, name) for names in self.keys.values() for name in names if name != "recode"}
        texts = (f"{name} {rational_text(x) if isinstance(x, Fraction) else x}" for name, x in given.items())
        return ", ".join(texts)


class NamedCoarsening(Coarsening):
    """One coarsening of a linking variable, with a name."""

    variable: Name
    """The linking variable."""
    name: str | None = Field(None, min_length=1, max_length=60, exclude_if=operator.not_)
    """How reports call it. Required with `recode`; if absent: the numbers, such as `width 10`."""

    @model_validator(mode="after")
    def _has_a_name(self) -> NamedCoarsening:
        if self.recode is not None and self.name is None:
            raise ValueError("`.name` is missing. Name what `recode` does, such as `name: two regions`.")
        return self

    @property
    def coarsening(self) -> Coarsening:
        """The coarsening alone."""
        return Coarsening.model_validate({name: getattr(self, name) for name in Coarsening.model_fields})

    @property
    def title(self) -> str:
        """The name of the coarsening in reports."""
        return self.name or self.label


def plain(coarsening: Coarsening) -> dict[str, Any]:
    """Return a coarsening as a study file has it, without absent keys."""
    return coarsening.model_dump(mode="json", exclude_none=True)
