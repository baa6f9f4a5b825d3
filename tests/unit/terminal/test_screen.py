"""What is shown when."""

from reident.ledger import progress
from reident.terminal.screen import Job, Screen


def job(rule="prepare", study="s", n_shards=None, began=0.0, **wildcards):
    return Job(rule, study, {"study": study, **wildcards}, f"{rule}.log", n_shards, began)


def screen(**logs):
    return Screen(lambda path: logs.get(path.removesuffix(".log")))


def test_a_step_has_one_line_when_it_ends_and_the_target_has_none():
    shown = screen()
    shown.started(1, job())
    shown.started(2, job("all", ""))
    assert shown.ended(1, 3.2) == ["Reading the files (3 s)"]
    assert shown.ended(2, 3.3) == []
    assert shown.ended(9, 3.3) == [], "a job that was never announced"
    assert shown.n_ended == 1


def test_few_shards_have_a_line_each_and_many_have_ten():
    shown = screen()
    for n in (20, 35):
        lines = []
        for number in range(1, n + 1):
            shown.started(
                number, job("score", n_shards=n, metric="adhoc", shard=f"{number:04}", study=f"s{n}")
            )
            lines += shown.ended(number, 60.0)
        assert len(lines) == (20 if n == 20 else 9)
    assert lines[0] == "Comparing records: Adhoc, 4 of 35 shards (60 s)"
    assert lines[-1] == "Comparing records: Adhoc, 35 of 35 shards (60 s)"


def test_the_total_is_shown_only_when_it_can_no_longer_change():
    shown = screen()
    shown.planned({"prepare": 1, "stratify": 1, "all": 1, "total": 3}, checkpoints=1)
    shown.started(1, job())
    shown.ended(1, 1.0)
    shown.progressed(3)
    assert shown.count == "1 step done"
    shown.started(2, job("stratify"))
    shown.ended(2, 2.0, checkpoint=True)
    assert shown.count == "2 steps done"
    shown.progressed(12)
    assert shown.count == "2 of 11 steps done"


def test_a_sentence_is_shown_once_and_none_after_the_run_was_stopped():
    shown = screen()
    assert shown.report("Error: a.") == ["Error: a."]
    assert shown.report("Error: a.") == []
    assert shown.report(None) == []
    shown.stopped = True
    assert shown.report("Error: b.") == []
    assert shown.failed


def test_running_steps_have_the_progress_of_their_logs():
    shown = screen(score=progress.line("score.adhoc.0001", 0.42, 200) + "\n")
    shown.started(1, job("score", n_shards=1, metric="adhoc", shard="0001", began=5.0))
    shown.started(2, job("rank", metric="adhoc", began=8.0))
    first, second = shown.rows(10.0)
    assert (first.text, first.seconds) == ("Comparing records: Adhoc", 5.0)
    assert first.shown == progress.Shown(0.42, "3 min")
    assert second.shown == progress.Shown()
    shown.forget(1)
    assert [row.text for row in shown.rows(10.0)] == ["Ranking the pairs: Adhoc"]
