"""Draw combinations of metrics and options of units, small studies to try them on, and their published counts."""

import copy
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from random import Random

from oracles import units as oracle
from oracles.published import COUNTS, by_stratum
from reident.linkage.metrics import REGISTRY
from reident.pipeline.releasing import Attack
from reident.release import unit_containment
from reident.release.facts import Facts
from reident.sections.linkage import Binning, LinkingVariable

KEEP, STRATA = 4, "AB"
KINDS = ("c/c", "/c", "/cc", "/ccc", "c/cc", "cc/c", "c/", "cc/", "c/ccc", "/cn", "n/c", "cc/cc", "ccc/c")
"""Categorical and numeric variables of units / of members."""


def combination(number):
    """A study, whose variant is "", and variants of it, by their variables, members, metrics and rank limit."""
    draw = Random(f"units {number}")  # noqa: S311 - made-up studies
    own, members = draw.choice(
        ["c/c", "/c", "/cc", "/ccc", "c/cc", "cc/c", "c/", "cc/", "c/ccc", "/cn", "n/c", "cc/cc", "ccc/c"]
    ).split("/")
    variables = [
        (f"x{at}", {"c": "categorical", "n": "numeric"}[kind], at < len(own)) for at, kind in enumerate(own + members)
    ]
    known = draw.choice(["all", "all", "some"])
    names = ["taxicab", "euclidean", "adhoc"] + (["unicity"] if known == "all" else [])
    names = draw.sample(names, k=draw.randint(2, len(names)))
    study = {
        "variables": variables,
        "missing": draw.random() < 0.4,
        "members": known,
        "max_pairs": draw.randint(1, 3),
        "metrics": {name: options(draw, name, len(variables)) for name in names},
    }
    studies = {"": study}
    for at in range(draw.randint(0, 2)):
        other = studies[f"v{at}"] = copy.deepcopy(study)
        name = draw.choice(names)
        how = draw.choice(["options", "options", "limit", "members", "fewer"])
        if how == "options":
            other["metrics"][name] = options(draw, name, len(variables))
        elif how == "limit":
            other["max_pairs"] = draw.randint(1, KEEP)
        elif how == "members" and "unicity" not in names:
            other["members"] = {"all": "some", "some": "all"}[known]
        elif how == "fewer" and len(variables) > 1:
            other["variables"] = variables[:-1]
    return studies


def options(draw, name, v):
    """Drawn options of a metric."""
    if name == "unicity":
        return draw.choice([{}, {"interactions": "full"}, {"interactions": "all"}, {"max_order": 1}])
    if name == "taxicab":
        return {"alpha": draw.choice(["1/2", "1/2", "1/4", "1"])}
    if name == "euclidean":
        return {"alpha": draw.choice(["1/2", "1/2", "1"]), "norm": draw.choice(["primer", "rms", "rms"])}
    return draw.choice([{}, {}, {"threshold": 5 * v - 1}, {"threshold": 0}, {"threshold": 4 * v}])


def attack(study):
    """The attack of a study as the audit knows it."""
    missing = {"missing": [""]} if study["missing"] else {}
    variables = tuple(
        LinkingVariable(name=name, type=kind, level="unit" if of_unit else "member", **missing)
        for name, kind, of_unit in study["variables"]
    )
    metrics = {name: REGISTRY[name].options(**own) for name, own in study["metrics"].items()}
    return Attack((), variables, Binning(), metrics, study["members"])


def facts(studies, *, complete, single):
    """What the public knows of drawn studies, from their options alone."""
    attacks = {variant: attack(study) for variant, study in studies.items()}
    others, base = [variant for variant in studies if variant], attacks[""]
    alike = {
        (variant, name)
        for variant in others
        for name, own in attacks[variant].metrics.items()
        if (own, attacks[variant].variables, attacks[variant].members)
        == (base.metrics[name], base.variables, base.members)
    }
    return Facts(
        strata=tuple(STRATA),
        puf_in_strata=True,
        same_files=frozenset(others),
        same_records=frozenset(attacks),
        same_attack=frozenset(alike),
        containments=unit_containment.find(attacks, complete=complete, single=single),
    )


def rows(study, seed):
    """The units of both files, the links by place, and the cluster of each PUF unit."""
    draw = Random(seed)  # noqa: S311 - made-up people
    values, largest, n = draw.choice([2, 2, 3, 8]), draw.choice([1, 2, 3, 3]), draw.choice([2, 4, 7])
    unknown, change = draw.choice([0, 0, 0.2]) * study["missing"], draw.choice([0, 0.1, 0.3, 1])
    leave, copies = draw.choice([0, 0.2, 0.5]), draw.choice([1, 1, 2, 5])
    n_own = sum(of_unit for *_, of_unit in study["variables"])

    def value(at):
        if draw.random() < unknown:
            return None
        return draw.randrange(values * (3 if study["variables"][at][1] == "numeric" else 1))

    def drawn():
        size = range(draw.randint(1, largest))
        own = tuple(value(at) for at in range(n_own))
        return own, tuple(tuple(value(at) for at in range(n_own, len(study["variables"]))) for _ in size)

    def held(people):
        found = []
        for at, (stratum, (own, members)) in enumerate(people):
            for _ in range(draw.randint(0, copies)):
                own_ = tuple(value(k) if draw.random() < change / 2 else x for k, x in enumerate(own))
                some = [member for member in members if draw.random() >= leave] or [members[0]]
                some += [drawn()[1][0] for _ in range(draw.random() < leave)]
                some = [tuple(value(n_own + k) if draw.random() < change else x for k, x in enumerate(m)) for m in some]
                draw.shuffle(some)
                found.append((at, stratum, own_, tuple(some[:4])))
        return found[:10] or [(0, people[0][0], *people[0][1])]

    people = [(draw.choice(STRATA), drawn()) for _ in range(n)]
    sides = [held(people), held(people)]
    puf = [oracle.Unit(f"p{at}", *one[1:]) for at, one in enumerate(sides[0])]
    eif = [oracle.Unit(f"e{at}", *one[1:]) for at, one in enumerate(sides[1])]
    right, wrong = draw.choice([0, 0.5, 1]), draw.choice([0, 0.1, 0.4])
    links = {
        (p.key, e.key)
        for p, one in zip(puf, sides[0], strict=True)
        for e, other in zip(eif, sides[1], strict=True)
        if draw.random() < (right if one[0] == other[0] else wrong)
    }
    return puf, eif, links, [draw.randrange(3) for _ in puf]


def described(studies, drawn):
    """Whether no value is missing, and the files whose units have one row each."""
    puf, eif, *_ = drawn
    values = [x for unit in (*puf, *eif) for x in (*unit.own, *(y for member in unit.members for y in member))]
    single = {side for side, file in (("puf", puf), ("eif", eif)) if all(len(unit.members) == 1 for unit in file)}
    return None not in values, frozenset(single)


def counts(studies, drawn):
    """{(quantity, variant, metric, stratum, rank limit): count}, as :func:`oracles.published.counts`."""
    puf, eif, links, clusters = drawn
    strata = {unit.key: unit.stratum for unit in (*puf, *eif)}
    cluster = {unit.key: group for unit, group in zip(puf, clusters, strict=True)}
    found = {}
    for label in ("ALL", *STRATA):
        inside = {unit.key for unit in (*puf, *eif) if label in ("ALL", unit.stratum)}
        found["n_puf", "", "", label, 0] = sum(unit.key in inside for unit in puf)
        found["n_eif", "", "", label, 0] = sum(unit.key in inside for unit in eif)
        found["n_links", "", "", label, 0] = sum(p in inside and e in inside for p, e in links)
        found["n_clusters", "", "", label, 0] = len({cluster[unit.key] for unit in puf if unit.key in inside})
    known = {}
    for variant, study in studies.items():
        for metric, own in study["metrics"].items():
            in_force = 0 if metric == "unicity" else study["max_pairs"]
            told = repr((metric, own, study["variables"], study["members"]))
            if told not in known:
                known[told] = pairs(study, metric, puf, eif)
            for limit in {in_force, *(range(1, KEEP + 1) if in_force and not variant else ())}:
                states = _states(known[told], links, limit)
                whole = bool(variant) or limit != in_force
                for stratum, lines in ({"ALL": states} if whole else by_stratum(STRATA, states, strata)).items():
                    for name in COUNTS if limit == in_force else COUNTS[:3]:
                        found[name, variant, metric, stratum, limit] = sum(name in state for state in lines.values())
                    for name in () if whole else ("suspected", "confirmed"):
                        groups = {cluster[key] for key, state in lines.items() if f"n_{name}" in state}
                        found[f"clusters_{name}", variant, metric, stratum, limit] = len(groups)
    return found


def pairs(study, metric, puf, eif):
    """The passing pairs of a metric with their evidence."""
    variables, own, whole = study["variables"], study["metrics"][metric], study["members"] == "all"
    puf, eif = (cut(file, variables) for file in (puf, eif))
    if metric == "taxicab":
        return oracle.taxicab(variables, puf, eif, whole, Fraction(own["alpha"]))
    if metric == "euclidean":
        return oracle.euclidean(variables, puf, eif, whole, own["norm"], float(Fraction(own["alpha"])))
    if metric == "adhoc":
        return oracle.adhoc(variables, puf, eif, whole, own.get("threshold"))
    v, any_missing = len(variables), not described({}, (puf, eif))[0]
    is_full = own.get("interactions", "auto") == "full" or (own == {} and not any_missing)
    orders = range(v, v + 1) if is_full else range(1, min(own.get("max_order", v), v) + 1)
    return {pair: (order, 0) for pair, order in oracle.unicity(variables, puf, eif, orders).items()}


def cut(file, variables):
    """The units with the values of some variables alone."""
    n_own = sum(of_unit for *_, of_unit in variables)
    n_members = len(variables) - n_own
    return [replace(u, own=u.own[:n_own], members=tuple(m[:n_members] for m in u.members)) for u in file]


def _states(passing, links, limit):
    """{PUF unit: in which of COUNTS it is}, for units with a pair that passes."""
    states = {p: {"n_ambiguous"} for p, _ in passing}
    candidates = defaultdict(list)
    for pair in oracle.kept(passing, limit) if limit else passing:
        candidates[pair[0]].append(pair in links)
    for key, right in candidates.items():
        states[key] = {"n_suspected"} | ({"n_confirmed"} if any(right) else set())
        if len(right) == 1:
            states[key] |= {name.replace("n_", "n_single_").removesuffix("_suspected") for name in states[key]}
    return states
