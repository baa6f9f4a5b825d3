"""The brief: strips of squares, natural frequencies, the rate as a product (METHODS §6)."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.filerisk import write_filerisk
from making.matching import write_matching
from making.report import cells, write_table
from reident.report.blocks import brief, squares
from reident.report.results import Results

EVERY = ("unicity", "taxicab", "euclidean", "adhoc")


@pytest.mark.parametrize(
    ("part", "n", "shown"),
    [
        (3, 7, "3 of 7"),
        (0, 6000, "0 of 100"),
        (6000, 6000, "100 of 100"),
        (1342, 6000, "22 of 100"),
        (25, 6000, "4 of 1,000"),
        (5990, 6000, "998 of 1,000"),
        (1, 6000, "1 of 6,000"),
        (87.375, 100, "87 of 100"),
    ],
)
def test_a_part_is_given_in_natural_frequencies(part, n, shown):
    assert brief.frequency(part, n) == shown


@given(n=st.integers(1, 10**7), data=st.data())
def test_some_are_never_none_and_most_never_all(n, data):
    part = data.draw(st.integers(0, n))
    shown, of = (int(text.replace(",", "")) for text in brief.frequency(part, n).split(" of "))
    assert abs(shown / of - part / n) <= 0.005
    assert (shown == 0) == (part == 0)
    assert (shown == of) == (part == n)


@pytest.mark.parametrize(
    ("records", "found", "expected"), [(6000, 1022, 100), (6000, 40, 1000), (6000, 0, 100), (12, 3, 12), (500, 3, 500)]
)
def test_squares_are_many_where_few_are_found_and_never_more_than_records(records, found, expected):
    assert squares.squares_of(records, [found]) == (expected, records)


def strips(text):
    """The strips of a figure: name, attributes of the squares, what stands beside."""
    found = re.findall(r"^\*\*(.+?)\*\* .*\n\n\[\]\{\.squares( \.broken)? (.*)\}\n\n(.*)$", text, re.MULTILINE)
    return {
        name: ({key: int(n) for key, n in re.findall(r'(\w+)="(\d+)"', marks)} | {"broken": bool(broken)}, beside)
        for name, broken, marks, beside in found
    }


def test_squares_are_the_counts_of_the_tables(results):
    study = results(limit=0.05)
    drawn, whole = strips(squares.strips(study)), study.whole
    for metric in EVERY:
        line, (marks, beside) = whole.loc[metric], drawn[metric.capitalize()]
        of = line["n_puf"] / 100
        for name, column in (("suspected", "n_suspected"), ("found", "n_confirmed"), ("single", "n_single_confirmed")):
            assert abs(marks[name] - line[column] / of) <= 0.5, (metric, name)
        assert abs(marks["room"] - 0.05 * line["n_suspected"] / of) <= 0.5
        is_above = line["n_confirmed"] > 0.05 * line["n_suspected"]
        assert marks["broken"] == is_above == beside.startswith("[▲ ")
    overlap = study.table("description/overlap.csv").groupby("set")["n_pufids"].sum()
    assert drawn["Any metric"][0]["found"] == round(overlap["confirmed"] / whole["n_puf"].iloc[0] * 100)


@pytest.mark.parametrize("step", [-0.001, 0.001])
def test_a_verdict_is_of_counts_and_words_show_a_breach_that_squares_hide(results, step):
    shape = {"metrics": ("taxicab",)}
    rate = results(**shape).whole["conditional_rate"].iloc[0]
    marks, beside = strips(squares.strips(results(**shape, limit=rate + step)))["Taxicab"]
    assert marks["found"] == marks["room"]
    assert marks["broken"] == (step < 0)
    assert ("▲" in beside) == (step < 0)
    if step < 0:
        found, room = re.search(r"([\d.]+) found, limit ([\d.]+):", beside).groups()
        assert "." in found
        assert "." in room


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        ({"conditional_rate_at_most": 0.05, "confirmed_by_any_at_most": 200}, 0.05),
        ({"conditional_rate_at_most": 0.3, "confirmed_by_any_at_most": 200}, None),
        ({"conditional_rate_at_most": {"adhoc": 0.1}, "confirmed_by_any_at_most": 200}, 0.1),
        ({"conditional_rate_at_most": 0.9, "confirmed_at_most": 60}, None),
        ({"confirmed_by_any_at_most": 200}, None),
    ],
    ids=str,
)
def test_how_to_read_the_strips_is_shown_on_a_strip_to_which_it_applies(results, limits, share):
    study = results(decision=limits)
    text, n_puf = str(squares.strips(study)).replace("\u00a0", " "), study.whole["n_puf"].iloc[0]
    found = re.search(r"How to read it\.\*\* (.+?): ([\d.]+) of 100 .+ The limit allows (.+?) to be found.*?;", text)
    name, said = found[1], re.findall(r"[\d.]+(?: %)?", found[0].partition("allows")[2])
    drawn = strips(text)[name][0]
    assert drawn["suspected"] == round(float(found[2]))
    assert [text for text in said if "%" in text] == ([] if share is None else [f"{100 * share:.0f} %"])
    room = float(said[-1])
    if share is not None:
        assert abs(room - 100 * share * study.whole.loc[name.lower(), "n_suspected"] / n_puf) <= 0.5
    assert abs(room - drawn["room"]) <= 0.5


@pytest.mark.parametrize("n", [1, 60])
def test_the_strip_of_any_metric_has_the_limit_on_it(results, n):
    study = results(decision={"confirmed_by_any_at_most": n})
    marks, beside = strips(squares.strips(study))["Any metric"]
    assert marks["broken"]
    assert "above the limit" in beside
    assert marks["room"] == round(100 * n / study.whole["n_puf"].iloc[0])


def test_the_rate_is_the_product_of_its_factors(results):
    study = results()
    lines = brief._product_lines(study).set_index("name")
    held, kept = lines["held"] / lines["n_suspected"], lines["kept"]
    assert (held * kept - lines["conditional_rate"]).abs().max() < 1e-12
    assert (lines["held"] <= lines["n_suspected"]).all()


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
    assert len(drawn) > len(shape.get("metrics", EVERY))
    for name, (marks, _) in drawn.items():
        order = [marks.get(key, 0) for key in ("single", "found", "suspected")]
        order = [n for key, n in zip(("single", "found", "suspected"), order, strict=True) if key in marks]
        assert order == sorted(order), name
        if name != "Any metric":  # the made-up overlap of many metrics need not fit the file
            assert all(0 <= n <= marks["total"] for n in order), name
    assert "nan" not in text


def test_one_file_and_synthetic_files_have_strips_of_their_own(tmp_path):
    risk = Results(write_filerisk(tmp_path / "risk"))
    cells_ = risk.table("filerisk/cells.csv")
    ((marks, beside),) = strips(squares.risk_strip(risk)).values()
    unique = cells_.loc[cells_["cell_size"] == 1, "n_records"].sum()
    of = float(risk.table("filerisk/summary.csv").set_index("quantity").at["records", "value"]) / marks["total"]
    assert abs(marks["single"] - unique / of) <= 0.5
    matched = Results(write_matching(tmp_path / "matched", decision={"true_match_rate_at_most": 0}))
    (marks, beside), *_ = strips(squares.matching_strips(matched).replace("** []", "** x []")).values()
    assert beside.startswith("[▲ ") == marks["broken"]


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
    rates = study.folder / "rates.csv"
    lines = pd.read_csv(rates)
    lines["n_single_confirmed"] = lines["n_confirmed"]
    write_table(rates, lines)
    n = int(lines.loc[lines["stratum"] == "ALL", "n_confirmed"].iloc[0])
    assert f"all {n:,} records that Unicity finds" in brief.at_risk(Results(study.folder))


def test_a_file_on_its_own_is_compared_on_the_variables_that_are_named(tmp_path):
    study = Results(write_filerisk(tmp_path / "results"))
    names = list(study.table("filerisk/variables.csv")["variable"])
    assert f"key variables ({', '.join(names[:-1])} and {names[-1]})" in brief.test(study)
