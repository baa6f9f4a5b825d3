"""The policy of an edition as its record has it, for the sentences that explain it (METHODS §11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Policy:
    """The rounding policy of an edition.

    Parameters
    ----------
    given : mapping
        The entry `policy` of ``release.json``.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.title: str = given["title"]
        self.version: str = str(given["version"])
        self.source: str = given["source"]
        self.scope: str = given["scope"]
        self.rounding: str = given["rounding"]
        self.bands: list[Mapping[str, Any]] = list(given.get("bands") or ())
        self.internal: bool = bool(given.get("internal"))

    @property
    def exact(self) -> bool:
        """Return whether the policy rounds nothing."""
        return self.rounding == "exact"

    @property
    def small(self) -> Mapping[str, Any]:
        """Return the rule of small counts; empty without one."""
        return self.given.get("small") or {}

    @property
    def small_shown(self) -> str | None:
        """Return the text that stands for a small count."""
        return self.small.get("shown")

    def step(self, value: int) -> int:
        """Return the width to which counts as large as a published one are rounded; 1 where they are exact."""
        for band in self.bands:
            if band.get("up_to") is None or value <= band["up_to"]:
                digits = band.get("significant_digits")
                width = band.get("nearest") or (10 ** max(0, len(str(value)) - digits) if digits else 1)
                return int(width)
        return 1

    def margin(self, value: int) -> int:
        """Return how far the exact count can be from a published one.

        Half a step for rounding to the nearest and to the midpoint, a whole step for random rounding.
        """
        if self.exact:
            return 0
        return self.step(value) if self.rounding == "random" else (self.step(value) + 1) // 2
