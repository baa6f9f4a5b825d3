"""Whether the documents of a bag agree with its ledger and with its files (METHODS §10).

The manifests show that no file changed since they were written. These checks show that the files belong together: that
the ledger of the bag closes, and that its tables, its report and its source files are those of the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from reident.archive import layout
from reident.archive.unpack import Content, quote, refusal
from reident.ledger.chain import SOURCE_PREFIX, inputs, sealed

Line: TypeAlias = dict[str, Any]
BagFiles: TypeAlias = Mapping[str, Content]

_DOCUMENTS = (
    layout.OUTPUTS, layout.INPUTS, layout.RELEASE, layout.DECISION, layout.COST, layout.CRATE, layout.RESOLVED,
)  # fmt: skip
_TYPES = {
    "path": str, "sha256": str | None, "size": int | None, "rows": int | None, "content": str | None,
    "holds_data": bool, "equal": str, "bag": str | None,
}  # fmt: skip
_RELEASE_TYPES = {"version": str | None, "commit": str | None, "tree": str | None, "versions": dict}


def check(path: Path, study: str, files: BagFiles) -> dict[str, Line]:
    """See that the documents of a bag agree with one another and with its files, whose bytes are as its manifests say.

    Returns the documents by their paths in the bag.

    Raises
    ------
    InputError
        Naming the first file that does not fit.
    """
    documents = {name: read(path, files, name) for name in _DOCUMENTS}
    if documents[layout.RESOLVED].get("id") != study:
        raise refusal(path, f"{quote(layout.RESOLVED)} is of another study")
    _check_types(path, layout.RELEASE, documents[layout.RELEASE], _RELEASE_TYPES)

    def lines(name: str, key: str, *fields: str) -> list[Line]:
        return _lines(path, name, documents[name], key, fields)

    outputs = lines(layout.OUTPUTS, "outputs", *_TYPES)
    sources = lines(layout.INPUTS, "inputs", "path", "sha256", "size", "rows", "bag")
    named = lines(layout.INPUTS, "files", "path", "sha256", "size", "bag")
    read_sources = _check_outputs(path, files, outputs)
    for line in sources:
        if _source(line) not in read_sources:
            raise refusal(path, f"{quote(layout.INPUTS)} names a source file that no step of the ledger read")
    _check_bytes(path, files, [*outputs, *sources, *named])
    return documents


def read(path: Path, files: BagFiles, name: str) -> Line:
    """Return a JSON document of a bag, or raise an InputError if it is missing, or is not a JSON object."""
    if name not in files:
        raise refusal(path, f"{quote(name)} is missing")
    try:
        content = json.loads(files[name].text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise refusal(path, f"{quote(name)} is not a JSON object")
    return content


def _lines(path: Path, name: str, document: Line, key: str, fields: Iterable[str]) -> list[Line]:
    """Return the lines of a document, each with its fields."""
    lines = document.get(key)
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise refusal(path, f"`{key}` in {quote(name)} must be a list of objects")
    for line in lines:
        _check_types(path, name, line, {field: _TYPES[field] for field in fields})
    return lines


def _check_types(path: Path, name: str, line: Line, types: Mapping[str, Any]) -> None:
    for field, kind in types.items():
        if field not in line or not isinstance(line[field], kind):
            raise refusal(path, f"`{field}` in {quote(name)} is missing, or is not what it must be")


def _entries(path: Path, files: BagFiles) -> Iterator[tuple[str, Line]]:
    """Yield the entries of the ledger, each of which has the digest of its other fields."""
    for name in files:
        if not name.startswith(layout.LEDGER):
            continue
        entry = read(path, files, name)
        try:
            complete = sealed(entry)["sha256"] == entry["sha256"]
            for line in (*entry["outputs"].values(), *inputs(entry)):
                complete &= isinstance(line["path"], str)
                complete &= isinstance(line["sha256"], str | None) and isinstance(line["size"], int | None)
        except (KeyError, TypeError, AttributeError):
            complete = False
        if not complete:
            raise refusal(path, f"{quote(name)} is not a ledger entry as its step wrote it")
        yield name, entry


def _source(line: Line) -> tuple[str | None, ...]:
    """Return the identity of a source file: digest and size, or the name where a bag must not have these."""
    if line["sha256"] is None:
        return (line["path"].removeprefix(SOURCE_PREFIX).rpartition("/")[2],)
    return line["sha256"], line["size"]


def _check_outputs(path: Path, files: BagFiles, outputs: list[Line]) -> set[tuple[str | None, ...]]:
    """Check that the ledger closes and wrote every listed output; return outside inputs, see :func:`_source`."""
    entries = list(_entries(path, files))
    wrote: dict[str, Line] = {}
    for name, entry in entries:
        for line in entry["outputs"].values():
            if wrote.setdefault(line["path"], line) is not line:
                raise refusal(path, f"{quote(name)} is about a result of another ledger entry")
    for name, entry in entries:
        for line in inputs(entry):
            output = wrote.get(line["path"])
            other = output is None or output["sha256"] != line["sha256"]
            if other and not line["path"].startswith(SOURCE_PREFIX):
                what = "is about a step that read what no other entry of the ledger wrote"
                raise refusal(path, f"{quote(name)} {what}")
    listed = {line["path"]: line for line in outputs}
    if len(listed) != len(outputs) or listed.keys() != wrote.keys():
        raise refusal(path, f"{quote(layout.OUTPUTS)} must list each result of the ledger once, and no other")
    for name, line in listed.items():
        if any(line[field] != wrote[name].get(field) for field in ("sha256", "size", "rows")):
            raise refusal(path, f"{quote(layout.OUTPUTS)} and the ledger disagree about {quote(name)}")
    sources = [line for _, entry in entries for line in inputs(entry) if line["path"].startswith(SOURCE_PREFIX)]
    return {_source(line) for line in sources}


def _check_bytes(path: Path, files: BagFiles, lines: list[Line]) -> None:
    """See that each file that a document describes is as it says, and that no result or source file is undescribed."""
    described = set()
    for line in lines:
        if line["bag"] is None:
            continue
        name = layout.PAYLOAD + line["bag"]
        if name not in files:
            raise refusal(path, f"{quote(name)} is missing")
        if (files[name].sha256, files[name].size) != (line["sha256"], line["size"]):
            raise refusal(path, f"{quote(name)} is not the file of which the bag has the SHA-256")
        if name.startswith(layout.TABLES) and line["holds_data"]:
            raise refusal(path, f"{quote(name)} holds data, which a bag must not have")
        described.add(name)
    for name in files:
        if name.startswith((layout.TABLES, layout.REPORT, layout.SOURCES)) and name not in described:
            raise refusal(path, f"{quote(name)} is in no list of the bag")
