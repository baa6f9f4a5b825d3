"""The search for sets of coarser values, on made-up rates."""

import itertools

import pandas as pd
import pytest
import yaml
from reident.linkage.recodings import LEFT_OUT, Change
from reident.sections.coarsening import Coarsening
from reident.sections.decision import Decision
from reident.suggestion.outcome import outcome, sentence, settings
from reident.suggestion.search import Result, Search
from reident.utility.frontier import dominated

DECISION = Decision(confirmed_rate_at_most=0.1)
CHANGES = {
    name: [
        Change(name, "width 5", Coarsening(width=5)),
        Change(name, "width 10", Coarsening(width=10)),
        Change(name, LEFT_OUT, None),
    ]
    for name in ("age", "income", "rooms")
}
PREVENTS = {"age": 0.2, "income": 0.1, "rooms": 0.02}


def rate(chosen):
    """Each step of a change takes off a part of the rate."""
    return max(0.6 - sum(PREVENTS[name] * (place + 1) for name, place in chosen), 0.0)


def rates(value, tolerance=1, n_suspected=20):
    line = {
        "metric": "taxicab", "tolerance": tolerance, "conditional_rate": 0.5, "conditional_low": 0.4,
        "conditional_high": 0.6, "best_rank_correct_rate": 0.2, "single_rate": 0.1, "confirmed_rate": value,
        "reach": value, "n_confirmed": 10, "n_suspected": n_suspected,
    }  # fmt: skip
    return pd.DataFrame([line])


def result(chosen, value=None):
    lost = sum([0.1, 0.2, 1.0][place] for _, place in chosen) / 3
    return Result(rates(rate(chosen) if value is None else value), {"values_changed": lost, "pmse": 0.0, "loss": lost})


PREVENTED = {(name, place): PREVENTS[name] * (place + 1) for name in CHANGES for place in range(3)}


def search(run=result, changes=CHANGES, most=50):
    looked = Search(changes, PREVENTED, DECISION, run)
    return looked, looked.search(most)


def every_set():
    places = [[None, 0, 1, 2]] * 3
    for combination in itertools.product(*places):
        yield tuple((name, at) for name, at in zip(CHANGES, combination, strict=True) if at is not None)


def test_the_best_set_is_that_of_all_sets():
    _, tried = search()
    meeting = [chosen for chosen in every_set() if rate(chosen) <= 0.1]
    least = min(result(chosen).losses["loss"] for chosen in meeting)
    assert tried[0].meets
    assert tried[0].loss == pytest.approx(least)


def test_no_set_is_tried_twice_and_the_study_comes_first():
    seen = []

    def run(chosen):
        seen.append(chosen)
        return result(chosen)

    search(run)
    assert seen[0] == ()
    assert len(set(seen)) == len(seen) <= 51
    assert all(len(dict(chosen)) == len(chosen) for chosen in seen)


@pytest.mark.parametrize("most", [0, 1, 7])
def test_the_number_of_runs_is_bounded(most):
    looked, tried = search(lambda chosen: result(chosen, 0.5), most=most)
    assert looked.n_runs == most
    assert len(tried) == most + 1


def test_a_study_that_meets_its_limits_is_not_changed():
    looked, tried = search(lambda chosen: result(chosen, 0.05))
    assert [one.chosen for one in tried] == [()]
    assert looked.n_runs == 0
    told = sentence(outcome(tried, CHANGES, DECISION).suggestions)
    assert told == "every metric meets its limits without coarser values"


def test_without_a_set_that_meets_the_limits_the_sentence_says_so():
    _, tried = search(lambda chosen: result(chosen, 0.5))
    told = sentence(outcome(tried, CHANGES, DECISION).suggestions)
    assert told.startswith("no set of coarser values meets the limits within 50 runs")
    one_change = {"age": CHANGES["age"][:1]}
    _, tried = search(lambda chosen: result(chosen, 0.5 if chosen else 0.6), one_change)
    told = sentence(outcome(tried, one_change, DECISION).suggestions)
    assert told == "no set of coarser values meets the limits, after 1 run; the nearest is age: width 5"


def test_sets_that_no_other_dominates():
    _, tried = search()
    risks = {one.chosen: float(one.result.rates["confirmed_rate"].iloc[0]) for one in tried}
    worse = dominated([(risks[one.chosen], one.loss) for one in tried])
    for one, less in zip(tried, worse, strict=True):
        others = [
            other
            for other in tried
            if risks[other.chosen] <= risks[one.chosen]
            and other.loss <= one.loss
            and (risks[other.chosen] < risks[one.chosen] or other.loss < one.loss)
        ]
        assert less == bool(others)


def test_a_set_without_a_verdict_dominates_none_and_is_not_among_the_best():
    def run(chosen):
        silent = rates(0.0, tolerance=-1, n_suspected=0)
        return result(chosen)._replace(rates=silent) if ("age", 0) in chosen else result(chosen)

    _, tried = search(run)
    made = outcome(tried, CHANGES, DECISION)
    unknown = [one.n_open > 0 for one in tried]
    assert any(unknown)
    assert set(made.suggestions["dominated"][unknown]) == {"yes"}
    known = [one for one in tried if not one.n_open]
    alone = outcome(known, CHANGES, DECISION).suggestions["dominated"].tolist()
    assert made.suggestions["dominated"][[not one for one in unknown]].tolist() == alone


def test_variants_to_paste_are_settings_of_the_study_file():
    _, tried = search()
    made = outcome(tried, CHANGES, DECISION)
    pasted = yaml.safe_load(made.variants)["variants"][0]["combinations"]
    assert len(pasted) <= 10
    for label, own in pasted.items():
        assert own == settings(tried[int(label) - 1], CHANGES)
    known = {"linking_variables.age": None, "linking_variables.rooms.coarsen": {"width": "5"}}
    (one,) = [one for one in [*tried] if settings(one, CHANGES) == known] or [None]
    assert one is None or one.chosen == (("age", 2), ("rooms", 0))
    assert made.suggestions["place"].tolist() == list(range(1, len(tried) + 1))
