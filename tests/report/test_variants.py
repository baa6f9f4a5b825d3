"""The section on variants: what varies, which metrics change, their rates and verdicts, and the figures."""

from xml.etree import ElementTree as ET

import pytest
from making.filerisk import FILE_RISK, write_filerisk
from making.matching import write_matching
from making.report import Shape, write_results
from making.variants import ALPHA, PROTECTION, add_variants
from reident.page.variants import MAX_VARIANTS, changed_metrics, distinct_lines, relevant_settings
from reident.page.wording import percent
from reident.report.blocks import variants, variants_figures
from reident.report.results import Results

ALPHAS = [{"alpha": alpha} for alpha in ALPHA["values"]]
PROTECTIONS = [{"protection": label} for label in PROTECTION["combinations"]]
BOTH = [{"protection": label, "alpha": alpha} for label in ("weak", "strong") for alpha in ALPHA["values"]]


@pytest.fixture
def results(tmp_path):
    """Return a function that makes results with a comparison of variants."""

    def make(varied, labels, shape=None, **keys):
        return Results(add_variants(write_results(tmp_path / "results", shape or Shape()), varied, labels, **keys))

    return make


def test_the_text_names_what_varies_and_which_metrics_do_not_change(results):
    study = results([PROTECTION, ALPHA], BOTH, same=("unicity", "adhoc"))
    text = variants.variants_text(study)
    assert "*protection* (`binning.bins`) and *alpha* (`metrics.taxicab.alpha`) in every combination" in text
    assert "6 studies" in text
    assert "Unicity and Adhoc give the same results in every variant and are left out here." in text
    assert changed_metrics(study) == ["taxicab", "euclidean"]


def test_every_metric_is_shown_where_no_results_differ(results):
    study = results([ALPHA], ALPHAS, same=("unicity", "taxicab", "euclidean", "adhoc"))
    assert changed_metrics(study) == ["unicity", "taxicab", "euclidean", "adhoc"]
    assert "left out" not in variants.variants_text(study)


def test_every_variant_has_its_rates_and_the_study_itself_is_bold(results):
    study = results([ALPHA], ALPHAS, reference=1)
    text = variants.variants_rates(study)
    lines = study.table("comparison/rates.csv")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "alpha" not in line and ":--" not in line]
    assert len(rows) == len(lines) == 12
    assert [row.split("|")[1].strip() for row in rows[:3]] == [r"0\.25", r"**0\.5**", r"0\.75"]
    for row, own in zip(rows, lines.sort_values("metric", key=_order, kind="stable").itertuples(), strict=True):
        assert f"| {round(own.n_confirmed):,} of {round(own.n_suspected):,} |" in row


def _order(names):
    return names.map(["unicity", "taxicab", "euclidean", "adhoc"].index)


def test_a_metric_is_shown_only_by_settings_that_change_it(results):
    """Taxicab follows alpha and protection; the others follow protection, whatever alpha is."""
    study = results([PROTECTION, ALPHA], BOTH, reference=4)
    lines = study.table("comparison/rates.csv")
    others = lines["metric"] != "taxicab"
    alike = lines[others].sort_values("n_suspected").drop_duplicates(["metric", "set_protection"])
    for column in set(lines.columns) - {"variant", "reference", "set_protection", "set_alpha", "metric"}:
        known = alike.set_index(["metric", "set_protection"])[column]
        lines.loc[others, column] = lines.loc[others, ["metric", "set_protection"]].apply(tuple, axis=1).map(known)
    study.table = {"comparison/rates.csv": lines}.__getitem__
    assert [relevant_settings(study, metric) for metric in ("unicity", "taxicab")] == [
        ["protection"],
        ["protection", "alpha"],
    ]
    one, two = (distinct_lines(study, metric) for metric in ("unicity", "taxicab"))
    assert list(zip(one["set_protection"], one["reference"], strict=True)) == [("weak", "no"), ("strong", "yes")]
    assert len(two) == 6


def test_a_rate_above_the_limit_is_marked_and_counted(results):
    study = results([ALPHA], ALPHAS, Shape(metrics=("taxicab",), limit=0.1))
    rates = study.table("comparison/rates.csv")["conditional_rate"]
    above = int((rates > 0.1).sum())
    assert above > 0
    assert variants.variants_rates(study).count("▲ ") == above + 1  # and once in the caption
    assert f"of 3 studies {'is' if above < 2 else 'are'} above the limit" in variants.variants_findings(study)


def test_without_a_limit_nothing_is_marked(results):
    study = results([ALPHA], ALPHAS, Shape(limit=None))
    assert "▲" not in variants.variants_rates(study)
    assert "limit" not in variants.variants_findings(study)


def test_the_findings_name_the_variants_of_the_lowest_and_the_highest_rate(results):
    study = results([ALPHA], ALPHAS, Shape(metrics=("taxicab",)))
    lines = study.table("comparison/rates.csv").set_index("set_alpha")
    low, high = lines["conditional_rate"].idxmin(), lines["conditional_rate"].idxmax()
    expected = variants.variants_findings(study).replace("\\", "")
    assert expected.index(f"(alpha {low})") < expected.index(f"(alpha {high})")


def test_the_highest_rates_of_many_variants_are_shown_with_the_study(results):
    many = [{"alpha": f"{at / 1000}"} for at in range(1, 151)]
    study = results([ALPHA], many, Shape(metrics=("taxicab",)), reference=149)
    text = variants.variants_rates(study)
    assert f"The {MAX_VARIANTS} highest of 150" in text
    assert text.count("**") == 2


def test_a_numeric_setting_is_drawn_as_lines(results):
    assert "by *alpha*" in variants_figures.variants_rates_figure(results([ALPHA], ALPHAS)).caption


@pytest.mark.parametrize(
    ("varied", "labels"),
    [
        ([PROTECTION], PROTECTIONS),
        ([ALPHA], ALPHAS[:2]),
        ([PROTECTION, ALPHA], [{"protection": "", "alpha": "as ever"}, *BOTH]),
    ],
    ids=["words", "two numbers", "a study without a label"],
)
def test_rows_are_drawn_without_a_setting_of_three_numbers(results, varied, labels):
    figure = variants_figures.variants_rates_figure(results(varied, labels))
    assert "by variant" in figure.caption
    assert "▲" not in figure.alt


def test_lines_over_a_number_are_named_by_the_other_settings(results):
    study = results([PROTECTION, ALPHA], BOTH, Shape(metrics=("taxicab",)))
    figure = variants_figures.variants_rates_figure(study)
    assert "by *alpha*" in figure.caption
    assert "protection weak, alpha 0.25: suspected rate" in figure.alt


def test_a_legend_of_many_lines_fits_the_page(results):
    study = results([PROTECTION, ALPHA], BOTH, Shape(metrics=("taxicab", "euclidean", "adhoc")))
    drawing = ET.fromstring(variants_figures.variants_rates_figure(study).svg)  # noqa: S314 - of our own making
    (key,) = [group for group in drawing.iter() if group.get("id") == "legend_1"]
    places = [float(x) for use in key.iter() for x in [use.get("x")] if x]
    assert len(places) >= 6
    assert max(places) < 6.4 * 72 * 0.9


def test_without_a_suspected_record_there_is_no_figure(results):
    shape = Shape(metrics=("taxicab",), nothing_suspected=("taxicab",))
    study = results([ALPHA], ALPHAS, shape)
    assert variants_figures.variants_rates_figure(study) is None
    assert "No variant suspects a record" in variants.variants_findings(study)


def test_variants_of_matching_have_their_summaries_and_limits(tmp_path):
    folder = write_matching(tmp_path / "results", decision={"expected_match_risk_at_most": 1})
    study = Results(add_variants(folder, [ALPHA], ALPHAS))
    text = variants.variants_matching(study)
    assert "expected match risk at most 1" in text
    for value in study.table("comparison/matching.csv")["expected_match_risk"]:
        assert ("▲ " if value > 1 else "✓ ") in text
    assert "by *alpha*" in variants_figures.variants_matching_figure(study).caption


def test_variants_of_file_level_risk_have_their_quantities(tmp_path):
    alone = {"set": ["file_risk.special.seed"], "values": ["1", "2"], "combinations": None, "name": None}
    folder = write_filerisk(tmp_path / "results", FILE_RISK)
    study = Results(add_variants(folder, [alone], [{"seed": "1"}, {"seed": "2"}], reference=1))
    text, lines = variants.variants_risk(study), study.table("comparison/filerisk.csv")
    assert text.count(f"| {round(lines['U'][0]):,} | {round(lines['P'][0]):,} |") == 2
    assert "| **2** |" in text
    assert "*seed* (`file_risk.special.seed`)" in variants.variants_text(study)
    expected = f"DIS {percent(lines['dis'][0])}, mean DIS-SUDA {percent(lines['mean'][0])}"
    assert expected.replace("\u00a0", " ") in variants_figures.variants_risk_figure(study).alt.replace("\u00a0", " ")
