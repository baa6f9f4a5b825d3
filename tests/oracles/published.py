"""Every count that an edition publishes of an attack, by the oracle's metrics (METHODS §4–§6, §11.2)."""

from collections import defaultdict

from oracles import assignment, evidence
from oracles.preparing import distinct_links, prepare
from oracles.rating import keep_ranks, rank
from oracles.study import high_is_best, scored_pairs, unicity_pairs, weighed_pairs

COUNTS = ("n_suspected", "n_confirmed", "n_ambiguous", "n_single", "n_single_confirmed")
ALL = "ALL"


def counts(studies, labels, puf, eif, iuf, clusters):
    """{(quantity, variant, metric, stratum, rank limit): count} of a study, whose variant is "", and of its variants.

    `labels` are those of all strata, and `clusters` has the cluster of each PUF record. Variants are published of the
    whole study, at their rank limit alone.
    """
    found, known = {}, {}
    for variant, study in studies.items():
        records = prepare(study, "puf", puf), prepare(study, "eif", eif)
        links = distinct_links(study, *records, iuf)
        strata = {r.key: "/".join(r.stratum) for side in records for r in side if r.stratum is not None}
        cluster = dict(zip((record.key for record in records[0]), clusters, strict=True))
        if not variant:
            found |= of_files(labels, records, links, strata, cluster)
        for metric, options in study["metrics"].items():
            limits = {int(study["rank_filter"]["max_pairs"])}
            in_force = 0 if metric == "unicity" else min(limits)
            if not variant and in_force:
                limits |= set(range(1, int(study["rank_filter"]["keep"]) + 1))
            told = repr((metric, options, [study[key] for key in ("strata", "linking_variables", "binning")]))
            if told not in known:
                known[told] = passing_pairs(metric, options, study, records, links)
            passing = known[told]
            for limit in limits:
                states = of_records(passing, options, links, limit, in_force)
                is_whole = bool(variant) or limit != (in_force or limit)
                lines = {ALL: states} if is_whole else by_stratum(labels, states, strata)
                names = COUNTS if limit == (in_force or limit) else COUNTS[:3]
                for stratum, own in lines.items():
                    for name in names:
                        cell = name, variant, metric, stratum, limit if in_force else 0
                        found[cell] = sum(name in state for state in own.values())
                    if not is_whole:
                        for name in ("suspected", "confirmed"):
                            cell = f"clusters_{name}", variant, metric, stratum, limit if in_force else 0
                            found[cell] = len({cluster[key] for key, state in own.items() if f"n_{name}" in state})
    return found


def of_files(labels, records, links, strata, cluster):
    """Records, links and clusters of the whole study and of each stratum."""
    found = {}
    for label in (ALL, *labels):
        puf, eif = ({record.key for record in side if label in (ALL, strata.get(record.key))} for side in records)
        inside = sum(label == ALL or (p in puf and e in eif) for p, e in links)
        groups = len({cluster[key] for key in puf})
        for name, n in zip(
            ("n_puf", "n_eif", "n_links", "n_clusters"), (len(puf), len(eif), inside, groups), strict=True
        ):
            found[name, "", "", label, 0] = n
    return found


def by_stratum(labels, states, strata):
    """The records of each stratum, and all of them."""
    lines = {ALL: states, **{label: {} for label in labels}}
    for key, state in states.items():
        lines[strata[key]][key] = state
    return lines


def passing_pairs(metric, options, study, records, links):
    """The pairs that pass the threshold of a metric, with their ranks."""
    if metric == "unicity":
        return unicity_pairs(study, options, *records)
    if metric == "fellegi_sunter":
        found, least = weighed_pairs(study, options, *records, links)
        found = [pair for pair in found if pair.score >= least]
    else:
        found = scored_pairs(metric, study, options, *records)
    return rank(found, high_is_best=high_is_best(metric, options))


def of_records(passing, options, links, limit, in_force):
    """{key of a PUF record: in which of COUNTS it is}, for records with a pair that passes the threshold."""
    suspected = keep_ranks(passing, limit) if in_force else passing
    if options.get("one_to_one") == "true":
        passing, suspected = assigned(passing, in_force)
    candidates = defaultdict(list)
    for pair in suspected:
        candidates[pair.pufid].append((pair.pufid, pair.eifid) in links)
    states = {pair.pufid: {"n_ambiguous"} for pair in passing}
    for key, right in candidates.items():
        states[key] = {"n_suspected"} | ({"n_confirmed"} if any(right) else set())
        if len(right) == 1:
            states[key] |= {name.replace("n_", "n_single_").removesuffix("_suspected") for name in states[key]}
    return states


def assigned(passing, limit):
    """The pairs of the one-to-one assignment among those within the limit, and with them those of ambiguous records."""
    kept = sorted(keep_ranks(passing, limit), key=lambda pair: (pair.pufid, pair.eifid))
    ambiguous = {pair.pufid for pair in passing} - {pair.pufid for pair in kept}
    weights = [(pair.pufid, pair.eifid, int(pair.score * evidence.UNIT)) for pair in kept]
    keys = [sorted({pair[side] for pair in weights}) for side in (0, 1)]
    rows = [(keys[0].index(p), keys[1].index(e), weight) for p, e, weight in weights]
    chosen = [kept[at] for at in assignment.solved(rows)]
    return [*chosen, *(pair for pair in passing if pair.pufid in ambiguous)], chosen
