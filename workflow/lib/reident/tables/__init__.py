"""What the notebooks show in words and tables."""

from reident.tables.annex import account, command, cut_points, provenance, sign_off, versions
from reident.tables.attack import files, premise, strata, strata_table, variables
from reident.tables.choices import choices, choices_text, warnings
from reident.tables.front import findings, overall, verdicts
from reident.tables.layout import Column, Part, Text, block, part, section, table
from reident.tables.matching import (
    matching_findings,
    matching_overall,
    matching_premise,
    matching_summaries,
    matching_variables,
    matching_verdicts,
)
from reident.tables.matching_sets import (
    matching_account,
    matching_choices,
    matching_distribution,
    matching_scenarios,
    matching_subsets,
    matching_warnings,
)
from reident.tables.patterns import agreement_table, agreement_text, ambiguous, overlap, rank_limit, ranks
from reident.tables.rates import pairs_by_metric, rates_by_metric, rates_by_stratum, strata_sentence
from reident.tables.results import Results, open_results
from reident.tables.wording import escape

__all__ = [
    "Column",
    "Part",
    "Results",
    "Text",
    "account",
    "agreement_table",
    "agreement_text",
    "ambiguous",
    "block",
    "choices",
    "choices_text",
    "command",
    "cut_points",
    "escape",
    "files",
    "findings",
    "matching_account",
    "matching_choices",
    "matching_distribution",
    "matching_findings",
    "matching_overall",
    "matching_premise",
    "matching_scenarios",
    "matching_subsets",
    "matching_summaries",
    "matching_variables",
    "matching_verdicts",
    "matching_warnings",
    "open_results",
    "overall",
    "overlap",
    "pairs_by_metric",
    "part",
    "premise",
    "provenance",
    "rank_limit",
    "ranks",
    "rates_by_metric",
    "rates_by_stratum",
    "section",
    "sign_off",
    "strata",
    "strata_sentence",
    "strata_table",
    "table",
    "variables",
    "verdicts",
    "versions",
    "warnings",
]
