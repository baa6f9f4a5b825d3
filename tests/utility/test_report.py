"""What the report says of utility, and of risk beside loss (METHODS §13)."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from making.report import Shape, cells, rows, write_results
from making.variants import PROTECTION, add_variants
from reident.report.results import Results
from reident.utility import report as utility
from reident.utility.report import compared, risk_of
from utility.cases import write_utility

LABELS = [{"protection": name} for name in ("weak", "strong")]


@pytest.fixture
def results(tmp_path):
    def make(variants=True, decision=None, **options):
        shape = Shape(original=True, decision=decision or {"conditional_rate_at_most": 0.99})
        folder = write_utility(write_results(tmp_path / "results", shape), **options)
        return Results(add_variants(folder, [PROTECTION], LABELS) if variants else folder)

    return make


def test_without_variants_there_is_no_frontier(results):
    study = results(variants=False)
    shown = cells(study, "utility")["utility"]
    assert shown
    assert utility.utility_frontier_figure(study) is None or "No." not in str(shown)
    assert utility.utility_choice(study) is None


@pytest.mark.parametrize(
    ("decision", "column", "name", "limit"),
    [
        ({"conditional_rate_at_most": 0.2}, "conditional_rate", "conditional rate", 0.2),
        ({"conditional_rate_at_most": {"taxicab": 0.2}}, "conditional_rate", "conditional rate", None),
        ({"conditional_rate_at_most": 0.2, "by": "upper"}, "conditional_high", "upper end of the conditional rate",
         0.2),
        ({"reach_at_most": 0.1, "confirmed_rate_at_most": 0.3}, "confirmed_rate", "confirmed rate", 0.3),
        ({"expected_correct_rate_at_most": 0.1}, "best_rank_correct_rate", "one best guess right", 0.1),
        ({"confirmed_at_most": 3}, "conditional_rate", "conditional rate", None),
    ],
)  # fmt: skip
def test_the_risk_is_the_first_rate_with_a_limit(results, decision, column, name, limit):
    study = results(decision=decision)
    assert risk_of(study) == (column, name, limit)
    rates = study.table("comparison/rates.csv")
    for line in compared(study).itertuples():
        assert line.risk == rates.loc[rates["variant"] == line.variant, column].max()


@pytest.mark.parametrize(
    ("points", "best"),
    [
        ([(0.1, 0.5), (0.2, 0.4), (0.3, 0.45)], [True, True, False]),
        ([(0.1, 0.5), (0.1, 0.5)], [True, True]),
        ([(0.1, 0.5), (0.1, 0.6)], [True, False]),
        ([(0.1, None)], [True]),
        ([(None, 0.1), (0.2, 0.3)], [True]),
        ([(0.2, 0.0), (0.1, None)], [False, True]),
    ],
    ids=["three", "equal", "equal loss", "nothing suspected", "no loss", "no risk"],
)
def test_a_variant_is_dominated_by_one_that_is_nowhere_worse(results, monkeypatch, points, best):
    study = results()
    names = [f"v{at}" for at in range(len(points))]
    made = {
        "comparison/rates.csv": pd.DataFrame(
            {"variant": names, "metric": "taxicab", "conditional_rate": [risk for _, risk in points]}
        ).astype({"conditional_rate": float}),
        "comparison/utility.csv": pd.DataFrame({"variant": names, "loss": [loss for loss, _ in points]}).astype(
            {"loss": float}
        ),
    }
    monkeypatch.setattr(study, "table", made.__getitem__)
    assert compared(study)["best"].tolist() == best


def test_the_figure_and_the_table_name_every_variant(results):
    study = results()
    alt = utility.utility_frontier_figure(study).alt
    lines = rows(utility.utility_variants(study))
    assert [line[0] for line in lines] == ["1", "2"]
    assert [line[1] for line in lines] == ["**weak**", "strong"]
    assert re.search(r"1, protection weak: risk .+, loss .+, not dominated\.", alt)
    assert "2, protection strong" in alt


@pytest.mark.parametrize("loss", ["pmse", "values_changed", "univariate", "pairwise", "overlap"])
def test_every_measure_can_be_the_loss(results, loss):
    study = results(loss=loss)
    assert utility.utility_choice(study) is not None
    assert utility.utility_frontier_figure(study) is not None
