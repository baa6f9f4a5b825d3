"""Check the three files that the metrics compare, as `prepare` and `stratify` do (METHODS §1, §2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.intake import prepare as intake
from reident.intake.parts import Preparing
from reident.linkage import strata
from reident.linkage.parts import Stratifying
from reident.validation import codes
from reident.validation.findings import Findings

SIDES = ("puf", "eif")
_NO_LINK = "no link joins"


class _State(NamedTuple):
    """What is checked: the part of the study, and the text of each file."""

    part: Preparing
    texts: Mapping[str, pa.Table]


def check(part: Preparing, texts: Mapping[str, pa.Table | None], findings: Findings) -> None:
    """Note what is wrong with the files of a study, and what an analyst should look at.

    Parameters
    ----------
    part : Preparing
    texts : mapping
        The text of each of :attr:`Preparing.sides`; a file may be None, or lack columns, which is noted already.
    findings : Findings
    """
    known = {side: text for side, text in texts.items() if text is not None}
    for side, text in known.items():
        if not text.num_rows and side in SIDES:
            findings.error(f"{part.file_name(side)}: the file has a header and no records. Check the export.")
    typed = {
        side: _typed(part, side, known[side], findings)
        for side in SIDES
        if side in known and known[side].num_rows
    }
    _compare_codes(part, typed, findings)
    if set(typed) < set(SIDES):
        return
    state, whole = _checkable(part, known, typed, findings)
    prepared = findings.until_accepted(
        lambda state: intake.prepare(state.part, **state.texts), state, _without
    )
    if prepared is None:
        return
    for warning in prepared.warnings["warning"]:
        if whole or _NO_LINK not in warning:
            findings.warn(warning)
    if len(part.strata) == len(state.part.strata):
        _check_strata(part, prepared, findings)


def _typed(part: Preparing, side: str, text: pa.Table, findings: Findings) -> dict[str, pa.Array]:
    """Return the variables of a file that can be read, typed."""
    typed = {}
    for column in part.columns:
        if getattr(column, side) in text.column_names:
            with findings.noting():
                typed[column.name] = intake.typed_column(column, side, getattr(part.files, side), text)
    return typed


def _compare_codes(part: Preparing, typed: Mapping[str, Mapping[str, pa.Array]], findings: Findings) -> None:
    for column in part.columns:
        if column.coding("puf").kind == "categorical":
            files = [
                (part.file_name(side), own[column.name]) for side, own in typed.items() if column.name in own
            ]
            table = codes.compared(column.name, files) if len(files) == len(SIDES) else None
            if table is not None:
                findings.hint(table)


def _checkable(
    part: Preparing,
    texts: Mapping[str, pa.Table],
    typed: Mapping[str, Mapping[str, pa.Array]],
    findings: Findings,
) -> tuple[_State, bool]:
    """Return what of a study the step can check, and whether its links are among it."""
    whole, sound = True, dict(texts)
    for side in SIDES:
        key, text = part.keys_of(side), texts[side]
        if not set(key) <= set(text.column_names):
            sound[side], whole = _numbered(text, key), False
            continue
        code = keys.codes([text], [key])[0]
        problems = list(keys.problems(text, key, code, part.file_name(side), part.file(side).first_row))
        findings.note_all(problems)
        if problems:
            sound[side] = _first_of_each(text, key, code)
            sound.pop("original", None)  # which must have the records of the public use file
    links = part.keys_of("iuf")
    if not whole or "iuf" not in texts or not set(links) <= set(texts["iuf"].column_names):
        sound["iuf"], whole = pa.schema([(name, pa.string()) for name in links]).empty_table(), False

    own_keys = part.keys_of("original")
    if "original" in sound and (not whole or not set(own_keys) <= set(sound["original"].column_names)):
        del sound["original"]
    cluster = part.cluster if set(part.cluster) <= set(texts["puf"].column_names) else ()
    names = set.intersection(*(set(own) for own in typed.values()))
    return _State(_only(dataclasses.replace(part, cluster=cluster), names), sound), whole


def _only(part: Preparing, names: set[str]) -> Preparing:
    """Return the part of a study with some of its variables."""
    return dataclasses.replace(
        part,
        strata=tuple(column for column in part.strata if column.name in names),
        variables=tuple(column for column in part.variables if column.name in names),
    )


def _numbered(text: pa.Table, names: list[str]) -> pa.Table:
    """Return records with numbers in place of a key of which columns are not there."""
    numbers = pa.array(map(str, range(text.num_rows)), pa.string())
    for name in names:
        if name not in text.column_names:
            text = text.append_column(name, numbers)
    return _first_of_each(text, names, np.arange(text.num_rows))


def _first_of_each(text: pa.Table, names: list[str], code: np.ndarray) -> pa.Table:
    """Return the first record of each key."""
    first = np.unique(code, return_index=True)[1]
    rows = np.sort(first)
    return text.take(pa.array(rows[~keys.without_key(text, names)[rows]]))


def _without(state: _State, about: tuple[str, ...]) -> _State | None:
    """Return what is checked, without what an error is about."""
    part = state.part
    if about[0] == "links":
        iuf = part.files.iuf.model_copy(update={"unknown_links_at_most": state.texts["iuf"].num_rows})
        files = part.files.model_copy(update={"iuf": iuf})
        return state._replace(part=dataclasses.replace(part, files=files))
    if about[0] == "original":
        return state._replace(texts={side: text for side, text in state.texts.items() if side != "original"})
    names = {column.name for column in part.columns}
    if about[0] == "variable" and about[1] in names:
        return state._replace(part=_only(part, names - {about[1]}))
    return None


def _check_strata(part: Preparing, prepared: intake.Prepared, findings: Findings) -> None:
    """Note strata of one file only; refuse files without a stratum in common."""
    names = part.file_name("puf"), part.file_name("eif")
    own = Stratifying(tuple(column.name for column in part.strata), names)
    if not {column.name for column in part.strata} <= set(prepared.puf.column_names):
        return
    with findings.noting():
        manifest = strata.stratify(own, prepared.puf, prepared.eif, prepared.iuf).manifest
        for side, other, (file, lacking) in (
            ("n_puf", "n_eif", names),
            ("n_eif", "n_puf", names[::-1]),
        ):
            alone = manifest[(manifest[side] > 0) & (manifest[other] == 0)]
            if len(alone):
                verb = "has" if len(alone) == 1 else "have"
                findings.warn(
                    f"{file}: {int(alone[side].sum()):,} records are compared with none, because {len(alone):,} of "
                    f"{len(manifest):,} strata {verb} no record of {lacking}. Check the codes of `strata`, or use "
                    "fewer."
                )
