"""What a pair metric is: its options, what it reads, and the pairs that it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from reident.sections.base import Section

if TYPE_CHECKING:
    from pathlib import Path

    from reident.linkage.pairing import Pairing
    from reident.sections.linkage import LinkingVariable

OptionsT = TypeVar("OptionsT", bound=Section)


class Scored(NamedTuple):
    """The suspected pairs of one stratum (or of a block of its PUF records) that scoring keeps.

    Attributes
    ----------
    puf, eif : int64 (m,)
        Positions in the pairing, sorted by puf, then best first, then eif.
    score : float64 (m,)
        The pair score as METHODS §4 defines it; for unicity the order of the interaction.
    crowded : bool (n_puf,)
        Records whose best score alone is shared by more than ``keep`` pairs: nothing of them is kept.
    variables : uint64 (m,) or None
        Unicity only: the linking variables of the first smallest interaction, bit j for variable j.
    """

    puf: np.ndarray
    eif: np.ndarray
    score: np.ndarray
    crowded: np.ndarray
    variables: np.ndarray | None = None


class Setting(NamedTuple):
    """What scoring needs beside the pairs.

    ``any_missing`` says whether any linking value of either whole file is missing (METHODS §4.1, `auto`);
    ``functions`` are the files of a study's own scoring functions.
    """

    keep: int
    threads: int = 1
    any_missing: bool = False
    functions: tuple[Path, ...] = ()
    progress: Callable[[float], None] | None = None


def _fits_any(options: Any, variables: tuple[LinkingVariable, ...]) -> None:
    """Options that go with whatever linking variables a study has."""


class Metric(NamedTuple, Generic[OptionsT]):
    """One entry of the registry.

    Attributes
    ----------
    options : type[Section]
        The section ``metrics.{name}`` of the study file.
    reads : {'binned', 'prepared'}
        The table that the metric compares.
    ranked : bool
        Whether the rank filter applies; if not, the result has ``order`` in place of ``score`` and ``rank``.
    best : {'low', 'high'}
        The better end of the score.
    score : callable
        ``score(pairing, options, setting) -> Scored``.
    check : callable
        ``check(options, variables)`` raises a `ValueError` of one sentence where the options do not fit
        the linking variables of the study.
    splits : bool
        Whether a stratum may be scored in blocks of PUF records (not where a record's result depends
        on the other records of its file).
    """

    name: str
    title: str
    options: type[OptionsT]
    reads: Literal["binned", "prepared"]
    ranked: bool
    best: Literal["low", "high"]
    score: Callable[[Pairing, OptionsT, Setting], Scored]
    check: Callable[[OptionsT, tuple[LinkingVariable, ...]], None] = _fits_any
    splits: bool = True
