"""`reident.open_results`: the tables of a study that the workflow has run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from reident.api.study import valid_path
from reident.errors import InputError
from reident.ledger import stored
from reident.pipeline.steps import table_of

ENDINGS = (".csv", ".parquet")


class Results(Mapping[str, pd.DataFrame]):
    """The tables of a study by their paths in docs/DATA.md, ``results["strata/manifest.csv"]``.

    Each is read when it is asked for.

    Attributes
    ----------
    folder : pathlib.Path
    rates : pandas.DataFrame
        `rates.csv`.
    confirmed : dict of pandas.DataFrame
        `confirmed/{metric}.parquet`, by metric.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths = {
            path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if _is_table(path)
        }

    @property
    def rates(self) -> pd.DataFrame:
        """`rates.csv`."""
        return self["rates.csv"]

    @property
    def confirmed(self) -> dict[str, pd.DataFrame]:
        """`confirmed/{metric}.parquet`, by metric."""
        names = [Path(name) for name in self if name.startswith("confirmed/") and name.endswith(".parquet")]
        return {name.stem: self[name.as_posix()] for name in names if "." not in name.stem}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._paths:
            raise KeyError(f"{self.folder} has no table `{name}`")
        table = stored.read(self._paths[name])
        return table if isinstance(table, pd.DataFrame) else table.to_pandas()  # type: ignore[union-attr]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"<results of {self.folder}: {len(self):,} tables>"


def _is_table(path: Path) -> bool:
    """Return whether a step declares a file as a table with columns."""
    if path.suffix not in ENDINGS or path.name.startswith("."):
        return False
    try:
        return path.suffix == ".parquet" or bool(table_of(path).columns)
    except ValueError:
        return False


def open_results(folder: str | os.PathLike[str]) -> Results:
    """Open the results of a study that the workflow has run, as data frames.

    The tables are read as they are: `reident check` tells whether they are complete and up to date.

    Parameters
    ----------
    folder : path-like
        The folder ``results/{study}``, or that of a variant in it.

    Returns
    -------
    Results

    Examples
    --------
    >>> import reident
    >>> results = reident.open_results("results/example")  # doctest: +SKIP
    >>> results.rates.query("stratum == 'ALL'")  # doctest: +SKIP
    """
    place = valid_path("folder", folder)
    try:
        results = Results(place)
    except OSError as error:
        raise InputError(f"{place}: the folder cannot be read ({error.strerror}). Check the permissions.") from None
    if not results:
        raise InputError(
            f"{results.folder}: the folder has no results of a study. Name a folder such as `results/my-study`."
        )
    return results
