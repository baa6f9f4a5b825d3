"""Show the weights of Fellegi and Sunter, and how far the match probabilities are right (METHODS §4.6)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.common import without_repeats
from reident.report.wording import (
    count,
    declared,
    defined,
    digits,
    escape,
    percent,
    rates,
    without_unit,
)

LEVELS, MODEL, CALIBRATION = "weights/levels.csv", "weights/model.csv", "weights/calibration.csv"
METRIC = "fellegi_sunter"
ABOUT = 0.1
"""Probabilities are about right whose mean is no farther than this from the share that is right (METHODS §4.6)."""

TEXT = Sentences("fellegi_sunter")
HEADING = Sentences("headings")


def bits(weight: float) -> str:
    """Return a weight with two decimals, and with its sign unless that is 0."""
    return digits(f"{weight:+.2f}".replace("-", "\u2212") if round(weight, 2) else "0.00")


@part(MODEL)
def weights_premise(results: Results) -> str:
    """Explain the weights, and on what this intruder bases them."""
    model, how = results.table(MODEL).iloc[0], knowledge(results)
    texts = [
        TEXT(f"premise.{how}", pairs=some(int(model["n_pairs"]), "pair")),
        TEXT(f"premise.prior_{how}", share=declared(float(f"{model['prior']:.3g}"))),
        *_expected(results),
        TEXT("premise.least", least=bits(model["least_weight"])),
    ]
    return paragraphs(
        TEXT("premise.text"),
        " ".join(texts),
        TEXT("premise.not_converged", rounds=some(int(model["rounds"]), "round"))
        if model["converged"] == "no"
        else None,
    )


def knowledge(results: Results) -> str:
    """Return what the intruder knows of the links: ``blind`` or ``informed``."""
    return str(results.options(METRIC).get("m", "blind"))


def _expected(results: Results) -> Iterator[str]:
    """Yield how many links a blind intruder expects beside their true number, and whether the prior is at its bound."""
    model = results.table(MODEL).iloc[0]
    if not defined(model["largest_prior"]):
        return
    expected, true = round(model["prior"] * model["n_pairs"]), results.true_links[1]
    yield TEXT("premise.expected", expected=count(expected), true=count(true))
    if model["prior"] >= model["largest_prior"]:
        yield TEXT("premise.at_bound")


@part(LEVELS)
def weights_table(results: Results) -> str:
    """Show the pairs, probabilities and weight of each level."""
    lines = results.table(LEVELS)
    return table(
        TEXT(f"weights.caption_{knowledge(results)}"),
        Column(
            HEADING("variable"), without_repeats([escape(name) for name in lines["variable"]]), "l", "1fr"
        ),
        Column(TEXT("weights.columns.level"), [TEXT(f"levels.{level}") for level in lines["level"]], "l"),
        Column(TEXT("weights.columns.pairs"), [count(n) for n in lines["n_pairs"]]),
        Column(TEXT("weights.columns.m"), rates(lines["m"])),
        Column(TEXT("weights.columns.u"), rates(lines["u"])),
        Column(TEXT("weights.columns.weight"), [bits(weight) for weight in lines["weight"]]),
    )


def _mean(lines: pd.DataFrame) -> tuple[float, float]:
    """Return the mean probability and the confirmed share of all suspected pairs."""
    n = lines["n_pairs"].sum()
    return (lines["probability"] * lines["n_pairs"]).sum() / n, lines["n_confirmed"].sum() / n


@part(CALIBRATION)
def calibration_text(results: Results) -> str | None:
    """Say how far the mean probability is from the share that is right, or nothing if no pair is suspected."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None
    probability, share = _mean(lines)
    apart = round(probability - share, 12)
    verdict = "too_sure" if apart > ABOUT else "too_careful" if apart < -ABOUT else "about_right"
    means = {"probability": percent(probability), "share": percent(share)}
    return " ".join([TEXT("calibration.text", **means), TEXT(f"calibration.{verdict}")])


@part(CALIBRATION)
def calibration_table(results: Results) -> str | None:
    """Show the pairs of each class of probabilities, their mean, and the share that is right."""
    lines = results.table(CALIBRATION)
    if lines.empty or not results.confirmable:
        return None
    classes = [
        TEXT("calibration.class", above=without_unit(declared(row.above)), up_to=declared(row.up_to))
        for row in lines.itertuples()
    ]
    return table(
        TEXT("calibration.caption"),
        Column(TEXT("calibration.columns.class"), classes, "l", "1fr"),
        Column(HEADING("suspected_pairs"), [count(n) for n in lines["n_pairs"]]),
        Column(TEXT("calibration.columns.probability"), rates(lines["probability"])),
        Column(HEADING("confirmed_pairs"), [count(n) for n in lines["n_confirmed"]]),
        Column(TEXT("calibration.columns.share"), rates(lines["confirmed_share"])),
    )
