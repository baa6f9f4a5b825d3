"""The workflow as a module of another one, in another folder, gives what it gives by itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from workflow.commands import CHECKOUT, SNAKEMAKE, copied, reident
from workflow.elsewhere import made, run

from workflow import small

pytestmark = pytest.mark.slow

STUDY = {**small.STUDY, "metrics": {"taxicab": {}}, "decision": {"conditional_rate_at_most": 0.9}}


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """A folder with the study in `in`, and a run of the workflow by itself in `alone`."""
    base = tmp_path_factory.mktemp("module")
    small.write(base / "in", STUDY, small.rows(60, 90))
    ended = run(base / "alone", f"--snakefile={CHECKOUT}/Snakefile", "--config", "study=../in/small.yaml")
    assert ended.code == 0, ended.shown
    assert len(made(base / "alone")) > 12
    return base


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

    onstart:
        print("the importer starts", flush=True)

    onsuccess:
        print("the importer ends", flush=True)
"""


def test_as_a_module_whose_rules_have_other_names(alone, tmp_path):
    (tmp_path / "config.yaml").write_text("reident: {study: in/small.yaml, genome: hg38}\n", encoding="utf-8")
    shutil.copytree(alone / "in", tmp_path / "in")
    ended = run(tmp_path, "--configfile=config.yaml", snakefile=RENAMED)
    assert ended.code == 0, ended.shown
    assert made(tmp_path) == made(alone / "alone")
    copy = (tmp_path / "summary/results/copy.csv").read_bytes()
    assert copy == b"copied\n" + (tmp_path / "results/small/rates.csv").read_bytes()
    # The locks were taken, the verdict is told, and the importer's own handlers ran too.
    assert (tmp_path / "results/small/ledger/.run.lock").is_file()
    assert "small: above the limit" in ended.shown
    assert ended.shown.count("the importer starts") == ended.shown.count("the importer ends") == 1
    assert (
        ended.shown.count("Warning: config: ignored the keys `genome`, which are not settings of reident.")
        == 1
    )
    again = run(tmp_path, "--configfile=config.yaml", "--dry-run")
    assert again.planned == {}
    checked = reident("check", "in/small.yaml", folder=tmp_path)
    assert checked.code == 0, checked.shown
    # What its step did not write is noticed and made again.
    rates = tmp_path / "results/small/rates.csv"
    expected = rates.read_bytes()
    rates.write_bytes(expected + b"\n")
    assert reident("check", "in/small.yaml", folder=tmp_path).code == 1
    repaired = run(tmp_path, "--configfile=config.yaml")
    assert repaired.code == 0, repaired.shown
    assert rates.read_bytes() == expected
    assert "is not what its step wrote" in repaired.shown


PREFIXED = f"""
    module reident:
        snakefile: "{CHECKOUT}/workflow/Snakefile"
        config: {{"study": "../in/small.yaml"}}
        prefix: "risk"

    use rule * from reident
"""


def test_a_module_with_a_prefix_has_everything_below_it(alone, tmp_path):
    shutil.copytree(alone / "in", tmp_path / "in")
    folder = tmp_path / "run"
    ended = run(folder, snakefile=PREFIXED)
    assert ended.code == 0, ended.shown
    assert made(folder / "risk") == made(alone / "alone")
    assert sorted(path.name for path in folder.iterdir()) == [".snakemake", "Snakefile", "risk"]
    assert run(folder, "--dry-run").planned == {}
    for command in ("check", "seal"):
        ended = reident(command, "../../in/small.yaml", folder=folder / "risk")
        assert ended.code == 0, ended.shown
    assert len(list(folder.glob("risk/reports/small/sealed/*.zip"))) == 1
    (folder / "risk/results/small/rates.csv").chmod(0o644)
    (folder / "risk/results").chmod(0o755)
    refused = run(folder)
    assert refused.code == 1
    assert len(refused.errors) == 1
    assert "risk/results holds confidential data and is open to others" in refused.shown


def test_a_prefix_that_replaces_others_is_refused(tmp_path):
    snakefile = PREFIXED.replace('prefix: "risk"', 'replace_prefix: {"results/": "there/"}')
    ended = run(tmp_path, "--dry-run", snakefile=snakefile)
    assert ended.code == 1
    assert ended.errors == {"module: `replace_prefix` must not be given for reident. Give `prefix`."}


PLAIN = f"""
    module reident:
        snakefile: "{CHECKOUT}/workflow/Snakefile"

    use rule * from reident
"""


def test_a_module_without_a_configuration_reads_that_of_the_folder(alone, tmp_path):
    shutil.copytree(alone / "in", tmp_path / "in")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("studies: [in/small.yaml]\n", encoding="utf-8")
    ended = run(tmp_path, "--dry-run", snakefile=PLAIN)
    assert ended.code == 0, ended.shown
    assert "results/small/rates.csv" in ended.shown


def test_a_module_in_an_empty_folder_has_the_bundled_example(tmp_path):
    ended = run(tmp_path, "--dry-run", snakefile=PLAIN)
    assert ended.code == 0, ended.shown
    assert f"{CHECKOUT}/config/studies/example.yaml" in ended.shown.replace(
        os.path.relpath(CHECKOUT, tmp_path), str(CHECKOUT)
    )


MADE = f"""
    module reident:
        snakefile: "{CHECKOUT}/workflow/Snakefile"
        config: {{"study": "in/small.yaml"}}

    use rule * from reident

    rule draw:
        input: "puf.source"
        output: "in/puf.csv"
        shell: "cp {{input}} {{output}}"
"""


def test_a_source_may_be_made_by_a_rule_of_the_importer(alone, tmp_path):
    shutil.copytree(alone / "in", tmp_path / "in")
    (tmp_path / "in/puf.csv").rename(tmp_path / "puf.source")
    ended = run(tmp_path, snakefile=MADE)
    assert ended.code == 0, ended.shown
    assert made(tmp_path) == made(alone / "alone")
    assert run(tmp_path, "--dry-run").planned == {}


def committed(folder: Path) -> tuple[Path, str]:
    """A repository with the code of this checkout, and its commit."""
    folder.mkdir()
    copied(folder)
    for part in ("pyproject.toml", "requirements.lock"):
        shutil.copy2(CHECKOUT / part, folder / part)
    git = [
        "git",
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, text=True).strip()
    return folder, commit


HOSTED = """
    configfile: "config/config.yaml"

    module reident:
        snakefile: {snakefile}
        config: config

    use rule * from reident
"""


def test_as_deployed_from_a_hosted_repository(alone, tmp_path):
    """The statement of `snakedeploy deploy-workflow`, with a clone where Snakemake keeps those of a host."""
    repository, commit = committed(tmp_path / "repository")
    cache = tmp_path / "cache"
    clone = cache / "snakemake/snakemake/source-cache/snakemake-git-cache/github.com/agency/reident"
    subprocess.run(["git", "clone", "--quiet", "--bare", repository, clone], check=True)
    subprocess.run(["git", "tag", "v1.0.0", commit], cwd=clone, check=True)
    folder = tmp_path / "user"
    shutil.copytree(alone / "in", folder / "in")
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text("studies: [in/small.yaml]\n", encoding="utf-8")
    statement = 'github("agency/reident", path="workflow/Snakefile", tag="v1.0.0")'
    ended = run(
        folder,
        snakefile=HOSTED.format(snakefile=statement),
        program=SNAKEMAKE,  # which has no library yet
        PYTHONPATH="",
        XDG_CACHE_HOME=str(cache),
        NUMBA_CACHE_DIR=str(CHECKOUT / ".cache" / "numba"),
    )
    assert ended.code == 0, ended.shown
    tables = {name: content for name, content in made(folder).items() if name.endswith(".csv")}
    assert tables == {
        name: content for name, content in made(alone / "alone").items() if name.endswith(".csv")
    }
    assert commit[:12] in (folder / "reports/small/disclosure-review.html").read_text(encoding="utf-8")
    checkouts = list(cache.rglob("checkouts/*"))
    assert [path.name for path in checkouts] == [commit]
    assert run(folder, "--dry-run", program=SNAKEMAKE, PYTHONPATH="", XDG_CACHE_HOME=str(cache)).planned == {}
