"""A step that is killed before each operation on a file, and a disk that loses bytes."""

import multiprocessing
import os
import resource
import signal
import sys
from functools import partial

import pytest
from making.workshop import Workshop
from reident import ledger
from reident.ledger import chain, stored

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


def again(shop):
    """The step `bin` once more, where its result and its entry are not both there."""
    if not all((shop.root / name).is_file() for name in ("binned/puf.txt", "ledger/bin.json")):
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
        assert not list(shop.root.rglob("*.part")), "of the step that was killed"
    assert shop.check() == ["bin", "prepare", "rate", "score.taxicab"]


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
        except SystemExit:
            message.put((shop.root / "logs/bin.log").read_text(encoding="utf-8"))

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
    with pytest.raises(SystemExit):
        shop.copy("bin", shop.root / "prepared/puf.txt", "binned/puf.txt")
    log = (shop.root / "logs/bin.log").read_text(encoding="utf-8")
    assert "the disk failed while step `bin` wrote its results" in log
    assert contents(shop) == whole


def test_a_write_that_is_taken_in_pieces_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "_take", lambda stream, left: os.write(stream.fileno(), bytes(left[:3])))
    stored.write(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"
