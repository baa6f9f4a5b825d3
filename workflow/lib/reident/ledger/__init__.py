"""The ledger: inputs and outputs of every step, by SHA-256, and whether the chain still closes.

Snakemake schedules by time stamps and its own records; it does not see an edited intermediate result whose time stamp
was kept. A step therefore hashes what it reads and refuses a result that its maker did not write, writes under a
temporary name in the same folder, syncs, renames, and then writes its entry. :meth:`reident.ledger.chain.Chain.walk`
follows the entries back to the sources.
"""

import gc
import signal
import sys
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reident.ledger.running import Step, step

__all__ = ["Step", "step"]

told = False
"""Whether the terminal has been told that the run is stopped."""


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error as Python does, but Ctrl-C in one line."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    elif not told:
        sys.stderr.write("Stopped. Run the same command again to go on from here.\n")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop the run at the first Ctrl-C or SIGTERM; while it stops, another one changes nothing.

    An import and the making of a model end first: they would tell of the interrupt as of a mistake of their own.
    """
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: None)
    if _is_making(frame):
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
    else:
        signal.default_int_handler(number, frame)


def _is_making(frame: FrameType | None) -> bool:
    """Return whether a module is being imported, or a model made or used."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or "pydantic" in Path(file).parts:
            return True
        frame = frame.f_back
    return False


def end_on_sigterm() -> None:
    """Let SIGTERM end a run whatever its scheduler is doing, once that has a handler of its own.

    That one waits for locks, which the main thread may hold where the signal interrupts it; another thread can wait.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if not callable(handler):
        return
    signals = SimpleQueue[tuple[int, FrameType | None]]()

    def pass_on() -> None:
        while True:
            handler(*signals.get())

    Thread(target=pass_on, daemon=True).start()
    # Of what hands something to a thread, a handler may call this alone.
    signal.signal(signal.SIGTERM, lambda *received: signals.put(received))


IS_JOB = "/.snakemake/scripts/" in sys.argv[0]
"""Whether this process runs an adapter for Snakemake, and nothing else."""

if IS_JOB:
    # Ctrl-C ends a step at once and without a traceback: the terminal says that the run is stopped.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Imports leave next to nothing to collect. A step that begins turns the collection of garbage on again.
    gc.disable()
elif Path(sys.argv[0]).parent.name == "snakemake" or Path(sys.argv[0]).name == "snakemake":
    # Before and after its jobs, Snakemake leaves it to Python. Its logger plugin imports this before anything else.
    sys.excepthook = _excepthook
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not where a shell lets it be ignored
        signal.signal(signal.SIGINT, _interrupt)
    # A folder stays locked after a SIGTERM that Python does not handle; Snakemake handles it while jobs run.
    signal.signal(signal.SIGTERM, _interrupt)


def __getattr__(name: str) -> Any:
    """Import the code of running steps on first use: looking at a ledger needs no data frames."""
    if name in __all__:
        from reident.ledger import running  # noqa: PLC0415

        return getattr(running, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
