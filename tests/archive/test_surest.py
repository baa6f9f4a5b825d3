"""The surest claims of two releases are compared where both have them."""

from types import SimpleNamespace

import pandas as pd
from reident.archive import changes


def release(table: pd.DataFrame | None) -> SimpleNamespace:
    return SimpleNamespace(table=lambda path: table if path == "surest/summary.csv" else None)


def test_the_most_right_claims_of_any_metric_count():
    table = pd.DataFrame({"right_of_100": [40.5, None, 87.0], "n_at_95_percent": [0, 12, 3]})
    assert changes.surest(release(table)) == {"surest_right": 0.87, "surest_at_95": 12.0}


def test_with_fewer_claims_there_is_no_share():
    table = pd.DataFrame({"right_of_100": [float("nan")], "n_at_95_percent": [2]})
    assert changes.surest(release(table)) == {"surest_right": None, "surest_at_95": 2.0}


def test_an_earlier_release_has_none():
    assert changes.surest(release(None)) is None
