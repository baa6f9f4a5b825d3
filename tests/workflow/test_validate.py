"""`snakemake validate`: every mistake in one run, an exit status, and nothing that a step takes."""

import pytest
import yaml
from workflow.commands import SNAKEMAKE, open_to_others, snakemake

from workflow import small

pytestmark = pytest.mark.slow


@pytest.mark.quick
def test_a_study_with_mistakes_is_refused_by_a_run_and_told_whole_by_validate(tmp_path):
    study = {**small.STUDY, "titel": "x", "rank_filter": {"max_pairs": "many"}}
    study["linking_variables"] = [*study["linking_variables"], {"name": "agge", "type": "numeric"}]
    small.write(tmp_path / "in", study, small.rows(30, 40))
    ended = snakemake(
        "validate", studies=["../in/small.yaml"], folder=tmp_path / "run", cores=None, program=SNAKEMAKE
    )
    assert ended.code == 1
    for part in ("line", "`titel` is not a known key", "`rank_filter.max_pairs` must be an integer"):
        assert part in ended.shown
    for file in ("puf.csv", "eif.csv"):
        assert f"{file}, row 1: the file has no column `agge`. Did you mean `age`?" in ended.shown
    assert "4 errors, " in ended.shown
    assert [path.name for path in (tmp_path / "run/results").iterdir()] == ["validate.log"]
    assert open_to_others(tmp_path / "run/results") == {}
    log = (tmp_path / "run/results/validate.log").read_text(encoding="utf-8")
    assert "Columns of" not in log
    refused = snakemake("--dry-run", studies=["../in/small.yaml"], folder=tmp_path / "run")
    assert refused.code == 1
    assert "2 more lines have mistakes" in refused.shown or "1 more line has a mistake" in refused.shown


def test_a_sound_study_passes_with_its_warnings(tmp_path):
    small.write(tmp_path / "in", small.STUDY, small.rows(60, 90))
    ended = snakemake("validate", studies=["../in/small.yaml"], folder=tmp_path / "run")
    assert ended.code == 0, ended.shown
    assert "0 errors, " in ended.shown
    assert [path.name for path in (tmp_path / "run/results").iterdir()] == ["validate.log"]


def test_what_is_to_be_decided_is_refused_by_every_command(tmp_path):
    file = small.write(tmp_path / "in", {**small.STUDY, "title": "TODO: a title"}, small.rows(30, 40))
    for command in ([], ["check"], ["seal"], ["--dry-run"]):
        ended = snakemake(*command, studies=[file], folder=tmp_path / "run")
        assert ended.code == 1
        assert "`title` is still to be decided" in ended.shown
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["title"] == "TODO: a title"
