"""The same rows of text in every format that a study may name, written by libraries where there are any."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from making import sas7bdat

PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
ENDINGS = {
    "csv": "csv",
    "parquet": "parquet",
    "sas7bdat": "sas7bdat",
    "xport": "xpt",
    "stata": "dta",
    "spss": "sav",
    "fixed-width": "txt",
}


def write(rows: pd.DataFrame, kind: str, path: Path) -> dict[str, object]:
    """Write rows of text as a file of a format, and give what its description says beside its path.

    A column whose cells are all plain numbers or empty is stored as numbers where the format has them; zeros in
    front, as keys may have, are not plain.
    """
    if kind == "csv":
        rows.to_csv(path, index=False, lineterminator="\n")
        return {}
    if kind == "fixed-width":
        return {"layout": _fixed_width(rows, path)}
    typed = {name: _stored(cells.tolist()) for name, cells in rows.items()}
    if kind == "parquet":
        pq.write_table(pa.table({name: _arrow(cells) for name, cells in typed.items()}), path)
        return {}
    if kind == "sas7bdat":
        path.write_bytes(sas7bdat.content(typed))
        return {}
    frame = pd.DataFrame(typed)
    if kind == "xport":
        pyreadstat.write_xport(frame, path, file_format_version=8)
    elif kind == "stata":
        pyreadstat.write_dta(frame, path)
    else:
        pyreadstat.write_sav(frame, path)
    return {}


def _stored(cells: list[str]) -> np.ndarray | list[str]:
    if not all(PLAIN_NUMBER.fullmatch(cell) for cell in cells if cell) or not any(cells):
        return cells
    return np.array([float(cell) if cell else np.nan for cell in cells])


def _arrow(cells: np.ndarray | list[str]) -> pa.Array:
    """Numbers that are all whole are integers here."""
    array = pa.array(cells, from_pandas=True)
    whole = not isinstance(cells, list) and bool((np.isnan(cells) | (cells == np.floor(cells))).all())
    return array.cast(pa.int64()) if whole else array


def _fixed_width(rows: pd.DataFrame, path: Path) -> dict[str, str]:
    widths = {name: max(1, *map(len, cells)) for name, cells in rows.items()}
    ends = dict(zip(widths, np.cumsum(list(widths.values())).tolist(), strict=True))
    lines = (
        "".join(cell.rjust(width) for cell, width in zip(row, widths.values(), strict=True)) for row in rows.to_numpy()
    )
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {name: f"{ends[name] - width + 1}-{ends[name]}" for name, width in widths.items()}
