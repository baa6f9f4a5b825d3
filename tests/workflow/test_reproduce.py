"""`reident reproduce`: a sealed study is computed again elsewhere, or the reason why not is told in one sentence."""

import errno
import json
import os
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from making import bags
from reident.archive import layout, reproduce, rerun
from reident.errors import InputError
from reident.report import reproduction
from workflow.commands import PRELOADED, ended, open_to_others, reident, snakemake, start_reident

from workflow import small

pytestmark = pytest.mark.slow

PAGES = {f"reproduction.{suffix}" for suffix in ("html", "pdf", "json")} | {rerun.LOG}


@pytest.fixture(scope="module")
def sealed(finished, tmp_path_factory) -> Path:
    """The bag of the small study, moved to an empty folder."""
    work = tmp_path_factory.mktemp("sealed") / "work"
    shutil.copytree(finished.folder, work, symlinks=True)
    ran = reident("seal", "../in/small.yaml", folder=work / "run")
    assert ran.code == 0, ran.shown
    (bag,) = (work / "run/reports/small/sealed").glob("*.zip")
    return bag.rename(tmp_path_factory.mktemp("elsewhere") / bag.name)


@pytest.fixture
def vault(finished, tmp_path) -> Path:
    """The inputs under other names, but for the true links, of which the bag has no digest."""
    folder = tmp_path / "vault"
    (folder / "2026").mkdir(parents=True)
    for number, side in enumerate(("puf", "eif")):
        shutil.copy(finished.folder / "in" / f"{side}.csv", folder / "2026" / f"file-{number}")
    shutil.copy(finished.folder / "in/iuf.csv", folder / "2026")
    return folder


def facts(folder: Path, study: str = "small") -> dict:
    return json.loads((folder / f"reports/reproduce/{study}/reproduction.json").read_text(encoding="utf-8"))


def left(folder: Path) -> set[str]:
    """What a reproduction left in its folder."""
    made = [path for path in (folder / "reports").rglob("*") if path.is_file()]
    return {path.relative_to(folder / "reports/reproduce/small").as_posix() for path in made}


@pytest.mark.long  # one alone: test_golden.py
def test_two_reproductions_at_once_find_every_result_identical(sealed, vault, tmp_path):
    arguments = ("reproduce", sealed, "--inputs", vault, "--cores", "1")
    both = [start_reident(*arguments, folder=tmp_path / "run") for _ in range(2)]
    for ran in map(ended, both):
        assert ran.code == 0, ran.shown
        assert "This runs the installed release: reident" in ran.shown
        assert f"{sealed.stem}: reproduced: " in ran.shown
    found = facts(tmp_path / "run")
    assert found["outcome"] == "reproduced"
    assert found["counts"].keys() == {"identical", "withheld"}
    assert found["counts"]["identical"] > 20
    assert found["same_code"]
    assert found["network"] == (not rerun.without_network())
    assert left(tmp_path / "run") == PAGES
    assert open_to_others(tmp_path / "run" / "reports") == {}


def test_without_an_input_the_bag_is_verified_not_rerun(sealed, vault, tmp_path):
    file = vault / "2026" / "file-0"
    content = bytearray(file.read_bytes())
    content[-2] ^= 1
    (vault / "puf.csv").write_bytes(content)
    file.unlink()
    ran = reident("reproduce", sealed, "--inputs", vault, folder=tmp_path / "run")
    assert ran.code == 3, ran.shown
    assert ": verified, not rerun: 1 of 3 inputs were not found." in ran.shown
    assert f"Not found: puf.csv ({len(content):,} bytes, SHA-256 " in ran.shown
    assert "a file of this name has other content" in ran.shown
    assert facts(tmp_path / "run")["outcome"] == "verified, not rerun"
    assert left(tmp_path / "run") == PAGES - {rerun.LOG}


BAD = [
    (["none.zip"], "none.zip"),
    (["{bag}", "--inputs", "nowhere"], "nowhere: the folder does not exist. Correct `--inputs`."),
    (["{bag}", "--inputs", "{bag}"], "must be a folder, not a file."),
    (["{bag}", "--trust", "0123456789abcdef"], "`--trust` is neither the digest of this bag nor that of its code."),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_a_mistake_on_the_command_line_is_one_sentence_and_leaves_nothing(sealed, tmp_path, arguments, says):
    ran = reident("reproduce", *(argument.format(bag=sealed) for argument in arguments), folder=tmp_path)
    assert ran.code == 1
    (error,) = ran.errors
    assert says in error
    assert "Traceback" not in ran.shown
    assert [path for path in (tmp_path / "reports").rglob("*") if path.is_file()] == []


def test_code_of_a_bag_runs_with_trust_alone(tmp_path):
    payload = bags.payload(tmp_path / "made", include=True)
    payload["data/code/Snakefile"] = (
        b"from pathlib import Path\nPath('marker').write_text('ran')\n"
        b"import sys; sys.exit('Error: the code of the bag ran in ' + Path.cwd().name)\n"
    )
    bag = bags.written(tmp_path, bags.tagged(payload))
    ran = reident("reproduce", bag, folder=tmp_path / "without")
    assert ran.code == 1
    assert "This runs the installed release" in ran.shown
    assert "the code of the bag ran" not in ran.shown
    ran = reident("reproduce", bag, "--trust", bag.stem, folder=tmp_path / "with")
    assert ran.code == 1
    assert "This runs the code of the bag, which you trust" in ran.shown
    assert facts(tmp_path / "with", bags.STUDY)["errors"] == ["the code of the bag ran in run"]
    assert list(tmp_path.rglob("marker")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_reproduction_that_is_stopped_ends_its_run_and_leaves_nothing(sealed, vault, tmp_path, number):
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("these tests run in the background of a shell")
    started = start_reident("reproduce", sealed, "--inputs", vault, folder=tmp_path / "run")
    staging = tmp_path / "run/reports/reproduce"
    until = time.monotonic() + 300
    while not list(staging.glob(".*/run/results/small/prepared")):
        assert time.monotonic() < until
        assert started.poll() is None
        time.sleep(0.2)
    os.kill(started.pid, number)
    stopped = ended(started)
    assert stopped.code == 128 + number
    assert "Traceback" not in stopped.shown
    until = time.monotonic() + 30
    while (working := at_work(staging)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not working
    assert [path for path in staging.rglob("*") if path.is_file()] == []


def at_work(folder: Path) -> list[str]:
    """The processes that work below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if folder in (process / "cwd").readlink().parents:
                found.append(process.name)
        except OSError:
            continue
    return found


SHORT = {**small.STUDY, "id": "short", "metrics": {"taxicab": {}}}
RESOLVED_ALIKE = "# The study of the board.\nseal: {inputs: include}\nrates: {interval: clopper-pearson}\n"
"""A comment, a section that concerns the bag alone, and a default."""


def in_bag(folder: Path) -> dict[str, bytes]:
    """The content of the bag of the short study, without times and what has the digests of them."""
    (bag,) = (folder / "run/reports/short/sealed").glob("*.zip")
    with zipfile.ZipFile(bag) as archive:
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    names = {"data/cost.json", "data/ro-crate-metadata.json", "manifest-sha512.txt", "tagmanifest-sha512.txt"}
    names |= {layout.NONCE}
    return {name: content for name, content in files.items() if name not in names | {"bag-info.txt"}}


def test_a_bag_sealed_as_the_readme_says_is_reproduced_whatever_the_study_file_said_before(tmp_path):
    """Finish a study, add `seal: {inputs: include}`, seal it, reproduce it elsewhere."""
    later, once = tmp_path / "later", tmp_path / "once"
    for folder in (later, once):
        file = small.write(folder / "in", SHORT, small.rows(40, 60))
        if folder == later:
            ran = snakemake(studies=["../in/short.yaml"], folder=folder / "run", program=PRELOADED)
            assert ran.code == 0, ran.shown
        with file.open("a", encoding="utf-8") as study:
            study.write(RESOLVED_ALIKE)
        if folder == later:
            assert snakemake("--dry-run", studies=["../in/short.yaml"], folder=folder / "run").planned == {}
        else:
            ran = snakemake(studies=["../in/short.yaml"], folder=folder / "run", program=PRELOADED)
            assert ran.code == 0, ran.shown
        ran = reident("seal", "../in/short.yaml", folder=folder / "run")
        assert ran.code == 0, ran.shown
    assert in_bag(later) == in_bag(once)
    (bag,) = (later / "run/reports/short/sealed").glob("*.zip")
    ran = reident("reproduce", bag, "--cores", "2", folder=tmp_path / "elsewhere")
    assert ran.code == 0, ran.shown
    assert facts(tmp_path / "elsewhere", "short")["counts"].keys() == {"identical"}


# In this process, with a run that is a copy of the finished one


@pytest.fixture
def computed(finished, monkeypatch, tmp_path):
    """Let a run be the finished results, as `edit` changes them; return what reproduces the bag then."""
    monkeypatch.chdir(tmp_path)

    def reproduced(bag: Path, inputs: Path, edit=None, status: int = 0, **settings):
        def run(root, placed, into, cores, config, progress):
            shutil.copytree(finished.folder / "run", into / rerun.RUN, symlinks=True)
            (into / rerun.LOG).write_text("what it said\n", encoding="utf-8")
            if edit:
                edit(into / rerun.RUN)
            return rerun.Ended(status, [], 1.0, network=False)

        monkeypatch.setattr(rerun, "run", run)
        return reproduce.run(bag, reproduction.render, inputs=inputs, **settings)

    return reproduced


def edit_rates(run: Path) -> None:
    file = run / "results/small/rates.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("unicity,ALL,300,", "unicity,ALL,301,"), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text


EDITS = [
    (edit_rates, "rates.csv: row 1, column n_puf", {"row": 1, "column": "n_puf", "sealed": "300", "computed": "301"}),
    (
        lambda run: (run / "results/small/confirmed/taxicab.limits.csv").unlink(),
        "confirmed/taxicab.limits.csv is missing",
        None,
    ),
    (lambda run: (run / "results/small/rates.csv").unlink(), "rates.csv is missing", None),
    (lambda run: (run / "reports/small/disclosure-review.pdf").write_bytes(b""), "reports/disclosure-review.pdf", None),
]


@pytest.mark.parametrize(("edit", "place", "difference"), EDITS)
def test_one_result_that_is_not_the_sealed_one_is_not_reproduced(
    sealed, vault, computed, tmp_path, edit, place, difference
):
    lines, status = computed(sealed, vault, edit)
    assert status == 1
    assert lines[0].startswith(f"Error: {sealed.stem}: not reproduced: ")
    assert lines[1] == f"First differences: {place}."
    assert "301" not in "".join(lines)
    (line,) = [line for line in facts(tmp_path)["results"] if line["outcome"] not in ("identical", "withheld")]
    assert line["difference"] == difference or difference is None
    shown = subprocess.run(
        ["pdftotext", tmp_path / "reports/reproduce/small/reproduction.pdf", "-"],
        capture_output=True, encoding="utf-8", check=True,
    ).stdout  # fmt: skip
    assert "Not reproduced" in shown
    assert place.split(":")[0].removesuffix(" is missing") in shown.replace("\n", "")


def edit_pairs(run: Path) -> None:
    file = run / "results/small/confirmed/unicity.parquet"
    file.write_bytes((run / "results/small/confirmed/taxicab.parquet").read_bytes())


def test_a_pair_that_is_not_the_sealed_one_is_not_reproduced_from_a_bag_with_its_inputs(
    finished, vault, computed, tmp_path_factory
):
    """Only such a bag, as confidential as the true links, has the digests of pairs."""
    work = tmp_path_factory.mktemp("included") / "work"
    shutil.copytree(finished.folder, work, symlinks=True)
    with (work / "in/small.yaml").open("a", encoding="utf-8") as study:
        study.write("seal: {inputs: include}\n")
    ran = reident("seal", "../in/small.yaml", folder=work / "run")
    assert ran.code == 0, ran.shown
    (bag,) = (work / "run/reports/small/sealed").glob("*.zip")
    lines, status = computed(bag, vault, edit_pairs)
    assert status == 1
    assert lines[0].startswith(f"Error: {bag.stem}: not reproduced: ")
    assert lines[1] == "First differences: confirmed/unicity.parquet."


def test_without_room_on_the_disk_nothing_is_computed(sealed, vault, computed, monkeypatch, tmp_path):
    enough = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(reproduce.shutil, "disk_usage", lambda _: enough._replace(free=1000))
    with pytest.raises(InputError, match="disk"):
        computed(sealed, vault)
    assert left(tmp_path) == set()


def test_a_disk_that_fills_up_is_one_sentence_and_leaves_no_page(sealed, vault, computed, monkeypatch, tmp_path):
    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(reproduce.stored, "write", full)
    with pytest.raises(InputError, match=r"the disk is full\. Make room"):
        computed(sealed, vault)
    assert left(tmp_path) == set()
