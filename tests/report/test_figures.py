"""Figures of the report: legible, with alternative texts, the same in every run (METHODS §2, §5, §6)."""

from __future__ import annotations

import functools
import os
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
import pytest
from making.analyses import gathered
from making.matching import MATCHING, write_matching
from making.report import BLOCKS, Shape, write_results
from making.variants import vary
from reident.distances import report as closest
from reident.page import fonts, style
from reident.page.wording import percent
from reident.report.blocks import agreement, patterns, strata
from reident.report.blocks.strata import _top, rates_of_strata
from reident.report.results import Results

NAMES = [name for name in BLOCKS if name.endswith("_figure")]
EVERY = [BLOCKS[name] for name in NAMES]
ALL_METRICS = ("unicity", "taxicab", "euclidean", "adhoc")
PAGE_HEIGHT = 9.2
"""Inches of a page between its margins, with room for a caption."""


WEIGHED = Shape(metrics=("unicity", "fellegi_sunter"))
BY_NAME = {
    "weights": lambda folder: write_results(folder, WEIGHED),
    "calibration": lambda folder: write_results(folder, WEIGHED),
    "units": lambda folder: write_results(folder, Shape(units=True)),
} | {name: write for own in gathered("FIGURES") for name, write in own.items()}
"""How the results for a figure are written, by the beginning of its name; :func:`usual_results` for all others."""


def usual_results(folder):
    return vary(write_results(folder))


@pytest.fixture(scope="module")
def source_of(tmp_path_factory):
    """Return a function that returns the results for a figure; those of a study are made once."""

    @functools.cache
    def made(write):
        return Results(write(tmp_path_factory.mktemp("made") / "results"))

    return lambda name: made(next((BY_NAME[start] for start in BY_NAME if f".{start}" in name), usual_results))


@pytest.fixture(scope="module")
def usual(source_of):
    return source_of("")


def test_the_distances_are_drawn_without_a_holdout(tmp_path):
    study = Results(write_matching(tmp_path / "results", {**MATCHING, "closest": {}}))
    assert "to the confidential file" in closest.closest_figure(study).alt


@pytest.fixture(scope="module")
def drawn(source_of):
    """Return every figure by its name."""
    return {name: block(source_of(name)) for name, block in zip(NAMES, EVERY, strict=True)}


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - of our own making


def inches(svg: str) -> tuple[float, float]:
    root = parse(svg)
    return tuple(float(root.get(side).removesuffix("pt")) / 72 for side in ("width", "height"))


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_drawn_for_a_page_and_for_a_phone(drawn, name):
    figure = drawn[name]
    assert inches(figure.svg)[0] == pytest.approx(style.PAGE, abs=0.01)
    assert inches(figure.narrow)[0] == pytest.approx(style.PHONE, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_contains_no_date_program_link_or_script(drawn, name):
    for svg in drawn[name][:2]:
        assert not re.search(r"\bdate\b|creator|metadata|<script|\son\w+=|<!--|<text", svg, re.IGNORECASE)
        addresses = set(re.findall(r'(?:href|src)="([^"]*)"', svg))
        assert all(address.startswith("#") for address in addresses)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_has_an_alternative_text_with_numbers(drawn, name):
    figure = drawn[name]
    assert len(re.findall(r"\d", figure.alt)) > 3
    assert figure.caption.endswith(".")
    assert parse(figure.svg).get("aria-label") == figure.alt
    assert parse(figure.svg).get("role") == "img"


def test_a_drawing_that_fails_in_the_copy_of_the_process_is_drawn_in_this_one(monkeypatch):
    here = os.getpid()

    def fails_elsewhere(sheet):
        if os.getpid() != here:
            raise MemoryError
        sheet.panels[0].plot([0, 1])

    def draw(sheet):
        sheet.panels[0].plot([0, 1])

    said = {"height": 1.0, "alt": "A line", "caption": "A line"}
    expected = style.figure(draw, **said)
    monkeypatch.setenv(fonts.VARIABLE, "")
    assert style.figure(draw, **said) == style.figure(fails_elsewhere, **said) == expected


@pytest.mark.slow
def test_figures_neither_depend_on_settings_of_matplotlib_nor_change_them(source_of, drawn):
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": "other", "axes.grid": True, "text.parse_math": True}):
        settings = dict(mpl.rcParams)
        again = [block(source_of(name)) for name, block in zip(NAMES, EVERY, strict=True)]
        assert again == list(drawn.values())
        assert dict(mpl.rcParams) == settings


def test_a_formula_in_a_label_is_not_typeset(results):
    """A dollar sign that started a formula would be missing from the label of the row."""
    plain, dollars = (
        agreement.agreement_figure(results(variables=((name, "numeric", "x"), ("sex", "categorical", "s"))))
        for name in ("xxx", "$x$")
    )
    assert plain.svg.count("<use") == dollars.svg.count("<use")


@pytest.mark.parametrize("block", [strata.rates_by_stratum_figure])
@pytest.mark.parametrize("n", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (51, 300))])
def test_any_number_of_strata_fits_a_page(results, block, n):
    figure = block(results(strata=tuple(f"State {at:03d}" for at in range(n)), records=20_000))
    assert inches(figure.svg)[1] <= PAGE_HEIGHT + (1 if n == 300 else 0)


@pytest.mark.parametrize("block", [strata.rates_by_stratum_figure, patterns.ranks_figure, patterns.rank_limit_figure])
def test_without_a_suspected_record_there_is_no_figure(results, block):
    study = results(nothing_suspected=ALL_METRICS)
    rates = study.table("rates.csv")
    rates["n_ambiguous"] = 0.0
    assert block(study) is None


def test_a_metric_that_suspects_nothing_is_named_among_the_others(results):
    study = results(nothing_suspected=("taxicab",))
    assert "Taxicab: nothing suspected in any stratum" in strata.rates_by_stratum_figure(study).alt


def test_the_rank_limit_shows_one_guess_beside_the_conditional_rate(usual):
    limits = usual.table("confirmed/taxicab.limits.csv").set_index(["stratum", "max_pairs"])
    line = limits.loc[("ALL", 5)]
    shown = percent(line["expected_correct"] / line["n_suspected"])
    (found,) = re.findall(r"Taxicab, random candidate right: ([^,]*), ([^,]*),", patterns.rank_limit_figure(usual).alt)
    assert found[1] == f"{shown} at 5".replace("\N{NO-BREAK SPACE}", " ")


def test_no_interval_is_cut_off(results):
    """A stratum of one suspected record has an interval that reaches to 97.5 %."""
    study = results(records=20, metrics=("taxicab",))
    highs = study.table("rates.csv").set_index("stratum").loc[study.strata["stratum"], "conditional_high"]
    assert highs.max() > 2 * highs.median() or highs.max() > 0.9
    assert _top(rates_of_strata(study), None) >= highs.max()


@pytest.mark.parametrize("found", ["suspected", "confirmed"])
def test_the_overlap_counts_every_record_once(usual, found):
    overlap = usual.table("description/overlap.csv")
    shown = patterns.intersections(usual, found)
    assert shown["records"].sum() == overlap.loc[overlap["set"] == found, "n_pufids"].sum()
    assert shown["records"].min() > 0
    assert shown["metrics"].is_unique
    assert shown["records"].is_monotonic_decreasing


@pytest.mark.parametrize(
    ("pairs", "records", "shown"),
    [([99, 97, 98], [99, 97, 98], False), ([99, 60, 30], [99, 60, 30], True), ([99, 98, 97], [50, 50, 50], True)],
)
def test_ranks_that_show_a_uniform_block_are_left_out(results, pairs, records, shown):
    study = results(metrics=("taxicab", "euclidean"))
    whole = {"stratum": "ALL", "rank": [1, 2, 3], "n_pufids": records, "n_pairs": pairs}
    study.table = {
        "suspected/euclidean.distribution.csv": pd.DataFrame(whole),
        "suspected/taxicab.distribution.csv": study.table("suspected/taxicab.distribution.csv"),
        "rates.csv": study.table("rates.csv"),
    }.__getitem__
    figure = patterns.ranks_figure(study)
    assert ("Euclidean, released" in figure.alt) == shown
    assert ("Euclidean is left out" in figure.caption) != shown


def _lightness(colour: str) -> float:
    """Return CIE L* of a colour, which is visible in grey and for every kind of colour vision."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in mpl.colors.to_rgb(colour)
    ]
    luminance = sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * luminance ** (1 / 3) - 16


@pytest.mark.parametrize(
    "colours", [(style.CONFIRMED, style.SUSPECTED), (style.CONFIRMED, style.LIMIT), (style.INK, style.MUTED)]
)
def test_adjacent_colours_differ_in_lightness(colours):
    lightness = sorted(map(_lightness, colours))
    assert min(high - low for low, high in pairwise(lightness)) >= 12
