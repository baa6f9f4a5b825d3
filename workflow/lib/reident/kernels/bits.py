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

MARGIN = 8
"""Columns that `unequal` compares at a time."""

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
def unequal(_typing: Any, a: Any, _i: Any, b: Any, _r: Any, _v: Any) -> Any:
    """Return the bit set of the columns in which a row of ``a`` and a row of ``b`` are not equal, by their numbers.

    ``a`` and ``b`` are int32 of 1 to 64 columns, the last argument, and were made by `with_margin`: several columns are
    compared at a time, beyond the last ones of a row too.
    """
    signature = types.uint64(a, types.int64, b, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        v, (kind, _, other, *_) = arguments[4], signature.args
        several = ir.VectorType(ir.IntType(32), MARGIN)
        bases = [
            builder.gep(context.make_array(of)(context, builder, array).data, [builder.mul(index, v)])
            for of, array, index in ((kind, *arguments[:2]), (other, *arguments[2:4]))
        ]
        bits = cgutils.alloca_once_value(builder, _WORD(0))
        with cgutils.for_range(builder, builder.udiv(builder.add(v, _WORD(MARGIN - 1)), _WORD(MARGIN))) as loop:
            first = builder.mul(loop.index, _WORD(MARGIN))
            columns = [builder.bitcast(builder.gep(base, [first]), several.as_pointer()) for base in bases]
            differ = builder.icmp_unsigned("!=", *(builder.load(some, align=4) for some in columns))
            word = builder.zext(builder.bitcast(differ, ir.IntType(MARGIN)), _WORD)
            builder.store(builder.or_(builder.load(bits), builder.shl(word, first)), bits)
        low = builder.lshr(_WORD(2**64 - 1), builder.sub(_WORD(WORD), v))
        return builder.and_(builder.load(bits), low)

    return signature, generate


def with_margin(table: np.ndarray) -> np.ndarray:
    """Return an int32 table, C-contiguous, behind whose last cell as many more are that may be read."""
    cells = np.zeros(table.size + MARGIN, np.int32)
    copy = cells[: table.size].reshape(table.shape)
    copy[:] = table
    return copy


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
    at : int64
        Where the rows to count begin.
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

        base, offsets = data(rows, signature.args[0]), context.make_array(signature.args[1])(context, builder, at)
        kept = [cgutils.alloca_once_value(builder, digit) for (digit,) in digits]
        kept_carry = cgutils.alloca_once_value(builder, carried[0])
        begin, several = _WORD(0), 4 if len(digits) <= 4 else 8
        for n in (several, 1):  # a few rows at a time, then those that are left
            times = builder.udiv(builder.sub(offsets.nitems, begin), _WORD(n))
            with cgutils.for_range(builder, times) as loop:
                digits, carried = [[builder.load(digit)] for digit in kept], [builder.load(kept_carry)]
                first = builder.add(begin, builder.mul(loop.index, _WORD(n)))
                for k in range(n):
                    offset = builder.load(builder.gep(offsets.data, [builder.add(first, _WORD(k))]))
                    add(load(base, builder.add(offset, start)), 0)
                for weight in range(len(digits)):
                    if len(digits[weight]) == 2:
                        a, b = digits[weight]
                        digits[weight] = [builder.xor(a, b)]
                        add(builder.and_(a, b), weight + 1)
                for place, (digit,) in zip((*kept, kept_carry), (*digits, carried), strict=True):
                    builder.store(digit, place)
            begin = builder.mul(times, _WORD(several))
        digits = [[builder.load(digit)] for digit in kept]
        within = builder.xor(builder.load(kept_carry), ones)
        lanes = builder.icmp_unsigned("!=", within, ir.Constant(_VECTOR, [0] * LANES))
        any_record = builder.icmp_unsigned("!=", builder.bitcast(lanes, ir.IntType(LANES)), ir.IntType(LANES)(0))
        with builder.if_then(any_record):
            out = builder.bitcast(data(counts, signature.args[4]), _VECTOR.as_pointer())
            for k, words in enumerate([within, *(digit for (digit,) in digits)]):
                builder.store(words, builder.gep(out, [_WORD(k)]), align=8)
        return any_record

    return signature, generate
