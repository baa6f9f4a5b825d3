"""Published SUDA examples (METHODS §7): the IHSN practice guide, Templ's book, sdcMicro's issue 275."""

import numpy as np
import pytest
from reident.filerisk import dis_suda, suda, uniques


def codes_of(records):
    """Category codes in the order in which the labels first occur, and the labels."""
    columns = list(zip(*records, strict=True))
    labels = [list(dict.fromkeys(column)) for column in columns]
    codes = [[of.index(x) for x in column] for of, column in zip(labels, columns, strict=True)]
    return np.array(codes, np.int32).T.copy(), labels


IHSN = [
    tuple(record.split())
    for record in """\
Urban Female Secondary_incomplete Employed
Urban Female Secondary_incomplete Employed
Urban Female Primary_incomplete Non-LF
Urban Male Secondary_complete Employed
Rural Female Secondary_complete Unemployed
Urban Male Secondary_complete Employed
Urban Female Primary_complete Non-LF
Urban Male Post-secondary Unemployed
Urban Female Secondary_incomplete Non-LF
Urban Female Secondary_incomplete Non-LF
""".splitlines()
]
IHSN_NAMES = ["residence", "gender", "education", "labour"]
TEMPL = list(
    zip(
        ["20s"] * 7 + ["60s"],
        ["male"] * 4 + ["female"] * 3 + ["male"],
        ["50k+"] * 2 + ["50k-"] * 6,
        ["highschool"] * 4 + ["university", "highschool", "middleschool", "university"],
        strict=True,
    )
)


@pytest.mark.parametrize("max_order", [None, 3])
@pytest.mark.parametrize(
    ("weighting", "expected"),
    [("elliot", [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]), ("normalised", [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])],
)
def test_ihsn_scores(weighting, expected, max_order):
    """Table 4.5 of the SDC Practice Guide."""
    codes, _ = codes_of(IHSN)
    assert suda.scores(codes, weighting=weighting, max_order=max_order).score.tolist() == expected


def test_ihsn_weights_of_the_sizes():
    codes, _ = codes_of(IHSN)
    assert suda.scores(codes, weighting="normalised").weights.tolist() == [0, 1.75, 0.5, 0.25, 0]


def test_ihsn_dis_suda():
    """Table 4.5: the formula of the user guide with the weights `normalised`, a sampling fraction of 1 %."""
    codes, _ = codes_of(IHSN)
    score = suda.scores(codes, weighting="normalised").score
    found = dis_suda.user_guide(score, uniques.cell_sizes(codes), 0.01, 4, np.nan).risk
    assert found[score > 0].round(4).tolist() == [0.0051, 0.0107, 0.0051, 0.0088]
    assert not found[score == 0].any()


def test_ihsn_contributions():
    codes, _ = codes_of(IHSN)
    table = suda.by_variable(suda.scores(codes), IHSN_NAMES)
    assert (100 * table["contribution"]).round(2).tolist() == [23.53, 17.65, 64.71, 23.53]


def test_ihsn_contributions_of_levels_add_up_to_those_of_variables():
    codes, labels = codes_of(IHSN)
    scores = suda.scores(codes)
    levels = suda.by_level(scores, IHSN_NAMES, labels)
    by_variable = suda.by_variable(scores, IHSN_NAMES).set_index("variable")["contribution"]
    assert levels.groupby("variable")["contribution"].sum().to_dict() == pytest.approx(by_variable.to_dict())
    rural = levels.set_index(["variable", "level"]).loc[("residence", "Rural")]
    assert rural["contribution"] == pytest.approx(6 / 34)


def test_ihsn_smallest_sets_in_words():
    """Record 5 is the only rural one; record 8 the only one with post-secondary education."""
    codes, _ = codes_of(IHSN)
    words = suda.in_words(suda.scores(codes).msus.variables, IHSN_NAMES)
    assert words == ["", "", "education", "", "residence", "", "education", "education", "", ""]


def test_templ():
    """The example of eight records in Templ's book (sdcMicro issue 263)."""
    codes, _ = codes_of(TEMPL)
    assert suda.scores(codes).score.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)])
def test_three_records_contributions(order):
    """sdcMicro issue 275: a = (2, 1, 1), b = (0, 3, 0), c = (0, 6, 0), in any order of the variables."""
    columns = np.array([(2, 1, 1), (0, 3, 0), (0, 6, 0)])
    names = ["a", "b", "c"]
    codes, _ = codes_of([tuple(row) for row in columns[list(order)].T])
    table = suda.by_variable(suda.scores(codes), [names[i] for i in order])
    expected = {"a": 50, "b": 37.5, "c": 37.5}
    assert (100 * table.set_index("variable")["contribution"]).to_dict() == expected
