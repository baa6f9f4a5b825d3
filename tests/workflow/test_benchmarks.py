"""Every benchmark runs to its end at a small size; the numbers are those of an idle machine, and no test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from workflow.commands import CHECKOUT

pytestmark = pytest.mark.slow

WORKS = "taxicab,unicity,euclidean-rms,adhoc-tables,winkler-nearest,fellegi-sunter,suda-8"
"""One for each kernel."""

SMALL = {
    "bench_challenge": ["60", "2"],
    "bench_closest": ["--works", "a thousand"],
    "bench_descriptions": ["1", "1", "1"],
    "bench_evidence": ["100", "2", "1"],
    "bench_intruder": ["--ways", "rounding"],
    "bench_large_tables": ["large", "5000", "3"],
    "bench_strata": ["strata", "20", "3"],
    "bench_suda": ["100", "4", "2", "1"],
    "bench_together": ["200", "2"],
    "bench_units": ["40", "2"],
    "run": ["--sizes", "100", "--runs", "1", "--works", WORKS, "--threads", "1"],
}
"""The arguments of each."""


@pytest.mark.quick
def test_every_benchmark_has_a_small_size():
    found = {path.stem for path in (CHECKOUT / "tests/benchmarks").glob("bench_*.py")} | {"run"}
    assert found == set(SMALL)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.quick) if name == "bench_suda" else name for name in SMALL]
)
def test_a_benchmark_runs_at_a_small_size(tmp_path, name):
    """On a copy, since some write beside themselves; general tools are not asked for."""
    folder = tmp_path / "tests" / "benchmarks"
    shutil.copytree(CHECKOUT / "tests/benchmarks", folder, ignore=shutil.ignore_patterns("__pycache__"))
    ran = subprocess.run(
        [sys.executable, str(folder / f"{name}.py"), *SMALL[name]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT / "tests")},
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout or name == "bench_strata"
