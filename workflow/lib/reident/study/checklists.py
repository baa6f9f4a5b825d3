"""Read the questions of a checklist, hold the answers of a study to them, and put both into one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reident.sections.checklist import Checklist, Questions
from reident.study import bundled
from reident.study import reading as studyfile

if TYPE_CHECKING:
    import pandas as pd

    from reident.study.model import Study

FOLDER = bundled.CONFIG / "checklists"
"""The bundled checklists."""


def path_of(checklist: Checklist, study_file: Path) -> Path:
    """Return the file of questions: a bundled one, or one beside the study file."""
    name = checklist.path
    return FOLDER / f"{checklist.file}.yaml" if name is None else study_file.parent / name


def load(path: Path) -> Questions:
    """Read and check a file of questions, see :func:`reident.study.reading.load`."""
    return studyfile.load(path, Questions, "title")


def check(study: Study, study_file: Path) -> None:
    """See that a study names a checklist that is there, and answers no question but those of the checklist.

    Raises
    ------
    InputError
        With the line of the study file, or of the file of questions.
    """
    checklist = study.checklist
    if checklist is None:
        return
    if checklist.path is None:
        bundled.check(study_file, ("checklist", "file"), checklist.file, FOLDER)
    ids = [question.id for question in load(path_of(checklist, study_file)).all]
    for name in checklist.answers:
        if name not in ids:
            remedy = studyfile.near(name, ids) or " Remove it, or correct it by the ids of the checklist."
            raise bundled.error(
                study_file,
                ("checklist", "answers", name),
                f"is not the id of a question of `{checklist.file}`.{remedy}",
            )


def table(questions: Questions, answers: Mapping[str, str]) -> pd.DataFrame:
    """Return the questions of a checklist with the answers of a study, one line per question."""
    import pandas as pd  # noqa: PLC0415 - every start of a run imports this module, and few write the table

    return pd.DataFrame(
        [
            {
                "checklist": questions.title,
                "topic": topic.title,
                "id": question.id,
                "question": question.text,
                "why": question.why,
                "exhibits": ", ".join(question.exhibits),
                "answer": answers.get(question.id, ""),
            }
            for topic in questions.topics
            for question in topic.questions
        ]
    )
