"""The clock of what is compiled: it must not count as work."""

import time

import numba
from reident.kernels.compiling import Clock


def test_the_clock_runs_while_a_kernel_is_compiled_and_only_then():
    changes = []
    clock = Clock(changes.append)
    try:

        @numba.njit
        def inner(x):
            return x + 1

        @numba.njit
        def outer(x):
            return inner(x) * 2

        began = time.monotonic()
        assert outer(1) == 4
        spent = clock.seconds
        assert 0 < spent <= time.monotonic() - began
        assert changes == [True, False], "one kernel that is compiled for another is part of it"
        outer(2)
        assert (clock.seconds, clock.runs) == (spent, False)
    finally:
        clock.stop()
    outer(1.5)
    assert clock.seconds == spent
