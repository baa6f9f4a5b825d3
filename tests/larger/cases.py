"""What other tests make of a larger intruder."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from making.additions import amend, metrics_of
from making.changes import Change
from making.report import Shape, write_results, write_table
from reident.larger import thinning
from reident.larger.curves import extrapolate
from reident.larger.section import LargerIntruder
from reident.larger.settings import ExtrapolationSettings
from reident.linkage.metrics import REGISTRY
from reident.pipeline.tables import TABLES

RIVALS = (120, 40, 20, 10, 8, 6, 4, 3, 2, 2)
"""Records with 0, 1, … rivals among those whose person the whole file holds."""


def write_larger(
    folder: Path, *, rivals: tuple[int, ...] = RIVALS, fixed: tuple[str, ...] = (), **options: Any
) -> Path:
    """Add a larger intruder to the results in a folder, all metrics alike; sizes change the rule of `fixed` ones."""
    section, metrics = LargerIntruder.model_validate(options), metrics_of(folder)
    limits = {name: 5 if REGISTRY[name].ranked else None for name in metrics}
    settings = ExtrapolationSettings(metrics, limits, fixed, 20, section.times, section.population, 0.95)
    if (made := (repr(settings), rivals)) not in _CURVES:
        _CURVES[made] = extrapolate(settings, {name: counts(rivals, limit=limits[name] or 1) for name in metrics})
    write_table(folder / "larger/rates.csv", _CURVES[made])
    return amend(folder, larger_intruder=section.model_dump(mode="json"))


_CURVES: dict[tuple[str, tuple[int, ...]], pd.DataFrame] = {}
"""The tables of curves, by what they are made from: many tests have the same ones."""


def counts(rivals: tuple[int, ...], n_puf: int = 3000, n_eif: int = 2000, limit: int = 5) -> pd.DataFrame:
    """Return the counts of an attack in which every record has as many candidates as rivals and links."""
    rng, lines = np.random.default_rng(1), []
    draws = ((share, at) for share, n in thinning.DRAWS.items() for at in range(1, n + 1))
    for share, draw in [(1.0, 0), *draws]:
        held = rng.binomial(rivals, share)
        for place, n in enumerate(held.tolist()):
            right = place < limit
            claim = place, place, 1, place + 1, right * (place + 1), int(right)
            lines.append((share, draw, round(share * n_eif), 1, *claim, n))
        others = n_puf - int(held.sum())
        lines += [(share, draw, round(share * n_eif), 0, 20, 0, 0, at, at, 0, others // 2) for at in (0, 1)]
        lines.append((share, draw, round(share * n_eif), 0, 20, 0, 0, 21, 0, 0, others - 2 * (others // 2)))
    table = pd.DataFrame(lines, columns=TABLES["thin"][0].names)
    return table[table["n_records"] > 0]


CHANGES: dict[str, list[Change]] = {
    "linked": [
        {"larger_intruder": {}},
        {"larger_intruder": {"times": ["2", "3"]}},
        {"larger_intruder": {"population": "500"}},
        {"larger_intruder": {"seed": "7"}},
    ]
}


FIGURES = {"larger": lambda folder: write_larger(write_results(folder, Shape()), population=26_000)}
CELLS = ["larger"]
HOUSEHOLDS: Change = {"larger_intruder": {}}
ATTACKED_AGAIN = {
    "step": "thin",
    "sections": {"larger_intruder": {"seed": "1"}},
    "for_changes_of": {"what scoring keeps", "the rank limit", "the number of bins", "α"},
    "for_options": {"larger_intruder": {"seed": "2"}},
}
