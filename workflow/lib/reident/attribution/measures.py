"""The measures of attribute disclosure for one set of keys, one target and one released file (METHODS §12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reident.kernels import attributes as kernel
from reident.kernels.attributes import Disclosures
from reident.linkage import sums

NAN = float("nan")


class Measures(NamedTuple):
    """The disclosures of one target by one released file to an intruder who knows one set of keys.

    `columns.csv` says what each measures. Rates are in [0, 1], and NaN where no record is
    counted. A measure of other persons or of the holdout is NaN if the released records of the same persons are not
    known, or if there is no holdout.
    """

    n_original: float
    n_released: float
    uio: float
    uis: float
    uiois: float
    repu: float
    dorig: float
    dsyn: float
    matched: float
    disclosive: float
    disclosive_guess: float
    disco: float
    disdio: float
    tcap: float
    cap: float
    cap_matched: float
    guess: float
    cap_original: float
    cap_true_others: float
    disco_others: float
    cap_others: float
    guess_others: float
    n_holdout: float
    disco_holdout: float
    cap_holdout: float
    guess_holdout: float


def measure(disclosure: Disclosures, *, linked: bool) -> Measures:
    """Measure the counts of a kernel; ``linked``: the released records of the same persons are known."""
    counts = [int(count) for count in disclosure.counts]
    n, m, n_holdout = counts[kernel.N_ORIGINAL], counts[kernel.N_RELEASED], counts[kernel.N_HOLDOUT]

    def share(place: int, of: int = n) -> float:
        return counts[place] / of if of else NAN

    def mean(row: int, of: int = n) -> float:
        return sums.of_shares(disclosure.sums[row]) / of if of else NAN

    n_others = n if linked else 0
    return Measures(
        n_original=n,
        n_released=m,
        uio=share(kernel.UIO),
        uis=share(kernel.UIS, m),
        uiois=share(kernel.UIOIS),
        repu=share(kernel.REPU),
        dorig=share(kernel.DORIG),
        dsyn=share(kernel.DSYN, m),
        matched=share(kernel.IS),
        disclosive=share(kernel.DIS),
        disclosive_guess=mean(kernel.DIS_GUESS),
        disco=share(kernel.DISCO),
        disdio=share(kernel.DISDIO),
        tcap=mean(kernel.TCAP, counts[kernel.N_TARGETED]),
        cap=mean(kernel.CAP),
        cap_matched=mean(kernel.CAP, counts[kernel.IS]),
        guess=mean(kernel.GUESS),
        cap_original=mean(kernel.CAP_ORIGINAL),
        cap_true_others=mean(kernel.CAP_TRUE_OTHERS),
        disco_others=share(kernel.DISCO_OTHERS, n_others),
        cap_others=mean(kernel.CAP_OTHERS, n_others),
        guess_others=mean(kernel.GUESS_OTHERS, n_others),
        n_holdout=n_holdout,
        disco_holdout=share(kernel.DISCO_HOLDOUT, n_holdout),
        cap_holdout=mean(kernel.CAP_HOLDOUT, n_holdout),
        guess_holdout=mean(kernel.GUESS_HOLDOUT, n_holdout),
    )


def mean_of(files: Sequence[Measures]) -> Measures:
    """Return the mean over released files; each measure over the files in which it is defined."""
    return Measures(*map(sums.mean_of_known, zip(*files, strict=True)))
