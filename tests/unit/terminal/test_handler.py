"""The handler: from the records of Snakemake's log to the terminal."""

import io
import logging
import os
import sys
from types import SimpleNamespace

import pytest
from reident import starter
from reident.terminal import SHOWN, handler, install, preview, words
from snakemake.settings.enums import Quietness


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self):
        return True


def settings(**given):
    usual = {
        "quiet": None,
        "dryrun": False,
        "stdout": False,
        "nocolor": False,
        "verbose": False,
        "debug_dag": False,
        "printshellcmds": False,
        "log_handler_settings": {},
    }
    return SimpleNamespace(**{**usual, **given})


@pytest.fixture
def run(monkeypatch):
    """Feed records to a handler; returns what it showed."""

    def feed(*records, stream=None, executes=True, **given):
        stream = stream or io.StringIO()
        monkeypatch.setattr(sys, "stdout" if given.get("stdout") else "stderr", stream)
        shown = handler.Handler(settings(**given))
        for level, text, extra in [*([info("", event="workflow_started")] if executes else []), *records]:
            record = logging.LogRecord("snakemake", level, "", 0, text, (), None)
            record.__dict__.update(extra)
            shown.handle(record)
        shown.close()
        shown.close()
        return stream.getvalue()

    return feed


def info(text, **extra):
    return logging.INFO, text, extra


def started(number, rule, log=(), **wildcards):
    wildcards = {"study": "s", **wildcards}
    more = {"input": [], "log": list(log), "is_checkpoint": False, "reason": "Missing output files: x"}
    return info("", event="job_info", jobid=number, rule_name=rule, wildcards=wildcards, **more)


def ended(number):
    return info("", event="job_finished", job_id=number)


def failed(number, rule, log, ending="returned non-zero exit status 1"):
    text = f"RuleException:\nCalledProcessError in file \"x.smk\", line 3:\nCommand 'exec python' {ending}."
    return (
        (logging.ERROR, text, {"event": "error", "exception": "RuleException"}),
        (logging.ERROR, "", {"event": "job_error", "jobid": number, "rule_name": rule, "log": [str(log)]}),
    )


LAST = (
    (logging.ERROR, "Exiting because a job execution failed. Look below for error messages", {}),
    info("Complete log(s): x"),
    info("Elapsed time: 3"),
    (logging.ERROR, "WorkflowError:\nAt least one job did not complete successfully.", {"event": "error"}),
)


def test_a_run_is_its_steps_its_verdict_and_its_time(run):
    shown = run(
        info("Config file x is extended by additional config specified via the command line."),
        info("Assuming unrestricted shared filesystem usage."),
        info("", event="workflow_started"),
        info("Conda environments: ignored"),
        info("Job stats: …", event="run_info", stats={"prepare": 1, "all": 1, "total": 2}),
        info("Select jobs to execute..."),
        started(1, "prepare"),
        ended(1),
        info("", event="progress", done=1, total=2),
        info("s: within the limit", **SHOWN),
        info("Elapsed time: 3"),
        executes=False,
    )
    assert shown.splitlines() == ["Reading the files (1 s)", "s: within the limit", "Done in 0 s."]


def test_an_error_is_one_sentence_once(run, tmp_path):
    log = tmp_path / "prepare.log"
    log.write_text("Error: puf.csv, row 4: wrong. Correct it.\n")
    shown = run(started(1, "prepare", [str(log)]), *failed(1, "prepare", log), *LAST)
    assert shown == "Error: puf.csv, row 4: wrong. Correct it.\n"


def test_two_steps_with_one_cause_have_one_sentence_and_one_with_another_has_its_own(run, tmp_path):
    logs = [tmp_path / f"{n}.log" for n in range(3)]
    for log, cause in zip(logs, "aab", strict=True):
        log.write_text(f"Error: {cause}.\n")
    records = [
        record
        for n, log in enumerate(logs)
        for record in (started(n, "prepare", [str(log)]), *failed(n, "prepare", log))
    ]
    assert run(*records, *LAST) == "Error: a.\nError: b.\n"


def test_a_command_has_said_itself_why_it_failed(run, tmp_path):
    shown = run(
        info("", event="workflow_started"),
        started(1, "verify"),
        *failed(1, "verify", tmp_path / "none"),
        *LAST,
    )
    assert shown == ""


def test_a_step_that_was_killed_gives_no_sentence_of_its_own(run, tmp_path):
    log = tmp_path / "score.log"
    log.write_text("score.adhoc.0001: 10% done\n")
    shown = run(
        started(1, "score", [str(log)], metric="adhoc", shard="0001"),
        *failed(1, "score", log, "died with <Signals.SIGKILL: 9>"),
    )
    assert shown.startswith(
        "Error: Comparing records: Adhoc, shard 1: the step was killed, perhaps for lack of"
    )
    assert str(log) in shown


def test_a_step_that_is_tried_again_is_no_failure_of_the_run(run, tmp_path):
    log = tmp_path / "prepare.log"
    log.write_text("")
    shown = run(
        started(7, "prepare", [str(log)]),
        *failed(7, "prepare", log),
        info("Trying to restart job 7."),
        started(7, "prepare", [str(log)]),
        ended(7),
    )
    _, again, line, last = shown.splitlines()
    assert (again, line) == ("Reading the files: tried again.", "Reading the files (1 s)")
    assert last.startswith("Done in ")


def test_ctrl_c_leaves_one_sentence(run, tmp_path):
    shown = run(
        started(1, "prepare"),
        info("Terminating processes on user request, this might take some time."),
        *failed(1, "prepare", tmp_path / "none", "died with <Signals.SIGINT: 2>"),
        *LAST,
    )
    assert shown == f"{words.STOPPED}\n"


def test_other_errors_and_warnings_are_shown(run):
    shown = run(
        (logging.WARNING, "Warning: results/s/rates.csv is not what its step wrote.", {}),
        (logging.WARNING, "Falling back.", {}),
        (logging.ERROR, "MissingRuleException:\nNo rule to produce x.", {"event": "error"}),
    )
    assert shown.splitlines() == [
        "Warning: results/s/rates.csv is not what its step wrote.",
        "Warning: Falling back.",
        "Error: No rule to produce x.",
    ]


def test_what_other_commands_of_snakemake_say_is_shown(run):
    assert run(info("Unlocked working directory."), executes=False) == "Unlocked working directory.\n"


@pytest.mark.parametrize("quiet", [{"all"}, {"rules", "progress"}])
def test_quiet_shows_errors_and_nothing_else(run, tmp_path, quiet):
    quiet = {Quietness[level.upper()] for level in quiet}
    log = tmp_path / "prepare.log"
    log.write_text("Error: a.\n")
    shown = run(
        (logging.WARNING, "Warning: x.", {}),
        started(1, "resolve"),
        ended(1),
        info("s: within the limit", **SHOWN),
        started(2, "prepare", [str(log)]),
        *failed(2, "prepare", log),
        quiet=quiet,
    )
    assert shown == "Error: a.\n"


def test_quiet_about_rules_leaves_the_end(run):
    records = (started(1, "prepare"), ended(1), info("s: within the limit", **SHOWN))
    assert run(*records, quiet={"rules"}).splitlines() == ["s: within the limit", "Done in 0 s."]


def test_a_dry_run_says_what_would_run_and_why(run):
    end = info("This was a dry-run (flag -n). The order of jobs does not reflect the order of execution.")
    records = (
        info("", event="workflow_started"),
        info("", event="run_info", stats={"prepare": 1, "total": 1}),
        started(1, "prepare"),
        info("", event="run_info", stats={"prepare": 1, "total": 1}),
        info("Reasons: …"),
        end,
    )
    shown = run(*records, dryrun=True, stdout=True)
    assert shown.splitlines() == [
        "s: 1 step would run.",
        "  1  Reading the files  no result yet",
        preview.END,
    ]
    assert run(*records[:2], dryrun=True, stdout=True, quiet={"rules", "progress"}).splitlines() == [
        "  1  Reading the files",
        preview.END,
    ]


def test_nothing_to_do(run):
    text = "Nothing to be done (all requested files are present and up to date)."
    assert run(info(text)) == f"{words.UP_TO_DATE}\n"


def test_without_a_terminal_there_is_no_escape_code_and_with_one_the_screen_is_left_clean(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    records = started(1, "prepare"), ended(1), (logging.WARNING, "Warning: x.", {})
    assert "\x1b" not in run(*records)
    drawn = run(*records, stream=Terminal())
    assert "\x1b[33mWarning: " in drawn
    assert drawn.count("Reading the files (1 s)") == 1
    assert drawn.rstrip().endswith("Done in 0 s.")
    assert drawn.rfind("\x1b[?25h") > drawn.rfind("\x1b[?25l"), "the cursor is shown again"
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[33m" not in run(*records, stream=Terminal())


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_what_is_drawn_fits_the_terminal(monkeypatch, tmp_path, width):
    log = tmp_path / "score.log"
    log.write_text("score.adhoc.0001: 42% done, about 3 min left\n")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "24")
    shown = handler.Handler(settings())
    for n in range(30):
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
        extra = started(n, "score", [str(log)], metric="adhoc", shard=f"{n + 1:04}")[2]
        record.__dict__.update(extra)
        shown.screen.started(n, handler.Job("score", "s", extra["wildcards"], str(log), 30, began=0.0))
    lines = shown._console.render_lines(shown._draw(), pad=False)
    text = ["".join(part.text for part in line) for line in lines]
    assert all(len(line) <= width for line in text)
    assert len(text) == handler.MAX_ROWS + 1
    assert "22 more are running." in text[-1]
    assert all(line.startswith("Comparing" if width >= 60 else "Com") for line in text[:-1])
    if width >= 60:
        assert all("42%, about 3 min left" in line for line in text[:-1])
    shown.close()


def workflow(**given):
    logger = logging.Logger("snakemake")  # noqa: LOG001 - one that no other test has
    default = logging.StreamHandler()
    default.name = "DefaultStreamHandler"
    logger.addHandler(default)
    return SimpleNamespace(
        output_settings=settings(**given),
        logger_manager=SimpleNamespace(logger=logger),
        is_main_process=True,
        modifier=SimpleNamespace(parent_modifier=None),
    )


def test_the_screen_takes_the_place_of_snakemakes_own(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setenv(starter.SCREEN, "1 all")
    run = workflow()
    installed = install(run)
    assert run.logger_manager.logger.handlers == [installed]
    starter.tell_jobs()
    assert starter.is_shown()


@pytest.mark.parametrize(
    "change",
    [
        lambda run: setattr(run.output_settings, "verbose", True),
        lambda run: setattr(run.output_settings, "log_handler_settings", {"rich": None}),
        lambda run: setattr(run, "is_main_process", False),
        lambda run: setattr(run.modifier, "parent_modifier", object()),
    ],
    ids=["verbose", "another logger", "a job elsewhere", "a module of another workflow"],
)
def test_a_run_that_asks_otherwise_keeps_its_handler(monkeypatch, change):
    monkeypatch.setenv(starter.SCREEN, starter.this_process())
    monkeypatch.setenv(starter.STARTER, starter.this_process())
    run = workflow()
    change(run)
    before = list(run.logger_manager.logger.handlers)
    assert install(run) is None
    assert run.logger_manager.logger.handlers == before
    assert starter.SCREEN not in os.environ
    assert not starter.is_shown()
