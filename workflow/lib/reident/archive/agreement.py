"""Whether the decision of a bag follows from its tables, and its study from the study file (METHODS §10).

What the same code made must agree in everything. Of another release, which may define a limit or a default in another
way, what this one comes to is a warning where it is not what the bag says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
from pydantic import ValidationError

from reident.archive import layout
from reident.archive.consistency import BagFiles, Line
from reident.archive.consistency import read as read_document
from reident.archive.crate import Crate
from reident.archive.unpack import Content, quote, refusal
from reident.errors import InputError
from reident.ledger.chain import first_output, place_of_path
from reident.ledger.stored import encoded, read_csv, read_text
from reident.pipeline import release
from reident.pipeline.digests import library_digest
from reident.pipeline.family import Family
from reident.pipeline.steps import table_of
from reident.sections.decision import Decision
from reident.study import reading
from reident.study.model import Study, plain
from reident.verdict import limits
from reident.verdict.step import judging

VERDICT = ("warnings", "limits", "summary")
"""The tables of the verdict, and the parts of ``decision.json`` that repeat them."""

_UNKNOWN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What the tables of a release with other columns may raise."""


def check(path: Path, files: BagFiles, documents: dict[str, Line]) -> list[str]:
    """Check that the files of a bag give its decision and study; return warnings on files that are absent.

    Raises
    ------
    InputError
        Naming the first file that contradicts another one.
    """
    same = release.in_checkout() and documents[layout.RELEASE]["tree"] == release.tree_digest()
    study = _study(path, files, documents, same)
    warnings = [study] if isinstance(study, str) else []
    _decision(path, files, documents)
    for name, entry in _judged(path, files):
        warnings += _verdict(path, files, name, entry)
    if same and not isinstance(study, str) and documents[layout.CRATE] != _crate(*study, files, documents):
        raise refusal(path, f"{quote(layout.CRATE)} does not describe the other files")
    return list(dict.fromkeys(warnings))


def _study(path: Path, files: BagFiles, documents: dict[str, Line], same: bool) -> tuple[Study, str] | str:
    """Return the study of the bag and its file, or a warning that it cannot be read.

    The study with every default must be that of the study file, and so must each variant.
    """
    names = [name for name in files if PurePosixPath(name).parent.as_posix() + "/" == layout.STUDY]
    listed = documents[layout.INPUTS].get("study")
    file = f"{layout.STUDY}{listed}" if listed is not None else next(iter({*names} - {layout.RESOLVED}), "")
    if file not in files:
        if listed is not None or file:
            raise refusal(path, f"{quote(file)} is missing")
        return "the bag has no study file."
    try:
        content = reading.read(Path(PurePosixPath(file).name), content=files[file].text)
        members = Family(Path(PurePosixPath(file).name), content)
        studies = {layout.RESOLVED: members.study}
        studies |= {f"{layout.STUDY}{one.place}/study.json": one.study for one in members.members if one.place}
        found = {name: Study.model_validate(read_document(path, files, name)) for name in studies}
    except (InputError, ValidationError):
        if same:
            raise refusal(path, f"{quote(file)} is not the study file of what was computed") from None
        return "this release cannot read the study of the bag, which another release made. Verify it with that release."
    for name, study in studies.items():
        if _results(found[name]) != _results(study):
            raise refusal(path, f"{quote(name)} is not the study of {quote(file)}")
    rule = documents[layout.DECISION].get("rule")
    decision = None if rule is None else _valid(path, rule)
    if decision != members.study.decision:
        raise refusal(path, f"the rule in {quote(layout.DECISION)} is not that of {quote(file)}")
    return members.study, file


def _results(study: Study) -> dict[str, Any]:
    """Return everything in a study on which a result depends."""
    return {key: value for key, value in plain(study).items() if key != "seal"}


def _valid(path: Path, rule: Any) -> Decision:
    try:
        return Decision.model_validate(rule)
    except ValidationError:
        raise refusal(path, f"the rule in {quote(layout.DECISION)} is not a rule of decision") from None


def _crate(study: Study, file: str, files: BagFiles, documents: dict[str, Line]) -> Line:
    sizes = {name: content.size for name, content in files.items()}
    sizes |= {layout.STUDY: sizes[file], layout.CODE: sizes.get(f"{layout.CODE}Snakefile", 0)}
    return Crate(study, PurePosixPath(file).name, documents, sizes).describe()


def _decision(path: Path, files: BagFiles, documents: dict[str, Line]) -> None:
    """See that ``decision.json`` has the lines of the tables, and no others."""
    for name in VERDICT:
        table = f"{layout.TABLES}verdict/{name}.csv"
        stated = documents[layout.DECISION].get(name)
        if table not in files:
            if stated:
                raise refusal(path, f"{quote(table)} is missing, of which {quote(layout.DECISION)} has lines")
            continue
        if not _kept(files[table]):
            raise refusal(path, f"{quote(table)} is too large for a table of the verdict")
        lines = read_text(Path(table), files[table].text).to_dict("records")
        if not isinstance(stated, list) or len(stated) != len(lines) or not all(map(_same_line, stated, lines)):
            raise refusal(path, f"{quote(layout.DECISION)} contradicts {quote(table)}")


def _kept(content: Content) -> bool:
    """Return whether verification has the bytes of a file."""
    return len(content.text) == content.size


def _same_line(stated: Any, line: dict[str, str]) -> bool:
    """Return whether a line in JSON's types is that of a table as text."""
    return (
        isinstance(stated, dict)
        and stated.keys() == line.keys()
        and all(_same_value(stated[name], line[name]) for name in line)
    )


def _same_value(stated: Any, text: str) -> bool:
    if stated is None or isinstance(stated, str):
        return (stated or "") == text
    try:
        return str(stated) == text if isinstance(stated, bool) else float(text) == float(stated)
    except (ValueError, TypeError):
        return False


def _judged(path: Path, files: BagFiles) -> Iterator[tuple[str, Line]]:
    """Yield the ledger entries of the verdicts: of the study, and of variants."""
    for name in files:
        if name.startswith(layout.LEDGER) and (entry := read_document(path, files, name))["rule"] == "judge":
            yield name, entry


def _verdict(path: Path, files: BagFiles, name: str, entry: Line) -> Iterator[str]:
    """Check that the tables and the warnings of the bag give its limits and verdict."""
    place = place_of_path(first_output(entry))
    folder = f"{layout.TABLES}{place}/" if place else layout.TABLES
    resolved = f"{layout.STUDY}{place}/study.json" if place else layout.RESOLVED
    adapter = files.get(f"{layout.CODE}workflow/scripts/judge.py")
    same = adapter is not None and entry["library_digest"] == library_digest("judge", None, adapter.sha256)
    try:
        study = Study.model_validate(read_document(path, files, resolved))
        paths = [line["path"] for lines in entry["inputs"].values() for line in lines]
        read = {table_of(path).path: _table(files, layout.TABLES + path) for path in paths}
        stated = {table: _table(files, f"{folder}verdict/{table}.csv") for table in VERDICT}
        if any(table is None for table in stated.values()):
            raise ValueError
        tables = {name: table for name, table in read.items() if table is not None}
        judged = limits.decide(judging(study), tables, stated["warnings"])
        reached = {"limits": judged.limits, "summary": judged.verdict}
        agree = all(_agree(table, stated[name], name) for name, table in reached.items())
    except (*_UNKNOWN, InputError):
        if same:
            raise refusal(path, f"the verdict of {quote(name)} cannot be reached from the tables") from None
        yield "this release cannot reach the verdict of the bag from its tables, which another release made."
        return
    if agree:
        return
    if same:
        raise refusal(path, f"{quote(f'{folder}verdict/limits.csv')} is not what the tables of the bag come to")
    yield (
        "from the tables of the bag, which another release made, this release comes to another verdict. Reproduce the "
        "study with the code of the bag before you rely on its verdict."
    )


def _table(files: BagFiles, name: str) -> pd.DataFrame | None:
    """Return a table of the bag; None for one that it does not have."""
    content = files.get(name)
    if content is None or not _kept(content):
        return None
    return read_csv(Path(name.removeprefix(layout.TABLES)), content=content.text)


def _agree(reached: pd.DataFrame, stated: pd.DataFrame, name: str) -> bool:
    """Return whether a table is the stated one; a column that only another release has does not count."""
    path = Path(f"verdict/{name}.csv")
    both = read_csv(path, content=encoded(reached, path)), stated
    columns = [column for column in both[0].columns if column in stated]
    return both[0][columns].equals(stated[columns])
