"""Tables as the page sees them: the State of the web interface, and PDN."""

from __future__ import annotations

import datetime
from typing import Any

from draughts_env.huffing import Huff, HuffingGame, Insist
from draughts_env.huffing_text import write_huffing
from draughts_env.moves import Move
from draughts_env.outcome import Reason
from draughts_env.pdn import result_text, write_game
from draughts_env.variants import Color
from draughts_play.web.legal import board, legal_list, move_text, reasons
from draughts_play.web.table import HUMAN, OTHER, Table
from draughts_play.web.variants import colours, square_name

#: Ends of a game as the last words of a sentence; ``{loser}`` and ``{winner}`` are the sides' names.
_ENDS = {
    Reason.NO_PIECES: "{loser} has no pieces left",
    Reason.NO_MOVES: "{loser} has no move left",
    Reason.REPETITION: "the same position for the third time",
    Reason.QUIET_LIMIT: "too many moves without progress",
    Reason.ENDING_LIMIT: "the moves for this ending are used up",
    Reason.AGREEMENT: "agreed",
    Reason.RESIGNATION: "{loser} has resigned",
    Reason.REFUSAL: "the draw was declined, and no advantage shown in time",
    Reason.COUNT: "the pieces were counted",
}


class View:
    """What the page sees of one table; the dear parts are kept while the table does not change.

    Args:
        table: the table; its lock is held when a method is called.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._version = -1
        self._fixed: dict[str, Any] = {}
        self._moves: list[dict[str, Any]] = []  # of the first plies
        self._made: list[tuple[Any, Any]] = []  # actions and paths that they show

    def state(self, thinking: bool) -> dict[str, Any]:
        """The State."""
        table = self._table
        if self._version != table.version:
            self._fixed = self._build()
            self._version = table.version
        return {
            **self._fixed,
            "thinking": thinking,
            "paused": table.paused,
            "clock": table.clock.shown() if table.clock else None,
        }

    def _build(self) -> dict[str, Any]:
        table = self._table
        setup, position = table.setup, table.position
        human = not table.is_over and table.setup.seats[table.turn] == HUMAN
        moves = table.legal_moves() if human else []
        names = colours(setup.variant)
        return {
            "id": table.id,
            "variant": setup.variant.without_huffing().name,
            "huffing": setup.variant.huffing,
            "mode": setup.mode,
            "title": title(table),
            "ply": table.ply,
            "turn": table.turn,
            "fen": table.game.fen,
            "start_fen": table.start_fen,
            "start_board": board(table.game.start),
            "board": board(position),
            "legal": legal_list(position, moves),
            "movable": sorted({move.origin for move in moves}),
            "must_capture": bool(moves) and all(move.is_capture for move in moves),
            "reasons": reasons(position, moves) if moves else {},
            "moves": self._history(),
            "players": {color: player(table, color) for color in ("black", "white")},
            "colours": names,
            "view": setup.view,
            "outcome": outcome(table),
            "offer": offer(table),
            "draw_counts": draw_counts(table),
            "huff": huff(table),
        }

    def _history(self) -> list[dict[str, Any]]:
        """The actions so far, each with what stood on the board after it."""
        table = self._table
        made = list(zip(table.actions(), table.paths, strict=True))
        same = 0
        while same < min(len(made), len(self._made)) and made[same] == self._made[same]:
            same += 1
        self._made = made
        del self._moves[same:]
        positions = table.game.positions
        for place in range(same, len(made)):
            action, path = made[place]
            before, after = positions[place], positions[place + 1]
            entry: dict[str, Any] = {"turn": before.turn, "fen": after.fen, "board": board(after)}
            if isinstance(action, Move):
                entry |= {"text": move_text(action, before), "path": list(path), "captured": sorted(action.captured)}
            else:
                taken = [action.square] if isinstance(action, Huff) else []
                entry |= {"text": str(action), "path": [], "captured": taken}
            self._moves.append(entry)
        return list(self._moves)


def player(table: Table, color: Color) -> dict[str, Any]:
    """Who plays a side."""
    found = table.setup.level(color)
    if found is None:
        title = "You" if table.setup.mode == "play" else colours(table.setup.variant)[color]
        return {"kind": HUMAN, "level": None, "title": title, "rating": None}
    return {"kind": "agent", "level": found.id, "title": found.title, "rating": found.rating}


def title(table: Table) -> str:
    """A line for the list of games."""
    setup = table.setup
    names = colours(setup.variant)
    black, white = (f"{player(table, color)['title']} ({names[color]})" for color in ("black", "white"))
    if setup.mode == "analysis":
        return "Analysis"
    if setup.mode == "two":
        return "Two people"
    return f"{black} v {white}" if setup.variant.first == "black" else f"{white} v {black}"


def outcome(table: Table) -> dict[str, Any] | None:
    """How the game ended, for people."""
    names = colours(table.setup.variant)
    if table.flagged is not None:
        winner = OTHER[table.flagged]
        text = f"{names[winner]} wins: {names[table.flagged]}'s time is up."
        return {"winner": winner, "reason": "time", "text": text}
    found = table.game.outcome()
    if found is None:
        return None
    loser = names[OTHER[found.winner]] if found.winner else ""
    how = _ENDS[found.reason].format(loser=loser, winner=names.get(found.winner, ""))
    head = f"{names[found.winner]} wins" if found.winner else "Draw"
    return {"winner": found.winner, "reason": str(found.reason), "text": f"{head}: {how}."}


def offer(table: Table) -> dict[str, Any] | None:
    """The draw offer that stands or was refused, with what follows from refusing."""
    game, names = table.game, colours(table.setup.variant)
    limit = table.setup.variant.draws.refusal_moves
    if table.is_over:
        return None
    if game.draw_offer is not None:
        by: Color = game.draw_offer
        other = OTHER[by]
        text = f"{names[by]} offers a draw."
        if limit is not None and not any(count.color == other for count in game.refusals):
            text += (
                f" If {names[other]} declines, {names[other]} has {limit} moves of its own to win or to show an "
                "advantage; otherwise the game is drawn."
            )
        return {"by": by, "status": "open", "obliged": None, "moves_left": None, "text": text}
    for count in game.refusals:
        obliged: Color = count.color
        left = f"{count.moves_left} more move{'s' if count.moves_left != 1 else ''} of its own"
        text = (
            f"{names[obliged]} declined a draw: {names[obliged]} has {left} to win or to show an advantage; "
            "otherwise the game is drawn."
        )
        by = OTHER[obliged]
        return {"by": by, "status": "refused", "obliged": obliged, "moves_left": count.moves_left, "text": text}
    if table.refused is not None and table.ply - table.refused[1] <= 1:
        by = table.refused[0]
        text = f"{names[OTHER[by]]} declined the draw."
        return {"by": by, "status": "refused", "obliged": None, "moves_left": None, "text": text}
    return None


def draw_counts(table: Table) -> list[dict[str, Any]]:
    """The counts that run towards a draw."""
    game, draws, names = table.game, table.setup.variant.draws, colours(table.setup.variant)
    found = []
    if game.quiet:
        text = "Moves in a row by kings without a capture, both sides counted"
        found.append({"name": "quiet", "text": text, "count": game.quiet, "limit": draws.quiet_plies})
    if game.repeats:
        text = "Times this position has stood on the board"
        found.append({"name": "repetition", "text": text, "count": game.repeats + 1, "limit": draws.repetitions})
    left = getattr(game, "ending", -1)
    if left >= 0:
        text = f"Moves left for this ending, both sides counted: {left}"
        limits = [limit for limit in (draws.two_v_one_plies, draws.three_v_one_plies) if limit and limit >= left]
        limit = min(limits, default=left)
        found.append({"name": "ending", "text": text, "count": limit - left, "limit": limit})
    for count in game.refusals:
        text = f"Moves of {names[count.color]} since it declined a draw"
        limit = draws.refusal_moves or 0
        found.append({"name": "refusal", "text": text, "count": limit - count.moves_left, "limit": limit})
    return found


def huff(table: Table) -> dict[str, Any] | None:
    """What may be done about a capture that was missed; None in games without huffing."""
    game = table.game
    if not isinstance(game, HuffingGame):
        return None
    human = not table.is_over and table.setup.seats[table.turn] == HUMAN
    names, of = colours(table.setup.variant), table.setup.variant
    squares = list(game.huffable) if human else []
    text = ""
    if human and game.must_capture:
        text = f"{names[table.turn]} must capture: the opponent insists."
    elif squares:
        shown = ", ".join(square_name(of, square) for square in squares)
        text = f"{names[OTHER[table.turn]]} missed a capture: huff {shown}, insist on the capture, or play on."
    elif table.actions() and isinstance(table.actions()[-1], Huff | Insist):
        text = f"{table.actions()[-1]}".capitalize() + "."
    return {"squares": squares, "may_insist": bool(squares), "text": text}


def pdn(table: Table) -> str:
    """The game as PDN."""
    date = datetime.datetime.fromtimestamp(table.updated).strftime("%Y.%m.%d")
    tags = {"Event": title(table), "Date": date}
    tags |= {color.capitalize(): player(table, color)["title"] for color in ("black", "white")}
    if isinstance(table.game, HuffingGame):
        return write_huffing(table.game, tags)
    result = None
    if table.flagged is not None:
        result = result_text(OTHER[table.flagged], table.setup.variant)
        tags["Termination"] = "time forfeit"
    return write_game(table.game, tags, result)


def result(table: Table) -> str:
    """The result for the list of games: ``1-0`` and the like by who moves first, ``*`` while it goes on."""
    found = outcome(table)
    return "*" if found is None else result_text(found["winner"], table.setup.variant)
