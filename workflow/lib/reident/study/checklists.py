"""Read the questions of a checklist, hold the answers of a study to them, and put both into one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reident.sections.checklist import Checklist, Questions, is_path
from reident.study import bundled
from reident.study import reading as studyfile

if TYPE_CHECKING:
    import pandas as pd

    from reident.study.model import Study

FOLDER = bundled.CONFIG / "checklists"
"""The bundled checklists."""


def paths_of(checklist: Checklist, study_file: Path) -> list[Path]:
    """Return the files of questions: bundled ones, or beside the study file."""
    names = checklist.files.values()
    return [study_file.parent / name if is_path(name) else FOLDER / f"{name}.yaml" for name in names]


def load(path: Path) -> Questions:
    """Read and check a file of questions, see :func:`reident.study.reading.load`."""
    return studyfile.load(path, Questions, "title")


def check(study: Study, study_file: Path) -> None:
    """See that a study names checklists that are there and share no id, and answers no questions but theirs.

    Raises
    ------
    InputError
        With the line of the study file, or of the file of questions.
    """
    checklist = study.checklist
    if checklist is None:
        return
    ids: list[str] = []
    for (location, name), path in zip(checklist.files.items(), paths_of(checklist, study_file), strict=True):
        if not is_path(name):
            bundled.check(study_file, location, name, FOLDER)
        added = [question.id for question in load(path).all]
        if shared := [question for question in added if question in ids]:
            what = f"must not have the question `{shared[0]}`, whose id is in another checklist of the study"
            raise bundled.error(study_file, location, f"{what}. Give it another id, or remove the checklist.")
        ids += added
    for name in checklist.answers:
        if name not in ids:
            remedy = studyfile.near(name, ids) or " Remove it, or correct it by the ids of the checklist."
            files = " or ".join(f"`{file}`" for file in checklist.files.values())
            what = f"is not the id of a question of {files}.{remedy}"
            raise bundled.error(study_file, ("checklist", "answers", name), what)


def table(checklists: Sequence[Questions], answers: Mapping[str, str]) -> pd.DataFrame:
    """Return the questions of checklists with the answers of a study, one line per question."""
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
                "clause": question.clause or "",
            }
            for questions in checklists
            for topic in questions.topics
            for question in topic.questions
        ]
    )
