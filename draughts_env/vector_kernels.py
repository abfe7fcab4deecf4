"""Kernels of the vector environment: each call makes a ply in many games (:mod:`draughts_env.env_kernels`).

The list of moves that a step has to make for the mask is kept: drawing a random action and the next step need it again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from draughts_env.env_kernels import (
    TRUNCATED,
    VERDICT,
    begin_game,
    list_moves,
    play_turn,
    random_below,
    show_game,
)
from draughts_env.game_kernels import ONGOING
from draughts_env.intrinsics import borrowed, load, store
from draughts_env.jit import kernel
from draughts_env.kernels import WORDS, U

#: Moves of a game that are kept from the step that shows them to the step that plays one; longer lists are made anew.
KEPT = 16


def kept_room(games: int) -> npt.NDArray[np.int64]:
    """Where the kernels below keep the games' moves: number of moves (-1: not kept), actions, moves; all not kept."""
    return np.full((games, 1 + (1 + WORDS) * KEPT), -1, np.int64)


@kernel()
def _keep(kept, i, n, moves, actions):
    """Keep the list of moves of game ``i``."""
    if n > KEPT:
        kept[i, 0] = -1
        return
    kept[i, 0] = n
    for k in range(n):
        kept[i, 1 + k] = actions[k]
    for word in range(WORDS * n):
        kept[i, 1 + KEPT + word] = np.int64(load(moves, word))


@kernel()
def _recall(kept, states, i, action, rules, keys, ids, moves, capacity, actions):
    """Write a list of moves that has the one of ``action`` if it is legal: that one, or all; returns their number."""
    n = kept[i, 0]
    for k in range(n):
        if kept[i, 1 + k] == action:
            actions[0] = action
            for word in range(WORDS):
                store(moves, word, U(kept[i, 1 + KEPT + WORDS * k + word]))
            return 1
    return list_moves(states, i, rules, keys, ids, moves, capacity, actions)


@kernel()
def step_many(
    first,
    last,
    states,
    kept,
    choices,
    stale,
    starts,
    learner,
    answer,
    max_plies,
    rules,
    keys,
    ids,
    planes,
    masks,
    rewards,
    actions,
    moves,
    capacity,
):
    """Play a row of actions in rows ``first`` to ``last - 1``.

    Args:
        states: the games, shape ``(games, words)``; kept: their moves, of :func:`kept_room`.
        choices: an action for each, shape ``(games,)``.
        stale: games that are started anew instead; starts, learner: as for :func:`begin_one`.
        answer, max_plies, rules, keys, ids: as for :func:`step_one`.
        planes: receives the observations; masks: int8, receives the legal actions; shape ``(games, ...)`` both.
        rewards: float64, receives the rewards.
        actions, moves, capacity: scratch space of this thread.
    """
    rules = U(rules)
    moves = U(moves)
    states = borrowed(states)
    kept = borrowed(kept)
    starts = borrowed(starts)
    keys = borrowed(keys)
    ids = borrowed(ids)
    masks = borrowed(masks)
    actions = borrowed(actions)
    flat = borrowed(planes.reshape(len(states), planes.size // len(states)))
    for i in range(first, last):
        reward = 0.0
        if stale[i]:
            n, _ = begin_game(states, i, starts, 0, learner, answer, rules, keys, ids, moves, capacity, actions)
        else:
            n = _recall(kept, states, i, choices[i], rules, keys, ids, moves, capacity, actions)
            n, _, reward = play_turn(
                states, i, n, choices[i], answer, max_plies, rules, keys, ids, moves, capacity, actions
            )
        _keep(kept, i, n, moves, actions)
        show_game(states, i, n, rules, actions, flat, masks)
        rewards[i] = reward


@kernel()
def begin_many(
    first,
    last,
    states,
    kept,
    chosen,
    starts,
    start_of,
    learners,
    answer,
    all_shown,
    rules,
    keys,
    ids,
    planes,
    masks,
    actions,
    moves,
    capacity,
):
    """Start the games that are ``chosen``, each from its row of ``starts``; show them, or all of the stretch.

    Arguments as for :func:`step_many`; ``start_of`` and ``learners`` are given for each game.
    """
    rules = U(rules)
    moves = U(moves)
    states = borrowed(states)
    kept = borrowed(kept)
    starts = borrowed(starts)
    keys = borrowed(keys)
    ids = borrowed(ids)
    masks = borrowed(masks)
    actions = borrowed(actions)
    flat = borrowed(planes.reshape(len(states), planes.size // len(states)))
    for i in range(first, last):
        if chosen[i]:
            n, _ = begin_game(
                states, i, starts, start_of[i], learners[i], answer, rules, keys, ids, moves, capacity, actions
            )
        elif all_shown:
            n = list_moves(states, i, rules, keys, ids, moves, capacity, actions)
        else:
            continue
        _keep(kept, i, n, moves, actions)
        show_game(states, i, n, rules, actions, flat, masks)


@kernel()
def first_illegal(states, kept, choices, stale, rules, keys, ids, actions, moves, capacity):
    """The first game whose action is not legal, -1 if there is none; games that are ``stale`` do not count."""
    states = borrowed(states)
    kept = borrowed(kept)
    keys = borrowed(keys)
    ids = borrowed(ids)
    actions = borrowed(actions)
    for i in range(len(states)):
        if stale[i]:
            continue
        n = _recall(kept, states, i, choices[i], U(rules), keys, ids, U(moves), capacity, actions)
        k = 0
        while k < n and actions[k] != choices[i]:
            k += 1
        if k == n:
            return i
    return -1


@kernel()
def draw_actions(first, last, states, kept, words, chosen, rules, keys, ids, actions, moves, capacity):
    """Write a random legal action of each game, 0 for one that has ended.

    Args:
        words: states of the random numbers, int64 of shape ``(games, 1)``.
        chosen: int64, shape ``(games,)``; the others as for :func:`step_many`.
    """
    states = borrowed(states)
    kept = borrowed(kept)
    keys = borrowed(keys)
    ids = borrowed(ids)
    actions = borrowed(actions)
    for i in range(first, last):
        chosen[i] = 0
        if states[i, VERDICT] in (ONGOING, TRUNCATED):
            n = kept[i, 0]
            if n < 0:
                n = list_moves(states, i, U(rules), keys, ids, U(moves), capacity, actions)
                chosen[i] = actions[random_below(words, i, 0, n)]
            else:
                chosen[i] = kept[i, 1 + random_below(words, i, 0, n)]
