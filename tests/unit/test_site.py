"""The pages of the site as docs/site.py assembles them."""

import importlib.util
import re
from pathlib import Path

import pytest

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
