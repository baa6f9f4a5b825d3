"""What other tests make of an intruder with several files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.additions import amend, metrics_of
from making.changes import Change
from making.report import Shape, write_results, write_table, write_verdict
from making.studies import in_strata
from reident.intake.severity import table as warnings_table
from reident.linkage.settings import JoiningSettings
from reident.sections.linkage import Rates
from reident.together.join import join

N_PUF = 200
FILES = {"first": range(40), "second": range(30, 60)}
"""The records that each of several files confirms, by its label."""


def write_together(
    folder: Path,
    files: dict[str, Sequence[int]] | None = None,
    *,
    suspected: int = 100,
    persons: bool = False,
    decision: dict[str, Any] | None = None,
) -> Path:
    """Add an intruder with several files to the results in a folder, all metrics alike.

    Each file suspects so many of the :data:`N_PUF` records; candidates that are not confirmed are other people. With
    `persons`, the first candidates of all files are the same people.
    """
    files, metrics = FILES if files is None else files, metrics_of(folder)
    settings = JoiningSettings(tuple(files), dict.fromkeys(metrics, False), (), persons, Rates())
    names = [pa.chunked_array([pa.array(map(str, range(N_PUF)), pa.string())])] * len(files)
    pairs = [claims(confirmed, suspected) for confirmed in files.values()]
    table = join(
        settings,
        [pa.table({})] * (1 + len(files)),
        in_strata(*[0] * N_PUF),
        pd.DataFrame({"stratum": ["s0001"], "n_puf": [N_PUF]}),
        dict.fromkeys(metrics, pairs),
        names if persons else (),
    )
    write_table(folder / "together/rates.csv", table)
    varied = {label: {"files.eif.path": f"{label}.csv"} for label in files}
    amend(folder, together="file", variants=[{"name": "file", "combinations": varied, "set": None, "values": None}])
    if decision is not None:
        amend(folder, decision=decision)
        write_verdict(folder, attack=warnings_table([]))
    return folder


def claims(confirmed: Sequence[int], suspected: int) -> pa.Table:
    """Return pairs of one candidate each, of the first records and those that are confirmed."""
    records = np.array(sorted({*range(suspected), *confirmed}), np.int32)
    right = np.isin(records, list(confirmed))
    return pa.table({"puf": records, "eif": records, "score": np.ones(len(records)), "confirmed": right})


TWO_FILES = [
    {
        "name": "file",
        "combinations": {
            "csv": {},
            "text": {"files.eif.path": "eif.txt", "files.eif.delimiter": ";", "files.eif.decimal": ","},
        },
    }
]
CHANGES: dict[str, list[Change]] = {
    "varied": [
        {"variants": TWO_FILES, "together": "file"},
        {"variants": TWO_FILES, "together": "file", "files.eif.person": "weight"},
        {"variants": TWO_FILES, "together": "file", "decision": {"together_confirmed_rate_at_most": "0.1"}},
        {"variants": TWO_FILES, "together": "file", "decision": {"together_best_rank_correct_rate_at_most": "0.1"}},
    ]
}


FIGURES = {"together": lambda folder: write_together(write_results(folder, Shape()))}
CELLS = ["together"]
