"""Small studies before the gate: every table of an edition, counted record by record."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from reident.ledger.spreadsheets import guarded
from reident.linkage.metrics import REGISTRY
from reident.pipeline.releasing import Alike, Attack, ReleaseSettings
from reident.pipeline.step_settings import Heading
from reident.pipeline.tables import TABLES
from reident.release import gate
from reident.sections.linkage import Binning, LinkingVariable
from reident.sections.release import Policy
from reident.study import rounding

KEEP = 4
LIMIT = 3
"""Rank limits: all that are counted, and the one in force."""

METRICS = ("unicity", "taxicab", "euclidean")
NEVER = 10**6
"""The rank limit with which nothing is suspected or confirmed."""

COUNTS = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")


class Records(NamedTuple):
    """The released records of a study."""

    stratum: np.ndarray  # int64 (n,)
    suspected: np.ndarray  # int64 (n, metrics): the smallest rank limit with which each metric suspects the record
    confirmed: np.ndarray  # int64 (n, metrics): that with which it confirms the record
    single: np.ndarray  # bool (n, metrics): whether the record has one candidate with the limit in force
    n_eif: np.ndarray  # int64 (strata,)
    n_links: np.ndarray  # int64 (strata,)
    metrics: tuple[str, ...] = METRICS
    cluster: np.ndarray | None = None  # int64 (n,), in a study that has clusters
    codes: np.ndarray | None = None  # int32 (n, k), -1 for missing, in a study of the risk of the released file
    keep: int = KEEP  # the largest rank limit that is counted
    limit: int = LIMIT  # the one in force


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


def draw_wide(generator: np.random.Generator, smallest: int = 50, largest: int = 2000) -> Records:
    """Draw a study of up to 20 strata with every rank limit to 20; some have clusters, or the risk of their file."""
    n = int(np.exp(generator.uniform(np.log(smallest), np.log(largest + 1))))
    metrics = [METRICS, METRICS[:1], METRICS[1:2], METRICS[1:]][generator.integers(4)]
    shape, keep = (n, len(metrics)), 20
    n_strata = generator.choice([1, 2, 3, 4, 6, 8, 12, 20])
    stratum = np.sort(generator.choice(n_strata, size=n, p=generator.dirichlet(np.full(n_strata, 2.0))))
    stratum = np.unique(stratum, return_inverse=True)[1]
    sizes = np.bincount(stratum)
    n_eif = generator.integers(0, 2 * n // n_strata + 2, size=len(sizes))
    n_eif *= generator.random(len(sizes)) < 0.95
    none = (generator.random(shape) < generator.choice([0.05, 0.3, 0.6], size=len(metrics))) | (n_eif[stratum] == 0)[
        :, None
    ]
    suspected = np.where(none, NEVER, np.minimum(generator.geometric(0.25, size=shape), keep + 2))
    unranked = np.array(metrics) == "unicity"
    suspected = np.where(unranked & ~none, 1, suspected)
    later = suspected + generator.choice([0, 0, 1], size=shape) * ~unranked
    found = ~none & (generator.random(shape) < generator.choice([0.02, 0.3, 0.6], size=len(metrics)))
    confirmed = np.where(found, later, NEVER)
    single = (suspected == 1) & (later == 1) & (generator.random(shape) < 0.5)
    linked = np.bincount(stratum[(confirmed < NEVER).any(axis=1)], minlength=len(sizes))
    n_links = np.minimum(linked + generator.integers(0, 20, size=len(sizes)) * (n_eif > 0), sizes * n_eif)
    cluster = np.sort(generator.integers(0, n // 3, size=n)) if generator.random() < 0.5 else None
    codes = None
    if generator.random() < 0.6:
        most = generator.integers(2, 9, size=generator.integers(2, 6))
        codes = generator.integers(0, most, size=(n, len(most))).astype(np.int32)
        codes[generator.random(codes.shape) < generator.choice([0, 0.03, 0.1])] = -1
    whole = (metrics, cluster, codes, keep, 5)
    return Records(stratum, suspected, confirmed, single, n_eif, n_links, *whole)


def contained(records: Records, generator: np.random.Generator) -> Records:
    """Return a study whose metrics are contained in each other: unicity on all variables, taxicab and euclidean.

    A shared sample unique is the only best candidate of taxicab; what passes taxicab is ranked alike by euclidean.
    """
    suspected, confirmed, single = (getattr(records, name).copy() for name in ("suspected", "confirmed", "single"))
    place = {name: at for at, name in enumerate(records.metrics)}
    if "unicity" in place:
        at = place["unicity"]
        for stratum, most in enumerate(records.n_eif):  # an EIF record is the partner of one record at most
            own = np.flatnonzero((records.stratum == stratum) & (suspected[:, at] < NEVER))
            suspected[own[most:], at] = confirmed[own[most:], at] = NEVER
        single[:, at] = suspected[:, at] < NEVER
    for few, many in (("unicity", "taxicab"), ("taxicab", "euclidean")):
        if few in place and many in place:
            one, other = place[few], place[many]
            inside, right = suspected[:, one] < NEVER, confirmed[:, one] < NEVER
            suspected[:, other] = np.where(inside, suspected[:, one], suspected[:, other])
            later = np.maximum(confirmed[:, other], suspected[:, other] + 1)
            confirmed[:, other] = np.where(right, confirmed[:, one], np.where(inside, later, confirmed[:, other]))
            stays = single[:, one] & (right | (confirmed[:, other] > records.limit))
            single[:, other] = np.where(inside, stays & (generator.random(len(stays)) < 0.7), single[:, other])
    linked = np.bincount(records.stratum[(confirmed < NEVER).any(axis=1)], minlength=len(records.n_eif))
    n_links = np.maximum(records.n_links, linked)
    return records._replace(suspected=suspected, confirmed=confirmed, single=single, n_links=n_links)


ATTACK = Attack(
    (),
    tuple(LinkingVariable(name=f"x{at}", type="categorical") for at in range(8)),
    Binning(),
    {name: REGISTRY[name].options() for name in METRICS},
)
"""The attack of such a study: with eight categories, each metric is contained in the next."""


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
        metric = records.metrics[at]
        for stratum in range(-1, n_strata):
            chosen = everything if stratum < 0 else records.stratum == stratum
            of = (lambda values: int(values.sum())) if stratum < 0 else (lambda values, s=stratum: int(values[s]))
            line = counts(records, at, records.limit, chosen)
            label = "ALL" if stratum < 0 else f"s{stratum + 1:04d}"
            whole = {"n_puf": sizes, "n_eif": records.n_eif, "n_links": records.n_links}
            rates.append({"metric": metric, "stratum": label, **{name: of(v) for name, v in whole.items()}, **line})
        all_limits = [] if metric == "unicity" else range(1, records.keep + 1)
        limits[metric] = pd.DataFrame(
            [{"stratum": "ALL", "max_pairs": k, **counts(records, at, k, everything)} for k in all_limits],
            columns=["stratum", "max_pairs", *COUNTS],
        ).drop(columns=list(COUNTS[3:]))
        line = counts(records, at, records.limit, everything)
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
        }
    )
    names = ["about", "limit", "metric", "value", "bound", "outcome"]
    return {
        results / "rates.csv": pd.DataFrame(rates).reindex(columns=TABLES["rate"][0].names),
        results / "strata/manifest.csv": manifest,
        results / "verdict/limits.csv": pd.DataFrame(outcomes, columns=names),
        **{results / f"confirmed/{metric}.limits.csv": frame for metric, frame in limits.items()},
        **({} if records.cluster is None else {results / "clusters.csv": clusters(records)}),
        **({} if records.codes is None else {results / "filerisk/conventions.csv": conventions(records)}),
    }


def clusters(records: Records) -> pd.DataFrame:
    """Return the table of clusters."""
    rows = []
    for at in range(records.suspected.shape[1]):
        for stratum in range(-1, len(records.n_eif)):
            chosen = np.ones(len(records.stratum), bool) if stratum < 0 else records.stratum == stratum
            suspected = (records.suspected[:, at] <= records.limit) & chosen
            confirmed = (records.confirmed[:, at] <= records.limit) & suspected
            numbers = [len(np.unique(records.cluster[of])) for of in (chosen, suspected, confirmed)]
            label = "ALL" if stratum < 0 else f"s{stratum + 1:04d}"
            rows.append([records.metrics[at], label, *numbers])
    return pd.DataFrame(rows, columns=["metric", "stratum", "n_clusters", "n_suspected", "n_confirmed"])


def conventions(records: Records) -> pd.DataFrame:
    """Return the table of records with few matches, record by record."""
    codes = records.codes
    known = codes >= 0
    both = known[:, None] & known[None]
    equal = codes[:, None] == codes[None]
    matches = {
        "excluded": (both & equal).all(axis=2).sum(axis=1)[known.all(axis=1)],
        "category": equal.all(axis=2).sum(axis=1),
        "wildcard": (~both | equal).all(axis=2).sum(axis=1),
    }
    rows = [[name, len(n), *(int((n < k).sum()) for k in (2, 3, 5))] for name, n in matches.items()]
    return pd.DataFrame(rows, columns=["convention", "n_records", "below_2", "below_3", "below_5"])


def settings_of(records: Records, seed: str = "") -> ReleaseSettings:
    """Return the settings of the step for such a study."""
    metrics = records.metrics[: records.suspected.shape[1]]
    return ReleaseSettings(
        study="s",
        heading=Heading("A study", "", None, "en"),
        seed=seed,
        known=("puf",),
        metrics=tuple((name, name.capitalize()) for name in metrics),
        ranked=tuple(name for name in metrics if name != "unicity"),
        max_pairs=records.limit,
        interval="clopper-pearson",
        level=0.95,
        by_estimate=True,
        strata={"region": {}},
        linking_variables=("age", "sex"),
        varied=(),
        variants={},
        alike=Alike((), (), {}),
        attacks={},
        file_is_puf=records.codes is not None,
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
    described = settings_of(records, SEED if chosen.rounding == "random" else "")
    tables_ = tables(records) if results is None else results
    return gate.approve(dataclasses.replace(described, **changes), chosen, tables_, after)


KNOWN = ((), ("puf",), ("puf",), ("puf", "eif"))
"""Files that the public counts, by the number of a wide study."""


def wide(seed: int, policy: str, *, nested: bool = False, **draw: Any) -> tuple[Records, gate.Passed]:
    """Draw a wide study, on request one whose metrics are contained in each other, and let it pass by a policy."""
    generator = np.random.default_rng(seed)
    records, known = draw_wide(generator, **draw), KNOWN[seed % len(KNOWN)]
    if not nested:
        return records, passed(records, policy, known=known)
    metrics = {name: ATTACK.metrics[name] for name in records.metrics}
    attacks = {"": dataclasses.replace(ATTACK, metrics=metrics)}
    records = contained(records, generator)
    return records, passed(records, policy, known=known, attacks=attacks)


def digest(made: gate.Passed) -> str:
    """Return the digest of all public files."""
    texts = [made.tables[name].to_csv(index=False) for name in sorted(made.tables)]
    return hashlib.sha256("\n".join([*texts, made.record]).encode()).hexdigest()


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
