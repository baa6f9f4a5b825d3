"""The texts and tables of the report."""

from reident.report.layout import Column, Part, Text, block, part, section, table
from reident.report.results import Results, open_results
from reident.report.tables.annex import account, command, cut_points, provenance, versions
from reident.report.tables.attack import files, premise, strata, strata_table, variables
from reident.report.tables.checklist import checklist, checklist_topics, sign_off
from reident.report.tables.choices import choices, choices_text
from reident.report.tables.evidence import evidence, matching_evidence, risk_evidence
from reident.report.tables.fellegi_sunter import (
    calibration_table,
    calibration_text,
    weights_premise,
    weights_table,
)
from reident.report.tables.filerisk import (
    risk_cells,
    risk_classes,
    risk_definitions,
    risk_findings,
    risk_hazards,
    risk_levels,
    risk_overall,
    risk_premise,
    risk_variables,
)
from reident.report.tables.filerisk_dis import risk_dis, risk_original
from reident.report.tables.filerisk_population import (
    risk_account,
    risk_bins,
    risk_by_class,
    risk_choices,
    risk_claims,
    risk_population,
    risk_samples,
)
from reident.report.tables.filerisk_uniques import risk_coarser, risk_conventions, risk_suda
from reident.report.tables.front import findings, overall, verdicts
from reident.report.tables.glossary import glossary
from reident.report.tables.matching import (
    matching_overall,
    matching_premise,
    matching_summaries,
    matching_variables,
    matching_verdicts,
)
from reident.report.tables.matching_findings import matching_findings
from reident.report.tables.matching_pooled import matching_pooled
from reident.report.tables.matching_sets import (
    matching_account,
    matching_choices,
    matching_distribution,
    matching_scenarios,
    matching_subsets,
)
from reident.report.tables.microaggregation import (
    agreements_table,
    claim,
    claim_table,
    masked_account,
    masked_premise,
    masked_variables,
)
from reident.report.tables.patterns import (
    agreement_table,
    agreement_text,
    ambiguous,
    limit_slider,
    overlap,
    rank_limit,
    ranks,
)
from reident.report.tables.protection import (
    protection_by_metric,
    protection_by_stratum,
    protection_by_variant,
    protection_findings,
)
from reident.report.tables.rates import (
    clusters_by_metric,
    pairs_by_metric,
    rates_by_metric,
    rates_by_stratum,
    strata_sentence,
)
from reident.report.tables.release_audit import release_audit, release_statuses, release_suppressed
from reident.report.tables.utility import (
    utility_choice,
    utility_estimates,
    utility_findings,
    utility_pairs,
    utility_variables,
    utility_variants,
)
from reident.report.tables.variants import (
    variants_findings,
    variants_matching,
    variants_passing,
    variants_rates,
    variants_risk,
    variants_text,
    variants_verdicts,
)
from reident.report.tables.warnings import grave_warnings, warnings
from reident.report.wording import escape

__all__ = [
    "Column",
    "Part",
    "Results",
    "Text",
    "account",
    "agreement_table",
    "agreement_text",
    "agreements_table",
    "ambiguous",
    "block",
    "calibration_table",
    "calibration_text",
    "checklist",
    "checklist_topics",
    "choices",
    "choices_text",
    "claim",
    "claim_table",
    "clusters_by_metric",
    "command",
    "cut_points",
    "escape",
    "evidence",
    "files",
    "findings",
    "glossary",
    "grave_warnings",
    "limit_slider",
    "masked_account",
    "masked_premise",
    "masked_variables",
    "matching_account",
    "matching_choices",
    "matching_distribution",
    "matching_evidence",
    "matching_findings",
    "matching_overall",
    "matching_pooled",
    "matching_premise",
    "matching_scenarios",
    "matching_subsets",
    "matching_summaries",
    "matching_variables",
    "matching_verdicts",
    "open_results",
    "overall",
    "overlap",
    "pairs_by_metric",
    "part",
    "premise",
    "protection_by_metric",
    "protection_by_stratum",
    "protection_by_variant",
    "protection_findings",
    "provenance",
    "rank_limit",
    "ranks",
    "rates_by_metric",
    "rates_by_stratum",
    "release_audit",
    "release_statuses",
    "release_suppressed",
    "risk_account",
    "risk_bins",
    "risk_by_class",
    "risk_cells",
    "risk_choices",
    "risk_claims",
    "risk_classes",
    "risk_coarser",
    "risk_conventions",
    "risk_definitions",
    "risk_dis",
    "risk_evidence",
    "risk_findings",
    "risk_hazards",
    "risk_levels",
    "risk_original",
    "risk_overall",
    "risk_population",
    "risk_premise",
    "risk_samples",
    "risk_suda",
    "risk_variables",
    "section",
    "sign_off",
    "strata",
    "strata_sentence",
    "strata_table",
    "table",
    "utility_choice",
    "utility_estimates",
    "utility_findings",
    "utility_pairs",
    "utility_variables",
    "utility_variants",
    "variables",
    "variants_findings",
    "variants_matching",
    "variants_passing",
    "variants_rates",
    "variants_risk",
    "variants_text",
    "variants_verdicts",
    "verdicts",
    "versions",
    "warnings",
    "weights_premise",
    "weights_table",
]
