"""Editions of drawn counts: rounded by two policies, and written as an earlier edition is."""

import csv
import json
import math
from pathlib import Path

import numpy as np
from reident.release.calls import Calls, limit
from reident.release.cells import ATTACK, FILES, Cell
from reident.release.earlier import COLUMNS
from reident.release.facts import Facts
from reident.release.policies import publish
from reident.release.suppression import default_weights, protect
from reident.study import rounding

CENSUS, SAFELY = (rounding.load(rounding.FOLDER / f"{name}.yaml") for name in ("census-drb", "opensafely"))


def required(cells):
    """Small counts keep their whole interval, others half of it."""
    return {cell: (one.high - one.low) / (1 if one.low == 0 else 2) for cell, one in cells.items()}


def protected(cells, rows, public_counts, widths):
    """The suppressions in one edition, as in several."""
    calls = Calls(limit(len(cells)))
    return protect(cells, rows, public_counts, widths, default_weights(cells), calls)


LIMIT = 5
"""The rank limit in force."""


def drawn(sizes, *, seed=1, keep=0):
    """Counts of a study with strata of these sizes; every record is compared."""
    rng, counts = np.random.default_rng(seed), {}
    puf = dict(sizes)
    columns = {("n_puf", "", 0): puf}
    columns["n_eif", "", 0] = {name: 2 * n + 1 for name, n in puf.items()}
    columns["n_links", "", 0] = {name: int(rng.binomial(n, 0.6)) for name, n in puf.items()}
    columns |= {(name, "taxicab", LIMIT): {} for name in ATTACK}
    for stratum, n in puf.items():
        suspected = int(rng.binomial(n, 0.5))
        confirmed = min(int(rng.binomial(suspected, 0.3)), columns["n_links", "", 0][stratum])
        correct = int(rng.binomial(confirmed, 0.5))
        single = correct + int(rng.binomial(suspected - confirmed, 0.5))
        ambiguous = int(rng.binomial(n - suspected, 0.3))
        for name, count in zip(ATTACK, (suspected, confirmed, ambiguous, single, correct), strict=True):
            columns[name, "taxicab", LIMIT][stratum] = count
    for (quantity, metric, at), by_stratum in columns.items():
        base = Cell(quantity, metric=metric, rank_limit=at)
        counts[base] = sum(by_stratum.values())
        counts |= {base._replace(stratum=stratum): count for stratum, count in by_stratum.items()}
    return counts | _limits(counts, keep)


def _limits(counts, keep):
    """Counts at the rank limits 1 … keep, which grow with the limit and meet those of the limit in force."""
    suspected, confirmed, ambiguous, single, correct = (
        counts[Cell(name, metric="taxicab", rank_limit=LIMIT)] for name in ATTACK
    )
    lines = {}
    for at in set(range(1, keep + 1)) - {LIMIT}:
        share = max(0.0, (LIMIT - at) / LIMIT)
        many = math.ceil(suspected - share * (suspected - single))
        few = math.ceil(confirmed - share * (confirmed - correct))
        more = max(0, at - LIMIT) * ambiguous // (keep + 1)
        line = (many + more, min(few, many), suspected + ambiguous - many - more)
        for name, count in zip(ATTACK[:3], line, strict=True):
            lines[Cell(name, metric="taxicab", rank_limit=at)] = count
    return lines


def facts(counts):
    strata = sorted({cell.stratum for cell in counts} - {"ALL"})
    return Facts(strata=tuple(strata))


def written(folder: Path, counts, policy) -> Path:
    """Write an edition without tables about clusters, files or matching."""
    folder.mkdir(parents=True)
    texts = {cell: publish(policy, n).text for cell, n in counts.items()}
    lines = sorted({cell[1:6] for cell in counts if cell.metric})
    for name, columns in COLUMNS.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream, lineterminator="\n")
            table.writerow([*columns, "conditional_rate"] if name == "attack.csv" else columns)
            for line in lines if name == "attack.csv" else ():
                base = Cell("", *line)
                files = [base._replace(quantity=quantity, metric="", rank_limit=0) for quantity in FILES]
                own = [base._replace(quantity=quantity) for quantity in ATTACK]
                table.writerow([*line, *(texts.get(cell, "") for cell in [*files, *own]), ""])
    record = {
        "title": "A study",
        "date": "2026-01-01",
        "policy": policy.model_dump(mode="json"),
        "rank_limit": LIMIT,
        "ranked": ["taxicab"],
        "strata": ["region"],
    }
    (folder / "release.json").write_text(json.dumps(record), encoding="utf-8")
    return folder
