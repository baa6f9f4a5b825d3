"""The contract of a pair metric: its options, the table that it reads, and the pairs that it returns.

One word for each thing. The *cost* of a variable is its contribution to a pair, the lower the better. The *level* of a
pair is the whole number by which a kernel compares pairs, made of the costs, the lowest first. The *score* of a pair is
the number of METHODS §4, which a metric makes from the level; tables have scores alone. A *comparison level* is how two
values agree (METHODS §4.6), and a *rank* is the place of a score among those of a record (METHODS §5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from reident.sections.base import Section

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from reident.kernels.unit_costs import Rules
    from reident.linkage.pairing import Pairing
    from reident.linkage.settings import Variable
    from reident.linkage.unit_pairing import UnitPairing
    from reident.sections.linkage import LinkingVariable

    Variables = Sequence[Variable | LinkingVariable]
    """The linking variables, as the attack or as the study file has them."""

OptionsT = TypeVar("OptionsT", bound=Section)

OF_GROUPS = 1e-10
"""The cost of a pair for a metric whose kernel excludes whole groups of records."""

MAX_SMALL = 64
"""Records of both files up to which a stratum is small: it is faster to compare its pairs than to prepare a search."""


Progress = Callable[[float], None]
"""Takes the share of the work that is done."""


def progress_of_share(progress: Progress | None, done: float, share: float) -> Progress | None:
    """Return a progress for a share of the work that begins after `done`, which reports it as progress of all."""
    return None if progress is None else lambda of_share: progress(done + share * of_share)


class Scored(NamedTuple):
    """The suspected pairs of one stratum (or of a block of its PUF records) that scoring keeps.

    Attributes
    ----------
    puf, eif : int64 (m,)
        Positions in the pairing, sorted by puf, then best first, then eif. Ranks follow this order, whichever end of
        the score is the better one, which may depend on the options.
    score : float64 (m,)
        The pair score as METHODS §4 defines it; for unicity the order of the interaction.
    ambiguous : bool (n_puf,)
        Records whose best score is shared by more than ``keep`` pairs; none of their pairs are kept.
    variables : uint64 (m,) or None
        Unicity only: the linking variables of the first smallest interaction, bit j for variable j.
    own_score : float64 (m,) or None
        Of units, their score; they are ranked by `score`, that of records with as much evidence (METHODS §4.7).
    following : Following or None
        What follows the best rank of each PUF record; None where the pairs tell, because all are kept.
    suspected : bool (m,) or None
        Which pairs are suspected, where a metric gives others too, see `claims` of :class:`ScoringContext`; None: all.
    """

    puf: np.ndarray
    eif: np.ndarray
    score: np.ndarray
    ambiguous: np.ndarray
    variables: np.ndarray | None = None
    own_score: np.ndarray | None = None
    following: Following | None = None
    suspected: np.ndarray | None = None


class Following(NamedTuple):
    """The rank after the best one of each PUF record, whether its pairs are kept or not (METHODS §6.7).

    Attributes
    ----------
    score : float64 (n_puf,)
        The score of its pairs; any number where there is none.
    number : int64 (n_puf,)
        How many pairs it has; 0 if there is none.
    """

    score: np.ndarray
    number: np.ndarray


def scored(pairs: Any, score_of: Callable[[np.ndarray], np.ndarray], own_score: np.ndarray | None = None) -> Scored:
    """Return the best pairs of a kernel, of records or of units, with the scores that `score_of` makes of levels."""
    following = Following(score_of(pairs.next_level), pairs.n_next)
    score = score_of(pairs.level)
    return Scored(pairs.puf, pairs.eif, score, pairs.ambiguous, own_score=own_score, following=following)


class Estimates(NamedTuple):
    """The weights of the comparison levels, and the model that they are of (METHODS §4.6).

    Attributes
    ----------
    levels : pandas.DataFrame
        variable, level, n_pairs, m, u, weight.
    model : pandas.DataFrame
        One line: n_pairs, prior, rounds, converged, least_weight, tolerance.
    """

    levels: pd.DataFrame
    model: pd.DataFrame


class ScoringContext(NamedTuple):
    """The resources and limits of a scoring job, and the results of earlier steps.

    Attributes
    ----------
    keep : int
        The largest number of pairs that are kept for a PUF record (METHODS §5).
    threads : int
    any_missing : bool
        Whether any linking value of either whole file is missing (METHODS §4.1, `auto`).
    functions : sequence of Path
        The files of the study's own scoring functions.
    progress : Progress or None
    weights : Estimates or None
        The weights of the comparison levels, for a metric that weighs.
    claims : bool
        Whether the claims are needed: a metric whose threshold does not decide them then gives the best pairs of
        records without a suspected pair too.
    """

    keep: int = 0
    threads: int = 1
    any_missing: bool = False
    functions: Sequence[Path] = ()
    progress: Progress | None = None
    weights: Estimates | None = None
    claims: bool = False


def job_arguments(pairing: Pairing, context: ScoringContext) -> dict[str, Any]:
    """Return the arguments of every metric's kernel beside records and options."""
    arguments: dict[str, Any] = {"threads": context.threads, "progress": context.progress}
    if pairing.starts is not None:
        from reident.kernels.strata import Starts  # compiled code: loaded only where pairs are scored

        arguments["starts"] = Starts(*pairing.starts)
    return arguments


class Measure(NamedTuple):
    """A metric of units: the costs of the variables of units and of members, and what becomes of their sum.

    `norm`, `factor`, `threshold` and `charge` are those of :class:`reident.kernels.units.Scale`.
    """

    own: Rules
    of_members: Rules
    norm: int
    factor: float
    threshold: int
    charge: float


class Metric(NamedTuple, Generic[OptionsT]):
    """One entry of the registry.

    Attributes
    ----------
    options : type[Section]
        The section ``metrics.{name}`` of the study file.
    reads : {'binned', 'prepared'}
        The table that the metric compares.
    ranked : bool
        Whether the rank filter applies; if not, the result has ``order`` instead of ``score`` and ``rank``.
    score : callable
        ``score(pairing, options, context) -> Scored``.
    tolerance : callable
        ``tolerance(options, variables, any_missing) -> int``: the largest number of linking variables that may differ
        completely in a pair that is still suspected, 0 to v; -1 if no pair can be suspected. ``any_missing`` as in
        :class:`ScoringContext`.
    check : callable
        ``check(options, variables)`` raises a `ValueError`, see :class:`reident.sections.base.Section`, if the
        options do not fit the linking variables of the study.
    splits : bool
        Whether a stratum may be scored in blocks of PUF records; not if the result of a record depends on
        the other records of its file.
    weighs : bool
        Whether scoring needs the weights of comparison levels, which a step estimates from all pairs; if so, the
        tolerance is known once these are.
    score_small : callable or None
        ``score_small(pairings, options, context) -> Scored or None``: the same pairs as `score` of each of many small
        strata, at once: positions in the pairings, ``ambiguous`` of all PUF records. None, from a metric that has it,
        means that these options do not allow it. The result is that of `score`; only the speed depends on it.
    low_is_best : callable
        ``low_is_best(options)`` tells whether a lower score is the better one, as the order of pairs says too: an
        intruder with several files compares the best scores of each (METHODS §6.6).
    score_units : callable or None
        ``score_units(pairing, options, context) -> Scored``: the pairs of units, positions in the pairing; None for a
        metric that compares single records only.
    measure : callable or None
        ``measure(pairing, options) -> Measure``: how members of units are compared; None for a metric without ranks.
    by_value : callable
        ``by_value(options)`` tells whether a metric that compares bins otherwise compares the numbers themselves.
    is_standard : bool
        Whether it is one of the metrics of an attack that names none, and of the standard attacks (METHODS §6.10).
    depends_on_size : callable
        ``depends_on_size(options)`` tells whether it compares two records otherwise in a larger file, so that no curve
        is fitted (METHODS §6.5); by default it does.
    check_units : callable
        ``check_units(options, whole)`` raises a `ValueError` as `check` does, if the options do not fit units;
        ``whole`` is whether a unit is compared with all of its members.
    look : tuple of str
        Its colour and marker in figures.
    pair_cost : float
        Seconds of one processor for a pair of records and a variable, rounded up (METHODS §6.10).
    """

    name: str
    title: str
    options: type[OptionsT]
    reads: Literal["binned", "prepared"]
    ranked: bool
    score: Callable[[Pairing, OptionsT, ScoringContext], Scored]
    tolerance: Callable[[OptionsT, Variables, bool], int]
    check: Callable[[OptionsT, Variables], None] = lambda _, __: None
    splits: bool = True
    weighs: bool = False
    score_small: Callable[[Pairing, OptionsT, ScoringContext], Scored | None] | None = None
    score_units: Callable[[UnitPairing, OptionsT, ScoringContext], Scored] | None = None
    measure: Callable[[UnitPairing, OptionsT], Measure] | None = None
    low_is_best: Callable[[OptionsT], bool] = lambda _: False
    by_value: Callable[[OptionsT], bool] = lambda _: False
    is_standard: bool = False
    depends_on_size: Callable[[OptionsT], bool] = lambda _: True
    check_units: Callable[[OptionsT, bool], None] = lambda _, __: None
    look: tuple[str, str] = ("#5b6670", "o")
    pair_cost: float = 2e-8

    def table(self, options: OptionsT) -> Literal["binned", "prepared"]:
        """Return the table that the metric compares with these options."""
        return "prepared" if self.by_value(options) else self.reads
