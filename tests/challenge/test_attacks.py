"""The attacks at hand are those of studies that declare them, one by one; joins are what brute force finds."""

import copy
import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from challenge.test_order import TYPES, files
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import joins
from oracles import order as ordering
from oracles import surest as oracle
from oracles.checks import almost_tied
from oracles.preparing import distinct_links, prepare
from oracles.strategies import studies
from oracles.study import run as judge
from pydantic import ValidationError
from reident.challenge import attacks
from reident.challenge import step as challenge_step
from reident.challenge.attacks import Made, challenge
from reident.linkage import attack
from reident.linkage import step as linkage_step
from reident.linkage.attack import Attack, AttackFiles
from reident.linkage.metrics.contract import Estimates, ScoringContext
from reident.linkage.surest import summarize
from workflow.library_run import run

DEFAULTS = {"unicity": {}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}, "fellegi_sunter": {}}
LIMITS = {"max_pairs": 5, "keep": 20}
OF_ONE_METRIC = ["n_ambiguous", "passing_rate", "tolerance"]
OF_CLAIMS = [
    "n_claims",
    "n_right",
    "right_rate",
    "low",
    "high",
    "n_at_95_percent",
    "n_at_limit",
    "right_of_10",
    "right_of_50",
    "right_of_100",
]
ORDERED = {
    "id": "ordered",
    "files": {
        "puf": {"path": "p.csv", "id": ["key"]},
        "eif": {"path": "e.csv", "id": ["key"]},
        "iuf": {"path": "i.csv", "puf_id": ["p"], "eif_id": ["e"]},
    },
    "strata": [{"name": "region"}],
    "linking_variables": [{"name": name, "type": kind} for name, kind in TYPES.items()],
    "metrics": {"taxicab": {}},
    "challenge": "all",
}


def made(tables, threads=1, **changes):
    """The attacks at hand of a study that was run, without a limit on work."""
    settings = dataclasses.replace(challenge_step.challenging(tables.study), **changes)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    claims = attack.claim(settings.declared, files, Attack(None, tables.metrics, tables.rates, None))
    pairs = {name: metric.positions for name, metric in tables.metrics.items()}
    agreement = claims.agreement.agreement_rates, claims.agreement.agreement_claims, claims.agreement.surest
    own = Made(tables.rates, *agreement, pairs, *(attack.compare(settings.declared, files).weights or ()))
    return challenge(settings, files, own, ScoringContext(threads=threads)), files


def only(study, metric, options):
    """The study with one metric."""
    return copy.deepcopy(study) | {"metrics": {metric: options}}


def standard(study, metric):
    """The study of a standard attack."""
    limits = {name: max(int((study.get("rank_filter") or {}).get(name, low)), low) for name, low in LIMITS.items()}
    changed = only(study, metric, DEFAULTS[metric]) | {"rank_filter": {name: str(n) for name, n in limits.items()}}
    changed.pop("binning", None)
    return changed


def without(study, metric, variable):
    """The study of a metric without a variable; nothing in its options is about that variable."""
    changed = only(study, metric, copy.deepcopy((study["metrics"] or {})[metric] or {}))
    changed["linking_variables"] = [one for one in changed["linking_variables"] if one["name"] != variable]
    options = changed["metrics"][metric]
    for name in ("scores", "bands"):
        if name in options:
            options[name] = {key: value for key, value in options[name].items() if key != variable}
    if "partial" in options:
        options["partial"] = [name for name in options["partial"] if name != variable]
    return changed


class One(NamedTuple):
    """What a study of one metric finds: its line, and the records that are suspected, and confirmed."""

    line: dict
    records: tuple[set, set]


def lines_without(weights, variable):
    """The weights of a study without the lines of a variable; so many others may differ that the rest is enough."""
    levels = weights.levels[weights.levels["variable"] != variable]
    least, tolerance = weights.model["least_weight"].iloc[0], -1
    others = [list(own["weight"]) for _, own in levels.groupby("variable")]
    of_numbers = levels["decimals"].notna() & levels["up_to"].isna() & levels["above"].notna()
    lost = []
    for at, (_, own) in enumerate(levels.groupby("variable")):
        ends = own[of_numbers[own.index]]
        worst = own[own["level"] == "differ"] if ends.empty else ends
        lost.append(max(others[at]) - worst["weight"].max())
    lost.sort()
    for n in range(len(lost) + 1):
        if round(sum(map(max, others)) - sum(lost[:n]) - least, 9) >= 0:
            tolerance = n
    return Estimates(levels, weights.model.assign(tolerance=tolerance))


def one_by_one(study, rows, weights=None):
    """What a study of one metric finds, which may be given its weights."""
    tables = run(study, *rows)
    ((metric, found),) = tables.metrics.items()
    settings = linkage_step.attacking(tables.study)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    if weights is not None:
        tables = attack.attack(settings, files, ScoringContext(weights=weights))
    claims = attack.claim(settings, files, Attack(None, tables.metrics, tables.rates, None)).claims[metric]
    whole = tables.rates[tables.rates["stratum"] == "ALL"].iloc[0].drop(["stratum", "metric"])
    line = {**whole.to_dict(), **summarize({metric: claims}, None)[OF_CLAIMS].iloc[0].to_dict()}
    pairs = found.positions.to_pylist()
    return One(line, ({pair["puf"] for pair in pairs}, {pair["puf"] for pair in pairs if pair["confirmed"]}))


def check(line, expected):
    """A line has the expected numbers."""
    for column, value in expected.items():
        assert line[column] == pytest.approx(value, rel=1e-12, nan_ok=True), column


def check_agreement(lines, study, rows):
    """Lines of the agreement of metrics are those of sets of pairs."""
    expected = judge(study, *rows)
    if any(almost_tied(metric.claimed) for metric in expected.metrics.values()):
        return
    links = distinct_links(study, prepare(study, "puf", rows[0]), prepare(study, "eif", rows[1]), rows[2])
    rates = oracle.agreement(study, *rows, {name: metric.suspected for name, metric in expected.metrics.items()})
    of_claims = judge({**study, "rank_filter": {"max_pairs": "5"}}, *rows).metrics.values()
    made = oracle.agreeing([metric.suspected for metric in of_claims], links)
    assert [line["detail"] for line in lines] == [str(k) for k in range(2, len(expected.metrics) + 1)]
    for line in lines:
        own = {
            column: math.nan if value is None else float(value)
            for column, value in rates[int(line["detail"])]["ALL"].items()
        }
        check(line, {column: value for column, value in own.items() if column not in OF_ONE_METRIC})
        claims = oracle.lines([claim for claim in made if claim[0] >= int(line["detail"])], study, low_is_best=False)
        *_, n, right, rate, _, _ = claims[-1] if claims else (0, 0, math.nan, None, None)
        numbers = {"n_claims": n, "n_right": float(right), "right_rate": float(rate)}
        check(line, numbers | {"n_at_95_percent": oracle.largest(claims, 0.95)})


@examples(40, many=300)
@given(drawn=studies(fewest=1), data=st.data())
def test_attacks_at_hand_are_those_of_studies_that_declare_them(drawn, data):
    study, *rows = drawn
    study["challenge"] = "all"
    tables = run(study, *rows)
    table, files = made(tables)
    weights = attack.compare(linkage_step.attacking(tables.study), files).weights
    declared, names = list(tables.study.chosen), [one["name"] for one in study["linking_variables"]]
    lines = {(line["kind"], line["metric"], line["detail"]): line for line in table.to_dict("records")}
    kinds = dict(iter(table.groupby("kind", sort=False)))
    assert list(kinds["declared"]["metric"]) == declared
    found = []
    for metric in declared:
        one = one_by_one(only(study, metric, copy.deepcopy(study["metrics"][metric])), rows)
        check(lines["declared", metric, ""], one.line)
        found.append(one.records)
    for metric in DEFAULTS:
        one = one_by_one(standard(study, metric), rows)
        # a standard attack that is not in the table is the study's own, with the same results
        check(lines.get(("standard", metric, ""), lines.get(("declared", metric, ""))), one.line)
        found.append(one.records)
    for at, column in enumerate(("n_suspected", "n_confirmed")):
        assert kinds["any"][column].item() == len(set.union(*(some[at] for some in found)))
    check_agreement(kinds["agreement"].to_dict("records") if "agreement" in kinds else [], study, rows)
    if (known := lines.get(("informed", "fellegi_sunter", ""))) is not None:
        options = study["metrics"].get("fellegi_sunter") or {}
        is_blind = "fellegi_sunter" in declared and options.get("m") != "informed"
        own = only(study, "fellegi_sunter", options) if is_blind else standard(study, "fellegi_sunter")
        own["metrics"]["fellegi_sunter"] = {**own["metrics"]["fellegi_sunter"], "m": "informed"}
        check(known, one_by_one(own, rows).line)
    tried = data.draw(st.lists(st.sampled_from([(m, n) for m in declared for n in names]), max_size=3, unique=True))
    for metric, name in tried:
        own = without(study, metric, name)
        line = lines.get(("without", metric, name))
        try:
            linkage_step.attacking(type(tables.study).model_validate(own))
        except ValidationError:
            assert line is None
            continue
        assert line is not None
        check(line, one_by_one(own, rows, lines_without(weights, name) if metric == "fellegi_sunter" else None).line)
    for kind in {"join", "without"} & kinds.keys():
        order = kinds[kind]["n_confirmed"].tolist()
        assert order == sorted(order, reverse=True)


@examples(100, many=300)
@given(drawn=studies(fewest=1))
def test_joins_equal_brute_force(drawn):
    study, *rows = drawn
    study = {**study, "challenge": "all", "metrics": {"taxicab": {}}}
    tables = run(study, *rows)
    table, files = made(tables, standard=None)  # other metrics join nothing
    names = [one["name"] for one in study["linking_variables"]]
    sides = []
    for side in ("puf", "eif"):
        strata = tables.strata[side]["stratum"].to_pylist()
        records = [
            {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
            for row in files.prepared[side].select(names).to_pylist()
        ]
        sides.append([{**row, "stratum": stratum} for row, stratum in zip(records, strata, strict=True)])
    links = set(zip(*(files.iuf[side].to_pylist() for side in ("puf", "eif")), strict=True))
    found = {frozenset(line["detail"].split("+")): line for line in table.to_dict("records") if line["kind"] == "join"}
    assert set(found) == set(joins.sets(names))
    for own, line in found.items():
        claims, right = joins.joined(*sides, links, own)
        numbers = ["n_suspected", "n_pairs", "n_single", "n_claims"], ["n_confirmed", "n_right", "best_rank_correct"]
        assert [line[name] for name in numbers[0]] == [claims] * 4
        assert [line[name] for name in numbers[1]] == [right] * 3
        assert line["conditional_rate"] == pytest.approx(right / claims if claims else np.nan, nan_ok=True)
        assert line["confirmed_rate"] == right / len(sides[0])
        assert line["n_linked"] == len({p for p, _ in links})
        assert line["n_at_95_percent"] == (claims if claims and right / claims >= 0.95 else 0)


@pytest.mark.parametrize("order_of", ["of the survey", "of keys", "reversed"])
@examples(10)
@given(seed=st.integers(0, 2**32 - 1), metrics=st.sampled_from([["taxicab"], ["fellegi_sunter", "adhoc"]]))
def test_the_order_of_the_files_is_an_attack_with_one_more_variable(order_of, seed, metrics):
    puf, eif, links = files(np.random.default_rng(seed), order_of, "noise", n=300)
    rows = [file.astype(object).astype(str).to_dict("records") for file in (puf, eif)]
    variables = [{"name": name, "type": kind} for name, kind in TYPES.items()]
    study = {**ORDERED, "metrics": {name: {} for name in metrics}}
    iuf = [{"p": p, "e": e} for p, e in links]
    table, _ = made(run(study, *rows, iuf))
    (line,) = table[table["kind"] == "order"].to_dict("records")
    assert line["detail"] == ("keys" if order_of == "of keys" else "rows")
    of_metrics = table[table["kind"].isin(["declared", "standard"])]
    best = of_metrics.sort_values(["n_right", "n_confirmed"], ascending=False, kind="stable").iloc[0]
    assert line["metric"] == best["metric"]
    # The position that brings links nearest, as a study would have it that declares it.
    strata, keys = ([[row[name] for row in side] for side in rows] for name in ("region", "key"))
    linked = [(keys[0].index(p), keys[1].index(e)) for p, e in links]
    ranks = [list(range(len(side))) for side in rows]
    numbers = [ordering.serial(side) for side in keys]
    own, other = numbers if order_of == "of keys" else ranks
    if order_of == "reversed":
        other = [-one for one in other]
    scales = [
        [ordering.positions(side, of, within=within) for side, of in zip((own, other), strata, strict=True)]
        for within in (True, False)
    ]
    if order_of == "of keys":
        scales.append([own, [one + np.median([own[p] - other[e] for p, e in linked]) for one in other]])
    near = [ordering.nearer(*scale, strata[1], linked) for scale in scales]
    chosen = scales[int(np.argmin(near))]
    placed = [
        [{**row, "position": repr(float(place))} for row, place in zip(side, places, strict=True)]
        for side, places in zip(rows, chosen, strict=True)
    ]
    changed = {**study, "linking_variables": [*variables, {"name": "position", "type": "numeric"}]}
    check(line, one_by_one(only(changed, best["metric"], DEFAULTS[best["metric"]]), [*placed, iuf]).line)


def test_files_in_no_order_have_no_such_attack():
    puf, eif, links = files(np.random.default_rng(5), "random", "none", n=300)
    rows = [file.astype(object).astype(str).to_dict("records") for file in (puf, eif)]
    table, _ = made(run(ORDERED, *rows, [{"p": p, "e": e} for p, e in links]))
    assert "order" not in set(table["kind"])


@examples(10)
@given(drawn=studies(fewest=1))
def test_attacks_side_by_side_are_those_one_after_another(drawn):
    study, *rows = drawn
    tables = run(study | {"challenge": "all"}, *rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attacks, "MAX_SIDE_BY_SIDE", -1)
        in_turn, _ = made(tables, threads=2)
    pd.testing.assert_frame_equal(made(tables, threads=3)[0], made(tables)[0], check_exact=True)
    pd.testing.assert_frame_equal(in_turn, made(tables)[0], check_exact=True)


@examples(40)
@given(drawn=studies(fewest=1), work=st.sampled_from([0.0, 0.06, 0.2, 0.6, 3.0]))
def test_a_limit_on_work_leaves_out_attacks_and_changes_none(drawn, work):
    study, *rows = drawn
    every, some = (made(run(study | {"challenge": how}, *rows))[0] for how in ("all", {"work": str(work)}))
    keys = ["kind", "metric", "detail"]
    assert set(map(tuple, every[keys].values)) == set(map(tuple, some[keys].values))
    lines = every.set_index(keys)
    for line in some.to_dict("records"):
        if not np.isnan(line["n_suspected"]):
            of_all = lines.loc[tuple(line[key] for key in keys)]
            assert line["n_confirmed"] == of_all["n_confirmed"]
            assert line["conditional_rate"] == pytest.approx(of_all["conditional_rate"], nan_ok=True)
    tried = some[some["n_suspected"].notna()]
    assert set(tried["kind"]) <= {"declared", "any", "agreement"} if work < 0.05 else len(tried) <= len(every)
