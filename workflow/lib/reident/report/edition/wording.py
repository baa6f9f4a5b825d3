"""Format published numbers, and say them in words that rounding does not make misleading (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from reident.report.edition.reading import Count, Edition, Share
from reident.report.sentences import Sentences
from reident.report.wording import NO_BREAK, digits, escape, listed
from reident.sections.release import Policy

TEXT = Sentences("edition-words")
MAX_UNCERTAINTY = 0.1
"""Width of what rounding leaves open about a rate, beyond which no sentence gives the rate."""


def separated(text: str) -> str:
    """Return digits with thousands separators: ``12,300``."""
    return digits(f"{int(text):,}")


def cell(count: Count) -> str:
    """Return a count for a cell of a table: with separators, or the sign that stands for it."""
    return separated(count.text) if count.value is not None else escape(count.text) if count.text else ""


def hundred(text: str) -> str:
    """Return a published fraction as a percentage with the digits of the policy, without the sign.

    Examples
    --------
    >>> hundred("0.163"), hundred("0.05"), hundred("1.000"), hundred("")
    ('16.3', '5', '100.0', '')
    """
    return digits(f"{Decimal(text).scaleb(2):f}") if text else ""


def percent(share: Share) -> str:
    """Return a share with its sign for sentences, or say that it is not shown."""
    return f"{hundred(share.text)}{NO_BREAK}%" if share.text else TEXT("not_shown")


def span(low: Share, high: Share) -> str:
    """Return an interval for a cell; empty where it is not published."""
    return f"{hundred(low.text)} – {hundred(high.text)}" if low.text and high.text else ""


def in_words(value: float, counted: str = "records") -> str:
    """Return a published share in [0, 1], of records or units, in words that promise no more than it says.

    Examples
    --------
    >>> [in_words(value) for value in (0.166, 0.43, 0.5, 0.45, 0.024, 0.972)]
    ['about 1 in 6', 'about 4 in 10', 'about 1 in 2', 'between 4 and 5 in 10', 'about 1 in 40', 'more than 9 in 10']
    """
    if value in {0, 1}:
        return TEXT("all") if value else TEXT(f"{counted}.none")
    if value < LEAST:
        return TEXT("below", n=round(1 / LEAST))
    if value > 1 - _TENTH / 2:
        return TEXT("above")
    numerator, denominator = min(_FRACTIONS, key=lambda fraction: (abs(fraction[0] / fraction[1] - value), fraction[1]))
    if abs(numerator / denominator - value) <= (_NEAR if value >= _TENTH else value / 6):
        return TEXT("in", n=numerator, of=denominator)
    low = int(value / _TENTH)
    return TEXT("between", low=low, high=low + 1)


LEAST = 0.001
_TENTH, _NEAR = 0.1, 0.031
_FRACTIONS = (
    *((1, of) for of in range(2, 11)),
    *((1, of) for of in (12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 700, 1000)),
    *((numerator, 10) for numerator in range(3, 10)),
    *((2, 3), (3, 4), (2, 5), (3, 5), (4, 5)),
)  # fmt: skip
"""Fractions that are easily understood."""


def records(edition: Edition, count: Count, counted: str = "records") -> str:
    """Return a number of records, or units, in words: ``about 1,200 records``, ``fewer than 15 records``."""
    if count.value == 1 and edition.exact:
        return TEXT(f"{counted}.one")
    if count.value is not None:
        key = "exact" if edition.exact else "about"
        return TEXT(f"{counted}.{key}", count=separated(count.text))
    if count.kind == "small" and edition.policy.small is not None:
        return TEXT(f"{counted}.small", below=edition.policy.small.below)
    return TEXT(f"{counted}.hidden")


def precise(edition: Edition, numerator: Count, denominator: Count) -> bool:
    """Return whether rounding leaves the rate of two published counts certain enough to be said in words."""
    if numerator.value is None or denominator.value is None or not denominator.value:
        return False
    off, of = _margin(edition.policy, numerator.value), _margin(edition.policy, denominator.value)
    low = max(0, numerator.value - off) / (denominator.value + of)
    high = min(1.0, (numerator.value + off) / max(1, denominator.value - of))
    return high - low <= MAX_UNCERTAINTY


def _margin(policy: Policy, value: int) -> int:
    """Return how far the exact count can be from a published one: half a step, for random rounding a whole one."""
    if policy.rounding == "exact":
        return 0
    band = next(band for band in policy.bands if band.up_to is None or value <= band.up_to)
    step = band.nearest or 10 ** max(0, len(str(value)) - (band.significant_digits or 0))
    return step if policy.rounding == "random" else (step + 1) // 2


def labels_of(labels: Any) -> str:
    """Return the labels of a variant, which the record has as text or by the name of the setting, in Markdown."""
    if isinstance(labels, Mapping):
        return listed([f"{escape(name)} {escape(value)}" for name, value in labels.items()])
    return listed([escape(label) for label in labels]) if isinstance(labels, list) else escape(labels)


def share_cells(shares: Iterable[Share]) -> list[str]:
    """Return a column of percentages without the sign, empty where a share is not published."""
    return [hundred(share.text) for share in shares]
