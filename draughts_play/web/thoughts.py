"""What an agent is asked by the server: a move, an opinion, an analysis that can be watched."""

from __future__ import annotations

import threading
import time
from typing import Any

from agents.agent import Decision, Limit, Line, Watch
from draughts_env.game import Game
from draughts_env.huffing import HuffingGame, Insist
from draughts_env.huffing_env import choose_action
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_play.web.legal import move_text
from draughts_play.web.levels import LevelPlayer

#: Moves shown of a line.
_PV = 12
#: Up to this value of its own an agent accepts a draw.
_CONTENT = 0.05
#: Plies before which an agent agrees to a draw only if it believes it is worse than this.
_EARLY = 30
_WORSE = -0.2


def strict_game(game: Any) -> Game:
    """The game as agents know it: without huffing."""
    if isinstance(game, HuffingGame):
        return Game.from_position(game.position, game.quiet)
    assert isinstance(game, Game)
    return game


def choose_event(
    player: LevelPlayer,
    game: Any,
    limit: Limit | None,
    watch: Watch | None = None,
    stop: threading.Event | None = None,
) -> tuple[list[Any], float | None]:
    """What a player does in a game, as an event of its table, and the value it gives the game for itself."""
    if not isinstance(game, HuffingGame):
        decision = player.choose(game, limit, watch, stop)
        return ["move", list(decision.move.path)], decision.value
    values: list[float | None] = []

    def choose(strict: Game) -> Decision:
        decision = player.choose(strict, limit, watch, stop)
        values.append(decision.value)
        return decision

    action = choose_action(game, choose)
    if isinstance(action, Move):
        return ["move", list(action.path)], values[-1] if values else None
    return (["insist"] if isinstance(action, Insist) else ["huff", action.square]), None


def accepts_draw(value: float | None, ply: int) -> bool:
    """Whether an agent agrees to a draw, given the value of the game for itself."""
    return value is not None and value <= (_CONTENT if ply >= _EARLY else _WORSE)


def line_text(position: Position, line: tuple[Move, ...]) -> list[str]:
    """A line of moves as text."""
    texts = []
    for move in line[:_PV]:
        texts.append(move_text(move, position))
        position = position.play(move)
    return texts


def thought(game: Game, decision: Decision, started: float) -> dict[str, Any]:
    """What an agent thinks, as the page shows it; values are White's."""
    sign = 1 if game.turn == "white" else -1
    position = game.position

    def shown(value: float | None) -> float | None:
        return None if value is None else round(sign * value, 4)

    known = decision.lines or (Line(decision.move, decision.nodes, 0.0, decision.pv or (decision.move,)),)
    lines = [
        {
            "move": move_text(line.move, position),
            "path": list(line.move.path),
            "visits": line.visits,
            "value": shown(line.value if decision.lines else decision.value),
            "pv": line_text(position, line.pv),
        }
        for line in known
    ]
    return {
        "ply": game.ply,
        "value": shown(decision.value),
        "exact": decision.exact,
        "depth": decision.depth,
        "simulations": decision.nodes,
        "seconds": round(time.perf_counter() - started, 2),
        "lines": lines,
    }
