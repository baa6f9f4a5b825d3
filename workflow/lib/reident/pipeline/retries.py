"""Failed jobs that are tried again stay in the run: a repair of the scheduler.

Where a checkpoint ends, Snakemake (9.27.1) forgets which jobs are ready and looks for them anew, but leaves out
those that it takes for running; and a failed job counts as running for ever. One that waits at that moment to be
tried again is lost, and with ``keep-going`` the run then ends as if all were made (snakemake#823).
"""

from __future__ import annotations

from functools import wraps
from typing import Any


def keep_waiting_jobs(scheduler: type) -> None:
    """Let a scheduler's failed jobs no longer count as running while they wait to be tried again.

    Parameters
    ----------
    scheduler : type
        Snakemake's ``JobScheduler``, which is changed; more than once does no harm.
    """
    handle = scheduler._handle_error  # type: ignore[attr-defined]  # noqa: SLF001

    @wraps(handle)
    def handle_error(self: Any, job: Any, *more: Any, **named: Any) -> None:
        handle(self, job, *more, **named)
        if job not in self.failed:  # those are not tried again, and must not become ready
            self.workflow.dag._running.discard(job)  # noqa: SLF001

    scheduler._handle_error = handle_error  # type: ignore[attr-defined]  # noqa: SLF001
