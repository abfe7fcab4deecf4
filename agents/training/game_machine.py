"""One self-play game as a machine that runs until it needs a network, and many of them side by side.

All arrays have the games as leading axis; ``lane(games, g)`` is one game. ``start_game`` plays a random
opening, ``advance`` goes on until a leaf waits for an evaluation (PENDING) or the game has ended
(FINISHED). Positions with a choice are recorded: what the mover saw, the search's policy over all legal
moves, its value; the result is filled in at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.jit import kernel
from agents.network.features import mover_boards
from agents.search.random_numbers import below, next_word, uniform
from agents.search.search import (
    FINISHED,
    MAX_ROOT_MOVES,
    Search,
    begin_search,
    best_edge,
    improved_policy,
    resume_search,
)
from agents.search.tree import EDGE, EVALUATIONS, MAX_DEPTH, NODE, PENDING, Tree, make_child, set_root, shown_quiet
from agents.tablebase.probing import NOT_COVERED, probe_wdl
from draughts_env.kernels import MAX_MOVES, WORDS, ZERO, U, clocks_drawn, ending_limit

MAX_HISTORY = 512

# state of a game (int64)
STAGE, PLY, SAMPLES, POLICY, RESULT, HISTORY, SIMULATIONS = range(7)
QUIET, ENDING, REPEATS, UP, TRUNCATED, ADJUDICATED = range(7, 13)
_POSITION, _SEARCHING, _OVER = 0, 1, 2


class Games(NamedTuple):
    """Memory of several games; each array has a leading axis of games, and that of one game (`lane`) has not.

    nodes, edges, counters, path_nodes, path_edges, moves, actions, search_state, random, noise: the search.
    state: (13,) see above. board: (3,) white, black, kings. history: hashes since the last irreversible move.
    line: (plies, 3) origin bit, target bit, captured of every move played.
    boards (n, 4), clocks (n, 3), side (n,), value (n,), offsets (n + 1,), legal (m,), probs (m,): the record.
    """

    nodes: Any
    edges: Any
    counters: Any
    path_nodes: Any
    path_edges: Any
    moves: Any
    actions: Any
    search_state: Any
    random: Any
    noise: Any
    state: Any
    board: Any
    history: Any
    line: Any
    boards: Any
    clocks: Any
    side: Any
    value: Any
    offsets: Any
    legal: Any
    probs: Any


class Plan(NamedTuple):
    """Numbers of a self-play run: start (white, black, white moves first), opening, limits, sampling."""

    white: Any
    black: Any
    up: Any
    random_plies: Any  # an opening has 0 to this many random plies
    max_plies: Any
    temperature_plies: Any  # PUCT roots: moves before this ply are drawn by visits
    simulations: Any


def new_games(count: int, simulations: int, max_plies: int, moves_per_node: int = 24) -> Games:
    """Memory for ``count`` games at a time."""
    nodes = simulations * 2 + 64
    return Games(
        nodes=np.zeros((count, nodes), NODE),
        edges=np.zeros((count, simulations * moves_per_node + 2048), EDGE),
        counters=np.zeros((count, 8), np.int64),
        path_nodes=np.zeros((count, MAX_DEPTH + 1), np.int32),
        path_edges=np.zeros((count, MAX_DEPTH + 1), np.int32),
        moves=np.zeros((count, MAX_MOVES * WORDS), np.uint64),
        actions=np.zeros((count, MAX_MOVES), np.int64),
        search_state=np.zeros((count, 4), np.int64),
        random=np.zeros((count, 1), np.uint64),
        noise=np.zeros((count, MAX_ROOT_MOVES), np.float32),
        state=np.zeros((count, 13), np.int64),
        board=np.zeros((count, 3), np.uint64),
        history=np.zeros((count, MAX_HISTORY), np.uint64),
        line=np.zeros((count, max_plies, 3), np.uint64),
        boards=np.zeros((count, max_plies, 4), np.uint64),
        clocks=np.zeros((count, max_plies, 3), np.int16),
        side=np.zeros((count, max_plies), np.int8),
        value=np.zeros((count, max_plies), np.float32),
        offsets=np.zeros((count, max_plies + 1), np.int64),
        legal=np.zeros((count, max_plies * 64), np.uint16),
        probs=np.zeros((count, max_plies * 64), np.float32),
    )


@kernel(forceinline=True)
def lane(games, g):
    """One game of several: the same arrays without their leading axis."""
    return Games(
        games.nodes[g],
        games.edges[g],
        games.counters[g],
        games.path_nodes[g],
        games.path_edges[g],
        games.moves[g],
        games.actions[g],
        games.search_state[g],
        games.random[g],
        games.noise[g],
        games.state[g],
        games.board[g],
        games.history[g],
        games.line[g],
        games.boards[g],
        games.clocks[g],
        games.side[g],
        games.value[g],
        games.offsets[g],
        games.legal[g],
        games.probs[g],
    )


@kernel(inline="always")
def search_of(game):
    """The search of one game."""
    return Search(
        Tree(
            game.nodes,
            game.edges,
            game.counters,
            game.path_nodes,
            game.path_edges,
            game.moves,
            game.actions,
        ),
        game.search_state,
        game.random,
        game.noise,
    )


@kernel()
def _take(game, rules, edge_index):
    """Make the move of a root edge in the game."""
    search = search_of(game)
    tree = search.tree
    state = game.state
    child = np.int64(tree.edges[edge_index].child)
    if child < 0:
        child, _ = make_child(tree, rules, game.history[: state[HISTORY]], 0, edge_index, 1)
    edge = tree.edges[edge_index]
    ply = state[PLY]
    if ply < len(game.line):
        game.line[ply, 0] = U(edge.origin)
        game.line[ply, 1] = U(edge.target)
        game.line[ply, 2] = edge.captured
    node = tree.nodes[child]
    game.board[0] = node.white
    game.board[1] = node.black
    game.board[2] = node.kings
    state[QUIET] = node.quiet
    state[ENDING] = node.ending
    state[UP] = node.up
    state[PLY] = ply + 1
    length = np.int64(0) if node.quiet == 0 else state[HISTORY]
    seen = 0
    for i in range(length):
        if game.history[i] == node.hash:
            seen += 1
    game.history[length] = node.hash
    state[HISTORY] = length + 1
    state[REPEATS] = seen


@kernel()
def _first_position(game, rules, plan):
    state = game.state
    game.board[0] = plan.white
    game.board[1] = plan.black
    game.board[2] = ZERO
    state[STAGE] = _POSITION
    state[PLY] = 0
    state[SAMPLES] = 0
    state[POLICY] = 0
    state[RESULT] = 0
    state[HISTORY] = 1
    state[SIMULATIONS] = 0
    state[QUIET] = 0
    state[ENDING] = ending_limit(plan.white, plan.black, ZERO, rules.word)
    state[REPEATS] = 0
    state[UP] = 1 if plan.up else 0
    state[TRUNCATED] = 0
    state[ADJUDICATED] = 0
    game.offsets[0] = 0
    tree = search_of(game).tree
    n = set_root(tree, rules, plan.white, plan.black, ZERO, plan.up, 0, state[ENDING], 0)
    game.history[0] = tree.nodes[0].hash
    return n


@kernel()
def start_game(game, rules, plan, seed):
    """Begin a game with a random opening; everything random in it follows from ``seed``."""
    game.random[0] = U(seed) * U(0xD1342543DE82EF95) + U(1)
    next_word(game.random)
    game.counters[EVALUATIONS] = 0
    state = game.state
    while True:
        n = _first_position(game, rules, plan)
        plies = below(game.random, plan.random_plies + 1)
        for _ in range(plies):
            tree = search_of(game).tree
            _take(game, rules, np.int64(tree.nodes[0].first) + below(game.random, n))
            n = set_root(
                tree,
                rules,
                game.board[0],
                game.board[1],
                game.board[2],
                state[UP] == 1,
                state[QUIET],
                state[ENDING],
                state[REPEATS],
            )
            if n <= 0:
                break
        if n > 0:
            return


@kernel()
def _end(game, result):
    """End the game; ``result`` is White's."""
    game.state[RESULT] = result
    game.state[STAGE] = _OVER
    return FINISHED


@kernel()
def _record(game, rules, how, plan):
    """Record the searched position."""
    search = search_of(game)
    root = search.tree.nodes[0]
    state = game.state
    i = state[SAMPLES]
    start = state[POLICY]
    count = np.int64(root.count)
    policy = np.empty(count, np.float32)
    value = improved_policy(search, how, policy)
    if i >= len(game.value) or start + count > len(game.probs):
        return
    own_men, own_kings, opp_men, opp_kings = mover_boards(root.white, root.black, root.kings, root.up == 1, rules.word)
    game.boards[i, 0] = own_men
    game.boards[i, 1] = own_kings
    game.boards[i, 2] = opp_men
    game.boards[i, 3] = opp_kings
    game.clocks[i, 0] = shown_quiet(state[QUIET], rules)
    game.clocks[i, 1] = state[ENDING]
    game.clocks[i, 2] = state[REPEATS]
    game.side[i] = 1 if root.up == 1 else -1
    game.value[i] = value
    for k in range(count):
        game.legal[start + k] = search.tree.edges[root.first + k].action
        game.probs[start + k] = policy[k]
    state[POLICY] = start + count
    state[SAMPLES] = i + 1
    game.offsets[i + 1] = state[POLICY]


@kernel()
def _choose(game, how, plan):
    """The root edge to play: the search's best, or drawn by visits early in a PUCT game."""
    search = search_of(game)
    tree = search.tree
    root = tree.nodes[0]
    if how.gumbel or game.state[PLY] >= plan.temperature_plies or root.proven != 0:
        return best_edge(search, how)
    total = 0
    for e in range(root.first, root.first + root.count):
        total += tree.edges[e].visits
    mark = uniform(game.random) * total
    for e in range(root.first, root.first + root.count):
        mark -= tree.edges[e].visits
        if mark < 0:
            return np.int64(e)
    return best_edge(search, how)


@kernel(forceinline=True)
def advance(game, rules, how, plan, schedule):
    """Go on with a game until a leaf waits for its evaluation (PENDING) or the game is over (FINISHED)."""
    state = game.state
    search = search_of(game)
    while True:
        if state[STAGE] == _OVER:
            return FINISHED
        if state[STAGE] == _SEARCHING:
            if resume_search(search, rules, how, schedule, game.history[: state[HISTORY]]) == PENDING:
                return PENDING
            state[SIMULATIONS] += search.state[1]
            _record(game, rules, how, plan)
            _take(game, rules, _choose(game, how, plan))
            state[STAGE] = _POSITION
        up = state[UP] == 1
        n = begin_search(
            search,
            rules,
            how,
            game.board[0],
            game.board[1],
            game.board[2],
            up,
            state[QUIET],
            state[ENDING],
            state[REPEATS],
            plan.simulations,
        )
        if n <= 0:
            return _end(game, -1 if up else 1)
        if state[REPEATS] >= 2 or clocks_drawn(state[QUIET], state[ENDING], rules.word):
            return _end(game, 0)
        known = probe_wdl(rules.tables, game.board[0], game.board[1], game.board[2], up)
        if known != NOT_COVERED:
            state[ADJUDICATED] = 1
            return _end(game, known if up else -known)
        if state[PLY] >= plan.max_plies:
            state[TRUNCATED] = 1
            return _end(game, 0)
        if n == 1:
            _take(game, rules, np.int64(search.tree.nodes[0].first))
        else:
            state[STAGE] = _SEARCHING
