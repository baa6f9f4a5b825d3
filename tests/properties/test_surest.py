"""The surest claims and the agreement of metrics are what the oracle says, and no link decides their order."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import surest as oracle
from oracles.strategies import studies
from oracles.study import run as judge
from reident.linkage import agreement_of_metrics, attack, batches, surest
from reident.linkage.attack import Attack, AttackFiles
from reident.linkage.metrics import REGISTRY
from reident.linkage.ranking import ranks
from reident.linkage.settings import ClaimSettings
from reident.pipeline import step_settings
from reident.sections.linkage import Rates
from workflow.library_run import run

SCORES = st.sampled_from([0.0, 0.125, 0.25, 1 / 3, 0.5, 2.0])
RECORDS = st.lists(st.lists(SCORES, max_size=6), max_size=9)


def ranked(records, *, low_is_best):
    """Pairs of records with these scores as the rank filter leaves them; one without a pair is ambiguous."""
    rows = []
    for puf, scores in enumerate(records):
        rows += [(puf, eif, score) for eif, score in enumerate(sorted(scores, reverse=not low_is_best))]
        rows += [] if scores else [(puf, None, None)]
    puf, eif, score = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {"puf": pa.array(puf, pa.int32()), "eif": pa.array(eif, pa.int32()), "score": pa.array(score, pa.float64())}
    )
    mask = np.array([value is None for value in eif], bool)
    limits = ranks(table["puf"].to_numpy(), table["score"].to_numpy()).max_pairs
    return table.append_column("max_pairs", pa.array(limits, mask=mask))


def links_of(pairs):
    columns = np.array(sorted(pairs), np.int32).reshape(-1, 2)
    return pa.table({"puf": columns[:, 0], "eif": columns[:, 1]})


def check_lines(found, expected):
    assert len(found) == len(expected)
    for row, (score, following, n, right, rate, low, high) in zip(found.itertuples(index=False), expected, strict=True):
        assert row.score == score
        assert row.next_score == following if following is not None else math.isnan(row.next_score)
        assert row.n_claims == n
        assert row.n_right == pytest.approx(float(right), rel=1e-14)
        assert row.right_rate == pytest.approx(float(rate), rel=1e-14)
        if low is not None:
            assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)
        else:
            assert 0 <= row.low < row.right_rate < row.high <= 1


@examples(300)
@given(
    records=RECORDS,
    truth=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 5))),
    low_is_best=st.booleans(),
    max_pairs=st.integers(1, 5),
    rows=st.sampled_from([1, 3, 2**20]),
    method=st.sampled_from(["clopper-pearson", "wilson"]),
)
def test_claims_are_ordered_as_the_oracle_orders_them(
    records, truth, low_is_best, max_pairs, rows, method, monkeypatch_rows
):
    monkeypatch_rows(rows)
    pairs = ranked(records, low_is_best=low_is_best)
    rates = {"interval": method, "level": "0.9"}
    found = surest.order(ClaimSettings(low_is_best, max_pairs, Rates.model_validate(rates)), pairs, links_of(truth))
    scored = [
        row
        for row in zip(*(pairs[name].to_pylist() for name in ("puf", "eif", "score")), strict=True)
        if row[1] is not None
    ]
    within = [
        row
        for row, limit in zip(scored, (x for x in pairs["max_pairs"].to_pylist() if x), strict=True)
        if limit <= max_pairs
    ]
    made = oracle.claims(scored, within, truth, low_is_best=low_is_best)
    expected = oracle.lines(made, {"rates": rates}, low_is_best=low_is_best)
    check_lines(found, expected)
    check_summary(surest.summarize({"m": found}, 0.6).iloc[0], expected)
    points = surest.curves({"m": found})
    assert points["n_right"].tolist() == pytest.approx(
        [float(oracle.right_among(expected, n)) for n in points["n_claims"]]
    )


def check_summary(line, expected):
    n = expected[-1][2] if expected else 0
    assert line["n_claims"] == n
    assert line["n_right"] == pytest.approx(float(expected[-1][3]) if expected else 0)
    for percent in (50, 80, 90, 95):
        assert line[f"n_at_{percent}_percent"] == oracle.largest(expected, percent / 100)
    assert line["n_at_limit"] == oracle.largest(expected, 0.6)
    sizes = {"10": 10, "50": 50, "100": 100, "1_percent": math.ceil(n / 100), "10_percent": math.ceil(n / 10)}
    assert (line["n_of_1_percent"], line["n_of_10_percent"]) == (sizes["1_percent"], sizes["10_percent"])
    for name, size in sizes.items():
        right = oracle.right_among(expected, size) if size else None
        assert line[f"right_of_{name}"] == pytest.approx(float("nan") if right is None else float(right), nan_ok=True)


@pytest.fixture(scope="module")
def monkeypatch_rows():
    """Set the rows of a batch, until the module ends."""
    patch = pytest.MonkeyPatch()
    yield lambda rows: patch.setattr(batches, "ROWS", rows)
    patch.undo()


@examples(100)
@given(drawn=studies(fewest=1))
def test_the_agreement_of_the_metrics_of_a_study_is_that_of_sets(drawn):
    study, *rows = drawn
    tables, expected = run(study, *rows), judge(study, *rows)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    claims, made = attack.claim(
        step_settings.attacking(tables.study), files, Attack(None, tables.metrics, tables.rates, None)
    )
    suspected = {name: metric.suspected for name, metric in expected.metrics.items()}
    for name, lines in claims.items():
        whole = tables.rates[(tables.rates["metric"] == name) & (tables.rates["stratum"] == "ALL")].iloc[0]
        assert surest.summarize({name: lines}, None)["n_claims"].item() == whole["n_suspected"]
        assert (lines["n_right"].iloc[-1] if len(lines) else 0) == whole["best_rank_correct"]
    if len(suspected) == 1:
        assert made.rates.empty
        assert made.claims.empty
        return
    strata = {
        row[0]: tuple(row[1:])
        for row in tables.manifest[["stratum", *(v.name for v in tables.study.strata)]].itertuples(index=False)
    }
    by_number = oracle.agreement(study, *rows, suspected)
    assert len(made.rates) == len(by_number) * (1 + len(strata))
    for row in made.rates.to_dict("records"):
        own = by_number[row["metrics"]][strata.get(row["stratum"], "ALL")]
        for column in set(row) - {"metrics", "stratum"}:
            value = own[column]
            assert row[column] == pytest.approx(
                float("nan") if value is None else float(value), rel=1e-12, nan_ok=True
            ), column
    assert made.summary["metric"].tolist() == [*claims, "agreement"]


@examples(40)
@given(drawn=studies(fewest=1), seed=st.integers(0, 2**32 - 1))
def test_links_decide_which_claims_are_right_and_not_their_order(drawn, seed):
    study, *rows = drawn
    tables = run(study, *rows)
    if not len(tables.links):
        return
    draw = np.random.default_rng(seed)
    permuted = pa.table({"puf": tables.links["puf"], "eif": pa.array(draw.permutation(tables.links["eif"].to_numpy()))})
    for name, metric in tables.metrics.items():
        part = step_settings.claiming(tables.study, name)
        before, after = (surest.order(part, metric.suspected, links) for links in (tables.links, permuted))
        columns = ["score", "next_score", "n_claims"]
        assert before[columns].equals(after[columns])
        assert REGISTRY[name].low_is_best(tables.study.chosen[name]) == part.low_is_best


@examples(40)
@given(drawn=studies(fewest=1), seed=st.integers(0, 2**32 - 1))
def test_nothing_before_confirmation_depends_on_the_links(drawn, seed):
    study, puf, eif, iuf = drawn
    if (study["metrics"].get("fellegi_sunter") or {}).get("m") == "informed":
        return
    names = study["files"]["iuf"]["eif_id"]
    order = np.random.default_rng(seed).permutation(len(iuf))
    permuted = [{**row, **{name: iuf[at][name] for name in names}} for row, at in zip(iuf, order, strict=True)]
    before, after = run(study, puf, eif, iuf), run(study, puf, eif, permuted)
    for name, metric in before.metrics.items():
        assert metric.scores.equals(after.metrics[name].scores)
        assert metric.suspected.equals(after.metrics[name].suspected)


def test_equally_sure_claims_add_their_mean():
    pairs = ranked([[0.0, 0.5], [0.0, 0.0, 0.5], [0.25], [0.0, 2.0]], low_is_best=True)
    found = surest.order(ClaimSettings(True, 5, Rates()), pairs, links_of({(0, 0), (1, 1)}))
    assert found["next_score"].fillna(-1).tolist() == [2.0, 0.5, -1]
    assert found["n_claims"].tolist() == [1, 3, 4]
    assert found["n_right"].tolist() == [0.0, 1.5, 1.5]
    assert surest.right_among(found, np.array([2])).tolist() == [float(Fraction(3, 4))]


def test_without_a_suspected_record_nothing_is_claimed():
    nothing = ranked([[]], low_is_best=True)
    found = surest.order(ClaimSettings(True, 5, Rates()), nothing, links_of(set()))
    assert found.empty
    line = surest.summarize({"taxicab": found}, 0.95).iloc[0]
    assert (line["n_claims"], line["n_at_95_percent"], line["n_at_limit"]) == (0, 0, 0)
    assert math.isnan(line["right_rate"])
    assert surest.curves({"taxicab": found}).empty


def test_agreement_counts_a_pair_once_for_each_metric():
    def pairs(*rows):
        puf, eif, confirmed = zip(*rows, strict=True)
        return pa.table({"puf": pa.array(puf, pa.int32()), "eif": pa.array(eif, pa.int32()), "confirmed": confirmed})

    found = agreement_of_metrics.count(
        {
            "a": pairs((0, 1, True), (0, 2, False), (3, 0, False)),
            "b": pairs((0, 2, False), (2, 2, False)),
            "c": pairs((0, 2, False)),
        }
    )
    assert found.to_pydict() == {
        "puf": [0, 0, 2, 3],
        "eif": [2, 1, 2, 0],
        "score": [3, 1, 1, 1],
        "confirmed": [False, True, False, False],
    }
