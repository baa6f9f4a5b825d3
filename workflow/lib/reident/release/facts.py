"""Public facts about a study beside its counts (METHODS §11)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from reident.release.cells import Cell
from reident.release.containment import Containments


class LimitOutcome(NamedTuple):
    """The published outcome of a limit of the study."""

    numerator: Cell
    denominator: Cell | None  # None where the limit is on the count itself
    bound: float  # the limit, as the study file has it
    outcome: Literal["passes", "breaks"]


class Facts(NamedTuple):
    """The public facts about the study beside its counts."""

    # The labels of all strata of the released file; sums over fewer strata are at most the total.
    strata: tuple[str, ...] = ()
    # Whether the study has strata variables; without them every record is in the only stratum.
    stratified: bool = True
    # Whether every PUF record is in a stratum; None where an earlier edition does not say it.
    puf_in_strata: bool | None = None
    # Metrics without a rank limit, which have no ambiguous records.
    unranked: frozenset[str] = frozenset({"unicity"})
    # What the options of the attacks tell, such as that unicity on the full set of variables is contained in taxicab.
    containments: Containments = Containments()
    # Variants with the files, strata, links and clusters of the study.
    same_files: frozenset[str] = frozenset()
    # Variants with the records and links of the study, in whatever strata.
    same_records: frozenset[str] = frozenset()
    # Variants and metrics with the attack of the study, the rank limit aside; their files must be the same too.
    same_attack: frozenset[tuple[str, str]] = frozenset()
    # Whether all records of a cluster are in the same stratum, or all of them in none; None where it is not public.
    nested_clusters: bool | None = None
    file_is_puf: bool = False  # whether the file whose risk is measured is the PUF
    several_rows: bool = False  # whether a PUF unit can have several rows, each a record of that file
    # Pairs of scenarios; the second has every known variable of the first, and others.
    nested_scenarios: tuple[tuple[str, str], ...] = ()
    outcomes: tuple[LimitOutcome, ...] = ()
