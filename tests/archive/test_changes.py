"""What differs between two releases beside their rates (METHODS §10)."""

from __future__ import annotations

import copy
import json

import pandas as pd
import pytest
from making import releases
from making.filerisk import FILE_RISK, drawn, write_filerisk
from making.matching import write_matching
from making.report import REGIONS, Shape
from reident.archive import changes, comparison
from reident.archive.changes import Change
from reident.intake.severity import StudyWarning

SMALL = Shape(metrics=("taxicab",), records=600)


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a release; each in a folder of its own."""
    folders = (tmp_path / f"release {number}" for number in range(9))
    return lambda shape=SMALL, **more: releases.release(next(folders), shape, **more)


def study(release, change):
    """The same release with a study that a function changes."""
    content = copy.deepcopy(release.study)
    change(content)
    (release.tables / "study.json").write_text(json.dumps(content), encoding="utf-8")
    return releases.of_folder(release.tables)


def test_files_are_compared_by_side_with_their_rows(make):
    before, after = make(), make(files={"puf": "b"})
    table = pd.read_csv(after.tables / "prepared/account.csv")
    table.loc[(table["file"] == "iuf") & (table["cause"] == "in"), "rows"] += 3
    table.to_csv(after.tables / "prepared/account.csv", index=False)
    found = {(line.about, line.what): (line.before, line.after) for line in changes.files(before, after)}
    assert found.keys() == {("puf", "sha256"), ("iuf", "rows")}
    assert found["puf", "sha256"] == ("a".ljust(64, "0"), "b".ljust(64, "0"))
    assert found["iuf", "rows"][1] - found["iuf", "rows"][0] == 3


def test_variables_are_added_dropped_and_declared_differently(make):
    def change(content):
        dropped, recoded, *others = content["linking_variables"]
        recoded["recode"]["eif"] = {"7": "6"}
        recoded["missing"]["puf"] = ["-9", "-8"]
        others[0]["type"] = "categorical"
        added = {**dropped, "name": "nation", "puf": "nation", "eif": "nation"}
        content["linking_variables"] = [recoded, *others, added]
        content["strata"][0]["labels"] = {"1": "North"}

    before = make()
    names = list(before.variables("linking_variables"))
    found = changes.variables(before, study(make(), change))

    known = {(line.about, line.what): (line.before, line.after) for line in found}
    assert known == {
        ("strata", "region.labels"): ({}, None),
        ("strata", "region.labels.1"): (None, "North"),
        ("linking_variables", names[0]): ("", None),
        ("linking_variables", "nation"): (None, ""),
        ("linking_variables", f"{names[1]}.recode.eif"): ({}, None),
        ("linking_variables", f"{names[1]}.recode.eif.7"): (None, "6"),
        ("linking_variables", f"{names[1]}.missing.puf"): (["-9"], ["-9", "-8"]),
        ("linking_variables", f"{names[2]}.type"): ("numeric", "categorical"),
    }


# Codes --------------------------------------------------------------------------------------------


def risk(folder, people, **keys):
    return releases.of_folder(write_filerisk(folder, file=people, n=len(people), **keys))


def test_codes_that_only_one_release_has_are_named_with_their_records(tmp_path):
    people = drawn(300)
    fewer = people.replace({"sex": {"2": "1"}})
    before, after = (risk(tmp_path / name, file) for name, file in (("before", people), ("after", fewer)))
    found = changes.codes(before, after)
    assert found == [Change("sex", "2", int((people["sex"] == "2").sum()), None)]
    assert changes.codes(after, before) == [Change("sex", "2", None, int((people["sex"] == "2").sum()))]


def test_no_value_of_a_numeric_variable_is_compared(tmp_path):
    people = drawn(300)
    older = people.assign(age=[age if age == "-9" else str(int(age) + 40) for age in people["age"]])
    before, after = (risk(tmp_path / name, file) for name, file in (("before", people), ("after", older)))
    labels = [set(release.table(changes.CATEGORIES)["label"]) for release in (before, after)]
    assert labels[0] != labels[1]
    assert changes.codes(before, after) == []


def test_labels_name_codes(tmp_path):
    people = drawn(300)
    variables = [*FILE_RISK["key_variables"]]
    variables[1] = {"name": "sex", "labels": {"1": "men", "2": "women"}}
    section = {**FILE_RISK, "key_variables": variables}
    before, after = (
        risk(tmp_path / name, file, section=section)
        for name, file in (("before", people), ("after", people.replace({"sex": {"2": "1"}})))
    )
    assert [line.what for line in changes.codes(before, after)] == ["women"]


# Strata -------------------------------------------------------------------------------------------


def manifest(release, **columns):
    """Change the manifest of a release."""
    path = release.tables / changes.MANIFEST
    pd.read_csv(path).assign(**columns).to_csv(path, index=False)
    return release


def test_strata_are_matched_by_their_values_and_not_by_their_ids(make):
    before, after = make(), make()
    names = ["Isles", *REGIONS[:-1]]  # the ids follow the order of the values
    sizes = [10 * n for n in range(1, 9)]
    manifest(before, region=list(REGIONS), n_puf=sizes, n_eif=sizes, n_links=5)
    manifest(after, region=names, n_puf=[sizes[-1], *sizes[:-1]], n_eif=[sizes[-1], *sizes[:-1]], n_links=5)
    assert changes.strata(before, after) == []
    assert changes.groups(before, after)["s0008"] == changes.groups(after, before)["s0001"] == ("Isles",)


def test_strata_whose_values_a_release_does_not_record_are_not_compared(make):
    """A bag has no labels of strata: they are data."""
    before, after = make(), make()
    (before.tables / changes.MANIFEST).unlink()
    found = comparison.compare(before, after)
    assert found.ungrouped == comparison.NO_VALUES
    assert found.changes["strata"] == []
    assert found.conclusion == comparison.IDENTICAL


# Options, code, verdict ---------------------------------------------------------------------------


def test_options_are_named_by_their_path_and_files_without_their_folder(make):
    def change(content):
        content["rank_filter"]["max_pairs"] = 7
        content["metrics"]["taxicab"]["alpha"] = "1/3"
        content["files"]["puf"]["path"] = "/confidential/2027/puf.csv"
        content["files"]["eif"]["path"] = "brokers.csv"
        content["font"] = "/confidential/letters.ttf"
        content["decision"] = None

    found = changes.options(make(), study(make(), change))
    known = {line.what: (line.before, line.after) for line in found}
    assert known["rank_filter.max_pairs"] == (5, 7)
    assert known["metrics.taxicab.alpha"][1] == "1/3"
    assert known["files.eif.path"] == ("eif.csv", "brokers.csv")
    assert known["font"] == (None, "letters.ttf")
    assert known["decision.conditional_rate_at_most"] == (0.05, None)
    assert "files.puf.path" not in known
    assert not any("confidential" in str(line) for line in found)
    assert changes.settings(found) == ["metrics", "rank_filter"]


def test_a_study_of_another_layout_is_compared_as_it_is(make):
    before = study(make(), lambda content: content.update(former_key={"depth": 2}))
    found = {line.what: (line.before, line.after) for line in changes.options(before, make())}
    assert found["former_key.depth"] == (2, None)
    assert comparison.compare(before, make()).conclusion == comparison.SAME


def test_the_code_of_a_step_and_the_packages_are_compared(make):
    before = make(entries={"rate": {"release": {"version": "0.1.0", "commit": None}}})
    after = make(
        entries={
            "rate": {"library_digest": "f" * 64, "versions": {"numpy": "9.9"}, "release": {"version": "0.2.0"}},
            "judge": {"library_digest": "f" * 64},
        }
    )
    found = {(line.about, line.what): (line.before, line.after) for line in changes.code(before, after)}
    assert found["release", "version"] == ("0.1.0", "0.2.0")
    assert found["code", "rate"] == ("", "f" * 64)
    assert found["packages", "numpy"] == ("2.4.6", "2.4.6, 9.9")
    assert comparison.compare(before, after).causes == [comparison.CODE]


def test_a_step_that_one_release_does_not_have_is_no_change_of_the_code(make):
    before, after = make(), make(entries={"score.adhoc": {"rule": "score", "metric": "adhoc"}})
    for pair in ((before, after), (after, before)):
        assert [line for line in changes.code(*pair) if line.about == "code"] == []


@pytest.mark.parametrize("rule", ["judge", "resolve"])
def test_code_on_which_no_rate_depends_is_no_cause(make, rule):
    after = make(entries={rule: {"library_digest": "f" * 64}})
    assert comparison.compare(make(), after).causes == []


def test_warnings_are_compared_without_their_numbers(make):
    before, after = (
        make(Shape(warnings=texts, metrics=("taxicab",), lost=False))
        for texts in (("5 rows of 1,000 (0.5 %) in synthetic_1.csv.",), ("6 rows of 900 (0.7 %) in synthetic_1.csv.",))
    )
    assert changes.warnings(before, after) == []
    other = make(Shape(warnings=("6 rows of 900 (0.7 %) in synthetic_2.csv.",), metrics=("taxicab",), lost=False))
    assert changes.warnings(before, other) == [
        Change("warning", "6 rows of 900 (0.7 %) in synthetic_2.csv.", None, "notable"),
        Change("warning", "5 rows of 1,000 (0.5 %) in synthetic_1.csv.", "notable", None),
    ]


def test_names_in_warnings_with_codes_are_compared_whole(make):
    """A number in the name of a file is no number of the warning."""
    before, fewer, other = (
        make(
            Shape(
                warnings=(StudyWarning("notable", "no_cluster", {"file": file, "n": n}, n, 0.1),),
                metrics=("taxicab",),
                lost=False,
            )
        )
        for file, n in (("wave 1, column A.csv", 9), ("wave 1, column A.csv", 8), ("wave 2, column A.csv", 9))
    )
    assert changes.warnings(before, fewer) == []
    assert [(line.before, line.after) for line in changes.warnings(before, other)] == [
        (None, "notable"),
        ("notable", None),
    ]


def test_the_comparison_is_plain_json(make):
    found = comparison.compare(make(), make(counts={"taxicab": (600, 100, 50)}, files={"puf": "b"}))
    text = json.dumps(found.plain(), allow_nan=False)
    assert json.loads(text)["conclusion"] == found.conclusion


def test_measures_of_matching_are_those_of_the_mean(tmp_path):
    release = releases.of_folder(write_matching(tmp_path / "matching"))
    table = release.table("matching/summary.csv").set_index("file")
    found = changes.matching(release)
    assert found["expected_match_risk"] == table.at["mean", "expected_match_risk"]
    assert found["risk_per_target"] == table.at["mean", "expected_match_risk"] / table.at["mean", "targets"]
    assert changes.file_risk(release) is None
