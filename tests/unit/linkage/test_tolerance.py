"""The tolerance of every metric is that of brute force over all patterns of agreement (METHODS §4)."""

from decimal import Decimal
from itertools import product
from math import ceil

import numpy as np
import pytest
from making.studies import study
from oracles.tolerance import tolerance as judge
from pydantic import ValidationError
from reident.linkage.metrics import REGISTRY, adhoc
from reident.linkage.metrics.contract import Setting
from reident.linkage.pairing import Pairing, Records, Scope
from reident.linkage.parts import Variable

MAX = 16


def variables(v, kinds="c"):
    """Linking variables x0, x1 …; their types go on in turn through the letters of `kinds`."""
    types = {"c": "categorical", "n": "numeric"}
    return [{"name": f"x{at}", "type": types[kinds[at % len(kinds)]]} for at in range(v)]


def bands(*scores, beyond="0"):
    return {
        "bands": [{"within": str(at), "score": score} for at, score in enumerate(scores)],
        "beyond": beyond,
    }


TABLE = {"table": [{"puf": "a", "eif": "a", "score": "3.5"}, {"puf": "b", "eif": "a", "score": "1"}]}
UNEVEN = {
    "x0": bands("2", "5"),
    "x1": TABLE,
    "x2": bands("4", beyond="3.25"),
    "x3": TABLE | {"otherwise": "0.1"},
    "x4": bands("0", beyond="4.999999999999"),
    "x5": TABLE | {"otherwise": "5"},
}
ALPHAS = ("0.5", "1", "1/3", "0.1", "0.999")
CASES = [
    *(("taxicab", {"alpha": alpha}, "c") for alpha in ALPHAS),
    *(("euclidean", {"alpha": alpha, "norm": norm}, kinds) for alpha in ALPHAS[:3] for norm in ("primer", "rms")
      for kinds in ("c", "n", "cn")),
    ("euclidean", {"alpha": "1e-13"}, "c"),
    *(("winkler", {"min_agree": str(least)}, "n") for least in (1, 2, 7)),
    *(("winkler", {"agreement": {"closest": m}}, kinds) for m in ("1", "7") for kinds in ("n", "c", "nc")),
    *(("unicity", {"interactions": sets}, "c") for sets in ("auto", "all", "full", "jointly_observed")),
    ("unicity", {"max_order": "2"}, "c"),
    ("adhoc", {}, "cn"),
    *(("adhoc", {"scores": UNEVEN, "threshold": threshold}, "nc") for threshold in
      ("half_of_maximum", "0", "12.000000000001", "320")),
]  # fmt: skip


def found(metric, options, of):
    """The tolerance that the metric states, without and with missing values in the files."""
    contract, typed = REGISTRY[metric], [Variable(**variable) for variable in of]
    return [
        contract.tolerance(contract.options.model_validate(options), typed, missing)
        for missing in (False, True)
    ]


@pytest.mark.parametrize(("metric", "options", "kinds"), CASES)
def test_the_tolerance_is_that_of_all_patterns_of_agreement(metric, options, kinds):
    least = options.get("min_agree") or options.get("agreement", {}).get("closest", 1)
    for v in range(int(least), MAX + 1):
        of = variables(v, kinds)
        if "scores" in options:
            options = options | {"scores": {name: UNEVEN[name] for name in list(UNEVEN)[:v]}}
        complete = judge(metric, options, of)
        expected = [complete, judge(metric, options, of, True) if metric == "unicity" else complete]
        assert found(metric, options, of) == expected, v


def test_the_formulas_of_categorical_variables():
    """⌈αv/2⌉ − 1; ⌈(αv/2)²⌉ − 1, at most v; ⌈α²v/2⌉ − 1, with α = 1/2."""
    for v in range(1, MAX + 1):
        of = variables(v)
        assert found("taxicab", {}, of)[0] == ceil(v / 4) - 1
        assert found("euclidean", {}, of)[0] == min(ceil(v * v / 16) - 1, v)
        assert found("euclidean", {"norm": "rms"}, of)[0] == ceil(v / 8) - 1
    assert [found("euclidean", {}, variables(v))[0] for v in (5, 8, 10, 13, 15)] == [1, 3, 6, 10, 14]
    assert found("euclidean", {}, variables(8, "n"))[0] == 4, (
        "numeric variables never differ by a whole point"
    )
    assert found("euclidean", {}, variables(16, "n"))[0] == 16
    assert found("euclidean", {}, variables(20))[0] == 20


def patterns(v, numeric):
    """A record, and one for each pattern of agreement with it; far values are more than six deviations apart."""
    differs = np.array(list(product((0, 1), repeat=v)))
    codes, values = np.full(differs.shape, -1, np.int32), np.full(differs.shape, np.nan)
    codes[:, ~numeric], values[:, numeric] = differs[:, ~numeric], 100.0 * differs[:, numeric]
    return Records(codes[:1], values[:1]), Records(codes, values), differs.sum(axis=1)


RUN = [
    ("taxicab", {}, "c"), ("taxicab", {"alpha": "0.9"}, "c"), ("euclidean", {}, "c"), ("euclidean", {}, "n"),
    ("euclidean", {}, "cnn"), ("euclidean", {"norm": "rms", "alpha": "1"}, "nc"), ("adhoc", {}, "nc"),
    ("adhoc", {"threshold": "half_of_maximum", "scores": {"x1": bands("3", beyond="2")}}, "cn"),
    ("adhoc", {"threshold": "0"}, "nc"), ("adhoc", {"threshold": "0.5"}, "c"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "options", "kinds"), RUN)
@pytest.mark.parametrize("v", [3, 10, *(pytest.param(v, marks=pytest.mark.slow) for v in (2, 5, 8))])
def test_scoring_suspects_pairs_up_to_the_tolerance_and_none_beyond(metric, options, kinds, v):
    of = [Variable(**variable) for variable in variables(v, kinds)]
    contract, numeric = REGISTRY[metric], np.array([variable.type == "numeric" for variable in of])
    puf, eif, n_differ = patterns(v, numeric)
    labels = tuple(None if kind else ["a", "b"] for kind in numeric)
    scale = np.where(numeric, 1.0, np.nan)
    pairing = Pairing(tuple(of), puf, eif, labels, scale, Scope(puf.values, eif.values))
    model = contract.options.model_validate(options)
    scored = contract.score(pairing, model, Setting(keep=len(n_differ)))
    assert max(n_differ[scored.eif], default=-1) == contract.tolerance(model, of, False)


def declared(v, **options):
    own = [{"name": f"x{at}", "type": "categorical"} for at in range(v)]
    return study(linking_variables=own, metrics={"adhoc": options})


LOW = {f"x{at}": {"table": [{"puf": "a", "eif": "a", "score": "1.8"}]} for at in range(5)}


def test_scores_that_cannot_exceed_the_threshold_are_refused():
    with pytest.raises(
        ValidationError, match=r"exceed the threshold \(12\.5\), but their largest sum is 9\.0\."
    ):
        declared(5, scores=LOW)
    equal = LOW | {"x0": "exact", "x1": {"table": [{"puf": "a", "eif": "a", "score": "2.1"}]}}
    with pytest.raises(ValidationError, match=r"largest sum is 12\.5\."):
        declared(5, scores=equal)
    above = LOW | {"x0": "exact", "x1": {"table": [{"puf": "a", "eif": "a", "score": "2.100000000001"}]}}
    assert declared(5, scores=above).chosen["adhoc"].threshold is None


@pytest.mark.parametrize(
    ("threshold", "number", "tolerance"),
    [("half_of_maximum", "4.5", 2), ("9", "9", -1), ("8.99", "8.99", 0), ("0", "0", 4)],
)
def test_a_declared_threshold_is_accepted_whatever_it_excludes(threshold, number, tolerance):
    own = declared(5, scores=LOW, threshold=threshold)
    assert adhoc.threshold(own.chosen["adhoc"], own.linking_variables) == Decimal(number)
    assert adhoc.tolerance(own.chosen["adhoc"], own.linking_variables, False) == tolerance


@pytest.mark.parametrize("threshold", ["-1", "321", "half", "0.1234567890123", "nan", "1_0"])
def test_a_threshold_is_a_number_or_half_of_the_maximum(threshold):
    with pytest.raises(ValidationError, match="threshold"):
        declared(5, threshold=threshold)
