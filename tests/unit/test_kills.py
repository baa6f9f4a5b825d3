"""A step killed before each single thing that it does to a file, a disk that takes less than it is given, and
the locks of runs and steps."""

import multiprocessing
import os
import resource
import signal
import sys
import time
from functools import partial

import pytest
from reident import ledger
from reident.errors import InputError
from reident.ledger import chain, runs, stale, stored
from unit.workshop import Workshop

RESULTS = ("prepared/puf.txt", "binned/puf.txt", "scores/taxicab.txt", "rates.txt")
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate")
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path).run()


def contents(shop):
    """Every result and entry."""
    return {
        path.relative_to(shop.root).as_posix(): path.read_bytes()
        for path in [*(shop.root / name for name in RESULTS), *chain.entry_files(shop.root)]
        if path.is_file()
    }


def give_up():
    """What the end of a process does."""
    while runs._held:
        os.close(runs._held.pop())


def again(shop):
    """The start of a run, and the step `bin` where it has no result."""
    runs.begin(shop.root)
    known = [shop.root / name for name in RESULTS]
    stale.mark_stale(shop.root, {"": (shop.study, shop.sources)}, lambda path: path in known)
    assert not list(shop.root.rglob("*.part"))
    for entry in chain.entry_files(shop.root):
        made = chain.read_entry(entry)["outputs"]["to"]
        assert chain.digest(shop.root / made["path"]) == made["sha256"]
    if not (shop.root / "binned/puf.txt").is_file():
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    give_up()


def child(work):
    """The exit code of a process that does some work; a negative one names the signal that ended it."""
    process = FORK.Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode


def bin_until(shop, moment):
    """Run the step `bin`, and be killed before the nth thing done to a file among the results."""
    done = 0

    def watch(event, arguments):
        nonlocal done
        if event in EVENTS and str(arguments[0]).startswith(str(shop.root)):
            done += 1
            if done > moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")


@pytest.mark.parametrize("before", ["from scratch", "over an earlier result"])
def test_a_step_killed_at_any_moment_leaves_its_whole_result_or_none(shop, before):
    whole, moments = contents(shop), 0
    while True:
        if before == "from scratch":
            for name in ("binned/puf.txt", "ledger/bin.json"):
                (shop.root / name).unlink()
        code = child(partial(bin_until, shop, moments))
        again(shop)
        assert contents(shop) == whole, f"killed before its event {moments}"
        if code == 0:
            break
        assert code == -signal.SIGKILL
        moments += 1
    assert moments >= 10, "there were moments to be killed at"


def test_a_file_that_is_written_short_is_no_result(shop):
    """The system takes a part of what it is given, then refuses: as at a limit of a file's size."""
    whole, said = contents(shop), FORK.Queue()

    def work():
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        try:
            with ledger.step(shop.job("bin", {}, {"to": "binned/puf.txt"})) as step:
                resource.setrlimit(resource.RLIMIT_FSIZE, (5, resource.RLIM_INFINITY))
                try:
                    step.write("to", "many words")
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        except SystemExit as error:
            said.put(str(error))

    assert child(work) == 0
    assert "step `bin` found no room on the disk for its results" in said.get(timeout=10)
    assert not list(shop.root.rglob("*.part"))
    assert contents(shop) == whole


def test_a_disk_that_keeps_other_bytes_than_it_was_given_is_noticed(shop, monkeypatch):
    """It says that all is written, and loses the end."""
    finish = stored.Stream.finish

    def lose(stream):
        digest = finish(stream)
        if stream.path.name.startswith(".puf"):
            os.truncate(stream.path, 3)
        return digest

    whole = contents(shop)
    monkeypatch.setattr(stored.Stream, "finish", lose)
    with pytest.raises(SystemExit, match="the disk failed while step `bin` wrote its results"):
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    assert contents(shop) == whole


def test_a_write_that_is_taken_in_pieces_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "_take", lambda stream, left: os.write(stream.fileno(), bytes(left[:3])))
    stored.write(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


# Runs and steps


def test_two_runs_do_not_work_on_one_study(shop):
    runs.begin(shop.root)
    assert runs.at_work(shop.root)
    with pytest.raises(
        InputError, match=r"another run works on .*plain; run the same command again when it has"
    ):
        runs.begin(shop.root, grace=0)
    give_up()
    assert not runs.at_work(shop.root)


def test_the_lock_of_a_killed_run_is_gone(shop):
    def work():
        runs.begin(shop.root)
        os.kill(os.getpid(), signal.SIGKILL)

    assert child(work) == -signal.SIGKILL
    runs.begin(shop.root, grace=0)
    give_up()


def test_a_run_does_not_begin_while_a_step_of_an_earlier_one_writes(shop):
    joined = runs.join(shop.root)
    with pytest.raises(InputError, match=r"a step of an earlier run still writes to .*plain"):
        runs.begin(shop.root, grace=0)
    os.close(joined)
    give_up()


def test_a_run_does_not_begin_on_a_full_disk(shop, monkeypatch):
    monkeypatch.setattr(runs, "ROOM", 2**62)
    with pytest.raises(
        InputError, match=r"no room on the disk of .*plain; make room and run the same command"
    ):
        runs.begin(shop.root)
    give_up()


def test_half_written_files_of_dead_steps_are_removed_and_others_stay(shop):
    half = shop.root / "binned" / ".puf.txt.123.part"
    report = shop.folder / "reports" / "plain" / ".review.html.123.part"
    mine = shop.root / "binned" / "mine.part"
    for file in (half, report, mine):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half", encoding="utf-8")
    runs.begin(shop.root)
    give_up()
    assert (half.exists(), report.exists(), mine.exists()) == (False, False, True)


def job_of(queue, starter):
    """A job that sleeps, and knows which process started it."""
    os.environ[runs.STARTER] = f"{starter} {runs._processes()}"
    runs.die_with_starter()
    queue.put(os.getpid())
    time.sleep(60)


def starter_of(queue, between):
    """What starts a job and waits for it, alone or through another process."""
    me = os.getpid()
    FORK.Process(
        target=(lambda: child(lambda: job_of(queue, me))) if between else job_of,
        args=() if between else (queue, me),
    ).start()
    time.sleep(60)


@pytest.mark.parametrize("between", [False, True], ids=["its child", "a process between"])
def test_a_job_dies_with_what_started_it(between):
    queue = FORK.Queue()
    started = FORK.Process(target=starter_of, args=(queue, between))
    started.start()
    job = queue.get(timeout=30)
    os.kill(started.pid, signal.SIGKILL)  # and nobody asks how it ended
    until = time.monotonic() + 10
    while alive(job) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(job)


def alive(process):
    """Whether a process runs: one that is dead may still wait for somebody to ask."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as stat:  # noqa: PTH123 - no path
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
