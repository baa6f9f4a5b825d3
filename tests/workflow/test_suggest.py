"""`snakemake suggest`: coarser values that meet the limits, whose rates are those of the variants to paste."""

import copy
import shutil

import pandas as pd
import pytest
import reident
import yaml
from reident.api.study import StudyFiles
from reident.ledger.stored import read
from reident.pipeline.family import Family
from workflow.commands import PRELOADED, snakemake

from workflow import small

pytestmark = pytest.mark.slow

STUDY = copy.deepcopy(small.STUDY)
for name in ("unicity", "euclidean"):
    del STUDY["metrics"][name]
STUDY["metrics"]["fellegi_sunter"] = {"m": "informed"}
STUDY["decision"] = {"confirmed_rate_at_most": {"adhoc": 0.25, "fellegi_sunter": 0.25}}
RATES = ["conditional_rate", "best_rank_correct_rate", "single_rate", "confirmed_rate", "reach", "n_confirmed"]
RATES += ["conditional_low", "conditional_high", "n_suspected"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The folder of a study for which coarser values were searched, and what the command said."""
    folder = tmp_path_factory.mktemp("suggest")
    file = small.write(folder, STUDY)
    return folder, snakemake("suggest", studies=[file], folder=folder, program=PRELOADED)


def test_the_command_names_the_set_that_meets_the_limits_and_loses_least(searched):
    folder, ended = searched
    suggestions = read(folder / "results/small/suggest/suggestions.csv")
    assert ended.code == 0
    assert (suggestions["recodings"] == "none").sum() == 1
    assert len(suggestions) <= 51
    assert suggestions["verdict"].iloc[0] == "within"
    assert f"the least is lost with {suggestions['recodings'].iloc[0]}" in ended.shown
    meeting = suggestions[suggestions["verdict"] == "within"]
    assert meeting["loss"].is_monotonic_increasing


def test_variants_with_the_suggestions_have_the_same_rates(searched, tmp_path):
    folder, _ = searched
    results = folder / "results/small/suggest"
    pasted = yaml.safe_load((results / "variants.yaml").read_text(encoding="utf-8"))
    pasted["variants"][0]["combinations"] = dict(list(pasted["variants"][0]["combinations"].items())[:4])
    file = small.write(tmp_path, STUDY | pasted)
    members = Family(file)
    found = read(results / "rates.csv").set_index(["place", "metric"])
    for label in pasted["variants"][0]["combinations"]:
        own = rates_of(members, f"variants/suggestion-{label}")
        expected = found.loc[int(label)]
        assert set(own.index) == set(expected.index)
        pd.testing.assert_frame_equal(
            own.loc[expected.index, RATES].astype(float), expected[RATES].astype(float), check_exact=True
        )
    reference, place = (
        rates_of(members, ""),
        read(results / "suggestions.csv").set_index("recodings").at["none", "place"],
    )
    for metric, line in found.loc[place].iterrows():
        assert float(reference.at[metric, "confirmed_rate"]) == float(line["confirmed_rate"])


def rates_of(members, place):
    """The rates of a variant for the whole study, by metric."""
    rates = reident.attack(StudyFiles(members.at(place), members.path)).rates
    return rates[rates["stratum"] == "ALL"].set_index("metric")


def test_a_second_search_takes_up_what_was_tried(searched):
    folder, _ = searched
    before = (folder / "results/small/suggest/suggestions.csv").read_bytes()
    kept = sorted((folder / "results/small/confidential").glob("try_recodings-*/*.json"))
    assert kept
    times = {file: file.stat().st_mtime_ns for file in kept}
    shutil.rmtree(folder / "results/small/suggest")
    ended = snakemake("suggest", studies=[folder / "small.yaml"], folder=folder, program=PRELOADED)
    assert ended.code == 0
    assert (folder / "results/small/suggest/suggestions.csv").read_bytes() == before
    assert {file: file.stat().st_mtime_ns for file in kept} == times
