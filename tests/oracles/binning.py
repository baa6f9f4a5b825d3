"""The oracle's bins (METHODS §3) and standard deviations (METHODS §4.3), in exact fractions."""

from dataclasses import replace
from fractions import Fraction

from oracles.preparing import by_stratum, is_numeric


def present(records, j):
    return [record.values[j] for record in records if record.values[j] is not None]


def cut_points(values, bins):
    """The quantiles k/bins: between two values where n·k/bins is whole, otherwise the next value."""
    values, n = sorted(values), len(values)
    cuts = []
    for k in range(1, bins):
        whole, rest = divmod(n * k, bins)
        cuts.append(values[whole] if rest else (values[whole - 1] + values[whole]) / 2)
    return cuts


def group_of(values, x, bins, ties):
    """PROC RANK's group of one of the values, from 1: ⌊bins·rank/(n + 1)⌋ + 1."""
    highest = sum(value <= x for value in values)
    rank = highest if ties == "high" else Fraction(highest + sum(value < x for value in values) + 1, 2)
    return 1 + bins * rank // (len(values) + 1)


def grouped(values, x, bins, ties):
    """The bin of any value: that of the next larger one that cuts, the first below all, the last above all."""
    if x < min(values):
        return 1
    larger = [value for value in values if value >= x]
    return group_of(values, min(larger), bins, ties) if larger else bins


def scopes(study, puf, eif):
    """The (PUF records, EIF records) that have their cut points in common."""
    if study.get("binning", {}).get("scope", "stratum") == "study":
        return [(puf, eif)]
    return list(by_stratum(puf, eif).values())


def bin_records(study, puf, eif):
    """Both files with numeric variables in bins 1, 2, …; records of no scope are left out."""
    setting = study.get("binning", {})
    bins, how = int(setting.get("bins", 5)), setting.get("cutpoints", "puf")
    ties = (setting.get("ties") or "mean") if setting.get("quantiles") == "groups" else None
    binned = [], []
    for files in scopes(study, puf, eif):
        columns = [list(zip(*(r.values for r in records), strict=True)) for records in files]
        for j, variable in enumerate(study["linking_variables"]):
            if not is_numeric(variable):
                continue
            p, e = present(files[0], j), present(files[1], j)
            cutting = {"puf": (p, p), "eif": (e, e), "pooled": (p + e, p + e), "each": (p, e)}[how]
            for side in (0, 1):
                if files[side]:
                    columns[side][j] = bin_column(columns[side][j], cutting[side], bins, ties)
        for side in (0, 1):
            rows = zip(files[side], zip(*columns[side], strict=True), strict=True)
            binned[side].extend(replace(record, values=values) for record, values in rows)
    return binned


def bin_column(column, cutting, bins, ties=None):
    """1 + the number of cut points strictly below each value, or its group; all missing where nothing can cut."""
    if not cutting:
        return [None] * len(column)
    if ties:
        return [None if x is None else grouped(cutting, x, bins, ties) for x in column]
    cuts = cut_points(cutting, bins)
    return [None if x is None else 1 + sum(cut < x for cut in cuts) for x in column]


def variances(study, puf, eif):
    """By stratum: the PUF's sample variance of each numeric variable over the scope of the bins."""
    variables, found = study["linking_variables"], {}
    for stratum, (inside, _) in by_stratum(puf, eif).items():
        scope = puf if study.get("binning", {}).get("scope", "stratum") == "study" else inside
        found[stratum] = [variance(present(scope, j)) if is_numeric(x) else None for j, x in enumerate(variables)]
    return found


def variance(values):
    """With n − 1; None (undefined) below two values."""
    if len(values) < 2:
        return None
    mean = sum(values) / Fraction(len(values))
    return sum((x - mean) ** 2 for x in values) / (len(values) - 1)
