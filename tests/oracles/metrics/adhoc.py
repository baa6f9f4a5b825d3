"""Adhoc by brute force (METHODS §4.4)."""

from fractions import Fraction

from hypothesis import strategies as st
from oracles import scoring
from oracles.binning import variances
from oracles.metrics import Oracle
from oracles.metrics.drawing import options
from oracles.metrics.tolerances import most_that_differ
from oracles.preparing import by_stratum, code_of
from oracles.rating import pairs_of
from oracles.scoring import adhoc_rule, adhoc_threshold, exact

WITHIN = ["0", "0.25", "1", "2", "10", "1000"]
SCORES = ["0", "0.1", "1", "2.5", "3", "4.999999999999", "5"]


def pairs(study, own, puf, eif, _):
    """Every suspected pair."""
    variables, variance, declared = study["linking_variables"], variances(study, puf, eif), own.get("scores") or {}
    highest = [max(possible_scores(x, declared.get(x["name"]))) for x in variables]
    threshold = adhoc_threshold(own, highest)
    for stratum, (p, e) in by_stratum(puf, eif).items():
        yield from pairs_of(stratum, p, e, scoring.adhoc(p, e, variables, variance[stratum], declared, threshold))


def tolerance(study, own, *_):
    """A variable that agrees has its highest score, and one that differs its lowest, over pairs of values."""
    variables, declared = study["linking_variables"], own.get("scores") or {}
    scores = [possible_scores(variable, declared.get(variable["name"])) for variable in variables]
    ends = [(max(some), min(some)) for some in scores]
    threshold = adhoc_threshold(own, [highest for highest, _ in ends])
    return most_that_differ(
        variables, lambda differs: sum(end[differ] for end, differ in zip(ends, differs, strict=True)) > threshold
    )


def possible_scores(variable, declared):
    """The scores of pairs of values that between them meet every line of a variable's scores."""
    if declared is None or declared == "exact" or "exact" in declared:
        return [0, 5]
    rule = adhoc_rule(variable, declared, None)
    if "table" in declared:
        codes = {code_of(variable, cell[side]) for cell in declared["table"] for side in ("puf", "eif")}
        return [rule(p, e) for p in (*codes, "elsewhere") for e in (*codes, "nowhere")]
    ends = sorted({exact(band["within"]) for band in declared["bands"]})
    return [rule(Fraction(1), 1 + difference) for difference in (*ends, ends[-1] + 1)]


@st.composite
def scores_of(draw, column):
    """The `scores` entry of a variable, or None."""
    kind = draw(st.sampled_from(["default", "default", "exact", "declared"]))
    if kind == "default":
        return None
    if kind == "exact":
        return draw(st.sampled_from(["exact", {"exact": "true"}]))
    score = st.sampled_from(SCORES)
    if column.variable["type"] == "numeric":
        relative = draw(st.sampled_from([{}, {"relative": "true"}, {"relative": "false"}]))
        limits = draw(st.lists(st.sampled_from(WITHIN), min_size=1, max_size=4, unique=True))
        rule = {"bands": [{"within": within, "score": draw(score), **relative} for within in limits]}
        return rule | draw(options(beyond=SCORES))
    code = st.sampled_from([*column.spelled["puf"], "unheard of"])
    pairs = draw(st.lists(st.tuples(code, code), min_size=1, max_size=6, unique=True))
    return {"table": [{"puf": p, "eif": e, "score": draw(score)} for p, e in pairs]} | draw(options(otherwise=SCORES))


@st.composite
def drawn(draw, linking):
    """The section of the metric; the Primer's threshold only where the scores can exceed it."""
    scores = {column.variable["name"]: rule for column in linking if (rule := draw(scores_of(column))) is not None}
    found = {"scores": scores} if scores else {}
    variables = [column.variable for column in linking]
    thresholds = ["half_of_maximum", "0", "1", "7.5", "12.000000000001"]
    if tolerance({"linking_variables": variables}, found) >= 0:
        thresholds += [None, None, None]
    threshold = draw(st.sampled_from(thresholds))
    return (found | {"threshold": threshold} if threshold else found) or None


ORACLE = Oracle(
    options=drawn,
    pairs=pairs,
    tolerance=tolerance,
    strength=(0.12, 0.24),
    changes=(
        {"scores": {"sex": "exact"}},
        {"scores": {"age": {"bands": [{"within": "2", "score": "5"}], "beyond": "1"}}},
        {"scores": {"age": {"bands": [{"within": "0.1", "relative": True, "score": "4"}]}}},
        {"scores": {"school": {"table": [{"puf": "1", "eif": "01", "score": "5"}], "otherwise": "1"}}},
        {"threshold": "half_of_maximum"},
    ),
)
