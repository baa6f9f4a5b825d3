"""What the page shows at other rank limits: the numbers of the tables, and those of the study at its own limit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from making.report import Shape, cells, write_results
from reident.report import live
from reident.report.parts import annex, attack, front, patterns, rates, strata
from reident.report.results import Results
from reident.report.wording import count

PHRASE = re.compile(r'\[([^\[\]]*)\]\{limits="([^"]*)"\}')
OWN, LAST = 5, 20
LIVE_TABLES = (
    rates.rates_by_metric,
    rates.pairs_by_metric,
    strata.rates_by_stratum,
    patterns.ambiguous,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return Results(write_results(tmp_path_factory.mktemp("live") / "mock"))


def results_of(folder, **shape) -> Results:
    return Results(write_results(folder / "mock", Shape(**shape)))


def limits_of(results: Results, metric: str) -> pd.DataFrame:
    return results.table(f"confirmed/{metric}.limits.csv").set_index(["stratum", "max_pairs"])


def row_of(table: str, name: str) -> list[str]:
    (line,) = [line for line in table.splitlines() if line.startswith(f"| **{name}**")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.mark.parametrize("part", LIVE_TABLES)
def test_a_number_at_the_study_s_own_limit_is_the_number_that_paper_shows(results, part):
    phrases = PHRASE.findall(part(results))
    assert len(phrases) >= 4
    for own, others in phrases:
        texts = others.split(live.SEPARATOR)
        assert len(texts) == LAST
        assert texts[OWN - 1] == own


def test_the_numbers_at_a_limit_are_those_of_the_table_of_limits(results):
    cells_ = row_of(rates.rates_by_metric(results).split("\n\n")[0], "Taxicab")
    suspected, rate, confirmed, _, conditional = (PHRASE.search(cell)[2].split(";") for cell in cells_[1:6])
    lines = limits_of(results, "taxicab").loc["ALL"]
    n_puf = results.whole.at["taxicab", "n_puf"]
    assert suspected == [count(n) for n in lines["n_suspected"]]
    assert confirmed == [count(n) for n in lines["n_confirmed"]]
    for texts, shares in (
        (rate, lines["n_suspected"] / n_puf),
        (conditional, lines["n_confirmed"] / lines["n_suspected"]),
    ):
        for text, share in zip(texts, shares, strict=True):
            assert float(text) == pytest.approx(100 * share, abs=0.051)


def test_a_metric_without_a_rank_limit_keeps_its_numbers_and_what_is_not_known_is_marked(results):
    table = rates.rates_by_metric(results).split("\n\n")[0]
    assert "{" not in " ".join(row_of(table, "Unicity"))
    cells_ = row_of(table, "Adhoc")
    assert all(cell.endswith("]{.own-limit}") for cell in cells_[6:9])
    assert not any("own-limit" in cell for cell in cells_[1:6])


def test_at_a_limit_without_suspected_records_rates_are_undefined(tmp_path):
    results = results_of(tmp_path)
    path = results.folder / "confirmed/adhoc.limits.csv"
    lines = pd.read_csv(path)
    lines.loc[lines["max_pairs"] == 1, ["n_suspected", "n_confirmed", "n_pairs", "expected_correct"]] = 0
    lines.to_csv(path, index=False)
    cells_ = row_of(rates.rates_by_metric(results).split("\n\n")[0], "Adhoc")
    assert PHRASE.search(cells_[1])[2].split(";")[0] == "0"
    assert PHRASE.search(cells_[5])[2].split(";")[0] == "–"
    (marks, *_), alt = (
        rates.rates_by_metric_figure(results).layers.wide,
        rates.rates_by_metric_figure(results).layers.alts[0],
    )
    assert "nothing suspected" in marks
    assert "Adhoc: 0" in alt
    assert "nan" not in marks + alt


def only_the_first_limit(folder: Path) -> None:
    """Turn the results into those of a study whose only rank limit is 1."""
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    study["rank_filter"] |= {"max_pairs": 1, "keep": 1}
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    for path in folder.glob("confirmed/*.limits.csv"):
        lines = pd.read_csv(path)
        lines[lines["max_pairs"] == 1].to_csv(path, index=False)


@pytest.mark.parametrize(
    "metrics", [("unicity",), Shape.metrics], ids=["no metric has a limit", "one limit alone"]
)
def test_without_another_rank_limit_nothing_is_marked(tmp_path, metrics):
    folder = write_results(tmp_path / "mock", Shape(metrics=metrics))
    only_the_first_limit(folder)
    results = Results(folder)
    assert patterns.limit_slider(results) is None
    for part in LIVE_TABLES:
        text = part(results) or ""
        assert "limits=" not in text
        assert "{.own-limit}" not in text
    assert rates.rates_by_metric_figure(results).layers is None
    assert strata.rates_by_stratum_figure(results).layers is None


# The marks of figures -------------------------------------------------------------------------------

MARKER = re.compile(r'<use xlink:href="#\w+" x="([\d.]+)" y="([\d.]+)"')
DOT = re.compile(r"M([\d.]+) ([\d.]+)h0")


def own_markers(svg: str, gid: str) -> set[tuple[float, float]]:
    """The places of the markers that matplotlib draws in the groups of a name."""
    found = set()
    for group in re.findall(rf'<g id="own-limit-{gid}[^"]*">(.*?)</g>\s*</g>', svg, re.DOTALL):
        found |= {(float(x), float(y)) for x, y in MARKER.findall(group)}
    return found


@pytest.mark.parametrize("form", ["wide", "narrow"])
@pytest.mark.parametrize(
    ("part", "gid"),
    [(rates.rates_by_metric_figure, "rate-1"), (strata.rates_by_stratum_figure, "panel-")],
    ids=["metric", "stratum"],
)
@pytest.mark.slow
def test_the_marks_of_a_layer_are_where_matplotlib_draws_them(tmp_path, part, gid, form):
    """At the study's own limit the dots of the layer are those of the drawing."""
    drawn = part(results_of(tmp_path, limit=None))
    svg = drawn.svg if form == "wide" else drawn.narrow
    dots = [(float(x), float(y)) for x, y in DOT.findall(getattr(drawn.layers, form)[OWN - 1])]
    drawn_ = sorted(own_markers(svg, gid))
    assert len(dots) >= 4
    assert len(drawn_) == len(dots)
    for dot, mark in zip(sorted(dots), drawn_, strict=True):
        assert dot == pytest.approx(mark, abs=0.06)


# Links and terms --------------------------------------------------------------------------------------


def everything(results: Results) -> str:
    """The Markdown of the report, with the names of its figures."""
    shown = [one for parts in cells(results).values() for one in parts]
    return "\n".join(f"{{#{one.name} }}\n{one.caption}" if hasattr(one, "svg") else str(one) for one in shown)


@pytest.mark.parametrize(
    "shape",
    [
        {"warnings": ("A code is unknown.",), "decision": {"reach_at_most": 0.5, "single_rate_at_most": 0.1}},
        {"metrics": ("unicity",), "limit": None, "strata": None},
        {"nothing_suspected": ("taxicab",), "metrics": ("taxicab",)},
    ],
)
def test_every_link_of_a_verdict_leads_to_what_the_report_has(tmp_path, shape):
    text = everything(results_of(tmp_path, **shape))
    links = re.findall(r"\]\(#([\w-]+)\)", text)
    names = re.findall(r"\{#([\w-]+) ", text)
    assert len(links) >= 2
    assert set(links) <= set(names)
    assert len(names) == len(set(names))


def test_every_term_has_its_meaning_in_the_glossary(results):
    text = "\n".join(
        str(part(results)) for part in (*LIVE_TABLES, front.verdicts, attack.strata, annex.glossary)
    )
    terms = set(re.findall(r"\{term=([\w-]+)\}", text))
    entries = re.findall(r"\{#term-([\w-]+) ", text)
    assert len(terms) >= 15
    assert terms <= set(entries)
