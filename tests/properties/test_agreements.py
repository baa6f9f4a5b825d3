"""The rates by min_agree are those of studies that ask for so many agreements (METHODS §4.5, §5)."""

from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles.strategies import studies
from reident.linkage.agreements import METRIC, agreements
from reident.pipeline import parts
from workflow.library_run import run


@examples(12)
@given(drawn=studies(fewest=1), agreement=st.sampled_from(["half_gap", "midpoint", {"nearest": "3"}]))
def test_the_range_is_that_of_studies_of_their_own(drawn, agreement):
    study, *rows = drawn

    def made(least):
        own = {**study, "metrics": {METRIC: {"agreement": agreement, "min_agree": str(least)}}}
        return run(own, *rows)

    whole = made(1)
    found = agreements(parts.counting(whole.study), whole.metrics[METRIC].positions, whole.rates)
    assert found["min_agree"].tolist() == [*range(1, len(study["linking_variables"]) + 1)]
    for row in found.to_dict("records"):
        rates = made(row["min_agree"]).rates.set_index("stratum").loc["ALL"]
        for name in ("n_puf", "n_pairs", "n_suspected", "n_confirmed", "n_confirmed_pairs"):
            assert rates[name] == row[name], name
