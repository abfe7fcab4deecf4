"""Writing games as PDN: tags, then the moves in the notation customary for the variant."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

from draughts_env import fen
from draughts_env.errors import FenError
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.outcome import Outcome
from draughts_env.pdn_game import PdnGame, Variation, normal_result
from draughts_env.pdn_rules import told_rules
from draughts_env.position import Position
from draughts_env.routes import Jumper, Route
from draughts_env.variants import Color, Variant

_WIDTH = 80
_GLUE = "\u00a0"  # a blank at which lines do not break
_RESULT = re.compile(r"[0-9]{1,3}-[0-9]{1,3}|1/2-1/2|\*")
_ROSTER = ("Event", "Site", "Date", "Round")


def result_text(winner: Color | None, variant: Variant) -> str:
    """The PDN result of a finished game.

    The first number is that of the side that moves first. In English draughts this is Black: ``1-0`` means that
    Black won. In the other variants it means that White won.
    """
    if winner is None:
        return "1/2-1/2"
    return "1-0" if winner == variant.first else "0-1"


def write_game(game: Game | PdnGame, tags: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """A game as PDN text, ending in a newline; no line of moves is longer than 80 columns.

    Of a recorded game everything is written: its tags, comments, variations and positions set up, but not the moves
    that could not be read.

    Args:
        game: the game, finished or not.
        tags: further tags or other values. For a :class:`Game` there are always Event, Site, Date, Round, Black, White,
            Result and GameType.
        result: the result, for games that ended off the board (resignation, ...); by default that of the game, ``*``
            while it goes on.
    """
    record = game if isinstance(game, PdnGame) else _record(game)
    if result is None:
        result = record.result or normal_result(record.tag_result or "")
        if not _RESULT.fullmatch(result):
            result = "*"
    lines = dict(record.tags)
    if record is not game or record.tag_result is None:
        lines["Result"] = result
    rules = record.variant
    if rules is not None and (record.tag("GameType") is None or told_rules(lines, None).variants != [rules]):
        lines = {name: value for name, value in lines.items() if name.lower() != "gametype"}
        lines["GameType"] = str(rules.gametype)
    start = record.start
    if start is not None and not _starts_at(record, start):
        lines = {name: value for name, value in lines.items() if name.lower() not in ("setup", "fen")}
        lines.update({"SetUp": "1", "FEN": fen.write(start, record.quiet)})
    lines.update(tags or {})
    head = "\n".join(f'[{name} "{_clean(value)}"]' for name, value in lines.items())
    words = [*_words(record, 0, record.setups.get(0, start), rules), result]
    body = textwrap.wrap(" ".join(words), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return head + "\n\n" + "\n".join(body).replace(_GLUE, " ") + "\n"


def _record(game: Game) -> PdnGame:
    """A game without anything but its moves and its result."""
    rules = game.variant
    outcome: Outcome | None = game.outcome()
    beginning = game.copy()
    while beginning.ply:
        beginning.pop()
    players = ("Black", "White") if rules.first == "black" else ("White", "Black")
    tags = dict.fromkeys(_ROSTER + players, "?") | {"Date": "????.??.??"}
    return PdnGame(
        tags=tags,
        variant=rules,
        start=game.start,
        quiet=beginning.quiet,
        moves=game.moves,
        result=result_text(outcome.winner, rules) if outcome else "*",
    )


def _starts_at(record: PdnGame, start: Position) -> bool:
    """Whether the tags say where the game starts."""
    text = record.tag("FEN")
    if text is None:
        return start == Position.start(start.variant) and record.quiet == 0
    try:
        read = fen.read(text, start.variant)
    except FenError:
        return False
    return read.position == start and read.quiet == record.quiet


def _words(record: PdnGame | Variation, offset: int, start: Position | None, rules: Variant | None) -> Iterator[str]:
    """The moves with all that is said about them, their numbers glued to them.

    ``offset`` is the number of plies of the game before the first move; ``start`` stands there.
    """
    setups = record.setups if isinstance(record, PdnGame) else {}
    behind = int(start is not None and rules is not None and start.turn != rules.first)
    yield from _notes(record, offset)
    for ply, move in enumerate(record.moves, start=offset):
        position = setups.get(ply)
        if position is not None:
            yield f'/FEN{_GLUE}"{position.fen}"/'
        text = _text(move, rules)
        count = ply + behind
        if count % 2 == 0:
            text = f"{count // 2 + 1}.{_GLUE}{text}"
        elif ply == offset:
            text = f"{count // 2 + 1}...{_GLUE}{text}"
        yield text
        yield from _notes(record, ply + 1)
        for variation in record.variations.get(ply + 1, ()):
            words = list(_words(variation, ply, start, rules))
            if words:
                yield f"({' '.join(words)})"
    last = setups.get(offset + len(record.moves))
    if last is not None:
        yield f'/FEN{_GLUE}"{last.fen}"/'


def _notes(record: PdnGame | Variation, ply: int) -> Iterator[str]:
    """Marks and comments after a ply."""
    yield from record.nags.get(ply, ())
    for comment in record.comments.get(ply, ()):
        text = " ".join(comment.replace("}", ")").split())
        if text:
            yield f"{{{text}}}"


def _text(move: Move, rules: Variant | None) -> str:
    squares = move.short_path
    if len(squares) > 2:
        squares = standard_path(move)
    if rules is None or not rules.algebraic:
        return ("x" if move.is_capture else "-").join(map(str, squares))
    return (":" if move.is_capture else "-").join(map(rules.geometry.name, squares))


def standard_path(move: Move) -> Route:
    """The squares of a capture as PDN 3.0 wants them: where the piece does not turn, it lands right behind a man.

    Of the routes of the move it is the first by the directions down left, down right, up right, up left, and then by
    distance. This is also the only one that py-draughts accepts.
    """
    placement = move._placement
    if placement is None:
        return move.path
    captured = move.captured
    jumper = Jumper(placement, move.origin)
    place = placement.variant.geometry.row_column
    dead: set[tuple[int, bool, frozenset[int]]] = set()

    def order(at: int, landing: int) -> tuple[int, int]:
        (row, column), (to_row, to_column) = place(at), place(landing)
        down, right = to_row > row, to_column > column
        return (int(right) if down else 3 - int(right)), abs(to_row - row)

    def follow(at: int, king: bool, taken: frozenset[int]) -> Route | None:
        if taken == captured:
            return (at,) if at == move.target else None
        state = (at, king, taken)
        if state in dead:
            return None
        hops = [hop for hop in jumper.hops(at, king, taken) if hop[2] in captured]
        for landing, crowned, victim in sorted(hops, key=lambda hop: order(at, hop[0])):
            rest = follow(landing, crowned, taken | {victim})
            if rest is not None:
                return (at, *rest)
        dead.add(state)
        return None

    return follow(move.origin, jumper.king, frozenset()) or move.path


def _clean(value: str) -> str:
    """A tag's value without what would end it: PDN has no generally understood escapes."""
    return "".join(c if c.isprintable() else " " for c in value).replace('"', "'").replace("\\", "/").strip()
