"""DIS of one file: both forms, their errors and assumptions, and an intruder who knows original values (METHODS §7)."""

from __future__ import annotations

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.nouns import some
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.filerisk import (
    SUMMARY,
    declaration,
    interval,
    is_wildcard,
    quantity,
    unreached,
)
from reident.report.wording import count, declared, defined, fixed, percent

MAX_CHANCE = 3
"""A difference between the two forms of DIS of more standard errors than this is not explained by chance."""

TEXT = Sentences("filerisk")


@part(SUMMARY)
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
            Column(TEXT("dis.columns.quantity"), [TEXT(f"dis.rows.{row}") for row in rows], "l", "1fr"),
            Column(TEXT("dis.columns.value"), list(rows.values())),
            name="risk-dis",
        ),
        _sampling(results),
        _agreement(results),
        _unreached(results, "dis_special"),
    )


def _assumptions(results: Results) -> str:
    """State what DIS assumes: no divergence, equal inclusion probabilities, values missing at random."""
    inside, records = quantity(results, "records_in_cells"), quantity(results, "records")
    text = TEXT("dis.assumptions", missing=TEXT("dis.missing") if 0 < inside < records else "")
    return text if declaration(results).weight else f"{text} {TEXT('dis.not_checked')}"


def _sampling(results: Results) -> str | None:
    """State the sampling error of DIS, or why there is none."""
    error = quantity(results, "dis_se")
    if not defined(quantity(results, "dis")):
        return None
    if is_wildcard(results):
        return TEXT("dis.no_sampling.wildcard")
    if error == 0:
        return TEXT("dis.no_sampling.population")
    if not defined(error):
        return TEXT("dis.no_sampling.no_pair" if quantity(results, "U") else "dis.no_sampling.no_unique")
    return TEXT("dis.sampling", error=fixed(100 * error, 1), interval=interval(results))


def _agreement(results: Results) -> str:
    """Say whether the two forms of DIS agree, or why that cannot be said."""
    special, errors = quantity(results, "dis_special"), quantity(results, "dis_special_difference_in_se")
    if not defined(quantity(results, "dis")):
        return block("note", TEXT("dis.agreement.no_general"))
    if not defined(special):
        return block("note", TEXT("dis.agreement.no_special"))
    if not defined(errors):
        certain = {1.0: "all_correct", 0.0: "all_wrong"}
        return TEXT(f"dis.agreement.{certain.get(special, 'no_error')}")
    direction = "above" if errors >= 0 else "below"
    key = direction if abs(errors) <= MAX_CHANCE else f"far_{direction}"
    return TEXT(f"dis.agreement.{key}", errors=fixed(abs(errors), 1))


def _unreached(results: Results, name: str) -> str | None:
    """Warn of a special form that the limit of rounds ended."""
    target, outcome = declared(declaration(results).special.standard_error), unreached(results, name)
    return outcome and block("warning", TEXT("dis.unreached", target=target, outcome=outcome))


@part(SUMMARY)
def risk_original(results: Results) -> str | None:
    """Report DIS for an intruder who knows the original values, or nothing without an original file."""
    if declaration(results).original is None:
        return None
    names = {"file": "dis", "original": "dis_original"}
    columns = {"special": "special", "error": "special_se", "rounds": "special_rounds"}
    dis, original = (quantity(results, name) for name in names.values())
    return paragraphs(
        f"{TEXT('original.text')} {_unchanged(results)}",
        table(
            TEXT("original.caption"),
            Column(
                TEXT("original.columns.values"), [TEXT(f"original.rows.{row}") for row in names], "l", "1fr"
            ),
            Column(
                TEXT("original.columns.general"),
                [f"**{percent(quantity(results, n))}**" for n in names.values()],
            ),
            *(
                Column(
                    TEXT(f"original.columns.{column}"),
                    [
                        (count if column == "rounds" else percent)(quantity(results, f"{name}_{suffix}"))
                        for name in names.values()
                    ],
                )
                for column, suffix in columns.items()
            ),
        ),
        TEXT("original.compared", original=percent(original), dis=percent(dis))
        if defined(original) and defined(dis)
        else None,
        None if defined(original) else block("note", TEXT("original.undefined")),
        _unreached(results, "dis_original_special"),
    )


def _unchanged(results: Results) -> str:
    records = some(round(quantity(results, "original_records_in_cells")), "record")
    unchanged = count(quantity(results, "original_records_unchanged"))
    return TEXT("original.unchanged", records=records, unchanged=unchanged)
