"""The section `attribute_disclosure`: the files that it compares, its sets, and what is refused (METHODS §12)."""

import pytest
from making.attribution import HELD_OUT, LEARNT
from making.studies import files, load, refused
from reident.attribution.section import AttributeDisclosure
from reident.study import named_files
from reident.study.variants import before_protection

LINKED = {
    "files": files(original={"path": "original.csv"}),
    "linking_variables": [
        {"name": "age", "type": "numeric", "puf": "AGE"},
        {"name": "sex", "type": "categorical", "puf": "SEX", "missing": {"puf": ["-9"]}},
    ],
    "metrics": {"taxicab": {}},
}
OF_PUF = {"released": "puf", "keys": ["age", "sex"], "targets": ["job"]}
OF_COPIES = {"released": "synthetic", "keys": ["sex", "region"], "targets": ["job"]}


@pytest.mark.parametrize(("keys", "max_keys", "n"), [("ab", 3, 3), ("abc", 1, 4), ("abcd", 3, 15), ("abcd", 4, 15)])
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
        ({"targets": [{"name": "income", "type": "numeric"}]}, "must have `within` if it has `type: numeric`"),
        ({"targets": [{"name": "job", "within": {"absolute": "1"}}]}, "must have `within` if it has"),
        ({"keys": ["sex", "sex"]}, "`sex` is given twice in `keys`"),
        ({"sets": [["sex", "job"]]}, "must consist of names of `keys`, and `job` is not one"),
        ({"sets": [["sex", "region"], ["region", "sex"]]}, "must not have the same set twice"),
        ({"keys": [f"k{at}" for at in range(57)]}, "must result in at most 10,000 sets"),
        ({"keys": ["person"]}, "`person` must not identify a person"),
        ({"released": [{"path": "r.csv", "id": ["a", "b"]}]}, "must have as many columns in each `id` as `original`"),
    ],
)  # fmt: skip
def test_invalid_sections_are_refused(tmp_path, change, sentence):
    options = {name: value for name, value in {**LEARNT, **change}.items() if value is not None}
    refused(tmp_path, sentence, attribute_disclosure=options)


def test_every_file_of_its_own_must_be_there(tmp_path):
    found = load(tmp_path, attribute_disclosure=HELD_OUT)
    assert list(named_files.named_files(found).values()) == ["original.csv", "released_1.csv", "holdout.csv"]


def test_the_attack_on_the_untreated_file_leaves_it_out(tmp_path):
    found = load(tmp_path, **LINKED, attribute_disclosure=OF_PUF)
    (varied,) = before_protection(found)
    (settings,) = varied.combinations.values()
    assert settings["attribute_disclosure"] is None
