"""The annexes: cut points, row account, provenance, sign-off (METHODS §1, §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results, listed_files
from reident.report.wording import UNDEFINED, count, defined, escape, listed, number, some

MOST_CUTS = 60
"""So many lines of cut points are shown one by one; beyond, the range of each cut point."""

_STEPS = {"prepare": "Reading", "stratify": "Strata"}
_SIDES = {"puf": "PUF", "eif": "EIF", "iuf": "IUF", "study": "study file", "functions": "scoring function"}
_FILES = {"puf": "PUF", "eif": "EIF", "iuf": "IUF", "pooled": "PUF and EIF"}


@part("binned/cutpoints.csv")
def cut_points(results: Results) -> str | None:
    """Cut points and bin counts of the numeric variables."""
    bins = results.table("binned/cutpoints.csv")
    if bins.empty:
        return None
    groups = bins.groupby(["scope", "variable", "file"], sort=False)
    lines = [_cut_line(scope, variable, file, own) for (scope, variable, file), own in groups]
    found = pd.DataFrame(lines)
    labels = dict(zip(results.strata["stratum"], results.strata["label"], strict=True))
    found = found.sort_values(
        "variable", key=lambda names: names.map(_places(names)), kind="stable", ignore_index=True
    )
    found["label"] = [labels.get(scope, "whole study") for scope in found["scope"]]
    text = (
        "For unicity and taxicab numeric variables are compared as bins. Equal values stay together, so that a bin can "
        "be empty where many records share a value."
    )
    if found["empty"].any():
        text += f" {some(int(found['empty'].sum()), 'bin')} of {count(len(bins))} hold no PUF record."
    shown = _each_cut(results, found) if len(found) <= MOST_CUTS else _cut_ranges(found)
    return paragraphs(text, shown)


def _places(names: pd.Series) -> dict[str, int]:
    """The place of each name among the names, in the order in which they come."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _cut_line(scope: str, variable: str, file: str, own: pd.DataFrame) -> dict[str, Any]:
    """The cut points of one variable in one scope, and what its bins hold."""
    cuts = own["up_to"].dropna()
    return {
        "scope": scope,
        "variable": variable,
        "file": file,
        "cuts": list(cuts),
        "puf": list(own["n_puf"]),
        "eif": list(own["n_eif"]),
        "empty": int((own["n_puf"] == 0).sum()),
    }


def _each_cut(results: Results, found: pd.DataFrame) -> str:
    columns = [
        Column("Variable", _once([escape(name) for name in found["variable"]]), "l", "1fr"),
        Column(escape(results.strata_heading), [escape(label) for label in found["label"]], "l", "1fr"),
        Column("Cut points", [_joined(cuts, number) for cuts in found["cuts"]], "l"),
        Column("PUF records by bin", [_joined(counts, count) for counts in found["puf"]], "l"),
        Column("EIF records by bin", [_joined(counts, count) for counts in found["eif"]], "l"),
    ]
    if len(set(found["label"])) == 1:
        del columns[1]
    if len(set(found["file"])) > 1:
        columns.insert(1, Column("Cut by", [_FILES.get(file, file) for file in found["file"]], "l"))
    caption = "Cut points of the numeric variables, and the records in each bin, lowest first."
    return table(caption, *columns, kind="compact")


def _joined(values: list[float], shown: Callable[[float], str]) -> str:
    kept = [value for value in values if defined(value)]
    return " · ".join(shown(value) for value in kept) if kept else UNDEFINED


def _cut_ranges(found: pd.DataFrame) -> str:
    """The lowest and the highest value of each cut point over the strata."""
    lines = []
    for (variable, file), own in found.groupby(["variable", "file"], sort=False):
        most = max(map(len, own["cuts"]))
        full = pd.DataFrame([cuts for cuts in own["cuts"] if len(cuts) == most])
        ranges = [f"{number(full[at].min())} – {number(full[at].max())}" for at in full]
        lines.append(
            (
                escape(variable),
                _FILES.get(file, file),
                " · ".join(ranges) or UNDEFINED,
                count(own["empty"].sum()),
            )
        )
    names, files, shown, empty = zip(*lines, strict=True)
    return table(
        f"Cut points over {some(found['scope'].nunique(), 'stratum', 'strata')}: the lowest and the highest value of "
        "each. `binned/cutpoints.csv` holds all of them.",
        Column("Variable", names, "l", "1fr"),
        Column("Cut by", files, "l"),
        Column("Cut points, lowest – highest", shown, "l"),
        Column("Empty bins", empty),
        kind="compact",
    )


@part("prepared/account.csv", "strata/account.csv")
def account(results: Results) -> str:
    """The row account: every row is used or left out for a named cause."""
    lines = pd.concat([results.table("prepared/account.csv"), results.table("strata/account.csv")])
    lines = lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])]
    words = {"in": "rows in", "used": "**rows used**"}
    return table(
        "Row account. In each step, rows in are rows used and rows left out by each named cause.",
        Column("Step", _once([_STEPS.get(step, escape(step)) for step in lines["step"]]), "l"),
        Column("File", _once([_FILES.get(file, escape(file)) for file in lines["file"]]), "l"),
        Column(
            "", [words.get(cause) or "left out: " + escape(cause) for cause in lines["cause"]], "l", "1fr"
        ),
        Column("Rows", [count(rows) for rows in lines["rows"]]),
        kind="compact",
    )


def _once(names: list[str]) -> list[str]:
    """Names of the lines of a table, each only where it is new."""
    return [name if at == 0 or names[at - 1] != name else "" for at, name in enumerate(names)]


@part("study.json")
def provenance(results: Results) -> str | None:
    """Source files, each by its side, and results with their digests."""
    entries = results.ledger
    if not entries:
        return None
    ordered = [*_sources(entries), *_results(entries)]
    return paragraphs(
        "Every step recorded the SHA-256 digest of what it read and of what it wrote. The report was made after the "
        "chain from the source files to the tables shown here had been checked.",
        table(
            "Files and their digests.",
            Column("File", [_named(side, line) for side, line in ordered], "l", "1fr"),
            Column("Bytes", [count(line.get("size")) for _, line in ordered]),
            Column("SHA-256", [_digest(line["sha256"]) for _, line in ordered], "l"),
            kind="compact",
        ),
    )


def _sources(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The sources with the side that each was read as: files of different folders may have the same name."""
    made = {line["path"] for entry in entries for line in listed_files(entry, "outputs")}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in entries:
        for name, lines in (entry.get("inputs") or {}).items():
            side = name.removeprefix("source_")
            if side == "study" and entry["rule"] != "resolve":
                continue  # a step knows the study file as it was then: what it took of it is the same
            for line in lines:
                if line["path"] not in made:
                    found.setdefault((line["path"], side, line["sha256"]), line)
    return [(side, found[path, side, digest]) for path, side, digest in sorted(found)]


def _results(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What the steps made, in the order of its paths, without a side."""
    made = {line["path"]: line for entry in entries for line in listed_files(entry, "outputs")}
    return [("", made[path]) for path in sorted(made) if _kept(path)]


def _named(side: str, line: dict[str, Any]) -> str:
    """A file, and the side that it was read as."""
    name = f"[{escape(_short(line['path']))}]{{.file}}"
    return f"{name} [{escape(_SIDES.get(side, side.replace('_', ' ')))}]{{.aside}}" if side else name


def _kept(path: str) -> bool:
    """Results that the report shows or rests on as a whole; not each shard's scores."""
    return path.endswith((".csv", "study.json")) or path.startswith("confirmed/")


def _short(path: str) -> str:
    """A source by its name alone: where it lies is nobody's business and differs between machines."""
    return path.removeprefix("source:") if not path.startswith("/") else path.rsplit("/", 1)[-1]


def _digest(text: str) -> str:
    return f"[{text}]{{.digest}}"


@part("study.json")
def versions(results: Results) -> str | None:
    """The programs that the numbers rest on."""
    entries = results.ledger
    found: dict[str, set[str]] = {}
    for entry in entries:
        for name, version in (entry.get("versions") or {}).items():
            found.setdefault(name, set()).add(version)
    if not found:
        return None
    said = [f"{escape(name)} {escape(', '.join(sorted(found[name])))}" for name in sorted(found)]
    return f"The steps ran with {listed(said)}."


@part("study.json")
def command(results: Results) -> str:
    """The command that made the report."""
    study = results.study["id"]
    return (
        f"Made by `snakemake --cores N --config study={study}.yaml`, where `{study}.yaml` is the study file and N the "
        "number of cores; no result depends on N."
    )


@part("study.json")
def sign_off(results: Results) -> str:
    """The block in which the board signs."""
    released = {"metrics": "public use file", "matching": "synthetic data"}
    what = listed([words for section, words in released.items() if results.study.get(section)]) or "file"
    return block(
        "decision",
        f"The board has read this report and decides on the release of the {what}:",
        block("options", "☐ release as it is", "☐ release with these changes or conditions:", "☐ no release"),
        block("signatures", *2 * ("Name and office", "Date", "Signature")),
    )
