"""What carries the confirmed claims, as the report shows it."""

from making.report import added
from reident.why import report as why
from why.cases import write_why

results = added(write_why)


def test_every_change_has_a_line_with_the_net_change_of_each_metric(results):
    study = results()
    shown, drawn = str(why.why_recodings(study)), why.why_carried_figure(study)
    for text in ("left out", "intervals of 10", "top code 85", "−26 (30; 4)", "+1 (12; 13)", "0 (0; 0)"):
        assert text in shown
    assert len([row for row in shown.splitlines() if "left out" in row]) == len(study.study["linking_variables"])
    assert "75.0" in drawn.alt
    assert "50.0" in str(why.why_variables(study))
