"""The release of every small study ends, under every bundled policy, and tells no count closer than that allows
(METHODS §11, §11.2)."""

import json
import math
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import gated
from making.examples import examples
from making.preloaded import LIBRARIES
from oracles.attacker import BELOW, FREE, OF_METRIC, Attacker, alone
from reident.release import calls

POLICIES = ("census-drb", "opensafely", "midpoint-6", "base-5-random", "base-3-random", "none")
SHARE = 0.5
"""The share of its interval that a rounded count keeps; a small one keeps all of it."""

LONGEST = 60.0
"""Seconds in which each release must end."""

RESULTS = Path("results/s")


def truth(records):
    """The exact counts of a study, under the names that the attacker gives them."""
    tables, found = gated.tables(records), {}

    def label(stratum):
        return stratum if stratum == "ALL" else str(int(stratum[1:]))

    for line in tables[RESULTS / "rates.csv"].to_dict("records"):
        limit = "0" if line["metric"] == "unicity" else str(records.limit)
        where = {"metric": line["metric"], "stratum": label(line["stratum"]), "rank_limit": limit}
        found |= {Attacker.cell(where, name): line[name] for name in (*FREE, *OF_METRIC)}
    for metric in records.metrics[: records.suspected.shape[1]]:
        for line in tables[RESULTS / f"confirmed/{metric}.limits.csv"].to_dict("records"):
            where = {"metric": metric, "stratum": "ALL", "rank_limit": str(line["max_pairs"])}
            found |= {Attacker.cell(where, name): line[name] for name in OF_METRIC[:3]}
    if records.cluster is not None:
        for line in tables[RESULTS / "clusters.csv"].to_dict("records"):
            where = {"metric": line["metric"], "stratum": label(line["stratum"])}
            for name in ("n_clusters", "n_suspected", "n_confirmed"):
                found[Attacker.group(where, name)] = line[name]
    if records.codes is not None:
        for line in tables[RESULTS / "filerisk/conventions.csv"].to_dict("records"):
            found |= {Attacker.below(line["convention"], name): line[name] for name in BELOW}
    return found


def too_close(public, policy, records, made, folder, *, nested=False, kind=None):
    """The counts that an attacker, of a kind, can tell closer than the policy allows, with the widths."""
    kind = kind or partial(Attacker, nested=nested)
    gated.publish(made, folder)
    counts, known = truth(records), {}
    for file in ("puf", "eif"):
        known[file] = {cell[2]: n for cell, n in counts.items() if cell[0] == f"n_{file}" and file in public}
    known_counts = known["puf"], known["eif"]
    attacker, before, found = kind(policy, folder, *known_counts), None, []
    assert set(attacker.texts) == set(counts)
    spread = attacker.spread()
    for cell, count in counts.items():
        at = attacker.cells[cell]
        assert attacker.low[at] <= count <= attacker.high[at]
        rounded, low, high = alone(policy, count)
        required = math.floor((SHARE if rounded else 1) * (high - low))
        is_public = cell[2] in known.get(cell[0].removeprefix("n_"), {}) or cell in attacker.counted
        if spread[at] >= required or is_public:
            continue
        if (width := attacker.width(cell)) < required:
            before = before or kind(policy, folder, *known_counts, blind=True)
            if width < before.width(cell):  # what nobody published cannot make it narrower
                found.append((cell, count, width, required))
    return found


def known_of(seed):
    """The files that the public counts in a wide study."""
    return gated.KNOWN[seed % len(gated.KNOWN)]


def narrow(seed, policy, folder):
    """The counts that are told too closely of a study with few strata, some of them tiny."""
    records = gated.draw(np.random.default_rng(seed), largest=200)
    return too_close(("puf",), policy, records, gated.passed(records, policy), folder)


@settings(examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES[:-1]))
def test_no_count_is_told_closer_than_the_policy_allows(seed, policy, tmp_path_factory):
    assert narrow(seed, policy, tmp_path_factory.mktemp("edition")) == []


@pytest.mark.long
@pytest.mark.parametrize("batch", range(10))
def test_no_count_of_a_thousand_studies_is_told_closer(batch, tmp_path):
    for seed in range(100 * batch, 100 * batch + 100):
        policy = POLICIES[seed % (len(POLICIES) - 1)]
        assert narrow(seed, policy, tmp_path / str(seed)) == [], seed


@settings(examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES))
def test_the_release_of_a_small_study_ends_and_tells_nothing_too_closely(seed, policy, tmp_path_factory):
    records, made = gated.wide(seed, policy, largest=300)
    assert too_close(known_of(seed), policy, records, made, tmp_path_factory.mktemp("edition")) == []


@settings(examples(8), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES))
def test_metrics_that_are_contained_in_each_other_tell_nothing_too_closely(seed, policy, tmp_path_factory):
    records, made = gated.wide(seed, policy, nested=True, largest=300)
    folder = tmp_path_factory.mktemp("edition")
    assert too_close(known_of(seed), policy, records, made, folder, nested=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 250])
@settings(examples(8), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES[:-1]))
def test_a_search_that_reaches_its_limit_tells_nothing_too_closely(limit, seed, policy, tmp_path_factory, monkeypatch):
    """Whole groups of counts are suppressed then."""
    monkeypatch.setattr(calls, "BASE", limit)
    monkeypatch.setattr(calls, "PER_CELL", 0)
    records, made = gated.wide(seed, policy, largest=300)
    assert too_close(known_of(seed), policy, records, made, tmp_path_factory.mktemp("edition")) == []
    protected = made.audit[~made.audit["status"].isin(["public", "suppressed"])]
    assert (protected["width"] >= protected["required"]).all()


@pytest.mark.slow
def test_a_limit_suppresses_more_and_a_search_within_it_is_the_one_without_a_limit(monkeypatch):
    monkeypatch.setattr(calls, "PER_CELL", 0)
    digests, suppressed, least = [], [], []
    for base in (0, 150, 4000, 10**9):
        monkeypatch.setattr(calls, "BASE", base)
        _, made = gated.wide(1, "opensafely", largest=300)
        digests.append(gated.digest(made))
        suppressed.append(int(made.audit["status"].eq("suppressed").sum()))
        least.append(made.is_least)
    assert least == [False, False, True, True]
    assert suppressed[0] >= suppressed[1] > suppressed[2]
    assert digests[2] == digests[3]


def elsewhere(seeds, cores):
    """The digests of the releases of studies by seed and policy, made by another process on so many cores."""
    environment = {**os.environ, "PYTHONPATH": LIBRARIES, "OMP_NUM_THREADS": str(cores)}
    code = (
        "import json, os; from making import gated; "
        f"os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cores}]); "
        f"print(json.dumps([gated.digest(gated.wide(seed, policy)[1]) for seed in {seeds} for policy in {POLICIES}]))"
    )
    made = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    return json.loads(made.stdout)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not choose the cores of a process")
@pytest.mark.slow
def test_one_core_makes_the_same_edition_as_two():
    assert elsewhere([3], 1) == elsewhere([3], 2)


@pytest.mark.long
@pytest.mark.parametrize("batch", range(20))
def test_all_policies_on_a_hundred_studies_whose_metrics_contain_each_other(batch, tmp_path):
    for seed in range(5 * batch, 5 * batch + 5):
        for policy in POLICIES:
            start, folder = time.perf_counter(), tmp_path / f"{seed}-{policy}"
            records, made = gated.wide(seed, policy, nested=True)
            assert time.perf_counter() - start < LONGEST
            assert too_close(known_of(seed), policy, records, made, folder, nested=True) == [], (seed, policy)


@pytest.mark.long
@pytest.mark.parametrize("batch", range(20))
def test_all_policies_on_a_hundred_studies(batch, tmp_path):
    """Each release ends within a minute, tells nothing too closely, and is the same on one core as on all."""
    seeds, digests, seconds, groups = list(range(5 * batch, 5 * batch + 5)), [], [], 0
    for seed in seeds:
        for policy in POLICIES:
            start = time.perf_counter()
            records, made = gated.wide(seed, policy)
            seconds.append(time.perf_counter() - start)
            groups += not made.is_least
            digests.append(gated.digest(made))
            assert too_close(known_of(seed), policy, records, made, tmp_path / f"{seed}-{policy}") == [], (seed, policy)
    assert max(seconds) < LONGEST
    assert groups == 0, "a search of these studies does not reach its limit"
    if hasattr(os, "sched_setaffinity"):
        assert elsewhere(seeds, 1) == digests
