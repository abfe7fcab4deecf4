"""What the page may do with a position: every route of every move, and why a piece cannot move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from draughts_env.errors import IllegalMoveError
from draughts_env.moves import Move
from draughts_env.notation import why_illegal
from draughts_env.position import Position
from draughts_env.routes import Jumper, Route, find_route
from draughts_play.web.variants import square_name

#: Routes listed of one move; flying kings can have very many.
_MOST_ROUTES = 50
#: States visited to find how many pieces a piece could take.
_EFFORT = 5_000


def routes(position: Position, move: Move) -> list[Route]:
    """The routes of a legal move in the order of their squares, the first few of very many."""
    if len(move.captured) < 2:
        return [move.path]
    jumper = Jumper(position.placement, move.origin)

    def follow(at: int, king: bool, taken: frozenset[int]) -> Iterator[Route]:
        if taken == move.captured:
            if at == move.target:
                yield (at,)
            return
        for landing, crowned, victim in jumper.hops(at, king, taken):
            if victim in move.captured:
                for rest in follow(landing, crowned, taken | {victim}):
                    yield (at, *rest)

    found = []
    for route in follow(move.origin, jumper.king, frozenset()):
        found.append(route)
        if len(found) == _MOST_ROUTES:
            break
    return found or [move.path]


def move_text(move: Move, position: Position) -> str:
    """A move in the notation customary for the variant."""
    return move.named(position.variant.size) if position.variant.algebraic else str(move)


def legal_list(position: Position, moves: Sequence[Move]) -> list[dict[str, Any]]:
    """The moves for the page, one entry a route."""
    return [
        {"text": move_text(move, position), "path": list(route), "captured": sorted(move.captured)}
        for move in moves
        for route in routes(position, move)
    ]


def find_move(position: Position, moves: Sequence[Move], path: Route) -> Move:
    """The move of a path, all squares on which the piece stands.

    Raises:
        IllegalMoveError: none of the moves has this path.
    """
    for move in moves:
        if (move.origin, move.target) != (path[0], path[-1]):
            continue
        if move.path == path:
            return move
        if move.is_capture and find_route(position.placement, path[0], path[-1], move.captured, path[1:-1], exact=True):
            return move
    raise IllegalMoveError(why_illegal(position, path))


def board(position: Position) -> dict[str, str]:
    """The pieces by square: ``bm``, ``bk``, ``wm``, ``wk``."""
    squares = position.geometry.members(position.white | position.black)
    pieces = {}
    for square in squares:
        piece = position.piece_at(square)
        assert piece is not None
        pieces[str(square)] = piece[0][0] + ("k" if piece[1] else "m")
    return pieces


def reasons(position: Position, moves: Sequence[Move]) -> dict[str, str]:
    """For each piece of the side to move that cannot move, why.

    Args:
        position: the position.
        moves: the moves that may be made, which with huffing are more than the position's own.
    """
    able = sorted({move.origin for move in moves})
    own = position.geometry.members(position.white if position.turn == "white" else position.black)
    must = bool(moves) and all(move.is_capture for move in moves)
    most = max((len(move.captured) for move in moves), default=0)
    found = {}
    for square in own:
        if square in able:
            continue
        if not must:
            found[str(square)] = f"the {_piece(position, square)} is blocked: no square to go to is free"
            continue
        takers = _listed([f"the {_piece(position, other)}" for other in able])
        could = _most_taken(position, square)
        if not could:
            found[str(square)] = f"capturing is compulsory: {takers} must take"
        elif could < most:
            found[str(square)] = (
                f"the most pieces ({most}) must be taken: {takers} takes {most}, the {_piece(position, square)} "
                f"only {could}"
            )
        else:
            found[str(square)] = f"other captures come first: {takers} must take"
    return found


def _piece(position: Position, square: int) -> str:
    piece = position.piece_at(square)
    kind = "king" if piece is not None and piece[1] else "man"
    return f"{kind} on {square_name(position.variant, square)}"


def _most_taken(position: Position, square: int) -> int:
    """How many pieces a piece could take if no other rule forbade it."""
    jumper = Jumper(position.placement, square)
    best = 0
    seen: set[tuple[int, bool, frozenset[int]]] = set()
    stack = [(square, jumper.king, frozenset[int]())]
    while stack and len(seen) < _EFFORT:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        at, king, taken = state
        best = max(best, len(taken))
        stack += [(landing, crowned, taken | {victim}) for landing, crowned, victim in jumper.hops(at, king, taken)]
    return best


def _listed(parts: list[str]) -> str:
    *some, last = parts
    return f"{', '.join(some)} or {last}" if some else last
