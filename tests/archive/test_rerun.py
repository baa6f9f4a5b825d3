"""A sealed study is placed so that its inputs are where it expects them, and runs cut off from everything else."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from making.report import write_entry
from reident.archive import layout, rerun
from reident.archive.inputs import Input
from reident.errors import InputError
from reident.pipeline.family import Family
from workflow.small import STUDY, rows, write


def bag_of(base: Path, paths: dict[str, str], variants: list | None = None) -> tuple[Path, list[Input], dict]:
    """A bag with the small study, its inputs under `paths`, and where these are now."""
    study = {**STUDY, "files": {side: {**file, "path": paths[side]} for side, file in STUDY["files"].items()}}
    study |= {"variants": variants} if variants else {}
    write(base / "in", STUDY, rows(20, 30))
    bag = base / "bag"
    (bag / "data/study").mkdir(parents=True)
    text = "# A comment.\n" + yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
    (bag / "data/study/small.yaml").write_text(text, encoding="utf-8")
    inputs, found = [], {}
    for side, path in paths.items():
        file = base / "in" / STUDY["files"][side]["path"]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        inputs.append(Input(path, digest, file.stat().st_size, None))
        found[digest] = file
    return bag, inputs, found


PLAIN = {"puf": "puf.csv", "eif": "eif.csv", "iuf": "iuf.csv"}


@pytest.mark.parametrize(
    "paths",
    [
        PLAIN,
        {**PLAIN, "puf": "../puf.csv", "iuf": "../../vault/2026/iuf.csv"},
        {**PLAIN, "puf": "a/../../b/./puf.csv"},
        {**PLAIN, "puf": "Übung mit Leerzeichen/puf, neu.csv"},
    ],
    ids=["beside", "above", "down and up", "letters"],
)
def test_relative_paths_stay_and_no_byte_of_the_study_changes(tmp_path, paths):
    bag, inputs, found = bag_of(tmp_path, paths)
    into = tmp_path / "deep" / "work"
    into.mkdir(parents=True)
    placed = rerun.place(bag, "small.yaml", inputs, found, into)
    assert placed.renamed == {}
    assert placed.file.read_bytes() == (bag / "data/study/small.yaml").read_bytes()
    for item in inputs:
        file = placed.file.parent / item.path
        assert file.read_bytes() == found[item.sha256].read_bytes()
        assert into in Path(os.path.normpath(file)).parents
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag", "deep", "in"]


def test_an_absolute_path_without_its_file_is_replaced_and_nothing_else(tmp_path):
    paths = {**PLAIN, "puf": "/agency/no such folder/puf.csv"}
    bag, inputs, found = bag_of(tmp_path, paths)
    (tmp_path / "work").mkdir()
    placed = rerun.place(bag, "small.yaml", inputs, found, tmp_path / "work")
    (new,) = placed.renamed
    assert placed.renamed[new] == paths["puf"]
    before = (bag / "data/study/small.yaml").read_text(encoding="utf-8")
    assert placed.file.read_text(encoding="utf-8") == before.replace(paths["puf"], json.dumps(new))
    assert Family(placed.file).study.files.puf.path == new
    assert (placed.file.parent / new).read_bytes() == found[inputs[0].sha256].read_bytes()


@pytest.mark.parametrize("labelled", [True, False])
def test_a_variant_that_is_named_after_an_absolute_path_is_refused(tmp_path, labelled):
    paths = {**PLAIN, "puf": "/agency/gone/puf.csv"}
    values = {"old": "/agency/gone/puf.csv"} if labelled else ["/agency/gone/puf.csv"]
    # Beside it a second value, so that there is something to compare.
    values = {**values, "new": "puf.csv"} if labelled else [*values, "puf.csv"]
    bag, inputs, found = bag_of(tmp_path, paths, [{"set": "files.puf.path", "name": "file", "values": values}])
    (tmp_path / "work").mkdir()
    if labelled:
        assert rerun.place(bag, "small.yaml", inputs, found, tmp_path / "work").renamed
    else:
        with pytest.raises(InputError, match="a variant has the name of a file"):
            rerun.place(bag, "small.yaml", inputs, found, tmp_path / "work")


@pytest.mark.parametrize("path", ["{puf}.csv", "puf\0.csv"])
def test_a_path_that_no_study_can_have_is_refused(tmp_path, path):
    bag, inputs, found = bag_of(tmp_path, PLAIN)
    (tmp_path / "work").mkdir()
    with pytest.raises(InputError, match="the path of an input contains"):
        rerun.place(bag, "small.yaml", [inputs[0]._replace(path=path)], found, tmp_path / "work")


def ledger(bag: Path, inputs: dict) -> None:
    outputs = {"study": {"path": "study.json", "sha256": ""}}
    write_entry(bag / "data/ledger", {"step": "resolve", "versions": {}, "outputs": outputs, "inputs": inputs})


@pytest.mark.parametrize("name", ["other.yaml", "..", "../study/small.yaml/..", ""])
def test_a_bag_that_names_another_study_file_is_refused(tmp_path, name):
    bag, _, _ = bag_of(tmp_path, PLAIN)
    with pytest.raises(InputError, match="the bag has no study file"):
        rerun.study_file(bag, {"study": name})


@pytest.mark.parametrize(
    "inputs",
    [
        None,
        {},
        {"study": []},
        {"study": [{"path": "source:other.yaml", "sha256": ""}]},
        {"study": [{"path": "..", "sha256": ""}]},
    ],
)
def test_a_bag_without_its_study_file_is_refused(tmp_path, inputs):
    bag, _, _ = bag_of(tmp_path, PLAIN)
    if inputs is not None:
        ledger(bag, inputs)
    with pytest.raises(InputError, match="the bag has no study file"):
        rerun.study_file(bag, {})


@pytest.mark.parametrize(
    ("names", "n"),
    [(["score.taxicab.1-of-3", "score.taxicab.3-of-3"], 3), (["score.taxicab.0001"], None), ([], None)],
    ids=["scattered", "of a release that packed by a budget", "without scores"],
)
def test_a_study_is_scattered_as_it_was(tmp_path, names, n):
    folder = tmp_path / layout.LEDGER / "ledger"
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.json").touch()
    assert rerun.shards(tmp_path) == n


# The run

SNAKEFILE = """
import os, socket, json
facts = {"environment": dict(os.environ), "folder": os.getcwd(), "config": config}
try:
    socket.create_connection(("127.0.0.1", int(PORT)), timeout=5).close()
    facts["network"] = True
except OSError:
    facts["network"] = False
json.dump(facts, open("facts.json", "w"))
rule all:
    shell: "echo 'Error: this is wrong'; echo 'Error: this is wrong'; exit 1" if config.get("fail") else "true"
"""


@pytest.fixture
def ran(tmp_path, monkeypatch):
    import socket

    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = tmp_path / "code"
        code.mkdir()
        (code / "Snakefile").write_text(SNAKEFILE.replace("PORT", str(server.getsockname()[1])), encoding="utf-8")

        def run(**settings):
            into = tmp_path / "work"
            into.mkdir(exist_ok=True)
            placed = rerun.Placed(into / "study" / "small.yaml", {})
            ended = rerun.run(code, placed, into, "1", settings, lambda: None)
            return ended, json.loads((into / "run" / "facts.json").read_text(encoding="utf-8"))

        yield run


def test_a_run_has_a_clean_environment_its_own_home_and_no_network(ran, tmp_path):
    ended, facts = ran(shards=7)
    assert (ended.status, ended.errors) == (0, [])
    environment = facts["environment"]
    assert "SECRET_OF_THE_USER" not in environment
    assert environment["PYTHONPATH"] == str(tmp_path / "code" / "workflow" / "lib")
    assert environment["HOME"] == str(tmp_path / "work" / "home")
    assert facts["folder"] == str(tmp_path / "work" / "run")
    assert facts["config"] == {"study": "../study/small.yaml", "shards": 7}
    assert facts["network"] == ended.network
    if sys.platform == "linux" and os.geteuid() == 0 and shutil.which("unshare"):
        assert not ended.network


def test_a_run_that_may_not_be_cut_off_says_so(ran, monkeypatch):
    monkeypatch.setattr(rerun, "_WITHOUT_NETWORK", (("false",),))
    ended, facts = ran()
    assert ended.network
    assert facts["network"]
