"""The public statement of pairs and links: what it tells, and that nothing else decides it (METHODS §11.2)."""

import random
import subprocess
import sys

import pytest
from making import statements as making
from reident.edition import state
from reident.edition.statement import Statement


def survey(records, candidates=1, seed=0):
    """A study whose records have candidates of their own; the first one counts for `exact` too."""
    rng = random.Random(seed)  # noqa: S311 - drawn studies
    return {
        (f"p{p}", f"e{p}.{at}"): {"any", *(["exact"] if at == 0 and rng.random() < 0.6 else [])}
        for p in range(records)
        for at in range(candidates)
    }


def linked(pairs, share, seed=1):
    rng = random.Random(seed)  # noqa: S311 - drawn studies
    return {(p, e) for p, e in sorted(pairs) if e.endswith(".0") and rng.random() < share}


def texts(statement):
    return {count.quantity: (count.first, count.last) for count in statement.counts}


@pytest.mark.parametrize("name", making.BUNDLED)
def test_a_statement_is_one_hashable_value_with_what_is_withheld(name):
    pairs = survey(600) | {("few", "f"): {"rare"}, ("fewer", "g"): {"rare"}}
    found = state(pairs, linked(pairs, 0.3), name, [("any", 300)], seed=making.SEED)
    assert isinstance(found, Statement)
    assert hash(found) == hash(state(pairs, linked(pairs, 0.3), name, [("any", 300)], seed=making.SEED))
    assert {count.quantity for count in found.counts} == {"any", "exact", "rare"}
    assert texts(found)["any"] != ("", "")


def test_the_order_of_pairs_links_and_limits_does_not_matter():
    pairs, limits = survey(500, 2), [("any", 100), ("exact", 60)]
    links = linked(pairs, 0.25)
    expected = state(pairs, links, "opensafely", limits)
    for seed in range(3):
        order = sorted(pairs)
        random.Random(seed).shuffle(order)  # noqa: S311 - drawn studies
        mixed = {pair: pairs[pair] for pair in order}
        assert state(mixed, frozenset(order) & links, "opensafely", limits[:: -1 if seed else 1]) == expected


def test_hash_seeds_do_not_matter():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; from edition.test_state import *; pairs = survey(300, 2);"
        "print(state(pairs, linked(pairs, .3), 'census-drb', [('exact', 60)]))"
    )
    folder = str(making.rounding.FOLDER.parents[1] / "tests")
    said = {
        subprocess.run(
            [sys.executable, "-c", code, folder], env={"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in "123"
    }
    assert len(said) == 1


def test_several_links_of_a_record_count_once_and_links_that_are_no_candidates_not_at_all():
    pairs = survey(400, 2)
    first = {pair for pair in pairs if pair[1].endswith(".0")}
    others = {(p, e.replace(".0", ".1")) for p, e in first} | {("p1", "nobody"), ("nobody", "e1.0")}
    assert state(pairs, first | others, "opensafely") == state(pairs, first, "opensafely")


# The cases that broke what an earlier version published.


def test_who_counts_the_suspected_pairs_does_not_learn_that_all_of_them_are_links():
    """15 suspected, all of them links: `census-drb` must not tell it, whoever counts to 15."""
    pairs = {(p, p): {"any"} for p in range(15)}
    statements = {state(pairs, {(p, p) for p in range(found)}, "census-drb") for found in range(16)}
    assert len(statements) == 1


@pytest.mark.parametrize("name", making.BUNDLED)
def test_withheld_does_not_tell_that_nobody_was_found(name):
    """A limit of 0: none, and a few, have one statement."""
    pairs = {(p, p): {"any"} for p in range(200)}
    made = [state(pairs, {(p, p) for p in range(n)}, name, [("any", 0)], seed=making.SEED) for n in range(3)]
    assert made[0] == made[1] == made[2]
    assert made[0].limits[0].outcome == "withheld"


def test_a_limit_of_five_per_cent_needs_twenty_times_what_small_counts_hide():
    for suspected, told in ((279, "withheld"), (280, "within")):
        pairs = {(p, p): {"any"} for p in range(suspected)}
        found = state(pairs, set(), "census-drb", [("any", suspected // 20)])
        assert found.limits[0].outcome == told


def test_a_released_file_tells_that_it_is_within_its_limits():
    pairs, links = survey(500), set()
    told = state(pairs, links, "census-drb", [("any", 100)], within=True)
    assert told.limits[0].outcome == "within"
    with pytest.raises(ValueError, match="must have counts that agree with what is public"):
        state(pairs, set(pairs), "census-drb", [("any", 100)], within=True)


def test_an_earlier_statement_that_is_too_narrow_leaves_nothing_to_tell():
    pairs = survey(500)
    links = set(sorted(pairs)[:100])
    found = state(pairs, links, "census-drb", earlier={"any": (99, 101)})
    assert not found.is_safe
    assert set(texts(found).values()) == {("", "")}


@pytest.mark.parametrize("name", ["base-5-random", "base-3-random"])
def test_a_policy_that_draws_needs_a_seed(name):
    with pytest.raises(ValueError, match="must have a seed"):
        state(survey(30), set(), name)


def test_nothing_is_counted_without_pairs_and_one_record_is_free():
    assert state({}, set(), "census-drb") == Statement((), ())
    one = {("p", "e"): {"any"}}
    assert state(one, set(one), "opensafely") == state(one, set(), "opensafely")


# Others of the kind: what another number of the same page could give away.


def in_parts(whole, part):
    """A study of which a few records are a part of their own: a stratum, or what one metric alone suspects."""
    return {(p, p): {"any", "part"} if p < part else {"any"} for p in range(whole)}


@pytest.mark.parametrize("name", ["census-drb", "opensafely", "midpoint-6"])
def test_all_of_a_small_stratum_is_not_read_off_the_whole_study(name):
    """15 of 400 records are a stratum; of it nobody, or everybody, is found, and the study finds as many."""
    pairs, free = in_parts(400, 15), making.FREE[name]
    made = [
        state(pairs, {(p, p) for p in range(start, start + 120)}, name, one_to_one=False).counts for start in (0, 15)
    ]
    whole, few = ({count[0]: count for count in counts} for counts in made)
    assert whole["any"] == few["any"]
    # What is told of the stratum leaves open that as many records as are free are found, or are not.
    for told in (whole["part"], few["part"]):
        assert (told.at_least or 0) <= 15 - free
        assert told.at_most is None or told.at_most >= free


@pytest.mark.parametrize("found", [0, 1, 14, 15])
def test_a_limit_that_nearly_everything_meets_tells_nothing_of_the_rest(found):
    """At most 14 of 15: above it means all of them, within it that one at least is not."""
    pairs, links = {(p, p): {"any"} for p in range(15)}, {(p, p) for p in range(found)}
    assert state(pairs, links, "opensafely", [("any", 14)]).limits[0].outcome == "withheld"
