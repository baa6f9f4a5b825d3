"""Small studies before the gate: every table of an edition, counted record by record."""

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from reident.ledger.spreadsheets import guarded
from reident.pipeline.parts import Alike, Heading, Releasing
from reident.pipeline.tables import RATE
from reident.release import earlier, gate, policies
from reident.sections.release import Policy
from reident.study import rounding

KEEP = 4
LIMIT = 3
"""Rank limits: all that are counted, and the one in force."""

NEVER = 10**6
"""The rank limit with which nothing is suspected or confirmed."""

COUNTS = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")


class Records(NamedTuple):
    """The released records of a study.

    Attributes
    ----------
    stratum : int64 (n,)
    suspected, confirmed : int64 (n, metrics)
        The smallest rank limit with which a record is suspected, or confirmed, by each metric.
    single : bool (n, metrics)
        Whether it has one candidate with the limit in force.
    n_eif, n_links : int64 (strata,)
    """

    stratum: np.ndarray
    suspected: np.ndarray
    confirmed: np.ndarray
    single: np.ndarray
    n_eif: np.ndarray
    n_links: np.ndarray


METRICS = ("unicity", "taxicab", "euclidean")


def draw(generator: np.random.Generator, largest: int = 400) -> Records:
    """Draw a study of one to four strata and one to three metrics; some strata are tiny, some metrics find nothing."""
    sizes = generator.integers(1, 5)
    sizes = generator.choice([1, 3, 14, 15, 40, largest // 4, largest], size=sizes)
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    metrics = generator.integers(1, len(METRICS) + 1)
    n_eif = generator.integers(0, 2 * largest, size=len(sizes)) * (generator.random(len(sizes)) < 0.9)
    shape = (len(stratum), metrics)
    none = generator.random(shape) < generator.choice([0.05, 0.3, 0.95], size=metrics)
    suspected = np.where(none, NEVER, generator.integers(1, KEEP + 3, size=shape))
    suspected[:, 0] = np.where(suspected[:, 0] < NEVER, 1, NEVER)  # unicity has no ranks
    suspected[n_eif[stratum] == 0] = NEVER
    found = generator.random(shape) < generator.choice([0.02, 0.3, 0.9], size=metrics)
    later = suspected + generator.choice([0, 0, 1], size=shape)
    later[:, 0] = suspected[:, 0]
    confirmed = np.where(found & (suspected < NEVER), later, NEVER)
    single = (suspected == 1) & (generator.random(shape) < 0.5) & (later == suspected)
    linked = np.bincount(stratum[(confirmed < NEVER).any(axis=1)], minlength=len(sizes))
    n_links = linked + generator.integers(0, 20, size=len(sizes)) * (n_eif > 0)
    n_links = np.minimum(n_links, sizes * n_eif)
    return Records(stratum, suspected, confirmed, single, n_eif, n_links)


def counts(records: Records, at: int, limit: int, chosen: np.ndarray) -> dict[str, int]:
    """Count what one metric finds among some records with a rank limit."""
    suspected = (records.suspected[:, at] <= limit) & chosen
    confirmed = (records.confirmed[:, at] <= limit) & suspected
    ambiguous = (records.suspected[:, at] > limit) & (records.suspected[:, at] < NEVER) & chosen
    single = records.single[:, at] & suspected
    values = (suspected, confirmed, ambiguous, single, single & confirmed)
    return {name: int(value.sum()) for name, value in zip(COUNTS, values, strict=True)}


def tables(records: Records, bound: float = 0.3) -> dict[Path, pd.DataFrame]:
    """Return the tables of a study by their path, as a study has them."""
    results, n_strata = Path("results/s"), len(records.n_eif)
    sizes = np.bincount(records.stratum, minlength=n_strata)
    everything = np.ones(len(records.stratum), bool)
    rates: list[dict[str, Any]] = []
    limits, outcomes = {}, []
    for at in range(records.suspected.shape[1]):
        metric = METRICS[at]
        for stratum in range(-1, n_strata):
            chosen = everything if stratum < 0 else records.stratum == stratum
            of = (
                (lambda values: int(values.sum()))
                if stratum < 0
                else (lambda values, s=stratum: int(values[s]))
            )
            line = counts(records, at, LIMIT, chosen)
            label = "ALL" if stratum < 0 else f"s{stratum + 1:04d}"
            whole = {"n_puf": sizes, "n_eif": records.n_eif, "n_links": records.n_links}
            rates.append(
                {"metric": metric, "stratum": label, **{name: of(v) for name, v in whole.items()}, **line}
            )
        all_limits = [] if metric == "unicity" else range(1, KEEP + 1)
        limits[metric] = pd.DataFrame(
            [{"stratum": "ALL", "max_pairs": k, **counts(records, at, k, everything)} for k in all_limits],
            columns=["stratum", "max_pairs", *COUNTS],
        ).drop(columns=list(COUNTS[3:]))
        line = counts(records, at, LIMIT, everything)
        rate = line["n_confirmed"] / line["n_suspected"] if line["n_suspected"] else float("nan")
        outcome = "nothing" if np.isnan(rate) else "breaks" if rate > bound else "passes"
        outcomes.append(("attack", "conditional_rate_at_most", metric, rate, bound, outcome))
    manifest = pd.DataFrame(
        {
            "stratum": [f"s{at + 1:04d}" for at in range(n_strata)],
            "region": [str(at + 1) for at in range(n_strata)],
            "n_puf": sizes,
            "n_eif": records.n_eif,
            "n_links": records.n_links,
            "pairs": sizes * records.n_eif,
            "shard": "0001",
        }
    )
    names = ["about", "limit", "metric", "value", "bound", "outcome"]
    return {
        results / "rates.csv": pd.DataFrame(rates).reindex(
            columns=[column.name for column in RATE[0].columns]
        ),
        results / "strata/manifest.csv": manifest,
        results / "verdict/limits.csv": pd.DataFrame(outcomes, columns=names),
        **{results / f"confirmed/{metric}.limits.csv": frame for metric, frame in limits.items()},
    }


def part(records: Records, seed: str = "") -> Releasing:
    """Return what the step takes from such a study."""
    metrics = METRICS[: records.suspected.shape[1]]
    return Releasing(
        study="s",
        heading=Heading("A study", "", None, "en"),
        seed=seed,
        known=("puf",),
        metrics=tuple((name, name.capitalize()) for name in metrics),
        ranked=metrics[1:],
        one_candidate=(),
        max_pairs=LIMIT,
        interval="clopper-pearson",
        level=0.95,
        by_estimate=True,
        strata={"region": {}},
        linking_variables=("age", "sex"),
        varied=(),
        variants={},
        alike=Alike((), (), {}),
        file_is_puf=False,
        scenarios=(),
        nested_scenarios=(),
    )


SEED = "a secret of the tests"


def policy(name: str) -> Policy:
    """Return a bundled policy."""
    return rounding.load(rounding.FOLDER / f"{name}.yaml")


def passed(
    records: Records, name: str, results: dict[Path, pd.DataFrame] | None = None, after=(), **changes: Any
) -> gate.Passed:
    """Let a study pass by a bundled policy, with other values of what describes it."""
    chosen = policy(name)
    described = part(records, SEED if chosen.rounding == "random" else "")
    tables_ = tables(records) if results is None else results
    return gate.let_pass(dataclasses.replace(described, **changes), chosen, tables_, after)


FILES = {
    "attack": "attack.csv", "clusters": "clusters.csv", "file": "file.csv", "matching": "matching.csv",
    "cut_points": "cut-points.csv", "limits": "limits.csv",
}  # fmt: skip


def publish(made: gate.Passed, folder: Path) -> Path:
    """Write the public files of an edition as the step does."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        guarded(made.tables[name]).to_csv(folder / file, index=False, lineterminator="\n")
    (folder / "release.json").write_text(made.record, encoding="utf-8")
    return folder


def read(path: Path) -> earlier.Edition:
    """Read an edition as an earlier one."""
    return earlier.read(path, policies.interval_of)
