"""The report as HTML and PDF: the same bytes in every run, accessible, closed in itself, whatever the labels."""

from __future__ import annotations

import base64
import datetime
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making.report import REGIONS, VARIABLES, Shape, write_entry, write_results
from pypdf import PdfReader
from reident.report import render
from reident.report.execute import execute
from reident.report.layout import Column, table
from reident.report.wording import escape, plain
from workflow.pages import Page

from workflow import browser, pdf_words

NOTEBOOK = Path(__file__).parents[2] / "workflow" / "notebooks" / "disclosure-review.ipynb"
TITLE = "Household survey 2026, public use file"
DAY = datetime.date.fromisoformat(str(Shape().date))
MARGIN = 68.0
"""Points: 24 mm."""

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "$x^2$",
    "a | b",
    '#import "x": *',
    "*bold* _slanted_ `code`",
    "\\input{e} \\",
    "=cmd()",
    "= heading",
    "- item",
    "+ item",
    "1. item",
    "/ term: x",
    "[text](http://x.example)",
    "![image](http://x.example/i.png)",
    "<x@y.example> @ref ^up^ ~down~",
    "&amp; &lt; {.class} ::: {#id}",
    "// comment /* comment */",
    '"quoted" \'too\' "',
    "\u202edetrevni",
    "漢字 😀 עברית",
    "long" * 40,
)


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
    html, pdf = render.render(
        notebook, title=found.title, agency=found.agency, study="mock", date=date, live=True
    )
    (folder / "report.html").write_text(html, encoding="utf-8")
    (folder / "report.pdf").write_bytes(pdf)
    return Report(notebook, html, folder / "report.pdf")


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return report_on(tmp_path_factory.mktemp("here"), title=TITLE)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Every label of the study is hostile: title, agency, strata, variables and their columns."""
    labels = tuple((label, "numeric" if at % 2 else "categorical", label) for at, label in enumerate(HOSTILE))
    return report_on(
        tmp_path_factory.mktemp("hostile"),
        title=" ".join(HOSTILE[:4]),
        agency=HOSTILE[0],
        strata=HOSTILE,
        variables=labels,
        warnings=HOSTILE[:3],
        checklist=hostile_checklist(),
    )


def hostile_checklist() -> dict:
    """A checklist whose questions, reasons, answers and decision are hostile."""
    questions = [
        {"id": f"q-{at}", "text": text, "why": text, "exhibits": ["agency", "linking_variables"]}
        for at, text in enumerate(HOSTILE)
    ]
    return {
        "questions": {"title": HOSTILE[0], "topics": [{"title": HOSTILE[1], "questions": questions}]},
        "answers": {question["id"]: " ".join([question["text"]] * 5) for question in questions},
        "decision": {
            "board": HOSTILE[2],
            "decision": "approved with conditions",
            "date": "2026-03-09",
            "conditions": list(HOSTILE),
            "names": [{"name": text, "role": text} for text in HOSTILE[:9]],
        },
    }


@pytest.fixture(scope="module", params=["usual", "hostile"])
def report(request):
    return request.getfixturevalue(request.param)


def test_the_report_is_the_same_wherever_and_whenever_it_is_made(usual, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    again = report_on(tmp_path / "elsewhere", title=TITLE)
    assert nbformat.writes(again.notebook) == nbformat.writes(usual.notebook)
    assert again.html == usual.html
    assert again.pdf.read_bytes() == usual.pdf.read_bytes()


def test_rendering_leaves_nothing_of_the_report_to_a_killed_process(usual, tmp_path, monkeypatch):
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
        _, pdf = render.render(usual.notebook, title=TITLE, agency=Shape().agency, study="mock", date=DAY)
    finally:
        watching = False
    assert written == ["parts.html"]  # the template, which is the library's own
    assert pdf == usual.pdf.read_bytes()


def test_the_executed_notebook_knows_no_path_no_time_and_no_complaint(report):
    text = nbformat.writes(report.notebook)
    nbformat.validate(report.notebook)
    for name in (
        tempfile.gettempdir(),
        "/home",
        "/root",
        str(Path.cwd()),
        "papermill",
        "start_time",
        "stderr",
    ):
        assert name not in text
    assert report.notebook.metadata["parameters"] == {"results": "mock"}
    assert len({cell["id"] for cell in report.notebook.cells}) == len(report.notebook.cells)


def test_the_notebook_in_the_checkout_has_no_output_and_imports_the_report_s_rooms_alone():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert [cell.metadata.get("tags") for cell in code].count(["parameters"]) == 1
    source = "\n".join(cell.source for cell in code)
    imported = re.findall(r"^(?:import|from) (reident[\w.]*)", source, re.MULTILINE)
    assert imported == ["reident.report.layout", "reident.report.parts", "reident.report.results"]


# HTML ---------------------------------------------------------------------------------------------


@pytest.fixture
def page(report):
    return Page(report.html)


def test_every_image_has_an_alternative_text_with_numbers(page):
    images = page.named("img")
    assert len(images) == 9
    assert all(re.search(r"\d", image["alt"]) and len(image["alt"]) > 40 for image in images)
    assert not page.named("svg")


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


def test_without_a_script_the_policy_allows_none(usual):
    html, _ = render.render(usual.notebook, title=TITLE)
    assert "<script" not in html
    assert "script-src" not in html
    assert "<form" not in html


def test_the_style_sheet_asks_for_nothing(usual):
    css = re.search(r"<style>(.*?)</style>", usual.html, re.DOTALL)[1]
    assert not re.search(r"url\(|@import|expression", css)
    assert "@media print" in css


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


def test_tables_name_their_rows_and_columns(page):
    assert len(page.named("table")) == len(page.named("thead")) >= 10
    names = {attributes.get("id") for _, attributes in page.elements}
    assert all(table_["aria-labelledby"] in names for table_ in page.named("table"))


def test_every_hostile_label_is_shown_letter_by_letter_in_html(hostile):
    words = " ".join("".join(Page(hostile.html).words).split())
    for label in HOSTILE:
        assert " ".join(plain(label).split()) in words


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
        assert shown.ask("document.documentElement.scrollWidth <= window.innerWidth"), (
            "the page scrolls sideways"
        )


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


def test_the_document_has_its_title_and_the_study_s_date(usual):
    about = usual.reader.metadata
    assert about.title == TITLE
    assert about.author == Shape.agency
    assert about.creation_date.date() == datetime.date.fromisoformat(Shape.date)


def test_a_study_without_a_date_has_none_in_its_document(usual):
    """PDF/A requires a date, so the document is not PDF/A then; it is accessible all the same."""
    html, pdf = render.render(usual.notebook, title=TITLE)
    about = PdfReader(io.BytesIO(pdf))
    metadata = about.trailer["/Root"]["/Metadata"].get_data().decode()
    assert about.metadata.creation_date is None
    assert about.metadata.modification_date is None
    assert not re.search(r"Date>|pdfaid", metadata)
    assert re.search(r"pdfuaid:part\D+1", metadata)
    assert b"1970" not in metadata.encode()
    assert "1970" not in html
    assert "no date" in html


def test_figures_and_formulas_have_alternative_texts_with_their_numbers(usual):
    elements = structure(usual.reader)
    figures = [element["/Alt"] for element in elements if element["/S"] == "/Figure"]
    assert len(figures) == 9
    assert all(len(re.findall(r"\d", text)) > 3 for text in figures)
    spoken = [image["alt"] for image in Page(usual.html).named("img")]
    assert [" ".join(text.split()) for text in figures] == [" ".join(text.split()) for text in spoken]
    assert all(element["/Alt"].strip() for element in elements if element["/S"] == "/Formula")


def test_headings_and_tables_are_tagged(report):
    kinds = [element["/S"] for element in structure(report.reader)]
    assert {"/Title", "/H1", "/H2", "/Table", "/TH", "/TD", "/TOC", "/Caption"} <= set(kinds)
    levels = [int(kind[2]) for kind in kinds if re.fullmatch(r"/H\d", kind)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_nothing_stands_outside_the_margins(report):
    for page_ in report.reader.pages:
        width, height = map(float, page_.mediabox[2:])
        runs = list(pdf_words.runs(page_))
        assert min(run.left for run in runs) >= MARGIN - 1
        assert max(run.right for run in runs) <= width - MARGIN + 6  # a full stop may hang in the margin
        assert all(30 < run.base < height - 30 for run in runs)


@pytest.mark.slow
def test_a_table_too_long_for_a_page_goes_on_with_its_head(tmp_path):
    made = report_on(tmp_path, strata=tuple(f"State {at:02d}" for at in range(60)), records=20_000)
    pages = [page_.extract_text() for page_ in made.reader.pages]
    assert sum("Pairs compared" in text for text in pages) == 2
    test_nothing_stands_outside_the_margins(made)


@pytest.mark.slow
def test_a_table_with_very_many_columns_is_set_in_smaller_type(tmp_path):
    metrics = ("unicity", "taxicab", "euclidean", "adhoc", "fellegi_sunter")
    made = report_on(
        tmp_path, metrics=metrics, strata=tuple(f"{at:02d}" for at in range(51)), records=20_000_000
    )
    for page_ in made.reader.pages:
        lines = groupby(
            sorted(pdf_words.runs(page_), key=lambda run: (run.base, run.left)), lambda run: run.base
        )
        for _, line in lines:
            for left, right in pairwise(line):
                assert right.left > left.right - 1
    test_nothing_stands_outside_the_margins(made)


@pytest.mark.slow
def test_a_command_and_a_path_are_copied_as_they_are(tmp_path):
    """Even a word that is too long for its line: only the ends of lines are added to it."""
    folder = tmp_path / "results" / "mock"
    write_results(folder)
    entry = json.loads((folder / "ledger" / "prepare.json").read_text())
    entry["inputs"]["word"] = [{**entry["inputs"]["puf"][0], "path": f"source:{'abcdefghij' * 11}"}]
    write_entry(folder, entry)
    html, pdf = render.render(execute(NOTEBOOK, {"results": folder}), title="Copied")
    (tmp_path / "report.pdf").write_bytes(pdf)
    texts = ["".join(f"{page_.extract_text()}\n" for page_ in PdfReader(tmp_path / "report.pdf").pages)]
    if shutil.which("pdftotext"):
        texts += [
            subprocess.run(
                ["pdftotext", *options, "report.pdf", "-"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for options in ([], ["-layout"], ["-raw"])
        ]
    command = "snakemake --cores N --config study=STUDY"
    for text in texts:
        assert "\u200b" not in text
        assert [line.strip() for line in text.splitlines()].count(command) == 1
    assert f"<code>{command}</code>" in html
    assert "abcdefghij" * 11 in "".join(texts[0].split())
    assert "\u200b" not in html


def test_every_hostile_label_is_shown_letter_by_letter_in_the_document(hostile):
    def letters(text: str) -> str:
        text = unicodedata.normalize("NFKC", text)
        return re.sub(r"[\s\u00ad\u2010-]", "", text)

    words = letters("".join(page_.extract_text() for page_ in hostile.reader.pages))
    for label in HOSTILE:
        if "עברית" not in label:  # extracted in the order in which it stands, from right to left
            assert letters(plain(label)) in words, label


# Labels ---------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=40), min_size=1, max_size=40))
def test_an_escaped_label_is_itself_on_the_page(labels):
    """Whatever the letters, the cells of a table say what the labels say, and add no element."""
    shown = Page(
        render._pandoc(table("Labels", Column("HEAD", [escape(label) for label in labels], "l")), "html5")
    )
    assert {tag for tag, _ in shown.elements} <= {
        "table",
        "caption",
        "colgroup",
        "col",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    cells = "".join(shown.words).split("HEAD", 1)[1]
    assert "".join(cells.split()) == "".join("".join(plain(label) for label in labels).split())


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
    html, _ = render.render(execute(NOTEBOOK, {"results": results}), title="Less")
    headings = re.findall(r'<h[23][^>]* id="([^"]+)"', html)
    assert "rates" in headings
    assert not {"which-variables-agree", "cut-points-and-bins", "overlap-of-the-metrics"} & set(headings)


@pytest.mark.slow
def test_the_notebook_runs_by_hand_from_its_own_folder(tmp_path):
    """In Jupyter a notebook's folder is the working folder, and the default results lie above it."""
    checkout = tmp_path / "checkout"
    notebooks = checkout / "workflow" / "notebooks"
    notebooks.mkdir(parents=True)
    (notebooks / NOTEBOOK.name).write_bytes(NOTEBOOK.read_bytes())
    (checkout / "workflow" / "lib").symlink_to(NOTEBOOK.parents[1] / "lib")
    results = write_results(checkout / "results" / "example")
    assert json.loads((results / "study.json").read_text())["id"] == "mock"
    made = execute(notebooks / NOTEBOOK.name, {})
    assert sum(bool(cell.get("outputs")) for cell in made.cells) >= 8
