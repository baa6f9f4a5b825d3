"""Risk of one file against its population; choices and the row account of the file (METHODS §7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.filerisk.report import (
    CLASSES,
    SUMMARY,
    bin_in_words,
    by_excluded,
    is_wildcard,
    name_of,
    numeric_variables,
    quantity,
    short_name,
    unreached,
)
from reident.filerisk.report_dis import DEFINED, LOOKS, occurring_classes, values_by_definition
from reident.filerisk.section import FileRisk
from reident.page import style
from reident.page.choices import Choice, table_of
from reident.page.columns import columns
from reident.page.common import row_account
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look, Sheet
from reident.page.terms import some
from reident.page.wording import UNDEFINED, count, count_cells, declared, escape, fixed, label_cells, listed, percent

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk")
SEVERAL = Sentences("filerisk_scenarios")
BY_SAMPLE, BY_CLASS, BY_TENTH = "filerisk/by_sample.csv", "filerisk/by_class.csv", "filerisk/by_tenth.csv"
ACCOUNT, CATEGORIES = "filerisk/account.csv", "filerisk/categories.csv"


@block(SUMMARY, CLASSES)
def risk_population(results: Results) -> str | None:
    """Compare DIS with the true probability in the population."""
    if results.model.risk.population is None:
        return None
    records = some(round(quantity(results, "population_records")), "record")
    matched = quantity(results, "uniques_in_population")
    inside = quantity(results, "population_records_in_cells")
    outside = round(quantity(results, "population_records") - inside)
    if not matched:
        return TEXT("population.no_cell", records=records)
    n, uniques = round(quantity(results, "population_uniques")), count(quantity(results, "U"))
    shares = {"dis": "dis", "truth": "true_match_probability", "reciprocal": "mean_reciprocal"}
    return paragraphs(
        TEXT("population.known", n=n, records=records, found=count(matched), uniques=uniques),
        TEXT("population.truth", **{key: percent(quantity(results, name)) for key, name in shares.items()}),
        TEXT("population.incomplete", n=outside) if outside else None,
    )


@block(BY_SAMPLE)
def risk_samples(results: Results) -> str:
    """Show DIS, the true probability and the correlations over the samples."""
    lines = results.table(BY_SAMPLE)
    correlation = partial(fixed, places=3)
    rows: list[tuple[str, str, Callable[[float], str]]] = [
        (TEXT("samples.rows.records"), "n", count),
        (TEXT("dis.rows.unique"), "uniques", count),
        (TEXT("dis.rows.pairs"), "in_pairs", count),
        (TEXT("samples.rows.dis"), "dis", percent),
        (TEXT("samples.rows.truth"), "match_probability", percent),
        (TEXT("samples.rows.reciprocal"), "mean_reciprocal", percent),
    ]
    for definition in DEFINED:
        name = TEXT("samples.rows.correlation", definition=name_of(definition))
        rows.append((name, f"correlation {definition}", correlation))
    statistics = {"mean": "mean", "deviation": "std", "lowest": "min", "highest": "max"}
    table_columns = [
        ReportColumn(TEXT(f"samples.columns.{name}"), [show(lines[column].agg(function)) for _, column, show in rows])
        for name, function in statistics.items()
    ]
    return paragraphs(
        _drawn(results),
        table(
            TEXT("samples.caption"),
            ReportColumn(TEXT("dis.columns.quantity"), [row[0] for row in rows], "l", "1fr"),
            *table_columns,
        ),
    )


def _drawn(results: Results) -> str:
    """Say how the samples were drawn, and if none of them has a unique record."""
    risk, lines = results.model.risk, results.table(BY_SAMPLE)
    sentences = [TEXT("samples.drawn", n=len(lines), fraction=declared(risk.study_fraction or 0))]
    study = risk.population and risk.population.numerical_study
    if study and study.strata:
        sentences.append(TEXT("samples.strata", variables=listed(label_cells(study.strata))))
    if not lines["uniques"].any():
        sentences.append(TEXT("samples.no_unique"))
    return " ".join(sentences)


@block(BY_CLASS)
def risk_by_class(results: Results) -> str | None:
    """Show the mean reciprocal by class of DIS-SUDA (Table 3 of the paper), or nothing without a record."""
    classes = occurring_classes(results, BY_CLASS)
    labels = list(classes["user-guide"].index)
    if not labels:
        return None
    table_columns = [ReportColumn(TEXT("classes.columns.class"), labels, "l", "1fr")]
    for definition, lines in classes.items():
        heading = TEXT("classes.columns.records", definition=short_name(definition))
        table_columns += [ReportColumn(heading, count_cells(lines["n"]))]
        table_columns += columns(
            lines, TEXT, "reciprocal=mean_reciprocal probability=match_probability", group="population_classes.columns"
        )
    caption = by_excluded(results, TEXT("population_classes.caption"))
    return table(caption, *table_columns, kind="compact")


def tenths_by_definition(results: Results) -> dict[str, pd.DataFrame]:
    """Return the tenths of the sample uniques by the DIS-SUDA of each definition."""
    lines = results.table(BY_TENTH)
    return {definition: lines[(lines["definition"] == definition) & (lines["n"] > 0)] for definition in DEFINED}


@block(BY_SAMPLE, BY_CLASS, BY_TENTH)
def risk_claims(results: Results) -> str | None:
    """Compare the claims of Elliot and Manning with the results, or show nothing without a sample unique."""
    tenths = tenths_by_definition(results)["elliot-manning"]
    if tenths.empty:
        return None
    means = results.table(BY_SAMPLE).mean(numeric_only=True)
    classes = results.table(BY_CLASS)
    at_one = classes[(classes["definition"] == "elliot-manning") & (classes["above"] == 1)].iloc[0]
    dis, truth, reciprocal = means["dis"], means["match_probability"], means["mean_reciprocal"]
    n_at_one = round(at_one["n"])
    observed = {
        "dis": {"dis": percent(dis), "truth": percent(truth), "points": fixed(100 * abs(dis - truth), 1)},
        "reciprocal": {"reciprocal": percent(reciprocal)},
        "related": {"correlation": fixed(means["correlation elliot-manning"], 3), **_ends(tenths, "mean_reciprocal")},
        "one": {"n": n_at_one, "reciprocal": percent(at_one["mean_reciprocal"])},
        "accurate": {**_ends(tenths, "mean_dis_suda", "dis_suda_"), **_ends(tenths, "match_probability")},
    }
    claims = [TEXT(f"claims.{claim}.claim") for claim in observed]
    observations = [TEXT(f"claims.{claim}.observed", **fields) for claim, fields in observed.items()]
    return table(
        TEXT("claims.caption"),
        ReportColumn(TEXT("claims.columns.claim"), claims, "l", "1fr"),
        ReportColumn(TEXT("claims.columns.observed"), observations, "l", "1.3fr"),
    )


def _ends(lines: pd.DataFrame, column: str, prefix: str = "") -> dict[str, str]:
    return {f"{prefix}first": percent(lines[column].iloc[0]), f"{prefix}last": percent(lines[column].iloc[-1])}


@block(SUMMARY)
def risk_choices(results: Results) -> str:
    """Show the open points of the sources, with the option in force."""
    risk = results.model.risk
    special = TEXT("choices.special.chosen", target=declared(risk.special.standard_error), seed=str(risk.special.seed))
    if outcome := unreached(results):
        special = TEXT("choices.special.unreached", chosen=special, outcome=outcome)
    limited = risk.max_order is not None and risk.max_order < quantity(results, "key_variables")
    size = TEXT("choices.size.limited", n=risk.max_order or 0) if limited else TEXT("choices.size.all")
    definition = TEXT("choices.definition.chosen", definition=risk.dis_suda)
    options: dict[str, tuple[str, str]] = {
        "pairs": (TEXT("choices.pairs.records"), UNDEFINED),
        "missing": (TEXT(f"choices.missing.{risk.missing}"), _other(risk.missing, "excluded", "category", "wildcard")),
        "fraction": (
            (TEXT("choices.fraction.weight"), "`sampling_fraction`")
            if risk.weight
            else (TEXT("choices.fraction.declared"), "`weight`")
        ),
        "cells": (TEXT(f"choices.cells.{'excluded' if risk.missing == 'excluded' else 'all'}"), UNDEFINED),
        "special": (special, "`special`"),
        "error": (TEXT(f"choices.error.{'wildcard' if is_wildcard(results) else 'chosen'}"), UNDEFINED),
        "known": (TEXT(f"choices.known.{'original' if risk.original else 'file'}"), "`original`"),
        "coarser": (TEXT("choices.coarser.chosen"), "`collapse`"),
        "size": (by_excluded(results, f"{size}."), "`max_order`") if is_wildcard(results) else (size, "`max_order`"),
        "weights": (f"`{risk.weighting}`", _other(risk.weighting, "elliot", "normalised")),
        "definition": (definition, _other(risk.dis_suda, *DEFINED)),
        **_models(risk),
    }
    choices = [Choice(TEXT(f"choices.{key}.what"), *option, "§7") for key, option in options.items()]
    if risk.sensitive:
        choice, alternative = SEVERAL(f"choices.{risk.missing}"), _other(risk.missing, "excluded", "category")
        choices.append(Choice(SEVERAL("choices.what"), choice, alternative, "§7.5"))
    return table_of(choices)


def _models(risk: FileRisk) -> dict[str, tuple[str, str]]:
    """Return the open points of the sources of the models of the population, if the study has these."""
    if risk.population_models is None:
        return {}
    return {
        "interval": (
            TEXT("choices.interval.chosen", seed=str(risk.population_models.seed)),
            "`population_models.seed`",
        ),
        "recommended": (TEXT("choices.recommended.chosen"), "`population_models.log_linear`"),
        "supported": (TEXT("choices.supported.chosen"), UNDEFINED),
    }


def _other(selected: str, *options: str) -> str:
    return ", ".join(f"`{option}`" for option in options if option != selected)


@block(ACCOUNT)
def risk_account(results: Results) -> str:
    """Show the row account of the file and its population."""
    return row_account(results.table(ACCOUNT), TEXT("account"))


@block(CATEGORIES)
def risk_bins(results: Results) -> str | None:
    """Show the bins of numeric key variables, or nothing without one."""
    categories = results.table(CATEGORIES)
    sensitive = {variable.name for variable in results.model.risk.sensitive if variable.is_numeric}
    is_numeric = categories["variable"].isin(numeric_variables(results) | sensitive)
    groups = categories[is_numeric].groupby("variable", sort=False)
    if not len(groups):
        return None
    lines = pd.DataFrame(
        {
            "variable": name,
            "bins": " · ".join(escape(bin_in_words(label)) for label in bins["label"]),
            "records": " · ".join(count_cells(bins["n_file"])),
        }
        for name, bins in groups
    )
    return table(
        TEXT("bins.caption"),
        *columns(lines, HEADING, "variable:label"),
        *columns(lines, TEXT, "bins:text@1fr", group="bins.columns"),
        *columns(lines, TEXT, "records:text", group="cells.columns"),
        kind="compact",
    )


EQUAL: Look = {"color": style.LIMIT, "linewidth": 0.9, "linestyle": (0, (4, 3))}
"""The broken line on which both axes have the same value."""


@block(BY_SAMPLE)
def risk_samples_figure(results: Results) -> Figure | None:
    """Draw DIS against the true probability, for the samples that have both."""
    lines = results.table(BY_SAMPLE).dropna(subset=["dis", "match_probability"])
    if lines.empty:
        return None
    dis, truth = lines["dis"], lines["match_probability"]

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        low, high = min(dis.min(), truth.min()), max(dis.max(), truth.max())
        margin = max((high - low) * 0.1, 0.005)
        ends = (max(0.0, low - margin), min(1.0, high + margin))
        axes.plot(ends, ends, label=TEXT("samples.figure.equal"), **EQUAL)
        axes.plot(truth, dis, "o", color=style.CONFIRMED, markersize=3.6, label=TEXT("samples.figure.sample"))
        axes.set(xlim=ends, ylim=ends, xlabel=TEXT("samples.figure.x"), ylabel=TEXT("samples.figure.y"))
        for axis in (axes.xaxis, axes.yaxis):
            style.percent_ticks(axis, 4)
        axes.tick_params(axis="y", labelsize=7, labelcolor=style.MUTED)
        axes.grid(visible=True)
        sheet.key()

    fields = {"samples": some(len(lines), "sample")}
    for name, values in (("dis", dis), ("truth", truth)):
        fields |= {f"{name}_low": percent(values.min()), f"{name}_high": percent(values.max())}
    alt = TEXT("samples.figure.alt", **fields)
    return style.figure(draw, height=2.8, alt=alt, caption=TEXT("samples.figure.caption"))


@block(BY_TENTH)
def risk_calibration_figure(results: Results) -> Figure | None:
    """Draw the calibration of each definition against the population, or nothing without a sample unique."""
    tenths = tenths_by_definition(results)
    if all(lines.empty for lines in tenths.values()):
        return None

    def draw(definition: str, axes: Axes) -> None:
        lines, (colour, marker) = tenths[definition], LOOKS[definition]
        look: Look = {"marker": marker, "color": colour, "markersize": 4, "linewidth": 1}
        dis_suda = lines["mean_dis_suda"]
        axes.plot([0, 1], [0, 1], label=TEXT("calibration.calibrated"), **EQUAL)
        axes.plot(dis_suda, lines["mean_reciprocal"], label=TEXT("calibration.reciprocal"), **look)
        look |= {"markerfacecolor": "white"}
        axes.plot(dis_suda, lines["match_probability"], label=TEXT("calibration.probability"), **look)
        axes.set_xlim(0, 1)
        axes.set_xlabel(TEXT("calibration.x"))
        style.percent_ticks(axes.xaxis, 4)
        style.share_axis(axes, 1)

    shares = ["mean_dis_suda", "mean_reciprocal", "match_probability"]
    cells = {
        definition: ["{}: {}, {}".format(*map(percent, row)) for row in lines[shares].to_numpy()]
        for definition, lines in tenths.items()
    }
    alt = TEXT("calibration.alt", definitions=values_by_definition(cells))
    panels = {name_of(definition): partial(draw, definition) for definition in tenths}
    about: dict[str, Any] = {
        "alt": alt,
        "caption": by_excluded(results, TEXT("calibration.caption")),
        "pad": 14,
        "key": True,
    }
    return style.figure(panels, height=2.9, across=1, sharey=True, between=0.05, **about)
