"""Draw a study at national scale: two files of census-like records in 51 states, the links, the study file.

Half of the people are in both files. States are unequal, as states are: of a million records on each side the
largest has 7.6 %, the smallest 0.09 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import draw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

CATEGORICAL, NUMERIC, STATES = 8, 5, 51
PIECE = 250_000
"""Records that are written at a time."""


def write(folder: Path, n: int) -> None:
    """Write the two files of n records each, and the file of their links, in pieces; an empty value is missing."""
    rng = np.random.default_rng([n, STATES])
    shares = rng.dirichlet(np.full(STATES, 1.2))
    state = 1 + rng.choice(STATES, 2 * n - n // 2, p=shares).astype(np.int8)
    rows = np.full((2, len(state)), -1, np.int32)
    for at, (side, codes, values, people) in enumerate(draw.sides(n, CATEGORICAL, NUMERIC)):
        rows[at, people] = np.arange(n)
        _write(folder / f"{side}.csv", n, partial(_records, side, codes, values, state[people]))
    puf, eif = rows[:, (rows >= 0).all(axis=0)]
    _write(folder / "iuf.csv", len(puf), lambda piece: {"puf": keys("puf", puf[piece]), "eif": keys("eif", eif[piece])})


def _records(side: str, codes: np.ndarray, values: np.ndarray, state: np.ndarray, piece: slice) -> dict[str, pa.Array]:
    """The columns of some records of a file, as text."""
    columns = {"id": keys(side, np.arange(piece.start, piece.stop)), "state": _zero_filled(state[piece], 2)}
    for at in range(CATEGORICAL):
        columns[f"c{at}"] = _text(codes[piece, at], codes[piece, at] < 0)
    for at in range(CATEGORICAL, CATEGORICAL + NUMERIC):
        amounts = values[piece, at]
        missing, negative_zero = np.isnan(amounts), (amounts == 0) & np.signbit(amounts)
        text = _text(np.where(missing, 0, amounts).astype(np.int64), missing)
        columns[f"x{at - CATEGORICAL}"] = pc.if_else(negative_zero, "-0", text)
    return columns


def _text(numbers: np.ndarray, missing: np.ndarray) -> pa.Array:
    return pc.fill_null(pc.cast(pa.array(numbers, mask=missing), pa.string()), "")


def _zero_filled(numbers: np.ndarray, width: int) -> pa.Array:
    return pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width, "0")


def keys(side: str, numbers: np.ndarray) -> pa.Array:
    """The keys of some records of a file."""
    return pc.binary_join_element_wise(side, _zero_filled(numbers, 7), "")


def _write(path: Path, n: int, columns: Callable[[slice], dict[str, pa.Array]]) -> None:
    """Write a table piece by piece."""
    plain = csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as stream:
        for start in range(0, n, PIECE):
            piece = pa.table(columns(slice(start, min(start + PIECE, n))))
            if not start:
                stream.write(",".join(piece.column_names).encode() + b"\n")
            csv.write_csv(piece, stream, plain)


def study(metrics: str) -> str:
    """The study file: the metrics, on thirteen linking variables."""
    kinds = {f"c{at}": "categorical" for at in range(CATEGORICAL)} | {f"x{at}": "numeric" for at in range(NUMERIC)}
    return draw.study("national", "National file", "state", kinds, metrics.split(","))


def main() -> None:
    """Write puf.csv, eif.csv, iuf.csv and study.yaml to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000, help="of each file")
    parser.add_argument("--metrics", default=",".join(draw.METRICS), help="with fellegi_sunter, its weights too")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write(options.folder, options.records)
    (options.folder / "study.yaml").write_text(study(options.metrics), encoding="utf-8")


if __name__ == "__main__":
    main()
