"""Checks of the links as a whole: wrong ones, missing ones, and those that no metric can find (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from reident.intake.severity import INVALIDATES, MATERIAL, NOTABLE, UNDERSTATES
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.hashing import mixed
from reident.plausibility.records import Records, Values

MAX_RANKED, STRANGERS = 2_000, 200
"""Links whose partners are ranked, and the most strangers of each."""

MIN_WRONG, MIN_MISSING = 0.06, 0.1
"""The smallest shares of wrong links, and of missing ones of those that are there, that are warned of."""

_OTHER = {"puf": "eif", "eif": "puf"}
_LEVELS = np.array([0.001, 0.02, 0.06, 0.15, 0.35])
"""Distances of numbers, as shares of all numbers between the two, between which two records agree alike."""


def account(tables: pd.DataFrame) -> Iterator[Finding]:
    """Yield the links that no metric can find, by the row accounts of typing and of the strata."""
    for check, step, cause in (
        ("links_dropped", "prepare", "link to an unknown record"),
        ("links_outside", "stratify", "lost to stratification"),
    ):
        lines = tables[(tables["step"] == step) & (tables["file"] == "iuf")]
        links = int(lines.loc[lines["cause"] == "in", "rows"].sum())
        lost = int(lines.loc[lines["cause"].str.startswith(cause), "rows"].sum())
        if links and lost:
            share = lost / links
            yield Finding("iuf", check, share, 0.0, links, severity_of_lost(lost, links))


def severity_of_lost(lost: int, links: int) -> str:
    """Return the severity of a warning of links that no metric can find."""
    return INVALIDATES if lost == links else UNDERSTATES if lost >= MATERIAL * links else NOTABLE


class _Evidence(NamedTuple):
    """How links, and strangers of the same records, agree on a variable: levels, and the weight of each level."""

    true: np.ndarray
    strangers: np.ndarray
    weights: np.ndarray


def partners(records: Records) -> Iterator[Finding]:
    """Yield how far true partners agree no better than strangers, beyond what variables that err apart bring about."""
    n = min(records.links.n, MAX_RANKED)
    if n < MIN_LINKS:
        return
    puf, eif = records.links.puf[:n], records.links.eif[:n]
    strangers, several = _strangers(records, puf, eif)
    if several.sum() < MIN_LINKS:
        return
    puf, eif, strangers = puf[several], eif[several], strangers[several]
    evidence = [_evidence(values, puf, eif, strangers) for values in records.values.values()]
    scores = [(item.weights[item.true], item.weights[item.strangers]) for item in evidence]
    true, others = (np.sum(column, axis=0) for column in zip(*scores, strict=True))
    rank = _rank(true, others)
    # The same partners, each variable of another link: right links of variables that err apart from each other.
    shifted = np.sum([np.roll(score, 1 + 7 * at) for at, (score, _) in enumerate(scores)], axis=0)
    n = len(rank)
    far, expected = float((rank > 0.5).mean()), float((_rank(shifted, others) > 0.5).mean())
    wrong = float(np.clip(2 * (far - expected) / max(1 - 2 * expected, 0.2), 0, 1))
    mean = float(rank.mean())
    if mean > 0.5 - max(0.08, 2.6 / np.sqrt(12 * n)):
        yield Finding("iuf", "partners_by_chance", mean, 0.5, n, INVALIDATES if n >= 20 else UNDERSTATES)
        return
    error = np.sqrt(max(far * (1 - far), 0.5 / n) / n + expected * (1 - expected) / n)
    severity = UNDERSTATES if wrong >= MIN_WRONG and far - expected > 2.3 * error else ""
    yield Finding(
        "iuf", "wrong_links" if severity else "partner_rank", wrong if severity else mean, 0.5, n, severity
    )


def _rank(true: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the share of strangers that fit better, those that fit equally well as a half."""
    own = true[:, np.newaxis]
    return ((others > own + 1e-9).sum(1) + 0.5 * (np.abs(others - own) <= 1e-9).sum(1)) / others.shape[1]


def _strangers(records: Records, puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return other EIF records of the stratum of each link, int64 (n, k), and which links have several.

    They are drawn by the place of the link and of the stranger in the order of keys, the same everywhere.
    """
    groups = records.groups["eif"]
    stratum = records.strata["puf"][puf]
    sizes = np.diff(groups.bounds)[stratum]
    draws = mixed(
        puf.astype(np.uint64)[:, None] * np.uint64(STRANGERS) + np.arange(STRANGERS, dtype=np.uint64)
    )
    place = (draws % np.maximum(sizes - 1, 1).astype(np.uint64)[:, None]).astype(np.int64)
    own = np.zeros(len(records.strata["eif"]), np.int64)
    own[groups.order] = np.arange(len(groups.order))  # those without a stratum come before the first bound
    place += place >= (own[eif] - groups.bounds[stratum])[:, None]
    rows = groups.order[np.minimum(groups.bounds[stratum][:, None] + place, len(groups.order) - 1)]
    return rows, sizes > 2


def _evidence(values: Values, puf: np.ndarray, eif: np.ndarray, strangers: np.ndarray) -> _Evidence:
    """Return the levels of agreement on a variable, and how much likelier each is for links than for strangers."""
    if values.numbers is None:
        own = values.codes["puf"][puf]
        true, others = (
            np.where((codes < 0) | (ours < 0), 0, np.where(codes == ours, 1, 2))
            for codes, ours in (
                (values.codes["eif"][eif], own),
                (values.codes["eif"][strangers], own[:, None]),
            )
        )
    else:
        present = np.sort(np.concatenate([side[~np.isnan(side)] for side in values.numbers.values()]))
        own, partner, strange = (
            np.where(np.isnan(column), np.nan, np.searchsorted(present, column) / max(len(present), 1))
            for column in (
                values.numbers["puf"][puf],
                values.numbers["eif"][eif],
                values.numbers["eif"][strangers],
            )
        )
        true, others = (
            np.where(np.isnan(distance), 0, 1 + np.searchsorted(_LEVELS, np.abs(distance)))
            for distance in (partner - own, strange - own[:, None])
        )
    k = len(_LEVELS) + 2
    m, u = (np.bincount(levels.ravel(), minlength=k) + 0.5 for levels in (true, others))
    weights = np.log(m / m.sum()) - np.log(u / u.sum())
    weights[0] = 0
    return _Evidence(true, others, weights)


class _Shares(NamedTuple):
    """Shares of the records of one file that have an equal record.

    Attributes
    ----------
    unlinked : of those without a link, in the other file
    twins : of those without a link, in their own file, had it the size of the other
    strangers : of those with a link, in the other file beside their partners
    linked : of those with a link, in the other file
    n_unlinked, n_linked : the numbers of both
    """

    unlinked: float
    twins: float
    strangers: float
    linked: float
    n_unlinked: int
    n_linked: int

    @property
    def missing(self) -> float:
        """The links that seem to be missing, for each that is there; 0 if that may be chance.

        Records without a link must have an equal record more often than their own file explains, clearly, and more
        often than records with a link have one beside their partners.
        """
        if min(self.n_unlinked, self.n_linked) < MIN_LINKS:
            return 0.0
        usual = max(self.twins, self.strangers)
        excess, usable = self.unlinked - usual, self.linked - usual
        middle = max(self.unlinked * (1 - self.unlinked), 1 / self.n_unlinked)
        by_twins = np.sqrt(2 * middle / self.n_unlinked)
        by_links = np.sqrt(middle * (1 / self.n_unlinked + 1 / self.n_linked))
        if (
            usable < 0.1
            or excess < max(0.03, 4 * by_twins)
            or self.unlinked - self.strangers < 2.3 * by_links
        ):
            return 0.0
        return excess / usable * self.n_unlinked / self.n_linked


def missing(records: Records) -> Iterator[Finding]:
    """Yield what share of links seems to be missing: unlinked records that have a partner as true ones are."""
    if records.links.n < MIN_LINKS:
        return
    tried = [(side, shares) for side in _OTHER for shares in _shares(records, side)]
    side, shares = max(tried, key=lambda item: item[1].missing)
    severity = UNDERSTATES if shares.missing > MIN_MISSING else ""
    yield Finding(
        side,
        "links_missing" if severity else "unlinked",
        shares.unlinked,
        shares.strangers,
        shares.n_unlinked,
        severity,
    )


def _shares(records: Records, side: str) -> Iterator[_Shares]:
    """Yield the shares of records that are equal on all variables, and on all but one."""
    other, query = _OTHER[side], records.queries[side]
    codes = {name: _mixed_codes(values, at) for at, (name, values) in enumerate(records.values.items())}
    total = {
        at: np.sum([code[at] for code in codes.values()], axis=0, dtype=np.uint64)
        + mixed(records.strata[at].astype(np.int64).astype(np.uint64))
        for at in _OTHER
    }
    inside = {at: column >= 0 for at, column in records.strata.items()}
    size = inside[other].sum() / max(1, inside[side].sum() - 1)
    mine, theirs = _own_links(records, side, query)
    linked = np.bincount(records.every_link[side], minlength=len(records.strata[side]))[query] > 0
    has = {kind: np.zeros(len(query), bool) for kind in ("other", "partner", "twin")}
    subsets: list[str | None] = [None, *(codes if len(codes) > 2 else ())]
    for at, name in enumerate(subsets):
        own, others = (total[file] - (codes[name][file] if name else np.uint64(0)) for file in (side, other))
        hashed = own[query]
        n_partners = np.bincount(mine, own[query[mine]] == others[theirs], len(query)).astype(np.int64)
        has["other"] |= _count(others[inside[other]], hashed) > n_partners
        has["partner"] |= n_partners > 0
        has["twin"] |= _count(own[inside[side]], hashed) > 1
        if at in (0, len(subsets) - 1):
            has_any = has["other"] | has["partner"]
            twins = 1 - (1 - _mean(has["twin"][~linked])) ** size
            yield _Shares(
                _mean(has["other"][~linked]),
                twins,
                _mean(has["other"][linked]),
                _mean(has_any[linked]),
                int((~linked).sum()),
                int(linked.sum()),
            )


def _count(among: np.ndarray, hashed: np.ndarray) -> np.ndarray:
    """Return how often each hash is among others."""
    ordered = np.sort(among)
    return np.searchsorted(ordered, hashed, "right") - np.searchsorted(ordered, hashed)


def _mean(marks: np.ndarray) -> float:
    return float(marks.mean()) if len(marks) else 0.0


def _own_links(records: Records, side: str, query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the links of the queried records: the place of the record in the query, and the partner's row."""
    place = np.full(len(records.strata[side]), -1)
    place[query] = np.arange(len(query))
    of = place[records.every_link[side]]
    within = of >= 0
    return of[within], records.every_link[_OTHER[side]][within]


def _mixed_codes(values: Values, at: int) -> dict[str, np.ndarray]:
    """Return a hash of each code of a variable by side; the hashes of variables are added up."""
    offset = mixed(np.array([at + 1], np.uint64))
    return {
        side: mixed(codes.astype(np.int64).astype(np.uint64) + offset) for side, codes in values.fine.items()
    }
