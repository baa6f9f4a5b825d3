"""What is shown when: the steps that run, the line on each that ends, and how many are done.

Knows neither a terminal nor Snakemake. Times are given, so that a test needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from reident.ledger import progress
from reident.pipeline.steps import STEPS
from reident.terminal import words

MAX_SHARDS = 20
"""Shards of a metric that get a line each; of more, about every tenth part gets one."""


@dataclass
class Job:
    """A job that runs.

    Attributes
    ----------
    rule, study : str
        The study with its variant; empty for a job of none.
    wildcards : mapping
    log : str
        Where its log is; empty if it has none.
    n_shards : int or None
        The shards of its study, if it scores one of them.
    began : float
        Seconds of a clock.
    """

    rule: str
    study: str
    wildcards: Mapping[str, str]
    log: str
    n_shards: int | None
    began: float

    @property
    def is_step(self) -> bool:
        """Whether it is a step of a study, and not a command or the target of the run."""
        return self.rule in STEPS


class Row(NamedTuple):
    """A running step: what it does, the seconds since it began, and its progress."""

    text: str
    seconds: float
    shown: progress.Shown


@dataclass
class _Shards:
    began: float
    done: int = 0


@dataclass
class Screen:
    """The state of a run, as its terminal shows it.

    Parameters
    ----------
    read_log : callable
        Returns the content, or the end, of a log; None if it cannot be read.
    """

    read_log: Callable[[str], str | None]
    several: bool = False
    n_ended: int = 0
    errors: list[str] = field(default_factory=list)
    n_failed: int = 0
    stopped: bool = False
    _jobs: dict[int, Job] = field(default_factory=dict)
    _shards: dict[tuple[str, str], _Shards] = field(default_factory=dict)
    _others: int = 0
    _checkpoints: int = 0
    _total: int | None = None

    def planned(self, stats: Mapping[str, int], checkpoints: int) -> None:
        """Take the number of jobs of each rule, and how many checkpoints are among them."""
        self._others = sum(n for rule, n in stats.items() if rule not in STEPS and rule != "total")
        self._checkpoints = checkpoints

    def started(self, number: int, job: Job) -> None:
        """Take a job that begins; one that is tried again begins anew."""
        self._jobs[number] = job
        if "shard" in job.wildcards:
            self._shards.setdefault(self._metric(job), _Shards(job.began))

    def ended(self, number: int, now: float, *, checkpoint: bool = False) -> list[str]:
        """Take a job that has ended well; return the line on it, if it gets one."""
        job = self._jobs.pop(number, None)
        if checkpoint:
            self._checkpoints, self._total = self._checkpoints - 1, None
        if job is None or not job.is_step:
            return []
        self.n_ended += 1
        if "shard" in job.wildcards and job.n_shards and job.n_shards > MAX_SHARDS:
            return self._ended_shard(job, job.n_shards, now)
        return [words.ended(self.text(job), now - job.began)]

    def _ended_shard(self, job: Job, n: int, now: float) -> list[str]:
        """Return the line on one of many shards: on every tenth part of them, and on the last."""
        shards = self._shards[self._metric(job)]
        shards.done += 1
        if shards.done < n and shards.done % -(-n // 10):
            return []
        text = words.place(job.study, several=self.several) + words.label(
            job.rule, {"metric": job.wildcards["metric"]}
        )
        return [words.ended(f"{text}, {shards.done:,} of {n:,} shards", now - shards.began)]

    def progressed(self, total: int) -> None:
        """Take the number of jobs of the run, which a checkpoint that has not ended yet will change."""
        self._total = total - self._others if self._checkpoints <= 0 else None

    def job(self, number: int) -> Job | None:
        """Return a job that runs."""
        return self._jobs.get(number)

    def report(self, sentence: str | None) -> list[str]:
        """Take the end of a job that failed; return its sentence, unless it was shown before."""
        self.n_failed += 1
        if sentence is None or self.stopped or sentence in self.errors:
            return []
        self.errors.append(sentence)
        return [sentence]

    def retry(self) -> None:
        """Take a job that failed and gets another attempt."""
        self.n_failed -= 1

    @property
    def failed(self) -> bool:
        """Whether a job failed for good, as far as is known."""
        return self.n_failed > 0

    def text(self, job: Job) -> str:
        """Return what a job does, with its study or variant where that is needed."""
        return words.place(job.study, several=self.several) + words.label(
            job.rule, job.wildcards, job.n_shards
        )

    def forget(self, number: int) -> None:
        """Take a job off the screen."""
        self._jobs.pop(number, None)

    def rows(self, now: float) -> list[Row]:
        """Return the steps that run, those that began first at the top."""
        return [
            Row(self.text(job), now - job.began, progress.read(self.read_log(job.log) or ""))
            for job in list(self._jobs.values())
            if job.is_step
        ]

    @property
    def count(self) -> str:
        """How many steps have ended, of how many where that is known: what is shown never runs backwards."""
        if self._total is not None and self._total >= self.n_ended:
            return f"{self.n_ended:,} of {self._total:,} steps done"
        return f"{self.n_ended:,} step{'' if self.n_ended == 1 else 's'} done"

    def _metric(self, job: Job) -> tuple[str, str]:
        return job.study, job.wildcards.get("metric", "")
