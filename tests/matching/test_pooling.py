"""The intruder who pools all synthetic files, worked by hand (METHODS §8)."""

import math

import numpy as np
import pyarrow as pa
import pytest
from making.matching import matched
from pydantic import ValidationError
from reident.errors import InputError
from reident.kernels import pooling as kernel
from reident.matching.section import Matching


def table(**columns):
    return pa.table({name: pa.array(list(cells), pa.string()) for name, cells in columns.items()})


def run(confidential, *synthetic, **keys):
    study = {
        "confidential": {"path": "confidential.csv"},
        "synthetic": [{"path": f"synthetic_{file}.csv"} for file in range(len(synthetic))],
        "known": [], "synthesized": ["v"], **keys,
    }  # fmt: skip
    return matched(Matching.model_validate(study), confidential, *synthetic)


def line(found, membership="certain"):
    return found.pooled.set_index("membership").loc[membership]


TARGET = {"targets": {"variable": "who", "equals": ["me"]}}
WHO = ["me", *"abcdefghij"]


def one_target(*files, **keys):
    """The pooled intruder's line for the first of eleven people, whose value is x; files list the values x."""
    own = table(who=WHO, v=["x", *"y" * 10])
    copies = [table(v=["x" if at in matching else "y" for at in range(11)]) for matching in files]
    return run(own, *copies, **TARGET, **keys)


def test_the_record_that_matches_most_often_is_named():
    found = line(one_target({0, 1}, {0, 2}, {0, 3}))
    assert found["expected_match_risk"] == 1
    assert found["unique_matches"] == 1
    assert found["own_probability"] == 0.5


def test_a_rarer_match_weighs_more():
    """Record 1 alone in one file, 1/1, against the own record beside two others in two files, 1/3 + 1/3."""
    found = line(one_target({1}, {0, 2, 3}, {0, 2, 3}))
    assert (found["expected_match_risk"], found["unique_matches"], found["false_match_rate"]) == (0, 1, 1)


def test_a_sum_that_equals_another_is_a_tie():
    """1/2 = 1/3 + 1/6: both records of the first file, and the two that the others share."""
    found = line(one_target({0, 1}, {2, 3, 4}, {2, 3, 5, 6, 7, 8}))
    assert found["expected_match_risk"] == 0.25
    assert found["unique_matches"] == 0


def test_a_tie_of_one_and_ten_tenths():
    """Ten sums of 1/10 in doubles are not 1; the own record matches once alone, another one ten times among ten."""
    others = [{1, *range(2, 11)}] * 10
    assert sum([0.1] * 10) != 1
    found = line(one_target({0}, *others[:10]))
    assert found["expected_match_risk"] == 1 / 11  # all ten others match alike, and the own record


def test_no_record_matches_in_any_file():
    found = line(one_target(set(), set()))
    assert (found["no_record"], found["expected_match_risk"], found["own_probability"]) == (1, 0, 0)
    assert math.isnan(found["false_match_rate"])


def test_files_in_which_nothing_matches_are_left_out():
    assert line(one_target({0, 1}, set()))["own_probability"] == 0.5


def test_one_file_is_its_own_summary():
    confidential, synthetic = table(v="aabbc"), table(v="abbcc")
    found = run(confidential, synthetic)
    for name in ("expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches"):
        assert line(found)[name] == found.summary[name].iloc[0]
    assert line(found)["own_probability"] == found.summary["expected_match_risk"].iloc[0]


class TestUncertainTargets:
    @pytest.mark.parametrize(
        ("fraction", "named"), [("1", 1), ("0.6", 1), ("0.5", 1), ("0.4999999999999", 0), ("1/3", 0)]
    )
    def test_a_record_is_named_if_it_is_at_least_as_probable_as_none(self, fraction, named):
        found = line(one_target({0}, uncertain_targets={"sampling_fraction": fraction}), "uncertain")
        assert found["unique_matches"] == named
        assert found["no_record"] == 1 - named

    @pytest.mark.parametrize(
        ("people", "named", "probability"), [("1", 2, 0.5), ("2", 2, 0.5), ("3", 2, 1 / 3), ("4", 0, 0.25)]
    )
    def test_population_counts(self, people, named, probability):
        """Two records match; of `people` in the population, people − 2 are not in the file."""
        own = table(who=WHO, v=["x", *"y" * 10], people=[people, *["7"] * 10])
        copy = table(v=["x", "x", *"y" * 9])
        found = line(run(own, copy, **TARGET, uncertain_targets={"population_count": "people"}), "uncertain")
        assert found["expected_match_risk"] == (1 / named if named else 0)
        assert found["own_probability"] == pytest.approx(probability)

    def test_a_file_in_which_nothing_matches_says_not_in_the_file(self):
        keys = {"uncertain_targets": {"sampling_fraction": "1"}}
        assert line(one_target({0}, set(), **keys), "uncertain")["unique_matches"] == 1  # 1/2 and 1/2
        assert line(one_target({0}, set(), set(), **keys), "uncertain")["no_record"] == 1  # 1/3 and 2/3

    def test_the_certain_intruder_does_not_depend_on_the_population(self):
        one, other = (
            one_target({0, 1}, {0}, **keys) for keys in ({}, {"uncertain_targets": {"sampling_fraction": "0.1"}})
        )
        assert line(one).tolist() == line(other).tolist()
        assert one.summary.equals(other.summary)
        assert one.scenarios.equals(other.scenarios)

    @pytest.mark.parametrize("people", ["0", "-1", "", "many"])
    def test_counts_that_are_not_positive_numbers(self, people):
        own = table(who=WHO, v=["x", *"y" * 10], people=[people, *["7"] * 10])
        with pytest.raises(InputError, match=r"confidential\.csv, row 2, column `people`"):
            run(own, table(v="xyyyyyyyyyy"), **TARGET, uncertain_targets={"population_count": "people"})

    def test_only_targets_need_a_count(self):
        own = table(who=WHO, v=["x", *"y" * 10], people=["3", *[""] * 10])
        found = run(own, table(v="xyyyyyyyyyy"), **TARGET, uncertain_targets={"population_count": "people"})
        assert line(found, "uncertain")["own_probability"] == pytest.approx(1 / 3)

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ({"uncertain_targets": {}}, "must have exactly one of `sampling_fraction` and `population_count`"),
            (
                {"uncertain_targets": {"sampling_fraction": "0.5", "population_count": "people"}},
                "must have exactly one of `sampling_fraction` and `population_count`",
            ),
            ({"uncertain_targets": {"sampling_fraction": "0"}}, "greater than 0"),
            ({"uncertain_targets": {"sampling_fraction": "1.1"}}, "less than or equal to 1"),
            (
                {"uncertain_targets": {"population_count": "people"}, "scenarios": [{"name": "a", "known": []}]},
                "must not be given with more than one set of known variables",
            ),
        ],
    )
    def test_sections_that_are_refused(self, keys, words):
        with pytest.raises(ValidationError, match=words):
            run(table(v="x"), table(v="x"), **keys)


def test_many_files():
    """More files than one word of a pattern has bits."""
    m = kernel.BITS + 5
    files = [{0, 1} if file else {1, 2} for file in range(m)]
    found = line(one_target(*files))
    assert (found["unique_matches"], found["true_match_rate"]) == (1, 0)
    assert found["own_probability"] == pytest.approx((m - 1) / 2 / m)
    first = line(one_target(*[{0, 1}] * (m - 1), {0, 2}))
    assert (first["unique_matches"], first["true_match_rate"]) == (1, 1)


def test_close_scores_are_marked_and_equal_patterns_are_not():
    """1/2 against 1/3 + 1/6 is for the caller to decide; 1/2 in one file against 1/2 in another is not."""

    def best(*files):
        groups = np.array([[0 if at in matching else 1 for at in range(9)] for matching in files])
        divisors = np.array([[float(len(matching)) for matching in files]])
        empty = np.empty((1, 0), np.int32)
        queries = kernel.Queries(np.array([0]), empty, empty, divisors)
        ranks = np.empty((*groups.shape, 0), np.int32)
        return kernel.pool(groups, ranks, queries, np.array([0, 1]), np.array([0]))

    assert best({0, 1}, {2, 3, 4}, {2, 3, 5, 6, 7, 8}).is_close.tolist() == [True]
    same = best({0, 1}, {2, 3})
    assert (same.is_close.tolist(), same.n_best.tolist(), same.is_own.tolist()) == ([False], [4], [True])
