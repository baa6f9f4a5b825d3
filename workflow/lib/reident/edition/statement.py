"""The short public statement about a study (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from reident.sections.release import Policy

WITHIN, ABOVE, WITHHELD = "within", "above", "withheld"
"""Outcomes of a limit."""


class Count(NamedTuple):
    """What a statement tells of a count: a run of consecutive texts of the policy."""

    quantity: Hashable
    first: str  # the text of the smallest count that the statement leaves; both empty where nothing is told
    last: str
    # The smallest and the largest count with these texts, where the end is told; None where it is not, or where a limit
    # tells it.
    at_least: int | None
    at_most: int | None


class Limit(NamedTuple):
    """What a statement tells of a limit."""

    quantity: Hashable
    largest: int  # the largest count within the limit
    outcome: str  # :data:`WITHIN`, :data:`ABOVE` or :data:`WITHHELD`


@dataclass(frozen=True)
class Statement:
    """Everything that is published about the secret; equal statements are published alike."""

    counts: tuple[Count, ...]
    limits: tuple[Limit, ...]
    is_safe: bool = True  # False where nothing may be told, not even what was told before

    def ends(self, suspected: Mapping[Hashable, int]) -> dict[Hashable, tuple[int, int]]:
        """Return the interval of each count that is told by its texts and limits, as `earlier` of :func:`state`."""
        ends = {
            count.quantity: (count.at_least or 0, suspected[count.quantity] if count.at_most is None else count.at_most)
            for count in self.counts
        }
        for limit in self.limits:
            low, high = ends[limit.quantity]
            if limit.outcome == WITHIN:
                ends[limit.quantity] = low, min(high, limit.largest)
            elif limit.outcome == ABOVE:
                ends[limit.quantity] = max(low, limit.largest + 1), high
        return ends


def state(
    pairs: Mapping[tuple[Hashable, Hashable], Set[Hashable]],
    links: Set[tuple[Hashable, Hashable]],
    policy: str | Policy,
    limits: Iterable[tuple[Hashable, int]] = (),
    seed: str | None = None,
    *,
    one_to_one: bool = True,
    earlier: Mapping[Hashable, tuple[int, int]] | None = None,
    within: bool = False,
) -> Statement:
    """Return the public statement about a study: all of its published texts, withheld ones included (METHODS §11.2).

    For every set of at most M records (half of the narrowest rounded text of the policy) and every choice of links for
    them there are links with exactly this statement, whatever a reader computes from the pairs.

    Parameters
    ----------
    pairs : mapping
        By pair of a PUF record and an EIF record, the quantities for which the PUF record counts if they are linked.
        Everything here is public.
    links : set of pairs
        The true links. A record may have several; those that are no candidates count for nothing.
    policy : str or Policy
        The name of a bundled policy, or a policy.
    limits : pairs
        Quantities with the largest count that is within a limit.
    seed : str, optional
        The secret of a policy with random rounding. The statement holds against who knows it, too.
    one_to_one : bool
        Whether readers may take it that no two records have the same EIF record.
    earlier : mapping, optional
        The smallest and the largest count of quantities by statements about the same people that are public.
    within : bool
        Whether the study is public only if it is within all limits.

    Raises
    ------
    ValueError
        If the policy needs a seed, a limit is negative, or a count contradicts `earlier` or `within`.

    Examples
    --------
    >>> pairs = {(record, record): {"any"} for record in range(1000)}
    >>> statement = state(pairs, {(record, record) for record in range(160)}, "census-drb", limits=[("any", 200)])
    >>> statement.limits[0].outcome, statement.counts[0].first, statement.counts[0].last
    ('within', '150', '150')
    """
    from reident.edition import design as designs  # noqa: PLC0415 - the solver and its packages take long to import

    design = designs.of_pairs(pairs, policy, limits, seed, one_to_one=one_to_one, earlier=earlier, within=within)
    return design.state(designs.counts(pairs, links, design.quantities))
