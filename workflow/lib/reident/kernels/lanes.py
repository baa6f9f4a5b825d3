"""64 records side by side, a byte of each: sums of the costs of their values, in saturating bytes (METHODS §4.4).

A *step* is four numbers: a variable, the first byte of an interval, the width of the interval, and what a byte outside
the interval costs, the last three 0 to 255. Intervals are circular, so that the complement of an interval is one too: a
byte y is outside the interval that begins at f and has width w exactly if (y − f) mod 256 > w.

Numba does not promise to compile loops to vector instructions, so that these are written for LLVM directly; it splits
the vectors where the processor's are shorter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

WIDTH = 64
"""Records, or boxes, side by side."""

STEP = 4
"""Numbers of a step."""

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_VECTOR = ir.VectorType(_BYTE, WIDTH)


def full_lanes(blocks: int, columns: int, byte: int) -> np.ndarray:
    """Return columns of lanes with this byte, uint8 (blocks, columns, WIDTH), each in one line of the cache."""
    size = blocks * columns * WIDTH
    array = np.full(size + WIDTH, byte, np.uint8)
    begin = -array.ctypes.data % WIDTH
    return array[begin : begin + size].reshape(blocks, columns, WIDTH)


def read_ahead(builder: Any, place: Any) -> None:
    """Ask the processor for the cache line of a place in memory, and do not wait for it."""
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), number, number, number])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(ask, [builder.bitcast(place, _BYTE.as_pointer()), number(0), number(3), number(1)])


def _splat(builder: Any, byte: Any) -> Any:
    """Return a vector that repeats a byte."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, byte, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _vector_at(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _add(context: Any, builder: Any, kinds: Any, arguments: Any, outside: Callable) -> None:
    """Write ``initial``, ``start`` and the steps; ``outside(column, first, width)`` says where a step counts."""
    steps, n, start, initial, sums = arguments
    step_base, initial_base, sums_base = (
        context.make_array(kind)(context, builder, array).data
        for kind, array in zip((kinds[0], *kinds[3:]), (steps, initial, sums), strict=True)
    )
    saturating = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR]), f"llvm.uadd.sat.v{WIDTH}i8"
    )
    before = builder.load(_vector_at(builder, initial_base), align=1)
    least = _splat(builder, builder.trunc(start, _BYTE))
    total = cgutils.alloca_once_value(builder, builder.call(saturating, [before, least]))
    with cgutils.for_range(builder, n) as loop:
        step = builder.gep(step_base, [builder.mul(loop.index, _WORD(STEP))])
        numbers = [builder.load(builder.gep(step, [_WORD(at)])) for at in range(STEP)]
        column = builder.mul(builder.zext(numbers[0], _WORD), _WORD(WIDTH))
        first, width, cost = (builder.trunc(number, _BYTE) for number in numbers[1:])
        counts = outside(column, _splat(builder, first), _splat(builder, width))
        added = builder.select(counts, _splat(builder, cost), ir.Constant(_VECTOR, [0] * WIDTH))
        builder.store(builder.call(saturating, [builder.load(total), added]), total)
    builder.store(builder.load(total), _vector_at(builder, sums_base), align=1)


@intrinsic
def add_steps(_typing: Any, bytes_: Any, at: Any, steps: Any, n: Any, start: Any, initial: Any, sums: Any) -> Any:
    """Add the costs of 64 records: ``sums`` becomes ``initial`` plus ``start`` and the steps that count, at most 255.

    ``bytes_`` has columns of 64 bytes; the column of variable 0 begins at ``at``, and those of all variables follow one
    another. ``start`` is 0 to 255, ``steps`` int32 (≥ n, 4). ``initial`` and ``sums``, uint8 (64,), may be one array.
    """
    signature = types.void(bytes_, at, steps, n, start, initial, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        base = context.make_array(kinds[0])(context, builder, arguments[0]).data

        def outside(column: Any, first: Any, width: Any) -> Any:
            pointer = builder.gep(base, [builder.add(arguments[1], column)])
            values = builder.load(_vector_at(builder, pointer), align=1)
            return builder.icmp_unsigned(">", builder.sub(values, first), width)

        _add(context, builder, kinds[2:], arguments[2:], outside)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_box_steps(
    _typing: Any, low: Any, extent: Any, at: Any, steps: Any, n: Any, start: Any, initial: Any, sums: Any
) -> Any:
    """Add the least costs of 64 boxes, as `add_steps`.

    A step counts where every byte of the box is outside its interval. ``low`` has the lowest byte of each box,
    ``extent`` the highest less the lowest. The bytes l … l + e of a box are outside the interval from f with width w
    exactly if l is, and f is not one of them: (l − f) mod 256 > w and e < (f − l) mod 256.
    """
    signature = types.void(low, extent, at, steps, n, start, initial, sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        bases = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(kinds[:2], arguments[:2], strict=True)
        ]

        def outside(column: Any, first: Any, width: Any) -> Any:
            offset = [builder.add(arguments[2], column)]
            lows, extents = (builder.load(_vector_at(builder, builder.gep(base, offset)), align=1) for base in bases)
            beyond = builder.icmp_unsigned(">", builder.sub(lows, first), width)
            return builder.and_(beyond, builder.icmp_unsigned("<", extents, builder.sub(first, lows)))

        _add(context, builder, kinds[3:], arguments[3:], outside)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def between(_typing: Any, sums: Any, least: Any, most: Any) -> Any:
    """Return the bit set of the lanes whose byte is at least ``least`` and at most ``most`` (int64, 0 to 255)."""
    signature = types.uint64(sums, least, most)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        values = builder.load(_vector_at(builder, base), align=1)
        least, most = (_splat(builder, builder.trunc(limit, _BYTE)) for limit in arguments[1:])
        above = builder.icmp_unsigned(">=", values, least)
        return builder.bitcast(builder.and_(above, builder.icmp_unsigned("<=", values, most)), _WORD)

    return signature, generate


@intrinsic
def prefetch(_typing: Any, array: Any, at: Any) -> Any:
    """Ask the processor for the cache line of an element of the flat array, and do not wait for it."""
    signature = types.void(array, at)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        read_ahead(builder, builder.gep(base, [arguments[1]]))
        return context.get_dummy_value()

    return signature, generate
