"""What the commands print and write about matches and positions."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from agents.agent import Decision
from agents.arena import GameRecord, MatchResult
from agents.files import replace_file
from draughts_env.errors import DraughtsError
from draughts_env.game import Game
from draughts_env.pdn import result_text, write_game
from draughts_env.variants import variant
from draughts_play.board_picture import board_picture, move_text

_POLICY_SHOWN = 5


class OutputError(DraughtsError, OSError):
    """A file that cannot be written."""


def check_writable(path: Path | None) -> None:
    """Find out before a long match, not after it, that its result cannot be written.

    Raises:
        OutputError: the folder does not exist or takes no file, or the path is a folder.
    """
    if path is None:
        return
    if path.is_dir():
        raise OutputError(f"{path} cannot be written: it is a folder")
    if path.exists() and not path.is_file():
        return  # a pipe or a device
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {folder}")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def write_output(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


# --- matches ----------------------------------------------------------------------------------------


def match_json(result: MatchResult) -> str:
    """A match as JSON text: the result, and every game with its moves."""
    return json.dumps({"version": metadata.version("draughts-zero"), **result.as_dict()}, indent=1) + "\n"


def match_pdn(result: MatchResult) -> str:
    """The games of a match as PDN text."""
    rules = variant(result.variant)
    date = time.strftime("%Y.%m.%d")
    texts = []
    for record in result.games:
        game = Game(rules)
        for move in record.moves:
            game.push(move)
        black, white = (result.a, result.b) if record.a_color == "black" else (result.b, result.a)
        tags = {
            "Event": f"{result.a} v {result.b}",
            "Date": date,
            "Round": str(record.number + 1),
            "Black": black,
            "White": white,
            "Termination": record.reason,
        }
        texts.append(write_game(game, tags, result_text(record.winner, rules)))
    return "\n".join(texts)


def match_summary(result: MatchResult) -> str:
    """A match in a few lines for people."""
    score, elo = result.score, result.elo
    lines = [
        f"{result.a} v {result.b}, {result.variant}, {len(result.games)} games in pairs from "
        f"{len({game.opening for game in result.games})} openings, seed {result.seed}"
        + (f", {result.limit} unless the agent says otherwise" if result.limit else ""),
        f"won {result.wins}, drawn {result.draws}, lost {result.losses}: "
        f"{score.value:.1%} of the points (95%: {score.low:.1%} to {score.high:.1%})",
        f"Elo difference {_elo(elo.value)} (95%: {_elo(elo.low)} to {_elo(elo.high)})",
        "cards (two games each, better total wins): won {}, tied {}, lost {}".format(*result.cards),
        "points of the pairs: "
        + ", ".join(f"{points} {count} times" for points, count in zip(("0", "½", "1", "1½", "2"), result.pairs)),
    ]
    for player, name in enumerate((result.a, result.b)):
        seconds, nodes = result.per_move(player)
        lines.append(f"{name}: {1000 * seconds:.1f} ms and {nodes:,.0f} nodes a move")
    if result.truncated:
        lines.append(f"{result.truncated} games were cut at {result.max_plies} plies and counted as draws")
    if result.failures:
        first = next(game.failure for game in result.games if game.failure)
        lines.append(f"{result.failures} games were lost by a failure of the agent, first: {first}")
    return "\n".join(lines)


def _elo(value: float) -> str:
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:+.0f}"


def game_line(record: GameRecord) -> str:
    """One game of a match in a line."""
    result = "draw" if record.winner is None else f"{record.winner} wins"
    return f"game {record.number + 1}: A is {record.a_color}, {result} ({record.reason}), {len(record.moves)} plies"


# --- positions --------------------------------------------------------------------------------------


def print_analysis(console: Console, game: Game, name: str, decision: Decision, seconds: float) -> None:
    """The board and what an agent thinks of it."""
    position = game.position
    print_position(console, game)
    console.print(f"agent   {escape(name)}")
    console.print(f"best    [bold]{move_text(decision.move, position)}[/bold]")
    if decision.value is not None:
        proven = ", proven" if decision.exact else ""
        console.print(f"value   {decision.value:+.3f} for {position.turn.capitalize()} (-1 lost, 1 won{proven})")
    if decision.policy:
        best = sorted(decision.policy.items(), key=lambda entry: -entry[1])[:_POLICY_SHOWN]
        console.print("policy  " + ", ".join(f"{move_text(move, position)} {weight:.1%}" for move, weight in best))
    if decision.pv:
        line, at = [], position
        for move in decision.pv:
            line.append(move_text(move, at))
            at = at.play(move)
        console.print("line    " + " ".join(line))
    if decision.depth is not None:
        console.print(f"depth   {decision.depth}")
    console.print(f"nodes   {decision.nodes:,}")
    console.print(f"seconds {seconds:.3f}")


def print_position(console: Console, game: Game) -> None:
    """The board, its FEN, and who is to move or how the game ended."""
    console.print(board_picture(game.position, console), end="")
    console.print(f"\nfen     {game.fen}", soft_wrap=True)
    outcome = game.outcome()
    if outcome is None:
        console.print(f"turn    {game.turn.capitalize()}, {len(game.legal_moves())} moves")
    else:
        console.print(f"over    {outcome}")
