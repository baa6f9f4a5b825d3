"""One run at a time: the lock on a study's results, and jobs that do not outlive the run that started them.

Locks are those of the kernel (``flock``), which gives them back when their holder dies, however it dies: no
lock is ever left over. A file system that knows no locks has none, and everything else works as ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from reident.errors import InputError

RUN = "ledger/.run.lock"
STEPS = "ledger/.steps.lock"
STARTER = "REIDENT_STARTER"
"""The environment variable in which a scheduler tells its jobs which process it is."""

GRACE = 5.0
"""Seconds that a run waits for one that is just ending."""

ROOM = 2**20
"""Bytes without which a run does not begin: the scheduler itself needs some for its records."""

_held: list[int] = []  # for as long as this process lives


def begin(root: Path, grace: float = GRACE) -> None:
    """Take a study's results for this run, until the process ends; remove what dead steps left half-written.

    Raises
    ------
    InputError
        If another run works on them, or a step of a run that was ended still does, or the disk is full.
    """
    (root / "ledger").mkdir(parents=True, exist_ok=True)
    _held.append(_locked(root / RUN, fcntl.LOCK_EX, grace, f"another run works on {root}"))
    # The run before may have been killed, with steps elsewhere that do not know it yet.
    os.close(_locked(root / STEPS, fcntl.LOCK_EX, grace, f"a step of an earlier run still writes to {root}"))
    for left in half_written(root):
        left.unlink(missing_ok=True)
    if shutil.disk_usage(root).free < ROOM:
        raise InputError(f"there is no room on the disk of {root}; make room and run the same command again.")


def half_written(root: Path) -> list[Path]:
    """Files under their temporary names in a study's results and reports."""
    reports = root.parents[1] / "reports" / root.name
    return sorted([*root.rglob(".*.part"), *reports.rglob(".*.part")])


def at_work(root: Path) -> bool:
    """Whether a run works on a study's results now."""
    if not (root / RUN).is_file():
        return False
    descriptor = os.open(root / RUN, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def join(root: Path) -> int:
    """Tell that a step works on a study's results, until what this returns is closed."""
    (root / "ledger").mkdir(parents=True, exist_ok=True)
    return _locked(root / STEPS, fcntl.LOCK_SH, 10 * GRACE, f"a new run begins on {root}")


def _locked(path: Path, kind: int, grace: float, otherwise: str) -> int:
    """A file descriptor with a lock, which is not inherited by other processes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + grace
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(descriptor)
                raise InputError(f"{otherwise}; run the same command again when it has ended.") from None
            time.sleep(0.1)
        except OSError:  # a file system without locks
            return descriptor
        else:
            return descriptor


def start_jobs() -> None:
    """Let the jobs that this process will start know it."""
    os.environ[STARTER] = f"{os.getpid()} {_processes()}"


def die_with_starter() -> None:
    """End this process at once, as by ``kill -9``, when the one that started it ends."""
    told = os.environ.get(STARTER, "").split()
    if len(told) != 2 or told[1] != _processes():  # not started by a run, or in a container that hides it
        return
    starter = int(told[0])
    if os.getppid() == starter and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() == starter:
            return
    if not _lives(starter):
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=_follow, args=(starter,), daemon=True).start()


def _follow(starter: int) -> None:
    while _lives(starter):
        time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


def _lives(process: int) -> bool:
    """Whether a process has not ended, be it that nobody has asked yet how it did."""
    try:
        if hasattr(os, "pidfd_open"):
            descriptor = os.pidfd_open(process)
            ended, _, _ = select.select([descriptor], [], [], 0)
            os.close(descriptor)
            return not ended
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's, or the kernel is an old one
        return True
    return True


def _processes() -> str:
    """What tells apart two worlds of process numbers: a container may have its own."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return "all"
