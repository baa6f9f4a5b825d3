"""Every release reproduces the golden bag, or the changelog says under its heading why it does not."""

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from reident.study import model
from workflow.commands import CHECKOUT, open_to_others, reident

pytestmark = pytest.mark.slow

MAX_SIZE = 300_000
GOLDEN = sorted((CHECKOUT / "tests" / "golden").glob("*.zip"))


def reason(changelog: str, name: str) -> str | None:
    """Why this release does not reproduce a bag: an item `Golden bag: {name}: …` under any release."""
    found = re.search(rf"^(?:- )?Golden bag: {re.escape(name)}: (\S.*(?:\n  \S.*)*)$", changelog, re.MULTILINE)
    return " ".join(found[1].split()) if found else None


def test_there_is_one_small_golden_bag():
    (bag,) = GOLDEN
    assert bag.stat().st_size <= MAX_SIZE


def test_this_release_reproduces_the_golden_bag_or_says_why_not(tmp_path):
    (bag,) = GOLDEN
    shutil.copy(bag, tmp_path)
    ended = reident("reproduce", bag.name, "--cores", "2", folder=tmp_path)
    facts = json.loads((tmp_path / "reports/reproduce/golden/reproduction.json").read_text(encoding="utf-8"))
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    if facts["outcome"] == "reproduced":
        assert ended.code == 0, ended.shown
        assert open_to_others(tmp_path / "reports") == {}
        assert facts["counts"]["identical"] > 30
        assert not facts["counts"].keys() & {"different", "missing"}
        assert reason(changelog, bag.stem) is None, "the changelog says that this release does not reproduce the bag"
    else:
        assert ended.code == 1
        other = {line["path"] for line in facts["results"] if line["outcome"] in ("different", "missing")}
        assert other, ended.shown
        said = reason(changelog, bag.stem) or ""
        assert {path for path in other if f"`{path}`" not in said} == set(), "CHANGELOG does not say why these changed"


@pytest.mark.quick
def test_the_golden_study_means_what_it_meant(tmp_path):
    """A new key with a default changes the digest of every older study, unless `exclude_if` leaves the default out."""
    (bag,) = GOLDEN
    with zipfile.ZipFile(bag) as archive:
        names = {name.rpartition("/")[2]: name for name in archive.namelist() if "/data/study/" in name}
        file = tmp_path / "golden.yaml"
        file.write_bytes(archive.read(names["golden.yaml"]))
        assert model.canonical_json(model.load(file)).encode() == archive.read(names["study.json"])


NAME = "golden-0123456789abcdef"


@pytest.mark.parametrize(
    ("changelog", "says"),
    [
        (
            f"# Changes\n\n## [Unreleased]\n\n- Golden bag: {NAME}: bins are cut anew.\n\n## [0.1.0]\n",
            "bins are cut anew.",
        ),
        (f"# Changes\n\n## [0.2.0]\n\nGolden bag: {NAME}: bins are cut anew.\n", "bins are cut anew."),
        (f"# Changes\n\n## [0.2.0]\n\nGolden bag: {NAME}: bins\n  are cut anew.\n- More\n", "bins are cut anew."),
        (
            f"# Changes\n\n## [Unreleased]\n\n## [0.1.0]\n\nGolden bag: {NAME}: bins are cut anew.\n",
            "bins are cut anew.",
        ),
        (f"# Changes\n\n## [Unreleased]\n\nGolden bag: {NAME}:\n", None),
        ("# Changes\n\n## [Unreleased]\n\nGolden bag: golden-fedcba9876543210: bins are cut anew.\n", None),
    ],
)
def test_the_reason_counts_for_this_bag_alone_under_any_heading(changelog, says):
    assert reason(changelog, NAME) == says


def test_the_golden_bag_has_neither_code_nor_report(tmp_path):
    (bag,) = GOLDEN
    shutil.unpack_archive(bag, tmp_path)
    (top,) = tmp_path.iterdir()
    assert {path.name for path in (top / "data").iterdir() if path.is_dir()} == {"inputs", "ledger", "study", "tables"}
    assert Path(top / "data/outputs.json").is_file()
