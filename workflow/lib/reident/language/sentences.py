"""Sentences in every language: a folder per language, with one YAML file per section and numbers as named fields.

A statistician edits the files; no Python is needed. Every language has the same keys with the same fields. An entry is
a sentence, a choice by number, or a group of entries:

    suspected: "An intruder would claim to recognise {share} of the {records}."
    reidentified:
      none: "No record in the file is re-identified."
      one: "One record in the file ({share}) is re-identified."
      other: "{n} records in the file ({share}) are re-identified."

Markdown is allowed; literal braces are doubled. The code must give exactly the fields that an entry names. Each
sentence of a choice may leave some of them out. ``{records.dative}`` is a field in the dative, for languages in which
the words of a number with its noun change after some prepositions.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from reident import language

DATIVE = ".dative"
NUMBERS = ("none", "one", "two")
"""The words by which a choice offers its own sentence for 0, 1 and 2; ``other`` is for every other number."""


class Field(str):
    """The text of a field, which a sentence may name in the dative."""

    __slots__ = ()

    @property
    def dative(self) -> str:
        """Return the text with its words in the dative of the language in use."""
        return language.current().dative(self)


class Sentences:
    """The sentences of one section, in the language in use when one is asked for.

    They are in the files of this name in the folder of each language below `folder`.
    """

    def __init__(self, section: str, folder: Path) -> None:
        self.section, self.folder = section, folder

    def __call__(self, key: str, **fields: str | int) -> str:
        """Return the sentence of a key, such as ``verdict.above``, with its fields filled in.

        Integers get thousands separators, and the field ``n`` selects the sentence of a choice. A missing sentence or
        field is a `KeyError`, a field that the sentence does not name a `ValueError`, and another type a `TypeError`.
        """
        entry = self._entry(key)
        names = set(field_names(entry))
        if unused := sorted(set(fields) - names):
            raise ValueError(f"`{key}` does not name the fields {', '.join(unused)}")
        text = entry if isinstance(entry, str) else _chosen(entry, fields["n"])
        return text.format_map({name: _field(name, value) for name, value in fields.items()})

    def group(self, key: str) -> dict[str, str]:
        """Return the sentences of a group by their keys; they have no fields."""
        return {name: self(f"{key}.{name}") for name in self._entry(key)}

    def names(self, key: str = "") -> list[str]:
        """Return the keys of the entries of a group, or of the section."""
        return list(self._entry(key) if key else self._content())

    def _content(self) -> dict[str, Any]:
        return entries(self.folder / language.current().code, self.section)

    def _entry(self, key: str) -> Any:
        entry: Any = self._content()
        for part in key.split("."):
            entry = entry[part]
        return entry


def is_choice(entry: Any) -> bool:
    """Return whether an entry of a file is a choice by number."""
    return isinstance(entry, dict) and "other" in entry and set(entry) <= {*NUMBERS, "other"}


def field_names(entry: Any) -> Iterator[str]:
    """Yield the fields that a sentence, or any sentence of a choice, names."""
    if is_choice(entry):
        yield "n"
    for text in entry.values() if is_choice(entry) else [entry]:
        for _, name, form, conversion in string.Formatter().parse(text):
            if name is not None:
                plain = name.removesuffix(DATIVE)
                if form or conversion or not plain.isidentifier():
                    raise ValueError(f"`{{{name}}}`: a field must be a plain name, or one with `{DATIVE}`")
                yield plain


def _chosen(choice: dict[str, str], n: Any) -> str:
    word = NUMBERS[n] if n < len(NUMBERS) else "other"
    return choice.get(word, choice["other"])


def _field(name: str, value: Any) -> Field:
    if isinstance(value, int) and not isinstance(value, bool):
        return Field(language.current().digits(f"{value:,}"))
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a string or an integer")
    return Field(value)


@cache
def entries(folder: Path, section: str) -> dict[str, Any]:
    """Return the content of the file of a section in the folder of a language."""
    return language.read(folder / f"{section}.yaml")
