"""The report on several keys at once: numbers of the tables, the figure, and studies with only one of the two."""

import pytest
from making.filerisk import SEVERAL, write_filerisk
from making.report import rows
from reident.filerisk import report_scenarios as filerisk_scenarios
from reident.report.blocks import filerisk_brief
from reident.report.results import Results

AGAINST = {**SEVERAL, "population": {"file": {"path": "census.csv"}}}


def results_of(factory, name, section):
    return Results(write_filerisk(factory.mktemp(name) / "results", section))


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return results_of(tmp_path_factory, "several", SEVERAL)


@pytest.fixture(scope="module")
def against(tmp_path_factory):
    return results_of(tmp_path_factory, "against", {key: own for key, own in AGAINST.items() if key != "key_sets"})


@pytest.fixture(scope="module")
def only_sets(tmp_path_factory):
    return results_of(tmp_path_factory, "sets", {key: own for key, own in SEVERAL.items() if key != "scenarios"})


def changed(results, change):
    """The results with another table of the scenarios."""
    lines = results.table(filerisk_scenarios.SCENARIOS).copy()
    change(lines)
    other = Results(results.folder)
    other.table = lambda name: lines if name == filerisk_scenarios.SCENARIOS else results.table(name)
    return other


def plain(text):
    return text.replace("\u00a0", " ")


def test_without_a_unique_nothing_is_the_largest(several):
    def change(lines):
        lines[["n_unique", "unique_share"]] = 0

    text = filerisk_scenarios.scenarios_findings(changed(several, change))
    assert "In none of these scenarios is a record unique." in text
    assert "No record is unique on any of them." in text


def test_the_cells_are_those_of_the_table(several):
    lines = filerisk_scenarios.named(several)
    shown = rows(plain(filerisk_scenarios.scenarios_cells(several)))
    assert [row[0] for row in shown] == ["**Neighbour**", "**Employer**"]
    assert [int(row[1]) for row in shown] == lines["n_compared"].tolist()
    assert [int(row[3]) for row in shown] == lines["n_unique"].tolist()
    assert [int(row[5]) for row in shown] == lines["below_3"].tolist()


def test_the_interval_of_dis_is_that_of_the_table(several):
    shown = rows(plain(filerisk_scenarios.scenarios_cells(several)))
    lines = filerisk_scenarios.named(several)
    for row, low, high in zip(shown, lines["dis_low"], lines["dis_high"], strict=True):
        if low != low:
            assert row[-1] == "–"
            continue
        assert [float(end) for end in row[-1].split(" – ")] == pytest.approx([100 * low, 100 * high], abs=0.051)


def test_the_report_says_which_distance_t_has(several, tmp_path):
    text = filerisk_scenarios.scenarios_diversity(several)
    assert "For t, all values of tenure are equally far apart (`equal`)." in text
    ordered = {"name": "region", "order": ["1", "2", "3", "4", "5", "6"], "distance": "ordered"}
    section = {**SEVERAL, "key_variables": SEVERAL["key_variables"][:3], "sensitive": ["tenure", ordered]}
    text = filerisk_scenarios.scenarios_diversity(results_of_section(tmp_path, section))
    assert "For t, all values of tenure are equally far apart (`equal`)." in text
    assert "For t, the values of region are as far apart as they are in their order (`ordered`)." in text


def results_of_section(folder, section):
    return Results(write_filerisk(folder / "results", section))


def test_the_truth_is_shown_with_a_population_alone(several, against):
    assert "True uniques" not in filerisk_scenarios.scenarios_matches(several)
    text = filerisk_scenarios.scenarios_matches(against)
    assert "True uniques" in text
    shown, lines = rows(plain(text)), filerisk_scenarios.named(against)
    assert [float(row[5]) for row in shown] == lines["true_risk"].round(1).tolist()


def test_sets_are_those_of_each_size_with_most_uniques(several):
    shown = rows(plain(filerisk_scenarios.scenarios_sets(several)))
    assert len(shown) == 4 + 6
    shares = [float(row[5].replace("–", "nan")) for row in shown]
    assert shares[4:] == sorted(shares[4:], reverse=True)
    assert len(rows(plain(filerisk_scenarios.scenarios_variables(several)))) == 4


def test_the_diversity_is_that_of_scenarios_or_of_the_worst_set_of_each_size(several, only_sets):
    lines = several.table(filerisk_scenarios.DIVERSITY)
    employer = lines[lines["scenario"] == "Employer"].iloc[0]
    shown = rows(plain(filerisk_scenarios.scenarios_diversity(several)))
    assert [row[1] for row in shown] == ["Neighbour", "Employer"]
    assert shown[1][3] == f"{employer['n_one_value']} ({employer['n_shared_value']})"
    pairs = lines[(lines["scenario"].fillna("") == "") & (lines["size"] == 2)]
    worst = pairs.loc[pairs["one_value_share"].idxmax(), "keys"]
    assert [row[1] for row in rows(plain(filerisk_scenarios.scenarios_diversity(only_sets)))][1] == worst.replace(
        " + ", " and "
    )
    assert "`filerisk/diversity.csv`" in filerisk_scenarios.scenarios_diversity(only_sets)


def test_only_scenarios_or_only_sets_have_their_parts_alone(against, only_sets):
    assert filerisk_scenarios.scenarios_sets(against) is None
    assert filerisk_scenarios.scenarios_variables(against) is None
    assert filerisk_scenarios.scenarios_cells(only_sets) is None
    assert filerisk_scenarios.scenarios_matches(only_sets) is None


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (0.999, [("Unique records, for the intruder Neighbour", "0 %", "at most 99.9 %", "met")]),
        ({"Employer": 0.001}, [("Unique records, for the intruder Employer", "%", "at most 0.1 %", "▲ broken")]),
    ],
)
def test_the_verdict_names_the_scenarios_with_their_limits(tmp_path, limit, expected):
    folder = write_filerisk(tmp_path / "results", SEVERAL, decision={"unique_share_at_most": limit})
    lines = rows(plain(filerisk_brief.limits_of_file(Results(folder))))
    for name, found, bound, outcome in expected:
        (line,) = [line for line in lines if name in line[0]]
        assert found in line[1]
        assert line[2] == bound
        assert outcome in line[3]
