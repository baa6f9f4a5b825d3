"""Start kernels of notebooks: without network ports, quiet, and where that gives the same, as copies of this process.

A kernel of its own imports for a second or two what this process has imported already.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ipykernel import kernelapp
from jupyter_client.manager import AsyncKernelManager

from reident.starter import end_with

LAUNCHER = "ipykernel_launcher"
GUARDED = "reident.report.closed"
"""The module that starts a kernel, and the one that starts it behind a guard."""


class Copy:
    """A copy of this process that waits to become a kernel, and ends when this process does.

    It has the methods of :class:`subprocess.Popen` that a manager of kernels calls.

    Attributes
    ----------
    pid : int
    returncode : int or None
        None while it runs.
    """

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        self.returncode: int | None = None
        orders, self._orders = os.pipe()
        maker = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._orders)
            _follow(orders, maker)
        os.close(orders)

    def become_kernel(self, command: Sequence[str], output: int, **options: Any) -> None:
        """Let it do what a command would that starts a kernel.

        Parameters
        ----------
        command : sequence of str
            Its arguments follow the name of a module.
        output : int
            The descriptor, open before the copy was made, that takes what the kernel prints.
        options
            Its environment, `env`, and working folder, `cwd`, as :class:`subprocess.Popen` has them.
        """
        arguments = list(command[command.index(LAUNCHER) :])
        order = {
            "arguments": arguments,
            "output": output,
            "folder": str(options.get("cwd") or Path.cwd()),
            "environment": options["env"],
        }
        descriptor, self._orders = self._orders, -1
        with os.fdopen(descriptor, "w", encoding="utf-8") as orders:
            json.dump(order, orders)

    def dismiss(self) -> None:
        """End it, whatever it does."""
        self.kill()
        self.wait()
        if self._orders >= 0:
            os.close(self._orders)

    def poll(self) -> int | None:
        """Return its exit status, or None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Return its exit status once it has ended."""
        return self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            found, status = os.waitpid(self.pid, options)
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def _follow(orders: int, maker: int) -> None:
    """In a copy: wait for orders, follow them, and end; nothing of the process that made it goes on here."""
    try:
        end_with(maker)
        with os.fdopen(orders, encoding="utf-8") as stream:
            order = stream.read()
        if order:
            _become_kernel(**json.loads(order))
    except BaseException:  # noqa: BLE001 - whatever it is, it ends here
        traceback.print_exc()
    finally:
        os._exit(1)


def _become_kernel(arguments: list[str], output: int, folder: str, environment: dict[str, str]) -> None:
    """Take on what a new process would have of its own, and start the kernel."""
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # as the environment says
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", buffering=1, closefd=False)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False)  # type: ignore[misc]
    sys.argv = arguments
    kernelapp.launch_new_instance()


def may_be_copied() -> bool:
    """Return whether a copy of this process would do the same as a new one, which has a fixed seed of hashes.

    The one other thread of a step waits for the end of the run, see :mod:`reident.ledger.runs`; a copy needs none.
    """
    return sys.platform == "linux" and not sys.flags.hash_randomization


def _started_by(module: str, command: Sequence[str]) -> list[str]:
    """Return the command that starts a kernel with a module in place of the launcher."""
    if LAUNCHER not in command:
        raise RuntimeError(
            f"the kernel is not started by {LAUNCHER}, so it cannot be guarded or copied: {list(command)}"
        )
    return [module if word == LAUNCHER else word for word in command]


@contextmanager
def copied() -> Iterator[Copy]:
    """Make a copy of this process, which ends with the block."""
    copy = Copy()
    try:
        yield copy
    finally:
        copy.dismiss()


def manager(
    stream: IO[bytes], folder: Path, *, guarded: bool = False, copy: Copy | None = None
) -> type[AsyncKernelManager]:
    """Return a manager of kernels that open no network port and write to a file instead of the terminal.

    Their sockets are in a folder of their own: by default they would be in the folder where kernels work, and two that
    start at once could take the same ones. Where they are `guarded`, :mod:`reident.report.closed` starts them; a `copy`
    becomes one.
    """

    class QuietKernel(AsyncKernelManager):
        def __init__(self, **kw: Any) -> None:
            super().__init__(**kw, transport="ipc", connection_file=str(folder / "kernel.json"))

        async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
            command = _started_by(GUARDED if guarded else LAUNCHER, kernel_cmd)
            if copy is None:
                await super()._async_launch_kernel(command, **kw, stdout=stream, stderr=stream)
                return
            copy.become_kernel(command, stream.fileno(), **kw)
            provisioner: Any = self.provisioner
            provisioner.process, provisioner.pid, provisioner.pgid = copy, copy.pid, copy.pid
            self._reconcile_connection_info(provisioner.connection_info)

    return QuietKernel
