"""Show the variants of a study side by side: the varied keys, the results, and the verdict on each."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from reident.filerisk.report import name_of
from reident.intake.severity import SEVERITIES
from reident.matching.report import decimals_of, judged, limited_summary, limits, summary_name
from reident.outcomes import OPEN, RESERVED, VERDICT, WITHIN
from reident.page.columns import columns
from reident.page.common import interval_column
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.terms import some, title
from reident.page.variants import (
    MATCHING,
    MAX_VARIANTS,
    RATES,
    RISK,
    VERDICTS,
    any_comparison,
    changed_metrics,
    distinct_lines,
    heading,
    lines_of,
    metrics_of,
    relevant_settings,
    set_columns,
    setting_names,
    settings_of,
    shown_lines,
    variant_name,
    verdict_cell,
    verdicts_of,
)
from reident.page.wording import (
    UNDEFINED,
    count,
    count_cells,
    declared,
    defined,
    escape,
    inside,
    listed,
    number,
    percent,
    rates,
    without_unit,
)
from reident.report.blocks.front import conditional_rates
from reident.report.results import Results

TEXT = Sentences("variants")
FRONT = Sentences("front")

MAX_NAMES = 6
"""Variants that the brief names."""


@block("study.json")
def variants_text(results: Results) -> str | None:
    """Name the varied keys, and the metrics that do not change."""
    name = any_comparison(results)
    if name is None:
        return None
    sections = zip(results.study["variants"], setting_names(results), strict=True)
    names = [_keys(section, name_) for section, name_ in sections]
    studies = some(results.table(name)["variant"].nunique(), "study")
    text = TEXT("text", n=len(names), names=listed(names), studies=studies)
    return paragraphs(text, _unchanged(results) if results.has(RATES) else None)


def _unchanged(results: Results) -> str | None:
    names = [title(name) for name in metrics_of(results) if name not in changed_metrics(results)]
    return TEXT("unchanged", n=len(names), metrics=listed(names)) if names else None


def _keys(section: dict[str, Any], name: str) -> str:
    keys = section["set"] or [key for settings in section["combinations"].values() for key in settings]
    return f"*{escape(heading(name))}* ({listed([f'`{key}`' for key in dict.fromkeys(keys)])})"


@block(RATES)
def variants_findings(results: Results) -> str | None:
    """Return, for each metric, the range of the conditional rate and how many variants are above the limit."""
    texts = [
        TEXT("metric", metric=title(metric), text=" ".join(_range(results, metric)))
        for metric in changed_metrics(results)
    ]
    return box("findings", items(texts)) if texts else None


def _range(results: Results, metric: str) -> list[str]:
    lines, names = distinct_lines(results, metric), relevant_settings(results, metric)
    rows = lines[lines["n_suspected"] > 0]
    if rows.empty:
        return [TEXT("nothing_suspected")]
    shares = rows["conditional_rate"]
    low, high = rows.loc[shares.idxmin()], rows.loc[shares.idxmax()]
    ends = [percent(shares.min()), percent(shares.max())]
    least, most = (round(n) for n in (lines["n_confirmed"].min(), lines["n_confirmed"].max()))
    if ends[0] == ends[1]:
        texts = [TEXT("rate", share=ends[1])]
    else:
        names_ = {"low_variant": settings_of(low, names), "high_variant": settings_of(high, names)}
        texts = [TEXT("rates", low=ends[0], high=ends[1], **names_)]
    if least == most:
        texts.append(TEXT("confirmed", n=most))
    else:
        texts.append(TEXT("confirmed_range", low=least, high=most))
    if (limit := results.limit_of(metric)) is not None and results.confirmable:
        variants = lines_of(results, metric)
        n, studies = (int((variants["conditional_rate"] > limit).sum()), some(len(variants), "study"))
        texts.append(TEXT("above", n=n, studies=studies, limit=declared(limit)))
    return texts


def _caption(lines: pd.DataFrame, file: str, *texts: str) -> str:
    if len(lines) > MAX_VARIANTS:
        texts = (*texts, TEXT("highest", shown=MAX_VARIANTS, total=len(lines), file=file))
    return " ".join(texts)


@block(VERDICTS, VERDICT)
def variants_passing(results: Results) -> str | None:
    """Return, for the brief, which variants are within the limits."""
    lines = verdicts_of(results)
    if (lines["verdict"] == OPEN).all():
        return None
    passing = lines[lines["verdict"].isin([WITHIN, RESERVED])]
    names = [variant_name(results, line) for _, line in passing.head(MAX_NAMES).iterrows()]
    if len(passing) > len(names):
        names.append(FRONT("variants_more", n=len(passing) - len(names)))
    text = FRONT("variants", n=len(passing), total=len(lines), names=listed(names))
    return box("findings", text)


@block(VERDICTS, VERDICT)
def variants_verdicts(results: Results) -> str:
    """Return the verdict and the number of warnings of every variant."""
    lines = verdicts_of(results)
    rows = lines if len(lines) <= MAX_VARIANTS else lines.head(MAX_VARIANTS)
    columns = [
        *set_columns(rows, setting_names(results)),
        ReportColumn(HEADING("verdict"), [verdict_cell(verdict) for verdict in rows["verdict"]], "l"),
        ReportColumn(TEXT("verdicts.broken"), [_broken(text) for text in rows["broken"]], "l", "1.5fr"),
        *(ReportColumn(TEXT(f"verdicts.{name}"), count_cells(rows[name])) for name in SEVERITIES),
    ]
    caption = TEXT("verdicts.caption")
    if len(lines) > len(rows):
        caption += " " + TEXT("verdicts.first", shown=len(rows), total=len(lines), file=VERDICTS)
    return table(caption, *columns, kind="compact")


def _broken(text: str) -> str:
    """Return the broken limits of a variant in words, with the metrics or the scenarios that break each."""
    # A name of a scenario may have a semicolon; what follows the one between limits is the key of a limit.
    keys = "|".join(TEXT.names("verdicts.limits"))
    limits = [limit.partition(": ") for limit in re.split(rf"; (?=(?:{keys})\b)", text) if limit]
    texts = [
        f"{TEXT(f'verdicts.limits.{name}')}{f' ({escape(metrics)})' if metrics else ''}" for name, _, metrics in limits
    ]
    return "; ".join(texts) or UNDEFINED


@block(RATES)
def variants_rates(results: Results) -> str:
    """Return the rates of every variant, one table for each metric whose results differ."""
    return paragraphs(*(_rates(results, metric) for metric in changed_metrics(results)))


def _rates(results: Results, metric: str) -> str:
    lines, limit = distinct_lines(results, metric), results.limit_of(metric)
    rows = shown_lines(lines, "conditional_rate")
    cells, texts = conditional_rates(rows, limit), [TEXT("rates_table", metric=title(metric))]
    if limit is not None and (rows["conditional_rate"] > limit).any():
        texts.append(TEXT("marked", limit=declared(limit)))
        cells = [
            f"[▲ {text}]{{.above}}" if defined(rate) and rate > limit else text
            for rate, text in zip(rows["conditional_rate"], cells, strict=True)
        ]
    counts = [
        TEXT("counts", confirmed=count(a), suspected=count(b))
        for a, b in zip(rows["n_confirmed"], rows["n_suspected"], strict=True)
    ]
    return table(
        _caption(lines, RATES, *texts),
        *set_columns(rows, relevant_settings(results, metric)),
        *columns(rows, HEADING, "suspected_rate confirmed_rate"),
        ReportColumn(HEADING("confirmed_of_suspected"), counts),
        ReportColumn(HEADING("conditional_rate"), cells),
        interval_column(results, rows),
        *columns(rows, HEADING, "best_rank_correct=best_rank_correct_rate baseline=baseline_rate"),
        kind="compact",
    )


@block(MATCHING)
def variants_matching(results: Results) -> str:
    """Return the summaries of matching of every variant."""
    lines = results.table(MATCHING)
    rows, bounds = shown_lines(lines, "expected_match_risk"), limits(results)

    cells = rows.assign(
        expected_match_risk=decimals_of(rows["expected_match_risk"]),
        risk_per_target=rows["expected_match_risk"] / rows["targets"],
        true_match_rate=rates(rows["true_match_rate"]),
        unique_matches=decimals_of(rows["unique_matches"]),
        false_match_rate=rates(rows["false_match_rate"]),
    )
    for name, limit in bounds.items():
        summary = limited_summary(name)
        cells[summary] = [without_unit(judged(value, limit, name)) for value in rows[summary]]
    texts = [TEXT("matching.table")]
    if bounds:
        texts.append(TEXT("matching.limits", limits=listed([_limit(*limit) for limit in bounds.items()])))
    return table(
        _caption(lines, MATCHING, *texts),
        *set_columns(rows, setting_names(results)),
        *columns(cells, HEADING, "expected_match_risk:cell risk_per_target true_match_rate:cell"),
        *columns(cells, HEADING, "unique_matches:cell false_match_rate:cell"),
        kind="compact",
    )


def _limit(name: str, limit: float) -> str:
    summary = inside(summary_name(limited_summary(name)))
    value = count(limit) if name.startswith("expected") else declared(limit)
    if name.endswith("_at_most"):
        return TEXT("matching.at_most", summary=summary, limit=value)
    return TEXT("matching.at_least", summary=summary, limit=value)


@block(RISK)
def variants_risk(results: Results) -> str:
    """Return the file-level risk of every variant, by the definition that it chooses."""
    lines = results.table(RISK)
    rows = shown_lines(lines, "sum")
    definitions = [name_of(name) for name in rows["definition"]]
    return table(
        _caption(lines, RISK, TEXT("risk")),
        *set_columns(rows, setting_names(results)),
        *([ReportColumn(HEADING("definition"), definitions, "l", "1fr")] if len(set(definitions)) > 1 else []),
        *columns(rows, HEADING, "uniques=U pairs=P dis"),
        ReportColumn(HEADING("dis_suda_sum"), [number(round(value, 1)) for value in rows["sum"]]),
        *columns(rows, HEADING, "dis_suda_mean=mean dis_suda_largest=largest"),
        kind="compact",
    )
