"""Checks of the links as a whole: wrong ones, missing ones, and those that no metric can find (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from reident.intake.account import coded
from reident.intake.severity import INVALIDATES, MATERIAL, NOTABLE, UNDERSTATES
from reident.linkage.tally import grouped
from reident.plausibility import related
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.hashing import mixed
from reident.plausibility.records import Records, Values

MIN_INVALID = 20
"""The fewest links that can show that all of them are wrong."""

MAX_RANKED, STRANGERS = 2_000, 200
"""Links whose partners are ranked, and the most strangers of each."""

MIN_WRONG, MIN_MISSING = 0.06, 0.1
"""The smallest shares of wrong links, and of missing ones of those that are there, that are warned of."""

MIN_EXACT = 2
"""The fewest variables on which all links agree that may have made them."""

MIN_NEAR, MAX_SEVERAL = 0.5, 0.4
"""The smallest excess over the other file of the share of records that have their like in the same file, and the
largest share that has two, as a share of that by chance."""

MIN_SPLIT = 0.2
"""The smallest share of linked units with several partners that is warned of: households that parted are fewer."""

OTHER = {"puf": "eif", "eif": "puf"}
FITS = (0.7, 0.5, 0.3)
"""Shares of the partners that score at least as what is taken for one."""

MAX_QUERIES, MAX_COMPARED = 1000, 6_000_000
"""Records with and without a link that are compared with all of the other file, and about how many pairs that is."""

MAX_SCORES = 2**18
"""Pairs whose scores are held at a time."""

_DISTANCES = np.array([0.001, 0.02, 0.06, 0.15, 0.35])
"""Distances of numbers, as shares of all numbers between the two, between which two records agree alike."""

_CODES, _NUMBERS = (np.array([0.5, *np.linspace(0, 1, levels)]) for levels in (2, len(_DISTANCES) + 1))
"""How far records of each level of agreement are apart."""

MIN_VARIABLES, MIN_HINDERED = 3, 0.05
"""The fewest variables of which one may hinder an attack, and the smallest share of partners found more without it."""


def account(tables: pd.DataFrame) -> Iterator[Finding]:
    """Yield the links that no metric can find, by the row accounts of typing and of the strata."""
    for check, step, causes in (
        ("links_dropped", "prepare", ["unknown_link"]),
        ("links_outside", "stratify", ["lost_no_stratum", "lost_other_strata"]),
    ):
        lines = coded(tables[(tables["step"] == step) & (tables["file"] == "iuf")])
        links = int(lines.loc[lines["cause"] == "in", "rows"].sum())
        lost = int(lines.loc[lines["cause"].isin(causes), "rows"].sum())
        if links and lost:
            share = lost / links
            yield Finding("iuf", check, share, 0.0, links, severity_of_lost(lost, links))


def severity_of_lost(lost: int, links: int) -> str:
    """Return the severity of a warning of links that no metric can find."""
    return INVALIDATES if lost == links else UNDERSTATES if lost >= MATERIAL * links else NOTABLE


def split(records: Records) -> Iterator[Finding]:
    """Yield the share of linked units with links to several units of the other file, of the file that has more."""
    links = np.unique(np.column_stack([records.every_link[side] for side in OTHER]), axis=0)
    if len(links) < MIN_LINKS:
        return
    partners = [np.unique(units, return_counts=True)[1] for units in links.T]
    share, n = max((float((one > 1).mean()), len(one)) for one in partners)
    yield Finding("units", "units_split", share, n=n, severity=UNDERSTATES if share >= MIN_SPLIT else "")


class Evidence(NamedTuple):
    """The agreement of links, and of strangers of the same records, on each variable.

    Attributes
    ----------
    puf, eif, strangers : rows of the links, int (n,), and of their strangers in the EIF, int (n, k)
    half : whether weights are learnt from a link, or tried on it; bool (n,)
    levels : levels of agreement by variable: of links, int (n,), and of strangers, int (n, k)
    weights : by variable, how much likelier each level is for links than for strangers, as a logarithm
    """

    puf: np.ndarray
    eif: np.ndarray
    strangers: np.ndarray
    half: np.ndarray
    levels: dict[str, tuple[np.ndarray, np.ndarray]]
    weights: dict[str, np.ndarray]

    def agreement(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Return the levels of agreement of links and of strangers on some values."""
        sides = "puf", "eif"
        return _levels(values, sides, self.puf, self.eif), _levels(values, sides, self.puf[:, None], self.strangers)


def evidence(records: Records) -> Evidence | None:
    """Return the evidence of a sample of links; None if too few links have strangers in their stratum."""
    n = min(records.links.n, MAX_RANKED)
    puf, eif = records.links.puf[:n], records.links.eif[:n]
    strangers, several = _strangers(records, puf, eif)
    if several.sum() < MIN_LINKS:
        return None
    found = Evidence(puf[several], eif[several], strangers[several], records.links.half[:n][several], {}, {})
    levels = {name: found.agreement(values) for name, values in records.variables.items()}
    return found._replace(levels=levels, weights={name: _weights(*both) for name, both in levels.items()})


class Trial(NamedTuple):
    """A plain attack on linked records and their strangers, with a variable left out or described otherwise.

    It counts the variables that disagree, numbers by how far they are apart, and claims the best record, equal ones in
    equal shares.
    """

    records: Records
    evidence: Evidence | None
    name: str

    def finds_more(self, other: Values | None = None) -> bool:
        """Return whether it finds more partners with other values of the variable, or without it.

        That is by a twentieth, and three standard errors; yes where it cannot be tried.
        """
        if self.evidence is None:
            return True
        levels, n = dict(self.evidence.levels), len(self.evidence.levels)
        before = self._claims(levels)
        if other is not None:
            levels[self.name] = self.evidence.agreement(other)
        elif n < MIN_VARIABLES:
            return False
        else:
            levels.pop(self.name)
        gains = self._claims(levels) - before
        error = float(gains.std()) / np.sqrt(len(gains))
        return bool(gains.mean() > max(MIN_HINDERED * before.mean(), 3 * error))

    def is_needless(self) -> bool:
        """Return whether the variable is not the same in both files, or it finds more without one that may not be."""
        alike = related.is_alike(self.records, self.name)
        return self.finds_more() if alike is None else not alike

    def finds_more_if_missing(self, side: str, gone: np.ndarray) -> bool:
        """Return whether it finds more if some codes, or numbers, of one file are missing ones."""
        return self.finds_more(self.records.variables[self.name].without(side, gone))

    def finds_more_if_changed(self, change: Callable[[np.ndarray, str], np.ndarray]) -> bool:
        """Return whether it finds more with the numbers of each file, and its side, changed."""
        return self.finds_more(self.records.variables[self.name].changed(change))

    def _claims(self, levels: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Return the probability that the best record is the partner, for each link."""
        scales = {name: _CODES if self.records.variables[name].places is None else _NUMBERS for name in levels}
        own, others = (np.sum([scales[name][both[at]] for name, both in levels.items()], axis=0) for at in (0, 1))
        better, equal = others < own[:, np.newaxis] - 1e-9, np.abs(others - own[:, np.newaxis]) <= 1e-9
        return np.where(better.any(1), 0.0, 1 / (1 + equal.sum(1)))


def partners(agreement: Evidence) -> Iterator[Finding]:
    """Yield how far true partners agree no better than strangers, allowing for variables that err apart."""
    scores, others = _scores(agreement)
    rank = _rank(np.sum(scores, axis=0), others)
    # The same partners, each variable of another link: right links of variables that err apart from each other.
    shifted = np.sum([np.roll(score, 1 + 7 * at) for at, score in enumerate(scores)], axis=0)
    n = len(rank)
    far, expected = float((rank > 0.5).mean()), float((_rank(shifted, others) > 0.5).mean())
    wrong = float(np.clip(2 * (far - expected) / max(1 - 2 * expected, 0.2), 0, 1))
    mean = float(rank.mean())
    if mean > 0.5 - max(0.08, 2.6 / np.sqrt(12 * n)):
        severity = INVALIDATES if n >= MIN_INVALID else UNDERSTATES
        yield Finding("iuf", "partners_by_chance", mean, 0.5, n, severity)
        return
    yield Finding("iuf", "partner_rank", mean, 0.5, n)
    error = np.sqrt(max(far * (1 - far), 0.5 / n) / n + expected * (1 - expected) / n)
    is_wrong = wrong >= MIN_WRONG and far - expected > 2.3 * error
    yield Finding("iuf", "wrong_links", wrong, 0.0, n, UNDERSTATES if is_wrong else "")


def _scores(agreement: Evidence) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the scores of links by variable, and those of strangers, by weights from the other half of the links."""
    both = agreement.half, ~agreement.half
    if min(map(np.count_nonzero, both)) < MIN_LINKS:
        both = np.full(len(agreement.half), True), np.full(len(agreement.half), True)
    scores, others = [], np.zeros(agreement.strangers.shape)
    for own, strangers in agreement.levels.values():
        weights = [_weights(own[learnt], strangers[learnt]) for learnt in both]
        scores.append(np.where(both[0], weights[1][own], weights[0][own]))
        others += np.where(both[0][:, np.newaxis], weights[1][strangers], weights[0][strangers])
    return scores, others


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
    draws = mixed(puf.astype(np.uint64)[:, None] * np.uint64(STRANGERS) + np.arange(STRANGERS, dtype=np.uint64))
    place = (draws % np.maximum(sizes - 1, 1).astype(np.uint64)[:, None]).astype(np.int64)
    own = np.zeros(len(records.strata["eif"]), np.int64)
    own[groups.order] = np.arange(len(groups.order))  # those without a stratum come before the first bound
    place += place >= (own[eif] - groups.bounds[stratum])[:, None]
    rows = groups.order[np.minimum(groups.bounds[stratum][:, None] + place, len(groups.order) - 1)]
    return rows, sizes > 2


def _levels(values: Values, sides: tuple[str, str], rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return how far records of two files agree on a variable: 0 missing, 1 best, … worst."""
    one, other = sides
    if values.places is None:
        own, codes = values.codes[one][rows], values.codes[other][others]
        return np.where((own < 0) | (codes < 0), np.int8(0), 2 - (own == codes).astype(np.int8))
    distance = np.abs(values.places[one][rows] - values.places[other][others])
    levels = (~np.isnan(distance)).astype(np.int8)
    for least in _DISTANCES:  # faster than a search
        levels += distance > least
    return levels


def _weights(true: np.ndarray, strangers: np.ndarray) -> np.ndarray:
    """Return how much likelier each level is for links than for strangers, as a logarithm; 0 for a missing value."""
    k = len(_DISTANCES) + 2
    m, u = (np.bincount(levels.ravel(), minlength=k) + 0.5 for levels in (true, strangers))
    weights = np.log(m / m.sum()) - np.log(u / u.sum())
    weights[0] = 0
    return weights


class _Best(NamedTuple):
    """Scores of a sample of records of one file.

    Attributes
    ----------
    unlinked : the best in the other file, of records without a link
    twins : the best and the second best in their own file, of the same records; (n, 2)
    strangers : the best in the other file beside their partners, of records with a link
    partners : of their partners
    size : the records of the other file for each of this one
    """

    unlinked: np.ndarray
    twins: np.ndarray
    strangers: np.ndarray
    partners: np.ndarray
    size: float

    @property
    def missing(self) -> float:
        """The share of records without a link that have a partner by their scores; 0 if that may be chance.

        A partner scores as most, half or some true ones do. Chance is what records with a link have beside their
        partners, or what those without one have in their own file.
        """
        return max(map(self._missing, FITS))

    def _missing(self, fit: float) -> float:
        """Return the share by the scores that a share of partners have at least."""
        n, m = len(self.unlinked), len(self.strangers)
        if min(n, m, len(self.partners)) < MIN_LINKS:
            return 0.0
        own, beside, twins, here = self._shares(fit)
        usual = max(beside, 1 - (1 - twins) ** self.size)
        variance = max((here + usual) / 2 * (1 - (here + usual) / 2), 0.01)
        if own - usual < 0.15 or here - usual < max(4 * np.sqrt(2 * variance / n), 0.03):
            return 0.0
        return (here - usual) / (own - usual) if here - beside > 1.6 * np.sqrt(variance * (1 / n + 1 / m)) else 0.0

    @property
    def near_repeats(self) -> float:
        """The share of records without a link whose like is in their own file, by their scores; 0 if it may be chance.

        Chance is what records with a link have beside their partners, at the size of the own file. Records that are
        alike by chance, as rounded ones are, would have several, as drawn with equal probabilities (Poisson).
        """
        n = min(len(self.unlinked), len(self.strangers))
        if min(n, len(self.partners)) < MIN_LINKS:
            return 0.0
        own, beside, twins, _ = self._shares(FITS[0])
        usual, none = 1 - (1 - beside) ** (1 / self.size), max(1 - twins, 0.5 / n)
        several = float((self.twins[:, 1] >= np.quantile(self.partners, 1 - FITS[0])).mean())
        if several > MAX_SEVERAL * (1 - none * (1 - np.log(none))):
            return 0.0
        variance = max((twins + usual) / 2 * (1 - (twins + usual) / 2), 0.01)
        if own - usual < 0.15 or twins - usual < 4 * np.sqrt(2 * variance / n):
            return 0.0
        return min((twins - usual) / (own - usual), 1.0)

    def _shares(self, fit: float) -> list[float]:
        """Return how often partners, strangers, twins and records without a link score as a share of partners do."""
        low = np.quantile(self.partners, 1 - fit)
        sides = self.partners, self.strangers, self.twins[:, 0], self.unlinked
        return [float((one >= low).mean()) for one in sides]


def missing(records: Records, weights: Mapping[str, np.ndarray], exact: Sequence[str]) -> Iterator[Finding]:
    """Yield the share of records without a link whose best partner fits as true ones do: their links are missing.

    It is measured without the variables on which all links agree, `exact`, too: links may lack where they do not. Then,
    for each file, yield the share of records that have their like in it, as two waves in one file have.
    """
    lines, near = [], dict[str, tuple[float, int]]()
    others = {name: one for name, one in weights.items() if name not in exact}
    for side in OTHER:
        n_linked = len(np.unique(records.every_link[side]))
        n_unlinked = int((records.strata[side] >= 0).sum()) - n_linked
        best = _best(records, side, weights)
        share = best.missing
        if len(exact) >= MIN_EXACT and len(others) >= MIN_VARIABLES:
            share = max(share, _best(records, side, others).missing)
        severity = UNDERSTATES if share * n_unlinked > MIN_MISSING * n_linked else ""
        lines.append(Finding(side, "links_missing", share, 0.0, n_unlinked, severity))
        near[side] = best.near_repeats, n_unlinked
    yield max(lines, key=lambda line: (bool(line.severity), line.statistic))
    for side, (share, n) in near.items():
        usual = near[OTHER[side]][0]
        yield Finding(side, "near_repeats", share, usual, n, UNDERSTATES if share > usual + MIN_NEAR else "")


def _best(records: Records, side: str, weights: Mapping[str, np.ndarray]) -> _Best:
    """Score a sample of the records of a file against all of their stratum."""
    other, query = OTHER[side], records.queries[side]
    linked = np.isin(query, records.every_link[side])
    sizes = {file: np.diff(records.groups[file].bounds) for file in OTHER}
    inside = {file: max(int(sizes[file].sum()), 1) for file in OTHER}
    mean = max(float(sizes[other][records.strata[side][query]].mean()) if len(query) else 1.0, 1.0)
    most = int(np.clip(MAX_COMPARED / mean, 2 * MIN_LINKS, MAX_QUERIES))
    links = grouped(records.every_link[side], len(records.strata[side]))

    def score(rows: np.ndarray, file: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the two best scores of each record in a file beside its partners, or itself; and those of partners."""
        best, partners = np.full((len(rows), 2), -np.inf), [np.empty(0)]
        strata = records.strata[side][rows]
        for stratum in np.unique(strata).tolist():
            candidates, places = records.groups[file].members(stratum), np.flatnonzero(strata == stratum)
            distinct = {name: _distinct(records.variables[name], file, candidates) for name in weights}
            for at in np.array_split(places, -(-len(places) * len(candidates) // MAX_SCORES) or 1):
                scores = np.zeros((len(at), len(candidates)))
                for name, own in weights.items():
                    first, value = distinct[name]
                    scores += own[_levels(records.variables[name], (side, file), rows[at, None], first)][:, value]
                chosen, starts = links.several(rows[at])
                of, own = np.repeat(np.arange(len(at)), np.diff(starts)), records.every_link[other][chosen]
                if file == side:
                    of, own = np.arange(len(at)), rows[at]
                mine, there = np.zeros(scores.shape, bool), np.isin(own, candidates)
                mine[of[there], np.searchsorted(candidates, own[there])] = True
                partners.append(scores[mine])
                scores[mine] = -np.inf
                others = np.hstack([scores, np.full((len(at), 2), -np.inf)])
                best[at] = np.sort(np.partition(others, -2)[:, -2:])[:, ::-1]
        return best, np.concatenate(partners)

    unlinked = query[~linked][:most]
    beside, partners = score(query[linked][:most], other)
    size = inside[other] / inside[side]
    return _Best(score(unlinked, other)[0][:, 0], score(unlinked, side)[0], beside[:, 0], partners, size)


def _distinct(values: Values, file: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a row of some for each of their values, and the number of the value of each of them."""
    column = (values.codes if values.places is None else values.places)[file][rows]
    _, first, value = np.unique(column, return_index=True, return_inverse=True)
    return rows[first], value
