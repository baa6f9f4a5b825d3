"""Work beside this process gives what it gives in it, also where a copy fails."""

import contextvars
import os
import sys
import warnings

import pytest
from reident.report import beside

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux alone")


@pytest.fixture
def copies(monkeypatch):
    """As many copies at a time as on a machine with two processors."""
    monkeypatch.setenv("REIDENT_CORES", "2")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr(beside, "_most", 0)
    beside.allow()


def test_nothing_is_copied_unless_it_is_allowed():
    here = os.getpid()
    assert beside.Later(os.getpid).value() == here
    assert not beside._running


@pytest.mark.parametrize(("cores", "processors"), [("", {1, 2}), ("1", {1, 2}), ("4", {3})])
def test_one_processor_is_no_reason_to_copy(monkeypatch, cores, processors):
    monkeypatch.setattr(os, "environ", {"REIDENT_CORES": cores} if cores else {})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: processors, raising=False)
    monkeypatch.setattr(beside, "_most", 7)
    beside.allow()
    assert beside.Later(os.getpid).value() == os.getpid()


@LINUX
def test_every_value_is_that_of_its_work_whatever_the_order_in_which_it_is_read(copies):
    made = [beside.Later(lambda at=at: (os.getpid(), "x" * at * 100_000)) for at in range(7)]
    found = [one.value() for one in reversed(made)][::-1]
    assert [len(text) for _, text in found] == [at * 100_000 for at in range(7)]
    assert len({pid for pid, _ in found} | {os.getpid()}) == 8
    assert [one.value() for one in made] == found
    assert not beside._running


@LINUX
def test_no_more_copies_run_than_there_are_processors(copies):
    made = [beside.Later(os.getpid) for _ in range(5)]
    assert len(beside._running) == 2
    assert len({one.value() for one in made}) == 5


@LINUX
def test_what_a_copy_cannot_do_is_done_here(copies):
    here = os.getpid()

    def work():
        if os.getpid() != here:
            os._exit(3)
        return "here"

    assert beside.Later(work).value() == "here"


@LINUX
def test_an_error_is_raised_here(copies):
    def work():
        raise KeyError("x")

    later = beside.Later(work)
    for _ in range(2):
        with pytest.raises(KeyError):
            later.value()
    assert not beside._running


@LINUX
def test_a_warning_is_given_here(copies):
    def work():
        warnings.warn("look", UserWarning, stacklevel=1)
        return 5

    later = beside.Later(work)
    with pytest.warns(UserWarning, match="look"):
        assert later.value() == 5


@LINUX
def test_a_value_that_cannot_be_pickled_is_made_here(copies):
    assert beside.Later(lambda: lambda: 3).value()() == 3


@LINUX
def test_work_that_is_done_here_after_all_has_the_context_in_which_it_was_given(copies):
    word, here = contextvars.ContextVar("word", default="none"), os.getpid()
    token = word.set("own")
    later = beside.Later(lambda: word.get() if os.getpid() == here else os._exit(3))
    word.reset(token)
    assert later.value() == "own"


@LINUX
def test_no_descriptor_and_no_zombie_stays(copies):
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - as the system counts
    [later.value() for later in [beside.Later(lambda: 1) for _ in range(4)]]
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@LINUX
def test_a_figure_is_drawn_with_the_same_bytes(copies, monkeypatch):
    from reident.report import style

    def draw(sheet):
        sheet.panels[0].plot([0, 1], [0, 1], label="äpfel")
        style.percent_axis(sheet.panels[0], 1)

    def made():
        return style.figure(draw, height=1, alt="a", caption="", layers=lambda _: ["m"], alts=["b"])

    beside_, (shown, about) = made(), made()._repr_mimebundle_()
    monkeypatch.setattr(beside, "_most", 0)
    here = made()
    assert (here.svg, here.narrow, here.layers) == (beside_.svg, beside_.narrow, beside_.layers)
    assert here == beside_
    assert hash(here) == hash(beside_)
    assert here != style.figure(draw, height=2, alt="a", caption="")
    assert (shown, about) == here._repr_mimebundle_()
