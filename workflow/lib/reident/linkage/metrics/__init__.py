"""The registry of pair metrics: a metric is one file and one line here."""

from typing import Any

from reident.linkage.metrics import adhoc, euclidean, fellegi_sunter, taxicab, unicity, winkler
from reident.linkage.metrics.contract import Metric

REGISTRY: dict[str, Metric[Any]] = {
    "unicity": unicity.METRIC,
    "taxicab": taxicab.METRIC,
    "euclidean": euclidean.METRIC,
    "adhoc": adhoc.METRIC,
    "winkler": winkler.METRIC,
    "fellegi_sunter": fellegi_sunter.METRIC,
}


def standard() -> tuple[str, ...]:
    """Return the metrics of an attack that names none (METHODS §6.10)."""
    return tuple(name for name, metric in REGISTRY.items() if metric.is_standard)
