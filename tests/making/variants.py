"""Add variants to the results of a mock study or of synthetic data: its own results beside altered ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from reident.linkage.rates import interval
from reident.pipeline import comparison

ALPHA = {
    "set": ["metrics.taxicab.alpha"],
    "values": ["0.25", "0.5", "0.75"],
    "combinations": None,
    "name": None,
}
PROTECTION = {
    "set": None,
    "values": None,
    "combinations": {"weak": {"binning.bins": "3"}, "strong": {"binning.bins": "9"}},
    "name": "protection",
}


def add_variants(
    folder: Path,
    varied: list[dict],
    labels: Iterable[dict[str, str]],
    reference: int = 0,
    same: tuple[str, ...] = (),
) -> Path:
    """Add the comparison of variants with these labels to the results of a study.

    Parameters
    ----------
    folder : Path
        Results as ``write_results`` or ``write_matching`` write them.
    varied : list of dict
        The section `variants`.
    labels : iterable of dict
        The labels of each variant.
    reference : int
        The position of the study itself among the variants.
    same : tuple of str
        Metrics whose results are the same in every variant.
    """
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    (folder / "study.json").write_text(json.dumps({**study, "variants": varied}), encoding="utf-8")
    members = [
        SimpleNamespace(variant=f"v{at}", labels=own, place="" if at == reference else f"variants/v{at}")
        for at, own in enumerate(labels)
    ]
    for name, table in comparison.TABLES.items():
        if (folder / table.path).is_file():
            own = pd.read_csv(folder / table.path, dtype=str, keep_default_na=False)
            change = {"rates": _rates, "matching": _matching}.get(name, _unchanged)
            tables = [own if at == reference else change(own, at, same) for at in range(len(members))]
            made = comparison.compare(name, members, tables)
            (folder / "comparison").mkdir(exist_ok=True)
            made.to_csv(folder / "comparison" / f"{name}.csv", index=False)
    return folder


def _rates(rates: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    """Return the rates of another study, with fewer suspected and even fewer confirmed records."""
    lines = []
    for line in rates.to_dict("records"):
        if line["metric"] not in same:
            n, suspected = int(line["n_puf"]), int(line["n_suspected"]) * 10 // (10 + at)
            confirmed = int(line["n_confirmed"]) * 10 // (10 + 3 * at)
            low, high = interval(confirmed, suspected)
            line |= {
                "n_suspected": suspected,
                "n_confirmed": confirmed,
                "suspected_rate": suspected / n if n else "",
                "confirmed_rate": confirmed / n if n else "",
                "conditional_rate": confirmed / suspected if suspected else "",
                "conditional_low": low if suspected else "",
                "conditional_high": high if suspected else "",
            }
        lines.append(line)
    return pd.DataFrame(lines).astype(str)


def _matching(summary: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    made = summary.copy()
    for column in ("expected_match_risk", "true_match_rate"):
        made[column] = [str(float(value) / (1 + at)) for value in made[column]]
    return made


def _unchanged(own: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    return own
