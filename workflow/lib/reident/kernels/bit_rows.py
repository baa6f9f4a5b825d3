"""Rows of bits that records add to the rows of a table, in vectors, as `suda_pairs` needs them (METHODS §7).

Numba does not promise to compile a loop to vector instructions, so that these are written for LLVM directly.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from reident.kernels.bits import WORD
from reident.kernels.lanes import read_ahead

LANES = 4
"""Words in a vector, few enough that most rows of SUDA fill one."""

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)
_LINE = 64
"""Bytes in a cache line."""


def aligned_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Return zeros, uint64, none of whose vectors crosses a cache line."""
    size = int(np.prod(shape))
    array = np.zeros(size + _LINE // 8, np.uint64)
    begin = -array.ctypes.data % _LINE // 8
    return array[begin : begin + size].reshape(shape)


@intrinsic
def join_bits(
    _typing: Any, bits: Any, r: Any, k: Any, numbers: Any, first: Any, stop: Any, pairs: Any
) -> Any:
    """Add vector k of row r of a bit map to the rows of ``pairs`` with the row's numbers ``first`` to ``stop`` - 1.

    Parameters
    ----------
    bits : uint64 (n, vectors · LANES)
    r, k : int64
    numbers : uint16 (n, v)
    first, stop : int64
        Columns of ``numbers``.
    pairs : uint64 (vectors, rows, 2, LANES)
        By vector and number: the bits added so far, and those added more than once.
    """
    signature = types.void(bits, r, k, numbers, first, stop, pairs)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, rows = _rows_of_numbers(context, builder, signature, arguments, 2)
        with cgutils.for_range_slice(builder, arguments[4], arguments[5], _WORD(1), _WORD) as (d, _):
            once_at = rows(d)
            twice_at = builder.gep(once_at, [_WORD(1)])
            once, twice = builder.load(once_at, align=8), builder.load(twice_at, align=8)
            builder.store(builder.or_(twice, builder.and_(once, own)), twice_at, align=8)
            builder.store(builder.or_(once, own), once_at, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def common_bits(
    _typing: Any, bits: Any, r: Any, k: Any, numbers: Any, first: Any, stop: Any, table: Any
) -> Any:
    """Count the bits that vector k of row r has in common with the rows of a table; see `join_bits`.

    ``table`` is uint64 (vectors, rows, LANES).
    """
    signature = types.int64(bits, r, k, numbers, first, stop, table)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, rows = _rows_of_numbers(context, builder, signature, arguments, 1)
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0] * LANES))
        with cgutils.for_range_slice(builder, arguments[4], arguments[5], _WORD(1), _WORD) as (d, _):
            common = _bits_by_lane(builder, builder.and_(builder.load(rows(d), align=8), own))
            builder.store(builder.add(builder.load(total), common), total)
        return _sum_lanes(builder, builder.load(total))

    return signature, generate


def _rows_of_numbers(context: Any, builder: Any, signature: Any, arguments: Any, n: int) -> tuple[Any, Any]:
    """Return vector k of row r, and a function from a column of ``numbers`` to the pointer to n vectors of its row."""
    bits, r, k, numbers, _, _, table = arguments
    bits, numbers, table = (
        context.make_array(kind)(context, builder, array)
        for kind, array in zip(signature.args[::3], (bits, numbers, table), strict=True)
    )
    width = builder.extract_value(bits.shape, 1)
    at = builder.add(builder.mul(r, width), builder.mul(k, _WORD(LANES)))
    own = builder.load(builder.bitcast(builder.gep(bits.data, [at]), _VECTOR.as_pointer()), align=8)
    first_number = builder.gep(numbers.data, [builder.mul(r, builder.extract_value(numbers.shape, 1))])
    base = builder.mul(k, builder.extract_value(table.shape, 1))
    vectors = builder.bitcast(table.data, _VECTOR.as_pointer())

    def row(d: Any) -> Any:
        number = builder.zext(builder.load(builder.gep(first_number, [d])), _WORD)
        return builder.gep(vectors, [builder.mul(builder.add(base, number), _WORD(n))])

    return own, row


@intrinsic
def take_minimal(
    _typing: Any,
    pairs: Any,
    k: Any,
    t: Any,
    masks: Any,
    mask: Any,
    known: Any,
    bases: Any,
    n: Any,
    row: Any,
    excluded: Any,
    minimal: Any,
) -> Any:
    """Move the bits added once to row t of ``pairs`` to ``minimal``, except those of known rows; count them.

    Parameters
    ----------
    pairs : uint64 (vectors, rows, 2, LANES)
        See `join_bits`; vector k of row t is cleared.
    k, t : int64
    masks : uint64 (masks, vectors · LANES)
        Row ``mask`` has the bits that count.
    mask : int64
    known : uint64 (words,)
        Followed by at least ``LANES`` - 1 words that are of no row.
    bases : int64 (n or more,)
        The known rows begin ``row`` words after each of the first n.
    n, row : int64
    excluded : uint64 (vectors · LANES,)
        Other bits that do not count.
    minimal : uint64 (vectors, rows, LANES)
    """
    signature = types.int64(pairs, k, t, masks, mask, known, bases, n, row, excluded, minimal)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, k, t, _, mask, _, _, n, row, _, _ = arguments
        pairs, masks, known, bases, excluded, minimal = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 3, 5, 6, 9, 10)
        )
        zero = ir.Constant(_VECTOR, [0] * LANES)
        ones = ir.Constant(_VECTOR, [2**64 - 1] * LANES)
        number = builder.add(builder.mul(k, builder.extract_value(pairs.shape, 1)), t)
        once_at = _vector_at(builder, pairs, builder.mul(number, _WORD(2 * LANES)))
        twice_at = builder.gep(once_at, [_WORD(1)])
        lanes = builder.mul(k, _WORD(LANES))
        width = builder.extract_value(masks.shape, 1)
        counted = builder.load(
            _vector_at(builder, masks, builder.add(builder.mul(mask, width), lanes)), align=8
        )
        own = builder.load(_vector_at(builder, excluded, lanes), align=8)
        union = cgutils.alloca_once_value(builder, builder.or_(builder.load(twice_at, align=8), own))
        first = builder.add(row, lanes)
        with cgutils.for_range(builder, n, intp=_WORD) as loop:
            base = builder.load(builder.gep(bases.data, [loop.index]))
            word = builder.load(_vector_at(builder, known, builder.add(base, first)), align=8)
            builder.store(builder.or_(builder.load(union), word), union)
        kept = builder.and_(builder.load(once_at, align=8), counted)
        kept = builder.and_(kept, builder.xor(builder.load(union), ones))
        builder.store(zero, once_at, align=8)
        builder.store(zero, twice_at, align=8)
        builder.store(kept, _vector_at(builder, minimal, builder.mul(number, _WORD(LANES))), align=8)
        return _sum_lanes(builder, _bits_by_lane(builder, kept))

    return signature, generate


@intrinsic
def prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """Load the first two cache lines of a row of an array before they are needed."""
    signature = types.void(array, row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [builder.mul(arguments[1], builder.extract_value(array.shape, 1))])
        for line in range(2):
            read_ahead(
                builder, builder.gep(builder.bitcast(at, ir.IntType(8).as_pointer()), [_WORD(line * _LINE)])
            )
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_bits(_typing: Any, counters: Any, w: Any, word: Any) -> Any:
    """Add each bit of a word to a counter, uint8: those of word ``w`` of a bit map begin at 64 · ``w``."""
    signature = types.void(counters, w, word)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counters, w, word = arguments
        kind = ir.VectorType(ir.IntType(8), WORD)
        data = context.make_array(signature.args[0])(context, builder, counters).data
        at = builder.bitcast(builder.gep(data, [builder.mul(w, _WORD(WORD))]), kind.as_pointer())
        bits = builder.bitcast(word, ir.VectorType(ir.IntType(1), WORD))
        builder.store(builder.add(builder.load(at, align=1), builder.zext(bits, kind)), at, align=1)
        return context.get_dummy_value()

    return signature, generate


def _vector_at(builder: Any, array: Any, word: Any) -> Any:
    """Return the pointer to the vector that begins at a word of an array."""
    return builder.bitcast(builder.gep(array.data, [word]), _VECTOR.as_pointer())


def _bits_by_lane(builder: Any, vector: Any) -> Any:
    """Return the number of bits set in each word of a vector."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    return builder.call(builder.module.declare_intrinsic(f"llvm.ctpop.v{LANES}i64", fnty=kind), [vector])


def _sum_lanes(builder: Any, vector: Any) -> Any:
    """Return the sum of the words of a vector."""
    kind = ir.FunctionType(_WORD, [_VECTOR])
    return builder.call(
        builder.module.declare_intrinsic(f"llvm.vector.reduce.add.v{LANES}i64", fnty=kind), [vector]
    )
