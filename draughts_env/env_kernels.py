"""The environments' kernels: one call makes a ply, answers it, and writes what the agent sees next.

A game is one row of an int64 array and needs nothing else: a copy of the row is a copy of the game. Words of a row:

* ``WHITE``, ``BLACK``, ``KINGS``: bit sets; ``UP``: 1 when White is to move;
* ``QUIET``, ``ENDING``, ``REPEATS``: clocks, and earlier occurrences of the position;
* ``PLIES``: plies since the start; ``VERDICT``: how it ended, one of the numbers below;
* ``LEARNER``: side of the caller (0 Black, 1 White), -1 when it plays both; ``RNG``: state of the random numbers;
* ``SEEN``: number of positions since the last irreversible move (the present one included), and from ``HISTORY`` on
  the white and the black bit set of each. Between irreversible moves men stand still, so these two and the parity of
  the place say everything about a position: repetitions are exact.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from draughts_env.actions import legal_actions
from draughts_env.game_kernels import ENDING_LIMIT, NO_MOVES, NO_PIECES, ONGOING, QUIET_LIMIT
from draughts_env.intrinsics import borrowed, load
from draughts_env.jit import kernel
from draughts_env.kernels import (
    MAX_MOVES,
    WORDS,
    U,
    field,
    moved_kings,
    moved_own,
    next_ending,
    next_quiet,
)
from draughts_env.observation import write_planes

if TYPE_CHECKING:
    from draughts_env.game import Game

WHITE, BLACK, KINGS, UP, QUIET, ENDING, REPEATS, PLIES, VERDICT, LEARNER, RNG, SEEN, HISTORY = range(13)

#: Further verdicts, after those of :mod:`draughts_env.game_kernels`. All up to ``ILLEGAL`` are terminal.
REPETITION, ILLEGAL, TRUNCATED = range(ENDING_LIMIT + 1, ENDING_LIMIT + 4)

#: Who the learner is, as an argument: the caller plays both sides, one side, or a side drawn by lot.
BOTH_SIDES, LEARNER_BLACK, LEARNER_WHITE, LEARNER_RANDOM = -1, 0, 1, 2


# --- one game ---------------------------------------------------------------------------------------


@kernel()
def random_below(words, i, at, n):
    """A random number from 0 to ``n - 1`` (splitmix64), from the state in ``words[i, at]``."""
    state = U(words[i, at]) + U(0x9E3779B97F4A7C15)
    words[i, at] = np.int64(state)
    state = (state ^ (state >> U(30))) * U(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> U(27))) * U(0x94D049BB133111EB)
    state ^= state >> U(31)
    return np.int64(((state >> U(32)) * U(n)) >> U(32))


@kernel()
def list_moves(states, i, rules, keys, ids, moves, capacity, actions):
    """Write the legal moves and their actions (:func:`draughts_env.actions.legal_actions`); returns their number."""
    up = states[i, UP] != 0
    white = U(states[i, WHITE])
    black = U(states[i, BLACK])
    kings = U(states[i, KINGS])
    own = white if up else black
    opp = black if up else white
    return legal_actions(own, opp, kings, up, rules, keys, ids, moves, capacity, actions)


@kernel()
def _make_move(states, i, k, rules, moves):
    """Play the move at place ``k`` of the list, clocks and history with it; leaves the verdict as it was."""
    origin = load(moves, WORDS * k)
    target = load(moves, WORDS * k + 1)
    captured = load(moves, WORDS * k + 2)
    up = states[i, UP] != 0
    white = U(states[i, WHITE])
    black = U(states[i, BLACK])
    kings = U(states[i, KINGS])
    own = white if up else black
    opp = (black if up else white) & ~captured
    quiet = next_quiet(states[i, QUIET], own, kings, origin, captured)
    kings = moved_kings(kings, origin, target, captured, up, rules)
    own = moved_own(own, origin, target)
    white = own if up else opp
    black = opp if up else own
    states[i, WHITE] = np.int64(white)
    states[i, BLACK] = np.int64(black)
    states[i, KINGS] = np.int64(kings)
    states[i, UP] = 0 if up else 1
    states[i, QUIET] = quiet
    states[i, ENDING] = next_ending(states[i, ENDING], captured, white, black, kings, rules)
    states[i, PLIES] += 1
    seen = states[i, SEEN] if quiet > 0 else 0
    repeats = 0
    # two plies ago the position was another one, as both sides have moved since
    for j in range(seen - 4, -1, -2):
        if states[i, HISTORY + 2 * j] == np.int64(white) and states[i, HISTORY + 2 * j + 1] == np.int64(black):
            repeats += 1
    states[i, REPEATS] = repeats
    states[i, HISTORY + 2 * seen] = np.int64(white)
    states[i, HISTORY + 2 * seen + 1] = np.int64(black)
    states[i, SEEN] = seen + 1


@kernel()
def _judge(states, i, n, rules):
    """The verdict on a position with ``n`` legal moves."""
    own = states[i, WHITE] if states[i, UP] != 0 else states[i, BLACK]
    if own == 0:
        return NO_PIECES
    if n == 0:
        return NO_MOVES
    if states[i, REPEATS] + 1 >= np.int64((rules >> U(40)) & U(15)):
        return REPETITION
    if states[i, QUIET] >= field(rules, 16):
        return QUIET_LIMIT
    if states[i, ENDING] == 0:
        return ENDING_LIMIT
    return ONGOING


@kernel()
def _ply(states, i, k, rules, keys, ids, moves, capacity, actions):
    """Play the move at place ``k`` of the list; the list of the next position replaces it. Returns its length."""
    _make_move(states, i, k, rules, moves)
    n = list_moves(states, i, rules, keys, ids, moves, capacity, actions)
    states[i, VERDICT] = _judge(states, i, n, rules)
    return n


@kernel()
def play_turn(states, i, n, action, answer, max_plies, rules, keys, ids, moves, capacity, actions):
    """Play an action, legal if it is among the ``n`` moves listed, and if ``answer``, a random move of the opponent.

    Returns:
        Number of legal moves then, action of the answer (-1: none), reward of the side that played the action.
    """
    acted = states[i, UP]
    k = 0
    while k < n and actions[k] != action:
        k += 1
    reply = np.int64(-1)
    if k == n:
        states[i, VERDICT] = ILLEGAL
        return n, reply, -1.0
    n = _ply(states, i, k, rules, keys, ids, moves, capacity, actions)
    if answer and states[i, VERDICT] == ONGOING:
        k = random_below(states, i, RNG, n)
        reply = actions[k]
        n = _ply(states, i, k, rules, keys, ids, moves, capacity, actions)
    reward = 0.0
    if states[i, VERDICT] == NO_PIECES or states[i, VERDICT] == NO_MOVES:
        reward = -1.0 if states[i, UP] == acted else 1.0
    if states[i, VERDICT] == ONGOING and 0 < max_plies <= states[i, PLIES]:
        states[i, VERDICT] = TRUNCATED
    return n, reply, reward


@kernel()
def begin_game(states, i, starts, j, learner, answer, rules, keys, ids, moves, capacity, actions):
    """Start a game from row ``j`` of ``starts``; the random numbers go on.

    Returns:
        Number of legal moves, action with which a random opponent has opened (-1: the learner opens).
    """
    rng = states[i, RNG]
    for word in range(HISTORY + 2 * starts[j, SEEN]):
        states[i, word] = starts[j, word]
    states[i, RNG] = rng
    states[i, LEARNER] = random_below(states, i, RNG, 2) if learner == LEARNER_RANDOM else learner
    n = list_moves(states, i, rules, keys, ids, moves, capacity, actions)
    reply = np.int64(-1)
    if answer and states[i, LEARNER] != states[i, UP]:
        k = random_below(states, i, RNG, n)
        reply = actions[k]
        n = _ply(states, i, k, rules, keys, ids, moves, capacity, actions)
    return n, reply


@kernel(inline="always")
def _write(states, i, side, rules, planes):
    write_planes(
        U(states[i, WHITE]),
        U(states[i, BLACK]),
        U(states[i, KINGS]),
        side != 0,
        states[i, QUIET],
        states[i, ENDING],
        states[i, REPEATS],
        rules,
        i,
        planes,
    )


@kernel()
def _mark_legal(states, i, n, actions, masks):
    """Write row ``i`` of the masks."""
    for action in range(masks.shape[1]):
        masks[i, action] = 0
    verdict = states[i, VERDICT]
    if verdict in (ONGOING, TRUNCATED):
        for k in range(n):
            masks[i, actions[k]] = 1


@kernel()
def show_game(states, i, n, rules, actions, planes, masks):
    """Write row ``i`` of observations and masks, for the learner (for the side to move if the caller plays both)."""
    _write(states, i, states[i, UP] if states[i, LEARNER] < 0 else states[i, LEARNER], rules, planes)
    _mark_legal(states, i, n, actions, masks)


# --- calls from Python ---------------------------------------------------------------


@kernel()
def step_one(states, action, answer, max_plies, rules, keys, ids, actions, moves, capacity, planes, mask):
    """Play an action in the only row of ``states``.

    Args:
        states: the game, shape ``(1, words)``.
        action: the action; answer: whether a random opponent answers it.
        max_plies: length at which the game is cut short; 0 for none.
        rules: rules word; keys, ids: from :func:`draughts_env.actions.action_tables`.
        actions, moves, capacity: scratch space.
        planes: receives the observation; mask: int8, receives the legal actions.

    Returns:
        Verdict, side to move (1 White), action of the answer (-1: none), reward.
    """
    rules = U(rules)
    states = borrowed(states)
    keys = borrowed(keys)
    ids = borrowed(ids)
    actions = borrowed(actions)
    n = list_moves(states, 0, rules, keys, ids, U(moves), capacity, actions)
    n, reply, reward = play_turn(states, 0, n, action, answer, max_plies, rules, keys, ids, U(moves), capacity, actions)
    show_game(states, 0, n, rules, actions, planes.reshape(1, planes.size), mask.reshape(1, mask.size))
    return states[0, VERDICT], states[0, UP], reply, reward


@kernel()
def begin_one(states, starts, learner, answer, rules, keys, ids, actions, moves, capacity, planes, mask):
    """Start the game of the only row of ``states`` from that of ``starts``; arguments as for :func:`step_one`.

    Returns:
        Verdict, side to move, action of a random opponent that opened (-1: none), side of the learner (-1: both).
    """
    rules = U(rules)
    states = borrowed(states)
    starts = borrowed(starts)
    keys = borrowed(keys)
    ids = borrowed(ids)
    actions = borrowed(actions)
    n, reply = begin_game(states, 0, starts, 0, learner, answer, rules, keys, ids, U(moves), capacity, actions)
    show_game(states, 0, n, rules, actions, planes.reshape(1, planes.size), mask.reshape(1, mask.size))
    return states[0, VERDICT], states[0, UP], reply, states[0, LEARNER]


@kernel()
def mask_one(states, rules, keys, ids, actions, moves, capacity, mask):
    """Write the legal actions of the only row of ``states``; arguments as for :func:`step_one`."""
    n = list_moves(states, 0, U(rules), keys, ids, U(moves), capacity, actions)
    _mark_legal(states, 0, n, actions, mask.reshape(1, mask.size))


@kernel()
def view_one(states, side, rules, planes):
    """Write the observation of the only row of ``states``, seen from White's side (1) or Black's (0)."""
    _write(states, 0, side, U(rules), planes.reshape(1, planes.size))


# --- rows -------------------------------------------------------------------------------------------


def row_length(rules: int) -> int:
    """Words of a row; the history has room for all plies to the quiet limit."""
    return HISTORY + 2 * ((rules >> 16 & 255) + 1)


def row_of(game: Game) -> npt.NDArray[np.int64]:
    """The row of a game as it stands, as a start: no ply of the episode has been played; shape ``(words,)``."""
    position = game.position
    row = np.zeros(row_length(game.variant.rules), np.int64)
    row[: PLIES + 1] = (
        position.white,
        position.black,
        position.kings,
        position.turn == "white",
        game.quiet,
        game.ending,
        game.repeats,
        0,
    )
    row[VERDICT] = ONGOING
    row[LEARNER] = BOTH_SIDES
    earlier = game.positions[-1 - game.quiet :]
    row[SEEN] = len(earlier)
    for j, old in enumerate(earlier):
        row[HISTORY + 2 * j : HISTORY + 2 * j + 2] = old.white, old.black
    return row


class _Scratch(threading.local):
    """Where kernels write lists of moves; every thread has its own."""

    def __init__(self) -> None:
        self._moves = np.empty((MAX_MOVES, WORDS), np.uint64)
        #: The arguments `actions`, `moves`, `capacity` of the kernels.
        self.room = (np.empty(MAX_MOVES, np.int64), self._moves.ctypes.data, MAX_MOVES)


scratch = _Scratch()
