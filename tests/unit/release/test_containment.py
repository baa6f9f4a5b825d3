"""Which attacks are contained in which, by their options (METHODS §11.2)."""

import pytest
from making.studies import study
from reident.pipeline.releasing import Attack
from reident.release import containment

SIDES = [{"name": name, "type": "categorical", "missing": [""]} for name in "abcdfghi"]


def contained(metrics, variables=SIDES, *, complete=True, **variants):
    """Return what is contained in what, by the names of metrics, or of variants and metrics."""
    attacks = {}
    for name, changes in {"": {}, **variants}.items():
        made = study(**{"linking_variables": variables, "metrics": metrics, **changes})
        attacks[name] = Attack(made.strata, made.linking_variables, made.binning, made.chosen)
    found = containment.find(attacks, complete=complete)
    return {("".join(one.smaller), "".join(one.larger)): one.how for one in found.contained}, found


def test_unicity_on_all_variables_is_in_taxicab_and_that_in_euclidean():
    found, _ = contained({"unicity": {}, "taxicab": {}, "euclidean": {}})
    assert found == {
        ("unicity", "taxicab"): "found",
        ("unicity", "euclidean"): "found",
        ("taxicab", "euclidean"): "alike",
    }


def test_with_missing_values_only_what_passes_is_contained():
    found, _ = contained({"unicity": {}, "taxicab": {}, "euclidean": {}}, complete=False)
    assert found == {("taxicab", "euclidean"): "passing"}


def test_three_variables_have_one_level():
    """Unicity tells the only candidates of taxicab, which are those of rank limit 1."""
    found, known = contained({"unicity": {}, "taxicab": {}}, SIDES[:3])
    assert found == {("unicity", "taxicab"): "only"}
    assert known.one_level == (("", "taxicab"),)
    assert known.one_candidate == (("", "unicity"),)


def test_exact_scores_order_as_taxicab_does_and_other_scores_do_not():
    assert contained({"taxicab": {}, "adhoc": {}})[0] == {("taxicab", "adhoc"): "alike"}
    cells = [{"puf": "1", "eif": "1", "score": "1"}]
    scores = {"a": {"table": cells, "otherwise": "0"}}
    assert contained({"taxicab": {}, "adhoc": {"scores": scores}})[0].get(("taxicab", "adhoc")) != "alike"


def test_numbers_are_compared_in_other_ways_than_bins():
    numeric = [{"name": name, "type": "numeric"} for name in "abcdfghi"]
    assert contained({"unicity": {}, "taxicab": {}, "euclidean": {}}, numeric)[0] == {("unicity", "taxicab"): "found"}


@pytest.mark.parametrize(("v", "within"), [(3, True), (2, False), (1, False)])
def test_one_difference_of_numbers_can_be_all_that_a_pair_may_lose(v, within):
    """With fewer of four variables a pair passes that is just below the limit, and is above with the largest others."""
    numeric = [{"name": f"x{at}", "type": "numeric"} for at in range(4)]
    wide, narrow = ({"euclidean": {"norm": "rms", "alpha": alpha}} for alpha in ("1", "0.8"))
    found, _ = contained(narrow, numeric, v={"metrics": narrow, "linking_variables": numeric[:3]})
    assert ("veuclidean", "euclidean") not in found
    # Three equal variables of which one may lose Σ < 3 · 0.32, and the fourth its all: 1.95 of 2 where α is 1.
    found, _ = contained(wide, numeric, v={"metrics": narrow, "linking_variables": numeric[:v]})
    assert (("veuclidean", "euclidean") in found) == within


@pytest.mark.parametrize("number", range(4))
def test_a_lower_threshold_finds_more(number):
    numeric = [{"name": f"x{at}", "type": "numeric"} for at in range(4 + number)]
    found, _ = contained({"euclidean": {"norm": "rms"}}, numeric, v={"metrics": {"euclidean": {}}})
    assert ("euclidean", "veuclidean") in found or ("veuclidean", "euclidean") in found


def test_a_variant_of_unicity_with_more_sets_does_not_have_one_candidate():
    _, known = contained({"unicity": {"interactions": "full"}}, v={"metrics": {"unicity": {"interactions": "all"}}})
    assert known.one_candidate == (("", "unicity"),)
    assert [(one.smaller[0], one.larger[0]) for one in known.contained] == [("", "v")]


def test_a_record_that_is_unique_on_all_variables_has_no_other_candidate_on_fewer():
    sets = {"full": {"interactions": "full"}, "jointly_observed": {"interactions": "jointly_observed"}, "all": {}}
    for name in ("jointly_observed", "all"):
        found, _ = contained({"unicity": sets["full"]}, complete=False, v={"metrics": {"unicity": sets[name]}})
        assert found == {("unicity", "vunicity"): "only"}, name


@pytest.mark.parametrize(
    ("score", "otherwise", "how"), [("5", "2", "level"), ("2", "2", "level"), ("1", "2", "passing")]
)
def test_equal_categories_can_be_the_best_of_a_record_without_having_one_score(score, otherwise, how):
    """Taxicab wants all of three variables equal; a table can score other categories as high as equal ones."""
    cells = [{"puf": "1", "eif": "1", "score": score}, {"puf": "1", "eif": "2", "score": "1"}]
    scores = {"scores": {"a": {"table": cells, "otherwise": otherwise}}, "threshold": "5"}
    assert contained({"taxicab": {}, "adhoc": scores}, SIDES[:3])[0]["taxicab", "adhoc"] == how


@pytest.mark.parametrize(("closest", "how"), [(1, "level"), (2, "level"), (3, "passing")])
def test_two_equal_categories_are_the_closest_two_whatever_the_numbers_are(closest, how):
    variables = [*SIDES[:2], {"name": "x", "type": "numeric"}]
    found, _ = contained({"taxicab": {}, "winkler": {"agreement": {"closest": closest}}}, variables)
    assert found["taxicab", "winkler"] == how


def test_the_only_record_that_is_equal_on_all_variables_but_one_is_among_the_best_on_all():
    """Others differ in one variable at least, as this record may do in the further one."""
    metrics, fewer = {"unicity": {}, "taxicab": {}, "euclidean": {}}, {"linking_variables": SIDES[:7]}
    found, _ = contained(metrics, v={"metrics": metrics, **fewer})
    assert found["vunicity", "taxicab"] == found["vunicity", "euclidean"] == "level"
    found, _ = contained(metrics, v={"metrics": metrics, "linking_variables": SIDES[:6]})
    assert ("vunicity", "taxicab") not in found
    assert found["vunicity", "euclidean"] == "passing"


def test_a_table_that_lets_pass_only_one_category_finds_among_equal_records_what_taxicab_finds():
    cells = [{"puf": "0", "eif": "0", "score": "5"}, {"puf": "0", "eif": "1", "score": "3"}]
    metrics = {"taxicab": {}, "adhoc": {"scores": {"a": {"table": cells}}, "threshold": "14"}}
    found, known = contained(metrics, SIDES[:3])
    assert found == {("adhoc", "taxicab"): "alike"}
    assert known.one_level == (("", "taxicab"), ("", "adhoc"))


@pytest.mark.parametrize(("least", "one_level"), [(3, True), (2, False)])
def test_numbers_that_must_agree_leave_one_level(least, one_level):
    numeric = [{"name": f"x{at}", "type": "numeric"} for at in range(3)]
    _, known = contained({"winkler": {"min_agree": least}}, numeric)
    assert (known.one_level == (("", "winkler"),)) == one_level


def test_variables_that_all_agree_agree_without_one_of_them():
    numeric = [{"name": f"x{at}", "type": "numeric"} for at in range(3)]
    found, _ = contained({"winkler": {"min_agree": 3}}, numeric, v={
        "metrics": {"winkler": {"min_agree": 2}}, "linking_variables": numeric[:2]
    })  # fmt: skip
    assert found == {("winkler", "vwinkler"): "level"}
    nearest = [{"winkler": {"min_agree": 2, "agreement": {"nearest": g}}} for g in (2, 3)]
    assert contained(nearest[0], numeric, v={"metrics": nearest[1]})[0] == {("winkler", "vwinkler"): "passing"}


def test_bins_are_nothing_to_categories():
    metrics = {"fellegi_sunter": {}, "unicity": {}}
    found, _ = contained(metrics, SIDES[:2], v={"binning": {"bins": 2}})
    assert found["fellegi_sunter", "vfellegi_sunter"] == found["vfellegi_sunter", "fellegi_sunter"] == "alike"
    assert found["unicity", "vunicity"] == found["vunicity", "unicity"] == "only"


def test_sets_of_fewer_variables_are_sets_of_all():
    metrics = {"unicity": {"interactions": "all"}}
    found, _ = contained(metrics, SIDES[:4], v={"metrics": metrics, "linking_variables": SIDES[:3]})
    assert found == {("vunicity", "unicity"): "found"}
    few, many = {"unicity": {"interactions": "full"}}, {"unicity": {"max_order": 2}}
    for v, how in ((2, {("vunicity", "unicity"): "found"}), (3, {})):
        found, _ = contained(many, SIDES[:4], v={"metrics": few, "linking_variables": SIDES[:v]}, complete=False)
        assert found == how


def test_every_pair_can_pass():
    _, known = contained({"euclidean": {"alpha": "1"}}, SIDES[:5])
    assert known.all_pass == (("", "euclidean"),)


def test_a_record_gives_back_what_it_holds():
    studies = {"": study(metrics={"taxicab": {}, "unicity": {"interactions": "full"}})}
    attacks = {name: Attack(s.strata, s.linking_variables, s.binning, s.chosen) for name, s in studies.items()}
    made = containment.find(attacks, complete=True)
    written = {name: [list(one) for one in getattr(made, name)] for name in made._fields}
    assert containment.recorded(written) == made
    assert containment.recorded(None) == containment.Containments()
