"""Correspondence of the codes of two files: recode tables, coded integers, codes without a counterpart (METHODS §1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from reident.drafting import codes, types
from reident.drafting.counterparts import Pair
from reident.drafting.sheet import number, percent
from reident.plausibility.crosstable import MIN_LINKS, CrossTable
from reident.sections.codes import Coding, normaliser
from reident.sections.codes import number as number_of

_MAX_SINGLE = 0.05
"""The largest share of a file's records whose codes the other file does not have, without a decision on them."""

_MIN_SHIFTED = 5
"""Codes of a table from which one difference of all is that of numbers."""

_OTHER = {"puf": "eif", "eif": "puf"}
_LABELS = (
    {"m", "male", "man", "men", "h", "hombre", "maennlich", "männlich", "mann", "homme"},
    {"f", "female", "woman", "women", "w", "mujer", "weiblich", "frau", "femme", "vrouw"},
    {"y", "yes", "true", "t", "ja", "j", "oui", "si", "sí"},
    {"n", "no", "false", "f", "nein", "nee", "non"},
)
"""Words of the same meaning, in lower case."""


class Recode(NamedTuple):
    """The recoding of the codes of one file to those of the other."""

    side: str  # the file that is recoded, ``puf`` or ``eif``; empty if none is
    table: dict[str, str] | None  # from its codes to those of the other file; None if it is to be decided
    integer_coded: bool  # whether ``1``, ``01`` and ``1.0`` are the same code
    # By side, codes that look like missing ones and have no counterpart; none of them is in the table.
    missing: dict[str, list[str]]
    reason: str
    hidden: int = 0  # codes that are not written since fewer than :data:`codes.MIN_RECORDS` records have them
    note: str = ""  # what is remarkable, and needs no decision
    # By side, codes that look like missing ones and are values: most links of one have the same code, or another that
    # does not look like a missing one.
    values: Mapping[str, Collection[str]] = {}


NONE = Recode("", {}, integer_coded=False, missing={}, reason="")


class _Codes:
    """The codes of the two `columns` of a pair by side, normalised.

    By side: those that are `missing`, and `every` other one; and `crosses`, the links by the codes of the other file
    (rows) and of this one (columns), empty without enough links. `shared` codes both files have with the same meaning;
    `only` has the others by side.
    """

    def __init__(self, pair: Pair, linked: tuple[np.ndarray, np.ndarray] | None, *, integer_coded: bool) -> None:
        self.columns = {"puf": pair.puf, "eif": pair.eif}
        self.normal = normal = normaliser(Coding("categorical", integer_coded=integer_coded))
        self.missing = {side: set(map(normal, column.missing)) for side, column in self.columns.items()}
        self.every = {
            side: set(map(normal, column.values)) - self.missing[side] for side, column in self.columns.items()
        }
        self.crosses: dict[str, CrossTable] = {}
        if linked is not None:
            puf, eif = (self._values(side, codes_) for side, codes_ in zip(_OTHER, linked, strict=True))
            self._set_cross(CrossTable.tabulate(puf, eif))
        self._share()

    def _share(self) -> None:
        """Find the codes that both files have with the same meaning: links do not show another counterpart."""
        self.shared = {
            code
            for code in self.every["puf"] & self.every["eif"]
            if all(cross.counterpart(code) in (code, None) for cross in self.crosses.values())
        }
        self.only = {side: values - self.shared for side, values in self.every.items()}

    def _values(self, side: str, values: np.ndarray) -> np.ndarray:
        """Return the normalised codes of linked records, None where missing."""
        normals = {code: self.normal(code) for code in set(values.tolist()) - {None}}
        normals = {code: normal for code, normal in normals.items() if normal in self.every[side]}
        return np.array([normals.get(code) for code in values.tolist()], object)

    def _set_cross(self, cross: CrossTable) -> None:
        self.crosses = {"puf": CrossTable(cross.links.T), "eif": cross} if cross.n >= MIN_LINKS else {}

    def looks(self, side: str) -> dict[str, str]:
        """Return the codes of a file that look like missing ones, each with its normalised form."""
        return {code: self.normal(code) for code in codes.uncertain(self.columns[side].values)}

    def declare(self, missing: dict[str, list[str]]) -> None:
        """Leave out codes that mean missing."""
        normals = {side: set(map(self.normal, missing.get(side, ()))) for side in _OTHER}
        for side, missing_codes in normals.items():
            self.every[side] -= missing_codes
            self.missing[side] |= missing_codes
        if self.crosses:
            self._set_cross(self.crosses["eif"].without(normals["puf"], normals["eif"]))
        self._share()

    def table(self, side: str) -> dict[str, str]:
        """Return the codes of a file that links give a counterpart, each with it."""
        cross = self.crosses[side]
        return cross.counterparts(self.only[side]) if self.shared else cross.table()

    def allows(self, side: str, table: dict[str, str]) -> bool:
        """Return whether a table of a file results in no missing code of the file, which would be read as a value."""
        return not self.missing[side] & set(table.values())

    def confirms(self, side: str, table: dict[str, str]) -> bool:
        """Return whether at least half of the links agree by a table, as far as there are links."""
        cross = self.crosses.get(side)
        return cross is None or 2 * cross.agreeing(table) >= cross.n

    def records(self, side: str) -> int:
        """Return the records of a file that have a code that the other file does not have."""
        values = self.columns[side].values
        return sum(rows for code, rows in values.items() if self.normal(code) in self.only[side])

    def listed(self, side: str, selection: Collection[str]) -> str:
        """Return some codes of a file by their frequency, as far as a draft may show them."""
        allowed = types.codes_to_show(self.columns[side])
        order = sorted(allowed, key=lambda code: (-allowed[code], code))
        return ", ".join(dict.fromkeys(code for code in map(self.normal, order) if code in selection))


def recode(pair: Pair, linked: tuple[np.ndarray, np.ndarray] | None) -> Recode:
    """Return how the codes of a categorical pair correspond.

    `linked` are the codes of both columns in linked records, object (n,), None where missing.
    """
    if not pair.puf.values or not pair.eif.values:
        return NONE
    base = NONE
    if _integers(set(pair.puf.values), set(pair.eif.values)):
        base = base._replace(integer_coded=True, reason="codes with and without leading zeros or decimals")
    few = all(len(column.values) <= types.MAX_CODES for column in (pair.puf, pair.eif))
    if not (few or base.integer_coded):
        return base
    codes = _Codes(pair, linked if few else None, integer_coded=base.integer_coded)
    base = base._replace(missing=_missing(codes))
    codes.declare(base.missing)
    base = base._replace(values=_values(codes, "eif", {}))
    if not any(codes.only.values()):
        return base
    labels = _labels(codes.only["eif"], codes.only["puf"])
    complete = len(labels) == len(codes.only["eif"]) > 0
    if complete and codes.allows("eif", labels) and codes.confirms("eif", labels):
        return _decided(base, codes, "eif", labels, "labels of the same meaning")
    return _from_links(base, codes)


def is_shift(recode: Recode) -> bool:
    """Return whether a table adds one number to every code, as to years of another survey.

    Codes that are merely counted from another one on, with leading zeros or not, are categories.
    """
    pairs = [(number_of(code), number_of(to)) for code, to in (recode.table or {}).items()]
    steps = {to - code for code, to in pairs if code is not None and to is not None}
    whole = not recode.integer_coded and all(None not in pair for pair in pairs)
    return whole and len(pairs) >= _MIN_SHIFTED and len(steps) == 1 and abs(steps.pop()) > 1


def common(linked: tuple[np.ndarray, np.ndarray] | None) -> set[str]:
    """Return the codes that both files have, and most of the links that have them in one have in the other, too."""
    if linked is None:
        return set()
    puf, eif = linked
    both = Counter(puf[puf == eif].tolist())
    either = Counter(puf.tolist()), Counter(eif.tolist())
    return {
        code
        for code, n in both.items()
        if code is not None and n >= MIN_LINKS and 2 * n >= max(counts[code] for counts in either)
    }


def _integers(ours: set[str], theirs: set[str]) -> bool:
    """Whether reading codes as integers gives more codes in common."""
    normal = normaliser(Coding("categorical", integer_coded=True))
    return len(set(map(normal, ours)) & set(map(normal, theirs))) > len(ours & theirs)


def _missing(codes: _Codes) -> dict[str, list[str]]:
    """Return by side the codes that look like missing ones and have no counterpart.

    The links decide. Without enough of them, a code that the other file has is a value, and another one has no
    counterpart if the other file has no code left for it.
    """
    looks = {side: codes.looks(side) for side in _OTHER}
    left = {side: len(codes.only[side] - set(looks[side].values())) for side in _OTHER}
    result: dict[str, list[str]] = {}
    for side, other in _OTHER.items():
        every = codes.crosses.get(side)
        cross = every and every.without(set(looks[other].values()), set())
        for code, normal in looks[side].items():
            if every and every.counterpart(normal) is not None:
                is_missing = False
            elif cross and cross.n_of(normal) >= MIN_LINKS:
                is_missing = cross.counterpart(normal) is None and cross.is_alike(normal)
            else:
                is_missing = normal in codes.only[side] and left[other] <= left[side]
            if is_missing:
                result.setdefault(side, []).append(code)
    return result


def _labels(sources: set[str], targets: set[str]) -> dict[str, str]:
    """Return the codes of one file whose label, in any case, or meaning is that of a code of the other."""
    by_text = {code.casefold(): code for code in targets}
    table = {code: by_text[code.casefold()] for code in sources if code.casefold() in by_text}
    for words in _LABELS:
        source = [code for code in sources if code.casefold() in words]
        target = [code for code in targets if code.casefold() in words]
        if len(source) == len(target) == 1:
            table.setdefault(source[0], target[0])
    return dict(sorted(table.items()))


def _from_links(base: Recode, codes: _Codes) -> Recode:
    """Return the recode table, of the file with which more links agree, by the codes that linked records have."""
    coarser = not codes.shared and len(codes.every["puf"]) > len(codes.every["eif"])
    sides = [side for side in (("puf", "eif") if coarser else ("eif", "puf")) if codes.only[side]]
    if not codes.crosses:
        return _undecided(base, codes, sides[0], "without enough links that show which codes correspond")
    tables = {side: codes.table(side) for side in sides}
    tables = {side: table if codes.allows(side, table) else {} for side, table in tables.items()}
    agreeing = {side: codes.crosses[side].agreeing(table) for side, table in tables.items()}
    side = max(sides, key=agreeing.__getitem__)
    table, cross = tables[side], codes.crosses[side]
    if agreeing[side] <= cross.agreeing({}):
        return _undecided(base, codes, sides[0], "and linked records do not show which codes correspond")
    lowest, n = min(cross.share(code, to) for code, to in table.items()), number(cross.n, "link")
    reason = (
        f"every one of {n} has the two codes together"
        if lowest == 1
        else f"in {n}, at least {percent(lowest)} of those with a code have its counterpart"
    )
    left = codes.only[side] - set(table)
    if side == "eif" and len(left) > len(codes.only[side]) / 2:
        return _undecided(base, codes, side, f"{reason}, but {number(len(left), 'code')} remain")
    return _decided(base, codes, side, table, reason)


def _decided(base: Recode, codes: _Codes, side: str, table: dict[str, str], reason: str) -> Recode:
    """Return a recode table, with its reason and its open questions."""
    changed = {code: to for code, to in table.items() if code != to}
    if set(changed) & codes.every["puf"] & codes.every["eif"]:
        reason = f"codes that both files have differ in meaning; {reason}"
    reason += _left(codes, side, codes.only[side] - set(table))
    reason += _left(codes, _OTHER[side], codes.only[_OTHER[side]] - set(table.values()))
    cross = codes.crosses.get(side)
    if cross is not None and (differing := cross.n - cross.agreeing(table)):
        reason += f"; {number(differing, 'link')} still differ{'s' if differing == 1 else ''}"
    allowed = {role: _codes_to_show(codes, role) for role in _OTHER}
    kept = {code: to for code, to in changed.items() if code in allowed[side] and to in allowed[_OTHER[side]]}
    return base._replace(
        side=side,
        table=kept or None,
        reason=_joined(base, reason),
        hidden=len(changed) - len(kept),
        values=_values(codes, side, table),
    )


def _codes_to_show(codes: _Codes, side: str) -> set[str]:
    """Return the codes of a file that a draft may show: of enough records, or words of the table of labels."""
    column = codes.columns[side]
    labels = {code for code in column.values if any(code.casefold() in words for words in _LABELS)}
    return set(map(codes.normal, labels.union(types.codes_to_show(column))))


def _values(codes: _Codes, side: str, table: dict[str, str]) -> dict[str, list[str]]:
    """Return by side the codes that look like missing ones and are values, by a table of a file."""
    looks = {role: codes.looks(role) for role in _OTHER}
    normals = {role: set(looks[role].values()) for role in _OTHER}
    cross = codes.crosses.get(side)
    same = {code for code in codes.shared if cross is not None and cross.counterpart(code) == code}
    pairs = {(code, to) for code, to in table.items() if code not in normals[side] or to not in normals[_OTHER[side]]}
    having = {side: same | {code for code, _ in pairs}, _OTHER[side]: same | {to for _, to in pairs}}
    return {role: [code for code, normal in looks[role].items() if normal in having[role]] for role in _OTHER}


def _left(codes: _Codes, side: str, left: Collection[str]) -> str:
    """Return the codes of a file without a counterpart, in words for a reason."""
    if not left:
        return ""
    listed = codes.listed(side, left)
    verb = "has" if len(left) == 1 else "have"
    text = f"; {number(len(left), 'code')} of {side} {verb} no counterpart in {_OTHER[side]}"
    return f"{text}: {listed}" if listed else text


def _undecided(base: Recode, codes: _Codes, side: str, why: str) -> Recode:
    """Return a table to be decided, with the codes of both files that a draft may show, by their frequency."""
    records = {role: codes.records(role) for role in _OTHER if codes.only[role]}
    listed = {role: codes.listed(role, codes.only[role]) for role in records}
    if all(n <= _MAX_SINGLE * codes.columns[role].valid for role, n in records.items()):
        notes = [
            f"the {role.upper()} alone has {number(len(codes.only[role]), 'code')}, in {number(n, 'record')}"
            + (f": {listed[role]}" if listed[role] else "")
            for role, n in records.items()
        ]
        return base._replace(note="; ".join(notes))
    text = "; ".join(f"{role} only: {codes_}" for role, codes_ in listed.items() if codes_) or "codes differ"
    return base._replace(
        side=side, table=None, reason=_joined(base, f"codes in one file only, {why}. By frequency, {text}")
    )


def _joined(base: Recode, reason: str) -> str:
    return f"{base.reason}; {reason}" if base.reason else reason
