"""Make the statements of a study from its results, and the published file from these (METHODS §11)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.edition import publish, study
from reident.edition.rule import ContradictionError
from reident.errors import InputError
from reident.intake.records import PERSON
from reident.linkage.settings import WHOLE
from reident.pipeline.editions import EditionSettings
from reident.sections.edition import Edition
from reident.sections.release import Policy

READ = ("rates", "manifest", "strata", "persons", "cells", "risks", "pooled")
"""The tables that an edition is made from, by the names of the inputs of its rule."""

HASHED = ("file", "synthetic")
"""The public files of which only the digest is needed."""

PAIRS = ["puf", "eif", "confirmed"]
"""The columns of suspected pairs that are read."""


def earlier(names: Iterable[str]) -> list[str]:
    """Return the names of the inputs that are earlier editions, in their order."""
    return sorted((name for name in names if re.fullmatch(r"edition_\d+", name)), key=lambda name: int(name[8:]))


def make(
    settings: EditionSettings, policy: Policy, tables: Mapping[str, Any], after: Sequence[Edition], software: str
) -> Edition:
    """Return the published file of the edition of a study.

    Parameters
    ----------
    settings : EditionSettings
    policy : Policy
    tables : mapping
        The results that the edition is about, by the names of the inputs of the rule `edition`; `file` and `synthetic`,
        of which only the digest is needed, as paths.
    after : sequence of Edition
        The earlier editions about the same people.
    software : str
        The version of reident.

    Raises
    ------
    InputError
        If the study has too many strata, or is above a limit though only a file within all limits is released.
    """
    parts = []
    for secret in _secrets(settings, tables, after):
        design = study.design(secret, settings, policy, settings.bounds, after)
        if not secret.leaves_room:
            statement = design.nothing()
        else:
            try:
                statement = design.state(secret.counts)
            except ContradictionError:
                raise InputError(_contradicted(settings)) from None
        parts.append(publish.part(secret, statement, settings.bounds, policy, settings.seed))
    free = max([policy.margin, *(edition.free for edition in after)])
    return publish.edition(settings, policy, parts, _alone(tables), free, after, software)


def _contradicted(settings: EditionSettings) -> str:
    if settings.released_means:
        return (
            "`release.released_means` is `within`, but the study is above a limit, so that nothing is released. "
            "Remove it, or release another file."
        )
    return "`release.after` names an edition that these results contradict. Name the editions about the same people."


def _secrets(settings: EditionSettings, tables: Mapping[str, Any], after: Sequence[Edition]) -> Iterator[study.Secret]:
    """Yield what the statements of a study are about."""
    if settings.metrics:
        rates = tables["rates"]
        first = rates[rates["stratum"] == WHOLE].iloc[0]
        records = {side: int(first[f"n_{side}"]) for side in ("puf", "eif")}
        strata = None
        if settings.by_stratum:
            strata = tables["strata"].to_pandas()["stratum"].to_numpy(float), labels(tables["manifest"], settings)
        pairs = {name: table.to_pandas() for name, table in zip(settings.metrics, tables["pairs"], strict=True)}
        yield study.of_attack(settings, pairs, records, strata, _persons(tables.get("persons")), after)
    if "risks" in tables:
        lines = tables["risks"].set_index("basis")
        if "population" in lines.index:
            unique, truth = (int(lines.at[basis, "n_unique"]) for basis in ("sample", "population"))
            total = int(lines.at["sample", "n_records"])
            yield study.of_population(unique, truth, total, _digest(tables["file"]), after)
    if "pooled" in tables:
        lines = tables["pooled"]
        line = lines[lines["membership"] == "certain"].iloc[0]
        people, matched = int(line["targets"]), int(line["unique_matches"])
        right = round(float(line["true_match_rate"]) * people)
        yield study.of_matching(people, matched, right, _digest(tables["synthetic"]), after)


def _alone(tables: Mapping[str, Any]) -> dict[str, int] | None:
    """Return what follows from the released file alone."""
    if "cells" not in tables:
        return None
    cells = tables["cells"]
    below = {k: int(cells.loc[cells["cell_size"] < k, "n_records"].sum()) for k in (2, 3, 5)}
    records = int(cells["n_records"].sum())
    return {"records": records, "unique": below[2], "below_3": below[3], "below_5": below[5]}


def _persons(eif: Any) -> np.ndarray | None:
    """Return the person of each record of the intruder's file, where the file names persons."""
    if eif is None:
        return None
    codes = pd.factorize(eif.select([PERSON]).to_pandas()[PERSON])[0]
    # A record without a person is one of its own.
    return np.where(codes < 0, len(codes) + np.arange(len(codes)), codes)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def labels(manifest: pd.DataFrame, settings: EditionSettings) -> list[str]:
    """Return what an edition calls each stratum, in the order of the manifest: the labels of its values.

    A stratum has its number where two have the same labels.
    """
    lines = manifest.to_dict("records")
    names = [
        " · ".join(codes.get(line[name], line[name]) or "–" for name, codes in settings.strata.items()) or WHOLE
        for line in lines
    ]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({line['stratum']})" for name, line in zip(names, lines, strict=True)]
