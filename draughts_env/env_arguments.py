"""What the environments share: how their arguments are read, and the texts of outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from draughts_env.env_kernels import ILLEGAL, LEARNER_BLACK, LEARNER_RANDOM, LEARNER_WHITE
from draughts_env.errors import GameOverError, OptionError
from draughts_env.game import Game, Reason
from draughts_env.game_kernels import ENDING_LIMIT, NO_MOVES, NO_PIECES, QUIET_LIMIT
from draughts_env.moves import Move
from draughts_env.variants import Variant, variant

#: What ``info["outcome"]`` says about a game that an illegal action ended.
ILLEGAL_ACTION = "illegal action"

#: ``info["outcome"]`` for each verdict of the kernels: ongoing, ..., threefold repetition, illegal, cut short.
OUTCOMES: tuple[str | None, ...] = (
    None,
    *(
        reason.value
        for _, reason in sorted(
            {
                NO_PIECES: Reason.NO_PIECES,
                NO_MOVES: Reason.NO_MOVES,
                QUIET_LIMIT: Reason.QUIET_LIMIT,
                ENDING_LIMIT: Reason.ENDING_LIMIT,
            }.items()
        )
    ),
    Reason.REPETITION.value,
    ILLEGAL_ACTION,
    None,
)
#: Verdicts in which the side to move has lost.
LOST = (NO_PIECES, NO_MOVES, ILLEGAL)

_MOST = 2**31 - 1  # of any whole number

_LEARNERS = {"black": LEARNER_BLACK, "white": LEARNER_WHITE, "random": LEARNER_RANDOM}


def to_variant(of: Variant | str) -> Variant:
    """The variant of an argument that is itself called variant."""
    return variant(of)


def one_of(name: str, value: Any, known: tuple[Any, ...]) -> Any:
    """The value, if it is a known one.

    Raises:
        OptionError: it is not.
    """
    if value not in known:
        raise OptionError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
    return value


def positive(name: str, number: int) -> int:
    """A positive whole number.

    Raises:
        OptionError: it is not one.
    """
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise OptionError(f"{name} is a positive whole number, not {number!r}")
    if number > _MOST:
        raise OptionError(f"{name} is at most {_MOST}, not {number}")
    return int(number)


def known_options(options: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    """The options of a reset, none of them unknown.

    Raises:
        OptionError: one is, or they are no dictionary.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise OptionError(f"options are a dictionary, not {options!r}")
    unknown = sorted((name for name in options if name not in known), key=str)
    if unknown:
        raise OptionError(f"unknown option {unknown[0]!r}; known are {', '.join(known)}")
    return options


def learner_of(color: str) -> int:
    """The learner's side as the kernels take it.

    Raises:
        OptionError: no such side.
    """
    return _LEARNERS[one_of("color", color, tuple(_LEARNERS))]


def start_game(of: Variant, fen: str | None, moves: Iterable[Move | str] | str, default: Game | None = None) -> Game:
    """The game in which an episode starts.

    Args:
        of: the variant; fen: the start; moves: an opening from there.
        default: start when no FEN is given.

    Raises:
        FenError, IllegalMoveError: the start cannot be.
        OptionError: the opening is no series of moves.
        GameOverError: the game is over there.
    """
    if not isinstance(moves, Iterable):
        raise OptionError(f"moves are a text or a list of moves, not {moves!r}")
    game = default.copy() if default is not None and fen is None else Game(of, fen)
    for move in moves.split() if isinstance(moves, str) else moves:
        game.push(move)
    if game.is_over:
        raise GameOverError(f"no episode can start where the game is over ({game.outcome()}): {game.fen}")
    return game


def random_word(generator: np.random.Generator) -> np.int64:
    """A start for a kernel's random numbers."""
    return generator.integers(-(2**63), 2**63, dtype=np.int64)
