"""The work of an attack, estimated from the numbers of records, pairs and variables alone (METHODS §6.10).

What is tried must not depend on the machine, on other jobs or on the number of processors: nothing is timed. The costs
are seconds of one processor (AMD EPYC), measured on simulated files of 200 to 100,000 records, 3 to 12 variables and
1 to 10,000 strata, and rounded up. An estimate may be several times too high, since kernels exclude what cannot be a
candidate and EM converges sooner or later.
"""

from __future__ import annotations

from math import comb, prod
from typing import TYPE_CHECKING, Any

from reident.intake.grouping import N_MEMBERS
from reident.linkage import weights
from reident.linkage.batches import values_of
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.candidates import MAX_PAIRS
from reident.linkage.metrics.unicity import sets_in_force
from reident.linkage.pair_links import FIRST_ROUNDS

if TYPE_CHECKING:
    from reident.linkage.attack import AttackFiles
    from reident.linkage.attack_settings import SearchSettings

START, JOIN = 0.05, 0.01
"""Of any attack with a metric, and of any join."""

OF_RECORD, OF_JOINED_RECORD = 7e-6, 1e-6
"""Of each record of either file: grouping, ranking, confirmation, rates; of a join, for each variable."""

OF_UNIT_PAIR = 1e-7
"""Of each pair of units and variable, whose members are assigned to each other."""

OF_SET = 5e-9
"""Of each record and set of variables that unicity searches."""

OF_WEIGHED_PAIR, OF_CANDIDATES = 5e-9, 4e-5
"""Of each pair, variable and round where all pairs are weighed, or of each record and variable for candidates."""

ROUNDS, OF_SCORES = 35, 2
"""The rounds in which weights are learnt, about, and those that the scores are worth."""

OF_INFORMED = 0.25
"""The part of this that remains where m is not learnt."""


def of_attack(settings: SearchSettings, files: AttackFiles, *, learns: bool = True) -> float:
    """Return the work of an attack with one metric, which learns its weights or is given them, in seconds."""
    (name,), v = settings.metrics, len(settings.variables)
    options: Any = settings.metrics[name]
    pairs, records = int(files.manifest["pairs"].sum()), _records(files)
    base = START + records * OF_RECORD
    if name == "unicity":
        return base + records * _sets(options, settings, files) * OF_SET
    part = OF_INFORMED if name == "fellegi_sunter" and options.m == "informed" else 1.0  # of the rounds
    if name == "fellegi_sunter" and settings.members is not None:
        return base + v * pairs * _mean_members(files) * (OF_SCORES + part * ROUNDS) * OF_WEIGHED_PAIR
    if name == "fellegi_sunter" and not options.by_pattern:
        if pairs > MAX_PAIRS:
            return base + part * v * records * OF_CANDIDATES
        rounds = _rounds(pairs, files.prepared["puf"].num_rows) if learns else 0
        return base + v * pairs * (OF_SCORES + part * rounds) * OF_WEIGHED_PAIR
    if settings.members is not None:
        return base + pairs * v * OF_UNIT_PAIR
    return base + pairs * v * REGISTRY[name].pair_cost


def _rounds(pairs: int, n_puf: int) -> float:
    """Return the rounds in which weights are learnt, in rounds over all pairs."""
    if pairs <= weights.MAX_PAIRS:
        return ROUNDS
    first, others = (min(n / n_puf, 1) for n in (weights.FIRST_RECORDS, weights.RECORDS))
    return FIRST_ROUNDS * first + (ROUNDS - FIRST_ROUNDS) * others


def _mean_members(files: AttackFiles) -> float:
    """Return how many pairs of members a pair of units has on average."""
    sums = (int(table[N_MEMBERS].to_numpy().sum()) / max(table.num_rows, 1) for table in files.prepared.values())
    return prod(sums)


def of_join(files: AttackFiles, n_variables: int) -> float:
    """Return the work of a join on some variables, in seconds of one processor."""
    return JOIN + _records(files) * OF_JOINED_RECORD * n_variables


def _records(files: AttackFiles) -> int:
    return sum(table.num_rows for table in files.prepared.values())


def _sets(options: Any, settings: SearchSettings, files: AttackFiles) -> int:
    """Return the number of sets of variables that unicity searches."""
    names, v = [variable.name for variable in settings.variables], len(settings.variables)
    missing = any(values_of(table[name]).null_count > 0 for table in files.prepared.values() for name in names)
    if sets_in_force(options, missing) != "all":
        return 1
    return sum(comb(v, size) for size in range(1, min(options.max_order or v, v) + 1))
