"""The sentences of a run."""

import pytest
from reident.pipeline.steps import STEPS
from reident.terminal import words


def test_every_step_has_words_of_its_own_that_fit_a_narrow_terminal():
    labels = [step.label for step in STEPS.values()]
    assert len(set(labels)) == len(labels)
    for label in labels:
        assert label[0].isupper()
        assert "_" not in label
        assert len(label) <= 40


LABELS = [
    ("a step", "prepare", {"study": "s"}, None, "Reading the files"),
    ("a metric", "rank", {"metric": "taxicab"}, None, "Ranking the pairs: Taxicab"),
    ("one shard", "score", {"metric": "adhoc", "shard": "0001"}, 1, "Comparing records: Adhoc"),
    (
        "a shard",
        "score",
        {"metric": "taxicab", "shard": "0003"},
        12,
        "Comparing records: Taxicab, shard 3 of 12",
    ),
    (
        "thousands of shards",
        "score",
        {"metric": "adhoc", "shard": "1234"},
        4000,
        "Comparing records: Adhoc, shard 1,234 of 4,000",
    ),
    (
        "shards not counted",
        "score",
        {"metric": "adhoc", "shard": "02"},
        None,
        "Comparing records: Adhoc, shard 2",
    ),
    (
        "a metric of two names",
        "score",
        {"metric": "fellegi_sunter", "shard": "1"},
        1,
        "Comparing records: Fellegi–Sunter",
    ),
    (
        "a table",
        "compare_variants",
        {"table": "file_risk"},
        None,
        "Comparing the variants: file risk",
    ),
    ("the rule of another", "plot_it", {}, None, "plot it"),
]


@pytest.mark.parametrize(
    ("sentence", "rule", "wildcards", "n", "label"), LABELS, ids=[case[0] for case in LABELS]
)
def test_labels(sentence, rule, wildcards, n, label):
    assert words.label(rule, wildcards, n) == label


@pytest.mark.parametrize(
    ("study", "several", "text"),
    [
        ("s", False, ""),
        ("s", True, "s: "),
        ("s/variants/a-1", False, "variant a-1: "),
        ("s/variants/a-1", True, "s, variant a-1: "),
        ("", True, ""),
    ],
)
def test_the_study_is_named_only_where_there_are_several(study, several, text):
    assert words.place(study, several=several) == text


def test_what_ended_is_recognised_and_errors_are_not():
    for seconds in (0, 3, 120, 9000):
        assert words.STEP_ENDED.match(words.ended("variant a: Reading the files", seconds))
    assert not words.STEP_ENDED.match("Error: the file is too large (3 s)")
    assert not words.STEP_ENDED.match("my-study: see reports/my-study/disclosure-review.html")


def test_the_reason_that_says_most_comes_first():
    both = "Missing output files: a; Params have changed since last execution: b"
    assert words.reason(both) == "the study or the code changed"
    assert words.reason("Input files updated by another job: a") == "an earlier step runs"
    assert words.reason("Forced execution") == "to be made again"
    assert words.reason("Something new") == "Something new"


def test_a_failure_has_the_last_sentence_of_the_log():
    log = "10% done\nError: first.\nError: puf.csv, row 4: wrong. Correct it.\n"
    assert words.failure("Reading", log, "p.log", [], "") == "Error: puf.csv, row 4: wrong. Correct it."


def test_a_failure_without_a_sentence_says_where_to_look():
    killed = words.failure("Reading", "", "p.log", ["slurm.log"], "died with <Signals.SIGKILL: 9>")
    assert "lack of memory" in killed
    assert "See p.log and slurm.log" in killed
    silent = words.failure("Reading", None, "", [], "")
    assert silent == (
        "Error: Reading: the step ended without a result and gave no reason. Run the same command again."
    )


PROBLEMS = [
    (
        f"MissingRuleException:\nNo rule to produce x{words._ASIDE}.",
        "Error: No rule to produce x.",
    ),
    (
        'WorkflowError in rule a in file "/f/Snakefile", line 3:\nIt is wrong.\n  File "/f/Snakefile", line 4, in b',
        "Error: It is wrong.",
    ),
    ("Error: cores have to be specified", "Error: cores have to be specified"),
    ("One line", "Error: One line"),
]


@pytest.mark.parametrize(("message", "sentence"), PROBLEMS)
def test_an_error_of_the_scheduler_loses_its_class_and_its_origin(message, sentence):
    assert words.problem(message) == sentence
