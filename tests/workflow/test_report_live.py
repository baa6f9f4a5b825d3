"""The report in a browser: sorted tables and terms, by keyboard and on a phone, and on paper."""

from __future__ import annotations

import io
import json
import re

import pytest
from making.report import write_results
from pypdf import PdfReader
from reident.report import render
from reident.report.execute import execute
from workflow.test_report_render import DAY, NOTEBOOK, TITLE

from workflow import browser

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium on this machine"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The report of a mock study, as HTML on the disk."""
    folder = tmp_path_factory.mktemp("live")
    notebook = execute(NOTEBOOK, {"results": write_results(folder / "results" / "mock")})
    path = folder / "report.html"
    path.write_text(
        render.render(render.read(notebook), render.About(TITLE, date=DAY, live=True)).html, encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def tab(made, tmp_path_factory):
    with browser.page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(tab, made):
    """The report on a wide screen, as it is when it is opened."""
    tab.open(made, 1280)
    yield tab
    assert tab.complaints() == []
    assert all(address.startswith(("data:", made.as_uri())) for address in tab.requests())


def cell(page, table: str, row: str, column: int) -> str:
    """What a reader sees in a cell, by the label of its row."""
    return page.ask(
        f"[...document.querySelectorAll('#{table} tbody tr')]"
        f".find(row => row.cells[0].innerText.trim() === '{row}').cells[{column}].innerText.trim()"
    )


def labels(page, table: str) -> list[str]:
    """The labels of the rows that a reader sees, in their order."""
    return page.ask(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(row => row.offsetParent)"
        ".map(row => row.cells[0].innerText.trim())"
    )


def test_without_scripts_the_page_has_everything_and_no_control(page, made):
    own = cell(page, "rates-by-metric", "Taxicab", 1)
    page.open(made, 1280, scripts=False)
    assert page.ask("document.querySelectorAll('.sort, .choose input').length") == 0
    assert cell(page, "rates-by-metric", "Taxicab", 1) == own
    assert page.ask("document.querySelector('#rates-by-metric a.term').hash") == "#term-metric"
    assert page.ask("document.getElementById('term-metric').checkVisibility()")


def test_a_script_that_was_changed_does_not_run(tab, made, tmp_path):
    path = tmp_path / "changed.html"
    path.write_text(made.read_text(encoding="utf-8").replace("'use strict';", "'use strict'; ", 1), encoding="utf-8")
    tab.open(path, 1280)
    assert tab.ask("document.querySelectorAll('.sort').length") == 0
    assert any("Content Security Policy" in str(complaint) for complaint in tab.complaints())


def test_a_table_is_sorted_by_keyboard_as_numbers_and_as_text(page):
    first = labels(page, "rates-by-stratum")
    button = "document.querySelectorAll('#rates-by-stratum th .sort')[3]"
    assert page.ask(f"{button}.getAttribute('aria-label')") == "Sort by Taxicab"
    page.ask(f"{button}.focus()")

    def shown() -> list[float]:
        texts = page.ask(
            "[...document.querySelectorAll('#rates-by-stratum tbody tr')].map(row => row.cells[3].innerText)"
        )
        return [float(text) for text in texts if text.strip() != "–"]

    # The third column has the counts of the first metric, the fourth the rates of the second.
    page.press("Enter")
    assert page.ask(f"{button}.closest('th').ariaSort") == "ascending"
    assert shown() == sorted(shown())
    page.press(" ")
    assert page.ask(f"{button}.closest('th').ariaSort") == "descending"
    assert shown() == sorted(shown(), reverse=True)
    assert labels(page, "rates-by-stratum")[-1] == first[-1]  # nothing is suspected there: last in either order
    page.ask(f"{button}.click()")
    assert page.ask("document.querySelector('#rates-by-stratum [aria-sort]')") is None
    assert labels(page, "rates-by-stratum") == first
    page.ask("document.querySelector('#rates-by-stratum th .sort').click()")
    assert labels(page, "rates-by-stratum") == sorted(first)


def test_a_page_in_german_reads_its_numbers_as_german(tab, tmp_path):
    folder = write_results(tmp_path / "results" / "mock")
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    (folder / "study.json").write_text(json.dumps(study | {"language": "de"}), encoding="utf-8")
    notebook, path = execute(NOTEBOOK, {"results": folder}), tmp_path / "report.html"
    html = render.render(render.read(notebook), render.About(TITLE, date=DAY, language="de", live=True)).html
    path.write_text(html, encoding="utf-8")
    tab.open(path, 1280)
    columns = tab.ask(
        "[...document.querySelectorAll('table.sortable th:not(:first-child) .sort')].map(button => {"
        "  const head = button.closest('th'), rows = button.closest('table').tBodies[0].rows;"
        "  button.click();"
        "  return [head.ariaSort, [...rows].map(row => row.cells[head.cellIndex].innerText.trim())];"
        "})"
    )
    seen = set()
    for direction, texts in columns:
        assert direction == "ascending"
        if all(re.fullmatch(r"\d{1,3}(\.\d{3})*(,\d+)?", text) for text in texts):
            numbers = [float(text.replace(".", "").replace(",", ".")) for text in texts]
            assert numbers == sorted(numbers)
            seen |= set("".join(texts)) & {".", ","}
    assert seen == {".", ","}
    assert tab.complaints() == []


def test_strata_are_chosen_by_their_names_and_paper_shows_all(page):
    every = labels(page, "rates-by-stratum")
    page.ask("document.querySelector('#rates-by-stratum .choose input').focus()")
    page.call("Input.insertText", text="WEALD")
    assert labels(page, "rates-by-stratum") == ["The Weald"]
    assert page.ask("document.querySelector('#rates-by-stratum .choose output').innerText") == f"1 of {len(every)}"
    assert "Lakeland" in "".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.printed())).pages)
    page.ask("document.querySelector('#rates-by-stratum .choose input').select()")
    page.call("Input.insertText", text="no such stratum")
    assert labels(page, "rates-by-stratum") == []
    assert page.ask("document.querySelector('#rates-by-stratum .choose output').innerText") == f"0 of {len(every)}"


TERM = "document.querySelector('#rates-by-metric th:nth-child(6) a.term')"
MEANING = "document.getElementById('meaning')"
WORDS = "Conditional rate. Confirmed records ÷ suspected records"


def test_a_term_is_explained_under_the_pointer_and_when_it_is_touched(page, made):
    corner = "(box => [box.right - 8, box.bottom - 8])"
    place = f"({TERM}.scrollIntoView({{block: 'center'}}), {corner}({TERM}.getBoundingClientRect()))"
    x, y = page.ask(place)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert page.ask(f"{MEANING}.innerText").startswith(WORDS)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    page.ask("new Promise(done => setTimeout(done, 400))")
    assert not page.ask(f"{MEANING}.checkVisibility()")
    page.open(made, 390)
    x, y = page.ask(place)
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    page.ask("new Promise(done => setTimeout(done, 400))")
    assert page.ask(f"{MEANING}.checkVisibility()")
    assert page.ask("location.hash") == ""
    left, right = page.ask(f"(b => [b.left, b.right])({MEANING}.getBoundingClientRect())")
    assert 0 <= left < right <= 390
