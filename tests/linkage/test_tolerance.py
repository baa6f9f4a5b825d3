"""Thresholds of adhoc that its scores can or cannot exceed (METHODS §4.4)."""

from decimal import Decimal

import pytest
from making.studies import study
from pydantic import ValidationError
from reident.linkage.metrics import adhoc


def declared(v, **options):
    own = [{"name": f"x{at}", "type": "categorical"} for at in range(v)]
    return study(linking_variables=own, metrics={"adhoc": options})


LOW = {f"x{at}": {"table": [{"puf": "a", "eif": "a", "score": "1.8"}]} for at in range(5)}


def test_scores_that_cannot_exceed_the_threshold_are_refused():
    with pytest.raises(ValidationError, match=r"exceed the threshold \(12\.5\), but their largest sum is 9\.0\."):
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
