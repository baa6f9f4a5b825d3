"""The logger plugin: from the records of Snakemake's log to the terminal."""

import contextlib
import io
import json
import logging
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake_logger_plugin_reident as plugin
from making.examples import cases
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

AGAIN = "Run the same command again to go on from here."


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch):
    """Feed records to the plugin; returns what it wrote."""

    def feed(*records, stream=None, last=0.0, **options):
        stream = stream or io.StringIO()
        monkeypatch.setattr(logging, "lastResort", logging.lastResort)
        monkeypatch.setattr(sys, "stdout" if options.get("stdout") else "stderr", stream)
        names = ("verbose", "debug_dag", "printshellcmds", "nocolor", "dryrun", "stdout")
        settings = SimpleNamespace(**{"quiet": None, **dict.fromkeys(names, False), **options})
        handler = plugin.LogHandler(settings, None)
        for level, text, fields in records:
            record = logging.LogRecord("snakemake", level, "", 0, text, (), None)
            record.__dict__.update(fields)
            handler.handle(record)
        time.sleep(last)
        handler.close()
        handler.close()
        return stream.getvalue()

    return feed


def info(text="", **fields):
    return logging.INFO, text, fields


def began(number, rule, log="", reason="Missing output files: x", output=("x",), **wildcards):
    fields = {"wildcards": {"study": "s", **wildcards}, "log": [log] if log else [], "output": list(output)}
    return info(event=LogEvent.JOB_INFO, jobid=number, rule_name=rule, reason=reason, **fields)


def ended(number):
    return info(event=LogEvent.JOB_FINISHED, job_id=number)


def failed(number, rule="prepare", ending="returned non-zero exit status 1"):
    text = f"RuleException:\nCalledProcessError in file \"x.smk\", line 3:\nCommand 'python' {ending}."
    return (
        (logging.ERROR, text, {"event": LogEvent.ERROR, "exception": "RuleException"}),
        (logging.ERROR, "", {"event": LogEvent.JOB_ERROR, "jobid": number, "rule_name": rule, "log": []}),
    )


PLAN = info("Job stats: …", event=LogEvent.RUN_INFO, stats={"prepare": 1, "all": 1, "total": 2})
BEFORE = (
    info("Config file x is extended by additional config specified via the command line."),
    info("host: here"),
    info("Workflow has started!", event=LogEvent.WORKFLOW_STARTED),
    info("Building DAG of jobs..."),
    info("Using shell: /bin/bash"),
    PLAN,
    info("Select jobs to execute..."),
)
AFTER = (
    (logging.ERROR, "Exiting because a job execution failed. Look below for error messages", {}),
    info("Complete log(s): x"),
    info("Elapsed time: 3"),
    (logging.ERROR, "WorkflowError:\nAt least one job did not complete successfully.", {"event": LogEvent.ERROR}),
)  # fmt: skip

TEXTS = [
    ("a step", "prepare", {}, "s: Reading the files"),
    ("a variant", "prepare", {"study": "s/variants/a-1"}, "s, variant a-1: Reading the files"),
    ("a metric", "rank", {"metric": "taxicab"}, "s: Ranking the pairs: Taxicab"),
    ("a metric of two names", "score", {"metric": "fellegi_sunter"}, "s: Comparing records: Fellegi–Sunter"),
    ("the only shard", "score", {"metric": "adhoc", "scatteritem": "1-of-1"}, "s: Comparing records: Adhoc"),
    ("a shard", "score", {"metric": "adhoc", "shard": "3-of-12"}, "s: Comparing records: Adhoc, 3 of 12"),
    ("a table", "compare_variants", {"table": "file_risk"}, "s: Comparing the variants: file risk"),
    ("a rule with a prefix", "reident_prepare", {}, "s: Reading the files"),
    ("a step within a word", "unscore", {}, "s: unscore"),
    ("another workflow's rule", "plot_it", {"study": "", "sample": "secret"}, "plot it"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "wildcards", "text"), cases(TEXTS))
def test_the_line_on_a_step_names_the_study_and_what_it_does(run, rule, wildcards, text):
    assert run(began(1, rule, **wildcards), ended(1)) == f"{text} (1 s)\n"


def test_a_run_is_its_steps_and_its_time(run):
    records = (
        began(1, "prepare"),
        ended(1),
        info(event=LogEvent.PROGRESS, done=1, total=2),
        began(2, "all", output=()),
        ended(2),
        info(event=LogEvent.PROGRESS, done=2, total=2),
    )
    assert run(*BEFORE, *records).splitlines() == ["1 of 1  s: Reading the files (1 s)", "Done: 1 job in 0 s."]


def test_a_step_has_its_number_among_the_steps_that_run(run):
    plan = info(event=LogEvent.RUN_INFO, stats={"prepare": 1, "score": 11, "all": 1, "total": 13})
    steps = [record for number in range(12) for record in (began(number, "prepare"), ended(number))]
    numbers = [line.partition("  s: ")[0] for line in run(plan, *steps).splitlines()[:-1]]
    assert numbers == [f"{number:2} of 12" for number in range(1, 13)]


def test_a_failure_ends_with_its_sentence_once(run, tmp_path):
    log = tmp_path / "prepare.log"
    log.write_text("prepare: 10% done\nError: first.\nError: puf.csv, row 4: wrong. Correct it.\n")
    assert run(*BEFORE, began(1, "prepare", str(log)), *failed(1), *failed(1), *AFTER).splitlines() == [
        "s: Reading the files: failed",
        f"s: Reading the files: failed, see {log}",
        f"1 failed, 0 not run. {AGAIN}",
        "Error: puf.csv, row 4: wrong. Correct it.",
    ]


def test_two_failures_of_one_cause_have_one_sentence(run, tmp_path):
    logs = [tmp_path / f"{n}.log" for n in range(3)]
    for log, cause in zip(logs, "aab", strict=True):
        log.write_text(f"Error: {cause}.\n")
    begun = [began(n, "prepare", str(log)) for n, log in enumerate(logs)]
    shown = run(*begun, *failed(0), *failed(1), *failed(2), *AFTER).splitlines()
    assert shown[-2:] == ["Error: a.", "Error: b."]
    assert len(shown) == 9


def test_a_group_of_jobs_on_a_cluster_names_each_job_that_failed(run, tmp_path):
    log = tmp_path / "rank.log"
    log.write_text("Error: a.\n")
    group = (logging.ERROR, "", {"event": LogEvent.GROUP_ERROR, "job_error_info": [{"jobid": 1}, {"jobid": 2}]})
    shown = run(began(1, "prepare", str(log)), began(2, "rank", str(log)), group)
    assert "s: Reading the files: failed" in shown
    assert "s: Ranking the pairs: failed" in shown
    assert shown.endswith("\nError: a.\n")


ENDINGS = [
    ("the kernel, for memory", "died with <Signals.SIGKILL: 9>", "was ended by SIGKILL; memory may have run out."),
    ("the same below a shell", "returned non-zero exit status 137", "was ended by SIGKILL; memory may have run out."),
    ("a cluster", "died with <Signals.SIGTERM: 15>", "was ended by SIGTERM."),
    ("a crash", "returned non-zero exit status 139", "was ended by SIGSEGV."),
    ("a signal without a name", "returned non-zero exit status 200", "was ended by signal 72."),
    ("an exit", "returned non-zero exit status 3", "ended with exit status 3 and gave no reason."),
    ("nothing that is known", "did not end well", "gave no reason."),
]


@pytest.mark.parametrize(("ending", "says"), cases(ENDINGS))
@pytest.mark.parametrize("log", ["", "/no/such/file"])
def test_a_step_that_was_ended_has_a_sentence_on_how(run, log, ending, says):
    shown = run(began(1, "prepare", log), *failed(1, ending=ending), *AFTER)
    assert shown.endswith(f"\nError: s: Reading the files {says}\n")


def test_where_a_step_must_be_forced_the_same_command_alone_is_no_advice(run, tmp_path):
    log = tmp_path / "rate.log"
    log.write_text("Error: x is edited. Run the same command again with `--forcerun rank`.\n")
    shown = run(*BEFORE, began(1, "rate", str(log)), *failed(1), *AFTER)
    assert AGAIN not in shown
    assert shown.splitlines()[-2:] == ["1 failed, 0 not run.", log.read_text().rstrip()]


def test_a_full_disk_below_snakemake_has_one_sentence(run):
    error, job = failed(1)
    error = (error[0], "RuleException:\nOSError in file x:\n[Errno 28] No space left on device: 'y'", error[2])
    shown = run(
        PLAN, info("Failed to set marker ([Errno 28] No space left on device)."), began(1, "prepare"), error, job
    )
    assert [line.partition(" on the disk")[0] for line in shown.splitlines()][-2:] == [
        f"1 failed, 0 not run. {AGAIN}",
        "Error: no room",
    ]


def test_a_full_disk_is_why_a_step_has_no_log(run, tmp_path, monkeypatch):
    monkeypatch.setattr(plugin.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    shown = run(began(1, "prepare", str(tmp_path / "prepare.log")), *failed(1), *AFTER)
    assert f"could not write its log: no room on the disk of {tmp_path}. Make room and" in shown


def test_a_job_without_output_says_itself_why_it_failed(run):
    shown = run(PLAN, began(1, "conclude", output=()), *failed(1), *AFTER)
    assert shown.splitlines() == ["s: conclude: failed", "s: conclude: failed", f"1 failed, 0 not run. {AGAIN}"]


def test_a_step_that_is_tried_again_is_not_a_failure(run):
    again = info("Trying to restart job 7.")
    shown = run(PLAN, began(7, "prepare"), *failed(7), again, began(7, "prepare"), ended(7))
    assert shown.splitlines() == [
        "s: Reading the files: failed",
        "s: Reading the files: tried again",
        "1 of 1  s: Reading the files (1 s)",
        "Done: 1 job in 0 s.",
    ]


INTERRUPTIONS = (
    info("Terminating processes on user request, this might take some time."),
    failed(1, ending="died with <Signals.SIGINT: 2>")[0],
    failed(1, ending="returned non-zero exit status 130")[0],
)


def test_ctrl_c_before_the_first_job_leaves_one_line(run):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert run(*BEFORE[:3]) == f"Stopped. {AGAIN}\n"


@pytest.mark.parametrize("interruption", INTERRUPTIONS, ids=["scheduler", "signal", "status"])
def test_ctrl_c_leaves_one_line(run, interruption):
    shown = run(*BEFORE, began(1, "prepare"), interruption, *failed(1), *AFTER)
    assert shown == f"Stopped. {AGAIN}\n"


@pytest.mark.parametrize("stopped", [True, False])
def test_after_ctrl_c_an_error_without_a_log_is_not_shown(run, monkeypatch, stopped):
    """Snakemake closes its log first; Python's handler of last resort would show what asyncio says of the interrupt."""
    run(*BEFORE, began(1, "prepare"), *([INTERRUPTIONS[0]] if stopped else []), *failed(1), *AFTER)
    logger = logging.getLogger("without a handler")
    monkeypatch.setattr(logger, "propagate", False)
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        logger.error("Traceback")
    assert stream.getvalue() == ("" if stopped else "Traceback\n")


def test_sigterm_lets_steps_end_and_leaves_a_line_of_each_kind(run, tmp_path):
    leaves = (logging.INFO, "Will exit after finishing currently running jobs (scheduler).", {})
    shown = run(PLAN, began(1, "prepare"), leaves, ended(1), leaves)
    assert shown.splitlines() == [
        "Stops once the running steps have ended.",
        "1 of 1  s: Reading the files (1 s)",
        f"Stopped. {AGAIN}",
    ]
    log = tmp_path / "prepare.log"
    log.write_text("Error: a.\n")
    assert run(PLAN, began(1, "prepare", str(log)), leaves, *failed(1), *AFTER).endswith("\nError: a.\n")


FOLDER = f"the disk of {Path.cwd()}, or of its folder .snakemake"
NO_ROOM = f"Error: no room on {FOLDER}. Make room and run the same command again."

MESSAGES = [
    ("a warning", (logging.WARNING, "Falling back.", {}), "Warning: Falling back."),
    ("a warning of ours", (logging.WARNING, "Warning: config: x.", {}), "Warning: config: x."),
    (
        "an error while planning",
        (
            logging.ERROR,
            'InputError in rule prepare in file "x", line 3:\nMissing files: puf.csv\n  File "x", line 4, in f',
            {"event": LogEvent.ERROR, "exception": "InputError"},
        ),
        "Error: Missing files: puf.csv",
    ),
    ("a sentence of the workflow",
     (logging.ERROR, "WorkflowError:\nError: x must be y.", {"event": LogEvent.ERROR, "exception": "WorkflowError"}),
     "Error: x must be y."),
    (
        "a rule in place of a file",
        (
            logging.ERROR,
            "WorkflowError:\nTarget rules may not contain wildcards. Please specify concrete files.",
            {"event": LogEvent.ERROR, "exception": "WorkflowError"},
        ),
        "Error: a rule of a study is asked for by one of its files. Name one, such as results/ID/rates.csv.",
    ),
    ("an error of one line", (logging.ERROR, "Error", {"event": LogEvent.ERROR}), "Error: Error"),
    ("an error of Python",
     (logging.ERROR, "E\n\nTraceback (most recent call last):\n  File \"x\", line 4\n    f()\nOSError: No space left\n",
      {"event": LogEvent.ERROR, "exception": "OSError"}),
     "Error: OSError: No space left"),
    ("a full disk below .snakemake",
     (logging.ERROR, "E\n\nTraceback (most recent call last):\n  x\nOSError: [Errno 28] No space left on device: 'x'\n",
      {"event": LogEvent.ERROR, "exception": "OSError"}),
     NO_ROOM),
    ("a marker that Snakemake cannot write", info("Failed to set marker ([Errno 28] No space left on device). Long."),
     NO_ROOM),
    ("another command", info("Unlocked working directory."), "Unlocked working directory."),
    ("nothing to do", info("Nothing to be done (all requested files …)."),
     "Nothing to be done (all requested files …)."),
    ("a conda environment", info("Creating conda environment x..."), "Creating conda environment x..."),
    ("an event of a later version", info("x", event="new_event"), ""),
]  # fmt: skip


@pytest.mark.parametrize(("record", "text"), cases(MESSAGES))
def test_other_messages_of_snakemake_that_users_need_are_shown(run, record, text):
    assert run(record) == (f"{text}\n" if text else "")


@pytest.mark.parametrize("level", ["ALL", "RULES", "PROGRESS"])
def test_quiet_shows_errors_and_nothing_else(run, tmp_path, level):
    log = tmp_path / "prepare.log"
    log.write_text("Error: a.\n")
    records = (began(1, "resolve"), ended(1), began(2, "prepare", str(log)), *failed(2), *AFTER)
    assert run(*BEFORE, *records, (logging.WARNING, "x", {}), quiet={Quietness[level]}) == "Error: a.\n"


def test_a_dry_run_lists_the_steps_of_each_study_in_their_order_with_the_reasons(run):
    shown = run(
        PLAN,
        began(1, "all", output=(), reason="Input files updated by another job: x"),
        began(2, "rank", study="b", metric="adhoc", reason="Missing output files: x, y; Forced: z"),
        began(3, "prepare", study="b"),
        began(4, "prepare", study="a", reason="Updated input files: x"),
        PLAN,
        info("Reasons:\n    (check individual jobs above for details)"),
        info("This was a dry-run (flag -n). The order of jobs does not reflect the order of execution."),
        dryrun=True,
        stdout=True,
    )
    assert shown.splitlines() == [
        "a: Reading the files (Updated input files)",
        "b: Reading the files (Missing output files)",
        "b: Ranking the pairs: Adhoc (Missing output files; Forced)",
        "Dry run: 3 jobs to do.",
    ]
    counted = run(PLAN, dryrun=True, stdout=True, quiet={Quietness.RULES, Quietness.PROGRESS})
    assert counted == "Dry run: 1 job to do.\n"


@pytest.mark.parametrize("shown", [True, False])
def test_a_dry_run_of_a_finished_study_has_no_job(run, shown):
    plan = info(event=LogEvent.RUN_INFO, stats={"all": 1, "total": 1})
    walk = [began(1, "all", output=())] * shown
    assert run(plan, *walk, plan, dryrun=True, stdout=True) == "Dry run: 0 jobs to do.\n"


ENTRY = {
    "study_digest": "5a",
    "library_digest": "c0",
    "inputs": {
        "puf": [{"path": "source:data/puf.csv", "sha256": "f1"}],
        "eif": [{"path": "source:eif.csv", "sha256": "e1"}],
    },
}
DIGESTS = {"keep": "9a", "max_pairs": "5b", "rates.interval": "1c", "variables.age.bins": "4d"}
UNKNOWN = "Params have changed since last execution"


def parameter(**changes):
    """A parameter as Snakemake shows it: the settings of a step, with their digests."""
    return repr(json.dumps(DIGESTS | changes))


CHANGES = [
    ("an option", ENTRY, parameter(), parameter(max_pairs="6b"), "`max_pairs` changed in the study file"),
    ("an option that is new", None, parameter(), parameter(seed="7e"), "`seed` changed in the study file"),
    ("many options", ENTRY, f"{parameter()},'5a'", f"'5b',{parameter(a='1', b='1', c='1', d='1')}",
     "`a`, `b`, `c` and 1 more changed in the study file"),
    ("the code", ENTRY, "'c0'", "'c1'", "the code changed"),
    ("one of two sources", ENTRY, "['f1', 'e1']", "['f2', 'e1']", "puf.csv changed"),
    ("everything", ENTRY, f"{parameter()},'c0',['f1', 'e1']", f"'c1',['f2', 'e2'],{parameter(keep='8a')}",
     "`keep` changed in the study file, the code changed, puf.csv changed, eif.csv changed"),
    ("what no entry has", ENTRY, "'9'", "'8'", UNKNOWN),
    ("an entry of another version", {"study": 1}, "'c0'", "'c1'", UNKNOWN),
    ("no entry", None, "'c0'", "<nothing exclusive>", UNKNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "before", "now", "reason"), cases(CHANGES))
def test_a_dry_run_names_what_changed(run, tmp_path, entry, before, now, reason):
    path = tmp_path / "ledger" / "prepare.json"
    path.parent.mkdir()
    if entry:
        path.write_text(json.dumps(entry))
    text = f"{UNKNOWN}: Union of exclusive params before and now across all output: "
    record = began(1, "prepare", reason=f"{text}before: {before} now: {now} ", output=["x.csv", str(path)])
    assert run(PLAN, record, dryrun=True).splitlines()[0] == f"s: Reading the files ({reason})"


STATES = [
    ("no log", "", "0 s"),
    ("no progress", "score: begins\n", "0 s"),
    ("progress", "score.adhoc: 42% done, about 3 min left\n", "42%, about 3 min left"),
    ("no estimate", "score.adhoc: 0% done\n", "0%"),
    ("compiling", "score.adhoc: compiling the kernels, once for this version\n", "compiling kernels (0 s)"),
    ("after a long log", "x\n" * 9000 + "score.adhoc: 7% done\n", "7%"),
    ("not text", "\udcff\nscore.adhoc: 7% done\n", "7%"),
]


@pytest.mark.parametrize(("log", "state"), cases(STATES))
def test_how_far_a_step_is_comes_from_its_log(tmp_path, log, state):
    file = tmp_path / "score.log"
    file.write_text(log, errors="surrogateescape")
    job = plugin.read_job({"rule_name": "score", "log": [str(file)], "output": ["x"]})
    assert plugin.read_state(job) == state


@pytest.mark.parametrize("width", [40, 80, 200])
def test_in_a_terminal_the_running_steps_fit_the_screen_and_are_erased(run, monkeypatch, tmp_path, width):
    log = tmp_path / "score.log"
    log.write_text("score.adhoc: 42% done, about 3 min left\n")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "24")
    records = [began(n, "score", str(log), metric="adhoc", shard=f"{n}-of-30") for n in range(1, 31)]
    drawn = run(*records, info("Creating x"), ended(1), stream=Terminal())
    region = drawn.split("Creating x\n")[1].split("\x1b[9F")[0].split("\n")
    assert region[0] == ""
    assert len(region) == 10
    assert all(len(line) < width for line in region)
    assert all(line.startswith("42%, about 3 min left ") for line in region[1:-1])
    assert region[-1] == "0 of 0 jobs done, 30 running"[: width - 1]
    assert drawn.endswith("\x1b[J"), "the last that is written erases the running steps"
    assert "\x1b" not in run(*records, info("Creating x"), ended(1))


def test_in_a_pipe_steps_that_take_long_tell_how_far_they_are(run, monkeypatch, tmp_path):
    log = tmp_path / "score.log"
    log.write_text("score.adhoc: 42% done, about 3 min left\n")
    records = (PLAN, began(1, "score", str(log), metric="adhoc"))
    line = "s: Comparing records: Adhoc: 42%, about 3 min left"
    assert line not in run(*records, last=0.3)
    monkeypatch.setattr(plugin, "INTERVAL", 0.05)
    assert run(*records, last=0.3).splitlines()[0] == line
    assert line not in run(*records, last=0.3, quiet={Quietness.ALL})


def test_nothing_is_drawn_while_a_job_runs_that_prints(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = run(began(1, "conclude", output=()), info("Creating x"), ended(1), stream=Terminal())
    assert "conclude" not in shown


def test_a_terminal_that_is_gone_stops_no_run(run, capsys):
    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError

    run(*BEFORE, began(1, "prepare"), ended(1), stream=Closed())
    assert "Traceback" not in capsys.readouterr().err
