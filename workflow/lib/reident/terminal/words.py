"""The sentences of a run: what a step does, why it runs, and why it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reident.ledger.progress import duration
from reident.linkage.metrics import REGISTRY
from reident.pipeline.steps import STEPS

STOPPED = "Stopped. Run the same command again to go on from here."
STOPPING = "Stopping when the running steps have ended. Press Ctrl-C to stop at once."
UP_TO_DATE = "Nothing to be done: all results are up to date."

STEP_ENDED = re.compile(r"^(?!Error|Warning)\S.* \(\d+(?: s| min|\.\d h)\)$")
"""The line on a step that has ended, see :func:`ended`."""

_REASONS = (
    ("Forced execution", "to be made again"),
    ("Params have changed", "the study or the code changed"),
    ("Missing output files", "no result yet"),
    ("Incomplete output files", "an incomplete result"),
    ("Updated input files", "an input changed"),
    ("Set of input files has changed", "other inputs than before"),
    ("Code has changed", "the workflow changed"),
    ("Software environment", "the environment changed"),
    ("Input files updated by another job", "an earlier step runs"),
)
"""What Snakemake gives as a reason, the one that says most first, in words."""

_HEADING = re.compile(r"^(?!Traceback)\w+(?: in (?:rule|file) .*)?:$")
_ORIGIN = re.compile(r'^\s*File ".*", line \d+, in ')
_ASIDE = " (if you use input functions make sure that they don't raise unexpected exceptions)"


def label(rule: str, wildcards: Mapping[str, str], n_shards: int | None = None) -> str:
    """Return what a job does.

    Parameters
    ----------
    rule : str
        A step, or another rule, whose name stands for what it does.
    wildcards : mapping
    n_shards : int, optional
        The shards of the study, as far as they are known.
    """
    text = STEPS[rule].label if rule in STEPS else rule.replace("_", " ")
    if "metric" in wildcards:
        metric = wildcards["metric"]
        text += f": {REGISTRY[metric].title if metric in REGISTRY else metric}"
    if "table" in wildcards:
        text += f": {wildcards['table'].replace('_', ' ')}"
    if "shard" in wildcards and n_shards != 1:
        number = int(wildcards["shard"])
        text += f", shard {number:,}" + (f" of {n_shards:,}" if n_shards else "")
    return text


def place(study: str, *, several: bool) -> str:
    """Return what comes before a label: the study where a run has several, and the variant.

    Parameters
    ----------
    study : str
        ``{id}`` or ``{id}/variants/{variant}``.
    several : bool
        Whether the run has several studies.
    """
    name, _, variant = study.partition("/variants/")
    parts = [*([name] if several and name else []), *([f"variant {variant}"] if variant else [])]
    return f"{', '.join(parts)}: " if parts else ""


def ended(text: str, seconds: float) -> str:
    """Return the line on a step that has ended."""
    return f"{text} ({duration(max(seconds, 1))})"


def reason(text: str) -> str:
    """Return why a job would run, in words; Snakemake's own where it is none of those that the steps can have."""
    return next((words for start, words in _REASONS if start in text), text)


def failure(text: str, log: str | None, path: str, others: list[str], ending: str) -> str:
    """Return the one sentence on a job that failed.

    Parameters
    ----------
    text : str
        What the job does.
    log : str or None
        The content of its log; None if it cannot be read.
    path : str
        Where its log is; empty if it has none.
    others : list of str
        Further logs, such as that of a cluster.
    ending : str
        What the scheduler knows of its end.
    """
    said = [line for line in (log or "").splitlines() if line.startswith("Error: ")]
    if said:
        return said[-1]
    logs = " and ".join(filter(None, [path, *others]))
    see = f"See {logs}, and run the same command again." if logs else "Run the same command again."
    if "SIGKILL" in ending:
        return (
            f"Error: {text}: the step was killed, perhaps for lack of memory. Make memory free, or use fewer cores "
            f"(`--cores 1`). {see}"
        )
    return f"Error: {text}: the step ended without a result and gave no reason. {see}"


def problem(message: str) -> str:
    """Return an error of the scheduler without its class, its origin in the code and advice to programmers."""
    lines = [line for line in message.strip().splitlines() if not _ORIGIN.match(line)]
    if len(lines) > 1 and _HEADING.match(lines[0]):
        lines = lines[1:]
    text = "\n".join(line.rstrip() for line in lines).replace(_ASIDE, "")
    return text if text.startswith("Error: ") else f"Error: {text}"
