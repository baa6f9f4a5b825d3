"""A process that imports the library once, and forks for every step of a run.

A step of a small study computes for milliseconds, after its interpreter has imported for a second. The fork server
imports what all steps need, and then, while no step asks for a copy, what those of the run need, in their order; each
step begins as a copy of it and imports what is not there yet. It ends with the run, and its copies end with it. A step
starts as a process of its own, as without a server, where the server has ended, or holds modules whose source has
changed since.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from reident.pipeline.checkout import SOURCES
from reident.starter import end_with, end_with_parent

LIBRARY = Path(__file__).parents[1]
ALWAYS = (
    "snakemake.logging",
    "snakemake.iocontainers",
    "reident.ledger.running",
    "reident.pipeline.release:tree_digest",
    "reident.pipeline.digests:versions",
)
"""Modules that every step imports, and functions without arguments that it calls and that keep their answer."""
_REQUEST = 1 << 16


class ForkServer:
    """The run's side of a fork server.

    Parameters
    ----------
    modules : iterable of str
        What the steps of the run import, besides :data:`ALWAYS` and in the same form, in the order of the steps.
    environment : mapping
        The environment of the steps.
    """

    def __init__(self, modules: Iterable[str], environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this module, with names of modules
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), ",".join(ALWAYS), *modules],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, script: str, environment: Mapping[str, str]) -> Forked | None:
        """Run a script in a copy of the server.

        Parameters
        ----------
        script : str
            Its path.
        environment : mapping
            Its environment.

        Returns
        -------
        Forked or None
            None where the script must be started in another way.
        """
        if self._process.poll() is not None or set(self._environment) - set(environment):
            return None
        changes = dict(set(environment.items()) - set(self._environment.items()))
        request = json.dumps([script, changes]).encode()
        if len(request) > _REQUEST:
            return None
        answers, theirs = os.pipe()
        waits, go = os.pipe()
        try:
            socket.send_fds(self._requests, [request], [theirs, waits])
        except OSError:
            os.close(answers)
            os.close(go)
            return None
        finally:
            os.close(theirs)
            os.close(waits)
        forked = Forked(answers, go)
        return forked if forked.pid else None

    def close(self) -> None:
        """End the server, and with it the scripts that still run."""
        self._requests.close()
        self._process.kill()
        self._process.wait()


class Forked:
    """A script in a copy of a fork server; it begins when somebody waits for it.

    Attributes
    ----------
    pid : int
        The number of its process; 0 if there is none.
    """

    def __init__(self, answers: int, go: int) -> None:
        self._answers, self._go = os.fdopen(answers), go
        self.pid = int(self._answers.readline() or 0)
        if not self.pid:
            self.wait()

    def let_go(self) -> None:
        """Let it begin."""
        if self._go >= 0:
            os.close(self._go)
            self._go = -1

    def drop(self) -> None:
        """End it if it has not begun."""
        if self._go >= 0:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def wait(self) -> int:
        """Return its exit status once it has ended: negative for a signal, as :mod:`subprocess` has it."""
        self.let_go()
        with self._answers:
            return int(self._answers.readline() or -signal.SIGKILL)


def serve(
    requests: socket.socket, always: Iterable[str], modules: Iterable[str]
) -> tuple[str, dict[str, str]] | None:
    """Import modules, some of them before anything else, and fork at every request.

    Returns in each copy the script to run and its variables, and None at the end of the run.
    """
    sources = _sources()
    for module in always:
        _import(module)
    waiting = iter(modules)
    while True:
        while not select.select([requests], [], [], 0)[0] and (module := next(waiting, "")):
            _import(module)
        content, descriptors, _, _ = socket.recv_fds(requests, _REQUEST, 2)
        if not content:
            return None
        if _sources() == sources and _fork():
            requests.close()
            if _fork_and_wait(*descriptors):
                script, changes = json.loads(content)
                return script, changes
        for descriptor in descriptors:
            os.close(descriptor)


def _import(name: str) -> None:
    """Import a module, or call a function of one; where that fails, the step that needs it tells."""
    module, _, function = name.partition(":")
    with contextlib.suppress(Exception):
        found = importlib.import_module(module)
        if function:
            getattr(found, function)()


def _fork() -> bool:
    """Fork; return whether this is the copy, which ends when the process that made it does."""
    gc.freeze()  # what all copies share stays shared: collecting would write to it
    maker = os.getpid()
    if os.fork():
        return False
    end_with(maker)
    return True


def _fork_and_wait(answers: int, go: int) -> bool:
    """Return in the copy that is to run the script, once it may; in its maker, tell its end, and end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    maker = os.getpid()
    if pid := os.fork():
        os.write(answers, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(BrokenPipeError):
            os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    end_with(maker)
    os.close(answers)
    os.read(go, 1)
    os.close(go)
    return True


def _sources() -> list[tuple[object, ...]]:
    """Return inode, size and time of change of every source of the checkout; users cannot set the time of a change."""
    root = LIBRARY.parents[2]
    places = [root / name for name in SOURCES if (root / name).exists()] or [LIBRARY]
    found = [_state(str(place)) for place in places if place.is_file()]
    for place in places:
        for folder, folders, files in os.walk(place):
            folders[:] = [name for name in folders if name != "__pycache__"]
            with contextlib.suppress(FileNotFoundError):
                found += [_state(os.path.join(folder, name)) for name in files]  # noqa: PTH118 - for every source
    return sorted(found)


def _state(path: str) -> tuple[str, int, int, int]:
    status = os.stat(path)  # noqa: PTH116 - asked of every source at every step
    return path, status.st_ino, status.st_size, status.st_ctime_ns


def main(descriptor: int, always: Iterable[str], modules: Iterable[str]) -> str | None:
    """Serve; return the script that this copy of the process is to run."""
    end_with_parent()
    requests = socket.socket(fileno=descriptor)
    # Since Python 3.12. The one other thread tends memory of pyarrow, and its locks are free at every fork.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = serve(requests, always, modules)
    except ConnectionError:  # the run ended before it had used this
        return None
    if found is None:
        return None
    signal.signal(signal.SIGINT, interrupt)
    script, changes = found
    os.environ.update(changes)
    tempfile.tempdir = None  # as TMPDIR says, which the step may have of its own
    sys.argv = [script]
    return script


def run(script: str) -> NoReturn:
    """Run a script as a process of its own would, and end without taking apart all that is imported."""
    status = 1
    try:
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as ended:
        status = _status(ended.code)
    except KeyboardInterrupt:
        status = -signal.SIGINT
    except BaseException:  # noqa: BLE001 - what Python itself would do
        sys.excepthook(*sys.exc_info())
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - other threads end first, then come handlers
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _status(code: Any) -> int:
    """Return the exit status for what a script gave to :func:`sys.exit`."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


if __name__ == "__main__" and (script := main(int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:])):
    run(script)
