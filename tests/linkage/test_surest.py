"""The surest claims and the agreement of metrics are what the oracle says, and no link decides their order."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import surest as oracle
from oracles.checks import almost_tied
from oracles.preparing import distinct_links, prepare
from oracles.strategies import studies
from oracles.study import run as judge
from reident.linkage import agreement_of_metrics, attack, batches, claims, surest
from reident.linkage import step as linkage_step
from reident.linkage.attack import Attack, AttackFiles
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Following, Scored
from reident.linkage.settings import ClaimSettings
from reident.sections.linkage import Rates
from workflow.library_run import run

SCORES = st.sampled_from([0.0, 0.125, 0.25, 1 / 3, 0.5, 2.0])
RECORDS = st.lists(st.lists(SCORES, max_size=6), max_size=9)


def pairs_of(records):
    """All pairs of records with these scores."""
    return [(puf, eif, score) for puf, scores in enumerate(records) for eif, score in enumerate(scores)]


def claimed(records, keep, *, low_is_best, ranked=True):
    """The claims of records with these scores, of whose ranks those with at most `keep` pairs are kept."""
    rows, following = [], []
    for puf, scores in enumerate(records):
        levels = sorted(set(scores), reverse=not low_is_best)
        following.append((levels[1], scores.count(levels[1])) if levels[1:] else (0.0, 0))
        n = 0
        for level in levels:
            n += scores.count(level)
            if n <= keep:
                rows += [(puf, eif, level) for eif, score in enumerate(scores) if score == level]
    puf, eif, score = (np.array(column) for column in zip(*rows, strict=True)) if rows else np.empty((3, 0))
    after = Following(*(np.array(column) for column in zip(*following, strict=True))) if following else None
    scored = Scored(puf.astype(int), eif.astype(int), score.astype(float), np.empty(0, bool), following=after)
    return claims.table(claims.claims(scored, ranked=ranked))


def links_of(pairs):
    columns = np.array(sorted(pairs), np.int32).reshape(-1, 2)
    return pa.table({"puf": columns[:, 0], "eif": columns[:, 1]})


def check_lines(found, expected):
    assert len(found) == len(expected)
    for row, (score, following, candidates, after, n, right, rate, low, high) in zip(
        found.itertuples(index=False), expected, strict=True
    ):
        assert row.score == score
        assert (row.n_candidates, row.n_next) == (candidates, after)
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
    keep=st.integers(5, 7),
    ranked=st.booleans(),
    rows=st.sampled_from([1, 3, 2**20]),
    method=st.sampled_from(["clopper-pearson", "wilson"]),
)
def test_claims_are_ordered_as_the_oracle_orders_them(
    records, truth, low_is_best, keep, ranked, rows, method, monkeypatch_rows
):
    monkeypatch_rows(rows)
    made = claimed(records, keep if ranked else 100, low_is_best=low_is_best, ranked=ranked)
    rates = {"interval": method, "level": "0.9"}
    settings = ClaimSettings(low_is_best, Rates.model_validate(rates))
    shards = [made.filter(pc.equal(pc.bit_wise_and(made["puf"], 1), part)) for part in (0, 1)]
    found, of_shards = (surest.order(settings, sources, links_of(truth)) for sources in ([made], shards))
    pd.testing.assert_frame_equal(found, of_shards, check_exact=True)
    expected = oracle.lines(
        oracle.claims(pairs_of(records), truth, low_is_best=low_is_best, most=5 if ranked else None),
        {"rates": rates},
        low_is_best=low_is_best,
    )
    check_lines(found, expected)
    check_summary(surest.summarize({"m": found}, 0.6).iloc[0], expected)
    points = surest.curves({"m": found})
    assert points["n_right"].tolist() == pytest.approx(
        [float(oracle.right_among(expected, n)) for n in points["n_claims"]]
    )


def check_summary(line, expected):
    n = expected[-1][4] if expected else 0
    assert line["n_claims"] == n
    assert line["n_right"] == pytest.approx(float(expected[-1][5]) if expected else 0)
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


@examples(60, many=300)
@given(drawn=studies(fewest=1))
def test_the_agreement_of_the_metrics_of_a_study_is_that_of_sets(drawn):
    study, *rows = drawn
    tables, expected = run(study, *rows), judge(study, *rows)
    files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
    claims, made = attack.claim(
        linkage_step.attacking(tables.study), files, Attack(None, tables.metrics, tables.rates, None)
    )
    suspected = {name: metric.suspected for name, metric in expected.metrics.items()}
    if len(suspected) == 1:
        assert made.agreement_rates.empty
        assert made.agreement_claims.empty
        return
    strata = {
        row[0]: tuple(row[1:])
        for row in tables.manifest[["stratum", *(v.name for v in tables.study.strata)]].itertuples(index=False)
    }
    by_number = oracle.agreement(study, *rows, suspected)
    assert len(made.agreement_rates) == len(by_number) * (1 + len(strata))
    for row in made.agreement_rates.to_dict("records"):
        own = by_number[row["metrics"]][strata.get(row["stratum"], "ALL")]
        for column in set(row) - {"metrics", "stratum"}:
            value = own[column]
            assert row[column] == pytest.approx(
                float("nan") if value is None else float(value), rel=1e-12, nan_ok=True
            ), column
    assert made.surest["metric"].tolist() == [*claims, "agreement"]
    if not any(almost_tied(metric.claimed) for metric in expected.metrics.values()):
        of_claims = judge({**study, "rank_filter": {"max_pairs": "5"}}, *rows).metrics.values()
        agreeing = oracle.agreeing([metric.suspected for metric in of_claims], links_by_key(study, *rows))
        check_certainties(made.agreement_claims, agreeing, study, low_is_best=False)


@examples(200, many=300)
@given(
    drawn=studies(fewest=1),
    keep=st.integers(0, 8),
    max_pairs=st.integers(1, 7),
    n_shards=st.integers(1, 3),
    threads=st.integers(1, 2),
)
def test_claims_of_a_study_are_those_of_all_pairs_whatever_is_kept(drawn, keep, max_pairs, n_shards, threads):
    study, *rows = drawn
    expected = judge(study, *rows)
    study["rank_filter"] = {"max_pairs": str(max_pairs), "keep": str(max_pairs + keep)}
    tables = run(study, *rows, n_shards, threads)
    links = links_by_key(study, *rows)
    for name, metric in expected.metrics.items():
        if almost_tied(metric.claimed):
            continue
        part, most = linkage_step.claiming(tables.study, name), 5 if REGISTRY[name].ranked else None
        found = surest.order(part, [tables.metrics[name].claims], tables.links)
        made = oracle.claims(metric.claimed, links, low_is_best=part.low_is_best, most=most)
        check_certainties(found, made, study, low_is_best=part.low_is_best)
        limits = {"most": max_pairs if REGISTRY[name].ranked else None, "least": metric.least}
        guesses = oracle.best_guess(metric.claimed, links, low_is_best=part.low_is_best, **limits)
        check_best_guess(tables, name, guesses)


def links_by_key(study, puf, eif, iuf):
    """The true links, as pairs of keys."""
    return distinct_links(study, prepare(study, "puf", puf), prepare(study, "eif", eif), iuf)


def check_certainties(found, made, study, *, low_is_best):
    """Lines of surest claims are those of the claims that the oracle sorts, scores but for their last decimal."""
    columns = ["n_candidates", "n_next", "n_claims", "n_right", "score", "next_score"]
    lines = [
        [c, after, n, float(right), float(score), math.nan if following is None else float(following)]
        for score, following, c, after, n, right, *_ in oracle.lines(made, study, low_is_best=low_is_best)
    ]
    assert len(found) == len(lines)
    for row, line in zip(found[columns].to_numpy().tolist(), lines, strict=True):
        assert row == pytest.approx(line, rel=0, abs=2e-12, nan_ok=True)


def check_best_guess(tables, metric, guesses):
    """The rates of the whole study and of each stratum have these best guesses, by the key of the PUF record."""
    keys = list(zip(*(tables.prepared["puf"][name].to_pylist() for name in tables.study.keys["puf"]), strict=True))
    strata = [
        None if at is None else tables.manifest["stratum"][at] for at in tables.strata["puf"]["stratum"].to_pylist()
    ]
    for row in tables.rates[tables.rates["metric"] == metric].to_dict("records"):
        own = {key for key, stratum in zip(keys, strata, strict=True) if row["stratum"] in ("ALL", stratum)}
        shares = [share for key, share in guesses.items() if key in own]
        assert row["n_suspected"] == len(shares)
        assert row["best_rank_correct"] == pytest.approx(float(sum(shares)), rel=1e-14)
        rate = float(sum(shares) / len(shares)) if shares else math.nan
        assert row["best_rank_correct_rate"] == pytest.approx(rate, rel=1e-14, nan_ok=True)


@examples(100, many=300)
@given(drawn=studies(fewest=1), limits=st.tuples(*[st.integers(1, 8)] * 4), n_shards=st.integers(1, 3))
def test_no_number_of_the_surest_claims_depends_on_the_rank_filter_shards_or_threads(drawn, limits, n_shards):
    study, *rows = drawn
    found = []
    for max_pairs, more, shards, threads in ((*limits[:2], 1, 1), (*limits[2:], n_shards, 2)):
        study["rank_filter"] = {"max_pairs": str(max_pairs), "keep": str(max_pairs + more)}
        tables = run(study, *rows, shards, threads)
        files = AttackFiles(tables.prepared, tables.links, tables.strata, tables.manifest)
        made = Attack(None, tables.metrics, tables.rates, None)
        claimed, agreement = attack.claim(linkage_step.attacking(tables.study), files, made)
        found.append([*claimed.values(), agreement.agreement_claims, agreement.surest, agreement.curve])
    for one, other in zip(*found, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


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
        part = linkage_step.claiming(tables.study, name)
        before, after = (surest.order(part, [metric.claims], links) for links in (tables.links, permuted))
        columns = ["score", "next_score", "n_candidates", "n_next", "n_claims"]
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
        assert metric.claims.equals(after.metrics[name].claims)


def test_equally_sure_claims_add_their_mean():
    made = claimed([[0.0, 0.5], [0.0, 0.5], [0.25], [0.0, 2.0]], 20, low_is_best=True)
    found = surest.order(ClaimSettings(True, Rates()), [made], links_of({(0, 0)}))
    assert found["next_score"].fillna(-1).tolist() == [2.0, 0.5, -1]
    assert found["n_claims"].tolist() == [1, 3, 4]
    assert found["n_right"].tolist() == [0.0, 1.0, 1.0]
    assert surest.right_among(found, np.array([2])).tolist() == [0.5]


def test_fewer_candidates_and_then_fewer_at_the_next_rank_come_first():
    records = [[0.0, 0.0, 0.5], [0.0, 0.5, 0.5], [0.0, 0.5], [0.0] * 6]
    made = claimed(records, 20, low_is_best=True)
    found = surest.order(ClaimSettings(True, Rates()), [made], links_of({(2, 0), (1, 0)}))
    assert found[["n_candidates", "n_next"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 1]]
    assert found["n_right"].tolist() == [1.0, 2.0, 2.0]


def test_without_a_suspected_record_nothing_is_claimed():
    found = surest.order(ClaimSettings(True, Rates()), [claimed([[]], 20, low_is_best=True)], links_of(set()))
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
