"""The sentences of the report, see :mod:`reident.language.sentences`: each analysis has its own, in every language.

They are in ``words.yaml`` of an analysis, or where it has several sections in ``words/{section}.yaml``, and those on a
metric beside it. At the top of a file are the codes of the languages, and ``terms_of`` where the glossary has ``terms``
of it: the table of a study, or the section, with which a report has them. ``{term=…}`` in a sentence leads to one.

A study that compares units speaks of units where another speaks of records. A sentence has the ``nouns`` of the
language as fields: ``{noun}`` is a record or a household, ``{Noun}`` begins a sentence. Where that is not enough, it
has two forms:

    ambiguous:
      records: "Ein Datensatz, dessen bester Rang …"
      units: "Eine {noun}, deren bester Rang …"
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

FORMS = ("records", "units")
RECORD = "record"
_NOUN: ContextVar[str] = ContextVar("noun", default=RECORD)


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


def terms_of() -> dict[str, str]:
    """Return the table, or the section of a study, with which a report has the terms of a section in its glossary."""
    return {section: words["terms_of"] for section in files() if "terms_of" in (words := _words(section))}


def is_of_forms(entry: Any) -> bool:
    """Return whether an entry of a file has a form for studies of records and one for studies of units."""
    return isinstance(entry, dict) and tuple(entry) == FORMS


def _form(entry: Any) -> Any:
    """Return the form of an entry for what the study compares, where it has forms."""
    return entry[FORMS[_NOUN.get() != RECORD]] if is_of_forms(entry) else entry


@cache
def nouns(code: str, kind: str) -> dict[str, str]:
    """Return the words of a language for what a study compares, also with a capital letter."""
    words = language.language(code).nouns[kind]
    return {**words, **{name.capitalize(): word[0].upper() + word[1:] for name, word in words.items()}}


class Sentences(sentences.Sentences):
    """The sentences of one section of the report.

    `section` is the name of its analysis, of its file in ``words/``, or ``metrics/`` and a metric.
    """

    def __init__(self, section: str) -> None:
        super().__init__(section, LIBRARY)

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = _words(self.section)[language.current().code]
        return content

    def __call__(self, key: str, **fields: str | int) -> str:
        """Return the sentence of a key with its fields and the words for what the study compares."""
        names = set(sentences.field_names(self._entry(key)))
        words = nouns(language.current().code, _NOUN.get())
        return super().__call__(key, **fields, **{name: word for name, word in words.items() if name in names})

    def _entry(self, key: str) -> Any:
        entry = super()._entry(key)
        if sentences.is_choice(entry):
            return {number: _form(text) for number, text in entry.items()}
        return _form(entry)


HEADING = Sentences("headings")
"""The headings of columns, which the tables of all sections share."""


@contextmanager
def use(results: Any) -> Iterator[None]:
    """Use the language of results inside a ``with`` statement, and the words of units where a study compares them."""
    before = _NOUN.set(getattr(results, "noun", RECORD))
    try:
        with language.use(results.language):
            yield
    finally:
        _NOUN.reset(before)
