"""What is public about a study beside its counts (METHODS §11)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from reident.release.cells import Cell


class Limit(NamedTuple):
    """A limit of the study whose outcome is published.

    Attributes
    ----------
    part : Cell
    whole : Cell or None
        The denominator of the rate; None where the limit is on the count itself.
    bound : float
        The limit, as the study file has it.
    outcome : {'passes', 'breaks'}
    """

    part: Cell
    whole: Cell | None
    bound: float
    outcome: Literal["passes", "breaks"]


class Facts(NamedTuple):
    """What is public about the study beside its counts.

    Attributes
    ----------
    strata : tuple of str
        The labels of all strata of the released file; sums over fewer strata are at most the total.
    stratified : bool
        Whether the study has strata variables; without them every record is in the only stratum.
    puf_in_strata : bool or None
        Whether every PUF record is in a stratum; None where an earlier edition does not say it.
    unranked : frozenset of str
        Metrics without a rank limit, which have no ambiguous records.
    one_candidate : frozenset of (str, str)
        Variants and metrics that pair a record of either file with at most one record of the other, such as unicity
        on the full set of variables.
    same_files : frozenset of str
        Variants with the files, strata, links and clusters of the study.
    same_attack : frozenset of (str, str)
        Variants and metrics with the attack of the study, the rank limit aside; their files must be the same too.
    nested_clusters : bool or None
        Whether all records of a cluster are in the same stratum, or all of them in none; None where it is not public.
    file_is_puf : bool
        Whether the file whose risk is measured is the PUF.
    nested_scenarios : tuple of (str, str)
        Pairs of scenarios; the second has every known variable of the first, and others.
    limits : tuple of Limit
    """

    strata: tuple[str, ...] = ()
    stratified: bool = True
    puf_in_strata: bool | None = None
    unranked: frozenset[str] = frozenset({"unicity"})
    one_candidate: frozenset[tuple[str, str]] = frozenset()
    same_files: frozenset[str] = frozenset()
    same_attack: frozenset[tuple[str, str]] = frozenset()
    nested_clusters: bool | None = None
    file_is_puf: bool = False
    nested_scenarios: tuple[tuple[str, str], ...] = ()
    limits: tuple[Limit, ...] = ()
