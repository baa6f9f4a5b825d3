"""Numbers with their nouns, such as ``2 records``, and the names of metrics, in the language of the report."""

from __future__ import annotations

from collections.abc import Iterable

from reident.language.messages import words
from reident.linkage.metrics import REGISTRY
from reident.page.sentences import Sentences

METRICS = Sentences("metrics")
NOUNS = Sentences("nouns")


def some(value: int, noun: str) -> str:
    """Return a number with its noun, a key of ``nouns.yaml``, in the singular or the plural: ``1,200 records``."""
    return NOUNS(f"{noun}", n=value)


def title(metric: str) -> str:
    """Return the name of a metric in the report; one without a name there has that of its declaration."""
    if name := words("metric").get(metric):
        return name
    return REGISTRY[metric].title if metric in REGISTRY else metric.capitalize()


def narrow_title(metric: str) -> str:
    """Return the name of a metric for a narrow column, where a long one may break."""
    return METRICS.group("narrow").get(metric) or title(metric)


def metric_cells(metrics: Iterable[str]) -> list[str]:
    """Return the names of metrics that name the lines of a table."""
    return [f"**{title(metric)}**" for metric in metrics]
