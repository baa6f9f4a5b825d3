"""Columns that group rows, such as the number of a household, in a study that compares single rows (METHODS §1.1).

A group is unique by its members if no other group of its file has members with the same values of all linking
variables. An intruder who sees the groups in both files names it, whatever is said of its rows one by one.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident import reading
from reident.errors import InputError
from reident.intake import keys
from reident.intake.grouping import N_MEMBERS
from reident.intake.settings import Extract, PreparationSettings
from reident.intake.severity import of_share
from reident.plausibility.files import joined
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.hashing import mixed
from reident.plausibility.records import Records, Sides
from reident.sections.files import SourceFile

MIN_GROUPED = 0.2
"""The smallest share of the rows of either file that have another row in their group."""

MIN_PAIRS = 5
"""The fewest pairs of linked rows in one group that show whether groups of both files correspond."""

MIN_UNIQUE = 2
"""The fewest groups that are unique by their members that are worth a warning."""

MIN_AGREEMENT = 0.5
"""The smallest share of the pairs of linked rows in one group of either file that are in one group of both."""

MAX_MEAN, MAX_RATIO = 10, 3.5
"""The largest mean number of rows of a group, and how many times as many rows all but the largest hundredth have at
most: codes that merely repeat, such as those of occupations or places, have more, or differ more in size."""

MAX_CANDIDATES = 100
"""The most pairs of undeclared columns of which each is tried; of more, those whose names are alike or tell units."""

MIN_CONSTANT, MAX_USUAL = 0.95, 0.9
"""A variable is one of groups if this share of the pairs of rows of a group agree on it, and fewer of all pairs do."""

MAX_NAMED_RATIO, MAX_UNNAMED_MEAN = 6, 5
"""The largest ratio for a column whose name is that of units, and the largest mean for one whose name is not."""

MIN_GIANT, MAX_GIANT = 20, 10
"""A group of more rows than this, and than so many times the median, is none: its code says that there is no unit."""

_NAMES = re.compile(
    r"hh|hid|house|haush|menage|foyer|huish|hushal|hushol|hogar|vivienda|domicil|nucleo|bostad|famil|dwell|wohnung|addr|"
    r"adress|serial|ident|unit|db030|person|patient|pid|case|client|custom|kunde|card|employee|student|pupil|enrol|insured"
)
_ATTRIBUTES = re.compile(
    r"inc|value|size|stat|typ|mix|weight|wgt|amount|group|batch|count|persons|relat|head|kind|familiar|personal|worker|birth"
)
"""Parts of names of households, people or cases, and of what is told of them."""


@cache
def names_units(name: str) -> bool:
    """Return whether the name of a column is that of households, people or cases, by its letters without accents."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return bool(_NAMES.search(plain)) and not _ATTRIBUTES.search(plain)


class Candidate(NamedTuple):
    """Columns of both files that may group rows, and whether the study itself takes them for more than a variable."""

    puf: tuple[str, ...]
    eif: tuple[str, ...]
    declared: bool

    @property
    def option(self) -> str:
        """The option that attacks the groups."""
        sides = (names[0] if len(names) == 1 else f"[{', '.join(names)}]" for names in (self.puf, self.eif))
        return "units: {{puf: {}, eif: {}}}".format(*sides)


class Groups(NamedTuple):
    """Columns that group the rows of both files: the group of each row from 0, -1 for none; int64, by side."""

    candidate: Candidate
    codes: Sides


def candidates(settings: PreparationSettings, columns: Mapping[str, Sequence[str]]) -> list[Candidate]:
    """Return the columns that may group rows, by the names of all columns of both files.

    They are the columns of `rates.cluster` with those of their names in the EIF, or each that the study does not
    declare; the parts of composite keys; pairs of columns that the study does not declare; and of these, those that are
    named as units are, inside the strata too, and together with another column of one name.
    """
    free = {side: [name for name in columns[side] if name not in settings.columns_of(side)] for side in columns}
    found = []
    if settings.cluster:
        named = set(settings.cluster) <= set(columns["eif"])
        theirs = [settings.cluster] if named else [(name,) for name in free["eif"]]
        found += [Candidate(settings.cluster, names, declared=True) for names in theirs]
    parts = [settings.keys_of(side) for side in ("puf", "eif")]
    if min(map(len, parts)) > 1:
        found += [Candidate((puf,), (eif,), declared=True) for puf, eif in zip(*parts, strict=False)]
    undeclared = list(_undeclared(free["puf"], free["eif"]))
    found += [Candidate((puf,), (eif,), declared=False) for puf, eif in undeclared]
    of_units = [pair for pair in undeclared if any(map(names_units, pair))]
    if settings.strata:
        inside = [tuple(_strata_of(settings, side)) for side in ("puf", "eif")]
        found += [Candidate((*inside[0], puf), (*inside[1], eif), declared=False) for puf, eif in of_units]
    alike = [(puf, eif) for puf, eif in undeclared if puf.casefold() == eif.casefold()]
    both = (pairs for pairs in itertools.combinations(alike, 2) if any(map(names_units, itertools.chain(*pairs))))
    found += [Candidate((p, q), (e, f), declared=False) for (p, e), (q, f) in itertools.islice(both, MAX_CANDIDATES)]
    return found


def _strata_of(settings: PreparationSettings, side: str) -> list[str]:
    """Return the columns of a file that have the strata."""
    return [getattr(variable, side) for variable in settings.strata]


def _undeclared(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of columns of both files that may group rows alike: all, or by their names if these are many."""
    every = len(ours) * len(theirs) <= MAX_CANDIDATES
    for first, second in itertools.product(ours, theirs):
        if every or first.casefold() == second.casefold() or (names_units(first) and names_units(second)):
            yield first, second


def further(
    settings: PreparationSettings, paths: Mapping[str, Path], made: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict[str, list[str]]:
    """Return the columns of both files that may group rows, beside those that the study declares, by side.

    `made` has the columns of files that are in memory. A file that cannot be read has none here.
    """
    columns = dict(made)
    with contextlib.suppress(InputError, OSError):
        for side, path in paths.items():
            source = settings.file(side)
            fixed = source.kind == "fixed-width"
            columns[side] = list(source.layout) if fixed else reading.column_names(path, source)
    if len(columns) < 2:
        return {}
    found = {}
    for side in columns:
        names = dict.fromkeys(name for one in candidates(settings, columns) for name in getattr(one, side))
        others = [name for name in names if name not in settings.columns_of(side)]
        found[side] = [name for name in others if side in made or _is_readable(settings.file(side), paths[side], name)]
    return found


def _is_readable(source: SourceFile, path: Path, name: str) -> bool:
    """Return whether a column has a text: one that the study does not name may have any type."""
    with contextlib.suppress(InputError):
        next(iter(reading.batches(path, source, [name])), None)
        return True
    return False


def is_of_rows(prepared: Mapping[str, pa.Table]) -> bool:
    """Return whether each record is one row of its file, also where the study declares units."""
    return not any(
        N_MEMBERS in table.column_names and pc.max(table[N_MEMBERS]).as_py() != 1 for table in prepared.values()
    )


def texts(settings: PreparationSettings, paths: Mapping[str, Path]) -> dict[str, pa.Table]:
    """Return the text of both files, as far as their columns may group rows, with their keys; empty if none may."""
    wanted = extracts(settings, further(settings, paths))
    return {side: reading.read(paths[side], one.source, one.names, one.key) for side, one in wanted.items()}


def extracts(settings: PreparationSettings, columns: Mapping[str, Sequence[str]]) -> dict[str, Extract]:
    """Return what may group the rows of both files, with their keys, from :func:`further`; empty if nothing may."""
    if not any(columns.values()) and min(len(settings.keys_of(side)) for side in ("puf", "eif")) < 2:
        return {}
    found = {}
    for side, cluster in (("puf", settings.cluster), ("eif", ())):
        key = settings.keys_of(side)
        others = dict.fromkeys([*cluster, *_strata_of(settings, side), *columns.get(side, [])])
        found[side] = Extract(settings.file(side), key, [name for name in others if name not in key])
    return found


def coded(
    settings: PreparationSettings, wanted: Sequence[Candidate], texts: Mapping[str, pa.Table]
) -> Iterator[Groups]:
    """Yield the groups of candidates from the text of both files, in the order of the prepared tables."""
    order = {
        side: np.argsort(keys.codes([text], [settings.keys_of(side)])[0], kind="stable") for side, text in texts.items()
    }

    def code(side: str, columns: tuple[str, ...]) -> np.ndarray:
        empty = np.any([pc.equal(texts[side][name], "").to_numpy() for name in columns], axis=0)
        return np.where(empty, -1, keys.codes([texts[side]], [columns])[0])[order[side]]

    of_column = cache(lambda side, name: code(side, (name,)))  # pairs of several columns are seldom asked for again
    for candidate in wanted:
        columns = {"puf": candidate.puf, "eif": candidate.eif}
        codes = {side: of_column(side, *one) if len(one) == 1 else code(side, one) for side, one in columns.items()}
        yield Groups(candidate, codes)


def check(records: Records, groups: Iterator[Groups]) -> Iterator[Finding]:
    """Yield the columns whose groups most people are unique by, if they group rows in both files."""
    found = [finding for one in groups if (finding := _measured(records, one)) is not None]
    yield from sorted(found, key=lambda finding: -finding.n)[:1]


def _measured(records: Records, groups: Groups) -> Finding | None:
    candidate, codes = groups.candidate, {side: _without_giants(codes) for side, codes in groups.codes.items()}
    linked = {side: codes[side][records.every_link[side]] for side in codes}
    if not _corresponds(codes, linked) or not (candidate.declared or _is_unit(records, candidate, codes)):
        return None
    n_groups, names = len(np.unique(codes["puf"][codes["puf"] >= 0])), "+".join(candidate.puf)
    puf, eif = (_profiles(records, side, codes[side]) for side in ("puf", "eif"))
    _, at, other = np.intersect1d(puf.profile, eif.profile, assume_unique=True, return_indices=True)
    several = puf.size[at] > 1
    if len(at) < MIN_UNIQUE or not several.any():
        return None
    if records.links.n and not _are_right(linked, puf.group[at[several]], eif.group[other[several]]):
        return None
    share = len(at) / n_groups
    return Finding(names, "groups", share, float(n_groups), len(at), of_share(share), candidate.option)


def _are_right(linked: Sides, puf: np.ndarray, eif: np.ndarray) -> bool:
    """Return whether most pairs of groups are linked by a row, of those that have a link: the others tell nothing.

    Their links may be lost, and a group may be one that the other file does not have.
    """
    width = int(max(eif.max(initial=0), linked["eif"].max(initial=0))) + 1
    n_right = int(np.isin(_number(puf, eif, width), _number(linked["puf"], linked["eif"], width)).sum())
    n_told = int((np.isin(puf, linked["puf"]) | np.isin(eif, linked["eif"])).sum())
    return n_right > 0 and 2 * n_right >= n_told


def _without_giants(codes: np.ndarray) -> np.ndarray:
    """Return the group of each row without groups that are too large for units."""
    sizes = np.bincount(codes + 1)[1:]  # of the codes from 0 on
    if not sizes.any():
        return codes
    most = max(MIN_GIANT, MAX_GIANT * np.median(sizes[sizes > 0]))
    return np.where((codes >= 0) & (sizes[codes] <= most), codes, -1)


def _number(first: np.ndarray, second: np.ndarray, width: int) -> np.ndarray:
    """Return a number for each pair of codes, of which the second are below the width; -1 if one is missing."""
    return np.where((first < 0) | (second < 0), -1, first * width + second)


def _corresponds(codes: Sides, linked: Sides) -> bool:
    """Return whether columns group the rows of both files, and as far as links tell the same ones."""
    for code in codes.values():
        sizes = np.bincount(code[code >= 0])
        if len(code) == 0 or sizes[sizes > 1].sum() < MIN_GROUPED * len(code):
            return False
    puf, eif = linked["puf"], linked["eif"]
    pairs = [_pairs(one[one >= 0]) for one in (puf, eif)]
    if len(puf) < MIN_LINKS or max(pairs) < MIN_PAIRS:  # as where the head of each household alone is linked
        return True
    return min(pairs) >= MIN_PAIRS and agreement(puf, eif) >= MIN_AGREEMENT


def agreement(puf: np.ndarray, eif: np.ndarray) -> float:
    """Return how far groups of linked rows are the same: of the pairs of rows in one group, the share of both files.

    Rows without a group, -1, do not count; 0 if no group has two rows.
    """
    both = (puf >= 0) & (eif >= 0)
    puf, eif = puf[both], eif[both]
    common = _pairs(_number(puf, eif, int(eif.max(initial=0)) + 1))
    either = _pairs(puf) + _pairs(eif) - common
    return common / either if either else 0.0


def _pairs(codes: np.ndarray) -> int:
    """Return the number of pairs of equal codes."""
    _, sizes = np.unique(codes, return_counts=True)
    return int((sizes * (sizes - 1) // 2).sum())


def _is_unit(records: Records, candidate: Candidate, codes: Sides) -> bool:
    """Return whether a column of both files looks like that of units, and not like one that merely repeats.

    Its groups are small and alike in size; and its name says so, or a variable is the same in its groups, as those of a
    household are, or most variables are, as those of a person with several rows.
    """
    sizes = np.bincount(codes["puf"][codes["puf"] >= 0])
    sizes = sizes[sizes > 0]
    mean, ratio = sizes.mean(), np.quantile(sizes, 0.99, method="inverted_cdf") / sizes.mean()
    if any(map(names_units, (*candidate.puf, *candidate.eif))):
        return bool(mean <= MAX_MEAN and ratio <= MAX_NAMED_RATIO)
    constant = [_is_constant(records, name, codes["puf"], "puf") for name in [*records.every_value, ""]]
    alike = ratio <= MAX_RATIO and mean <= MAX_UNNAMED_MEAN
    return bool(mean <= MAX_MEAN and (2 * sum(constant) > len(constant) or (any(constant) and alike)))


def _is_constant(records: Records, name: str, codes: np.ndarray, side: str) -> bool:
    """Return whether the rows of a group agree on a variable, or on the stratum, and others do not."""
    values = records.every_value[name].codes[side] if name else records.strata[side]
    present = (codes >= 0) & (values >= 0)
    values, groups = values[present], codes[present]
    n, inside = len(values), _pairs(groups)
    if not inside or _pairs(values) > MAX_USUAL * n * (n - 1) / 2:
        return False
    return _pairs(_number(groups, values.astype(np.int64), int(values.max()) + 1)) >= MIN_CONSTANT * inside


class _Profiles(NamedTuple):
    """The groups that are unique in their file by their members: their profiles, numbers and sizes."""

    profile: np.ndarray
    group: np.ndarray
    size: np.ndarray


def _profiles(records: Records, side: str, codes: np.ndarray) -> _Profiles:
    """Return the unique groups of a file, by the multiset of their members' codes and strata, all of them present."""
    columns = [values.codes for values in records.every_value.values()]
    complete = np.all([records.strata[side] >= 0, *(column[side] >= 0 for column in columns)], axis=0)
    member = joined(records, side, columns)
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    group, starts, size = np.unique(codes[rows], return_index=True, return_counts=True)
    if not len(rows):
        return _Profiles(np.empty(0, np.uint64), group, size)
    whole = np.logical_and.reduceat(complete[rows], starts)
    profile = mixed(np.add.reduceat(mixed(member[rows]), starts) + mixed(size.astype(np.uint64)))
    profile, group, size = profile[whole], group[whole], size[whole]
    _, first, times = np.unique(profile, return_index=True, return_counts=True)
    single = first[times == 1]
    return _Profiles(profile[single], group[single], size[single])
