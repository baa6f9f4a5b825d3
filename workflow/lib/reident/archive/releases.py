"""A finished release, a bag or a study file with its results, as the comparison of releases reads it.

Only the study with its defaults, the ledger and tables without records are read (METHODS §10).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from reident.archive import layout, verify
from reident.errors import InputError
from reident.ledger.chain import read_entry
from reident.ledger.check import check
from reident.ledger.stored import read_csv
from reident.pipeline import steps
from reident.pipeline.family import Family
from reident.pipeline.plan import RESULTS
from reident.sections.codes import Coding, normaliser
from reident.study.model import Study, plain

LISTS = ("strata", "linking_variables", "key_variables")
"""The lists of variables of a study; that of `file_risk` comes last."""


@dataclass(frozen=True)
class Release:
    """One of two releases."""

    name: str  # the study's id; for a bag, with its digest
    study: dict[str, Any]  # with every default filled in
    tables: Path  # the folder of the tables, by their paths in the results
    ledger: Path  # the folder in which ``ledger/*.json`` are
    notes: tuple[str, ...] = ()  # what the verification of a bag could not confirm

    @cached_property
    def entries(self) -> list[dict[str, Any]]:
        """Return the entries of the steps that the study asks for, by the name of the step."""
        entries = [read_entry(file) for file in sorted((self.ledger / "ledger").glob("*.json"))]
        study = _valid(self.study)
        if study is None:
            return entries
        rules, metrics = {step.rule for step in steps.wanted(study)}, {None, *study.chosen}
        return [entry for entry in entries if entry["rule"] in rules and entry["metric"] in metrics]

    @cached_property
    def outputs(self) -> dict[str, dict[str, Any]]:
        """Return the ledger's lines of the results, by path."""
        return {line["path"]: line for entry in self.entries for line in entry["outputs"].values()}

    def table(self, path: str) -> pd.DataFrame | None:
        """Return a table; None if the study does not ask for it, or the release does not have it."""
        file = self.tables / path
        return read_csv(file) if path in self.outputs and file.is_file() else None

    def variables(self, where: str) -> dict[str, dict[str, Any]]:
        """Return the variables of one of :data:`LISTS` by name, in the order of the study."""
        section = self.study.get("file_risk") or {} if where == "key_variables" else self.study
        return {variable["name"]: variable for variable in section.get(where) or ()}

    def label(self, variable: str, code: str) -> str:
        """Return the label that the study declares for a code as the tables have it, or else the code."""
        return self.labels(variable).get(code, code)

    def labels(self, variable: str) -> dict[str, str]:
        """Return the declared labels of a variable, by code as the tables have it; empty if two codes share one."""
        declared = next(filter(None, (self.variables(where).get(variable) for where in LISTS)), None)
        if declared is None or not declared.get("labels"):
            return {}
        integer_coded = declared.get("integer_coded", False)
        normal = normaliser(Coding(declared.get("type", "categorical"), integer_coded=integer_coded))
        labels = {normal(code): label for code, label in declared["labels"].items()}
        return labels if len(set(labels.values())) == len(labels) else {}


def open_release(path: Path, into: Path, notebook: Path, signers: Path | None) -> Release:
    """Open a release that a user names: a bag (``.zip``), or a study file with its results.

    `into` is an empty folder for the content of a bag, `signers` has its allowed signers. It is an InputError if a bag
    does not verify, or if the chain of a study does not close or is not finished.
    """
    if is_bag(path):
        bag = verify.open_bag(path, into, signers)
        study = complete(bag.documents[layout.RESOLVED])
        return Release(bag.name, study, bag.folder / layout.TABLES, bag.folder / layout.LEDGER, bag.warnings)
    return finished(path, notebook)


def is_bag(path: Path) -> bool:
    """Return whether a user names a bag, and not a study file."""
    return path.suffix.lower() == ".zip"


def finished(path: Path, notebook: Path) -> Release:
    """Return the release of a study file.

    It is an InputError if the chain of its results does not close, or if they are not finished.
    """
    members = Family(path)
    root = RESULTS / members.study.id
    answer = check(members, RESULTS, notebook)
    if not answer.closes:
        raise InputError(answer.line)
    release = Release(members.study.id, plain(members.study), root, root)
    needed = [table for tables in steps.reported_tables(members.study).values() for table in tables]
    if missing := [table for table in needed if table not in release.outputs]:
        raise InputError(
            f"{path}: the study is not finished, `{missing[0]}` is not made yet. Run "
            f"`snakemake --config study={shlex.quote(str(path))}` first."
        )
    return release


def complete(study: dict[str, Any]) -> dict[str, Any]:
    """Return the study with the defaults of keys that its release did not have yet."""
    valid = _valid(study)
    return study if valid is None else plain(valid)


def _valid(study: dict[str, Any]) -> Study | None:
    """Return the study; None if it is of a release with other keys."""
    try:
        return Study.model_validate(study)
    except ValidationError:
        return None
