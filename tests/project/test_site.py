"""The pages of the site as docs/site.py assembles them."""

import importlib.util
import re
from pathlib import Path

import pytest
from pypdf import PdfReader

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("pages_of_the_site", ROOT / "docs" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    made = tmp_path_factory.mktemp("pages")
    site.assemble(made)
    return made


def test_links_of_every_page_lead_to_a_file_of_the_site(folder):
    pages = list(folder.rglob("*.md"))
    assert len(pages) > 35
    for page in pages:
        prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)", prose):
            path = "".join(target).partition("#")[0]
            assert "://" in path or not path or (page.parent / path).exists(), (page.name, path)


def test_formulas_are_mathml(folder):
    methods = "".join(page.read_text("utf-8") for page in (folder / "reference" / "methods").iterdir())
    written = (ROOT / "docs" / "METHODS.md").read_text("utf-8").count("```math\n")
    assert written > 5
    assert methods.count("<math ") == written
    assert "```math" not in methods


def test_the_methods_in_brief_are_a_pdf_of_one_a4_page(folder):
    page, *more = PdfReader(folder / "reference" / "methods.pdf").pages
    assert not more, "docs/reference/summary.md no longer fits on one page: shorten it"
    assert [round(float(side)) for side in page.mediabox[2:]] == [595, 842]
    text = " ".join(page.extract_text().split())
    for words in ("Methods on one page", "confirmed records / n_P", "tanh(x/2)", "U·f / (U·f + P·(1 − f))", "Read on"):
        assert words in text, words
    assert "](methods.pdf)" in (folder / "reference" / "summary.md").read_text("utf-8")


def test_marks_for_tests_are_not_shown(folder):
    assert [page for page in folder.rglob("*.md") if re.search("^ *<!--", page.read_text("utf-8"), re.MULTILINE)] == []


def test_llms_txt_lists_every_page_but_the_first(folder):
    listed = re.findall(r"^- \[[^]]+\]\(([^)]+)\.html\): \S", (folder / "llms.txt").read_text("utf-8"), re.MULTILINE)
    pages = {page.relative_to(folder).with_suffix("").as_posix() for page in folder.rglob("*.md")}
    assert sorted(listed) == sorted(pages - {"index"})


def test_a_link_to_a_file_that_is_not_there_is_an_error(site):
    with pytest.raises(ValueError, match=r"`missing.md` is not a file of the repository\. Correct the link\."):
        site.page("docs/index.md", "See [this](missing.md).", {}, "index.md")


def test_links_to_the_methods_lead_to_the_page_of_the_chapter(site):
    text = "See [rates](../METHODS.md#62-the-verdict) and [strata](../METHODS.md#2-strata)."
    made = site.page("docs/how-to/strata.md", text, {}, "how-to/strata.md")
    assert made.count("(../reference/methods/") == 2
    assert "confirmation-and-rates.md#62-the-verdict" in made


def test_a_link_to_a_heading_of_the_methods_that_is_not_there_is_an_error(site):
    with pytest.raises(ValueError, match=r"there is no heading `none`\. Correct the link\."):
        site.page("docs/index.md", "See [this](METHODS.md#none).", {}, "index.md")


def test_the_python_that_shuffles_a_file_runs():
    page = (ROOT / "docs/how-to/order.md").read_text("utf-8")
    (text,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names: dict = {}
    exec(text, names)  # noqa: S102 - a block of a page
    file, released = names["file"], names["released"]
    assert sorted(released["age"]) == sorted(file["age"])
    assert list(released["id"]) == [1, 2, 3]


NESTED = [
    ("- a\n  - b\n    more", "- a\n    - b\n        more", "two levels"),
    ("1. a\n   more", "1. a\n    more", "a number"),
    ("Text\n\n    code", "Text\n\n    code", "code outside a list"),
    ("- a\n\n  ```sh\n  if x\n    y\n  ```\n- b", "- a\n\n    ```sh\n    if x\n      y\n    ```\n\n- b",
     "code in a list"),
    ("- a\n\n  more\n- b", "- a\n\n    more\n\n- b", "an item after a paragraph"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted", "case"), NESTED)
def test_lists_are_nested_by_four_blanks(site, text, wanted, case):
    assert site.nested(text) == wanted, case
