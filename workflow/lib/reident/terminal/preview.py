"""The answer to ``--dry-run``: which steps would run, how many, and why, study by study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reident.pipeline.steps import STEPS
from reident.terminal import words

MAX_STUDIES = 5
"""Studies whose steps are listed; of each of more studies there is one line."""

END = "This was a dry run: nothing was computed."
_LATER = "How many steps compare and rank records is known only when the strata are formed."
_TARGET = "all"


class Planned(NamedTuple):
    """A job that would run: its rule, its study with the variant (empty without one), and Snakemake's reason."""

    rule: str
    study: str
    reason: str


def lines(jobs: Iterable[Planned]) -> list[str]:
    """Return the lines on the jobs that would run.

    Parameters
    ----------
    jobs : iterable of Planned
    """
    jobs = [job for job in jobs if job.rule != _TARGET]
    commands = [f"`{job.rule}` would run." for job in jobs if job.rule not in STEPS and not job.study]
    studies: dict[str, list[Planned]] = {}
    for job in jobs:
        if job.study:
            studies.setdefault(job.study.partition("/")[0], []).append(job)
    result = list(commands)
    for study, planned in studies.items():
        result += _study(study, planned, listed=len(studies) <= MAX_STUDIES)
    if any(job.rule == "stratify" for job in jobs):
        result.append(_LATER)
    return [*result, END]


def _study(study: str, jobs: list[Planned], *, listed: bool) -> list[str]:
    """Return the lines on one study with its variants."""
    n, least = len(jobs), "at least " if any(job.rule == "stratify" for job in jobs) else ""
    head = f"{study}: {least}{n:,} step{'s' if n > 1 else ''} would run"
    if not listed:
        return [f"{head} ({_reasons(jobs)})."]
    rules = sorted({job.rule for job in jobs}, key=_order)
    rows = []
    for rule in rules:
        own = [job for job in jobs if job.rule == rule]
        rows.append((len(own), words.label(rule, {}), _reasons(own)))
    return [f"{head}.", *_aligned(rows)]


def counted(stats: Mapping[str, int]) -> list[str]:
    """Return the lines where only the number of jobs of each rule is known, as with ``--dry-run --quiet``."""
    rules = sorted((rule for rule in stats if rule not in (_TARGET, "total")), key=_order)
    return [*_aligned([(stats[rule], words.label(rule, {}), "") for rule in rules]), END]


def _aligned(rows: list[tuple[int, str, str]]) -> list[str]:
    digits, width = (max((len(f"{row[at]}") for row in rows), default=0) for at in (0, 1))
    return [f"  {n:>{digits}}  {text:<{width}}  {reason}".rstrip() for n, text, reason in rows]


def _reasons(jobs: list[Planned]) -> str:
    """Return why jobs would run; that an earlier step runs goes without saying where there is another reason."""
    reasons = list(dict.fromkeys(words.reason(job.reason) for job in jobs))
    first = [reason for reason in reasons if reason != "an earlier step runs"]
    return "; ".join(first or reasons)


def _order(rule: str) -> tuple[int, str]:
    names = list(STEPS)
    return (names.index(rule) if rule in STEPS else len(names), rule)
