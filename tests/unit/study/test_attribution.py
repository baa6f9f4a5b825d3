"""The section `attribute_disclosure`: the files that it compares, its sets, and what is refused (METHODS §12)."""

import pytest
from making.attribution import HELD_OUT, LEARNT
from making.matching import MATCHING
from making.studies import saved
from reident.errors import InputError
from reident.pipeline import parts
from reident.sections.attribution import AttributeDisclosure
from reident.study import model as study
from reident.study import named_files

LINKED = {
    "files": {
        "puf": {"path": "puf.csv", "id": "p"},
        "eif": {"path": "eif.csv", "id": "e"},
        "iuf": {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"},
        "original": {"path": "original.csv"},
    },
    "linking_variables": [
        {"name": "age", "type": "numeric", "puf": "AGE"},
        {"name": "sex", "type": "categorical", "puf": "SEX", "missing": {"puf": ["-9"]}},
    ],
    "metrics": {"taxicab": {}},
}
OF_PUF = {"released": "puf", "keys": ["age", "sex"], "targets": ["job"]}
OF_COPIES = {"released": "synthetic", "keys": ["sex", "region"], "targets": ["job"]}


def load(folder, **keys):
    return study.load(saved(folder, {"id": "s", **keys}))


@pytest.mark.parametrize(
    ("keys", "sides", "linked"),
    [
        ({"attribute_disclosure": LEARNT}, ["original", "released_1", "released_2"], True),
        ({"attribute_disclosure": HELD_OUT}, ["original", "released_1", "holdout"], False),
        ({**LINKED, "attribute_disclosure": OF_PUF}, ["original", "puf"], True),
        (
            {"matching": MATCHING, "attribute_disclosure": OF_COPIES},
            ["confidential", "synthetic_1", "synthetic_2", "synthetic_3"],
            True,
        ),
    ],
)
def test_the_files_that_are_compared(tmp_path, keys, sides, linked):
    found = load(tmp_path, **keys)
    assert [side.removeprefix("attribution_") for side in found.attribution_sources] == sides
    assert study.parse(study.canonical_json(found)) == found
    files = parts.attribution_files(found)
    assert [side.removeprefix("attribution_") for side in files.released] == [
        side for side in sides[1:] if side != "holdout"
    ]
    assert (files.holdout is not None) == ("holdout" in sides)
    assert linked == (files.by_order or bool(files.ids[files.original]))


def test_a_name_alone_is_a_variable_as_other_sections_declare_it(tmp_path):
    keys, targets = load(tmp_path, **LINKED, attribute_disclosure=OF_PUF).attribution_variables
    assert [(key.name, key.column, key.type, key.missing) for key in keys] == [
        ("age", "AGE", "numeric", ()),
        ("sex", "SEX", "categorical", ("-9",)),
    ]
    assert targets[0].column == "job"
    within = {"name": "age", "type": "numeric", "within": {"absolute": "1"}}
    target = {**OF_PUF, "keys": ["sex"], "targets": [within]}
    (age,) = load(tmp_path, **LINKED, attribute_disclosure=target).attribution_variables[1]
    assert (age.column, age.within.size) == ("AGE", 1)
    income = {"name": "income", "type": "numeric", "within": {"relative": "0.1"}}
    copies = {**OF_COPIES, "targets": ["job", income]}
    _, targets = load(tmp_path, matching=MATCHING, attribute_disclosure=copies).attribution_variables
    assert [target.missing for target in targets] == [(), ("-9",)]


@pytest.mark.parametrize(
    ("keys", "max_keys", "n"), [("ab", 3, 3), ("abc", 1, 4), ("abcd", 3, 15), ("abcd", 4, 15)]
)
def test_every_set_up_to_a_size_and_that_of_all_keys(keys, max_keys, n):
    options = {**OF_COPIES, "keys": list(keys), "max_keys": max_keys}
    sets = AttributeDisclosure.model_validate(options).key_sets
    assert len(sets) == len(set(sets)) == n
    assert sets[-1] == tuple(keys)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"original": None}, "`attribute_disclosure.original` must be given with a list of released files"),
        ({"released": "puf"}, "`attribute_disclosure.original` must be given with a list of released files"),
        ({"released": "puf", "original": None}, "must not be `puf` without `files.original`"),
        ({"released": "synthetic", "original": None}, "must not be `synthetic` without `matching`"),
        ({"targets": ["sex"]}, "`sex` must not be both in `keys` and in `targets`"),
        (
            {"targets": [{"name": "income", "type": "numeric"}]},
            "must have `within` if it has `type: numeric`",
        ),
        ({"targets": [{"name": "job", "within": {"absolute": "1"}}]}, "must have `within` if it has"),
        ({"keys": ["sex", "sex"]}, "`sex` is given twice in `keys`"),
        ({"sets": [["sex", "job"]]}, "must consist of names of `keys`, and `job` is not one"),
        ({"sets": [["sex", "region"], ["region", "sex"]]}, "must not have the same set twice"),
        ({"keys": [f"k{at}" for at in range(57)]}, "must result in at most 10,000 sets"),
        ({"keys": ["person"]}, "`person` must not identify a person"),
        (
            {"released": [{"path": "r.csv", "id": ["a", "b"]}]},
            "must have as many columns in each `id` as `original`",
        ),
    ],
)
def test_invalid_sections_are_refused(tmp_path, change, sentence):
    options = {name: value for name, value in {**LEARNT, **change}.items() if value is not None}
    with pytest.raises(InputError) as error:
        load(tmp_path, attribute_disclosure=options)
    assert sentence in str(error.value)


def test_every_file_of_its_own_must_be_there(tmp_path):
    found = load(tmp_path, attribute_disclosure=HELD_OUT)
    assert list(named_files.named_files(found).values()) == ["original.csv", "released_1.csv", "holdout.csv"]


def test_the_attack_on_the_untreated_file_leaves_it_out(tmp_path):
    found = load(tmp_path, **LINKED, attribute_disclosure=OF_PUF)
    assert found.attribute_disclosure is not None
    from reident.study.variants import before_protection

    (varied,) = before_protection(found)
    (settings,) = varied.combinations.values()
    assert settings["attribute_disclosure"] is None


def test_a_study_without_it_has_the_text_of_earlier_releases(tmp_path):
    found = load(tmp_path, matching=MATCHING)
    assert "attribute_disclosure" not in study.canonical_json(found)


def test_the_key_of_the_file_is_that_of_the_file_where_both_files_name_it_alike(tmp_path):
    files = {
        **LINKED["files"],
        "puf": {"path": "puf.csv", "id": "id"},
        "eif": {"path": "eif.csv", "id": "id"},
    }
    found = load(tmp_path, **{**LINKED, "files": files}, attribute_disclosure=OF_PUF)
    assert parts.attribution_files(found).ids == {"original": ("id",), "puf": ("id",)}
