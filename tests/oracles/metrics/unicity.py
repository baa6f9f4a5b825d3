"""Unicity by brute force (METHODS §4.1)."""

from hypothesis import strategies as st
from oracles import scoring
from oracles.binning import bin_records
from oracles.metrics import Oracle
from oracles.metrics.drawing import options
from oracles.metrics.tolerances import most_that_differ
from oracles.preparing import by_stratum
from oracles.rating import Pair


def any_missing(puf, eif):
    """Whether a linking value of either whole file is missing, which `auto` asks."""
    return any(None in record.values for record in [*puf, *eif])


def pairs(study, own, puf, eif, _):
    """Every suspected pair, with its smallest set of variables."""
    option, found = own.get("interactions", "auto"), any_missing(puf, eif)
    sets = scoring.variable_sets(option, own.get("max_order"), len(study["linking_variables"]), found)
    for stratum, (p, e) in by_stratum(*bin_records(study, puf, eif)).items():
        jointly = option == "jointly_observed"
        found = scoring.unicity_jointly_observed(p, e) if jointly else scoring.unicity(p, e, sets)
        yield from (Pair(p[i].key, e[k].key, stratum, order=len(s), variables=s) for (i, k), s in found.items())


def tolerance(study, own, puf, eif, _):
    """Two records that are alone in their files are unique on every set; they must agree on one that is searched."""
    option, variables = own.get("interactions", "auto"), study["linking_variables"]
    option = "full" if option == "jointly_observed" else option
    sets = scoring.variable_sets(option, own.get("max_order"), len(variables), any_missing(puf, eif))
    return most_that_differ(variables, lambda differs: any(not any(differs[j] for j in own_set) for own_set in sets))


@st.composite
def drawn(draw, _):
    """The section of the metric."""
    found = draw(options(interactions=["auto", "all", "full", "jointly_observed"], max_order=["1", "2", "3"]))
    if found.get("interactions") in ("full", "jointly_observed"):
        found.pop("max_order", None)
    return found


ORACLE = Oracle(
    options=drawn,
    pairs=pairs,
    tolerance=tolerance,
    high_is_best=lambda _: False,
    ranked=False,
    strength=(0.32, 0.07),
    changes=({}, {"interactions": "full"}, {"max_order": "2"}),
)
