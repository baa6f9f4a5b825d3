"""The sentences of the report, one YAML file per section, with their numbers as named fields.

A statistician edits the files; no Python is needed. Each key leads to a sentence or to a choice by number:

    suspected: "An intruder would claim to recognise {share} of the {records}."
    reidentified:
      none: "No record of the file is re-identified."
      one: "One record of the file ({share}) is re-identified."
      other: "{n} records of the file ({share}) are re-identified."

Markdown is allowed. A field that a sentence names and the code does not give is an error, and so is the reverse.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from reident.report.wording import count

FOLDER = Path(__file__).parent


class _Strict(string.Formatter):
    """Formats texts and whole numbers; refuses fields that the sentence does not name."""

    def check_unused_args(
        self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        if unused := sorted(set(kwargs) - {str(name) for name in used_args}):
            raise ValueError(f"the sentence does not name the fields {', '.join(unused)}")

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return count(value)
        if not isinstance(value, str) or format_spec:
            raise TypeError("a field of a sentence must be a text or a whole number")
        return value


class Sentences:
    """The sentences of one section.

    Parameters
    ----------
    section : str
        The name of the YAML file in this folder, without its ending.
    """

    def __init__(self, section: str) -> None:
        self.section = section

    @property
    def entries(self) -> dict[str, Any]:
        """Every entry of the section's file."""
        return _entries(self.section)

    def __call__(self, key: str, **fields: str | int) -> str:
        """Return a sentence with its fields filled in.

        Parameters
        ----------
        key : str
            Dots lead into the file: ``"verdict.above"``.
        **fields : str or int
            By name; whole numbers get thousands separators. An entry with ``one`` and ``other`` is chosen by the
            field ``n`` (``none`` for 0 where it is given); these entries need not name ``n``.

        Raises
        ------
        KeyError
            If the section has no such sentence, or a field is missing.
        ValueError
            If the sentence does not name a field.
        """
        entry = self.entries
        for part in key.split("."):
            entry = entry[part]
        if isinstance(entry, dict):
            n = fields["n"]
            entry = entry["none"] if n == 0 and "none" in entry else entry["one" if n == 1 else "other"]
            if "{n}" not in entry:
                fields = {name: value for name, value in fields.items() if name != "n"}
        return _Strict().vformat(entry, (), fields)


@cache
def _entries(section: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{section}.yaml").read_text(encoding="utf-8"))
