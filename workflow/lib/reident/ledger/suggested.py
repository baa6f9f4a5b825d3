"""Tell what the search for coarser values found (METHODS §6.4)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reident.ledger.stored import read
from reident.pipeline.family import Family
from reident.pipeline.steps import STEPS
from reident.suggestion.outcome import sentence

SUGGESTIONS, VARIANTS = "suggest/suggestions.csv", "suggest/variants.yaml"


def answers(files: Iterable[Path], results: Path) -> list[tuple[str, bool]]:
    """Return one line for each study, and whether it could be searched.

    Parameters
    ----------
    files : iterable of pathlib.Path
        The study files.
    results : pathlib.Path
        The folder ``results``.
    """
    return [_answer(file, results) for file in files]


def _answer(file: Path, results: Path) -> tuple[str, bool]:
    study = Family(file).study
    if not STEPS["try_recodings"].wanted(study):
        wrong = "`suggest` needs a limit on the rates of `metrics`"
        return f"{file}: {wrong}. Add one to `decision`, for example `conditional_rate_at_most: 0.1`.", False
    folder = results / study.id
    told = sentence(read(folder / SUGGESTIONS))
    return (
        f"{study.id}: {told}. See {folder / SUGGESTIONS}, and {folder / VARIANTS} for the study file.",
        True,
    )
