"""The attack: files, linking variables and strata (METHODS §1, §2)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.results import Results
from reident.report.wording import count, escape, listed, percent, percents, some, word

FILES = {
    "puf": ("Public use file (PUF)", "what the agency releases"),
    "eif": ("External intruder file (EIF)", "what an intruder holds"),
    "iuf": ("Internal use file (IUF)", "the true links, known to the agency only"),
}
MOST_STRATA = 60
"""Figures and tables by stratum show so many strata, the largest ones."""


@part("prepared/account.csv")
def premise(results: Results) -> str:
    """What is attacked, with what, and the words that the report uses."""
    where = " in the same stratum" if results.strata_names else ""
    return paragraphs(
        "The test attacks the file before anybody else can. An intruder holds records of known people, the "
        "*external intruder file*, and looks for the same people among the released records of the *public use file*. "
        f"Each **metric** compares every released record with every record of the intruder{where}.",
        "A pair of records that are alike enough is **suspected**. The agency knows which pairs belong together, "
        "from its *internal use file*; a suspected pair that does is **confirmed**. The **conditional rate** tells "
        "how often a suspicion is right: confirmed records divided by suspected records.",
    )


@part("prepared/account.csv", "strata/account.csv")
def files(results: Results) -> str:
    """Rows of the three files: read, left out, compared."""
    account = {file: results.account("prepare", file) for file in FILES}
    strata = {file: results.account("stratify", file) for file in FILES}
    read = [account[file]["in"] for file in FILES]
    used = [strata[file]["used"] for file in FILES]
    return table(
        "The three files. Rows left out are accounted for, cause by cause, in the annex.",
        Column("File", [f"**{name}**" for name, _ in FILES.values()], "l"),
        Column("What it holds", [what for _, what in FILES.values()], "l", "1fr"),
        Column("Rows read", [count(n) for n in read]),
        Column("Left out", [count(all_ - n) for all_, n in zip(read, used, strict=True)]),
        Column("Rows in the comparison", [count(n) for n in used]),
    )


@part("description/variables.csv")
def variables(results: Results) -> str:
    """The linking variables: type, missing values, distinct values, agreement of the true links."""
    found = results.table("description/variables.csv")
    rows = {file: results.account("prepare", file)["used"] for file in ("puf", "eif")}
    said = (
        f"The intruder compares {some(len(found), 'linking variable')}. Even in a true link, the two records of one "
        "person, values may differ: people change, sources err, and the agency has protected the file."
    )
    return paragraphs(
        said,
        table(
            "Linking variables, with their columns in PUF and EIF. Agreement: of true links; numeric variables binned.",
            Column("Variable", [_name(row) for row in found.itertuples()], "l", "3.4fr"),
            Column("Type", list(found["type"]), "l", "1.3fr"),
            *(
                Column(
                    f"Missing {file.upper()}",
                    percents(found[f"{file}_missing"] / max(1, rows[file])),
                    "r",
                    "1fr",
                )
                for file in ("puf", "eif")
            ),
            *(
                Column(f"Distinct {file.upper()}", [count(n) for n in found[f"{file}_distinct"]], "r", "1fr")
                for file in ("puf", "eif")
            ),
            Column("In both", [count(n) for n in found["common_codes"]], "r", "0.8fr"),
            Column("Agree", percents(_share(found["links_agree"], found["links"])), "r", "0.9fr"),
        ),
    )


def _share(part_: pd.Series, whole: pd.Series) -> pd.Series:
    return part_ / whole.where(whole > 0)


def _name(row: Any) -> str:
    """A variable's name and, where a file calls it otherwise, the columns' names."""
    columns = (row.puf_column, row.eif_column)
    if all(column.casefold() == row.variable.casefold() for column in columns):
        return escape(row.variable)
    return f"{escape(row.variable)} [{' · '.join(map(escape, columns))}]{{.aside}}"


@part("strata/manifest.csv", "strata/account.csv")
def strata(results: Results) -> str:
    """What strata there are, and which are in one file only."""
    if not results.strata_names:
        return "There are no strata: every released record is compared with every record of the intruder."
    manifest = results.strata
    both = manifest[(manifest["n_puf"] > 0) & (manifest["n_eif"] > 0)]
    names = listed([f"*{escape(name)}*" for name in results.strata_names])
    said = (
        f"Records are compared only inside the same stratum, that is with equal values of {names}: "
        f"{some(len(both), 'stratum', 'strata')}, {some(round(both['pairs'].sum()), 'pair')} of records in all."
    )
    lone = len(manifest) - len(both)
    if lone:
        verb = "is" if lone == 1 else "are"
        said += f" {word(lone).capitalize()} further {'stratum' if lone == 1 else 'strata'} {verb} in one file only."
    return said + _left_out(results)


def _left_out(results: Results) -> str:
    """The sentence on records without a stratum and on links that stratification loses."""
    none = {file: results.account("stratify", file) for file in FILES}
    lost = {file: own["in"] - own["used"] for file, own in none.items()}
    text = ""
    if lost["puf"] or lost["eif"]:
        text = (
            f" {count(lost['puf'])} PUF and {count(lost['eif'])} EIF records have no stratum, since a strata value is "
            "missing; they are never compared, but stay in the denominators of the rates."
        )
    if lost["iuf"]:
        share = percent(lost["iuf"] / none["iuf"]["in"])
        verb = "joins" if lost["iuf"] == 1 else "join"
        text += (
            f" {some(lost['iuf'], 'true link')} ({share}) {verb} records of different strata or of none: no metric can "
            "find them."
        )
    return text


def shown_strata(results: Results) -> pd.DataFrame:
    """The strata that figures and tables show: all, or the largest :data:`MOST_STRATA` in their own order."""
    manifest = results.strata
    if len(manifest) <= MOST_STRATA:
        return manifest
    size = manifest["n_puf"] + manifest["n_eif"]
    return manifest.loc[sorted(size.sort_values(ascending=False, kind="stable").index[:MOST_STRATA])]


def strata_note(results: Results) -> str:
    """What a caption adds where not all strata are shown."""
    total = len(results.table("strata/manifest.csv"))
    if total <= MOST_STRATA:
        return ""
    return f" The {MOST_STRATA} largest of {count(total)} strata are shown; `rates.csv` holds all of them."


@part("strata/manifest.csv")
def strata_table(results: Results) -> str | None:
    """Records, links and pairs by stratum."""
    if not results.strata_names:
        return None
    manifest = shown_strata(results)
    return table(
        f"Strata.{strata_note(results)}",
        Column(
            escape(results.strata_heading),
            [escape(label) for label in manifest["label"]],
            "l",
            "1fr",
        ),
        Column("PUF records", [count(n) for n in manifest["n_puf"]]),
        Column("EIF records", [count(n) for n in manifest["n_eif"]]),
        Column("True links", [count(n) for n in manifest["n_links"]]),
        Column("Pairs compared", [count(n) for n in manifest["pairs"]]),
        kind="compact" if len(manifest) > 20 else "",
    )
