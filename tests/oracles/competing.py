"""Fellegi–Sunter with levels of differences and with competition, pair by pair in dictionaries (METHODS §4.6).

A stratum is a pair of lists of records, PUF and EIF; a record is a tuple of values, None for missing. A variable is
`("number", None)`, `("number", [limits of its bands])` or `("category", whether neighbours agree partly)`, with whole
numbers for categories in their order.
"""

import math
from itertools import product

import numpy as np
from oracles import evidence
from oracles.preparing import by_stratum, coarser, code_of, is_numeric

UNIT = 10**12
SHARES = [0.0025, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4]


def pairs_of(strata):
    """{(stratum, i, k): (PUF record, EIF record)} of all pairs."""
    return {
        (s, i, k): (p, e)
        for s, (puf, eif) in enumerate(strata)
        for (i, p), (k, e) in product(enumerate(puf), enumerate(eif))
    }


def on_scale(strata, j, limits):
    """A function that takes a number to a whole one."""
    sizes = sorted(
        abs(r[j]) for puf, eif in strata if puf and eif for r in [*puf, *eif] if r[j] is not None and r[j] != 0
    )
    if not sizes:
        return round
    if limits is None and sizes[-1] > 8 * sizes[math.ceil(len(sizes) / 2) - 1]:
        unit = sizes[math.ceil(len(sizes) / 50) - 1]
        return lambda x: round(float(np.arcsinh(x / unit)) * 10**9)
    digits = 1 + int(f"{sizes[-1]:.17e}".partition("e")[2])
    return lambda x: round(x * 10.0 ** (12 - digits))


def level_rules(strata, variables):
    """A function of two values for each variable, which returns the level, and all levels by their name."""
    rules = []
    for j, (kind, more) in enumerate(variables):
        if kind == "category":
            rules.append((category_rule(more), ["agree", "partial", "differ"] if more else ["agree", "differ"]))
            continue
        whole = on_scale(strata, j, more)
        if more is None:
            apart = sorted(
                abs(whole(e[j]) - whole(p[j]))
                for p, e in pairs_of(strata).values()
                if p[j] is not None and e[j] is not None
            )
            cuts = [apart[rank_of(share, len(apart)) - 1] for share in SHARES] if apart else []
        else:
            cuts = [whole(limit) for limit in more]
        cuts = sorted({cut for cut in cuts if cut > 0})
        names = [f"lower_{k}" for k in range(len(cuts) + 1, 0, -1)] + ["agree"]
        rules.append((number_rule(whole, cuts), names + [f"higher_{k}" for k in range(1, len(cuts) + 2)]))
    return rules


def rank_of(share, n):
    return max(1, -(-n * round(share * 10_000) // 10_000))


def category_rule(partly):
    def rule(a, b):
        if a == b:
            return "agree"
        return "partial" if partly and abs(a - b) == 1 else "differ"

    return rule


def number_rule(whole, cuts):
    def rule(a, b):
        apart = whole(b) - whole(a)
        if not apart:
            return "agree"
        k = 1 + sum(abs(apart) > cut for cut in cuts)
        return f"{'higher' if apart > 0 else 'lower'}_{k}"

    return rule


def found_levels(strata, rules):
    """{pair: the level of each variable, None where it is missing}."""
    return {
        pair: [None if a is None or b is None else rule(a, b) for (rule, _), a, b in zip(rules, *values, strict=True)]
        for pair, values in pairs_of(strata).items()
    }


def started(kind, names):
    """The shares of the levels among links with which EM starts."""
    if kind == "category":
        return {name: 0.9 if name == "agree" else 0.1 / (len(names) - 1) for name in names}
    shares = {name: 1.5 if name == "agree" else math.exp(-0.6 * int(name.split("_")[1])) for name in names}
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def counted(found, names, j, amounts):
    counts = dict.fromkeys(names, 0.0)
    for pair, levels in found.items():
        if levels[j] is not None:
            counts[levels[j]] += amounts[pair]
    return counts


def shared(counts, more):
    total = sum(counts.values()) + sum(more.values())
    return {name: (counts[name] + more[name]) / total for name in counts}


def frequencies(strata, rules):
    """{(stratum, i): for each variable {level: EIF records at it from PUF record i}}, two spread as `u` not counted."""
    found = {}
    for (s, i, _), levels in found_levels(strata, rules).items():
        own = found.setdefault((s, i), [dict.fromkeys(names, 0) for _, names in rules])
        for counts, level in zip(own, levels, strict=True):
            if level is not None:
                counts[level] += 1
    return found


def rarity(counts, u, level):
    """How much rarer a level is from one value than from all."""
    return u[level] * (sum(counts.values()) + 2) / (counts[level] + 2 * u[level])


def rarities(pair, levels, u, counts):
    """Those of the variables of a pair; 1 where frequencies do not count, or a value is missing."""
    if counts is None:
        return [1.0] * len(levels)
    own = zip(counts[pair[:2]], u, levels, strict=True)
    return [1.0 if level is None else rarity(c, shares, level) for c, shares, level in own]


def posterior(found, m, u, prior, competition, counts):
    """{pair: probability of being a link}."""
    odds = {}
    for pair, levels in found.items():
        own = zip(m, u, levels, rarities(pair, levels, u, counts), strict=True)
        odds[pair] = (
            prior
            / (1 - prior)
            * math.prod(a[level] / b[level] * rare for a, b, level, rare in own if level is not None)
        )
    if not competition:
        return {pair: o / (1 + o) for pair, o in odds.items()}
    rows, columns = {}, {}
    for (s, i, k), o in odds.items():
        rows.setdefault((s, i), []).append(o)
        columns.setdefault((s, k), []).append(o)
    return {(s, i, k): o / (1 + others(rows[s, i], o) + others(columns[s, k], o) + o) for (s, i, k), o in odds.items()}


def others(odds, own):
    """The sum of all odds but one."""
    rest = list(odds)
    rest.remove(own)
    return math.fsum(rest)


def estimate(strata, variables, competition, links=None, frequency=True):
    """Return (levels of each pair, m and u by variable and level, prior, frequencies of levels)."""
    rules = level_rules(strata, variables)
    found = found_levels(strata, rules)
    counts = frequencies(strata, rules) if frequency else None
    most = sum(min(len(puf), len(eif)) for puf, eif in strata)
    n, names = len(found), [own for _, own in rules]
    ones = dict.fromkeys(found, 1.0)
    pairs = [counted(found, own, j, ones) for j, own in enumerate(names)]
    half = [dict.fromkeys(own, 0.5) for own in names]
    if links is not None:
        amounts = {pair: float(pair in links) for pair in found}
        true = [counted(found, own, j, amounts) for j, own in enumerate(names)]
        m = [shared(*both) for both in zip(true, half, strict=True)]
        return found, m, shares_of_others(pairs, true), (len(links) + 0.5) / (n + 1), counts
    start = [started(kind, own) for (kind, _), own in zip(variables, names, strict=True)]
    before = [{name: 6 * (0.9 * share + 0.1 / len(own)) for name, share in own.items()} for own in start]

    def shares(links):
        return [shared(*both) for both in zip(links, before, strict=True)], shares_of_others(pairs, links)

    def prior_of(held):
        return (min(max(held, most / 50), most) + 0.5) / (n + 1)

    def learnt(held):
        """(m, u, links that are then expected, these without a bound) with links held at a number."""
        links, prior = [dict.fromkeys(own, 0.0) for own in names], held / n
        for _ in range(25):
            g = posterior(found, *shares(links), prior, competition, counts)
            more = held / sum(g.values())
            g = {pair: p * more for pair, p in g.items()}
            links, prior = [counted(found, own, j, g) for j, own in enumerate(names)], min(prior * more, 0.5)
        m, u = shares(links)
        for _ in range(5000):
            before_this, total = held, sum(posterior(found, m, u, prior_of(held), competition, counts).values())
            held = min(max(total, most / 50), most)
            if abs(held - before_this) < 1e-12 * held:
                break
        return m, u, held, total

    m, u, held, total = learnt(most / 2)
    if held < most / 10 and (fewer := learnt(most / 10))[3] >= 1.15 * total:
        m, u, held, _ = fewer
    return found, m, u, prior_of(held), counts


def shares_of_others(pairs, links):
    return [
        shared({name: max(a[name] - b[name], 0) for name in a}, dict.fromkeys(a, 0.5))
        for a, b in zip(pairs, links, strict=True)
    ]


def score(found, weights, prior, competition, u=None, counts=None):
    """{pair: weight, less what its rivals take}, from the weights of the levels, all in units of 10^-12 bits."""
    bits = {
        pair: sum(
            own[level] + round(10**9 * math.log2(rare)) * 1000
            for own, level, rare in zip(weights, levels, rarities(pair, levels, u, counts), strict=True)
            if level is not None
        )
        for pair, levels in found.items()
    }
    if not competition:
        return bits
    odds = {}
    for pair, levels in found.items():
        own = zip(weights, levels, rarities(pair, levels, u, counts), strict=True)
        factors = [2.0 ** (bit[level] / UNIT) * rare for bit, level, rare in own if level is not None]
        odds[pair] = math.prod(factors) * prior / (1 - prior)
    rows, columns = {}, {}
    for (s, i, k), o in odds.items():
        rows.setdefault((s, i), []).append(o)
        columns.setdefault((s, k), []).append(o)
    return {
        (s, i, k): bits[s, i, k] - round(10**9 * math.log2(1 + others(rows[s, i], o) + others(columns[s, k], o))) * 1000
        for (s, i, k), o in odds.items()
    }


def of_study(study, options, puf, eif, links):
    """Return (all pairs of a study with their weights, an :class:`evidence.Evidence`).

    Records are as `preparing.prepare` makes them, or in bins if the options ask for these.
    """
    bins, known = options.get("levels") == "bins", study["linking_variables"]
    partial, bands = options.get("partial") or [], options.get("bands") or {}
    variables = [
        ("number", [float(limit) for limit in bands[x["name"]]] if x["name"] in bands else None)
        if is_numeric(x) and not bins
        else ("category", x["name"] in partial)
        for x in known
    ]
    sides = list(by_stratum(puf, eif).values())
    places = [place_of(x, j, [*puf, *eif], bins) for j, x in enumerate(known)]
    strata = [
        tuple([tuple(map(lambda place, v: place(v), places, r.values)) for r in side] for side in both)
        for both in sides
    ]
    competition = options.get("competition") != "false"
    true = {
        (s, i, k)
        for s, (p, e) in enumerate(sides)
        for (i, a), (k, b) in product(enumerate(p), enumerate(e))
        if (a.key, b.key) in links
    }
    known = true if options.get("m") == "informed" else None
    found, m, u, prior, counts = estimate(strata, variables, competition, known, options.get("frequency") != "false")
    prior, u = evidence.twelve(prior), [{x: evidence.twelve(own[x]) for x in own} for own in u]
    weights = [
        {x: evidence.units(math.log2(evidence.twelve(a[x])) - math.log2(b[x])) for x in a}
        for a, b in zip(m, u, strict=True)
    ]
    least = evidence.least_of(options, prior)
    scored = {
        (sides[s][0][i], sides[s][1][k]): weight
        for (s, i, k), weight in score(found, weights, prior, competition, u, counts).items()
    }
    for own in weights:
        last = max((int(x.split("_")[1]) for x in own if "_" in x), default=0)
        if last:
            own["differ"] = max(own[f"lower_{last}"], own[f"higher_{last}"])
        own["missing"] = 0
    return scored, evidence.Evidence(weights, least)


def place_of(variable, j, records, bins):
    """What takes a value of a variable to the number that levels are about."""
    if is_numeric(variable):
        return lambda value: None if value is None else int(value) if bins else float(value)
    order = variable.get("order") or []
    order = list(dict.fromkeys(coarser(variable, code_of(variable, code)) for code in order))
    others = sorted({r.values[j] for r in records} - {None, *order})
    place = {code: at for at, code in enumerate(order)}
    place |= {code: 2 * (len(order) + at) + 1 for at, code in enumerate(others)}
    return lambda value: None if value is None else place[value]
