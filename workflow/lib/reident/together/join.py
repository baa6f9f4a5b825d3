"""The intruder who holds several files: the rates for any, all and exactly k of them (METHODS §6.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake.records import PERSON
from reident.linkage import batches
from reident.linkage.agreement_of_metrics import count, of_at_least
from reident.linkage.cluster_sums import Clusters
from reident.linkage.links import among
from reident.linkage.rates import SumsByStratum, conditional_rates, count_pairs, rates_of, shares
from reident.linkage.settings import AGREEMENT, ALL, ANY, EXACTLY, ONE, WHOLE, JoiningSettings
from reident.linkage.strata import read_stratum_of_records

if TYPE_CHECKING:
    from reident.linkage.batches import Source


class Claims(NamedTuple):
    """The results of the attacks with each of k files, by PUF record of a metric; all arrays are (k, n_puf).

    The candidates and the true links among them; the same of the best rank; and the best score, the smaller the better,
    infinite without a candidate.
    """

    candidates: np.ndarray
    links: np.ndarray
    best: np.ndarray
    best_links: np.ndarray
    score: np.ndarray


def join(
    settings: JoiningSettings,
    released: Sequence[Source],
    strata: Source,
    manifest: pd.DataFrame,
    pairs: Mapping[str, Sequence[Source]],
    persons: Sequence[pa.ChunkedArray] = (),
    clusters: Source | None = None,
) -> pd.DataFrame:
    """Compute the rates of an intruder who holds several files, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    released : sequence of Source
        The prepared PUF of the study, and that of the attack with each of its files.
    pairs : mapping of sequences of Source
        By metric and file.
    persons : sequence of pyarrow.ChunkedArray
        By file, the person of each EIF record as text, null for none; empty where files do not name persons.

    Returns
    -------
    pandas.DataFrame
        The columns of `together/rates.csv`; counts are of distinct PUF records, rates fractions in [0, 1], missing
        where undefined.

    Raises
    ------
    InputError
        If an attack has other released records, or the same in other strata.
    """
    check_released(settings, released)
    n_strata = len(manifest)
    stratum = read_stratum_of_records(strata, n_strata)
    n_puf = np.append(len(stratum), manifest["n_puf"].to_numpy(np.int64))
    spread = None
    if settings.rates.interval == "clustered" and clusters is not None and batches.size(clusters):
        spread = Clusters(clusters, strata, n_strata)
    codes = _numbers(persons) if len(persons) else []
    names, tables = np.array([WHOLE, *manifest["stratum"]], object), []
    for metric, sources in pairs.items():
        claims = claims_of(sources, len(stratum), low_is_best=settings.low_is_best.get(metric, False))
        joined = _JoinedRates(settings, stratum, n_puf, spread)
        shared = corroborated(sources, codes, len(stratum)) if codes else None
        rates = pd.concat(joined.tabulate(claims, shared)).sort_index(kind="stable")
        tables.append(rates.assign(metric=metric, stratum=names[rates.index]))
    return pd.concat(tables, ignore_index=True)


def by_metric(settings: JoiningSettings, pairs: Sequence[Source]) -> dict[str, Sequence[Source]]:
    """Return the pairs of each file by metric, and those that at least 2, 3, … of several metrics suspect.

    The pairs of a metric follow one another.
    """
    k, m = len(settings.files), len(settings.low_is_best)
    found = {metric: pairs[at * k : (at + 1) * k] for at, metric in enumerate(settings.low_is_best)}
    counted = [count({metric: found[metric][at] for metric in found}) for at in range(k if m > 1 else 0)]
    return found | {
        f"{AGREEMENT}_{number}": [of_at_least(file, number) for file in counted] for number in range(2, m + 1)
    }


def persons(settings: JoiningSettings, prepared: Sequence[Source]) -> list[pa.ChunkedArray]:
    """Return the person of each record of the prepared EIFs; nothing where the files do not name persons."""
    return [batches.column(eif, PERSON) for eif in prepared] if settings.person else []


def check_released(settings: JoiningSettings, released: Sequence[Source]) -> None:
    """Refuse attacks on other released records than those of the study."""
    for label, variant in zip(settings.files, released[1:], strict=True):
        for name in settings.released:
            column = batches.column(released[0], name)
            if len(column) != batches.size(variant) or not column.equals(batches.column(variant, name)):
                raise InputError(
                    f"`together`: the variant `{label}` must have the released records of the study, with their keys "
                    "and strata. Vary the external file and its links only."
                )


def claims_of(sources: Sequence[Source], n: int, *, low_is_best: bool) -> Claims:
    """Return the results with each file, by PUF record, of `n`, from the confirmed pairs of each file."""
    shape = len(sources), n
    counted = [np.zeros(shape, np.int32) for _ in range(4)]
    claims = Claims(counted[0], counted[1], counted[2], counted[3], np.full(shape, np.inf))
    for at, source in enumerate(sources):
        for batch in batches.merge([source]):
            record, counts = count_pairs(batch)
            names = ("pairs", "confirmed", "best", "best_confirmed")
            for name, values in zip(names, claims, strict=False):
                values[at, record] = counts[name]
            claims.score[at, record] = counts["score"] if low_is_best else -counts["score"]
    return claims


def corroborated(sources: Sequence[Source], persons: Sequence[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the PUF records, of `n`, with the same person among the candidates of at least two files.

    Parameters
    ----------
    sources : sequence of Source
        As in :func:`claims_of`.
    persons : sequence of int64 (n_eif,)
        By file, the number of the person of each EIF record, the same in all files; -1 for none.

    Returns
    -------
    shared, right : bool (n,), bool (n,)
        Whether there is such a person; whether one of them is the true one, by a true link in any of the files.
    """
    width = 1 + max(int(person.max(initial=-1)) for person in persons)
    claimed, true = [], []
    for source, person in zip(sources, persons, strict=True):
        numbers, links = [], []
        for batch in batches.split(source, columns=["puf", "eif", "confirmed"]):
            puf, eif, confirmed = (batch[name].to_numpy() for name in ("puf", "eif", "confirmed"))
            number = puf.astype(np.int64) * width + person[eif]
            numbers.append(number[person[eif] >= 0])
            links.append(number[confirmed & (person[eif] >= 0)])
        claimed.append(_distinct(np.concatenate(numbers)))
        true.append(np.concatenate(links))
    number = np.sort(np.concatenate(claimed))
    number = _distinct(number[1:][number[1:] == number[:-1]])
    shared, right = np.zeros(n, bool), np.zeros(n, bool)
    shared[number // width] = True
    right[number[among(_distinct(np.concatenate(true)), number)] // width] = True
    return shared, right


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Return the different numbers, ascending: sorting takes a fraction of the time of numpy's `unique`."""
    numbers = np.sort(numbers)
    return numbers[batches.is_new(numbers)]


def _numbers(persons: Sequence[pa.ChunkedArray]) -> list[np.ndarray]:
    """Return a number for each person, the same in all files; -1 for none. The order of the numbers means nothing."""
    texts = pa.concat_arrays([chunk for column in persons for chunk in column.chunks])
    numbers = pc.fill_null(texts.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    return np.split(numbers.astype(np.int64), np.cumsum([len(column) for column in persons])[:-1])


class _JoinedRates:
    """The rates of one metric with several files, of the whole study and each stratum, by the files."""

    def __init__(
        self, settings: JoiningSettings, stratum: np.ndarray, n_puf: np.ndarray, spread: Clusters | None
    ) -> None:
        self._settings, self._n_puf, self._clusters = settings, n_puf, spread
        self._stratum = stratum
        self._by_stratum = SumsByStratum(stratum, len(n_puf) - 1)

    def tabulate(self, claims: Claims, shared: tuple[np.ndarray, np.ndarray] | None) -> list[pd.DataFrame]:
        """Return the tables of each file alone, any, all, and exactly 1, 2, … of them."""
        is_suspected, is_confirmed = claims.candidates > 0, claims.links > 0
        suspected, confirmed = is_suspected.sum(axis=0), is_confirmed.sum(axis=0)
        k = len(self._settings.files)
        lines = []
        for at, label in enumerate(self._settings.files):
            guesses = self._guesses(Claims(*(values[at : at + 1] for values in claims)))
            lines.append((ONE, label, self._rates(is_suspected[at], is_confirmed[at], guesses)))
        more = self._guesses(claims) | ({} if shared is None else self._corroborated(*shared))
        lines.append((ANY, "", self._rates(suspected > 0, confirmed > 0, more)))
        lines.append((ALL, "", self._rates(suspected == k, confirmed == k)))
        lines += [
            (EXACTLY, str(number), self._counts(suspected == number, confirmed == number)) for number in range(1, k + 1)
        ]
        return [pd.DataFrame({"files": files, "label": label, **columns}) for files, label, columns in lines]

    def _counts(self, suspected: np.ndarray, confirmed: np.ndarray) -> dict[str, np.ndarray]:
        counts = self._by_stratum.sum(suspected), self._by_stratum.sum(confirmed)
        return {"n_puf": self._n_puf, **rates_of(self._n_puf, *counts)}

    def _rates(
        self, suspected: np.ndarray, confirmed: np.ndarray, more: Mapping[str, np.ndarray] | None = None
    ) -> dict[str, np.ndarray]:
        """Return the rates of suspected and confirmed records, and of guesses about them."""
        counts = self._counts(suspected, confirmed)
        n_suspected, n_confirmed = counts["n_suspected"], counts["n_confirmed"]
        spreads = [] if self._clusters is None else self._clusters.spreads(suspected, confirmed)
        counts |= conditional_rates(self._settings.rates, n_suspected, n_confirmed, spreads)
        for name, values in (more or {}).items():
            counts[name] = values
            if name.endswith("_correct"):
                counts[f"{name}_rate"] = shares(values, n_suspected)
        return counts

    def _guesses(self, claims: Claims) -> dict[str, np.ndarray]:
        """Return the expected correct guesses by the file whose best candidate has the best score, ties at random."""
        is_best = (claims.candidates > 0) & (claims.score == claims.score.min(axis=0))
        file, record = np.nonzero(is_best)
        ties = is_best.sum(axis=0)[record]
        by_stratum = SumsByStratum(self._stratum[record], len(self._n_puf) - 1)
        # Of t links among c candidates in one of m such files: t / (c·m).
        return {
            "expected_correct": by_stratum.expected_correct(
                claims.candidates[file, record] * ties, claims.links[file, record]
            ),
            "best_rank_correct": by_stratum.expected_correct(
                claims.best[file, record] * ties, claims.best_links[file, record]
            ),
        }

    def _corroborated(self, shared: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
        n_shared, n_right = self._by_stratum.sum(shared), self._by_stratum.sum(right)
        return {
            "n_corroborated": n_shared,
            "n_corroborated_confirmed": n_right,
            "corroborated_rate": shares(n_shared, self._n_puf),
            "corroborated_confirmed_rate": shares(n_right, n_shared),
        }
