"""`reident validate`: every mistake at once, an exit status, and nothing that a step takes."""

import pytest
import yaml
from workflow.commands import reident, snakemake

from workflow import small


@pytest.mark.slow
@pytest.mark.quick
def test_a_study_with_mistakes_is_refused_by_a_run_and_told_whole_by_validate(tmp_path):
    study = {**small.STUDY, "titel": "x", "rank_filter": {"max_pairs": "many"}}
    study["linking_variables"] = [*study["linking_variables"], {"name": "agge", "type": "numeric"}]
    small.write(tmp_path / "in", study, small.rows(30, 40))
    ended = reident("validate", "../in/small.yaml", folder=tmp_path / "run")
    assert ended.code == 1
    for part in ("line", "`titel` is not a known key", "`rank_filter.max_pairs` must be an integer"):
        assert part in ended.shown
    for file in ("puf.csv", "eif.csv"):
        assert f"{file}, row 1: the file has no column `agge`. Did you mean `age`?" in ended.shown
    assert ended.shown.endswith(" Correct the errors, and validate again.\n")
    assert "4 errors, " in ended.shown
    assert list((tmp_path / "run").iterdir()) == []
    refused = snakemake("--dry-run", studies=["../in/small.yaml"], folder=tmp_path / "run")
    assert refused.code == 1
    assert "2 more lines have mistakes" in refused.shown or "1 more line has a mistake" in refused.shown


@pytest.mark.slow
def test_what_is_to_be_decided_is_refused_by_every_command(tmp_path):
    file = small.write(tmp_path / "in", {**small.STUDY, "title": "TODO: a title"}, small.rows(30, 40))
    ended = [reident(command, file, folder=tmp_path / "run") for command in ("check", "seal")]
    ended += [snakemake(*options, studies=[file], folder=tmp_path / "run") for options in ([], ["--dry-run"])]
    for one in ended:
        assert one.code == 1
        assert "`title` is still to be decided" in one.shown
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["title"] == "TODO: a title"
