"""Why a step runs, from Snakemake's words: which settings of the study changed, the code, or which file."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHANGED = "Params have changed since last execution"
"""What Snakemake says of changed parameters, before their values."""

_VALUES = re.compile(rf"{CHANGED}: .*? before: (.*) now: (.*?) ?(?=; [A-Z]|$)", re.DOTALL)
_MAX_NAMES = 3


def read_reason(text: str, outputs: list[str]) -> str:
    """Return why a job runs, from Snakemake's words, without the paths of files and without values.

    What the parameters of the job were is known from the entry of the ledger among its ``outputs``.
    """
    values = _VALUES.search(text)
    words = _changes(_literals(values[1]), _literals(values[2]), outputs) if values else []
    without_values = _VALUES.sub(CHANGED, text)
    return re.sub(": [^;]*", "", without_values).replace(CHANGED, ", ".join(words) or CHANGED)


def _literals(text: str) -> list[Any]:
    """Return the values of parameters."""
    with contextlib.suppress(ValueError, SyntaxError):
        return list(ast.literal_eval(f"({text},)"))
    return []


def _changes(before: list[Any], now: list[Any], outputs: list[str]) -> list[str]:
    """Return the changes: of settings, the code, files."""
    old_settings, new_settings = (
        [value for value in values if isinstance(value, str) and value.startswith("{")] for values in (before, now)
    )
    words = _changed_settings(old_settings[0], new_settings[0]) if old_settings and new_settings else []
    with contextlib.suppress(Exception):  # no entry, or one of another version
        entry = json.loads(Path(next(path for path in outputs if "/ledger/" in path)).read_text("utf-8"))
        names = {entry["library_digest"]: "the code changed"}
        for line in (line for lines in entry["inputs"].values() for line in lines):
            names[line["sha256"]] = f"{line['path'].replace(':', '/').rpartition('/')[2]} changed"
        old, new = ([*_flat(values)] for values in (before, now))
        words += [name for digest, name in names.items() if digest in old and digest not in new]
    return list(dict.fromkeys(words))


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        yield from _flat(value) if isinstance(value, list | tuple) else [value]


def _changed_settings(before: str, now: str) -> list[str]:
    """Return a sentence on the settings that differ, see :func:`.canonical.setting_digests`."""
    old, new = json.loads(before), json.loads(now)
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return [f"{', '.join(f'`{name}`' for name in names[:_MAX_NAMES])}{more} changed in the study file"]
