"""The study's variants beside each other: what varies, what each of them found, and the verdict on each."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.linkage.metrics import REGISTRY
from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.tables.filerisk import NAMES
from reident.report.tables.matching import LIMITS, decimals_of, judged, limits
from reident.report.wording import (
    apart,
    count,
    declared,
    defined,
    escape,
    listed,
    number,
    percent,
    percents,
    sentence,
    some,
    span,
    word,
)

RATES, MATCHING, RISK = "comparison/rates.csv", "comparison/matching.csv", "comparison/filerisk.csv"
MOST_LINES = 60
"""So many variants are shown line by line; beyond, those of the highest rates."""

FOUND = ("n_suspected", "n_confirmed", "n_pairs", "n_confirmed_pairs", "n_ambiguous")
"""Counts of which one at least differs where a variant changes what a metric finds."""


def any_comparison(results: Results) -> str | None:
    """The name of a comparison that the study has; each of them names what varies."""
    return next((name for name in (RATES, MATCHING, RISK) if results.has(name)), None)


def varied(results: Results) -> list[str]:
    """The names of what varies, as in the columns ``set_…`` of a comparison."""
    columns = results.table(any_comparison(results) or RATES)
    return [column.removeprefix("set_") for column in columns if column.startswith("set_")]


def heading(name: str) -> str:
    """The name of what varies, over a column or beside an axis."""
    return name.replace("_", " ")


def metrics_of(results: Results) -> list[str]:
    """The metrics of the comparison, in the order of the registry."""
    found = set(results.table(RATES)["metric"])
    return [name for name in REGISTRY if name in found]


def lines_of(results: Results, metric: str) -> pd.DataFrame:
    """The line of every variant in which a metric is computed."""
    found = results.table(RATES)
    return found[found["metric"] == metric].reset_index(drop=True)


def touched(results: Results) -> list[str]:
    """The metrics that do not find the same in every variant; all of them where none differs."""
    number = results.table(RATES)["variant"].nunique()
    names = [
        name
        for name in metrics_of(results)
        if len(lines_of(results, name)) < number or lines_of(results, name)[[*FOUND]].nunique().max() > 1
    ]
    return names or metrics_of(results)


def relevant(results: Results, metric: str) -> list[str]:
    """The names of what varies that changes what a metric finds; all of them where none does."""
    lines, names = lines_of(results, metric), varied(results)
    kept = list(names)
    for name in names:
        others = [f"set_{other}" for other in kept if other != name]
        found = lines.groupby(others, sort=False)[[*FOUND]] if others else lines[[*FOUND]]
        if (found.max() == found.min()).all(axis=None):
            kept.remove(name)
    return kept or names


def distinct(results: Results, metric: str) -> pd.DataFrame:
    """One line for each value of what changes what a metric finds; the study's where it is among those alike."""
    lines = lines_of(results, metric)
    names = [f"set_{name}" for name in relevant(results, metric)]
    own = lines[is_reference(lines)]
    alike = lines.merge(own[names], on=names).set_index(names).index if len(own) else []
    lines = lines[is_reference(lines) | ~lines.set_index(names).index.isin(alike)]
    return lines.drop_duplicates(names).reset_index(drop=True)


def is_reference(lines: pd.DataFrame) -> pd.Series:
    """Which lines are of the study as it stands."""
    return lines["reference"] == "yes"


def label_words(label: object) -> str:
    """A label of what varies; of a study whose own value has more than one word, that it stands as it is."""
    return escape(label) if str(label) else "as it stands"


@part("study.json")
def variants_text(results: Results) -> str | None:
    """What varies, over how many studies, and what does not change."""
    name = any_comparison(results)
    if name is None:
        return None
    lines = results.table(name)
    said = [_varies(own, name) for own, name in zip(results.study["variants"], varied(results), strict=True)]
    number = some(lines["variant"].nunique(), "study", "studies")
    combined = " and every combination of them" if len(said) > 1 else ""
    text = (
        f"The study lists values of {listed(said)}{combined} to be compared: {number}, equal in everything else. The "
        "rest of this report is about the study as it stands, which is set in **bold**."
    )
    return paragraphs(text, _unchanged(results) if results.has(RATES) else None)


def _unchanged(results: Results) -> str | None:
    """The metrics that no variant changes."""
    names = [title(name) for name in metrics_of(results) if name not in touched(results)]
    if not names:
        return None
    verbs = ("finds", "is") if len(names) == 1 else ("find", "are")
    return f"{listed(names)} {verbs[0]} the same in every one and {verbs[1]} left out here."


def _varies(own: dict[str, Any], name: str) -> str:
    """What varies, with the keys of the study file that it stands for."""
    keys = own["set"] or [key for settings in own["combinations"].values() for key in settings]
    return f"*{escape(heading(name))}* ({listed([f'`{key}`' for key in dict.fromkeys(keys)])})"


@part(RATES)
def variants_findings(results: Results) -> str | None:
    """Between which rates the variants lie, metric by metric, and how many are above the limit."""
    said = [one for one in (_range(results, metric) for metric in touched(results)) if one]
    return block("findings", items(said)) if said else None


def _range(results: Results, metric: str) -> str | None:
    lines, names = distinct(results, metric), relevant(results, metric)
    known = lines[lines["n_suspected"] > 0]
    if known.empty:
        return f"**{title(metric)}.** No variant suspects a record."
    rates = known["conditional_rate"]
    low, high = known.loc[rates.idxmin()], known.loc[rates.idxmax()]
    ends = [percent(rate) for rate in (rates.min(), rates.max())]
    between = f"between {ends[0]} ({_named(low, names)}) and {ends[1]} ({_named(high, names)})"
    least, most = (round(n) for n in (lines["n_confirmed"].min(), lines["n_confirmed"].max()))
    found = some(most, "record") if least == most else f"{count(least)} to {some(most, 'record')}"
    text = (
        f"**{title(metric)}.** The conditional rate is {ends[1] if ends[0] == ends[1] else between}; {found} "
        f"{'is' if most == 1 else 'are'} truly re-identified"
    )
    if results.limit is not None and results.confirmable:
        every = lines_of(results, metric)
        above = int((every["conditional_rate"] > results.limit).sum())
        text += f". {sentence(word(above) if above else 'none')} of {some(len(every), 'study', 'studies')} "
        text += f"{'is' if above < 2 else 'are'} above the limit of {declared(results.limit)}"
    return text + "."


def _named(line: pd.Series, names: list[str]) -> str:
    """A variant by what it sets."""
    return ", ".join(f"{escape(heading(name))} {label_words(line[f'set_{name}'])}" for name in names)


def shown(lines: pd.DataFrame, rate: str) -> pd.DataFrame:
    """The lines that a table or a figure has room for, in their order: those of the highest rates, and the study's."""
    if len(lines) <= MOST_LINES:
        return lines
    first = lines.sort_values(rate, ascending=False, kind="stable").index[: MOST_LINES - 1]
    return lines.loc[lines.index.isin(first) | is_reference(lines)].reset_index(drop=True)


def _rest(lines: pd.DataFrame, name: str) -> str:
    if len(lines) <= MOST_LINES:
        return ""
    return f" The {MOST_LINES} highest of {count(len(lines))}; `{name}` has all of them."


def _set_columns(lines: pd.DataFrame, names: list[str]) -> list[Column]:
    """What each variant sets, the study as it stands in bold."""
    columns = []
    for name in names:
        words = [label_words(label) for label in lines[f"set_{name}"]]
        cells = [f"**{text}**" if own else text for text, own in zip(words, is_reference(lines), strict=True)]
        columns.append(Column(escape(heading(name)), cells, "l", "1fr"))
    return columns


@part(RATES)
def variants_rates(results: Results) -> str:
    """The rates of every variant, a table for each metric that does not find the same in all."""
    return paragraphs(*(_rates(results, metric) for metric in touched(results)))


def _rates(results: Results, metric: str) -> str:
    lines = distinct(results, metric)
    rows = shown(lines, "conditional_rate")
    above = results.limit is not None and (rows["conditional_rate"] > results.limit).any()
    limit = (
        "" if not above or results.limit is None else f" ▲ is above the limit of {declared(results.limit)}."
    )
    ends = zip(rows["conditional_low"], rows["conditional_high"], strict=True)
    pairs = zip(rows["n_confirmed"], rows["n_suspected"], strict=True)
    return table(
        f"{title(metric)} by variant.{limit}{_rest(lines, RATES)}",
        *_set_columns(rows, relevant(results, metric)),
        Column("Suspected rate", percents(rows["suspected_rate"])),
        Column("Confirmed rate", percents(rows["confirmed_rate"])),
        Column("Confirmed of suspected", [f"{count(a)} of {count(b)}" for a, b in pairs]),
        Column("Conditional rate", _judged(rows["conditional_rate"], results.limit)),
        Column(f"{declared(results.level)} interval", [span(*pair) for pair in ends]),
        Column("Baseline", percents(rows["baseline_rate"])),
        kind="compact",
    )


def _judged(rates: pd.Series, limit: float | None) -> list[str]:
    if limit is None:
        return percents(rates)
    cells = []
    for rate, text in zip(rates, percents(rates), strict=True):
        words = apart(rate, limit)[0] if defined(rate) and percent(rate, 1) == percent(limit, 1) else text
        cells.append(f"[▲ {words}]{{.above}}" if defined(rate) and rate > limit else words)
    return cells


@part(MATCHING)
def variants_matching(results: Results) -> str:
    """The summaries of matching of every variant."""
    lines = results.table(MATCHING)
    rows, given = shown(lines, "expected_match_risk"), limits(results)

    def cells(name: str, texts: list[str]) -> list[str]:
        limit = next((limit for limit in given if limit.startswith(name)), None)
        return texts if limit is None else [judged(value, given[limit], limit) for value in rows[name]]

    said = listed([f"{LIMITS[name].lower()} {_limit(name, own)}" for name, own in given.items()])
    limit_words = f" The limit: {said}." if said else ""
    return table(
        f"Matching by variant, on average over the synthetic files.{limit_words}{_rest(lines, MATCHING)}",
        *_set_columns(rows, varied(results)),
        Column("Expected match risk", cells("expected_match_risk", decimals_of(rows["expected_match_risk"]))),
        Column("per target", percents(rows["expected_match_risk"] / rows["targets"])),
        Column("True match rate", cells("true_match_rate", percents(rows["true_match_rate"]))),
        Column("Unique matches", decimals_of(rows["unique_matches"])),
        Column("False match rate", cells("false_match_rate", percents(rows["false_match_rate"]))),
        kind="compact",
    )


def _limit(name: str, limit: float) -> str:
    sign = "at most" if name.endswith("_at_most") else "at least"
    return f"{sign} {count(limit) if name.startswith('expected') else declared(limit)}"


@part(RISK)
def variants_risk(results: Results) -> str:
    """The risk of the file by itself in every variant, by the definition that it chooses."""
    lines = results.table(RISK)
    rows = shown(lines, "sum")
    definitions = [NAMES[name] for name in rows["definition"]]
    return table(
        "The file by itself, by variant: U sample uniques, P records in pairs, the chance of a correct match given "
        f"a unique match (DIS), and DIS-SUDA of the uniques.{_rest(lines, RISK)}",
        *_set_columns(rows, varied(results)),
        *([Column("Definition", definitions, "l", "1fr")] if len(set(definitions)) > 1 else []),
        Column("U", [count(value) for value in rows["U"]]),
        Column("P", [count(value) for value in rows["P"]]),
        Column("DIS", percents(rows["dis"])),
        Column("DIS-SUDA, sum", [number(round(value, 1)) for value in rows["sum"]]),
        Column("mean", percents(rows["mean"])),
        Column("largest", percents(rows["largest"])),
        kind="compact",
    )
