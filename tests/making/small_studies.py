"""Draw combinations of metrics and options, and small studies to try them on."""

import copy
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

KEEP, MOST = 4, 40
STRATA = "AB"


def combination(seed: int) -> dict[str, dict[str, Any]]:
    """Return a study, whose variant is "", and variants of it, as the mappings of their files; numbers are text."""
    draw = Random(seed)  # noqa: S311 - made-up studies
    kinds = draw.choice(["c", "cc", "ccc", "cccc", "ccccc", "cn", "ccn", "cccn", "nn", "ccnn", "cccccc"])
    missing = {"missing": [""]} if draw.random() < 0.5 else {}
    variables = [
        {"name": f"x{at}", "type": {"c": "categorical", "n": "numeric"}[kind], **missing}
        for at, kind in enumerate(kinds)
    ]
    names = draw.sample(["unicity", "taxicab", "euclidean", "adhoc", "winkler", "fellegi_sunter"], k=draw.randint(2, 4))
    study = {
        "id": "drawn",
        "files": {
            "puf": {"path": "puf.csv", "id": ["p"]},
            "eif": {"path": "eif.csv", "id": ["e"]},
            "iuf": {"path": "iuf.csv", "puf_id": ["p"], "eif_id": ["e"]},
        },
        "strata": ["s"],
        "linking_variables": variables,
        "binning": {"bins": draw.choice(["2", "4"]), "cutpoints": draw.choice(["puf", "each"])},
        "rank_filter": {"max_pairs": str(draw.randint(1, 3)), "keep": str(KEEP)},
        "metrics": {name: options(draw, name, variables) for name in names},
    }
    studies = {"": study}
    for at in range(draw.randint(0, 2)):
        studies[f"v{at}"] = variant(draw, study)
    return studies


def options(draw: Random, name: str, variables: list[dict[str, Any]]) -> dict[str, Any]:
    """Return drawn options of a metric."""
    v = len(variables)
    if name == "unicity":
        return draw.choice([{}, {}, {"interactions": "full"}, {"interactions": "all"},
                            {"interactions": "jointly_observed"}, {"max_order": str(draw.randint(1, v))}])  # fmt: skip
    if name == "taxicab":
        return {"alpha": draw.choice(["0.5", "0.5", "0.25", "1"])}
    if name == "euclidean":
        return {"alpha": draw.choice(["0.5", "0.5", "0.8", "1"]), "norm": draw.choice(["primer", "rms"]),
                "whole_steps": draw.choice(["false", "false", "true"])}  # fmt: skip
    if name == "adhoc":
        rules: dict[str, Any] = {}
        for variable in variables:
            kind = draw.random()
            if variable["type"] == "numeric" and kind < 0.5:
                bands = [{"within": "0", "score": "5"}, {"within": "2", "score": "3"}]
                rules[variable["name"]] = draw.choice(["exact", {"bands": bands, "beyond": "1"}])
            elif variable["type"] == "categorical" and kind < 0.15:
                cells = [{"puf": "0", "eif": "0", "score": "5"}, {"puf": "0", "eif": "1", "score": "3"}]
                rules[variable["name"]] = {"table": cells, "otherwise": draw.choice(["0", "2"])}
        threshold = draw.choice([None, "half_of_maximum", str(5 * v - 5), str(5 * v - 1), "0"])
        return {"scores": rules, **({"threshold": threshold} if threshold else {})}
    if name == "winkler":
        agreement = draw.choice(["half_gap", "midpoint", {"nearest": "2"}, {"closest": str(draw.randint(1, v))}])
        least = {} if "closest" in agreement else {"min_agree": str(draw.randint(1, v))}
        return {"agreement": agreement, **least}
    threshold = draw.choice([{"probability": "0.5"}, {"weight": "0"}, {"weight": "2"}])
    return {"m": "informed", "threshold": threshold, "one_to_one": draw.choice(["false", "true"])}


def variant(draw: Random, study: dict[str, Any]) -> dict[str, Any]:
    """Return a study with one change."""
    other = copy.deepcopy(study)
    how = draw.choice(["options", "options", "options", "bins", "limit", "fewer", "strata", "plain"])
    names = [name for name in other["metrics"] if how != "plain" or name == "fellegi_sunter"] or [*other["metrics"]]
    name = draw.choice(names)
    variables = other["linking_variables"]
    if how == "options":
        other["metrics"][name] = options(draw, name, variables)
    elif how == "bins":
        other["binning"]["bins"] = {"2": "4", "4": "2"}[other["binning"]["bins"]]
    elif how == "limit":
        other["rank_filter"]["max_pairs"] = str(draw.randint(1, KEEP))
    elif how == "strata":
        other["strata"] = []
    elif how == "plain" and name == "fellegi_sunter":
        own = other["metrics"][name]
        own["one_to_one"] = {"false": "true", "true": "false"}[own["one_to_one"]]
    elif len(variables) > 1:
        last = variables.pop()["name"]
        other["metrics"].get("adhoc", {}).get("scores", {}).pop(last, None)
        for own in other["metrics"].values():
            for key in ("max_order", "min_agree"):
                if key in own:
                    own[key] = str(min(int(own[key]), len(variables)))
            if "closest" in own.get("agreement", ""):
                own["agreement"] = {"closest": str(min(int(own["agreement"]["closest"]), len(variables)))}
    return other


Rows: TypeAlias = tuple[list[dict[str, str]], list[dict[str, str]], list[dict[str, str]], list[int]]
"""The rows of both files, the links, and the cluster of each PUF record."""


COUNTEREXAMPLES = Path(__file__).with_name("counterexamples.txt")
"""A line for each study that refutes relations of a combination: its number, PUF, EIF, links and clusters.

A record is its stratum and its values; a link is the places of its two records.
"""


def counterexamples(number: int) -> list[Rows]:
    """Return the rows of the studies that refute relations of a combination."""
    names = [variable["name"] for variable in combination(number)[""]["linking_variables"]]
    lines = (line.split("|") for line in COUNTEREXAMPLES.read_text(encoding="utf-8").splitlines())
    return [_rows_of_line(names, *line[1:]) for line in lines if line[0] == str(number)]


def _rows_of_line(names: list[str], *fields: str) -> Rows:
    puf, eif = (
        [
            {key: f"{key}{at}", "s": record[0], **dict(zip(names, record[1:].split(","), strict=True))}
            for at, record in enumerate(side.split())
        ]
        for key, side in zip("pe", fields[:2], strict=True)
    )
    pairs = (pair.split("-") for pair in fields[2].split())
    return puf, eif, [{"p": f"p{p}", "e": f"e{e}"} for p, e in pairs], [int(x) for x in fields[3].split()]


def changed(study: dict[str, Any], given: Rows, draw: Random) -> Rows:
    """Return the rows of a small study with a few changes: other values, links and clusters, more or fewer records."""
    made = copy.deepcopy(given)
    for _ in range(draw.choice([1, 1, 2, 4])):
        how = draw.choice(["records", "link", "cluster", "value", "value", "value"])
        if how == "records":
            made = _more_or_fewer(study, made, draw)
        elif how == "link":
            link = {"p": draw.choice(made[0])["p"], "e": draw.choice(made[1])["e"]}
            iuf = [one for one in made[2] if one != link] if link in made[2] else [*made[2], link]
            made = *made[:2], iuf, made[3]
        elif how == "cluster":
            made[3][draw.randrange(len(made[3]))] = draw.randrange(9)
        else:
            _other_values(study, made, draw)
    return made


def _other_values(study: dict[str, Any], made: Rows, draw: Random) -> None:
    """Give a record another value, or all those of another record, or another stratum."""
    own = draw.choice(draw.choice(made[:2]))
    variable = draw.choice(study["linking_variables"])
    how = draw.choice(["value", "value", "copy", "missing", "stratum"])
    if how == "copy":
        own |= {name: text for name, text in draw.choice([*made[0], *made[1]]).items() if name not in "pe"}
    elif how == "stratum":
        own["s"] = draw.choice(STRATA)
    else:
        gone = how == "missing" and "missing" in variable
        own[variable["name"]] = "" if gone else str(draw.randrange(4))


def _more_or_fewer(study: dict[str, Any], made: Rows, draw: Random) -> Rows:
    """Return the rows with some further records, copies of one or new ones, or without one."""
    puf, eif, iuf, clusters = made
    key, side = draw.choice([("p", puf), ("e", eif)])
    own = draw.choice(side)
    how = draw.choice(["copies", "new", "fewer"])
    if how == "fewer" and len(side) > 1:
        at = side.index(own)
        del side[at]
        if key == "p":
            del clusters[at]
        return puf, eif, [one for one in iuf if one[key] != own[key]], clusters
    links = [one for one in iuf if one[key] == own[key]] if how == "copies" and draw.random() < 0.5 else []
    for _ in range(min(draw.choice([1, 1, 5]), MOST - len(side))):
        name = f"{key}{1 + max(int(one[key][1:]) for one in side)}"
        other = {x["name"]: str(draw.randrange(8)) for x in study["linking_variables"]}
        side.append(own | (other if how == "new" else {}) | {key: name})
        iuf = [*iuf, *(one | {key: name} for one in links)]
        if key == "p":
            clusters.append(draw.choice([*clusters, 9]))
    return puf, eif, iuf, clusters


def rows(study: dict[str, Any], seed: int) -> Rows:
    """Return the rows of both files, the links, and the cluster of each PUF record, of a small study."""
    draw = Random(seed)  # noqa: S311 - made-up people
    values, change, unknown = (
        draw.choice(choices) for choices in ([2, 3, 8], [0.0, 0.1, 0.5, 1.0], [0.0, 0.0, 0.2, 0.6])
    )
    variables, strata = study["linking_variables"], draw.choice([STRATA, STRATA, *STRATA])
    moved = draw.choice([0.0, 0.0, 0.3])
    changing = draw.choice([variables, draw.sample(variables, 1)])

    def value(variable: dict[str, Any]) -> str:
        if "missing" in variable and draw.random() < unknown:
            return ""
        return str(draw.randrange(values * (3 if variable["type"] == "numeric" else 1)))

    def place() -> dict[str, str]:
        """Another stratum, of a few."""
        return {"s": draw.choice(STRATA)} if draw.random() < moved else {}

    def held(people: list[tuple[int, dict[str, str]]], most: int) -> list[tuple[int, dict[str, str]]]:
        """Some of the people, once or several times, with changed values."""
        share, copies = draw.choice([0.2, 0.6, 1.0]), draw.choice([1, 1, 2, most])
        some = [one for one in people if draw.random() < share] or [draw.choice(people)]
        return [
            (at, {**one, **place(), **{x["name"]: value(x) for x in changing if draw.random() < change}})
            for at, one in some
            for _ in range(copies)
        ][:12]

    people = [
        (at, {"s": draw.choice(strata), **{x["name"]: value(x) for x in variables}}) for at in range(draw.randint(1, 6))
    ]
    puf, eif, linked, wrong = (
        held(people, 12),
        held(people, 6),
        draw.choice([0.0, 0.5, 1.0]),
        draw.choice([0.0, 0.1, 0.5]),
    )
    iuf = [
        {"p": f"p{i}", "e": f"e{k}"}
        for i, (one, _) in enumerate(puf)
        for k, (other, _) in enumerate(eif)
        if draw.random() < (linked if one == other else wrong)
    ]
    sides = ([{key: f"{key}{at}", **one} for at, (_, one) in enumerate(side)] for key, side in (("p", puf), ("e", eif)))
    clusters = draw.choice([1, 3, 9])
    return *sides, iuf, [draw.randrange(clusters) for _ in puf]
