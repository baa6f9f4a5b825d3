"""The report on the risk of one file: numbers of the tables, definitions by name, and nothing without a table."""

import pandas as pd
import pyarrow.parquet as pq
import pytest
from making.filerisk import FILE_RISK, POPULATION, drawn, perturbed, write_filerisk
from making.report import BLOCKS, cells, written
from reident.filerisk import report as filerisk
from reident.filerisk import report_dis as filerisk_dis
from reident.filerisk import report_population as filerisk_population
from reident.filerisk import report_uniques as filerisk_uniques
from reident.report.blocks import filerisk_brief, warnings
from reident.report.results import Results


@pytest.fixture
def make_results(tmp_path):
    """Return a function that makes the results of a section `file_risk`."""
    return lambda section=FILE_RISK, **keys: Results(write_filerisk(tmp_path / "results", section, **keys))


usual = written(write_filerisk)


against = written(write_filerisk, POPULATION)


def value(results, name):
    lines = results.table("filerisk/summary.csv").set_index("quantity")["value"]
    return lines[name]


def test_both_forms_of_dis_are_shown_with_their_agreement(usual):
    text = filerisk_dis.risk_dis(usual)
    for name in ("U", "P", "dis_special_rounds", "dis_special_unique_matches"):
        assert f"| {int(value(usual, name)):,} |" in text
    assert f"{100 * float(value(usual, 'dis_special')):.1f}\u00a0%" in text
    away = float(value(usual, "dis_special_difference_in_se"))
    assert f"{abs(away):.1f} standard errors {'above' if away >= 0 else 'below'}" in text


@pytest.mark.slow
def test_a_missed_standard_error_is_reported(make_results, usual):
    assert "not reached" not in filerisk_dis.risk_dis(usual) + filerisk_population.risk_choices(usual)
    results = make_results({**FILE_RISK, "special": {"standard_error": 1e-6}})
    assert value(results, "dis_special_ended_by") == "rounds"
    error = f"{100 * float(value(results, 'dis_special_se')):.2f}"
    for text in (filerisk_dis.risk_dis(results), filerisk_population.risk_choices(results)):
        assert "not reached within the limit of 100,000 rounds" in text
        assert f"the standard error is {error}\u00a0%" in text
    assert "::: {.warning}" in filerisk_dis.risk_dis(results)


def test_hazards_are_shown_only_if_they_occur(make_results, usual):
    people = drawn(40).assign(x=range(40))
    results = make_results({**FILE_RISK, "key_variables": ["x", "sex"]}, file=people)
    text = filerisk_dis.risk_hazards(results)
    assert text.startswith("::: {.warning}")
    assert "both definitions" in text
    assert "No record is in a pair" in text
    assert "No record is in a pair" not in (filerisk_dis.risk_hazards(usual) or "")


def test_the_population_is_reported_if_it_is_known(against, usual):
    text = filerisk_population.risk_population(against)
    assert "The population of 3,000 records" in text
    assert f"{100 * float(value(against, 'true_match_probability')):.1f}\u00a0%" in text
    assert filerisk_population.risk_population(usual) is None
    for block in (
        filerisk_population.risk_samples,
        filerisk_population.risk_by_class,
        filerisk_population.risk_claims,
        filerisk_population.risk_calibration_figure,
    ):
        assert block(usual) is None
        assert block(against)


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"key_variables": ["sex"]}, {}),
        ({}, {"n": 1}),
        ({"population": {**POPULATION["population"], "numerical_study": {"fraction": 1e-4}}}, {}),
    ],
    ids=["large cells", "a population of ten", "samples of no record"],
)
def test_samples_without_a_unique_record(make_results, change, keys):
    results = make_results({**POPULATION, **change}, **keys)
    assert not results.table("filerisk/by_sample.csv")["uniques"].any()
    assert "No sample has a unique record" in filerisk_population.risk_samples(results)
    records = results.table("filerisk/by_sample.csv")["n"].any()
    assert bool(filerisk_population.risk_by_class(results)) == records
    if value(results, "U") == "0":
        assert "no sample unique of the file has a cell in it" in filerisk_population.risk_population(results)
    shown = cells(results, "file-risk")["file-risk"]
    assert shown
    assert not any("nan" in str(one).replace("\u00a0", " ").split() for one in shown)
    for block in (
        filerisk_population.risk_claims,
        filerisk_population.risk_samples_figure,
        filerisk_population.risk_calibration_figure,
    ):
        assert block(results) is None


def test_a_file_without_a_unique_record(make_results):
    people = drawn(60).assign(sex="1")
    results = make_results({**FILE_RISK, "key_variables": ["sex"]}, file=people)
    assert "None of 60 records in the file is unique" in filerisk_brief.file_at_risk(results)
    assert filerisk.risk_findings(results) is None
    assert "not defined" in filerisk_dis.risk_dis(results)
    assert "undefined" in filerisk_dis.risk_hazards(results)
    assert filerisk.risk_levels(results) is None
    assert filerisk_uniques.risk_suda(results)


@pytest.mark.parametrize("missing", ["excluded", "category"])
@pytest.mark.parametrize("section", [FILE_RISK, POPULATION])
def test_variables_that_are_missing_in_every_record(make_results, section, missing):
    people = drawn(60).assign(age="-9", job="-9")
    results = make_results({**section, "missing": missing}, file=people)
    if missing == "excluded":
        assert "Compared on the values that each of all 60 records has" in filerisk_brief.file_at_risk(results)
        assert "age is missing in every record" in warnings.warnings(results).replace("\\", "")
        assert "| **age** | 0 | 100" in filerisk.risk_variables(results)
        assert filerisk_population.risk_bins(results) is None
    assert cells(results, "file-risk")["file-risk"]


def test_the_report_shows_no_key(make_results):
    people = drawn(300)
    results = make_results(FILE_RISK, file=people.assign(pid="qz" + people["pid"]))
    records = pq.read_table(results.folder / "filerisk" / "records.parquet")
    assert records["pid"].to_pylist()[0].startswith("qz")
    texts = [getattr(piece, "svg", str(piece)) for pieces in cells(results).values() for piece in pieces]
    assert not any("qz" in text for text in texts)


SENTENCES = {
    "complete key": "sampling fraction of the cells is",
    "missing at random": "a value is missing with the same probability in every cell",
    "not checked": "names no weights, so these probabilities cannot be checked",
    "sampling error": "it differs from the true probability by a standard error of",
    "whole population": "The file is the whole population, so DIS has no sampling error",
    "no unique": "No record is unique, so DIS has no standard error",
    "no pair": "so DIS is 100 % whatever the population is, and has no standard error",
    "interval": "In at least 94 % of samples drawn in the same way, an interval such as",
    "agree": "The two forms agree",
    "decided": "The special form says nothing more, and has no standard error",
    "wildcard error": "no standard error, because records do not form cells",
    "original": "An intruder usually knows the values of a person as they were before perturbation",
    "original undefined": "No record with a complete original key can have a unique match",
    "collapse joins nothing": "join no two categories that occur in the file",
    "conventions": "Programs differ in what a missing value of the key means",
    "wildcard": "A missing value matches every value, so",
    "incomplete population": "of the population lack a value of the key and are in no cell",
}
WEIGHT = {key: one for key, one in FILE_RISK.items() if key != "sampling_fraction"} | {"weight": "w"}
COLLAPSE = {"variable": "region", "recode": {"1": "north", "2": "north"}}
ONE = {**FILE_RISK, "key_variables": ["sex"]}
SAMPLED, DECIDED = {"sampling error", "interval", "agree"}, {"interval", "decided"}
CASES = {
    "usual": (FILE_RISK, {}, {"complete key", "missing at random", "not checked", *SAMPLED, "conventions"}),
    "category": ({**FILE_RISK, "missing": "category"}, {}, {"not checked", *SAMPLED, "conventions"}),
    "wildcard": (
        {**FILE_RISK, "missing": "wildcard"},
        {},
        {"not checked", "wildcard error", "conventions", "wildcard", "agree"},
    ),
    "weights": (
        WEIGHT,
        {"file": drawn(200).assign(w="10")},
        {"complete key", "missing at random", *SAMPLED, "conventions"},
    ),
    "complete": (ONE | {"key_variables": ["sex", "region", "tenure"]}, {}, {"not checked", *SAMPLED}),
    "whole population": (
        ONE | {"key_variables": ["sex", "region", "tenure"], "sampling_fraction": 1},
        {},
        {"not checked", "whole population", "decided"},
    ),
    "no unique": (ONE, {"file": pd.DataFrame({"pid": ["1", "2"], "sex": "1"})}, {"not checked", "no unique", *DECIDED}),
    "no pair": (
        ONE,
        {"file": pd.DataFrame({"pid": ["1", "2"], "sex": ["1", "2"]})},
        {"not checked", "no pair", *DECIDED},
    ),
    "nothing unique": (ONE, {"file": drawn(90)}, {"not checked"}),
    "original": (
        {**FILE_RISK, "original": {"path": "before.csv"}},
        {"file": perturbed(drawn(200)), "original": drawn(200)},
        {"complete key", "missing at random", "not checked", *SAMPLED, "conventions", "original"},
    ),
    "original, nothing unique": (
        {**ONE, "original": {"path": "before.csv"}},
        {"file": drawn(90), "original": drawn(90)},
        {"not checked", "original", "original undefined"},
    ),
    "collapse": (
        {**ONE, "key_variables": ["sex", "region", "tenure"], "collapse": [COLLAPSE]},
        {},
        {"not checked", *SAMPLED},
    ),
    "collapse of nothing": (
        {
            **ONE,
            "key_variables": ["sex", "region", "tenure"],
            "collapse": [{**COLLAPSE, "recode": {"7": "8"}}],
        },
        {},
        {"not checked", *SAMPLED, "collapse joins nothing"},
    ),
    "population": (
        {**FILE_RISK, "population": {"file": {"path": "census.csv"}}},
        {},
        {
            *("complete key", "missing at random", "not checked", *SAMPLED, "conventions"),
            "incomplete population",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_sentences_appear_in_their_cases_only(make_results, case):
    section, keys, expected = CASES[case]
    results = make_results(section, **keys)
    blocks = ("premise", "cells", "conventions", "dis", "original", "coarser", "population")
    text = "\n".join(BLOCKS[name](results) or "" for name in BLOCKS if name.split(".risk_")[-1] in blocks)
    assert {name for name, sentence in SENTENCES.items() if sentence in text} == expected
    assert "nan" not in text.replace("\u00a0", " ").split()
    assert "–\u00a0%" not in text


SUDA = {
    *("suda", "variables", "levels", "contributions_figure", "definitions", "classes", "classes_figure"),
    *("choices", "by_class", "calibration_figure"),
}
"""The pieces that have a result of SUDA."""


def test_every_table_and_sentence_of_suda_says_which_convention_it_follows(tmp_path):
    for missing, people, n in (("wildcard", drawn(200), 1), ("excluded", drawn(200), 0), ("wildcard", whole(200), 0)):
        folder = tmp_path / f"{missing}-{len(people)}"
        results = Results(write_filerisk(folder, {**POPULATION, "missing": missing}, file=people))
        blocks = {name: block for name, block in BLOCKS.items() if name.split(".risk_")[-1] in SUDA}
        for name, block in (blocks | {"at risk": filerisk_brief.file_at_risk}).items():
            content = block(results)
            text = getattr(content, "caption", None) or str(content)
            assert bool(text.count("in no set with a variable that it misses (`excluded`)")) == bool(n), name


def whole(n):
    """The same people without those who miss a value."""
    people = drawn(n)
    return people[(people != "-9").all(axis=1)].reset_index(drop=True)


def test_conventions_are_those_of_the_table_with_the_chosen_one_marked(usual):
    text = filerisk_uniques.risk_conventions(usual)
    lines = usual.table("filerisk/conventions.csv")
    for line in lines.itertuples():
        name = "**`excluded`**" if line.convention == "excluded" else f"`{line.convention}`"
        assert f"| {name} | {line.n_records} | {line.below_2} | {line.below_3} | {line.below_5} |" in text
