"""Settings on their way to a job, and what a small job waits for."""

import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from reident.linkage.metrics.taxicab import Options
from reident.pipeline.handed import Handed

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"


def _sent(value):
    """What arrives where a value is sent."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def test_a_job_gets_the_settings_that_it_was_handed():
    settings = Options.model_validate({"alpha": "1/3"})
    for value in (settings, {"labels": ["a"]}, None):
        again = _sent(_sent(Handed(value)))
        assert again.value == value
    assert _sent(Handed(settings)).value.alpha == Fraction(1, 3)


def test_settings_are_not_shown():
    handed = Handed({"label": "a name"})
    assert "name" not in repr(handed)
    assert "name" not in repr(_sent(handed))


def test_settings_are_unpacked_when_they_are_asked_for():
    packed = pickle.dumps(Handed(Options()))
    code = f"""
import pickle, sys
handed = pickle.loads({packed!r})
assert not any(name.startswith(("pydantic", "reident.linkage")) for name in sys.modules)
assert type(handed.value).__name__ == "Options"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("rule", ["rank", "confirm", "stratify", "export_confirmed"])
def test_steps_that_only_sort_and_count_wait_for_no_other_library(rule):
    adapter = (SCRIPTS / f"{rule}.py").read_text().partition("\nwith ")[0]
    code = f"""
import sys
{adapter}
ledger.step
found = [name for name in ("pydantic", "scipy", "numba", "yaml", "pyreadstat", "papermill") if name in sys.modules]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)
