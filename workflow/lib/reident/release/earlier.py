"""Earlier editions: the published text of each count (METHODS §11)."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.ledger.spreadsheets import MARK
from reident.linkage.settings import WHOLE
from reident.release.cells import ATTACK, CLUSTERS, FILES, SUPPRESSED, Cell, Published
from reident.release.policies import interval
from reident.sections.release import Policy

FOLDER = "releasable"
RECORD = "release.json"
COUNTS_OF_CLUSTERS = dict(zip(("n_clusters", "n_suspected", "n_confirmed"), CLUSTERS, strict=True))
FILE = {"n_records": "file_records", "below_2": "below_2", "below_3": "below_3", "below_5": "below_5"}
MATCHING = {"n_targets": "match_targets", "n_own": "match_own"}
COLUMNS = {
    "attack.csv": ("file", "variant", "metric", "stratum", "rank_limit", *FILES, *ATTACK),
    "clusters.csv": ("metric", "stratum", *COUNTS_OF_CLUSTERS),
    "file.csv": ("convention", *FILE),
    "matching.csv": ("scenario", "file", "matches_from", "matches_to", *MATCHING),
}
"""The tables of an edition that hold counts, and their columns that are read."""

UNKNOWN = 2**62
"""The end of the interval of a suppressed count."""


class Edition(NamedTuple):
    """An earlier edition."""

    title: str
    date: str
    policy: Mapping[str, Any]  # as `release.json` has it
    cells: dict[Cell, Published]  # suppressed counts included
    strata: tuple[str, ...]  # the labels of its strata, sorted
    record: Mapping[str, Any]  # the whole of `release.json`
    # Whether its attack is on units and the new one on records, or the other way round.
    counts_otherwise: bool = False


def read(path: Path) -> Edition:
    """Read an earlier edition from its folder, or from a sealed archive that contains one.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    files = _texts(path)
    record = _record(path, files[RECORD])
    try:
        policy = Policy.model_validate(record["policy"])
    except ValueError:
        policy = None
    cells: dict[Cell, Published] = {}
    for name in COLUMNS:
        for line, row in _rows(path, name, files[name]):
            for cell, text in _counts(path, name, line, row, record):
                count = _published(f"{path.name}/{name}, line {line}", policy, text)
                if cells.setdefault(cell, count) != count:
                    raise _invalid(
                        f"{path.name}/{name}, line {line}: `{cell.quantity}` contradicts another line of the edition"
                    )
    strata = tuple(sorted({cell.stratum for cell in cells if is_own(cell)} - {WHOLE}))
    return Edition(str(record["title"]), str(record["date"] or ""), record["policy"], cells, strata, record)


def places(inputs: Mapping[str, Sequence[Path]]) -> list[Path]:
    """Return the earlier editions among the inputs of a step, in their order: archives, and folders by their files.

    The names of their inputs are ``edition_1`` for an archive, ``edition_1_attack`` … for a folder.
    """
    editions = {}
    for name, paths in inputs.items():
        if match := re.fullmatch(r"edition_(\d+)(_\w+)?", name):
            (path,) = paths
            editions[int(match[1])] = path.parent if match[2] else path
    return [editions[number] for number in sorted(editions)]


def is_own(cell: Cell) -> bool:
    """Return whether a cell is about the study itself, as it is released."""
    return cell.file == "released" and not cell.variant


def _invalid(what: str) -> InputError:
    return InputError(f"{what}. Use the edition as it was published.")


def _texts(path: Path) -> dict[str, str]:
    """Return the text of every file of an edition that is read."""
    names = (*COLUMNS, RECORD)
    try:
        if path.is_dir():
            contents = {name: (path / name).read_bytes() for name in names}
        else:
            with zipfile.ZipFile(path) as archive:
                contents = {name: archive.read(member) for name, member in _members(path, archive, names)}
        return {name: content.decode("utf-8-sig") for name, content in contents.items()}
    except FileNotFoundError as error:
        missing = Path(error.filename).name if error.filename else path.name
        raise InputError(
            f"{path.name}: `{missing}` is missing from the earlier edition. Name the folder `{FOLDER}` of a study, or "
            "a sealed archive that contains it."
        ) from None
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        raise InputError(
            f"{path.name}: the earlier edition cannot be read. Name the folder `{FOLDER}` of a study, or a sealed "
            "archive that contains it."
        ) from None
    except UnicodeDecodeError:
        raise _invalid(f"{path.name}: a file of the earlier edition is not UTF-8 text") from None


def _members(path: Path, archive: zipfile.ZipFile, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the member of an archive for each file of the one edition in it."""
    members = archive.namelist()
    suffix = f"{FOLDER}/{RECORD}"
    records = [name for name in members if name == suffix or name.endswith(f"/{suffix}")]
    if len(records) != 1:
        raise InputError(
            f"{path.name}: the archive must contain exactly one folder `{FOLDER}` with a `{RECORD}`, but has "
            f"{len(records)}. Name the archive of one study."
        )
    folder = records[0].removesuffix(RECORD)
    for name in names:
        if folder + name not in members:
            raise FileNotFoundError(2, "missing", name)
        yield name, folder + name


def _record(path: Path, text: str) -> dict[str, Any]:
    """Return the record of an edition."""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    needed = {"title": str, "date": str | None, "policy": dict, "rank_limit": int, "strata": list}
    if not isinstance(record, dict) or not all(isinstance(record.get(key), kind) for key, kind in needed.items()):
        raise InputError(
            f"{path.name}/{RECORD}: {', '.join(f'`{key}`' for key in needed)} must be in the record of an edition. Use "
            "the edition as it was published."
        )
    return record


def _rows(path: Path, name: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line of a table, and its fields."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        missing = [column for column in COLUMNS[name] if header.count(column) != 1]
        if missing:
            raise _invalid(f"{path.name}/{name}: the column `{missing[0]}` must be there once")
        for fields in reader:
            if len(fields) != len(header):
                raise _invalid(
                    f"{path.name}/{name}, line {reader.line_num}: the line must have {len(header)} fields, but has "
                    f"{len(fields)}"
                )
            plain = [field.removeprefix(MARK) for field in fields]
            yield reader.line_num, dict(zip(header, plain, strict=True))
    except csv.Error:
        raise _invalid(f"{path.name}/{name}, line {reader.line_num}: the line is not valid CSV") from None


def _counts(
    path: Path, name: str, line: int, row: Mapping[str, str], record: Mapping[str, Any]
) -> Iterator[tuple[Cell, str]]:
    """Yield the cells of a line and their published texts."""
    if name == "attack.csv":
        limit = row["rank_limit"] or "0"
        if not (limit.isascii() and limit.isdecimal()):
            raise _invalid(f"{path.name}/{name}, line {line}: `rank_limit` must be a whole number")
        base = Cell("", row["file"], row["variant"], row["metric"], row["stratum"], int(limit))
        cells = {quantity: base._replace(quantity=quantity) for quantity in ATTACK}
        cells |= {quantity: base._replace(quantity=quantity, metric="", rank_limit=0) for quantity in FILES}
    elif name == "clusters.csv":
        base = Cell("", metric=row["metric"], stratum=row["stratum"], rank_limit=_in_force(record, row["metric"]))
        cells = {column: base._replace(quantity=quantity) for column, quantity in COUNTS_OF_CLUSTERS.items()}
        cells["n_clusters"] = cells["n_clusters"]._replace(metric="", rank_limit=0)
    elif name == "file.csv":
        cells = {column: Cell(quantity, other=row["convention"]) for column, quantity in FILE.items()}
    else:
        other = "|".join(row[key] for key in ("scenario", "file", "matches_from", "matches_to"))
        cells = {column: Cell(quantity, other=other) for column, quantity in MATCHING.items()}
    yield from ((cell, row[column]) for column, cell in cells.items() if row[column])


def _in_force(record: Mapping[str, Any], metric: str) -> int:
    """Return the rank limit of a metric of the edition."""
    return int(record["rank_limit"]) if metric in record["ranked"] else 0


def _published(place: str, policy: Policy | None, text: str) -> Published:
    """Return the published count with a text."""
    if text == SUPPRESSED:
        return Published(text, None, 0, UNKNOWN)
    try:
        if policy is None:
            raise ValueError("the record has no valid policy")
        low, high = interval(policy, text)
    except ValueError:
        raise _invalid(f"{place}: `{text}` is not a count by the policy of the edition") from None
    return Published(text, int(text) if text.isdecimal() else None, low, high)
