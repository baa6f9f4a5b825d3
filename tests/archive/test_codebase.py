"""Which code runs: the installed release, or the bag's where its digest is trusted."""

import re
from pathlib import Path

import pytest
from making.report import write_entry
from reident.archive import codebase
from reident.errors import InputError
from reident.pipeline import release

NAME = "small-0123456789012345"
THEN = {"version": "0.1.0", "commit": None, "tree": "f" * 64, "versions": {"python": "3.11.7", "numpy": "1.0"}}


@pytest.fixture
def bag(tmp_path) -> Path:
    code = tmp_path / "data/code"
    (code / "workflow").mkdir(parents=True)
    (code / "Snakefile").write_text("# the code of the bag\n", encoding="utf-8")
    (code / "workflow" / "gone.py").write_text("", encoding="utf-8")
    return tmp_path


def test_without_trust_the_installed_release_runs(bag):
    code = codebase.choose(bag, NAME, THEN, None)
    assert (code.root, code.of_bag, code.same) == (release.ROOT, False, False)
    assert {"Snakefile", "workflow/gone.py"} < set(code.files)
    assert ("numpy", "1.0", code.now["versions"]["numpy"]) in code.packages


def test_the_lines_say_what_runs_before_it_does_and_how_it_differs(bag):
    lines = codebase.choose(bag, NAME, THEN, None).lines()
    assert lines[0].startswith("This runs the installed release: reident ")
    assert lines[1].startswith("The sealed results were made by reident 0.1.0")
    assert re.fullmatch(r"[\d,]+ source files differ: (\S+, ){4}\S+ and [\d,]+ more\.", lines[2])
    assert re.fullmatch(r"\d+ packages differ: .*numpy 1\.0 → .*\.", lines[3])


@pytest.mark.parametrize("trust", [NAME, "0123456789012345"])
def test_the_digest_of_the_bag_is_trusted(bag, trust):
    code = codebase.choose(bag, NAME, THEN, trust)
    assert (code.root, code.of_bag, code.files) == (bag / "data/code", True, ())


def test_the_digest_of_the_code_is_trusted(bag):
    tree = release.tree_digest(bag / "data/code")
    for trust in (tree, tree[:16], tree.upper()):
        assert codebase.choose(bag, NAME, THEN, trust).of_bag


@pytest.mark.parametrize("trust", ["", "0", "true", "123456789012345", "0123456789012346", "small", "f" * 64, "f" * 16])
def test_every_other_trust_is_refused(bag, trust):
    with pytest.raises(InputError, match=f"`--trust {NAME}`"):
        codebase.choose(bag, NAME, THEN, trust)


def test_a_bag_without_code_cannot_run_it(tmp_path):
    with pytest.raises(InputError, match="trust"):
        codebase.choose(tmp_path, NAME, THEN, NAME)
    assert codebase.choose(tmp_path, NAME, THEN, None).files == ()


def test_the_release_that_sealed_is_the_same(bag):
    code = codebase.choose(bag, NAME, release.describe(), None)
    assert code.same
    assert code.lines()[-1] == "Code, packages and Python are those of the seal."


def entry(bag: Path, rule: str, recorded: dict | None, versions: dict) -> None:
    outputs = {"table": {"path": f"{rule}.csv", "sha256": ""}}
    fields = {"step": rule, "inputs": {}, "outputs": outputs, "release": recorded, "versions": versions}
    write_entry(bag / "data/ledger", fields)


def test_the_results_are_those_of_the_release_that_made_them_and_not_of_the_one_that_sealed(bag):
    now = release.describe()
    entry(bag, "rate", {**release.recorded(), "commit": "1" * 40}, now["versions"])
    entry(bag, "report", release.recorded(), now["versions"])
    assert codebase.choose(bag, NAME, {**now, "commit": "2" * 40}, None).same
    entry(bag, "report", {**release.recorded(), "commit": "2" * 40}, now["versions"])
    assert not codebase.choose(bag, NAME, now, None).same
