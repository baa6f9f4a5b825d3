"""How far a long step is: an estimate that can be believed, and the line of the log that carries it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger.progress import SILENCE, Estimate

REPORTS = st.lists(st.tuples(st.floats(0, 1e6, allow_nan=False), st.floats(-0.5, 1.5, allow_nan=False)), max_size=30)


@given(REPORTS, st.floats(0, 1e6))
def test_the_time_left_is_never_negative_and_the_share_never_falls(reports, later):
    estimate, shares = Estimate(), [0.0]
    for worked, share in reports:
        estimate.report(worked, share)
        shares.append(estimate.share)
        assert (estimate.left() or 0) >= 0
    assert (estimate.left(later) or 0) >= 0
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


@given(total=st.floats(60, 1e5), steps=st.lists(st.floats(0.001, 1), min_size=2, max_size=40))
def test_at_a_steady_pace_the_end_stays_where_it_is(total, steps):
    """Whatever the distances between reports: what is done plus what is left is the total."""
    estimate, share = Estimate(), 0.0
    for step in steps:
        share = min(share + step / sum(steps), 1.0)
        estimate.report(share * total, share)
        left = estimate.left()
        if left is not None:
            assert share * total + left == pytest.approx(total, rel=1e-6)


@given(load=st.floats(0, 120), total=st.floats(200, 2000))
def test_the_time_to_read_the_files_counts_for_less_and_less(load, total):
    """Of a step that reads its files and then works steadily, the end is right once half of the time was work."""
    estimate = Estimate()
    for per_cent in range(1, 101):
        share = per_cent / 100
        worked = load + share * total
        estimate.report(worked, share)
        if worked > max(2 * (load + 0.011 * total), SILENCE):
            assert worked + estimate.left() == pytest.approx(load + total, rel=1e-6)


def test_between_two_reports_the_time_left_goes_down_with_the_clock():
    estimate = Estimate()
    estimate.report(20, 0.2)
    assert estimate.left(20) == pytest.approx(80)
    assert estimate.left(30) == pytest.approx(70)
    assert estimate.left(500) == 0
