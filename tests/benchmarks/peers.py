"""General tools on the same files: ``python peers.py PEER WORK FILE``, in an environment of their own.

Every peer answers the same question as ours: the pairs below the threshold, and of each PUF record
the ranks with at most KEEP pairs. Comparing is the tool's; the rank rule on what it leaves is numpy's.
Pairs are compared in blocks of PUF records wherever the tool lets one, as a user short of memory would.
What goes block by block, or set by set, writes how much of it is done, a fraction, to its standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from work import BANDS, NEIGHBOURS, WORKS, Work, answer, limit, rank_rule

BLOCK_PAIRS = 20_000_000


def told(parts: Sequence) -> Iterator:
    """Yield the parts of a work of equal size, and tell how many of them are done."""
    for at, part in enumerate(parts, start=1):
        yield part
        print(at / len(parts), file=sys.stderr, flush=True)


def blocks(n_puf: int, n_eif: int) -> Iterator[slice]:
    """Blocks of PUF records with some twenty million pairs."""
    size = max(BLOCK_PAIRS // n_eif, 1)
    return told([slice(start, start + size) for start in range(0, n_puf, size)])


def frames(data: dict[str, np.ndarray]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The categorical files as nullable data frames with the record number ``i``."""
    out = []
    for side in ("puf", "eif"):
        codes = data[f"{side}_codes"]
        frame = pd.DataFrame(codes, columns=[f"c{at}" for at in range(codes.shape[1])]).astype("Int32")
        out.append(frame.mask(frame < 0).assign(i=np.arange(len(frame))))
    return out[0], out[1]


def finish(work: Work, found: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """The rank rule over all blocks, and the answer."""
    puf, eif, level = (np.concatenate(parts).astype(np.int64) for parts in zip(*found, strict=True))
    answer(work, *rank_rule(puf, eif, level))


def euclidean_levels(data: dict[str, np.ndarray], work: Work, rows: slice) -> np.ndarray:
    """The levels of a block by numpy, straight from the definition."""
    v = work.categorical + work.numeric
    q = np.zeros((len(data["puf_codes"][rows]), len(data["eif_codes"])))
    for at in range(v):
        if at < work.categorical:
            p, e = data["puf_codes"][rows, at][:, None], data["eif_codes"][:, at][None, :]
            q += np.where((p < 0) | (e < 0), 0.25, p != e)
        else:
            p, e = data["puf_values"][rows, at][:, None], data["eif_values"][:, at][None, :]
            spread = np.nanstd(data["puf_values"][:, at], ddof=1)
            s = np.tanh(np.minimum(np.abs(p - e) / spread, 6) / 2)
            q += np.where(np.isnan(s), 0.25, s * s)
    return np.rint((np.sqrt(q) / v if work.norm == "primer" else np.sqrt(q / v)) * 1e12).astype(np.int64)


def adhoc_levels(data: dict[str, np.ndarray], work: Work, rows: slice) -> np.ndarray:
    """The negative sums of scores of a block by numpy, straight from the definition."""
    total = np.zeros((len(data["puf_codes"][rows]), len(data["eif_codes"])), np.int64)
    for at in range(work.categorical):
        p, e = data["puf_codes"][rows, at][:, None], data["eif_codes"][:, at][None, :]
        total -= 5 * ((p == e) & (p >= 0))
        if work.norm == "tables":
            total -= NEIGHBOURS * ((np.abs(p - e) == 1) & (p >= 0) & (e >= 0))
    for at in range(work.categorical, work.categorical + work.numeric):
        p, e = data["puf_values"][rows, at][:, None], data["eif_values"][:, at][None, :]
        apart = np.abs(e - p)
        total -= np.select([apart <= within * np.abs(p) for within, _ in BANDS], [score for _, score in BANDS])
    return total


def numpy_blocks(data: dict[str, np.ndarray], work: Work) -> None:
    """numpy (euclidean, adhoc), scipy's cdist (taxicab), in blocks."""
    found = []
    for rows in blocks(len(data["puf_codes"]), len(data["eif_codes"])):
        if work.metric == "taxicab":
            level = taxicab_levels(data, rows)
        else:
            level = (adhoc_levels if work.metric == "adhoc" else euclidean_levels)(data, work, rows)
        p, e = np.nonzero(level <= limit(work))
        found.append((p + rows.start, e, level[p, e]))
    finish(work, found)


def taxicab_levels(data: dict[str, np.ndarray], rows: slice) -> np.ndarray:
    """Half units by scipy: Hamming distances of codes that differ where missing, less the missing ones."""
    from scipy.spatial.distance import cdist

    p, e = data["puf_codes"][rows], data["eif_codes"]
    v = p.shape[1]
    unequal = cdist(np.where(p < 0, -1, p), np.where(e < 0, -2, e), "hamming") * v
    present = (p >= 0).astype(np.float32) @ (e >= 0).astype(np.float32).T
    return np.rint(2 * unequal - (v - present)).astype(np.int64)


def embedded(puf: np.ndarray, eif: np.ndarray, missing: float) -> tuple[np.ndarray, np.ndarray]:
    """Vectors whose inner product is the number of equal codes, with 1 - `missing` where one of the two is missing."""
    one_hot = [[], []]
    for own, other in zip(puf.T, eif.T, strict=True):
        known = np.arange(max(own.max(), other.max()) + 1)
        for side, codes in zip(one_hot, (own, other), strict=True):
            side.append(codes[:, None] == known)
    ours, theirs = puf >= 0, eif >= 0
    left = [*one_hot[0], (1 - missing) * ours, (1 - missing) * (~ours).sum(axis=1, keepdims=True)]
    right = [*one_hot[1], ~theirs, np.ones((len(eif), 1))]
    return tuple(np.concatenate(parts, axis=1, dtype=np.float32) for parts in (left, right))


def faiss_pairs(
    puf: np.ndarray, eif: np.ndarray, missing: float, at_most: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pairs with at most `at_most` unequal codes, and their number: an exact range search by inner product, in blocks.

    A code that is missing on either side counts `missing`; all numbers are exact in single precision.
    """
    import faiss

    faiss.omp_set_num_threads(2)
    left, right = embedded(puf, eif, missing)
    index = faiss.IndexFlatIP(right.shape[1])
    index.add(right)
    v = puf.shape[1]
    for rows in blocks(len(puf), len(eif)):
        ends, equal, found = index.range_search(left[rows], v - at_most - 1e-3)
        yield (rows.start + np.repeat(np.arange(len(ends) - 1), np.diff(ends.astype(np.int64))), found, v - equal)


def faiss_taxicab(data: dict[str, np.ndarray], work: Work) -> None:
    """The whole of taxicab by FAISS."""
    pairs = faiss_pairs(data["puf_codes"], data["eif_codes"], 0.5, limit(work) / 2)
    finish(work, [(p, e, np.rint(2 * unequal)) for p, e, unequal in pairs])


def faiss_euclidean(data: dict[str, np.ndarray], work: Work) -> None:
    """FAISS for the categorical variables, which excludes most pairs with the norm `rms`; numpy for the others."""
    c, v = work.categorical, work.categorical + work.numeric
    most = v * ((limit(work) + 1) / 1e12) ** 2
    spread = np.nanstd(data["puf_values"][:, c:], axis=0, ddof=1)
    found = []
    for p, e, q in faiss_pairs(data["puf_codes"][:, :c], data["eif_codes"][:, :c], 0.25, most):
        apart = np.abs(data["puf_values"][p, c:] - data["eif_values"][e, c:]) / spread
        s = np.tanh(np.minimum(apart, 6) / 2)
        level = np.rint(np.sqrt((q + np.where(np.isnan(s), 0.25, s * s).sum(axis=1)) / v) * 1e12)
        kept = level <= limit(work)
        found.append((p[kept], e[kept], level[kept]))
    finish(work, found)


def pandas_merge(data: dict[str, np.ndarray], work: Work) -> None:
    """The Cartesian product as one merge."""
    puf, eif = frames(data)
    both = puf.merge(eif, how="cross", suffixes=("_p", "_e"))
    level = np.zeros(len(both), np.int64)
    for at in range(work.categorical):
        level += (2 * (both[f"c{at}_p"] != both[f"c{at}_e"])).fillna(1).to_numpy(np.int64)
    kept = level <= limit(work)
    finish(work, [(both["i_p"].to_numpy()[kept], both["i_e"].to_numpy()[kept], level[kept])])


def polars_cross(data: dict[str, np.ndarray], work: Work) -> None:
    """Cross joins in blocks."""
    import polars as pl

    puf, eif = (pl.from_pandas(frame) for frame in frames(data))
    one = [pl.when(pl.col(f"c{k}").is_null() | pl.col(f"c{k}_e").is_null()).then(1) for k in range(work.categorical)]
    parts = [x.otherwise(2 * (pl.col(f"c{k}") != pl.col(f"c{k}_e")).cast(pl.Int32)) for k, x in enumerate(one)]
    found = []
    for rows in blocks(len(puf), len(eif)):
        cross = puf[rows].lazy().join(eif.lazy(), how="cross", suffix="_e")
        left = cross.select("i", "i_e", h=pl.sum_horizontal(parts)).filter(pl.col("h") <= limit(work)).collect()
        found.append(tuple(left[name].to_numpy() for name in ("i", "i_e", "h")))
    finish(work, found)


def polars_euclidean(data: dict[str, np.ndarray], work: Work) -> None:
    """Cross joins in blocks, with the definition as one expression."""
    import polars as pl

    v = work.categorical + work.numeric
    spread = np.nanstd(data["puf_values"][:, work.categorical :], axis=0, ddof=1)
    sides = []
    for side, frame in zip(("puf", "eif"), frames(data), strict=True):
        values = data[f"{side}_values"]
        numbers = {f"x{at}": pl.Series(values[:, at], nan_to_null=True) for at in range(work.categorical, v)}
        sides.append(pl.from_pandas(frame).with_columns(**numbers))
    squares = [(pl.col(f"c{k}") != pl.col(f"c{k}_e")).cast(pl.Float64) for k in range(work.categorical)]
    for k, sd in enumerate(spread, start=work.categorical):
        apart = (pl.col(f"x{k}") - pl.col(f"x{k}_e")).abs() / sd
        squares.append((pl.min_horizontal(apart, pl.lit(6.0)) / 2).tanh().pow(2))
        # min_horizontal passes over what is missing, so that it has to be told.
        squares[-1] = pl.when(apart.is_null()).then(0.25).otherwise(squares[-1])
    q = pl.sum_horizontal([square.fill_null(0.25) for square in squares])
    score = q.sqrt() / v if work.norm == "primer" else (q / v).sqrt()
    level = (score * 1e12).round().cast(pl.Int64).alias("h")
    found = []
    for rows in blocks(len(sides[0]), len(sides[1])):
        cross = sides[0][rows].lazy().join(sides[1].lazy(), how="cross", suffix="_e")
        left = cross.select("i", "i_e", level).filter(pl.col("h") <= limit(work)).collect()
        found.append(tuple(left[name].to_numpy() for name in ("i", "i_e", "h")))
    finish(work, found)


def duckdb_cross(data: dict[str, np.ndarray], work: Work) -> None:
    """Cross joins in blocks."""
    import duckdb

    puf, eif = frames(data)
    base = duckdb.connect()
    base.execute("set threads = 2")
    base.register("puf_frame", puf), base.register("eif_frame", eif)
    base.execute("create table puf as from puf_frame; create table eif as from eif_frame")
    level = " + ".join(
        f"case when p.c{k} is null or e.c{k} is null then 1 when p.c{k} <> e.c{k} then 2 else 0 end"
        for k in range(work.categorical)
    )
    found = []
    for rows in blocks(len(puf), len(eif)):
        query = f"select p.i, e.i, {level} as h from puf p, eif e where p.i >= {rows.start} and p.i < {rows.stop}"
        left = base.execute(f"from ({query}) where h <= {limit(work)}").fetchnumpy()
        found.append(tuple(np.asarray(column) for column in left.values()))
    finish(work, found)


def recordlinkage_full(data: dict[str, np.ndarray], work: Work) -> None:
    """Full index and exact comparisons."""
    import recordlinkage

    puf, eif = (frame.astype("float64") for frame in frames(data))
    pairs = recordlinkage.index.Full().index(puf, eif)
    compare = recordlinkage.Compare()
    for at in range(work.categorical):
        compare.exact(f"c{at}", f"c{at}", missing_value=0.5, label=f"c{at}")
    agree = compare.compute(pairs, puf, eif)
    level = np.rint(2 * (work.categorical - agree.sum(axis=1))).to_numpy(np.int64)
    kept = level <= limit(work)
    finish(
        work, [(pairs.get_level_values(0).to_numpy()[kept], pairs.get_level_values(1).to_numpy()[kept], level[kept])]
    )


def splink_all(data: dict[str, np.ndarray], work: Work, blocked: bool = False) -> None:
    """All pairs, or those that agree on one of a few pairs of variables; agreement levels by Splink."""
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    names = [f"c{at}" for at in range(work.categorical)]
    rules = (
        [block_on("c4", "c5"), block_on("c5", "c8"), block_on("c4", "c8"), block_on("c5", "c9")] if blocked else ["1=1"]
    )
    settings = SettingsCreator(
        link_type="link_only",
        unique_id_column_name="i",
        comparisons=[cl.ExactMatch(name) for name in names],
        blocking_rules_to_generate_predictions=rules,
        retain_intermediate_calculation_columns=True,
    )
    api = DuckDBAPI()
    tables = [
        api.register(frame.astype("Int64"), dataset_display_name=side)
        for side, frame in zip("pe", frames(data), strict=True)
    ]
    scored = Linker(tables, settings).inference.predict()
    level = " + ".join(f"case gamma_{name} when -1 then 1 when 0 then 2 else 0 end" for name in names)
    left = api._con.execute(
        f"from (select i_l, i_r, source_dataset_l, {level} as h from {scored.physical_name}) where h <= {limit(work)}"
    ).fetchnumpy()
    swap = np.array([str(name).startswith("e") for name in left["source_dataset_l"]], bool)
    puf, eif = (np.where(swap, left[b], left[a]) for a, b in (("i_l", "i_r"), ("i_r", "i_l")))
    finish(work, [(puf, eif, left["h"])])


def splink_blocked(data: dict[str, np.ndarray], work: Work) -> None:
    """As a user would block; not all pairs, so its answer differs."""
    splink_all(data, work, blocked=True)


def sets_of(v: int) -> list[tuple[int, ...]]:
    """All sets of variables, small ones first, in the order of positions."""
    return [chosen for size in range(1, v + 1) for chosen in combinations(range(v), size)]


def finish_unicity(work: Work, found: list[tuple[np.ndarray, np.ndarray, int]]) -> None:
    """Each pair once with its smallest order: sets come small ones first."""
    puf = np.concatenate([p for p, _, _ in found]).astype(np.int64)
    eif = np.concatenate([e for _, e, _ in found]).astype(np.int64)
    order = np.concatenate([np.full(len(p), k) for p, _, k in found])
    rank = np.lexsort((order, eif, puf))
    puf, eif, order = puf[rank], eif[rank], order[rank]
    first = np.append(True, (puf[1:] != puf[:-1]) | (eif[1:] != eif[:-1]))[: len(puf)]
    puf, eif, order = puf[first], eif[first], order[first]
    rank = np.lexsort((eif, order, puf))
    answer(work, puf[rank], eif[rank], order[rank])


def polars_groups(data: dict[str, np.ndarray], work: Work) -> None:
    """A group-by of either file and a join for each set."""
    import polars as pl

    puf, eif = (pl.from_pandas(frame) for frame in frames(data))
    found = []
    for chosen in told(sets_of(work.categorical)):
        names = [f"c{at}" for at in chosen]
        alone = [
            f.lazy()
            .drop_nulls(names)
            .group_by(names)
            .agg(pl.len().alias("n"), pl.col("i").first())
            .filter(pl.col("n") == 1)
            for f in (puf, eif)
        ]
        both = alone[0].join(alone[1], on=names, suffix="_e").select("i", "i_e").collect()
        found.append((both["i"].to_numpy(), both["i_e"].to_numpy(), len(chosen)))
    finish_unicity(work, found)


def duckdb_groups(data: dict[str, np.ndarray], work: Work) -> None:
    """A group-by of either file and a join for each set."""
    import duckdb

    base = duckdb.connect()
    base.execute("set threads = 2")
    for side, frame in zip(("puf", "eif"), frames(data), strict=True):
        base.register("frame", frame)
        base.execute(f"create table {side} as from frame")
    found = []
    for chosen in told(sets_of(work.categorical)):
        names = ", ".join(f"c{at}" for at in chosen)
        present = " and ".join(f"c{at} is not null" for at in chosen)
        alone = [
            f"select {names}, min(i) as {side}_i from {side} where {present} group by {names} having count(*) = 1"
            for side in ("puf", "eif")
        ]
        both = base.execute(f"select puf_i, eif_i from ({alone[0]}) join ({alone[1]}) using ({names})").fetchnumpy()
        found.append((np.asarray(both["puf_i"]), np.asarray(both["eif_i"]), len(chosen)))
    finish_unicity(work, found)


def polars_uniques(data: dict[str, np.ndarray], work: Work) -> None:
    """A group-by for each set; a record unique on a set, and on no set with one variable less, has it as minimal."""
    import polars as pl

    codes = data["puf_codes"]
    table = pl.DataFrame({f"c{at}": codes[:, at] for at in range(work.categorical)}).with_row_index("i")
    smallest, count = np.zeros((2, len(codes)), np.int64)
    unique = {}
    for chosen in told(sets_of(work.categorical)):
        names = [f"c{at}" for at in chosen]
        present = table.lazy().filter(pl.all_horizontal(pl.col(names) >= 0))
        groups = present.group_by(names).agg(pl.len().alias("n"), pl.col("i").first()).filter(pl.col("n") == 1)
        alone = np.zeros(len(codes), bool)
        alone[groups.select("i").collect()["i"].to_numpy()] = True
        unique[chosen] = np.packbits(alone)
        for smaller in combinations(chosen, len(chosen) - 1):
            if smaller:
                alone &= ~np.unpackbits(unique[smaller], count=len(codes)).view(bool)
        count += alone
        smallest[alone & (smallest == 0)] = len(chosen)
    records = np.flatnonzero(count)
    answer(work, records, smallest[records], count[records])


PEERS = {
    "taxicab": {
        "FAISS": faiss_taxicab,
        "pandas merge": pandas_merge,
        "recordlinkage": recordlinkage_full,
        "splink, all pairs": splink_all,
        "splink, blocked": splink_blocked,
        "scipy in blocks": numpy_blocks,
        "polars in blocks": polars_cross,
        "DuckDB in blocks": duckdb_cross,
    },
    "euclidean": {
        "numpy in blocks": numpy_blocks,
        "polars in blocks": polars_euclidean,
        "FAISS, then numpy": faiss_euclidean,
    },
    "adhoc": {"numpy in blocks": numpy_blocks},
    "unicity": {"polars group-by": polars_groups, "DuckDB group-by": duckdb_groups},
    "suda": {"polars group-by": polars_uniques},
}

if __name__ == "__main__":
    peer, name, file = sys.argv[1:]
    PEERS[WORKS[name].metric][peer](dict(np.load(file)), WORKS[name])
