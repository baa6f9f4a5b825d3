"""The figures of the report."""

from reident.report.figures.attribution import attribution_sets
from reident.report.figures.fellegi_sunter import calibration, weights
from reident.report.figures.filerisk import (
    risk_calibration,
    risk_cells,
    risk_classes,
    risk_contributions,
    risk_probabilities,
    risk_samples,
)
from reident.report.figures.filerisk_models import risk_models
from reident.report.figures.filerisk_scenarios import scenarios_uniques
from reident.report.figures.larger import larger_curves
from reident.report.figures.matching import matching_distribution, matching_subsets, matching_summaries
from reident.report.figures.microaggregation import masked_agreements
from reident.report.figures.pairs import overlap_confirmed, overlap_suspected, ranks
from reident.report.figures.protection import protection, protection_by_variant
from reident.report.figures.rates import rank_limit, rates_by_metric
from reident.report.figures.strata import rates_by_stratum, strata
from reident.report.figures.utility import utility_frontier
from reident.report.figures.variables import agreement, links
from reident.report.figures.variants import variants_matching, variants_rates, variants_risk
from reident.report.figures.why import why_carried
from reident.report.style import Figure

__all__ = [
    "Figure",
    "agreement",
    "attribution_sets",
    "calibration",
    "larger_curves",
    "links",
    "masked_agreements",
    "matching_distribution",
    "matching_subsets",
    "matching_summaries",
    "overlap_confirmed",
    "overlap_suspected",
    "protection",
    "protection_by_variant",
    "rank_limit",
    "ranks",
    "rates_by_metric",
    "rates_by_stratum",
    "risk_calibration",
    "risk_cells",
    "risk_classes",
    "risk_contributions",
    "risk_models",
    "risk_probabilities",
    "risk_samples",
    "scenarios_uniques",
    "strata",
    "utility_frontier",
    "variants_matching",
    "variants_rates",
    "variants_risk",
    "weights",
    "why_carried",
]
