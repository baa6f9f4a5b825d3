"""A Python that has imported Snakemake and the library: what it runs is a fork of one process and imports nothing.

Imports are most of what a step of a small study costs, and of what its plan costs. Only for tests in which it does not
matter how something is started: a step is no child of Snakemake here, and a signal to it reaches a stand-in.

:func:`python` is the one of this process, for everything that it starts. ``python -m making.preloaded …`` is
``python -m snakemake …`` with one of its own.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
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

LIBRARIES = os.pathsep.join(str(Path(__file__).resolve().parents[2] / name) for name in ("workflow/lib", "tests"))
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
    """Import what Snakemake and the steps import; then run each caller's command line in a fork of this process."""
    from reident.pipeline.steps import STEPS

    for name in {name for step in STEPS.values() for name in step.modules}:
        if not set("{*") & set(name) and not name.startswith("report"):
            importlib.import_module(f"reident.{name}")
    # What Snakemake imports when it reads the workflow, and a step when it begins to work.
    for name in (
        "snakemake.cli", "reident.ledger", "reident.pipeline.plan", "reident.kernels.taxicab", "pyarrow.dataset",
        "pyarrow.pandas_compat",
    ):  # fmt: skip
        importlib.import_module(name)
    gc.freeze()
    while listener in select.select([listener, 0], [], [])[0]:
        caller, _ = listener.accept()
        if not os.fork():
            listener.close()
            answer(caller, program)
            return
        caller.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    shutil.rmtree(Path(program).parent)


def answer(caller: socket.socket, program: str) -> None:
    """Run what a caller asks for in another fork, which ends as any program does, and tell its status."""
    _, streams, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rb") as stream:
        call = json.load(stream)
    if process := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(OSError):
            caller.sendall(bytes([status & 255]))
        os._exit(0)
    caller.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(call["cwd"])
    os.umask(call["umask"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = call["argv"]
    if sys.argv[0] == "-m":
        sys.executable = program  # what Snakemake starts a script with
        sys.path[0] = call["cwd"]
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(sys.argv[0]).parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve(socket.socket(fileno=int(sys.argv[2])), sys.argv[3])
    else:
        sys.exit(subprocess.call([served(os.environ), "-m", "snakemake", *sys.argv[1:]]))
