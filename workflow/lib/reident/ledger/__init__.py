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
from types import TracebackType
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
    # A folder stays locked after a SIGTERM that Python does not handle; Snakemake handles it while jobs run.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def __getattr__(name: str) -> Any:
    """Import the code of running steps on first use: looking at a ledger needs no data frames."""
    if name in __all__:
        from reident.ledger import running  # noqa: PLC0415

        return getattr(running, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
