"""Draw a study at national scale: two files of census-like records in 51 states, the links, the study file.

Half of the people are in both files. States are unequal, as states are: of a million records on each side the
largest has 7.6 %, the smallest 0.09 %.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import draw
import numpy as np
import pandas as pd

CATEGORICAL, NUMERIC, STATES = 8, 5, 51

STUDY = """\
id: national
title: National file
files:
  puf: {path: puf.csv, id: id}
  eif: {path: eif.csv, id: id}
  iuf: {path: iuf.csv, puf_id: puf, eif_id: eif}
strata: [state]
linking_variables:
"""
ATTACK = """\
metrics: {unicity: {}, taxicab: {}, euclidean: {}, adhoc: {}}
decision: {conditional_rate_at_most: 0.05}
"""


def tables(n: int) -> dict[str, pd.DataFrame]:
    """The two files of n records each, and the file of their links, as text; an empty value is missing."""
    arrays = draw.draw(n, CATEGORICAL, NUMERIC)
    rng = np.random.default_rng([n, STATES])
    shares = rng.dirichlet(np.full(STATES, 1.2))
    state = 1 + rng.choice(STATES, 2 * n - n // 2, p=shares)
    found = {}
    for side in ("puf", "eif"):
        codes, values, people = (arrays[f"{side}_{kind}"] for kind in ("codes", "values", "people"))
        own = {"id": numbered(side, n), "state": np.char.zfill(state[people].astype(str), 2)}
        for at in range(CATEGORICAL):
            own[f"c{at}"] = np.where(codes[:, at] < 0, "", codes[:, at].astype(str))
        for at in range(NUMERIC):
            amounts = values[:, CATEGORICAL + at]
            own[f"x{at}"] = np.where(np.isnan(amounts), "", np.char.mod("%.0f", amounts))
        found[side] = pd.DataFrame(own)
    _, puf, eif = np.intersect1d(arrays["puf_people"], arrays["eif_people"], return_indices=True)
    links = {"puf": numbered("puf", n)[puf], "eif": numbered("eif", n)[eif]}
    return found | {"iuf": pd.DataFrame(links)}


def numbered(side: str, n: int) -> np.ndarray:
    """The keys of a file."""
    return np.char.add(side, np.char.zfill(np.arange(n).astype(str), 7))


def study() -> str:
    """The study file: all four metrics on thirteen linking variables."""
    names = [(f"c{at}", "categorical") for at in range(CATEGORICAL)]
    names += [(f"x{at}", "numeric") for at in range(NUMERIC)]
    variables = (f'  - {{name: {name}, type: {kind}, missing: [""]}}\n' for name, kind in names)
    return f"{STUDY}{''.join(variables)}{ATTACK}"


def main() -> None:
    """Write puf.csv, eif.csv, iuf.csv and study.yaml to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000, help="of each file")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables(options.records).items():
        table.to_csv(options.folder / f"{name}.csv", index=False)
    (options.folder / "study.yaml").write_text(study(), encoding="utf-8")


if __name__ == "__main__":
    main()
