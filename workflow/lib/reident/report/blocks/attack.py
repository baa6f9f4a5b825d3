"""The attack: files, linking variables and strata (METHODS §1, §2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reident.intake.account import OF_UNITS
from reident.language import messages
from reident.page.columns import columns
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.strata import shown_strata, with_strata_note
from reident.page.terms import some
from reident.page.wording import count_cells, digits, escape, label_cells, listed, percent, rates, word
from reident.report.results import Results

TEXT = Sentences("attack")
FILES = ("puf", "eif", "iuf")


@block("prepared/account.csv")
def premise(results: Results) -> str:
    """Introduce the attack and the terms of the report."""
    comparison = TEXT("premise.strata" if results.strata_names else "premise.no_strata")
    text = TEXT("premise.text" if results.named else "premise.unnamed", comparison=comparison)
    return paragraphs(text, TEXT("premise.terms"))


@block("prepared/account.csv", "strata/account.csv")
def files(results: Results) -> str:
    """Return the table of the three files: rows read, left out and compared."""
    read = [results.account("prepare", file) for file in FILES]
    lines = pd.DataFrame(
        {
            "file": TEXT.group("files.names").values(),
            "contents": TEXT.group("files.contents").values(),
            "rows_read": [rows["in"] for rows in read],
            "rows_of_units": [sum(rows.get(cause, 0) for cause in OF_UNITS) for rows in read],
            "rows_compared": [results.account("stratify", file)["used"] for file in FILES],
        }
    )
    lines["rows_left_out"] = lines["rows_read"] - lines["rows_of_units"] - lines["rows_compared"]
    return table(
        TEXT("files.caption"),
        *columns(lines, HEADING, "file:text contents:text@1fr"),
        *columns(lines, HEADING, "rows_read:count"),
        *(columns(lines, HEADING, "rows_of_units:count") if results.compares_units else []),
        *columns(lines, HEADING, "rows_left_out:count rows_compared:count"),
    )


@block("description/variables.csv")
def variables(results: Results) -> str:
    """Return the table of linking variables: type, missing and distinct values, agreement of the true links."""
    lines = results.table("description/variables.csv")
    lines = lines.assign(agreement=lines["links_agree"] / lines["links"].where(lines["links"] > 0))
    missing = {file: rates(lines[f"{file}_missing"] / _values(results, file)) for file in ("puf", "eif")}
    distinct = {file: count_cells(lines[f"{file}_distinct"]) for file in missing}
    converted = _conversions(results)
    return paragraphs(
        TEXT("variables.text", variables=some(len(lines), "linking_variable")),
        TEXT("variables.converted") if converted else "",
        table(
            TEXT("variables.caption"),
            ReportColumn(
                HEADING("variable"),
                [_name(row) + converted.get(row.variable, "") for row in lines.itertuples()],
                "l",
                "3.4fr",
            ),
            ReportColumn(HEADING("type"), [messages.label("type", kind) for kind in lines["type"]], "l", "1.3fr"),
            *(ReportColumn(HEADING("missing", file=file.upper()), missing[file], "r", "1fr") for file in missing),
            *(ReportColumn(HEADING("distinct", file=file.upper()), distinct[file], "r", "1fr") for file in missing),
            *columns(lines, HEADING, "in_both=common_codes", "0.8fr"),
            *columns(lines, HEADING, "agreement", "0.9fr"),
            kind="sortable",
        ),
    )


def _values(results: Results, file: str) -> list[int]:
    """Return the number of values that each variable has or lacks: that of units, or of all their rows."""
    rows = results.account("prepare", file)
    n = {"unit": rows["used"], "member": rows["used"] + sum(rows.get(cause, 0) for cause in OF_UNITS)}
    return [max(1, n[variable.level]) for variable in results.model.linking_variables]


def _conversions(results: Results) -> dict[str, str]:
    """Return the formula of each variable whose numbers are converted, such as "EIF × 1,000 + 5"."""
    formulas = {}
    for variable in results.study["linking_variables"]:
        terms = []
        for side, convert in (variable.get("convert") or {}).items():
            if convert:
                terms.append(side.upper())
                terms[-1] += f" × {digits(convert['times'].replace('-', '−'))}" if convert["times"] != "1" else ""
                plus = convert["plus"]
                sign, size = ("−", plus[1:]) if plus.startswith("-") else ("+", plus)
                terms[-1] += f" {sign} {digits(size)}" if plus != "0" else ""
        if terms:
            formulas[variable["name"]] = f" [{escape(' · '.join(terms))}]{{.aside}}"
    return formulas


def _name(row: Any) -> str:
    """Return a variable's name with its column names where a file uses a different one."""
    names = (row.puf_column, row.eif_column)
    if all(name.casefold() == row.variable.casefold() for name in names):
        return escape(row.variable)
    return f"{escape(row.variable)} [{' · '.join(map(escape, names))}]{{.aside}}"


@block("strata/manifest.csv", "strata/account.csv")
def strata(results: Results) -> str:
    """Name the variables that define the strata, the strata in one file only, and the records outside them."""
    if not results.strata_names:
        return TEXT("strata.nothing")
    manifest = results.strata
    both = manifest[(manifest["n_puf"] > 0) & (manifest["n_eif"] > 0)]
    texts = [
        TEXT(
            "strata.text",
            names=listed([f"*{escape(name)}*" for name in results.strata_names]),
            strata=some(len(both), "stratum"),
            pairs=some(round(both["pairs"].sum()), "pair"),
        )
    ]
    single = len(manifest) - len(both)
    if single:
        texts.append(TEXT("strata.one_file", n=single, number=word(single).capitalize()))
    return " ".join([*texts, *_left_out(results)])


def _left_out(results: Results) -> Iterator[str]:
    """Yield the sentences on records without a stratum and on links lost to stratification."""
    account = {file: results.account("stratify", file) for file in FILES}
    lost = {file: rows["in"] - rows["used"] for file, rows in account.items()}
    if lost["puf"] or lost["eif"]:
        records = {file: some(lost[file], f"{file}_record") for file in ("puf", "eif")}
        yield TEXT("strata.no_stratum", **records)
    if lost["iuf"]:
        yield TEXT("strata.lost_links", n=lost["iuf"], share=percent(lost["iuf"] / account["iuf"]["in"]))


@block("strata/manifest.csv")
def strata_table(results: Results) -> str | None:
    """Return the table of records, links and pairs by stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    return table(
        with_strata_note(results, TEXT("strata.caption")),
        ReportColumn(escape(results.strata_heading), label_cells(manifest["label"]), "l", "1fr"),
        *columns(manifest, HEADING, "puf_records=n_puf eif_records=n_eif true_links=n_links pairs_compared=pairs"),
        kind="compact sortable strata" if len(manifest) > 20 else "sortable strata",
    )
