"""Sums of 64 bytes side by side: each case judged by the definition of a step (METHODS §4.4)."""

import numba
import numpy as np
import pytest
from reident.kernels.lanes import add_box_steps, add_steps, between, full_lanes, prefetch


@numba.njit
def record_sums(columns, steps, start, initial, sums):
    add_steps(columns, np.int64(0), steps, np.int64(len(steps)), np.int64(start), initial, sums)


@numba.njit
def box_sums(low, extent, steps, start, initial, sums):
    add_box_steps(low, extent, np.int64(0), steps, np.int64(len(steps)), np.int64(start), initial, sums)


@numba.njit
def lanes_between(sums, least, most):
    return between(sums, np.int64(least), np.int64(most))


def by_definition(columns, steps, start, initial):
    sums = initial.astype(int) + start
    for variable, first, width, cost in steps.tolist():
        sums += cost * ((columns[variable].astype(int) - first) % 256 > width)
    return np.minimum(sums, 255)


def drawn(seed, v, n_steps):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 256, (v, 64), dtype=np.uint8)
    steps = rng.integers(0, 256, (n_steps, 4)).astype(np.int32)
    steps[:, 0] = rng.integers(0, v, n_steps)
    steps[:, 3] %= rng.choice([3, 40, 256])
    return rng, columns, steps, rng.integers(0, rng.choice([1, 100, 256]), 64, dtype=np.uint8)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("v", "n_steps"), [(1, 0), (1, 3), (10, 20), (400, 30)])
def test_records_cost_the_steps_whose_interval_their_byte_is_outside(seed, v, n_steps):
    rng, columns, steps, initial = drawn(seed, v, n_steps)
    start, sums = int(rng.integers(0, 256)), np.empty(64, np.uint8)
    expected = by_definition(columns, steps, start, initial)
    record_sums(columns, steps, start, initial, sums)
    assert (sums == expected).all()
    record_sums(columns, steps, start, initial, initial)  # in place
    assert (initial == expected).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("widest", [0, 3, 255])
def test_boxes_cost_the_steps_whose_interval_all_their_bytes_are_outside(seed, widest):
    rng, low, steps, initial = drawn(seed, 5, 12)
    extent = np.minimum(rng.integers(0, widest + 1, low.shape), 255 - low).astype(np.uint8)
    expected = initial.astype(int) + 7
    for variable, first, width, cost in steps.tolist():
        for box in range(64):
            byte = np.arange(
                int(low[variable, box]), int(low[variable, box]) + int(extent[variable, box]) + 1
            )
            expected[box] += cost * bool(((byte - first) % 256 > width).all())
    sums = np.empty(64, np.uint8)
    box_sums(low, extent, steps, 7, initial, sums)
    assert (sums == np.minimum(expected, 255)).all()


@pytest.mark.parametrize(("least", "most"), [(0, 255), (0, 0), (255, 255), (7, 130), (9, 8)])
def test_lanes_between_two_bounds_have_a_bit(least, most):
    sums = np.random.default_rng(1).integers(0, 256, 64, dtype=np.uint8)
    sums[:4] = least, most, 0, 255
    expected = sum(1 << lane for lane, byte in enumerate(sums.tolist()) if least <= byte <= most)
    assert int(lanes_between(sums, least, most)) == expected


@pytest.mark.parametrize(("blocks", "columns"), [(0, 3), (1, 1), (7, 10), (3000, 13)])
def test_each_column_of_lanes_is_one_line_of_the_cache(blocks, columns):
    lanes = full_lanes(blocks, columns, 201)
    assert lanes.shape == (blocks, columns, 64)
    assert lanes.dtype == np.uint8
    assert (lanes == 201).all()
    assert lanes.flags.c_contiguous
    assert lanes.size == 0 or lanes.ctypes.data % 64 == 0


@numba.njit
def sum_after_prefetch(numbers, ahead):
    total = 0
    for at in range(numbers.size):
        prefetch(numbers, np.int64(at + ahead))
        total += numbers.flat[at]
    return total


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("ahead", [0, 100, -100, 2**40])
def test_a_prefetch_changes_nothing_wherever_it_points(dtype, ahead):
    numbers = np.arange(120, dtype=dtype).reshape(12, 10)
    before = numbers.copy()
    assert sum_after_prefetch(numbers, ahead) == numbers.sum()
    assert (numbers == before).all()
