"""One search, as a machine that runs until it needs a network: the part both drivers share.

``begin_search`` sets the root; ``resume_search`` simulates until a leaf waits for an evaluation (PENDING) or
the budget is spent (FINISHED); ``supply`` hands in the evaluation of the leaf. Who evaluates, and how many
searches wait at a time, is the driver's business.

Roots: *Gumbel* (Danihelka et al. 2022) samples moves without replacement by logit plus Gumbel noise and spends
the budget on them by sequential halving; *PUCT* mixes Dirichlet noise into the priors. Both descend by PUCT.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from agents.search.random_numbers import gamma, gumbel
from agents.search.tree import (
    EXACT,
    FULL,
    LEAF,
    PENDING,
    Tree,
    back_up,
    better_move,
    descend,
    edge_value,
    new_tree,
    select_puct,
    set_priors,
    set_root,
)

FINISHED = 3
MAX_ROOT_MOVES = 4096

# state of a search (int64)
PHASE, SIMULATION, BUDGET = 0, 1, 2
_UNEVALUATED, _WAITING, _RUNNING = 0, 1, 2


class Settings(NamedTuple):
    """How a search decides; numbers as the kernels take them.

    gumbel: whether the root is a Gumbel root; considered: moves it samples; c_visit, c_scale: weight of values
    against logits, ``(c_visit + most visits) * c_scale * value``; noise: scale of the Gumbel noise (0 for play),
    or share of Dirichlet noise at a PUCT root; alpha: its concentration, divided by the number of moves;
    c_puct, fpu_reduction: the descent.
    """

    gumbel: Any
    considered: Any
    c_visit: Any
    c_scale: Any
    noise: Any
    alpha: Any
    c_puct: Any
    fpu_reduction: Any


def settings(
    gumbel: bool = True,
    considered: int = 16,
    c_visit: float = 50.0,
    c_scale: float = 0.3,
    noise: float = 1.0,
    alpha: float = 10.0,
    c_puct: float = 1.5,
    fpu_reduction: float = 0.2,
) -> Settings:
    """Settings with the types the kernels are compiled for."""
    f = np.float32
    return Settings(
        bool(gumbel), int(considered), f(c_visit), f(c_scale), f(noise), f(alpha), f(c_puct), f(fpu_reduction)
    )


class Search(NamedTuple):
    """A tree with what a search over it needs to pause and go on."""

    tree: Tree
    state: Any  # int64
    random: Any  # uint64 (1,)
    noise: Any  # float32 (MAX_ROOT_MOVES,): Gumbel noise of the root's moves


def new_search(simulations: int, seed: int = 0, moves_per_node: int = 16) -> Search:
    """Memory of one search of about so many simulations."""
    return Search(
        new_tree(simulations, moves_per_node),
        np.zeros(4, np.int64),
        np.array([seed], np.uint64),
        np.zeros(MAX_ROOT_MOVES, np.float32),
    )


@cache
def halving_schedule(considered: int, simulations: int) -> npt.NDArray[np.int32]:
    """Sequential halving, written as the visit count a root move must have to get each simulation.

    Returns int32 ``(considered + 1, simulations)``: row m is for m sampled moves. In each of the ``log2 m`` rounds
    the surviving moves get equal shares; the better half survives.
    """
    table = np.zeros((considered + 1, simulations), np.int32)
    for m in range(considered + 1):
        if m <= 1:
            table[m] = np.arange(simulations)
            continue
        rounds = math.ceil(math.log2(m))
        alive, level = m, 0
        order: list[int] = []
        while len(order) < simulations:
            share = max(1, simulations // (rounds * alive))
            for visits in range(level, level + share):
                order += [visits] * alive
            level += share
            alive = max(2, alive // 2)
        table[m] = order[:simulations]
    return table


@kernel()
def begin_search(search, rules, how, white, black, kings, up, quiet, ending, repeats, budget):
    """Set the root of a new search of ``budget`` simulations. Returns the number of legal moves."""
    n = set_root(search.tree, rules, white, black, kings, up, quiet, ending, repeats)
    search.state[PHASE] = _UNEVALUATED
    search.state[SIMULATION] = 0
    search.state[BUDGET] = budget
    if how.gumbel:
        for i in range(n):
            search.noise[i] = how.noise * gumbel(search.random) if how.noise > np.float32(0) else np.float32(0)
    return n


@kernel(fastmath=True)
def root_scale(tree, how):
    """The factor that turns a value into a logit at a Gumbel root."""
    root = tree.nodes[0]
    most = 0
    for e in range(root.first, root.first + root.count):
        most = max(most, tree.edges[e].visits)
    return (how.c_visit + np.float32(most)) * how.c_scale


@kernel(fastmath=True)
def mixed_value(tree):
    """The value given to root moves without visits: the network's, mixed with those of the visited moves."""
    root = tree.nodes[0]
    visits = 0
    weight = np.float32(0)
    total = np.float32(0)
    for e in range(root.first, root.first + root.count):
        edge = tree.edges[e]
        if edge.visits > 0:
            visits += edge.visits
            weight += edge.prior
            total += edge.prior * edge_value(edge)
    if visits == 0:
        return root.value
    n = np.float32(visits)
    return (root.value + n * total / max(weight, np.float32(1e-12))) / (np.float32(1) + n)


@kernel(fastmath=True)
def _select_gumbel(search, how, schedule):
    """The root edge that the next simulation goes through."""
    tree = search.tree
    root = tree.nodes[0]
    simulation = search.state[SIMULATION]
    m = min(how.considered, np.int64(root.count))
    # past the schedule (a budget that was extended) the leading move of least visits goes on
    wanted = schedule[m, simulation] if simulation < schedule.shape[1] else -1
    if wanted < 0:
        return select_puct(tree, 0, how)
    scale = root_scale(tree, how)
    rest = mixed_value(tree)
    best = np.int64(-1)
    best_score = np.float32(-1e30)
    for i in range(root.count):
        edge = tree.edges[root.first + i]
        if edge.visits != wanted:
            continue
        q = edge_value(edge) if edge.visits > 0 else rest
        score = search.noise[i] + np.log(edge.prior + np.float32(1e-9)) + scale * q
        if score > best_score:
            best_score = score
            best = np.int64(root.first + i)
    return best if best >= 0 else select_puct(tree, 0, how)


@kernel(forceinline=True)
def resume_search(search, rules, how, schedule, history):
    """Simulate until a leaf needs an evaluation (PENDING) or the search is over (FINISHED).

    ``history``: hashes of the game's positions since the last irreversible move, the root's last.
    """
    state = search.state
    tree = search.tree
    if state[PHASE] == _UNEVALUATED:
        state[PHASE] = _WAITING
        tree.counters[LEAF] = 0
        return PENDING
    while state[SIMULATION] < state[BUDGET] and tree.nodes[0].proven == 0:
        e = _select_gumbel(search, how, schedule) if how.gumbel else np.int64(select_puct(tree, 0, how))
        code, value = descend(tree, rules, history, how, e)
        if code == FULL:
            break
        state[SIMULATION] += 1
        if code != EXACT:
            return PENDING
        back_up(tree, value)
    return FINISHED


@kernel()
def _mix_noise(search, how):
    """Mix Dirichlet noise into the root's priors."""
    root = search.tree.nodes[0]
    shape = np.float64(how.alpha) / root.count
    total = 0.0
    for i in range(root.count):
        x = gamma(search.random, shape)
        search.noise[i] = np.float32(x)
        total += x
    for i in range(root.count):
        edge = search.tree.edges[root.first + i]
        share = np.float32(search.noise[i] / max(total, 1e-30))
        edge.prior = (np.float32(1) - how.noise) * edge.prior + how.noise * share


@kernel(forceinline=True)
def supply(search, how, value):
    """Hand in the pending leaf's evaluation. The logits of its moves already stand in their ``prior`` fields."""
    tree = search.tree
    leaf = tree.counters[LEAF]
    set_priors(tree, leaf)
    tree.nodes[leaf].value = value
    if search.state[PHASE] == _WAITING:
        search.state[PHASE] = _RUNNING
        tree.nodes[0].visits = 1
        tree.nodes[0].value_sum = value
        if not how.gumbel and how.noise > np.float32(0):
            _mix_noise(search, how)
        return
    back_up(tree, value)


@kernel(fastmath=True)
def best_edge(search, how):
    """The root edge to play: proofs first, then for Gumbel the best of the most visited, for PUCT the most visited."""
    tree = search.tree
    root = tree.nodes[0]
    best = np.int64(root.first)
    if not how.gumbel or root.proven != 0:
        for e in range(root.first + 1, root.first + root.count):
            if better_move(tree, e, best):
                best = np.int64(e)
        return best
    scale = root_scale(tree, how)
    most = -1
    best_score = np.float32(-1e30)
    for i in range(root.count):
        edge = tree.edges[root.first + i]
        visits = np.int64(edge.visits) if edge.proven >= 0 else np.int64(-1)
        score = search.noise[i] + np.log(edge.prior + np.float32(1e-9)) + scale * edge_value(edge)
        if visits > most or (visits == most and score > best_score):
            most = visits
            best_score = score
            best = np.int64(root.first + i)
    return best


@kernel(fastmath=True)
def improved_policy(search, how, out):
    """Write the policy the search recommends over the root's moves to ``out``; returns its value.

    Gumbel: softmax of logits plus scaled values, moves without visits completed by :func:`mixed_value`.
    PUCT: shares of the visits. The value is that of the policy, for the side to move.
    """
    tree = search.tree
    root = tree.nodes[0]
    if root.proven != 0:
        edge = best_edge(search, how)
        out[: root.count] = 0
        out[edge - root.first] = 1
        return np.float32(1) if root.proven > 0 else np.float32(-1)
    rest = mixed_value(tree)
    scale = root_scale(tree, how)
    top = np.float32(-1e30)
    for i in range(root.count):
        edge = tree.edges[root.first + i]
        if how.gumbel:
            q = edge_value(edge) if edge.visits > 0 else rest
            out[i] = np.log(edge.prior + np.float32(1e-9)) + scale * q
        else:
            out[i] = np.float32(edge.visits)
        top = max(top, out[i])
    total = np.float32(0)
    for i in range(root.count):
        if how.gumbel:
            out[i] = np.exp(out[i] - top)
        total += out[i]
    value = np.float32(0)
    for i in range(root.count):
        edge = tree.edges[root.first + i]
        out[i] /= max(total, np.float32(1e-12))
        value += out[i] * (edge_value(edge) if edge.visits > 0 else rest)
    return value
