"""Show the rates of an edition by metric, stratum, rank limit and variant, and before protection (METHODS §11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from reident.linkage.settings import WHOLE
from reident.report.edition.reading import Edition, Line
from reident.report.edition.wording import cell, labels_of, records, share_cells, span
from reident.report.layout import ReportColumn, block, box, items, paragraphs, table
from reident.report.sentences import Sentences
from reident.report.wording import NO_BREAK, declared, escape, listed

TEXT = Sentences("edition-tables")
RATES = ("suspected_rate", "confirmed_rate", "conditional_rate")
MAX_PAIR = 14
"""Characters of two counts that stay on one line."""

MAX_STRATA = 60
"""Strata that a table shows."""


def counts(name: str, lines: Iterable[Line], column: str, width: str = "auto") -> ReportColumn:
    """Return the column of a count."""
    return ReportColumn(TEXT(f"heading.{name}"), [cell(line.counts[column]) for line in lines], "r", width)


def rates(lines: Sequence[Line], *columns: str) -> list[ReportColumn]:
    """Return the columns of rates."""
    return [
        ReportColumn(TEXT(f"heading.{column}"), share_cells(line.shares[column] for line in lines))
        for column in columns
    ]


@block("attack.csv")
def by_metric(edition: Edition) -> str:
    """Return the main table: suspected and confirmed records and their rates, by metric."""
    lines = list(edition.whole.values())
    interval = [span(line.shares["conditional_low"], line.shares["conditional_high"]) for line in lines]
    released = lines[0].counts["n_puf"]
    caption = TEXT("metrics.caption", records=records(edition, released, edition.counted))
    if released.kind in {"suppressed", "absent"}:
        caption = TEXT("metrics.caption_hidden")
    heading = TEXT("heading.interval", level=declared(float(edition.record["level"])))
    return table(
        caption,
        ReportColumn(TEXT("heading.metric"), _metrics(edition, edition.whole), "l", "1fr"),
        *_rates(lines),
        *([ReportColumn(heading, interval)] if any(interval) else []),
    )


def _metrics(edition: Edition, metrics: Iterable[str]) -> list[str]:
    return [f"**{escape(edition.metrics[metric])}**" for metric in metrics]


@block("attack.csv")
def meaning(edition: Edition) -> str:
    """Return the meanings of the rates and the metrics, a line each."""
    lines = edition.whole.values()
    has_interval = any(line.shares["conditional_low"].text for line in lines)
    text = [TEXT(f"{edition.counted}.metrics.rates")]
    if edition.has_dependent_records:
        text.append(TEXT(f"{edition.counted}.metrics.dependent"))
    elif has_interval:
        text.append(TEXT("metrics.interval"))
    known = TEXT.names(f"{edition.counted}.metrics.each")  # a metric of a user has no sentence here
    each = [
        TEXT(f"{edition.counted}.metrics.each.{metric}", title=escape(edition.metrics[metric]))
        for metric in edition.whole
        if metric in known
    ]
    return box("reading", " ".join(text), *([TEXT("metrics.lead"), items(each)] if each else []))


@block("attack.csv")
def claims(edition: Edition) -> str | None:
    """Return the table of ambiguous records and of single candidates, by metric."""
    lines = list(edition.whole.values())
    columns = ("n_ambiguous", "n_single", "n_single_confirmed")
    if not any(line.counts[column].text for line in lines for column in columns):
        return None
    return paragraphs(
        TEXT(f"{edition.counted}.metrics.claim_words"),
        table(
            TEXT(f"{edition.counted}.metrics.claims"),
            ReportColumn(TEXT("heading.metric"), _metrics(edition, edition.whole), "l", "1fr"),
            counts("ambiguous", lines, "n_ambiguous"),
            counts("single", lines, "n_single"),
            counts("single_confirmed", lines, "n_single_confirmed"),
            *rates(lines, "single_rate"),
        ),
    )


@block("attack.csv")
def strata(edition: Edition) -> str | None:
    """Say why rates are shown by stratum."""
    return TEXT("strata.text") if edition.strata else None


@block("attack.csv")
def by_stratum(edition: Edition) -> str | None:
    """Return two tables by stratum and metric: the conditional rates, and the counts they are made from."""
    labels = edition.strata[:MAX_STRATA]
    if not labels:
        return None
    lines = {metric: edition.stratum(metric) for metric in edition.whole}
    names = listed([escape(name) for name in edition.record["strata"]]) or TEXT("heading.stratum")
    first = ReportColumn(names, [escape(label) for label in labels], "l", _width(labels))
    sizes = [
        next((cell(by_label[label].counts["n_puf"]) for by_label in lines.values() if label in by_label), "")
        for label in labels
    ]
    total = len(edition.strata)
    return paragraphs(
        TEXT("strata.more", shown=MAX_STRATA, total=total) if total > MAX_STRATA else None,
        _side_by_side(
            edition,
            "strata",
            (first, ReportColumn(TEXT(f"{edition.counted}.heading"), sizes, "r", "1fr")),
            labels,
            lines,
        ),
    )


def _width(labels: Sequence[str]) -> str:
    """Return the width of a column of labels beside columns of numbers: long labels take few lines."""
    return f"{max(2, min(5, max(map(len, labels)) // 9))}fr"


@block("attack.csv")
def by_rank_limit(edition: Edition) -> str | None:
    """Return two tables by rank limit and metric: the conditional rates, and the counts they are made from."""
    limits = sorted({limit for lines in edition.rank_limits.values() for limit in lines})
    if not limits:
        return None
    first = ReportColumn(TEXT("heading.rank_limit"), [str(limit) for limit in limits], "l", "1fr")
    return _side_by_side(edition, "rank_limit", (first,), limits, edition.rank_limits)


@block("attack.csv")
def rank_limit(edition: Edition) -> str | None:
    """Name the rank limit."""
    limit = int(edition.record["rank_limit"])
    return TEXT(f"{edition.counted}.rank_limit.text", limit=limit) if edition.rank_limits else None


Label = TypeVar("Label")


def _side_by_side(
    edition: Edition,
    key: str,
    first: tuple[ReportColumn, ...],
    labels: Sequence[Label],
    lines: Mapping[str, Mapping[Label, Line]],
) -> str:
    """Return two tables with a column for each metric: conditional rates, and confirmed / suspected records."""
    kind = "compact" if len(labels) > 12 or len(lines) > 4 else ""
    by_rate, by_count = (
        [
            ReportColumn(escape(edition.metrics[metric]), [show(rows.get(label)) for label in labels], "r", "1fr")
            for metric, rows in lines.items()
        ]
        for show in (_rate, _pair)
    )
    published = any(any(column.cells) for column in by_rate)
    return paragraphs(
        table(TEXT(f"{edition.counted}.{key}.counts"), *first, *by_count, kind=kind),
        table(TEXT(f"{key}.rates"), first[0], *by_rate, kind=kind)
        if published
        else TEXT(f"{edition.counted}.{key}.hidden"),
    )


def _rate(line: Line | None) -> str:
    return share_cells([line.shares["conditional_rate"]])[0] if line else ""


def _pair(line: Line | None) -> str:
    if line is None:
        return ""
    both = [cell(line.counts[column]) for column in ("n_confirmed", "n_suspected")]
    if not any(both):
        return ""
    text = TEXT("pair", numerator=both[0], denominator=both[1])
    return text if len(text.replace("\\", "")) > MAX_PAIR else text.replace(" ", NO_BREAK)


def _rates(lines: Sequence[Line]) -> list[ReportColumn]:
    suspected, confirmed = (counts("suspected", lines, "n_suspected"), counts("confirmed", lines, "n_confirmed"))
    return [suspected, confirmed, *rates(lines, *RATES)]


@block("attack.csv")
def before(edition: Edition) -> str | None:
    """Return the rates before and after protection, by metric."""
    metrics = [metric for metric in edition.whole if metric in edition.before]
    if not metrics:
        return None
    lines = [file[metric] for metric in metrics for file in (edition.before, edition.whole)]
    names = [text for metric in metrics for text in (f"**{escape(edition.metrics[metric])}**", "")]
    files = [TEXT("heading.before"), TEXT("heading.released")] * len(metrics)
    return paragraphs(
        TEXT("before.text"),
        table(
            TEXT("before.caption"),
            ReportColumn(TEXT("heading.metric"), names, "l"),
            ReportColumn(TEXT("heading.file"), files, "l", "1fr"),
            *_rates(lines),
        ),
    )


@block("attack.csv")
def variants(edition: Edition) -> str | None:
    """Return the rates by variant, one table per metric."""
    if not edition.variants:
        return None
    names = edition.record["variants"]
    tables = [TEXT("variants.text")]
    for metric, declared_line in edition.whole.items():
        by_variant = {variant: lines[metric] for variant, lines in edition.variants.items() if metric in lines}
        if by_variant:
            labels = [labels_of(names.get(variant, variant)) for variant in by_variant]
            caption = TEXT("variants.caption", metric=escape(edition.metrics[metric]))
            first = ReportColumn(TEXT("heading.variant"), [f"**{TEXT('variants.declared')}**", *labels], "l", "1fr")
            rows = [declared_line, *by_variant.values()]
            tables.append(table(caption, first, *_rates(rows), kind="compact" if len(rows) > 10 else ""))
    return paragraphs(*tables)


@block("clusters.csv")
def clusters(edition: Edition) -> str | None:
    """Return the rates of clusters of the whole file, by metric."""
    lines = [line for line in edition.tables["clusters.csv"] if line["stratum"] == WHOLE]
    if not lines:
        return None
    names = [f"**{escape(edition.title(line['metric']))}**" for line in lines]
    return paragraphs(
        TEXT(f"{edition.counted}.clusters"),
        table(
            TEXT("clusters.caption"),
            ReportColumn(TEXT("heading.metric"), names, "l", "1fr"),
            counts("clusters", lines, "n_clusters"),
            *_rates(lines),
        ),
    )
