"""Say in the language of the report what the steps recorded in English: warnings, causes, names of files.

The tables of a study are the same in every language. A text of a table is compared with the English templates of
``recorded.yaml``; the template of the same key in the language of the report is filled with the same fields.
"""

from __future__ import annotations

import re
import string
from functools import cache

from reident.report import language
from reident.report.sentences import Sentences, entries
from reident.sections.language import DEFAULT_LANGUAGE

SECTION = "recorded"
TEXT = Sentences(SECTION)
PARTS = "parts"
"""The group of the phrases of which the fields of other templates are made."""

VERBATIM = frozenset({"file", "column", "variable", "other", "names"})
"""Fields that hold names."""

_NUMBER = re.compile(r"-?[\d,]*\d(\.\d+)?")


def recorded(text: str, group: str) -> str:
    """Return a text of a table in the language of the report.

    Parameters
    ----------
    text : str
        As the step recorded it.
    group : str
        The group of templates in ``recorded.yaml``.

    Returns
    -------
    str
        The text itself in English, and where no template of the group is like it.
    """
    if language.current().code == DEFAULT_LANGUAGE:
        return text
    for key, pattern in _patterns(group):
        if found := pattern.fullmatch(text):
            return TEXT(
                f"{group}.{key}", **{name: _field(value) for name, value in found.groupdict().items()}
            )
    return text


def _field(name: str, value: str) -> str:
    """Return what a field of a recorded text has: a number, a phrase, or a name as it is."""
    if name in VERBATIM:
        return value
    if _NUMBER.fullmatch(value.removesuffix("%").rstrip()):
        return language.current().digits(value)
    return recorded(value, PARTS)


@cache
def _patterns(group: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the pattern of each English template of a group, by key."""
    return [(key, _pattern(text)) for key, text in entries(DEFAULT_LANGUAGE, SECTION)[group].items()]


def _pattern(template: str) -> re.Pattern[str]:
    """Return what matches a filled template, with its fields as groups."""
    parts, names = [], set()
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(re.escape(literal))
        if name:
            parts.append(f"(?P={name})" if name in names else f"(?P<{name}>.*?)")
            names.add(name)
    return re.compile("".join(parts), re.DOTALL)
