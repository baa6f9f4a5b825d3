"""The brief: strips of squares, the table of attacks, whose limits, what is not tested or not known (METHODS §6.9)."""

import re

import pandas as pd
import pytest
from making.filerisk import write_filerisk
from making.matching import write_matching
from making.report import cells, rows, write_table, write_verdict
from making.warnings import warning_table
from reident.intake.severity import StudyWarning
from reident.report.blocks import brief, front, squares
from reident.report.results import Results

EVERY = ("unicity", "taxicab", "euclidean", "adhoc")
INVALID = StudyWarning("invalidates", "no_link", {"file": "iuf.csv"}, 0)


@pytest.mark.parametrize(
    ("records", "found", "expected"), [(6000, 1022, 100), (6000, 40, 1000), (6000, 0, 100), (12, 3, 12), (500, 3, 500)]
)
def test_squares_are_many_where_few_are_found_and_never_more_than_records(records, found, expected):
    assert squares.squares_of(records, [found]) == (expected, records)


STRIP = re.compile(r"^\*\*(.+?)\*\*(?: \[.*)?\n\n\[\]\{\.squares( \.broken)? (.*?)\} ?(.*)\n\n(.*)$", re.MULTILINE)


def strips(text):
    """The strips of a figure: name, attributes of the squares, the numbers of the legend, what stands beside."""
    shown = {}
    for name, broken, marks, legend, beside in STRIP.findall(str(text).replace("\u00a0", " ")):
        drawn = {key: int(n) for key, n in re.findall(r'(\w+)="(\d+)"', marks)} | {"broken": bool(broken)}
        parts = re.findall(r"\{\.key-(\w+)(?: \.broken)?\} (\d+|fewer than 1) ", legend)
        shown[name] = drawn, dict(parts), beside
    return shown


def strongest(study):
    """The metric whose best guesses name most people, by hand."""
    right = study.table("surest/summary.csv").set_index("metric")["n_right"]
    whole = study.whole
    return max(study.metrics, key=lambda name: (right[name], whole.at[name, "n_confirmed"]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_page_one_has_four_strips_which_are_the_counts_of_the_tables(results, seed):
    study = results(limit=0.05, seed=seed)
    drawn, best = strips(squares.strips(study)), strongest(study)
    line, of = study.whole.loc[best], study.whole["n_puf"].iloc[0] / 100
    assert list(drawn)[1:3] == [f"Strongest attack: {best.capitalize()}", "Any metric"]
    assert len(drawn) == 4
    held, (marks, _, beside) = drawn["Intruder holds"], drawn[f"Strongest attack: {best.capitalize()}"]
    linked = round(line["n_confirmed"] / line["reach"])
    assert abs(held[0]["held"] - linked / of) <= 0.5
    assert f"{linked:,} of {round(100 * of):,}" in held[2]
    for name, column in (("suspected", "n_suspected"), ("found", "n_confirmed"), ("single", "n_single_confirmed")):
        assert abs(marks[name] - line[column] / of) <= 0.5, name
    assert abs(marks["room"] - 0.05 * line["n_suspected"] / of) <= 0.5
    is_above = line["n_confirmed"] > 0.05 * line["n_suspected"]
    assert marks["broken"] == is_above == beside.startswith("[▲ ")
    assert "Limit 5 % of its suspicions, here " in beside
    overlap = study.table("description/overlap.csv").groupby("set")["n_pufids"].sum()
    assert drawn["Any metric"][0]["found"] == round(overlap["confirmed"] / of)


@pytest.mark.parametrize("shape", [{}, {"records": 12, "strata": ("A", "B")}, {"records": 100_000, "linked": 0.005}])
def test_the_legend_of_a_strip_counts_its_squares(results, shape):
    for name, (marks, legend, _) in strips(squares.strips(results(**shape))).items():
        ends = [marks[key] for key in ("held", "single", "found", "suspected") if key in marks]
        widths = {n for n in (high - low for low, high in zip([0, *ends], [*ends, marks["total"]], strict=True)) if n}
        assert {int(n) for n in legend.values() if n != "fewer than 1"} == widths, name


@pytest.mark.parametrize("step", [-0.001, 0.001])
def test_a_verdict_is_of_counts_and_words_show_a_breach_that_squares_hide(results, step):
    shape = {"metrics": ("taxicab",)}
    rate = results(**shape).whole["conditional_rate"].iloc[0]
    marks, _, beside = strips(squares.strips(results(**shape, limit=rate + step)))["Strongest attack: Taxicab"]
    assert marks["found"] == marks["room"]
    assert marks["broken"] == (step < 0)
    assert ("▲" in beside) == (step < 0)
    if step < 0:
        found, room = re.search(r"([\d.]+) found.*Limit [\d.]+\s% of its suspicions, here ([\d.]+)", beside).groups()
        assert "." in found
        assert "." in room


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        ({"conditional_rate_at_most": 0.05}, "5 % of its suspicions, here "),
        ({"conditional_rate_at_most": 0.9, "confirmed_at_most": 5}, ""),
        ({"confirmed_rate_at_most": 0.2}, "20 % of all, here "),
        ({"reach_at_most": 0.9}, "90 % of those held, here "),
    ],
    ids=str,
)
def test_the_frame_is_the_smallest_limit_and_its_words_say_of_what(results, limits, share):
    study = results(decision=limits)
    line, n_puf = study.whole.loc[strongest(study)], study.whole["n_puf"].iloc[0]
    marks, _, beside = list(strips(squares.strips(study)).values())[1]
    rooms = {
        "conditional_rate_at_most": line["n_suspected"],
        "confirmed_at_most": 1,
        "confirmed_rate_at_most": n_puf,
        "reach_at_most": line["n_confirmed"] / line["reach"],
    }
    least = min(bound * rooms[name] for name, bound in limits.items())
    assert abs(marks["room"] - least * 100 / n_puf) <= 0.5
    assert re.search(rf"Limit {re.escape(share)}[\w. ]+: {'above' if marks['broken'] else 'within'}", beside)


def test_without_a_limit_the_strips_and_the_table_say_so(results):
    study = results(limit=None)
    drawn = strips(squares.strips(study))
    assert all("room" not in marks and "No limit set" in beside for marks, _, beside in list(drawn.values())[1:3])
    first = rows(brief.product(study))[0]
    assert [first[at] for at in (1, 5, 6, 7)] == ["no limit set"] * 4


def test_limits_are_in_the_first_line_of_the_table_of_attacks(results):
    decision = {"conditional_rate_at_most": {"adhoc": 0.1}, "confirmed_at_most": 60, "reach_at_most": 0.5}
    study = results(decision=decision | {"expected_correct_rate_at_most": 0.01})
    first, *lines = (
        [cell.replace("\u00a0", " ") for cell in row] for row in rows(str(brief.product(study)).replace("\u00a0", " "))
    )
    assert first == ["The limit", "a limit by metric", "", "", "", "60 found and 50 %", "1 %", "no limit set"]
    limits = study.table("verdict/limits.csv")
    broken = limits[limits["outcome"].isin(["breaks", "exceeds"])].groupby("metric")["limit"].agg(set)
    columns = {1: {"conditional_rate_at_most"}, 5: {"confirmed_at_most", "reach_at_most"}}
    columns |= {6: {"expected_correct_rate_at_most"}}
    for row in lines[: len(EVERY)]:
        metric = row[0].strip("*").lower()
        assert {at for at, cell in enumerate(row) if "▲" in cell} == {
            at for at, names in columns.items() if names & broken.get(metric, set())
        }


@pytest.mark.parametrize("n", [1, 60])
def test_the_strip_of_any_metric_has_the_limit_on_it(results, n):
    study = results(decision={"confirmed_by_any_at_most": n})
    marks, _, beside = strips(squares.strips(study))["Any metric"]
    assert marks["broken"]
    assert ": above" in beside
    assert marks["room"] == round(100 * n / study.whole["n_puf"].iloc[0])


def test_the_rate_is_the_product_of_its_factors(results):
    study = results()
    for line in rows(brief.product(study))[1 : 1 + len(EVERY)]:
        rate, _, held, found, *_ = (float(re.search(r"[\d.]+", cell)[0]) for cell in line[1:])
        metric = study.whole.loc[line[0].strip("*").lower()]
        kept = metric["n_suspected"] - metric["n_false_outside"]
        assert abs(rate - 100 * metric["conditional_rate"]) <= 0.05
        assert abs(held - 100 * kept / metric["n_suspected"]) <= 0.5
        assert abs(found - 100 * metric["n_confirmed"] / kept) <= 0.5


WHOSE = {"set_by": "the *board*", "set_on": "2026-01-15"}


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (WHOSE, r"The limits were set by the \*board\* on 15 January 2026."),
        ({"set_by": WHOSE["set_by"]}, r"The limits were set by the \*board\*; when is not stated."),
        ({"set_on": WHOSE["set_on"]}, "The limits were set on 15 January 2026; by whom is not stated."),
        ({}, "Who set the limits, and when, is not stated."),
    ],
)
def test_the_verdict_says_whose_the_limits_are(results, stated, words):
    shown = front.verdict(front.overall)(results(decision={"conditional_rate_at_most": 0.05, **stated}))
    assert words in shown
    assert "limits were set" not in front.verdict(front.overall)(results(limit=None))


@pytest.mark.parametrize(
    ("stated", "words"),
    [("an *employer*", r"Who could know as much: an \*employer\*."), (None, "Who could know as much is not stated.")],
)
def test_the_test_says_who_could_know_as_much(results, stated, words):
    assert words in str(brief.test(results(intruder=stated)))


@pytest.mark.parametrize(
    ("decision", "several"),
    [
        ({"conditional_rate_at_most": 0.05}, False),
        ({"conditional_rate_at_most": 0.05, "surest": {"right": 0.9, "at_most": 5}}, False),
        ({"conditional_rate_at_most": {"taxicab": 0.05, "adhoc": 0.06}}, True),
    ],
)
def test_the_table_tells_of_the_largest_limit_where_metrics_have_their_own(results, decision, several):
    assert ("is compared with the largest one" in str(brief.product(results(decision=decision)))) == several


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (("standard", "euclidean", ""), "the upper end of the interval of the conditional rate: "),
        (("agreement", "agreement", "2"), "(the conditional rate: 90.0"),
    ],
)
def test_a_reservation_says_of_which_number_it_is(results, other, words):
    """Of an attack chosen among many it is the rate itself, although metrics are judged by the upper end."""
    study = results(decision={"conditional_rate_at_most": 0.8, "by": "upper"}, others=((*other, 900, 810),))
    write_verdict(study.folder, attack=warning_table([]))
    shown = str(front.overall(Results(study.folder))).replace("\u00a0", " ")
    assert "One attack at hand" in shown
    assert words in shown


UNTESTED = {"Protection", "Households", "Dates"}


@pytest.mark.parametrize(
    ("shape", "left"),
    [
        ({}, UNTESTED),
        ({"original": True}, UNTESTED - {"Protection"}),
        ({"units": True}, UNTESTED - {"Households"}),
        ({"variables": (("born", "date", "birth"), ("sex", "categorical", "sex"))}, UNTESTED - {"Dates"}),
        ({"title": '"type": "date"'}, UNTESTED),
    ],
    ids=["none", "protection", "households", "dates", "a text that names dates"],
)
def test_what_was_not_tested_is_said_in_so_many_words(results, shape, left):
    assert set(re.findall(r"^- \*\*(\w+)\.\*\*", brief.untested(results(**shape)), re.MULTILINE)) == left


def test_one_file_says_that_there_was_no_attack(tmp_path):
    shown = brief.untested(Results(write_filerisk(tmp_path / "risk")))
    assert "**An attack.**" in shown
    assert "the file on its own" not in shown


@pytest.mark.parametrize(
    "shape",
    [{"linked": 0.0, "lost": False, "nothing_confirmed": EVERY}, {"warnings": (INVALID,)}],
    ids=["no link", "invalid"],
)
def test_what_is_not_known_is_given_no_number(results, shape):
    """No number of people held or found, no rate and no interval, where no link or an invalidating warning is."""
    study = results(**shape)
    page = str(squares.strips(study))
    ((marks, _, beside),) = strips(page).values()
    assert beside.strip("*") == "Found: not known"
    assert not {"held", "found", "single", "room"} & set(marks)
    assert "is not known" in page.splitlines()[0]
    for line in rows(brief.product(study))[1:]:
        assert [*line[1:2], *line[3:]] == ["not known"] * 6
    assert brief.at_risk(study) is None
    assert squares.surest(study) is None


@pytest.mark.parametrize(
    "shape",
    [
        {"metrics": ("taxicab",)},
        {"metrics": (*EVERY, "winkler", "fellegi_sunter")},
        {"nothing_suspected": EVERY},
        {"nothing_suspected": EVERY, "tolerances": dict.fromkeys(EVERY, -1)},
        {"nothing_confirmed": EVERY},
        {"linked": 0.0, "lost": False, "nothing_confirmed": EVERY},
        {"records": 12, "strata": ("A", "B")},
        {"records": 100_000, "linked": 0.005},
        {"limit": None, "original": True},
        {"decision": {"conditional_rate_at_most": 0.05, "by": "upper"}},
        {"decision": {"conditional_rate_at_most": 0.9, "confirmed_at_most": 5}},
    ],
    ids=str,
)
def test_every_study_has_a_brief_whose_squares_are_in_order(results, shape):
    text = "\n".join(map(str, cells(results(**shape), "front")["front"]))
    drawn = strips(text)
    assert 1 <= len(drawn) <= 4
    for name, (marks, *_) in drawn.items():
        order = [marks.get(key, 0) for key in ("single", "found", "suspected")]
        order = [n for key, n in zip(("single", "found", "suspected"), order, strict=True) if key in marks]
        assert order == sorted(order), name
        if name != "Any metric":  # the made-up overlap of many metrics need not fit the file
            assert all(0 <= n <= marks["total"] for n in order), name
    assert "nan" not in text


def test_one_file_and_synthetic_files_have_strips_of_their_own(tmp_path):
    risk = Results(write_filerisk(tmp_path / "risk"))
    cells_ = risk.table("filerisk/cells.csv")
    ((marks, *_),) = strips(squares.risk_strip(risk)).values()
    unique = cells_.loc[cells_["cell_size"] == 1, "n_records"].sum()
    of = float(risk.table("filerisk/summary.csv").set_index("quantity").at["records", "value"]) / marks["total"]
    assert abs(marks["single"] - unique / of) <= 0.5
    matched = Results(write_matching(tmp_path / "matched", decision={"true_match_rate_at_most": 0}))
    (marks, _, beside), *_ = strips(squares.matching_strips(matched)).values()
    assert beside.startswith("[▲ ") == marks["broken"]


def test_whom_an_intruder_finds_most_in_synthetic_files(tmp_path):
    study = Results(write_matching(tmp_path / "results"))
    lines = study.table("matching/scenarios.csv").query("file == 'mean' and listed")
    pooled = study.table("matching/pooled.csv").query("membership == 'certain'").set_index("scenario")
    rates = {
        row.scenario: max(row.true_match_rate, pooled.true_match_rate.get(row.scenario, 0))
        for row in lines.itertuples()
    }
    most = max(rates, key=rates.get)
    first = lines.set_index("scenario").loc[most]
    shown = brief.at_risk_in_synthetic(study)
    assert all(name in shown for name in first["known"].split(" + "))
    assert f", {round(rates[most] * first['targets'])} are found" in shown


def test_the_board_reads_the_verdict_of_the_table_twice(results):
    study = results(limit=0.01)
    text = "\n".join(map(str, cells(study, "front")["front"]))
    assert text.count("[▲ Above the limit]{.above}") == 2


def test_who_is_most_at_risk_is_read_off_the_tables(results):
    study = results()
    whole, lines = study.whole, study.table("rates.csv")
    best, surest = whole["n_confirmed"].idxmax(), whole["n_single_confirmed"].idxmax()
    single, stratum, variable = brief.at_risk(study).split("\n")
    n, found = (f"{int(whole.at[surest, name]):,}" for name in ("n_single_confirmed", "n_confirmed"))
    assert f"{n} of the {found} records that {surest.capitalize()} finds" in single
    of_best = lines[(lines["metric"] == best) & (lines["stratum"] != "ALL") & (lines["n_puf"] >= 10)]
    n_empty = (of_best["n_findable"] == 0).sum()
    assert n_empty == 1
    assert "In one more stratum nobody can be found" in stratum
    of_best = of_best[of_best["n_findable"] > 0]
    shares = of_best["n_confirmed"] / of_best["n_puf"]
    high, low = re.findall(r"([\d.]+)\s% \(([\d,]+) of ([\d,]+)\)", stratum)
    for shown, at in ((high, shares.idxmax()), (low, shares.idxmin())):
        numbers = [round(100 * shares[at], 1), of_best.at[at, "n_confirmed"], of_best.at[at, "n_puf"]]
        assert [float(text.replace(",", "")) for text in shown] == numbers
    attacks = study.table("attacks.csv").query("kind == 'without' and metric == @best")
    without = attacks.set_index("detail")["n_confirmed"]
    assert f"without {without.idxmin()}, " in variable
    assert f" {int(without.min()):,} records in place of {int(whole.at[best, 'n_confirmed']):,}" in variable


@pytest.mark.parametrize("shape", [{"nothing_confirmed": EVERY}, {"nothing_suspected": EVERY}, {"linked": 0.0}])
def test_nobody_found_is_nobody_at_risk(results, shape):
    assert brief.at_risk(results(**shape)) is None


def test_all_found_may_have_a_single_candidate(results):
    study = results(metrics=("unicity",))
    attacks = study.folder / "attacks.csv"
    lines = pd.read_csv(attacks)
    lines["n_single_confirmed"] = lines["n_confirmed"]
    write_table(attacks, lines)
    n = int(study.whole["n_confirmed"].iloc[0])
    assert f"all {n:,} records that Unicity finds" in brief.at_risk(Results(study.folder))


def test_a_file_on_its_own_is_compared_on_the_variables_that_are_named(tmp_path):
    study = Results(write_filerisk(tmp_path / "results"))
    names = list(study.table("filerisk/variables.csv")["variable"])
    assert f"key variables ({', '.join(names[:-1])} and {names[-1]})" in brief.test(study)


@pytest.mark.parametrize(("limit", "verdict"), [(0.2, "above]"), (0.5, "above, a reservation]")])
def test_the_strongest_attack_at_hand_leads_and_what_was_not_tried_is_counted(results, limit, verdict):
    """An attack that the study does not declare: its strip, its line with the mark of the limit, and the others."""
    study = results(limit=limit)
    lines = pd.read_csv(study.folder / "attacks.csv", dtype={"detail": str})
    line = lines.iloc[0].to_dict()
    line |= {"kind": "standard", "metric": "fellegi_sunter", "n_suspected": 900, "n_confirmed": 500, "n_right": 700}
    line |= {"conditional_rate": 5 / 9, "conditional_low": 0.5, "conditional_high": 0.6, "n_false_outside": 300}
    line |= {"n_single": 900, "n_single_confirmed": 500, "single_rate": 5 / 9, "n_at_95_percent": 333}
    untried = {"kind": "join", "metric": "exact_values", "detail": "age+sex"}
    write_table(study.folder / "attacks.csv", pd.concat([lines, pd.DataFrame([line, untried])]))
    write_verdict(study.folder, attack=warning_table([]))
    study = Results(study.folder)
    drawn, n_puf = strips(squares.strips(study)), study.whole["n_puf"].iloc[0]
    marks, _, beside = drawn["Strongest attack: Fellegi–Sunter at its defaults"]
    assert abs(marks["room"] - 100 * limit * 900 / n_puf) <= 0.5
    assert beside.startswith("[▲ ")
    assert re.search(rf"{100 * limit:.0f} % of its suspicions, here [\d.]+: {verdict}", beside.replace("\u00a0", " "))
    claims = next(beside for name, (*_, beside) in drawn.items() if "surest" in name)
    assert "Of the 333 surest claims of another attack (Fellegi–Sunter at its defaults)" in claims
    shown = [[cell.replace("\u00a0", " ") for cell in row] for row in rows(brief.product(study))]
    (fellegi_sunter,) = (row for row in shown if "Fellegi–Sunter" in row[0])
    assert shown.index(fellegi_sunter) == len(EVERY) + 1
    assert fellegi_sunter[1].startswith("[▲ **55.6 %**]{.above}")
    assert fellegi_sunter[3].startswith("= 67 %")
    assert "**One attack at hand** was not tried" in brief.untested(study)


@pytest.mark.parametrize(("low", "high", "words"), [(0.15, 0.35, "above, perhaps by chance"), (0.21, 0.4, "above]")])
def test_agreement_that_may_be_above_by_chance_says_so(results, low, high, words):
    study = results(limit=0.2)
    lines = pd.read_csv(study.folder / "attacks.csv", dtype={"detail": str})
    at = lines.index[lines["kind"] == "standard"][0]
    lines.loc[at, ["kind", "metric", "detail"]] = "agreement", "agreement", "2"
    lines.loc[at, ["n_suspected", "n_confirmed", "n_right"]] = 400, 100, lines["n_right"].max() + 1
    lines.loc[at, ["conditional_rate", "conditional_low", "conditional_high"]] = 0.25, low, high
    write_table(study.folder / "attacks.csv", lines)
    write_verdict(study.folder, attack=warning_table([]))
    (beside,) = (text for name, (*_, text) in strips(squares.strips(Results(study.folder))).items() if "agree" in name)
    assert re.search(rf"20\s% of its suspicions, here [\d.]+: {words}", beside)
