"""Attribute disclosure record by record, on exact fractions (METHODS §12).

Files are lists of (key, value): the key is None where it misses a value, and so is the value. A released record and
an original one of the same person have the same position where `linked`.
"""

from collections import Counter
from fractions import Fraction


def agrees(reach, truth, value):
    """Whether a value counts as the true one; `reach` is (size, relative), or None for categories."""
    if reach is None or "missing" in (truth, value):
        return truth == value
    size, relative = reach
    return abs(value - truth) <= (size * abs(truth) if relative else size)


def told(reach, values):
    """(whether the values of a cell disclose one, the value, {value: share of being the best guess})."""
    if not values:
        return False, None, {}
    if reach is None:
        counts = Counter(values)
        best = [value for value, count in counts.items() if count == max(counts.values())]
        return len(counts) == 1, values[0], {value: Fraction(1, len(best)) for value in best}
    ordered = sorted(values, key=lambda value: (value == "missing", 0 if value == "missing" else value))
    median = ordered[(len(values) - 1) // 2]
    return all(agrees(reach, median, value) for value in values), median, {median: Fraction(1)}


def guessed(reach, truth, best):
    return sum(share for value, share in best.items() if agrees(reach, truth, value))


def attack(reach, truth, values):
    """(disclosed and correct, CAP, best guess is correct) of one record with the values of its cell."""
    disclosed, value, best = told(reach, values)
    correct = disclosed and agrees(reach, truth, value)
    cap = Fraction(sum(agrees(reach, truth, other) for other in values), max(len(values), 1))
    return correct, cap, guessed(reach, truth, best)


def mean(values):
    values = list(values)
    return Fraction(sum(values), len(values)) if values else None


def measures(reach, original, released, holdout=(), linked=False):
    """Every measure by name; None where it is not defined."""
    used = [(i, key, value) for i, (key, value) in enumerate(original) if None not in (key, value)]
    others = [(i, key, value) for i, (key, value) in enumerate(released) if None not in (key, value)]
    cell = lambda records, key, but=None: [t for i, q, t in records if q == key and i != but]  # noqa: E731
    true = [cell(used, key) for _, key, _ in used]
    found = [cell(others, key) for _, key, _ in used]
    hits = [attack(reach, t, values) for (_, _, t), values in zip(used, found, strict=True)]
    known = [attack(reach, t, values) for (_, _, t), values in zip(used, true, strict=True)]
    _, _, guess = told(reach, [value for _, value in released if value is not None])  # without any key
    out = {
        "n_original": Fraction(len(used)),
        "n_released": Fraction(len(others)),
        "uio": mean(len(d) == 1 for d in true),
        "uis": mean(len(cell(others, key)) == 1 for _, key, _ in others),
        "uiois": mean(len(d) == 1 and len(s) > 0 for d, s in zip(true, found, strict=True)),
        "repu": mean(len(d) == 1 and len(s) == 1 for d, s in zip(true, found, strict=True)),
        "dorig": mean(one[0] for one in known),
        "dsyn": mean(told(reach, cell(others, key))[0] for _, key, _ in others),
        "matched": mean(len(s) > 0 for s in found),
        "disclosive": mean(told(reach, s)[0] for s in found),
        "disclosive_guess": mean(
            guessed(reach, t, guess) if told(reach, s)[0] else 0 for (_, _, t), s in zip(used, found, strict=True)
        ),
        "disco": mean(one[0] for one in hits),
        "disdio": mean(one[0] and two[0] for one, two in zip(hits, known, strict=True)),
        "cap": mean(one[1] for one in hits),
        "cap_matched": mean(one[1] for one, s in zip(hits, found, strict=True) if s),
        "guess": mean(one[2] for one in hits),
        "cap_original": mean(one[1] for one in known),
        "cap_true_others": mean(attack(reach, t, cell(used, key, i))[1] for i, key, t in used),
        "n_holdout": Fraction(sum(None not in one for one in holdout)),
    }
    targeted = []
    for _, key, _ in others:
        discloses, value, _ = told(reach, cell(others, key))
        truth = cell(used, key)
        if discloses and truth:
            targeted.append(mean(agrees(reach, t, value) for t in truth))
    out["tcap"] = mean(targeted)
    without = [attack(reach, t, cell(others, key, i)) for i, key, t in used] if linked else []
    held = [attack(reach, t, cell(others, key)) for key, t in holdout if None not in (key, t)]
    for at, name in enumerate(("disco", "cap", "guess")):
        out[f"{name}_others"] = mean(one[at] for one in without)
        out[f"{name}_holdout"] = mean(one[at] for one in held)
    return out
