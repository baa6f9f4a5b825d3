"""A step killed before each operation on a file, a disk that loses bytes, the start of a run, and the locks."""

import multiprocessing
import os
import resource
import signal
import stat
import sys
import time
from functools import partial

import pytest
from making.workshop import Workshop
from reident import ledger
from reident.errors import InputError
from reident.ledger import chain, runs, stale, stored
from reident.starter import STARTER, process_numbers

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


def begin(shop, **arguments):
    """Start a run that makes all results of the workshop; the warnings."""
    found = stale.find_stale(shop.root, shop.known)
    return runs.start(shop.root, found, [shop.root / name for name in RESULTS], **arguments)


def again(shop):
    """The start of a run, and the step `bin` where it has no result that holds."""
    found = stale.find_stale(shop.root, shop.known)
    begin(shop)
    assert not list(shop.root.rglob("*.part"))
    if shop.root / "binned/puf.txt" in found.files or not (shop.root / "binned/puf.txt").is_file():
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    assert stale.find_stale(shop.root, shop.known).files == set()
    assert not (shop.root / stale.SET_ASIDE).exists(), "no result of a killed step counts as edited"
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
def test_a_step_killed_at_any_moment_leaves_its_complete_result_or_none(shop, before):
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
    whole, message = contents(shop), FORK.Queue()

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
            message.put(str(error))

    assert child(work) == 0
    assert "step `bin` found no room on the disk for its results" in message.get(timeout=10)
    assert not list(shop.root.rglob("*.part"))
    assert contents(shop) == whole


def test_a_disk_that_keeps_fewer_bytes_than_it_was_given_is_noticed(shop, monkeypatch):
    """It reports that everything is written, and loses the end."""

    def lose(stream, left):
        os.write(stream.fileno(), bytes(left[:3]))
        return len(left)

    whole = contents(shop)
    monkeypatch.setattr(stored, "_take", lose)
    with pytest.raises(SystemExit, match="the disk failed while step `bin` wrote its results"):
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    assert contents(shop) == whole


def test_a_write_that_is_taken_in_pieces_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "_take", lambda stream, left: os.write(stream.fileno(), bytes(left[:3])))
    stored.write(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


# Runs and steps


def test_two_runs_do_not_work_on_one_study(shop):
    begin(shop)
    assert runs.is_running(shop.root)
    with pytest.raises(
        InputError, match=r"plain is in use by another run. Run the same command again when that has ended"
    ):
        begin(shop, grace=0)
    give_up()
    assert not runs.is_running(shop.root)


def test_the_lock_of_a_killed_run_is_gone(shop):
    def work():
        begin(shop)
        os.kill(os.getpid(), signal.SIGKILL)

    assert child(work) == -signal.SIGKILL
    begin(shop, grace=0)
    give_up()


def test_a_run_does_not_start_while_a_step_of_an_earlier_one_writes(shop):
    joined = runs.join(shop.root)
    with pytest.raises(InputError, match=r"plain is in use by a step of an earlier run"):
        begin(shop, grace=0)
    os.close(joined)
    give_up()


def test_a_run_does_not_start_on_a_full_disk(shop, monkeypatch):
    monkeypatch.setattr(runs, "MIN_FREE", 2**62)
    with pytest.raises(InputError, match=r"plain: the disk is full. Make room on the disk and run the same"):
        begin(shop)
    give_up()


def test_a_run_does_not_start_on_results_that_changed_since_it_was_planned(shop):
    found = stale.find_stale(shop.root, shop.known)
    shop.run()
    with pytest.raises(InputError, match=r"plain changed while this run was being planned. Run the same"):
        runs.start(shop.root, found, [])
    give_up()


@pytest.mark.parametrize("name", [runs.RUN, runs.STEPS])
def test_a_folder_in_place_of_a_lock_is_an_error(shop, name):
    (shop.root / name).unlink(missing_ok=True)
    (shop.root / name).mkdir()
    with pytest.raises(InputError, match=r"lock must be a file, not a folder. Rename it and run the same"):
        begin(shop)
    give_up()


# Results that their steps did not write


def test_an_edited_result_is_set_aside_and_computed_anew(shop):
    whole = contents(shop)
    path = shop.root / "binned/puf.txt"
    path.write_text("edited", encoding="utf-8")
    path.chmod(0o644)
    digest = chain.digest(path)[:16]
    (warning,) = begin(shop)
    give_up()
    kept = shop.root / f"set-aside/binned/puf.{digest}.txt"
    assert warning == f"{path} is not what its step wrote. It is kept as {kept} and computed anew."
    assert (kept.read_text(encoding="utf-8"), path.exists()) == ("edited", False)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (kept, kept.parent)] == [0o600, 0o700]
    shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    name = f"set-aside/binned/puf.{digest}.txt"
    assert shop.entry("bin")["set_aside"] == {"binned/puf.txt": [name]}
    log = (shop.root / "logs/bin.log").read_text(encoding="utf-8")
    assert f"this step did not write an earlier version, which is kept as {name}" in log
    assert {file: content for file, content in contents(shop).items() if file != "ledger/bin.json"} == {
        file: content for file, content in whole.items() if file != "ledger/bin.json"
    }
    assert stale.find_stale(shop.root, shop.known).files == set()


def test_an_edited_result_that_no_job_replaces_stays(shop):
    (shop.root / "rates.txt").write_text("edited", encoding="utf-8")
    found = stale.find_stale(shop.root, shop.known)
    assert runs.start(shop.root, found, [shop.root / "binned/puf.txt"]) == []
    give_up()
    assert (shop.root / "rates.txt").read_text(encoding="utf-8") == "edited"


def test_half_written_files_of_dead_steps_are_removed_and_others_stay(shop):
    half = shop.root / "binned" / ".puf.txt.123.part"
    report = shop.folder / "reports" / "plain" / ".review.html.123.part"
    mine = shop.root / "binned" / "mine.part"
    for file in (half, report, mine):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half", encoding="utf-8")
    begin(shop)
    give_up()
    assert (half.exists(), report.exists(), mine.exists()) == (False, False, True)


def job_of(queue, starter):
    """A job that sleeps, and knows which process started it."""
    os.environ[STARTER] = f"{starter} {process_numbers()}"
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
    os.kill(started.pid, signal.SIGKILL)  # it stays a zombie
    until = time.monotonic() + 10
    while alive(job) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(job)


def alive(process):
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as status:  # noqa: PTH123 - no path
            return status.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
