"""Policies of small studies, and the checks of a statement by every secret (tests/oracles/statements.py)."""

import dataclasses
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from oracles import statements as oracle
from reident.edition import design, rule
from reident.edition.statement import ABOVE, WITHHELD, Count, Statement
from reident.edition.texts import Texts
from reident.sections.release import Policy, Protect
from reident.study import rounding

TEXT = {"version": 1, "source": "made for tests", "scope": "made for tests", "title": "made for tests"}
SMALL_POLICIES = {
    # Below 4 no number, then to the nearest 3: one record is free.
    "small-3": {
        "rounding": "nearest", "small": {"below": 4, "shown": "<4"}, "zero": "small", "bands": [{"nearest": 3}],
    },
    # Below 3 no number, then to the nearest 5: two records are free.
    "redact-5": {
        "rounding": "nearest", "small": {"below": 3, "shown": "[FEW]"}, "zero": "small", "bands": [{"nearest": 5}],
    },
}  # fmt: skip
BUNDLED = ("census-drb", "opensafely", "midpoint-6", "base-5-random", "base-3-random")
FREE = {
    "census-drb": 5, "opensafely": 2, "midpoint-6": 2, "base-5-random": 4, "base-3-random": 2, "small-3": 1,
    "redact-5": 2,
}  # fmt: skip
"""The records that must be free."""


def free(name: str) -> int:
    """Return the records that must be free by a policy: half of its narrowest rounded text."""
    if name in FREE:
        return FREE[name]
    rules = oracle.draw_policy(name)
    unit = rules["bands"][0]["nearest"]
    return {"nearest": unit // 2, "midpoint": (unit - 1) // 2, "random": unit - 1}[rules["rounding"]]


SEED = "0123456789abcdef"


def policy(name: str) -> Policy:
    """Return a bundled policy, or one for small studies."""
    if name in SMALL_POLICIES or name.startswith("own"):
        return Policy.model_validate({**TEXT, **(SMALL_POLICIES.get(name) or oracle.draw_policy(name))})
    return rounding.load(rounding.FOLDER / f"{name}.yaml")


Made = tuple[tuple[str, Statement], ...]
"""Statements about the same people, each with the name of its policy."""

Stating = Callable[..., Callable[[tuple[int, ...]], Made]]
"""What makes the statements on a study by a policy, from counts in the order of its quantities."""


def designed(study: oracle.Study, name: str, **options: Any) -> rule.Design:
    """Return the design of the statement on a study."""
    return design.of_pairs(study.pairs, policy(name), study.limits, SEED, **options)


def ordered(study: oracle.Study, drawn: rule.Design, counts: tuple[int, ...]) -> list[int]:
    """Return counts in the order of a design."""
    return [counts[study.quantities.index(quantity)] for quantity in drawn.quantities]


def rule_alone(study: oracle.Study, name: str, **options: Any) -> Callable[[tuple[int, ...]], Made]:
    """Return what makes the statement by the rule."""
    drawn = designed(study, name, **options)
    audit = drawn.audit()
    return lambda counts: ((name, drawn.state(ordered(study, drawn, counts), audit)),)


def each_anew(study: oracle.Study, name: str, **options: Any) -> Callable[[tuple[int, ...]], Made]:
    """Return what makes the statement by the rule, each without what was found out for others."""
    drawn = designed(study, name, **options)
    return lambda counts: ((name, drawn.state(ordered(study, drawn, counts))),)


def without_widths(study: oracle.Study, name: str, *, less: int = 0, **options: Any) -> Callable[..., Made]:
    """Return what makes the statement by M and W alone: counts may be narrow, and records must be free all the same."""
    drawn = designed(study, name, **options)
    bare = policy(name).model_copy(update={"protect": Protect(small=0, rounded=0)})
    texts = tuple(Texts(bare, quantity, SEED) for quantity in drawn.quantities)
    margin = drawn.margin - less
    # W is at least M in every policy, so that it goes with M.
    drawn = dataclasses.replace(drawn, texts=texts, margin=margin, hidden=min(drawn.hidden, margin))
    audit = drawn.audit()
    return lambda counts: ((name, drawn.state(ordered(study, drawn, counts), audit)),)


def less_free(study: oracle.Study, name: str, **options: Any) -> Callable[..., Made]:
    """Return a control that must fail: M one smaller, and nothing else that protects."""
    return without_widths(study, name, less=1, **options)


def own_texts(study: oracle.Study, name: str, *, audited: bool = False, **options: Any) -> Callable[..., Made]:
    """Return a control that must fail: each count at its own text, or at it where that alone is safe."""
    drawn = designed(study, name, **options)
    audit = drawn.audit()

    def made(counts: tuple[int, ...]) -> Made:
        box, told = list(drawn.box), []
        for at, count in enumerate(ordered(study, drawn, counts)):
            text = drawn.texts[at].at(count)
            interval = max(0, text.first), min(text.last, drawn.box[at][1])
            if audited and not audit.is_safe((*box[:at], interval, *box[at + 1 :])):
                told.append(Count(drawn.quantities[at], "", "", None, None))
                continue
            box[at] = interval
            told.append(Count(drawn.quantities[at], text.label, text.label, *interval))
        return ((name, Statement(tuple(told), ())),)

    return made


def own_texts_if_safe(study: oracle.Study, name: str, **options: Any) -> Callable[..., Made]:
    """Return a control that must fail: a count is withheld where its own text is not safe."""
    return own_texts(study, name, audited=True, **options)


def after(first: str) -> Stating:
    """Return what makes two statements about the same people, the first by another policy."""

    def stating(study: oracle.Study, name: str, **options: Any) -> Callable[[tuple[int, ...]], Made]:
        earlier = designed(study, first, **options)
        audit, later = earlier.audit(), {}

        def made(counts: tuple[int, ...]) -> Made:
            before = earlier.state(ordered(study, earlier, counts), audit)
            if before not in later:
                largest = {name: n for name, (_, n) in zip(earlier.quantities, earlier.box, strict=True)}
                ends = before.ends(largest)
                later[before] = rule_alone(study, name, earlier=ends, free=earlier.margin, **options)
            return ((first, before), *later[before](counts))

        return made

    return stating


def failures(study: oracle.Study, groups: dict[Made, list[oracle.Secret]], missing: Callable[..., int]) -> Counter[str]:
    """Count what is wrong with the statements on a study, given its secrets by statement."""
    found: Counter[str] = Counter()
    suspected = [sum(any(q in names for _, names in record) for record in study.records) for q in study.quantities]
    every = [secret.counts for group in groups.values() for secret in group]
    largest = [max(values) for values in zip(*every, strict=True)]
    for made, group in groups.items():
        found["statements"] += 1
        found["secrets"] += len(group)
        # Where an earlier statement leaves no room for another one, it is the only one.
        last = [name for name, statement in made if statement.is_safe]
        found["not free"] += missing(group, max(free(name) for name in last))
        values = [[secret.counts[at] for secret in group] for at in range(len(study.quantities))]
        found["narrow"] += sum(
            not oracle.is_wide(last[-1], counts, most) for counts, most in zip(values, largest, strict=True)
        )
        for name, statement in made:
            found["telling"] += any((count.at_least, count.at_most) != (None, None) for count in statement.counts)
            for count in statement.counts:
                at = study.quantities.index(count.quantity)
                texts = count.first, count.last
                found["untrue"] += sum(not oracle.is_true(name, texts, c, suspected[at]) for c in set(values[at]))
            for limit in statement.limits:
                over = {count > limit.largest for count in values[study.quantities.index(limit.quantity)]}
                found["untrue"] += limit.outcome != WITHHELD and over != {limit.outcome == ABOVE}
    return found


def by_record(seed: int, name: str, setting: str, stating: Stating = rule_alone) -> Counter[str]:
    """Check a drawn study record by record: `free`, `matching` (one to one) or `two` links a record."""
    rng = random.Random(f"{seed} {setting}")  # noqa: S311 - drawn studies
    study = oracle.draw(rng, most=300 if setting == "two" else 3000)
    links, one = 2 if setting == "two" else 1, setting == "matching"
    groups = oracle.groups(
        oracle.secrets(study, links, one_to_one=one), stating(study, name, one_to_one=setting != "free")
    )

    def missing(group: list[oracle.Secret], free: int) -> int:
        certain = oracle.certain_after(study, group, free - 1) if setting == "free" else 0
        return certain + oracle.impossible(study, group, free, links, one_to_one=one)

    return failures(study, groups, missing)


def by_class(seed: int, name: str, stating: Stating = rule_alone) -> Counter[str]:
    """Check a drawn study of classes."""
    rng = random.Random(f"{seed} classes")  # noqa: S311 - drawn studies
    classes = oracle.draw_classes(rng)
    study = oracle.with_limits(rng, classes.records)
    groups = oracle.groups(oracle.class_secrets(classes, study.quantities), stating(study, name))
    return failures(study, groups, lambda group, free: oracle.impossible_by_class(classes, group, free))
