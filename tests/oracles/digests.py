"""A reader who has PUF, EIF and study file, and tries guesses of what is secret on every digest that he is shown.

A right guess is the strongest one: where no form of the true file has a digest among those that are shown, no trying
finds it. Forms are the bytes of the file, its table in the usual ways to write one, its columns one by one, and digests
of digests.
"""

import base64
import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pypdf

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s")
SHORTEST = 8
"""Hexadecimal digits that are taken for a digest, or its beginning."""

_HEX = re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4})*[0-9a-fA-F]*(?![0-9a-zA-Z])")
_DECIMAL = re.compile(r"(?<![\w.])\d\.\d+e[-+]\d{2}(?!\w)")
"""A number such as 3.333333333333333e-05, whose digits look like a digest."""

_LETTER = r"[A-Za-z0-9+/_-]"
_BASE64 = re.compile(
    rf"(?<!{_LETTER}){_LETTER}{{27}}(?:{_LETTER}{{16}}(?:{_LETTER}{{43}})?)?={{1,2}}(?![=A-Za-z0-9+/_-])"
)


def shown(path: Path) -> dict[str, str]:
    """The text of a page, or of each file of a bag, by name; of a PDF also what is not on a page."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            files = {name.partition("/")[2]: archive.read(name) for name in names}
        return {path.name: path.name} | {name: _text(name, content) for name, content in files.items()}
    return {path.name: _text(path.name, path.read_bytes())}


def _text(name: str, content: bytes) -> str:
    if not name.endswith(".pdf"):
        return content.decode("utf-8", "replace")
    reader = pypdf.PdfReader(io.BytesIO(content))
    lines = " ".join(page.extract_text() for page in reader.pages)
    ids = [bytes(part.original_bytes).hex() for part in reader.trailer.get("/ID", ())]
    about = reader.xmp_metadata.stream.get_data().decode() if reader.xmp_metadata else ""
    return " ".join([lines, *ids, about])


def digests(text: str) -> set[str]:
    """Everything in a text that may be a digest, in hexadecimal."""
    found = {match.replace("-", "").lower() for match in _HEX.findall(_DECIMAL.sub(" ", text))}
    found = {digits for digits in found if not digits.isdecimal() or len(digits) >= 32}
    for match in _BASE64.findall(text):
        letters = match.rstrip("=").replace("+", "-").replace("/", "_")
        raw = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        if len(raw) in (20, 32, 64) and not match.isalpha():
            found.add(raw.hex())
    return found


def told(texts: dict[str, str], secrets: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The secrets that a reader could confirm, each with where it is told."""
    beginnings: dict[str, set[str]] = {}
    for name, values in secrets.items():
        for value in values:
            beginnings.setdefault(value[:SHORTEST], set()).add(f"{value} {name}")
    return {
        (where, known.partition(" ")[2])
        for where, text in texts.items()
        for digest in digests(text)
        for known in beginnings.get(digest[:SHORTEST], ())
        if known.startswith(digest) or digest.startswith(known.partition(" ")[0])
    }


def guesses(path: Path) -> set[str]:
    """The digests of all forms of a file, and the digests of these."""
    first = {digest for form in _forms(path) for digest in _all(form)}
    return first | {digest for value in first for digest in (*_all(value.encode()), *_all(bytes.fromhex(value)))}


def _all(content: bytes) -> set[str]:
    return {hashlib.new(name, content).hexdigest() for name in ALGORITHMS}


def _forms(path: Path):
    """Yield a file as it is, and the ways in which somebody may write what it holds."""
    content = path.read_bytes()
    yield content
    yield content.rstrip(b"\n")
    if path.suffix == ".parquet":
        table = pq.read_table(path, partitioning=None)
        yield from _parquet(table)
        yield from _of_frame(table.to_pandas())
    elif path.suffix == ".csv":
        yield from _of_frame(pd.read_csv(path, dtype=str, keep_default_na=False))


def _parquet(table):
    for plain in (table, table.replace_schema_metadata(None)):
        for compression in ("none", "snappy", "zstd"):
            for end in ({}, {"use_dictionary": False}):
                sink = io.BytesIO()
                pq.write_table(plain, sink, compression=compression, **end)
                yield sink.getvalue()


def _of_frame(frame):
    for lines in (frame, frame.sort_values(list(frame.columns)) if len(frame.columns) else frame):
        for header in (True, False):
            yield lines.to_csv(index=False, header=header).encode()
        for orient in ("records", "columns", "values"):
            yield lines.reset_index(drop=True).to_json(orient=orient).encode()
    for name in frame.columns:
        values = frame[name]
        texts = [str(value) for value in values]
        for separator in ("\n", ",", ""):
            yield separator.join(texts).encode()
        yield json.dumps(texts).encode()
        if values.dtype != object and values.dtype.kind in "biuf":
            numbers = values.fillna(-1).to_numpy()
            for kind in ("<i8", "<f8", "u1"):
                yield numbers.astype(kind).tobytes()
            yield np.packbits(numbers != 0).tobytes()
            yield np.packbits(numbers != 0, bitorder="little").tobytes()
