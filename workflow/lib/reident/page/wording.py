"""Format numbers and labels for every text of the report (METHODS §6).

Labels are data. :func:`escape` is the only way from a label to Markdown, so no label can change the page that
shows it.
"""

from __future__ import annotations

import datetime
import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from reident import language

UNDEFINED = "–"
"""Shown for an undefined number, such as the conditional rate where no record is suspected."""

MAX_LABEL_LENGTH = 120
"""Characters of a label that are shown: one cell must not fill a page."""

NO_BREAK = "\u00a0"
ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"
_JOINERS = "\u200c\u200d"
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def plain(label: object, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Return at most `max_length` characters of a label, with every invisible character made visible.

    Control and direction characters are shown as code points, a run of spaces keeps its length, and an empty
    label is shown as ``(empty)``.
    """
    text = str(label)
    if len(text) > max_length:
        text = text[: max_length - 1] + "…"
    visible = []
    for at, character in enumerate(text):
        if unicodedata.category(character) in _INVISIBLE and character not in _JOINERS:
            visible.append(f"⟨U+{ord(character):04X}⟩")
        elif character.isspace():
            outside = at in {0, len(text) - 1} or text[at - 1].isspace()
            visible.append(NO_BREAK if outside else " ")
        else:
            visible.append(character)
    return "".join(visible) or language.current().empty


def escape(label: object, max_length: int = MAX_LABEL_LENGTH) -> str:
    r"""Return at most `max_length` characters of a label as Markdown that shows each of them literally.

    A backslash precedes every ASCII punctuation mark, in cells, captions and sentences alike. A label with letters that
    are written from right to left is isolated, so that it does not turn what is around it.

    Examples
    --------
    >>> print(escape("a|b $x$"))
    a\|b \$x\$
    """
    literal = _literal(plain(label, max_length))
    return _isolated(literal) if _RIGHT_TO_LEFT.search(literal) else literal


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]+")
"""The blocks of letters that are written from right to left."""

_NAME_FROM_THE_RIGHT = re.compile(rf"{_RIGHT_TO_LEFT.pattern}(?:[\W_]+{_RIGHT_TO_LEFT.pattern})*")


def _literal(text: str) -> str:
    return "".join("\\" + letter if letter in string.punctuation else letter for letter in text)


def _isolated(text: str) -> str:
    return f"{ISOLATE}{text}{END_OF_ISOLATE}"


def code(text: str) -> str:
    """Return a text as Markdown that shows all of its characters literally, as code."""
    literal = plain(text, len(text))
    fence = "`" * (max(map(len, re.findall("`+", literal)), default=0) + 1)
    edge = " " if len(fence) > 1 else ""
    return f"{fence}{edge}{literal}{edge}{fence}"


def whole(text: str) -> str:
    """Return a text, such as a warning, as Markdown that shows all of its characters literally.

    In a text that begins from left to right, each name that is written from right to left is isolated.
    """
    literal = _literal(plain(text, len(text)))
    if _RIGHT_TO_LEFT.match(re.sub(r"^[\W\d_]+", "", literal)):
        return _isolated(literal)
    return _NAME_FROM_THE_RIGHT.sub(lambda name: _isolated(name[0]), literal)


def shorten(label: object, length: int) -> str:
    """Shorten a label to at most `length` characters by cutting its middle, since both ends distinguish labels."""
    text = plain(label)
    if len(text) <= length:
        return text
    head = (length - 1) * 2 // 3
    return text[:head].rstrip() + "…" + text[len(text) - (length - 1 - head) :].lstrip()


def defined(value: float | None) -> TypeGuard[float]:
    """Return whether a number is neither None nor missing."""
    try:
        return value is not None and bool(value == value)
    except TypeError:  # NA of pandas, whose truth is not defined; pandas is not imported for a page without it
        return False


def count(value: float | None) -> str:
    """Return an integer with thousands separators."""
    return digits(f"{round(value):,}") if defined(value) else UNDEFINED


def count_cells(values: Iterable[float | None]) -> list[str]:
    """Return a column of integers."""
    return [count(value) for value in values]


def percent_cells(fractions: Iterable[float | None], decimals: int) -> list[str]:
    """Return a column of percentages with these decimals, without the sign."""
    return [without_unit(percent(value, decimals)) for value in fractions]


def fixed_cells(values: Iterable[float | None], places: int) -> list[str]:
    """Return a column of numbers with these decimals."""
    return [fixed(value, places) for value in values]


def without_repeats(labels: Sequence[str]) -> list[str]:
    """Return the labels of a table's lines, empty where the line above has the same one."""
    return [label if at == 0 or labels[at - 1] != label else "" for at, label in enumerate(labels)]


def label_cells(labels: Iterable[object]) -> list[str]:
    """Return a column of labels."""
    return [escape(label) for label in labels]


def bold_cells(labels: Iterable[object]) -> list[str]:
    """Return a column of labels that name the lines of a table."""
    return [f"**{escape(label)}**" for label in labels]


def digits(text: str) -> str:
    """Return a number as Python writes it, such as ``1,234.5``, with the marks of the language in use."""
    return language.current().digits(text)


def fixed(value: float | None, places: int) -> str:
    """Return a number with a fixed number of decimals and thousands separators."""
    return digits(f"{value:,.{places}f}") if defined(value) else UNDEFINED


def percent(fraction: float | None, decimals: int | None = None) -> str:
    """Return a share in [0, 1] as a percentage: by default with one decimal, two below 1 % and three below 0.1 %.

    A share above 0 is never shown as 0 %, and a share below 1 never as 100 %.
    """
    if not defined(fraction):
        return UNDEFINED
    value = 100 * fraction
    if value in {0, 100} and decimals is None:
        return f"{value:.0f}{NO_BREAK}%"
    places = _places(value) if decimals is None else decimals
    least = 10.0**-places
    if 0 < value < least / 2:
        return f"<{NO_BREAK}{fixed(least, places)}{NO_BREAK}%"
    if 100 - least / 2 <= value < 100:
        return f">{NO_BREAK}{fixed(100 - least, places)}{NO_BREAK}%"
    return f"{fixed(value, places)}{NO_BREAK}%"


def declared(fraction: float) -> str:
    """Return a share that the study declares, such as a limit, with the digits of the study file."""
    return f"{digits(f'{100 * fraction:.6g}')}{NO_BREAK}%"


def _places(value: float) -> int:
    if value >= 1:
        return 1
    return 2 if value >= 0.1 else 3


def without_unit(text: str) -> str:
    """Return a percentage without its sign, for a column whose heading names the unit."""
    return text.replace(f"{NO_BREAK}%", "")


def rates(fractions: Iterable[float | None]) -> list[str]:
    """Return a column of percentages with one decimal, or two where any of them is below 1 %.

    They are without the sign: the column's heading names the unit.
    """
    values = list(fractions)
    small = any(defined(value) and 0 < value < 0.01 for value in values)
    return percent_cells(values, 2 if small else 1)


def apart(fraction: float, limit: float) -> tuple[str, str]:
    """Return a rate and its limit as percentages with one decimal, or up to six where they differ by less."""
    for decimals in range(1, 7):
        texts = percent(fraction, decimals), percent(limit, decimals)
        if texts[0] != texts[1] or fraction == limit:
            break
    return texts


def span(low: float | None, high: float | None, decimals: int = 1) -> str:
    """Return an interval of shares as percentages with the sign once; undefined if either end is None or NaN."""
    if not (defined(low) and defined(high)):
        return UNDEFINED
    return f"{without_unit(percent(low, decimals))} – {percent(high, decimals)}"


def number(value: float | None) -> str:
    """Return a number with at most six significant digits and thousands separators."""
    if not defined(value):
        return UNDEFINED
    text = f"{value:,.6g}"
    return digits(text if "e" in text else text.replace("-", "\u2212"))


def times(rate: float | None, baseline: float | None) -> str:
    """Return a rate as a multiple of its baseline."""
    if not (defined(rate) and defined(baseline)) or baseline == 0:
        return UNDEFINED
    ratio = rate / baseline
    return f"{fixed(ratio, 0 if ratio >= 10 else 1)}{NO_BREAK}×"


def word(value: int) -> str:
    """Return a number below ten as a word, and any other with thousands separators."""
    numerals = language.current().numerals
    return numerals[value] if value < len(numerals) else count(value)


def day(date: datetime.date) -> str:
    """Return a date in words: ``2 March 2026``."""
    lang = language.current()
    return lang.date.format(day=date.day, month=lang.months[date.month - 1], year=date.year)


def sentence(text: str) -> str:
    """Return a text with a capital first letter; the other letters stay as they are."""
    return text[:1].upper() + text[1:]


def inside(heading: str) -> str:
    """Return a heading as it is written inside a sentence; abbreviations keep their capitals."""
    if not language.current().lower_case:
        return heading
    return " ".join(word if word.replace("-", "").isupper() else word.lower() for word in heading.split(" "))


def listed(items: Sequence[str]) -> str:
    """Return items as a list in a sentence: ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return language.current().listed.format(first=", ".join(items[:-1]), last=items[-1])
