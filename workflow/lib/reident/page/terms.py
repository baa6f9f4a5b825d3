"""Numbers with their nouns, such as ``2 records``, and the names of metrics, in the language of the report."""

from __future__ import annotations

from collections.abc import Iterable

from reident.language.messages import words
from reident.linkage.metrics import REGISTRY
from reident.page.sentences import Sentences, files

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
    return _of(metric, "narrow") or title(metric)


def about(metric: str) -> str:
    """Return what a metric is in a few words; its name, where it has no words of its own."""
    return _of(metric, "about") or title(metric)


def _of(metric: str, entry: str) -> str:
    """Return an entry of the words on a metric; empty where there is none."""
    section = f"metrics/{metric}"
    if section not in files() or entry not in Sentences(section).names():
        return ""
    return Sentences(section)(entry)


def metric_cells(metrics: Iterable[str]) -> list[str]:
    """Return the names of metrics that name the lines of a table."""
    return [f"**{title(metric)}**" for metric in metrics]
