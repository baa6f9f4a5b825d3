"""Numbers, names and labels in words: every text of the report goes through here (METHODS §6).

Labels are data. :func:`escape` is the one way from a label to Markdown; nothing in a label can
steer the page that shows it.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeGuard

import pandas as pd

UNDEFINED = "–"
"""What stands for a number that is not defined: 0 suspected leave no conditional rate."""

LONGEST = 120
"""Labels are cut to so many characters, so that one cell cannot fill a page."""

NO_BREAK = "\u00a0"
_JOINERS = "\u200c\u200d"
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def plain(label: object, longest: int = LONGEST) -> str:
    """A label with every unseen character made visible, at most `longest` characters of it.

    Control and direction characters show as their code point, a run of spaces keeps its length, an
    empty label says that it is empty.
    """
    text = str(label)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    seen = []
    for at, character in enumerate(text):
        if unicodedata.category(character) in _UNSEEN and character not in _JOINERS:
            seen.append(f"⟨U+{ord(character):04X}⟩")
        elif character.isspace():
            outside = at in {0, len(text) - 1} or text[at - 1].isspace()
            seen.append(NO_BREAK if outside else " ")
        else:
            seen.append(character)
    return "".join(seen) or "(empty)"


def escape(label: object) -> str:
    r"""A label as Markdown that shows it letter by letter.

    Every ASCII punctuation mark is preceded by a backslash, which Markdown takes literally
    wherever it stands: in a cell, a caption or a sentence.

    Examples
    --------
    >>> print(escape("a|b $x$"))
    a\|b \$x\$
    """
    return "".join("\\" + letter if letter in string.punctuation else letter for letter in plain(label))


def shorten(label: object, length: int) -> str:
    """A label for a figure: at most `length` characters, cut in its middle so that both ends tell it apart."""
    text = plain(label)
    if len(text) <= length:
        return text
    head = (length - 1) * 2 // 3
    return text[:head].rstrip() + "…" + text[len(text) - (length - 1 - head) :].lstrip()


def defined(value: float | None) -> TypeGuard[float]:
    """Return whether a number is there: it is neither None nor missing."""
    return not pd.isna(value)


def count(value: float | None) -> str:
    """A whole number with thousands separators."""
    return f"{round(value):,}" if defined(value) else UNDEFINED


def percent(fraction: float | None, digits: int | None = None) -> str:
    """A fraction as a percentage; by itself it chooses digits that a reader can use.

    Neither a small share rounds to 0 nor one just below all to 100.
    """
    if not defined(fraction):
        return UNDEFINED
    value = 100 * fraction
    if value in {0, 100} and digits is None:
        return f"{value:.0f}{NO_BREAK}%"
    places = _places(value) if digits is None else digits
    least = 10.0**-places
    if 0 < value < least / 2:
        return f"<{NO_BREAK}{least:.{places}f}{NO_BREAK}%"
    if 100 - least / 2 <= value < 100:
        return f">{NO_BREAK}{100 - least:.{places}f}{NO_BREAK}%"
    return f"{value:.{places}f}{NO_BREAK}%"


def declared(fraction: float) -> str:
    """A share that the study declares, such as a limit, with the digits that it was given."""
    return f"{100 * fraction:.6g}{NO_BREAK}%"


def _places(value: float) -> int:
    if value >= 1:
        return 1
    return 2 if value >= 0.1 else 3


def percents(fractions: Iterable[float | None]) -> list[str]:
    """A column of percentages with equal digits: one, or two where a value is below 1 %."""
    values = list(fractions)
    small = any(defined(value) and 0 < value < 0.01 for value in values)
    return [percent(value, 2 if small else 1) for value in values]


def apart(fraction: float, limit: float) -> tuple[str, str]:
    """A rate and the limit that it is compared with, with digits enough to tell them apart."""
    for digits in range(1, 7):
        shown = percent(fraction, digits), percent(limit, digits)
        if shown[0] != shown[1] or fraction == limit:
            break
    return shown


def span(low: float | None, high: float | None, digits: int = 1) -> str:
    """An interval of percentages, its unit named once."""
    if not (defined(low) and defined(high)):
        return UNDEFINED
    first = percent(low, digits).removesuffix(f"{NO_BREAK}%")
    return f"{first} – {percent(high, digits)}"


def number(value: float | None) -> str:
    """A number as it is in the data, with at most six significant digits and thousands separators."""
    if not defined(value):
        return UNDEFINED
    text = f"{value:,.6g}"
    return text if "e" in text else text.replace("-", "\u2212")


def times(rate: float | None, baseline: float | None) -> str:
    """How many times the baseline a rate is."""
    if not (defined(rate) and defined(baseline)) or baseline == 0:
        return UNDEFINED
    ratio = rate / baseline
    return f"{ratio:,.0f}{NO_BREAK}×" if ratio >= 10 else f"{ratio:.1f}{NO_BREAK}×"


def word(value: int) -> str:
    """A small number in words."""
    return _WORDS[value] if value < len(_WORDS) else count(value)


def some(value: int, noun: str, plural: str = "") -> str:
    """A number and its noun: ``1 record``, ``2 records``."""
    return f"{count(value)} {noun if value == 1 else plural or noun + 's'}"


def sentence(text: str) -> str:
    """A text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def listed(items: Sequence[str]) -> str:
    """Items as a sentence has them: ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
