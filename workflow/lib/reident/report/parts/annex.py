"""The annexes: cut points, row account, provenance, glossary (METHODS §1, §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from reident.pipeline import release
from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.recorded import recorded
from reident.report.results import RESOLVED, Results, listed_files
from reident.report.sentences import Sentences
from reident.report.terms import some
from reident.report.wording import (
    UNDEFINED,
    code,
    count,
    count_cells,
    defined,
    escape,
    label_cells,
    listed,
    number,
    without_repeats,
)

TEXT = Sentences("annex")
GLOSSARY = Sentences("glossary")
HEADING = Sentences("headings")
MAX_CUT_LINES = 60
"""Lines of cut points that are shown one by one; a longer table shows the range of each cut point."""


@part("binned/cutpoints.csv")
def cut_points(results: Results) -> str | None:
    """Return the cut points and bin counts of the numeric variables."""
    bins = results.table("binned/cutpoints.csv")
    if bins.empty:
        return None
    empty = int((bins["n_puf"] == 0).sum())
    n_lines = len(bins[["scope", "variable", "file"]].drop_duplicates())
    return paragraphs(
        " ".join(
            [TEXT("cut_points.text"), *([TEXT("cut_points.empty", n=empty, bins=len(bins))] if empty else [])]
        ),
        _each_cut(results, _cut_lines(results, bins)) if n_lines <= MAX_CUT_LINES else _cut_ranges(bins),
    )


def _cut_lines(results: Results, bins: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each scope, variable and cutting file, variable by variable."""
    groups = bins.groupby(["scope", "variable", "file"], sort=False)
    lines = pd.DataFrame([_cut_line(scope, variable, file, rows) for (scope, variable, file), rows in groups])
    order = {name: place for place, name in enumerate(lines["variable"].unique())}
    lines = lines.sort_values(
        "variable", key=lambda names: names.map(order), kind="stable", ignore_index=True
    )
    labels = dict(zip(results.strata["stratum"], results.strata["label"], strict=True))
    lines["label"] = [labels.get(scope, TEXT("cut_points.whole_study")) for scope in lines["scope"]]
    return lines


def _cut_line(scope: str, variable: str, file: str, bins: pd.DataFrame) -> dict[str, Any]:
    """Return the cut points of one variable in one scope, with the counts of its bins."""
    return {
        "scope": scope,
        "variable": variable,
        "file": file,
        "cuts": list(bins["up_to"].dropna()),
        "puf": list(bins["n_puf"]),
        "eif": list(bins["n_eif"]),
    }


def _each_cut(results: Results, lines: pd.DataFrame) -> str:
    columns = [
        Column(HEADING("variable"), without_repeats(label_cells(lines["variable"])), "l", "1fr"),
        Column(escape(results.strata_heading), label_cells(lines["label"]), "l", "1fr"),
        Column(HEADING("cut_points"), [_joined(cuts, number) for cuts in lines["cuts"]], "l"),
        Column(HEADING("puf_by_bin"), [_joined(counts, count) for counts in lines["puf"]], "l"),
        Column(HEADING("eif_by_bin"), [_joined(counts, count) for counts in lines["eif"]], "l"),
    ]
    if len(set(lines["label"])) == 1:
        del columns[1]
    if len(set(lines["file"])) > 1:
        columns.insert(1, Column(HEADING("cut_by"), [_file_name(file) for file in lines["file"]], "l"))
    return table(TEXT("cut_points.caption"), *columns, kind="compact")


def _joined(values: list[float], show: Callable[[float], str]) -> str:
    """Return the defined values, separated by dots."""
    return " · ".join(show(value) for value in values if defined(value)) or UNDEFINED


def _file_name(file: str) -> str:
    return TEXT.group("cut_points.files").get(file, file)


def _cut_ranges(bins: pd.DataFrame) -> str:
    rows = []
    for variable in bins["variable"].unique():
        for file, group in bins[bins["variable"] == variable].groupby("file", sort=False):
            ends = group.dropna(subset="up_to").groupby("bin")["up_to"].agg(["min", "max"])
            ranges = " · ".join(f"{number(line.min)} – {number(line.max)}" for line in ends.itertuples())
            empty = int((group["n_puf"] == 0).sum())
            rows.append((escape(variable), _file_name(str(file)), ranges or UNDEFINED, count(empty)))
    names, files, ranges_, without_records = zip(*rows, strict=True)
    return table(
        TEXT("cut_points.ranges", strata=some(bins["scope"].nunique(), "stratum")),
        Column(HEADING("variable"), names, "l", "1fr"),
        Column(HEADING("cut_by"), files, "l"),
        Column(HEADING("cut_ranges"), ranges_, "l"),
        Column(HEADING("empty_bins"), without_records),
        kind="compact",
    )


@part("prepared/account.csv", "strata/account.csv")
def account(results: Results) -> str:
    """Return the row account: every row is used or left out for a named cause."""
    lines = pd.concat([results.table("prepared/account.csv"), results.table("strata/account.csv")])
    lines = lines[(lines["rows"] > 0) | lines["cause"].isin(["in", "used"])]
    steps, words = TEXT.group("account.steps"), {"in": TEXT("account.in"), "used": TEXT("account.used")}
    causes = [
        words.get(cause) or TEXT("account.left_out", cause=escape(recorded(cause, "causes")))
        for cause in lines["cause"]
    ]
    return table(
        TEXT("account.caption"),
        Column(
            HEADING("step"), without_repeats([steps.get(step, escape(step)) for step in lines["step"]]), "l"
        ),
        Column(HEADING("file"), without_repeats([escape(file.upper()) for file in lines["file"]]), "l"),
        Column(HEADING("category"), causes, "l", "1fr"),
        Column(HEADING("rows"), count_cells(lines["rows"])),
        kind="compact",
    )


@part("study.json")
def provenance(results: Results) -> str | None:
    """Return the source files, each with its role, and the results, with their digests."""
    entries = results.ledger
    if not entries:
        return None
    files = [*_sources(entries), *_results(entries)]
    return paragraphs(
        TEXT("provenance.text"),
        table(
            TEXT("provenance.caption"),
            Column(HEADING("file"), [_named(side, line) for side, line in files], "l", "1fr"),
            Column(HEADING("bytes"), [count(line.get("size")) for _, line in files]),
            Column(HEADING("digest"), [_digest(line["sha256"]) for _, line in files], "l"),
            kind="compact",
        ),
    )


def _sources(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the sources with the role of each: files in different folders may have the same name."""
    outputs = {line["path"] for entry in entries for line in listed_files(entry, "outputs")}
    sources: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in entries:
        for name, lines in (entry.get("inputs") or {}).items():
            side = name.removeprefix("source_")
            for line in lines:
                if line["path"] not in outputs:
                    sources.setdefault((line["path"], side, line["sha256"]), line)
    return [(side, sources[path, side, digest]) for path, side, digest in sorted(sources)]


def _results(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the results that the report uses, ordered by path, without a role; not the scores of each shard."""
    lines = {line["path"]: line for entry in entries for line in listed_files(entry, "outputs")}
    return [
        ("", lines[path])
        for path in sorted(lines)
        if path.endswith((".csv", "study.json")) or path.startswith("confirmed/")
    ]


def _named(side: str, line: dict[str, Any]) -> str:
    name = f"[{escape(_short(line['path']))}]{{.file}}"
    role = TEXT.group("provenance.sides").get(side) or recorded(side.replace("_", " "), "files")
    return f"{name} [{escape(role)}]{{.aside}}" if side else name


def _short(path: str) -> str:
    """Return a source as its name alone: its folder is confidential and differs between machines."""
    return path.removeprefix("source:") if not path.startswith("/") else path.rsplit("/", 1)[-1]


@part("study.json")
def versions(results: Results) -> str | None:
    """Return the release of this software and the versions of the packages that made the results."""
    by_name: dict[str, set[str]] = {}
    for entry in results.ledger:
        for name, version in (entry.get("versions") or {}).items():
            by_name.setdefault(name, set()).add(version)
    names = [f"{escape(name)} {escape(', '.join(sorted(by_name[name])))}" for name in sorted(by_name)]
    return paragraphs(_release(), TEXT("versions", versions=listed(names))) if names else None


def _release() -> str:
    """Return what tells the code from any other: before the report, each step's code was compared with it."""
    code_ = release.recorded()
    kind = (
        {None: "unknown", False: "commit", True: "modified"}[code_["modified"]] if code_["commit"] else "none"
    )
    fields = {"commit": _digest(code_["commit"])} if code_["commit"] else {}
    name = escape(f"reident {code_['version'] or ''}".rstrip())
    return TEXT(f"release.{kind}", name=name, tree=_digest(code_["tree"]), **fields)


def _digest(digest: str) -> str:
    return f"[{digest}]{{.digest}}"


@part("study.json")
def command(results: Results) -> str | None:
    """Return the command that reproduces the report, on a line of its own."""
    if not results.ledger:
        return None
    return paragraphs(TEXT("command"), code("snakemake --cores N --config study=STUDY"))


READ = {
    "attack": "rates.csv",
    "matching": "matching/summary.csv",
    "risk": "filerisk/summary.csv",
    "models": "filerisk/population.csv",
    "scenarios": "filerisk/scenarios.csv",
    "attribution": "attribution/summary.csv",
    "utility": "utility/summary.csv",
}
"""The table that a study with this kind of analysis has."""

ASKED = {"why": "why"}
"""The section that a study has for terms of tables by metric."""


@part(RESOLVED)
def glossary(results: Results) -> str | None:
    """Return the definitions of the terms; `{term=…}` of a phrase leads to them."""
    entries = []
    kinds = [kind for kind, table in READ.items() if results.has(table)]
    kinds += [kind for kind, name in ASKED.items() if results.study.get(name)]
    for kind in kinds:
        for term in GLOSSARY.names(kind):
            name, meaning = (GLOSSARY(f"{kind}.{term}.{field}") for field in ("name", "meaning"))
            entry = block("entry", GLOSSARY("entry", name=name, meaning=meaning), name=f"term-{term}")
            entries.append((name.casefold(), entry))
    return paragraphs(*(entry for _, entry in sorted(entries))) or None
