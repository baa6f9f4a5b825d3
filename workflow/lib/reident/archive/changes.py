"""What differs between two releases beside their rates: files, variables, codes, strata, options, code, results.

Every function takes the release before and the release after, and returns one line for each difference. No value of
a numeric variable is read (METHODS §10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias, TypeVar

import pandas as pd

from reident.archive.differences import Group
from reident.archive.releases import LISTS, Release
from reident.pipeline.tables import WHOLE

_Key = TypeVar("_Key")

ABSENT = None
"""What stands for a value that one of the releases does not have."""

PATHS = ("path", "sign_with", "policy")
"""Options that name a file: its folder is confidential and differs between machines."""

MANIFEST, CATEGORIES, DESCRIPTION = (
    "strata/manifest.csv",
    "filerisk/categories.csv",
    "description/variables.csv",
)
FILE_RISK = (
    "records", "records_in_cells", "U", "share_unique", "violations_2_anonymity", "violations_3_anonymity",
    "violations_5_anonymity", "n_special", "f", "dis", "dis_low", "dis_high",
)  # fmt: skip
"""The quantities of `filerisk/summary.csv` that are compared, and the share of records in cells that are unique."""

MATCHING = ("targets", "expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches")


Quantities: TypeAlias = dict[str, float | None]
"""Measures of one release by name; None where one is undefined or not recorded."""


class Change(NamedTuple):
    """One difference: what it is about, and what the releases have; None where one has nothing."""

    about: str
    what: str
    before: Any
    after: Any


def _pairs(before: Mapping[_Key, Any], after: Mapping[_Key, Any]) -> Iterator[tuple[_Key, Any, Any]]:
    """Yield what differs between two mappings, by key in the order of the second, then of the first."""
    for key in [*after, *(key for key in before if key not in after)]:
        one, other = before.get(key, ABSENT), after.get(key, ABSENT)
        if one != other:
            yield key, one, other


# Files


def files(before: Release, after: Release) -> list[Change]:
    """Compare the source files by their side in the study, `puf`, `eif` …, those included that the study makes."""
    return [
        Change(side, what, *values)
        for side, one, other in _pairs(sources(before), sources(after))
        for what, *values in _pairs(one or {}, other or {})
    ]


def sources(release: Release) -> dict[str, dict[str, Any]]:
    """Return the digest, size and rows of each source file, by side; rows where the account of a step has them."""
    found: dict[str, dict[str, Any]] = {}
    rows = _rows(release)
    for entry in release.entries:
        for name, lines in entry["inputs"].items():
            side = name.removeprefix("source_")
            if side not in _NOT_DATA:
                for line in lines:
                    if line["path"].startswith(_FOLDERS):
                        content = {
                            "sha256": line["sha256"],
                            "size": line["size"],
                            "rows": rows.get(side.replace("_", " ")),
                        }
                        found.setdefault(side, content)
    return found


_NOT_DATA = ("study", "notebook")
"""Inputs of steps that are no data."""

_FOLDERS = ("source:", "simulated/", "microaggregation/")
"""Where the sources of steps are, as the ledger records them."""


def _rows(release: Release) -> dict[str, int]:
    """Return the rows of each file as they were read, by side."""
    found: dict[str, int] = {}
    for path in sorted(path for path in release.outputs if path.endswith("/account.csv")):
        account = release.table(path)
        lines = () if account is None else account[account["cause"] == "in"].itertuples()
        for line in lines:
            found.setdefault(line.file, int(line.rows))
    return found


# Variables and their codes


def variables(before: Release, after: Release) -> list[Change]:
    """Compare the variables: added, dropped, and what is declared of them."""
    found = []
    for where in LISTS:
        for name, one, other in _pairs(before.variables(where), after.variables(where)):
            if one is None or other is None:
                found.append(Change(where, name, None if one is None else "", None if other is None else ""))
            else:
                found += [
                    Change(where, f"{name}.{path}", *values)
                    for path, *values in _pairs(dict(_leaves(one)), dict(_leaves(other)))
                ]
    return found


def codes(before: Release, after: Release) -> list[Change] | None:
    """Compare the codes of categorical variables, with the records that have each; None if one does not record them."""
    tables = [release.table(CATEGORIES) for release in (before, after)]
    if any(table is None for table in tables):
        return None
    own = [
        _codes(release, table)
        for release, table in zip((before, after), tables, strict=True)
        if table is not None
    ]
    return [
        Change(variable, code, one, other)
        for variable, *sides in _pairs(*own)
        if all(side is not None for side in sides)
        for code, one, other in _pairs(*sides)
        if one is None or other is None
    ]


def _codes(release: Release, table: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the records by code of each variable that is categorical, in words."""
    numeric = {
        name
        for where in LISTS
        for name, variable in release.variables(where).items()
        if variable.get("type") == "numeric"
    }
    lines = table[~table["variable"].isin(numeric) & ~table["missing"] & (table["n_file"] > 0)]
    found: dict[str, dict[str, int]] = {}
    for row in lines.itertuples():
        found.setdefault(row.variable, {})[release.label(row.variable, row.label)] = int(row.n_file)
    return found


def counts(before: Release, after: Release) -> list[Change]:
    """Compare the distinct values and the missing values of each linking variable, in the PUF and in the EIF."""
    own: list[dict[str, Any]] = []
    for release in (before, after):
        table = release.table(DESCRIPTION)
        lines = [] if table is None else table.to_dict("records")
        own.append({line["variable"]: {name: _plain(line[name]) for name in _COUNTS} for line in lines})
    return [
        Change(variable, what, *values)
        for variable, one, other in _pairs(*own)
        if one is not None and other is not None
        for what, *values in _pairs(one, other)
    ]


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
    found = dict(zip(manifest["stratum"], zip(*columns, strict=True), strict=True))
    return found if len(set(found.values())) == len(found) else {}


def strata(before: Release, after: Release) -> list[Change]:
    """Compare the strata: added, gone, and the records of each; none where :func:`groups` cannot name them."""
    named = [groups(before, after), groups(after, before)]
    manifests = [release.table(MANIFEST) for release in (before, after)]
    own = [
        {
            known[line["stratum"]]: {size: int(line[size]) for size in SIZES}
            for line in manifest.to_dict("records")
        }
        for known, manifest in zip(named, manifests, strict=True)
        if known and manifest is not None
    ]
    if len(own) < 2:
        return []
    pairs = {group or (): sides for group, *sides in _pairs(*own)}
    return [Change(" · ".join(group), "records", *pairs[group]) for group in sorted(pairs)]


SIZES = ("n_puf", "n_eif", "n_links")


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
)  # fmt: skip
"""Sections that leave the rates of the attack as they are; files,
also those that the study makes, are compared by their content."""


# Code and packages


def code(before: Release, after: Release) -> list[Change]:
    """Compare the release, the code of each step, and the versions of the packages."""
    found = []
    for about, known in (("release", _release), ("code", _code), ("packages", _packages)):
        found += [Change(about, *line) for line in _pairs(known(before), known(after))]
    return found


def _release(release: Release) -> dict[str, Any]:
    """Return what the ledger says of the release that ran; several of them joined."""
    found: dict[str, list[str]] = {}
    for entry in release.entries:
        for name, value in (entry.get("release") or {}).items():
            if value is not None and str(value) not in found.setdefault(name, []):
                found[name].append(str(value))
    return {name: ", ".join(sorted(values)) for name, values in found.items()}


def _code(release: Release) -> dict[str, str]:
    """Return the digest of the library that each step ran, without the parts of a step."""
    return {
        entry["rule"] + (f".{entry['metric']}" if entry["metric"] else ""): entry["library_digest"]
        for entry in release.entries
    }


def _packages(release: Release) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for entry in release.entries:
        for name, version in (entry.get("versions") or {}).items():
            found.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(versions)) for name, versions in sorted(found.items())}


# Results beside the rates


def verdict(before: Release, after: Release) -> list[Change]:
    """Compare the verdicts, and the value, bound and outcome of each limit."""
    own: list[dict[str, Any]] = []
    for release in (before, after):
        summary, limits = release.table("verdict/summary.csv"), release.table("verdict/limits.csv")
        found: dict[str, Any] = {}
        for line in [] if summary is None else summary.to_dict("records"):
            scope = "study" if line["scope"] == WHOLE else line["scope"]
            found[f"{scope}.verdict"] = line["verdict"]
        for line in [] if limits is None else limits.to_dict("records"):
            place = ".".join(filter(None, (line["about"], line["limit"], line["metric"])))
            found |= {f"{place}.{name}": _plain(line[name]) for name in ("value", "bound", "outcome")}
        own.append(found)
    return [Change("verdict", *line) for line in _pairs(*own)]


def warnings(before: Release, after: Release) -> list[Change]:
    """Compare the warnings without their numbers: those that only one of the releases has, with their severity."""
    own: list[dict[str, tuple[str, str]]] = []
    for release in (before, after):
        table = release.table("verdict/warnings.csv")
        lines = [] if table is None else zip(table["warning"], table["severity"], strict=True)
        own.append({severity + _NUMBER.sub("0", text): (text, severity) for text, severity in lines})
    return [
        Change("warning", (one or other)[0], one and one[1], other and other[1])
        for _, one, other in _pairs(*own)
        if one is None or other is None
    ]


_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(\.\d+)?(?!\w)")
"""A number in a warning, such as that of the records that it is about."""


def file_risk(release: Release) -> Quantities | None:
    """Return the quantities of the risk of one file; None without it."""
    table = release.table("filerisk/summary.csv")
    if table is None:
        return None
    values = {row.quantity: row.value for row in table.itertuples()}
    found = {name: _number(values.get(name)) for name in FILE_RISK}
    unique, records = found["U"], found["records_in_cells"]
    found["share_unique"] = unique / records if unique is not None and records else None
    return found


def matching(release: Release) -> Quantities | None:
    """Return the summaries of matching, the mean over the synthetic files; None without it."""
    table = release.table("matching/summary.csv")
    if table is None:
        return None
    line = table[table["file"] == "mean"].iloc[0]
    found = {name: _number(line[name]) for name in MATCHING}
    risk, targets = found["expected_match_risk"], found["targets"]
    return found | {"risk_per_target": risk / targets if risk is not None and targets else None}


def _number(value: Any) -> float | None:
    try:
        return None if value is None or pd.isna(value) or value == "" else float(value)
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """Return a cell of a table as a plain value; None if it is empty."""
    return None if pd.isna(value) else value.item() if hasattr(value, "item") else value
