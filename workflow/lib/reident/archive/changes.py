"""Differences between two releases beside their rates: files, variables, codes, strata, options, code, results.

Every function takes the release before and the release after, and returns one line for each difference. No value of
a numeric variable is read (METHODS §10).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias, TypeVar

from reident.archive.codebase import joined
from reident.archive.differences import Group, number
from reident.archive.releases import LISTS, Release
from reident.ledger.withheld import SOURCES, withheld
from reident.linkage.settings import WHOLE

_Key = TypeVar("_Key")

PATHS = ("path", "sign_with", "policy", "font")
"""Options that name a file: its folder is confidential and differs between machines."""

MANIFEST, CATEGORIES = "strata/manifest.csv", "filerisk/categories.csv"
FILE_RISK = (
    "records", "records_in_cells", "U", "share_unique", "violations_2_anonymity", "violations_3_anonymity",
    "violations_5_anonymity", "n_special", "f", "dis", "dis_low", "dis_high",
)  # fmt: skip
"""The quantities of `filerisk/summary.csv` that are compared, and the share of records in cells that are unique."""

MATCHING = ("targets", "expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches")


Quantities: TypeAlias = dict[str, float | None]
"""Measures of one release by name; None where one is undefined or not recorded."""


class Change(NamedTuple):
    """One difference: its subject, and the value in each release; None where a release has none."""

    about: str
    what: str
    before: Any
    after: Any


def _pairs(before: Mapping[_Key, Any], after: Mapping[_Key, Any]) -> Iterator[tuple[_Key, Any, Any]]:
    """Yield the differences between two mappings, by key in the order of the second, then of the first."""
    for key in [*after, *(key for key in before if key not in after)]:
        old, new = before.get(key), after.get(key)
        if old != new:
            yield key, old, new


def _changes(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> list[Change]:
    """Return the values that differ, by subject; one of the two releases may have no value."""
    return [
        Change(about, what, *values)
        for about, old, new in _pairs(before, after)
        for what, *values in _pairs(old or {}, new or {})
    ]


def _common(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> list[Change]:
    """Return the differences, as :func:`_changes`, where both releases have a value."""
    return [line for line in _changes(before, after) if line.about in before and line.about in after]


# Files


HIDDEN = "(not shown)"
"""Shown for the digests of files from whose digests links or values could be found by trying."""


def files(before: Release, after: Release) -> list[Change]:
    """Compare the source files by their side in the study, `puf`, `eif` …, those included that the study makes."""
    lines = _changes(_fingerprints(before), _fingerprints(after))
    told = {line.about for line in lines if line.what == "sha256"}
    return lines + [
        Change(side, "sha256", HIDDEN, HIDDEN)
        for side, old, new in _pairs(sources(before), sources(after))
        if side not in told and None not in (old, new)
    ]


def links_are_known(before: Release, after: Release) -> bool:
    """Return whether it is recorded if the true links are the same: a bag without its source files has no digest."""
    return None not in [sources(release).get("iuf", "") for release in (before, after)]


def sources(release: Release) -> dict[str, str | None]:
    """Return the digest of each source file, by side, as the ledger has it: None where that of a bag must not."""
    return {side: line["sha256"] for side, line in _sources(release).items()}


def _sources(release: Release) -> dict[str, dict[str, Any]]:
    files: dict[str, dict[str, Any]] = {}
    for entry in release.entries:
        for name, lines in entry["inputs"].items():
            side = name.removeprefix("source_")
            for line in lines if side not in _NOT_DATA else ():
                if line["path"].startswith(SOURCES):
                    files.setdefault(side, line)
    return files


def _fingerprints(release: Release) -> dict[str, dict[str, Any]]:
    """Return the fingerprint of each source file: digest, size, and the rows where the account of a step has them."""
    rows, must_stay = _rows(release), withheld(release.entries)
    return {
        side: {name: None if must_stay(line) else line[name] for name in ("sha256", "size")}
        | {"rows": rows.get(side.replace("_", " "))}
        for side, line in _sources(release).items()
    }


_NOT_DATA = ("study", "notebook")
"""Inputs of steps that are no data."""


def _rows(release: Release) -> dict[str, int]:
    """Return the rows of each file as they were read, by side."""
    rows: dict[str, int] = {}
    for path in sorted(path for path in release.outputs if path.endswith("/account.csv")):
        if (account := release.table(path)) is not None:
            for line in account[account["cause"] == "in"].itertuples():
                rows.setdefault(line.file, int(line.rows))
    return rows


# Variables and their codes


def variables(before: Release, after: Release) -> list[Change]:
    """Compare the variables: added, dropped, and declared differently."""
    lines = []
    for where in LISTS:
        for name, old, new in _pairs(before.variables(where), after.variables(where)):
            if old is None or new is None:
                lines.append(Change(where, name, None if old is None else "", None if new is None else ""))
            else:
                declared = _pairs(dict(_leaves(old)), dict(_leaves(new)))
                lines += [Change(where, f"{name}.{path}", *values) for path, *values in declared]
    return lines


def codes(before: Release, after: Release) -> list[Change] | None:
    """Compare the codes of categorical variables, with the records that have each; None if one does not record them."""
    old, new = _codes(before), _codes(after)
    if old is None or new is None:
        return None
    return [line for line in _common(old, new) if line.before is None or line.after is None]


def _codes(release: Release) -> dict[str, dict[str, int]] | None:
    """Return the records by code of each variable that is categorical, in words; None if they are not recorded."""
    if (table := release.table(CATEGORIES)) is None:
        return None
    numeric = {
        name
        for where in LISTS
        for name, variable in release.variables(where).items()
        if variable.get("type") in ("numeric", "date")
    }
    lines = table[~table["variable"].isin(numeric) & ~table["missing"] & (table["n_file"] > 0)]
    records: dict[str, dict[str, int]] = {}
    for row in lines.itertuples():
        records.setdefault(row.variable, {})[release.label(row.variable, row.label)] = int(row.n_file)
    return records


def counts(before: Release, after: Release) -> list[Change]:
    """Compare the distinct values and the missing values of each linking variable, in the PUF and in the EIF."""
    tables = (_lines(release, "description/variables.csv") for release in (before, after))
    return _common(*({line["variable"]: {name: line[name] for name in _COUNTS} for line in table} for table in tables))


_COUNTS = ("puf_distinct", "puf_missing", "eif_distinct", "eif_missing", "common_codes")


# Strata


def groups(release: Release, other: Release) -> dict[str, Group]:
    """Return the group of each stratum, by its id: the value of each strata variable, which the other release shares.

    A value is its label if both studies declare labels for the variable, otherwise its code. Without the same strata
    variables in both, there is none.
    """
    manifest = release.table(MANIFEST)
    names = sorted(release.variables("strata"))
    if manifest is None or not names or names != sorted(other.variables("strata")):
        return {}
    columns = []
    for name in names:
        labelled = release.labels(name) and other.labels(name)
        columns.append([release.label(name, code) if labelled else code for code in manifest[name]])
    named = dict(zip(manifest["stratum"], zip(*columns, strict=True), strict=True))
    return named if len(set(named.values())) == len(named) else {}


def strata(before: Release, after: Release) -> list[Change]:
    """Compare the strata: added, gone, and the records of each; none where :func:`groups` cannot name them."""
    sizes = []
    for release, other in ((before, after), (after, before)):
        if not (named := groups(release, other)):
            return []
        lines = _lines(release, MANIFEST)
        sizes.append({named[line["stratum"]]: {size: int(line[size]) for size in _SIZES} for line in lines})
    pairs = {group or (): sides for group, *sides in _pairs(*sizes)}
    return [Change(" · ".join(group), "records", *pairs[group]) for group in sorted(pairs)]


_SIZES = ("n_puf", "n_eif", "n_links")


# Options


def options(before: Release, after: Release) -> list[Change]:
    """Compare every key of the studies by its dotted path; items of a list by their name, if they have one."""
    return [
        Change("study", path, *(SECRET if value and path == "release.seed" else value for value in values))
        for path, *values in _pairs(dict(_leaves(before.study)), dict(_leaves(after.study)))
    ]


SECRET = "(secret)"  # noqa: S105 - what is shown instead of one
"""Shown for the seed of random rounding, which must not leave the study."""


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in a study that is no section; an empty section is a value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for at, item in enumerate(value, start=1):
            name = item.get("name", at) if isinstance(item, dict) else at
            yield from _leaves(item, f"{path}[{name}]")
    elif path == "release.after":
        yield path, [PurePath(edition).name for edition in value]
    elif isinstance(value, str) and path.rsplit(".", maxsplit=1)[-1] in PATHS:
        yield path, PurePath(value).name
    else:
        yield path, value


def settings(lines: list[Change]) -> list[str]:
    """Return the sections in which changed options may change the rates of the attack."""
    sections = (line.what.partition(".")[0].partition("[")[0] for line in lines)
    return [name for name in dict.fromkeys(sections) if name not in _WITHOUT_EFFECT]


_WITHOUT_EFFECT = (
    "id", "title", "agency", "date", "files", "simulate", "microaggregate", "decision", "variants", "matching",
    "file_risk", "attribute_disclosure", "seal", "checklist", "release", "confirmed_csv", "why",
    "font",
)  # fmt: skip
"""Sections that leave the rates of the attack as they are; files,
also those that the study makes, are compared by their content."""


# Code and packages


def code(before: Release, after: Release) -> list[Change]:
    """Compare the release, the code of each step that both have, and the versions of the packages."""
    lines = _changes(_code(before), _code(after))
    return [line for line in lines if line.about != "code" or None not in (line.before, line.after)]


def _code(release: Release) -> dict[str, dict[str, str]]:
    """Return the release that ran, the library's digest by step, without its shards, and the packages."""
    entries = release.entries
    return {
        "release": joined(entry.get("release") or {} for entry in entries),
        "code": {
            entry["rule"] + (f".{entry['metric']}" if entry["metric"] else ""): entry["library_digest"]
            for entry in entries
        },
        "packages": dict(sorted(joined(entry["versions"] for entry in entries).items())),
    }


# Results beside the rates


def verdict(before: Release, after: Release) -> list[Change]:
    """Compare the verdicts, and the value, bound and outcome of each limit."""
    return _changes({"verdict": _verdict(before)}, {"verdict": _verdict(after)})


def _verdict(release: Release) -> dict[str, Any]:
    values = {
        f"{'study' if line['scope'] == WHOLE else line['scope']}.verdict": line["verdict"]
        for line in _lines(release, "verdict/summary.csv")
    }
    for line in _lines(release, "verdict/limits.csv"):
        limit = ".".join(filter(None, (line["about"], line["limit"], line["metric"])))
        values |= {f"{limit}.{name}": line[name] for name in ("value", "bound", "outcome")}
    return values


def warnings(before: Release, after: Release) -> list[Change]:
    """Compare the warnings without their numbers: those that only one of the releases has, with their severity."""
    releases = [_lines(release, "verdict/warnings.csv") for release in (before, after)]
    is_coded = all(line.get("code") for lines in releases for line in lines)
    sides = [
        {(line["severity"], _kind(line) if is_coded else _NUMBER.sub("0", line["warning"])): line for line in lines}
        for lines in releases
    ]
    return [
        Change("warning", (old or new)["warning"], old and old["severity"], new and new["severity"])
        for _, old, new in _pairs(*sides)
        if old is None or new is None
    ]


def _kind(line: Mapping[str, Any]) -> str:
    """Return the code of a warning and its fields without their numbers."""
    names = {
        name: list(value) if isinstance(value, dict) else value
        for name, value in json.loads(line["fields"]).items()
        if not isinstance(value, int | float)
    }
    return json.dumps([line["code"], names])


_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(\.\d+)?(?!\w)")
"""A number in a warning of an earlier release, which has the sentence alone."""


def file_risk(release: Release) -> Quantities | None:
    """Return the quantities of the risk of one file; None without it."""
    table = release.table("filerisk/summary.csv")
    if table is None:
        return None
    recorded = dict(zip(table["quantity"], table["value"], strict=True))
    values = {name: number(recorded.get(name)) for name in FILE_RISK}
    unique, records = values["U"], values["records_in_cells"]
    return values | {"share_unique": unique / records if unique is not None and records else None}


def surest(release: Release) -> Quantities | None:
    """Return the most right claims among the surest, of any metric; None without them."""
    table = release.table("surest/summary.csv")
    if table is None:
        return None
    right = number(table["right_of_100"].max())
    return {
        "surest_right": None if right is None else right / 100,
        "surest_at_95": number(table["n_at_95_percent"].max()),
    }


def matching(release: Release) -> Quantities | None:
    """Return the summaries of matching, the mean over the synthetic files; None without it."""
    table = release.table("matching/summary.csv")
    if table is None:
        return None
    line = table[table["file"] == "mean"].iloc[0]
    values = {name: number(line[name]) for name in MATCHING}
    risk, targets = values["expected_match_risk"], values["targets"]
    return values | {"risk_per_target": risk / targets if risk is not None and targets else None}


def _lines(release: Release, path: str) -> list[dict[str, Any]]:
    """Return the lines of a table, None where a cell is empty; none if the release does not have it."""
    table = release.table(path)
    return [] if table is None else table.astype(object).where(table.notna(), None).to_dict("records")
