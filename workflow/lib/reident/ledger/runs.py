"""One run at a time: the locks on a study's results, the start of a run, and jobs that end with their run.

The locks are those of the kernel (``flock``), which end with their holder however it dies. A library would not spare
them: the shared locks of `filelock` are those of SQLite, whose files must not be on the network file systems of a
cluster, or leases that a thread has to renew. A file system without locks leaves runs unprotected from each other;
everything else works.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from reident.errors import InputError
from reident.ledger.chain import located, shown
from reident.ledger.stale import SET_ASIDE, Stale, ledger_state
from reident.starter import STARTER, end_with_parent, process_numbers

RUN = "ledger/.run.lock"
STEPS = "ledger/.steps.lock"
GRACE = 5.0
"""Seconds that a run waits for one that is just ending."""

MIN_FREE = 2**20
"""Bytes without which a run does not start: the scheduler needs some of them for its records."""

_held: list[int] = []  # the locks of this process, for as long as it lives


def start(root: Path, stale: Stale, outputs: Iterable[Path], grace: float = GRACE) -> list[str]:
    """Take a study's results for this run, which is about to run jobs of the study.

    Until the process ends, no other run can start on these results. What steps that were killed left half-written
    is removed. Results that are not what their steps wrote are set aside where a job of this run replaces them.

    Parameters
    ----------
    root : Path
        ``results/{study}``.
    stale : Stale
        What did not hold when the run was planned.
    outputs : iterable of Path
        What the jobs of the run make.
    grace : float
        Seconds to wait for a run that is just ending.

    Returns
    -------
    list of str
        A sentence for each result that was set aside.

    Raises
    ------
    InputError
        If another run works on the results, or a step of an earlier run still does; if they changed since the run
        was planned; if the disk is full.
    """
    (root / "ledger").mkdir(parents=True, exist_ok=True)
    _held.append(_lock(root / RUN, fcntl.LOCK_EX, grace, f"{root} is in use by another run"))
    # The run before may have been killed while its steps on other machines do not know it yet.
    os.close(_lock(root / STEPS, fcntl.LOCK_EX, grace, f"{root} is in use by a step of an earlier run"))
    if ledger_state(root) != stale.ledger:
        raise InputError(f"{root} changed while this run was being planned. Run the same command again.")
    for path in half_written(root):
        path.unlink(missing_ok=True)
    if shutil.disk_usage(root).free < MIN_FREE:
        raise InputError(f"{root}: the disk is full. Make room on the disk and run the same command again.")
    return [_set_aside(root, path, stale.edited[path]) for path in sorted(stale.edited.keys() & set(outputs))]


def _set_aside(root: Path, path: Path, digest: str) -> str:
    """Move a result that its step did not write to where it is kept; return a sentence about it."""
    name = Path(shown(path, root))
    kept = root / SET_ASIDE / name.with_name(f"{name.stem}.{digest[:16]}{name.suffix}")
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.chmod(0o600)
    path.replace(kept)
    return f"{path} is not what its step wrote. It is kept as {kept} and computed anew."


def set_aside(root: Path, path: Path) -> list[str]:
    """Return the files that are kept in place of a result, now or earlier, as the ledger records them."""
    name = Path(shown(path, root))
    folder = root / SET_ASIDE / name.parent
    return sorted(shown(file, root) for file in folder.glob(f"{name.stem}.{'?' * 16}{name.suffix}"))


def half_written(root: Path) -> list[Path]:
    """Return the files under temporary names in a study's results and reports."""
    return sorted([*root.rglob(".*.part"), *located(root, "", "reports/").rglob(".*.part")])


def is_running(root: Path) -> bool:
    """Return whether a run works on a study's results now."""
    if not (root / RUN).is_file():
        return False
    try:
        os.close(_lock(root / RUN, fcntl.LOCK_SH, 0, ""))
    except InputError:
        return True
    return False


def join(root: Path) -> int:
    """Register a step that works on a study's results, until the returned file descriptor is closed."""
    (root / "ledger").mkdir(parents=True, exist_ok=True)
    return _lock(root / STEPS, fcntl.LOCK_SH, 10 * GRACE, f"{root} is in use by a new run")


def _lock(path: Path, kind: int, grace: float, otherwise: str) -> int:
    """Return a file descriptor with a lock, which other processes do not inherit."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except IsADirectoryError:
        raise InputError(
            f"{path} must be a file, not a folder. Rename it and run the same command again."
        ) from None
    until = time.monotonic() + grace
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(descriptor)
                raise InputError(f"{otherwise}. Run the same command again when that has ended.") from None
            time.sleep(0.1)
        except OSError:  # a file system without locks
            return descriptor
        else:
            return descriptor


def die_with_starter() -> None:
    """End this process at once, as by ``kill -9``, when the one that started it ends.

    Linux alone tells of that. On other systems a job whose run was killed works on to its end; the next run
    waits for it, or says that it still works.
    """
    if sys.platform != "linux":
        return
    process, _, numbers = os.environ.get(STARTER, "").partition(" ")
    if numbers != process_numbers():  # started without a run, or in a container that hides it
        return
    starter = int(process)
    if os.getppid() == starter:
        end_with_parent()
        if os.getppid() == starter:
            return
    try:
        descriptor = os.pidfd_open(starter)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGKILL)
    except OSError:  # another user's process, or an old kernel
        return
    threading.Thread(target=_die_with, args=(descriptor,), daemon=True).start()


def _die_with(descriptor: int) -> None:
    """Wait until a process has ended; a zombie parent counts as ended."""
    select.select([descriptor], [], [])
    os.kill(os.getpid(), signal.SIGKILL)
