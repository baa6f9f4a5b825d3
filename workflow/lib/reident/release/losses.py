"""What pairs can lose in two attacks at once, as far as the options of the attacks tell (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import AGREE, APART, CLOSE, MISSING, SPLIT, Losses
from reident.pipeline.releasing import Attack
from reident.sections.linkage import Binning, LinkingVariable

Name: TypeAlias = tuple[str, str]
"""A variant, empty for the study itself, and a metric."""


MAX_SUMS = 500
"""Two attacks in which pairs can lose more sums than this are not ranked against each other."""


class Made(NamedTuple):
    """One metric of one attack."""

    name: Name
    attack: Attack
    losses: Losses
    complete: bool
    is_certain: bool  # whether it is public if a value is missing


def metrics(variant: str, attack: Attack, study: Attack, complete: bool) -> Iterator[Made]:
    """Yield the metrics of an attack that know their losses."""
    known = study.variables if complete else ()
    complete = all(variable in known or not _can_be_missing(variable) for variable in attack.variables)
    for name, options in attack.metrics.items():
        if (find := REGISTRY[name].losses) is not None:
            is_certain = complete or attack.variables == study.variables
            yield Made((variant, name), attack, find(options, attack.variables, complete), complete, is_certain)


def _can_be_missing(variable: LinkingVariable) -> bool:
    return bool(variable.missing.puf or variable.missing.eif)


def states(variable: LinkingVariable, one: Made, other: Made) -> Iterator[tuple[str, str]]:
    """Yield the states in which a variable can be in two attacks at once."""
    if not (one.complete and other.complete) and _can_be_missing(variable):
        yield MISSING, MISSING
    if not variable.is_numeric:
        yield from ((AGREE, AGREE), (APART, APART))
        return
    first, second = one.attack.binning, other.attack.binning
    for values in ([AGREE, SPLIT], [CLOSE, APART]):
        own = [[state for state in values if state != SPLIT or bins.cutpoints == "each"] for bins in (first, second)]
        for pair in product(*own):
            state, other_state = pair
            apart = state in (SPLIT, APART), other_state in (SPLIT, APART)
            if (first == second and apart[0] != apart[1]) or (_finer(first, second) and apart == (False, True)):
                continue
            yield state, other_state


def _finer(bins: Binning, others: Binning) -> bool:
    """Return whether bins divide others: their cut points are some of its own."""
    return bins.bins % others.bins == 0 and others == bins.model_copy(update={"bins": others.bins})


def outcomes(one: Made, other: Made) -> Iterator[tuple[LinkingVariable, list[tuple[Any, Any, Any, Any]]]]:
    """Yield for each variable its costs in both attacks, the least and the most each; 0 where it is in one."""
    for name, variable in {x.name: x for x in (*one.attack.variables, *other.attack.variables)}.items():
        nothing = dict.fromkeys((AGREE, CLOSE, APART, SPLIT, MISSING), (0, 0))
        few, many = (made.losses.by_variable.get(name, nothing) for made in (one, other))
        yield variable, list({(*few[state], *many[own]) for state, own in states(variable, one, other)})


def measured_alike(one: Made, other: Made) -> bool:
    """Return whether a difference of numbers loses as much there as it does here, or less."""
    (kind, few), (other_kind, many) = one.losses.measure, other.losses.measure
    same = one.name[1] == other.name[1] and one.attack.binning.scope == other.attack.binning.scope
    return same and kind == other_kind and 0 < few <= many


def same_where_common(one: Made, other: Made) -> bool:
    """Return whether the variables that both attacks compare are the same."""
    known = {variable.name: variable for variable in other.attack.variables}
    return all(known.get(variable.name, variable) == variable for variable in one.attack.variables)


class Sums(NamedTuple):
    """What pairs can lose in two attacks at once, the least and the most, by the states of their variables."""

    least: Any
    most: Any
    least_there: Any
    most_there: Any
    agrees: bool  # whether all values are equal: pairs of one record that agree lose the same

    @property
    def is_exact(self) -> bool:
        """Whether the options tell both sums."""
        return bool(self.least == self.most and self.least_there == self.most_there)


def sums_of(one: Made, other: Made) -> set[Sums]:
    """Return the sums of losses that a pair can have in two attacks; none where there are too many to compare."""
    sums: set[tuple[Any, ...]] = {(0, 0, 0, 0, True)}
    for variable in one.attack.variables:
        few, many = (made.losses.by_variable[variable.name] for made in (one, other))
        bounds = {(*few[state], *many[own], state == own == AGREE) for state, own in states(variable, one, other)}
        sums = {
            (low + x, high + y, least + z, most + w, agrees and is_equal)
            for low, high, least, most, agrees in sums
            for x, y, z, w, is_equal in bounds
        }
        if len(sums) > MAX_SUMS:
            return set()
    return {Sums(*total) for total in sums}
