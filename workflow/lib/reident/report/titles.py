"""The names of metrics in the report."""

from __future__ import annotations

from reident.linkage.metrics import REGISTRY
from reident.report.sentences import Sentences

TEXT = Sentences("metrics")


def title(metric: str) -> str:
    """Return the name of a metric in the report; one without a name there has that of its declaration."""
    if name := TEXT.group("titles").get(metric):
        return name
    return REGISTRY[metric].title if metric in REGISTRY else metric.capitalize()


def narrow_title(metric: str) -> str:
    """Return the name of a metric for a narrow column, where a long one may break."""
    return TEXT.group("narrow").get(metric) or title(metric)
