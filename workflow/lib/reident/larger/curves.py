"""The rates of an intruder with a larger file: observed with parts of the file, and extrapolated (METHODS §6.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtri, comb, ndtri

from reident.larger.rarity import Rarity, confirmation_chances, likely, rarity, smooth
from reident.larger.settings import ExtrapolationSettings

FITTED = ("confirmed_rate", "best_guess_rate")
"""The quantities that are extrapolated."""

QUANTITIES = (*FITTED, "suspected_rate", "conditional_rate", "expected_correct_rate")

MIN_CONFIRMED = 20
"""With fewer confirmed records no curve is fitted."""

FAR = 4
"""Standard errors by which the share of the PUF that the file holds may differ from the share of the population."""

DECIMALS = 4
"""Of estimates, which are then independent of the processor."""


EXACT_DECIMALS = 12
"""Of observed rates, which are means of a few fractions."""


class WholeFile(NamedTuple):
    """The records that are attacked with the whole external intruder file.

    Attributes
    ----------
    n_puf, n_eif : int
    n_linked : int
        PUF records with a true link to an EIF record of their stratum.
    n_confirmed : int
    rivals : int64 (keep + 1,)
        The linked records by their rivals.
    before : float64 (keep + 1,)
        The linked records by the rivals that come before the true link if equally good pairs are in random order: the
        mean over these orders.
    share : float
        The share of the population that the file holds; NaN without a link and without a population.
    status : str
        `ok`, or why no curve is fitted.
    """

    n_puf: int
    n_eif: int
    n_linked: int
    n_confirmed: int
    rivals: np.ndarray
    before: np.ndarray
    share: float
    status: str

    def linked(self, times: float, population: int | None) -> float:
        """Return the share of the PUF records whose people are in a file of this multiple of the size."""
        linked_share = self.n_linked / self.n_puf
        if times <= 1 or population is None or not self.consistent:
            return min(1.0, linked_share * times)
        return linked_share + (1 - linked_share) * (times - 1) * self.share / (1 - self.share)

    @property
    def consistent(self) -> bool:
        """Whether the file holds the same share of the PUF as of the population, sampling aside."""
        error = math.sqrt(self.share * (1 - self.share) / self.n_puf) if 0 < self.share < 1 else 0.0
        return abs(self.n_linked / self.n_puf - self.share) <= FAR * error


def extrapolate(settings: ExtrapolationSettings, counts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rates of each metric by the size of the external intruder file.

    Parameters
    ----------
    counts : mapping of pandas.DataFrame
        By metric, as :func:`reident.larger.thinning.thin` leaves them.

    Returns
    -------
    pandas.DataFrame
        The columns of `larger/rates.csv`: by metric, quantity and size. ``observed`` is the mean over the draws of this
        size, and ``estimate`` the fitted curve with its interval beyond the size of the file; rates are fractions,
        missing where undefined or not estimated.
    """
    lines: list[dict[str, Any]] = []
    for metric in settings.metrics:
        table = counts[metric]
        ranked = settings.limits[metric] is not None
        at_sizes = observed(table, ranked=ranked)
        file = describe(settings, metric, table)
        for quantity in QUANTITIES:
            status = "observed"
            curve: list[dict[str, Any] | None] = [None] * len(at_sizes)
            if quantity in FITTED:
                fitted, limit, status = file.rivals, settings.limits[metric] or 1, file.status
                if quantity == "best_guess_rate":
                    # Unicity, which does not rank its candidates, has one curve.
                    status = file.status if ranked else "unranked"
                    fitted, limit = file.before, 1
                times = [*at_sizes["times"], *_sizes(settings, file)]
                curve = list(_curve(settings, file, fitted, limit, status, times))
            for at, estimate in enumerate(curve):
                line: dict[str, Any] = {"metric": metric, "quantity": quantity, "status": status}
                if at < len(at_sizes):
                    row = at_sizes.iloc[at]
                    line |= {"times": row["times"], "n_eif": row["n_eif"], "draws": row["draws"]}
                    line["observed"] = row[quantity]
                lines.append(line | (estimate or {}))
    return pd.DataFrame(lines)


def describe(settings: ExtrapolationSettings, metric: str, table: pd.DataFrame) -> WholeFile:
    """Count the records that are attacked with the whole file, and tell whether a curve can be fitted."""
    records = table[table["share"] == 1]
    linked = records[records["held"] == 1]
    n_puf, n_eif = int(records["n_records"].sum()), int(records["n_eif"].iloc[0])
    n_linked = int(linked["n_records"].sum())
    n_confirmed = int(linked.loc[linked["links"] > 0, "n_records"].sum())
    rivals = np.bincount(linked["rivals"], linked["n_records"], minlength=settings.keep + 1).astype(np.int64)
    before = _rivals_before(linked, settings.keep)
    share = n_eif / settings.population if settings.population else n_linked / n_puf
    if metric in settings.fixed:
        status = "size_dependent"
    elif n_confirmed < MIN_CONFIRMED:
        status = "too_few"
    elif share >= 1:
        status = "whole_population"
    else:
        status = "ok"
    return WholeFile(n_puf, n_eif, n_linked, n_confirmed, rivals, before, share, status)


def _rivals_before(linked: pd.DataFrame, keep: int) -> np.ndarray:
    """Count the linked records by the rivals before the true link: the mean over the orders of equal pairs."""
    before = np.zeros(keep + 1)
    for rivals, better, n_links, n in linked[["rivals", "better", "own", "n_records"]].itertuples(index=False):
        if not n_links:
            before[keep] += n
            continue
        equal = rivals - better
        at = np.arange(equal + 1)
        before[better + at] += n * comb(equal - at + n_links - 1, n_links - 1) / comb(equal + n_links, n_links)
    return before


def observed(table: pd.DataFrame, *, ranked: bool) -> pd.DataFrame:
    """Return the rates of each size that was drawn, the mean over its draws, the smallest first.

    The columns are times, n_eif, draws and :data:`QUANTITIES`; rates are fractions, missing where nothing is suspected.
    If the metric does not rank its candidates, a guess is among all of them.
    """
    rows = []
    for (share, _), group in table.groupby(["share", "draw"]):
        n = group["n_records"]
        n_puf, suspected = int(n.sum()), int(n[group["candidates"] > 0].sum())
        confirmed = int(n[group["links"] > 0].sum())
        right = math.fsum((n * group["links"] / group["candidates"].clip(lower=1)).tolist())
        best = math.fsum(
            (n * group["own"] / (group["rivals"] + group["own"]).clip(lower=1))[group["better"] == 0].tolist()
        )
        rows.append(
            {
                "times": share,
                "n_eif": int(group["n_eif"].iloc[0]),
                "draws": 1,
                "confirmed_rate": confirmed / n_puf,
                "best_guess_rate": best / n_puf if ranked else right / n_puf,
                "suspected_rate": suspected / n_puf,
                "conditional_rate": confirmed / suspected if suspected else math.nan,
                "expected_correct_rate": right / suspected if suspected else math.nan,
            }
        )
    draws = pd.DataFrame(rows).groupby(["times", "n_eif"], as_index=False)
    means = draws.agg({"draws": "sum", **dict.fromkeys(QUANTITIES, "mean")})
    return means.round(dict.fromkeys(QUANTITIES, EXACT_DECIMALS))


def _sizes(settings: ExtrapolationSettings, file: WholeFile) -> list[float]:
    """Return the multiples of the file that are asked for, and that of the whole population where the study has one."""
    population_multiple = settings.population / file.n_eif if settings.population else 0.0
    return sorted({*settings.times, *([population_multiple] if population_multiple > 1 else [])})


def _curve(
    settings: ExtrapolationSettings, file: WholeFile, counts: np.ndarray, limit: int, status: str, times: list[float]
) -> Iterator[dict[str, Any] | None]:
    """Yield the estimate at each multiple of the file, with its interval beyond the file.

    `counts` are the linked records by the rivals that count for the quantity, float64 (keep + 1,); a record is found if
    it has fewer of them than `limit`.
    """
    if status != "ok":
        for multiple in times:
            beyond = {"times": multiple, "n_eif": round(multiple * file.n_eif)}
            yield beyond if multiple > 1 else None
        return
    rarity_ = rarity(counts, file.share)
    weight = smooth(rarity_)
    for multiple in times:
        line: dict[str, Any] = {}
        if multiple > 1:
            line = {"times": multiple, "n_eif": round(multiple * file.n_eif)}
        if multiple * file.share > 1 + 1e-9:
            yield line | {"status": "beyond_population"}
            continue
        yield line | _estimate(settings, file, limit, rarity_, weight, multiple)


def _estimate(
    settings: ExtrapolationSettings, file: WholeFile, limit: int, rarity_: Rarity, weight: np.ndarray, times: float
) -> dict[str, float]:
    """Return the rate with a file of a multiple of the size, and its interval where that is above 1."""
    linked = file.linked(times, settings.population)
    values = confirmation_chances(rarity_, times * file.share, limit)
    estimate = linked * float(values @ weight)
    if times <= 1:
        return {"estimate": round(estimate, DECIMALS)}
    low, high = likely(rarity_, values, float(chdtri(1, 1 - settings.level)) / 2)
    # The larger file is a draw, too; without a population, the share that the file holds is itself an estimate.
    spread = estimate * (1 - estimate) / file.n_puf
    if settings.population is None:
        spread += estimate**2 * (1 - file.share) / file.n_linked
    reach = float(-ndtri((1 - settings.level) / 2)) * math.sqrt(spread)
    below, above = max(estimate - linked * low, 0.0), max(linked * high - estimate, 0.0)
    ends = max(0.0, estimate - math.hypot(below, reach)), min(1.0, estimate + math.hypot(above, reach))
    return {
        "estimate": round(estimate, DECIMALS),
        "low": round(min(ends[0], estimate), DECIMALS),
        "high": round(max(ends[1], estimate), DECIMALS),
    }
