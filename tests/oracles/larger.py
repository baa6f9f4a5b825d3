"""What becomes of each PUF record, by brute force (METHODS §6.5); written apart from the library, slow and simple."""

from fractions import Fraction
from itertools import combinations

from oracles.binning import bin_records
from oracles.preparing import by_stratum, distinct_links, prepare


def claims(result, pufids):
    """{pufid: (its candidates, the true links among them)} of one metric's result."""
    found = dict.fromkeys(pufids, (0, 0))
    for pair in result.suspected:
        candidates, right = found[pair[0]]
        found[pair[0]] = candidates + 1, right + (pair in result.confirmed)
    return found


def ranked_rivals(result, links, pufids, keep):
    """{pufid: the pairs as good as its best true link or better that are no links}; `keep` without a kept link.

    The result is that of a study whose rank limit is `keep`.
    """
    found = {}
    for pufid in pufids:
        pairs = [pair for pair in result.scored.values() if pair.pufid == pufid]
        ranks = [pair.rank for pair in pairs if (pufid, pair.eifid) in links]
        rivals = [p for p in pairs if ranks and p.rank <= min(ranks) and (pufid, p.eifid) not in links]
        found[pufid] = len(rivals) if ranks else keep
    return found


def ranked_places(result, links, pufids):
    """{pufid: (better pairs than its best true link, true links as good as that)}; (0, 0) without a kept link."""
    found = {}
    for pufid in pufids:
        pairs = [pair for pair in result.scored.values() if pair.pufid == pufid]
        ranks = [pair.rank for pair in pairs if (pufid, pair.eifid) in links]
        best = min(ranks, default=0)
        found[pufid] = (sum(pair.rank < best for pair in pairs), sum(rank == best for rank in ranks))
    return found


def best_guesses(result, links, pufids, ranked):
    """{pufid: the chance that a random one of its best pairs is a true link}; 0 without a pair.

    The result is that of a study whose rank limit is `keep`. Unicity does not rank its pairs.
    """
    found = {}
    for pufid in pufids:
        pairs = [pair for pair in result.scored.values() if pair.pufid == pufid]
        best = [pair for pair in pairs if pair.rank == 1] if ranked else pairs
        found[pufid] = Fraction(sum((pufid, pair.eifid) in links for pair in best), len(best) or 1)
    return found


def unique_rivals(study, puf, eif, iuf, sets, keep):
    """{pufid: the fewest other EIF records in the cell of a true link}, over every set that can decide it."""
    puf, eif = prepare(study, "puf", puf), prepare(study, "eif", eif)
    links = distinct_links(study, puf, eif, iuf)
    binned = bin_records(study, puf, eif)
    found = {record.key: keep for record in puf}
    v = len(study["linking_variables"])
    for p, e in by_stratum(*binned).values():
        for one in p:
            for other in e:
                if (one.key, other.key) in links:
                    for chosen in possible(sets, v, one, other):
                        mates = [r for r in p if same(r, one, chosen)]
                        rivals = [r for r in e if same(r, other, chosen)]
                        if same(one, other, chosen) and len(mates) == 1:
                            found[one.key] = min(found[one.key], len(rivals) - 1)
    return found


def possible(sets, v, one, other):
    """The sets of variables that are searched for a pair."""
    if sets == "full":
        return [tuple(range(v))]
    if sets == "jointly_observed":
        both = tuple(j for j in range(v) if one.values[j] is not None and other.values[j] is not None)
        return [both] if both else []
    return [chosen for k in range(1, v + 1) for chosen in combinations(range(v), k)]


def same(one, other, chosen):
    """Whether two records have the same values of the variables, none of them missing."""
    return all(one.values[j] is not None and one.values[j] == other.values[j] for j in chosen)
