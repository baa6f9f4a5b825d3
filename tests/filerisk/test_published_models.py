"""Published examples of individual risk, of log-linear models and of diversity (METHODS §7.2, §7.3, §7.5)."""

import numpy as np
import pyarrow as pa
import pytest
from filerisk.test_published_suda import IHSN, codes_of
from reident.filerisk import individual, log_linear, scenarios, uniques
from reident.filerisk.settings import ScenarioSettings

WEIGHTS = [180.0, 180.0, 215.0, 76.0, 186.0, 76.0, 180.0, 215.0, 186.0, 76.0]
"""Of the ten records of the IHSN practice guide. The f and F of its Table 4.1 follow: 1 and 215, 1 and 186, 2 and 360,
2 and 152."""


def test_ihsn_individual_risks():
    """Table 4.1 of the SDC Practice Guide: records 3, 5, 1 and 4."""
    codes, _ = codes_of(IHSN)
    sizes, people = individual.matches(codes, np.array(WEIGHTS))
    at = [2, 4, 0, 3]
    assert (sizes[at].tolist(), people[at].tolist()) == ([1, 1, 2, 2], [215, 186, 360, 152])
    assert individual.risk(sizes, people)[at].round(4).tolist() == [0.0251, 0.0282, 0.0054, 0.0126]


SDCMICRO = [
    (2, 2, 5), (3, 1, 4), (2, 2, 4), (3, 2, 5), (3, 1, 4), (1, 2, 4), (2, 1, 3), (3, 1, 3), (2, 1, 2), (2, 2, 2),
]  # fmt: skip
"""The ten records that the tests of sdcMicro draw for `modRisk`, each with the weight 100."""


@pytest.fixture
def table():
    codes = np.array(SDCMICRO, np.int32)
    return log_linear.table_of(codes, uniques.cell_sizes(codes))


def test_sdcmicro_model_risk(table):
    """`modRisk` with main effects: 0.552916 and 0.7053842. It takes μ for λ, and divides by the nine cells."""
    fitted, _ = log_linear.fit(table.counts, [(0,), (1,), (2,)])
    risks = log_linear._Risks(fitted[tuple(table.single.T)], 0.01)
    found = [float(own.sum()) / 9 for own in risks.terms]
    assert [round(found[0], 6), round(found[1], 7)] == [0.552916, 0.7053842]


def test_the_same_records_by_the_definition_have_less_risk(table):
    """With λ = μ/π: 8 uniques with μ of 0.1 to 1, hence 10 to 100 people."""
    found = log_linear.model(table, [(0,), (1,), (2,)], 0.01)
    mu = np.array([0.5, 1.0, 0.4, 0.2, 0.5, 0.4, 0.5, 0.5])
    nu = mu / 0.01 * 0.99
    assert found.population_uniques.value < 1e-8
    assert found.correct_matches.value == pytest.approx(((1 - np.exp(-nu)) / nu).sum())


COUNTS = [
    4, 5, 0, 0, 4, 0, 0, 0, 5, 0, 0, 1, 5, 0, 0, 0, 0, 0, 3, 8, 4, 3, 6, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 6, 2, 0, 13,
    0,    3, 1, 6, 0, 3, 0, 3, 3, 1, 0, 1, 2, 0, 5, 3, 1, 1, 1, 0, 2, 1, 0, 1, 7, 2, 3, 1, 12, 6, 4, 12, 0, 0,
]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("main", [2.196557703902717e-05, 0.3682491034055776, 2.368490912708107, 8.354951474420023]),
        ((("a", "b"), ("b", "d")), [0.1825476822822548, 0.9090680282620113, -0.24391828523118828, 0.7777812647575912]),
    ],
)
def test_statsmodels_fits_the_same_models(model, expected):
    """A table of 4 × 3 × 2 × 3 cells, π = 0.05: τ̂₁, τ̂₂ and both tests from statsmodels' GLM (0.15, family Poisson)."""
    levels, counts = (4, 3, 2, 3), np.array(COUNTS)
    cells = np.stack(np.unravel_index(np.arange(len(counts)), levels), axis=1)
    codes = np.repeat(cells, counts, axis=0).astype(np.int32)
    table = log_linear.table_of(codes, uniques.cell_sizes(codes))
    found = log_linear.model(table, log_linear.margins_of(model, "abcd"), 0.05)
    one, two = found.population_uniques, found.correct_matches
    assert [one.value, two.value, one.test, two.test] == pytest.approx(expected, rel=1e-6)


HEART, VIRAL, CANCER = range(3)
RULES = ScenarioSettings((("Neighbour", ("block",)),), (), ("condition",), 0.1, False, False)


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
    found = diversity([HEART, VIRAL, CANCER, CANCER], [CANCER, HEART, VIRAL, VIRAL], [HEART, VIRAL, CANCER, CANCER])
    assert (found["distinct_l"], found["n_one_value"]) == (3, 0)
    assert (found["recursive_2"], found["recursive_3"]) == (1, 2)
