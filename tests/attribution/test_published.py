"""Attribute disclosure of a table that anybody can count (METHODS §12).

The measures are those of Raab, Nowok and Dibben 2025, *Practical privacy metrics for synthetic data* (synthpop 1.9),
and CAP and TCAP as in Taub and Elliot 2019. Their example, SD2011, is in `test_synthpop`; the fractions below are
computed by hand from the definitions.

    key        a    b    c    d    e
    original   xxy  x    yy   xyyy          10 persons
    synthetic  xx   y    y    xy   xx        8 records
"""

from fractions import Fraction

import pyarrow as pa
import pytest
from reident.attribution import assessment, prepare
from reident.attribution import step as attribution_step
from reident.study.model import Study

ORIGINAL = {"a": "xxy", "b": "x", "c": "yy", "d": "xyyy"}
SYNTHETIC = {"a": "xx", "b": "y", "c": "y", "d": "xy", "e": "xx"}
BY_HAND = {
    "uio": Fraction(1, 10),  # b
    "uis": Fraction(2, 8),  # b, c
    "uiois": Fraction(1, 10),  # b
    "repu": Fraction(1, 10),  # b
    "dorig": Fraction(3, 10),  # b, c
    "dsyn": Fraction(6, 8),  # a, b, c, e
    "matched": Fraction(10, 10),
    "disclosive": Fraction(6, 10),  # a, b, c
    "disco": Fraction(4, 10),  # xx of a, yy of c
    "disdio": Fraction(2, 10),  # yy of c
    "cap": Fraction(2 + 0 + 2, 10) + Fraction(4, 2) / 10,  # a, b, c and half of d
    "cap_matched": Fraction(6, 10),
    "guess": Fraction(6, 10),  # a: xx; c: yy; d: a tie
    "cap_original": (Fraction(5, 3) + 1 + 2 + Fraction(10, 4)) / 10,
    "cap_true_others": (Fraction(2, 2) + 0 + 2 + Fraction(3 * 2, 3)) / 10,
    "tcap": (2 * Fraction(2, 3) + 0 + 1) / 4,  # a twice, b, c
}
NO_KEY = {"cap": Fraction(4 * 5 + 6 * 3, 10 * 8), "guess": Fraction(4, 10)}


def table(cells):
    rows = [(key, value) for key, values in cells.items() for value in values]
    return pa.table({"key": [key for key, _ in rows], "target": [value for _, value in rows]})


@pytest.fixture(scope="module")
def found():
    options = {
        "original": {"path": "original.csv"},
        "released": [{"path": "synthetic.csv"}],
        "keys": ["key"],
        "targets": [{"name": "value", "column": "target"}],
    }
    study = Study.model_validate({"id": "table", "attribute_disclosure": options})
    texts = {"attribution_original": table(ORIGINAL), "attribution_released_1": table(SYNTHETIC)}
    prepared = prepare.prepare(attribution_step.attribution_files(study), texts)
    return assessment.assess(attribution_step.attribution_rules(study), *prepared[:4])


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_is_that_computed_by_hand(found, name):
    assert found.summary[name].tolist() == pytest.approx([float(BY_HAND[name])] * 2, abs=1e-15)


@pytest.mark.parametrize("name", NO_KEY)
def test_the_baseline_without_a_key_is_that_computed_by_hand(found, name):
    assert found.targets[name].tolist() == pytest.approx([float(NO_KEY[name])], abs=1e-15)
