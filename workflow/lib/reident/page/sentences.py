"""The sentences of the report, see :mod:`reident.language.sentences`: each analysis has its own, in every language.

They are in ``words.yaml`` of an analysis, or where it has several sections in ``words/{section}.yaml``, and those on a
metric beside it. At the top of a file are the codes of the languages.
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

ON_RECORDS = (
    "annex.", "attack.", "challenge.", "brief.about.", "brief.at_risk.", "brief.notes.", "brief.product.",
    "brief.unit.attack", "brief.unseen.", "choices.", "front.", "glossary.attack.", "headings.", "patterns.",
    "plausibility.", "protection.", "rates.", "sections.ranks", "surest.", "units.", "variants.confirmed",
    "variants.nothing_suspected",
    "nouns.confirmed_record", "nouns.eif_record", "nouns.puf_record", "nouns.released_record",
)  # fmt: skip
"""Sections, or parts of them, on the records of an attack: in a study of units their sentences are on units."""

_NOUN: ContextVar[str] = ContextVar("noun", default="record")


@cache
def files() -> dict[str, Path]:
    """Return the file of the sentences of each section, by its name."""
    own = {file.parent.name: file for file in LIBRARY.glob("*/words.yaml")}
    metrics = {f"metrics/{file.stem}": file for file in LIBRARY.glob("linkage/metrics/*.yaml")}
    return own | metrics | {file.stem: file for file in LIBRARY.glob("*/words/*.yaml")}


class Sentences(sentences.Sentences):
    """The sentences of one section of the report.

    `section` is the name of its analysis, of its file in ``words/``, or ``metrics/`` and a metric.
    """

    def __init__(self, section: str) -> None:
        super().__init__(section, LIBRARY)

    def _content(self) -> dict[str, Any]:
        file = files()[self.section]
        content: dict[str, Any] = sentences.entries(file.parent, file.stem)[language.current().code]
        return content

    def _entry(self, key: str) -> Any:
        entry = super()._entry(key)
        if (noun := _NOUN.get()) == "record" or not f"{self.section}.{key}".startswith(ON_RECORDS):
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
