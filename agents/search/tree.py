"""The search tree in flat arrays, and the kernels every driver uses: descend, expand, back up.

Conventions:

* The value of a node is for the side to move in it; the value of an edge is for the side that makes the
  move. Sides alternate at every ply (one edge is one complete move), so values change sign at every step.
* A position with one legal move is expanded without an evaluation and the descent goes on through it.
* Terminal positions are exact, and so are those that a tablebase holds, which are not searched further. A position
  that already occurred on the path from the root, or twice in the game before, counts as drawn.
* ``proven`` of a node: 0 unknown, ``+(k+1)`` won in k plies, ``-(k+1)`` lost in k plies; an edge is as good
  as minus its node. Proofs propagate as they are found; draws are not proven, since repetitions depend on the path.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.jit import kernel
from agents.tablebase.probing import NOT_COVERED, TablebaseArrays, no_tablebase, probe_wdl
from draughts_env.actions import action_tables, encode_actions
from draughts_env.intrinsics import load, lowest
from draughts_env.kernels import (
    ALL,
    MAX_MOVES,
    ONE,
    WORDS,
    U,
    clocks_drawn,
    field,
    hash_position,
    legal_moves,
    moved_kings,
    moved_own,
    next_ending,
    next_quiet,
)
from draughts_env.variants import Variant

NODE = np.dtype(
    [
        ("white", "u8"),
        ("black", "u8"),
        ("kings", "u8"),
        ("hash", "u8"),
        ("first", "i4"),  # index of its first edge
        ("count", "i4"),  # number of edges
        ("visits", "i4"),
        ("value_sum", "f4"),  # over visits, for the side to move
        ("value", "f4"),  # the network's, for the side to move; exact where terminal
        ("proven", "i2"),
        ("quiet", "i2"),
        ("ending", "i2"),
        ("repeats", "i1"),
        ("up", "i1"),  # 1 when White moves
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("captured", "u8"),
        ("prior", "f4"),
        ("value_sum", "f4"),  # over visits, for the side that makes the move
        ("visits", "i4"),
        ("child", "i4"),  # node index, -1 before the first visit
        ("action", "i2"),
        ("proven", "i2"),  # that of the child with its sign turned
        ("origin", "i1"),  # bit indices
        ("target", "i1"),
    ],
    align=True,
)

MAX_DEPTH = 1024
_FAR = 8192  # distance of a win that a tablebase knows, in plies plus one: any win found by search is quicker
#: What :func:`descend` found.
EXACT, PENDING, FULL = 0, 1, 2


class Rules(NamedTuple):
    """A variant as the search kernels take it: rules words and action tables."""

    word: Any  # np.uint64: the rules that are played
    shown: Any  # np.uint64: the variant's own, which differ when self-play shortens the quiet limit
    keys: Any
    ids: Any
    tables: Any  # TablebaseArrays, perhaps covering nothing


class Tree(NamedTuple):
    """One search tree and its working memory.

    counters: int64: 0 nodes used, 1 edges used, 2 length of the current path, 3 evaluations, 4 current leaf.
    """

    nodes: Any
    edges: Any
    counters: Any
    path_nodes: Any
    path_edges: Any
    moves: Any
    actions: Any


NODES, EDGES, LENGTH, EVALUATIONS, LEAF = 0, 1, 2, 3, 4


class Guide(NamedTuple):
    """Numbers that steer the descent."""

    c_puct: Any
    fpu_reduction: Any


def search_rules(variant: Variant, quiet_plies: int | None = None, tables: TablebaseArrays | None = None) -> Rules:
    """A variant for the search kernels, optionally with a shorter quiet-move limit (self-play) and a tablebase."""
    keys, ids, _ = action_tables(variant.rules, variant.size)
    word = variant.rules
    if quiet_plies is not None:
        word = word & ~(255 << 16) | min(quiet_plies, variant.draws.quiet_plies) << 16
    return Rules(U(word), U(variant.rules), keys, ids, no_tablebase() if tables is None else tables)


@kernel()
def shown_quiet(quiet, rules):
    """The quiet clock as networks see it: the same share of the variant's own limit."""
    return np.int64(quiet) * field(rules.shown, 16) // field(rules.word, 16)


def new_tree(simulations: int, moves_per_node: int = 16) -> Tree:
    """Memory for a search of about so many simulations (forced replies use nodes beyond them)."""
    nodes = simulations * 2 + 64
    return Tree(
        np.zeros(nodes, NODE),
        np.zeros(nodes * moves_per_node // 2 + 2048, EDGE),
        np.zeros(8, np.int64),
        np.zeros(MAX_DEPTH + 1, np.int32),
        np.zeros(MAX_DEPTH + 1, np.int32),
        np.zeros(MAX_MOVES * WORDS, np.uint64),
        np.zeros(MAX_MOVES, np.int64),
    )


@kernel(forceinline=True)
def _expand(tree, rules, index):
    """Write the edges of a fresh node. Returns their number, or -1 when the arrays are full."""
    node = tree.nodes[index]
    up = node.up == 1
    own = node.white if up else node.black
    opp = node.black if up else node.white
    moves = U(tree.moves.ctypes.data)
    n = legal_moves(own, opp, node.kings, up, rules.word, moves, MAX_MOVES)
    first = tree.counters[EDGES]
    if first + n > len(tree.edges):
        return -1
    if n > 0:
        encode_actions(moves, n, up, rules.word, rules.keys, rules.ids, tree.actions)
    prior = np.float32(1.0) / np.float32(max(n, 1))
    for i in range(n):
        edge = tree.edges[first + i]
        edge.origin = lowest(load(moves, WORDS * i))
        edge.target = lowest(load(moves, WORDS * i + 1))
        edge.captured = load(moves, WORDS * i + 2)
        edge.action = tree.actions[i]
        edge.prior = prior
        edge.value_sum = np.float32(0)
        edge.visits = 0
        edge.child = -1
        edge.proven = 0
    tree.counters[EDGES] += n
    node.first = first
    node.count = n
    return n


@kernel()
def set_root(tree, rules, white, black, kings, up, quiet, ending, repeats):
    """Empty the tree and make a position its root. Returns the number of legal moves, or -1 (arrays too small)."""
    tree.counters[NODES] = 1
    tree.counters[EDGES] = 0
    tree.counters[LENGTH] = 0
    tree.counters[LEAF] = 0
    node = tree.nodes[0]
    node.white = white
    node.black = black
    node.kings = kings
    node.hash = hash_position(white, black, kings, up)
    node.visits = 0
    node.value_sum = np.float32(0)
    node.value = np.float32(0)
    node.proven = 0
    node.quiet = quiet
    node.ending = ending
    node.repeats = repeats
    node.up = 1 if up else 0
    return _expand(tree, rules, 0)


@kernel(forceinline=True)
def _occurrences(tree, history, length, key, quiet):
    """Earlier occurrences of a position that would stand at path index ``length`` (the root has 0).

    Two or more: drawn. An occurrence on the path counts twice, one in the game before it once.
    ``history`` holds the hashes of the game, the root's last.
    """
    back = 4
    count = 0
    while back <= quiet:
        place = length - back
        if place >= 0:
            if tree.nodes[tree.path_nodes[place]].hash == key:
                return 2
        else:
            before = len(history) - 1 + place
            if before < 0:
                break
            if history[before] == key:
                count += 1
        back += 2
    return count


@kernel(forceinline=True)
def make_child(tree, rules, history, parent_index, edge_index, length):
    """Make the node behind an edge.

    Returns its index and its number of moves: 0 when the game has ended there, -1 when memory is full.
    """
    index = tree.counters[NODES]
    if index >= len(tree.nodes) or length >= MAX_DEPTH:
        return -1, -1
    parent = tree.nodes[parent_index]
    edge = tree.edges[edge_index]
    up = parent.up == 1
    origin = ONE << U(edge.origin)
    target = ONE << U(edge.target)
    captured = edge.captured
    taken = captured & ALL
    node = tree.nodes[index]
    if up:
        node.white = moved_own(parent.white, origin, target)
        node.black = parent.black & ~taken
        quiet = next_quiet(parent.quiet, parent.white, parent.kings, origin, taken)
    else:
        node.black = moved_own(parent.black, origin, target)
        node.white = parent.white & ~taken
        quiet = next_quiet(parent.quiet, parent.black, parent.kings, origin, taken)
    node.kings = moved_kings(parent.kings, origin, target, captured, up, rules.word)
    node.quiet = quiet
    node.ending = next_ending(np.int64(parent.ending), taken, node.white, node.black, node.kings, rules.word)
    node.up = 0 if up else 1
    node.hash = hash_position(node.white, node.black, node.kings, not up)
    node.visits = 0
    node.value_sum = np.float32(0)
    node.value = np.float32(0)
    node.proven = 0
    n = _expand(tree, rules, index)
    if n < 0:
        return -1, -1
    tree.counters[NODES] = index + 1
    edge.child = index
    node.repeats = 0
    if n == 0:
        node.value = np.float32(-1)
        node.proven = -1
        return index, 0
    seen = _occurrences(tree, history, length, node.hash, quiet) if quiet >= 4 else 0
    node.repeats = min(seen, 2)
    known = np.int64(0)
    if seen < 2 and not clocks_drawn(quiet, np.int64(node.ending), rules.word):
        known = probe_wdl(rules.tables, node.white, node.black, node.kings, not up)
        if known == NOT_COVERED:
            return index, n
    tree.counters[EDGES] -= n
    node.count = 0
    node.value = np.float32(known)
    node.proven = known * _FAR
    return index, 0


@kernel(inline="always")
def edge_value(edge):
    """Mean value of a visited edge, exact where proven."""
    if edge.proven > 0:
        return np.float32(1)
    if edge.proven < 0:
        return np.float32(-1)
    return edge.value_sum / np.float32(max(edge.visits, 1))


@kernel(fastmath=True, forceinline=True)
def select_puct(tree, index, guide):
    """The edge of a node that PUCT visits next."""
    node = tree.nodes[index]
    if node.count == 1:
        return node.first
    first_play = node.value - guide.fpu_reduction
    if node.visits > 0:
        first_play = node.value_sum / np.float32(node.visits) - guide.fpu_reduction
    scale = guide.c_puct * np.sqrt(np.float32(max(node.visits, 1)))
    best = node.first
    best_score = np.float32(-1e30)
    for e in range(node.first, node.first + node.count):
        edge = tree.edges[e]
        if edge.proven != 0:
            if edge.proven > 0:
                return e
            score = np.float32(-1e20) + np.float32(-edge.proven)
        else:
            visits = np.float32(edge.visits)
            q = edge.value_sum / visits if edge.visits > 0 else first_play
            score = q + scale * edge.prior / (np.float32(1) + visits)
        if score > best_score:
            best_score = score
            best = e
    return best


@kernel(forceinline=True)
def descend(tree, rules, history, guide, root_edge):
    """Go from the root to a leaf, the first step through ``root_edge``, the others by PUCT.

    Returns a code and a value for the side to move at the leaf. EXACT: the value is final, back it up.
    PENDING: the leaf (``counters[LEAF]``) waits for an evaluation. FULL: memory is used up; nothing to back up.
    """
    index = 0
    length = 0
    e = root_edge
    while True:
        tree.path_nodes[length] = index
        tree.path_edges[length] = e
        length += 1
        child = np.int64(tree.edges[e].child)
        if child < 0:
            child, n = make_child(tree, rules, history, index, e, length)
            if n < 0:
                return FULL, np.float32(0)
            if n != 1:
                tree.counters[LENGTH] = length
                tree.counters[LEAF] = child
                if n == 0:
                    return EXACT, tree.nodes[child].value
                return PENDING, np.float32(0)
        else:
            node = tree.nodes[child]
            if node.count == 0 or node.proven != 0:
                tree.counters[LENGTH] = length
                tree.counters[LEAF] = child
                if node.proven > 0:
                    return EXACT, np.float32(1)
                if node.proven < 0:
                    return EXACT, np.float32(-1)
                return EXACT, node.value
        index = child
        e = select_puct(tree, index, guide)


@kernel()
def _prove(tree, index):
    """Set ``proven`` of a node from its edges if they decide it. Returns whether it is proven."""
    node = tree.nodes[index]
    quickest_win = 0
    slowest_loss = 0
    all_lost = True
    for e in range(node.first, node.first + node.count):
        p = np.int64(tree.edges[e].proven)
        if p >= 0:
            all_lost = False
            if p > 0 and (quickest_win == 0 or p < quickest_win):
                quickest_win = p
        else:
            slowest_loss = min(slowest_loss, p)
    if quickest_win > 0:
        node.proven = quickest_win + 1
    elif all_lost:
        node.proven = slowest_loss - 1
    return node.proven != 0


@kernel(forceinline=True)
def back_up(tree, value):
    """Add a leaf's value (for the side to move there) along the current path, and propagate proofs."""
    leaf = tree.nodes[tree.counters[LEAF]]
    leaf.visits += 1
    leaf.value_sum += value
    proving = leaf.proven != 0
    proven = np.int64(leaf.proven)
    v = value
    for i in range(tree.counters[LENGTH] - 1, -1, -1):
        v = -v
        edge = tree.edges[tree.path_edges[i]]
        node = tree.nodes[tree.path_nodes[i]]
        edge.visits += 1
        edge.value_sum += v
        node.visits += 1
        node.value_sum += v
        if proving:
            edge.proven = -proven
            proving = _prove(tree, tree.path_nodes[i])
            proven = np.int64(node.proven)


@kernel(fastmath=True, forceinline=True)
def set_priors(tree, index):
    """Turn the logits in the ``prior`` fields of a node's edges into probabilities."""
    node = tree.nodes[index]
    top = np.float32(-1e30)
    for e in range(node.first, node.first + node.count):
        top = max(top, tree.edges[e].prior)
    total = np.float32(0)
    for e in range(node.first, node.first + node.count):
        p = np.exp(tree.edges[e].prior - top)
        tree.edges[e].prior = p
        total += p
    for e in range(node.first, node.first + node.count):
        tree.edges[e].prior /= total


@kernel()
def better_move(tree, a, b):
    """Whether edge ``a`` is to be played rather than ``b``: proofs first (quick wins, slow losses), then visits."""
    p = np.int64(tree.edges[a].proven)
    q = np.int64(tree.edges[b].proven)
    if p != q and (p != 0 or q != 0):
        if p > 0:
            return q <= 0 or p < q
        if q > 0:
            return False
        if p < 0 and q < 0:
            return p < q
        return q < 0
    if tree.edges[a].visits != tree.edges[b].visits:
        return tree.edges[a].visits > tree.edges[b].visits
    return tree.edges[a].prior > tree.edges[b].prior


@kernel()
def principal_variation(tree, place):
    """Places in their positions' move lists of the line of best play that begins with root move ``place``."""
    line = np.empty(MAX_DEPTH, np.int64)
    length = 0
    index = np.int64(0)
    e = np.int64(tree.nodes[0].first) + place
    while length < MAX_DEPTH:
        line[length] = e - tree.nodes[index].first
        length += 1
        index = np.int64(tree.edges[e].child)
        if index < 0 or tree.nodes[index].count == 0:
            break
        node = tree.nodes[index]
        e = np.int64(node.first)
        for other in range(node.first + 1, node.first + node.count):
            if better_move(tree, other, e):
                e = np.int64(other)
        if tree.edges[e].visits == 0 and tree.edges[e].proven == 0:
            break
    return line[:length].copy()
