"""Fellegi–Sunter by brute force (METHODS §4.6)."""

from fractions import Fraction

from hypothesis import strategies as st
from oracles import competing, evidence
from oracles.binning import bin_records
from oracles.metrics import Oracle
from oracles.metrics.drawing import options
from oracles.preparing import by_stratum
from oracles.rating import Pair


def weighed(study, own, puf, eif, links):
    """All pairs with their weights of evidence, and the least weight of a suspected pair."""
    if not by_pattern(own):
        found, known = in_competition(study, own, puf, eif, links)
        pairs = [Pair(p.key, e.key, p.stratum, score=Fraction(n, evidence.UNIT)) for (p, e), n in found.items()]
        return pairs, Fraction(known.least, evidence.UNIT)
    variables, binned = study["linking_variables"], bin_records(study, puf, eif)
    known, pairs = evidence.estimate(own, variables, *binned, links), []
    for stratum, (p, e) in by_stratum(*binned).items():
        for (i, k), units in evidence.score(known, own, variables, p, e).items():
            pairs.append(Pair(p[i].key, e[k].key, stratum, score=Fraction(units, evidence.UNIT)))
    return pairs, Fraction(known.least, evidence.UNIT)


def in_competition(study, own, puf, eif, links):
    """The weights of all pairs and the model, where a pair is judged by others too."""
    records = bin_records(study, puf, eif) if own.get("levels") == "bins" else (puf, eif)
    return competing.of_study(study, own, *records, links)


def by_pattern(own):
    """Whether a pair is judged by its bins and categories alone, whatever the other pairs are."""
    return own.get("levels") == "bins" and own.get("competition") == "false" and own.get("frequency") == "false"


def tolerance(study, own, puf, eif, links):
    """The most variables that differ in a suspected pair, by the weights of evidence."""
    variables = study["linking_variables"]
    if by_pattern(own):
        known = evidence.estimate(own, variables, *bin_records(study, puf, eif), links)
    else:
        known = in_competition(study, own, puf, eif, links)[1]
    complete = [all(r.values[j] is not None for r in [*puf, *eif]) for j in range(len(variables))]
    return evidence.tolerance(known, complete)


@st.composite
def drawn(draw, linking):
    """The section of the metric, with weights from known links: those of EM depend on the order of sums."""
    variables = [column.variable for column in linking]
    neighbours = [x["name"] for x in variables if x["type"] == "numeric" or "order" in x]
    limits = [{"probability": p} for p in ("0.5", "0.02", "0.9", "1e-9")] + [{"weight": w} for w in ("0", "-3.5")]
    return {"m": "informed"} | draw(
        options(
            partial=[neighbours, neighbours[:1]],
            threshold=limits,
            levels=["difference", "bins"],
            competition=["true", "false"],
            frequency=["true", "false"],
        )
    )


ORACLE = Oracle(
    options=drawn,
    weighed=weighed,
    tolerance=tolerance,
    changes=(
        {},
        {"m": "informed"},
        {"levels": "bins", "partial": ["age"]},
        {"bands": {"age": ["1", "5"]}},
        {"competition": "false"},
        {"frequency": "false"},
        {"threshold": {"probability": "0.01"}},
        {"threshold": {"weight": "-2"}},
        {"one_to_one": "true"},
    ),
)
