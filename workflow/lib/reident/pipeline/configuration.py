"""The settings of a run beside its studies, as config/config.yaml, the command line or another workflow give them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reident.errors import InputError
from reident.study.named_files import path_problem, shown_path
from reident.study.settings import BUNDLED, SETTINGS, check

CONFIG = Path("config", "config.yaml")
"""The file with the settings: in the working directory, or else in the checkout."""


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run, complete: the given ones, and its study files."""

    config: Mapping[str, Any]
    study_files: list[Path]

    def _value(self, key: str) -> Any:
        return self.config.get(key, SETTINGS[key].default)

    @property
    def shards(self) -> int:
        """The number of scoring jobs of a metric."""
        return int(self._value("shards"))

    @property
    def threads_on_a_cluster(self) -> int:
        """The processors of a long job on a cluster."""
        return int(self._value("threads_on_a_cluster"))

    @property
    def shared_results(self) -> bool:
        """Whether others may read the results."""
        return str(self._value("shared_results")).lower() == "true"


def file(home: Path) -> str:
    """Return the configuration file: that of the working directory, or else the one in the checkout."""
    return str(CONFIG if CONFIG.is_file() else home / CONFIG)


def read(config: Mapping[str, Any], home: Path) -> RunSettings:
    """Return the settings of a run, from the configuration as Snakemake composed it.

    Raises
    ------
    InputError
        As :func:`reident.study.settings.check` and :func:`study_files`.
    """
    check(config)
    bundled = not CONFIG.is_file() and config.get("studies") == BUNDLED["studies"]
    return RunSettings(config, study_files(config, home if bundled else Path()))


def named_studies(named: list[str], home: Path) -> list[Path]:
    """Return the study files that a command names, or else those of the configuration file.

    Raises
    ------
    InputError
        As :func:`study_files`, and for a configuration file that cannot be read.
    """
    if named:
        return study_files({"study": [path for text in named for path in _split(text)]}, Path())
    path = Path(file(home))
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path}: the file cannot be read ({type(error).__name__}). Correct it.") from None
    if not isinstance(config, dict):
        raise InputError(f"{path}: the file must be a mapping of settings. Correct it.")
    check(config)
    return study_files(config, Path() if path == CONFIG else home)


def study_files(config: Mapping[str, Any], base: Path) -> list[Path]:
    """Return the study files of a run: those of the command line, or else those of config/config.yaml.

    The paths of `studies` are relative to a folder, those of `study` to the working directory.

    Raises
    ------
    InputError
        If `studies` is not a list of paths, or a path is not valid.
    """
    named, listed = config.get("study"), config.get("studies")
    if isinstance(named, list) and named:
        listed = [str(path) for path in named]
    elif named:
        listed = _split(str(named))
    elif isinstance(listed, list) and all(isinstance(path, str) for path in listed):
        listed = [path if base == Path() else os.path.relpath(base / path) for path in listed]
    else:
        raise InputError(
            "config: `studies` must be a list of study files. Write a list, or name a study with `--config study=PATH`."
        )
    for path in listed:
        if (problem := path_problem(path)) is not None:
            raise InputError(f"{shown_path(path)} {problem}")
    return [Path(path) for path in listed]


def _split(text: str) -> list[str]:
    """Return the paths of a text with commas between them; a comma in the path of an existing file divides nothing."""
    parts, paths = text.split(","), []
    while parts:
        ends = (end for end in range(len(parts), 0, -1) if os.path.isfile(",".join(parts[:end])))  # noqa: PTH113 - a name may be too long
        end = next(ends, 0)
        paths.append(",".join(parts[:end]) if end else parts[0].strip())
        parts = parts[max(end, 1) :]
    return paths
