"""Coarser values of a linking variable, the same for both files (METHODS §1, §6.2)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, model_validator

from reident.sections.base import Section
from reident.sections.codes import Coding, normaliser
from reident.sections.exact import SCALE, Rational, rational_text
from reident.sections.files import Name
from reident.sections.recodes import Recoding, check_spans

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

    @property
    def numeric(self) -> bool:
        """Whether it applies to numbers."""
        return self.recode is None

    @model_validator(mode="after")
    def _has_one_form(self) -> Coarsening:
        numbers = [name for name in ("width", "top", "bottom") if getattr(self, name) is not None]
        if bool(numbers) == (self.recode is not None):
            raise ValueError(
                "must have either `recode`, or at least one of `width`, `top` and `bottom`. Remove the others, or add "
                "what is missing."
            )
        for name in numbers:
            if getattr(self, name).denominator > SCALE:
                raise ValueError(f"`.{name}` must have at most 12 decimal places. Round it.")
        if self.top is not None and self.bottom is not None and self.top < self.bottom:
            raise ValueError("`.top` must be at least `bottom`. Swap the two numbers.")
        check_spans(self.recode or {}, "recode")
        return self

    def check(self, kind: str, key: str) -> None:
        """Refuse a coarsening of numbers for a categorical variable, and the other way round; `key` is its place."""
        if self.numeric != (kind == "numeric"):
            keys = "`width`, `top` or `bottom`" if kind == "numeric" else "`recode`"
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
        words = {"width": self.width, "top": self.top, "bottom": self.bottom}
        return ", ".join(f"{name} {rational_text(value)}" for name, value in words.items() if value is not None)


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
