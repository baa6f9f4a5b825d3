"""What the report tells of the files and pairs: aggregates only, no key (METHODS §1, §2, §6)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident import keys
from reident.pairing import Comparison

if TYPE_CHECKING:
    from reident.study import Study


class Description(NamedTuple):
    """Tables: linking variables; agreement by kind of pair; overlap of the metrics."""

    variables: pd.DataFrame
    agreement: pd.DataFrame
    overlap: pd.DataFrame


def describe(
    study: Study,
    prepared: dict[str, pa.Table],
    binned: dict[str, pa.Table],
    manifest: pd.DataFrame,
    confirmed: dict[str, pa.Table],
) -> Description:
    """Describe the files and the pairs of a study.

    Parameters
    ----------
    prepared : dict of pyarrow.Table
        ``puf``, ``eif``, ``iuf``.
    binned : dict of pyarrow.Table
        ``puf``, ``eif``: agreement is that of categories.
    confirmed : dict by metric

    Returns
    -------
    Description
        ``variables``: variable, type, puf_column, eif_column, puf_missing, eif_missing, puf_distinct,
        eif_distinct, common_codes (categorical), and agreement over the true links inside a stratum:
        links, links_agree, links_differ, links_missing. ``agreement``: metric, pairs (``confirmed``,
        ``false`` for suspected only, ``true`` for all true links inside a stratum, without a metric),
        variable, n, agree, differ, missing. ``overlap``: set (suspected, confirmed), metrics (joined
        by ``+``: exactly these), n_pufids.
    """
    comparison = Comparison(study, binned["puf"], binned["eif"], manifest)
    kinds = [("", "true", *_true_pairs(study, prepared, binned))]
    for metric, pairs in confirmed.items():
        places = [
            keys.positions(prepared[side], study.keys[side], pairs, study.keys[side])
            for side in ("puf", "eif")
        ]
        link = pairs["confirmed"].to_numpy()
        kinds += [
            (metric, kind, places[0][chosen], places[1][chosen])
            for kind, chosen in (("confirmed", link), ("false", ~link))
        ]
    agreement = pd.concat([_agreement(study, comparison, *kind) for kind in kinds], ignore_index=True)
    return Description(
        _variables(study, prepared, agreement), agreement, _overlap(study, prepared["puf"], confirmed)
    )


def _true_pairs(
    study: Study, prepared: dict[str, pa.Table], binned: dict[str, pa.Table]
) -> tuple[np.ndarray, np.ndarray]:
    puf, eif = (
        keys.positions(prepared[side], study.keys[side], prepared["iuf"], study.keys[side])
        for side in ("puf", "eif")
    )
    same = pc.equal(
        binned["puf"]["stratum"].take(pa.array(puf)), binned["eif"]["stratum"].take(pa.array(eif))
    )
    inside = pc.fill_null(same, False).to_numpy()
    return puf[inside], eif[inside]


def _agreement(
    study: Study, comparison: Comparison, metric: str, kind: str, puf: np.ndarray, eif: np.ndarray
) -> pd.DataFrame:
    ours, theirs = comparison.records["puf"].codes[puf], comparison.records["eif"].codes[eif]
    missing = (ours < 0) | (theirs < 0)
    agree = (ours == theirs) & ~missing
    return pd.DataFrame(
        {
            "metric": metric,
            "pairs": kind,
            "variable": [variable.name for variable in study.linking_variables],
            "n": len(puf),
            "agree": agree.sum(axis=0),
            "differ": (~agree & ~missing).sum(axis=0),
            "missing": missing.sum(axis=0),
        }
    )


def _variables(study: Study, prepared: dict[str, pa.Table], agreement: pd.DataFrame) -> pd.DataFrame:
    lines = []
    truth = agreement[agreement["pairs"] == "true"].set_index("variable")
    for variable in study.linking_variables:
        columns = {side: prepared[side][variable.name] for side in ("puf", "eif")}
        codes = {side: pc.unique(column).drop_null() for side, column in columns.items()}
        common = int(pc.sum(pc.is_in(codes["puf"], codes["eif"])).as_py() or 0)
        lines.append(
            {
                "variable": variable.name,
                "type": variable.type,
                "puf_column": variable.puf,
                "eif_column": variable.eif,
                **{f"{side}_missing": column.null_count for side, column in columns.items()},
                **{f"{side}_distinct": len(distinct) for side, distinct in codes.items()},
                "common_codes": common if variable.type == "categorical" else None,
                "links": int(truth.at[variable.name, "n"]),
                **{
                    f"links_{what}": int(truth.at[variable.name, what])
                    for what in ("agree", "differ", "missing")
                },
            }
        )
    frame = pd.DataFrame(lines)
    frame["common_codes"] = frame["common_codes"].astype("Int64")
    return frame


def _overlap(study: Study, puf: pa.Table, confirmed: dict[str, pa.Table]) -> pd.DataFrame:
    """Records that exactly the named metrics suspect (or confirm), for every set of metrics that occurs."""
    lines = []
    for name in ("suspected", "confirmed"):
        member = np.zeros((puf.num_rows, len(confirmed)), bool)
        for at, pairs in enumerate(confirmed.values()):
            chosen = pairs if name == "suspected" else pairs.filter(pairs["confirmed"])
            member[keys.positions(puf, study.keys["puf"], chosen, study.keys["puf"]), at] = True
        for metrics in _sets(list(confirmed)):
            inside = np.array([metric in metrics for metric in confirmed])
            count = int((member == inside).all(axis=1).sum())
            if count:
                lines.append((name, "+".join(metrics), count))
    return pd.DataFrame(lines, columns=["set", "metrics", "n_pufids"])


def _sets(metrics: list[str]) -> Iterable[tuple[str, ...]]:
    for size in range(1, len(metrics) + 1):
        yield from combinations(metrics, size)
