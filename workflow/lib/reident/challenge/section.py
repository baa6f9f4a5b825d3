"""The section `challenge` of a study file: how far other attacks than those that the study declares are tried."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from reident.sections.base import Section

ALL, NONE = "all", "none"
"""Words that stand for the section: every attack at hand is tried, or none of them."""

DEFAULT_WORK = 60
"""Seconds of one processor that the attacks at hand may take by their estimate."""


class Challenge(Section):
    """How far the attacks at hand are tried that the study does not declare."""

    work: float | None = Field(
        DEFAULT_WORK,
        ge=0,
        description="The work that these attacks may take, in seconds of one processor by an estimate that is "
        "the same on every machine. Source: "
        "METHODS §6.10.",
    )


def _worded(value: Any) -> Any:
    return {ALL: {"work": None}, NONE: {"work": 0}}.get(value, value) if isinstance(value, str) else value


Challenged = Annotated[Challenge, BeforeValidator(_worded, json_schema_input_type=Literal["all", "none"] | Challenge)]
"""The section, or one of the words that stand for it."""
