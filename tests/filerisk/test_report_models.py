"""The report on models of the population: numbers of the table, the recommended models, and why one has none."""

import re

import pandas as pd
import pytest
from making.filerisk import FILE_RISK, MODELLED, POPULATION, drawn, write_filerisk
from making.report import written
from reident.filerisk import report_models as filerisk_models
from reident.filerisk.report import SUMMARY
from reident.filerisk.report_models import MODELS
from reident.report.results import Results

AGAINST = {**POPULATION, "population_models": {"household": "region"}}


usual = written(write_filerisk, MODELLED)


against = written(write_filerisk, AGAINST)


def line(results, quantity, **values):
    lines = results.table(MODELS)
    lines = lines[lines["quantity"] == quantity]
    for name, value in values.items():
        lines = lines[lines[name] == value]
    return lines.iloc[0]


def changed(results, change, fraction=None):
    """The results with another table of the models, and another sampling fraction of the cells."""
    lines, summary = results.table(MODELS).copy(), results.table(SUMMARY).copy()
    change(lines)
    if fraction is not None:
        summary.loc[summary["quantity"] == "f_cells", "value"] = str(fraction)
    other = Results(results.folder)
    other.table = lambda name: {MODELS: lines, SUMMARY: summary}.get(name, results.table(name))
    return other


def test_the_truth_is_shown_only_if_it_is_known(usual, against):
    assert "True value" not in filerisk_models.models_table(usual)
    assert "broken line" not in filerisk_models.risk_models_figure(usual).caption
    text = filerisk_models.models_table(against)
    assert "True value" in text
    assert f"| {line(against, 'uniques_in_sample')['truth']:.1f} |" in text
    assert "broken line" in filerisk_models.risk_models_figure(against).caption
    assert "true value" in filerisk_models.risk_models_figure(against).alt


SENTENCES = {
    "such a sum is low": r"If key variables depend on each other .+, such a sum is too low",
    "the sum is low": r"the true number in the population is [\d,.]+, so the sum is too low",
    "the sum is high": r"the true number in the population is [\d,.]+, so the sum is too high",
    "the sum is right": r"the true number in the population is the same",
    "population uniques": r"\*\*Population uniques\*\* \(.+\)\. [\d,.]+ people are estimated to be unique",
    "no model recommended": r"\*\*Population uniques\.\*\* No model is recommended",
    "contradicted": r"Pitman: The rule .+ because its estimate .+ differs by more than a factor of two",
    "unsupported": r"Pitman: The rule .+ because there is no recommended log-linear model",
    "no convergence": r"Pitman: The computation did not converge",
    "contradict": r"The models contradict each other: their estimates range from",
    "contradictory": r"\| [^|]+ \(models contradict each other\) \|",
    "too high": r"\| (Zayatz|slide negative binomial), usually too high \|",
    "withheld": r"\| [^|]+, withheld by the rule \|",
    "what is withheld": r"withheld by the rule, either .+ Neither shows that it is wrong",
    "small fractions": r"At a sampling fraction of at most 10 %, Zayatz and the slide negative binomial",
    "assumes: individual": r": Individual risk \(.+\)\. It assumes that",
    "assumes: log-linear": r": Log-linear models \(.+\)\. They assume that",
    "assumes: uniqueness": r": Models of uniqueness\. .+ assume that .+ one distribution",
}
"""The conclusions about models, and which of them belong to every study."""
ALWAYS = {"assumes: individual", "assumes: log-linear", "assumes: uniqueness"}
HIGH = {"too high", "small fractions"}


def agreeing(lines):
    """Pitman's model agrees with the log-linear one, the others do not: the estimates of C1."""
    lines.loc[lines["quantity"] == "uniques_in_sample", "estimate"] = 300.0
    lines.loc[lines["quantity"] == "population_uniques", "estimate"] = 8_000.0
    lines.loc[lines["kind"] == "uniqueness", "status"] = "ok"
    lines.loc[(lines["model"] == "pitman") & (lines["quantity"] == "population_uniques"), "recommended"] = True


def with_line(model, quantity, **values):
    """A change of one line of agreeing models, and of the columns given."""

    def change(lines):
        agreeing(lines)
        for name, value in values.items():
            lines.loc[(lines["model"] == model) & (lines["quantity"] == quantity), name] = value

    return change


def not_recommended(status):
    """A change after which the model that the rule chooses is not recommended."""

    def change(lines):
        agreeing(lines)
        own = lines["model"] == "pitman"
        lines.loc[own, "recommended"] = False
        lines.loc[own, "status"] = status

    return change


BEST = {"population uniques", *HIGH}
NONE = {"no model recommended", *HIGH}
HELD = {"withheld", "what is withheld"}
RANGE = {"contradict", "contradictory"}
SUM = {"model": "benedetti-franconi", "quantity": "expected_reidentifications"}


@pytest.mark.parametrize(
    ("truth", "change", "fraction", "expected"),
    [
        (False, agreeing, 0.05, {"such a sum is low", *BEST}),
        (False, agreeing, 0.1, {"such a sum is low", *BEST}),
        (False, agreeing, 0.11, {"such a sum is low", "population uniques"}),
        (False, agreeing, 1.0, {"population uniques"}),
        (True, with_line(**SUM, estimate=487.8, truth=933.0), 0.05, {"the sum is low", *BEST}),
        (True, with_line(**SUM, estimate=933.0, truth=487.8), 0.05, {"the sum is high", *BEST}),
        (True, with_line(**SUM, estimate=933.01, truth=933.04), 0.05, {"the sum is right", *BEST}),
        (False, not_recommended("contradicted"), 0.05, {"such a sum is low", "contradicted", *HELD, *NONE}),
        (False, not_recommended("unsupported"), 0.05, {"such a sum is low", "unsupported", *HELD, *NONE}),
        (False, not_recommended("withheld"), 0.3, {"such a sum is low", "no model recommended", *HELD}),
        (False, not_recommended("not_converged"), 0.05, {"such a sum is low", "no convergence", *NONE}),
        (False, with_line("zayatz", "population_uniques", estimate=24_000.0), 0.05, {"such a sum is low", *BEST}),
        (False, with_line("zayatz", "population_uniques", estimate=92_413.0), 0.05,
         {"such a sum is low", *BEST, *RANGE}),
        (False, with_line("main", "uniques_in_sample", estimate=99.0), 0.3,
         {"such a sum is low", "population uniques", *RANGE}),
        (False, with_line("main", "uniques_in_sample", estimate=99.0, status="not_converged"), 0.3,
         {"such a sum is low", "population uniques"}),
        (False, with_line("main", "uniques_in_sample", estimate=99.0, status="saturated"), 0.3,
         {"such a sum is low", "population uniques"}),
    ],
    ids=[
        "agreeing", "10 %", "above 10 %", "the whole population", "true sum above", "true sum below", "true sum",
        "contradicted", "unsupported", "withheld", "not converged", "a factor of three", "more",
        "log-linear against others", "one of them not converged", "one of them saturated",
    ],
)  # fmt: skip
def test_a_conclusion_about_models_of_the_population(usual, against, truth, change, fraction, expected):
    results = changed(against if truth else usual, change, fraction)
    text = f"{filerisk_models.models_findings(results)}\n\n{filerisk_models.models_table(results)}"
    lines = [" ".join(line.replace("\u00a0", " ").split()) for line in text.splitlines()]
    found = {name for name, pattern in SENTENCES.items() if any(re.search(pattern, one) for one in lines)}
    assert found == expected | ALWAYS


def test_a_file_without_a_unique_says_nothing_of_a_direction(tmp_path):
    people = drawn(60).assign(sex="1", age="20", job="1", region="1", tenure="1")
    section = {**FILE_RISK, "population_models": {}}
    results = Results(write_filerisk(tmp_path / "results", section, file=people))
    text = filerisk_models.models_findings(results)
    assert "expected re-identifications." in text
    assert "too low" not in text
    assert "No model is recommended" in text
    assert "The file has no sample unique" in text


def test_without_a_record_in_a_cell_no_sum_is_compared(tmp_path):
    results = Results(write_filerisk(tmp_path / "results", AGAINST, file=drawn(60).assign(age="-9")))
    text = filerisk_models.models_findings(results)
    assert "add up to 0.0 expected re-identifications." in text
    assert not re.search("true number|too low|too high", text)
    assert "No record has a complete key" in text


def test_classes_of_risk_add_up_to_the_expected_reidentifications(usual):
    text = filerisk_models.models_classes(usual)
    lines = pd.read_csv(usual.folder / "filerisk" / "individual_classes.csv")
    assert text.count("\n| ") - 1 == (lines["n"] > 0).sum()
    total = lines.loc[lines["unit"] == "records", "expected"].sum()
    assert total == pytest.approx(line(usual, "expected_reidentifications")["estimate"])
