"""The base of every section of a study file: immutable, and closed to unknown keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator

_NUMBERS = {int, float, Decimal, Fraction}
_UNDERSCORE = re.compile(r"(?![+-]?\d{1,3}(_\d{3})+(\.\d+)?$)[+-]?[\d.]+(_[\d./eE+-]*)+", re.ASCII)
"""An underscore in a number, but for one between thousands."""


def _day(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        raise ValueError("this is no day; write YYYY-MM-DD, such as 2026-03-31.")
    return value


Day = Annotated[date, BeforeValidator(_day)]
"""A day of the calendar, written YYYY-MM-DD; other texts, such as 0, could stand for seconds since 1970."""


class Section(BaseModel):
    """One mapping of the study file.

    Fields are documented by ``Field(description=...)``: the generated JSON Schema and
    ``config/README.md`` are made from those words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_underscores(cls, value: Any, info: ValidationInfo) -> Any:
        """Python takes 5_0 for 50; a study file that says so may mean 5.0, while 100_000 is certain."""
        types = set(_leaves(cls.model_fields[info.field_name or ""].annotation))
        if types & _NUMBERS and str not in types and any(map(_UNDERSCORE.fullmatch, _texts(value))):
            raise ValueError(
                "underscores stand between thousands only, as in 100_000; write the digits alone."
            )
        return value


def _leaves(annotation: Any) -> Iterator[Any]:
    """The types of which one is made."""
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _leaves(part)


def _texts(value: Any) -> Iterator[str]:
    """The texts of a value that is one, or a list or mapping of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        items = value.values() if isinstance(value, Mapping) else value
        yield from (item for item in items if isinstance(item, str))
