"""What README.md says and shows is so: its study and its metric run as they stand there."""

import os
import re
import shlex
import subprocess
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from making import preloaded
from pypdf import PdfReader
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Metric, Setting
from reident.linkage.pairing import Pairing, Records, Scope
from workflow.commands import CHECKOUT, PRELOADED, begun

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def shown(language, words):
    """The one block of code of a language that holds these words."""
    (block,) = [text for text in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if words in text]
    return block


def run(folder, text):
    """Commands of the README in a folder, but for where Snakemake lies."""
    settings = {**os.environ, "PYTHONPATH": preloaded.LIBRARIES}
    started = shlex.join(begun(PRELOADED, settings))
    command = f"{started} --snakefile {CHECKOUT}/Snakefile --cores 2"
    assert text.count(".venv/bin/snakemake") == 1
    ended = subprocess.run(
        ["sh", "-eu", "-c", text.replace(".venv/bin/snakemake", command)],
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stdout


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A folder in which the commands for a study of one's own have run."""
    folder = tmp_path_factory.mktemp("own")
    run(folder, shown("sh", "mkdir my-study"))
    return folder


@pytest.mark.slow
def test_the_rates_of_the_study_are_those_of_the_table(own):
    rates = pd.read_csv(own / "results" / "my-study" / "rates.csv")
    for line in rates[rates["stratum"] == "ALL"].itertuples():
        interval = f"{100 * line.conditional_low:.1f}–{100 * line.conditional_high:.1f} %"
        assert (
            f"| {line.metric} | {line.n_suspected} of {line.n_puf} | {line.n_confirmed} | "
            f"{100 * line.conditional_rate:.1f} % | {interval} | {100 * line.baseline_rate:.1f} % |\n"
        ) in README


@pytest.mark.slow
def test_the_verdict_stands_on_the_first_page(own):
    first = PdfReader(own / "reports" / "my-study" / "disclosure-review.pdf").pages[0].extract_text()
    assert "*above the limit*" in README
    assert "Above the limit" in first


@pytest.mark.slow
def test_results_are_readable_by_their_owner_alone(own):
    made = [
        file for file in own.glob("re*/**/*") if file.suffix in (".csv", ".parquet", ".json", ".html", ".pdf")
    ]
    assert len(made) > 30
    assert {oct(file.stat().st_mode & 0o777) for file in made} == {"0o600"}


@pytest.mark.slow
def test_a_file_by_itself(own):
    run(own, shown("sh", "my-study/alone.yaml"))
    summary = pd.read_csv(own / "results" / "my-study-alone" / "filerisk" / "summary.csv").set_index(
        "quantity"
    )
    assert summary.at["records", "value"] == "12"
    assert (own / "results" / "my-study-alone" / "filerisk" / "records.parquet").is_file()


@pytest.fixture(scope="module")
def agreements():
    """The metric of the README, as a module."""
    module = types.ModuleType("agreements")
    exec(shown("python", '"""Agreements'), module.__dict__)  # noqa: S102 - the text of the README
    return module


@pytest.mark.parametrize("at_least", [1, 2, 3])
@pytest.mark.parametrize("n_eif", [0, 1, 7])
def test_the_metric_counts_agreements(agreements, at_least, n_eif):
    """All pairs of few records, with `keep` so large that the rank rule leaves nothing out."""
    rng = np.random.default_rng(n_eif)
    puf, eif = (rng.integers(-1, 2, (n, 3), dtype=np.int32) for n in (6, n_eif))
    sides = [Records(codes, np.full(codes.shape, np.nan)) for codes in (puf, eif)]
    scope = Scope(*(np.full((len(side.codes), 3), np.nan) for side in sides))
    pairing = Pairing((), *sides, (None,) * 3, np.full(3, np.nan), scope)
    found = agreements.METRIC.score(pairing, agreements.Options(at_least=at_least), Setting(keep=50))
    count = {
        (p, e): sum(int(a == b >= 0) for a, b in zip(puf[p], eif[e], strict=True))
        for p in range(len(puf))
        for e in range(n_eif)
    }
    pairs = zip(found.puf.tolist(), found.eif.tolist(), strict=True)
    assert dict(zip(pairs, found.score.tolist(), strict=True)) == {
        pair: agree for pair, agree in count.items() if agree >= at_least
    }


def test_the_metric_is_one_for_the_registry(agreements):
    assert isinstance(agreements.METRIC, Metric)
    registry = (CHECKOUT / "workflow/lib/reident/linkage/metrics/__init__.py").read_text(encoding="utf-8")
    line = shown("python", '"agreements": agreements.METRIC').strip("\n")
    assert [line.replace("agreements", name) in registry for name in REGISTRY] == [True] * len(REGISTRY)


def test_links_lead_to_files_and_headings():
    targets = re.findall(r'\]\(([^)]+)\)|(?:href|src)="([^"]+)"', README)
    assert len(targets) > 5
    headings = {
        "#" + line.lower().replace(" ", "-") for line in re.findall(r"^##+ (.+)$", README, re.MULTILINE)
    }
    named = [target for pair in targets for target in pair if target and target not in headings]
    assert [target for target in named if not (CHECKOUT / target).exists()] == []


def test_targets_of_make_exist():
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+) ", README, re.MULTILINE))
    assert named
    assert [name for pair in named for name in pair if name and f"\n{name}:" not in makefile] == []


def test_the_picture_is_small():
    assert Path(CHECKOUT / "docs" / "report.png").stat().st_size < 200_000
