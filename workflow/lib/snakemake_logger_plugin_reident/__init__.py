"""Snakemake's `logger: reident`: a line for each step, how far long steps are, and a failure in one sentence."""

import contextlib
import errno
import logging
import os
import re
import shutil
import signal
import sys
import threading
import time
from logging import ERROR, WARNING, Handler, LogRecord
from pathlib import Path
from typing import Any, NamedTuple

from reident import ledger
from reident.ledger import progress
from reident.linkage.metrics import REGISTRY
from reident.pipeline.reasons import read_reason
from reident.pipeline.steps import STEPS
from snakemake_interface_logger_plugins.base import LogHandlerBase

INTERVAL = 10  # between two reports on long steps outside a terminal, in seconds
_INTERRUPTED = ("user request", "SIGINT", "exit status 130")
_LEAVES = "Will exit after finishing currently running jobs"
_NO_FILE = "Target rules may not contain wildcards"
_SUMMARIES = ("CalledProcessError", "a job execution failed", "did not complete successfully")
_ENDING = re.compile(r"(?:died with <Signals\.\w+: |returned non-zero exit status )(\d+)")
_FULL = [os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT)]
MIN_ROOM = 2**16
"""Bytes of free space below which a disk is taken to be full."""
AGAIN = "Run the same command again to go on from here."
_HIDDEN = re.compile("host|Assum|Build|Conda .*ign|Config|Compl|Elap|Rem|Sele|Shut|Sing|Try|Using|Waiting f")


class Job(NamedTuple):
    """A job; one that makes no file, such as the last of a run, prints its own lines."""

    order: tuple[str, int]
    text: str
    log: str
    reason: str
    prints: bool
    walks: bool  # whether it is the one that ends a run, and counts as no job
    began: float


def read_job(info: dict[str, Any]) -> Job:
    """Return the job of a record of Snakemake's log."""
    rule, wildcards = str(info.get("rule_name")), dict(info.get("wildcards") or {})
    log, outputs = (list(map(str, info.get(name) or ())) for name in ("log", "output"))
    # A workflow that imports this one may give its rules a prefix.
    step = max((step for step in STEPS if f"_{rule}".endswith(f"_{step}")), key=len, default=rule)
    names = [wildcards.get(name, "1-of-1") for name in ("metric", "table", "scatteritem", "shard")]
    names = [REGISTRY[name].title if name in REGISTRY else name for name in names if name != "1-of-1"]
    label = STEPS[step].label if step in STEPS else step
    words = f"{label}{': ' * bool(names)}{', '.join(names)}".replace("-of-", " of ").replace("_", " ")
    if study := wildcards.get("study", ""):
        words = f"{study.replace('/variants/', ', variant ')}: {words}"
    order, reason = (study, [*STEPS, step].index(step)), read_reason(str(info.get("reason")), outputs)
    return Job(order, words, "".join(log[:1]), reason, not outputs, _is_walk(rule), time.monotonic())


def read_state(job: Job) -> str:
    """Return how far a running job is, as its log says."""
    known, seconds = progress.read(_log_end(job.log)), progress.duration(time.monotonic() - job.began)
    if known.share is not None and not known.compiling:
        return f"{known.share:.0%}{known.left and f', about {known.left} left'}"
    return f"compiling kernels ({seconds})" if known.compiling else seconds


def _jobs(n: int) -> str:
    return f"{n:,} job{'s' * (n != 1)}"


def _failure(job: Job, ending: str) -> str:
    """Return the sentence on a job that failed: that of its log, or how it ended; empty if another one says it."""
    unknown = (
        ""
        if job.prints or any(words in ending for words in _FULL)
        else f"Error: {job.text} {_unexplained(job, ending)}"
    )
    return [unknown, *(line for line in _log_end(job.log).splitlines() if line.startswith("Error: "))][-1]


def _unexplained(job: Job, ending: str) -> str:
    """Return how a job ended that said nothing itself, from Snakemake's words."""
    folder = Path(job.log).parent
    if job.log and folder.is_dir() and shutil.disk_usage(folder).free < MIN_ROOM:
        return f"could not write its log: no room on the disk of {folder}. Make room and run the same command again."
    if (match := _ENDING.search(ending)) is None:
        return "gave no reason."
    # A shell ends with 128 and the number of the signal that ended its command.
    status = int(match[1]) - 128 * (int(match[1]) > 128 and "exit status" in match[0])
    if status == int(match[1]) and "exit status" in match[0]:
        return f"ended with exit status {status} and gave no reason."
    name = signal.Signals(status).name if status in set(signal.Signals) else f"signal {status}"
    return f"was ended by {name}{'; memory may have run out' if name == 'SIGKILL' else ''}."


def _is_walk(rule: str) -> bool:
    """Return whether a rule is the one that ends a run: it makes no file, and reports the files of others."""
    return f"_{rule}".endswith("_all")


def _log_end(log: str) -> str:
    with contextlib.suppress(OSError), Path(log).open("rb") as stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - 4096, 0))
        return stream.read().decode("utf-8", errors="replace")
    return ""


class LogHandler(LogHandlerBase):
    """Shows a run; with `--verbose`, `--debug-dag` or `--printshellcmds`, all that Snakemake says."""

    writes_to_stream = has_filter = True
    writes_to_file = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        Handler.__init__(self)  # older versions of the interface do not
        # On a full disk, Snakemake's own log cannot be written: a traceback for each of its lines would hide the rest.
        logging.raiseExceptions = False
        given = self.common_settings
        words = bool(given.verbose or given.debug_dag or given.printshellcmds)
        quiet = any(level.name in {"ALL", "RULES", "PROGRESS"} for level in given.quiet or ())
        self.has_filter, self._quiet = not words, quiet and not given.dryrun
        self._tells = not (words or quiet or given.dryrun)
        self._stream = sys.stdout if given.stdout else sys.stderr
        self._drawn = self._tells and self._stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._jobs: dict[int, Job] = {}
        self._failed: dict[int, tuple[Job, str]] = {}
        self._endings: dict[int | None, str] = {}  # by the thread that tells it, the same as tells the job
        self._errors: list[str] = []
        self._done, self._total, self._walks, self._planned, self._stopped = 0, 0, 0, False, False
        self._leaves = False
        self._began, self._over = time.monotonic(), threading.Event()

    def emit(self, record: LogRecord) -> None:
        """Show the content of a record."""
        try:
            if not self.has_filter:
                self._write(f"{self.format(record)}\n")
            elif take := getattr(self, f"_on_{getattr(record, 'event', None) or 'error'}", None):
                take(record)
        except Exception:  # noqa: BLE001 - as every handler: a record that cannot be shown stops no run
            sys.excepthook(*sys.exc_info())

    def _on_error(self, record: LogRecord) -> None:
        text, name = record.getMessage(), getattr(record, "exception", None) or "Error"
        self._endings[record.thread] = text
        if any(words in text for words in _INTERRUPTED):
            self._stopped = True
        elif text.startswith(_LEAVES):  # after SIGTERM, and told more than once
            self._show(*["Stops once the running steps have ended."] * (not self._leaves))
            self._leaves = True
        elif any(words in text for words in _FULL):
            where = f"the disk of {Path.cwd()}, or of its folder .snakemake"
            self._errors.append(f"Error: no room on {where}. Make room and run the same command again.")
        elif record.levelno >= ERROR:
            lines = [line for line in text.splitlines() if not line.lstrip().startswith('File "')]
            message = "\n".join(lines[1:] if lines[0].startswith(name) and lines[1:] else lines)
            if "Traceback (most" in message:  # an error of Python; Snakemake's log has the rest
                message = text.rstrip().splitlines()[-1]
            if message.startswith(_NO_FILE):
                message = "a rule of a study is asked for by one of its files. Name one, such as results/ID/rates.csv."
            if not any(words in text for words in _SUMMARIES):
                self._errors.append(f"Error: {message.removeprefix('Error: ')}")
        elif record.levelno >= WARNING:
            self._show(f"Warning: {text.removeprefix('Warning: ')}")
        elif text.startswith("Nothing") or not (self.common_settings.dryrun or _HIDDEN.match(text)):
            self._show(text)

    def _on_run_info(self, record: Any) -> None:
        self._planned = True
        self._walks = sum(n for rule, n in record.stats.items() if _is_walk(rule))
        self._total = record.stats["total"] - self._walks
        if self._tells:
            threading.Thread(target=self._tell, daemon=True).start()

    def _on_progress(self, record: Any) -> None:
        self._total = max(record.total - self._walks, self._done)

    def _on_job_info(self, record: Any) -> None:
        job = self._jobs[record.jobid] = read_job(vars(record))
        if self._failed.pop(record.jobid, None):
            self._show(f"{job.text}: tried again")

    def _on_job_finished(self, record: Any) -> None:
        job = self._jobs.pop(record.job_id, None)
        self._done += job is not None and not job.walks
        if job and not job.prints:
            warnings = [line for line in _log_end(job.log).splitlines() if line.startswith("Warning: ")]
            number = f"{self._done:{len(f'{self._total:,}')},} of {self._total:,}  " * bool(self._total)
            seconds = progress.duration(max(time.monotonic() - job.began, 1))
            self._show(f"{number}{job.text} ({seconds})", *warnings)

    def _on_job_error(self, record: Any) -> None:
        ending = self._endings.pop(record.thread, "")
        for info in getattr(record, "job_error_info", None) or [vars(record)]:
            job = self._jobs.pop(info["jobid"], None)
            if job and not self._stopped:
                self._failed[info["jobid"]] = job, ending
                self._show(f"{job.text}: failed")

    _on_group_error = _on_job_error

    def _show(self, *lines: str) -> None:
        self._write("".join(f"{line}\n" for line in lines if not self._quiet or line.startswith("Error: ")))

    def _write(self, text: str = "") -> None:
        """Write above the running steps, which stay below: output of a job comes in their place."""
        with contextlib.suppress(OSError):  # no one reads, or the disk is full
            self._stream.write("\x1b[J" * self._drawn + text + self._running())
            self._stream.flush()

    def _running(self) -> str:
        jobs = list(self._jobs.values())
        if not self._drawn or self._over.is_set() or not jobs or any(job.prints for job in jobs):
            return ""
        columns, rows = shutil.get_terminal_size()
        lines = [f"{read_state(job):<24}  {job.text}" for job in jobs[: max(1, min(8, rows - 4))]]
        lines.append(f"{self._done:,} of {self._total:,} jobs done, {len(jobs):,} running")
        return "".join(f"\n{line[: columns - 1]}" for line in lines) + f"\x1b[{len(lines)}F"

    def _tell(self) -> None:
        while not self._over.wait(0.5 if self._drawn else INTERVAL):
            with self.lock or contextlib.nullcontext():
                long = [job for job in self._jobs.values() if time.monotonic() - job.began >= INTERVAL]
                self._write("".join(f"{job.text}: {read_state(job)}\n" for job in long if not self._drawn))

    def close(self) -> None:
        """Say how the run ended."""
        if self.has_filter and not self._over.is_set():
            self._over.set()
            # Before and after the jobs, Snakemake leaves it to Python to say that Ctrl-C ended it.
            self._stopped |= isinstance(sys.exc_info()[1], KeyboardInterrupt)
            self._show(*self._end())
            ledger.told = self._stopped
            if self._stopped:  # what Snakemake tells of an interrupt once its log is closed is a traceback
                logging.lastResort = logging.NullHandler()
        super().close()

    def _end(self) -> list[str]:
        if self._stopped or (self._leaves and not self._failed):
            return [f"Stopped. {AGAIN}"]
        failed = [f"{job.text}: failed{job.log and f', see {job.log}'}" for job, _ in self._failed.values()]
        reasons = [_failure(*failure) for failure in self._failed.values()]
        sentences = [*filter(None, dict.fromkeys([*self._errors, *reasons]))]
        if self._failed:
            left = f"{len(failed):,} failed, {max(self._total - self._done - len(failed), 0):,} not run."
            # Where steps must be forced to run again, the same command alone would fail again.
            forced = any("--forcerun" in sentence for sentence in sentences)
            return [*failed, left if forced else f"{left} {AGAIN}", *sentences]
        if self._planned and not (sentences or self.common_settings.dryrun):
            return [f"Done: {_jobs(self._done)} in {progress.duration(time.monotonic() - self._began)}."]
        rows = [f"{job.text} ({job.reason})" for job in sorted(self._jobs.values()) if not job.prints]
        return sentences or [*rows, f"Dry run: {_jobs(len(rows) or self._total)} to do."] * self._planned
