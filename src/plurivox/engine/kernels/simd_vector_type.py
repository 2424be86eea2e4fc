"""SIMD vector type for numba: a row over labels in vector registers, four labels at a time.

Numba has no vector type, so this module adds one. `Row(n)` is n vectors of four float64. n is part of the type, taken from
the length of the tuple `width` that every kernel gets, so it is known at compile time and a task's numbers stay in
registers. If the number of labels is not a multiple of four, reads go beyond the end of a row, into the next one: arrays
must have `PAD` spare cells at their end, and only zeros may be added there.
"""

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from plurivox.core.array_types import Floats
from plurivox.engine.available_memory_and_aligned_arrays import cache_line_aligned_empty

MAX_VECTORS = 4  # in a Row: sixteen labels leave registers free
PAD = 4 * MAX_VECTORS  # spare cells at the end of arrays

VECTOR4 = ir.VectorType(ir.DoubleType(), 4)
VECTOR4_BITS = ir.VectorType(ir.IntType(64), 4)
INT32 = ir.IntType(32)


def simd_width_as_zeros_tuple(n_labels: int, *, coarse: bool = False) -> tuple[int, ...]:
    """Return the SIMD width for n_labels as a tuple of zeros whose length is the number of 4-vectors in a `Row`.

    Only the length matters. It is part of the tuple's type, and numba compiles a kernel for each argument type, so the
    width is a constant in the kernel. More than 16 labels take several rows. Kernels that need not be the fastest use the
    `coarse` widths 1 and 4, which need fewer compilations.

    >>> [len(simd_width_as_zeros_tuple(k)) for k in (1, 4, 5, 16, 17, 20, 33)]
    [1, 1, 2, 4, 3, 3, 3]
    >>> [len(simd_width_as_zeros_tuple(k, coarse=True)) for k in (1, 4, 5, 16, 17, 20, 33)]
    [1, 1, 4, 4, 4, 4, 4]
    """
    if coarse:
        return (0,) if n_labels <= 4 else widest_simd_width_as_zeros_tuple()
    n_vectors = -(-max(n_labels, 1) // 4)
    n_rows = -(-n_vectors // MAX_VECTORS)
    return (0,) * -(-n_vectors // n_rows)


def widest_simd_width_as_zeros_tuple() -> tuple[int, ...]:
    """Return the SIMD width of the longest rows, valid for any number of labels.

    For small data, in a kernel whose results do not depend on the width: one compilation serves all numbers of labels.
    """
    return (0,) * MAX_VECTORS


def flatten_align_and_pad(values: Floats, fill: float = 0.0) -> Floats:
    """Return the values as a flat array aligned to a cache line, with `PAD` spare cells set to `fill` at its end."""
    flat = cache_line_aligned_empty(values.size + PAD)
    flat[: values.size] = values.ravel()
    flat[values.size :] = fill
    return flat


class Row(types.Type):
    """Numba type of a row in registers: n vectors of four float64."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(name=f"Row({n})")


@register_model(Row)
class RowModel(models.PrimitiveModel):
    """LLVM representation of Row: an array of vectors, which LLVM splits into registers."""

    def __init__(self, manager: Any, kind: Row) -> None:
        super().__init__(manager, kind, ir.ArrayType(VECTOR4, kind.n))


# ---- operations for kernels; the first argument of an intrinsic is numba's typing context


@intrinsic
def load_simd_row(_: Any, array: Any, index: Any, width: Any) -> Any:
    """load_simd_row(array, index, width): read a SIMD Row from a flat array, starting at `index`."""

    def emit_load(context: Any, build: Any, sig: Any, args: Any) -> Any:
        parts = [
            build.load(_llvm_pointer_to_vector(context, build, sig.args[0], args, q), align=8)
            for q in range(len(width))
        ]
        return _llvm_row_of_vectors(build, parts)

    return Row(len(width))(array, types.uint64, width), emit_load


@intrinsic
def store_simd_row(_: Any, array: Any, index: Any, row: Any) -> Any:
    """store_simd_row(array, index, row): write a SIMD Row to a flat array, starting at `index`."""

    def emit_store(context: Any, build: Any, sig: Any, args: Any) -> Any:
        for q, part in enumerate(_llvm_vectors_of_row_or_number(build, args[2], row)):
            build.store(part, _llvm_pointer_to_vector(context, build, sig.args[0], args, q), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, row), emit_store


@intrinsic
def prefetch_cache_line(_: Any, array: Any, index: Any) -> Any:
    """prefetch_cache_line(array, index): load the cache line of array[index] into the processor cache ahead of use."""

    def emit_prefetch(context: Any, build: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        place = build.bitcast(_llvm_pointer_to_vector(context, build, sig.args[0], args, 0), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
        call = build.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        build.call(call, [place, INT32(0), INT32(3), INT32(1)])  # for reading, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), emit_prefetch


@intrinsic
def add_simd_rows(_: Any, row: Any, row_or_number: Any) -> Any:
    """add_simd_rows(row, row_or_number): a SIMD Row plus another row or a number, elementwise."""
    return _signature_and_codegen_of_elementwise_op(row, (row_or_number,), lambda build, x, y: build.fadd(x, y))


@intrinsic
def multiply_simd_rows(_: Any, row: Any, row_or_number: Any) -> Any:
    """multiply_simd_rows(row, row_or_number): a SIMD Row times another row or a number, elementwise."""
    return _signature_and_codegen_of_elementwise_op(row, (row_or_number,), lambda build, x, y: build.fmul(x, y))


@intrinsic
def add_scaled_simd_row(_: Any, row: Any, other_row: Any, factor: Any) -> Any:
    """add_scaled_simd_row(row, other_row, factor): row + other_row * factor, elementwise; `factor` may be a number."""
    return _signature_and_codegen_of_elementwise_op(
        row, (other_row, factor), lambda build, x, y, z: _emit_multiply_add(build, y, z, x)
    )


@intrinsic
def max_of_simd_rows(_: Any, row: Any, other_row: Any) -> Any:
    """max_of_simd_rows(row, other_row): the elementwise maximum of two SIMD Rows."""
    return _signature_and_codegen_of_elementwise_op(row, (other_row,), _emit_elementwise_maximum)


@intrinsic
def exp_of_simd_row(_: Any, row: Any) -> Any:
    """exp_of_simd_row(row): the exponential of each number (up to 0) of a SIMD Row: within 4e-16, and 0 below -708."""
    return _signature_and_codegen_of_elementwise_op(row, (), _emit_exp)


@intrinsic
def largest_in_simd_row(_: Any, row: Any) -> Any:
    """largest_in_simd_row(row): the largest number of a SIMD Row."""
    return _signature_and_codegen_of_reduction(row, _emit_elementwise_maximum)


@intrinsic
def sum_of_simd_row(_: Any, row: Any) -> Any:
    """sum_of_simd_row(row): the sum of the numbers of a SIMD Row, always added in the same order."""
    return _signature_and_codegen_of_reduction(row, lambda build, x, y: build.fadd(x, y))


# ---- LLVM code generation


def _llvm_pointer_to_vector(context: Any, build: Any, array: Any, args: Any, vector: int) -> Any:
    """Return the LLVM pointer to the `vector`-th vector of four floats after index args[1] of the array args[0]."""
    data = context.make_array(array)(context, build, args[0]).data
    first = build.bitcast(build.gep(data, [args[1]]), VECTOR4.as_pointer())
    return build.gep(first, [INT32(vector)])


def _llvm_row_of_vectors(build: Any, vectors: list[Any]) -> Any:
    """Return the LLVM value of a SIMD Row made of the given vectors of four floats."""
    whole = ir.Constant(ir.ArrayType(VECTOR4, len(vectors)), ir.Undefined)
    for i, part in enumerate(vectors):
        whole = build.insert_value(whole, part, i)
    return whole


def _llvm_vectors_of_row_or_number(build: Any, value: Any, kind: Any, n: int = 0) -> list[Any]:
    """Return the list of LLVM vectors in a SIMD Row; a single number becomes n vectors of four copies of it."""
    if isinstance(kind, Row):
        return [build.extract_value(value, i) for i in range(kind.n)]
    nothing = ir.Constant(VECTOR4, ir.Undefined)
    one = build.insert_element(nothing, value, INT32(0))
    return [build.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INT32, 4), [0] * 4))] * n


def _signature_and_codegen_of_elementwise_op(row: Any, others: tuple[Any, ...], emit_op: Any) -> Any:
    """Return (numba signature, code generator) of an intrinsic that applies `emit_op` to each vector of its SIMD Rows."""
    kinds = [other if isinstance(other, Row) else types.float64 for other in others]

    def emit_elementwise(context: Any, build: Any, sig: Any, args: Any) -> Any:
        del context, sig
        columns = [
            _llvm_vectors_of_row_or_number(build, arg, kind, row.n)
            for arg, kind in zip(args, [row, *kinds], strict=True)
        ]
        return _llvm_row_of_vectors(build, [emit_op(build, *parts) for parts in zip(*columns, strict=True)])

    return row(row, *kinds), emit_elementwise


def _signature_and_codegen_of_reduction(row: Any, emit_op: Any) -> Any:
    """Return (numba signature, code generator) of an intrinsic that reduces a SIMD Row to one number with `emit_op`."""

    def emit_reduction(context: Any, build: Any, sig: Any, args: Any) -> Any:
        del context, sig
        first, *rest = _llvm_vectors_of_row_or_number(build, args[0], row)
        for part in rest:
            first = emit_op(build, first, part)
        for swap in ([2, 3, 0, 1], [1, 0, 3, 2]):
            first = emit_op(
                build, first, build.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT32, 4), swap))
            )
        return build.extract_element(first, INT32(0))

    return types.float64(row), emit_reduction


def _llvm_vector_of_four_copies(x: float) -> Any:
    """Return an LLVM constant: a vector of four copies of x."""
    return ir.Constant(VECTOR4, [x] * 4)


def _emit_elementwise_maximum(build: Any, x: Any, y: Any) -> Any:
    """Emit LLVM code for the elementwise maximum of two vectors."""
    return build.select(build.fcmp_ordered(">", x, y), x, y)


def _emit_multiply_add(build: Any, x: Any, y: Any, z: Any) -> Any:
    """Emit LLVM code for x * y + z of vectors, fused if the processor can."""
    kind = ir.FunctionType(VECTOR4, [VECTOR4] * 3)
    return build.call(cgutils.get_or_insert_function(build.module, kind, "llvm.fmuladd.v4f64"), [x, y, z])


def _emit_exp(build: Any, x: Any) -> Any:
    """Emit LLVM code for exp of a vector, as 2^n e^r with n the nearest integer to x / log 2 and a series for e^r."""
    magic = _llvm_vector_of_four_copies(1.5 * 2.0**52)  # adding it leaves the nearest integer in the lowest bits
    shifted = _emit_multiply_add(build, x, _llvm_vector_of_four_copies(1 / math.log(2)), magic)
    n = build.fsub(shifted, magic)
    # log 2 in two parts, the first with few bits
    r = _emit_multiply_add(build, n, _llvm_vector_of_four_copies(-6.93147180369123816490e-01), x)
    r = _emit_multiply_add(build, n, _llvm_vector_of_four_copies(-1.90821492927058770002e-10), r)
    series = _llvm_vector_of_four_copies(1 / math.factorial(12))
    for k in range(11, -1, -1):
        series = _emit_multiply_add(build, series, r, _llvm_vector_of_four_copies(1 / math.factorial(k)))
    power = build.shl(build.bitcast(shifted, VECTOR4_BITS), ir.Constant(VECTOR4_BITS, [52] * 4))
    value = build.bitcast(build.add(build.bitcast(series, VECTOR4_BITS), power), VECTOR4)
    return build.select(
        build.fcmp_ordered("<", x, _llvm_vector_of_four_copies(-708.0)), _llvm_vector_of_four_copies(0.0), value
    )
