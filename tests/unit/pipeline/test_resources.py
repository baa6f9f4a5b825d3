"""What jobs ask for: from the counts of the manifest, fitted to measured jobs, and more at every attempt."""

import importlib.util
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.linkage import strata
from reident.linkage.metrics import REGISTRY, adhoc
from reident.pipeline import resources
from reident.pipeline.resources import ASSUMED, MEASURED, Counts, Requests
from reident.pipeline.steps import STEPS

CHECKOUT = Path(__file__).parents[3]
RULES = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((CHECKOUT / "workflow/rules").glob("*.smk"))
)
SCHEDULED = 2 * 200
"""Megabytes of the two processes of Snakemake that a scheduler counts with a job, as measured."""
STUDY = SimpleNamespace(
    linking_variables=[None] * resources.MEASURED_VARIABLES,
    chosen={"adhoc": adhoc.Options()},
    rates=SimpleNamespace(cluster=()),
)


def benchmark():
    """The module that measures and fits."""
    spec = importlib.util.spec_from_file_location("cluster", CHECKOUT / "tests/benchmarks/cluster.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCHMARK = benchmark()
JOBS = BENCHMARK.measured()


class Inputs:
    """The input files of a job, as Snakemake hands them to a function."""

    def __init__(self, folder, size_mb):
        self.manifest, self.shards, self.size_mb = (
            str(folder / "manifest.csv"),
            str(folder / "shards.csv"),
            size_mb,
        )


def written(folder, counts, budget, label='A, "b"\nc'):
    """The manifest and the shard table of strata with these counts."""
    manifest = pd.DataFrame(counts, columns=["n_puf", "n_eif"]).assign(state=label)
    manifest["stratum"] = [f"s{at:04d}" for at in range(1, len(counts) + 1)]
    manifest["pairs"] = manifest["n_puf"] * manifest["n_eif"]
    shards = strata.pack(manifest, budget)
    manifest.to_csv(folder / "manifest.csv", index=False)
    shards.to_csv(folder / "shards.csv", index=False)
    return manifest, shards


def asked(rule, inputs, attempt=1, threads=1, study=STUDY, **wildcards):
    """The megabytes and the minutes that a rule asks for."""
    demand, names = Requests(lambda _: study), SimpleNamespace(**wildcards)
    return demand.memory(rule)(names, inputs, attempt), demand.minutes(rule)(names, inputs, threads, attempt)


def test_every_step_asks_for_memory_and_time_by_its_own_name():
    blocks = re.split(r"^(?:rule|checkpoint) (\w+):\n", RULES, flags=re.MULTILINE)[1:]
    found = {
        name: re.findall(r"        (mem_mb|runtime)=REQUESTS\.(\w+)\(\"(\w+)\"\),", body)
        for name, body in zip(blocks[::2], blocks[1::2], strict=True)
        if "localrule: True" not in body
    }
    assert found == {rule: [("mem_mb", "memory", rule), ("runtime", "minutes", rule)] for rule in STEPS}


def test_every_step_has_one_cost():
    measured = {kind.partition(".")[0] for kind in MEASURED}
    assert measured | set(ASSUMED) == set(STEPS)
    assert not measured & set(ASSUMED)
    assert {f"score.{metric}" for metric in REGISTRY} <= set(MEASURED)


@pytest.mark.parametrize("rule", STEPS)
@pytest.mark.parametrize("metric", REGISTRY)
def test_a_further_attempt_asks_for_more(tmp_path, rule, metric):
    written(tmp_path, [(40_000, 50_000), (1, 1), (3, 0)], 10**8)
    inputs = Inputs(tmp_path, 12.5)
    attempts = [asked(rule, inputs, attempt, metric=metric, shard="0001") for attempt in (1, 2, 3, 4)]
    (memory, minutes), *further = attempts
    assert memory >= 500
    assert minutes >= resources.MIN_MINUTES
    assert further == [(2 * memory, 2 * minutes), (3 * memory, 4 * minutes), (4 * memory, 8 * minutes)]
    assert all(type(value) is int for attempt in attempts for value in attempt)


@pytest.mark.parametrize("kind", MEASURED)
def test_the_costs_are_those_fitted_to_the_measured_jobs(kind):
    assert BENCHMARK.fitted(JOBS[kind]) == MEASURED[kind]


@pytest.mark.parametrize("kind", MEASURED)
def test_what_is_asked_for_would_have_been_enough_for_every_measured_job(kind):
    time, memory = MEASURED[kind]
    for job in JOBS[kind]:
        enough = resources.SNAKEMAKE + resources.MEMORY_MARGIN * resources.megabytes(memory, job.counts)
        assert enough >= job.memory + SCHEDULED, job
        expected = resources.seconds(time, job.counts)
        assert max(60 * resources.MIN_MINUTES, resources.TIME_MARGIN * expected) >= job.wall, job
        assert job.cpu / 4 < expected < job.cpu * 4, job


counts = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=12)


@given(counts=counts, budget=st.integers(1, 2000))
def test_a_job_counts_the_records_that_it_compares(tmp_path_factory, counts, budget):
    if not any(puf * eif for puf, eif in counts):
        return
    folder = tmp_path_factory.mktemp("strata")
    manifest, shards = written(folder, counts, budget)
    found = resources.read_manifest(folder / "manifest.csv", folder / "shards.csv")
    assert found.records * 10**6 == pytest.approx(sum(map(sum, counts)))
    pairs, whole = 0.0, []
    for shard in sorted(set(shards["shard"])):
        blocks = found.compared(shard, splits=True)
        pairs += sum(puf * eif for puf, eif in blocks)
        whole += found.compared(shard, splits=False)
    assert pairs * 10**12 == pytest.approx(int(manifest["pairs"].sum()))
    # A metric that does not split strata compares each of them once.
    expected = [(puf / 10**6, eif / 10**6) for puf, eif in counts if puf * eif]
    assert sorted(whole) == sorted(expected)


def test_a_table_that_was_made_anew_is_read_again(tmp_path):
    inputs = Inputs(tmp_path, 1.0)
    written(tmp_path, [(40_000, 50_000)], 10**12)
    before = asked("score", inputs, metric="taxicab", shard="0001")
    written(tmp_path, [(90_000, 50_000)], 10**12)
    for name in ("manifest.csv", "shards.csv"):
        os.utime(tmp_path / name, ns=(1, 1))
    assert asked("score", inputs, metric="taxicab", shard="0001") > before


@pytest.mark.parametrize("rule", ["score", "weigh"])
def test_before_the_strata_are_known_the_missing_file_is_named_as_snakemake_does(tmp_path, rule):
    """Snakemake asks again later if the file of the error is an input of the job."""
    inputs = Inputs(tmp_path, 1.0)
    with pytest.raises(FileNotFoundError) as error:
        asked(rule, inputs, metric="taxicab", shard="0001")
    assert str(error.value.filename) == inputs.manifest


def test_threads_and_variables_count():
    cost, own = MEASURED["score.euclidean"], Counts(20.0, ((10.0, 10.0),))
    alone = resources.seconds(cost.time, own)
    assert alone / 4.1 < resources.seconds(cost.time, own, threads=8) < alone / 3.9
    assert resources.seconds(cost.time, own, threads=2) == alone
    wide = resources.megabytes(cost.memory, own, variables=26)
    assert wide - cost.memory.start == pytest.approx(
        2 * (resources.megabytes(cost.memory, own) - cost.memory.start)
    )


def test_a_study_without_linking_variables_has_steps_too(tmp_path):
    study = SimpleNamespace(linking_variables=())
    assert asked("prepare", Inputs(tmp_path, 10.0), study=study) > (500, 29)


def test_a_larger_stratum_asks_for_more(tmp_path):
    found = []
    for size in (1_000, 1_000_000, 10_000_000):
        written(tmp_path, [(size, size)], 10**18)
        os.utime(tmp_path / "manifest.csv", ns=(size, size))
        inputs = Inputs(tmp_path, 1.0)
        found.append([asked("score", inputs, metric=metric, shard="0001") for metric in REGISTRY])
    for small, middle, large in zip(*found, strict=True):
        assert small[0] < middle[0] < large[0]
        assert small[1] <= middle[1] < large[1]


@pytest.mark.parametrize(
    ("counts", "tables"),
    [
        ([(5_000, 5_000), (10, 10)], 2 * 24 * 4096**2),
        ([(300, 400)], 2 * 24 * 400**2),
        ([(10, 5_000)], 2 * 24 * 512**2),
        ([(10, 1_000_000)], 2 * 24 * 10_000_000),
    ],
    ids=["many values", "few records", "no table below that of 512 values", "of many records"],
)
def test_functions_of_adhoc_ask_for_their_tables(tmp_path, counts, tables):
    """A table has a row for each value of the larger file, and no more cells than there are pairs, or 512²."""
    written(tmp_path, counts, 10**18)
    inputs, job = Inputs(tmp_path, 1.0), {"metric": "adhoc", "shard": "0001"}
    own = {"function": "own:f", "sha256": "0" * 64}
    options = adhoc.Options.model_validate({"scores": {"a": own, "b": own, "c": "exact"}})
    study = SimpleNamespace(**{**vars(STUDY), "chosen": {"adhoc": options}})
    more = asked("score", inputs, study=study, **job)[0] - asked("score", inputs, **job)[0]
    assert more == pytest.approx(resources.MEMORY_MARGIN * tables / 1e6, abs=1)


HELD = [
    ("rank", 170.0, 1034),
    ("rank", 1752.0, 1936),
    ("rate", 729.0, 1123),
    ("rate", 7425.0, 1383),
]
"""By rule: the megabytes of the input files, and those that a job with assigned pairs, or with clusters, took."""


@pytest.mark.parametrize(("rule", "files", "taken"), HELD)
def test_assignments_and_clusters_ask_for_what_they_took(tmp_path, rule, files, taken):
    inputs, job = Inputs(tmp_path, files), {"metric": "fellegi_sunter"}
    options = SimpleNamespace(one_to_one=True)
    more = {"chosen": {"fellegi_sunter": options}, "rates": SimpleNamespace(cluster=("household",))}
    memory = asked(rule, inputs, study=SimpleNamespace(**{**vars(STUDY), **more}), **job)[0]
    assert memory >= taken + SCHEDULED
    assert asked(rule, inputs, **job)[0] < taken + SCHEDULED


def test_the_documentation_has_the_costs_the_jobs_and_what_they_predict():
    page = (CHECKOUT / "docs/CLUSTER.md").read_text(encoding="utf-8")
    assert BENCHMARK.costs_table() in page
    assert BENCHMARK.jobs_table() in page
    assert BENCHMARK.prediction(10**8, 1, 1e14) in page
    assert BENCHMARK.prediction(10**8, 51, 2e12) in page
