"""The section on one file's risk: numbers of the tables, both definitions by name, nothing where nothing is to say."""

import re

import pyarrow.parquet as pq
import pytest
from making.filerisk import FILE_RISK, POPULATION, drawn, write_filerisk
from making.report import cells, write_results
from reident.report import figures, tables
from reident.report.results import Results
from reident.report.tables.filerisk import NAMES


@pytest.fixture
def results(tmp_path):
    """A function from the section to its results."""
    return lambda section=FILE_RISK, **keys: Results(write_filerisk(tmp_path / "results", section, **keys))


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Results(write_filerisk(tmp_path_factory.mktemp("risk") / "results"))


@pytest.fixture(scope="module")
def against(tmp_path_factory):
    return Results(write_filerisk(tmp_path_factory.mktemp("against") / "results", POPULATION))


def value(results, name):
    lines = results.table("filerisk/summary.csv").set_index("quantity")["value"]
    return lines[name]


def test_three_sentences(usual):
    text = tables.risk_findings(usual)
    assert text.count("- **") == 3
    assert f"{value(usual, 'U')} of 300 records of the file" in text
    assert f"{100 * float(value(usual, 'dis')):.1f}\u00a0% of the cases (DIS)" in text
    assert NAMES["elliot-manning"] in text


def test_one_sentence_beside_an_attack(usual):
    beside = Results(usual.folder)
    beside.study = {**usual.study, "matching": {}, "metrics": {"taxicab": {}}}
    text = tables.risk_findings(beside)
    assert text.count("- **") == 1
    assert f"{value(usual, 'U')} of 300 records" in text
    assert f"{100 * float(value(usual, 'dis')):.1f}" in text


def test_both_forms_of_dis_and_their_agreement(usual):
    text = tables.risk_dis(usual)
    for name in ("U", "P", "dis_special_rounds", "dis_special_unique_matches"):
        assert f"| {int(value(usual, name)):,} |" in text
    assert f"{100 * float(value(usual, 'dis_special')):.1f}\u00a0%" in text
    away = float(value(usual, "dis_special_difference_in_se"))
    assert f"{abs(away):.1f} standard errors {'above' if away >= 0 else 'below'}" in text


def test_a_tolerance_that_was_not_reached_is_not_claimed(results, usual):
    assert "limit of" not in tables.risk_dis(usual) + tables.risk_choices(usual)
    found = results({**FILE_RISK, "special": {"standard_error": 1e-6}})
    assert value(found, "dis_special_ended_by") == "rounds"
    error = f"{100 * float(value(found, 'dis_special_se')):.2f}"
    for text in (tables.risk_dis(found), tables.risk_choices(found)):
        assert "the limit of 100,000 rounds ended it before that was reached" in text
        assert f"its standard error is {error}\u00a0%" in text
    assert "::: {.warning}" in tables.risk_dis(found)


def test_a_certain_answer_needs_no_standard_error(results):
    found = results({**FILE_RISK, "sampling_fraction": 1})
    assert value(found, "dis_special_ended_by") == "exact"
    assert "every unique match is right" in tables.risk_dis(found)


def test_each_definition_is_stamped_with_what_it_depends_on(usual):
    text = tables.risk_definitions(usual)
    rows = [line for line in text.splitlines() if line.startswith("| **DIS-SUDA")]
    assert [name for name in NAMES.values() if any(name in row for row in rows)] == list(NAMES.values())
    assert "chosen" in rows[0]
    assert "chosen" not in rows[1]
    for row in rows:
        assert f"| {value(usual, 'U')} | {value(usual, 'P')} | 10.0" in row
    assert rows[0].split("|")[5].strip() == "–"
    assert rows[1].split("|")[5].strip() == "1.15"


def test_the_other_definition_may_be_chosen(results):
    found = results({**FILE_RISK, "dis_suda": "user-guide"})
    assert NAMES["user-guide"] in tables.risk_findings(found)
    assert "`user-guide` is `dis\\_suda`".replace("\\", "") in tables.risk_choices(found).replace("\\", "")


def test_hazards_stand_only_where_they_occur(results, usual):
    people = drawn(40).assign(x=range(40))
    found = results({**FILE_RISK, "key_variables": ["x", "sex"]}, file=people)
    text = tables.risk_hazards(found)
    assert text.startswith("::: {.warning}")
    assert "user guide" in text
    assert "No record is in a pair" in text
    assert "No record is in a pair" not in (tables.risk_hazards(usual) or "")


def test_hazards_of_a_limited_search_stand_in_full(results):
    found = results({**FILE_RISK, "max_order": 2})
    text = tables.risk_hazards(found).replace("\\", "")
    n, alone = value(found, "uniques_without_msu"), value(found, "U")
    assert f"**DIS-SUDA, both definitions.** {n} of {alone} sample uniques have no MSU of up to 2" in text
    assert (
        f"**{NAMES['user-guide']}.** The formula is not defined for the score 0 of {n} sample uniques" in text
    )
    assert "…" not in text


def test_cells_and_anonymity(usual):
    text = tables.risk_cells(usual)
    for k in (2, 3, 5):
        assert f"{value(usual, f'violations_{k}_anonymity')} records break {k}-anonymity" in text


def test_contributions_are_sorted(usual):
    text = tables.risk_variables(usual)
    shares = [float(share) for share in re.findall(r"\| ([\d.]+)\u00a0% \|$", text, re.MULTILINE)]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)
    assert tables.risk_levels(usual).count("\n| ") >= 5


def test_levels_cannot_steer_the_page(results):
    people = drawn(300).replace({"sex": {"1": "<script>|$x$"}})
    found = results(FILE_RISK, file=people)
    text = tables.risk_levels(found)
    assert "<script>" not in text
    assert "\\<script\\>" in text


def test_the_population_is_told_where_it_is_known(against, usual):
    text = tables.risk_population(against)
    assert "The population of 3,000 records" in text
    assert f"{100 * float(value(against, 'true_match_probability')):.1f}\u00a0%" in text
    assert tables.risk_population(usual) is None
    for part in (tables.risk_samples, tables.risk_by_class, tables.risk_claims, figures.risk_calibration):
        assert part(usual) is None
        assert part(against)


def test_the_claims_stand_beside_what_came_out(against):
    text = tables.risk_claims(against)
    lines = against.table("filerisk/by_sample.csv")
    assert f"{100 * lines['dis'].mean():.1f}\u00a0% on average" in text
    assert f"correlation {lines['correlation elliot-manning'].mean():.3f}" in text


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"key_variables": ["sex"]}, {}),
        ({}, {"n": 1}),
        ({"population": {**POPULATION["population"], "numerical_study": {"fraction": 1e-4}}}, {}),
    ],
    ids=["large cells", "a population of ten", "samples of no record"],
)
def test_samples_without_a_unique(results, change, keys):
    found = results({**POPULATION, **change}, **keys)
    assert not found.table("filerisk/by_sample.csv")["uniques"].any()
    assert "No record of any of them is alone with its key" in tables.risk_samples(found)
    records = found.table("filerisk/by_sample.csv")["n"].any()
    assert bool(tables.risk_by_class(found)) == records
    if value(found, "U") == "0":
        assert "no sample unique of the file has a cell there" in tables.risk_population(found)
    shown = cells(found)["file-risk"]
    assert shown
    assert not any("nan" in str(one).replace("\u00a0", " ").split() for one in shown)
    for part in (tables.risk_claims, figures.risk_samples, figures.risk_calibration):
        assert part(found) is None


def test_one_sample_of_two_without_a_unique(results):
    """The figure shows the samples of which both probabilities are known."""
    found = results(POPULATION)
    lines = found.table("filerisk/by_sample.csv")
    lines.loc[0, ["dis", "match_probability", "mean_reciprocal"]] = [0.0, float("nan"), float("nan")]
    lines.to_csv(found.folder / "filerisk" / "by_sample.csv", index=False)
    figure = figures.risk_samples(Results(found.folder))
    assert "one for each of 2 samples" in figure.alt
    assert "DIS from 0" not in figure.alt


def test_where_nothing_is_unique(results):
    people = drawn(60).assign(sex="1")
    found = results({**FILE_RISK, "key_variables": ["sex"]}, file=people)
    assert "No record of the file is alone" in tables.risk_findings(found)
    assert "not defined" in tables.risk_dis(found)
    assert "undefined" in tables.risk_hazards(found)
    assert figures.risk_contributions(found) is None
    assert figures.risk_classes(found) is None
    assert tables.risk_levels(found) is None
    assert tables.risk_suda(found)


@pytest.mark.parametrize("missing", ["excluded", "category"])
@pytest.mark.parametrize("section", [FILE_RISK, POPULATION])
def test_where_variables_are_missing_throughout(results, section, missing):
    people = drawn(60).assign(age="-9", job="-9")
    found = results({**section, "missing": missing}, file=people)
    if missing == "excluded":
        assert "No record of the file is alone" in tables.risk_findings(found)
        assert "age is missing in every record" in tables.risk_warnings(found).replace("\\", "")
        assert "| **age** | 0 | 100" in tables.risk_variables(found)
        assert tables.risk_bins(found) is None
    assert cells(found)["file-risk"]


def test_the_account_and_the_bins(against):
    text = tables.risk_account(against)
    assert "misses a value of the key" in text
    assert text.count("**rows used**") == 4
    assert "up to" in tables.risk_bins(against)


def test_the_notebook_of_one_file_alone(against):
    shown = cells(against)
    for name in ("front", "file-risk", "choices", "account", "provenance", "sign-off"):
        assert shown[name], name
    for name in ("attack", "rates", "suspicions", "agreement", "matching"):
        assert shown[name] == [], name


def test_the_notebook_without_the_section(tmp_path):
    shown = cells(Results(write_results(tmp_path / "results")))
    assert shown["file-risk"] == []


def test_no_key_stands_in_the_report(results):
    """Every key has a mark of its own."""
    people = drawn(300)
    found = results(FILE_RISK, file=people.assign(pid="qz" + people["pid"]))
    records = pq.read_table(found.folder / "filerisk" / "records.parquet")
    assert records["pid"].to_pylist()[0].startswith("qz")
    said = [getattr(one, "svg", str(one)) for parts in cells(found).values() for one in parts]
    assert not any("qz" in one for one in said)
