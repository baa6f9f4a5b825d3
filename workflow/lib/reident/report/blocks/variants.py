"""Show the variants of a study side by side: the varied keys, the results, and the verdict on each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from reident.intake.severity import SEVERITIES
from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import WHOLE
from reident.page.columns import columns
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.terms import some, title
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
from reident.report.blocks.filerisk import name_of
from reident.report.blocks.front import conditional_rates, interval_column
from reident.report.blocks.matching import decimals_of, judged, limited_summary, limits, summary_name
from reident.report.results import VERDICT, Results
from reident.verdict.limits import ABOVE, OPEN, RESERVED, UNKNOWN, WITHIN
from reident.verdict.limits import VERDICTS as BY_GRAVITY
from reident.verdict.warnings import TOGETHER

TEXT = Sentences("variants")
FRONT = Sentences("front")
HEADING = Sentences("headings")
RATES, MATCHING, RISK = "comparison/rates.csv", "comparison/matching.csv", "comparison/filerisk.csv"
VERDICTS = "comparison/verdict.csv"
MAX_VARIANTS = 60
"""Variants that are shown one by one: those of the highest rates."""

MAX_NAMES = 6
"""Variants that the brief names."""

MAX_LABEL = 20
"""Characters of a label that is not broken into lines."""

COUNTS = ["n_suspected", "n_confirmed", "n_pairs", "n_confirmed_pairs", "n_ambiguous"]
"""Counts of which at least one differs where a variant changes the results of a metric."""


def any_comparison(results: Results) -> str | None:
    """Return the name of a comparison of the study, if it has one; each of them names the varied keys."""
    return next((name for name in (RATES, MATCHING, RISK) if results.has(name)), None)


def setting_names(results: Results) -> list[str]:
    """Return the names of the varied keys, as in the columns ``set_…`` of a comparison."""
    columns = results.table(any_comparison(results) or RATES)
    return [column.removeprefix("set_") for column in columns if column.startswith("set_")]


def heading(name: str) -> str:
    """Return the name of a varied key as a heading or an axis label."""
    return name.replace("_", " ")


def metrics_of(results: Results) -> list[str]:
    """Return the metrics of the comparison, in the order of the registry."""
    names = set(results.table(RATES)["metric"])
    return [name for name in REGISTRY if name in names]


def lines_of(results: Results, metric: str) -> pd.DataFrame:
    """Return the line of every variant in which a metric is computed."""
    lines = results.table(RATES)
    return lines[lines["metric"] == metric].reset_index(drop=True)


def changed_metrics(results: Results) -> list[str]:
    """Return the metrics whose results differ between variants; all of them where none differs."""
    n = results.table(RATES)["variant"].nunique()
    names = [
        name
        for name in metrics_of(results)
        if len(lines_of(results, name)) < n or lines_of(results, name)[COUNTS].nunique().max() > 1
    ]
    return names or metrics_of(results)


def relevant_settings(results: Results, metric: str) -> list[str]:
    """Return the names of the varied keys that change the results of a metric; all of them where none does."""
    lines, names = lines_of(results, metric), setting_names(results)
    settings = list(names)
    for name in names:
        others = [f"set_{setting}" for setting in settings if setting != name]
        groups = lines.groupby(others, sort=False)[COUNTS] if others else lines[COUNTS]
        if (groups.max() == groups.min()).all(axis=None):
            settings.remove(name)
    return settings or names


def distinct_lines(results: Results, metric: str) -> pd.DataFrame:
    """Return the variants of a metric: of those with the same relevant settings, the study itself or the first."""
    lines = lines_of(results, metric)
    names = [f"set_{name}" for name in relevant_settings(results, metric)]
    reference = lines[is_reference(lines)]
    alike = lines.merge(reference[names], on=names).set_index(names).index if len(reference) else []
    lines = lines[is_reference(lines) | ~lines.set_index(names).index.isin(alike)]
    return lines.drop_duplicates(names).reset_index(drop=True)


def is_reference(lines: pd.DataFrame) -> pd.Series:
    """Return whether lines are of the study as declared."""
    return lines["reference"] == "yes"


def label_of(label: object) -> str:
    """Return the label of a setting; it is empty where the study's own value has more than one word."""
    return str(label) or TEXT("as_declared")


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


def settings_of(line: pd.Series, names: list[str], show: Callable[[str], str] = escape) -> str:
    """Return the settings of a variant in words; `show` returns each name and label, by default as Markdown."""
    return ", ".join(
        TEXT("setting", name=show(heading(name)), label=show(label_of(line[f"set_{name}"]))) for name in names
    )


def shown_lines(lines: pd.DataFrame, rate: str) -> pd.DataFrame:
    """Return the lines that a table or a figure has room for: those of the highest rates, and the study's own."""
    if len(lines) <= MAX_VARIANTS:
        return lines
    first = lines.sort_values(rate, ascending=False, kind="stable").index[: MAX_VARIANTS - 1]
    return lines.loc[lines.index.isin(first) | is_reference(lines)].reset_index(drop=True)


def _caption(lines: pd.DataFrame, file: str, *texts: str) -> str:
    if len(lines) > MAX_VARIANTS:
        texts = (*texts, TEXT("highest", shown=MAX_VARIANTS, total=len(lines), file=file))
    return " ".join(texts)


def set_columns(lines: pd.DataFrame, names: list[str]) -> list[ReportColumn]:
    """Return the columns of the values of each variant, with the study as declared in bold."""
    columns = []
    for name in names:
        labels = [escape(label_of(label)) for label in lines[f"set_{name}"]]
        cells = [f"**{text}**" if bold else text for text, bold in zip(labels, is_reference(lines), strict=True)]
        # Beside many columns of numbers, a share of the width would be too narrow for a short label.
        width = "auto" if max(map(len, labels), default=0) <= MAX_LABEL else "1fr"
        columns.append(ReportColumn(escape(heading(name)), cells, "l", width))
    return columns


def verdicts_of(results: Results) -> pd.DataFrame:
    """Return the verdict on every variant, by the limits that they share: none of them has several files."""
    lines, scopes = results.table(VERDICTS), results.table(VERDICT)
    if TOGETHER not in set(scopes["scope"]):
        return lines
    scopes = scopes[~scopes["scope"].isin([WHOLE, TOGETHER])]
    verdict = next((kind for kind in BY_GRAVITY if kind in set(scopes["verdict"])), OPEN)
    broken = "; ".join(filter(None, scopes["broken"].fillna("")))
    at = is_reference(lines)
    return lines.assign(verdict=lines["verdict"].mask(at, verdict), broken=lines["broken"].mask(at, broken))


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


def variant_name(results: Results, line: pd.Series) -> str:
    """Return a variant as its settings, with a mark where its verdict has reservations."""
    name = settings_of(line, setting_names(results))
    return FRONT("variants_reserved", name=name) if line["verdict"] == RESERVED else name


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


_MARKS = {ABOVE: "above", WITHIN: "within", RESERVED: "unsure", UNKNOWN: "unknown", OPEN: "open"}


def verdict_cell(verdict: str) -> str:
    """Return a verdict in words, with its mark."""
    return f"[{TEXT(f'verdicts.words.{verdict}')}]{{.{_MARKS[verdict]}}}"


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
