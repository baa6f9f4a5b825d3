"""The sentences of the report, see :mod:`reident.language.sentences`: each analysis has its own, in every language.

They are in ``words.yaml`` of an analysis, or where it has several sections in ``words/{section}.yaml``, and those on a
metric beside it. At the top of a file are the codes of the languages, and where it has them:

- ``on_records``: which sentences are on the records of an attack, and in a study of units on units: ``all`` of them, or
  these entries and groups;
- ``terms_of``: the table of a study, or the section, with which its glossary has the ``terms`` of the file. In a
  sentence, ``{term=…}`` leads to one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from reident import language
from reident.language import de, en, sentences

LIBRARY = Path(__file__).parents[1]
PACKAGES = (en, de)
"""The languages of which a report may be: an edited message of any of them makes it anew."""

_NOUN: ContextVar[str] = ContextVar("noun", default="record")


@cache
def files() -> dict[str, Path]:
    """Return the file of the sentences of each section, by its name."""
    own = {file.parent.name: file for file in LIBRARY.glob("*/words.yaml")}
    metrics = {f"metrics/{file.stem}": file for file in LIBRARY.glob("linkage/metrics/*.yaml")}
    return own | metrics | {file.stem: file for file in LIBRARY.glob("*/words/*.yaml")}


def _words(section: str) -> dict[str, Any]:
    """Return the content of the file of a section."""
    file = files()[section]
    return sentences.entries(file.parent, file.stem)


def is_on_records(section: str, key: str) -> bool:
    """Return whether a sentence is on the records of an attack: in a study of units it is on units."""
    declared = _words(section).get("on_records", ())
    return declared == "all" or f"{key}.".startswith(tuple(f"{name}." for name in declared))


def terms_of() -> dict[str, str]:
    """Return the table, or the section of a study, with which a report has the terms of a section in its glossary."""
    return {section: words["terms_of"] for section in files() if "terms_of" in (words := _words(section))}


class Sentences(sentences.Sentences):
    """The sentences of one section of the report.

    `section` is the name of its analysis, of its file in ``words/``, or ``metrics/`` and a metric.
    """

    def __init__(self, section: str) -> None:
        super().__init__(section, LIBRARY)

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = _words(self.section)[language.current().code]
        return content

    def _entry(self, key: str) -> Any:
        entry = super()._entry(key)
        if (noun := _NOUN.get()) == "record" or not is_on_records(self.section, key):
            return entry
        say = language.current().of_units
        if sentences.is_choice(entry):
            return {number: say(text, noun) for number, text in entry.items()}
        return say(entry, noun) if isinstance(entry, str) else entry


@contextmanager
def use(results: Any) -> Iterator[None]:
    """Use the language of results inside a ``with`` statement, and the words of units where a study compares them."""
    before = _NOUN.set(getattr(results, "noun", "record"))
    try:
        with language.use(results.language):
            yield
    finally:
        _NOUN.reset(before)
