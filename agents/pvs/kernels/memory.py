"""Loads and stores narrower than a word. The file belongs to the kernel sources (agents.jit)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _element(builder: Any, args: Any, bits: int) -> Any:
    pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
    return builder.gep(pointer, [args[1]])


@intrinsic
def load32(typing_context: Any, address: Any, index: Any) -> Any:
    """The int32 at ``address + 4 * index``, as int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(builder.load(_element(builder, args, 32), align=4), ir.IntType(64))

    return types.int64(types.uint64, types.int64), generate


@intrinsic
def load8(typing_context: Any, address: Any, index: Any) -> Any:
    """The uint8 at ``address + index``, as int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.load(_element(builder, args, 8), align=1), ir.IntType(64))

    return types.int64(types.uint64, types.int64), generate
