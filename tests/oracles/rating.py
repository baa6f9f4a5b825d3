"""The oracle's rank filter, confirmation and rates (METHODS §5 and §6)."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

from oracles.claims import claims, figures
from scipy.stats import beta, binomtest, t

ALL = "ALL"


@dataclass(frozen=True)
class Pair:
    pufid: tuple
    eifid: tuple
    stratum: tuple
    score: object = None  # exact where the metric is; None for unicity
    rank: int | None = None  # 1 = best distinct score of the pufid; None for unicity
    order: int | None = None  # unicity: the smallest number of variables,
    variables: tuple | None = None  # and the first such set, as positions


def pairs_of(stratum, puf, eif, scores):
    """Pairs of a stratum with their scores, by the positions of their records."""
    return [Pair(puf[i].key, eif[k].key, stratum, score=score) for (i, k), score in scores.items()]


def rank(pairs, *, high_is_best):
    """Each pair with the rank of its score among the distinct scores of its pufid."""
    scores = defaultdict(set)
    for pair in pairs:
        scores[pair.pufid].add(pair.score)
    ranks = {
        pufid: {score: 1 + i for i, score in enumerate(sorted(own, reverse=high_is_best))}
        for pufid, own in scores.items()
    }
    return [replace(pair, rank=ranks[pair.pufid][pair.score]) for pair in pairs]


def keep_ranks(ranked, limit):
    """The pairs of the ranks whose cumulative number of pairs is at most limit."""
    size = Counter((pair.pufid, pair.rank) for pair in ranked)
    return [p for p in ranked if sum(size[p.pufid, r] for r in range(1, p.rank + 1)) <= limit]


def rate_rows(study, puf, eif, strata, links, suspected, ambiguous):
    """{stratum: row of rates.csv}; ALL has every record and every link, whether in a stratum or not."""
    baselines = baseline_by_pufid(strata, links, suspected)
    compared = {record.key for p, e in strata.values() if e for record in p}
    findable = {
        one
        for p, e in strata.values()
        for one, other in links
        if one in {record.key for record in p} and other in {record.key for record in e}
    }
    rows = {ALL: rate_row(study, puf, eif, links, links, suspected, ambiguous, baselines, compared, findable)}
    for stratum, (p, e) in strata.items():
        pufids, eifids = {record.key for record in p}, {record.key for record in e}
        inside = {link for link in links if link[0] in pufids and link[1] in eifids}
        pairs = [pair for pair in suspected if pair.stratum == stratum]
        own = study, p, e, inside, links, pairs, ambiguous & pufids, baselines
        rows[stratum] = rate_row(*own, compared & pufids, findable & pufids)
    return rows


def rate_row(study, puf, eif, inside, links, suspected, ambiguous, baselines, compared, findable):
    confirmed = [pair for pair in suspected if (pair.pufid, pair.eifid) in links]
    pufids, confirmed_pufids = {p.pufid for p in suspected}, {p.pufid for p in confirmed}
    reachable = {record.key for record in puf} & {pufid for pufid, _ in links}
    low, high = interval(study.get("rates", {}), len(confirmed_pufids), len(pufids))
    level = float(study.get("rates", {}).get("level", 0.95))
    candidates = claims(
        (p.pufid, p.order if p.rank is None else p.rank, (p.pufid, p.eifid) in links) for p in suspected
    )
    return {
        "n_puf": len(puf),
        "n_eif": len(eif),
        "n_links": len(inside),
        "n_pairs": len(suspected),
        "n_suspected": len(pufids),
        "n_confirmed": len(confirmed_pufids),
        "n_ambiguous": len(ambiguous),
        "n_confirmed_pairs": len(confirmed),
        "suspected_rate": share(len(pufids), len(puf)),
        "confirmed_rate": share(len(confirmed_pufids), len(puf)),
        "conditional_rate": share(len(confirmed_pufids), len(pufids)),
        "conditional_low": low,
        "conditional_high": high,
        "conditional_bound": None if confirmed or not pufids else 1 - (1 - level) ** (1 / len(pufids)),
        "pair_precision": share(len(confirmed), len(suspected)),
        "reach": share(len(confirmed_pufids), len(reachable)),
        "baseline_rate": share(sum(baselines[pufid] for pufid in pufids), len(pufids)),
        **figures(candidates, {pufid for pufid, _ in links}),
        "n_compared": len(compared),
        "passing_rate": share(len(pufids | ambiguous), len(compared)),
        "n_findable": len(findable),
    }


def share(part, whole):
    """A fraction in [0, 1]; None where it is undefined."""
    return float(Fraction(part) / whole) if whole else None


def baseline_by_pufid(strata, links, suspected):
    """The chance that as many EIF records of the stratum, drawn at random, hold a true link of the pufid."""
    drawn = Counter(pair.pufid for pair in suspected)
    chances = {}
    for pair in suspected:
        eifids = [record.key for record in strata[pair.stratum][1]]
        n, k = len(eifids), drawn[pair.pufid]
        true = sum((pair.pufid, eifid) in links for eifid in eifids)
        chances[pair.pufid] = 1 - Fraction(math.comb(n - true, k), math.comb(n, k))
    return chances


def interval(setting, successes, n):
    """Clopper-Pearson (by scipy) or Wilson; (None, None) of nothing."""
    level = float(setting.get("level", 0.95))
    if n == 0:
        return None, None
    if setting.get("interval", "clopper-pearson") == "clopper-pearson":
        return tuple(binomtest(successes, n).proportion_ci(level, method="exact"))
    z, p = NormalDist().inv_cdf((1 + level) / 2), successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if successes == 0 else middle - half), (1.0 if successes == n else middle + half)


def clustered(records, level):
    """The interval of Σ hits / Σ n by leaving out each cluster, for records (cluster, hits, n); None of nothing."""
    hits, sizes = Counter(), Counter()
    for cluster, own, n in records:
        if n:
            hits[int(cluster)] += Fraction(own)
            sizes[int(cluster)] += Fraction(n)
    if not sizes:
        return None
    k, rate = len(sizes), sum(hits.values()) / sum(sizes.values())
    if rate in (0, 1):
        return interval({"level": level}, k if rate else 0, k)
    if k == 1:
        return 0.0, 1.0
    n = sum(sizes.values())
    without = {c: (sum(hits.values()) - hits[c]) / (n - sizes[c]) - rate for c in sizes}
    variance = Fraction(k - 1, k) * sum(own**2 for own in without.values())
    freedom = 1 / sum((sizes[c] / n) ** 2 for c in sizes) - 1
    effective = n
    if variance:
        effective = min(n, rate * (1 - rate) / variance)
        fourth = sum(own**4 for own in without.values())
        freedom = min(freedom, 2 * sum(own**2 for own in without.values()) ** 2 / fourth)
    quantiles = [t.ppf((1 + level) / 2, float(degrees)) for degrees in (n - 1, freedom)]
    effective = float(effective) * (quantiles[0] / quantiles[1]) ** 2
    yes, no = effective * float(rate), effective * float(1 - rate)
    return float(beta.ppf((1 - level) / 2, yes, no + 1)), float(beta.ppf((1 + level) / 2, yes + 1, no))
