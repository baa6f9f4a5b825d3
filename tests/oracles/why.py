"""Why pairs are confirmed, by brute force: every change is a study of its own, every set of variables is tried
(METHODS §6.3)."""

import copy
from itertools import combinations

from oracles import study as whole
from oracles.binning import bin_records
from oracles.preparing import prepare


def changed(study, name, coarsening):
    """The study with coarser values of a variable, or without it if there are none; None without variables."""
    study = copy.deepcopy(study)
    at = [x["name"] for x in study["linking_variables"]].index(name)
    if coarsening is not None:
        before = study["linking_variables"][at].get("coarsen")
        assert before is None, "one coarsening of a variable at a time"
        study["linking_variables"][at]["coarsen"] = coarsening
        return study
    del study["linking_variables"][at]
    metrics = study["metrics"]
    ((metrics.get("adhoc") or {}).get("scores") or {}).pop(name, None)
    evidence = metrics.get("fellegi_sunter") or {}
    if name in evidence.get("partial", []):
        evidence["partial"] = [other for other in evidence["partial"] if other != name]
    return study if study["linking_variables"] else None


def confirmed(study, metric, rows):
    """The confirmed pairs of one metric; none if it asks for more variables than there are."""
    if study is None:
        return set()
    options = study["metrics"][metric] or {}
    rule, v = options.get("agreement", ""), len(study["linking_variables"])
    if metric == "winkler" and "closest" in rule and int(rule["closest"]) > v:
        return set()
    return whole.run({**study, "metrics": {metric: options}}, *rows).metrics[metric].confirmed


def smallest_sets(study, rows, pair, max_size):
    """The smallest sets of agreeing variables on which the EIF record is alone in its stratum, as positions."""
    sides = bin_records(study, prepare(study, "puf", rows[0]), prepare(study, "eif", rows[1]))
    p, e = (next(r for r in side if r.key == key) for side, key in zip(sides, pair, strict=True))
    others = [r for r in sides[1] if r.stratum == e.stratum and r.key != e.key]
    agree = [j for j, (a, b) in enumerate(zip(p.values, e.values, strict=True)) if a is not None and a == b]
    for size in range(1, max_size + 1):
        found = [
            some
            for some in combinations(agree, size)
            if not any(all(other.values[j] == e.values[j] for j in some) for other in others)
        ]
        if found:
            return agree, found
    return agree, []
