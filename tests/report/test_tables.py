"""Texts, numbers and tables of the report (METHODS §1–6)."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from making.matching import write_matching
from making.report import BLOCKS, NOTEBOOK, REGIONS, write_entry, write_results, write_table, written
from making.warnings import Sentence
from reident import language
from reident.errors import InputError
from reident.ledger.stored import read_csv
from reident.page import wording
from reident.page.strata import MAX_STRATA, MAX_WORST
from reident.report.blocks import annex, attack, brief, choices, rates, strata, warnings
from reident.report.results import Results, open_results

NB = wording.NO_BREAK


usual = written(write_results)


def cells(markdown: str, row: int) -> list[str]:
    """Return the cells of a line of the first table in a text as paper shows them; line 0 is the header."""
    markdown = re.sub(r'\[([^\[\]]*)\]\{(?:term=[\w-]+|limits="[^"]*"|\.own-limit)\}', r"\1", markdown)
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", lines[row if row == 0 else row + 1])[1:-1]]


@pytest.mark.parametrize(
    ("label", "shown", "why"),
    [
        ("plain", "plain", "letters are kept"),
        ("a|b", r"a\|b", "a bar would end a cell"),
        ("$x$", r"\$x\$", "no formula"),
        ("#import", r"\#import", "no heading, no Typst"),
        ("*a* _b_", r"\*a\* \_b\_", "no emphasis"),
        ("</script>", r"\<\/script\>", "no tag"),
        ("\\input{x}", r"\\input\{x\}", "no TeX"),
        ("=cmd()", r"\=cmd\(\)", "no formula of a spreadsheet, no heading of Typst"),
        ("a\nb", "a⟨U\\+000A⟩b", "a line break would end a row"),
        ("\u202eb", "⟨U\\+202E⟩b", "the direction of the text does not change"),
        ("a  b ", f"a {NB}b{NB}", "spaces that distinguish labels are kept"),
        ("", r"\(empty\)", "an empty label is visible"),
        ("Ümläut – 漢", "Ümläut – 漢", "letters of all scripts are kept"),
    ],
)
def test_a_label_is_shown_literally(label, shown, why):
    assert wording.escape(label) == shown, why


@pytest.mark.parametrize(
    ("fraction", "shown", "why"),
    [
        (0.0, f"0{NB}%", "exactly zero"),
        (1.0, f"100{NB}%", "exactly all"),
        (0.5, f"50.0{NB}%", "one digit"),
        (0.0123, f"1.2{NB}%", "one digit from one per cent on"),
        (0.00456, f"0.46{NB}%", "two below one per cent"),
        (0.000456, f"0.046{NB}%", "three below a tenth"),
        (0.000001, f"<{NB}0.001{NB}%", "a small share is not zero"),
        (0.99999, f">{NB}99.9{NB}%", "nearly everything is not everything"),
        (float("nan"), "–", "undefined"),
        (None, "–", "undefined"),
    ],
)
def test_percentages_have_readable_digits(fraction, shown, why):
    assert wording.percent(fraction) == shown, why


def test_a_rate_has_enough_digits_to_differ_from_its_limit():
    assert wording.apart(0.05004, 0.05) == (f"5.004{NB}%", f"5.000{NB}%")
    assert wording.apart(0.05, 0.05) == (f"5.0{NB}%", f"5.0{NB}%")


def test_an_undefined_rate_is_a_dash_and_never_zero(results):
    study = results(nothing_suspected=("taxicab",), nothing_confirmed=("euclidean",))
    rows = {cells(brief.product(study), row)[0]: cells(brief.product(study), row)[1] for row in (2, 3, 4, 5)}
    assert rows["**Taxicab**"] == "–"
    assert rows["**Euclidean**"].startswith("**0.0\u00a0%**")
    shown = rates.rates_by_metric(study)
    assert "Taxicab: no record is suspected" in shown
    assert re.search(r"Euclidean: 0 of [\d,]+ suspected .* Over many files made in this way.* is at most 0\.\d+", shown)


FROM_LINKS = (
    "n_confirmed", "n_confirmed_pairs", "confirmed_rate", "conditional_rate", "conditional_low", "conditional_high",
    "conditional_bound", "pair_precision", "reach", "baseline_rate", "expected_correct", "expected_correct_rate",
    "best_rank_correct", "best_rank_correct_rate", "n_single_confirmed", "single_rate", "n_false_outside",
    "n_right", "right_rate", "n_at_95_percent", "right_of_100", "n_confirmed_members", "confirmed_member_rate",
)  # fmt: skip
AFTER_LINKS = ("rates.csv", "clusters.csv", "agreement/rates.csv", "surest/summary.csv", "units/members.csv")


def test_what_follows_from_the_links_is_not_shown_where_they_tell_nothing(results):
    """Rates that differ in nothing else give the same tables, which have the suspected records."""
    fatal = Sentence("invalidates", "Rows do not correspond.")
    made = results(warnings=(fatal,), metrics=("taxicab",), units=True)
    names = [name for name in BLOCKS if name.partition(".")[0] in ("rates", "surest", "strata", "units")]
    before = {name: str(BLOCKS[name](made)) for name in names}
    for path in AFTER_LINKS:
        lines = read_csv(made.folder / path)
        write_table(made.folder / path, lines.assign(**{name: 0 * lines[name] for name in lines if name in FROM_LINKS}))
    after = Results(made.folder)
    assert before == {name: str(BLOCKS[name](after)) for name in names}
    assert f"{round(after.whole['n_suspected'].iloc[0]):,}" in before["rates.rates_by_metric"]


def test_every_number_of_the_rates_is_in_the_table(usual):
    first = cells(rates.rates_by_metric(usual), 1)
    line = usual.whole.iloc[0]
    assert first[1] == wording.count(line["n_suspected"])
    assert first[3] == wording.count(line["n_confirmed"])
    assert first[5] == f"{100 * line['conditional_rate']:.1f}"


def test_what_one_guess_would_get_right_is_beside_the_conditional_rate(results):
    study = results(metrics=("taxicab", "adhoc"), nothing_suspected=("adhoc",))
    line, shown = study.whole.iloc[0], rates.rates_by_metric(study)
    n_suspected, outside, best, single, true, rate = cells(shown, 5)[1:]
    assert [n_suspected, outside, single, true] == [
        wording.count(line[name]) for name in ("n_suspected", "n_false_outside", "n_single", "n_single_confirmed")
    ]
    assert [best, rate] == [f"{100 * line[name]:.1f}" for name in ("best_rank_correct_rate", "single_rate")]
    assert cells(shown, 6)[1:] == ["0", "0", "–", "0", "0", "–"], "nothing is suspected"
    assert cells(rates.random_candidates(study), 1)[1:] == [n_suspected, f"{100 * line['expected_correct_rate']:.1f}"]


@pytest.fixture
def many(results):
    """A study with more strata than the report shows."""
    return results(strata=tuple(f"County {at:03d}" for at in range(MAX_STRATA + 40)), records=20_000)


def counties(shown):
    """The strata that a table names."""
    return {line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| County")}


def test_the_rates_of_the_worst_of_many_strata_are_shown_with_a_note(many):
    shown = strata.rates_by_stratum(many)
    assert "20 of 100 strata with the highest confirmed rate of any metric" in shown
    lines = many.table("rates.csv")
    worst = lines[lines["stratum"] != "ALL"].groupby("stratum")["confirmed_rate"].max().fillna(0)
    label = dict(zip(many.strata["stratum"], many.strata["label"], strict=True))
    named = {stratum: label[stratum] in counties(shown) for stratum in worst.index}
    assert sum(named.values()) == MAX_WORST
    others = [rate for stratum, rate in worst.items() if not named[stratum]]
    assert min(rate for stratum, rate in worst.items() if named[stratum]) >= max(others)


def test_codes_are_shown_by_their_labels_where_the_study_declares_them(results):
    study = results(strata=("1", "02", "3"), labels={"1": "North|east", "2": "South"})
    assert list(study.strata["label"]) == ["North|east", "02", "3"]
    assert [cells(attack.strata_table(study), row)[0] for row in (1, 2, 3)] == [r"North\|east", "02", "3"]
    assert r"North\|east" in strata.rates_by_stratum(study)


def _winkler(agreement, min_agree):
    return {"metrics": ("winkler",), "options": {"winkler": {"agreement": agreement, "min_agree": min_agree}}}


TOLERANCE = [
    ("more than half of ten variables may differ", {"tolerances": {"euclidean": 6}},
     ["Euclidean: the threshold is weak"]),
    ("half of them may differ", {"tolerances": {"euclidean": 5, "adhoc": 5}}, []),
    ("several metrics", {"tolerances": {"euclidean": 6, "adhoc": 9}},
     ["Euclidean: the threshold is weak", "Adhoc: the threshold is weak"]),
    ("unicity has no threshold", {"tolerances": {"unicity": 9}}, []),
    ("nothing can be suspected", {"tolerances": {"adhoc": -1}, "nothing_suspected": ("adhoc",)},
     ["Adhoc: no pair can be suspected"]),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "shape", "expected"), TOLERANCE, ids=[case[0] for case in TOLERANCE])
def test_a_threshold_that_cannot_work_is_a_warning(results, sentence, shape, expected):
    warning_lines = results(**shape).warnings
    assert list(
        warning_lines.loc[warning_lines["severity"] == "understates", "warning"].map(str.lower).str.split(".").str[0]
    ) == [words.lower() for words in expected]


def test_a_warning_is_shown_whole_and_literally(results):
    text = "a|b <i>$x$</i> " + "long " * 100 + "the end."
    line = Sentence("understates", text, 12, 0.2, '=1+1, ""')
    study = results(warnings=(line, "Fewer than half: check the recodes."))
    for shown in (warnings.warnings(study), warnings.grave_warnings(study)):
        assert wording.whole(text) in shown
        assert r"a\|b \<i\>\$x\$" in shown
        assert "1+1" not in shown.replace("\\", ""), "codes stay in the table of reading"
    assert r"check the recodes\." in warnings.warnings(study)
    assert r"check the recodes\." not in warnings.grave_warnings(study)
    assert "There are 3 further warnings, which are notable" in warnings.grave_warnings(study)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ({"code": "no_link", "fields": '{"file":"a, b.csv"}'}, "a, b.csv: Keine Verknüpfung"),
        ({"code": "retired", "fields": '{"file":"a.csv"}'}, "As recorded"),
        ({"code": "no_link", "fields": '{"other":"a.csv"}'}, "As recorded"),
        ({"code": float("nan"), "fields": float("nan")}, "As recorded"),
        ({}, "As recorded"),
    ],
)
def test_a_warning_of_another_release_is_shown_as_it_was_recorded(line, shown):
    with language.use("de"):
        assert warnings.warning_text(SimpleNamespace(warning="As recorded", **line)).startswith(shown)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({}, "all sets of linking variables, since linking values are missing (`auto`)"),
        ({"options": {"unicity": {"interactions": "full"}}}, "only the set of all linking variables"),
        (
            {"options": {"unicity": {"interactions": "all", "max_order": 3}}},
            "all sets of linking variables of at most 3 variables",
        ),
        ({"options": {"taxicab": {"alpha": "1/3"}}}, r"$\alpha = 1/3$"),
        ({"options": {"euclidean": {"alpha": "0.5", "norm": "rms"}}}, "(`rms`)"),
        ({"files": False}, "at most 0 tolerated"),
        ({"metrics": ("winkler",)}, "next masked values below and above (`half_gap`)"),
        (_winkler({"nearest": 360}, 7), "among the 360 nearest EIF values (`nearest`)"),
        (_winkler({"nearest": 1}, 7), "at least 7 of 10 linking variables agree"),
        (_winkler("midpoint", 1), "the pairs with the most agreements"),
        (_winkler("printed", 1), "half the distance to the next one above (`printed`)"),
        (_winkler({"closest": 2}, 1), "none; the second smallest rank distance among EIF values"),
        (_winkler({"closest": 7}, 1), "the pairs with the lowest rank distance"),
    ],
)
def test_choices_name_the_option_in_force(results, shape, expected):
    assert expected in choices.choices(results(**shape))


def test_the_report_of_every_study_says_what_a_study_does_not_show(results, tmp_path):
    """The Primer's own caveat (§3); a shown study is not a proof."""
    for found in (results(), Results(write_matching(tmp_path / "matching"))):
        assert "It does not confirm that a file is safe for release." in choices.choices_text(found)


def test_cut_points_are_shown_line_by_line_or_as_ranges(results, usual):
    shown = annex.cut_points(usual)
    assert sum(line.startswith("|") for line in shown.splitlines()) == 2 + 4 * len(REGIONS)
    assert "8 of 160 bins hold no PUF records" in shown
    many = annex.cut_points(results(strata=tuple(map(str, range(51)))))
    assert sum(line.startswith("|") for line in many.splitlines()) == 2 + 4


def test_provenance_lists_only_files_of_the_chain(usual):
    shown = annex.provenance(usual)
    for name in (r"puf\.csv", r"rates\.csv", r"study\.json"):
        assert name in shown
    assert "disclosure" not in shown
    assert "source" not in shown.split(": Files")[0].replace("source files", "")


def test_only_the_name_of_a_source_is_shown(results):
    study = results()
    entry = json.loads((study.folder / "ledger" / "prepare.json").read_text())
    entry["inputs"]["puf"][0]["path"] = "/home/somebody/mock.csv"
    write_entry(study.folder, entry)
    assert r"mock\.csv" in annex.provenance(study)
    assert "somebody" not in annex.provenance(study)


def test_missing_results_are_an_error_with_advice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"results/none: there are no results. Run the study first"):
        open_results("results/none")


def test_the_report_says_what_an_interval_is_about(usual, results):
    """Wherever one is printed: for these files and links the rate is exact."""
    shown = rates.rates_by_metric(usual)
    assert "For these files and links the rate is exact." in shown
    assert (
        "is about the rate over many files made and attacked in this way; it takes the records as independent" in shown
    )
    for table in (brief.product(usual), brief.product(results(limit=None))):
        assert "many files made in this way" in table
    assert "many files made in this way" in strata.rates_by_stratum_figure(usual).caption


def test_clusters_have_rates_of_their_own_and_clustered_intervals(results, usual):
    study = results(cluster=("area", "hh_no"), nothing_confirmed=("taxicab",))
    shown = rates.clusters_by_metric(study)
    assert r"with the same *area* and *hh\_no*" in shown
    assert re.search(r"Taxicab: 0 of [\d,]+ suspected clusters are confirmed. Over many files made in this way", shown)
    whole = study.table("clusters.csv").iloc[0]
    assert cells(shown, 1)[1] == f"{whole.n_suspected:,.0f}"
    assert "it takes the clusters as independent" in rates.rates_by_metric(study)
    assert rates.clusters_by_metric(usual) is None


@pytest.mark.parametrize(("n", "warned"), [(0, False), (1, True), (14, True), (15, False)])
def test_an_interval_from_few_clusters_is_too_short(results, n, warned):
    study = results(cluster=("area",))
    at = study.folder / "clusters.csv"
    lines = pd.read_csv(at)
    lines.loc[(lines["metric"] == "taxicab") & (lines["stratum"] == "ALL"), "n_confirmed"] = n
    lines.to_csv(at, index=False)
    named = re.findall(r"(\w+): only (one|\d+) clusters? ha", rates.rates_by_metric(Results(study.folder)))
    assert named == ([("Taxicab", "one" if n == 1 else str(n))] if warned else [])


def test_the_notebook_shows_every_part_of_the_report():
    source = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells)
    assert [name for name in BLOCKS if f" {name}" not in source] == []


@pytest.mark.parametrize(
    ("convert", "formula"),
    [
        ({"eif": {"times": "1000", "plus": "0"}}, "EIF × 1000"),
        ({"puf": {"times": "0.01", "plus": "-2.5"}, "eif": None}, "PUF × 0.01 − 2.5"),
        ({"puf": {"times": "1", "plus": "3"}, "eif": {"times": "-1", "plus": "2026"}}, "PUF + 3 · EIF × −1 + 2026"),
    ],
)
def test_the_table_of_variables_shows_conversions(convert, formula, tmp_path):
    folder = write_results(tmp_path / "results")
    assert "converted" not in attack.variables(Results(folder))
    path = folder / "study.json"
    study = json.loads(path.read_text(encoding="utf-8"))
    study["linking_variables"][0]["convert"] = convert
    path.write_text(json.dumps(study), encoding="utf-8")
    text = attack.variables(Results(folder))
    assert "are converted to those of the study" in text
    assert formula in cells(text, 1)[0].replace("\\", "")
