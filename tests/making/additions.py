"""Add to the results of a mock study: a larger intruder, several files, utility, and what carries confirmed claims."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from making.report import write_table, write_verdict
from making.studies import in_strata
from reident.intake.severity import table as warnings_table
from reident.larger import thinning
from reident.larger.curves import extrapolate
from reident.larger.section import LargerIntruder
from reident.larger.settings import ExtrapolationSettings
from reident.ledger.stored import read_csv
from reident.linkage import surest
from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import JoiningSettings, Variable
from reident.pipeline.tables import TABLES
from reident.sections.linkage import Rates
from reident.together.join import join
from reident.utility.measure import Measured, measure
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings

RIVALS = (120, 40, 20, 10, 8, 6, 4, 3, 2, 2)
"""Records with 0, 1, … rivals among those whose person the whole file holds."""

N_PUF = 200
FILES = {"first": range(40), "second": range(30, 60)}
"""The records that each of several files confirms, by its label."""


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


def claims(confirmed: Sequence[int], suspected: int) -> pa.Table:
    """Return pairs of one candidate each, of the first records and those that are confirmed."""
    records = np.array(sorted({*range(suspected), *confirmed}), np.int32)
    right = np.isin(records, list(confirmed))
    return pa.table({"puf": records, "eif": records, "score": np.ones(len(records)), "confirmed": right})


def write_utility(folder: Path, *, changed: float = 0.3, **options: Any) -> Path:
    """Add utility to the results of a study with a file before protection, which changes a share of the values."""
    study, utility = study_of(folder), Utility.model_validate(options)
    strata = [Variable(one["name"], "categorical") for one in study["strata"]]
    linking = [Variable(one["name"], one["type"]) for one in study["linking_variables"]]
    (folder / "utility").mkdir()
    for name, table in measured((*strata, *linking), utility, changed)._asdict().items():
        table.to_csv(folder / f"utility/{name}.csv", index=False)
    return amend(folder, utility=utility.model_dump(mode="json"))


def measured(variables: tuple[Variable, ...], utility: Utility, changed: float, n: int = 80) -> Measured:
    """Measure made-up records of these variables, of whose values a share is drawn anew."""
    rng = np.random.default_rng(4)
    files: dict[str, dict[str, Any]] = {side: {"pufid": [f"{at:02d}" for at in range(n)]} for side in "or"}
    for variable in variables:
        values = [rng.integers(0, 60 if variable.type == "numeric" else 3, n) for _ in range(2)]
        released = np.where(rng.random(n) < changed, values[1], values[0])
        for side, column in (("o", values[0]), ("r", released)):
            typed = column.astype(float) if variable.type == "numeric" else column.astype(str)
            files[side][variable.name] = pa.array(typed, mask=column == 0)
    return measure(UtilitySettings(("pufid",), variables, 5, None, 0.95, utility), *map(pa.table, files.values()))


def write_why(
    folder: Path, prevented: Sequence[int] = (30, 12, 0), n_confirmed: int = 40, new: Sequence[int] = (4, 13, 0)
) -> Path:
    """Add tables to the results in a folder: each change of the first variable prevents as many records as given.

    Those of each further variable prevent one record fewer; all confirm as many other records as given.
    """
    n, titles, recodings, variables = n_confirmed, ("left out", "width 10", "top 85"), [], []
    for at, variable in enumerate(study_of(folder)["linking_variables"]):
        lost = [max(count - at, 0) for count in prevented]
        for title, less, more in zip(titles, lost, new, strict=True):
            recodings.append((variable["name"], title, n, less, less / n if n else None, more, more - less))
        sets = (n // 4, 1 / (at + 2)) if n else (0, None)
        variables.append((variable["name"], n, lost[0], lost[0] / n if n else None, n, n // 2, *sets))
    (folder / "why").mkdir()
    for metric in metrics_of(folder):
        for table, rows in zip(TABLES["explain"][1:], (recodings, variables), strict=True):
            path = folder / "why" / f"{metric}.{table.output}.csv"
            pd.DataFrame(rows, columns=table.names).to_csv(path, index=False)
    return amend(folder, why={"recodings": None, "max_size": 4})
