"""Show whether files and links are described as they are (METHODS §1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.page.layout import ReportColumn, block, table
from reident.page.sentences import HEADING, Sentences
from reident.page.wording import UNDEFINED, label_cells, percent, without_unit

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("plausibility")
CHECKS = "plausibility.csv"


@block(CHECKS)
def plausibility_text(results: Results) -> str:
    """Explain the comparisons of the checks, and name those that could not be made."""
    checks = results.table(CHECKS)
    few = checks["check"].isin(["few_links", "few_linked_units"]) & (checks["scope"] == "iuf")
    return TEXT("few") if few.any() else TEXT("text")


@block(CHECKS)
def plausibility_table(results: Results) -> str:
    """Return the table of the linking variables: agreement of the two records of true links, beside chance."""
    checks = results.table(CHECKS)
    names = [variable["name"] for variable in results.study["linking_variables"]]
    agreement = checks[checks["check"] == "agreement"].set_index("scope").reindex(names)
    return table(
        TEXT("caption", undefined=UNDEFINED),
        ReportColumn(HEADING("variable"), label_cells(names), "l", "2fr"),
        ReportColumn(
            HEADING("agreement"), [without_unit(percent(share, 0)) for share in agreement["statistic"]], "r", "1fr"
        ),
        ReportColumn(TEXT("chance"), [without_unit(percent(share, 0)) for share in agreement["chance"]], "r", "1fr"),
    )
