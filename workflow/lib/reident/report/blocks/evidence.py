"""Link the verdicts to the tables and figures that they rest on."""

from __future__ import annotations

from collections.abc import Iterable

from reident.report.blocks.filerisk import CELLS, SUMMARY
from reident.report.blocks.filerisk_thresholds import UNITS_TABLE, is_of_units
from reident.report.blocks.patterns import rank_curves
from reident.report.blocks.surest import SUMMARY as SUREST_SUMMARY
from reident.report.layout import block, box
from reident.report.results import LIMITS, VERDICT, WARNINGS, Results
from reident.report.sentences import Sentences
from reident.report.wording import listed
from reident.sections.decision import LIMITS as LIMITED
from reident.verdict.warnings import ATTACK, FILE, MATCHING, SUREST

TEXT = Sentences("evidence")
TABLES = {
    "conditional_rate_at_most": "rates-by-metric",
    "confirmed_rate_at_most": "rates-by-metric",
    "confirmed_at_most": "rates-by-metric",
    "expected_correct_rate_at_most": "claims-by-metric",
    "single_rate_at_most": "claims-by-metric",
    "reach_at_most": "pairs-by-metric",
    "confirmed_by_any_at_most": "rates-by-metric",
    "dis_at_most": "risk-dis",
    **dict.fromkeys((*LIMITED["file_risk.risks"], *LIMITED["file_risk.population"]), "risk-thresholds"),
    **dict.fromkeys(LIMITED["file_risk.sensitive"], "scenarios-diversity"),
    "unique_share_at_most": "scenarios-cells",
}
"""The table that has the numbers to which a limit applies, where it is not the first table of its analysis."""


def _links(results: Results, about: str, names: Iterable[str]) -> str:
    """Return the links to tables and figures by name, and to the warnings where there are any about the analysis."""
    warning_lines = results.warnings
    warned = ["all-warnings"] if results.has(WARNINGS) and (warning_lines["about"] == about).any() else []
    links = [TEXT("link", title=TEXT(f"titles.{name}"), name=name) for name in dict.fromkeys([*names, *warned])]
    return box("evidence", TEXT("evidence", links=listed(links)))


@block("rates.csv", VERDICT, LIMITS)
def evidence(results: Results) -> str:
    """Return the links from the verdict on the attack."""
    tables = [TABLES.get(limit, "rates-by-metric") for limit in results.limits(ATTACK)["limit"]]
    names = ["verdict-by-metric", *(tables or ["rates-by-metric"])]
    names += ["rates-by-stratum"] if results.strata_names and results.has("strata/manifest.csv") else []
    ranked = rank_curves(results)["n_suspected"].any()
    return _links(results, ATTACK, [*names, *(["rates-by-rank-limit"] if ranked else [])])


@block(SUREST_SUMMARY, VERDICT, LIMITS)
def surest_evidence(results: Results) -> str | None:
    """Return the link from the verdict on the surest claims, where the study sets a limit for them."""
    return _links(results, SUREST, ["surest-claims"]) if len(results.limits(SUREST)) else None


@block("matching/summary.csv", VERDICT, LIMITS)
def matching_evidence(results: Results) -> str:
    """Return the links from the verdict on the synthetic data."""
    return _links(results, MATCHING, ["matching-summaries"])


@block(SUMMARY, CELLS, LIMITS, VERDICT)
def risk_evidence(results: Results) -> str | None:
    """Return the links from the verdict on the file on its own, where the study sets a limit for it."""
    limits = results.limits(FILE)
    measured = results.has(UNITS_TABLE)
    names = [
        "units-of-file" if measured and is_of_units(row) else TABLES.get(str(row.limit), "risk-cells")
        for row in limits.itertuples()
    ]
    return _links(results, FILE, names) if names else None
