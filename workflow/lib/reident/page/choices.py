"""The choices that a source leaves open, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reident.page.layout import ReportColumn, table
from reident.page.sentences import HEADING, Sentences

TEXT = Sentences("choices")


class Choice(NamedTuple):
    """An open point: its subject, the option in force, the other options, and the section of METHODS."""

    what: str
    chosen: str
    others: str
    source: str


def choices_of(text: Sentences, options: Mapping[str, tuple[str, str]], source: str) -> list[Choice]:
    """Return the choices of a section, with its sentences below ``choices``.

    By the name of a choice, the options are the key of the one in force, and the other ones.
    """
    return [
        Choice(text(f"choices.{name}.what"), text(f"choices.{name}.{option}"), others, source)
        for name, (option, others) in options.items()
    ]


def table_of(choices: list[Choice]) -> str:
    """Return choices as a table."""
    return table(
        TEXT("caption"),
        ReportColumn(HEADING("choice"), [f"**{choice.what}**" for choice in choices], "l", "2fr"),
        ReportColumn(HEADING("in_force"), [choice.chosen for choice in choices], "l", "4fr"),
        ReportColumn(HEADING("other_options"), [choice.others for choice in choices], "l", "3fr"),
        ReportColumn(HEADING("methods"), [choice.source for choice in choices], "l"),
        kind="compact",
    )
