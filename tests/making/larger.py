"""Add a larger intruder to the results of a mock study: rates that follow from made-up rivals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reident.larger import thinning
from reident.larger.curves import extrapolate
from reident.larger.parts import Extrapolating
from reident.linkage.metrics import REGISTRY
from reident.sections.larger import LargerIntruder

RIVALS = (120, 40, 20, 10, 8, 6, 4, 3, 2, 2)
"""Records with 0, 1, … rivals among those whose person the whole file holds."""


def write_larger(
    folder: Path, *, rivals: tuple[int, ...] = RIVALS, fixed: tuple[str, ...] = (), **options: Any
) -> Path:
    """Add a larger intruder to the results in a folder, all metrics alike; sizes change the rule of `fixed` ones."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    section = LargerIntruder.model_validate(options)
    metrics = tuple(name for name in REGISTRY if study["metrics"].get(name) is not None)
    part = Extrapolating(
        metrics,
        {name: 5 if REGISTRY[name].ranked else None for name in metrics},
        fixed,
        20,
        section.times,
        section.population,
        0.95,
    )
    table = extrapolate(part, {name: counts(rivals, limit=part.limits[name] or 1) for name in metrics})
    (folder / "larger").mkdir()
    table.to_csv(folder / "larger/rates.csv", index=False)
    study["larger_intruder"] = section.model_dump(mode="json")
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    return folder


def counts(rivals: tuple[int, ...], n_puf: int = 3000, n_eif: int = 2000, limit: int = 5) -> pd.DataFrame:
    """Return the counts of an attack in which every record has as many candidates as rivals and links."""
    rng, lines = np.random.default_rng(1), []
    for share, draw in [
        (1.0, 0),
        *((share, at) for share, n in thinning.DRAWS.items() for at in range(1, n + 1)),
    ]:
        held = rng.binomial(rivals, share)
        for own, n in enumerate(held.tolist()):
            found = own < limit
            lines.append(
                (share, draw, round(share * n_eif), 1, own, own, 1, own + 1, found * (own + 1), int(found), n)
            )
        rest = n_puf - int(held.sum())
        lines += [(share, draw, round(share * n_eif), 0, 20, 0, 0, at, at, 0, rest // 2) for at in (0, 1)]
        lines.append((share, draw, round(share * n_eif), 0, 20, 0, 0, 21, 0, 0, rest - 2 * (rest // 2)))
    table = pd.DataFrame(lines, columns=thinning.COLUMNS)
    return table[table["n_records"] > 0]
