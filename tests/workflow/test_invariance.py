"""The same study gives the same bytes: with one core or two, one shard or many, rows in any order, and whatever the
environment of the process. Locales are made here where the system has none with a comma in its numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import pandas as pd
import pytest
from workflow.commands import PRELOADED, made, snakemake

from workflow import small

pytestmark = pytest.mark.slow

METRICS = tuple(small.STUDY["metrics"])
FILES = ("rates.csv", *(f"confirmed/{metric}.parquet" for metric in METRICS))
COMMA = "de_DE.UTF-8"


class Leg(NamedTuple):
    """Another way to the same result."""

    sentence: str
    cores: int = 2
    shards: int = 1
    shuffled: bool = False
    environment: dict[str, str] | None = None


LEGS = [
    Leg(
        "one core, another seed of hashes, another time zone, rows and columns of the sources in another order",
        cores=1,
        shuffled=True,
        environment={"PYTHONHASHSEED": "1", "TZ": "NZ"},
    ),
    Leg("two shards", shards=2),
    Leg("seven shards, more than strata", shards=7),
    Leg("a decimal comma, in place of the C locale", environment={"LC_ALL": COMMA}),
]


@pytest.fixture(scope="module")
def reference(finished) -> Path:
    """The results of two cores, one shard, hash seed 0."""
    return finished.results


def scores(results: Path, metric: str) -> list[pd.DataFrame]:
    """The tables of all shards of a metric."""
    return [pd.read_parquet(path) for path in sorted((results / "scores" / metric).iterdir())]


@pytest.mark.parametrize("leg", LEGS, ids=[leg.sentence for leg in LEGS])
def test_the_results_are_the_same_to_the_byte(reference, tmp_path, leg):
    environment = dict(leg.environment or {"PYTHONHASHSEED": "0"})
    if environment.get("LC_ALL") == COMMA:
        environment["LOCPATH"] = comma_locale(tmp_path / "locales")
    study = small.write(tmp_path / "in", tables=shuffled(small.rows()) if leg.shuffled else None)
    ended = snakemake(
        *made("small", *FILES),
        f"shards={leg.shards}",
        studies=[study],
        folder=tmp_path / "run",
        cores=leg.cores,
        environment=environment,
        program=PRELOADED,
    )
    assert ended.code == 0, ended.shown
    results = tmp_path / "run" / "results" / "small"
    for metric in METRICS:
        assert len(scores(results, metric)) == leg.shards
    for name in FILES:
        assert (results / name).read_bytes() == (reference / name).read_bytes(), (leg.sentence, name)


def test_shards_without_pairs_leave_empty_tables(tmp_path):
    """Six records of the public use file cannot be divided among nine shards."""
    metrics = {"unicity": {}, "euclidean": {}}
    study = small.write(tmp_path / "in", {**small.STUDY, "metrics": metrics}, small.rows(6, 9))
    for name, option in (("one", "shards=1"), ("nine", "--set-scatter=shards=9")):
        target = made("small", "rates.csv")
        ended = snakemake(*target, option, studies=[study], folder=tmp_path / name, program=PRELOADED)
        assert ended.code == 0, ended.shown
    one, nine = (tmp_path / name / "results/small" for name in ("one", "nine"))
    assert (one / "rates.csv").read_bytes() == (nine / "rates.csv").read_bytes()
    for metric in metrics:
        assert len(scores(nine, metric)) == 9
        assert min(map(len, scores(nine, metric))) == 0 < max(map(len, scores(nine, metric)))


@pytest.mark.quick
def test_a_dry_run_shows_every_job_of_a_study_that_never_ran(tmp_path):
    study = small.write(tmp_path / "in")
    ended = snakemake("--dry-run", "--set-scatter=shards=3", studies=[study], folder=tmp_path / "run")
    assert ended.code == 0, ended.shown
    four = {"score": 12, "rank": 4, "confirm": 4}
    once = (
        "resolve", "prepare", "stratify", "bin", "check_description", "rate", "challenge", "judge", "report",
    )  # fmt: skip
    assert ended.planned == {**four, **dict.fromkeys(once, 1)}
    assert ended.shown.count("3 of 3") == len(METRICS)


def shuffled(tables: dict[str, list[list[str]]]) -> dict[str, list[list[str]]]:
    """The same records, rows and columns in another order."""
    draw, found = Random(11), {}  # noqa: S311 - an order
    for side, (header, *rows) in tables.items():
        columns = draw.sample(range(len(header)), len(header))
        found[side] = [[row[at] for at in columns] for row in [header, *draw.sample(rows, len(rows))]]
    return found


def comma_locale(folder: Path) -> str:
    """A folder with a locale whose decimal point is a comma; the test is skipped where none can be made."""
    if shutil.which("localedef") is None:
        pytest.skip("no locale with a decimal comma: localedef is not installed")
    folder.mkdir()
    made_it = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / COMMA)], capture_output=True, check=False
    )
    asked = subprocess.run(
        [sys.executable, "-c", "import locale as l; l.setlocale(l.LC_ALL, ''); print(l.localeconv()['decimal_point'])"],
        env={**os.environ, "LC_ALL": COMMA, "LOCPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.stdout.strip() != ",":
        pytest.skip(f"no locale with a decimal comma: {made_it.stderr.decode().strip()[:200]}")
    return str(folder)
