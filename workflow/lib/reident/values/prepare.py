"""Typing the released file, the external file and the confidential values, and joining persons (METHODS §14)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake import prepare as intake
from reident.intake.account import Account
from reident.intake.keys import codes, positions, text_codes
from reident.intake.records import require_records
from reident.intake.sources import Source
from reident.intake.values import typed_key
from reident.linkage import strata
from reident.linkage.attack import AttackFiles
from reident.linkage.strata import stratum_of_records
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable
from reident.values.agreeing import Values
from reident.values.section import ROW
from reident.values.settings import ValuesSettings


class Prepared(NamedTuple):
    """The files of an attack whose claims are about the records of the external file, and the values to be learnt.

    Attributes
    ----------
    files : AttackFiles
        The external file is in the place of ``puf``, and the released file in that of ``eif``.
    released, confidential : Values
        By record, in the order of the file, and of its key.
    people : Values
        By external record: the confidential values of the person, in the stratum of the external record.
    stratum : mapping of int64
        The stratum of each record of the released (``puf``) and the confidential (``iuf``) file; -1 without one.
    beside : mapping of tuple
        By variable that must agree too, the numbers of the released and the external records, and those of the persons
        of the latter; NaN where missing.
    account, warnings : pandas.DataFrame
    """

    files: AttackFiles
    released: Values
    confidential: Values
    people: Values
    stratum: dict[str, np.ndarray]
    beside: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    account: pd.DataFrame
    warnings: pd.DataFrame

    @property
    def stratum_of_external(self) -> np.ndarray:
        """The stratum of each external record, -1 without one; int64 (n,)."""
        return stratum_of_records(self.files.strata["puf"]).astype(np.int64)


def prepare(
    settings: ValuesSettings, texts: Mapping[str, Iterable[pa.Table]], guard: Guard = contextlib.nullcontext
) -> Prepared:
    """Type the files of a study that is confirmed by values.

    Parameters
    ----------
    texts : mapping
        By side, the text of a file in batches, with the columns of :attr:`ValuesSettings.extracts`.

    Raises
    ------
    InputError
        A mistake of the files, see :func:`reident.intake.prepare.prepare_files`; a repeated person in the confidential
        file; a category to be learnt without a code in common; no person in both files.
    """
    of_side = {side: pa.concat_tables(batches) for side, batches in texts.items()}
    linked = settings.preparing.files
    key = pc.utf8_lpad(pa.array(range(of_side["puf"].num_rows)).cast(pa.string()), 10, "0")
    no_links = pa.table({name: pa.array([], pa.string()) for name in (*linked.iuf.puf_id, *linked.iuf.eif_id)})
    released = of_side["puf"].append_column(ROW, key)
    typed = intake.prepare(settings.preparing, released, of_side["eif"], no_links, guard=guard)
    by_person = strata.stratify(settings.stratifying, typed.eif, typed.puf, typed.iuf)
    files = AttackFiles(
        {"puf": typed.eif, "eif": typed.puf},
        typed.iuf,
        {"puf": by_person.puf, "eif": by_person.eif},
        by_person.manifest,
    )
    sources = {"puf": linked.puf, "iuf": settings.confidential}
    columns, order, keys = _columns(settings, sources, of_side, guard)
    with guard():
        _refuse_foreign_codes(settings, sources, columns)
    person = positions(keys, settings.confidential.eif_id, typed.eif, linked.keys["eif"])
    if not (person >= 0).any():
        raise InputError(
            f"{settings.confidential.file_name}: at least one person of {linked.eif.file_name} must be in the "
            "confidential file. Check `files.iuf.eif_id`."
        )
    own, theirs = (stratum_of_records(files.strata[side]).astype(np.int64) for side in ("puf", "eif"))
    in_strata = {"puf": theirs, "iuf": _strata(settings, files, columns["iuf"]), "eif": own}
    rows = pa.array(person, mask=person < 0)
    of_people = {name: column.take(rows) for name, column in columns["iuf"].items()}
    released_values, confidential, people = _values(settings.learn, {**columns, "eif": of_people}, in_strata)
    beside = {
        one.name: (_numbers(typed.puf[one.name]), _numbers(typed.eif[one.name]), _numbers(of_people[one.name]))
        for one in settings.beside
    }
    account = pd.concat([_without_links(typed.account), _account(person, people, len(order))], ignore_index=True)
    warnings = typed.warnings[typed.warnings["code"] != "no_link"].reset_index(drop=True)
    strata_of = {side: in_strata[side] for side in ("puf", "iuf")}
    return Prepared(files, released_values, confidential, people, strata_of, beside, account, warnings)


Columns = Mapping[str, Mapping[str, pa.Array]]


def _columns(
    settings: ValuesSettings, sources: Mapping[str, SourceFile], texts: Mapping[str, pa.Table], guard: Guard
) -> tuple[Columns, np.ndarray, pa.Table]:
    """Return the typed columns of the released and the confidential file, and the order and the keys of the latter."""
    typed: dict[str, dict[str, pa.Array]] = {}
    order, keys = np.empty(0, np.int64), pa.table({})
    further = {"puf": (), "iuf": (*settings.strata, *settings.beside)}
    for side, source in sources.items():
        extract = settings.extracts[side]
        with contextlib.closing(Source(source, extract.key, extract.columns)) as text:
            text.read([texts[side]])
            require_records(source, text.num_rows)
            rows = text.order(guard)
            typed[side] = {
                one.name: typed_key(one, source, text[one.column]).take(pa.array(rows))
                for one in (*settings.learn, *further[side])
            }
            if side == "iuf":
                order, keys = rows, pa.concat_tables(text.sorted_keys())
    return typed, order, keys


def _refuse_foreign_codes(settings: ValuesSettings, sources: Mapping[str, SourceFile], columns: Columns) -> None:
    for variable in settings.learn:
        if variable.is_numeric:
            continue
        ours, theirs = (
            pc.drop_null(columns[side][variable.name].unique()).cast(pa.string()) for side in ("puf", "iuf")
        )
        if len(ours) and len(theirs) and not pc.any(pc.is_in(ours, theirs)).as_py():
            raise InputError(
                f"{' and '.join(source.file_name for source in sources.values())}, column `{variable.column}`: no code "
                f"of `{variable.name}` is in both files. Code both files alike, or recode them (`recode`)."
            )


def _strata(settings: ValuesSettings, files: AttackFiles, columns: Mapping[str, pa.Array]) -> np.ndarray:
    """Return the stratum of each confidential record, -1 for one that no other file has; int64 (n,)."""
    names = list(settings.stratifying.strata)
    if not names:
        return np.zeros(len(next(iter(columns.values()))), np.int64)
    known = pa.table({name: pa.array(files.manifest[name], pa.string()) for name in names})
    return positions(known, names, pa.table({name: columns[name].cast(pa.string()) for name in names}), names)


def _values(learn: Sequence[KeyVariable], columns: Columns, stratum: Mapping[str, np.ndarray]) -> list[Values]:
    """Return the values of the records by side, with common codes, in the order of the strata."""
    parts = [{"stratum": pa.array(rows.astype(str), mask=rows < 0)} for rows in stratum.values()]
    names = [variable.name for variable in learn if not variable.is_numeric]
    for name in names:
        coded, _ = text_codes([columns[side][name] for side in stratum])
        for part, own in zip(parts, coded, strict=True):
            part[name] = pa.array(own.astype(str), mask=own < 0)
    groups = codes([pa.table(part) for part in parts], [["stratum", *names]] * len(parts))
    made = []
    for side, group in zip(stratum, groups, strict=True):
        numbers = [_numbers(columns[side][variable.name]) for variable in learn if variable.is_numeric]
        matrix = np.column_stack(numbers) if numbers else np.empty((len(group), 0))
        made.append(Values(np.where(np.isnan(matrix).any(axis=1), -1, group), matrix))
    return made


def _numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.fill_null(column, float("nan")).to_numpy(zero_copy_only=False))


def _without_links(account: pd.DataFrame) -> pd.DataFrame:
    return account[account["file"] != "iuf"].replace({"step": {"prepare": "confirm_values"}})


def _account(person: np.ndarray, people: Values, n: int) -> pd.DataFrame:
    """Return the account of the confidential file: the persons whose values can confirm a claim."""
    known, used = (len(np.unique(person[chosen])) for chosen in (person >= 0, (person >= 0) & (people.group >= 0)))
    account = Account("confirm_values")
    account.add("iuf", n, {"not_external": n - known, "value_missing": known - used})
    return account.table()
