"""Single machine instructions that numba does not offer: bit counts, bit reversal, raw loads and stores.

Raw addresses matter: an array argument is seven values and every slice counts references, which
halves the speed of a move generator; an address is one integer.
The file belongs to the kernel sources (draughts_env.jit).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_I64 = ir.IntType(64)


def _builder_call(method: str, *extra: ir.Constant) -> Any:
    """Code generator of an intrinsic that is one method of the IR builder, with constant further arguments."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, method)(args[0], *extra)

    return generate


@intrinsic
def popcount(typing_context: Any, x: Any) -> Any:
    """Number of one bits of a uint64, as int64."""
    return types.int64(types.uint64), _builder_call("ctpop")


@intrinsic
def lowest(typing_context: Any, x: Any) -> Any:
    """Index of the lowest one bit of a uint64, as int64; 64 for zero."""
    return types.int64(types.uint64), _builder_call("cttz", ir.Constant(ir.IntType(1), 0))


@intrinsic
def reverse_bits(typing_context: Any, x: Any) -> Any:
    """The uint64 with the order of its 64 bits reversed."""
    return types.uint64(types.uint64), _builder_call("bitreverse")


@intrinsic
def load(typing_context: Any, address: Any, index: Any) -> Any:
    """The uint64 at ``address + 8 * index``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        return builder.load(builder.gep(pointer, [args[1]]))

    return types.uint64(types.uint64, types.int64), generate


@intrinsic
def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write a uint64 to ``address + 8 * index``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store(args[2], builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.uint64), generate


@intrinsic
def borrowed(typing_context: Any, value: Any) -> Any:
    """The same array, or tuple of arrays and others, without reference counts: what it is passed on to counts nothing.

    Numba counts references atomically at most calls, and threads that share an array wait for each other then. For
    arguments of a kernel, which the caller holds, all through the call; never to be returned or kept.
    """

    def lend(context: Any, builder: Any, kind: Any, given: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            parts = cgutils.unpack_tuple(builder, given, len(kind))
            lent = [lend(context, builder, part, held) for part, held in zip(kind, parts, strict=True)]
            return context.make_tuple(builder, kind, lent)
        if not isinstance(kind, types.Array):
            return given
        make = context.make_array(kind)
        array, copy = make(context, builder, value=given), make(context, builder)
        for field in ("parent", "data", "nitems", "itemsize", "shape", "strides"):
            setattr(copy, field, getattr(array, field))
        copy.meminfo = ir.Constant(copy.meminfo.type, None)
        return copy._getvalue()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return lend(context, builder, value, args[0])

    return value(value), generate


@intrinsic
def lock(typing_context: Any, address: Any) -> Any:
    """Set the top bit of the uint64 at ``address``, atomically; returns the word as it was before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        return builder.atomic_rmw("or", pointer, ir.Constant(_I64, 1 << 63), "acquire")

    return types.uint64(types.uint64), generate


@intrinsic
def unlock(typing_context: Any, address: Any, value: Any) -> Any:
    """Write a uint64 to ``address``, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store_atomic(args[1], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), generate
