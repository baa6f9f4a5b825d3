"""What an intruder learns about persons, how often it is right, and what a guess would get right (METHODS §14)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage.attack import compare, suspect
from reident.linkage.batches import is_new
from reident.linkage.metrics.contract import ScoringContext, progress_of_share
from reident.linkage.settings import WHOLE
from reident.values.agreeing import agree, agree_numbers, modes, n_agreeing
from reident.values.prepare import Prepared
from reident.values.settings import EVERYONE, UNUSUAL, ValuesSettings

BUDGET = 2**24
"""Pairs that are scored at a time: the memory that they take. No result depends on it."""

GUESSES = ("modal", "proportional")
"""The guesses that the precision is compared with."""


class Learnt(NamedTuple):
    """The rates of confirmation by values, and the strata."""

    rates: pd.DataFrame
    strata: pd.DataFrame


class Claims(NamedTuple):
    """The claims of one metric about each external record; int64 (n,).

    Attributes
    ----------
    candidates : the released records of the best rank
    complete : those with a value of every variable that is learnt, that agree with the external record on what must
    right : those of the latter with the values of the person
    """

    candidates: np.ndarray
    complete: np.ndarray
    right: np.ndarray


def confirm(settings: ValuesSettings, prepared: Prepared, context: ScoringContext, budget: int = BUDGET) -> Learnt:
    """Confirm what every metric claims about persons by their values.

    Returns
    -------
    Learnt
        ``rates``: a line for each metric, stratum (``ALL`` first) and group of people; ``strata``: a line for each
        stratum.
    """
    guesses, agrees = _guesses(settings, prepared)
    is_usual = guesses["modal"] > 0
    stratum, n_strata = prepared.stratum_of_external, len(prepared.files.manifest)
    is_known = prepared.people.group >= 0
    lines = list[dict[str, object]]()
    for name, claims in _claims(settings, prepared, context, budget):
        with np.errstate(invalid="ignore"):
            shares = {
                "putative": np.where(claims.candidates > 0, claims.complete / claims.candidates, 0.0),
                "confirmed": np.where(claims.candidates > 0, claims.right / claims.candidates, 0.0),
            }
        shares |= {guess: shares["putative"] * (right * agrees) for guess, right in guesses.items()}
        for group, people in ((EVERYONE, is_known), (UNUSUAL, is_known & ~is_usual)):
            sums = {column: _sums(values[people], stratum[people], n_strata) for column, values in shares.items()}
            counts = np.bincount(stratum[people], minlength=n_strata)
            lines += _lines(name, group, prepared.files.manifest["stratum"], counts, sums, settings.level)
    order = ["metric", "stratum", "people", "n_persons"]
    table = pd.DataFrame(lines)
    first = (table["stratum"] != WHOLE).to_numpy()
    metric = table["metric"].map(list(settings.search.metrics).index).to_numpy()
    table = table.iloc[np.lexsort((np.arange(len(table)), first, metric))].reset_index(drop=True)
    return Learnt(table[[*order, *table.columns.drop(order)]], _strata(prepared, is_known))


def _guesses(settings: ValuesSettings, prepared: Prepared) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the chance that each guess of the learnt values is right about each external record; float64 (n,).

    Of the variables that must agree too a guess has those of the external record; second, whether they do; bool (n,).
    """
    people = prepared.people
    stratum = prepared.stratum_of_external
    common, common_stratum = modes(prepared.confidential, prepared.stratum["iuf"])
    agrees = np.ones(len(stratum), bool)
    for name, (_, external, true) in prepared.beside.items():
        agrees &= agree_numbers(external, true, settings.within[name])
    made = {}
    for guess, others, of_others in (
        ("modal", common, common_stratum),
        ("proportional", prepared.confidential, prepared.stratum["iuf"]),
        ("unlinked", prepared.released, prepared.stratum["puf"]),
    ):
        known = of_others[others.group >= 0]
        size = np.bincount(known[known >= 0], minlength=len(prepared.files.manifest))
        n = np.append(size, 0)[stratum]
        number = n_agreeing(people, others, settings.tolerances)
        made[guess] = np.where(n > 0, number / np.maximum(n, 1), 0.0)
    return made, agrees


def _claims(
    settings: ValuesSettings, prepared: Prepared, context: ScoringContext, budget: int
) -> Iterator[tuple[str, Claims]]:
    """Yield the claims of each metric."""
    search, share = settings.search, 1 / len(settings.search.metrics)
    largest = int(prepared.files.manifest["n_eif"].max())
    kept = max(1, min(search.keep, largest))
    search = dataclasses.replace(search, keep=kept, max_pairs=kept)
    compared = compare(search, prepared.files, context.threads)
    for at, name in enumerate(search.metrics):
        job = context._replace(progress=progress_of_share(context.progress, at * share, share))
        counts = np.zeros((3, len(prepared.people.group)), np.int64)
        for pairs in suspect(search, name, prepared.files, compared, job, budget=budget):
            _count(settings, prepared, pairs, counts)
        yield name, Claims(*counts)


def _count(settings: ValuesSettings, prepared: Prepared, pairs: pa.Table, counts: np.ndarray) -> None:
    """Add the candidates of the best rank; the pairs of a record follow one another, best first."""
    pairs = pairs.filter(pc.is_valid(pairs["eif"]))
    person, released = (pairs[name].to_numpy().astype(np.int64) for name in ("puf", "eif"))
    rank = pairs["order" if "order" in pairs.column_names else "rank"].to_numpy()
    new = is_new(person)
    start = np.flatnonzero(new)
    best = rank == rank[start][np.cumsum(new) - 1] if len(rank) else np.zeros(0, bool)
    person, released = person[best], released[best]
    people, values = prepared.people.take(person), prepared.released.take(released)
    complete, right = values.group >= 0, agree(people, values, settings.tolerances)
    for name, (of_released, external, true) in prepared.beside.items():
        own, within = of_released[released], settings.within[name]
        complete &= agree_numbers(own, external[person], within)
        right &= agree_numbers(own, true[person], within)
    chosen = (slice(None), complete, complete & right)
    counts += np.stack([np.bincount(person[rows], minlength=counts.shape[1]) for rows in chosen])


def _sums(values: np.ndarray, stratum: np.ndarray, n_strata: int) -> np.ndarray:
    """Return the sum of each stratum, in the order of the values, so that it does not depend on that of the records."""
    order = np.argsort(values, kind="stable")
    return np.bincount(stratum[order], values[order], n_strata)


def _lines(
    metric: str, people: str, names: pd.Series, counts: np.ndarray, sums: Mapping[str, np.ndarray], level: float
) -> Iterator[dict[str, object]]:
    """Yield the lines of a group of people: the whole study, then every stratum with one of them."""
    whole = {column: math.fsum(values.tolist()) for column, values in sums.items()}
    line = _line(int(counts.sum()), whole)
    guess = max(GUESSES, key=lambda name: whole[name])
    low, high = _interval(sums["putative"], sums["confirmed"] - sums[guess], level)
    yield {"metric": metric, "stratum": WHOLE, "people": people, **line, "excess_low": low, "excess_high": high}
    for at in np.flatnonzero(counts):
        own = _line(int(counts[at]), {column: float(sums[column][at]) for column in whole})
        yield {"metric": metric, "stratum": names[at], "people": people, **own}


def _line(n: int, sums: Mapping[str, float]) -> dict[str, float]:
    def rate(value: float) -> float:
        return value / sums["putative"] if sums["putative"] else math.nan

    rates = {guess: rate(sums[guess]) for guess in (*GUESSES, "unlinked")}
    precision, guess = rate(sums["confirmed"]), max(rates[name] for name in GUESSES)
    return {
        "n_persons": n,
        "putative": sums["putative"],
        "confirmed": sums["confirmed"],
        "precision": precision,
        **rates,
        "guess": guess,
        "excess": precision - guess,
    }


def _interval(putative: np.ndarray, excess: np.ndarray, level: float) -> tuple[float, float]:
    """Return the interval of an excess, the strata with a claim being independent; NaN with fewer than two of them."""
    chosen = putative > 0
    n, total = int(chosen.sum()), math.fsum(putative.tolist())
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # noqa: PLC0415 - a step without an interval does not wait for it

    rate = math.fsum(excess.tolist()) / total
    squares = math.fsum(((excess[chosen] - rate * putative[chosen]) ** 2).tolist())
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(squares * n / (n - 1)) / total
    return max(-1.0, rate - reach), min(1.0, rate + reach)


def _strata(prepared: Prepared, is_known: np.ndarray) -> pd.DataFrame:
    """Return the strata with the records of each file, and the persons whose claims can be confirmed."""
    manifest, n = prepared.files.manifest, len(prepared.files.manifest)
    confidential = prepared.stratum["iuf"]
    stratum = prepared.stratum_of_external
    renamed = manifest.rename(columns={"n_puf": "n_external", "n_eif": "n_released"})
    return renamed.drop(columns=["n_links", "pairs"]).assign(
        n_confidential=np.bincount(confidential[confidential >= 0], minlength=n),
        n_persons=np.bincount(stratum[is_known], minlength=n),
    )
