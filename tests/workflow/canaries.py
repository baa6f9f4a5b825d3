"""Source files in which every key and every value can be told wherever it turns up, and the search for them in
whatever a run leaves: archives, documents, tables and images are opened first."""

from __future__ import annotations

import base64
import binascii
import contextlib
import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from pypdf import PdfReader

WORD = re.compile(rb"cnry[a-z]{2}[0-9]{4}", re.IGNORECASE)
"""A key, or a code that no label explains."""
NUMBER = re.compile(rb"(?<![0-9.])86753[0-9]{2}\.[0-9]+|8[, _]675[, _]3[0-9]{2}(?:\.[0-9]+)?")
"""A number of the data, with separators of thousands or without; as a whole, so that a cut point can be told."""
LABEL = re.compile(rb"lbl[a-z]+[0-9]{2}", re.IGNORECASE)
"""A stratum or a category of the file whose risk is measured, which the report names."""
REGIONS = ("LBLnorth01", "LBLsouth02")
N_PUF, N_EIF, N_SYNTHETIC, N_ORIGINAL = 60, 90, 40, 40


def write(folder: Path) -> dict[str, str]:
    """Write every source of the studies of :func:`studies`; the contents by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = Random(5)  # noqa: S311 - made-up people
    people = [_person(draw, at) for at in range(N_PUF + N_EIF)]
    held = [*range(N_PUF // 2), *range(N_PUF, N_PUF + N_EIF - N_PUF // 2)]
    tables = {
        "puf": [{"pufid": _word("pk", at), **people[at], "name": _word("pn", at)} for at in range(N_PUF)],
        "eif": [
            {"eifid": _word("ek", at), **people[person], "street": _word("en", at)}
            for at, person in enumerate(held)
        ],
        "iuf": [
            {"puf": _word("pk", at), "eif": _word("ek", at), "ssn": _word("sn", at)} for at in range(N_PUF // 2)
        ],
        "confidential": [_matched(draw, people[at], at) for at in range(N_SYNTHETIC)],
        "synthetic": [
            _matched(draw, people[draw.randrange(N_SYNTHETIC)], at) for at in range(N_SYNTHETIC)
        ],
        "original": [
            {"key": _word("ok", at), **{name: _number(draw) for name in ("x1", "x2", "x3")}}
            for at in range(N_ORIGINAL)
        ],
    }  # fmt: skip
    written = {f"{name}.csv": _csv(rows) for name, rows in tables.items()}
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    return written


def _person(draw: Random, at: int) -> dict[str, str]:
    return {
        "region": draw.choice(REGIONS), "sex": draw.choice(("LBLf03", "LBLm04")), "age": _number(draw),
        "income": _number(draw), "job": _word("jb", at // 2), "rooms": draw.choice("12345"),
    }  # fmt: skip


def _matched(draw: Random, person: dict[str, str], at: int) -> dict[str, str]:
    row = {name: person[name] for name in ("region", "sex", "rooms", "income", "job")}
    return {"pid": _word("mk", at), **row, "wealth": _number(draw)}


def _word(kind: str, at: int) -> str:
    return f"CNRY{kind}{at:04d}"


def _number(draw: Random) -> str:
    return f"8675{draw.randrange(300, 400)}.{draw.randrange(10)}{draw.randrange(1, 10)}"


def _csv(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def found(content: bytes, *patterns: re.Pattern[bytes]) -> set[str]:
    """Every canary in some bytes, whatever is packed into them."""
    hits: set[bytes] = set()
    for layer in layers(content):
        for text in (layer, layer.replace(b"\0", b"")):  # the latter: UTF-16 and UTF-32
            hits.update(hit for pattern in patterns for hit in pattern.findall(text))
    return {hit.decode().lower() for hit in hits}


def layers(content: bytes, depth: int = 0) -> Iterator[bytes]:
    """Some bytes, and what they are once unpacked, decoded or read as the table or document that they are."""
    yield content
    if depth > 6:
        return
    for inner in _inside(content):
        yield from layers(inner, depth + 1)


def _inside(content: bytes) -> Iterator[bytes]:
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    elif content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield archive.read(name)
    elif content[:4] == b"PAR1":
        table = pq.read_table(io.BytesIO(content))
        yield str(table.schema).encode()
        for column in table.columns:
            yield "\n".join(map(str, column.to_pylist())).encode()
    elif content[:5] == b"%PDF-":
        yield from _document(content)
    elif content[:1] == b"\x78":
        with contextlib.suppress(zlib.error):
            yield zlib.decompress(content)
    else:
        for run in re.findall(rb"[A-Za-z0-9+/_-]{40,}={0,2}", content):
            yield _decoded(run)


def _document(content: bytes) -> Iterator[bytes]:
    reader = PdfReader(io.BytesIO(content))
    yield str(reader.metadata).encode()
    for page in reader.pages:
        yield page.extract_text().encode()
    for number in range(1, len(reader.xref_objStm) + sum(map(len, reader.xref.values())) + 1):
        made = reader.get_object(number)
        yield str(made).encode(errors="replace")
        if hasattr(made, "get_data"):
            yield made.get_data()


def _decoded(run: bytes) -> bytes:
    """Base64 of either alphabet; nothing where it is none."""
    run = run.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(run[: len(run) - (len(run) % 4 == 1)] + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""
