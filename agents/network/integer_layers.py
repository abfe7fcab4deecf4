"""The two hidden layers of a sparse network in 16-bit integers, as vector code that LLVM fits to the machine.

Numba compiles loops one element at a time and leaves it to LLVM to find vectors in them; what it finds for these two
loops keeps the sums in memory. Here the vectors are written out, and the sums stay in registers. Vectors wider than
the machine's are split by LLVM, so the same code runs everywhere, with the same results: integers have no rounding that
depends on the order. The file belongs to the kernel sources (agents.jit).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 64  # widths of the first layer are multiples of this
OUTPUTS = 16  # widths of the second layer are multiples of this

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_WIDE = ir.VectorType(_I16, 32)
_SUMS = ir.VectorType(_I32, 16)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _load(builder: Any, address: Any, kind: Any, align: int) -> Any:
    loaded = builder.load(_pointer(builder, address, kind))
    loaded.align = align
    return loaded


def _store(builder: Any, value: Any, address: Any, align: int) -> None:
    builder.store(value, _pointer(builder, address, value.type)).align = align


def _constant(value: int) -> Any:
    return ir.Constant(_I64, value)


class _Loop:
    """``for i in range(0, stop, step)`` in the IR, with values carried from one round to the next."""

    def __init__(self, builder: Any, stop: Any, step: int, carried: list[Any]) -> None:
        self._builder, self._step = builder, step
        before = builder.block
        self._head = builder.append_basic_block("head")
        self._body = builder.append_basic_block("body")
        self._after = builder.append_basic_block("after")
        builder.branch(self._head)
        builder.position_at_end(self._head)
        self.index = builder.phi(_I64)
        self.index.add_incoming(_constant(0), before)
        self.values = []
        for value in carried:
            phi = builder.phi(value.type)
            phi.add_incoming(value, before)
            self.values.append(phi)
        builder.cbranch(builder.icmp_signed("<", self.index, stop), self._body, self._after)
        builder.position_at_end(self._body)

    def end(self, carried: list[Any]) -> None:
        """Close the loop; afterwards ``values`` are those after its last round."""
        builder = self._builder
        following = builder.add(self.index, _constant(self._step))
        for phi, value in zip([self.index, *self.values], [following, *carried], strict=True):
            phi.add_incoming(value, builder.block)
        builder.branch(self._head)
        builder.position_at_end(self._after)


@intrinsic
def add_rows(typing_context: Any, out: Any, start: Any, rows: Any, index: Any, n: Any, width: Any, shift: Any) -> Any:
    """``out = max(start + sum of rows[index[i]] for i < n, 0) >> shift``, elementwise.

    Args (addresses are uint64):
        out, start: addresses of int16 ``(width,)``; rows: of int16 ``(any, width)``; index: of int32 ``(n,)``.
        n, width, shift: int64; ``width`` is a multiple of ``LANES``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, start, rows, index, n, width, shift = args
        row_bytes = builder.shl(width, _constant(1))
        amount = builder.trunc(shift, _I16)
        amounts = ir.Constant(_WIDE, ir.Undefined)
        amounts = builder.insert_element(amounts, amount, ir.Constant(_I32, 0))
        amounts = builder.shuffle_vector(amounts, amounts, ir.Constant(ir.VectorType(_I32, 32), [0] * 32))
        zero = ir.Constant(_WIDE, [0] * 32)
        blocks = _Loop(builder, width, LANES, [])
        offset = builder.shl(blocks.index, _constant(1))
        at = builder.add(start, offset)
        sums = [_load(builder, builder.add(at, _constant(64 * v)), _WIDE, 2) for v in range(LANES // 32)]
        base = builder.add(rows, offset)
        each = _Loop(builder, n, 1, sums)
        number = _load(builder, builder.add(index, builder.shl(each.index, _constant(2))), _I32, 4)
        row = builder.add(base, builder.mul(builder.zext(number, _I64), row_bytes))
        added = [
            builder.add(value, _load(builder, builder.add(row, _constant(64 * v)), _WIDE, 2))
            for v, value in enumerate(each.values)
        ]
        each.end(added)
        to = builder.add(out, offset)
        for v, value in enumerate(each.values):
            positive = builder.select(builder.icmp_signed(">", value, zero), value, zero)
            _store(builder, builder.lshr(positive, amounts), builder.add(to, _constant(64 * v)), 2)
        blocks.end([])
        return context.get_dummy_value()

    u, i = types.uint64, types.int64
    return types.void(u, u, u, u, i, i, i), generate


@intrinsic
def dense(typing_context: Any, out: Any, start: Any, rows: Any, inputs: Any, n: Any, width: Any) -> Any:
    """``out = start + inputs @ weights``, in 32 bits.

    Args (addresses are uint64):
        out, start: addresses of int32 ``(width,)``; inputs: of int16 ``(n,)``.
        rows: of the weights, int16 ``(n / 2, width, 2)``: those of two inputs side by side for each output.
        n, width: int64; ``n`` is even, ``width`` a multiple of ``OUTPUTS``.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, start, rows, inputs, n, width = args
        pair_bytes = builder.shl(width, _constant(2))
        pairs = builder.ashr(n, _constant(1))
        all_zero = ir.Constant(ir.VectorType(_I32, 16), [0] * 16)
        even = ir.Constant(_SUMS, list(range(0, 32, 2)))
        odd = ir.Constant(_SUMS, list(range(1, 32, 2)))
        doubled = ir.VectorType(_I32, 32)

        def block(first: Any, count: int) -> None:
            offset = builder.shl(first, _constant(2))
            at = builder.add(start, offset)
            sums = [_load(builder, builder.add(at, _constant(64 * v)), _SUMS, 4) for v in range(count)]
            base = builder.add(rows, offset)
            each = _Loop(builder, pairs, 1, sums)
            two = _load(builder, builder.add(inputs, builder.shl(each.index, _constant(2))), _I32, 2)
            spread = builder.insert_element(ir.Constant(_SUMS, ir.Undefined), two, ir.Constant(_I32, 0))
            spread = builder.shuffle_vector(spread, spread, all_zero)
            factor = builder.sext(builder.bitcast(spread, _WIDE), doubled)
            row = builder.add(base, builder.mul(each.index, pair_bytes))
            added = []
            for v, value in enumerate(each.values):
                weights = _load(builder, builder.add(row, _constant(64 * v)), _WIDE, 2)
                product = builder.mul(factor, builder.sext(weights, doubled))
                low = builder.shuffle_vector(product, product, even)
                high = builder.shuffle_vector(product, product, odd)
                added.append(builder.add(value, builder.add(low, high)))
            each.end(added)
            to = builder.add(out, offset)
            for v, value in enumerate(each.values):
                _store(builder, value, builder.add(to, _constant(64 * v)), 4)

        whole = builder.and_(width, _constant(-64))
        fours = _Loop(builder, whole, 64, [])
        block(fours.index, 4)
        fours.end([])
        rest = _Loop(builder, builder.sub(width, whole), OUTPUTS, [])
        block(builder.add(whole, rest.index), 1)
        rest.end([])
        return context.get_dummy_value()

    u, i = types.uint64, types.int64
    return types.void(u, u, u, u, i, i), generate
