"""The tables of one file's risk, against the oracle and against each other."""

import math

import numpy as np
import pandas as pd
import pytest
from making.filerisk import FILE_RISK, POPULATION, drawn, perturbed, prepared
from oracles import filerisk as pairs
from oracles import unicity as oracle
from reident.filerisk import assessment, dis
from reident.filerisk import prepare as intake
from reident.filerisk import step as filerisk_step


def assess(section=FILE_RISK, *, threads=1, **keys):
    spec, found = prepared(section, **keys)
    return (
        spec,
        found,
        assessment.assess(
            filerisk_step.assessment(spec),
            found.file,
            found.population,
            found.original,
            found.categories,
            threads=threads,
        ),
    )


@pytest.fixture(scope="module")
def usual():
    return assess(POPULATION)


def summary(found):
    return dict(zip(found.summary["quantity"], found.summary["value"], strict=True))


@pytest.mark.parametrize("missing", ["excluded", "category"])
def test_records_are_those_of_the_oracle(missing):
    """Codes are made here from the text, by themselves; sets of variables by enumeration."""
    people = drawn(120, seed=9).drop(columns="age")
    section = {**FILE_RISK, "missing": missing, "key_variables": FILE_RISK["key_variables"][1:]}
    _, _, found = assess(section, file=people)
    records = found.records.to_pandas().set_index("pid").loc[people["pid"]]
    names = ["sex", "job", "region", "tenure"]
    rows = [
        [-1 if missing == "excluded" and cell == "-9" else int(cell) + 10 for cell in row]
        for row in people[names].to_numpy().tolist()
    ]
    sets = oracle.minimal_uniques(np.array(rows, np.int32), None)
    for row, own, record in zip(rows, sets, records.itertuples(), strict=True):
        size = 0 if -1 in row else rows.count(row)
        assert (record.cell_size, record.unique, record.n_msu) == (size, size == 1, len(own))
        assert record.suda == sum(math.factorial(4 - len(one)) for one in own)
        assert record.special_unique == (size == 1 and any(len(one) < 4 for one in own))
        if own:
            assert record.min_msu == len(own[0])
            assert record.smallest_msu == " × ".join(names[j] for j in own[0])
        else:
            assert (math.isnan(record.min_msu), record.smallest_msu) == (True, "")


def test_the_summary_counts_what_the_records_say(usual):
    _, _, found = usual
    records, lines = found.records.to_pandas(), summary(found)
    assert int(lines["records"]) == len(records) == 300
    assert int(lines["U"]) == records["unique"].sum() > 0
    assert int(lines["P"]) == (records["cell_size"] == 2).sum() > 0
    for k in (2, 3, 5):
        assert int(lines[f"violations_{k}_anonymity"]) == records["cell_size"].between(1, k - 1).sum()
    assert int(lines["n_special"]) + int(lines["n_random"]) == int(lines["U"])
    assert float(lines["sum_suda"]) == records["suda"].sum()
    assert float(lines["max_suda"]) == records["suda"].max()
    in_cells = 0.1 * int(lines["records_in_cells"]) / 300
    assert 0 < int(lines["records_missing_a_value"]) == 300 - int(lines["records_in_cells"])
    assert float(lines["f_cells"]) == pytest.approx(in_cells)
    assert float(lines["dis"]) == pytest.approx(dis.general(int(lines["U"]), int(lines["P"]), in_cells))
    assert float(lines["dis_special_se"]) <= 0.05
    assert lines["f_from"] == "declared"


def test_tables_add_up(usual):
    _, prepared_files, found = usual
    lines = summary(found)
    assert found.cells["n_records"].sum() == int(lines["records_in_cells"])
    assert found.sizes["n_msu"].sum() == int(lines["n_msu"])
    assert found.scores["n_records"].sum() == 300
    assert found.levels.groupby("variable")["contribution"].sum().to_dict() == pytest.approx(
        found.variables.set_index("variable")["contribution"].to_dict()
    )
    assert found.levels["n_records"].sum() == sum(
        300 - prepared_files.file[name].null_count for name in found.variables["variable"]
    )
    for _, own in found.classes.groupby("definition"):
        assert own["n"].sum() == 300
    definitions = found.definitions.set_index("definition")
    manning = definitions.loc["elliot-manning"]
    assert float(manning["sum"]) == pytest.approx(float(lines["dis"]) * int(lines["U"]))
    assert definitions["chosen"].tolist() == [True, False]
    assert (definitions["U"].nunique(), definitions["P"].nunique()) == (1, 1)
    assert (manning["Q"], float(definitions.at["user-guide", "Q"])) == ("", pytest.approx(1.15))


def test_the_truth_about_the_uniques_is_that_of_the_population(usual):
    spec, files, found = usual
    names = [variable.name for variable in spec.risk_key]
    people = [tuple(row) for row in intake.codes_of(files.population, names).tolist()]
    counts = pd.Series(people).value_counts().to_dict()
    own = [tuple(row) for row in intake.codes_of(files.file, names).tolist()]
    expected = [1 / counts[row] if -1 not in row else None for row in own]
    records = found.records.to_pandas()
    assert found.records["population_reciprocal"].to_pylist() == expected
    cells = [counts[row] for row, unique in zip(own, records["unique"], strict=True) if unique]
    lines = summary(found)
    assert float(lines["true_match_probability"]) == pytest.approx(len(cells) / sum(cells))
    assert float(lines["mean_reciprocal"]) == pytest.approx(np.mean([1 / size for size in cells]))
    assert int(lines["population_uniques"]) == cells.count(1)


def test_threads_and_the_order_of_rows_change_nothing():
    people = drawn(400)
    first = assess(FILE_RISK, file=people)[2]
    for other in (
        assess(FILE_RISK, file=people, threads=2)[2],
        assess(FILE_RISK, file=people.sample(frac=1, random_state=5))[2],
    ):
        assert first.records.equals(other.records)
        for one, same in zip(first[1:], other[1:], strict=True):
            assert one.equals(same)


@pytest.mark.parametrize(
    ("rows", "hazard"),
    [
        (["1 a", "2 b", "3 c"], "No record is in a pair"),
        (["1 a", "2 a", "3 a"], "pr(cm|um) is undefined"),
        (["1 a", "2 b", "3 b", "4 b"], "every sample unique has the value 1"),
        (["1 a", "2 b", "3 c", "4 c"], ""),
    ],
)
def test_hazards_are_named(rows, hazard):
    people = pd.DataFrame([row.split() for row in rows], columns=["pid", "x"])
    found = assess({**FILE_RISK, "key_variables": ["x", {"name": "y", "column": "x"}]}, file=people)[2]
    said = list(found.hazards["hazard"])
    assert any(hazard in line for line in said) if hazard else said == []


@pytest.mark.parametrize(
    ("change", "scoreless", "unfound"),
    [
        ({}, False, False),
        ({"weighting": "normalised"}, True, False),
        ({"max_order": 2}, True, True),
        ({"max_order": 2, "weighting": "normalised"}, True, True),
        ({"max_order": 5}, False, False),
    ],
)
def test_uniques_with_the_score_0_are_counted_among_the_hazards(change, scoreless, unfound):
    found = assess({**FILE_RISK, **change})[2]
    records, hazards = found.records.to_pandas(), found.hazards
    unique = records[records["unique"]]
    zero, without = int((unique["suda"] == 0).sum()), int((unique["n_msu"] == 0).sum())
    assert (zero > 0, without > 0) == (scoreless, unfound)
    guide = [line for name, line, *_ in hazards.to_numpy() if name == "user-guide" and "not defined" in line]
    assert [f"score 0 of {zero} sample uniques" in line for line in guide] == [True] * scoreless
    missed = hazards[hazards["hazard"].str.contains("no MSU")]
    assert missed["definition"].tolist() == list(assessment.DEFINITIONS) * unfound
    for line in missed["hazard"]:
        assert line.startswith(f"{without} of {len(unique)} sample uniques have no MSU of up to 2 variables")
    assert summary(found)["uniques_without_msu"] == str(without)


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
@pytest.mark.parametrize("section", [FILE_RISK, POPULATION])
def test_a_variable_that_is_missing_throughout(kind, section):
    """No record is in a cell of the whole key; on the other variables all is as without it."""
    people, others = drawn(90).assign(gone="-9"), ["sex", "tenure"]
    gone = {"name": "gone", "type": kind, "column": "job", "missing": ["-9"]}
    people["job"] = "-9"
    found = assess({**section, "key_variables": [others[0], gone, others[1]]}, file=people)[2]
    lines = summary(found)
    for name in ("records_in_cells", "cells", "U", "P", "violations_5_anonymity", "n_special", "n_random"):
        assert lines[name] == "0", name
    assert (lines["records_missing_a_value"], lines["dis"], lines["share_special"]) == ("90", "", "")
    held = found.variables.set_index("variable").loc["gone"]
    assert held[["n_levels", "n_missing", "n_alone", "n_msu"]].tolist() == [0, 90, 0, 0]
    without = assess({**FILE_RISK, "key_variables": others}, file=people)[2]
    columns = ["variable", "level", "n_records", "n_msu"]
    assert found.levels[columns].equals(without.levels[columns])
    assert found.records["n_msu"].equals(without.records["n_msu"])


CATEGORICAL = {**FILE_RISK, "key_variables": FILE_RISK["key_variables"][1:]}
NAMES = ["sex", "job", "region", "tenure"]


def rows_of(people):
    """Codes made from the text, by themselves."""
    return [tuple(-1 if cell == "-9" else int(cell) for cell in row) for row in people[NAMES].to_numpy().tolist()]


def test_a_missing_value_that_matches_every_value():
    people = drawn(150, seed=9).drop(columns="age")
    _, _, found = assess({**CATEGORICAL, "missing": "wildcard"}, file=people)
    records = found.records.to_pandas().set_index("pid").loc[people["pid"]]
    rows = rows_of(people)
    sizes = pairs.match_counts(rows, rows, wildcard=True)
    assert records["cell_size"].tolist() == sizes
    assert records["unique"].tolist() == [size == 1 for size in sizes]
    lines = summary(found)
    assert (lines["U"], lines["P"]) == (str(sizes.count(1)), str(sizes.count(2)))
    assert int(lines["records_missing_a_value"]) == sum(-1 in row for row in rows) > 0
    assert (lines["records_in_cells"], lines["cells"], lines["f_cells"], lines["dis_se"]) == ("150", "", "0.1", "")
    assert float(lines["dis"]) == pytest.approx(pairs.one_removed(rows, rows, 0.1, wildcard=True))
    assert float(lines["dis_special_se"]) <= 0.05
    assert abs(float(lines["dis_special_difference_in_se"])) < 4
    assert 0 <= float(lines["dis_low"]) < float(lines["dis"]) < float(lines["dis_high"]) <= 1
    assert found.cells["n_cells"].isna().all()
    assert found.cells["n_records"].sum() == 150
    assert (records.loc[records["unique"], "suda"] > 0).all()


def values_of(people, **section):
    """The tables of three key variables, with the missing code NA."""
    keys = [{"name": name, "missing": ["NA"]} for name in "ABC"]
    options = {"file": {"path": "f.csv"}, "sampling_fraction": 0.1, "key_variables": keys, **section}
    return assess(options, file=people)[2]


EIGHT = pd.DataFrame(
    [row.split() for row in ["2 3 1", "3 3 3", "2 3 NA", "2 3 2", "3 3 1", "3 3 1", "1 4 NA", "2 3 1"]],
    columns=list("ABC"),
)


def test_with_wildcards_suda_says_that_it_excludes():
    """By `wildcard` C is unique for no record; SUDA follows `excluded`, by which it is for two."""
    found = values_of(EIGHT, missing="wildcard")
    variables = found.variables.set_index("variable")
    assert variables["n_alone"].tolist() == [1, 1, 2]
    assert variables["contribution"].tolist() == [0.25, 0.25, 0.5]
    rows = [tuple(int(cell.replace("NA", "-1")) for cell in row) for row in EIGHT.to_numpy().tolist()]
    assert found.records["cell_size"].to_pylist() == pairs.match_counts(rows, rows, wildcard=True)
    hazards = " ".join(found.hazards["hazard"])
    assert "1 records are unique by `excluded`, which SUDA follows, and match others by `wildcard`" in hazards


def test_without_missing_values_wildcard_is_excluded():
    people = EIGHT.assign(C=EIGHT["C"].replace("NA", "1"))
    wildcard, excluded = (values_of(people, missing=missing) for missing in ("wildcard", "excluded"))
    for name, one in zip(wildcard._fields, wildcard, strict=True):
        assert one.equals(getattr(excluded, name)), name
    assert summary(wildcard)["dis_low"] != ""


def test_with_wildcards_the_population_has_those_who_match():
    _, files, found = assess({**POPULATION, "missing": "wildcard"}, n=60)
    names = [name for name in files.population.column_names if not name.startswith(".")]
    own = [tuple(row) for row in intake.codes_of(files.file, names).tolist()]
    people = [tuple(row) for row in intake.codes_of(files.population, names).tolist()]
    expected = [1 / count for count in pairs.match_counts(own, people, wildcard=True)]
    assert found.records["population_reciprocal"].to_pylist() == expected


@pytest.mark.parametrize("missing", ["excluded", "wildcard"])
def test_an_intruder_who_knows_the_original_values(missing):
    original = drawn(150, seed=9).drop(columns="age")
    file = perturbed(original)
    section = {**CATEGORICAL, "missing": missing, "original": {"path": "before.csv"}}
    lines = summary(assess(section, file=file, original=original.sample(frac=1, random_state=2))[2])
    released, known, wildcard = rows_of(file), rows_of(original), missing == "wildcard"
    complete = sum(-1 not in row for row in known)
    assert int(lines["original_records_in_cells"]) == complete
    unchanged = sum((a == b) and -1 not in b for a, b in zip(released, known, strict=True))
    assert int(lines["original_records_unchanged"]) == unchanged < complete
    in_cells = 0.1 if wildcard else 0.1 * complete / 150
    assert float(lines["original_f_cells"]) == pytest.approx(in_cells)
    expected = pairs.one_removed(released, known, in_cells, wildcard)
    assert float(lines["dis_original"]) == pytest.approx(expected)
    assert abs(float(lines["dis_original_special_difference_in_se"])) < 4
    without = summary(assess({**CATEGORICAL, "missing": missing}, file=file)[2])
    assert {name: lines[name] for name in without} == without


def test_coarser_codes_are_those_of_the_study():
    """Regions 1 and 2, and 3 and 4, joined: survivors by counting tuples."""
    people = drawn(200)
    collapse = [{"variable": "region", "recode": {"1": "a", "2": "a", "3": "b", "4": "b"}}]
    found = assess({**CATEGORICAL, "collapse": collapse}, file=people)[2]
    rows = rows_of(people)
    joined = [(row[0], row[1], "aabbe"[row[2] - 1], row[3]) for row in rows]
    survives = [
        -1 not in row and rows.count(row) == 1 and joined.count(own) == 1 for row, own in zip(rows, joined, strict=True)
    ]
    line = found.coarser.iloc[-1]
    assert (line["variable"], line["change"], line["n_levels"]) == ("region", "collapsed", 3)
    assert line["n_surviving"] == sum(survives) < int(summary(found)["U"])
    assert line["share_surviving"] == pytest.approx(sum(survives) / int(summary(found)["U"]))
    assert found.coarser["change"].tolist() == ["dropped"] * 4 + ["collapsed"]
    dropped = assess(CATEGORICAL, file=people)[2].records["n_coarser"].to_numpy()
    extra = found.records["n_coarser"].to_numpy() - dropped
    ids = found.records["pid"].to_pylist()
    expected = dict(zip(people["pid"], survives, strict=True))
    assert extra.tolist() == [int(expected[pid]) for pid in ids]


def test_the_truth_about_survivors_is_that_of_the_population(usual):
    _, _, found = usual
    records = found.records.to_pandas()
    line = found.coarser.set_index("variable").loc["job"]
    assert 0 < line["n_surviving"] < records["unique"].sum()
    uniques_of_all = records[records["unique"]]
    people = (1 / uniques_of_all["population_reciprocal"]).sum()
    n, m = line["n_surviving"], len(uniques_of_all) - line["n_surviving"]
    assert n / line["truth_surviving"] + m / line["truth_other"] == pytest.approx(people)
