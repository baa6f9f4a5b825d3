"""The report, the edition and the site by axe-core, on a phone and on a screen, light and dark.

`npm ci --prefix tests/workflow/axe` installs axe-core, as `.ci/run` does; without it, or without Chromium, tests skip.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from workflow.test_report_render import report_on

from workflow import browser

AXE = Path(__file__).with_name("axe") / "node_modules" / "axe-core" / "axe.min.js"
ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed"),
]
RUN = """axe.run({resultTypes: ["violations"]}).then(found => found.violations.map(
  one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(" | ")}`))"""


EVERY = ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark"))
"""Widths and colour schemes; two of them have each once."""


def violations(page: Path, profile: Path, forms: Iterable[tuple[int, str]] = EVERY) -> list[str]:
    """Return what axe-core finds wrong with a page, by width and colour scheme."""
    found = []
    with browser.page(profile) as shown:
        shown.call("Page.setBypassCSP", enabled=True)
        for width, scheme in forms:
            shown.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            shown.open(page, width)
            shown.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
            found += [f"{width} {scheme} {text}" for text in shown.ask(RUN)]
    return found


@pytest.mark.parametrize(
    "shape", [{}, {"limit": 0.01, "original": True}, {"limit": None, "metrics": ("taxicab",)}], ids=str
)
def test_axe_finds_nothing_wrong_with_the_report(shape, tmp_path):
    report = report_on(tmp_path, **shape)
    assert violations(report.pdf.with_suffix(".html"), tmp_path / "profile") == []


def test_axe_finds_what_is_wrong(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><html><body><img src='data:,'><p style='color:#999'>grey</p></body></html>")
    found = " ".join(violations(page, tmp_path / "profile"))
    assert "image-alt" in found
    assert "color-contrast" in found


PAGES = (
    "reports/example/disclosure-review.html",
    "reports/example/releasable/edition.html",
    *(f"site/{page}.html" for page in ("index", "how-to/households", "explanation/rates", "reference/methods/bins")),
)


@pytest.mark.parametrize("forms", [pytest.param(EVERY[::3], marks=pytest.mark.quick), EVERY[1:3]], ids=str)
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_wrong_with_pages_that_are_made(page, forms, tmp_path):
    """The pages of the example and of the site, where they were made before, as `.ci/run` does."""
    if not (ROOT / page).is_file():
        pytest.skip("the page was not made")
    assert violations(ROOT / page, tmp_path, forms) == []


def test_no_column_of_the_brief_is_off_the_screen_of_a_phone(tmp_path):
    report = report_on(tmp_path)
    with browser.page(tmp_path / "profile") as shown:
        shown.open(report.pdf.with_suffix(".html"), 390)
        beyond = (
            "[...document.querySelectorAll('.front *')].filter(one => one.getBoundingClientRect().right > 391).length"
        )
        assert shown.ask(beyond) == 0
        assert shown.ask("document.documentElement.scrollWidth") == 390
