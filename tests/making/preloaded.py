"""A Python that has imported Snakemake and the library: what it runs is a fork of one process and imports nothing.

Imports are most of what a step of a small study costs, and of what its plan costs. Only for tests in which it does not
matter how something is started: a step is no child of Snakemake here, and a signal to it reaches a stand-in.

:func:`python` is the one of this process, for everything that it starts. ``python -m making.preloaded …`` is
``python -m snakemake …`` with one of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
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

LIBRARIES = os.pathsep.join(
    str(Path(__file__).resolve().parents[2] / name) for name in ("workflow/lib", "tests")
)
SEED = {"PYTHONHASHSEED": "0"}
VARIABLES = {**SEED, **os.environ, "PYTHONPATH": LIBRARIES}
"""Those under which :func:`python` imports."""
IMPORTED_UNDER = ("PYTHON", "NUMBA", "MPL", "LANG", "LC_", "TZ", "TMPDIR", "HOME", "XDG")
"""How variables begin that matter when something is imported."""

SERVE = "--serve"


def serves(environment: Mapping[str, str]) -> bool:
    """Whether :func:`python` has imported what would be imported under an environment, and in the same way."""
    own, ours = (
        {name: value for name, value in variables.items() if name.startswith(IMPORTED_UNDER)}
        for variables in ({**SEED, **environment}, VARIABLES)
    )
    return own == ours


@functools.cache
def python() -> str:
    """Return the path of the Python that serves this process; it takes ``-m module …`` and ``script.py …``."""
    return served(VARIABLES)


def served(environment: Mapping[str, str]) -> str:
    """Return the path of a Python that imports under an environment, and lasts as long as this process."""
    folder = tempfile.mkdtemp(prefix="preloaded-")
    address, program = f"{folder}/calls", Path(folder, "python")
    program.write_text(STAND_IN.format(python=sys.executable, address=address), encoding="utf-8")
    program.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(8)
        server = subprocess.Popen(
            [sys.executable, "-m", "making.preloaded", SERVE, str(listener.fileno()), str(program)],
            env=environment,
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
    # It ends when its input does, which it also does where this process is killed.
    atexit.register(server.communicate)
    return str(program)


def serve(listener: socket.socket, program: str) -> None:
    """Import what Snakemake and the steps import; then run each caller's command line in a fork."""
    from numba.core.registry import cpu_target
    from reident.pipeline.steps import STEPS

    for name in {name for step in STEPS.values() for name in step.modules}:
        if "{" not in name and not name.startswith("report"):
            importlib.import_module(f"reident.{name}")
    # What Snakemake imports when it reads the workflow, and a step when it begins to work.
    for name in (
        "snakemake.cli", "reident.ledger", "reident.kernels.taxicab", "pyarrow.dataset", "pyarrow.pandas_compat",
    ):  # fmt: skip
        importlib.import_module(name)
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    atexit._clear()  # of this process, and not of its forks
    gc.freeze()
    with selectors.DefaultSelector() as waiting:
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(0, selectors.EVENT_READ)
        while listener in [key.fileobj for key, _ in waiting.select()]:
            caller, _ = listener.accept()
            if not os.fork():
                answer(listener, caller, program)
            caller.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    shutil.rmtree(Path(program).parent)


def answer(listener: socket.socket, caller: socket.socket, program: str) -> None:
    """Be what a caller asks for, and end as it does."""
    listener.close()
    status = 1
    try:
        status = run(caller, program)
    finally:
        with contextlib.suppress(OSError):
            caller.sendall(bytes([status]))
        os._exit(status)


def run(caller: socket.socket, program: str) -> int:
    """Run a caller's module or script in its place, with its streams, folder and environment; return the status."""
    _, streams, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rb") as stream:
        call = json.load(stream)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(call["cwd"])
    os.umask(call["umask"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = call["argv"]
    status = 0
    try:
        if sys.argv[0] == "-m":
            sys.executable = program  # what Snakemake starts a script with
            sys.path[0] = call["cwd"]
            del sys.argv[0]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(sys.argv[0]).parent)
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except Exception:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def main(arguments: list[str]) -> int:
    """Serve, or run Snakemake; return the exit status."""
    if arguments[:1] == [SERVE]:
        serve(socket.socket(fileno=int(arguments[1])), arguments[2])
        return 0
    return subprocess.call([served(os.environ), "-m", "snakemake", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
