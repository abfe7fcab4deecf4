"""The in-kernel driver: a sparse network evaluated inside the search loop. No batch, no Python per simulation."""

from __future__ import annotations

from agents.jit import kernel
from agents.network.sparse import evaluate_hidden, policy_logit
from agents.search.search import resume_search, supply
from agents.search.tree import EVALUATIONS, LEAF, PENDING, shown_quiet
from draughts_env.intrinsics import borrowed


@kernel(forceinline=True)
def evaluate_leaf(search, rules, how, net, scratch):
    """Evaluate the pending leaf of a search and hand the evaluation in."""
    tree = search.tree
    node = tree.nodes[tree.counters[LEAF]]
    win, _, loss = evaluate_hidden(
        net,
        scratch,
        node.white,
        node.black,
        node.kings,
        node.up == 1,
        shown_quiet(node.quiet, rules),
        node.ending,
        node.repeats,
        rules.shown,
    )
    for e in range(node.first, node.first + node.count):
        edge = tree.edges[e]
        edge.prior = policy_logit(net, scratch, edge.action)
    tree.counters[EVALUATIONS] += 1
    supply(search, how, win - loss)


@kernel()
def run_search(search, rules, how, schedule, history, net, scratch):
    """Run a begun search to the end of its budget."""
    search, rules, net, scratch = borrowed(search), borrowed(rules), borrowed(net), borrowed(scratch)
    schedule, history = borrowed(schedule), borrowed(history)
    while resume_search(search, rules, how, schedule, history) == PENDING:
        evaluate_leaf(search, rules, how, net, scratch)
