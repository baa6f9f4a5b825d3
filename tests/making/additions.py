"""Add to the results of a mock study: sections, and the surest claims."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from making.report import write_table, write_verdict
from reident.intake.severity import table as warnings_table
from reident.ledger.stored import read_csv
from reident.linkage import surest
from reident.linkage.metrics import REGISTRY


def study_of(folder: Path) -> dict[str, Any]:
    """Return the study of a folder of results."""
    return json.loads((folder / "study.json").read_text(encoding="utf-8"))


def amend(folder: Path, **sections: Any) -> Path:
    """Give the study of a folder of results other sections."""
    (folder / "study.json").write_text(json.dumps(study_of(folder) | sections), encoding="utf-8")
    return folder


def metrics_of(folder: Path) -> tuple[str, ...]:
    """Return the metrics of a study, in their order."""
    metrics = study_of(folder)["metrics"]
    return tuple(name for name in REGISTRY if metrics.get(name) is not None)


def write_surest(
    folder: Path, ordered: dict[str, tuple[tuple[int, float], ...]], *, limit: tuple[float, int] | None = None
) -> Path:
    """Give the metrics in a folder of results these right claims, as (claims, right ones) up to each certainty."""
    tables = {metric: claims_of(lines) for metric, lines in ordered.items()}
    summary = surest.summarize(tables, limit and limit[0])
    write_table(folder / "surest/summary.csv", summary)
    attacks = pd.read_csv(folder / "attacks.csv", dtype={"detail": str})
    own = ["n_right", "n_at_95_percent", "n_at_limit", *(f"right_of_{n}" for n in surest.NUMBERS)]
    attacks[own] = [0.0, 0, 0, *[np.nan] * len(surest.NUMBERS)]
    agreement = attacks.head(1).assign(kind="agreement", metric="agreement", detail="2")
    attacks = pd.concat([attacks, agreement if "agreement" in ordered else agreement.head(0)], ignore_index=True)
    for line in summary.to_dict("records"):
        same = (attacks["metric"] == line["metric"]) & attacks["kind"].isin(["declared", "agreement"])
        attacks.loc[same, own] = [line[name] for name in own]
    write_table(folder / "attacks.csv", attacks)
    write_table(folder / "surest/curve.csv", surest.curves(tables))
    if limit is not None:
        amend(folder, decision={"surest": {"right": limit[0], "at_most": limit[1]}})
        attacks = read_csv(folder / "attacks.csv")
        write_table(folder / "attacks.csv", attacks[attacks["kind"].isin(["declared", "agreement", "any"])])
        write_verdict(folder, attack=warnings_table([]))
    return folder


def claims_of(lines: Sequence[tuple[int, float]]) -> pd.DataFrame:
    """Return the lines of `surest/{metric}.csv` without scores and intervals."""
    table = pd.DataFrame(lines, columns=["n_claims", "n_right"]).astype({"n_claims": int, "n_right": float})
    return table.assign(right_rate=table["n_right"] / table["n_claims"], low=np.nan, high=np.nan)
