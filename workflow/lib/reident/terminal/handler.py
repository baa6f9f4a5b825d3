"""The handler of Snakemake's log records that draws the screen; it takes the place of Snakemake's own.

The records and everything in them also go to ``.snakemake/log``. A run with ``--verbose``, ``--debug-dag`` or
``--logger`` keeps the handler that it would have without this one.
"""

from __future__ import annotations

import contextlib
import csv
import logging
import os
import re
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from reident import starter
from reident.ledger import progress
from reident.terminal import preview, words
from reident.terminal.screen import Job, Row, Screen

SHOWN = {"reident": True}
"""``extra`` of a log record that the screen shows as it is."""

HEARTBEAT = 30.0
"""Seconds between two lines on the progress of a step, where there is no terminal."""

MAX_ROWS = 8
"""Running steps on the screen; a large machine runs more."""

MIN_BAR, MAX_BAR = 8, 24
"""Columns of a bar; a terminal without room for the shortest has none."""

_LOG_END = 4096
"""Bytes of a log that are read for its last lines."""

_BEFORE = ("Config file ", "Assuming unrestricted shared filesystem", "Multiple includes of", "Building DAG")
_EXITING = ("Exiting because a job execution failed",)
_UNFINISHED = "At least one job did not complete successfully."


class Handler(logging.Handler):
    """Shows a run in the terminal.

    Parameters
    ----------
    settings
        Snakemake's output settings.
    """

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self.name = "reident"
        quiet = {str(getattr(level, "name", level)).lower() for level in settings.quiet or ()}
        self._dry = settings.dryrun
        self._silent = not self._dry and ("all" in quiet or {"rules", "progress"} <= quiet)
        self._lines = not quiet & {"all", "rules"}
        self._moves = not self._dry and not quiet & {"all", "progress"}
        stream = sys.stdout if settings.stdout else sys.stderr
        self._drawn = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._console = Console(
            file=stream,
            force_terminal=self._drawn,
            no_color=settings.nocolor or None,
            highlight=False,
            emoji=False,
        )
        self._stream = stream
        self.screen = Screen(_log_end)
        self._planned: list[preview.Planned] = []
        self._stats: dict[str, int] = {}
        self._endings: dict[int, str] = {}
        self._failed: dict[int, str] = {}
        self._checkpoints: set[int] = set()
        self._executes = False
        self._began = time.monotonic()
        self._live: Live | None = None
        self._heart: threading.Thread | None = None
        self._over = threading.Event()

    # Records

    def emit(self, record: logging.LogRecord) -> None:
        """Show what a record says, if that is of use to a user."""
        try:
            self._take(record)
        except BrokenPipeError:
            raise
        except Exception:  # noqa: BLE001 - as every handler: a record that cannot be shown stops no run
            self.handleError(record)

    def _take(self, record: logging.LogRecord) -> None:
        event = str(getattr(record, "event", None) or "")
        take = getattr(self, f"_on_{event}", None)
        if take is not None:
            take(record)
        elif not event:
            self._on_message(record, record.getMessage())

    def _on_message(self, record: logging.LogRecord, text: str) -> None:
        if getattr(record, "reident", False):
            self._show(text)
        elif text.startswith("Nothing to be done"):
            self._show(words.UP_TO_DATE)
        elif text.startswith("This was a dry-run"):
            self._preview()
        elif "user request" in text:
            self._stop()
        elif text.startswith("Will exit after finishing"):
            self._show(words.STOPPING)
            self.screen.stopped = True
        elif match := re.match(r"Trying to restart job (\d+)", text):
            self._show(f"{self._failed.get(int(match[1]), 'A step')}: tried again.")
            self.screen.retry()
        elif record.levelno >= logging.ERROR:
            if not (self.screen.failed and text.startswith(_EXITING)):
                self._fail(words.problem(text))
        elif record.levelno >= logging.WARNING:
            self._show(text if text.startswith("Warning: ") else f"Warning: {text}")
        elif record.levelno >= logging.INFO and not self._executes and not text.startswith(_BEFORE):
            self._show(text)

    def _on_workflow_started(self, _: logging.LogRecord) -> None:
        self._executes = True

    def _on_run_info(self, record: logging.LogRecord) -> None:
        self._stats = dict(getattr(record, "stats", None) or {})
        self.screen.planned(self._stats, self._stats.get("stratify", 0))

    def _on_job_info(self, record: Any) -> None:
        wildcards = dict(record.wildcards or {})
        study = wildcards.get("study", "")
        if self._dry:
            self._planned.append(preview.Planned(record.rule_name, study, record.reason))
            return
        if record.is_checkpoint:
            self._checkpoints.add(record.jobid)
        shards = next((path for path in record.input if path.endswith("strata/shards.csv")), None)
        n_shards = _count_shards(shards) if shards and "shard" in wildcards else None
        log = record.log[0] if record.log else ""
        job = Job(record.rule_name, study, wildcards, log, n_shards, time.monotonic())
        self.screen.started(record.jobid, job)
        if job.is_step:
            self._move()

    def _on_job_finished(self, record: Any) -> None:
        ended = self.screen.ended(
            record.job_id, time.monotonic(), checkpoint=record.job_id in self._checkpoints
        )
        if self._lines:
            for line in ended:
                self._show(line)

    def _on_progress(self, record: Any) -> None:
        self.screen.progressed(record.total)

    def _on_error(self, record: Any) -> None:
        text = record.getMessage()
        if "CalledProcessError" in text:  # what a job has to say of it is in its log
            self._endings[record.thread] = text
        elif "user request" in text:
            self._stop()
        elif not (_UNFINISHED in text and (self.screen.failed or self.screen.stopped)):
            self._fail(words.problem(text))

    def _on_job_error(self, record: Any) -> None:
        ending = self._endings.pop(record.thread, "")
        job = self.screen.job(record.jobid)
        self.screen.forget(record.jobid)
        if "SIGINT" in ending:
            self._stop()
            return
        sentence = None  # a command has said why it failed
        text = self._failed[record.jobid] = (
            self.screen.text(job) if job else words.label(record.rule_name, {})
        )
        if job is None or job.is_step:
            path, *others = record.log or [""]
            sentence = words.failure(text, _log_end(path), path, others, ending)
        for line in self.screen.report(sentence):
            self._show(line, always=True)

    def _fail(self, sentence: str) -> None:
        for line in self.screen.report(sentence):
            self._show(line, always=True)

    def _stop(self) -> None:
        self.screen.stopped = True

    def _preview(self) -> None:
        for line in preview.lines(self._planned):
            self._show(line)
        self._stats = {}

    # The screen

    def _show(self, text: str, *, always: bool = False) -> None:
        """Show a line; one that the terminal wraps stays one line where it is copied."""
        if self._silent and not always:
            return
        if not self._drawn:
            self._stream.write(f"{text}\n")
            self._stream.flush()
            return
        head, mark, rest = text.partition(": ")
        style = {"Error": "bold red", "Warning": "yellow"}.get(head, "")
        self._console.print(Text.assemble((head + mark, style), rest), soft_wrap=True)

    def _move(self) -> None:
        """Begin to show the progress of steps."""
        if not self._moves or self._live is not None or self._over.is_set():
            return
        if self._drawn:
            self._live = Live(
                console=self._console,
                transient=True,
                refresh_per_second=2,
                redirect_stdout=False,
                get_renderable=self._draw,
            )
            self._live.start()
        elif self._heart is None:
            self._heart = threading.Thread(target=self._beat, daemon=True)
            self._heart.start()

    def _beat(self) -> None:
        """Tell at intervals how far the steps are that take long."""
        while not self._over.wait(HEARTBEAT):
            for row in self.screen.rows(time.monotonic()):
                if row.seconds >= HEARTBEAT:
                    self._show(f"{row.text}: {_state(row)}")

    def _draw(self) -> Group:
        """Return the steps that run, and how many are done."""
        rows = self.screen.rows(time.monotonic())
        shown = rows[: max(min(MAX_ROWS, self._console.height - 4), 1)]
        states = [_state(row) for row in shown]
        longest = (
            max((len(text) for text in texts), default=0) for texts in ([row.text for row in shown], states)
        )
        bar = min(MAX_BAR, self._console.width - sum(longest) - 6)
        table = Table.grid(padding=(0, 2), expand=bar < MIN_BAR)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1 if bar < MIN_BAR else None)
        table.add_column(no_wrap=True)
        if bar >= MIN_BAR:
            table.add_column(width=bar)
        for row, state in zip(shown, states, strict=True):
            share = row.shown.share
            drawn = (
                Text()
                if share is None
                else ProgressBar(1.0, share, width=max(bar, 1), complete_style="cyan", finished_style="cyan")
            )
            table.add_row(Text(row.text), Text(state), *([drawn] if bar >= MIN_BAR else []))
        more = f"{len(rows) - len(shown):,} more are running. " if len(rows) > len(shown) else ""
        return Group(table, Text(f"{more}{self.screen.count}", style="dim"))

    def close(self) -> None:
        """Leave a clean screen, and say how the run ended where nothing else did."""
        if self._over.is_set():
            return
        self._over.set()
        if self._live is not None:
            self._live.stop()
        if self.screen.stopped:
            self._show(words.STOPPED, always=True)
        elif self._dry and self._stats:
            for line in preview.counted(self._stats):
                self._show(line)
        elif self.screen.n_ended and not self.screen.failed:
            self._show(f"Done in {progress.duration(time.monotonic() - self._began)}.")
        super().close()


def _state(row: Row) -> str:
    """Return how far a step is."""
    if row.shown.compiling:
        return f"compiling, once for this version ({progress.duration(row.seconds)})"
    if row.shown.share is None:
        return progress.duration(row.seconds)
    left = f", about {row.shown.left} left" if row.shown.left else ""
    return f"{row.shown.share:.0%}{left}"


def _log_end(path: str) -> str | None:
    """Return the end of a log; None if it cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            stream.seek(max(stream.seek(0, os.SEEK_END) - _LOG_END, 0))
            return stream.read().decode("utf-8", errors="replace")
    except OSError:
        return None


@cache
def _count_shards(table: str) -> int | None:
    """Return the number of shards in a table of shards; None if it cannot be read."""
    with contextlib.suppress(OSError, KeyError), Path(table).open(encoding="utf-8", newline="") as stream:
        return len({line["shard"] for line in csv.DictReader(stream)})
    return None


def install(workflow: Any) -> Handler | None:
    """Let a run be shown by a :class:`Handler` in place of Snakemake's own, unless its command line asks otherwise.

    Parameters
    ----------
    workflow
        The workflow, as a Snakefile knows it.

    Returns
    -------
    Handler or None
        None where the run keeps the handler that it has: for ``--verbose``, ``--debug-dag`` or ``--logger``, in a job
        on another machine, and where the workflow is a module of another.
    """
    settings, logger = workflow.output_settings, workflow.logger_manager.logger
    default = next((one for one in logger.handlers if one.name == "DefaultStreamHandler"), None)
    plain = not (
        settings.verbose or settings.debug_dag or settings.printshellcmds or settings.log_handler_settings
    )
    whole = workflow.is_main_process and workflow.modifier.parent_modifier is None
    starter.tell_screen(shows_logs=bool(default and plain and whole))
    if not (default and plain and whole):
        return None
    handler = Handler(settings)
    logger.removeHandler(default)
    logger.addHandler(handler)
    _say_once_that_it_stopped(handler)
    return handler


def _say_once_that_it_stopped(handler: Handler) -> None:
    """Let Ctrl-C end the process without a traceback, also while it plans the run."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            before(kind, error, trace)
        elif not handler.screen.stopped:
            sys.stderr.write(f"{words.STOPPED}\n")

    sys.excepthook = hook
