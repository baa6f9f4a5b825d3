"""Matching-based risk, worked by hand; what files and studies are refused, and with which words (METHODS §8)."""

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from making.matching import matched as run
from making.studies import table
from pydantic import ValidationError
from reident.errors import InputError
from reident.matching import prepare as intake
from reident.matching import step as matching_step
from reident.matching.section import Matching
from reident.matching.summary import CLASSES, NamedSet, Risk, danger, mean_of, summarise

STUDY = {
    "confidential": {"path": "data/confidential.csv"},
    "synthetic": [{"path": "syn1.csv"}],
    "known": ["sex"],
    "synthesized": ["income"],
}


def study(**keys):
    return Matching.model_validate({**STUDY, **keys})


def counts(found, file="1"):
    """[(c, T), …] of a file."""
    records = found.records.to_pandas()
    return list(zip(records[f"c_{file}"], records[f"T_{file}"].astype(int), strict=True))


# Six persons: sex, income. Person by person, what matches in the synthetic file is said beside.
CONFIDENTIAL = table("sex income", "m 1", "m 2", "f 2", "f 3", "f 3", "m 9")
SYNTHETIC = table("sex income", "m 1", "m 3", "f 3", "f 3", "f 2", "m 2")


def test_by_hand():
    found = run(study(), CONFIDENTIAL, SYNTHETIC)
    assert counts(found) == [
        (1, 1),  # m 1: its own record and no other
        (1, 0),  # m 2: only the sixth one's
        (1, 0),  # f 2: only the fifth one's
        (2, 1),  # f 3: its own and the third one's
        (2, 0),  # f 3: two others
        (0, 0),  # m 9: nobody
    ]
    summary = found.summary.set_index("file")
    assert summary.index.tolist() == ["1", "mean", "confidential"]
    assert summary.loc["1"].tolist() == [1.5, 1 / 6, 2 / 3, 3, 6]
    assert summary.loc["mean"].tolist() == [1.5, 1 / 6, 2 / 3, 3, 6]
    assert summary.loc["confidential"].tolist() == [5, 4 / 6, 0, 4, 6]
    records = found.records.to_pandas()
    assert records.columns.tolist() == [
        "scenario", "row", "c_1", "T_1", "K_1", "F_1",
        "c_confidential", "T_confidential", "K_confidential", "F_confidential", "risk",
    ]  # fmt: skip
    assert records["row"].tolist() == [2, 3, 4, 5, 6, 7]
    assert records["risk"].tolist() == [1, 0, 0, 0.5, 0, 0]
    assert records["K_1"].tolist() == [True, False, False, False, False, False]
    assert records["F_1"].tolist() == [False, True, True, False, False, False]


def test_several_files_and_their_mean():
    nobody = table("sex income", "f 1", "f 9", "m 3", "m 3", "m 3", "f 3")
    found = run(study(synthetic=[{"path": "a.csv"}, {"path": "b.csv"}]), CONFIDENTIAL, SYNTHETIC, nobody)
    summary = found.summary.set_index("file")
    assert summary.loc["2"].tolist()[:2] == [0, 0]
    assert summary.loc["2", "unique_matches"] == 2  # f 3 is the sixth record alone, for two persons
    assert summary.loc["mean", "expected_match_risk"] == 0.75
    assert summary.loc["mean", "unique_matches"] == 2.5
    assert found.records["risk"].to_pylist() == [0.5, 0, 0, 0.25, 0, 0]


@pytest.mark.parametrize(
    ("x", "y", "radius", "closed", "opened", "sentence"),
    [
        ("0.7", "0.8", {"absolute": "0.1"}, 1, 0, "the doubles differ by more than 0.1, the decimals do not"),
        ("0.1", "0.3", {"absolute": "0.2"}, 1, 0, "0.1 + 0.2 is 0.30000000000000004 in binary"),
        ("1.1", "1.21", {"relative": "0.1"}, 1, 0, "a tenth of 1.1 is exactly the difference"),
        ("3", "4", {"relative": "1/3"}, 1, 0, "a radius may be a fraction that is no decimal"),
        ("-10", "-12", {"relative": "0.2"}, 1, 0, "a share of a negative value is taken of its size"),
        ("-10", "-12.01", {"relative": "0.2"}, 0, 0, "and its end is the end"),
        ("-10", "-8", {"relative": "0.2"}, 1, 0, "on both sides"),
        ("0", "0", {"relative": "0.5"}, 1, 0, "zero has no width: it is equal to zero, in an open interval to nothing"),
        ("0", "0.001", {"relative": "0.5"}, 0, 0, "and to nothing near it"),
        ("0", "-0.0", {"relative": "0"}, 1, 0, "a negative zero is zero"),
        ("5", "5", {"absolute": "0"}, 1, 0, "a radius of zero is equality"),
        ("100", "120", {"relative": "0.2"}, 1, 0, "at the end"),
        ("120", "100", {"relative": "0.2"}, 1, 1, "the share is of the confidential value"),
        ("120", "95", {"relative": "0.2"}, 0, 0, "not of the synthetic one"),
        ("1e300", "1.1e300", {"relative": "0.1"}, 1, 0, "numbers beyond 64 bits"),
        ("1e-300", "1.1e-300", {"relative": "0.1"}, 1, 0, "and very small ones"),
        ("1e300", "1e-300", {"absolute": "1e300"}, 1, 1, "and both at once"),
        ("123456789012345", "138888887638888", {"relative": "0.124999998859375"}, 0, 0, "products beyond 64 bits"),
        ("10", "10.0", {"absolute": "0"}, 1, 0, "spelling does not matter"),
    ],
)  # fmt: skip
def test_the_ends_of_a_radius(x, y, radius, closed, opened, sentence):
    for interval, expected in (("closed", closed), ("open", opened)):
        options = study(radius={"income": radius}, interval=interval)
        found = run(options, table("sex income", f"m {x}"), table("sex income", f"m {y}"))
        assert counts(found) == [(expected, expected)], f"{sentence} ({interval})"


@pytest.mark.parametrize(
    ("missing", "radius", "expected"),
    [
        ("never", {}, [(0, 0), (0, 0), (1, 1)]),
        ("each_other", {}, [(1, 1), (0, 0), (1, 1)]),
        ("never", {"income": {"absolute": "100"}}, [(0, 0), (0, 0), (1, 1)]),
        ("each_other", {"income": {"absolute": "100"}}, [(1, 1), (0, 0), (1, 1)]),
    ],
)
def test_missing_values(missing, radius, expected):
    """Both miss the income; one of them does; none does. The second one is of the other sex."""
    options = study(missing=missing, radius=radius, synthesized=[{"name": "income", "missing": ["-9"]}])
    confidential = table("sex income", "m -9", "f 5", "m 5")
    assert counts(run(options, confidential, table("sex income", "m -9", "f -9", "m 5"))) == expected


@pytest.mark.parametrize("missing", ["never", "each_other"])
@pytest.mark.parametrize("radius", [{}, {"income": {"relative": "0.1"}}])
def test_all_missing(missing, radius):
    options = study(missing=missing, radius=radius, synthesized=[{"name": "income", "missing": ""}])
    both = table("sex income", "m _", "m _")
    expected = (2, 1) if missing == "each_other" else (0, 0)
    assert counts(run(options, both, both)) == [expected] * 2
    assert counts(run(options, both, both), "confidential") == [expected] * 2


def test_all_tied():
    tied = table("sex income", *["m 5"] * 40)
    for radius in ({}, {"income": {"relative": "0.2"}}):
        found = run(study(radius=radius), tied, tied)
        assert counts(found) == [(40, 1)] * 40
        assert found.summary["expected_match_risk"].tolist() == [1, 1, 1]
        assert found.summary["unique_matches"].tolist() == [0, 0, 0]
        assert found.summary["false_match_rate"].isna().all()  # nothing is unique: not defined, and never 0


def test_one_record():
    one = table("sex income", "m 5")
    assert run(study(), one, one).summary.to_numpy()[:, 1:].tolist() == [[1, 1, 0, 1, 1]] * 3


def test_codes_are_those_of_linking_variables():
    """Blanks at the ends, composed letters, coded integers; and `NA` is a code like others."""
    options = study(known=[{"name": "sex", "integer-coded": "true"}])
    confidential = pa.table({"sex": ["1", "01 ", "1.0"], "income": ["é", "NA", " x"]})
    synthetic = pa.table({"sex": ["01", "1", "1"], "income": ["e\u0301", "NA", "x"]})
    assert counts(run(options, confidential, synthetic)) == [(1, 1)] * 3


def test_without_coding_integers_codes_are_texts():
    confidential, synthetic = table("sex income", "1 5", "01 5"), table("sex income", "1 5", "1 5")
    assert counts(run(study(), confidential, synthetic)) == [(2, 1), (0, 0)]


def test_records_of_a_key_are_found_in_any_order():
    options = study(
        confidential={"path": "c.csv", "id": ["house", "person"]},
        synthetic=[{"path": "a.csv"}, {"path": "b.csv", "id": ["h", "p"]}],
    )
    confidential = table("house person sex income", "1 23 m 1", "12 3 m 2", "01 23 m 3")
    first = table("house person sex income", "12 3 m 2", "01 23 m 3", "1 23 m 1")
    second = table("p h sex income", "3 12 m 2", "23 01 m 3", "23 1 m 1")
    found = run(options, confidential, first, second)
    assert counts(found) == counts(found, "2") == [(1, 1)] * 3
    assert found.records.select(["house", "person"]).to_pylist()[1] == {"house": "12", "person": "3"}
    assert "row" not in found.records.column_names


class TestTargets:
    CONFIDENTIAL = table("sex income region", "m 1 N", "m 2 S", "f 2 S", "f 3 _", "f 3 N", "m 9 n")

    @pytest.mark.parametrize(
        ("targets", "rows"),
        [
            ({"variable": "sex", "equals": "f"}, [4, 5, 6]),
            ({"variable": "region", "equals": ["N", " S"]}, [2, 3, 4, 6]),
            ([{"variable": "region", "equals": ["N"]}, {"variable": "sex", "equals": ["m"]}], [2]),
            ({"variable": "income", "at_least": "2"}, [3, 4, 5, 6, 7]),
            ({"variable": "income", "at_least": "2", "at_most": "3"}, [3, 4, 5, 6]),
        ],
    )
    def test_who_is_one(self, targets, rows):
        found = run(study(targets=targets), self.CONFIDENTIAL, SYNTHETIC)
        assert found.records["row"].to_pylist() == rows
        assert (found.summary["targets"] == len(rows)).all()

    def test_targets_are_matched_against_all_records(self):
        found = run(study(targets={"variable": "income", "equals": ["3"]}), self.CONFIDENTIAL, SYNTHETIC)
        assert counts(found) == [(2, 1), (2, 0)]
        assert counts(found, "confidential") == [(2, 1), (2, 1)]
        assert found.summary["expected_match_risk"].tolist() == [0.5, 0.5, 1]

    def test_numbers_of_a_variable_with_a_radius(self):
        options = study(radius={"income": {"absolute": "0"}}, targets={"variable": "income", "equals": ["2.0"]})
        assert run(options, self.CONFIDENTIAL, SYNTHETIC).records["row"].to_pylist() == [3, 4]

    def test_a_missing_value_is_in_no_target(self):
        options = study(
            synthesized=[{"name": "income", "missing": ["9"]}], targets={"variable": "income", "at_least": "3"}
        )
        assert run(options, self.CONFIDENTIAL, SYNTHETIC).records["row"].to_pylist() == [5, 6]

    def test_nobody(self):
        with pytest.raises(InputError, match=r"confidential\.csv: no record is a target. Correct `targets`"):
            run(study(targets={"variable": "sex", "equals": ["x"]}), self.CONFIDENTIAL, SYNTHETIC)

    def test_words_where_numbers_are_asked(self):
        with pytest.raises(InputError, match="row 2, column `region`: the value of `region` is not a number"):
            run(study(targets={"variable": "region", "at_least": "1"}), self.CONFIDENTIAL, SYNTHETIC)


class TestScenarios:
    CONFIDENTIAL = table("sex age job income", "m 1 a 1", "m 2 a 1", "f 2 b 2", "f 2 b 2")

    def test_named_sets_beside_each_other(self):
        options = study(
            known=["sex", "age"],
            scenarios=[{"name": "stranger", "known": []}, {"name": "colleague", "known": ["sex", "job"]}],
        )
        found = run(options, self.CONFIDENTIAL, self.CONFIDENTIAL)
        lines = found.scenarios[found.scenarios["file"] == "mean"].set_index("scenario")
        assert lines.index.tolist() == ["known", "stranger", "colleague"]
        assert lines["known"].tolist() == ["sex + age", "", "sex + job"]
        assert lines["expected_match_risk"].tolist() == [3, 2, 2]
        assert lines["danger"].tolist() == [1, 2, 3]  # of equal ones, who knows less is more dangerous
        assert found.records["scenario"].to_pylist() == ["known"] * 4 + ["stranger"] * 4 + ["colleague"] * 4
        assert found.summary["expected_match_risk"].tolist() == [3, 3, 3]

    def test_scenarios_alone_the_first_is_summarised(self):
        options = study(known=None, scenarios=[{"name": "a", "known": []}, {"name": "b", "known": ["sex"]}])
        assert run(options, self.CONFIDENTIAL, self.CONFIDENTIAL).summary["expected_match_risk"].iloc[0] == 2

    def test_all_subsets_up_to_a_size(self):
        options = study(known="all-subsets", candidates=["sex", "age", "job"], max_known="2")
        found = run(options, self.CONFIDENTIAL, self.CONFIDENTIAL)
        lines = found.scenarios[found.scenarios["file"] == "mean"]
        assert lines["known"].tolist() == ["sex", "age", "job", "sex + age", "sex + job", "age + job"]
        assert lines["size"].tolist() == [1, 1, 1, 2, 2, 2]
        assert not lines["listed"].any()
        assert lines["danger"].tolist() == [4, 1, 5, 2, 6, 3]
        # Records, summary and distribution are those of the most dangerous set.
        assert set(found.records["scenario"].to_pylist()) == {"age"}
        assert set(found.distribution["scenario"]) == {"age"}
        assert found.summary["expected_match_risk"].iloc[0] == 3

    def test_sizes_beyond_the_candidates(self):
        assert len(study(known="all-subsets", candidates=["a", "b"], max_known="9").sets) == 3


def risk(expected=0.0, true=0.0, false=math.nan, unique=0):
    return Risk(expected, true, false, unique, 10)


@pytest.mark.parametrize(
    ("means", "order", "sentence"),
    [
        ([risk(1), risk(2)], [1, 0], "a higher expected match risk is more dangerous"),
        ([risk(1, 0.1), risk(1, 0.2)], [1, 0], "then a higher true match rate"),
        ([risk(1, 0.1, 0.9), risk(1, 0.1, 0.5)], [1, 0], "then a lower false match rate"),
        ([risk(1, 0.1), risk(1, 0.1, 1.0)], [1, 0], "no unique match is less dangerous than false ones"),
        ([risk(1), risk(1), risk(1)], [1, 0, 2], "then fewer known variables, then the order of the study"),
    ],
)
def test_danger(means, order, sentence):
    sets = [NamedSet("a", ("x", "y"), False), NamedSet("b", ("x",), False), NamedSet("c", ("z", "w"), False)]
    assert danger(means, sets[: len(means)]) == order, sentence


def test_summaries_of_nobody_are_undefined():
    found = summarise(np.array([], int), np.array([], bool))
    assert (found.expected_match_risk, found.unique_matches, found.targets) == (0, 0, 0)
    assert math.isnan(found.true_match_rate)
    assert math.isnan(found.false_match_rate)


def test_a_mean_leaves_out_what_is_undefined():
    assert mean_of([risk(false=0.5), risk(), risk(false=1.0)]).false_match_rate == 0.75
    assert math.isnan(mean_of([risk(), risk()]).false_match_rate)


def test_many_small_shares_sum_exactly():
    """A third, three times, thirty thousand times over: no rounding adds up."""
    assert summarise(np.full(90_000, 3), np.ones(90_000, bool)).expected_match_risk == 30_000


def test_classes_cover_every_number_of_matches_once():
    ends = [(low, high) for low, high in CLASSES]
    assert ends[0][0] == 0
    assert all(low == before + 1 for (_, before), (low, _) in pairwise(ends))
    assert ends[-1][1] is None


def test_variables_are_described_by_file():
    options = study(radius={"income": {"relative": "0.2"}})
    found = run(options, CONFIDENTIAL, SYNTHETIC).variables.set_index(["variable", "file"])
    assert found.loc[("sex", "1")].tolist() == ["known", "categorical", "", 6, 0, 2, 6]
    assert found.loc[("income", "1")].tolist() == ["synthesized", "numeric", "relative 0.2", 6, 0, 3, 2]
    assert found.loc[("income", "confidential"), "n_distinct"] == 4


@pytest.mark.parametrize(
    ("synthetic", "sentence"),
    [
        (("sex income", "m 1"), r"syn1.csv: the number of records \(1\) must be that of confidential.csv \(6\)"),
        (("sex income", *["x 1"] * 6), "syn1.csv, column `sex`: no code is also in confidential.csv"),
    ],
)
def test_files_that_do_not_fit(synthetic, sentence):
    with pytest.raises(InputError, match=sentence):
        run(study(), CONFIDENTIAL, table(*synthetic))


@pytest.mark.parametrize(
    ("confidential", "synthetic", "sentence"),
    [
        (["1 m 1", "2 m 2"], ["1 m 1", "3 m 2"], "confidential.csv, row 3: the record's key is not in syn1.csv"),
        (["1 m 1", "2 m 2"], ["1 m 1", "01 m 2"], "confidential.csv, row 3: the record's key is not in syn1.csv"),
        (["1 m 1"], ["1 m 1", "2 m 2"], "syn1.csv, row 3: the record's key is not in confidential.csv"),
        (["1 m 1", "1 m 2"], ["1 m 1", "2 m 2"], "confidential.csv, row 3: the key .id. is not unique"),
        (["1 m 1", "2 m 2"], ["1 m 1", "1 m 2"], "syn1.csv, row 3: the key .id. is not unique"),
        (["1 m 1", "_ m 2"], ["1 m 1", "2 m 2"], "confidential.csv, row 3, column `id`: the key must not be empty"),
    ],
)  # fmt: skip
def test_keys_that_do_not_correspond(confidential, synthetic, sentence):
    options = study(confidential={"path": "confidential.csv", "id": "id"})
    with pytest.raises(InputError, match=sentence):
        run(options, table("id sex income", *confidential), table("id sex income", *synthetic))


def test_no_record():
    with pytest.raises(InputError, match=r"confidential\.csv: the file has a header and no records"):
        run(study(), CONFIDENTIAL.slice(0, 0), SYNTHETIC)


def test_a_word_where_a_radius_is():
    with pytest.raises(InputError, match=r"syn1\.csv, row 3, column `income`: the value of `income` is not a number"):
        run(
            study(radius={"income": {"absolute": "1"}}),
            table("sex income", "m 1", "m 2"),
            table("sex income", "m 1", "m x"),
        )


def test_accounts_close():
    prepared = intake.prepare(
        matching_step.matched_files(study(targets={"variable": "sex", "equals": "f"})), CONFIDENTIAL, [SYNTHETIC]
    )
    lines = prepared.account.set_index(["file", "cause"])["rows"]
    assert lines["targets", "in"] == lines["targets", "used"] + lines["targets", "not a target"] == 6


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"known": None}, "must have at least one of `known` and `scenarios`"),
        ({"known": "all-subsets"}, "`.candidates` must be given with `known: all-subsets`, and only then"),
        ({"candidates": ["age"]}, "`.candidates` must be given with `known: all-subsets`, and only then"),
        ({"known": "everything"}, "all-subsets"),
        ({"known": "all-subsets", "candidates": [f"v{j}" for j in range(40)], "max_known": "5"},
         "`.known` must result in at most 10,000 sets, but results in 760,098"),
        ({"known": ["income"]}, "`income` must not be both in `known` and in `synthesized`"),
        ({"known": ["sex", "sex"]}, "`sex` is given twice in `known`"),
        ({"scenarios": [{"name": "known", "known": []}]}, "`known` is the name of two scenarios"),
        ({"scenarios": [{"name": "x", "known": ["income"]}]},
         "`income` must not be both in `scenarios.x` and in `synthesized`"),
        ({"radius": {"sexx": {"absolute": "1"}}},
         "`.radius.sexx` is not the radius of a known or synthesized variable"),
        ({"radius": {"income": {}}}, "must have exactly one of `relative` and `absolute`"),
        ({"radius": {"income": {"relative": "1", "absolute": "1"}}},
         "must have exactly one of `relative` and `absolute`"),
        ({"radius": {"income": {"relative": "-0.1"}}}, "greater than or equal to 0"),
        ({"radius": {"income": {"relative": "twenty"}}}, "must be a number. Write a decimal such as 0.5"),
        ({"known": [{"name": "age", "integer-coded": "true"}], "radius": {"age": {"absolute": "1"}}},
         "`age` must not have both a radius and `integer_coded`"),
        ({"synthetic": []}, "`confidential` and `synthetic` must be given together"),
        ({"confidential": None}, "`confidential` and `synthetic` must be given together"),
        ({"synthetic": [{"path": "a.csv", "id": "id"}]},
         r"`\.synthetic\[1\]\.id` must not be given if `confidential` has no `id`"),
        ({"confidential": {"path": "c.csv", "id": ["a", "b"]}, "synthetic": [{"path": "a.csv", "id": "id"}]},
         r"`\.synthetic\[1\]\.id` must have as many columns as `confidential.id`, but has 1 instead of 2"),
        ({"confidential": {"path": "c.csv", "id": "risk"}},
         "`risk` must not be a key column, because a result column has this name"),
        ({"confidential": {"path": "c.csv", "id": "c_1"}},
         "`c_1` must not be a key column, because a result column has this name"),
        ({"confidential": {"path": "c.csv", "id": "sex"}}, "`sex` must not be both a key column and a variable"),
        ({"targets": {"variable": "sex"}}, "must have either `equals`, or"),
        ({"targets": {"variable": "sex", "equals": "f", "at_most": "3"}}, "must have either `equals`, or"),
        (
            {
                "known": [{"name": "sex", "missing": "9"}],
                "scenarios": [{"name": "x", "known": [{"name": "sex", "missing": "8"}]}],
            },
            "`sex` is declared in two different ways",
        ),
        ({"unknown": "1"}, "Extra inputs"),
    ],
)  # fmt: skip
def test_a_section_that_makes_no_sense_is_refused(keys, sentence):
    with pytest.raises(ValidationError, match=sentence):
        study(**keys)


def test_a_variable_is_declared_once_and_then_named():
    options = study(
        known=["sex"],
        scenarios=[{"name": "x", "known": [{"name": "sex", "missing": ["", "9"], "integer-coded": "true"}]}],
    )
    assert options.variables["sex"].missing == ("", "9")
    assert options.variables["sex"].integer_coded
    assert list(options.variables) == ["sex", "income"]


def test_the_canonical_json_is_the_same_section():
    options = study(
        known="all-subsets", candidates=["sex"], radius={"income": {"relative": "1/3"}},
        targets={"variable": "sex", "equals": "f"},
    )  # fmt: skip
    assert Matching.model_validate_json(options.model_dump_json()) == options
