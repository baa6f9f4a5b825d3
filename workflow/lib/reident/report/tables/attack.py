"""Describe the attack: files, linking variables and strata (METHODS §1, §2)."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.nouns import some
from reident.report.recorded import recorded
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.wording import count, escape, listed, percent, rates, word

TEXT = Sentences("attack")
HEADING = Sentences("headings")
FILES = ("puf", "eif", "iuf")
MAX_STRATA = 60
"""Strata that figures and tables show one by one; of more, they show the largest ones."""

MAX_WORST = 20
"""Strata whose rates figures and tables show where there are more than :data:`MAX_STRATA`: the worst ones."""


@part("prepared/account.csv")
def premise(results: Results) -> str:
    """Say what is attacked and how, and introduce the terms of the report."""
    comparison = TEXT("premise.strata" if results.strata_names else "premise.no_strata")
    return paragraphs(TEXT("premise.text", comparison=comparison), TEXT("premise.terms"))


@part("prepared/account.csv", "strata/account.csv")
def files(results: Results) -> str:
    """Return the table of the three files: rows read, left out and compared."""
    read = [results.account("prepare", file)["in"] for file in FILES]
    used = [results.account("stratify", file)["used"] for file in FILES]
    return table(
        TEXT("files.caption"),
        Column(HEADING("file"), list(TEXT.group("files.names").values()), "l"),
        Column(HEADING("contents"), list(TEXT.group("files.contents").values()), "l", "1fr"),
        Column(HEADING("rows_read"), [count(n) for n in read]),
        Column(HEADING("rows_left_out"), [count(all_ - n) for all_, n in zip(read, used, strict=True)]),
        Column(HEADING("rows_compared"), [count(n) for n in used]),
    )


@part("description/variables.csv")
def variables(results: Results) -> str:
    """Return the table of linking variables: type, missing and distinct values, agreement of the true links."""
    lines = results.table("description/variables.csv")
    n = {file: max(1, results.account("prepare", file)["used"]) for file in ("puf", "eif")}
    return paragraphs(
        TEXT("variables.text", variables=some(len(lines), "linking_variable")),
        table(
            TEXT("variables.caption"),
            Column(HEADING("variable"), [_name(row) for row in lines.itertuples()], "l", "3.4fr"),
            Column(HEADING("type"), [recorded(kind, "types") for kind in lines["type"]], "l", "1.3fr"),
            *(
                Column(
                    HEADING("missing", file=file.upper()),
                    rates(lines[f"{file}_missing"] / n[file]),
                    "r",
                    "1fr",
                )
                for file in n
            ),
            *(
                Column(
                    HEADING("distinct", file=file.upper()),
                    [count(n) for n in lines[f"{file}_distinct"]],
                    "r",
                    "1fr",
                )
                for file in n
            ),
            Column(HEADING("in_both"), [count(n) for n in lines["common_codes"]], "r", "0.8fr"),
            Column(
                HEADING("agreement"),
                rates(lines["links_agree"] / lines["links"].where(lines["links"] > 0)),
                "r",
                "0.9fr",
            ),
            kind="sortable",
        ),
    )


def _name(row: Any) -> str:
    """Return a variable's name with its column names where a file uses a different one."""
    columns = (row.puf_column, row.eif_column)
    if all(column.casefold() == row.variable.casefold() for column in columns):
        return escape(row.variable)
    return f"{escape(row.variable)} [{' · '.join(map(escape, columns))}]{{.aside}}"


@part("strata/manifest.csv", "strata/account.csv")
def strata(results: Results) -> str:
    """Say what defines the strata, which are in one file only, and what stratification leaves out."""
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


def _left_out(results: Results) -> list[str]:
    """Return the sentences on records without a stratum and on links lost to stratification."""
    account = {file: results.account("stratify", file) for file in FILES}
    lost = {file: rows["in"] - rows["used"] for file, rows in account.items()}
    texts = []
    if lost["puf"] or lost["eif"]:
        records = {file: some(lost[file], f"{file}_record") for file in ("puf", "eif")}
        texts.append(TEXT("strata.no_stratum", **records))
    if lost["iuf"]:
        texts.append(
            TEXT("strata.lost_links", n=lost["iuf"], share=percent(lost["iuf"] / account["iuf"]["in"]))
        )
    return texts


def shown_strata(results: Results) -> pd.DataFrame:
    """Return the strata that figures and tables show: the largest :data:`MAX_STRATA`, in the manifest's order."""
    manifest = results.strata
    if len(manifest) <= MAX_STRATA:
        return manifest
    size = manifest["n_puf"] + manifest["n_eif"]
    return manifest.loc[sorted(size.sort_values(ascending=False, kind="stable").index[:MAX_STRATA])]


def worst_strata(results: Results) -> pd.DataFrame:
    """Return the strata whose rates are shown: all, or the :data:`MAX_WORST` worst of many, in the manifest's order.

    The worst have the highest confirmed rate of any metric; among these, the most confirmed records.
    """
    manifest = results.strata
    if len(manifest) <= MAX_STRATA:
        return manifest
    by_stratum = results.table("rates.csv").groupby("stratum")
    risk = by_stratum.agg(rate=("confirmed_rate", "max"), confirmed=("n_confirmed", "sum"))
    risk = risk.reindex(manifest["stratum"]).reset_index(drop=True).fillna(0)
    order = risk.sort_values(["rate", "confirmed"], ascending=False, kind="stable").index
    return manifest.loc[sorted(order[:MAX_WORST])]


def with_strata_note(results: Results, caption: str, which: Literal["largest", "worst"] = "largest") -> str:
    """Return a caption, with a note where not all strata are shown."""
    total = len(results.table("strata/manifest.csv"))
    return (
        f"{caption} {TEXT(f'strata.{which}', shown=MAX_STRATA if which == 'largest' else MAX_WORST, total=total)}"
        if total > MAX_STRATA
        else caption
    )


@part("strata/manifest.csv")
def strata_table(results: Results) -> str | None:
    """Return the table of records, links and pairs by stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    return table(
        with_strata_note(results, TEXT("strata.caption")),
        Column(escape(results.strata_heading), [escape(label) for label in manifest["label"]], "l", "1fr"),
        Column(HEADING("puf_records"), [count(n) for n in manifest["n_puf"]]),
        Column(HEADING("eif_records"), [count(n) for n in manifest["n_eif"]]),
        Column(HEADING("true_links"), [count(n) for n in manifest["n_links"]]),
        Column(HEADING("pairs_compared"), [count(n) for n in manifest["pairs"]]),
        kind="compact sortable strata" if len(manifest) > 20 else "sortable strata",
    )
