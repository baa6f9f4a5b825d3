"""DIS and DIS-SUDA of one file: forms, errors, assumptions, definitions, classes (METHODS §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.estimates import Z
from reident.filerisk.report import (
    CLASSES,
    DEFINITIONS,
    HAZARDS,
    SUMMARY,
    by_excluded,
    interval,
    is_wildcard,
    name_of,
    quantity,
    short_name,
    unreached,
)
from reident.language.messages import sentence
from reident.page import style
from reident.page.columns import columns
from reident.page.common import top_of
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Sheet
from reident.page.terms import some
from reident.page.wording import (
    count,
    count_cells,
    declared,
    defined,
    fixed,
    listed,
    number,
    percent,
    span,
    whole,
    without_unit,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk")
MAX_CHANCE = 3
"""A difference between the two forms of DIS of more standard errors than this is not explained by chance."""


@block(SUMMARY)
def risk_dis(results: Results) -> str:
    """Report U, P, f and pr(cm|um) by both forms with their errors, and whether the two forms agree."""
    rows = {
        "unique": count(quantity(results, "U_complete")),
        "pairs": count(quantity(results, "P_complete")),
        "fraction": percent(quantity(results, "f")),
        "fraction_cells": percent(quantity(results, "f_cells")),
        "general": f"**{percent(quantity(results, 'dis'))}**",
        "sampling": percent(quantity(results, "dis_se")),
        "interval": interval(results),
        "special": percent(quantity(results, "dis_special")),
        "error": percent(quantity(results, "dis_special_se")),
        "rounds": count(quantity(results, "dis_special_rounds")),
        "matches": count(quantity(results, "dis_special_unique_matches")),
    }
    return paragraphs(
        TEXT("dis.text"),
        _assumptions(results),
        table(
            TEXT("dis.caption"),
            ReportColumn(TEXT("dis.columns.quantity"), [TEXT(f"dis.rows.{row}") for row in rows], "l", "1fr"),
            ReportColumn(TEXT("dis.columns.value"), list(rows.values())),
        ),
        _sampling(results),
        _agreement(results),
        _unreached(results, "dis_special"),
    )


def _assumptions(results: Results) -> str:
    """State the assumptions of DIS: no divergence, equal inclusion probabilities, values missing at random."""
    inside, records = quantity(results, "records_in_cells"), quantity(results, "records")
    text = TEXT("dis.assumptions", missing=TEXT("dis.missing") if 0 < inside < records else "")
    return text if results.model.risk.weight else f"{text} {TEXT('dis.not_checked')}"


def _sampling(results: Results) -> str | None:
    error, text = quantity(results, "dis_se"), TEXT("dis.interval", interval=interval(results))
    if not defined(quantity(results, "dis")):
        return None
    if is_wildcard(results):
        return TEXT("dis.no_sampling.wildcard")
    if error == 0:
        return TEXT("dis.no_sampling.population")
    if not defined(error):
        return TEXT(f"dis.no_sampling.no_{'pair' if quantity(results, 'U') else 'unique'}", interval=text)
    return TEXT("dis.sampling", error=fixed(100 * error, 1), interval=text)


def _agreement(results: Results) -> str:
    """Say whether the two forms of DIS agree; no error is defined where the file decides the special form."""
    special, errors = quantity(results, "dis_special"), quantity(results, "dis_special_difference_in_se")
    if not defined(quantity(results, "dis")):
        return box("note", TEXT("dis.agreement.no_general"))
    if not defined(special):
        return box("note", TEXT("dis.agreement.no_special"))
    if not defined(errors):
        return TEXT(f"dis.agreement.{'all_correct' if special else 'all_wrong'}")
    direction = "above" if errors >= 0 else "below"
    key = direction if abs(errors) <= MAX_CHANCE else f"far_{direction}"
    return TEXT(f"dis.agreement.{key}", errors=fixed(abs(errors), 1))


def _unreached(results: Results, name: str) -> str | None:
    target, outcome = declared(results.model.risk.special.standard_error), unreached(results, name)
    return outcome and box("warning", TEXT("dis.unreached", target=target, outcome=outcome))


@block(SUMMARY)
def risk_original(results: Results) -> str | None:
    """Report DIS for an intruder who knows the original values, or nothing without an original file."""
    if results.model.risk.original is None:
        return None
    names = {"file": "dis", "original": "dis_original"}
    suffixes = {"special": "special", "error": "special_se", "rounds": "special_rounds"}
    dis, original = (quantity(results, name) for name in names.values())
    by_column = {"general": [f"**{percent(dis)}**", f"**{percent(original)}**"]}
    for column, suffix in suffixes.items():
        values = [quantity(results, f"{name}_{suffix}") for name in names.values()]
        by_column[column] = [(count if column == "rounds" else percent)(value) for value in values]
    records = some(round(quantity(results, "original_records_in_cells")), "record")
    unchanged = count(quantity(results, "original_records_unchanged"))
    rows = [TEXT(f"original.rows.{row}") for row in names]
    return paragraphs(
        f"{TEXT('original.text')} {TEXT('original.unchanged', records=records, unchanged=unchanged)}",
        table(
            TEXT("original.caption"),
            ReportColumn(TEXT("original.columns.values"), rows, "l", "1fr"),
            *(ReportColumn(TEXT(f"original.columns.{column}"), cells) for column, cells in by_column.items()),
        ),
        TEXT("original.compared", original=percent(original), dis=percent(dis))
        if defined(original) and defined(dis)
        else None,
        None if defined(original) else box("note", TEXT("original.undefined")),
        _unreached(results, "dis_original_special"),
    )


DEFINED = ("elliot-manning", "user-guide")
"""The definitions of DIS-SUDA."""


@block(DEFINITIONS)
def risk_definitions(results: Results) -> str:
    """Compare the two definitions of DIS-SUDA, each with the quantities on which it depends."""
    lines = results.table(DEFINITIONS)
    names = [f"**{name_of(definition)}**" for definition in lines["definition"]]
    names = [
        TEXT("definitions.selected", definition=name) if chosen else name
        for name, chosen in zip(names, lines["chosen"], strict=True)
    ]
    lines = lines.assign(definition=names, sum=lines["sum"].round(1))
    has_correlation = lines["correlation"].notna().any()
    correlation = columns(lines, TEXT, "correlation:decimals@1.3fr", group="definitions.columns")
    return paragraphs(
        by_excluded(results, TEXT("definitions.text")),
        table(
            by_excluded(results, TEXT("definitions.caption")),
            *columns(lines, HEADING, "definition:text@2.2fr uniques=U pairs=P", "0.9fr"),
            *columns(lines, TEXT, "fraction=f", "0.7fr", group="definitions.columns"),
            ReportColumn("Q", [number(value) for value in lines["Q"]], "r", "0.7fr"),
            *columns(lines, TEXT, "sum:number mean", "1fr", group="definitions.columns"),
            *columns(lines, TEXT, "highest=largest at_one=n_one", "1fr", group="definitions.columns"),
            *(correlation if has_correlation else []),
            kind="compact",
        ),
    )


@block(HAZARDS)
def risk_hazards(results: Results) -> str | None:
    """Warn of causes of doubtful values of DIS-SUDA."""
    lines = results.table(HAZARDS)
    if lines.empty:
        return None
    warnings = []
    for (code, fields), group in lines.groupby(["code", "fields"], sort=False):
        names = [name_of(definition) for definition in group["definition"]]
        definitions = TEXT("hazards.both") if len(names) == len(DEFINED) else listed(names)
        hazard = whole(sentence("hazards", code, fields))
        warnings.append(TEXT("hazards.line", definitions=definitions, hazard=hazard))
    return box("warning", *warnings)


def class_label(above: float, up_to: float) -> str:
    """Return a class of DIS-SUDA in words: ``0``, ``0 – 10 %``, ``100 %``."""
    if above == up_to:
        return declared(up_to) if up_to else "0"
    return f"{without_unit(declared(above))} – {declared(up_to)}"


def classes_by_definition(results: Results, name: str = CLASSES) -> dict[str, pd.DataFrame]:
    """Return the classes of each definition, with `label` as the index."""
    lines = results.table(name)
    lines = lines.assign(label=list(map(class_label, lines["above"], lines["up_to"])))
    return {definition: lines[lines["definition"] == definition].set_index("label") for definition in DEFINED}


def occurring_classes(results: Results, name: str) -> dict[str, pd.DataFrame]:
    """Return the classes of each definition without those that are empty by every definition."""
    classes = classes_by_definition(results, name)
    occurring = pd.concat([lines["n"] for lines in classes.values()], axis=1).any(axis=1)
    return {definition: lines[occurring] for definition, lines in classes.items()}


@block(CLASSES, SUMMARY)
def risk_classes(results: Results) -> str:
    """Show records by class of DIS-SUDA, by both definitions."""
    classes = occurring_classes(results, CLASSES)
    table_columns = [ReportColumn(TEXT("classes.columns.class"), list(classes["user-guide"].index), "l", "1fr")]
    for definition, lines in classes.items():
        heading = TEXT("classes.columns.records", definition=short_name(definition))
        table_columns.append(ReportColumn(heading, count_cells(lines["n"]), "r", "1fr"))
    return table(by_excluded(results, TEXT("classes.caption")), *table_columns)


LOOKS = {"elliot-manning": style.LINES["unicity"], "user-guide": style.LINES["taxicab"]}
"""Colour and marker of a definition."""


@block(SUMMARY)
def risk_probabilities_figure(results: Results) -> Figure | None:
    """Draw DIS by its forms, each with the interval for its error, beside the truth; nothing where it is undefined."""
    lines = {name: line for name, line in _probabilities(results).items() if defined(line[0])}
    if "general" not in lines:
        return None
    names = [TEXT(f"dis.figure.{name}") for name in lines]
    ends = [line[2] if defined(line[2]) else line[0] for line in lines.values()]

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for place, (name, (value, low, high)) in enumerate(lines.items()):
            marker, colour = ("D", style.LIMIT) if name == "truth" else ("o", style.CONFIRMED)
            if defined(low):
                axes.hlines(place, low, high, color=style.SUSPECTED, linewidth=5, zorder=2)
            axes.plot(value, place, marker, color=colour, markersize=5, zorder=3)
        style.percent_axis(axes, top_of(ends, None))

    text = "; ".join(
        f"{name} {percent(value)}" + (f" ({span(low, high)})" if defined(low) else "")
        for name, (value, low, high) in zip(names, lines.values(), strict=True)
    )
    alt, caption = TEXT("dis.figure.alt", rows=text), TEXT("dis.figure.caption")
    if "truth" in lines:
        caption = TEXT("dis.figure.caption_truth", caption=caption)
    return style.row_figure(draw, names, key=False, alt=alt, caption=caption)


def _probabilities(results: Results) -> dict[str, tuple[float, float, float]]:
    """Return each estimate with the ends of its interval, NaN where they are not defined."""
    every = set(results.table(SUMMARY)["quantity"])
    nothing = float("nan")
    names = {
        "general": "dis",
        "special": "dis_special",
        "original": "dis_original",
        "original_special": "dis_original_special",
        "truth": "true_match_probability",
    }
    lines = {}
    for name, estimate in names.items():
        if estimate in every:
            value = quantity(results, estimate)
            away = Z * quantity(results, f"{estimate}_se") if name.endswith("special") else nothing
            ends = (max(0.0, value - away), min(1.0, value + away)) if away >= 0 else (nothing, nothing)
            lines[name] = (value, *ends)
    lines["general"] = (lines["general"][0], quantity(results, "dis_low"), quantity(results, "dis_high"))
    return lines


def values_by_definition(values: dict[str, list[str]]) -> str:
    """Return the values of each definition for the alternative text of a figure."""
    return ". ".join(f"{name_of(definition)}: {'; '.join(texts)}" for definition, texts in values.items())
