"""The section on one file's risk: what a study must have for it, and which steps a change touches."""

from pathlib import Path

import pytest
from making.filerisk import FILE_RISK, POPULATION
from making.matching import MATCHING
from making.studies import changed, saved
from reident.errors import InputError
from reident.pipeline import parts
from reident.study import model as study
from reident.study import named_files

ROOT = Path(__file__).parents[3]
LINKAGE = {
    "files": {
        "puf": {"path": "puf.csv", "id": "p"},
        "eif": {"path": "eif.csv", "id": "e"},
        "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"},
    },
    "linking_variables": [
        {"name": "age", "type": "numeric", "puf": "AGE", "missing": {"puf": ["-9"], "eif": ["x"]}},
        {"name": "sex", "type": "categorical", "recode": {"eif": {"M": "1"}}},
    ],
    "metrics": {"taxicab": {}},
}
OF_PUF = {"sampling_fraction": 0.1}
ORIGINAL = {"path": "before.csv"}
AUTHORITIES = {"kind": "local-authorities"}
SIMULATED = {**OF_PUF, "file": "survey", "key_variables": ["SEX"], "population": {}}
STEPS = {"populate", "prepare_filerisk", "assess_file", "sample_population"}


def load(folder, **keys):
    return study.load(saved(folder, {"id": "s", **keys}))


def model(**keys):
    return study.Study.model_validate({"id": "s", **keys})


def without(section, *names):
    return {name: value for name, value in section.items() if name not in names}


def test_the_default_key_is_the_linking_variables_as_declared_for_the_file():
    age, sex = model(**LINKAGE, file_risk=OF_PUF).risk_key
    assert (age.column, age.type, age.missing) == ("AGE", "numeric", ("-9",))
    assert (sex.column, sex.recode) == ("sex", {})
    age, sex = model(**LINKAGE, file_risk={**OF_PUF, "file": "eif"}).risk_key
    assert (age.column, age.missing, sex.recode) == ("age", ("x",), {"M": "1"})


def test_a_key_may_combine_linking_variables_and_others():
    key = ["age", {"name": "sex", "column": "SEX2"}, "job"]
    age, sex, job = model(**LINKAGE, file_risk={**OF_PUF, "key_variables": key}).risk_key
    assert (age.column, age.type) == ("AGE", "numeric")
    assert (sex.column, job.column) == ("SEX2", "job")


@pytest.mark.parametrize(
    ("keys", "sides", "names"),
    [
        ({"file_risk": FILE_RISK}, ["survey"], ("pid",)),
        ({"file_risk": POPULATION}, ["survey", "population"], ("pid",)),
        ({"file_risk": {**FILE_RISK, "original": ORIGINAL}}, ["survey", "unperturbed"], ("pid",)),
        (
            {**LINKAGE, "file_risk": {**OF_PUF, "original": ORIGINAL}},
            ["puf", "eif", "iuf", "unperturbed"],
            ("p",),
        ),
        ({**LINKAGE, "file_risk": OF_PUF}, ["puf", "eif", "iuf"], ("p",)),
        ({**LINKAGE, "file_risk": {**OF_PUF, "file": "eif"}}, ["puf", "eif", "iuf"], ("e",)),
        (
            {"matching": MATCHING, "file_risk": {**OF_PUF, "file": "synthetic_2", "key_variables": ["sex"]}},
            ["confidential", "synthetic_1", "synthetic_2", "synthetic_3"],
            (),
        ),
        (
            {"simulate": AUTHORITIES, "file_risk": SIMULATED},
            ["survey", "population"],
            ("SERIAL",),
        ),
    ],
)
def test_the_files_that_a_study_reads(tmp_path, keys, sides, names):
    found = load(tmp_path, **keys)
    assert list(found.sources) == sides
    assert found.risk_id == names
    assert found.simulated == (set(sides) if "simulate" in keys else set())
    assert study.parse(study.canonical_json(found)) == found


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({}, "`file_risk` or `attribute_disclosure`"),
        ({"file_risk": OF_PUF}, "`file_risk.file` must be a file of the study, but the study has no `puf`"),
        (
            {"file_risk": {**FILE_RISK, "file": "survey"}},
            "`file_risk.file` must be `survey` if `simulate` has the kind",
        ),
        ({"file_risk": {**FILE_RISK, "file": "release"}}, "`file_risk.file` must be one of `puf`"),
        ({"file_risk": {**FILE_RISK, "file": {"id": "pid"}}}, "`file_risk.file.path` is missing"),
        (
            {"file_risk": without(FILE_RISK, "key_variables")},
            "must have 1 to 60 key variables. List them as `key_variables`",
        ),
        (
            {"file_risk": {**FILE_RISK, "key_variables": [f"k{at}" for at in range(58)]}},
            "`file_risk` must have a `max_order` of at most 7 for 58 key variables; it need not for at most 57. Add it",
        ),
        (
            {"file_risk": {**FILE_RISK, "key_variables": [f"k{at}" for at in range(60)], "max_order": 8}},
            "`file_risk` must have a `max_order` of at most 7 for 60 key variables",
        ),
        (
            {"file_risk": without(FILE_RISK, "sampling_fraction")},
            "`file_risk` must have exactly one of `sampling_fraction` and `weight`",
        ),
        ({"file_risk": {**FILE_RISK, "weight": "w"}}, "Remove the other, or add one"),
        ({"file_risk": {**FILE_RISK, "sampling_fraction": 0}}, "line 6: `file_risk.sampling_fraction`"),
        (
            {"file_risk": {**FILE_RISK, "key_variables": ["sex", "sex"]}},
            "`sex` is given twice in `key_variables`",
        ),
        ({"file_risk": {**FILE_RISK, "key_variables": [f"x{j}" for j in range(61)]}}, "key_variables`"),
        (
            {"file_risk": {**FILE_RISK, "key_variables": ["pid"]}},
            "`pid` must not identify a record of `file_risk`",
        ),
        (
            {"file_risk": {**FILE_RISK, "file": {"path": "a.csv", "id": "suda"}}},
            "`suda` must not identify a record",
        ),
        ({"file_risk": {**FILE_RISK, "max_order": 0}}, "`file_risk.max_order`"),
        (
            {"file_risk": {**FILE_RISK, "collapse": [{"variable": "age", "recode": {"1": "2"}}]}},
            "`file_risk.collapse` must name categorical key variables, and `age` is not one",
        ),
        (
            {"file_risk": {**FILE_RISK, "collapse": [{"variable": "street", "recode": {"1": "2"}}]}},
            "and `street` is not one. Correct the name, or remove it",
        ),
        (
            {"file_risk": {**FILE_RISK, "collapse": [{"variable": "sex", "recode": {}}]}},
            "`file_risk.collapse[1].recode`",
        ),
        (
            {"file_risk": {**FILE_RISK, "file": {"path": "a.csv"}, "original": {"path": "b.csv"}}},
            "`file_risk.original` must not be given for a file without `id`",
        ),
        (
            {"file_risk": {**FILE_RISK, "original": {"path": "b.csv", "id": ["x", "y"]}}},
            "`file_risk.original.id` must have as many columns as the key of the file (1)",
        ),
        ({"file_risk": {**FILE_RISK, "weighting": "suda2"}}, "`file_risk.weighting`"),
        ({"file_risk": {**FILE_RISK, "dis_suda": "sdcmicro"}}, "`file_risk.dis_suda`"),
        (
            {"file_risk": {**FILE_RISK, "population": {}}},
            "`file_risk.population` must have exactly one source",
        ),
        (
            {"file_risk": {**without(POPULATION, "sampling_fraction"), "weight": "w"}},
            "`file_risk.population.numerical_study.fraction` is missing. Add it",
        ),
        (
            {"simulate": AUTHORITIES, "matching": MATCHING},
            "`simulate` must not have the kind `local-authorities` without `file_risk`",
        ),
        ({"simulate": {"kind": "census"}, "file_risk": FILE_RISK}, "must have as `kind` one of"),
        (
            {
                "file_risk": {
                    **FILE_RISK,
                    "key_variables": [{"name": "a", "type": "numeric", "order": ["1", "2"]}],
                }
            },
            "must not have `order` or `integer_coded` with `type: numeric`",
        ),
        (
            {
                "file_risk": {
                    **FILE_RISK,
                    "key_variables": [{"name": "a", "missing": "-9", "recode": {"x": "-9"}}],
                }
            },
            "`file_risk.key_variables[1].recode` must not map a code to `-9`, which is a missing code: missing codes",
        ),
    ],
)
def test_invalid_sections_are_refused(tmp_path, keys, sentence):
    with pytest.raises(InputError) as error:
        load(tmp_path, **keys)
    assert sentence in str(error.value)
    assert "study.yaml, line " in str(error.value)


@pytest.mark.parametrize(
    ("there", "place"),
    [((), "file_risk.file.path"), (("survey.csv",), "file_risk.population.file.path")],
)
def test_a_missing_file_is_reported_with_its_key(tmp_path, there, place):
    found = load(tmp_path, file_risk=POPULATION)
    for name in there:
        (tmp_path / name).write_text("a\n")
    with pytest.raises(InputError, match=f"`{place}`: .* does not exist"):
        named_files.check_files(found, tmp_path / "study.yaml")


SEARCH = {"assess_file", "sample_population"}
CHANGES = [
    ({"title": "x"}, {}, set()),
    ({}, {"max_order": 2}, SEARCH),
    ({}, {"weighting": "normalised"}, SEARCH),
    ({}, {"dis_suda": "user-guide"}, {"assess_file"}),
    ({}, {"special": {"seed": 2}}, {"assess_file"}),
    ({}, {"sampling_fraction": 0.2}, SEARCH),
    ({}, {"missing": "category"}, {"prepare_filerisk"}),
    ({}, {"missing": "wildcard"}, {"prepare_filerisk", *SEARCH}),
    ({}, {"collapse": [{"variable": "sex", "recode": {"1": "2"}}]}, {"assess_file"}),
    ({}, {"original": {"path": "before.csv"}}, {"prepare_filerisk"}),
    ({}, {"key_variables": ["sex", "job"]}, {"prepare_filerisk", *SEARCH}),
    ({}, {"population_models": {}}, set()),
    ({}, {"population_models": {"household": "region"}}, {"prepare_filerisk"}),
    ({}, {"key_sets": {}}, set()),
    ({}, {"key_sets": {}, "sensitive": ["income"]}, {"prepare_filerisk"}),
    ({}, {"key_sets": {}, "sensitive": ["sex"]}, set()),
    ({"binning": {"bins": 4}}, {}, {"prepare_filerisk"}),
    ({}, {"file": {"path": "other.csv", "id": "pid"}}, {"prepare_filerisk"}),
    (
        {},
        {"population": {**POPULATION["population"], "numerical_study": {"samples": 4, "strata": "region"}}},
        {"sample_population"},
    ),
]


@pytest.mark.parametrize(("keys", "section", "touched"), CHANGES)
def test_a_change_affects_the_steps_that_take_it(keys, section, touched):
    before, after = model(file_risk=POPULATION), model(file_risk={**POPULATION, **section}, **keys)
    assert changed(before, after) - {"resolve", "report"} == touched


@pytest.mark.parametrize(
    ("before", "after", "touched"),
    [
        ({}, {"seed": 2}, {"model_population"}),
        ({}, {"log_linear": ["main"]}, {"model_population"}),
        ({"household": "region"}, {"household": ["region", "job"]}, {"prepare_filerisk"}),
    ],
)
def test_a_changed_model_affects_the_models_alone(before, after, touched):
    first, second = (model(file_risk={**POPULATION, "population_models": own}) for own in (before, after))
    assert changed(first, second) - {"resolve", "report"} == touched


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            {"log_linear": [[["age", "height"]]]},
            r"key variables, and `height` is not one\. Correct the name\.",
        ),
        ({"log_linear": [[["age", "age"]]]}, r"`age` is given twice"),
        ({"log_linear": []}, r"at least 1"),
        ({"log_linear": [[["age"]]]}, r"at least 2"),
        ({"log_linear": ["three-way"]}, r"`main` or `two-way`"),
        ({"household": []}, r"at least 1"),
    ],
)
def test_a_model_that_cannot_be_is_one_sentence(tmp_path, models, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, file_risk={**FILE_RISK, "population_models": models})


def test_a_study_without_models_or_several_keys_is_written_as_before():
    text = study.canonical_json(model(file_risk=FILE_RISK))
    for name in ("population_models", "scenarios", "key_sets", "sensitive"):
        assert name not in text


NEIGHBOUR = {"scenarios": [{"name": "Neighbour", "known": ["age", "sex"]}]}


@pytest.mark.parametrize(
    ("after", "touched"),
    [
        ({"scenarios": [{"name": "Neighbour", "known": ["sex"]}]}, {"assess_scenarios"}),
        ({"scenarios": [{**NEIGHBOUR["scenarios"][0], "description": "Next door."}]}, set()),
        ({**NEIGHBOUR, "key_sets": {"up_to": 2}}, {"assess_scenarios"}),
        ({**NEIGHBOUR, "sensitive": ["job"]}, {"assess_scenarios"}),
        ({**NEIGHBOUR, "sensitive": ["income"]}, {"prepare_filerisk", "assess_scenarios"}),
        (
            {**NEIGHBOUR, "population_models": {"household": "region"}},
            {"prepare_filerisk", "assess_scenarios"},
        ),
        ({**NEIGHBOUR, "max_order": 2}, SEARCH),
    ],
)
def test_changed_scenarios_affect_the_steps_that_take_them(after, touched):
    first, second = (model(file_risk={**POPULATION, **own}) for own in (NEIGHBOUR, after))
    assert changed(first, second) - {"resolve", "report"} == touched


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            {"scenarios": [{"name": "a", "known": ["height"]}]},
            r"`file_risk.scenarios\[1\].known` must consist of names of key variables, and `height` is not one",
        ),
        ({"scenarios": [{"name": "a", "known": ["age", "age"]}]}, r"`age` is given twice"),
        ({"scenarios": [{"name": "a", "known": []}]}, r"at least 1"),
        ({"scenarios": [{"name": "a", "known": ["age"]}] * 2}, r"`a` is given twice in `scenarios`"),
        ({"key_sets": {"variables": ["height"]}}, r"`file_risk.key_sets.variables` must consist of names"),
        ({"key_sets": {"up_to": 0}}, r"`file_risk.key_sets.up_to` must be at least 1"),
        (
            {"key_variables": [f"v{at}" for at in range(40)], "key_sets": {"up_to": 4}},
            r"must result in at most 10,000 sets, but results in 102,090",
        ),
        ({"sensitive": ["income"]}, r"must not be given without `scenarios` or `key_sets`"),
        ({**NEIGHBOUR, "sensitive": ["a", "a"]}, r"`a` is given twice in `sensitive`"),
        (
            {**NEIGHBOUR, "sensitive": ["income"], "missing": "wildcard"},
            r"must not be given with `missing: wildcard`, because diversity needs cells",
        ),
        (
            {**NEIGHBOUR, "sensitive": [{"name": "job", "missing": ["9"]}]},
            r"must be a name alone, because `job` is a key variable",
        ),
    ],
)
def test_several_keys_that_cannot_be_are_one_sentence(tmp_path, section, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, file_risk={**FILE_RISK, **section})


def test_sets_are_those_of_all_key_variables_up_to_three_unless_others_are_named():
    every = model(file_risk={**FILE_RISK, "key_sets": {}})
    n = len(every.risk_key)
    assert len(parts.intruder_rules(every).sets) == n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6
    some = model(file_risk={**FILE_RISK, "key_sets": {"variables": ["sex", "age"], "up_to": 5}})
    assert parts.intruder_rules(some).sets == (("sex",), ("age",), ("sex", "age"))


def test_a_sensitive_key_variable_is_read_once():
    both = model(file_risk={**FILE_RISK, **NEIGHBOUR, "sensitive": ["job", "income"]})
    assert [variable.name for variable in parts.risk_files(both).sensitive] == ["income"]
    assert parts.intruder_rules(both).sensitive == ("job", "income")


@pytest.mark.parametrize(("declared", "expected"), [(None, ("pid",)), ("person", ("person",))])
def test_the_original_has_the_key_of_the_file_unless_it_names_another(declared, expected):
    original = ORIGINAL if declared is None else {**ORIGINAL, "id": declared}
    found = parts.risk_files(model(file_risk={**FILE_RISK, "original": original}))
    assert (found.original.path, found.original_id) == ("before.csv", expected)


def test_codes_of_a_collapse_are_spelled_as_those_of_its_variable():
    job = {"name": "job", "integer_coded": True}
    collapse = [{"variable": "job", "recode": {"01": "a", " 2.0": "a"}}]
    found = model(file_risk={**FILE_RISK, "key_variables": ["sex", job], "collapse": collapse})
    assert parts.assessment(found).collapse[0].recode == {"1": "a", "2": "a"}


def test_file_risk_does_not_affect_the_steps_of_other_sections():
    alone, both = model(**LINKAGE, matching=MATCHING), model(**LINKAGE, matching=MATCHING, file_risk=OF_PUF)
    assert changed(alone, both) == {"resolve"}


def test_the_bundled_study_has_the_design_of_the_paper():
    bundled = study.load(ROOT / "config" / "studies" / "dis-suda-2003.yaml")
    assert len(bundled.risk_key) == 12
    assert bundled.risk.study_fraction == 0.02
    assert bundled.risk.population.numerical_study.samples == 50
    assert len(bundled.simulate.households) == 2
