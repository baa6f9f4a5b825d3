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

TEXT = Sentences("recorded")
PARTS = "parts"
"""The group of the phrases of which the fields of other templates are made."""

VERBATIM = frozenset({"file", "column", "variable", "other", "names"})
"""Fields that hold names."""

PHRASES = frozenset({"cause", "effect", "extent", "remedy", "role", "what"})
"""Fields that hold one of the phrases."""

_NUMBER = re.compile(r"-?[\d,]*\d(\.\d+)?")


def recorded(text: str, group: str) -> str:
    """Return a text that a step recorded in the language of the report, by the group of templates in ``recorded.yaml``.

    It is the text itself in English, and where no template of the group is like it.
    """
    if language.current().code == DEFAULT_LANGUAGE:
        return text
    for key, pattern in _patterns(group):
        if match := pattern.fullmatch(text):
            fields = {name: _field(name, value, group) for name, value in match.groupdict().items()}
            return TEXT(f"{group}.{key}", **fields)
    return text


def _field(name: str, value: str, group: str) -> str:
    """Return what a field of a recorded text has: a number, a phrase, or a name as it is."""
    if name in VERBATIM:
        return value
    if _NUMBER.fullmatch(value.removesuffix("%").rstrip()):
        return language.current().digits(value)
    phrase = recorded(value, PARTS)
    return recorded(value, group) if phrase == value else phrase


@cache
def _patterns(group: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the pattern of each English template of a group, by key."""
    return [(key, re.compile(_pattern(text), re.DOTALL)) for key, text in _templates(group).items()]


def _templates(group: str) -> dict[str, str]:
    return entries(DEFAULT_LANGUAGE, TEXT.section)[group]


def _pattern(template: str, named: bool = True) -> str:
    """Return what matches a filled template, with its fields as groups if `named`."""
    parts, names = [], set()
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(re.escape(literal))
        if name in names and named:
            parts.append(f"(?P={name})")
        elif name:
            inner = _phrases() if name in PHRASES else ".*?"
            parts.append(f"(?P<{name}>{inner})" if named else inner)
            names.add(name)
    return "".join(parts)


@cache
def _phrases() -> str:
    """Return what matches any of the phrases, or nothing."""
    return f"(?:{'|'.join(_pattern(text, named=False) for text in _templates(PARTS).values())})?"
