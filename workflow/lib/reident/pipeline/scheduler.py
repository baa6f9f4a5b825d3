"""All that this workflow changes in Snakemake, whose classes it takes as arguments; written for one version.

Each function replaces a method of Snakemake by one that does the same and a little more. Some of the names that they
use are private ones of Snakemake. A newer version must therefore be tried first: see :func:`check_version`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

from reident.errors import InputError

VERSION = "9.27.1"
"""The version of Snakemake for which this file is written; pyproject.toml pins it."""

_CHECKED = "results_are_checked"
"""The attribute of a workflow whose results hold."""


def check_version(installed: str) -> None:
    """See that Snakemake is installed in the version for which this file is written.

    Raises
    ------
    InputError
    """
    if installed != VERSION:
        raise InputError(
            f"Snakemake must be version {VERSION}, not {installed}: {Path(__file__).name} in "
            "workflow/lib/reident/pipeline changes methods of that version. Install it, or run `make` to set up "
            "the environment again."
        )


def keep_waiting_jobs(scheduler: type) -> None:
    """Let a scheduler's failed jobs no longer count as running while they wait for another attempt.

    Where a checkpoint ends, Snakemake forgets which jobs are ready and looks for them anew, but leaves out those that
    count as running; and a failed job counts as running for ever. One that waits at that moment for another attempt is
    lost, and with ``keep-going`` the run then ends as if everything were made (snakemake#823).

    Parameters
    ----------
    scheduler : type
        Snakemake's ``JobScheduler``.
    """
    handle = scheduler._handle_error  # type: ignore[attr-defined]  # noqa: SLF001

    @wraps(handle)
    def handle_error(self: Any, job: Any, *arguments: Any, **named: Any) -> None:
        handle(self, job, *arguments, **named)
        if job not in self.failed:  # those get no other attempt, and must not become ready
            self.workflow.dag._running.discard(job)  # noqa: SLF001

    scheduler._handle_error = handle_error  # type: ignore[attr-defined]  # noqa: SLF001


def force_stale(dag: type, stale: Callable[[str], Iterable[Path]]) -> None:
    """Force the jobs whose results no longer hold, whatever triggers the user chose.

    This is what ``--forcerun`` does to the jobs of the graph, but that option would also make every file that it names
    a target of the run. A job that has ended is not forced again where a checkpoint changes the graph: Snakemake
    leaves finished jobs out.

    Parameters
    ----------
    dag : type
        Snakemake's ``DAG``.
    stale : callable
        ``stale(study)`` gives the results of a study that no longer hold. It is asked for studies with jobs in the
        graph alone, so that the target ``check`` and the linter do not pay for it.
    """
    update = dag.update_needrun  # type: ignore[attr-defined]

    @wraps(update)
    async def update_needrun(self: Any, *arguments: Any, **named: Any) -> None:
        if not getattr(self.workflow, _CHECKED, False):
            for study in studies(self.jobs):
                self.forcefiles.update(map(str, stale(study)))
        await update(self, *arguments, **named)

    dag.update_needrun = update_needrun  # type: ignore[attr-defined]


def check_before_graph(dag: type, check: Callable[[set[str]], None]) -> None:
    """Call a function before the graph of jobs is built: while the workflow is read, its targets are not known.

    Parameters
    ----------
    dag : type
        Snakemake's ``DAG``.
    check : callable
        Takes the names of the rules that are targets; none if a target is a file.
    """
    init = dag.init  # type: ignore[attr-defined]

    @wraps(init)
    async def init_checked(self: Any, *arguments: Any, **named: Any) -> None:
        rules = {rule.name for rule in self.targetrules} | self.target_jobs_rules
        check(set() if self.targetfiles else rules)
        await init(self, *arguments, **named)

    dag.init = init_checked  # type: ignore[attr-defined]


def check_before_report(workflow: Any, check: Callable[[], None]) -> None:
    """Call a function before ``--report`` gathers results; no setting of a workflow tells of that option.

    What it checks is not looked for again by :func:`force_stale`.

    Parameters
    ----------
    workflow
        The workflow, as a Snakefile knows it.
    check : callable
    """
    create = workflow.create_report

    @wraps(create)
    def create_report(*arguments: Any, **named: Any) -> None:
        check()
        setattr(workflow, _CHECKED, True)
        create(*arguments, **named)

    workflow.create_report = create_report


def studies(jobs: Iterable[Any]) -> set[str]:
    """Return the ids of the studies to which jobs belong."""
    names = (job.wildcards_dict.get("study") for job in jobs)
    return {name.partition("/")[0] for name in names if name is not None}


def outputs(dag: Any, study: str, stale: Iterable[Path]) -> set[Path]:
    """Return what the jobs to run make of a study.

    Which shards there are is known only after the checkpoint. Where it is to run, all results that no longer hold
    count as made.
    """
    jobs = [job for job in dag.needrun_jobs() if studies([job]) == {study}]
    later = stale if any(job.is_checkpoint for job in jobs) else ()
    return {Path(path) for job in jobs for path in job.output}.union(later)


def pages(job: Any) -> list[str]:
    """Return the pages for readers that a job makes, in HTML and PDF."""
    return [str(path) for path in job.output if str(path).endswith((".html", ".pdf"))]
