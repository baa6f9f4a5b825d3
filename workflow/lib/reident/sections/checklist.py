"""The section `checklist` of a study file: the answers and the decision of the board; and the files of questions."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from reident.sections.base import PROSE, Day, Line, Paragraph, Pattern, Section, refuse_repeats

BUNDLED = "federal-disclosure-potential"

Exhibit = Literal[
    "agency",
    "date",
    "linking_variables",
    "numeric_variables",
    "strata_variables",
    "key_variables",
    "sampling_fraction",
    "records",
    "risk_records",
    "intruder_file",
    "smallest_stratum",
    "agreement",
    "true_links",
    "confirmed",
    "conditional_rate",
    "reach",
    "surest",
    "clusters",
    "protection",
    "uniques",
    "k_anonymity",
    "risks",
    "diversity",
    "attributes",
    "riskiest_variables",
    "dis",
    "original_values",
    "matching",
    "warnings",
    "verdict",
]
"""What the report can answer a question with: its registry has a part for each of these names."""


QuestionId = Annotated[
    str,
    Field(max_length=80),
    Pattern(
        r"[a-z0-9]+(?:-[a-z0-9]+)*",
        "must consist of lower-case letters, digits and single hyphens. Write for example smallest-area.",
    ),
]


class Person(Section):
    """A person who signs the decision."""

    name: Line
    """The name."""
    role: Line
    """The position, for example chair of the board."""


class BoardDecision(Section):
    """The decision of the board, for the last page of the report."""

    decision: Literal["approved", "approved with conditions", "rejected"]
    """What the board decided on the release."""
    date: Day
    """The date of the decision, YYYY-MM-DD."""
    names: tuple[Person, ...] = Field(min_length=1, max_length=20)
    """Who signs, each with a line for the signature."""
    board: Annotated[str, Field(max_length=300), PROSE] = ""
    """The name of the board."""
    conditions: tuple[Paragraph, ...] = Field((), max_length=50)
    """The changes or conditions. Required with `approved with conditions`, otherwise not allowed."""

    @model_validator(mode="after")
    def _has_its_conditions(self) -> BoardDecision:
        if (self.decision == "approved with conditions") != bool(self.conditions):
            raise ValueError(
                "`.conditions` must be given with the decision `approved with conditions`, and with no other. Add "
                "them, or correct `decision`."
            )
        return self


class Checklist(Section):
    """The checklist of the board: its questions about a release, with the answers of the agency."""

    file: str = Field(BUNDLED, min_length=1)
    """The questions: the name of a file in config/checklists, or the path of a file of your own, which ends in
    `.yaml`."""
    further: tuple[Annotated[str, Field(min_length=1)], ...] = Field((), max_length=20, exclude_if=operator.not_)
    """Further checklists, which follow the first one, each as `file`."""
    answers: dict[str, Paragraph] = Field(default_factory=dict)
    """The answers by the id of their question: one paragraph of plain text each. Without an answer and a result, a
    question is not assessed."""
    decision: BoardDecision | None = None
    """The decision of the board. If absent: the report has a form for it."""

    @property
    def files(self) -> dict[tuple[str | int, ...], str]:
        """The files of questions as written, by their location in the study file."""
        files: dict[tuple[str | int, ...], str] = {("checklist", "file"): self.file}
        return files | {("checklist", "further", at): name for at, name in enumerate(self.further)}

    @model_validator(mode="after")
    def _files_differ(self) -> Checklist:
        refuse_repeats(self.files.values(), "further")
        return self


def is_path(name: str) -> bool:
    """Return whether a checklist is named by its path, relative to the study file, and not a bundled one."""
    return name.endswith((".yaml", ".yml"))


class Question(Section):
    """One question of a checklist."""

    id: QuestionId
    """By which a study answers the question."""
    text: Paragraph
    """The question."""
    why: Paragraph
    """Why the board asks it."""
    clause: Line | None = None
    """The clause or chapter of the source that the question follows."""
    exhibits: tuple[Exhibit, ...] = ()
    """The results of the report that answer it."""

    @model_validator(mode="after")
    def _exhibits_differ(self) -> Question:
        refuse_repeats(self.exhibits, "exhibits")
        return self


class Topic(Section):
    """Questions about one thing."""

    title: Line
    """The heading in the report."""
    questions: tuple[Question, ...] = Field(min_length=1)
    """The questions, in their order."""


class Questions(Section):
    """A file of questions."""

    title: Line
    """What the checklist is."""
    topics: tuple[Topic, ...] = Field(min_length=1)
    """The questions by topic, in their order."""

    @property
    def all(self) -> tuple[Question, ...]:
        """Every question, in order."""
        return tuple(itertools.chain.from_iterable(topic.questions for topic in self.topics))

    @model_validator(mode="after")
    def _ids_differ(self) -> Questions:
        refuse_repeats((question.id for question in self.all), "id")
        return self
