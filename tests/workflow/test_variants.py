"""Variants from one study file: every one as a study of its own would be, compared in one report, computed once
where nothing differs, and again only where a value changes."""

from __future__ import annotations

import copy
import json
import shutil

import pandas as pd
import pytest
import reident
from pypdf import PdfReader
from reident.ledger.stored import read_csv
from workflow.commands import CHECKOUT, PRELOADED, made, snakemake
from workflow.test_reruns import Again

from workflow import small

pytestmark = pytest.mark.slow

VARIED = [
    {"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]},
    {"name": "cut", "combinations": {"fine": {}, "coarse": {"binning.bins": 3, "binning.scope": "study"}}},
]
OTHERS = {
    "alpha-1-3_cut-coarse": {"alpha": "1/3", "bins": 3, "scope": "study"},
    "alpha-1-2_cut-fine": {"alpha": "1/2", "bins": 5, "scope": "stratum"},
    "alpha-1-2_cut-coarse": {"alpha": "1/2", "bins": 3, "scope": "study"},
}
"""What each variant says that is not the study itself."""

COMPARISON = made("small", "comparison/rates.csv")


def varied(change=None):
    """The small study with three metrics, one of which no variant touches, and two things that vary."""
    study = copy.deepcopy(small.STUDY)
    del study["metrics"]["adhoc"]
    study["variants"] = copy.deepcopy(VARIED)
    if change is not None:
        change(study)
    return study


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants")
    small.write(folder / "in", varied())
    ended = snakemake(studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return folder


@pytest.fixture
def again(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "again", symlinks=True)
    return Again(tmp_path / "again")


def compared(folder):
    return pd.read_csv(folder / "run/results/small/comparison/rates.csv", dtype=str, keep_default_na=False)


@pytest.mark.parametrize("variant", OTHERS)
def test_a_variant_finds_what_a_plain_study_with_its_values_finds(finished, tmp_path, variant):
    study = varied(lambda own: own.pop("variants"))
    own = OTHERS[variant]
    study["metrics"]["taxicab"]["alpha"] = own["alpha"]
    study["binning"] = {"bins": own["bins"], "scope": own["scope"]}
    plain = reident.attack(reident.read_study(small.write(tmp_path, study)))
    path = finished / "run/results/small/variants" / variant / "rates.csv"
    pd.testing.assert_frame_equal(read_csv(path), plain.rates, check_exact=True)
    lines = compared(finished)
    lines = lines[lines["variant"] == variant].drop(columns=["variant", "reference", "set_alpha", "set_cut"])
    rates = pd.read_csv(path, dtype=str, keep_default_na=False)
    rates = rates[rates["stratum"] == "ALL"].drop(columns="stratum")
    pd.testing.assert_frame_equal(lines.reset_index(drop=True), rates.reset_index(drop=True))


def test_the_study_itself_stands_among_its_variants(finished):
    lines = compared(finished).drop_duplicates("variant")
    assert list(zip(lines["variant"], lines["reference"], strict=True)) == [
        ("alpha-1-3_cut-fine", "yes"), *((variant, "no") for variant in OTHERS),
    ]  # fmt: skip


def test_what_no_value_touches_is_computed_once(finished):
    results = finished / "run/results/small"
    places = {
        name: sorted(path.parent.parent.relative_to(results).as_posix() for path in results.glob(f"**/{name}.parquet"))
        for name in ("prepared/puf", "confirmed/unicity", "confirmed/taxicab", "confirmed/euclidean")
    }
    alone = ["variants/alpha-1-2", "variants/alpha-1-2_cut-coarse", "variants/cut-coarse"]
    assert places == {
        "prepared/puf": ["."],
        "confirmed/unicity": [".", "variants/cut-coarse"],
        "confirmed/taxicab": [".", *alone],
        "confirmed/euclidean": [".", "variants/cut-coarse"],
    }


def test_the_report_compares_them(finished):
    pages = PdfReader(finished / "run/reports/small/disclosure-review.pdf").pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert "Rates by variant" in text
    assert "coarse" in text
    page = (finished / "run/reports/small/disclosure-review.html").read_text(encoding="utf-8")
    assert page.count("by variant") >= 3


def test_a_second_run_has_nothing_to_do_and_a_fresh_one_gives_the_same_bytes(finished, again, tmp_path):
    assert again.plan() == {}
    small.write(tmp_path / "fresh/in", varied())
    ended = snakemake(
        *COMPARISON, studies=["../in/small.yaml"], folder=tmp_path / "fresh/run", cores=1, program=PRELOADED
    )
    assert ended.code == 0, ended.shown
    fresh = tmp_path / "fresh/run/results/small/comparison/rates.csv"
    assert fresh.read_bytes() == (finished / "run/results/small/comparison/rates.csv").read_bytes()


def more(study):
    study["variants"][0]["values"] = ["0.1", "1/3", "1/2"]


def other(study):
    study["variants"][0]["values"] = ["1/3", "3/4"]


def one_metric(number):
    """The jobs of so many values; the attacks at hand, which the cut that changes nothing shares, need rates beside."""
    return dict.fromkeys(("score", "rank", "confirm", "challenge", "judge"), number) | {"rate": number + 1}


CHANGES = [
    ("nothing", lambda _: None, {}),
    ("a value more: its own metric, with each of the two cuts", more, one_metric(2)),
    ("another value: that one", other, one_metric(2)),
    ("a value less", lambda study: study["variants"][0].update(values=["1/3"]), {}),
]


@pytest.mark.parametrize(("sentence", "change", "planned"), CHANGES, ids=[case[0] for case in CHANGES])
def test_a_change_of_a_value_computes_that_value_alone(again, sentence, change, planned):
    small.write(again.inputs, varied(change), {})
    last = {} if sentence == "nothing" else {"resolve": 1, "compare_variants": 3, "report": 1}
    assert again.plan() == {**planned, **last}


def test_an_edited_result_of_a_variant_is_refused_and_computed_again_by_its_rule(again):
    rates = again.results / "variants/alpha-1-2_cut-fine/rates.csv"
    before = rates.read_bytes()
    rates.write_bytes(before.replace(b"0.", b"0.0"))
    small.write(again.inputs, varied(lambda study: study.update(title="Another")), {})
    refused = again.run()
    assert refused.code == 1, refused.shown
    assert "variants/alpha-1-2_cut-fine/rates.csv is not what its step wrote" in refused.shown
    assert refused.advice == "--forcerun rate"
    ended = again.run(refused.advice)
    assert ended.code == 0, ended.shown
    assert rates.read_bytes() == before


def test_results_made_with_another_value_are_refused_where_the_scheduler_has_forgotten(again):
    shutil.rmtree(again.folder / "run" / ".snakemake")
    small.write(again.inputs, varied(other), {})
    refused = again.run()
    assert refused.code == 1, refused.shown
    ended = again.run(refused.advice)
    assert ended.code == 0, ended.shown
    assert set(compared(again.folder)["set_alpha"]) == {"1/3", "3/4"}


def test_a_variant_has_a_report_of_its_own_where_it_is_asked_for(again):
    target = "reports/small/variants/alpha-1-2_cut-fine/disclosure-review.html"
    ended = again.run(target)
    assert ended.code == 0, ended.shown
    page = (again.folder / "run" / target).read_text(encoding="utf-8")
    assert "small, variant alpha-1-2_cut-fine" in page
    study = json.loads((again.results / "variants/alpha-1-2_cut-fine/study.json").read_text(encoding="utf-8"))
    assert (study["metrics"]["taxicab"]["alpha"], study["variants"]) == ("0.5", [])


def test_a_variant_that_is_no_study_is_refused_before_anything_runs(tmp_path):
    study = varied(lambda own: own["variants"][0].update(values=["1/3", "3"]))
    file = small.write(tmp_path / "in", study)
    ended = snakemake(studies=[file], folder=tmp_path / "run")
    assert ended.code != 0
    assert len(ended.errors) == 1
    assert "variant `alpha-3_cut-fine`: `metrics.taxicab.alpha` must be at most 1" in ended.errors.pop()
    assert not (tmp_path / "run" / "results").exists()


def test_the_bundled_study_plans_what_its_values_touch(tmp_path):
    bundled = CHECKOUT / "config/studies/example-variants.yaml"
    ended = snakemake("--dry-run", studies=[bundled], folder=tmp_path / "run")
    assert ended.code == 0, ended.shown
    assert ended.planned["simulate"] == 3, "a file for each protection, not for each weight of a missing value"
