"""The section `challenge` of a study file: how far other attacks than those that the study declares are tried."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from reident.sections.base import Section

ALL, NONE = "all", "none"
"""Words that stand for the section: every attack at hand is tried, or none."""

DEFAULT_WORK = 60
"""Seconds of one processor that the attacks at hand may take by their estimate."""


class Challenge(Section):
    """How far the attacks at hand are tried that the study does not declare."""

    work: float | Literal["all"] = Field(
        DEFAULT_WORK,
        ge=0,
        description="The work that these attacks may take, in seconds of one processor by an estimate from the numbers "
        "of pairs and of variables, which is the same on every machine: standard attacks first, then joins, then those "
        "without a variable. `all`: every attack is tried; 0: none. Source: METHODS §6.10.",
    )


def _worded(value: Any) -> Any:
    return {"work": ALL if value == ALL else 0} if value in (ALL, NONE) else value


Challenged = Annotated[Challenge, BeforeValidator(_worded, json_schema_input_type=Literal["all", "none"] | Challenge)]
"""The section, or one of the words that stand for it."""
