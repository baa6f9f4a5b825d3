"""A study that exercises everything, through the real command, gives what the brute-force oracle gives."""

import copy

import pandas as pd
import pytest
import reident
import yaml
from oracles.checks import check_study
from oracles.study import run as judge
from pandas.testing import assert_frame_equal
from pypdf import PdfReader
from workflow.commands import PRELOADED, made, snakemake
from workflow.library_run import read

from workflow import small

pytestmark = pytest.mark.slow


@pytest.mark.quick
def test_a_small_study_is_what_the_oracle_says(tmp_path):
    tables = small.rows()
    file = small.write(tmp_path, tables=tables)
    targets = made("small", "rates.csv", "surest/summary.csv", "verdict/warnings.csv")
    ended = snakemake(*targets, studies=[file], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    study = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    rows = ([dict(zip(head, row, strict=True)) for row in rest] for head, *rest in tables.values())
    folder = tmp_path / "run" / "results" / "small"
    check_study(judge(study, *rows), read(file, folder))
    results, ours = reident.open_results(folder), reident.attack(reident.read_study(file))
    assert_frame_equal(ours.rates, results.rates, check_exact=True)
    assert list(ours.confirmed) == sorted(results.confirmed, key=list(ours.confirmed).index)
    for metric, pairs in ours.confirmed.items():
        assert_frame_equal(pairs, results.confirmed[metric], check_exact=True)
        assert_frame_equal(ours.rank_curves[metric], results[f"confirmed/{metric}.limits.csv"], check_exact=True)
    assert list(ours.surest) == [*ours.confirmed, "agreement"]
    for metric, lines in ours.surest.items():
        assert_frame_equal(lines, results[f"surest/{metric}.csv"], check_exact=True)
    assert_frame_equal(ours.surest_summary, results["surest/summary.csv"], check_exact=True)
    assert_frame_equal(ours.agreement, results["agreement/rates.csv"], check_exact=True)
    warnings = results["verdict/warnings.csv"].drop(columns="about")
    assert_frame_equal(ours.warnings[warnings.columns], warnings)
    assert_frame_equal(ours.plausibility, results["plausibility.csv"], check_exact=True)
    assert_frame_equal(ours.attacks, results["attacks.csv"], check_exact=True)


def apart(tables: dict[str, list[list[str]]]) -> list[list[str]]:
    """The true links whose records lie in different strata."""
    head, *links = tables["iuf"]
    region = {side: {tuple(row[:2]): row[2] for row in tables[side][1:]} for side in ("puf", "eif")}
    return [head, *(row for row in links if region["puf"][tuple(row[:2])] != region["eif"][tuple(row[2:])])]


@pytest.mark.parametrize(
    "links", [pytest.param("no true link", marks=pytest.mark.long), "all true links in other strata"]
)
def test_without_a_true_link_in_a_stratum_there_is_no_verdict(tmp_path, links):
    tables = small.rows(120, 200)
    tables["iuf"] = tables["iuf"][:1] if links == "no true link" else apart(tables)
    assert (len(tables["iuf"]) > 2) == (links != "no true link")
    study = copy.deepcopy(small.STUDY) | {"decision": {"conditional_rate_at_most": 0.5}}
    study["metrics"] = {"taxicab": {}, "unicity": {}}
    file = small.write(tmp_path, study, tables)
    ended = snakemake(studies=[file], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    rates = pd.read_csv(tmp_path / "run/results/small/rates.csv")
    assert rates["n_suspected"].sum() > 0
    assert (rates["conditional_rate"].dropna() == 0).all()  # as it is defined
    page = (tmp_path / "run/reports/small/disclosure-review.html").read_text(encoding="utf-8")
    pdf = PdfReader(tmp_path / "run/reports/small/disclosure-review.pdf")
    for text in (page, *(sheet.extract_text() for sheet in pdf.pages)):
        assert "Within the limit" not in text
    for text in (page, pdf.pages[0].extract_text()):
        assert "No verdict" in text
        assert "no suspected pair can be" in " ".join(text.split())
