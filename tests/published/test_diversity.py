"""The inpatients of Machanavajjhala et al. 2007, *l-Diversity*, Figures 2 and 3 (METHODS §7.5)."""

import pyarrow as pa
from reident.filerisk import scenarios
from reident.filerisk.parts import IntruderRules

HEART, VIRAL, CANCER = range(3)
RULES = IntruderRules((("Neighbour", ("block",)),), (), ("condition",), 0.1, False, False)


def diversity(*blocks):
    """Return the diversity of the conditions of patients in blocks of equal keys."""
    codes = [(at, condition) for at, own in enumerate(blocks) for condition in own]
    columns = zip(("block", "condition"), zip(*codes, strict=True), strict=True)
    table = pa.table({name: pa.array(values, pa.int32()) for name, values in columns})
    return scenarios.assess(RULES, table, table.slice(0, 0)).diversity.iloc[0]


def test_four_anonymous_patients_of_whom_a_third_are_known_to_have_cancer():
    found = diversity([HEART, HEART, VIRAL, VIRAL], [CANCER, HEART, VIRAL, VIRAL], [CANCER] * 4)
    assert (found["distinct_l"], found["n_one_value"], found["n_shared_value"]) == (1, 4, 4)


def test_the_table_that_is_three_diverse():
    found = diversity(
        [HEART, VIRAL, CANCER, CANCER], [CANCER, HEART, VIRAL, VIRAL], [HEART, VIRAL, CANCER, CANCER]
    )
    assert (found["distinct_l"], found["n_one_value"]) == (3, 0)
    assert (found["recursive_2"], found["recursive_3"]) == (1, 2)
