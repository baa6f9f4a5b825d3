"""A process that imports the library once, and forks for every step of a run.

A step of a small study computes for milliseconds, after its interpreter has imported for a second. The fork server
imports what the steps of a run need while the first of them work; each later one begins as a copy of it. It ends with
the run, and its copies end with it. A step starts as a process of its own, as without a server, where the server is not
ready, has ended, or holds modules whose source has changed since.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from reident.starter import end_with_parent

LIBRARY = Path(__file__).parents[1]
ALWAYS = ("snakemake.logging", "snakemake.iocontainers", "reident.ledger")
"""What every step imports."""
_REQUEST = 1 << 16


class ForkServer:
    """The run's side of a fork server.

    Parameters
    ----------
    modules : iterable of str
        What the steps of the run import, besides :data:`ALWAYS`.
    environment : mapping
        The environment of the steps.
    """

    def __init__(self, modules: Iterable[str], environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._ready = False
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this module, with names of modules
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), *ALWAYS, *modules],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def _is_ready(self) -> bool:
        """Return whether it has imported everything and still works."""
        if not self._ready:
            with contextlib.suppress(OSError):
                self._ready = bool(self._requests.recv(1, socket.MSG_DONTWAIT))
        return self._ready and self._process.poll() is None

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
        if not self._is_ready() or set(self._environment) - set(environment):
            return None
        changes = dict(set(environment.items()) - set(self._environment.items()))
        answers, theirs = os.pipe()
        waits, go = os.pipe()
        try:
            socket.send_fds(self._requests, [json.dumps([script, changes]).encode()], [theirs, waits])
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

    def wait(self) -> int:
        """Return its exit status once it has ended: negative for a signal, as :mod:`subprocess` has it."""
        os.close(self._go)
        with self._answers:
            return int(self._answers.readline() or -signal.SIGKILL)


def serve(requests: socket.socket) -> tuple[str, dict[str, str]] | None:
    """Fork at every request; return in each copy the script to run and its variables, and None at the end of the run.

    Between the server and a copy stands a process that waits for the copy and tells its exit status.
    """
    sources = _sources()
    requests.send(b"1")
    while True:
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


def _fork() -> bool:
    """Fork; return whether this is the copy, which ends when the process that made it does."""
    maker = os.getpid()
    if os.fork():
        return False
    _end_with(maker)
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
    _end_with(maker)
    os.close(answers)
    os.read(go, 1)
    os.close(go)
    return True


def _end_with(parent: int) -> None:
    """End this process when its parent does, also if that has ended already."""
    end_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _sources() -> list[tuple[str, int]]:
    """Return every source of the library with its checksum, by which the package knows a change (`reident`)."""
    return [(str(path), zlib.crc32(path.read_bytes())) for path in sorted(LIBRARY.rglob("*.py"))]


def main(descriptor: int, modules: Iterable[str]) -> str | None:
    """Import modules and serve; return the script that this copy of the process is to run."""
    end_with_parent()
    requests = socket.socket(fileno=descriptor)
    with contextlib.suppress(Exception):  # what cannot be imported is told by the step that needs it
        for module in modules:
            importlib.import_module(module)
    # Since Python 3.12. The one other thread tends memory of pyarrow, and its locks are free at every fork.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    gc.freeze()  # what all copies share stays shared: collecting would write to it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        found = serve(requests)
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


if __name__ == "__main__" and (asked := main(int(sys.argv[1]), sys.argv[2:])):
    runpy.run_path(asked, run_name="__main__")
