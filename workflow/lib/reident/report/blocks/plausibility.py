"""Show whether files and links are described as they are (METHODS §1.1)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import ReportColumn, block, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.terms import title
from reident.report.wording import UNDEFINED, count, escape, label_cells, percent, without_unit

TEXT = Sentences("plausibility")
HEADING = Sentences("headings")
CHECKS, EXACT, WITHOUT = "plausibility.csv", "description/exact.csv", "description/without.csv"


@block(CHECKS)
def plausibility_text(results: Results) -> str:
    """Explain the comparisons of the checks, and name those that could not be made."""
    checks = results.table(CHECKS)
    few = checks["check"].isin(["few_links", "few_linked_units"]) & (checks["scope"] == "iuf")
    return TEXT("few") if few.any() else TEXT("text")


def _best(results: Results) -> pd.DataFrame:
    """Return the metric that confirms most without each variable, one line per variable."""
    lines = results.table(WITHOUT).sort_values("n_confirmed", ascending=False, kind="stable")
    return lines.drop_duplicates("variable").set_index("variable")


@block(CHECKS, EXACT, WITHOUT)
def plausibility_table(results: Results) -> str:
    """Return the table of the linking variables: agreement beside chance, people found without one and by it alone."""
    checks, exact = results.table(CHECKS), results.table(EXACT).set_index("variables")
    agreement = checks[checks["check"] == "agreement"].set_index("scope")
    best = _best(results)
    names = [variable["name"] for variable in results.study["linking_variables"]]
    agreement, best, exact = agreement.reindex(names), best.reindex(names), exact.reindex(names)
    without = [
        UNDEFINED if pd.isna(line.n_confirmed) else f"{count(int(line.n_confirmed))} ({title(line.metric)})"
        for line in best.itertuples()
    ]
    return table(
        TEXT("caption", undefined=UNDEFINED),
        ReportColumn(HEADING("variable"), label_cells(names), "l", "2fr"),
        ReportColumn(
            HEADING("agreement"), [without_unit(percent(share, 0)) for share in agreement["statistic"]], "r", "1fr"
        ),
        ReportColumn(TEXT("chance"), [without_unit(percent(share, 0)) for share in agreement["chance"]], "r", "1fr"),
        ReportColumn(TEXT("without"), without, "r", "2fr"),
        ReportColumn(TEXT("alone"), [count(int(n)) for n in exact["n_confirmed"].fillna(0)], "r", "1fr"),
    )


@block(EXACT)
def exact_text(results: Results) -> str:
    """Name the two variables that identify most people by exact values."""
    pairs = results.table(EXACT)
    pairs = pairs[pairs["n_variables"] == 2]
    if pairs.empty or not pairs["n_confirmed"].max():
        return TEXT("exact_none")
    best = pairs.iloc[0]
    names = [escape(name) for name in str(best["variables"]).split("+")]
    fields = {"first": names[0], "second": names[-1]}
    return TEXT("exact", people=int(best["n_confirmed"]), claims=int(best["n_suspected"]), **fields)
