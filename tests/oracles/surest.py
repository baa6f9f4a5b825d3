"""The oracle's surest claims and agreement of metrics (METHODS §6.7, §6.8): dictionaries, sets and fractions."""

from collections import Counter, defaultdict
from fractions import Fraction

from oracles.preparing import by_stratum, distinct_links, prepare
from oracles.rating import Pair, interval, rank, rate_rows, share


def claims(pairs, links, *, low_is_best, most=5):
    """[(score, next score or None, c, pairs at the next score, t)] of each record, of whom at most `most` are best.

    `pairs` are all [(puf, eif, score)] that pass, whatever the rank filter keeps; `most` is None without a limit.
    """
    by_record = defaultdict(list)
    for puf, eif, score in pairs:
        by_record[puf].append((score if low_is_best else -score, score, (puf, eif) in links))
    made = []
    for own in by_record.values():
        levels = sorted({level for level, _, _ in own})
        scores = {level: score for level, score, _ in own}
        best = [true for level, _, true in own if level == levels[0]]
        after = [level for level, _, _ in own if levels[1:] and level == levels[1]]
        if most is None or len(best) <= most:
            made.append((scores[levels[0]], scores[after[0]] if after else None, len(best), len(after), sum(best)))
    return made


def best_guess(pairs, links, *, low_is_best, most=None, least=None):
    """{puf: share of right candidates at the best score}, of records that have a candidate which is suspected.

    `pairs` are all [(puf, eif, score)]; suspected are those with a score of at least `least`, if there is such a
    threshold, of a record with at most `most` pairs at its best score, if there is such a limit.
    """
    guesses = {}
    for puf in {pair[0] for pair in pairs}:
        own = [(score, (puf, eif) in links) for one, eif, score in pairs if one == puf]
        best = (min if low_is_best else max)(score for score, _ in own)
        candidates = [is_link for score, is_link in own if score == best]
        if (most is None or len(candidates) <= most) and (least is None or best >= least):
            guesses[puf] = Fraction(sum(candidates), len(candidates))
    return guesses


def agreeing(suspected, links):
    """The claims of the pairs that most metrics suspect, as :func:`claims` makes them; `suspected` are sets."""
    metrics = Counter(pair for pairs in suspected for pair in pairs)
    return claims([(*pair, n) for pair, n in metrics.items()], links, low_is_best=False, most=None)


def lines(made, study, *, low_is_best):
    """The lines of surest/{metric}.csv: one for each certainty, the surest first."""

    def certainty(score, following, candidates, after):
        level = score if low_is_best else -score
        # Without a next rank nothing is near.
        gap = (1, 0) if following is None else (0, abs(following - score))
        return level, (-gap[0], -gap[1]), candidates, after

    groups = defaultdict(list)
    for claim in made:
        groups[certainty(*claim[:4])].append(claim)
    n, right, table = 0, Fraction(0), []
    for _, group in sorted(groups.items()):
        n += len(group)
        right += sum(Fraction(t, c) for _, _, c, _, t in group)
        table.append((*group[0][:4], n, right, right / n, *ends(study, right, n)))
    return table


def ends(study, right, n):
    """The interval of a share, for which the right claims are a whole number; else None."""
    rates = study.get("rates", {})
    if rates.get("interval") == "clustered" or right.denominator != 1:
        return None, None
    return interval(rates, int(right), n)


def right_among(table, n):
    """How many of the surest n claims are right: those that are equally sure are drawn at random."""
    before = (0, Fraction(0))
    for _, _, _, _, number, right, *_ in table:
        if n <= number:
            return before[1] + (right - before[1]) * Fraction(n - before[0], number - before[0])
        before = number, right
    return None


def largest(table, least):
    """The largest number of claims of which at least a share is right."""
    return max((n for _, _, _, _, n, _, rate, *_ in table if rate >= Fraction(str(least))), default=0)


def agreement(study, puf, eif, iuf, suspected):
    """{k: {stratum: row of agreement/rates.csv}}; `suspected` are the suspected pairs of each metric."""
    puf, eif = prepare(study, "puf", puf), prepare(study, "eif", eif)
    links, strata = distinct_links(study, puf, eif, iuf), by_stratum(puf, eif)
    metrics = Counter(pair for pairs in suspected.values() for pair in pairs)
    stratum = {key: pair.stratum for pairs in suspected.values() for key, pair in pairs.items()}
    tables = {}
    for k in range(1, len(suspected) + 1):
        agreeing = [Pair(*pair, stratum[pair], score=n) for pair, n in metrics.items() if n >= k]
        tables[k] = rate_rows(study, puf, eif, strata, links, rank(agreeing, high_is_best=True), set())
    return tables


__all__ = ["agreeing", "agreement", "best_guess", "claims", "largest", "lines", "right_among", "share"]
