"""The batched driver: many searches in lockstep, one network batch per tick, for any network and for GPUs."""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from agents.network.features import mover_boards
from agents.search.search import Search, supply
from agents.search.tree import EVALUATIONS, LEAF, shown_quiet


@kernel()
def write_leaf(search: Search, rules, boards, clocks, row):  # type: ignore[no-untyped-def]
    """Write the pending leaf of a search into row ``row`` of an evaluator's input arrays."""
    node = search.tree.nodes[search.tree.counters[LEAF]]
    boards[row, 0], boards[row, 1], boards[row, 2], boards[row, 3] = mover_boards(
        node.white, node.black, node.kings, node.up == 1, rules.word
    )
    clocks[row, 0] = shown_quiet(node.quiet, rules)
    clocks[row, 1] = node.ending
    clocks[row, 2] = node.repeats


@kernel()
def supply_row(search: Search, how, wdl, logits, row):  # type: ignore[no-untyped-def]
    """Hand row ``row`` of an evaluator's answer to the search whose leaf it was."""
    tree = search.tree
    node = tree.nodes[tree.counters[LEAF]]
    for e in range(node.first, node.first + node.count):
        edge = tree.edges[e]
        edge.prior = np.float32(logits[row, edge.action])
    tree.counters[EVALUATIONS] += 1
    supply(search, how, wdl[row, 0] - wdl[row, 2])
