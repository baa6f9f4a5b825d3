"""A run makes the releasable edition beside the report: it has what is public alone (METHODS §11)."""

import copy
import json
import re
import shutil
import zipfile

import pytest
from reident.sections.edition import Edition
from reident.study import rounding
from workflow.commands import PRELOADED, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

FILES = {"edition.html", "edition.pdf", "edition.json", "edition.csv"}
POLICY, SEED = "own.yaml", "a-very-secret-seed-of-tests"


def study(**release):
    """The small study with a policy of its own, two metrics of which one learns from links, and an edition."""
    changed = copy.deepcopy(small.STUDY)
    changed["metrics"] = {"taxicab": changed["metrics"]["taxicab"], "fellegi_sunter": {"m": "informed"}}
    changed["decision"] = {"confirmed_at_most": 250}
    return changed | {"release": {"policy": POLICY, "seed": SEED, **release}}


def run(folder, *arguments):
    return snakemake(
        *arguments, studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED,
        environment={"PYTHONHASHSEED": "0"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study taken to both editions in one run."""
    folder = tmp_path_factory.mktemp("edition")
    small.write(folder / "in", study())
    shutil.copyfile(rounding.FOLDER / "base-5-random.yaml", folder / "in" / POLICY)
    ended = run(folder)
    assert ended.code == 0, ended.shown
    assert SEED not in ended.shown
    return folder


@pytest.fixture
def again(made, tmp_path):
    shutil.copytree(made, tmp_path / "again", symlinks=True)
    return tmp_path / "again"


def public(folder):
    return folder / "run" / "reports" / "small" / "releasable"


def published(folder):
    return Edition.model_validate_json((public(folder) / "edition.json").read_text(encoding="utf-8"))


def test_one_run_makes_the_report_and_the_edition(made):
    assert {path.name for path in public(made).iterdir()} == FILES
    for name in ("edition.json", "edition.csv"):
        assert (public(made) / name).read_bytes() == (made / "run/results/small/edition" / name).read_bytes()
    assert "small: the chain closes" in reident("check", "../in/small.yaml", folder=made / "run").shown
    assert run(made, "--dry-run").planned == {}
    keys = {",".join(row[:2]) for row in small.rows()["puf"][1:]}
    for path in public(made).iterdir():
        assert SEED.encode() not in path.read_bytes(), path.name
        text = path.read_bytes().decode("utf-8", errors="replace")
        assert str(made) not in text, path.name
        assert "/results/" not in text, path.name
        assert path.suffix != ".csv" or not any(line.startswith(tuple(keys)) for line in text.splitlines())


def test_neither_a_metric_that_learns_from_links_nor_reach_nor_warnings_are_told(made):
    edition = published(made)
    assert edition.metrics == ("taxicab",)
    text = "".join((public(made) / name).read_text(encoding="utf-8") for name in FILES - {"edition.pdf"})
    body = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    assert not re.search("fellegi|sunter|reach|warning", body, re.IGNORECASE)


def test_an_edition_after_another_one(again):
    """The earlier edition is a source: a change of it makes the edition again."""
    shutil.copytree(public(again), again / "in" / "first" / "releasable")
    small.write(again / "in", study(after=["first/releasable"]), {})
    ended = run(again)
    assert ended.code == 0, ended.shown
    assert [earlier.title for earlier in published(again).after] == ["small"]
    file = again / "in" / "first" / "releasable" / "edition.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"title": "Another one"}))
    assert set(run(again, "--dry-run").planned) == {"edition", "report"}
    file.write_bytes(b"[" * 100_000)
    for ended in (run(again), reident("validate", "../in/small.yaml", folder=again / "run")):
        assert ended.code != 0
        assert any("is not a published edition, or it is damaged" in error for error in ended.errors), ended.shown
        assert "Traceback" not in ended.shown


def test_a_sealed_study_has_its_edition_and_is_verified(again):
    ended = reident("seal", "../in/small.yaml", folder=again / "run")
    assert ended.code == 0, ended.shown
    (bag,) = (again / "run/reports/small/sealed").glob("*.zip")
    with zipfile.ZipFile(bag) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
    assert {f"data/report/releasable/{name}" for name in FILES} <= names
    ended = reident("verify", bag, folder=again / "run")
    assert ended.code == 0, ended.shown
    shutil.copyfile(bag, again / "in" / "first.zip")
    small.write(again / "in", study(after=["first.zip"]), {})
    assert reident("validate", "../in/small.yaml", folder=again / "run").code == 0
