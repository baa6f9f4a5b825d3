"""What the workflow changes in Snakemake, on stand-ins for its classes; with the real ones: tests/workflow."""

import asyncio
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from reident.errors import InputError
from reident.pipeline import scheduler

CHECKOUT = Path(__file__).resolve().parents[3]


def job(study=None, *outputs, checkpoint=False, foreign=False):
    wildcards = {} if study is None else {"study": study}
    return SimpleNamespace(
        wildcards_dict=wildcards, output=list(outputs), is_checkpoint=checkpoint, foreign=foreign
    )


def test_the_version_of_the_file_is_the_pinned_one():
    pins = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert f"snakemake=={scheduler.VERSION}" in pins
    scheduler.check_version(scheduler.VERSION)


def test_another_version_is_an_error_that_names_the_file():
    sentence = f"Snakemake must be version {scheduler.VERSION}, not 9.28.0: scheduler.py in "
    with pytest.raises(InputError, match=re.escape(sentence)):
        scheduler.check_version("9.28.0")


class Graph:
    """As Snakemake's graph of jobs, without the jobs' reasons."""

    def __init__(self, *jobs):
        self.jobs, self.workflow, self.forcefiles, self.seen = jobs, SimpleNamespace(), set(), None

    async def update_needrun(self, **_):
        self.seen = set(self.forcefiles)


@pytest.fixture
def forced(monkeypatch):
    """The studies for which stale results are looked for."""
    asked = []
    monkeypatch.setattr(Graph, "update_needrun", Graph.update_needrun)
    own = SimpleNamespace(own=lambda jobs: [job for job in jobs if not job.foreign])
    scheduler.force_stale(
        Graph, own, lambda study: asked.append(study) or [Path("results", study, "rates.csv")]
    )
    return asked


def test_stale_results_of_studies_with_jobs_are_forced_before_reasons_are_looked_for(forced):
    graph = Graph(job("a"), job("a/variants/x"), job(), job("b", foreign=True))
    asyncio.run(graph.update_needrun(create_inventory=True))
    assert (forced, graph.seen) == (["a"], {"results/a/rates.csv"})


def test_a_graph_without_jobs_of_a_study_asks_for_nothing(forced):
    asyncio.run(Graph(job()).update_needrun())
    assert forced == []


def test_a_report_is_checked_first_and_forces_nothing(forced):
    graph, calls = Graph(job("a")), []
    graph.workflow.create_report = calls.append
    scheduler.check_before_report(graph.workflow, lambda: calls.append("check"))
    graph.workflow.create_report("html")
    asyncio.run(graph.update_needrun())
    assert (calls, forced) == (["check", "html"], [])


def test_a_run_makes_what_its_jobs_make_and_after_a_checkpoint_all_that_is_stale():
    jobs = [job("a", "results/a/rates.csv"), job("b", "results/b/rates.csv"), job()]
    stale = [Path("results/a/scores/taxicab/0001.parquet")]
    assert scheduler.studies(jobs) == {"a", "b"}
    assert scheduler.outputs(jobs, "a", stale) == {Path("results/a/rates.csv")}
    jobs.append(job("a/variants/x", "results/a/variants/x/strata/manifest.csv", checkpoint=True))
    assert scheduler.outputs(jobs, "a", stale) >= set(stale)
    assert scheduler.outputs(jobs, "b", stale) == {Path("results/b/rates.csv")}
