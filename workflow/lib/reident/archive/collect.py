"""The content of a bag, from the ledger of a finished study (METHODS §10).

The results are those behind the report: the chain is followed from it back to the sources, through comparisons to the
variants that they compare. Of results that hold data a bag has the paths and numbers of rows alone, and the digests
only beside the source files.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from reident.archive import content, layout
from reident.archive.bag import Item
from reident.archive.crate import Crate
from reident.errors import InputError
from reident.ledger import stored
from reident.ledger.chain import SOURCE_PREFIX, Chain, first_output, inputs, located, place_of_path
from reident.ledger.withheld import is_open, redacted, withheld, without_digest
from reident.pipeline import release
from reident.pipeline.digests import sha256 as sha256_of
from reident.pipeline.family import Family
from reident.pipeline.steps import table_of
from reident.study import model as studies
from reident.study.named_files import files_without_data

Entry = dict[str, Any]
Line = dict[str, Any]
MustStay = Callable[[Line], bool]
"""What tells of a line of the ledger whether its digest must not be in the bag."""

NOTEBOOK, EDITION = "disclosure-review.ipynb", "edition/edition.json"
ENDS = (NOTEBOOK, EDITION)
"""The results at the ends of the chains: what the report and the releasable edition are rendered from."""

_NOT_MADE = {NOTEBOOK: "the report has not been made", EDITION: "the releasable edition has not been made"}

CODE = (
    "Snakefile", "workflow", "profiles", "config", "docs", "Makefile", "README.md", "CHANGELOG.md", "LICENSE",
    "CITATION.cff", "pyproject.toml", "requirements.lock", "requirements-dev.lock", "environment.yml",
)  # fmt: skip
"""Files and folders of a checkout that a study is run with and read by."""

_NO_CODE = re.compile(r"(?:^|/)(?:\.|__pycache__/)|~$|\.(?:pyc|swp|orig|svg|png)$|^config/studies/")
"""Caches, what editors leave, figures of documents, and studies, since others than the sealed one may be in work."""

MEGABYTE = 1_000_000

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}")


def collect(members: Family, results: Path, notebook: Path) -> list[Item]:
    """Return the payload of the bag of a study whose chain closes.

    `notebook` is what the report is made from, in the checkout whose code goes into the bag. A study without a report,
    or a file to be included that is not there, is an InputError.
    """
    root, checkout = results / members.study.id, notebook.parents[2]
    entries = chain_of(root, ENDS[: 1 if members.study.release is None else 2])
    complete = members.study.seal.inputs == "include"
    must_stay = (lambda _: False) if complete else withheld(entries)
    made = outputs(entries, root, must_stay)
    read, named = sources(entries, root, members, must_stay), code_files(members, complete=complete)
    code = release.describe(checkout)
    documents = {
        layout.OUTPUTS: {"outputs": made},
        layout.INPUTS: {"study": members.path.name, "inputs": read, "files": [line for line, _ in named]},
        layout.RELEASE: code,
        layout.DECISION: decision(members, root),
        layout.COST: cost(entries, root),
    }
    texts = {path: as_json(document) for path, document in documents.items()}
    sizes = {path: len(text) for path, text in texts.items()}
    sizes |= {layout.STUDY: _size(members.path), layout.CODE: _size(checkout / "Snakefile")}
    crate = Crate(members.study, members.path.name, documents, sizes)
    items = [Item(path, text) for path, text in texts.items()]
    items += [Item(layout.CRATE, as_json(crate.describe()))]
    files = [*((line, located(root, "", line["path"])) for line in made), *named]
    items += [Item(layout.PAYLOAD + line["bag"], path, line["sha256"]) for line, path in files if line["bag"]]
    for entry in entries:
        name = f"{_place(entry)}/ledger/{entry['step']}.json".lstrip("/")
        items.append(Item(layout.LEDGER + name, as_json(redacted(entry, must_stay))))
    if complete:
        items.append(Item(layout.NONCE, nonce(root)))
    items += _study(members)
    items += [Item(layout.CODE + name, checkout / name) for name in checkout_files(checkout)]
    items += [Item(layout.CODE + release.COPY, as_json(code))]
    return items + _sources(read, members)


def _size(path: Path) -> int:
    return path.stat().st_size


def as_json(value: Any) -> bytes:
    """Return a value as JSON text, equal for equal values."""
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def chain_of(root: Path, ends: Sequence[str] = (NOTEBOOK,)) -> list[Entry]:
    """Return the entries behind some results of a study, by the path of their first result.

    Raises
    ------
    InputError
        If there is no report or edition, or an entry is not there.
    """

    def absent(path: str) -> NoReturn:
        what = _NOT_MADE.get(path, f"{path} has no entry in the ledger")
        raise InputError(f"{root}: {what}. Run the study to its end before you seal it.")

    return Chain(root).behind(ends, absent)


def nonce(root: Path) -> bytes:
    """Return the random number of the bags of a study with their inputs; it stays, as sealing again changes no byte."""
    path = root / "confidential" / "seal.txt"
    if not path.is_file():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        stored.write(path, f"{secrets.token_hex(32)}\n".encode())
    return path.read_bytes()


def outputs(entries: Iterable[Entry], root: Path, must_stay: MustStay) -> list[Line]:
    """Return the outputs to recreate: every result, with its digest or fingerprint, by path."""
    lines = (line for entry in entries for line in entry["outputs"].values())
    return [_output(line, root, must_stay) for line in sorted(lines, key=lambda line: line["path"])]


def _output(line: Line, root: Path, must_stay: MustStay) -> Line:
    name, path = line["path"], located(root, "", line["path"])
    rendered, stays = name.startswith("reports/"), must_stay(line)
    open_table = not rendered and is_open(table_of(path))
    bag = f"tables/{name}" if open_table else None
    if rendered:
        bag = f"report/{name.removeprefix('reports/')}"
    elif path.name == "study.json":
        bag = f"study/{name}"
    return {
        **{key: (without_digest(line) if stays else line).get(key) for key in ("path", "sha256", "size", "rows")},
        "content": None if rendered or stays else content.digest(path),
        "holds_data": not open_table,
        "equal": "report" if rendered or name in _NOT_MADE else "bytes",
        "bag": bag,
    }


def sources(entries: Iterable[Entry], root: Path, members: Family, must_stay: MustStay) -> list[Line]:
    """Return the source files that steps read, by their paths as the study file has them."""
    files: dict[tuple[str, str], Line] = {}
    for entry, side, line in _reads(entries, members):
        study = members.at(_place(entry))
        path, sha256 = study.sources[side].path, line["sha256"]
        suffix = _SUFFIX.fullmatch(Path(path).suffix)
        bag = f"inputs/{sha256}{suffix[0] if suffix else ''}"
        first = {"path": path, "sha256": sha256, "size": line["size"], "rows": None, "sides": []}
        first |= {"bag": bag if members.study.seal.inputs == "include" else None}
        file = files.setdefault((path, sha256), first)
        file["sides"] = sorted({side, *file["sides"]})
        if file["rows"] is None:
            label = "file" if entry["rule"] == "prepare_filerisk" and side == study.risk.side else side
            file["rows"] = _rows(entry, root, label.replace("_", " "))
    lines = (files[key] for key in sorted(files))
    return [without_digest(line) if must_stay(_recorded(line)) else line for line in lines]


def _recorded(line: Line) -> Line:
    """Return the line of a source file as the ledger has it."""
    return {**line, "path": f"{SOURCE_PREFIX}{Path(line['path']).name}"}


def _reads(entries: Iterable[Entry], members: Family) -> Iterator[tuple[Entry, str, Line]]:
    """Yield every source file that a step read, with the side that it is."""
    for entry in entries:
        sides = members.at(_place(entry)).sources
        for name, lines in entry["inputs"].items():
            if (side := name.removeprefix("source_")) in sides:
                yield from ((entry, side, line) for line in lines if line["path"].startswith(SOURCE_PREFIX))


def _place(entry: Entry) -> str:
    """Return the place of a step's results: empty, or ``variants/…``."""
    return place_of_path(first_output(entry))


def _rows(entry: Entry, root: Path, file: str) -> int | None:
    """Return how many rows of a file came in, by the row account of a step; None if it has no such line."""
    if "account" not in entry["outputs"]:
        return None
    account = stored.read_csv(root / entry["outputs"]["account"]["path"])
    rows = account.loc[(account["file"] == file) & (account["cause"] == "in"), "rows"]
    return int(rows.iloc[0]) if len(rows) else None


def code_files(members: Family, *, complete: bool = False) -> list[tuple[Line, Path]]:
    """Return the files that a study names beside its sources, such as scoring functions, with where they are.

    Of the bag of an earlier edition, which may hold source files, only a `complete` bag has the digest.
    """
    names: set[str] = set()
    for study in (members.study, *(member.study for member in members.members)):
        names |= set(files_without_data(study).values())
    files = [_code_file(name, members.path.parent / name) for name in sorted(names)]
    return [(line if complete or not _is_bag(line["path"]) else without_digest(line), path) for line, path in files]


def _is_bag(name: str) -> bool:
    return name.endswith(".zip")


def _code_file(name: str, path: Path) -> tuple[Line, Path]:
    sha256, inside = sha256_of(path), not Path(name).is_absolute() and ".." not in Path(name).parts
    bag = f"study/{Path(name).as_posix()}" if inside else f"study/elsewhere/{sha256}{path.suffix}"
    line = {"path": name, "sha256": sha256, "size": _size(path), "bag": bag}
    if _is_bag(name):  # The sealed study of an earlier edition may include its source files.
        line["bag"] = None
    return line, path


def decision(members: Family, root: Path) -> Line:
    """Return the rule of decision of a study, and the verdict."""
    rule, tables = members.study.decision, ("summary", "limits", "warnings")
    return {
        "rule": None if rule is None else rule.model_dump(mode="json", exclude_none=True),
        **{name: _records(stored.read_csv(root / f"verdict/{name}.csv")) for name in tables},
    }


def _records(table: pd.DataFrame) -> list[Line]:
    """Return the lines of a table in JSON's types, None where a cell is empty."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def cost(entries: Sequence[Entry], root: Path) -> Line:
    """Return the measured resources of each step, and their totals; None where they were not measured.

    The sizes of all files are in whole megabytes: to the byte, the compressed size of a result tells of its values.
    """
    steps = [{"step": f"{_place(entry)}/{entry['step']}".lstrip("/"), **_measured(entry, root)} for entry in entries]

    lines = (line for entry in entries for line in (*entry["outputs"].values(), *inputs(entry)))
    sizes = {(line["path"], line["sha256"]): line["size"] for line in lines}

    def measured(name: str) -> list[float]:
        return [step[name] for step in steps if step[name] is not None]

    total = {
        "seconds": round(sum(measured("seconds")), 2),
        "cpu_seconds": round(sum(measured("cpu_seconds")), 2),
        "peak_memory_mb": max(measured("memory_mb"), default=None),
        "disk_bytes": -(-sum(sizes.values()) // MEGABYTE) * MEGABYTE,
    }
    return {"steps": steps, "total": total}


def _measured(entry: Entry, root: Path) -> Line:
    """Return the measurements of a step by Snakemake."""
    path = root / _place(entry) / "benchmarks" / f"{entry['step']}.tsv"
    names = {"seconds": "s", "cpu_seconds": "cpu_time", "memory_mb": "max_rss"}
    try:
        head, *_, last = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return dict.fromkeys(names)
    cells = dict(zip(head.split("\t"), last.split("\t"), strict=False))
    return {name: _number(cells.get(column, "")) for name, column in names.items()}


def _number(cell: str) -> float | None:
    """Return a measured number; None where there is none."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def checkout_files(checkout: Path) -> list[str]:
    """Return the sources of a checkout, by their paths in it: never tests, caches, results or other studies."""
    paths = [path for name in CODE for path in (checkout / name, *(checkout / name).rglob("*")) if path.is_file()]
    names = sorted(path.relative_to(checkout).as_posix() for path in paths)
    return [name for name in names if not _NO_CODE.search(name)]


def _study(members: Family) -> Iterator[Item]:
    """Yield the study file, and each variant in full."""
    yield Item(f"{layout.STUDY}{members.path.name}", members.path)
    for member in members.members:
        if member.place:
            text = studies.canonical_json(member.study)
            yield Item(f"{layout.STUDY}{member.place}/study.json", text.encode())


def _sources(read: Iterable[Line], members: Family) -> list[Item]:
    """Return the source files, where the study includes them."""
    files = {line["bag"]: (members.path.parent / line["path"], line["sha256"]) for line in read if line["bag"]}
    for path, _ in files.values():
        if not path.is_file():
            raise InputError(f"{path} does not exist. Put it back, or set `seal: {{inputs: hashes}}` in the study.")
    return [Item(layout.PAYLOAD + bag, path, sha256) for bag, (path, sha256) in files.items()]
