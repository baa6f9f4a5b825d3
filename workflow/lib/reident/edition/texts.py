"""The texts that a policy publishes of counts, and what a statement must leave open by it (METHODS §11.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from typing import NamedTuple

from reident.sections.release import MAX_COUNT, Policy, nearest


class Text(NamedTuple):
    """A published text, and the counts that are published as it."""

    label: str  # as it is printed: ``1200`` or ``<15``
    low: int  # the smallest count with this text, whatever the seed is
    high: int  # the largest one
    first: int  # the smallest count that has this text with the seed; `low` in a policy without a draw
    last: int
    is_small: bool  # whether the text hides how small the count is


class Texts:
    """The texts of one quantity, in rising order of the counts from 0 to 10^12; every count has one.

    Parameters
    ----------
    policy : Policy
    quantity : hashable
        What is counted: its random draws differ from those of other quantities.
    seed : str
        The secret from which a policy with random rounding draws; required by these policies alone.

    Raises
    ------
    ValueError
        If the policy rounds at random and there is no seed.
    """

    def __init__(self, policy: Policy, quantity: Hashable = "", seed: str | None = None) -> None:
        if policy.rounding == "random" and not seed:
            raise ValueError("must have a seed, because the policy rounds at random. Give `seed`.")
        self._policy, self._quantity, self._seed = policy, str(quantity), str(seed)
        self._known: dict[int, Text] = {}

    def at(self, count: int) -> Text:
        """Return the text of a count, from 0 to 10^12."""
        if count not in self._known:
            self._known[count] = self._at(count)
        return self._known[count]

    def width(self, text: Text) -> int:
        """Return how far apart the smallest and the largest possible count of a text must stay by the policy."""
        share = self._policy.protect.small if text.is_small else self._policy.protect.rounded
        return max(1, int(share * (text.high - text.low))) if share else 0

    def _at(self, count: int) -> Text:
        small = self._policy.small
        if small and count < small.below and (count or self._policy.zero == "small"):
            low = int(self._policy.zero == "shown")
            return Text(small.shown, low, small.below - 1, low, small.below - 1, is_small=True)
        if small and count == 0:
            return Text("0", 0, 0, 0, 0, is_small=False)
        unit = next(step.unit for step in self._policy.steps if count <= step.high)
        if self._policy.rounding == "random":
            return self._random(count, unit)
        value = self._policy.lower(count, unit)
        low, high = _counts(self._policy, value)
        return Text(str(value), low, high, low, high, is_small=False)

    def _random(self, count: int, unit: int) -> Text:
        """Return the text of a count by random rounding: up from one count of each class on, which is drawn."""
        at, rest = divmod(count, unit)
        at += rest >= self._start(at, unit)
        first = (at - 1) * unit + self._start(at - 1, unit) if at else 0
        last = at * unit + self._start(at, unit) - 1
        return Text(str(at * unit), max(0, (at - 1) * unit + 1), (at + 1) * unit - 1, first, last, is_small=False)

    def _start(self, at: int, unit: int) -> int:
        """Return the smallest rest that is rounded up in a class, from 1 to its unit, each with equal probability."""
        text = json.dumps([self._seed, self._quantity, at, unit], separators=(",", ":"))
        return 1 + (int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") * unit >> 256)


def _counts(policy: Policy, value: int) -> tuple[int, int]:
    """Return the smallest and the largest count that becomes a number without a draw."""
    ends = []
    for step in policy.steps:
        if step.low - step.unit <= value <= step.high + step.unit:
            low, high = _image(policy.rounding, step.unit, value)
            ends.append((max(low, step.low), min(high, step.high)))
    ends = [(low, high) for low, high in ends if low <= high]
    if not ends:
        raise ValueError("must be a text of the policy")
    return min(low for low, _ in ends), max(high for _, high in ends)


def _image(rounding: str, unit: int, value: int) -> tuple[int, int]:
    """Return the first and the last count that rounding to a unit makes a number; (1, 0) if there is none."""
    if rounding == "midpoint":
        last = value + unit // 2 if value else 0
        return (1, 0) if last % unit else (last - unit + 1 if value else 0, last)
    if value % unit:
        return 1, 0
    start, end = value - unit // 2, value + unit // 2
    # A tie, which only an even unit has, goes to the even multiple.
    return start + (nearest(start, unit) != value), min(MAX_COUNT, end - (nearest(end, unit) != value))


def hidden(policy: Policy) -> int:
    """Return the largest count that small texts of a policy hide, W (METHODS §11.1)."""
    if policy.rounding == "random":
        return policy.steps[0].unit - 1
    texts = Texts(policy)
    return texts.at(0).high or texts.at(1).high


def interval(policy: Policy, label: str) -> tuple[int, int]:
    """Return the smallest and the largest count that a policy publishes as a text, whatever the seed is.

    A text that the policy does not publish is a ValueError.
    """
    small = policy.small
    if small and label == small.shown:
        return int(policy.zero == "shown"), small.below - 1
    if small and label == "0" and policy.zero == "shown":
        return 0, 0
    if not (label.isascii() and label.isdigit() and len(label) <= len(str(MAX_COUNT))):
        raise ValueError("must be a text of the policy")
    value = int(label)
    if policy.rounding == "random":
        unit = policy.steps[0].unit
        if value % unit:
            raise ValueError("must be a text of the policy")
        return max(0, value - unit + 1), value + unit - 1
    return _counts(policy, value)
