"""Sources in object storage give what local ones do, and sealed studies are kept there (docs/CLUSTER.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from making import object_storage
from workflow.commands import CHECKOUT, PRELOADED, Ended, made, open_to_others, reident, snakemake

from workflow import small

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not object_storage.PYTHON.exists() and "CI" not in os.environ, reason=".venv-storage is not set up"
    ),
]

SIDES = ("puf", "eif", "iuf")
STUDY = {**small.STUDY, "metrics": {"taxicab": {}}}
STORED = {
    **STUDY,
    "files": {side: {**own, "path": f"objects/small/{side}.csv"} for side, own in small.STUDY["files"].items()},
}


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    with object_storage.server(tmp_path_factory.mktemp("server")) as started:
        yield started


def run(server: object_storage.Server, folder: Path, *arguments: str, **config: str) -> Ended:
    """Run the workflow with object storage, as its profile says."""
    settings = {"study": "in/small.yaml", "storage": "s3://agency/data", **config}
    command = [
        object_storage.PYTHON, "-m", "snakemake", f"--snakefile={CHECKOUT}/workflow/storage/Snakefile",
        f"--workflow-profile={CHECKOUT}/profiles/s3", "--cores=2",
        *(argument for argument in arguments if argument.startswith("--")), "--config",
        *(f"{name}={value}" for name, value in settings.items()), "--",
        *(argument for argument in arguments if not argument.startswith("--")),
    ]  # fmt: skip
    environment = {**os.environ, **server.environment, "COLUMNS": "400"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout)


def results(folder: Path) -> dict[str, bytes]:
    files = sorted([*folder.glob("results/small/*/*.parquet"), *folder.glob("results/small/*.csv")])
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_sources_come_from_object_storage_and_a_sealed_study_goes_there(storage, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    study = small.write(tmp_path / "in", STUDY)
    local = snakemake(*made("small", "rates.csv"), studies=[study], folder=here, program=PRELOADED)
    assert local.code == 0, local.shown
    for side in SIDES:
        storage.put(f"data/small/{side}.csv", study.parent / f"{side}.csv")
    small.write(there / "in", STORED, {})

    ended = run(storage, there)
    assert ended.code == 0, ended.shown
    assert len(results(here)) > 8
    assert {path: results(there)[path] for path in results(here)} == results(here)
    assert storage.keys() == {f"data/small/{side}.csv" for side in SIDES}, "no result left the working directory"
    assert open_to_others(there / "results") == open_to_others(there / "in/objects") == {}
    secret = object_storage.KEYS["SNAKEMAKE_STORAGE_S3_SECRET_KEY"]
    assert secret not in ended.shown
    written = [path for path in there.rglob("*") if path.is_file()]
    assert not [path for path in written if secret.encode() in path.read_bytes()], "a file has the secret"
    checked = reident("check", "in/small.yaml", folder=there)
    assert checked.code == 0, checked.shown
    assert run(storage, there, "--dry-run").planned == {}

    # A sealed study is stored on request, and found as it was.
    for ended in (reident("seal", "in/small.yaml", folder=there), run(storage, there, "deposit")):
        assert ended.code == 0, ended.shown
    (bag,) = there.glob("reports/small/sealed/*.zip")
    key = f"data/sealed/small/{bag.name}"
    assert storage.keys() == {key, *(f"data/small/{side}.csv" for side in SIDES)}
    copy = f"objects/sealed/small/{bag.name}"
    assert run(storage, there, copy).code == 0
    assert (there / copy).read_bytes() == bag.read_bytes()
    assert reident("verify", copy, folder=there).code == 0

    # One that was altered on the server is found.
    altered = bytearray(bag.read_bytes())
    altered[len(altered) // 2] ^= 1
    (tmp_path / "altered.zip").write_bytes(altered)
    storage.put(key, tmp_path / "altered.zip")
    assert run(storage, there, copy).code == 0
    assert (there / copy).read_bytes() == altered, "the newer object was fetched"
    assert reident("verify", copy, folder=there).code == 1

    # A source that was altered on the server is fetched again: before the run `check` refuses, after it the results are
    # those of the new source.
    table = small.rows()["puf"]
    (tmp_path / "puf.csv").write_text(small.csv_text(table[:-1]), encoding="utf-8")
    storage.put("data/small/puf.csv", tmp_path / "puf.csv")
    assert run(storage, there, "in/objects/small/puf.csv").code == 0
    assert reident("check", "in/small.yaml", folder=there).code == 1
    before = results(there)
    ended = run(storage, there)
    assert ended.code == 0, ended.shown
    assert results(there)["results/small/rates.csv"] != before["results/small/rates.csv"]
    assert reident("check", "in/small.yaml", folder=there).code == 0


@pytest.mark.parametrize("storage_setting", ["", "bucket/folder", "https://example.org/data"])
def test_an_address_that_is_not_one_of_object_storage_is_refused(storage, tmp_path, storage_setting):
    small.write(tmp_path / "in", STORED, {})
    ended = run(storage, tmp_path, storage=storage_setting)
    assert ended.code == 1
    assert "config: `storage` must be the address of a folder in object storage." in ended.shown
