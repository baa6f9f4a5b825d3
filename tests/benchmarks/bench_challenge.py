"""Time the attacks at hand on census-like files in memory, beside the attack that the study declares.

Usage: python tests/benchmarks/bench_challenge.py RECORDS STRATA [WORK]

RECORDS of each file, in as many areas of unequal size as STRATA says; eight variables, of which three are numbers. WORK
is that of the section `challenge`, or `all`; 60 by default. Half of the people are in both files.
"""

from __future__ import annotations

import os
import sys
import time

import draw
import numpy as np
import pandas as pd
import reident
from reident.challenge import attacks
from reident.challenge.work import of_attack

CATEGORICAL, NUMERIC = 5, 3


def files(n: int, n_strata: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Draw the two files and their links."""
    rng = np.random.default_rng([n, n_strata])
    stratum = rng.choice(n_strata, 2 * n - n // 2, p=rng.dirichlet(np.full(n_strata, 1.2)))
    sides, rows = [], np.full((2, len(stratum)), -1)
    for at, (side, codes, values, people) in enumerate(draw.sides(n, CATEGORICAL, NUMERIC)):
        columns = {"id": [f"{side}{row}" for row in range(n)], "area": np.char.mod("%d", stratum[people])}
        for j in range(CATEGORICAL):
            columns[f"c{j}"] = pd.Series(np.char.mod("%d", codes[:, j]), dtype=object).where(codes[:, j] >= 0)
        sides.append(pd.DataFrame(columns | {f"x{j}": values[:, CATEGORICAL + j] for j in range(NUMERIC)}))
        rows[at, people] = np.arange(n)
    linked = rows[:, (rows >= 0).all(axis=0)]
    links = pd.DataFrame({"puf": sides[0]["id"].to_numpy()[linked[0]], "eif": sides[1]["id"].to_numpy()[linked[1]]})
    return *sides, links


def main(records: str, strata: str, work: str = "60") -> None:
    """Print seconds of processor and of wall clock, and the work that was estimated."""
    puf, eif, links = files(int(records), int(strata))
    names = [f"c{j}" for j in range(CATEGORICAL)], [f"x{j}" for j in range(NUMERIC)]
    variables = dict.fromkeys(names[0], "categorical") | dict.fromkeys(names[1], "numeric")
    of_study = {"variables": variables, "strata": ["area"], "puf_id": "id", "eif_id": "id"}
    how = {"metrics": ["taxicab", "adhoc"], "challenge": work if work == "all" else {"work": float(work)}, "threads": 2}
    pairs = puf.groupby("area").size().mul(eif.groupby("area").size(), fill_value=0).sum()
    print(f"{int(records):,} records each, {int(strata):,} strata, {pairs:.2g} pairs, load {os.getloadavg()[0]:.1f}")
    _ = reident.attack(*files(400, 2), **of_study, **how).attacks  # compiles
    result = timed("declared", lambda: reident.attack(puf, eif, links, **of_study, **how))
    estimates = list[float]()
    attacks.of_attack = lambda *of, **how: estimates.append(of_attack(*of, **how)) or estimates[-1]
    table = timed("attacks at hand", lambda: result.attacks)
    tried = table["n_suspected"].notna()
    kinds = [f"{kind} {int(tried[of].sum())} of {len(of)}" for kind, of in table.groupby("kind").groups.items()]
    left = [f"{kind} {metric}" for kind, metric in table.loc[~tried, ["kind", "metric"]].drop_duplicates().to_numpy()]
    print(f"tried: {', '.join(kinds)}; not tried: {', '.join(left) or 'none'}")
    print(f"estimate of all with a metric: {sum(estimates):.1f} s; load {os.getloadavg()[0]:.1f}")


def timed(what, function):
    """Return the result of a function, and print what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    print(
        f"{what}: {time.process_time() - processor:.1f} s of processor, {time.perf_counter() - wall:.1f} s", flush=True
    )
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
