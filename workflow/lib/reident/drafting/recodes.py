"""How the codes of two files correspond: recode tables, coded integers, codes without a counterpart (METHODS §1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from reident.drafting import codes, types
from reident.drafting.counterparts import Pair, cross_table
from reident.drafting.wording import number, percent
from reident.sections.codes import Coding, normaliser

_MIN_SHARE = 0.6
_MAX_SINGLE = 0.05
"""The largest share of a file's records whose codes the other file does not have, without a decision on them."""

_MIN_LINKS = 5
_LABELS = (
    {"m", "male", "man", "men", "h", "hombre", "maennlich", "männlich", "homme"},
    {"f", "female", "woman", "women", "w", "mujer", "weiblich", "femme", "vrouw"},
    {"y", "yes", "true", "t", "ja", "j", "oui", "si"},
    {"n", "no", "false", "f", "nein", "nee", "non"},
)
"""Words of the same meaning, in lower case."""


class Recode(NamedTuple):
    """How the codes of one file become those of the other.

    Attributes
    ----------
    side : str
        The file that is recoded, ``puf`` or ``eif``; empty if none is.
    table : dict or None
        From its codes to those of the other file; None if it is to be decided.
    integer_coded : bool
        Whether ``1``, ``01`` and ``1.0`` are the same code.
    missing : dict
        By side, codes without a counterpart that look like missing ones.
    reason : str
    hidden : int
        Codes that are not written since fewer than :data:`types.MIN_RECORDS` records have them.
    note : str
        What is remarkable, and needs no decision.
    """

    side: str
    table: dict[str, str] | None
    integer_coded: bool
    missing: dict[str, list[str]]
    reason: str
    hidden: int = 0
    note: str = ""


NONE = Recode("", {}, integer_coded=False, missing={}, reason="")


def recode(pair: Pair, linked: tuple[np.ndarray, np.ndarray] | None) -> Recode:
    """Return how the codes of a categorical pair correspond.

    Parameters
    ----------
    pair : Pair
    linked : tuple of object arrays (n,) or None
        The codes of both columns in linked records, None where missing.
    """
    puf, eif = pair.puf, pair.eif
    ours, theirs = set(puf.values), set(eif.values)
    if not ours or not theirs:
        return NONE
    integer_coded = _integers(ours, theirs)
    if integer_coded:
        normal = normaliser(Coding("categorical", integer_coded=True))
        ours, theirs = {normal(code) for code in ours}, {normal(code) for code in theirs}
        if linked is not None:
            linked = _normalised(linked[0], normal), _normalised(linked[1], normal)
    base = NONE._replace(
        integer_coded=integer_coded, reason="codes with and without leading zeros or decimals"
    )
    base = base if integer_coded else NONE
    only = {"puf": ours - theirs, "eif": theirs - ours}
    if not only["puf"] and not only["eif"]:
        return base
    if not (_categories(pair) or integer_coded):
        return base
    missing = {side: _missing(pair, side, only[side]) for side in only}
    missing = {side: list_ for side, list_ in missing.items() if list_}
    for side, list_ in missing.items():
        only[side] -= set(list_)
    base = base._replace(missing=missing)
    coarser = not ours & theirs and len(ours) > len(theirs)
    if not only["eif"] or coarser:
        return _from_links(pair, base, only, linked, "puf") if only["puf"] else base
    by_labels = _labels(only["eif"], only["puf"])
    if by_labels and len(by_labels) == len(only["eif"]):
        return _shown(
            pair,
            base._replace(side="eif", table=by_labels, reason=_joined(base, "labels of the same meaning")),
        )
    return _from_links(pair, base, only, linked, "eif")


def _integers(ours: set[str], theirs: set[str]) -> bool:
    """Whether reading codes as integers gives more codes in common."""
    normal = normaliser(Coding("categorical", integer_coded=True))
    one, other = {normal(code) for code in ours}, {normal(code) for code in theirs}
    return len(one & other) > len(ours & theirs)


def _normalised(values: np.ndarray, normal: Callable[[str], str]) -> np.ndarray:
    return np.array([None if value is None else normal(value) for value in values], object)


def _categories(pair: Pair) -> bool:
    return all(0 < len(column.values) <= types.MAX_CODES for column in (pair.puf, pair.eif))


def _missing(pair: Pair, side: str, only: set[str]) -> list[str]:
    column = pair.puf if side == "puf" else pair.eif
    return [code for code in codes.uncertain(column.values, {}) if code in only]


def _labels(theirs: set[str], ours: set[str]) -> dict[str, str]:
    """Return the codes of one file whose label, in any case, or meaning is that of a code of the other."""
    by_text = {code.casefold(): code for code in ours}
    table = {code: by_text[code.casefold()] for code in theirs if code.casefold() in by_text}
    for words in _LABELS:
        one = [code for code in theirs if code.casefold() in words]
        other = [code for code in ours if code.casefold() in words]
        if len(one) == len(other) == 1:
            table.setdefault(one[0], other[0])
    return dict(sorted(table.items()))


def _from_links(
    pair: Pair,
    base: Recode,
    only: dict[str, set[str]],
    linked: tuple[np.ndarray, np.ndarray] | None,
    side: str,
) -> Recode:
    """Return the recode table of a file by the codes that linked records have."""
    other = "puf" if side == "eif" else "eif"
    both = None
    if linked is not None:
        known = np.array([a is not None and b is not None for a, b in zip(*linked, strict=True)], bool)
        both = linked[0][known], linked[1][known]
    if both is None or len(both[0]) < _MIN_LINKS:
        return _undecided(pair, base, only, side, "without enough links that show which codes correspond")
    table, rows, columns = cross_table(*both)
    if side == "puf":
        table, rows, columns = table.T, columns, rows
    if set(columns) & set(rows):
        result, shares = _modal(table, rows, columns, only[side])
    else:
        result, shares = _one_to_one(table, rows, columns, only[side])
    if not result:
        return _undecided(pair, base, only, side, "and linked records do not show which codes correspond")
    lowest, n = min(shares), int(table.sum())
    reason = (
        f"every one of {number(n, 'link')} has the two codes together"
        if lowest == 1
        else f"in {number(n, 'link')}, at least {percent(lowest)} of those with a code have its counterpart"
    )
    left = sorted(only[side] - set(result) - set(base.missing.get(side, [])))
    if left and side == "eif" and len(left) > len(only[side]) / 2:
        return _undecided(pair, base, only, side, f"{reason}, but {len(left)} codes remain")
    more = f"; {len(left)} codes of this file have no counterpart in {other}" if left else ""
    return _shown(pair, base._replace(side=side, table=result, reason=_joined(base, reason + more)))


def _modal(
    table: np.ndarray, rows: list[str], columns: list[str], only: set[str]
) -> tuple[dict[str, str], list[float]]:
    """Return for codes that one file only has the most frequent code of linked records, where it is frequent."""
    result, shares = {}, []
    for at, code in enumerate(columns):
        n = int(table[:, at].sum())
        best = int(table[:, at].argmax())
        if code in only and n >= _MIN_LINKS and table[best, at] / n >= _MIN_SHARE:
            result[code] = rows[best]
            shares.append(table[best, at] / n)
    return dict(sorted(result.items())), shares


def _one_to_one(
    table: np.ndarray, rows: list[str], columns: list[str], only: set[str]
) -> tuple[dict[str, str], list[float]]:
    """Return the codes of both files, one to one where they are equally many, that most linked records have."""
    if len(columns) > len(rows):
        return _modal(table, rows, columns, only)
    at, of = linear_sum_assignment(table, maximize=True)
    shares = [
        float(table[row, column] / max(1, table[:, column].sum())) for row, column in zip(at, of, strict=True)
    ]
    n = int(table.sum())
    agreeing = int(table[at, of].sum())
    chance = 1 / max(2, min(len(rows), len(columns)))
    if min(shares) < _MIN_SHARE or agreeing / n < _MIN_SHARE or n * np.log(1 / chance) < 5:
        return {}, []
    return dict(sorted((columns[column], rows[row]) for row, column in zip(at, of, strict=True))), shares


def _undecided(pair: Pair, base: Recode, only: dict[str, set[str]], side: str, why: str) -> Recode:
    """Return a table to be decided, with the codes of both files that a draft may show, by their frequency."""
    column = pair.puf if side == "puf" else pair.eif
    normal = normaliser(Coding("categorical", integer_coded=base.integer_coded))
    single = sum(rows for code, rows in column.values.items() if normal(code) in only[side])
    if single <= _MAX_SINGLE * column.valid:
        note = (
            f"the {side.upper()} alone has {number(len(only[side]), 'code')}, in {number(single, 'record')}"
        )
        return base._replace(note=note)
    parts = []
    for own, column in (("puf", pair.puf), ("eif", pair.eif)):
        shown = types.shown(column)
        listed = [
            code
            for code, _ in sorted(shown.items(), key=lambda item: (-item[1], item[0]))
            if code in only[own]
        ]
        if listed:
            parts.append(f"{own} only: {', '.join(listed)}")
    text = "; ".join(parts) or "codes differ"
    return base._replace(
        side=side, table=None, reason=_joined(base, f"codes in one file only, {why}. By frequency, {text}")
    )


def _joined(base: Recode, reason: str) -> str:
    return f"{base.reason}; {reason}" if base.reason else reason


def _shown(pair: Pair, found: Recode) -> Recode:
    """Leave out codes that a draft must not show."""
    table = found.table or {}
    own, other = (pair.eif, pair.puf) if found.side == "eif" else (pair.puf, pair.eif)
    allowed = [set(types.shown(column)) | _known(column.values) for column in (own, other)]
    if found.integer_coded:
        normal = normaliser(Coding("categorical", integer_coded=True))
        allowed = [{normal(code) for code in one} for one in allowed]
    kept = {code: to for code, to in table.items() if code in allowed[0] and to in allowed[1]}
    hidden = len(table) - len(kept)
    if not kept:
        return found._replace(side=found.side, table=None, hidden=hidden)
    return found._replace(table=kept, hidden=hidden)


def _known(values: dict[str, int]) -> set[str]:
    """Return the codes that are words of the table of labels, which single out nobody."""
    return {code for code in values if any(code.casefold() in words for words in _LABELS)}
