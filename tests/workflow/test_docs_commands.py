"""Commands of README and docs/ run in their order, their studies are valid, and their figures are those of the runs.

A comment above a block says why a test cannot run it (`not run`), or only plans it (`dry run`); readers do not see it.
"""

import os
import re
import shlex
import stat
import subprocess
import sys
from typing import NamedTuple

import pandas as pd
import pytest
import yaml
from making import preloaded
from pypdf import PdfReader
from workflow.commands import CHECKOUT, PRELOADED, begun

FIRST = "README.md"
TUTORIAL = [f"docs/tutorial/{name}.md" for name in ("index", "attack", "protection", "decision")]
OTHERS = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for path in [*(CHECKOUT / "docs").rglob("*.md"), CHECKOUT / "config/README.md", CHECKOUT / "CONTRIBUTING.md"]
    if path.relative_to(CHECKOUT).as_posix() not in TUTORIAL
)
PAGES = [FIRST, *TUTORIAL, *OTHERS]
BLOCK = re.compile(
    r"(?:^ *<!-- (not run|dry run): ([^\n]+) -->\n)?^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A block of code of a page, and how a test treats it."""

    treatment: str
    reason: str
    language: str
    text: str


def read(page):
    return (CHECKOUT / page).read_text(encoding="utf-8")


def blocks(page):
    return [Block(*found) for found in BLOCK.findall(read(page))]


def commands(page):
    """The blocks of a page that run, as a script each."""
    for block in blocks(page):
        if block.language != "sh" or block.treatment == "not run":
            continue
        text = block.text
        if block.treatment == "dry run":
            text = re.sub(r"^(\.venv/bin/snakemake .*)$", r"\1 --dry-run", text, flags=re.MULTILINE)
        yield text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder like the one of the checkout for a reader, in which the commands of README have run."""
    made = tmp_path_factory.mktemp("docs")
    programs = made / ".venv" / "bin"
    programs.mkdir(parents=True)
    python, snakemake = shlex.quote(sys.executable), shlex.join(begun(PRELOADED, settings()))
    for name, command in {
        "python": python,
        "snakemake": f"{snakemake} --snakefile {shlex.quote(str(CHECKOUT / 'Snakefile'))} --cores 2",
        "reident": f"{python} -P -m reident.command",
    }.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(stat.S_IRWXU)
    for name in ("config", "workflow", "profiles", ".test"):
        (made / name).symlink_to(CHECKOUT / name)
    run(made, FIRST)
    return made


def settings():
    return {**os.environ, "PYTHONPATH": preloaded.LIBRARIES}


def run(folder, page):
    for text in commands(page):
        ended = subprocess.run(
            ["sh", "-eu", "-c", text],
            cwd=folder,
            env=settings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            timeout=1800,
        )
        assert ended.returncode == 0, f"{page}\n{text}\n{ended.stdout}"


REPEATED = ("docs/how-to/audit.md", "docs/how-to/publish.md")
"""Pages with the commands of the tutorial's last page."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page in REPEATED else [])
        for page in PAGES
        if page != FIRST and list(commands(page))
    ],
)
def test_the_commands_of_a_page_run(folder, page):
    run(folder, page)


def table(rates):
    """Lines of a table of rates as the pages show them."""
    for line in rates[rates["stratum"] == "ALL"].itertuples():
        interval = f"{100 * line.conditional_low:.1f}–{100 * line.conditional_high:.1f} %"
        yield (
            f"| {line.metric} | {line.n_suspected} of {line.n_puf} | {line.n_confirmed} | "
            f"{100 * line.conditional_rate:.1f} % | {interval} | {100 * line.baseline_rate:.1f} % |\n"
        )


@pytest.mark.slow
@pytest.mark.parametrize("page", [FIRST, "docs/tutorial/attack.md"])
def test_the_rates_of_the_small_study_are_those_of_the_page(folder, page):
    for line in table(pd.read_csv(folder / "results" / "my-study" / "rates.csv")):
        assert line in read(page)


@pytest.mark.slow
def test_the_verdict_is_on_the_first_page(folder):
    first = PdfReader(folder / "reports" / "my-study" / "disclosure-review.pdf").pages[0].extract_text()
    assert "*above the limit*" in read(FIRST)
    assert "Above the limit" in first


@pytest.mark.slow
def test_the_tutorial_has_the_study_of_readme(folder):
    (text,) = re.findall(
        r"^cat > my-study/study.yaml <<'END'\n(.*?)^END$", read("docs/tutorial/attack.md"), re.MULTILINE | re.DOTALL
    )
    assert yaml.safe_load(text) == yaml.safe_load((folder / "my-study" / "study.yaml").read_text(encoding="utf-8"))


TUTORIAL_STUDY = "docs/tutorial/protection.md"
LABELS = {
    "protection-as-treated": "as treated",
    "protection-stronger-noise": "stronger noise",
    "protection-more-swapping": "more swapping",
}


def percent(value):
    return f"{100 * value:.1f}"


def variant_lines(rates, label):
    for line in rates.itertuples():
        interval = f"{percent(line.conditional_low)}–{percent(line.conditional_high)} %"
        yield (
            f"| {label or LABELS[line.variant]} | {line.metric} | {line.n_suspected:,} of {line.n_puf:,} | "
            f"{line.n_confirmed:,} | {percent(line.conditional_rate)} % | {interval} |\n"
        )


@pytest.mark.slow
def test_the_figures_of_the_tutorial_are_those_of_its_study(folder):
    if not (folder / "results/survey/comparison/rates.csv").is_file():
        run(folder, "docs/tutorial/attack.md")
        run(folder, TUTORIAL_STUDY)
    results, text = folder / "results" / "survey", read(TUTORIAL_STUDY)
    before = pd.read_csv(results / "variants/before-protection/rates.csv").query("stratum == 'ALL'")
    compared = pd.read_csv(results / "comparison/rates.csv")
    lines = [*variant_lines(before, "before protection"), *variant_lines(compared, None)]
    why = pd.read_csv(results / "why/taxicab.variables.csv")
    lines += [
        f"| {row.variable} | {row.n_carried} of {row.n_confirmed} | {percent(row.carried_rate)} % |\n"
        for row in why.itertuples()
    ]
    for variant, label in LABELS.items():
        made = results if label == "as treated" else results / "variants" / variant
        (row,) = pd.read_csv(made / "utility/summary.csv").query("scope == 'ALL'").itertuples()
        lines.append(f"| {label} | {percent(row.values_changed)} % | {row.pmse:.5f} |\n")
    assert [line for line in lines if line not in text] == []
    recodings = pd.read_csv(results / "why/taxicab.recodings.csv")
    changes = {
        f"| {row.variable}, {row.recoding} | {row.n_prevented} | {row.n_newly_confirmed} | {row.net_change} |\n"
        for row in recodings.itertuples()
    }
    section = text.partition("| change | prevented")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(section) == 5
    assert {line.replace("−", "-") + "\n" for line in section} <= changes
