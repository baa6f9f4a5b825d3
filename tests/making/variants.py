"""Add variants to the results of a mock study or of synthetic data: its own results beside altered ones."""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from making.analyses import gathered
from reident.ledger.stored import read_csv
from reident.linkage.intervals import interval, one_sided
from reident.pipeline.comparison import compare
from reident.pipeline.family import Compared
from reident.pipeline.steps import COMPARED

ALPHA = {"set": ["metrics.taxicab.alpha"], "values": ["0.25", "0.5", "0.75"], "combinations": None, "name": None}
PROTECTION = {
    "set": None,
    "values": None,
    "combinations": {"weak": {"binning.bins": "3"}, "strong": {"binning.bins": "9"}},
    "name": "protection",
}


def add_variants(
    folder: Path, varied: list[dict], labels: Iterable[dict[str, str]], reference: int = 0, same: tuple[str, ...] = ()
) -> Path:
    """Add the comparison of variants with these labels to the results of a study; metrics in `same` do not vary.

    `varied` is the section `variants`, and `reference` the position of the study itself among them.
    """
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    (folder / "study.json").write_text(json.dumps({**study, "variants": varied}), encoding="utf-8")
    variants = [Compared(variant=f"v{at}", labels=own, reference=at == reference) for at, own in enumerate(labels)]
    altered = {"rates": _rates} | {name: change for own in gathered("COMPARED") for name, change in own.items()}
    for name, table in COMPARED.items():
        if (folder / table.path).is_file():
            own = read_csv(folder / table.path)
            change = altered.get(name, _unchanged)
            tables = [own if at == reference else change(own, at, same) for at in range(len(variants))]
            lines = compare(table.compared, variants, tables)
            (folder / "comparison").mkdir(exist_ok=True)
            lines.to_csv(folder / "comparison" / f"{name}.csv", index=False)
    return folder


def vary(folder: Path) -> Path:
    """Add variants of α."""
    return add_variants(folder, [ALPHA], [{"alpha": alpha} for alpha in ALPHA["values"]])


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
                "suspected_rate": suspected / n if n else None,
                "confirmed_rate": confirmed / n if n else None,
                "conditional_rate": confirmed / suspected if suspected else None,
                "conditional_low": low if suspected else None,
                "conditional_high": high if suspected else None,
                "conditional_bound": None if confirmed else one_sided(suspected),
            }
        lines.append(line)
    return pd.DataFrame(lines)


def _unchanged(own: pd.DataFrame, at: int, same: tuple[str, ...]) -> pd.DataFrame:
    return own
