"""The section on one file's risk: what a study must have for it, and which steps a change touches."""

import re

import pytest
from making.filerisk import FILE_RISK, POPULATION
from making.matching import MATCHING
from making.studies import changed, files, load, refused
from reident.errors import InputError
from reident.study import model as study
from reident.study import named_files

LINKAGE = {
    "files": files(),
    "linking_variables": [
        {"name": "age", "type": "numeric", "puf": "AGE", "missing": {"puf": ["-9"], "eif": ["x"]}},
        {"name": "sex", "type": "categorical", "recode": {"eif": {"M": "1"}}},
    ],
    "metrics": {"taxicab": {}},
}
OF_PUF = {"sampling_fraction": 0.1}
AUTHORITIES = {"kind": "local-authorities"}


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


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({}, "`file_risk` or `attribute_disclosure`"),
        ({"file_risk": OF_PUF}, "`file_risk.file` must be a file of the study, but the study has no `puf`"),
        ({"file_risk": {**FILE_RISK, "file": "survey"}},
         "`file_risk.file` must be `survey` if `simulate` has the kind"),
        ({"file_risk": {**FILE_RISK, "file": "release"}}, "`file_risk.file` must be one of `puf`"),
        ({"file_risk": {**FILE_RISK, "file": {"id": "pid"}}}, "`file_risk.file.path` is missing"),
        ({"file_risk": without(FILE_RISK, "key_variables")},
         "must have 1 to 60 key variables. List them as `key_variables`"),
        ({"file_risk": {**FILE_RISK, "key_variables": [f"k{at}" for at in range(58)]}},
         "`file_risk` must have a `max_order` of at most 7 for 58 key variables; it need not for at most 57. Add it"),
        ({"file_risk": {**FILE_RISK, "key_variables": [f"k{at}" for at in range(60)], "max_order": 8}},
         "`file_risk` must have a `max_order` of at most 7 for 60 key variables"),
        ({"file_risk": without(FILE_RISK, "sampling_fraction")},
         "`file_risk` must have exactly one of `sampling_fraction` and `weight`"),
        ({"file_risk": {**FILE_RISK, "weight": "w"}}, "Remove the other, or add one"),
        ({"file_risk": {**FILE_RISK, "sampling_fraction": 0}}, "line 6: `file_risk.sampling_fraction`"),
        ({"file_risk": {**FILE_RISK, "key_variables": ["sex", "sex"]}}, "`sex` is given twice in `key_variables`"),
        ({"file_risk": {**FILE_RISK, "key_variables": [f"x{j}" for j in range(61)]}}, "key_variables`"),
        ({"file_risk": {**FILE_RISK, "key_variables": ["pid"]}}, "`pid` must not identify a record of `file_risk`"),
        ({"file_risk": {**FILE_RISK, "file": {"path": "a.csv", "id": "suda"}}}, "`suda` must not identify a record"),
        ({"file_risk": {**FILE_RISK, "max_order": 0}}, "`file_risk.max_order`"),
        ({"file_risk": {**FILE_RISK, "collapse": [{"variable": "age", "recode": {"1": "2"}}]}},
         "`file_risk.collapse` must name categorical key variables, and `age` is not one"),
        ({"file_risk": {**FILE_RISK, "collapse": [{"variable": "street", "recode": {"1": "2"}}]}},
         "and `street` is not one. Correct the name, or remove it"),
        ({"file_risk": {**FILE_RISK, "collapse": [{"variable": "sex", "recode": {}}]}},
         "`file_risk.collapse[1].recode`"),
        ({"file_risk": {**FILE_RISK, "file": {"path": "a.csv"}, "original": {"path": "b.csv"}}},
         "`file_risk.original` must not be given for a file without `id`"),
        ({"file_risk": {**FILE_RISK, "original": {"path": "b.csv", "id": ["x", "y"]}}},
         "`file_risk.original.id` must have as many columns as the key of the file (1)"),
        ({"file_risk": {**FILE_RISK, "weighting": "suda2"}}, "`file_risk.weighting`"),
        ({"file_risk": {**FILE_RISK, "dis_suda": "sdcmicro"}}, "`file_risk.dis_suda`"),
        ({"file_risk": {**FILE_RISK, "population": {}}}, "`file_risk.population` must have exactly one source"),
        ({"file_risk": {**without(POPULATION, "sampling_fraction"), "weight": "w"}},
         "`file_risk.population.numerical_study.fraction` is missing. Add it"),
        ({"simulate": AUTHORITIES, "matching": MATCHING},
         "`simulate` must not have the kind `local-authorities` without `file_risk`"),
        ({"simulate": {"kind": "census"}, "file_risk": FILE_RISK}, "must have as `kind` one of"),
        ({"file_risk": {**FILE_RISK, "key_variables": [{"name": "a", "type": "numeric", "order": ["1", "2"]}]}},
         "must not have `order` or `integer_coded` with `type: numeric`"),
        ({"file_risk": {**FILE_RISK, "key_variables": [{"name": "a", "missing": "-9", "recode": {"x": "-9"}}]}},
         "`file_risk.key_variables[1].recode` must not map a code to `-9`, which is a missing code: missing codes"),
    ],
)  # fmt: skip
def test_invalid_sections_are_refused(tmp_path, keys, sentence):
    refused(tmp_path, sentence, **keys)


@pytest.mark.parametrize(
    ("there", "place"), [((), "file_risk.file.path"), (("survey.csv",), "file_risk.population.file.path")]
)
def test_a_missing_file_is_reported_with_its_key(tmp_path, there, place):
    found = load(tmp_path, file_risk=POPULATION)
    for name in there:
        (tmp_path / name).write_text("a\n")
    problem, *_ = named_files.problems(found, tmp_path / "study.yaml")
    assert re.search(f"`{place}`: .* does not exist", problem)


SEARCH = {"assess_file", "sample_population"}
CHANGES = [
    ({"title": "x"}, {}, set()),
    ({}, {"max_order": 2}, SEARCH),
    ({}, {"weighting": "normalised"}, SEARCH),
    ({}, {"dis_suda": "user-guide"}, {"assess_file"}),
    ({}, {"special": {"seed": 2}}, {"assess_file"}),
    ({}, {"sampling_fraction": 0.2}, {"prepare_filerisk", *SEARCH, "measure_thresholds"}),
    ({}, {"missing": "category"}, {"prepare_filerisk"}),
    ({}, {"missing": "wildcard"}, {"prepare_filerisk", *SEARCH, "measure_thresholds"}),
    ({}, {"collapse": [{"variable": "sex", "recode": {"1": "2"}}]}, {"assess_file"}),
    ({}, {"original": {"path": "before.csv"}}, {"prepare_filerisk"}),
    ({}, {"key_variables": ["sex", "job"]}, {"prepare_filerisk", *SEARCH, "measure_thresholds"}),
    ({}, {"population_models": {}}, set()),
    ({}, {"population_models": {"household": "region"}}, {"prepare_filerisk"}),
    ({}, {"key_sets": {}}, set()),
    ({}, {"key_sets": {}, "sensitive": ["income"]}, {"prepare_filerisk"}),
    ({}, {"key_sets": {}, "sensitive": ["sex"]}, set()),
    ({"binning": {"bins": 4}}, {}, {"prepare_filerisk"}),
    ({}, {"file": {"path": "other.csv", "id": "pid"}}, {"prepare_filerisk"}),
    ({}, {"population": {**POPULATION["population"], "numerical_study": {"samples": 4, "strata": "region"}}},
     {"sample_population"}),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "section", "touched"), CHANGES)
def test_a_change_affects_the_steps_that_take_it(keys, section, touched):
    before, after = model(file_risk=POPULATION), model(file_risk={**POPULATION, **section}, **keys)
    assert changed(before, after) - {"resolve", "report"} == touched


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"log_linear": [[["age", "height"]]]}, r"key variables, and `height` is not one\. Correct the name\."),
        ({"log_linear": [[["age", "age"]]]}, r"`age` is given twice"),
        ({"log_linear": []}, r"at least 1"),
        ({"log_linear": [[["age"]]]}, r"at least 2"),
        ({"log_linear": ["three-way"]}, r"`main` or `two-way`"),
        ({"household": []}, r"at least 1"),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_is_one_sentence(tmp_path, models, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, file_risk={**FILE_RISK, "population_models": models})


NEIGHBOUR = {"scenarios": [{"name": "Neighbour", "known": ["age", "sex"]}]}


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"scenarios": [{"name": "a", "known": ["height"]}]},
         r"`file_risk.scenarios\[1\].known` must consist of names of key variables, and `height` is not one"),
        ({"scenarios": [{"name": "a", "known": ["age", "age"]}]}, r"`age` is given twice"),
        ({"scenarios": [{"name": "a", "known": []}]}, r"at least 1"),
        ({"scenarios": [{"name": "a", "known": ["age"]}] * 2}, r"`a` is given twice in `scenarios`"),
        ({"key_sets": {"variables": ["height"]}}, r"`file_risk.key_sets.variables` must consist of names"),
        ({"key_sets": {"up_to": 0}}, r"`file_risk.key_sets.up_to` must be at least 1"),
        ({"key_variables": [f"v{at}" for at in range(40)], "key_sets": {"up_to": 4}},
         r"must result in at most 10,000 sets, but results in 102,090"),
        ({"sensitive": ["income"]}, r"must not be given without `scenarios` or `key_sets`"),
        ({**NEIGHBOUR, "sensitive": ["a", "a"]}, r"`a` is given twice in `sensitive`"),
        ({**NEIGHBOUR, "sensitive": ["income"], "missing": "wildcard"},
         r"must not be given with `missing: wildcard`, because diversity needs cells"),
        ({**NEIGHBOUR, "sensitive": [{"name": "income", "distance": "ordered"}]},
         r"`file_risk\.sensitive\[1\]\.distance` must not be `ordered`, because `income` is categorical"),
        ({**NEIGHBOUR, "sensitive": [{"name": "job", "missing": ["9"]}]},
         r"must be a name alone, or one with `distance`, because `job` is a key variable"),
    ],
)  # fmt: skip
def test_several_keys_that_cannot_be_are_one_sentence(tmp_path, section, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, file_risk={**FILE_RISK, **section})
