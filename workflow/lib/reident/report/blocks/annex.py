"""The annexes: cut points, row account, provenance, glossary (METHODS §1, §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from reident.ledger.withheld import withheld, without_digest
from reident.page.columns import columns
from reident.page.common import file_in_words, in_order, number_or_day, row_account
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences, terms_of
from reident.page.terms import some
from reident.page.wording import UNDEFINED, code, count, defined, escape, label_cells, listed
from reident.pipeline import release
from reident.report.results import RESOLVED, Results

TEXT = Sentences("annex")
MAX_CUT_LINES = 60
"""Lines of cut points that are shown one by one; a longer table shows the range of each cut point."""


@block("binned/cutpoints.csv")
def cut_points(results: Results) -> str | None:
    """Return the cut points and bin counts of the numeric variables."""
    bins = results.table("binned/cutpoints.csv")
    if bins.empty:
        return None
    empty, text = int((bins["n_puf"] == 0).sum()), TEXT("cut_points.text")
    if empty:
        text = f"{text} {TEXT('cut_points.empty', n=empty, bins=len(bins))}"
    n_lines = len(bins[["scope", "variable", "file"]].drop_duplicates())
    return paragraphs(text, _each_cut(results, bins) if n_lines <= MAX_CUT_LINES else _cut_ranges(results, bins))


def _each_cut(results: Results, bins: pd.DataFrame) -> str:
    """Return one line for each scope, variable and cutting file, variable by variable."""
    labels = dict(zip(results.strata["stratum"], results.strata["label"], strict=True))
    lines = pd.DataFrame(
        {
            "variable": variable,
            "label": labels.get(scope, TEXT("cut_points.whole_study")),
            "cut_by": _file_name(file),
            "cut_points": _joined(rows["up_to"], number_or_day(results, str(variable))),
            "puf_by_bin": _joined(rows["n_puf"], count),
            "eif_by_bin": _joined(rows["n_eif"], count),
        }
        for (scope, variable, file), rows in bins.groupby(["scope", "variable", "file"], sort=False)
    )
    lines = in_order(lines, "variable", lines["variable"])
    stratum = ReportColumn(escape(results.strata_heading), label_cells(lines["label"]), "l", "1fr")
    return table(
        TEXT("cut_points.caption"),
        *columns(lines, HEADING, "variable:labels@1fr"),
        *(columns(lines, HEADING, "cut_by:text") if len(set(lines["cut_by"])) > 1 else []),
        *([stratum] if len(set(lines["label"])) > 1 else []),
        *columns(lines, HEADING, "cut_points:text puf_by_bin:text eif_by_bin:text"),
        kind="compact",
    )


def _joined(values: Iterable[float], show: Callable[[float], str]) -> str:
    return " · ".join(show(value) for value in values if defined(value)) or UNDEFINED


def _file_name(file: str) -> str:
    return TEXT.group("cut_points.files").get(file, file)


def _cut_ranges(results: Results, bins: pd.DataFrame) -> str:
    rows = []
    for variable in bins["variable"].unique():
        for file, group in bins[bins["variable"] == variable].groupby("file", sort=False):
            ends = group.dropna(subset="up_to").groupby("bin")["up_to"].agg(["min", "max"])
            show = number_or_day(results, variable)
            ranges = " · ".join(f"{show(line.min)} – {show(line.max)}" for line in ends.itertuples())
            rows.append((variable, _file_name(str(file)), ranges or UNDEFINED, (group["n_puf"] == 0).sum()))
    lines = pd.DataFrame(rows, columns=["variable", "cut_by", "cut_ranges", "empty_bins"])
    return table(
        TEXT("cut_points.ranges", strata=some(bins["scope"].nunique(), "stratum")),
        *columns(lines, HEADING, "variable:label@1fr cut_by:text cut_ranges:text empty_bins:count"),
        kind="compact",
    )


@block("prepared/account.csv", "strata/account.csv")
def account(results: Results) -> str:
    """Return the row account: every row is used or left out for a named cause."""
    lines = pd.concat([results.table("prepared/account.csv"), results.table("strata/account.csv")])
    return row_account(lines, TEXT("account.caption"), TEXT.group("account.steps"))


@block("study.json")
def provenance(results: Results) -> str | None:
    """Return the source files, each with its role, and the results, with the digests from which no link can be told."""
    entries = results.ledger
    if not entries:
        return None
    must_stay = withheld(entries)
    sources = [(side, without_digest(line) if must_stay(line) else line) for side, line in _sources(entries)]
    files = [*sources, *(("", line) for line in _results(entries) if not must_stay(line))]
    return paragraphs(
        TEXT("provenance.text"),
        table(
            TEXT("provenance.caption"),
            ReportColumn(HEADING("file"), [_named(side, line) for side, line in files], "l", "1fr"),
            ReportColumn(HEADING("bytes"), [_shown(line["size"], count) for _, line in files]),
            ReportColumn(HEADING("digest"), [_shown(line["sha256"], _digest) for _, line in files], "l"),
            kind="compact",
        ),
    )


def _sources(entries: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the sources with the role of each: files in different folders may have the same name."""
    outputs = {line["path"] for entry in entries for line in entry["outputs"].values()}
    sources: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in entries:
        for name, lines in entry["inputs"].items():
            side = name.removeprefix("source_")
            for line in lines:
                if line["path"] not in outputs:
                    sources.setdefault((line["path"], side, line["sha256"]), line)
    return [(side, sources[path, side, digest]) for path, side, digest in sorted(sources)]


def _results(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables that the report uses, and the study, ordered by path."""
    lines = {line["path"]: line for entry in entries for line in entry["outputs"].values()}
    return [lines[path] for path in sorted(lines) if path.endswith((".csv", "study.json"))]


def _shown(value: Any, show: Callable[[Any], str]) -> str:
    return UNDEFINED if value is None else show(value)


def _named(side: str, line: dict[str, Any]) -> str:
    name = f"[{escape(_short(line['path']))}]{{.file}}"
    role = TEXT.group("provenance.sides").get(side) or file_in_words(side.replace("_", " "))
    return f"{name} [{escape(role)}]{{.aside}}" if side else name


def _short(path: str) -> str:
    """Return a source as its name alone: its folder is confidential and differs between machines."""
    return path.removeprefix("source:") if not path.startswith("/") else path.rsplit("/", 1)[-1]


@block("study.json")
def versions(results: Results) -> str | None:
    """Return the release of this software and the versions of the packages that made the results."""
    by_name: dict[str, set[str]] = {}
    for entry in results.ledger:
        for name, version in entry["versions"].items():
            by_name.setdefault(name, set()).add(version)
    names = [f"{escape(name)} {escape(', '.join(sorted(by_name[name])))}" for name in sorted(by_name)]
    return paragraphs(_release(), TEXT("versions", versions=listed(names))) if names else None


def _release() -> str:
    """Return the identity of the code, with which each step's code was compared before the report."""
    code_ = release.recorded()
    kind = {None: "unknown", False: "commit", True: "modified"}[code_["modified"]] if code_["commit"] else "none"
    fields = {"commit": _digest(code_["commit"])} if code_["commit"] else {}
    name = escape(f"reident {code_['version'] or ''}".rstrip())
    return TEXT(f"release.{kind}", name=name, tree=_digest(code_["tree"]), **fields)


def _digest(digest: str) -> str:
    return f"[{digest}]{{.digest}}"


@block("study.json")
def command(results: Results) -> str | None:
    """Return the command that reproduces the report, on a line of its own."""
    if not results.ledger:
        return None
    return paragraphs(TEXT("command"), code("snakemake --cores N --config study=STUDY"))


@block(RESOLVED)
def glossary(results: Results) -> str | None:
    """Return the definitions of the terms; `{term=…}` of a phrase leads to them."""
    entries = []
    for section, of in terms_of().items():
        words = Sentences(section)
        for term in words.names("terms") if results.has(of) or results.study.get(of) else ():
            name, meaning = (words(f"terms.{term}.{field}") for field in ("name", "meaning"))
            entry = box("entry", TEXT("entry", name=name, meaning=meaning), name=f"term-{term}")
            entries.append((name.casefold(), entry))
    return paragraphs(*(entry for _, entry in sorted(entries))) or None
