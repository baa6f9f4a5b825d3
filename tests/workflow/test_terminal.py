"""What a user sees: a run, a wrong value, Ctrl-C and a dry run, in a terminal of 80 columns and in a pipe."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reident.pipeline.steps import STEPS
from workflow.commands import CHECKOUT, SNAKEMAKE, ended, snakemake, start

pytestmark = pytest.mark.slow

AGAIN = "Run the same command again to go on from here."
CONTROL = re.compile(r"\x1b\[(\d*)([A-Za-z])|(\n)|(\r)|([^\x1b\r\n]+)")


def screen(written: str, columns: int = 80) -> list[str]:
    """The lines of an endless terminal; the two sequences that are used are erasing below and going up to a line."""
    lines, row, column = [""], 0, 0
    for number, letter, newline, back, text in CONTROL.findall(written):
        if newline:
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif back:
            column = 0
        elif text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        elif letter == "J":
            lines[row:] = [lines[row][:column]]
        else:
            assert letter == "F", letter
            row, column = row - int(number), 0
    return [line.rstrip() for line in lines if line.strip()]


def in_terminal(*arguments: str, interrupt: Path | None = None) -> tuple[int, str]:
    """Run a command in a terminal of 80 columns, and press Ctrl-C once a file is there; what it wrote."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "workflow/lib"), "TERM": "xterm"}
    environment |= {"COLUMNS": "80", "LINES": "24"}
    process = subprocess.Popen(
        [sys.executable, "-m", SNAKEMAKE, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    written, last = b"", time.monotonic() + 300
    while time.monotonic() < last:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the last process has closed the terminal
                break
            if not more:
                break
            written += more
        if interrupt and interrupt.exists():
            os.killpg(process.pid, signal.SIGINT)
            interrupt = None
    os.close(ours)
    return process.wait(timeout=60), written.decode().replace("\r\n", "\n")


@pytest.fixture
def study(tmp_path) -> Path:
    shutil.copytree(CHECKOUT / ".test/study", tmp_path / "study")
    return tmp_path / "study" / "study.yaml"


def command(study: Path, *more: str) -> list[str]:
    given = ["--snakefile", str(CHECKOUT / "Snakefile"), "--directory", str(study.parents[1] / "run")]
    return [*given, "--cores", "2", *more, "--config", f"study={study}"]


def spoil(study: Path) -> str:
    """Put a value that is wrong into a file; the sentence on it."""
    file = study.with_name("puf.csv")
    file.write_text(file.read_text().replace("1002,N,61", "1002,N,old"))
    return (
        "Error: puf.csv, row 3, column `age`: the value of `age` is not a number. Declare it as a missing code, recode "
        "it, or correct the file."
    )


def test_a_run_in_a_terminal_draws_its_running_steps_and_leaves_a_line_for_each(study):
    code, written = in_terminal(*command(study))
    assert code == 0, written
    assert re.search(r"\n\d+ s +test: Writing the report", written)
    assert re.search(r"\n\d+ of \d+ jobs done, \d running", written)
    shown = screen(written)[1:]  # the first line names the profile
    steps = [line for line in shown if re.fullmatch(r" ?\d+ of \d+  test: .* \(\d+ s\)", line)]
    assert len([line for line in steps if "  test: Ranking the pairs: Taxicab (" in line]) == 1
    assert [int(line.split()[0]) for line in steps] == [*range(1, len(steps) + 1)]
    assert {line.split()[2] for line in steps} == {str(len(steps))}
    assert not [line for line in shown if "running" in line]
    assert re.fullmatch(r"Done: \d+ jobs in \d+ s\.", shown[-1])
    assert any(line.startswith("test: above the limit") for line in shown)


def test_a_wrong_value_ends_with_its_sentence_in_a_terminal_and_in_a_pipe(study):
    sentence = spoil(study)
    code, written = in_terminal(*command(study))
    piped = snakemake("--keep-going", studies=[study], folder=study.parent / "piped", program=SNAKEMAKE)
    for lines in (screen(written), piped.shown.splitlines()):
        *_, failed, summary, last = lines
        assert failed == "test: Reading the files: failed, see results/test/logs/prepare.log"
        assert re.fullmatch(rf"1 failed, \d+ not run\. {AGAIN}", summary)
        assert last == sentence
        assert len([line for line in lines if "Error" in line]) == 1
    assert code == piped.code == 1
    assert "\x1b" not in piped.shown


def test_quiet_shows_the_sentence_alone(study):
    sentence = spoil(study)
    ran = snakemake("--quiet", studies=[study], folder=study.parent / "run", program=SNAKEMAKE)
    assert ran.shown.splitlines()[1:] == [sentence]


def test_ctrl_c_ends_in_one_line_in_a_terminal_and_in_a_pipe(study):
    log = "results/test/logs/resolve.log"
    code, written = in_terminal(*command(study), interrupt=study.parents[1] / "run" / log)
    assert code != 0
    assert screen(written)[-1] == f"Stopped. {AGAIN}"
    assert "Traceback" not in written
    assert not re.search("failed|Error", written)
    process = start(studies=[study], folder=study.parent / "piped")
    while not (study.parent / "piped" / log).exists() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    piped = ended(process)
    assert piped.code != 0
    assert piped.shown.splitlines()[-1] == f"Stopped. {AGAIN}"
    assert not re.search("Traceback|failed|Error", piped.shown)


def test_a_dry_run_lists_every_step_with_its_reason_and_other_terminals_are_snakemakes(study):
    code, written = in_terminal(*command(study, "--dry-run"))
    shown = screen(written)
    assert code == 0, written
    assert "test: Ranking the pairs: Adhoc (Missing output files; Input files updated by another job)" in shown
    assert re.fullmatch(r"Dry run: \d+ jobs to do\.", shown[-1])
    folder = study.parent / "run"
    for option in ("--verbose", "--workflow-profile=none"):
        plain = snakemake("--dry-run", option, studies=[study], folder=folder, program=SNAKEMAKE)
        assert "rule prepare:" in plain.shown
        assert not any(f"test: {step.label}" in plain.shown for step in STEPS.values())
