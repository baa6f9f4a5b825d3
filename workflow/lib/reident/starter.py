"""What a job knows of the process that started it: the scheduler of the run.

Of the standard library alone, since the package asks it before anything else is imported.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from pathlib import Path

STARTER = "REIDENT_STARTER"
"""The environment variable in which a scheduler tells its jobs which process it is."""

SCREEN = "REIDENT_SCREEN"
"""The environment variable in which a scheduler tells its jobs that its screen shows what their logs say."""


def tell_jobs() -> None:
    """Let the jobs that this process starts know it."""
    os.environ[STARTER] = this_process()


def tell_screen(*, shows_logs: bool) -> None:
    """Let the jobs that this process starts know whether its screen shows what their logs say."""
    if shows_logs:
        os.environ[SCREEN] = this_process()
    else:
        os.environ.pop(SCREEN, None)


def is_shown() -> bool:
    """Return whether the process that started this job shows what the job's log says."""
    return SCREEN in os.environ and os.environ[SCREEN] == os.environ.get(STARTER)


def end_silently() -> None:
    """Let Ctrl-C end a job at once and without a traceback: its scheduler says the one sentence about it.

    What the job left half-written, the next run removes, as after any other kill.
    """
    starter = os.environ.get(STARTER)
    if starter not in (None, this_process()) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_with_parent() -> None:
    """End this process at once, as by ``kill -9``, when the thread that made it ends; Linux alone tells of that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def end_with(maker: int) -> None:
    """End this process as :func:`end_with_parent` does, also if the one that made it has ended already."""
    end_with_parent()
    if os.getppid() != maker:
        os.kill(os.getpid(), signal.SIGKILL)


def this_process() -> str:
    """Return the number of this process, and what tells it from that of another container."""
    return f"{os.getpid()} {process_numbers()}"


def process_numbers() -> str:
    """Return what tells process numbers apart: a container may have its own."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return "all"
