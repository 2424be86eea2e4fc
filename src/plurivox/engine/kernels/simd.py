"""A row over labels in vector registers: what lets a kernel treat the labels of a task four at a time.

Numba has no vector type, so this file gives it one. `Row(n)` is n times four float64. Its width is part of its type,
taken from the length of the tuple `width` that every kernel is given, so it is known when the kernel is compiled and
the numbers of a task never leave the registers. K labels that are no multiple of four read a little beyond the end of
a row, into the next one: arrays must have `PAD` spare cells at their end, and what is added there must be zero.
"""

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from plurivox.core.types import Floats
from plurivox.engine.memory import aligned_empty

MAX_VECTORS = 4  # vectors in a Row: sixteen labels leave registers to spare
PAD = 4 * MAX_VECTORS

VECTOR4 = ir.VectorType(ir.DoubleType(), 4)
VECTOR4_BITS = ir.VectorType(ir.IntType(64), 4)
INT32 = ir.IntType(32)


def simd_width(n_labels: int, *, coarse: bool = False) -> tuple[int, ...]:
    """The SIMD width for this many labels, as a tuple of zeros: its length is the number of vectors of four in a `Row`.

    Only the length counts. It is part of a tuple's type, and numba compiles a kernel anew for each type it is called with,
    so in the kernel the width is a constant. More than 16 labels take several rows. Kernels that need not be the fastest
    take the `coarse` widths 1 and 4, which are fewer to compile.

    >>> [len(simd_width(k)) for k in (1, 4, 5, 16, 17, 20, 33)]
    [1, 1, 2, 4, 3, 3, 3]
    >>> [len(simd_width(k, coarse=True)) for k in (1, 4, 5, 16, 17, 20, 33)]
    [1, 1, 4, 4, 4, 4, 4]
    """
    if coarse:
        return (0,) if n_labels <= 4 else (0,) * MAX_VECTORS
    n_vectors = -(-max(n_labels, 1) // 4)
    n_rows = -(-n_vectors // MAX_VECTORS)
    return (0,) * -(-n_vectors // n_rows)


def pad_array(values: Floats, fill: float = 0.0) -> Floats:
    """The values in one flat array, aligned to a cache line, with `PAD` spare cells at its end."""
    flat = aligned_empty(values.size + PAD)
    flat[: values.size] = values.ravel()
    flat[values.size :] = fill
    return flat


class Row(types.Type):
    """n times four float64."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(name=f"Row({n})")


@register_model(Row)
class RowModel(models.PrimitiveModel):
    """In LLVM: an array of vectors, which it takes apart into registers."""

    def __init__(self, manager: Any, kind: Row) -> None:
        super().__init__(manager, kind, ir.ArrayType(VECTOR4, kind.n))


# ---- what kernels call. The first argument of an intrinsic is numba's own.


@intrinsic
def load(_: Any, array: Any, at: Any, width: Any) -> Any:
    """load(array, at, width): the numbers of a flat array from `at` on."""

    def code(context: Any, build: Any, sig: Any, args: Any) -> Any:
        parts = [build.load(_vector_pointer(context, build, sig.args[0], args, q), align=8) for q in range(len(width))]
        return _pack_vectors(build, parts)

    return Row(len(width))(array, types.uint64, width), code


@intrinsic
def store(_: Any, array: Any, at: Any, row: Any) -> Any:
    """store(array, at, row): the other way round."""

    def code(context: Any, build: Any, sig: Any, args: Any) -> Any:
        for q, part in enumerate(_split_vectors(build, args[2], row)):
            build.store(part, _vector_pointer(context, build, sig.args[0], args, q), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, row), code


@intrinsic
def prefetch(_: Any, array: Any, at: Any) -> Any:
    """prefetch(array, at): bring this number into the cache, it will be needed soon."""

    def code(context: Any, build: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        place = build.bitcast(_vector_pointer(context, build, sig.args[0], args, 0), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        call = build.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        build.call(call, [place, INT32(0), INT32(3), INT32(1)])  # to read, as near as can be, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), code


@intrinsic
def add(_: Any, row: Any, other: Any) -> Any:
    """add(row, other): plus another row, or plus a number everywhere."""
    return _elementwise(row, (other,), lambda build, x, y: build.fadd(x, y))


@intrinsic
def scale(_: Any, row: Any, other: Any) -> Any:
    """scale(row, other): times another row, or times a number."""
    return _elementwise(row, (other,), lambda build, x, y: build.fmul(x, y))


@intrinsic
def add_scaled(_: Any, row: Any, other: Any, by: Any) -> Any:
    """add_scaled(row, other, by): row + other * by."""
    return _elementwise(row, (other, by), lambda build, x, y, z: _muladd(build, y, z, x))


@intrinsic
def row_maximum(_: Any, row: Any, other: Any) -> Any:
    """higher(row, other): cell by cell the larger number."""
    return _elementwise(row, (other,), _maximum)


@intrinsic
def exp(_: Any, row: Any) -> Any:
    """exp(row) for numbers up to 0: within 4e-16 of the truth, and exactly 0 below -708."""
    return _elementwise(row, (), _exp)


@intrinsic
def row_max(_: Any, row: Any) -> Any:
    """top(row): the largest number."""
    return _reduce(row, _maximum)


@intrinsic
def row_sum(_: Any, row: Any) -> Any:
    """total(row): the sum, always added in the same order."""
    return _reduce(row, lambda build, x, y: build.fadd(x, y))


# ---- how they are built


def _vector_pointer(context: Any, build: Any, array: Any, args: Any, quad: int) -> Any:
    data = context.make_array(array)(context, build, args[0]).data
    first = build.bitcast(build.gep(data, [args[1]]), VECTOR4.as_pointer())
    return build.gep(first, [INT32(quad)])


def _pack_vectors(build: Any, parts: list[Any]) -> Any:
    whole = ir.Constant(ir.ArrayType(VECTOR4, len(parts)), ir.Undefined)
    for i, part in enumerate(parts):
        whole = build.insert_value(whole, part, i)
    return whole


def _split_vectors(build: Any, value: Any, kind: Any, n: int = 0) -> list[Any]:
    """The vectors of a row; a number becomes n times the same vector."""
    if isinstance(kind, Row):
        return [build.extract_value(value, i) for i in range(kind.n)]
    nothing = ir.Constant(VECTOR4, ir.Undefined)
    one = build.insert_element(nothing, value, INT32(0))
    return [build.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INT32, 4), [0] * 4))] * n


def _elementwise(row: Any, others: tuple[Any, ...], op: Any) -> Any:
    kinds = [other if isinstance(other, Row) else types.float64 for other in others]

    def code(context: Any, build: Any, sig: Any, args: Any) -> Any:
        del context, sig
        columns = [_split_vectors(build, arg, kind, row.n) for arg, kind in zip(args, [row, *kinds], strict=True)]
        return _pack_vectors(build, [op(build, *parts) for parts in zip(*columns, strict=True)])

    return row(row, *kinds), code


def _reduce(row: Any, op: Any) -> Any:
    def code(context: Any, build: Any, sig: Any, args: Any) -> Any:
        del context, sig
        first, *rest = _split_vectors(build, args[0], row)
        for part in rest:
            first = op(build, first, part)
        for swap in ([2, 3, 0, 1], [1, 0, 3, 2]):
            first = op(build, first, build.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT32, 4), swap)))
        return build.extract_element(first, INT32(0))

    return types.float64(row), code


def _splat(x: float) -> Any:
    return ir.Constant(VECTOR4, [x] * 4)


def _maximum(build: Any, x: Any, y: Any) -> Any:
    return build.select(build.fcmp_ordered(">", x, y), x, y)


def _muladd(build: Any, x: Any, y: Any, z: Any) -> Any:
    kind = ir.FunctionType(VECTOR4, [VECTOR4] * 3)
    return build.call(cgutils.get_or_insert_function(build.module, kind, "llvm.fmuladd.v4f64"), [x, y, z])


def _exp(build: Any, x: Any) -> Any:
    """2^n e^r with n the nearest whole number to x / log 2: a short series for e^r, n added to the exponent's bits."""
    magic = _splat(1.5 * 2.0**52)  # adding it leaves the whole number in the lowest bits
    shifted = _muladd(build, x, _splat(1 / math.log(2)), magic)
    n = build.fsub(shifted, magic)
    r = _muladd(build, n, _splat(-6.93147180369123816490e-01), x)  # log 2 in two pieces, the first with few bits
    r = _muladd(build, n, _splat(-1.90821492927058770002e-10), r)
    series = _splat(1 / math.factorial(12))
    for k in range(11, -1, -1):
        series = _muladd(build, series, r, _splat(1 / math.factorial(k)))
    power = build.shl(build.bitcast(shifted, VECTOR4_BITS), ir.Constant(VECTOR4_BITS, [52] * 4))
    value = build.bitcast(build.add(build.bitcast(series, VECTOR4_BITS), power), VECTOR4)
    return build.select(build.fcmp_ordered("<", x, _splat(-708.0)), _splat(0.0), value)
