"""Words of 64 bits, one bit for each record or variable, and the instructions on them (METHODS §4.1, §4.2, §7).

Numba has no vectors of words and does not promise to compile a loop to vector instructions, so that the two inner
steps of taxicab's scan are written for LLVM directly; it splits the vectors where the processor's are shorter.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from reident.kernels.compiling import lean_jit

WORD = 64
"""Bits in a word: a set of up to 64 records is one integer."""

LANES = 8
"""Words in a vector."""

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


@intrinsic
def trailing_zeros(_typing: Any, word: Any) -> Any:
    """Return the position of the lowest bit of a uint64 that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate if word == types.uint64 else None


@intrinsic
def popcount(_typing: Any, word: Any) -> Any:
    """Return the number of bits set in a uint64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate if word == types.uint64 else None


@lean_jit
def low_bits(n):
    """Return a word with the n lowest bits set, n from 0 to 64."""
    return ~np.uint64(0) if n >= WORD else (np.uint64(1) << np.uint64(n)) - np.uint64(1)


@intrinsic
def unequal(_typing: Any, a: Any, i: Any, b: Any, r: Any, model: Any) -> Any:
    """Return the bit set of the columns in which row ``i`` of ``a`` and row ``r`` of ``b`` are not equal.

    ``a`` and ``b`` are C-contiguous; they have one column, of at most 64, for each element of the tuple ``model``.
    """
    signature = types.uint64(a, i, b, r, model)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = len(signature.args[4])
        row_type = ir.VectorType(ir.IntType(signature.args[0].dtype.bitwidth), width)

        def row(array: Any, kind: Any, index: Any) -> Any:
            base = context.make_array(kind)(context, builder, array).data
            pointer = builder.gep(base, [builder.mul(index, index.type(width))])
            return builder.load(builder.bitcast(pointer, row_type.as_pointer()), align=4)

        kinds = signature.args
        unequal_columns = builder.icmp_unsigned(
            "!=", row(arguments[0], kinds[0], arguments[1]), row(arguments[2], kinds[2], arguments[3])
        )
        bits = builder.bitcast(unequal_columns, ir.IntType(width))
        return bits if width == 64 else builder.zext(bits, _WORD)

    return signature, generate


def _splat(builder: Any, word: Any) -> Any:
    """Return a vector that has a word in each lane."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(undefined, word, ir.IntType(32)(0))
    return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def as_tuple(_typing: Any, array: Any, model: Any) -> Any:
    """Return the first elements of an array as a tuple of the length of ``model``, which is part of its type."""
    signature = types.UniTuple(array.dtype, len(model))(array, model)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointers = [builder.gep(base, [ir.IntType(64)(k)]) for k in range(len(signature.args[1]))]
        return context.make_tuple(builder, signature.return_type, [builder.load(pointer) for pointer in pointers])

    return signature, generate


@intrinsic
def at_most(_typing: Any, rows: Any, at: Any, start: Any, spare: Any, counts: Any) -> Any:
    """Find which of ``64 * LANES`` records have a bit in few enough rows of a bit map; return whether any has.

    Parameters
    ----------
    rows : uint64 (n,)
        The rows of the bit map, one after another.
    at : tuple of v int64
        Where the v rows to count begin.
    start : int64
        The first of the ``LANES`` words of each row.
    spare : tuple of p uint64
        2^p − 1 − the largest number of bits allowed, lowest binary digit first: a digit 1 is a word of ones.
    counts : uint64 (1 + p, LANES)
        Written if there is such a record: a bit for each record that has at most that number, then the binary
        digits of ``spare`` plus the record's number of bits, lowest first.

    Notes
    -----
    The count of each record is in binary, one word per digit for 64 records, and starts at ``spare``: a carry
    leaves the highest digit, at 2^p, exactly if there are too many bits. A full adder turns three words of one
    weight into one word of this weight and one of the next.
    """
    signature = types.boolean(rows, at, start, spare, counts)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, at, start, spare, counts = arguments

        def data(array: Any, kind: Any) -> Any:
            return context.make_array(kind)(context, builder, array).data

        def load(pointer: Any, index: Any) -> Any:
            vector = builder.bitcast(builder.gep(pointer, [index]), _VECTOR.as_pointer())
            return builder.load(vector, align=8)

        ones = ir.Constant(_VECTOR, [2**64 - 1] * LANES)
        digits = [[_splat(builder, word)] for word in cgutils.unpack_tuple(builder, spare)]
        carried = [ir.Constant(_VECTOR, [0] * LANES)]

        def add(word: Any, weight: int) -> None:
            if weight == len(digits):
                carried.append(builder.or_(carried.pop(), word))
                return
            digits[weight].append(word)
            if len(digits[weight]) == 3:
                a, b, c = digits[weight]
                digits[weight] = [builder.xor(builder.xor(a, b), c)]
                add(builder.or_(builder.and_(a, b), builder.and_(c, builder.or_(a, b))), weight + 1)

        base = data(rows, signature.args[0])
        for offset in cgutils.unpack_tuple(builder, at):
            add(load(base, builder.add(offset, start)), 0)
        for weight in range(len(digits)):
            if len(digits[weight]) == 2:
                a, b = digits[weight]
                digits[weight] = [builder.xor(a, b)]
                add(builder.and_(a, b), weight + 1)
        within = builder.xor(carried[0], ones)
        lanes = builder.icmp_unsigned("!=", within, ir.Constant(_VECTOR, [0] * LANES))
        any_record = builder.icmp_unsigned("!=", builder.bitcast(lanes, ir.IntType(LANES)), ir.IntType(LANES)(0))
        with builder.if_then(any_record):
            out = builder.bitcast(data(counts, signature.args[4]), _VECTOR.as_pointer())
            for k, words in enumerate([within, *(digit for (digit,) in digits)]):
                builder.store(words, builder.gep(out, [_WORD(k)]), align=8)
        return any_record

    return signature, generate
