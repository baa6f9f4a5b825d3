"""The settings of a run beside its studies: config/config.yaml, and `--config` on the command line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reident.errors import InputError
from reident.study.named_files import path_problem

_ARCHIVE = ("bag", "inputs", "trust", "signers", "keep", "signoff", "key", "before", "after")
"""What the commands on a sealed study take: given on the command line alone."""

_KEYS = ("study", "studies", "pairs_per_shard", "shared_results", "threads_on_a_cluster", *_ARCHIVE)
_REMEDY = "Correct it in config/config.yaml or on the command line."


def check(config: Mapping[str, Any]) -> None:
    """Refuse unknown settings, and values that a setting must not have.

    Parameters
    ----------
    config : mapping
        Values from a file have types; values from the command line may be text.

    Raises
    ------
    InputError
        For the first unknown key, number that is not a positive integer, or value that is not a boolean.
    """
    for key in config:
        if key not in _KEYS:
            close = difflib.get_close_matches(str(key), _KEYS, n=1)
            remedy = f"Did you mean `{close[0]}`?" if close else f"Use one of {', '.join(_KEYS)}."
            raise InputError(f"config: `{key}` is not a known key. {remedy}")
    for key in ("pairs_per_shard", "threads_on_a_cluster"):
        if not re.fullmatch(r"0*[1-9](_?\d)*", str(config.get(key, 1)), re.ASCII):
            raise InputError(f"config: `{key}` must be a positive integer. {_REMEDY}")
    if str(config.get("shared_results", False)).lower() not in ("true", "false"):
        raise InputError(f"config: `shared_results` must be `true` or `false`. {_REMEDY}")


def study_files(config: Mapping[str, Any], home: Path) -> list[Path]:
    """Return the study files of a run: those of the command line, or else those of config/config.yaml.

    Parameters
    ----------
    config : mapping
    home : pathlib.Path
        The folder that the paths of config/config.yaml are relative to.

    Raises
    ------
    InputError
        If `studies` is not a list of paths, or a path contains a brace.
    """
    named, listed = config.get("study"), config.get("studies")
    if not named and any(config.get(key) for key in _ARCHIVE):
        return []  # The command is about a bag and not about a study of this folder.
    if named:
        listed = str(named).split(",")
    elif isinstance(listed, list) and all(isinstance(path, str) for path in listed):
        listed = [os.path.relpath(home / path) for path in listed]
    else:
        raise InputError(
            "config: `studies` must be a list of study files. Write a list, or name a study with `--config study=PATH`."
        )
    for path in listed:
        if (problem := path_problem(path)) is not None:
            raise InputError(f"{path} {problem}")
    return [Path(path) for path in listed]
