"""Variants are named by what they set."""

import pytest
from making.examples import cases
from reident.study import variants

IDS = [
    ("a number", ["0.5"], ["v-0.5"]),
    ("a negative number", ["-1", "1"], ["v-minus-1", "v-1"]),
    ("a fraction", ["1/3"], ["v-1-3"]),
    ("a word with an underscore", ["half_gap"], ["v-half-gap"]),
    ("capitals", ["PUF"], ["v-puf"]),
    ("dots and slashes lead nowhere", ["../../x"], ["v-x"]),
    ("an empty text", [""], ["v-empty"]),
    ("an absent value", [None], ["v-none"]),
]


@pytest.mark.parametrize(("values", "ids"), cases(IDS))
def test_the_id_of_a_variant_consists_of_its_values(values, ids):
    varied = variants.Varied.model_validate({"set": "rates.v", "values": values})
    assert [variant.id for variant in variants.expand([varied])] == ids


def test_a_label_without_letters_is_named_by_its_digest():
    assert variants.slug("漢字") == variants.slug("漢字") != variants.slug("字")
    assert variants.slug("漢字").isalnum()


def test_a_long_id_is_shortened_and_stays_unique():
    varied = [
        variants.Varied.model_validate({"set": f"rates.{'n' * 30}{at}", "values": ["a" * 50, "b" * 50]})
        for at in range(3)
    ]
    ids = [variant.id for variant in variants.expand(varied)]
    assert max(map(len, ids)) == variants.MAX_ID_LENGTH
    assert len(set(ids)) == 8


def test_names_use_as_many_words_of_the_key_as_are_needed_to_differ():
    def named(*keys):
        return variants.names([variants.Varied.model_validate({"set": key, "values": ["1"]}) for key in keys])

    assert named("metrics.taxicab.alpha") == ["alpha"]
    assert named("metrics.taxicab.alpha", "metrics.euclidean.alpha") == ["taxicab_alpha", "euclidean_alpha"]
