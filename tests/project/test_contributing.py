"""The change that CONTRIBUTING.md shows applies to the code as it is, and does what the page says."""

import itertools
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

PROGRAM = """
from reident.linkage.metrics import taxicab
from reident.study import documentation
for below in [None, "1/6", "1/4", "0.9"]:
    options = taxicab.Options(alpha="1/3", below=below)
    levels = taxicab._levels(options, 6)
    print(below, levels["different"], levels["missing"], levels["limit"], taxicab.tolerance(options, [None] * 6, False))
print("`metrics.taxicab.below`" in documentation.readme(), '"below"' in str(documentation.files()))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the changed library says, by line."""
    folder = tmp_path_factory.mktemp("changed")
    shutil.copytree(ROOT / "workflow", folder / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "config", folder / "config")
    (change,) = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    subprocess.run(["git", "apply", "-"], cwd=folder, input=change, encoding="utf-8", check=True)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "workflow" / "lib")},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.splitlines()


def test_a_pair_is_suspected_where_its_score_is_below_the_option(shown):
    assert len(shown) == 5
    for line in shown[:4]:
        below, different, missing, limit, tolerance = line.split()
        threshold = Fraction(1, 6) if below == "None" else Fraction(below)
        for differ, miss in itertools.product(range(7), repeat=2):
            if differ + miss <= 6:
                score = (differ + Fraction(1, 3) * miss) / 6
                suspected = differ * int(different) + miss * int(missing) <= int(limit)
                assert suspected == (score < threshold)
        assert int(tolerance) == max(d for d in range(-1, 7) if d < 0 or Fraction(d, 6) < threshold)


def test_the_study_file_documents_the_option(shown):
    assert shown[4] == "True True"


def test_every_package_is_in_the_drawing():
    packages = {path.name for path in (ROOT / "workflow/lib/reident").iterdir() if (path / "__init__.py").is_file()}
    drawing = PAGE.partition("```text")[2].partition("```")[0]
    assert packages <= set(re.findall(r"\w+", drawing))
