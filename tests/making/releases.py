"""Makes releases to be compared: the results of mock studies, with a ledger of every table that they have."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from making.report import Shape, write_entry, write_results
from reident.archive.releases import Release, complete
from reident.linkage.intervals import interval
from reident.linkage.settings import WHOLE
from reident.pipeline import steps

SIDES = {"puf": "prepare", "eif": "prepare", "iuf": "prepare", "confidential": "prepare_matching"}
"""The sources of a study, with the step that reads each."""

DEFAULT = Shape()

Counts = Mapping[str, tuple[int, int, int]]
"""Released, suspected and confirmed records by metric."""


def release(
    folder: Path,
    shape: Shape = DEFAULT,
    *,
    name: str = "mock",
    counts: Counts | None = None,
    strata: Mapping[str, Counts] | None = None,
    files: Mapping[str, str] | None = None,
    study: Mapping[str, Any] | None = None,
    entries: Mapping[str, Mapping[str, Any]] | None = None,
    notes: tuple[str, ...] = (),
) -> Release:
    """Write a release into a folder and return it.

    Rates of the whole study (`counts`) and of strata by id, keys of the study, and fields of ledger entries by rule
    take the place of those of the mock study; `files` has the first letters of the digests of source files, by side.
    """
    write_results(folder, shape)
    for file in (folder / "ledger").glob("*.json"):
        file.unlink()
    resolved = {**json.loads((folder / "study.json").read_text(encoding="utf-8")), **(study or {})}
    (folder / "study.json").write_text(json.dumps(resolved), encoding="utf-8")
    given = {WHOLE: counts or {}, **(strata or {})}
    _count(folder / "rates.csv", given)
    return of_folder(folder, name=name, files=files, entries=entries, notes=notes)


def of_folder(
    folder: Path,
    *,
    name: str = "mock",
    files: Mapping[str, str] | None = None,
    entries: Mapping[str, Mapping[str, Any]] | None = None,
    notes: tuple[str, ...] = (),
) -> Release:
    """Return the release in a folder of results, with a ledger of every table that is there."""
    for step in steps.STEPS.values():
        outputs = {table.output: table.path for table in step.tables if (folder / table.path).is_file()}
        if outputs:
            read = {side: f"source:{side}.csv" for side, rule in SIDES.items() if rule == step.rule}
            digests = {side: (files or {}).get(side, "a").ljust(64, "0") for side in read}
            write_entry(
                folder,
                {
                    "step": step.rule,
                    "inputs": {side: [_line(path, digests[side])] for side, path in read.items()},
                    "outputs": {output: _line(path, "0" * 64) for output, path in outputs.items()},
                    "versions": {"numpy": "2.4.6"},
                    **(entries or {}).get(step.rule, {}),
                },
            )
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    return Release(name, complete(study), folder, folder, notes)


def _line(path: str, digest: str) -> dict[str, Any]:
    return {"path": path, "sha256": digest, "size": 1000}


def _count(path: Path, given: Mapping[str, Counts]) -> None:
    """Set the counts of lines of the rates, and what follows from them."""
    rates = pd.read_csv(path)
    for stratum, counts in given.items():
        for metric, (n_puf, suspected, confirmed) in counts.items():
            at = (rates["stratum"] == stratum) & (rates["metric"] == metric)
            assert at.sum() == 1, (stratum, metric)
            low, high = interval(confirmed, suspected)
            values = {
                "n_puf": n_puf, "n_suspected": suspected, "n_confirmed": confirmed,
                "suspected_rate": suspected / n_puf, "confirmed_rate": confirmed / n_puf,
                "conditional_rate": confirmed / suspected if suspected else None,
                "conditional_low": low, "conditional_high": high,
            }  # fmt: skip
            for name, value in values.items():
                rates.loc[at, name] = value
    rates.to_csv(path, index=False)
