"""The section `larger_intruder` of a study file: an intruder with a larger file (METHODS §6.5)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from reident.sections.base import Analysis

Times = Annotated[float, Field(gt=1, le=1000)]


class LargerIntruder(Analysis):
    """An intruder who holds more of the population than the external intruder file does."""

    needs_metrics: ClassVar[bool] = True
    without_units: ClassVar[str] = "Remove it, or use it in a study without `units`."
    without_links: ClassVar[str] = "it counts true links"
    is_compared: ClassVar[bool] = True
    is_on_release: ClassVar[bool] = True

    times: Annotated[tuple[Times, ...], Field(min_length=1, max_length=8)] = (2, 5, 10)
    """The sizes of the larger files, as multiples of the external intruder file: at most 8 numbers above 1, ascending.
    Source: METHODS §6.5."""
    population: int | None = Field(None, ge=1)
    """The size of the population from which both files are samples. If absent: estimated from the share of records
    with a true link. Source: METHODS §6.5.
    """
    seed: int = Field(1, ge=0)
    """The seed of the draws of parts of the external intruder file. Source: METHODS §6.5."""

    @field_validator("times")
    @classmethod
    def _ascends(cls, times: tuple[float, ...]) -> tuple[float, ...]:
        if list(times) != sorted(set(times)):
            raise ValueError("must be in ascending order, each number once. Sort it.")
        return times
