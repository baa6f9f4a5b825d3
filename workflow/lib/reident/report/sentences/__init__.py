"""The sentences of the report, see :mod:`reident.language.sentences`: a folder per language."""

from __future__ import annotations

from pathlib import Path

from reident.language import de, en, sentences

FOLDER = Path(__file__).parent
PACKAGES = (en, de)
"""The languages of which a report may be: an edited sentence of any of them makes it anew."""


class Sentences(sentences.Sentences):
    """The sentences of one section of the report, by the name of its YAML files."""

    def __init__(self, section: str) -> None:
        super().__init__(section, FOLDER)
