"""Our kernel on drawn files, as a whole process: ``python ours.py WORK FILE [THREADS]``."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from work import BANDS, CLOSEST, FUNCTION, KEEP, LEVELS, NEAREST, NEIGHBOURS, WORKS, Work, answer, limit

if TYPE_CHECKING:
    from reident.kernels.adhoc_rules import Table


def main(name: str, file: str, threads: str = "2") -> None:
    """Load, compute, answer."""
    work, data = WORKS[name], np.load(file)
    codes = data["puf_codes"], data["eif_codes"]
    if work.metric == "taxicab":
        from reident.kernels import taxicab

        found = taxicab.nearest(*codes, different=2, missing=1, limit=limit(work), keep=KEEP, threads=int(threads))
        answer(work, *found[:3])
    elif work.metric == "unicity":
        from reident.kernels import unicity

        puf, eif, order, _ = unicity.shared_uniques(*codes, sets="all", max_order=None, threads=int(threads))
        answer(work, puf, eif, order)
    elif work.metric == "suda":
        from reident.filerisk import suda

        found = suda.scores(data["puf_codes"], threads=int(threads))
        records = np.flatnonzero(found.msus.order)
        answer(work, records, found.msus.order[records], found.msus.counts[records].sum(axis=1))
    elif work.metric == "winkler":
        from reident.linkage.metrics.contract import ScoringContext
        from reident.linkage.metrics.winkler import METRIC, Closest, Nearest, Options
        from reident.linkage.pairing import Pairing, Records, Scope
        from reident.sections.linkage import LinkingVariable

        sides = [Records(data[f"{side}_codes"], data[f"{side}_values"]) for side in ("puf", "eif")]
        variables = tuple(LinkingVariable(name=f"x{at}", type="numeric") for at in range(work.numeric))
        spread, scope = np.full(work.numeric, np.nan), Scope(*(side.values for side in sides))
        pairing = Pairing(variables, *sides, (None,) * work.numeric, spread, scope)
        rules = {"half_gap": "half_gap", "nearest": Nearest(nearest=NEAREST)}
        rule = rules.get(work.norm) or Closest(closest=CLOSEST[work.numeric])
        pairs = METRIC.score(pairing, Options(agreement=rule), ScoringContext(KEEP, int(threads)))
        answer(work, pairs.puf, pairs.eif, pairs.score if work.norm not in rules else -pairs.score)
    elif work.metric == "fellegi_sunter":
        weigh(work, dict(data), int(threads))
    elif work.norm == "functions":
        answer(work, *by_functions(work, dict(data), int(threads)))
    elif work.metric == "adhoc":
        from reident.kernels import adhoc
        from reident.sections.exact import SCALE

        within, score = np.array(BANDS).T
        bands = adhoc.Bands(np.zeros(len(BANDS)), within, (score * SCALE).astype(np.int64))
        rules = [adhoc.Exact() if work.norm != "tables" else table(at, *codes) for at in range(work.categorical)]
        puf, eif, total, *_ = adhoc.nearest(
            *codes,
            data["puf_values"],
            data["eif_values"],
            rules + [bands] * work.numeric,
            above=-(limit(work) + 1) * SCALE,
            scale=SCALE,
            keep=KEEP,
            threads=int(threads),
        )
        answer(work, puf, eif, -total // SCALE)
    else:
        from reident.kernels import euclidean
        from reident.sections.exact import SCALE

        values = data["puf_values"], data["eif_values"]
        numeric = np.arange(values[0].shape[1]) >= work.categorical
        with np.errstate(invalid="ignore"):
            spread = np.where(numeric, np.nanstd(np.where(numeric, values[0], 0), axis=0, ddof=1), np.nan)
        found = euclidean.nearest(
            *codes,
            *values,
            spread,
            numeric=numeric,
            alpha=0.5,
            norm=work.norm,
            threshold=limit(work) + 1,
            scale=SCALE,
            keep=KEEP,
            threads=int(threads),
        )
        answer(work, *found[:3])


def table(at: int, *codes: np.ndarray) -> Table:
    """Declared scores by pair of categories: equal codes, and codes that differ by one."""
    from reident.kernels.adhoc_rules import MAX_SCORE, Table
    from reident.sections.exact import SCALE

    n = max(int(own[:, at].max()) for own in codes) + 1
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return Table(np.select([apart == 0, apart == 1], [MAX_SCORE, NEIGHBOURS], 0).astype(np.int64) * SCALE)


def by_functions(work: Work, data: dict[str, np.ndarray], threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score by a function of the study where a numeric variable has few values, and by the default bands elsewhere."""
    from reident.linkage.metrics.adhoc import METRIC, Options
    from reident.linkage.metrics.contract import ScoringContext
    from reident.linkage.pairing import Pairing, Records, Scope
    from reident.sections.exact import SCALE
    from reident.sections.linkage import LinkingVariable

    sides = [Records(data[f"{side}_codes"], data[f"{side}_values"]) for side in ("puf", "eif")]
    kinds = ["categorical"] * work.categorical + ["numeric"] * work.numeric
    variables = tuple(LinkingVariable(name=f"x{at}", type=kind) for at, kind in enumerate(kinds))
    labels = [None] * len(kinds)
    for at in range(work.categorical):
        labels[at] = [str(code) for code in range(1 + max(int(side.codes[:, at].max()) for side in sides))]
    values = [[np.unique(side.values[:, at]).size for side in sides] for at in range(len(kinds))]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "own.py"
        file.write_text(FUNCTION, encoding="utf-8")
        rule = {"function": "own:alike", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        own = {f"x{at}": rule for at in range(work.categorical, len(kinds)) if max(values[at]) <= LEVELS + 1}
        print(f"functions of {len(own)} variables", file=sys.stderr)
        spread = np.array(
            [
                np.nan if kind == "categorical" else np.nanstd(sides[0].values[:, at], ddof=1)
                for at, kind in enumerate(kinds)
            ]
        )
        pairing = Pairing(variables, *sides, tuple(labels), spread, Scope(*(side.values for side in sides)))
        pairs = METRIC.score(pairing, Options(scores=own), ScoringContext(KEEP, threads, functions=(file,)))
    return pairs.puf, pairs.eif, np.rint(-pairs.score * SCALE)


def weigh(work: Work, data: dict[str, np.ndarray], threads: int) -> None:
    """Estimate the weights of evidence as a blind intruder, and score with them."""
    from evidence import weighed
    from reident.linkage.metrics.fellegi_sunter import Options
    from reident.sections.exact import SCALE

    _, pairs = weighed(data, Options(levels="bins", competition=False, frequency=False), KEEP, threads)
    answer(work, pairs.puf, pairs.eif, -np.rint(pairs.score * SCALE))


if __name__ == "__main__":
    main(*sys.argv[1:])
