"""The settings of the steps of the study itself, and of its pages, from the study."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from reident.sections.base import required
from reident.sections.seal import Seal

if TYPE_CHECKING:
    from reident.study.model import Study


def resolving(study: Study) -> Study:
    """Return the study without how it is sealed, which changes none of its results."""
    return study.model_copy(update={"seal": Seal()})


def answering(study: Study) -> Mapping[str, str]:
    """Return the answers to the board's checklist, by question."""
    return required(study.checklist, "checklist").answers


@dataclasses.dataclass(frozen=True)
class Heading:
    """The settings of the report; its tables include the study with every default."""

    title: str
    agency: str
    date: date | None
    language: str


def heading(study: Study) -> Heading:
    """Return the heading of the report."""
    return Heading(study.title or study.id, study.agency, study.date, study.language)
