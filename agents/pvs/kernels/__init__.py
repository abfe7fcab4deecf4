"""The compiled parts of the agent: evaluation, transposition table and move ordering, search."""
