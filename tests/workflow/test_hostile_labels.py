"""Labels are data: sixty of them that try to steer pages, documents, notebooks and spreadsheets, as strata, names of
variables, categories, scenarios and titles of a study through the real command. Each is shown as it is."""

from __future__ import annotations

import csv
import re
import unicodedata
import zipfile
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import nbformat
import pypandoc
import pytest
import yaml
from pypdf import PdfReader
from reident.ledger import spreadsheets, stored
from reident.page.wording import plain
from workflow.commands import PRELOADED, snakemake
from workflow.hostile import LABELS
from workflow.pages import Page

from workflow import browser

pytestmark = pytest.mark.slow

SHORT = [label for label in LABELS if len(label) <= 80]
VARIABLES, KEYS, MATCHED = LABELS[:20], LABELS[20:40], LABELS[40:56]
REGION, SCENARIOS = "=cmd('region')", SHORT[::6]


def write(folder: Path) -> Path:
    """The study and its files: each label is a stratum, and the category of a key variable; each names a variable."""
    folder.mkdir(parents=True)
    draw = Random(3)  # noqa: S311 - made-up people
    head = [REGION, *VARIABLES, *KEYS, *MATCHED]
    people = [
        [LABELS[at % 60], *(draw.choice("123") for _ in VARIABLES), LABELS[at // 3 % 60],
         *(draw.choice("12") for _ in KEYS[1:]), *(draw.choice("12") for _ in MATCHED)]
        for at in range(180)
    ]  # fmt: skip
    _csv(folder / "=puf.csv", [["id", *head], *([str(at), *row] for at, row in enumerate(people))])
    _csv(folder / "eif.csv", [["id", *head], *([str(at), *row] for at, row in enumerate(people))])
    _csv(folder / "iuf.csv", [["puf", "eif"], *([str(at), str(at)] for at in range(180))])
    numeric = [{"name": name, "type": "numeric"} for name in VARIABLES[::2]]
    study = {
        "id": "hostile",
        "title": " ".join(LABELS[:3]),
        "agency": LABELS[1],
        "files": {
            "puf": {"path": "=puf.csv", "id": "id"},
            "eif": {"path": "eif.csv", "id": "id"},
            "iuf": {"path": "iuf.csv", "puf_id": "puf", "eif_id": "eif"},
        },
        "strata": [REGION],
        "linking_variables": [*numeric, *({"name": name, "type": "categorical"} for name in VARIABLES[1::2])],
        "metrics": {"taxicab": {}},
        "file_risk": {
            "sampling_fraction": 0.1,
            "max_order": 1,
            "key_variables": [{"name": name} for name in KEYS],
            "population_models": {"log_linear": ["main", [[*KEYS[:9]]]], "household": KEYS[0]},
            "scenarios": [{"name": name, "known": list(KEYS[:2])} for name in SCENARIOS],
            "key_sets": {"variables": list(KEYS[:3]), "up_to": 2},
            "sensitive": [KEYS[4]],
        },
        "matching": {
            "confidential": {"path": "=puf.csv", "id": "id"},
            "synthetic": [{"path": "eif.csv", "id": "id"}],
            "known": list(MATCHED[:8]),
            "scenarios": [{"name": name, "known": [MATCHED[0]]} for name in SCENARIOS],
            "synthesized": list(MATCHED[8:]),
        },
        "variants": [
            {"set": "metrics.taxicab.alpha", "name": "how", "values": {LABELS[1]: "1/2", "=cmd()": "1/4"}}
        ],
    }  # fmt: skip
    file = folder / "hostile.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return file


def _csv(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The working folder of the finished study, with what `--report` gathers."""
    folder = tmp_path_factory.mktemp("hostile")
    file = write(folder / "in")
    for extra in ((), ("--report=all.zip",)):
        ended = snakemake(*extra, studies=[file], folder=folder / "run", program=PRELOADED)
        assert ended.code == 0, ended.shown
    return folder / "run"


@pytest.fixture(scope="module")
def page(run) -> Path:
    return run / "reports" / "hostile" / "disclosure-review.html"


@pytest.fixture(scope="module")
def notebook(run) -> nbformat.NotebookNode:
    return nbformat.read(run / "results" / "hostile" / "disclosure-review.ipynb", as_version=4)


ACTIVE = {"script", "iframe", "object", "embed", "form", "input", "base", "frame", "applet", "foreignobject", "animate"}
ADDRESSES = (
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "data",
    "poster",
    "xlink:href",
    "{http://www.w3.org/1999/xlink}href",
)


def active(elements) -> list:
    """Elements that run, load or lead anywhere outside the page."""
    return [
        (tag, attributes)
        for tag, attributes in elements
        if tag.lower() in ACTIVE
        or any(name.lower().startswith("on") for name in attributes)
        or any(not (attributes.get(name) or "#").startswith(("#", "data:image/", "data:,")) for name in ADDRESSES)
    ]


@pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium on this machine")
def test_labels_that_are_not_escaped_would_be_noticed(tmp_path):
    (tmp_path / "open.html").write_text(f"<!DOCTYPE html><body>{LABELS[1]}", encoding="utf-8")
    with browser.page(tmp_path / "profile") as shown:
        shown.open(tmp_path / "open.html", 1300)
        assert shown.ask("window.pwned") == 1
    for label in (*LABELS[:6], LABELS[9]):
        assert active(Page(f"<body>{label}").elements), label


def test_the_page_has_no_active_element_and_one_policy(page):
    elements = Page(page.read_text(encoding="utf-8")).elements
    own = active(elements)
    # The field that chooses strata, and the one script that the page's policy allows by its hash.
    assert [tag for tag, _ in own] == ["input", "script"]
    assert own[-1] == ("script", {})
    assert not any(name in ADDRESSES or name.startswith("on") for _, attributes in own for name in attributes)
    assert [about.get("http-equiv") for tag, about in elements if tag == "meta" and "http-equiv" in about] == [
        "Content-Security-Policy"
    ]
    assert sum(tag == "style" for tag, _ in elements) == 1


@pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium on this machine")
def test_nothing_runs_in_a_browser_even_without_the_policy(page, run, tmp_path):
    with zipfile.ZipFile(run / "all.zip") as archive:
        archive.extractall(tmp_path / "gathered")
    lenient = tmp_path / "lenient.html"
    text, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    assert policies == 1
    lenient.write_text(text, encoding="utf-8")
    with browser.page(tmp_path / "profile") as shown:
        for path in (page, lenient):
            shown.open(path, 1300)
            assert shown.ask("typeof window.pwned") == "undefined"
            assert all(asked.startswith("data:") for asked in shown.requests()[1:])
            assert shown.complaints() == []
            assert shown.ask("getComputedStyle(document.body).display") != "none"
        shown.open(tmp_path / "gathered" / "all" / "report.html", 1300)
        assert shown.ask("typeof window.pwned") == "undefined"
        assert not [asked for asked in shown.requests() if "x.example" in asked]


def test_every_label_is_shown_letter_by_letter_on_the_page(page):
    words = " ".join("".join(Page(page.read_text(encoding="utf-8")).words).split())
    for label in (*LABELS, *SCENARIOS):
        assert " ".join(plain(label).split()) in words, label


FORBIDDEN = {"/JavaScript", "/JS", "/Launch", "/URI", "/SubmitForm", "/ImportData", "/GoToR", "/GoToE", "/RichMedia"}
FORBIDDEN |= {"/EmbeddedFiles", "/EmbeddedFile", "/AA", "/Rendition", "/Movie", "/Sound", "/XFA"}


def test_the_document_has_no_action_but_links_inside_it(run):
    reader = PdfReader(run / "reports" / "hostile" / "disclosure-review.pdf")
    todo, seen, names = [reader.trailer["/Root"], *reader.pages], set(), set()
    while todo:
        item = todo.pop()
        item = item.get_object() if hasattr(item, "get_object") else item
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            names |= {str(name) for name in item} | {
                str(item[name]) for name in ("/S", "/Type", "/Subtype") if name in item
            }
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    assert {"/Page", "/StructTreeRoot", "/Font"} <= names, "the walk reaches pages, structure and fonts"
    assert names & FORBIDDEN == set()


def test_every_label_is_shown_letter_by_letter_in_the_document(run):
    def letters(text: str) -> str:
        return re.sub(r"[\s\u00ad\u2010-]", "", unicodedata.normalize("NFKC", text))

    reader = PdfReader(run / "reports" / "hostile" / "disclosure-review.pdf")
    words = letters("".join(page.extract_text() for page in reader.pages))
    for label in LABELS:
        if not re.search(r"[\u0300-\u036f\u0590-\u06ff]", label):  # extracted in the order of the page, not of the text
            assert letters(plain(label)) in words, label


def test_the_notebook_shows_text_and_drawings_that_run_nothing(notebook):
    kinds = set()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for kind, content in output.get("data", {}).items():
                kinds.add(kind)
                if "svg" in kind:
                    root = ElementTree.fromstring(content)  # noqa: S314 - our own drawing
                    assert active((item.tag.rpartition("}")[2], item.attrib) for item in root.iter()) == []
                elif "markdown" in kind:
                    for reader in ("gfm", "commonmark_x", "markdown+raw_html"):
                        made = pypandoc.convert_text(content, "html5", reader, extra_args=["--quiet", "--mathml"])
                        drawn = (
                            part
                            for part in Page(made).elements
                            if not re.match(r"figure-\d+\.svg", part[1].get("src") or "")
                        )
                        assert active(drawn) == [], reader
    assert not {kind for kind in kinds if "html" in kind or "javascript" in kind or "latex" in kind}
    assert any("svg" in kind for kind in kinds)
    assert any("markdown" in kind for kind in kinds)


def test_no_cell_of_a_table_is_a_formula_and_each_is_read_back(run):
    tables = [path for path in run.rglob("results/**/*.csv") if spreadsheets.is_for_people(path)]
    assert len(tables) > 20
    number = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?|-inf")
    for path in tables:
        with path.open(encoding="utf-8", newline="") as stream:
            cells = {cell for row in csv.reader(stream) for cell in row}
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n＝") and not number.fullmatch(cell)], path
    manifest = stored.read(run / "results" / "hostile" / "strata" / "manifest.csv")
    assert sorted(manifest[REGION]) == sorted(unicodedata.normalize("NFC", label.strip()) for label in LABELS)
    assert spreadsheets.MARK + REGION in (run / "results" / "hostile" / "strata" / "manifest.csv").read_text(
        encoding="utf-8"
    )
