"""The statements of a study: what is counted, what could be, and the design of each (METHODS §11.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd

from reident.edition import space
from reident.edition.rule import Design
from reident.edition.space import Space
from reident.edition.texts import Texts, hidden
from reident.errors import InputError
from reident.linkage import intervals
from reident.pipeline.editions import Bound, EditionSettings
from reident.sections.edition import (
    ALL,
    ANY,
    ATTACK,
    MATCHING,
    MAX_COUNTS,
    METRIC,
    POPULATION,
    SINGLE,
    Edition,
    Part,
    ToldCount,
)
from reident.sections.release import Policy


class Quantity(NamedTuple):
    """What is counted: a kind of :mod:`reident.sections.edition`, by metrics, of a stratum or of all records."""

    kind: str
    metrics: tuple[str, ...] = ()
    stratum: str = ""


class Suspected(NamedTuple):
    """The suspected pairs of a study.

    Attributes
    ----------
    puf, eif : int64 (n,)
        The records of each pair, by row; each pair once.
    by_metric : mapping of bool (n,)
        Whether each metric suspects the pair.
    confirmed : bool (n,)
        Whether it is a true link.
    stratum : float64 (n,)
        The position of the PUF record's stratum, NaN for none; empty where strata are not published.
    strata : sequence of str
        The labels of the strata.
    """

    puf: np.ndarray
    eif: np.ndarray
    by_metric: Mapping[str, np.ndarray]
    confirmed: np.ndarray
    stratum: np.ndarray
    strata: Sequence[str]

    def counting(self, quantity: Quantity) -> np.ndarray | None:
        """Return whether each pair, as a link, counts for a quantity: bool (n,); None where a metric is not known."""
        if not quantity.metrics or not set(quantity.metrics) <= self.by_metric.keys():
            return None
        found = np.stack([self.by_metric[name] for name in quantity.metrics])
        counts = np.asarray(found.all(axis=0) if quantity.kind == ALL else found.any(axis=0))
        if quantity.kind == SINGLE:
            candidates = np.bincount(self.puf[counts], minlength=int(self.puf.max(initial=-1)) + 1)
            counts &= candidates[self.puf] == 1
        if quantity.stratum:
            if quantity.stratum not in self.strata:
                return None
            counts &= self.stratum == self.strata.index(quantity.stratum)
        return counts

    def digest(self, counts: np.ndarray) -> str:
        """Return the SHA-256 of the pairs that count; links are no part of it."""
        pairs = np.stack([self.puf[counts], self.eif[counts]], axis=1).astype("<i8", copy=False)
        return hashlib.sha256(pairs.data).hexdigest()


@dataclass(frozen=True)
class Secret:
    """What a statement is about: everything public, and the exact counts.

    `digests` are those of :class:`reident.sections.edition.ToldCount`. Quantities after the first `published` ones are
    those of earlier editions alone.
    """

    about: str
    quantities: tuple[Quantity, ...]
    digests: tuple[str, ...]
    space: Space
    counts: tuple[int, ...]
    published: int
    records: int
    others: int | None = None
    leaves_room: bool = True  # whether every earlier edition about it can be taken into account

    def largest(self, bound: Bound) -> tuple[int, int] | None:
        """Return the position of the quantity of a limit, and its largest count within it; None without one."""
        at = next((at for at, quantity in enumerate(self.quantities) if _is_about(quantity, bound)), None)
        return None if at is None else (at, self.within(at, bound.limit, bound.bound, bound.interval))

    def within(self, at: int, limit: str, bound: float, interval: tuple[str, float] | None) -> int:
        """Return the largest count of a quantity within a limit, which is public."""
        suspected, exact = int(self.space.suspected[at]), Fraction(str(bound))
        if interval is not None:
            counts = np.arange(suspected + 1)
            if not suspected:
                return 0
            high = intervals.ends(counts, np.full(suspected + 1, suspected), *interval)[1]
            return int((high <= bound).sum()) - 1
        if limit in {"confirmed_rate_at_most", "true_match_rate_at_most"}:
            return int(exact * self.records)
        return int(exact * suspected) if "rate" in limit else int(exact)


def _is_about(quantity: Quantity, bound: Bound) -> bool:
    metrics = (bound.metric,) if bound.metric else quantity.metrics
    # A study with one metric has no count of any: that of the metric is it.
    kinds = {bound.kind, METRIC if bound.kind == ANY else bound.kind}
    return not quantity.stratum and quantity.kind in kinds and quantity.metrics == metrics


def of_attack(
    settings: EditionSettings,
    pairs: Mapping[str, pd.DataFrame],
    records: Mapping[str, int],
    strata: tuple[np.ndarray, Sequence[str]] | None,
    persons: np.ndarray | None,
    earlier: Sequence[Edition],
) -> Secret:
    """Return the secret of an attack: which candidate of each record is its link.

    Parameters
    ----------
    settings : EditionSettings
    pairs : mapping of pandas.DataFrame
        As ``confirmed/{metric}.pairs.parquet``, by metric.
    records : mapping of int
        The records of the PUF and the EIF.
    strata : pair, optional
        The position of each PUF record's stratum, NaN for none, and the labels of the strata.
    persons : int64 (n_eif,), optional
        The person of each EIF record, where the file has several records of a person.
    earlier : sequence of Edition
    """
    suspected = _suspected(settings.metrics, pairs, max(1, records["eif"]), strata)
    quantities = list(_quantities(settings.metrics, suspected.strata))
    if len(quantities) > MAX_COUNTS:
        raise InputError(
            f"`release.strata` must not be `true` in a study with {len(suspected.strata):,} strata: a statement has at "
            f"most {MAX_COUNTS} counts. Remove it."
        )
    published, leaves_room = len(quantities), True
    columns, digests, counts = [], [], []

    def take(column: np.ndarray, digest: str) -> None:
        # Millions of pairs by hundreds of counts: a bit for each.
        columns.append(np.packbits(column))
        digests.append(digest)
        counts.append(int((np.diff(suspected.puf[suspected.confirmed & column], prepend=-1) > 0).sum()))

    for quantity in quantities:
        if (column := suspected.counting(quantity)) is not None:
            take(column, suspected.digest(column))
    for count in _told_before(earlier, ATTACK):
        if count.digest in digests:
            continue
        quantity = Quantity(count.kind, count.metrics, count.stratum)
        column = suspected.counting(quantity)
        if column is None or suspected.digest(column) != count.digest:
            leaves_room = False
            continue
        quantities.append(quantity)
        take(column, count.digest)
    vectors, vector = _vectors(columns, len(suspected.puf))
    eif = suspected.eif if persons is None else persons[suspected.eif]
    possible = space.of_pairs(suspected.puf, eif, vector, vectors, one_to_one=settings.one_to_one)
    return Secret(
        ATTACK, tuple(quantities), tuple(digests), possible, tuple(counts), published, records["puf"], records["eif"],
        leaves_room,
    )  # fmt: skip


def of_population(unique: int, in_population: int, records: int, digest: str, earlier: Sequence[Edition]) -> Secret:
    """Return the secret of a file with a population: which sample uniques are unique in the population."""
    counts = (min(in_population, unique),)
    return _levels(POPULATION, ("unique",), unique, counts, records, digest, earlier)


def of_matching(people: int, matched: int, right: int, digest: str, earlier: Sequence[Edition]) -> Secret:
    """Return the secret of synthetic files: whom a single record matches, and whom rightly."""
    return _levels(MATCHING, ("matched", "right"), people, (matched, right), people, digest, earlier)


def _levels(
    about: str,
    kinds: Sequence[str],
    n: int,
    counts: tuple[int, ...],
    records: int,
    digest: str,
    earlier: Sequence[Edition],
) -> Secret:
    quantities = tuple(Quantity(kind) for kind in kinds)
    digests = tuple(hashlib.sha256(f"{digest} {kind}".encode()).hexdigest() for kind in kinds)
    leaves_room = all(count.digest in digests for count in _told_before(earlier, about))
    possible = space.of_levels(n, len(kinds))
    return Secret(about, quantities, digests, possible, counts, len(kinds), records, leaves_room=leaves_room)


def design(
    secret: Secret, settings: EditionSettings, policy: Policy, bounds: Sequence[Bound], earlier: Sequence[Edition]
) -> Design:
    """Return the design of a statement: the limits are told in the order of the study."""
    limits = [limit for bound in bounds if (limit := secret.largest(bound)) is not None]
    box = [(0, int(n)) for n in secret.space.suspected]
    for edition in earlier:
        for part in edition.parts:
            if part.about == secret.about:
                for digest, interval in _intervals(part, secret):
                    at = secret.digests.index(digest)
                    box[at] = max(box[at][0], interval[0]), min(box[at][1], interval[1])
    for at, largest in limits if settings.released_means else ():
        box[at] = box[at][0], min(box[at][1], largest)
    names = [" ".join((secret.about, q.kind, *q.metrics, q.stratum)) for q in secret.quantities]
    return Design(
        secret.quantities,
        secret.space,
        tuple(Texts(policy, name, settings.seed) for name in names),
        max(policy.margin, *(edition.free for edition in earlier), 0),
        hidden(policy),
        tuple(limits),
        tuple(box),
    )


def _intervals(part: Part, secret: Secret) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what an earlier statement tells of counts that the new one knows, by their digests."""
    largest = [int(n) for n in secret.space.suspected]
    for count in part.counts:
        if count.digest in secret.digests:
            n = largest[secret.digests.index(count.digest)]
            yield count.digest, (count.at_least or 0, n if count.at_most is None else count.at_most)


def _told_before(earlier: Sequence[Edition], about: str) -> Iterator[ToldCount]:
    """Yield the counts of which earlier statements tell something."""
    for edition in earlier:
        for part in edition.parts:
            told = (count for count in part.counts if (count.at_least, count.at_most) != (None, None))
            yield from told if part.about == about else ()


def _suspected(
    metrics: Sequence[str],
    pairs: Mapping[str, pd.DataFrame],
    n_eif: int,
    strata: tuple[np.ndarray, Sequence[str]] | None,
) -> Suspected:
    keys = {}
    for name in metrics:
        puf, eif, links = (pairs[name][column].to_numpy(np.int64) for column in ("puf", "eif", "confirmed"))
        # Pairs with whether they are links: sorted numbers are looked up much faster.
        keys[name] = np.sort(2 * (puf * n_eif + eif) + links)
    every = np.sort(np.concatenate([np.zeros(0, np.int64), *keys.values()])) // 2
    every = every[np.diff(every, prepend=-1) > 0]
    confirmed = np.zeros(len(every), bool)
    by_metric = {}
    for name, key in keys.items():
        at = np.searchsorted(every, key // 2)
        by_metric[name] = np.zeros(len(every), bool)
        by_metric[name][at] = True
        confirmed[at[key % 2 == 1]] = True
    puf, eif = every // n_eif, every % n_eif
    position, labels = (np.zeros(0), ()) if strata is None else (strata[0][puf], tuple(strata[1]))
    return Suspected(puf, eif, by_metric, confirmed, position, labels)


def _quantities(metrics: Sequence[str], strata: Sequence[str]) -> Iterator[Quantity]:
    """Yield what is told of an attack, in this order: any metric, each one, all, single candidates, strata."""
    if not metrics:
        return
    every = tuple(metrics)
    if len(every) > 1:
        yield Quantity(ANY, every)
    yield from (Quantity(METRIC, (name,)) for name in every)
    if len(every) > 1:
        yield Quantity(ALL, every)
    yield from (Quantity(SINGLE, (name,)) for name in every)
    yield from (Quantity(ANY, every, label) for label in strata)


def _vectors(columns: Sequence[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of a table of packed columns, those with most quantities first, and each pair's row."""
    row = np.zeros(n, np.int64)
    table = np.zeros((1, 0), bool)
    for start in range(0, len(columns), 32):
        part = columns[start : start + 32]
        row <<= len(part)
        for at, column in enumerate(part):
            row |= np.unpackbits(column, count=n).astype(np.int64) << at
        codes, row = np.unique(row, return_inverse=True)
        bits = codes[:, None] >> np.arange(len(part)) & 1
        table = np.hstack([table[codes >> len(part)], bits.astype(bool)])
    order = np.lexsort((np.arange(len(table)), -table.sum(axis=1)))
    return table[order], np.argsort(order)[row]
