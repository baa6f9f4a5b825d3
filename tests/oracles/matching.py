"""Matching-based risk by a double loop over records, on exact fractions (METHODS §8).

Files are lists of rows {column: text}; the study is the plain mapping of `matching`. Rows correspond by order.
"""

import unicodedata
from fractions import Fraction
from itertools import combinations


def scenarios(study):
    """{name: known variables}, in the order of the study; all subsets by their variables' names."""
    name = lambda one: one if isinstance(one, str) else one["name"]  # noqa: E731
    found = {}
    if isinstance(study.get("known"), list):
        found["known"] = [name(one) for one in study["known"]]
    for scenario in study.get("scenarios", []):
        found[scenario["name"]] = [name(one) for one in scenario["known"]]
    if study.get("known") == "all-subsets":
        for size in range(1, int(study.get("max_known", 3)) + 1):
            for chosen in combinations([name(one) for one in study["candidates"]], size):
                found[" + ".join(chosen)] = list(chosen)
    return found


def value(study, variable, text):
    """A text as a fraction, a code, or None where it is missing."""
    declared = {}
    lists = [study.get("known"), study.get("candidates"), study["synthesized"]]
    lists += [scenario["known"] for scenario in study.get("scenarios", [])]
    for one in [one for own in lists if isinstance(own, list) for one in own]:
        if isinstance(one, dict) and one["name"] == variable:
            declared = one
    codes = declared.get("missing", [])
    if variable in study.get("radius", {}):
        numbers = [Fraction(code) for code in codes if code.strip()]
        text = text.strip()
        return None if text in codes or (text and Fraction(text) in numbers) else Fraction(text)
    read = lambda code: unicodedata.normalize("NFC", code.strip())  # noqa: E731
    if declared.get("integer_coded") == "true":
        read = lambda code: str(int(float(code))) if code.strip() else ""  # noqa: E731
    return None if read(text) in [read(code) for code in codes] else read(text)


def equal(study, variable, x, y):
    """Whether a synthetic y is equal to a confidential x."""
    if x is None or y is None:
        return x is None and y is None and study.get("missing", "never") == "each_other"
    if variable not in study.get("radius", {}):
        return x == y
    radius = study["radius"][variable]
    reach = Fraction(radius["relative"]) * abs(x) if "relative" in radius else Fraction(radius["absolute"])
    return abs(y - x) < reach if study.get("interval") == "open" else abs(y - x) <= reach


def is_target(study, row):
    """Whether a confidential record meets every condition."""
    conditions = study.get("targets", [])
    for condition in [conditions] if isinstance(conditions, dict) else conditions:
        found = value(study, condition["variable"], row[condition["variable"]])
        if found is None:
            return False
        if "equals" in condition:
            if found not in [value(study, condition["variable"], code) for code in condition["equals"]]:
                return False
        elif not (
            Fraction(condition.get("at_least", found)) <= Fraction(found) <= Fraction(condition.get("at_most", found))
        ):
            return False
    return True


def run(study, confidential, synthetic):
    """{scenario: [(c, T) of the targets by file: the synthetic ones, then the confidential one itself]}, targets."""
    targets = [i for i, row in enumerate(confidential) if is_target(study, row)]
    synthesized = [one if isinstance(one, str) else one["name"] for one in study["synthesized"]]
    out = {}
    for name, known in scenarios(study).items():
        by_file = []
        for file in [*synthetic, confidential]:
            c, own = [], []
            for i in targets:
                matching = []
                for j in range(len(file)):
                    pairs = [
                        (v, value(study, v, confidential[i][v]), value(study, v, file[j][v]))
                        for v in known + synthesized
                    ]
                    if all(equal(study, *pair) for pair in pairs):
                        matching.append(j)
                c.append(len(matching))
                own.append(i in matching)
            by_file.append((c, own))
        out[name] = by_file
    return out, targets


def summaries(c, own):
    """(expected match risk, true match rate, false match rate or None, s), as fractions."""
    expected = sum((Fraction(1, k) for k, mine in zip(c, own, strict=True) if mine), Fraction(0))
    true = sum(1 for k, mine in zip(c, own, strict=True) if k == 1 and mine)
    unique = c.count(1)
    return expected, Fraction(true, len(c)), Fraction(unique - true, unique) if unique else None, unique


def posterior(study, known, target, files, population=None, fraction=None):
    """({record: probability that it is the target}, probability that the target is not in the file), as fractions.

    In each file, every person who matches the target is the target with the same probability; the files count alike.
    Without a population the target is known to be in the file, and files in which nothing matches tell nothing.
    """
    synthesized = [one if isinstance(one, str) else one["name"] for one in study["synthesized"]]
    records, absent, files_used = {}, Fraction(0), 0
    for file in files:
        matching = []
        for j in range(len(file)):
            pairs = [(v, value(study, v, target[v]), value(study, v, file[j][v])) for v in known + synthesized]
            if all(equal(study, *pair) for pair in pairs):
                matching.append(j)
        if population is None and fraction is None and not matching:
            continue
        people = Fraction(len(matching))
        if fraction is not None:
            people = len(matching) / fraction
        if population is not None:
            people = max(people, population)
        for j in matching:
            records[j] = records.get(j, Fraction(0)) + 1 / people
        absent += (people - len(matching)) / people if matching else 1
        files_used += 1
    return {j: share / files_used for j, share in records.items()}, absent / max(files_used, 1)


def pooled(study, confidential, synthetic, population=None, fraction=None):
    """{scenario: [(c, T, probability of the own record) of the targets]} of an intruder who uses all files."""
    out = {}
    for name, known in scenarios(study).items():
        out[name] = []
        for i, row in enumerate(confidential):
            if not is_target(study, row):
                continue
            people = None if population is None else Fraction(row[population])
            records, absent = posterior(study, known, row, synthetic, people, fraction)
            top = max(records.values(), default=None)
            best = [j for j, share in records.items() if share == top and share >= absent]
            out[name].append((len(best), i in best, records.get(i, Fraction(0))))
    return out
