"""Endgame accuracy: an agent's moves held against the tablebase, the one judge that nobody can argue with."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from agents.agent import Agent, Limit
from agents.tablebase import Tablebase
from draughts_env.game import Game


@dataclass(frozen=True)
class Accuracy:
    """What was found.

    Attributes:
        positions: positions in which the choice mattered: not every move keeps the theoretical result.
        kept: of these, how often the agent's move kept it.
        won_positions: won positions played out against perfect defence.
        won: of these, how many the agent won before a draw rule or the ply limit.
    """

    positions: int
    kept: int
    won_positions: int
    won: int


def measure_accuracy(
    agent: Agent,
    tables: Tablebase,
    pieces: int,
    positions: int,
    games: int,
    seed: int = 0,
    limit: Limit | None = None,
    max_plies: int = 200,
    on_progress: Callable[[int], None] | None = None,
) -> Accuracy:
    """Measure an agent on random positions of so many pieces.

    Args:
        tables: the judge, and the perfect defender; must hold ``pieces``.
        positions: positions to ask the agent for a move in; those in which every move keeps the result do not count.
        games: won positions to play out.
        limit: how long the agent may think about a move; its own by default.
        max_plies: length at which a game counts as not won.
        on_progress: called with the number of positions and games done.

    Raises:
        TablebaseError: the tables do not hold so many pieces.
    """
    rng = random.Random(seed)
    asked = kept = done = 0
    while asked < positions:
        game = Game.from_position(tables.sample(rng, pieces))
        if game.is_over:
            continue
        value = tables.wdl(game.position)
        after = tables.moves(game.position)
        if all(score == value for score, _ in after.values()):
            continue
        agent.new_game()
        kept += after[agent.choose(game, limit).move][0] == value
        asked += 1
        done += 1
        if on_progress is not None:
            on_progress(done)
    played = won = 0
    while played < games:
        game = Game.from_position(tables.sample(rng, pieces))
        if game.is_over or tables.wdl(game.position) != 1:
            continue
        winner = game.turn
        agent.new_game()
        while not game.is_over and game.ply < max_plies:
            if game.turn == winner:
                game.push(agent.choose(game, limit).move)
            else:
                game.push(tables.probe(game.position).best_moves[0])
        outcome = game.outcome()
        won += outcome is not None and outcome.winner == winner
        played += 1
        done += 1
        if on_progress is not None:
            on_progress(done)
    return Accuracy(asked, kept, played, won)
