"""What a run refuses before it plans jobs, and what its jobs ask for."""

from types import SimpleNamespace

import pytest
import yaml
from making.studies import plain
from reident.pipeline import plan


@pytest.fixture
def families(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(plain()), encoding="utf-8")
    return plan.load_families([file])


def test_ranks_gather_all_shards(families):
    made = plan.Plan(families, plan.RESULTS, ["1-of-2", "2-of-2"])
    wildcards = SimpleNamespace(study=next(iter(families)), metric="taxicab")
    assert made.all_shards(wildcards) == [
        "results/plain/scores/taxicab/1-of-2.parquet",
        "results/plain/scores/taxicab/2-of-2.parquet",
    ]


def test_sources_are_named_as_the_rules_of_an_importer_name_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "config" / "study.yaml"
    file.parent.mkdir()
    study = plain()
    study["files"]["puf"]["path"] = "../made/puf.csv"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    made = plan.Plan(plan.load_families([file.relative_to(tmp_path)]), plan.RESULTS, [])
    assert made.source("puf")(SimpleNamespace(study=study["id"])) == "made/puf.csv"


def test_a_job_asks_for_more_with_larger_files_and_at_each_attempt():
    small, large = SimpleNamespace(size_mb=1), SimpleNamespace(size_mb=1000)
    ask = plan.memory(5)
    assert ask(None, small, 1) < ask(None, large, 1) < ask(None, large, 2)
    assert plan.minutes(None, small, 1) < plan.minutes(None, large, 1) < plan.minutes(None, large, 2)
