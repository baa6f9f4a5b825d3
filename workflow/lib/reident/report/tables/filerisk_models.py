"""Models of the population: what each estimates, beside the truth where it is known (METHODS §7.1)."""

from __future__ import annotations

import pandas as pd

from reident.filerisk.estimates import (
    BENEDETTI,
    HOUSEHOLDS,
    IN_POPULATION,
    IN_SAMPLE,
    LOG_LINEAR,
    MATCHES,
    OK,
    REIDENTIFICATIONS,
    UNIQUENESS,
    Z,
)
from reident.report.layout import Column, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.common import without_repeats
from reident.report.tables.filerisk import declaration, file_name
from reident.report.wording import UNDEFINED, declared, defined, escape, fixed, without_unit

MODELS = "filerisk/population.csv"
RISK_CLASSES = "filerisk/individual_classes.csv"

QUANTITIES = (IN_SAMPLE, MATCHES, IN_POPULATION, REIDENTIFICATIONS, HOUSEHOLDS)
"""The quantities, in the order of the table."""

TEXT = Sentences("filerisk_models")


def name_of(model: str) -> str:
    """Return the name of a model; interactions have the names of their variables."""
    named = TEXT.names("models")
    return TEXT(f"models.{model}") if model in named else model


def interval_of(low: float, high: float) -> str:
    """Return an interval of numbers of records."""
    return f"{fixed(low, 1)} – {fixed(high, 1)}" if defined(low) else UNDEFINED


def signed(value: float) -> str:
    """Return a number with two decimals and the sign of a negative one."""
    return fixed(value, 2).replace("-", "\u2212")


def _line(lines: pd.DataFrame, kind: str, quantity: str) -> pd.Series | None:
    """Return the line of the recommended model of a kind, or None without one."""
    chosen = lines[(lines["kind"] == kind) & (lines["quantity"] == quantity) & lines["recommended"]]
    return chosen.iloc[0] if len(chosen) else None


@part(MODELS)
def models_findings(results: Results) -> str:
    """Explain the models, and say what the recommended ones find and how far to trust them."""
    lines, given = results.table(MODELS), "weights" if declaration(results).weight else "declared"
    return paragraphs(
        TEXT("premise", file=file_name(results)),
        items([_individual(lines, given), *_log_linear(lines), *_uniqueness(lines)]),
        TEXT(f"assumptions.{given}"),
        _without_estimate(lines),
    )


def _individual(lines: pd.DataFrame, given: str) -> str:
    """Say how many records, and households, the individual risks add up to."""
    sums = lines[lines["model"] == BENEDETTI].set_index("quantity")["estimate"]
    text = TEXT(f"individual.{given}", expected=fixed(sums[REIDENTIFICATIONS], 1))
    if HOUSEHOLDS in sums:
        text += " " + TEXT("households", expected=fixed(sums[HOUSEHOLDS], 1))
    return text


def _log_linear(lines: pd.DataFrame) -> list[str]:
    """Say what the recommended log-linear model estimates, and what its test shows."""
    unique, match = _line(lines, LOG_LINEAR, IN_SAMPLE), _line(lines, LOG_LINEAR, MATCHES)
    if unique is None or match is None:
        return [TEXT("log_linear.none")]
    tests = sorted([unique["test"], match["test"]], key=abs)
    verdict = "under" if tests[-1] > Z else "over" if tests[-1] < -Z else "fits"
    return [
        " ".join(
            [
                TEXT(
                    "log_linear.text",
                    model=escape(name_of(unique["model"])),
                    unique=fixed(unique["estimate"], 1),
                    unique_interval=interval_of(unique["low"], unique["high"]),
                    match=fixed(match["estimate"], 1),
                    match_interval=interval_of(match["low"], match["high"]),
                ),
                TEXT(f"log_linear.{verdict}", test=signed(tests[-1])),
            ]
        )
    ]


def _uniqueness(lines: pd.DataFrame) -> list[str]:
    """Say how many population uniques the rule of Dankar et al. leads to."""
    line = _line(lines, UNIQUENESS, IN_POPULATION)
    if line is None:
        return []
    return [TEXT("uniqueness", model=name_of(line["model"]), estimate=fixed(line["estimate"], 1))]


def _without_estimate(lines: pd.DataFrame) -> str | None:
    """Say why models have no estimate, interval or test."""
    doubtful = lines[lines["status"] != OK].drop_duplicates(["model", "status"])
    if doubtful.empty:
        return None
    return items(
        [
            TEXT("status.line", model=escape(name_of(row.model)), reason=TEXT(f"status.{row.status}"))
            for row in doubtful.itertuples()
        ]
    )


@part(MODELS)
def models_table(results: Results) -> str:
    """Show what each model estimates, by quantity."""
    lines = results.table(MODELS)
    order = {quantity: at for at, quantity in enumerate(QUANTITIES)}
    lines = lines.sort_values("quantity", key=lambda names: names.map(order), kind="stable")
    known = lines["truth"].notna().any()
    quantities = [TEXT(f"quantities.{name}") for name in lines["quantity"]]
    models = [
        TEXT("recommended", model=escape(name_of(row.model)))
        if row.recommended
        else escape(name_of(row.model))
        for row in lines.itertuples()
    ]
    columns = [
        Column(TEXT("columns.quantity"), without_repeats(quantities), "l", "1fr"),
        Column(TEXT("columns.model"), models, "l", "1fr"),
        Column(TEXT("columns.estimate"), [fixed(value, 1) for value in lines["estimate"]]),
        Column(
            TEXT("columns.interval"),
            [interval_of(*ends) for ends in zip(lines["low"], lines["high"], strict=True)],
        ),
    ]
    if known:
        columns.append(Column(TEXT("columns.truth"), [fixed(value, 1) for value in lines["truth"]]))
    columns.append(Column(TEXT("columns.test"), [signed(value) for value in lines["test"]]))
    return table(TEXT("caption"), *columns, kind="compact")


@part(RISK_CLASSES)
def models_classes(results: Results) -> str | None:
    """Show records, and households, by class of individual risk."""
    lines = results.table(RISK_CLASSES)
    lines = lines[lines["n"] > 0]
    if lines.empty:
        return None
    classes = [
        TEXT("classes.zero")
        if not row.up_to
        else TEXT("classes.class", above=percent_of(row.above), up_to=percent_of(row.up_to))
        for row in lines.itertuples()
    ]
    return table(
        TEXT("classes.caption"),
        Column(
            TEXT("classes.columns.unit"),
            without_repeats([TEXT(f"classes.{unit}") for unit in lines["unit"]]),
            "l",
        ),
        Column(TEXT("classes.columns.class"), classes, "l", "1fr"),
        Column(TEXT("classes.columns.n"), [fixed(n, 0) for n in lines["n"]]),
        Column(TEXT("classes.columns.expected"), [fixed(value, 1) for value in lines["expected"]]),
        kind="compact",
    )


def percent_of(edge: float) -> str:
    """Return the end of a class without its unit."""
    return without_unit(declared(edge))
