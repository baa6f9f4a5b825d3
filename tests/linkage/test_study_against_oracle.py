"""The library's steps give what the oracle gives, on random small studies; so do ends of bands and fewer agreements."""

from decimal import Decimal
from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import keyed_by
from oracles.checks import check_ambiguous, check_limit, check_study, rounding_splits_a_tie
from oracles.strategies import studies
from oracles.study import CLAIMED, METRICS
from oracles.study import run as judge
from reident.linkage import batches, quantiles, record_keys
from reident.linkage import step as linkage_step
from reident.linkage.agreements import METRIC, agreements
from reident.linkage.metrics import REGISTRY
from workflow.library_run import run

# One shard, a few, more than there are pairs: the packing must not show.
SHARDS = st.sampled_from([1, 2, 7, 40])
# Rows of a batch, records whose keys are in memory, and records of a scope whose values are sorted with others.
SIZES = st.sampled_from([(1, 1, 0), (2, 1, 2), (3, 2, 10**3), (2**20, 2**24, 2**10)])


@examples(50)
@given(drawn=studies(fewest=1), n_shards=SHARDS, sizes=SIZES, data=st.data())
def test_a_study_is_what_the_oracle_says(drawn, n_shards, sizes, data):
    """All results of all metrics, and the counts at another rank limit than the study's."""
    study, *rows = drawn
    assert REGISTRY.keys() == study["metrics"].keys() == set(METRICS), "a metric without an oracle, or never drawn"
    with (
        patch.object(batches, "ROWS", sizes[0]),
        patch.object(record_keys, "RANGE", sizes[1]),
        patch.object(quantiles, "MAX_TOGETHER", sizes[2]),
    ):
        tables = run(study, *rows, n_shards=n_shards)
    oracle = judge(study, *rows)
    assume(not rounding_splits_a_tie(oracle, tables))  # rare: it takes a score within 1e-16 of a half
    check_study(oracle, tables)
    keep = tables.study.rank_filter.keep
    limit = data.draw(st.sampled_from([1, keep]) | st.integers(1, keep))
    at_limit, at_keep = (
        judge({**study, "rank_filter": {"max_pairs": str(most), "keep": str(most)}}, *rows)
        for most in (limit, max(keep, CLAIMED))
    )
    for metric in METRICS:
        if metric != "unicity":
            check_limit(limit, at_limit.metrics[metric], tables.metrics[metric], tables)
            check_ambiguous(at_keep.metrics[metric], tables.metrics[metric], tables)


@examples(12)
@given(drawn=studies(fewest=1), agreement=st.sampled_from(["half_gap", "midpoint", {"nearest": "3"}]))
def test_the_range_is_that_of_studies_of_their_own(drawn, agreement):
    study, *rows = drawn

    def made(least):
        own = {**study, "metrics": {METRIC: {"agreement": agreement, "min_agree": str(least)}}}
        return run(own, *rows)

    whole = made(1)
    found = agreements(linkage_step.counting(whole.study), whole.metrics[METRIC].positions, whole.rates)
    assert found["min_agree"].tolist() == [*range(1, len(study["linking_variables"]) + 1)]
    for row in found.to_dict("records"):
        rates = made(row["min_agree"]).rates.set_index("stratum").loc["ALL"]
        for name in ("n_puf", "n_pairs", "n_suspected", "n_confirmed", "n_confirmed_pairs"):
            assert rates[name] == row[name], name


HUNDREDTHS = st.one_of(st.integers(-300, 300), st.integers(-(10**11), 10**11)).map(
    lambda n: f"{'-' if n < 0 else ''}{abs(n) // 100}.{abs(n) % 100:02d}"
)


@examples(60)
@given(
    puf=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    eif=st.lists(HUNDREDTHS, min_size=1, max_size=6),
    within=st.sampled_from(["0", "0.01", "0.05", "0.1", "0.3", "0.7", "1000", "50000000.1"]),
    relative=st.sampled_from(["true", "false"]),
)
def test_band_ends(puf, eif, within, relative):
    # EIF values at the very ends of the band around a PUF value, and just beyond
    middle, width = Decimal(puf[0]), Decimal(within)
    reach = width * abs(middle) if relative == "true" else width
    step = Decimal("0.0001") if abs(middle) < 10**8 else Decimal("0.01")
    ends = [middle + sign * (reach + beyond) for sign in (-1, 1) for beyond in (0, step)]
    eif = [*eif, *(f"{end:f}" for end in ends if len(end.as_tuple().digits) <= 14)]
    rows = [[{"id": str(i), "x": x} for i, x in enumerate(side)] for side in (puf, eif)]
    study = {
        "id": "bands",
        "files": keyed_by(["id"], ["id"]) | {"iuf": {"path": "iuf.csv", "puf_id": ["p"], "eif_id": ["e"]}},
        "linking_variables": [{"name": "x", "type": "numeric"}],
        "metrics": {"adhoc": {"scores": {"x": {"bands": [{"within": within, "score": "5", "relative": relative}]}}}},
    }
    check_study(judge(study, *rows, []), run(study, *rows, []))
