"""What a run is told beside its studies: config/config.yaml, and `--config` in the command line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reident.errors import InputError

_KEYS = ("study", "studies", "pairs_per_shard", "shared_results", "threads_on_a_cluster")
_BRACES = re.compile(r"[{}]")


def check(config: Mapping[str, Any]) -> None:
    """See that a run's settings are known and can be meant.

    Parameters
    ----------
    config : mapping
        From a file values have types; from the command line they may be text.

    Raises
    ------
    InputError
        For the first key that nobody knows, a number that is none or below 1, a truth value that is none.
    """
    for key in config:
        if key not in _KEYS:
            close = difflib.get_close_matches(str(key), _KEYS, n=1)
            remedy = f"did you mean `{close[0]}`?" if close else f"give one of {', '.join(_KEYS)}."
            raise InputError(f"config: `{key}` is unknown; {remedy}")
    for key in ("pairs_per_shard", "threads_on_a_cluster"):
        if not re.fullmatch(r"0*[1-9](_?\d)*", str(config.get(key, 1)), re.ASCII):
            raise InputError(f"config: `{key}` is no whole number of at least 1; correct it.")
    if str(config.get("shared_results", False)).lower() not in ("true", "false"):
        raise InputError("config: `shared_results` is neither true nor false; correct it.")


def study_files(config: Mapping[str, Any], home: Path) -> list[Path]:
    """The study files of a run: named in the command line, or else those of config/config.yaml below `home`.

    Raises
    ------
    InputError
        No list of study files, or a path that the workflow cannot name.
    """
    named, listed = config.get("study"), config.get("studies")
    if named:
        listed = str(named).split(",")
    elif isinstance(listed, list) and all(isinstance(path, str) for path in listed):
        listed = [os.path.relpath(home / path) for path in listed]
    else:
        raise InputError(
            "config: `studies` is no list of study files; write one, or name a study by `--config study=PATH`."
        )
    for path in listed:
        if _BRACES.search(path):
            raise InputError(
                f"{path}: a path with a brace stands for several files in a workflow; rename the folder or the file."
            )
    return [Path(path) for path in listed]
