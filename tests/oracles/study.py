"""A whole study by brute force: the judge of the production code, written from METHODS §1–6 apart from it.

Slow and simple on purpose: every pair is scored as the definition says, in exact fractions wherever the
definition is exact. It takes the study as the plain mapping of its YAML file (scalars may be text) and the
three files as lists of rows of text, and imports nothing of the library.
"""

from dataclasses import dataclass
from fractions import Fraction

from oracles.metrics import ORACLES
from oracles.preparing import by_stratum, distinct_links, prepare
from oracles.rating import ALL, keep_ranks, rank, rate_rows

CLAIMED = 5
"""Scoring keeps no fewer pairs than a claim has candidates."""

METRICS = tuple(ORACLES)


@dataclass(frozen=True)
class MetricResult:
    scored: dict  # {(pufid, eifid): Pair} of the ranks within `keep`, which is five at least
    suspected: dict  # the same of the ranks within `max_pairs`
    confirmed: set  # the suspected (pufid, eifid) that are links
    ambiguous: set  # the pufids with suspected pairs whose best rank alone exceeds `max_pairs`
    rates: dict  # {stratum, or ALL: {column of rates.csv: value}}
    claimed: list  # the pairs that claims are made from, whatever `keep` is: [(pufid, eifid, score or order)]
    least: Fraction | None = None  # the least score of a suspected pair, where claims have others too


@dataclass(frozen=True)
class Result:
    strata: dict  # {values of the strata variables: (n_puf, n_eif, n_links)}
    metrics: dict  # {metric: MetricResult}


def run(study, puf, eif, iuf):
    """The result of the study on rows of text."""
    puf, eif = prepare(study, "puf", puf), prepare(study, "eif", eif)
    links, strata = distinct_links(study, puf, eif, iuf), by_stratum(puf, eif)
    metrics = {}
    for name in (name for name in METRICS if name in study["metrics"]):
        options = study["metrics"][name] or {}
        oracle = ORACLES[name]
        if oracle.weighed:
            claimed, least = oracle.weighed(study, options, puf, eif, links)
            found = [pair for pair in claimed if pair.score >= least]
        else:
            claimed = found = list(oracle.pairs(study, options, puf, eif, links))
            least = None
        if oracle.ranked:
            setting = study.get("rank_filter") or {}
            pairs = rank(found, high_is_best=oracle.high_is_best(options))
            everything = keep_ranks(pairs, max(int(setting.get("keep", 20)), CLAIMED))
            suspected = keep_ranks(pairs, int(setting.get("max_pairs", 5)))
            ambiguous = {pair.pufid for pair in pairs} - {pair.pufid for pair in suspected}
        else:
            everything, suspected, ambiguous = found, found, set()
        scored, kept = ({(pair.pufid, pair.eifid): pair for pair in some} for some in (everything, suspected))
        rates = rate_rows(study, puf, eif, strata, links, suspected, ambiguous)
        tolerated = oracle.tolerance(study, options, puf, eif, links)
        rates = {stratum: row | {"tolerance": tolerated} for stratum, row in rates.items()}
        score = [(pair.pufid, pair.eifid, pair.score if oracle.ranked else pair.order) for pair in claimed]
        metrics[name] = MetricResult(scored, kept, kept.keys() & links, ambiguous, rates, score, least)
    counts = next(iter(metrics.values())).rates
    sizes = {k: tuple(counts[k][c] for c in ("n_puf", "n_eif", "n_links")) for k in counts if k != ALL}
    return Result(sizes, metrics)
