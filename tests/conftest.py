"""What all tests share: the profiles of hypothesis, the environment of child processes, the order of tests."""

import contextlib
import gc
import math
import os
import sys
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

# Images often forbid to write compiled modules: each of hundreds of processes would then compile the library anew,
# which takes longer than most of what it does, and each worker the asserts of all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No test opens a window.
os.environ["MPLBACKEND"] = "Agg"

# The first example of a kernel's test waits for numba to compile, which is no slowness of the kernel.
_COMPILING = [HealthCheck.too_slow]
# The same examples in every run, so that a red test is red again; `nightly` looks for new ones.
settings.register_profile("default", max_examples=6, deadline=None, derandomize=True, suppress_health_check=_COMPILING)
settings.register_profile("many", max_examples=50, deadline=None, derandomize=True, suppress_health_check=_COMPILING)
settings.register_profile(
    "nightly", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_COMPILING
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole studies first: with workers side by side, the short tests then fill the end. Mark the properties."""
    for item in items:
        if hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("many")
    items.sort(key=lambda item: "workflow" not in item.path.parts)


def pytest_collection_finish() -> None:
    """Leave alone what importing and collecting made, among which the garbage of a test would be looked for."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def results(tmp_path):
    """Return a function that makes the results of a shape, for tests of the report and of its parts."""
    from making.report import Shape, write_results
    from reident.report.results import Results

    return lambda **shape: Results(write_results(tmp_path / "results", Shape(**shape)))


@pytest.hookimpl(optionalhook=True)  # tests also run without xdist
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than processors: studies wait for their processes, and a cluster's test for its scheduler."""
    return _processors() + 1


def _processors() -> int:
    """The processors that this process may use, which may be fewer than the machine has."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        allowed = min(allowed, max(1, math.ceil(int(quota) / int(period))))
    return allowed
