"""``python -m making.preloaded …`` is ``python -m snakemake …`` whose steps are forks of a process with the library.

A step then costs no imports, which is most of what a step of a small study costs. Only for tests in which it does not
matter how a step is started: a step is no child of Snakemake here, and a signal to it reaches a stand-in.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path

STAND_IN = """#!{python} -IS
import json, os, socket, sys
umask = os.umask(0)
call = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "environment": dict(os.environ), "umask": umask}}
with socket.socket(socket.AF_UNIX) as caller:
    caller.connect({address!r})
    socket.send_fds(caller, [b"0"], [0, 1, 2])
    caller.sendall(json.dumps(call).encode())
    caller.shutdown(socket.SHUT_WR)
    sys.exit((caller.recv(1) or b"\\1")[0])
"""


def main(arguments: list[str]) -> None:
    """Run Snakemake, beside the process that starts its steps."""
    from snakemake.cli import main as snakemake

    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = f"{folder}/steps"
        listener.bind(address)
        listener.listen(8)
        server = os.fork()
        if not server:
            try:
                serve(listener)
            finally:
                os._exit(1)
        program = Path(folder, "python")
        program.write_text(STAND_IN.format(python=sys.executable, address=address), encoding="utf-8")
        program.chmod(0o700)
        sys.executable = str(program)  # what Snakemake starts a script with
        try:
            snakemake(arguments)
        finally:
            os.kill(server, signal.SIGTERM)


def serve(listener: socket.socket) -> None:
    """Import what the steps import; then start a step for each caller."""
    from numba.core.registry import cpu_target
    from reident.pipeline.steps import STEPS

    for name in {name for step in STEPS.values() for name in step.modules}:
        if "{" not in name and not name.startswith("report"):
            importlib.import_module(f"reident.{name}")
    # What a step loads when it begins to work.
    for name in ("reident.ledger", "reident.kernels.taxicab", "pyarrow.dataset", "pyarrow.pandas_compat"):
        importlib.import_module(name)
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    atexit._clear()  # of this process, and not of a step
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        caller, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            status = 1
            try:
                status = run(caller)
            finally:
                with contextlib.suppress(OSError):
                    caller.sendall(bytes([status]))
                os._exit(status)
        caller.close()


def run(caller: socket.socket) -> int:
    """Run the script of a caller in its place, with its streams, folder and environment; return the exit status."""
    _, streams, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rb") as stream:
        call = json.load(stream)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(call["cwd"])
    os.umask(call["umask"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = call["argv"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    status = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except Exception:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main(sys.argv[1:])
