"""What a reader who holds both files can tell from a statement, by every secret of a small study (METHODS §11.2).

A secret gives each record its links. For every secret the statement is made; secrets with the same statement are what
the reader cannot tell apart. Everything is enumerated, and nothing here knows how a statement is decided.
"""

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Record = tuple[tuple[Hashable, frozenset[str]], ...]
"""The candidates of a record: an EIF record, and the quantities for which the record counts if it is the link."""

Choice = tuple[int, ...]
"""The links of a record, by their positions among its candidates; empty for none."""


class Study(NamedTuple):
    """A small study, with the limits that its statement is about."""

    records: tuple[Record, ...]
    limits: tuple[tuple[str, int], ...]

    @property
    def pairs(self) -> dict[tuple[int, Hashable], frozenset[str]]:
        """The pairs as :func:`reident.edition.state` takes them."""
        return {(p, e): names for p, record in enumerate(self.records) for e, names in record}

    @property
    def quantities(self) -> list[str]:
        return sorted({name for names in self.pairs.values() for name in names})


class Secret(NamedTuple):
    """What a reader can think: the choice of each record, or of the records of each class, and the counts."""

    choices: tuple[Any, ...]
    counts: tuple[int, ...]


def count(study: Study, choices: Sequence[Choice]) -> tuple[int, ...]:
    """Return for each quantity the records of which a link counts for it."""
    return tuple(
        sum(any(name in record[at][1] for at in choice) for record, choice in zip(study.records, choices, strict=True))
        for name in study.quantities
    )


def draw(rng: random.Random, most: int = 3000) -> Study:
    """Draw a study of few records with up to three candidates each, and at most so many secrets."""
    n, q = rng.randint(2, 11), rng.randint(1, 3)
    others = rng.randint(max(2, n - 2), n + 3)
    names = [f"m{at}" for at in range(q)]
    kind = rng.choice(("random", "nested", "identical", "near"))
    size = 1
    density = rng.choice((0.2, 0.4, 0.7))
    records = []
    for p in range(n):
        candidates = {}
        for e in range(others):
            if kind == "identical":
                chosen = set(names) if e == p else set()
            elif kind == "near":
                chosen = set(names[: rng.choice((1, q))]) if e == p else set()
            elif kind == "nested":
                level = rng.random()
                chosen = {name for at, name in enumerate(names) if level < density / (at + 1)}
            else:
                chosen = {name for name in names if rng.random() < density / 2}
            if chosen:
                candidates[e] = frozenset({"any", *chosen})
        kept = rng.sample(sorted(candidates), min(len(candidates), rng.randint(1, 3)))
        size *= len(kept) + 1
        if size > most:
            break
        records.append(tuple((e, candidates[e]) for e in sorted(kept)))
    return with_limits(rng, tuple(record for record in records if record))


def with_limits(rng: random.Random, records: tuple[Record, ...]) -> Study:
    """Return a study of records with limits on some of its counts."""
    quantities = Study(records, ()).quantities
    chosen = [name for name in quantities if rng.random() < 0.5]
    return Study(records, tuple((name, rng.randint(0, len(records))) for name in chosen))


def choices(record: Record, links: int) -> list[Choice]:
    """Return what can be the links of a record, at most so many."""
    return [choice for k in range(links + 1) for choice in itertools.combinations(range(len(record)), k)]


def is_one_to_one(study: Study, records: Sequence[int], given: Sequence[Choice]) -> bool:
    """Return whether no EIF record is a link of two of the records."""
    used = [study.records[p][at][0] for p, choice in zip(records, given, strict=True) for at in choice]
    return len(used) == len(set(used))


def secrets(study: Study, links: int = 1, *, one_to_one: bool = False) -> Iterator[Secret]:
    """Yield every secret, record by record."""
    every = range(len(study.records))
    for given in itertools.product(*(choices(record, links) for record in study.records)):
        if not one_to_one or is_one_to_one(study, every, given):
            yield Secret(given, count(study, given))


def groups(study: Iterator[Secret], state: Callable[[tuple[int, ...]], Hashable]) -> dict[Hashable, list[Secret]]:
    """Return the secrets by their statements."""
    statements: dict[tuple[int, ...], Hashable] = {}
    grouped = defaultdict(list)
    for secret in study:
        if secret.counts not in statements:
            statements[secret.counts] = state(secret.counts)
        grouped[statements[secret.counts]].append(secret)
    return grouped


def impossible(study: Study, group: Sequence[Secret], free: int, links: int = 1, *, one_to_one: bool = False) -> int:
    """Return how many choices of links for sets of at most `free` records no secret of a group has.

    Every set of that size is tried, and with it the smaller ones: what a set cannot be, no larger one can.
    """
    records = range(len(study.records))
    missing = 0
    for chosen in itertools.combinations(records, min(free, len(study.records))):
        seen = {tuple(secret.choices[p] for p in chosen) for secret in group}
        for given in itertools.product(*(choices(study.records[p], links) for p in chosen)):
            if given not in seen and (not one_to_one or is_one_to_one(study, chosen, given)):
                missing += 1
    return missing


def certain_after(study: Study, group: Sequence[Secret], known: int) -> int:
    """Return of how many records a reader becomes certain who knows the true links of so many others."""
    records, certain = range(len(study.records)), 0
    for held in itertools.combinations(records, min(known, max(0, len(study.records) - 1))):
        by_truth = defaultdict(list)
        for secret in group:
            by_truth[tuple(secret.choices[p] for p in held)].append(secret.choices)
        for left in by_truth.values():
            certain += sum(
                len({given[p] for given in left}) < len(choices(study.records[p], 1)) for p in records if p not in held
            )
    return certain


# Larger studies: records of a class are alike, so a secret is how many of each class have which candidate.


class Classes(NamedTuple):
    """Classes of records with candidates of their own: the sets of quantities of the candidates, and the records."""

    sets: tuple[tuple[frozenset[str], ...], ...]
    sizes: tuple[int, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        records = [sets for sets, n in zip(self.sets, self.sizes, strict=True) for _ in range(n)]
        return tuple(tuple(((p, at), names) for at, names in enumerate(sets)) for p, sets in enumerate(records))


def draw_classes(rng: random.Random, sizes: Sequence[int] = (1, 2, 3, 8, 15, 30, 50)) -> Classes:
    """Draw up to three classes; a class with two candidates is small, so that all secrets can be tried."""
    q, k = rng.randint(1, 2), rng.randint(1, 3)
    every = [frozenset({"any", *(f"m{at}" for at in range(q) if number >> at & 1)}) for number in range(1 << q)]
    chosen: dict[tuple[frozenset[str], ...], int] = {}
    for _ in range(k):
        two = k < 3 and rng.random() < 0.3
        sets = tuple(sorted(rng.sample(every, 2 if two else 1), key=sorted))
        chosen[sets] = rng.choice((1, 2, 5, 9) if two else sizes)
    return Classes(tuple(chosen), tuple(chosen.values()))


def compositions(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to give up to n records one of k candidates, or none: the numbers by candidate, and of none."""
    for numbers in itertools.product(range(n + 1), repeat=k):
        if sum(numbers) <= n:
            yield (*numbers, n - sum(numbers))


def class_secrets(classes: Classes, quantities: Sequence[str]) -> Iterator[Secret]:
    """Yield every secret by class, one link or none for each record."""
    ways = [compositions(n, len(sets)) for sets, n in zip(classes.sets, classes.sizes, strict=True)]
    for given in itertools.product(*map(list, ways)):
        counts = tuple(
            sum(
                number
                for sets, numbers in zip(classes.sets, given, strict=True)
                for names, number in zip(sets, numbers[:-1], strict=True)
                if name in names
            )
            for name in quantities
        )
        yield Secret(given, counts)


def impossible_by_class(classes: Classes, group: Sequence[Secret], free: int) -> int:
    """Return how many choices of links for sets of at most `free` records no secret of a group has, by class."""
    total, missing = min(free, sum(classes.sizes)), 0
    flat = {tuple(itertools.chain(*secret.choices)) for secret in group}
    # Only the largest secrets matter: a choice is possible where a secret has at least as many of each kind.
    for drawn in itertools.product(*(range(min(n, free) + 1) for n in classes.sizes)):
        if sum(drawn) != total:
            continue
        ways = [list(compositions(n, len(sets))) for sets, n in zip(classes.sets, drawn, strict=True)]
        for given in itertools.product(*ways):
            wanted = tuple(itertools.chain(*given))
            missing += not any(all(a >= b for a, b in zip(have, wanted, strict=True)) for have in flat)
    return missing


# Texts: by the rules as their sources say them, apart from the code of policies.


def draw_policy(name: str) -> dict[str, Any]:
    """Return the rules of an agency of its own, drawn by the name."""
    rng = random.Random(name)  # noqa: S311 - drawn policies
    rounding = rng.choice(("nearest", "nearest", "midpoint", "random"))
    unit = rng.choice({"nearest": (2, 3, 4, 5, 6), "midpoint": (4, 6), "random": (2, 3, 4, 5)}[rounding])
    rules = {"rounding": rounding, "bands": [{"nearest": unit}], "zero": "shown"}
    if rounding == "nearest":
        below = rng.randint(unit // 2 + 1, 8)
        rules |= {"small": {"below": below, "shown": f"<{below}"}, "zero": rng.choice(("small", "shown"))}
        if rng.random() < 0.5:
            rules["bands"] = [{"up_to": 4 * unit, "nearest": unit}, {"nearest": 2 * unit}]
    return rules


def text_of(policy: str, value: int) -> str:
    """Return the text of a count by a policy without a draw."""
    if policy.startswith("own"):
        rules = draw_policy(policy)
        unit = next(band["nearest"] for band in rules["bands"] if value <= band.get("up_to", value))
        if rules["rounding"] == "midpoint":
            return str(unit * -(-value // unit) - unit // 2 if value else 0)
        if value < rules["small"]["below"] and (value or rules["zero"] == "small"):
            return str(rules["small"]["shown"])
        return str(round(Fraction(value, unit)) * unit)
    if policy == "census-drb":
        if value < 15:
            return "<15"
        unit = 10 if value <= 99 else 50 if value <= 999 else 100
        return str(round(value / unit) * unit)  # of two equally near ones, round takes the even one
    if policy == "opensafely":
        return "[REDACTED]" if value <= 7 else str(round(value / 5) * 5)
    if policy == "midpoint-6":
        return str(6 * -(-value // 6) - 3 if value else 0)
    if policy == "small-3":
        return "<4" if value < 4 else str(round(value / 3) * 3)
    if policy == "redact-5":
        return "[FEW]" if value <= 2 else str(round(value / 5) * 5)
    raise ValueError(policy)


def intervals(policy: str, largest: int) -> list[tuple[str, int, int]]:
    """Return the texts of a policy with their smallest and largest count, up to beyond a count."""
    base = {"base-5-random": 5, "base-3-random": 3}.get(policy)
    if policy.startswith("own") and draw_policy(policy)["rounding"] == "random":
        base = draw_policy(policy)["bands"][0]["nearest"]
    if base:
        return [(str(k * base), max(0, (k - 1) * base + 1), (k + 1) * base - 1) for k in range(largest // base + 2)]
    ends: dict[str, list[int]] = {}
    for value in range(largest + 200):
        ends.setdefault(text_of(policy, value), []).append(value)
    return [(text, values[0], values[-1]) for text, values in ends.items() if values[0] <= largest]


def is_true(policy: str, told: tuple[str, str], value: int, suspected: int) -> bool:
    """Return whether a told run of texts, empty where it is withheld, holds for a count."""
    if told == ("", ""):
        return True
    by_text = {text: (low, high) for text, low, high in intervals(policy, suspected + 20)}
    return by_text[told[0]][0] <= value <= by_text[told[1]][1]


def is_wide(policy: str, values: Sequence[int], largest: int) -> bool:
    """Return whether the counts of a group keep the width of one text, half of it if it is a number, or are all."""
    low, high = min(values), max(values)
    if (low, high) == (0, largest):
        return True
    for text, start, end in intervals(policy, largest):
        width = max(1, (end - start) // 2) if text.isdigit() else end - start
        if start < end and min(high, end) - max(low, start) >= width:
            return True
    return False
