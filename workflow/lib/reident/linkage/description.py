"""What the report tells of the files and pairs: aggregates only, no key (METHODS §1, §2, §6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake import keys
from reident.linkage import batches
from reident.linkage.pairing import Comparison
from reident.linkage.parts import Describing, Linkage

if TYPE_CHECKING:
    from reident.linkage.batches import Source


class Description(NamedTuple):
    """Tables: linking variables; agreement by kind of pair; overlap of the metrics."""

    variables: pd.DataFrame
    agreement: pd.DataFrame
    overlap: pd.DataFrame


def describe(
    part: Describing,
    prepared: dict[str, pa.Table],
    binned: dict[str, pa.Table],
    manifest: pd.DataFrame,
    confirmed: Mapping[str, Source],
) -> Description:
    """Describe the files and the pairs of a study.

    Parameters
    ----------
    prepared : dict of pyarrow.Table
        ``puf``, ``eif``, ``iuf``.
    binned : dict of pyarrow.Table
        ``puf``, ``eif``: agreement is that of categories.
    confirmed : mapping by metric

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
    comparison = Comparison(part.linkage, binned["puf"], binned["eif"], manifest)
    truth = _Agreement(comparison)
    truth.add(*_true_pairs(part.linkage, prepared, binned))
    tables = [truth.table(part, "", "true")]
    suspected, hit = (np.zeros((prepared["puf"].num_rows, len(confirmed)), bool) for _ in range(2))
    found = {side: keys.Index(prepared[side], part.linkage.keys[side]) for side in ("puf", "eif")}
    for column, (metric, source) in enumerate(confirmed.items()):
        kinds = {"confirmed": _Agreement(comparison), "false": _Agreement(comparison)}
        for pairs in batches.of(source):
            puf, eif = (found[side].positions(pairs, part.linkage.keys[side]) for side in ("puf", "eif"))
            link = pairs["confirmed"].to_numpy()
            for kind, chosen in (("confirmed", link), ("false", ~link)):
                kinds[kind].add(puf[chosen], eif[chosen])
            suspected[puf, column] = hit[puf[link], column] = True
        tables += [own.table(part, metric, kind) for kind, own in kinds.items()]
    agreement = pd.concat(tables, ignore_index=True)
    overlap = _overlap({"suspected": suspected, "confirmed": hit}, list(confirmed))
    return Description(_variables(part, prepared, agreement), agreement, overlap)


def _true_pairs(
    linkage: Linkage, prepared: dict[str, pa.Table], binned: dict[str, pa.Table]
) -> tuple[np.ndarray, np.ndarray]:
    puf, eif = (
        keys.positions(prepared[side], linkage.keys[side], prepared["iuf"], linkage.keys[side])
        for side in ("puf", "eif")
    )
    same = pc.equal(
        binned["puf"]["stratum"].take(pa.array(puf)), binned["eif"]["stratum"].take(pa.array(eif))
    )
    inside = pc.fill_null(same, False).to_numpy()
    return puf[inside], eif[inside]


class _Agreement:
    """How many of some pairs agree, differ and lack a value on each variable; they come batch by batch."""

    def __init__(self, comparison: Comparison) -> None:
        self.codes = {side: comparison.records[side].codes for side in ("puf", "eif")}
        self.n = 0
        self.agree, self.missing = (np.zeros(self.codes["puf"].shape[1], np.int64) for _ in range(2))

    def add(self, puf: np.ndarray, eif: np.ndarray) -> None:
        """Count the pairs of these records."""
        ours, theirs = self.codes["puf"][puf], self.codes["eif"][eif]
        missing = (ours < 0) | (theirs < 0)
        self.n += len(puf)
        self.missing += missing.sum(axis=0)
        self.agree += ((ours == theirs) & ~missing).sum(axis=0)

    def table(self, part: Describing, metric: str, kind: str) -> pd.DataFrame:
        """The counts, one line per variable."""
        return pd.DataFrame(
            {
                "metric": metric,
                "pairs": kind,
                "variable": [variable.name for variable in part.linkage.variables],
                "n": self.n,
                "agree": self.agree,
                "differ": self.n - self.agree - self.missing,
                "missing": self.missing,
            }
        )


def _variables(part: Describing, prepared: dict[str, pa.Table], agreement: pd.DataFrame) -> pd.DataFrame:
    lines = []
    truth = agreement[agreement["pairs"] == "true"].set_index("variable")
    for variable, source in zip(part.linkage.variables, part.columns, strict=True):
        columns = {side: prepared[side][variable.name] for side in ("puf", "eif")}
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


def _overlap(members: dict[str, np.ndarray], metrics: list[str]) -> pd.DataFrame:
    """Records that exactly the named metrics suspect (or confirm), for every set of metrics that occurs."""
    lines = []
    for name, member in members.items():
        for chosen in _sets(metrics):
            inside = np.array([metric in chosen for metric in metrics])
            count = int((member == inside).all(axis=1).sum())
            if count:
                lines.append((name, "+".join(chosen), count))
    return pd.DataFrame(lines, columns=["set", "metrics", "n_pufids"])


def _sets(metrics: list[str]) -> Iterable[tuple[str, ...]]:
    for size in range(1, len(metrics) + 1):
        yield from combinations(metrics, size)
