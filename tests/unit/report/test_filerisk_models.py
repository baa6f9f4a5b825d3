"""The report on models of the population: numbers of the table, the recommended models, and why one has none."""

import pandas as pd
import pytest
from making.filerisk import FILE_RISK, MODELLED, POPULATION, write_filerisk
from making.report import cells
from reident.report import figures, tables
from reident.report.results import Results
from reident.report.tables.filerisk_models import MODELS

AGAINST = {**POPULATION, "population_models": {"household": "region"}}


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Results(write_filerisk(tmp_path_factory.mktemp("models") / "results", MODELLED))


@pytest.fixture(scope="module")
def against(tmp_path_factory):
    return Results(write_filerisk(tmp_path_factory.mktemp("against") / "results", AGAINST))


def line(results, quantity, **values):
    lines = results.table(MODELS)
    lines = lines[lines["quantity"] == quantity]
    for name, value in values.items():
        lines = lines[lines[name] == value]
    return lines.iloc[0]


def changed(results, change):
    """The results with another table of the models."""
    lines = results.table(MODELS).copy()
    change(lines)
    other = Results(results.folder)
    other.table = lambda name: lines if name == MODELS else results.table(name)
    return other


def test_the_findings_have_the_estimates_of_the_recommended_models(usual):
    text = tables.models_findings(usual)
    assert text.count("\n- **") == 3
    total = line(usual, "expected_reidentifications")["estimate"]
    assert f"add up to {total:.1f} expected re-identifications" in text
    assert f"expected for {line(usual, 'households')['estimate']:.1f} households" in text
    own = line(usual, "correct_matches", recommended=True)
    ends = f"{own['low']:.1f} – {own['high']:.1f}"
    expected = f"{own['estimate']:.1f} correct matches of sample uniques (95 % interval: {ends})"
    assert expected in text.replace("\u00a0", " ")
    assert "the same probability of being in the file" in text


@pytest.mark.parametrize(
    ("test", "words"),
    [(0.4, "neither underfitting nor overfitting"), (3.1, "overestimates"), (-3.1, "underestimates")],
)
def test_the_test_of_a_model_is_interpreted(usual, test, words):
    def change(lines):
        lines.loc[lines["recommended"], "test"] = test

    text = tables.models_findings(changed(usual, change))
    assert words in text
    assert f"Its test is {test:.2f}".replace("-", "\u2212") in text.replace("-", "\u2212")


def test_a_model_without_an_estimate_says_why(tmp_path):
    results = Results(write_filerisk(tmp_path / "results", {**MODELLED, "missing": "wildcard"}))
    text = tables.models_findings(results)
    assert "No model has a test" in text
    assert text.count("records do not form cells") == 6
    assert "age × sex, job × region" in text.replace("\\", "")
    assert "| – |" in tables.models_table(results)


def test_the_truth_is_shown_only_if_it_is_known(usual, against):
    assert "True value" not in tables.models_table(usual)
    assert "broken line" not in figures.risk_models(usual).caption
    text = tables.models_table(against)
    assert "True value" in text
    assert f"| {line(against, 'uniques_in_sample')['truth']:.1f} |" in text
    assert "broken line" in figures.risk_models(against).caption
    assert "true value" in figures.risk_models(against).alt


def test_every_line_of_the_models_is_in_the_table(against):
    text = tables.models_table(against)
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    assert len(rows) - 2 == len(against.table(MODELS))
    assert text.count("recommended |") == 4


def test_classes_of_risk_add_up_to_the_expected_reidentifications(usual):
    text = tables.models_classes(usual)
    lines = pd.read_csv(usual.folder / "filerisk" / "individual_classes.csv")
    assert text.count("\n| ") - 1 == (lines["n"] > 0).sum()
    total = lines.loc[lines["unit"] == "records", "expected"].sum()
    assert total == pytest.approx(line(usual, "expected_reidentifications")["estimate"])


def test_a_study_without_models_shows_none(tmp_path):
    results = Results(write_filerisk(tmp_path / "results", FILE_RISK))
    for part in (tables.models_findings, tables.models_table, tables.models_classes, figures.risk_models):
        assert part(results) is None


def test_a_file_without_a_unique_has_no_figure(usual):
    def change(lines):
        lines["estimate"] = float("nan")

    assert figures.risk_models(changed(usual, change)) is None


def test_the_section_is_in_the_report(usual):
    shown = [part for cell in cells(usual).values() for part in cell]
    assert any("Models of the population" in str(part) for part in shown)


def test_the_section_in_german(tmp_path):
    results = Results(write_filerisk(tmp_path / "results", AGAINST, language="de"))
    shown = " ".join(str(part) for cell in cells(results).values() for part in cell)
    assert "Modelle der Grundgesamtheit" in shown
    assert "empfohlen" in shown
