"""The texts of policies: by the words of their sources, and what a statement leaves open by them (METHODS §11.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import statements as making
from oracles import statements as oracle
from pydantic import ValidationError
from reident.edition.texts import Texts, hidden, interval
from reident.sections.release import MAX_COUNT, Policy

FIXED = [name for name in making.FREE if "random" not in name]


@pytest.mark.parametrize("name", FIXED)
def test_a_count_has_the_text_of_the_rules(name):
    texts = Texts(making.policy(name))
    assert [texts.at(count).label for count in range(3000)] == [oracle.text_of(name, count) for count in range(3000)]


@pytest.mark.parametrize("name", FIXED)
def test_a_text_has_the_interval_of_the_counts_with_it(name):
    texts = Texts(making.policy(name))
    for label, low, high in oracle.intervals(name, 2500):
        assert texts.at(low)[:5] == (label, low, high, low, high)
        assert interval(making.policy(name), label) == (low, high)


@pytest.mark.parametrize(("name", "base"), [("base-3-random", 3), ("base-5-random", 5)])
def test_random_rounding_is_right_on_average_and_rises_with_the_count(name, base):
    policy, up = making.policy(name), [0] * base
    for seed in range(1000):
        texts = [Texts(policy, "q", f"seed {seed}").at(100 * base + rest) for rest in range(base)]
        for rest, text in enumerate(texts):
            assert text.low <= text.first <= 100 * base + rest <= text.last <= text.high
            assert int(text.label) in {100 * base, 101 * base}
            assert (text.low, text.high) == interval(policy, text.label)
            up[rest] += text.label == str(101 * base)
        assert [text.first for text in texts] == sorted(text.first for text in texts)
    assert up[0] == 0
    assert [share / 1000 for share in up] == pytest.approx([rest / base for rest in range(base)], abs=0.05)


@given(count=st.integers(0, MAX_COUNT), name=st.sampled_from(sorted(making.FREE)), seed=st.text(min_size=1))
def test_the_texts_of_neighbours_meet(count, name, seed):
    texts = Texts(making.policy(name), "q", seed)
    text = texts.at(count)
    assert text.first <= count <= text.last
    if text.last < MAX_COUNT:
        assert texts.at(text.last + 1).first == text.last + 1
    assert texts.at(text.first) == texts.at(min(text.last, MAX_COUNT)) == text


def test_what_policies_protect():
    assert {name: making.policy(name).margin for name in making.FREE} == making.FREE
    small = {name: hidden(making.policy(name)) for name in making.BUNDLED}
    assert small == {"census-drb": 14, "opensafely": 7, "midpoint-6": 6, "base-5-random": 4, "base-3-random": 2}


@pytest.mark.parametrize("name", making.FREE)
def test_what_small_texts_hide_is_at_least_what_is_free(name):
    assert hidden(making.policy(name)) >= making.policy(name).margin


@pytest.mark.parametrize(
    "bands", [[{"nearest": 1}], [{"up_to": 20, "nearest": 1}, {"nearest": 10}], [{"significant_digits": 3}]]
)
def test_a_policy_that_leaves_a_count_exact_is_refused(bands):
    with pytest.raises(ValidationError, match="must round every count that is not small"):
        Policy.model_validate({**making.TEXT, "rounding": "nearest", "bands": bands})


@pytest.mark.parametrize("text", ["17", "x", "<16", "-10", "", "1" * 40, "٣"])
def test_a_text_that_a_policy_does_not_publish_has_no_interval(text):
    with pytest.raises(ValueError, match="must be a text of the policy"):
        interval(making.policy("census-drb"), text)
