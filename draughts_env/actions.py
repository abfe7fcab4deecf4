"""The fixed-size action space: one action is one complete move, multi-jumps included.

Actions are in the mover's frame: for Black, whose men move down, the board is turned by 180 degrees.

* Short kings: every step and every capture (origin, target, captured squares) that the board allows has
  an id of its own, the same in every position. English: 98 steps, then 936 captures.
* Flying kings: id ``origin * squares + target`` (squares from 0), and further slots for moves that share
  the pair. Such moves are ranked by captured set (as a number in the mover's frame); the first takes the
  pair's id, the others, pair after pair, take the first free slot from a place fixed by the pair and
  the rank on, through the extra slots and then through all ids that no legal move's pair holds. So every legal
  move has its own id in every position.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from draughts_env.errors import ActionError
from draughts_env.geometry import Geometry, geometry
from draughts_env.intrinsics import load, lowest, reverse_bits
from draughts_env.jit import kernel
from draughts_env.kernels import ALL, WORDS, ZERO, U, bits_of, half_of, legal_moves
from draughts_env.variants import Variant, variant

if TYPE_CHECKING:
    from draughts_env.position import Move, Position

EXTRA_SLOTS = 512  # flying kings: more than any position's moves that share their pair with another
_TABLE_BITS = 12  # short kings: slots of the hash table, about four times the actions


# --- tables -----------------------------------------------------------------------------------------


def _steps(board: Geometry) -> list[tuple[int, int]]:
    """Every one-step move (origin, target) of the board, by origin, then target, as PDN squares."""
    found = []
    for origin in range(1, board.squares + 1):
        row, column = board.row_column(origin)
        for dr in (-1, 1):
            for dc in (-1, 1):
                target = board.square_at(row + dr, column + dc)
                if target:
                    found.append((origin, target))
    return sorted(found)


def _short_captures(board: Geometry) -> list[tuple[int, int, int]]:
    """Every (origin bit, target bit, captured set) that short kings can jump on an otherwise empty board."""
    jumps: dict[int, list[tuple[int, int]]] = {}
    for square in range(1, board.squares + 1):
        row, column = board.row_column(square)
        jumps[square] = [
            (board.square_at(row + dr, column + dc), board.square_at(row + 2 * dr, column + 2 * dc))
            for dr in (-1, 1)
            for dc in (-1, 1)
            if board.square_at(row + 2 * dr, column + 2 * dc)
        ]
    found: set[tuple[int, int, int]] = set()

    def follow(origin: int, at: int, taken: int) -> None:
        for over, landing in jumps[at]:
            bit = 1 << board.bit_of[over]
            if not taken & bit:
                found.add((board.bit_of[origin], board.bit_of[landing], taken | bit))
                follow(origin, landing, taken | bit)

    for square in range(1, board.squares + 1):
        follow(square, square, 0)
    return sorted(found, key=lambda move: (move[2].bit_count(), move))


def _key(origin: int, target: int, captured: int) -> int:
    return captured << 12 | origin << 6 | target | 1 << 62


@kernel(inline="always")
def _slot(key, size_mask):
    return np.int64((key * U(0x9E3779B97F4A7C15)) >> U(40)) & size_mask


@cache
def action_tables(rules: int, size: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], int]:
    """What :func:`encode_actions` needs for a variant: hash table keys, their ids, the number of actions.

    With flying kings the tables are empty.
    """
    board = geometry(size)
    if rules >> 5 & 1:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64), board.squares**2 + EXTRA_SLOTS
    moves = [(board.bit_of[a], board.bit_of[b], 0) for a, b in _steps(board)] + _short_captures(board)
    size_mask = (1 << _TABLE_BITS) - 1
    keys = np.zeros(size_mask + 1, np.uint64)
    ids = np.zeros(size_mask + 1, np.int64)
    for number, move in enumerate(moves):
        key = _key(*move)
        slot = (key * 0x9E3779B97F4A7C15 % (1 << 64) >> 40) & size_mask
        while keys[slot]:
            slot = (slot + 1) & size_mask
        keys[slot] = key
        ids[slot] = number
    return keys, ids, len(moves)


# --- kernels ----------------------------------------------------------------------------------------


@kernel(inline="always")
def _square_index(bit, half):
    """Square number from 0 of a bit index: rows in pairs with a ghost between the pairs."""
    return bit - bit // (2 * half + 1)


@kernel()
def encode_actions(moves, n, up, rules, keys, ids, actions):
    """Action ids of a position's complete legal move list.

    Args:
        moves: address of the list; n: its length; up: whether White moves; rules: rules word.
        keys, ids: from :func:`action_tables`.
        actions: int64 array of at least ``n`` that receives the ids, in the order of the list.
    """
    half = np.int64(half_of(rules))
    bits = np.int64(bits_of(rules))
    last = bits - 1
    if len(keys) > 0:
        size_mask = len(keys) - 1
        for i in range(n):
            origin = lowest(load(moves, WORDS * i))
            target = lowest(load(moves, WORDS * i + 1))
            captured = load(moves, WORDS * i + 2) & ALL
            if not up:
                origin = last - origin
                target = last - target
                captured = reverse_bits(captured) >> U(64 - bits)
            key = (captured << U(12)) | U(origin << 6) | U(target) | (U(1) << U(62))
            slot = _slot(key, size_mask)
            while keys[slot] != key:
                slot = (slot + 1) & size_mask
            actions[i] = ids[slot]
        return
    squares = 2 * half * half
    shared = False
    for i in range(n):
        origin = lowest(load(moves, WORDS * i))
        target = lowest(load(moves, WORDS * i + 1))
        if not up:
            origin = last - origin
            target = last - target
        actions[i] = _square_index(origin, half) * squares + _square_index(target, half)
    if load(moves, 2) == ZERO or n < 2:
        return  # quiet moves never share a pair
    for i in range(1, n):
        for j in range(i):
            if actions[i] == actions[j]:
                shared = True
    if shared:
        _separate(moves, n, up, bits, squares, actions)


@kernel()
def _separate(moves, n, up, bits, squares, actions):
    """Give moves that share their (origin, target) pair ids of their own."""
    pairs = squares * squares
    total = pairs + EXTRA_SLOTS
    used = np.zeros(total, np.uint8)
    captured = np.empty(n, np.uint64)
    rank = np.zeros(n, np.int64)
    for i in range(n):
        c = load(moves, WORDS * i + 2) & ALL
        captured[i] = c if up else reverse_bits(c) >> U(64 - bits)
        used[actions[i]] = 1
    pair = actions[:n].copy()
    for i in range(n):
        for j in range(n):
            if pair[i] == pair[j] and captured[j] < captured[i]:
                rank[i] += 1
    # an order that does not depend on the generator's: by pair, then rank
    order = np.argsort(pair * 65536 + rank)
    for k in range(n):
        i = order[k]
        if rank[i] == 0:
            continue
        slot = pairs + (pair[i] * 7 + rank[i] - 1) % EXTRA_SLOTS
        tried = 0
        while used[slot]:
            slot += 1
            tried += 1
            if slot == total:
                slot = pairs if tried < EXTRA_SLOTS else 0
            if tried == EXTRA_SLOTS:
                slot = 0
        used[slot] = 1
        actions[i] = slot


@kernel()
def legal_actions(own, opp, kings, up, rules, keys, ids, moves, capacity, actions):
    """Write the legal moves and their action ids; returns their number."""
    n = legal_moves(own, opp, kings, up, rules, moves, capacity)
    encode_actions(moves, n, up, rules, keys, ids, actions)
    return n


# --- the friendly face ------------------------------------------------------------------------------


class ActionSpace:
    """Action ids of one variant, and the way from positions and moves to ids and back.

    Attributes:
        variant: the variant.
        n: number of actions; ids are ``0 .. n - 1``.
        keys, ids: tables for :func:`encode_actions`.
    """

    def __init__(self, of: Variant | str) -> None:
        self.variant = variant(of)
        self.keys, self.ids, self.n = action_tables(self.variant.rules, self.variant.size)

    def legal(self, position: Position) -> npt.NDArray[np.int64]:
        """Ids of the legal moves, in the order of ``position.legal_moves()``; shape ``(moves,)``.

        Raises:
            ActionError: the position belongs to other rules.
        """
        if position.variant.rules != self.variant.rules:
            raise ActionError(f"a position of {position.variant} has no actions in the space of {self.variant}")
        words = position.move_words
        actions = np.empty(len(words), np.int64)
        encode_actions(
            U(words.ctypes.data),
            len(words),
            position.turn == "white",
            U(self.variant.rules),
            self.keys,
            self.ids,
            actions,
        )
        return actions

    def encode(self, position: Position, move: Move) -> int:
        """Id of a legal move.

        Raises:
            IllegalMoveError: the move is not legal in the position.
        """
        return int(self.legal(position)[position.index(move)])

    def decode(self, position: Position, action: int) -> Move:
        """The legal move of an id.

        Raises:
            ActionError: the id is out of range or no legal move's.
        """
        if not 0 <= action < self.n:
            raise ActionError(f"action {action} is out of range: {self.variant} has actions 0 to {self.n - 1}")
        places = np.flatnonzero(self.legal(position) == action)
        if len(places) == 0:
            raise ActionError(f"action {action} is no legal move in {position.fen}")
        return position.legal_moves()[int(places[0])]

    def mask(self, position: Position) -> npt.NDArray[np.int8]:
        """1 for every id that is a legal move, else 0; shape ``(n,)``."""
        mask = np.zeros(self.n, np.int8)
        mask[self.legal(position)] = 1
        return mask


@cache
def action_space(of: Variant | str) -> ActionSpace:
    """The action space of a variant (one shared object per variant).

    Raises:
        VariantError: no variant of that name.
    """
    return ActionSpace(of)
