"""The answer to ``--dry-run``."""

from reident.terminal import preview
from reident.terminal.preview import Planned

MISSING, LATER = "Missing output files: results/s/x", "Input files updated by another job: results/s/y"


def test_a_study_with_its_variants_is_one_block_in_the_order_of_the_steps():
    jobs = [
        Planned("all", "", LATER),
        Planned("report", "s", LATER),
        Planned("rank", "s/variants/a", f"{MISSING}; {LATER}"),
        Planned("rank", "s", LATER),
        Planned("prepare", "s", "Params have changed since last execution: x"),
    ]
    assert preview.lines(jobs) == [
        "s: 4 steps would run.",
        "  1  Reading the files   the study or the code changed",
        "  2  Ranking the pairs   no result yet",
        "  1  Writing the report  an earlier step runs",
        preview.END,
    ]


def test_what_a_checkpoint_leaves_open_is_said():
    first, *_, later, end = preview.lines([Planned("stratify", "s", MISSING)])
    assert first == "s: at least 1 step would run."
    assert "known only when the strata are formed" in later
    assert end == preview.END


def test_many_studies_have_a_line_each():
    jobs = [Planned("prepare", f"s{n}", MISSING) for n in range(6)]
    assert preview.lines(jobs)[:2] == [
        "s0: 1 step would run (no result yet).",
        "s1: 1 step would run (no result yet).",
    ]
    assert len(preview.lines(jobs)) == 7


def test_a_command_is_named():
    assert preview.lines([Planned("verify", "", "")]) == ["`verify` would run.", preview.END]


def test_counts_alone():
    stats = {"report": 1, "rank": 12, "all": 1, "total": 14}
    assert preview.counted(stats) == ["  12  Ranking the pairs", "   1  Writing the report", preview.END]
