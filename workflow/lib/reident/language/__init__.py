"""The language of a report: its words for numbers, dates and lists, and which language is in use (METHODS §6).

A language is a package here, with ``language.yaml``, how numbers, dates and lists are written in it, and
``messages.yaml``, what steps record; and a folder of :mod:`reident.page.sentences` with those of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from reident.sections.language import DEFAULT_LANGUAGE, LANGUAGES

FOLDER = Path(__file__).parent
FORMS = "language.yaml"


@dataclass(frozen=True)
class Language:
    """Numbers, dates and lists as a language writes them.

    Attributes
    ----------
    code : str
        As in BCP 47, for HTML and PDF.
    date, listed : str
        A date with the fields ``day``, ``month`` and ``year``, and a list of two with ``first`` and ``last``.
    numerals : tuple of str
        The words for the numbers from 0 to 9.
    empty : str
        Shown for an empty label.
    lower_case : bool
        Whether the words of a heading begin with a small letter inside a sentence.
    datives : mapping
        Words that have another form after some prepositions, see :class:`reident.language.sentences.Field`.
    nouns : mapping
        The words of a sentence for what the attack compares, such as ``noun``, by a record and each kind of unit.
    """

    code: str
    decimal: str
    thousands: str
    months: tuple[str, ...]
    date: str
    numerals: tuple[str, ...]
    listed: str
    empty: str
    lower_case: bool
    datives: Mapping[str, str]
    nouns: Mapping[str, Mapping[str, str]]

    def digits(self, text: str) -> str:
        """Return a number as Python writes it, such as ``1,234.5``, with the marks of the language."""
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})

    def dative(self, text: str) -> str:
        """Return a text with its words in the dative, where that differs."""
        return re.sub(r"\w+", lambda word: self.datives.get(word[0], word[0]), text)


def read(file: Path) -> dict[str, Any]:
    """Return the content of a file of sentences or forms, by the compiled parser where PyYAML has it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text(encoding="utf-8"), loader)  # noqa: S506, a safe loader


@cache
def language(code: str) -> Language:
    """Return a language by its code; a package here must have its name."""
    content = read(FOLDER / code / FORMS)
    lists = {name: tuple(content[name]) for name in ("months", "numerals")}
    return Language(code, **{**content, **lists})


_CODE: ContextVar[str] = ContextVar("language", default=DEFAULT_LANGUAGE)


def named(facts: Mapping[str, Any]) -> str:
    """Return the language that a study or a record names; the default language where it names none."""
    code = facts.get("language")
    return code if code in LANGUAGES else DEFAULT_LANGUAGE


def current() -> Language:
    """Return the language in use."""
    return language(_CODE.get())


@contextmanager
def use(code: str) -> Iterator[None]:
    """Use a language inside a ``with`` statement."""
    before = _CODE.set(code)
    try:
        yield
    finally:
        _CODE.reset(before)
