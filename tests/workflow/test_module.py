"""The workflow as a module of another one, in another folder, gives what it gives by itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from workflow.commands import CHECKOUT, copied, reident
from workflow.elsewhere import made, run

from workflow import small

pytestmark = pytest.mark.slow

STUDY = {**small.STUDY, "metrics": {"taxicab": {}}, "decision": {"conditional_rate_at_most": 0.9}}
OTHER = {**STUDY, "id": "other", "metrics": {"unicity": {}}}
RATES = "results/{}/rates.csv"


class Alone(NamedTuple):
    """The workflow by itself: its folder, in which the sources are in `data`, and the rates of its two studies."""

    folder: Path
    rates: dict[str, bytes]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Alone:
    folder = tmp_path_factory.mktemp("module")
    for study in (STUDY, OTHER):
        small.write(folder / "data", study, small.rows(60, 90))
    studies = "study=data/small.yaml,data/other.yaml"
    ended = run(folder, f"--snakefile={CHECKOUT}/Snakefile", "--config", studies)
    assert ended.code == 0, ended.shown
    rates = {name: (folder / RATES.format(name)).read_bytes() for name in ("small", "other")}
    assert rates["small"] != rates["other"]
    return Alone(folder, rates)


def place(alone: Alone, folder: Path, file: str, study: dict = STUDY, sources: str = "data") -> None:
    """Write a study file whose sources are in a folder beside the Snakefile, and the sources themselves."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    (folder / sources).mkdir(exist_ok=True)
    files = {}
    for side, declared in study["files"].items():
        name = declared["path"]
        shutil.copy(alone.folder / "data" / name, folder / sources)
        files[side] = {**declared, "path": os.path.relpath(folder / sources / name, path.parent)}
    path.write_text(yaml.safe_dump({**study, "files": files}, allow_unicode=True), encoding="utf-8")


IMPORTER = """
    module reident:
        snakefile: "{checkout}/workflow/Snakefile"
        config: {{"study": "{study}"}}
        {prefix}

    use rule * from reident as reident_*

    {rule}
"""
DRAW = """
    rule draw:
        input: "drawn.csv"
        output: "made/puf.csv"
        shell: "cp {input} {output}"
"""


def jobs(ended):
    """The rules of the jobs that a run sets out to run, by the table that Snakemake shows."""
    return set(re.findall(r"^(\w+) +\d+$", ended.shown, re.MULTILINE)) - {"total"}


@pytest.mark.parametrize("prefix", ["", "risk"], ids=["no prefix", "a prefix"])
@pytest.mark.parametrize("source", ["present", "made"])
@pytest.mark.parametrize(
    "study",
    [
        pytest.param("config/small.yaml", id="in a folder"),
        pytest.param("small.yaml", id="beside", marks=pytest.mark.long),
    ],
)
def test_a_module_gives_the_rates_of_the_workflow_by_itself(alone, tmp_path, prefix, source, study):
    place(alone, tmp_path, study, sources="made")
    if source == "made":
        (tmp_path / "made/puf.csv").rename(tmp_path / "drawn.csv")
    snakefile = IMPORTER.format(
        checkout=CHECKOUT,
        study=study,
        prefix=f'prefix: "{prefix}"' if prefix else "",
        rule=DRAW if source == "made" else "",
    )
    ended = run(tmp_path, "reident_all", snakefile=snakefile)
    assert ended.code == 0, ended.shown
    assert (tmp_path / prefix / RATES.format("small")).read_bytes() == alone.rates["small"]
    assert "small: above the limit" in ended.shown, "the run ends with its conclusion"
    assert ("draw" in jobs(ended)) == (source == "made")
    assert jobs(run(tmp_path, "--dry-run", "reident_all")) == {"reident_all"}


def test_a_source_that_the_importer_makes_anew_is_read_anew(alone, tmp_path):
    """Under the same path and with its time stamp kept, as `cp --preserve` leaves it."""
    place(alone, tmp_path, "config/small.yaml", sources="made")
    (tmp_path / "made/puf.csv").rename(tmp_path / "drawn.csv")
    rule = DRAW.replace("cp", "cp --preserve")
    snakefile = IMPORTER.format(checkout=CHECKOUT, study="config/small.yaml", prefix="", rule=rule)
    target = RATES.format("small")
    assert run(tmp_path, target, snakefile=snakefile).code == 0
    drawn = tmp_path / "drawn.csv"
    text = drawn.read_text(encoding="utf-8")
    drawn.write_text(text.replace("rent", "free"), encoding="utf-8")
    ended = run(tmp_path, target)
    assert ended.code == 0, ended.shown
    (tmp_path / "changed").mkdir()
    for path in ("config", "made"):
        shutil.copytree(tmp_path / path, tmp_path / "changed" / path)
    study = "study=config/small.yaml"
    expected = run(tmp_path / "changed", f"--snakefile={CHECKOUT}/Snakefile", target, "--config", study)
    assert expected.code == 0, expected.shown
    found = [(folder / target).read_bytes() for folder in (tmp_path, tmp_path / "changed")]
    assert found[0] == found[1] != alone.rates["small"]


def test_a_source_that_is_neither_there_nor_made_is_named(alone, tmp_path):
    place(alone, tmp_path, "config/small.yaml", sources="made")
    (tmp_path / "made/puf.csv").unlink()
    snakefile = IMPORTER.format(checkout=CHECKOUT, study="config/small.yaml", prefix="", rule="")
    ended = run(tmp_path, "reident_all", snakefile=snakefile)
    assert ended.code == 1
    assert "MissingInputException" in ended.shown
    assert "made/puf.csv" in ended.shown


def test_folders_under_a_prefix_must_be_closed_to_others(alone, tmp_path):
    place(alone, tmp_path, "config/small.yaml", sources="made")
    (tmp_path / "risk/results").mkdir(parents=True)
    (tmp_path / "risk/results").chmod(0o750)
    snakefile = IMPORTER.format(checkout=CHECKOUT, study="config/small.yaml", prefix='prefix: "risk"', rule="")
    ended = run(tmp_path, "--dry-run", "reident_all", snakefile=snakefile)
    assert ended.code == 1
    assert f"{tmp_path}/risk/results holds confidential data and is open to others (drwxr-x---)" in ended.shown


TWO = """
    module first:
        snakefile: "{checkout}/workflow/Snakefile"
        config: {{"study": "config/small.yaml"}}
        prefix: "first"

    use rule * from first as first_*

    module second:
        snakefile: {tagged}
        config: {{"study": "config/other.yaml"}}

    use rule * from second as second_*

    rule summary:
        default_target: True
        input: rules.first_all.input, rules.second_all.input
        output: "summary.txt"
        shell: "cat first/results/small/rates.csv results/other/rates.csv > {{output}}"
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.check_output(["git", *identity, *arguments], cwd=folder, text=True).strip()


def tagged(folder: Path) -> Path:
    """A repository with the code of this checkout under the tag v1.0.0."""
    folder.mkdir()
    copied(folder)
    for part in ("pyproject.toml", "requirements.lock"):
        shutil.copy2(CHECKOUT / part, folder / part)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All")
    git(folder, "tag", "v1.0.0")
    return folder


def test_two_modules_in_one_workflow_from_a_folder_and_from_a_git_tag(alone, tmp_path):
    """The second as `snakedeploy deploy-workflow` names it, with a clone where Snakemake keeps those of a host."""
    repository, cache = tagged(tmp_path / "repository"), tmp_path / "cache"
    clone = cache / "snakemake/snakemake/source-cache/snakemake-git-cache/github.com/agency/reident"
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), str(clone))
    folder = tmp_path / "user"
    place(alone, folder, "config/small.yaml")
    place(alone, folder, "config/other.yaml", OTHER)
    statement = 'github("agency/reident", path="workflow/Snakefile", tag="v1.0.0")'
    cached = {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": str(CHECKOUT / ".cache" / "numba")}
    ended = run(folder, snakefile=TWO.format(checkout=CHECKOUT, tagged=statement), **cached)
    assert ended.code == 0, ended.shown
    assert (folder / "first" / RATES.format("small")).read_bytes() == alone.rates["small"]
    assert (folder / RATES.format("other")).read_bytes() == alone.rates["other"]
    assert (folder / "summary.txt").read_bytes() == alone.rates["small"] + alone.rates["other"]
    assert jobs(run(folder, "--dry-run", "first_all", "second_all", **cached)) == {"first_all", "second_all"}


RENAMED = f"""
    module reident:
        snakefile: "{CHECKOUT}/workflow/Snakefile"
        config: config["reident"]

    use rule * from reident as reident_*

    # A change to one rule reads the workflow once more.
    use rule rate from reident as reident_rate with:
        threads: 2

    rule everything:
        default_target: True
        input: rules.reident_all.input, "summary/results/copy.csv"

    # A rule of the importer with the wildcard of ours, and with a command of several parts.
    rule copy:
        input: "results/small/rates.csv"
        output: "summary/{{study}}/copy.csv"
        shell: "echo copied > {{output}}; cat {{input}} >> {{output}}"

    onsuccess:
        print("the importer ends", flush=True)
"""


def test_as_a_module_whose_rules_have_other_names(alone, tmp_path):
    (tmp_path / "config.yaml").write_text("reident: {study: in/small.yaml}\n", encoding="utf-8")
    shutil.copytree(alone.folder / "data", tmp_path / "in")
    ended = run(tmp_path, "--configfile=config.yaml", snakefile=RENAMED)
    assert ended.code == 0, ended.shown
    found, expected = made(tmp_path), made(alone.folder)
    assert {path for path in expected if "small/" in path} == {path for path in found if "small/" in path}
    tables = {path: content for path, content in found.items() if path.endswith(".csv")}
    assert len(tables) > 8
    assert tables == {path: expected[path] for path in tables}
    copy = (tmp_path / "summary/results/copy.csv").read_bytes()
    assert copy == b"copied\n" + alone.rates["small"]
    assert ended.shown.count("the importer ends") == 1
    assert run(tmp_path, "--configfile=config.yaml", "--dry-run").planned == {}
    checked = reident("check", "in/small.yaml", folder=tmp_path)
    assert checked.code == 0, checked.shown
    # What its step did not write is refused by what reads it, and made anew where its rule is forced.
    rates = tmp_path / RATES.format("small")
    rates.write_bytes(alone.rates["small"] + b"\n")
    assert reident("check", "in/small.yaml", folder=tmp_path).code == 1
    refused = run(tmp_path, "--configfile=config.yaml", "reident_all")
    assert refused.code == 1, refused.shown
    assert "with `--forcerun reident_rate`." in refused.shown
    forced = run(tmp_path, "--configfile=config.yaml", "--forcerun", "reident_rate", "--", "reident_all")
    assert forced.code == 0, forced.shown
    assert rates.read_bytes() == alone.rates["small"]


PLAIN = f"""
    module reident:
        snakefile: "{CHECKOUT}/workflow/Snakefile"

    use rule * from reident
"""


def test_a_module_without_a_configuration_reads_that_of_the_folder(alone, tmp_path):
    place(alone, tmp_path, "in/small.yaml")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("studies: [in/small.yaml]\n", encoding="utf-8")
    ended = run(tmp_path, "--dry-run", snakefile=PLAIN)
    assert ended.code == 0, ended.shown
    assert "results/small/rates.csv" in ended.shown


def test_a_module_in_an_empty_folder_has_the_bundled_example(tmp_path):
    ended = run(tmp_path, "--dry-run", snakefile=PLAIN)
    assert ended.code == 0, ended.shown
    assert "results/example/rates.csv" in ended.shown
