"""Counts and shares as the comments of a draft have them."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """Return a share in whole per cent, never as 0 or 100 where it is not."""
    whole = f"{share:.0%}"
    if (whole == "0%" and share > 0) or (whole == "100%" and share < 1):
        whole = "less than 1%" if share < 0.5 else "more than 99%"
    return whole.replace("%", " %")


def number(n: int, noun: str) -> str:
    """Return a number with its noun, as in 1 record and 2 records."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names of columns for a sentence."""
    return ", ".join(f"`{name}`" for name in names)
