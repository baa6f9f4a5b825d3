"""The design of a statement from pairs by their keys (METHODS §11.2)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from reident.edition import space
from reident.edition.rule import Design
from reident.edition.texts import Texts, hidden
from reident.sections.release import Policy
from reident.study import rounding

Pairs = Mapping[tuple[Hashable, Hashable], Set[Hashable]]


def of_pairs(
    pairs: Pairs,
    policy: str | Policy,
    limits: Iterable[tuple[Hashable, int]] = (),
    seed: str | None = None,
    *,
    one_to_one: bool = True,
    earlier: Mapping[Hashable, tuple[int, int]] | None = None,
    within: bool = False,
    free: int = 0,
) -> Design:
    """Return the design of a statement, see :func:`reident.edition.state`; nothing in it depends on a link.

    `free` is how many records earlier statements leave free; the new one leaves at least as many.
    """
    limits, earlier = list(limits), dict(earlier or {})
    records: dict[Hashable, set[Hashable]] = {name: set() for name in [*earlier, *(name for name, _ in limits)]}
    for (puf, _), names in pairs.items():
        for name in names:
            records.setdefault(name, set()).add(puf)
    # Public, and the same whatever the order of the pairs: by suspected records, and by name among equals.
    order = sorted(_ordered(records), key=lambda name: -len(records[name]))
    positions = {name: at for at, name in enumerate(order)}
    bounds = sorted((positions[name], int(largest)) for name, largest in limits)
    box = [earlier.get(name, (0, len(records[name]))) for name in order]
    for at, largest in bounds if within else ():
        box[at] = (box[at][0], min(box[at][1], largest))
    rules = rounding.load(rounding.FOLDER / f"{policy}.yaml") if isinstance(policy, str) else policy
    return Design(
        tuple(order),
        space.of_pairs(*_coded(pairs, positions), one_to_one=one_to_one),
        tuple(Texts(rules, name, seed) for name in order),
        max(rules.margin, free),
        hidden(rules),
        tuple(bounds),
        tuple(box),
    )


def counts(pairs: Pairs, links: Set[tuple[Hashable, Hashable]], quantities: Sequence[Hashable]) -> list[int]:
    """Return for each quantity the PUF records of which a link counts for it."""
    found: dict[Hashable, set[Hashable]] = {name: set() for name in quantities}
    for puf, eif in links:
        for name in pairs.get((puf, eif), ()):
            found[name].add(puf)
    return [len(found[name]) for name in quantities]


def _ordered(labels: Iterable[Any]) -> list[Any]:
    """Return labels in an order that is the same for numbers and their texts."""
    return sorted(labels, key=lambda label: (len(str(label)), str(label), type(label).__name__))


def _coded(pairs: Pairs, positions: Mapping[Hashable, int]) -> tuple[Any, ...]:
    """Return pairs as the arrays of :func:`reident.edition.space.of_pairs`."""
    pufs = {record: at for at, record in enumerate(_ordered({puf for puf, _ in pairs}))}
    eifs = {record: at for at, record in enumerate(_ordered({eif for _, eif in pairs}))}
    sets = {frozenset(names) for names in pairs.values()}
    rows = sorted((sorted(positions[name] for name in names) for names in sets), key=lambda row: (-len(row), row))
    vectors = np.zeros((len(rows), len(positions)), bool)
    for at, row in enumerate(rows):
        vectors[at, row] = True
    numbers = {tuple(row): at for at, row in enumerate(rows)}
    vector_of = {names: numbers[tuple(sorted(positions[name] for name in names))] for names in sets}
    lines = np.array([(pufs[p], eifs[e], vector_of[frozenset(names)]) for (p, e), names in pairs.items()], np.int64)
    lines = lines.reshape(-1, 3)
    return (*lines[np.lexsort((lines[:, 1], lines[:, 0]))].T, vectors)
