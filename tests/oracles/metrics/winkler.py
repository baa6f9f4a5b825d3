"""Winkler's metric by brute force (METHODS §4.5)."""

from hypothesis import strategies as st
from oracles import scoring
from oracles.metrics import Oracle
from oracles.metrics.drawing import options
from oracles.metrics.tolerances import most_that_differ
from oracles.preparing import by_stratum, is_numeric
from oracles.rating import pairs_of


def pairs(study, own, puf, eif, _):
    """Every suspected pair."""
    rule, least = own.get("agreement", "half_gap"), int(own.get("min_agree", 1))
    for stratum, (p, e) in by_stratum(puf, eif).items():
        scope = (puf, eif) if study.get("binning", {}).get("scope") == "study" else (p, e)
        yield from pairs_of(stratum, p, e, scoring.winkler(p, e, study["linking_variables"], scope, rule, least))


def tolerance(study, own, *_):
    """Numbers are at some rank distance however much they differ; categories must be equal."""
    variables = study["linking_variables"]
    if is_closest(own):
        numeric, m = [is_numeric(variable) for variable in variables], int(own["agreement"]["closest"])
        return most_that_differ(
            variables, lambda differs: sum(n or not d for n, d in zip(numeric, differs, strict=True)) >= m
        )
    return most_that_differ(variables, lambda differs: len(variables) - sum(differs) >= int(own.get("min_agree", 1)))


def is_closest(own):
    """Whether a pair is scored by the distances of its closest variables."""
    return "closest" in own.get("agreement", "")


@st.composite
def drawn(draw, linking):
    """The section of the metric."""
    v = len(linking)
    rules = ["half_gap", "printed", "midpoint", {"nearest": "1"}, {"nearest": "4"}]
    rules += [{"closest": str(m)} for m in sorted({1, (v + 1) // 2, v})]
    found = draw(options(agreement=rules, min_agree=[str(n) for n in range(1, v + 1)]))
    if is_closest(found):
        found.pop("min_agree", None)
    return found


ORACLE = Oracle(
    options=drawn,
    pairs=pairs,
    tolerance=tolerance,
    high_is_best=lambda own: not is_closest(own),
    strength=(0.93, 0.9),
    changes=({"agreement": "midpoint"}, {"agreement": {"nearest": "3"}}, {"min_agree": "2"}),
)
