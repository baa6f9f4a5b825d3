"""Editions of drawn results, without running a study."""

import numpy as np
import pandas as pd
import pyarrow as pa
from making import statements
from reident.edition import make
from reident.linkage.settings import WHOLE
from reident.pipeline.editions import Bound, EditionSettings
from reident.sections.edition import ATTACK, MATCHING, METRIC, POPULATION, Edition
from reident.study.step import Heading

METRICS = ("unicity", "taxicab", "adhoc")
SHARE = (Bound("conditional_rate_at_most", ATTACK, METRIC, "taxicab", 0.2),)


def settings(**changes: object) -> EditionSettings:
    """Return settings of an edition, with changes."""
    fields: dict = {
        "study": "s",
        "heading": Heading("Household survey", "Office", None, "en"),
        "seed": statements.SEED,
        "by_stratum": False,
        "one_to_one": True,
        "released_means": None,
        "counted": "records",
        "metrics": METRICS,
        "strata": {"region": {"n": "North", "s": "South"}},
        "variables": ("age", "sex"),
        "bounds": SHARE,
        "more_limits": False,
    }
    return EditionSettings(**fields | changes)


def attacked(rng: np.random.Generator, n: int = 400, right: float = 0.2, metrics: tuple[str, ...] = METRICS) -> dict:
    """Return drawn results of an attack, as the step reads them: a record has up to three candidates by each metric."""
    pairs = []
    links = rng.random(n) < right * 2
    for at, _ in enumerate(metrics):
        puf = np.flatnonzero(rng.random(n) < 0.9 - 0.2 * at)
        lines = []
        for p in puf.tolist():
            candidates = rng.choice(n, size=rng.integers(1, 4), replace=False).tolist()
            if rng.random() < 0.5:
                candidates[0] = p
            lines += [(p, e, p == e and bool(links[p])) for e in dict.fromkeys(candidates)]
        table = pd.DataFrame(lines, columns=["puf", "eif", "confirmed"])
        pairs.append(pa.Table.from_pandas(table.sample(frac=1, random_state=at), preserve_index=False))
    rates = pd.DataFrame({"stratum": [WHOLE], "n_puf": [n], "n_eif": [n]})
    strata = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 2, n))
    return {
        "pairs": pairs,
        "rates": rates,
        "strata": pa.table({"stratum": pa.array(strata, from_pandas=True)}),
        "manifest": pd.DataFrame({"stratum": ["s1", "s2"], "region": ["n", "s"]}),
    }


def one_file(folder, unique: int = 300, true: int = 70, *, population: bool = True) -> dict:
    """Return results on one file: 1,000 records, of which some are unique, in the population too."""
    (folder / "file.parquet").write_bytes(b"the released file")
    bases = ["sample", "population"] if population else ["sample"]
    risks = pd.DataFrame({"basis": bases, "n_records": 1000, "n_unique": [unique, true][: len(bases)]})
    cells = pd.DataFrame({"cell_size": [1, 2, 7], "n_records": [unique, 200, 800 - unique]})
    return {"cells": cells, "risks": risks, "file": folder / "file.parquet", "pairs": []}


def synthetic(folder, matched: int = 400, right: int = 120) -> dict:
    """Return results on synthetic files of 2,000 people."""
    (folder / "synthetic.parquet").write_bytes(b"the synthetic files")
    line = {"membership": "certain", "targets": 2000, "unique_matches": matched, "true_match_rate": right / 2000}
    return {"pooled": pd.DataFrame([line]), "synthetic": folder / "synthetic.parquet", "pairs": []}


def made(tables: dict, policy: str = "census-drb", after: tuple[Edition, ...] = (), **changes: object) -> Edition:
    """Return the published file of drawn results."""
    return make.make(settings(**changes), statements.policy(policy), tables, after, "1.0")


UNIQUE = (Bound("population_uniques_at_most", POPULATION, "unique", "", 100),)
RIGHT = (Bound("true_match_rate_at_most", MATCHING, "right", "", 0.1),)


def kinds(folder) -> dict[str, Edition]:
    """Return an edition of each kind of study."""
    rng = np.random.default_rng(1)
    few = attacked(np.random.default_rng(2), n=12)
    return {
        "records": made(one_file(folder, population=False) | attacked(rng)),
        "units": made(attacked(rng), counted="units", strata={}),
        "strata": made(attacked(rng), "opensafely", by_stratum=True),
        "few": made(few),
        "one file": made(one_file(folder), metrics=(), strata={}, bounds=UNIQUE),
        "file alone": made(one_file(folder, population=False), metrics=(), strata={}, bounds=()),
        "synthetic": made(synthetic(folder), "midpoint-6", metrics=(), strata={}, bounds=RIGHT),
        "random": made(attacked(rng), "base-5-random", one_to_one=False),
    }
