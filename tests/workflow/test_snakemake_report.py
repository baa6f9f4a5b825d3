"""`snakemake --report` gathers the results that a study marks for it, without a network."""

import re
import shutil
import zipfile
from pathlib import PurePath

import pytest
from workflow.commands import snakemake

pytestmark = pytest.mark.slow

NOWHERE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")

MARKED = (
    "results/small/rates.csv",
    "results/small/attacks.csv",
    "results/small/verdict/summary.csv",
    "results/small/strata/manifest.csv",
    "results/small/binned/cutpoints.csv",
    "reports/small/disclosure-review.html",
    "reports/small/disclosure-review.pdf",
)


@pytest.fixture(scope="module")
def gathered(finished, tmp_path_factory):
    """The archive that `snakemake --report` makes of the finished study, and the study's working directory."""
    folder = tmp_path_factory.mktemp("gathered")
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    run = folder / "run"
    ended = snakemake("--report=all.zip", studies=["../in/small.yaml"], folder=run, environment=NOWHERE)
    assert ended.code == 0, ended.shown
    assert not re.search("^Warning: ", ended.shown, re.MULTILINE)
    return run, zipfile.ZipFile(run / "all.zip")


def test_the_marked_results_are_in_it_as_they_are(gathered):
    run, archive = gathered
    inside = {PurePath(name).name: archive.read(name) for name in archive.namelist() if "/raw/" in name}
    assert inside == {PurePath(path).name: (run / path).read_bytes() for path in MARKED}
