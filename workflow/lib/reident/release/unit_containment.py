"""Containment of attacks on units in other attacks, whatever the units are (METHODS §11.2).

A pair of units loses the mean of what its members lose, each with the values of its unit. A member left over loses as
if all of its values were missing. Of one assignment, which is the best for one attack, another one finds the same or a
better one. Units can have any number of members.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from itertools import permutations, product
from typing import Any, NamedTuple, TypeAlias

from reident.linkage.metrics.contract import AGREE, MISSING, Losses
from reident.pipeline.releasing import Attack
from reident.release import containment
from reident.release.containment import ROUNDED, Contained, Containments, How
from reident.release.losses import MAX_SUMS, Made, measured_alike, metrics, outcomes, same_where_common, sums_of

Pair: TypeAlias = tuple[Any, Any]
"""What a pair loses in one attack at least, and in another one at most."""


class _Slots(NamedTuple):
    """What the values of units can lose, those of two members, and a member left over."""

    own: set[Pair]
    members: set[Pair]
    left: Pair
    is_exact: bool  # whether the options tell all of them, which rounding cannot change then


def find(attacks: Mapping[str, Attack], *, complete: bool, single: Collection[str]) -> Containments:
    """Find the attacks on the same files that contain others; the units of `single` files have one row each.

    Where one pair of members counts in every pair of units, attacks are contained in each other as those on records.
    """
    known = {attack.members for attack in attacks.values()}
    made = [one for variant, attack in attacks.items() for one in metrics(variant, attack, attacks[""], complete)]
    is_pair = known == {"some"} and "eif" in single and all(map(_agrees_alike, made))
    if known <= {None} or len(single) == 2 or is_pair:
        plain = {name: dataclasses.replace(attack, members=None) for name, attack in attacks.items()}
        return containment.find(plain, complete=complete)
    ends = {one.name: containment.ends_of(one) for one in made}
    contained = []
    for one, other in permutations(made, 2):
        if how := _contained(one, other, all_pass=ends[other.name][1]):
            contained.append(Contained(one.name, other.name, how))
    return containment.gathered(contained, made, ends)


def _agrees_alike(one: Made) -> bool:
    """Return whether equal values lose the same, whatever they are."""
    return all(states[AGREE][0] == states[AGREE][1] for states in one.losses.by_variable.values())


def _is_linear(losses: Losses) -> bool:
    """Return whether sums of losses themselves are compared with the threshold, and not their rounded roots."""
    return bool(losses.limit == losses.reach)


def _slots(one: Made, other: Made) -> _Slots:
    """Return what a pair of members can lose in two attacks; of equal losses here, the largest there."""
    own, members, left, is_exact = {(0, 0)}, {(0, 0)}, [0, 0], True
    alike = measured_alike(one, other)
    for variable, choices in outcomes(one, other):
        ends = set[Pair]()
        is_exact &= all(low == high and least == most for low, high, least, most in choices)
        for low, high, least, most in choices:
            shared = high - low if alike and most > least else 0
            ends |= {(low, least), (high, least + shared)} if shared else {(low, most)}
        if variable.level == "unit":
            own = _worst(own, ends)
        else:
            members = _worst(members, ends)
            for at, losses in enumerate((one.losses, other.losses)):
                left[at] += losses.by_variable[variable.name][MISSING][at] if variable.name in losses.by_variable else 0
    return _Slots(own, members, (left[0], left[1]), is_exact)


def _worst(sums: set[Pair], ends: set[Pair]) -> set[Pair]:
    """Return the sums of losses of which no other one is smaller here and larger there."""
    found, most = set[Pair](), None
    for here, there in sorted({(x + a, y + b) for (x, y), (a, b) in product(sums, ends)}, key=lambda s: (s[0], -s[1])):
        if most is None or there > most:
            most = there
            found.add((here, there))
    return found


def _contained(one: Made, other: Made, *, all_pass: bool) -> How | None:
    """Return how an attack is certainly contained in another one; None where it need not be."""
    attack, larger, sets = one.attack, other.attack, one.losses.sets
    same_strata = attack.strata == larger.strata
    numeric = any(x.is_numeric for x in (*attack.variables, *larger.variables))
    same_bins = attack.binning == larger.binning or not numeric
    if not same_strata and (numeric or not all(variable in attack.strata for variable in larger.strata)):
        return None
    if same_strata and same_bins and sets and other.losses.sets:
        within = containment.within_itself if attack.variables == larger.variables else containment.of_fewer_variables
        return within(one, other)
    if not all_pass:
        if other.losses.sets or not same_where_common(one, other):
            return None
        # Units with one profile have as many members, and none left over.
        if not (containment.every_pair_passes if sets else _every_pair_passes)(one, other):
            return None
    if not same_strata or attack.members != larger.members or attack.variables != larger.variables:
        return "passing"
    return (_only_equal(one, other) if sets else _ranked_alike(one, other, same_bins=same_bins)) or "passing"


def _every_pair_passes(one: Made, other: Made) -> bool:
    """Return whether every pair of units that one attack lets pass passes in another one.

    By how much its members are above both thresholds, on average: none below the first may be above the second, nor
    may it together with another member that is above both.
    """
    few, many = one.losses, other.losses
    slots = _slots(one, other)
    exact = (few.limit, few.reach) == (many.limit, many.reach) or (_is_linear(few) and _is_linear(many))
    exact |= slots.is_exact and few.level(few.reach) >= few.limit
    for own in slots.own:
        sums = [(own[0] + here, own[1] + there) for here, there in (*slots.members, slots.left)]
        if any(few.level(here) < few.limit and many.level(there) >= many.limit for here, there in sums):
            return False
        above = [(here - few.reach, there - many.reach) for here, there in sums]
        if one.attack.members != other.attack.members:  # members of the PUF that are left over cost one attack alone
            here, there = above[-1]
            above.append((here, 0) if one.attack.members == "all" else (0, there))
        for (x, y), (up, most) in product(above, above):
            if x < 0 <= up and most > 0:
                spare = most * x - up * y
                if spare < 0 if exact else spare <= -most * x * ROUNDED:
                    return False
    return True


def _ranked_alike(one: Made, other: Made, *, same_bins: bool) -> How | None:
    """Return whether two attacks rank all pairs of units that pass alike: all evidence is in proportion."""
    few, many = one.losses, other.losses
    same = one.name[1] == other.name[1] and same_bins
    if same and (few.order, few.limit, few.reach) == (many.order, many.limit, many.reach):
        return "alike"
    only_own = all(variable.level == "unit" for variable in one.attack.variables)
    if not only_own and not (_is_linear(few) and _is_linear(many)):
        return None
    sums: dict[str, set[Pair]] = {"unit": {(0, 0)}, "member": {(0, 0)}}
    for variable, choices in outcomes(one, other):
        if any(low != high or least != most for low, high, least, most in choices):
            return None
        of_level = sums[variable.level]
        sums[variable.level] = {(x + low, y + least) for (x, y), (low, _, least, _) in product(of_level, choices)}
        if len(sums[variable.level]) > MAX_SUMS:
            return None
    evidence, left = set[Pair](), _slots(one, other).left
    for here, there in sums["unit"]:
        slots = [
            (few.limit - few.level(here + x), many.limit - many.level(there + y)) for x, y in {*sums["member"], left}
        ]
        if max(x for x, _ in slots) > 0 or max(y for _, y in slots) > 0:
            evidence |= {*slots}
    first = max(evidence, default=(0, 0))
    in_proportion = all(x * first[1] == y * first[0] for x, y in evidence)
    return "alike" if in_proportion and min(first) > 0 else None


def _only_equal(one: Made, other: Made) -> How | None:
    """Return whether the only unit that equals another one is its best candidate in an attack with ranks.

    A larger unit has the equal members too: those left over must not be evidence for it.
    """
    few, many = one.losses, other.losses
    if not few.one_candidate:
        return None
    of_unit = [variable.name for variable in other.attack.variables if variable.level == "unit"]
    best = sum(many.by_variable[name][AGREE][0] for name in of_unit)
    spare = best + _slots(one, other).left[1] - many.reach
    if spare < 0:
        return None
    passing = [total for total in sums_of(one, other) if few.level(total.least) < few.limit]
    levels = {(total.least_there, total.most_there) for total in passing}
    same = all(total.agrees for total in passing) or (len(levels) == 1 and passing[0].is_exact)
    if same and (spare > 0 or not _is_linear(many)) and containment.ranked(one, other) == "found":
        return "found"
    return "level" if containment.are_best(one, other) else None
