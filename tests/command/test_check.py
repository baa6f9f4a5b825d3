"""`reident check`: its studies and exit status. What it says of results is in tests/workflow/test_mutations.py."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from reident.command import main

EXAMPLE = Path(__file__).parents[2] / "config" / "studies" / "example.yaml"
(GOLDEN,) = (Path(__file__).parents[1] / "golden").glob("*.zip")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_studies_of_the_checkout_where_the_folder_has_none(folder, capsys):
    assert main(["check"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Error: example: there are no results yet. Run `snakemake --config study=")


def test_the_studies_of_the_folder(folder, capsys):
    (folder / "config").mkdir()
    (folder / "config" / "config.yaml").write_text("studies: [mine.yaml]\n", encoding="utf-8")
    shutil.copy(EXAMPLE, folder / "mine.yaml")
    assert main(["check"]) == 1
    assert "study=mine.yaml" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("studies: [", "config/config.yaml: the file cannot be read (ParserError). Correct it."),
        ("[]", "config/config.yaml: the file must be a mapping of settings. Correct it."),
        ("shards: many", "`shards` must be a positive integer"),
    ],
)
def test_a_wrong_file_of_settings(folder, capsys, config, says):
    (folder / "config").mkdir()
    (folder / "config" / "config.yaml").write_text(config, encoding="utf-8")
    assert main(["check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: ")
    assert says in line


def test_a_study_that_is_not_there(folder, capsys):
    assert main(["check", "none.yaml"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: none.yaml")


def test_the_answer_waits_for_nothing_that_it_does_not_need(folder):
    """Not for the kernels, the workflow, the notebooks or the drafts."""
    code = (
        f"import sys; from reident.command import main; main(['check']); main(['verify', {str(GOLDEN)!r}])\n"
        "print(sorted({'numba', 'snakemake', 'papermill', 'matplotlib', 'reident.drafting'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"
