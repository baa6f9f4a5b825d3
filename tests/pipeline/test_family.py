"""Variants: which studies come of what a file lists, what they are called, what is refused, and what they share."""

import copy

import pytest
from making import studies
from making.studies import PLAIN
from reident.errors import InputError
from reident.pipeline import family
from reident.pipeline.family import Family
from reident.pipeline.steps import STEPS, wanted
from reident.study.model import Study, plain

ALPHA = {"set": "metrics.taxicab.alpha", "values": [0.25, 0.5, 0.75]}
BINS = {"set": "binning.bins", "values": [3, 5]}
PROTECTION = {
    "name": "protection",
    "combinations": {"weak": {"binning.bins": 9, "metrics.taxicab.alpha": "0.1"}, "own": {}},
}
TWO_STRATA = {**PLAIN, "strata": [{"name": "region"}, "sex"]}


def saved(folder, *varied, base=PLAIN):
    return studies.saved(folder, {**copy.deepcopy(base), "variants": list(varied)})


def loaded(folder, *varied, base=PLAIN):
    return Family(saved(folder, *varied, base=base)).members


def places(members):
    return [(member.variant, member.place) for member in members]


# Which studies come of it


def test_without_variants_the_study_is_the_only_member(tmp_path):
    members = loaded(tmp_path)
    assert places(members) == [("study", "")]


def test_each_value_is_a_variant_and_the_value_of_the_study_is_the_study(tmp_path):
    members = loaded(tmp_path, ALPHA)
    assert places(members) == [
        ("alpha-0.25", "variants/alpha-0.25"),
        ("alpha-0.5", ""),
        ("alpha-0.75", "variants/alpha-0.75"),
    ]
    assert [str(member.study.chosen["taxicab"].alpha) for member in members] == ["1/4", "1/2", "3/4"]
    assert [member.labels for member in members] == [{"alpha": "0.25"}, {"alpha": "0.5"}, {"alpha": "0.75"}]


def test_a_study_that_differs_from_its_variants_comes_first(tmp_path):
    members = loaded(tmp_path, {**ALPHA, "values": ["0.25"]}, {**BINS, "values": [3]})
    assert members[0][:3] == ("study", {"alpha": "0.5", "bins": "5"}, "")
    assert places(members[1:]) == [("alpha-0.25_bins-3", "variants/alpha-0.25_bins-3")]


def test_items_combine_and_the_last_item_changes_fastest(tmp_path):
    names = [member.variant for member in loaded(tmp_path, {**ALPHA, "values": [1, 0.5]}, BINS)]
    assert names == ["alpha-1_bins-3", "alpha-1_bins-5", "alpha-0.5_bins-3", "alpha-0.5_bins-5"]


def test_combinations_set_several_keys_and_keep_the_others(tmp_path):
    weak, own = loaded(tmp_path, PROTECTION)
    assert (weak.variant, weak.study.binning.bins, str(weak.study.chosen["taxicab"].alpha)) == (
        "protection-weak", 9, "1/10",
    )  # fmt: skip
    assert (own.variant, own.place) == ("protection-own", "")


def test_several_keys_may_take_the_same_value(tmp_path):
    base = {**PLAIN, "metrics": {"taxicab": {}, "euclidean": {}}}
    both = {"set": ["metrics.taxicab.alpha", "metrics.euclidean.alpha"], "values": ["0.25"]}
    member = loaded(tmp_path, both, base=base)[1]
    assert {str(options.alpha) for options in member.study.chosen.values()} == {"1/4"}


WRITTEN = [
    ("a default that the file does not name", "rank_filter.max_pairs", "3", {"rank_filter": {"max_pairs": "3"}}),
    ("an item of a list by its name", "linking_variables.x.missing", ["-9"], None),
    ("an item of a list by its number", "linking_variables[1].missing", ["-9"], None),
    ("a whole section", "binning", {"bins": "3"}, {"binning": {"bins": "3"}}),
    ("a metric that the study does not have", "metrics.unicity", {}, {"metrics": {"taxicab": {}, "unicity": {}}}),
    ("a key that may be written with a hyphen", "linking_variables.c.integer_coded", True, None),
    ("a file", "files.puf.path", "other.csv", None),
    ("nothing, which is the default", "binning.bins", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "key", "value", "sections"), WRITTEN, ids=[case[0] for case in WRITTEN])
def test_a_variant_is_the_study_with_the_value_written_in(tmp_path, sentence, key, value, sections):
    if value is None:
        with pytest.raises(InputError, match=r"variant `bins-none`: `binning.bins` must be an integer"):
            loaded(tmp_path, {"set": key, "values": [value]})
        return
    base = copy.deepcopy(PLAIN)
    base["linking_variables"][1]["integer-coded"] = False
    written = copy.deepcopy(base) | copy.deepcopy(sections or {})
    if key.startswith("linking_variables"):
        at, name = (1, "integer-coded") if "integer" in key else (0, "missing")
        written["linking_variables"][at][name] = value
    if key.startswith("files"):
        written["files"]["puf"]["path"] = value
    member = loaded(tmp_path, {"set": key, "values": {"other": value}}, base=base)[-1]
    assert plain(member.study) == plain(Study.model_validate(written))


def test_an_additional_value_does_not_rename_other_variants(tmp_path):
    few = {member.variant for member in loaded(tmp_path, {**ALPHA, "values": [0.25, 0.75]}, BINS)}
    more = {member.variant for member in loaded(tmp_path, {**ALPHA, "values": [0.1, 0.25, 0.75]}, BINS)}
    assert few < more


# What is refused

REFUSED = [
    (
        "an unknown key",
        [{**ALPHA, "set": "metrics.taxicab.alpa"}],
        "variant `alpa-0.25`: `metrics.taxicab.alpa` is not a known key. Did you mean `alpha`?",
    ),
    (
        "an unknown section",
        [{**ALPHA, "set": "metrics.taxcab.alpha"}],
        "the study, which has no `metrics.taxcab`. Add `metrics.taxcab`, or correct the key",
    ),
    (
        "a metric that the study does not compute",
        [{**ALPHA, "set": "metrics.adhoc.scores"}],
        "the study, which has no `metrics.adhoc`",
    ),
    (
        "an unknown item",
        [{"set": "linking_variables.y.missing", "values": ["a"]}],
        "the study, which has no `linking_variables.y`",
    ),
    (
        "a number beyond the list",
        [{"set": "linking_variables[3].missing", "values": ["a"]}],
        "the study, which has no `linking_variables[3]`",
    ),
    (
        "an item that is written short",
        [{"set": "strata.sex.missing", "values": ["a"]}],
        "inside `strata.sex`, which the study file writes as a single word. Write",
    ),
    ("a wrong type", [{**BINS, "values": ["many"]}], "variant `bins-many`: `binning.bins` must be an integer"),
    (
        "a value out of range",
        [{**ALPHA, "values": [0.25, 2]}, BINS],
        "variant `alpha-2_bins-3`: `metrics.taxicab.alpha` must be at most 1",
    ),
    (
        "a combination that contradicts itself",
        [{"set": "rank_filter.max_pairs", "values": [5, 25]}],
        "variant `max-pairs-25`: `rank_filter.keep` must be at least `max_pairs` (25), but is 20",
    ),
    ("the same value twice", [{**ALPHA, "values": [0.25, "0.25"]}], "`variants[1]`: `0.25` is given twice"),
    (
        "the same folder twice",
        [{**ALPHA, "values": ["1/4", "1-4"]}],
        "`1-4` is given twice, or differs from another value or label only in punctuation",
    ),
    (
        "two ways to write one value",
        [{**ALPHA, "values": ["1/4", "0.25"]}],
        "variant `alpha-0.25` is the same study as the variant `alpha-1-4`",
    ),
    ("one key twice", [ALPHA, {**ALPHA, "name": "other"}], "`variants`: `metrics.taxicab.alpha` is given twice"),
    (
        "a key inside another",
        [BINS, {"set": "binning", "values": {"a": {}}}],
        "`binning.bins` is part of `binning`, which also varies",
    ),
    (
        "one name twice",
        [{**ALPHA, "name": "a"}, {**BINS, "name": "a"}],
        "`variants` must not have two items with the same name",
    ),
    (
        "a list without a label",
        [{"set": "strata", "values": [["a"], ["b"]]}],
        "`variants[1].values` must have a label for a list or a section",
    ),
    ("a key that changes no result", [{"set": "title", "values": ["a"]}], "`title` must not vary"),
    ("variants of variants", [{"set": "variants", "values": ["a"]}], "`variants` must not vary"),
    ("neither form", [{"name": "a"}], "`variants[1]` must have either `set` and `values`, or `combinations`"),
    ("both forms", [{**PROTECTION, **ALPHA}], "`variants[1]` must have either `set` and `values`, or `combinations`"),
    ("combinations without a name", [{"combinations": {"a": {}}}], "`variants[1].name` is missing"),
    (
        "too many",
        [{**BINS, "values": list(range(2, 103))}, {**ALPHA, "values": [0.5, 1]}],
        "`variants` must result in at most 200 variants, but results in 202",
    ),
    ("a section less", [{"set": "metrics", "values": [None]}], "metrics-none"),
    ("no value", [{**ALPHA, "values": []}], "`variants[1].values`"),
]


@pytest.mark.parametrize(("sentence", "varied", "says"), REFUSED, ids=[case[0] for case in REFUSED])
def test_invalid_variants_are_refused_with_line_key_and_remedy(tmp_path, sentence, varied, says):
    file = saved(tmp_path, *varied, base=TWO_STRATA)
    with pytest.raises(InputError) as caught:
        _ = Family(file).members
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{file}, line ")
    assert "\n" not in str(caught.value)


def test_a_mistake_has_the_line_of_the_value_that_causes_it(tmp_path):
    file = saved(tmp_path, BINS, {**ALPHA, "values": [0.25, 2]})
    with pytest.raises(InputError) as caught:
        _ = Family(file).members
    line = int(str(caught.value).split("line ")[1].split(":")[0])
    assert file.read_text(encoding="utf-8").splitlines()[line - 1].strip() == "- 2"


def test_a_file_that_only_a_variant_names_must_exist(tmp_path):
    for side in ("puf", "eif", "iuf"):
        (tmp_path / f"{side}.csv").write_text("", encoding="utf-8")
    file = saved(tmp_path, {"set": "files.puf.path", "values": {"released": "puf.csv", "other": "lost.csv"}})
    with pytest.raises(InputError, match=r"lost\.csv does not exist.*\(variant path-other\)"):
        family.check_files(Family(file).members, file)


def test_an_unknown_place_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"the study has no variant `alpha-9`. Correct the name, or add the variant"):
        Family(saved(tmp_path, ALPHA)).at("variants/alpha-9")


# What they share

SHARED = [step.rule for step in STEPS.values() if step.shared]
BOTH = {**PLAIN, "metrics": {"unicity": {}, "taxicab": {}, "euclidean": {}}}
HOMES = [
    ("nothing before the first step that it touches", "prepare", None, ""),
    ("strata rest on files alone", "stratify", None, ""),
    ("bins take the number of bins alone", "bin", None, "variants/bins-3"),
    ("a metric on bins takes them alone", "score", "unicity", "variants/bins-3"),
    ("a metric with both takes both", "confirm", "taxicab", "variants/alpha-0.25_bins-3"),
    ("a metric on prepared records takes neither", "confirm", "euclidean", ""),
    ("a step that is not shared", "rate", None, "variants/alpha-0.25_bins-3"),
]


@pytest.mark.parametrize(("sentence", "step", "metric", "home"), HOMES, ids=[case[0] for case in HOMES])
def test_results_are_stored_with_the_study_that_sets_only_what_they_depend_on(tmp_path, sentence, step, metric, home):
    found = Family(saved(tmp_path, ALPHA, BINS, base=BOTH))
    assert found.home("variants/alpha-0.25_bins-3", step, metric) == home


def test_results_of_the_study_itself_are_stored_with_it(tmp_path):
    found = Family(saved(tmp_path, ALPHA, BINS))
    assert {found.home("", step, "taxicab") for step in SHARED} == {""}


def test_results_for_the_value_of_the_study_are_shared(tmp_path):
    found = Family(saved(tmp_path, ALPHA, BINS))
    assert found.home("variants/alpha-0.25_bins-5", "score", "taxicab") == "variants/alpha-0.25"


@pytest.mark.parametrize("step", [step for step in SHARED if STEPS[step].wanted(Study.model_validate(BOTH))])
def test_shared_results_take_the_same_from_both_studies_in_every_step(tmp_path, step):
    found = Family(saved(tmp_path, ALPHA, BINS, base=BOTH))
    for member in found.members:
        for metric in ("unicity", "taxicab", "euclidean"):
            home = found.home(member.place, step, metric)
            for name in {step, *STEPS[step].before(metric)} & {rule.rule for rule in wanted(member.study)}:
                assert found.settings(home, name, metric) == found.settings(member.place, name, metric)


# The file before protection

ORIGINAL = {**PLAIN, "files": {**PLAIN["files"], "original": {"path": "full.csv", "delimiter": ";"}}}
BEFORE = "variants/before-protection"


def test_the_file_before_protection_takes_the_place_of_the_puf_and_nothing_else_changes(tmp_path):
    members = Family(saved(tmp_path, base=ORIGINAL))
    assert places(members.members) == [("study", "")], "it is no variant of the comparison"
    assert members.before("") == BEFORE
    before = members.at(BEFORE)
    assert before.files.puf.path == "full.csv"
    assert (before.files.puf.delimiter, before.files.puf.id) == (";", ("p",))
    assert before.files.original is None
    kept = before.model_copy(update={"files": members.study.files})
    assert kept == members.study
    assert STEPS["compare_protection"] in wanted(members.study)
    assert STEPS["compare_protection"] not in wanted(before)
    assert STEPS["compare_protection"] not in wanted(Family(saved(tmp_path)).study)


def test_every_variant_has_an_attack_before_protection_which_shares_what_it_can(tmp_path):
    members = Family(saved(tmp_path, ALPHA, base=ORIGINAL))
    place = members.before("variants/alpha-0.25")
    assert place == "variants/alpha-0.25_before-protection"
    assert str(members.at(place).chosen["taxicab"].alpha) == "1/4"
    assert members.home(place, "prepare") == BEFORE
    assert members.home(place, "score", "taxicab") == place
    assert members.home(BEFORE, "prepare") == BEFORE
    assert members.home("variants/alpha-0.25", "prepare") == ""


def test_before_protection_of_a_variant_that_changes_a_treatment_is_that_of_the_study(tmp_path):
    simulated = {**copy.deepcopy(PLAIN), "simulate": {"original": True, "treatment": {"swapping": 0.3}}}
    del simulated["files"]
    swapped = {"set": "simulate.treatment.swapping", "values": [0.1]}
    members = Family(saved(tmp_path, swapped, base=simulated))
    place = members.before("variants/swapping-0.1")
    assert members.home(place, "simulate") == BEFORE
    treatment = members.at(BEFORE).simulate.treatment
    assert (treatment.swapping, treatment.noise, treatment.top_coding) == (0, {}, {})
    assert treatment.missing == members.study.simulate.treatment.missing


def test_an_item_of_variants_must_not_have_the_name_of_the_attack_before_protection(tmp_path):
    members = Family(saved(tmp_path, {**ALPHA, "name": "before"}, base=ORIGINAL))
    with pytest.raises(InputError, match="must not have an item with the name `before`"):
        members.at(BEFORE)
    assert not Family(saved(tmp_path, {**ALPHA, "name": "before"})).has(BEFORE)


# Variables that a variant drops, and files that it exchanges

ADHOC = {**PLAIN, "metrics": {"taxicab": {}, "adhoc": {"scores": {"c": "exact", "x": "exact"}}}}
DROPPED = [
    ("a linking variable and its score", "linking_variables.c", ["x"], ["region", "sex"], ["x"]),
    ("a linking variable by its number", "linking_variables[1]", ["c"], ["region", "sex"], ["c"]),
    ("a strata variable in full", "strata.region", ["x", "c"], ["sex"], ["c", "x"]),
    ("a strata variable that is only a name", "strata.sex", ["x", "c"], ["region"], ["c", "x"]),
]


@pytest.mark.parametrize(("sentence", "key", "linking", "strata", "scores"), DROPPED, ids=[case[0] for case in DROPPED])
def test_a_variant_may_drop_a_variable(tmp_path, sentence, key, linking, strata, scores):
    base = {**copy.deepcopy(ADHOC), "strata": [{"name": "region"}, "sex"]}
    study, without = loaded(tmp_path, {"set": key, "values": {"without": None}}, base=base)
    assert [variable.name for variable in without.study.linking_variables] == linking
    assert [variable.name for variable in without.study.strata] == strata
    assert list(without.study.metrics.adhoc.scores) == scores
    assert without.labels.popitem()[1] == "without"
    assert (study.variant, len(study.study.linking_variables)) == ("study", 2)


def test_several_items_are_dropped_by_their_own_numbers(tmp_path):
    base = copy.deepcopy(PLAIN)
    base["linking_variables"] += [{"name": "y", "type": "numeric"}, {"name": "z", "type": "numeric"}]
    settings = {"linking_variables[1]": None, "linking_variables[2]": None, "linking_variables[3].missing": ["-9"]}
    _, member = loaded(tmp_path, {"name": "fewer", "combinations": {"y": settings}}, base=base)
    assert [variable.name for variable in member.study.linking_variables] == ["y", "z"]
    assert member.study.linking_variables[0].missing.puf == ("-9",)


def test_a_variable_that_is_not_there_cannot_be_dropped(tmp_path):
    with pytest.raises(InputError, match=r"`linking_variables.q` is not an item of the list"):
        loaded(tmp_path, {"set": "linking_variables.q", "values": {"without": None}})


def test_a_variant_that_drops_a_variable_shares_nothing_that_reads_it(tmp_path):
    drop = {"set": "linking_variables.c", "values": {"without": None}}
    found = Family(saved(tmp_path, ALPHA, drop, base=BOTH))
    place = "variants/alpha-0.25_c-without"
    assert found.home(place, "prepare") == "variants/c-without"
    assert found.home(place, "confirm", "taxicab") == place
    assert found.home(place, "confirm", "euclidean") == "variants/c-without"
    assert found.settings(place, "prepare").columns_of("puf") == ["p", "x"]


def test_a_variant_that_exchanges_a_file_reads_and_shares_its_own(tmp_path):
    other = {"path": "other.csv", "id": "q"}
    exchange = {"name": "file", "combinations": {"other": {"files.puf": other, "files.iuf.puf_id": "q"}}}
    found = Family(saved(tmp_path, ALPHA, exchange, base=BOTH))
    place = "variants/alpha-0.25_file-other"
    assert found.home(place, "prepare") == "variants/file-other"
    assert family.sources(found.at(place), found.path)["puf"] == tmp_path / "other.csv"
    assert family.sources(found.at("variants/file-other"), found.path)["puf"] == tmp_path / "other.csv"
    assert family.sources(found.at("variants/alpha-0.25"), found.path)["puf"] == tmp_path / "puf.csv"


def test_copies_for_people_are_of_the_study_alone(tmp_path):
    base = {**PLAIN, "confirmed_csv": True}
    study, variant = loaded(tmp_path, {**ALPHA, "values": ["0.25"]}, base=base)
    assert [member.study.confirmed_csv for member in (study, variant)] == [True, False]
    members = loaded(tmp_path, ALPHA, base=base)
    assert places(members)[1] == ("alpha-0.5", ""), "a variant equal to the study shares its results"
    with pytest.raises(InputError, match="`confirmed_csv` must not vary"):
        loaded(tmp_path, {"set": "confirmed_csv", "values": [True]})
