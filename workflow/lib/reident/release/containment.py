"""Containment of attacks in other attacks, whatever the records are (METHODS §11.2).

It follows from the options alone: what a pair can lose by each variable bounds its scores by two metrics at once.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, permutations
from typing import Any, Literal, NamedTuple, TypeAlias

from reident.linkage.metrics.contract import AGREE, APART, CLOSE, MISSING, SPLIT
from reident.pipeline.releasing import Attack
from reident.release.losses import Made, Name, measured_alike, metrics, outcomes, same_where_common, states, sums_of

How: TypeAlias = Literal["passing", "first", "level", "found", "alike", "only"]

ROUNDED = Fraction(1, 10**9)
"""More than what rounding a score can change of its loss."""


class Contained(NamedTuple):
    """An attack that is contained in another one.

    In `passing`, every pair that passes the smaller one's threshold passes the larger one's. In `first`, the
    best pairs of a record are among its best there, so that it is ambiguous if it is so here. In `level`, no other pair
    of its record is better there, so that the record has all of them as candidates or is ambiguous. In `found`, each
    candidate at a rank limit is a candidate of the larger attack at this limit; in `alike`, a record that is ambiguous
    in the smaller attack is so in the larger one too. In `only`, a record has one candidate, and no other one in the
    larger attack.
    """

    smaller: Name
    larger: Name
    how: How


class Containments(NamedTuple):
    """The relations of the counts of a study that follow from the options of its attacks."""

    contained: tuple[Contained, ...] = ()
    one_candidate: tuple[Name, ...] = ()  # attacks in which a record has at most one candidate
    all_pass: tuple[Name, ...] = ()  # attacks whose threshold every pair passes
    none_pass: tuple[Name, ...] = ()  # attacks whose threshold no pair can pass
    one_level: tuple[Name, ...] = ()  # attacks in which all pairs that pass are equally good
    two_pairs: tuple[Name, ...] = ()  # attacks in which at most two pairs pass for each link


def find(attacks: Mapping[str, Attack], *, complete: bool) -> Containments:
    """Find the attacks on the same files that contain others, by variant; `complete` where no value is missing."""
    made = [one for variant, attack in attacks.items() for one in metrics(variant, attack, attacks[""], complete)]
    ends = {one.name: ends_of(one) for one in made}
    one_level = tuple(one.name for one in made if _has_one_level(one))
    contained = []
    for one, other in permutations(made, 2):
        how = _contained(one, other, all_pass=ends[other.name][1])
        if how is not None:
            is_first = how == "passing" and _is_first(one, other)
            is_best = other.name in one_level or are_best(one, other) or _unique_is_best(one, other)
            if how == "passing" and is_best:
                how = "level"
            elif is_first:
                how = "first"
            contained.append(Contained(one.name, other.name, how))
    two_pairs = tuple(one.name for one in made if one.losses.two_pairs)
    return gathered(contained, made, ends)._replace(one_level=one_level, two_pairs=two_pairs)


def gathered(
    contained: Sequence[Contained], made: Sequence[Made], ends: Mapping[Name, tuple[bool, bool]]
) -> Containments:
    """Return the relations that attacks on records and on units have alike; `ends` as :func:`ends_of` gives them."""
    return Containments(
        tuple(contained),
        tuple(one.name for one in made if one.losses.one_candidate),
        tuple(name for name, (_, all_pass) in ends.items() if all_pass),
        tuple(name for name, (can_pass, _) in ends.items() if not can_pass),
    )


def recorded(record: Mapping[str, Any] | None) -> Containments:
    """Return the containments that the record of an earlier edition has; none where it has none."""
    if record is None:
        return Containments()
    names = {
        name: tuple((variant, metric) for variant, metric in record.get(name, ())) for name in Containments._fields[1:]
    }
    contained = (Contained((*few,), (*many,), how) for few, many, how in record["contained"])
    return Containments(tuple(contained), **names)


def ends_of(one: Made) -> tuple[bool, bool]:
    """Return whether any pair can pass, and whether every pair does."""
    losses = one.losses
    if not losses.by_variable:
        return True, False
    sums = [0, 0]
    for variable in one.attack.variables:
        found = {state for state, _ in states(variable, one, one)}
        if one.attack.members and variable.level == "member":
            found.add(MISSING)  # that of a member left over
        bounds = [losses.by_variable[variable.name][state] for state in found]
        sums = [sums[0] + min(low for low, _ in bounds), sums[1] + max(high for _, high in bounds)]
    best, worst = (losses.level(total) < losses.limit for total in sums)
    return best, worst and not losses.sets


def _contained(one: Made, other: Made, *, all_pass: bool) -> How | None:
    """Return how an attack is certainly contained in another one; None where it need not be."""
    same_strata = one.attack.strata == other.attack.strata
    same_variables = one.attack.variables == other.attack.variables
    numeric = any(x.is_numeric for x in (*one.attack.variables, *other.attack.variables))
    if not same_strata:
        if numeric or not all(variable in one.attack.strata for variable in other.attack.strata):
            return None
    elif one.name[1] == other.name[1] and (one.attack.binning == other.attack.binning or not numeric):
        how = within_itself(one, other) if same_variables else of_fewer_variables(one, other)
        if how is not None:
            return how
    if all_pass:
        passes = True
    elif other.losses.sets or not one.losses.by_variable or not other.losses.by_variable:
        return None
    else:
        passes = every_pair_passes(one, other)
    if not passes:
        return None
    if (
        same_strata
        and one.losses.one_candidate
        and one.losses.sets
        and other.losses.by_variable
        and every_pair_passes(other, one)
    ):
        return "only"
    if not same_strata or not one.losses.by_variable or not other.losses.by_variable:
        return "passing"
    how = ranked(one, other) if same_variables else None
    if how is None and _has_one_level(one) and every_pair_passes(other, one):
        how = "found"  # the same pairs pass, so that who is suspected here has all of them there
    return how or "passing"


def within_itself(one: Made, other: Made) -> How | None:
    """Return how a metric is contained in itself with another threshold, or other sets of variables."""
    few, many = one.losses, other.losses
    options, plain = (made.attack.metrics[made.name[1]] for made in (one, other))
    if few.sets:
        how: How = "only" if few.one_candidate else "found"
        is_known = other.is_certain or few.one_candidate or options == plain
        return how if is_known and few.sets <= many.sets else None
    if few.order is not None and few.order == many.order:
        return "alike" if few.reach <= many.reach else None
    if few.one_candidate and plain == options.model_copy(update={"one_to_one": False}):
        return "alike"
    return None


def of_fewer_variables(one: Made, other: Made) -> How | None:
    """Return how unicity is contained in unicity on further variables, which searches the same sets and more."""
    variables = one.attack.variables
    is_part = one.losses.sets and all(variable in other.attack.variables for variable in variables)
    # A single set has all variables; the sets of pairs by what is present can have any number of them.
    numbers = {*range(1, len(variables) + 1)} if "jointly_observed" in one.losses.sets else {len(variables)}
    searched = {number for number in one.losses.sets if isinstance(number, int)} or numbers
    return "found" if is_part and other.is_certain and searched <= other.losses.sets else None


def every_pair_passes(one: Made, other: Made) -> bool:
    """Return whether every pair that one attack lets pass passes in another one: the worst of them there."""
    if not same_where_common(one, other):
        return False
    # The largest loss there, by the loss here and by how much differences of numbers can add to both.
    worst: dict[tuple[Any, Any], Any] = {(0, 0): 0}
    alike = measured_alike(one, other)
    for _, choices in outcomes(one, other):
        sums: dict[tuple[Any, Any], Any] = {}
        for (total, more), most in worst.items():
            for low, high, least, greatest in choices:
                shared = high - low if alike and greatest > least else 0
                key = total + low, more + shared
                there = most + (least if shared else greatest)
                sums[key] = max(sums.get(key, there), there)
        worst, seen = {}, dict[Any, Any]()
        for total, more in sorted(sums):  # a larger loss matters only if it can be worse there
            if more not in seen or sums[total, more] > seen[more]:
                worst[total, more] = seen[more] = sums[total, more]
    return all(_passes(one, other, *key, most) for key, most in worst.items())


def _passes(one: Made, other: Made, total: Any, more: Any, most: Any) -> bool:
    """Return whether pairs with the losses `total` and `most` pass there if they do here, with up to `more` in both."""
    few, many = one.losses, other.losses
    if few.level(total) >= few.limit:
        return True
    if few.level(total + more) < few.limit:
        return bool(many.level(most + more) < many.limit)
    spare = (many.reach - most) - (few.reach - total)
    # Rounded alike, or not at all.
    same = (few.limit == many.limit and few.reach == many.reach) or bool(few.step and many.step)
    return spare > many.reach * ROUNDED or (spare == 0 and same)


def _has_one_level(one: Made) -> bool:
    """Return whether all pairs of a record that pass are equally good."""
    losses = one.losses
    if not losses.ranks or not losses.by_variable or losses.sets:
        return False
    if losses.step:
        lowest = sum(min(low for low, _ in states.values()) for states in losses.by_variable.values())
        if losses.level(lowest) < losses.limit <= losses.level(lowest + losses.step):
            return True
    passing = [total for total in sums_of(one, one) if losses.level(total.least) < losses.limit]
    if all(total.agrees for total in passing):
        return bool(passing)
    return all(total.is_exact for total in passing) and len({losses.level(total.least) for total in passing}) == 1


def are_best(one: Made, other: Made) -> bool:
    """Return whether no pair of a record is better in another attack than those that pass here."""
    few, many = one.losses, other.losses
    if not (few.by_variable and many.best) or not same_where_common(one, other):
        return False
    # The least that a pair loses here, and how much more it loses for each variable that is not at its best there.
    least, more = 0, []
    for name, variable in {x.name: x for x in (*one.attack.variables, *other.attack.variables)}.items():
        losses = few.by_variable.get(name)
        best: dict[bool, list[Any]] = {True: [], False: []}
        for state, own in states(variable, one, other):
            best[name not in many.by_variable or own in many.best.get(name, ())].append(
                losses[state][0] if losses else 0
            )
        lowest = min(best[True] + best[False])
        least += lowest
        more.append(min(best[False], default=math.inf) - lowest)
    spare = 0 if many.enough is None else len(many.by_variable) - many.enough
    total = least + sum(sorted(more)[: spare + 1])
    return total == math.inf or few.level(total) >= few.limit


def _unique_is_best(one: Made, other: Made) -> bool:
    """Return whether a record that alone equals another one on some variables is among its best in another attack."""
    few, many = one.losses, other.losses
    is_unique = few.sets and few.one_candidate and one.attack.strata == other.attack.strata
    if not is_unique or not many.ranks or not many.by_variable or not same_where_common(one, other):
        return False
    most, least, apart = 0, 0, math.inf
    for name, variable in {x.name: x for x in (*one.attack.variables, *other.attack.variables)}.items():
        nothing = dict.fromkeys((AGREE, CLOSE, APART, SPLIT, MISSING), (0, 0))
        here, there = (losses.by_variable.get(name, nothing) for losses in (few, many))
        bounds = [(here[state][0] > 0, *there[own]) for state, own in states(variable, one, other)]
        lowest = min(low for _, low, _ in bounds)
        most += max(high for differs, _, high in bounds if not differs)
        least += lowest
        apart = min([apart, *(low - lowest for differs, low, _ in bounds if differs)])
    return bool(many.level(most) <= many.level(least + apart))


def _is_first(one: Made, other: Made) -> bool:
    """Return whether no pair is better in another attack than one that passes and is as good or better here."""
    few, many = one.losses, other.losses
    same = one.attack.strata == other.attack.strata and one.attack.variables == other.attack.variables
    if not same or not (few.ranks and few.by_variable and many.ranks and many.by_variable):
        return False
    sums = sums_of(one, other) if not few.sets else set()
    for total in sums:
        if few.level(total.least) < few.limit:
            own, there = few.level(total.least), many.level(total.most_there)
            for pair in sums:
                agree = total.agrees and pair.agrees
                if not agree and few.level(pair.most) >= own and many.level(pair.least_there) < there:
                    return False
    return bool(sums)


def ranked(one: Made, other: Made) -> How | None:
    """Return whether no pair can be better than a passing one, or as good, in another attack alone."""
    few, many = one.losses, other.losses
    if not (few.ranks and many.ranks):
        return None
    sums = sorted(sums_of(one, other), key=lambda total: few.level(total.most), reverse=True)
    passing = [total for total in sums if few.level(total.least) < few.limit]
    if not passing:
        return None
    for agrees in (False, True):
        # Of pairs that are worse here, the best there; a pair that agrees is no better than another one that does.
        others = [total for total in sums if not (agrees and total.agrees)]
        best = list(accumulate((many.level(total.least_there) for total in others), min))
        worse = [-few.level(total.most) for total in others]
        for total in passing:
            at = bisect_left(worse, -few.level(total.least))
            if total.agrees == agrees and at and best[at - 1] <= many.level(total.most_there):
                return None
    if all(total.agrees for total in passing):
        return "found" if few.sets else "alike"
    levels: dict[Any, set[Any]] = {}
    for total in passing:
        levels.setdefault(few.level(total.least), set()).add(many.level(total.least_there))
    same = all(total.is_exact for total in passing) and all(len(there) == 1 for there in levels.values())
    return "alike" if same and not few.sets else "found"
