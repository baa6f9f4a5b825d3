"""The public statement about pairs and links, for everybody to try (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set

from reident.edition.statement import Statement
from reident.sections.release import Policy


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
