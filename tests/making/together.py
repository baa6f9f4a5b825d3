"""Add an intruder with several files to the results of a mock study: each file has a few claims of one candidate."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.report import write_verdict
from making.studies import in_strata
from reident.intake.severity import table as warnings_table
from reident.linkage.metrics import REGISTRY
from reident.linkage.parts import Joining
from reident.linkage.together import join
from reident.sections.linkage import Rates

N_PUF = 200
FILES = {"first": range(40), "second": range(30, 60)}
"""The records that each file confirms, by its label."""


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
    files = FILES if files is None else files
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    metrics = [name for name in REGISTRY if study["metrics"].get(name) is not None]
    part = Joining(tuple(files), dict.fromkeys(metrics, False), (), persons, Rates())
    known = [pa.chunked_array([pa.array(map(str, range(N_PUF)), pa.string())])] * len(files)
    pairs = [claims(confirmed, suspected) for confirmed in files.values()]
    table = join(
        part,
        [pa.table({})] * (1 + len(files)),
        in_strata(*[0] * N_PUF),
        pd.DataFrame({"stratum": ["s0001"], "n_puf": [N_PUF]}),
        dict.fromkeys(metrics, pairs),
        known if persons else (),
    )
    (folder / "together").mkdir()
    table.to_csv(folder / "together/rates.csv", index=False)
    varied = {label: {"files.eif.path": f"{label}.csv"} for label in files}
    study["variants"] = [{"name": "file", "combinations": varied, "set": None, "values": None}]
    study["together"] = "file"
    if decision is not None:
        study["decision"] = decision
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    if decision is not None:
        write_verdict(folder, prepared=warnings_table([]))
    return folder


def claims(confirmed: Sequence[int], suspected: int) -> pa.Table:
    """Return pairs of one candidate each, of the first records and those that are confirmed."""
    records = np.array(sorted({*range(suspected), *confirmed}), np.int32)
    right = np.isin(records, list(confirmed))
    return pa.table({"puf": records, "eif": records, "score": np.ones(len(records)), "confirmed": right})
