"""A whole study by brute force: the judge of the production code, written from METHODS §1–6 apart from it.

Slow and simple on purpose: every pair is scored as the definition says, in exact fractions wherever the
definition is exact. It takes the study as the plain mapping of its YAML file (scalars may be text) and the
three files as lists of rows of text, and imports nothing of the library.
"""

from dataclasses import dataclass
from fractions import Fraction

from oracles import competing, evidence, scoring
from oracles.binning import bin_records, variances
from oracles.preparing import by_stratum, distinct_links, prepare
from oracles.rating import ALL, Pair, keep_ranks, rank, rate_rows
from oracles.tolerance import possible_scores, tolerance

CLAIMED = 5
"""Scoring keeps no fewer pairs than a claim has candidates."""

METRICS = ("unicity", "taxicab", "euclidean", "adhoc", "winkler", "fellegi_sunter")


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
    for name in METRICS:
        if name not in study["metrics"]:
            continue
        options, least = study["metrics"][name] or {}, None
        if name == "unicity":
            everything = suspected = claimed = unicity_pairs(study, options, puf, eif)
            ambiguous = set()
        else:
            setting = study.get("rank_filter") or {}
            if name == "fellegi_sunter":
                claimed, least = weighed_pairs(study, options, puf, eif, links)
                found = [pair for pair in claimed if pair.score >= least]
            else:
                claimed = found = scored_pairs(name, study, options, puf, eif)
            pairs = rank(found, high_is_best=high_is_best(name, options))
            everything = keep_ranks(pairs, max(int(setting.get("keep", 20)), CLAIMED))
            suspected = keep_ranks(pairs, int(setting.get("max_pairs", 5)))
            ambiguous = {pair.pufid for pair in pairs} - {pair.pufid for pair in suspected}
        scored, kept = ({(pair.pufid, pair.eifid): pair for pair in some} for some in (everything, suspected))
        rates = rate_rows(study, puf, eif, strata, links, suspected, ambiguous)
        tolerated = tolerated_by(name, study, options, puf, eif, links)
        rates = {stratum: row | {"tolerance": tolerated} for stratum, row in rates.items()}
        score = [(pair.pufid, pair.eifid, pair.order if name == "unicity" else pair.score) for pair in claimed]
        metrics[name] = MetricResult(scored, kept, kept.keys() & links, ambiguous, rates, score, least)
    counts = next(iter(metrics.values())).rates
    sizes = {k: tuple(counts[k][c] for c in ("n_puf", "n_eif", "n_links")) for k in counts if k != ALL}
    return Result(sizes, metrics)


def high_is_best(name, options):
    """Scores and agreements are best where they are high, distances where they are low."""
    return name in ("adhoc", "fellegi_sunter") or (name == "winkler" and "closest" not in options.get("agreement", ""))


def scored_pairs(name, study, options, puf, eif):
    """Every pair of the metric's suspected pairs before the rank filter."""
    variables, variance = study["linking_variables"], variances(study, puf, eif)
    alpha = Fraction(str(options.get("alpha", "0.5")))
    pairs = []
    for stratum, (p, e) in by_stratum(*(bin_records(study, puf, eif) if name == "taxicab" else (puf, eif))).items():
        if name == "taxicab":
            scores = scoring.taxicab(p, e, len(variables), alpha)
        elif name == "euclidean":
            norm, whole_steps = options.get("norm", "primer"), options.get("whole_steps") == "true"
            scores = scoring.euclidean(p, e, variables, variance[stratum], alpha, norm, whole_steps)
        elif name == "winkler":
            scope = (puf, eif) if study.get("binning", {}).get("scope") == "study" else (p, e)
            rule, least = options.get("agreement", "half_gap"), int(options.get("min_agree", 1))
            scores = scoring.winkler(p, e, variables, scope, rule, least)
        else:
            declared = options.get("scores") or {}
            highest = [max(possible_scores(x, declared.get(x["name"]))) for x in variables]
            threshold = scoring.adhoc_threshold(options, highest)
            scores = scoring.adhoc(p, e, variables, variance[stratum], declared, threshold)
        pairs += [Pair(p[i].key, e[k].key, stratum, score=score) for (i, k), score in scores.items()]
    return pairs


def weighed_pairs(study, options, puf, eif, links):
    """All pairs with their weights of evidence, and the least weight of a suspected pair."""
    if not by_pattern(options):
        records = bin_records(study, puf, eif) if options.get("levels") == "bins" else (puf, eif)
        found, known = competing.of_study(study, options, *records, links)
        pairs = [Pair(p.key, e.key, p.stratum, score=Fraction(n, evidence.UNIT)) for (p, e), n in found.items()]
        return pairs, Fraction(known.least, evidence.UNIT)
    variables, binned = study["linking_variables"], bin_records(study, puf, eif)
    known, pairs = evidence.estimate(options, variables, *binned, links), []
    for stratum, (p, e) in by_stratum(*binned).items():
        for (i, k), units in evidence.score(known, options, variables, p, e).items():
            pairs.append(Pair(p[i].key, e[k].key, stratum, score=Fraction(units, evidence.UNIT)))
    return pairs, Fraction(known.least, evidence.UNIT)


def by_pattern(options):
    """Whether a pair is judged by its bins and categories alone, whatever the other pairs are."""
    plain = options.get("competition") == "false" and options.get("frequency") == "false"
    return options.get("levels") == "bins" and plain


def tolerated_by(name, study, options, puf, eif, links):
    """The tolerance of a metric, for which one needs the weights of evidence."""
    variables = study["linking_variables"]
    if name != "fellegi_sunter":
        return tolerance(name, options, variables, any_missing(puf, eif))
    if by_pattern(options):
        known = evidence.estimate(options, variables, *bin_records(study, puf, eif), links)
    else:
        records = bin_records(study, puf, eif) if options.get("levels") == "bins" else (puf, eif)
        known = competing.of_study(study, options, *records, links)[1]
    complete = [all(r.values[j] is not None for r in [*puf, *eif]) for j in range(len(variables))]
    return evidence.tolerance(known, complete)


def any_missing(puf, eif):
    return any(None in record.values for record in [*puf, *eif])


def unicity_pairs(study, options, puf, eif):
    """Unicity's suspected pairs; `auto` looks for missing values in both whole files."""
    binned = bin_records(study, puf, eif)
    anything_missing = any_missing(puf, eif)
    option, pairs = options.get("interactions", "auto"), []
    sets = scoring.variable_sets(option, options.get("max_order"), len(study["linking_variables"]), anything_missing)
    for stratum, (p, e) in by_stratum(*binned).items():
        found = scoring.unicity_jointly_observed(p, e) if option == "jointly_observed" else scoring.unicity(p, e, sets)
        pairs += [Pair(p[i].key, e[k].key, stratum, order=len(s), variables=s) for (i, k), s in found.items()]
    return pairs
