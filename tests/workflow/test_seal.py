"""A finished study is sealed into one file, which others read as a bag and a crate, and boards sign."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from reident.archive import content, layout, seal, verify
from reident.errors import InputError
from reident.ledger.check import check
from reident.ledger.stored import read_csv
from reident.pipeline.family import Family
from workflow.commands import CHECKOUT, PRELOADED, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

NOTEBOOK = CHECKOUT / "workflow" / "notebooks" / "disclosure-review.ipynb"
OTHERS = CHECKOUT / ".venv-conformance" / "bin" / "python"
"""The interpreter of the readers of others, see `conformance` in pyproject.toml."""


@pytest.fixture
def study(finished, tmp_path, monkeypatch) -> Path:
    """A copy of the finished study, whose working directory is the current one; the path of the study file."""
    shutil.copytree(finished.folder, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy" / "run")
    return Path("../in/small.yaml")


def change(study: Path, **sections) -> None:
    """Write further sections into the study file."""
    with study.open("a", encoding="utf-8") as file:
        yaml.safe_dump(sections, file)


def sealed(study: Path) -> Path:
    """Seal the study and return its bag."""
    return Path(re.search(r"sealed as (\S+\.zip)", answer(study)[0])[1])


def answer(study: Path) -> list[str]:
    """What `reident seal` says of the study."""
    return seal.seal(Family(study), NOTEBOOK, Path("results"))


def inside(bag: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bag) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def document(bag: Path, name: str) -> dict:
    return json.loads(inside(bag)[name])


def new_key(folder: Path, name: str) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
    subprocess.run(command, check=True)
    return folder / name


@pytest.mark.quick
def test_the_command_seals_and_the_reader_verifies(study):
    ended = reident("seal", study, folder=Path.cwd())
    assert ended.code == 0, ended.shown
    (bag,) = Path("reports/small/sealed").iterdir()
    digest = bag.stem.removeprefix("small-")
    assert f"small: sealed as reports/small/sealed/{bag.name}" in ended.shown
    assert f"small: its digest is {digest}. Tell the auditor this digest, apart from the file." in ended.shown
    assert "small: not signed." in ended.shown
    assert ended.shown.count("small: not dated. Give the date of the review with `--date`") == 1
    verified, _ = verify.read(bag)
    assert (verified.study, verified.digest, verified.signed_by) == ("small", digest, None)
    checked = check(Family(study), Path("results"), NOTEBOOK)
    assert checked.closes
    assert "not made by any step" not in checked.line
    assert snakemake("--dry-run", studies=[study], folder=Path.cwd()).planned == {}


def test_the_date_of_the_review_may_be_given_where_the_study_is_sealed(study):
    ended = reident("seal", study, "--date", "2026-03-31", folder=Path.cwd())
    assert "not dated" not in ended.shown
    (bag,) = Path("reports/small/sealed").iterdir()
    assert b"Bagging-Date: 2026-03-31\n" in inside(bag)["bag-info.txt"]


def test_every_result_is_listed_and_those_with_data_are_not_in_it(study):
    bag = sealed(study)
    files, lines = inside(bag), document(bag, layout.OUTPUTS)["outputs"]
    paths = [line["path"] for line in lines]
    root = Path("results/small")
    made = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    made = {path for path in made if path.split("/")[0] not in ("ledger", "logs", "benchmarks")}
    assert paths == sorted({*made, "reports/disclosure-review.html", "reports/disclosure-review.pdf"})
    for line in lines:
        path = (
            root / line["path"]
            if not line["path"].startswith("reports/")
            else Path("reports/small") / Path(line["path"]).name
        )
        if line["bag"] is None:
            assert (line["sha256"], line["size"], line["content"]) == (None, None, None)
            continue
        assert line["size"] == path.stat().st_size
        assert line["content"] == (None if line["path"].startswith("reports/") else content.digest(path))
        if path.suffix in (".csv", ".parquet") and line["rows"] is not None and path.suffix == ".csv":
            assert line["rows"] == len(read_csv(path))
        if line["bag"] is not None:
            assert files[layout.PAYLOAD + line["bag"]] == path.read_bytes()
        assert (line["bag"] is None) == (line["holds_data"] and not line["path"].startswith("reports/"))
    held = {line["path"] for line in lines if line["bag"] is None}
    assert {"prepared/puf.parquet", "confirmed/adhoc.parquet", "strata/puf.parquet", "disclosure-review.ipynb"} <= held
    assert "strata/manifest.csv" not in held, "its labels are in the report"
    assert {line["path"] for line in lines if line["equal"] == "report"} == {
        "disclosure-review.ipynb", "reports/disclosure-review.html", "reports/disclosure-review.pdf",
    }  # fmt: skip
    keys = {",".join(row[:2]) for side in ("puf", "eif") for row in small.rows()[side][1:]}
    texts = [data.decode(errors="replace") for name, data in files.items() if not name.startswith(layout.CODE)]
    assert not [key for key in keys for text in texts if f"\n{key}," in text]


def test_documents_say_what_was_read_decided_and_spent(study):
    change(
        study,
        decision={"conditional_rate_at_most": 0.5},
        date="2026-03-31",
        agency="Office",
        title="Small\n\u202estudy",
    )
    assert snakemake(studies=[study], folder=Path.cwd(), program=PRELOADED).code == 0
    bag = sealed(study)
    read = document(bag, layout.INPUTS)["inputs"]
    assert [(line["path"], line["sides"], line["rows"], line["bag"]) for line in read] == [
        ("eif.csv", ["eif"], 500, None), ("iuf.csv", ["iuf"], 150, None), ("puf.csv", ["puf"], 300, None),
    ]  # fmt: skip
    decided = document(bag, layout.DECISION)
    assert decided["rule"]["conditional_rate_at_most"] == 0.5
    limits = read_csv(Path("results/small/verdict/limits.csv"))
    assert [line["value"] for line in decided["limits"]] == limits["value"].tolist()
    assert decided["summary"][0]["verdict"] == read_csv(Path("results/small/verdict/summary.csv"))["verdict"][0]
    spent = document(bag, layout.COST)
    assert len(spent["steps"]) == len([name for name in inside(bag) if name.startswith(layout.LEDGER)])
    assert spent["total"]["seconds"] > 1
    assert spent["total"]["peak_memory_mb"] > 10
    info = inside(bag)[layout.INFO].decode()
    assert "Bagging-Date: 2026-03-31\n" in info
    assert "Source-Organization: Office\n" in info
    assert len(info.splitlines()) == len(info.split("\n")) - 1 == 8


def test_the_code_is_that_of_the_checkout_without_tests_studies_and_caches(study):
    names = {name.removeprefix(layout.CODE) for name in inside(sealed(study)) if name.startswith(layout.CODE)}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.split()
    code = {name for name in tracked if re.match(r"workflow/|profiles/|Snakefile|Makefile|requirements\.lock", name)}
    assert code <= names
    assert not [name for name in names if re.match(r"tests/|results/|reports/|\.|config/studies/", name)]
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


SETTINGS = {
    "another time zone and language": {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "another seed of hashes, in the mode of no encoding": {
        "PYTHONHASHSEED": "12345",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
}


def test_sealing_gives_the_same_bytes_elsewhere_and_under_other_settings(study, tmp_path):
    first = sealed(study)
    before = first.read_bytes()
    assert sealed(study).read_bytes() == before
    os.utime(study)
    shutil.move(tmp_path / "copy", tmp_path / "another place")
    os.chdir(tmp_path / "another place" / "run")
    for at, settings in enumerate(SETTINGS.values()):
        ended = reident("seal", study, folder=Path.cwd(), environment=settings, umask=(0o077, 0o000)[at % 2])
        assert ended.code == 0, ended.shown
        assert [path.name for path in first.parent.iterdir()] == [first.name]
        assert first.read_bytes() == before


@pytest.mark.skipif(not OTHERS.exists() and "CI" not in os.environ, reason=".venv-conformance is not set up")
def test_the_readers_of_others_accept_it(study, tmp_path):
    key = new_key(tmp_path, "key")
    change(study, seal={"inputs": "include", "sign_with": os.path.relpath(key, study.parent)}, date="2026-03-31")
    assert snakemake(studies=[study], folder=Path.cwd(), program=PRELOADED).code == 0
    bag = sealed(study)
    with zipfile.ZipFile(bag) as archive:
        archive.extractall(tmp_path / "out")
    folder = tmp_path / "out" / bag.stem
    command = [OTHERS, CHECKOUT / "tests" / "oracles" / "bags.py", folder]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["name"] == "small"
    assert told["checks"] > 150
    assert [issue for issue in told["issues"] if issue[0] == "REQUIRED"] == []
    # Advice that does not fit: funders, web addresses of the agency, and lists of every table and every source.
    advice = {issue[1].split(".")[0] for issue in told["issues"]}
    assert advice <= {"49", "54", "68", "85", "86", "89", "90", "93"}
    (tmp_path / "signers").write_text(f"agency {Path(f'{key}.pub').read_text()}")
    command = ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "signers", "-I", "agency", "-n", layout.NAMESPACE]
    with (folder / layout.TAG_MANIFEST).open("rb") as signed:
        subprocess.run([*command, "-s", folder / layout.SEAL_SIGNATURE], stdin=signed, check=True)


def test_inputs_are_in_it_where_the_study_says_so_and_no_step_runs_again(study):
    hashes = sealed(study)
    change(study, seal={"inputs": "include"})
    assert snakemake("--dry-run", studies=[study], folder=Path.cwd()).planned == {}
    bag = sealed(study)
    files = inside(bag)
    for line in document(bag, layout.INPUTS)["inputs"]:
        assert line["bag"] == f"inputs/{line['sha256']}.csv"
        assert files[layout.PAYLOAD + line["bag"]] == (study.parent / line["path"]).read_bytes()
    assert not [name for name in inside(hashes) if name.startswith(layout.SOURCES)]
    assert verify.read(bag)[0].digest != verify.read(hashes)[0].digest
    (study.parent / "puf.csv").rename(study.parent / "moved.csv")
    with pytest.raises(InputError, match=r"^\.\./in/puf\.csv does not exist\. Put it back, or set `seal: "):
        answer(study)


def _edited(root: Path) -> str:
    path = root / "rates.csv"
    path.write_bytes(path.read_bytes().replace(b"taxicab", b"taxicap", 1))
    return "the chain is broken"


def _no_results(root: Path) -> str:
    shutil.rmtree(root)
    return "no results"


def _no_report(root: Path) -> str:
    (root / "ledger/report.json").unlink()
    (root / "disclosure-review.ipynb").unlink()
    shutil.rmtree("reports/small")
    return "the report"


def _other_settings(_: Path) -> str:
    change(Path("../in/small.yaml"), rank_filter={"max_pairs": 3})
    return "made with different study settings"


@pytest.mark.parametrize("spoil", [_edited, _no_results, _no_report, _other_settings])
def test_a_chain_that_does_not_close_is_not_sealed(study, spoil):
    what = spoil(Path("results/small"))
    with pytest.raises(InputError, match=what):
        answer(study)
    assert not list(Path().rglob("*.zip"))


DECISION = """\
board: Disclosure review board
decision: approved with conditions
conditions: [Suppress the variable rooms.]
names:
  - {name: A. Chair, role: chair}
date: 2026-04-01
"""


def signed(bag: Path, key: Path, text: str = DECISION) -> list[str]:
    file = key.parent / "signoff.yaml"
    file.write_text(text, encoding="utf-8")
    return seal.sign(bag, file, key)


def test_boards_sign_and_the_bag_keeps_its_digest(study, tmp_path):
    keys = [new_key(tmp_path, name) for name in ("seal", "chair", "deputy")]
    change(study, seal={"sign_with": os.path.relpath(keys[0], study.parent)})
    bag = sealed(study)
    first = inside(bag)
    lines = signed(bag, keys[1])
    assert lines[0].startswith(f"{bag}: Disclosure review board: approved with conditions, signed by SHA256:")
    signed(
        bag,
        keys[2],
        DECISION.replace("approved with conditions", "rejected").replace("[Suppress the variable rooms.]", "[]"),
    )
    assert {name: data for name, data in inside(bag).items() if name in first} == first
    signers = tmp_path / "signers"
    signers.write_text("".join(f"{key.name}@agency {Path(f'{key}.pub').read_text()}" for key in keys))
    verified, _ = verify.read(bag, signers)
    assert verified.signed_by.principal == "seal@agency"
    told = {one.signer.principal: one.content for one in verified.sign_offs}
    assert {who: content["decision"] for who, content in told.items()} == {
        "chair@agency": "approved with conditions", "deputy@agency": "rejected",
    }  # fmt: skip
    assert told["chair@agency"]["conditions"] == ["Suppress the variable rooms."]
    with pytest.raises(InputError, match="already has a sign-off by the key"):
        signed(bag, keys[1])
    # Sealed again, nothing is lost.
    before = inside(bag)
    assert sealed(study) == bag
    assert inside(bag) == before
    assert verify.read(bag, signers)[0] == verified
    assert list(bag.parent.iterdir()) == [bag]


def test_a_bag_that_was_changed_is_neither_signed_nor_sealed_over(study, tmp_path):
    key, bag = new_key(tmp_path, "key"), sealed(study)
    data = bytearray(bag.read_bytes())
    data[len(data) // 2] ^= 1
    bag.write_bytes(data)
    with pytest.raises(InputError, match=re.escape(str(bag))):
        signed(bag, key)
    with pytest.raises(InputError, match=r"Move that file away, and seal the study again\.$"):
        answer(study)
    assert bag.read_bytes() == data


WRONG = {
    "no board": (DECISION.replace("board:", "bord:"), "`board` is missing"),
    "another decision": (
        DECISION.replace("approved with conditions", "maybe"),
        "line 2: `decision` must be `approved`",
    ),
    "no conditions": (DECISION.replace("conditions: [", "# ["), "`conditions` must be given with"),
    "conditions of an approval": (
        DECISION.replace("approved with conditions", "approved"),
        "line 3: `conditions` must be",
    ),
    "nobody": (re.sub(r"names:\n.*\n", "names: []\n", DECISION), "`names` must have at least 1 item"),
    "no role": (DECISION.replace(", role: chair", ""), "line 5: `names[1].role` is missing"),
    "a date that is none": (DECISION.replace("2026-04-01", "2026-02-30"), "`date` is not a valid date"),
    "a key twice": (DECISION + "board: x\n", "line 7: `board` is given twice"),
    "not YAML": ("board: [", "is not valid YAML"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_a_sign_off_has_its_line(tmp_path, name):
    text, what = WRONG[name]
    (tmp_path / "signoff.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        seal.sign(tmp_path / "bag.zip", tmp_path / "signoff.yaml", tmp_path / "key")
    assert what in str(error.value)
