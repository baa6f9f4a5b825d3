"""Uniques of one file: conventions for missing values, special uniques, and coarser keys (METHODS §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reident.filerisk.report import COARSER, CONVENTIONS, SIZES, SUMMARY, VARIABLES, by_excluded, quantity
from reident.page.columns import columns
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.terms import some
from reident.page.wording import count, count_cells, defined, escape, number, percent

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk")


@block(CONVENTIONS)
def risk_conventions(results: Results) -> str | None:
    """Compare k-anonymity under the conventions for missing values, or show nothing where these agree."""
    lines, chosen = results.table(CONVENTIONS), results.model.risk.missing
    if len(lines.drop(columns="convention").drop_duplicates()) == 1:
        return None
    names = [f"**`{name}`**" if name == chosen else f"`{name}`" for name in lines["convention"]]
    below = {name.removeprefix("below_"): lines[name] for name in lines if name.startswith("below_")}
    return paragraphs(
        TEXT("conventions.text", chosen=chosen),
        table(
            TEXT("conventions.caption"),
            ReportColumn(TEXT("conventions.columns.convention"), names, "l", "1fr"),
            *columns(lines, TEXT, "records=n_records", group="conventions.columns"),
            *(ReportColumn(TEXT("conventions.columns.below", k=k), count_cells(n)) for k, n in below.items()),
        ),
    )


@block(COARSER, VARIABLES, SUMMARY)
def risk_coarser(results: Results) -> str | None:
    """Show the sample uniques that survive a coarser key, or nothing without a sample unique or a coarser key."""
    lines = results.table(COARSER)
    if lines.empty or not quantity(results, "U"):
        return None
    names = [
        TEXT(f"coarser.{change}", variable=escape(variable))
        for variable, change in zip(lines["variable"], lines["change"], strict=True)
    ]
    truth = columns(lines, TEXT, "truth_surviving truth_other", "1.2fr", group="coarser.columns")
    has_truth = lines[["truth_surviving", "truth_other"]].notna().any(axis=None)
    levels = results.table(VARIABLES).set_index("variable")["n_levels"]
    same = lines[lines["n_levels"] == lines["variable"].map(levels)]["variable"]
    unchanged = [TEXT("coarser.unchanged", variable=escape(name)) for name in dict.fromkeys(same)]
    return paragraphs(
        TEXT("coarser.text"),
        table(
            TEXT("coarser.caption"),
            ReportColumn(HEADING("variable"), names, "l", "1.6fr"),
            *columns(lines, TEXT, "levels=n_levels surviving=n_surviving@0.8fr", "0.9fr", group="coarser.columns"),
            *columns(lines, TEXT, "share=share_surviving@0.9fr", group="coarser.columns"),
            *columns(lines, TEXT, "still_surviving still_other", "1.2fr", group="coarser.columns"),
            *(truth if has_truth else []),
            kind="compact",
        ),
        box("warning", *unchanged) if unchanged else None,
    )


@block(SUMMARY, SIZES)
def risk_suda(results: Results) -> str:
    """Report special uniques, and minimal sample uniques by size."""
    sizes = results.table(SIZES)
    sizes = sizes[sizes["n_msu"] > 0]
    sizes = sizes.assign(size=count_cells(sizes["size"]), weight=[_score(value) for value in sizes["weight"]])
    caption = by_excluded(results, TEXT("suda.caption", weighting=results.model.risk.weighting))
    declared_columns = columns(sizes, TEXT, "size:text msus=n_msu records=n_records weight:cell", group="suda.columns")
    return paragraphs(
        by_excluded(results, TEXT("suda.text")),
        f"{_special_uniques(results)} {TEXT('suda.highest', score=_score(quantity(results, 'max_suda')))}",
        None if sizes.empty else table(caption, *declared_columns),
    )


def _special_uniques(results: Results) -> str:
    unique, special = round(quantity(results, "U")), round(quantity(results, "n_special"))
    if not unique:
        return TEXT("suda.no_unique")
    uniques = some(unique, "sample_unique")
    first = TEXT("suda.special", n=special, uniques=uniques, share=percent(special / unique))
    return f"{first} {TEXT('suda.random', n=round(quantity(results, 'n_random')))}"


def _score(value: float) -> str:
    """Return a score or a weight, without decimals where it is whole, as with the weights `elliot`."""
    return count(value) if defined(value) and value == round(value) else number(value)
