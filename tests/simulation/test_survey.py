"""The simulated study: the same bytes everywhere, true links, treatments and errors as declared."""

import hashlib
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from reident.errors import InputError
from reident.simulation import brokers, simulate, survey
from reident.simulation.section import UNTREATED, HouseholdSurvey, Treatment

SMALL = {"households": 700, "puf_records": 300, "eif_records": 500}
NO_TREATMENT = {
    "swapping": 0, "noise": {}, "rounding": {}, "top_coding": {}, "largest_household": 9, "missing": {},
}  # fmt: skip
NO_ERROR = {"outdated": 0, "moved": 0, "errors": {}, "noise": {}, "rounding": {}, "missing": {}}
LINK = ["pufid", "broker", "serial"]
NUMBERS = {"AGE": "age_years", "HOURS": "weekly_hours", "INCOME": "income_est", "HOUSCOST": "home_cost"}


def drawn(**keys):
    return simulate(HouseholdSurvey.model_validate({**SMALL, **keys}))


@cache
def example():
    return simulate(HouseholdSurvey())


def digest(files):
    text = "".join(f"{name}\n{file.to_csv(index=False)}" for name, file in sorted(files.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def linked(files):
    """One line per true link: the IUF, with the released record (`_puf`) and the brokers' (as named there)."""
    links = files["iuf"].merge(files["puf"], on="pufid", suffixes=("", "_puf"), validate="m:1")
    return links.merge(files["eif"], on=["broker", "serial"], validate="1:1")


class TestSameBytes:
    @pytest.mark.parametrize(
        "surroundings",
        [
            {"PYTHONHASHSEED": "1", "LC_ALL": "C", "OMP_NUM_THREADS": "1"},
            {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "OPENBLAS_NUM_THREADS": "2"},
            {"PYTHONHASHSEED": "3", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
        ],
        ids=["one thread", "another time zone", "another processor"],
    )
    def test_equal_in_other_environments(self, surroundings):
        code = (
            "import hashlib\n"
            "from reident.simulation.section import UNTREATED, HouseholdSurvey, Treatment\n"
            "from reident.simulation import simulate\n"
            f"files = simulate(HouseholdSurvey(**{SMALL!r}))\n"
            r"text = ''.join(f'{name}\n{file.to_csv(index=False)}' for name, file in sorted(files.items()))"
            "\nprint(hashlib.sha256(text.encode()).hexdigest())"
        )
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env=os.environ | surroundings, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert run.stdout.strip() == digest(drawn())

    def test_equal_to_a_stored_digest(self):
        """Changed on purpose? Then the example's numbers in the documentation change too."""
        assert digest(drawn()) == "1add54cf1665208644807409ace4321a26567cdd6003a385df6f919e7b44eb70"

    @pytest.mark.parametrize(
        ("keys", "changed", "sentence"),
        [
            ({"treatment": {"noise": {"income": 0.5}, "missing": {}}}, "puf", "the agency's treatment"),
            ({"brokers": {"errors": {"age": 0.9}, "missing": {}}}, "eif", "the brokers' errors"),
        ],
    )
    def test_a_stage_does_not_change_the_draws_of_others(self, keys, changed, sentence):
        before, after = drawn(), drawn(**keys)
        assert {name for name in before if not before[name].equals(after[name])} == {changed}, sentence


class TestFiles:
    def test_keys_are_unique(self):
        files = example()
        assert files["puf"]["pufid"].is_unique
        assert not files["eif"].duplicated(["broker", "serial"]).any()
        assert not files["iuf"].duplicated(LINK).any()

    def test_keys_are_unique_only_with_zeros_and_all_columns(self):
        """Numbers, one part alone, or joined parts would confuse records."""
        puf, eif = example()["puf"], example()["eif"]
        assert puf["pufid"].str.startswith("0").any()
        assert set(eif["broker"]) == {"1", "01", "10"}
        assert eif.assign(broker=eif["broker"].astype(int)).duplicated(["broker", "serial"]).any()
        assert eif["serial"].duplicated().any()
        assert (eif["broker"] + eif["serial"]).duplicated().any()

    def test_keys_and_order_are_uninformative(self):
        """Neither the pufid nor the place in a file goes with age or with being linked."""
        files = example()
        for key, file, column in (("pufid", files["puf"], "AGE"), ("serial", files["eif"], "age_years")):
            known = file[file[column] != ""]
            place = np.arange(len(known))
            for series in (known[key].astype(int), pd.Series(place, index=known.index)):
                assert abs(series.corr(known[column].astype(int), method="spearman")) < 0.05
        links = files["puf"]["pufid"].isin(files["iuf"]["pufid"])
        assert abs(np.corrcoef(links, np.arange(len(links)))[0, 1]) < 0.05


class TestTruth:
    def test_without_treatment_the_puf_has_true_values(self):
        links = linked(drawn(treatment=NO_TREATMENT))
        for column in survey.RELEASED:
            if column != "HEALTH":
                assert (links[column] == links[f"{column}_puf"]).all(), column

    def test_without_errors_brokers_hold_true_values(self):
        links = linked(drawn(brokers=NO_ERROR))
        for column, own in (*NUMBERS.items(), ("EDUC", "schooling"), ("OCC", "job"), ("HHSIZE", "hh_members")):
            assert (links[column].astype(float) == links[own].astype(float)).all(), column
        for column, own, item in (
            ("REGION", "state", "region"),
            ("SEX", "gender", "sex"),
            ("MARSTAT", "marital", "marital_status"),
            ("TENURE", "home", "tenure"),
        ):
            assert (links[column].astype(int).map(brokers.WORDS[item]) == links[own]).all(), column

    def test_persons_without_a_link_are_not_in_the_other_file(self):
        """With nothing perturbed an unlinked record equals an EIF record by chance only."""
        files = drawn(treatment=NO_TREATMENT, brokers=NO_ERROR)
        eif = files["eif"].rename(columns={own: column for column, own in NUMBERS.items()})
        eif["INCOME"] = eif["INCOME"].str.removesuffix(".00")
        earning = files["puf"][files["puf"]["INCOME"] != "0"]
        same = earning.merge(eif, on=list(NUMBERS))
        assert set(files["iuf"]["pufid"]) & set(earning["pufid"]) == set(same["pufid"])

    def test_overlap_is_the_declared_share_of_the_reachable(self):
        files = drawn(overlap=0.5, treatment=NO_TREATMENT)
        puf = files["puf"].astype({"AGE": int, "REGION": int})
        reachable = set(puf[(puf["AGE"] >= 18) & (puf["REGION"] != 8)]["pufid"])
        assert set(files["iuf"]["pufid"]) <= reachable
        assert files["iuf"]["pufid"].nunique() == round(0.5 * len(reachable))


class TestTreatment:
    def test_missing_items_are_near_the_declared_shares(self):
        spec, files = HouseholdSurvey(), example()
        released = {item: column for column, item in survey.RELEASED.items()}
        held = {item: column for column, item in brokers.BROKER_COLUMNS.items()}
        for columns, file, options in ((released, files["puf"], spec.treatment), (held, files["eif"], spec.brokers)):
            for item, column in columns.items():
                declared = options.missing.get(item, 0)
                found = file[column].isin(["-9", "-8", "", "U"]).mean()
                assert abs(found - declared) <= 4 * np.sqrt(declared * (1 - declared) / len(file)), column

    @pytest.mark.parametrize(
        ("column", "low", "high"),
        [("INCOME", 0.5, 0.95), ("HOUSCOST", 0.4, 0.9), ("HOURS", 0.05, 0.4), ("AGE", 0.001, 0.05), ("SEX", 0, 0)],
    )
    def test_treatment_changes_the_declared_values(self, column, low, high):
        links = linked(example())
        stated = links[~links[f"{column}_puf"].isin(["-9", "-8"])]
        assert low <= (stated[column] != stated[f"{column}_puf"]).mean() <= high

    def test_brokers_make_errors_only_in_the_declared_variables(self):
        links = linked(drawn(overlap=1, brokers=NO_ERROR | {"errors": {"age": 0.5}}))
        differ = {
            column for column, own in NUMBERS.items() if (links[column].astype(float) != links[own].astype(float)).any()
        }
        assert differ == {"AGE"}
        assert (links["AGE"] != links["age_years"]).mean() == pytest.approx(0.5, abs=0.15)


class TestSizes:
    @pytest.mark.parametrize(
        ("keys", "remedy"),
        [
            ({"households": 10, "puf_records": 500}, "Increase `households`"),
            ({"households": 300, "eif_records": 5000}, "Increase `households`"),
            ({"eif_records": 20, "overlap": 1}, "reduce `overlap`"),
            ({"brokers": {"adults_from": 150}}, "Increase `households`"),
        ],
    )
    def test_a_population_too_small_is_refused(self, keys, remedy):
        with pytest.raises(InputError, match=remedy):
            drawn(**keys)

    @pytest.mark.parametrize(
        "keys",
        [
            {"puf_records": 0},
            {"eif_records": 0},
            {"households": 0},
            {"overlap": 1.1},
            {"kind": "census"},
            {"sead": 1},
            {"treatment": {"noise": {"sex": 0.1}}},
            {"treatment": {"missing": {"income": 2}}},
            {"treatment": {"rounding": {"income": 0}}},
            {"brokers": {"duplicates": 0.6}},
        ],
    )
    def test_an_invalid_section_is_refused(self, keys):
        with pytest.raises(ValidationError):
            HouseholdSurvey.model_validate(keys)

    def test_more_records_than_short_pufids_stay_different(self):
        ids = survey.pufids(200_000, np.random.default_rng(5))
        assert len(set(ids)) == 200_000
        assert {len(text) for text in ids} == {8}

    def test_the_canonical_json_of_a_section_draws_the_same(self):
        spec = HouseholdSurvey.model_validate(SMALL)
        assert digest(simulate(HouseholdSurvey.model_validate_json(spec.model_dump_json()))) == digest(simulate(spec))


def test_a_micro_aggregated_income_is_shared_by_a_group():
    files = drawn(treatment={**NO_TREATMENT, "microaggregation": {"income": 7}}, brokers=NO_ERROR)
    plain = drawn(treatment=NO_TREATMENT, brokers=NO_ERROR)
    assert plain["puf"]["INCOME"].value_counts().min() < 7 <= files["puf"]["INCOME"].value_counts().min()
    ranks = [file["puf"]["INCOME"].astype(int).rank().to_numpy() for file in (files, plain)]
    assert np.corrcoef(*ranks)[0, 1] > 0.99
    pd.testing.assert_frame_equal(files["puf"].drop(columns="INCOME"), plain["puf"].drop(columns="INCOME"))


class TestBeforeProtection:
    def test_the_same_records_with_the_values_of_the_iuf_but_for_those_not_stated(self):
        """Every treatment is undone and every other file the same."""
        released, before = drawn(), drawn(treatment=UNTREATED)
        pd.testing.assert_frame_equal(released["eif"], before["eif"])
        pd.testing.assert_frame_equal(released["iuf"], before["iuf"])
        assert released["puf"]["pufid"].equals(before["puf"]["pufid"])
        missing = released["puf"].isin(["-9", "-8"])
        pd.testing.assert_frame_equal(missing, before["puf"].isin(["-9", "-8"]))
        lines = linked(before)
        for column in before["iuf"].columns.drop(LINK):
            stated = ~lines[f"{column}_puf"].isin(["-9", "-8"])
            assert lines.loc[stated, column].equals(lines.loc[stated, f"{column}_puf"].set_axis(lines.index[stated]))
        assert (released["puf"]["INCOME"] != before["puf"]["INCOME"]).any()

    def test_every_treatment_is_undone(self):
        assert set(Treatment.model_fields) == {*UNTREATED, "missing"}


class TestOneBroker:
    def test_the_file_of_a_broker_is_a_part_of_the_file_of_all(self):
        every, one = drawn(), drawn(brokers={"sources": ["01"]})
        own = every["eif"][every["eif"]["broker"] == "01"].reset_index(drop=True)
        assert 0 < len(own) < len(every["eif"])
        pd.testing.assert_frame_equal(one["eif"], own)
        pd.testing.assert_frame_equal(one["puf"], every["puf"])
        links = every["iuf"][every["iuf"]["broker"] == "01"]
        assert set(map(tuple, one["iuf"][LINK].to_numpy())) == set(map(tuple, links[LINK].to_numpy()))

    def test_a_person_has_one_number_in_all_files(self):
        files = drawn(brokers={"person": True, "duplicates": 0.3})
        pd.testing.assert_frame_equal(files["eif"].drop(columns="person"), drawn(brokers={"duplicates": 0.3})["eif"])
        brokers_of = files["eif"].groupby("person")["broker"].nunique()
        assert (brokers_of == files["eif"].groupby("person").size()).all(), "once in the file of a broker"
        assert (brokers_of > 1).sum() == round(0.3 * SMALL["eif_records"])
        linked_persons = files["iuf"].merge(files["eif"], on=["broker", "serial"]).groupby("pufid")["person"]
        assert linked_persons.nunique().max() == 1


UNCHANGED = {"moved": 0, "changed": {}}
PANEL = {"treatment": NO_TREATMENT, "overlap": 0.75, "eif_records": 300}


class TestLastYear:
    def test_last_year_s_file_has_the_columns_of_this_year_s(self):
        files = drawn(last_year={}, **PANEL)
        assert list(files["eif"].columns) == list(files["puf"].columns)
        assert list(files["iuf"].columns[:2]) == ["pufid", "last_pufid"]
        assert len(files["eif"]) == 300
        assert len(files["iuf"]) == 225
        assert set(files["iuf"]["last_pufid"]) <= set(files["eif"]["pufid"])

    def test_everybody_was_a_year_younger_and_nothing_else_differs_but_amounts(self):
        files = drawn(last_year=UNCHANGED, **PANEL)
        both = files["iuf"][["pufid", "last_pufid"]].merge(files["puf"], on="pufid")
        both = both.merge(files["eif"], left_on="last_pufid", right_on="pufid", suffixes=("", "_then"))
        assert len(both) == 225
        ages = both["AGE"].astype(int) - both["AGE_then"].astype(int)
        assert (ages == (both["AGE"].astype(int) > 0)).all()
        for name in ("REGION", "SEX", "MARSTAT", "EDUC", "OCC", "TENURE", "HHSIZE", "HOURS"):
            assert (both[name] == both[f"{name}_then"]).all()
        income = both[["INCOME", "INCOME_then"]].astype(int)
        assert (income["INCOME_then"] == np.rint(income["INCOME"] * 0.97).astype(int)).all()

    def test_changed_values_and_moves_are_as_many_as_declared(self):
        year = {"moved": 0.2, "changed": {"occupation": 0.5}}
        files = drawn(last_year=year, households=3000, puf_records=3000, **PANEL | {"eif_records": 3000})
        both = files["iuf"][["pufid", "last_pufid"]].merge(files["puf"], on="pufid")
        both = both.merge(files["eif"], left_on="last_pufid", right_on="pufid", suffixes=("", "_then"))
        differs = {name: (both[name] != both[f"{name}_then"]).mean() for name in ("REGION", "OCC", "SEX")}
        assert 0.14 < differs["REGION"] < 0.2
        assert 0.3 < differs["OCC"] < 0.5
        assert differs["SEX"] == 0

    def test_this_year_s_file_does_not_depend_on_last_year(self):
        pd.testing.assert_frame_equal(drawn(last_year={}, **PANEL)["puf"], drawn(treatment=NO_TREATMENT)["puf"])

    def test_the_study_knows_that_last_year_s_file_has_no_names(self):
        spec = HouseholdSurvey.model_validate({"last_year": {}})
        assert not spec.files.eif.named
        assert HouseholdSurvey().files.eif.named
