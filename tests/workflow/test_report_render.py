"""The report as HTML and PDF: the same bytes in every run, accessible, closed in itself."""

from __future__ import annotations

import base64
import datetime
import hashlib
import os
import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from making.report import REGIONS, VARIABLES, Shape, write_results
from pypdf import PdfReader
from reident.report import render
from reident.report.execute import execute
from workflow.pages import Page

from workflow import browser, pdf_words

NOTEBOOK = Path(__file__).parents[2] / "workflow" / "notebooks" / "disclosure-review.ipynb"
TITLE = "Household survey 2026, public use file"
DAY = datetime.date.fromisoformat(str(Shape().date))
MARGINS = (42.0, 68.0)
"""Points: 15 mm for the brief, and 24 mm for other pages."""

BRIEF = 2
"""Pages of the brief."""


class Report(NamedTuple):
    """An executed notebook and what it is rendered to."""

    notebook: nbformat.NotebookNode
    html: str
    pdf: Path

    @property
    def reader(self) -> PdfReader:
        return PdfReader(self.pdf)


def report_on(folder: Path, **shape) -> Report:
    found = Shape(**shape)
    results = write_results(folder / "results" / "mock", found)
    notebook = execute(NOTEBOOK, {"results": results})
    date = datetime.date.fromisoformat(found.date) if found.date else None
    about = render.About(found.title, agency=found.agency, study="mock", date=date, live=True)
    html, pdf = render.render(render.read(notebook), about)
    (folder / "report.html").write_text(html, encoding="utf-8")
    (folder / "report.pdf").write_bytes(pdf)
    return Report(notebook, html, folder / "report.pdf")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return report_on(tmp_path_factory.mktemp("here"), title=TITLE)


@pytest.mark.slow
def test_the_report_is_the_same_wherever_and_whenever_it_is_made(report, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    again = report_on(tmp_path / "elsewhere", title=TITLE)
    assert nbformat.writes(again.notebook) == nbformat.writes(report.notebook)
    assert again.html == report.html
    assert again.pdf.read_bytes() == report.pdf.read_bytes()


def test_rendering_leaves_nothing_of_the_report_to_a_killed_process(report, tmp_path, monkeypatch):
    """Nor does a file of the working folder come into the report."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "figure-01.svg").write_text("<svg/>", encoding="utf-8")
    written = []

    def note(event: str, arguments: tuple) -> None:
        if watching and event == "open" and isinstance(arguments[0], str) and arguments[2] & os.O_CREAT:
            written.append(Path(arguments[0]).name)

    watching = True
    sys.addaudithook(note)
    try:
        about = render.About(TITLE, agency=Shape().agency, study="mock", date=DAY)
        _, pdf = render.render(render.read(report.notebook), about)
    finally:
        watching = False
    assert written == ["parts.html"]  # the template, which is the library's own
    assert pdf == report.pdf.read_bytes()


def test_the_executed_notebook_knows_no_path_no_time_and_no_complaint(report):
    text = nbformat.writes(report.notebook)
    nbformat.validate(report.notebook)
    for name in (tempfile.gettempdir(), "/home", "/root", str(Path.cwd()), "papermill", "start_time", "stderr"):
        assert name not in text
    assert report.notebook.metadata["parameters"] == {"results": "mock"}
    assert len({cell["id"] for cell in report.notebook.cells}) == len(report.notebook.cells)


# HTML ---------------------------------------------------------------------------------------------


@pytest.fixture
def page(report):
    return Page(report.html)


def test_every_image_has_an_alternative_text_with_numbers(page):
    images = page.named("img")
    assert len(images) == 8
    assert all(re.search(r"\d", image["alt"]) and len(image["alt"]) > 40 for image in images)
    assert all(drawn["aria-hidden"] == "true" for drawn in page.named("svg"))  # beside words with their numbers


def test_the_page_holds_no_script_but_its_own_and_asks_for_nothing(page, report):
    assert page.named("script") == [{}]
    (script,) = re.findall(r"<script>(.*?)</script>", report.html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert not page.named("iframe")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "srcset", "action"):
            if name in attributes:
                assert attributes[name].startswith(("data:", "#")), (tag, attributes[name])
    (policy,) = [meta for meta in page.named("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    fonts = "; font-src data:" if "@font-face" in report.html else ""  # for letters that a reader may lack
    assert policy["content"] == (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'{fonts}; script-src 'sha256-{digest}'"
    )
    assert not re.search(
        r"innerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(|XMLHttp|import\(", script
    )


def test_the_contents_list_leads_to_every_section(page):
    targets = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [link["href"][1:] for link in page.named("a")]
    assert len(links) > 12
    assert set(links) <= targets
    assert len(targets) == sum("id" in attributes for _, attributes in page.elements)


def test_the_page_has_a_language_a_title_and_headings_in_order(page):
    assert page.named("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


# A browser ----------------------------------------------------------------------------------------


@pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 1300])
def test_in_a_browser_no_request_leaves_and_nothing_is_amiss(report, width, tmp_path):
    path = report.pdf.with_suffix(".html")
    with browser.page(tmp_path) as shown:
        shown.open(path, width)
        asked = shown.requests()
        assert asked[0] == path.as_uri()
        assert all(address.startswith("data:") for address in asked[1:])
        assert shown.complaints() == []
        assert shown.ask("[...document.images].every(image => image.alt && image.naturalWidth > 0)")
        assert shown.ask("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"


# PDF ----------------------------------------------------------------------------------------------


def structure(reader: PdfReader) -> list:
    """Every element of the structure tree, in reading order."""
    found, todo = [], [reader.trailer["/Root"]["/StructTreeRoot"]]
    while todo:
        element = todo.pop()
        element = element.get_object() if hasattr(element, "get_object") else element
        if isinstance(element, list):
            todo += reversed(element)
        elif hasattr(element, "get"):
            if "/S" in element:
                found.append(element)
            if "/K" in element:
                todo.append(element["/K"])
    return found


def test_the_document_is_tagged_and_says_what_it_conforms_to(report):
    root = report.reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    metadata = root["/Metadata"].get_data().decode()
    assert re.search(r"pdfuaid:part\D+1", metadata)
    assert re.search(r"pdfaid:part\D+2", metadata)
    assert re.search(r"pdfaid:conformance\W+A", metadata)


def test_figures_and_formulas_have_alternative_texts_with_their_numbers(report):
    elements = structure(report.reader)
    figures = [element["/Alt"] for element in elements if element["/S"] == "/Figure"]
    assert len(figures) == 8
    assert all(len(re.findall(r"\d", text)) > 3 for text in figures)
    spoken = [image["alt"] for image in Page(report.html).named("img")]
    assert [" ".join(text.split()) for text in figures] == [" ".join(text.split()) for text in spoken]
    assert all(element["/Alt"].strip() for element in elements if element["/S"] == "/Formula")


def test_nothing_stands_outside_the_margins(report):
    for at, page_ in enumerate(report.reader.pages):
        margin = MARGINS[at >= BRIEF]
        width, height = map(float, page_.mediabox[2:])
        runs = list(pdf_words.runs(page_))
        assert min(run.left for run in runs) >= margin - 1
        assert max(run.right for run in runs) <= width - margin + 6  # a full stop may hang in the margin
        assert all(30 < run.base < height - 30 for run in runs)


def test_the_brief_has_two_pages_and_the_contents_follow(report):
    words = [page_.extract_text() for page_ in report.reader.pages]
    assert "Decision of the board" in words[BRIEF - 1]
    assert words[BRIEF].find("Contents") >= 0


# Small studies --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        {"metrics": ("unicity",), "strata": None, "limit": None, "date": None, "agency": ""},
        {"nothing_suspected": ("unicity", "taxicab", "euclidean", "adhoc"), "strata": REGIONS[:1]},
        {"nothing_confirmed": ("taxicab",), "metrics": ("taxicab",), "variables": VARIABLES[:1]},
        {"nothing_confirmed": ("taxicab",), "metrics": ("taxicab",), "linked": 0.0},
    ],
    ids=[
        "one metric, no strata, no limit",
        "nothing suspected",
        "nothing confirmed, one variable",
        "no link in a stratum",
    ],
)
def test_a_study_with_little_to_tell_has_its_report(tmp_path, shape):
    made = report_on(tmp_path, **shape)
    assert len(made.reader.pages) >= 4
    assert not re.search(r"\b(nan|NaN|None)\b", " ".join(Page(made.html).words))


@pytest.mark.slow
def test_a_study_without_some_tables_has_a_report_of_the_others(tmp_path):
    results = write_results(tmp_path / "results" / "mock")
    for name in ("description/agreement.csv", "binned/cutpoints.csv", "description/overlap.csv"):
        (results / name).unlink()
    html, _ = render.render(render.read(execute(NOTEBOOK, {"results": results})), render.About("Less"))
    headings = re.findall(r'<h[23][^>]* id="([^"]+)"', html)
    assert "rates" in headings
    assert not {"which-variables-agree", "cut-points-and-bins", "overlap-of-the-metrics"} & set(headings)
