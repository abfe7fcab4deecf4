"""Position: the pieces on the board and who is to move. Immutable; the friendly face of the kernels."""

from __future__ import annotations

import threading
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from draughts_env import board_text, fen, notation
from draughts_env.errors import IllegalMoveError, PositionError
from draughts_env.game_kernels import CROWNED_CODE, advance, generate
from draughts_env.geometry import Geometry
from draughts_env.kernels import ALL, MAX_MOVES
from draughts_env.moves import Move, QuietMoves, capture_move
from draughts_env.perft import count_leaves
from draughts_env.routes import Placement
from draughts_env.variants import Color, Variant, variant

__all__ = ["Move", "Position"]

_ALL = int(ALL)
_QUIET_MOVES = QuietMoves()
_new = object.__new__


class _Rules:
    """What all positions of one variant share. Looking up a Variant by value for every position would be slow."""

    __slots__ = ("geometry", "variant", "word")

    def __init__(self, of: Variant) -> None:
        self.variant = of
        self.geometry = of.geometry
        self.word = of.rules


_rules = cache(_Rules)


class _Scratch(threading.local):
    """Where the kernels write move lists before they are copied; every thread has its own."""

    def __init__(self) -> None:
        self.resize(MAX_MOVES)

    def resize(self, capacity: int) -> None:
        self.words = np.empty((capacity, 3), np.uint64)
        self.codes = np.empty(capacity, np.int64)
        #: The arguments `words`, `codes`, `capacity` of the kernels.
        self.room = (self.words.ctypes.data, self.codes.ctypes.data, capacity)


_scratch = _Scratch()


class Position:
    """Pieces and side to move of one variant.

    Positions compare and hash by variant, pieces and side to move. Squares are PDN numbers from 1.

    Args:
        of: the variant or its name.
        white, black: bit sets of all pieces of a colour (layout: :mod:`draughts_env.geometry`).
        kings: bit set of the kings of both.
        turn: ``"white"`` or ``"black"``.

    Raises:
        PositionError: pieces on top of each other or off the board, kings without a piece, an unknown side.
        VariantError: no variant of that name.
    """

    __slots__ = ("_black", "_codes", "_key", "_kings", "_moves", "_rules", "_up", "_white", "_words")

    _rules: _Rules
    _white: int
    _black: int
    _kings: int
    _up: bool  # whether White is to move
    _key: int  # valid once _codes is
    _words: npt.NDArray[np.uint64]  # valid once _codes is
    _codes: list[int] | None  # origin * 64 + target of each legal move; None: not generated yet
    _moves: list[Move] | None

    def __init__(self, of: Variant | str, white: int, black: int, kings: int, turn: Color) -> None:
        self._rules = _rules(variant(of))
        board = self._rules.geometry.board
        if (white | black | kings) & ~board or white & black or kings & ~(white | black):
            raise PositionError("the bit sets overlap, leave the board, or have kings where no piece stands")
        if turn not in ("white", "black"):
            raise PositionError(f"the side to move is 'white' or 'black', not {turn!r}")
        self._white, self._black, self._kings = int(white), int(black), int(kings)
        self._up = turn == "white"
        self._codes = self._moves = None

    # --- making positions ---------------------------------------------------------------------------

    @classmethod
    def start(cls, of: Variant | str = "english") -> Position:
        """The starting position.

        Raises:
            VariantError: no variant of that name.
        """
        rules = variant(of)
        white, black = rules.start
        return cls(rules, white, black, 0, rules.first)

    @classmethod
    def from_fen(cls, text: str, variant: Variant | str = "english") -> Position:
        """Read a FEN (:mod:`draughts_env.fen` says what is understood). Clocks in it are checked and dropped.

        Raises:
            FenError: the text cannot be read; says where and why.
            VariantError: no variant of that name.
        """
        return fen.read(text, variant).position

    def play(self, move: Move | str) -> Position:
        """The position after a legal move, given as a :class:`Move` or as text.

        Raises:
            IllegalMoveError: not a legal move here.
        """
        index = self.index(self.parse(move) if isinstance(move, str) else move)
        return self._advance(index, 0, -1)[0]

    def turned(self) -> Position:
        """The same position with the board rotated by 180 degrees and the colours swapped."""
        width = self.geometry.bits

        def rotate(mask: int) -> int:
            return int(format(mask, f"0{width}b")[::-1], 2)

        return Position(
            self.variant,
            rotate(self._black),
            rotate(self._white),
            rotate(self._kings),
            "black" if self._up else "white",
        )

    # --- what is on the board -----------------------------------------------------------------------

    @property
    def variant(self) -> Variant:
        """The rules that are played."""
        return self._rules.variant

    @property
    def geometry(self) -> Geometry:
        """Tables of the board."""
        return self._rules.geometry

    @property
    def white(self) -> int:
        """Bit set of White's pieces."""
        return self._white

    @property
    def black(self) -> int:
        """Bit set of Black's pieces."""
        return self._black

    @property
    def kings(self) -> int:
        """Bit set of the kings of both sides."""
        return self._kings

    @property
    def turn(self) -> Color:
        """The side to move."""
        return "white" if self._up else "black"

    @property
    def fen(self) -> str:
        """The position as FEN."""
        return fen.write(self)

    @property
    def key(self) -> int:
        """64-bit hash of pieces and side to move, the same in every process (``kernels.hash_position``)."""
        if self._codes is None:
            self._generate()
        return self._key

    def piece_at(self, square: int) -> tuple[Color, bool] | None:
        """Colour of the piece on a square and whether it is a king; ``None`` for an empty square.

        Raises:
            PositionError: no such square.
        """
        if not 1 <= square <= self.geometry.squares:
            raise PositionError(f"there is no square {square}: squares run from 1 to {self.geometry.squares}")
        bit = self.geometry.bit_of[square]
        if self._white >> bit & 1:
            return "white", bool(self._kings >> bit & 1)
        if self._black >> bit & 1:
            return "black", bool(self._kings >> bit & 1)
        return None

    def men_and_kings(self, color: Color) -> tuple[int, int]:
        """Number of men and number of kings of a side."""
        pieces = self._white if color == "white" else self._black
        return (pieces & ~self._kings).bit_count(), (pieces & self._kings).bit_count()

    def text(self, flipped: bool = False) -> str:
        """The board as text, White below (above if ``flipped``)."""
        return board_text.draw(self, flipped)

    # --- moves --------------------------------------------------------------------------------------

    @property
    def move_words(self) -> npt.NDArray[np.uint64]:
        """The legal moves as the kernels know them, in their order; shape ``(moves, 3)``, read-only.

        Each row is origin bit, target bit, captured bits (with ``kernels.CROWNED``).
        """
        if self._codes is None:
            self._generate()
        self._words.setflags(write=False)
        return self._words

    def legal_moves(self) -> list[Move]:
        """The legal moves, in the order of :attr:`move_words`."""
        return (self._moves or self._make_moves()).copy()

    def legal_move(self, index: int) -> Move:
        """The legal move of a place in :meth:`legal_moves`, without copying the list.

        Raises:
            IndexError: there is no such place.
        """
        return (self._moves or self._make_moves())[index]

    def is_legal(self, move: Move) -> bool:
        """Whether the move is legal here."""
        return self._find(move) >= 0

    def index(self, move: Move) -> int:
        """Place of a move among the legal moves.

        Raises:
            IllegalMoveError: it is not one of them.
        """
        try:
            index = self._find(move)
        except AttributeError:
            raise IllegalMoveError(f"a move is a Move or text such as '11-15', not {move!r}") from None
        if index < 0:
            raise IllegalMoveError(notation.why_illegal(self, move.path))
        return index

    def parse(self, text: str) -> Move:
        """The legal move that a text describes (:mod:`draughts_env.notation` says what is understood).

        Raises:
            IllegalMoveError: not understood, not legal, or ambiguous; says which, and why.
        """
        return notation.parse(self, text)

    def perft(self, depth: int) -> int:
        """Number of sequences of ``depth`` legal moves from here (draw rules play no part).

        Raises:
            ValueError: a negative depth.
        """
        if depth < 0:
            raise ValueError(f"a depth is 0 or more, not {depth}")
        return count_leaves(self._white, self._black, self._kings, self._up, self._rules.word, depth)

    # --- how it works -------------------------------------------------------------------------------

    @property
    def placement(self) -> Placement:
        """The position as plain values."""
        return Placement(self._rules.variant, self._white, self._black, self._kings, self._up)

    def _generate(self) -> list[int]:
        """Fill in what the kernels know: moves, codes, key."""
        scratch = _scratch
        while True:
            n, key = generate(self._white, self._black, self._kings, self._up, self._rules.word, *scratch.room)
            if n < scratch.room[2]:
                break
            scratch.resize(4 * n)
        self._key = key
        self._words = scratch.words[:n].copy()
        codes: list[int] = scratch.codes[:n].tolist()
        self._codes = codes
        return codes

    def _make_moves(self) -> list[Move]:
        codes = self._codes
        if codes is None:
            codes = self._generate()
        if not codes or not self._words.item(0, 2):
            moves = [_QUIET_MOVES[code] for code in codes]
        else:
            shared = Counter(codes)
            placement = self.placement
            moves = [
                capture_move(code, bits & _ALL, placement, shared[code] > 1)
                for code, bits in zip(codes, self._words[:, 2].tolist())
            ]
        self._moves = moves
        return moves

    def _find(self, move: Move) -> int:
        """Index of a legal move, -1 if it is not legal."""
        codes = self._codes
        if codes is None:
            codes = self._generate()
        code = move._code
        if code not in codes:
            return -1
        index = codes.index(code)
        moves = self._moves or self._make_moves()
        if moves[index] is move:
            return index
        while moves[index] != move:
            try:
                index = codes.index(code, index + 1)
            except ValueError:
                return -1
        return index

    def _advance(self, index: int, quiet: int, ending: int) -> tuple[Position, int, int, int]:
        """Play the legal move of an index.

        Returns:
            The next position, its clocks ``quiet`` and ``ending``, and the verdict on it (``game_kernels``).
        """
        assert self._codes is not None
        code = self._codes[index]
        captured = self._words.item(index, 2)
        if captured > _ALL:
            captured &= _ALL
            code |= CROWNED_CODE
        scratch = _scratch
        while True:
            n, white, black, kings, next_quiet, next_ending, verdict, key = advance(
                self._white,
                self._black,
                self._kings,
                self._up,
                code,
                captured,
                quiet,
                ending,
                self._rules.word,
                *scratch.room,
            )
            if n < scratch.room[2]:
                break
            scratch.resize(4 * n)
        after: Position = _new(Position)
        after._rules = self._rules
        after._white = white
        after._black = black
        after._kings = kings
        after._up = not self._up
        after._key = key
        after._words = scratch.words[:n].copy()
        after._codes = scratch.codes[:n].tolist()
        after._moves = None
        return after, next_quiet, next_ending, verdict

    # --- as an object -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Position):
            return NotImplemented
        return (
            self._white == other._white
            and self._black == other._black
            and self._kings == other._kings
            and self._up == other._up
            and (self._rules is other._rules or self.variant == other.variant)
        )

    def __hash__(self) -> int:
        return hash((self._white, self._black, self._kings, self._up))

    def __repr__(self) -> str:
        return f"Position.from_fen({self.fen!r}, {self.variant.name!r})"

    def __str__(self) -> str:
        return self.text()

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Position, (self.variant, self._white, self._black, self._kings, self.turn)
