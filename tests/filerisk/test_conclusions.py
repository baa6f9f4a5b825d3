"""The conclusions about one file, and when each is printed."""

import pytest
from making.conclusions import printed
from making.filerisk import FILE_RISK, POPULATION, drawn, write_filerisk
from reident.filerisk import report as filerisk
from reident.report.blocks import filerisk_brief
from reident.report.results import Results

RISK = {
    "above": r"on its own: above the limit",
    "within": r"on its own: within the limit\*\*",
    "none": r"on its own: no verdict",
    "reserved": r"on its own: within the limit, with reservations",
    "broken": r"Broken: ",
    "met": r"Met: ",
    "not decided": r"Not decided: DIS of at most 50 %, here –",
    "limit inside": r"The limit for DIS lies inside its 95 % interval \([\d.< ]+ – 100.0 %\)",
    "unsure": r"Met: DIS of at most 50 %, here [\d.]+ %, with the limit inside its 95 % interval",
    "unsure above": r"Not decided: DIS of at most 50 %, here [\d.]+ %, with the limit inside its 95 % interval",
    "no DIS": r"DIS is not defined: no record is unique or in a cell of two records",
    "no pair": r"No cell has exactly two records, .+ in [\d.]+ – 100.0 % of cases",
    "unique": r"(is|are) unique: no other record has the same values",
    "nobody unique": r"None of \d+ records in the file is unique",
    "left": r"Compared on the values that each of all \d+ records has, ",
    "cannot be broken": r"No result can break these limits, so they count for no verdict",
    "reliability": r"would be right in .+ of cases \(DIS",
    "true risk": r"the true risk of the \d+ unique records with a cell in the population is [\d.]+ % on average, and",
    "highest risk": r"highest risk",
    "true share": r"The population is known: the true share is [\d.]+ %",
}


def of_one_file(study, monkeypatch):
    """What the brief says of one file: the verdict as beside an attack, and the findings of a study of it alone."""
    with monkeypatch.context() as patch:
        patch.setattr(filerisk, "is_alone", lambda _: False)
        verdict = str(filerisk.risk_overall(study) or "")
    return " ".join([verdict, *(str(block(study)) for block in (filerisk_brief.file_at_risk, filerisk.risk_findings))])


@pytest.mark.parametrize(
    ("decision", "people", "expected"),
    [
        ({}, {}, {"unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2}, {}, {"above", "broken", "unique", "left", "reliability"}),
        ({"expected_reidentifications_at_most": 59.9}, {}, {"within", "met", "unique", "left", "reliability"}),
        ({"dis_at_most": 1}, {}, {"none", "cannot be broken", "unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2, "expected_reidentifications_at_most": 59.9}, {},
         {"above", "broken", "met", "unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2}, {"age": "-9"}, {"none", "left"}),
    ],
    ids=["no limit", "a unique record", "many expected", "DIS", "one of two", "incomplete keys"],
)  # fmt: skip
def test_a_conclusion_about_one_file(tmp_path, monkeypatch, decision, people, expected):
    keys = {"decision": decision} if decision else {}
    folder = write_filerisk(tmp_path / "results", FILE_RISK, file=drawn(60).assign(**people), **keys)
    study = Results(folder)
    assert printed(of_one_file(study, monkeypatch), RISK) == expected


ALIKE = {"age": "20", "sex": "1", "job": "1", "region": "1", "tenure": "1"}


@pytest.mark.parametrize(
    ("decision", "n_others", "expected"),
    [
        ({"dis_at_most": 0.5}, 1, {"none", "limit inside", "unique", "no pair"}),
        ({"dis_at_most": 0.5}, 2, {"reserved", "met", "unsure", "nobody unique"}),
        ({"dis_at_most": 0.5}, 0, {"none", "no DIS", "nobody unique"}),
        ({"dis_at_most": 0.5, "k_anonymity_at_least": 2}, 0, {"reserved", "met", "not decided", "nobody unique"}),
        ({"dis_at_most": 0.5, "k_anonymity_at_least": 2}, 1,
         {"above", "broken", "unsure above", "unique", "no pair"}),
    ],
    ids=["one unique", "one pair", "neither", "neither, two limits", "one unique, two limits"],
)  # fmt: skip
def test_a_conclusion_about_a_file_without_uniques_or_pairs(tmp_path, monkeypatch, decision, n_others, expected):
    file = drawn(60).assign(**ALIKE)
    file.loc[: n_others - 1, "sex"] = "2"
    study = Results(write_filerisk(tmp_path / "results", FILE_RISK, file=file, decision=decision))
    assert printed(of_one_file(study, monkeypatch), RISK) == expected


STRANGERS = {"sex": ["7"] * 59 + ["1"], "job": ["3"] * 59 + ["-9"]}
"""The one record with a sex of the population has no job."""


@pytest.mark.parametrize(
    ("section", "people", "words", "expected"),
    [
        (FILE_RISK, {}, "", {"unique", "left", "reliability"}),
        (
            POPULATION,
            {},
            "and 100 % for {n} of them",
            {"unique", "left", "reliability", "true risk", "true share"},
        ),
        (POPULATION, STRANGERS, "", {"unique", "left", "reliability"}),
        (POPULATION, {"age": "-9"}, "", {"left"}),
    ],
    ids=["no population", "a population", "nobody of it matches", "no unique record"],
)  # fmt: skip
def test_the_true_risk_is_told_where_it_is_known(tmp_path, section, people, words, expected):
    study = Results(write_filerisk(tmp_path / "results", section, file=drawn(60).assign(**people)))
    text = f"{filerisk_brief.file_at_risk(study)} {filerisk.risk_findings(study)}".replace("\u00a0", " ")
    assert printed(text, RISK) == expected
    quantities = study.table("filerisk/summary.csv").set_index("quantity")["value"]
    assert words.format(n=quantities.get("population_uniques")) in text
