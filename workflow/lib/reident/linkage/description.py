"""Aggregates for the report on files and pairs; they hold no key (METHODS §1, §2, §6)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage import batches
from reident.linkage.pairing import coded
from reident.linkage.settings import DescriptionSettings, Variable
from reident.linkage.strata import links_inside, stratum_of_records
from reident.linkage.unit_pairing import profile_codes

if TYPE_CHECKING:
    from reident.linkage.batches import Source


class Description(NamedTuple):
    """Tables: linking variables; agreement by kind of pair; overlap of the metrics."""

    variables: pd.DataFrame
    agreement: pd.DataFrame
    overlap: pd.DataFrame


def describe(
    settings: DescriptionSettings,
    prepared: Mapping[str, Source],
    binned: Mapping[str, Source],
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    pairs: Mapping[str, Source],
) -> Description:
    """Describe the files and the pairs of a study.

    Agreement is that of the binned tables. Of files, memory holds a column at a time and the codes of the binned ones.

    Returns
    -------
    Description
        With the columns that `columns.csv` declares.
    """
    codes = _codes(settings.variables, binned)
    links = iuf.filter(
        pa.array(links_inside(iuf, stratum_of_records(strata["puf"]), stratum_of_records(strata["eif"])))
    )
    tables = [_table(settings, "", "true", _compared(codes, links))]
    suspected, confirmed = (np.zeros((codes["puf"].shape[1], len(pairs)), bool) for _ in range(2))
    for column, (metric, source) in enumerate(pairs.items()):
        counts = np.zeros((2, 3, len(settings.variables)), np.int64)
        for batch in batches.split(source, columns=["puf", "eif", "confirmed"]):
            true = batch.filter(batch["confirmed"])
            false = batch.filter(pc.invert(batch["confirmed"]))
            counts += [_compared(codes, true), _compared(codes, false)]
            suspected[batch["puf"].to_numpy(), column] = confirmed[true["puf"].to_numpy(), column] = True
        kinds = zip(("confirmed", "false"), counts, strict=True)
        tables += [_table(settings, metric, kind, kind_counts) for kind, kind_counts in kinds]
    agreement = pd.concat(tables, ignore_index=True)
    overlap = _overlap({"suspected": suspected, "confirmed": confirmed}, list(pairs))
    return Description(_variables(settings, prepared, agreement), agreement, overlap)


def _codes(variables: tuple[Variable, ...], binned: Mapping[str, Source]) -> dict[str, np.ndarray]:
    """Return the codes of the binned records, equal across the files, -1 for missing; int16 or int32 (v, n)."""
    codes: dict[str, np.ndarray] = {}
    for at, variable in enumerate(variables):
        values = [batches.column(binned[side], variable.name) for side in ("puf", "eif")]
        columns, _ = profile_codes(values) if batches.is_of_members(values[0]) else coded(values)
        for side, column in zip(("puf", "eif"), columns, strict=True):
            if at == 0:
                codes[side] = np.full((len(variables), len(column)), -1, np.int16)
            if column.max(initial=-1) > np.iinfo(codes[side].dtype).max:
                codes[side] = codes[side].astype(np.int32)
            codes[side][at] = column
    return codes


def _compared(codes: dict[str, np.ndarray], pairs: pa.Table) -> np.ndarray:
    """Return the number of pairs that agree, differ and lack a value on each variable; int64 (3, v)."""
    rows, counts = [pairs[side].to_numpy() for side in codes], []
    for columns in zip(*codes.values(), strict=True):
        puf, eif = (column.take(row) for column, row in zip(columns, rows, strict=True))
        agree, missing = np.count_nonzero((puf == eif) & (puf >= 0)), np.count_nonzero((puf < 0) | (eif < 0))
        counts.append((agree, len(pairs) - agree - missing, missing))
    return np.array(counts, np.int64).T


def _table(settings: DescriptionSettings, metric: str, kind: str, counts: np.ndarray) -> pd.DataFrame:
    """Return the counts of one kind of pairs, one line per variable."""
    agree, differ, missing = counts
    return pd.DataFrame(
        {
            "metric": metric,
            "pairs": kind,
            "variable": [variable.name for variable in settings.variables],
            "n": counts.sum(axis=0),
            "agree": agree,
            "differ": differ,
            "missing": missing,
        }
    )


def _variables(settings: DescriptionSettings, prepared: Mapping[str, Source], agreement: pd.DataFrame) -> pd.DataFrame:
    lines = []
    truth = agreement[agreement["pairs"] == "true"].set_index("variable")
    for variable, source in zip(settings.variables, settings.columns, strict=True):
        columns = {side: batches.values_of(batches.column(prepared[side], variable.name)) for side in ("puf", "eif")}
        codes = {side: pc.unique(column).drop_null() for side, column in columns.items()}
        common = int(pc.sum(pc.is_in(codes["puf"], codes["eif"])).as_py() or 0)
        lines.append(
            {
                "variable": variable.name,
                "type": variable.type,
                "puf_column": source[0],
                "eif_column": source[1],
                **{f"{side}_missing": column.null_count for side, column in columns.items()},
                **{f"{side}_distinct": len(distinct) for side, distinct in codes.items()},
                "common_codes": None if variable.is_numeric else common,
                "links": int(truth.at[variable.name, "n"]),
                **{f"links_{what}": int(truth.at[variable.name, what]) for what in ("agree", "differ", "missing")},
            }
        )
    frame = pd.DataFrame(lines)
    frame["common_codes"] = frame["common_codes"].astype("Int64")
    return frame


def _overlap(members: dict[str, np.ndarray], metrics: list[str]) -> pd.DataFrame:
    """Count the records that exactly the named metrics suspect (or confirm), for every set of metrics that occurs."""
    lines = []
    for name, member in members.items():
        for chosen in chain.from_iterable(combinations(metrics, n) for n in range(1, len(metrics) + 1)):
            inside = np.array([metric in chosen for metric in metrics])
            count = int((member == inside).all(axis=1).sum())
            if count:
                lines.append((name, "+".join(chosen), count))
    return pd.DataFrame(lines, columns=["set", "metrics", "n_pufids"])
