"""Routes of captures: the landing squares between a move's origin and target.

The kernels know a move by origin, target and captured men only. The squares on which the piece lands in between
matter to people, so they are worked out here, slowly, when somebody asks. Everything is in PDN squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from draughts_env.geometry import geometry
from draughts_env.variants import Variant

Route = tuple[int, ...]

#: How many states a search for what a player may have meant visits before it gives up.
_EFFORT = 20_000


class Placement(NamedTuple):
    """A position as plain values: the bit sets of :mod:`draughts_env.geometry` and whether White is to move."""

    variant: Variant
    white: int
    black: int
    kings: int
    up: bool


@cache
def _rays(size: int, mirrored: bool) -> tuple[tuple[Route, ...], ...]:
    """For each PDN square the squares towards the edge, in the directions down left, down right, up left, up right."""
    board = geometry(size, mirrored)
    rays: list[tuple[Route, ...]] = [()]
    for square in range(1, board.squares + 1):
        row, column = board.row_column(square)
        found = []
        for down, right in ((1, -1), (1, 1), (-1, -1), (-1, 1)):
            steps = (board.square_at(row + down * n, column + right * n) for n in range(1, size))
            found.append(tuple(s for s in steps if s))
        rays.append(tuple(found))
    return tuple(rays)


class Jumper:
    """One piece of the side to move and the jumps it can make.

    Args:
        placement: the position.
        origin: PDN square of the piece.
    """

    def __init__(self, placement: Placement, origin: int) -> None:
        variant = placement.variant
        board = variant.geometry
        own, opp = (placement.white, placement.black) if placement.up else (placement.black, placement.white)
        self.origin = origin
        self.king = bool(placement.kings >> board.bit_of[origin] & 1)
        self._variant = variant
        self._up = placement.up
        self._rays = _rays(variant.size, variant.mirrored)
        everyone = frozenset(board.members(opp))
        spared = variant.ranked_captures and not self.king  # men do not take kings
        self._opponents = frozenset(board.members(opp & ~placement.kings)) if spared else everyone
        self._occupied = frozenset(board.members(own)) - {origin} | everyone
        self._crowning = frozenset(board.members(board.top if placement.up else board.bottom))

    def jumps(self, at: int, king: bool, taken: frozenset[int]) -> Iterator[tuple[int, list[int]]]:
        """Each man that can be jumped from ``at`` and the empty squares behind it."""
        flying = king and self._variant.flying_kings
        for direction, ray in enumerate(self._rays[at]):
            if not (king or self._variant.men_capture_backwards or (direction >= 2) == self._up):
                continue
            place = 0
            while flying and place < len(ray) and ray[place] not in self._occupied:
                place += 1
            if place >= len(ray) or ray[place] not in self._opponents or ray[place] in taken:
                continue
            landings: list[int] = []
            for square in ray[place + 1 :]:
                if square in self._occupied or (landings and not flying):
                    break
                landings.append(square)
            if landings:
                yield ray[place], landings

    def hops(self, at: int, king: bool, taken: frozenset[int]) -> list[tuple[int, bool, int]]:
        """The single jumps from ``at`` that can be part of a legal capture, by landing square.

        Each is the landing square, whether the piece is a king from there on, and the man taken.
        """
        found = []
        for victim, landings in self.jumps(at, king, taken):
            after = taken | {victim}
            options = [(s, king or (self._variant.crown_in_flight and s in self._crowning), victim) for s in landings]
            if not self._variant.most and len(options) > 1:
                # Only with the majority rule does the count decide; without it, a landing where the capture goes on
                # comes before one where it ends.
                options = [o for o in options if self.can_go_on(o[0], o[1], after)] or options
            found += options
        return sorted(found)

    def can_go_on(self, at: int, king: bool, taken: frozenset[int]) -> bool:
        """Whether any man can be jumped from ``at``."""
        return any(True for _ in self.jumps(at, king, taken))


def find_route(
    placement: Placement,
    origin: int,
    target: int,
    captured: frozenset[int],
    through: Route = (),
    exact: bool = False,
) -> Route | None:
    """The first route, in the order of its squares, of a legal capture.

    Args:
        placement: the position.
        origin, target, captured: the move; it must be legal.
        through: landing squares that the route must have between origin and target, in this order.
        exact: whether it may have no others.

    Returns:
        Origin, landing squares, target; ``None`` if no route of the move has these squares.
    """
    jumper = Jumper(placement, origin)
    dead: set[tuple[int, bool, frozenset[int], int]] = set()

    def follow(at: int, king: bool, taken: frozenset[int], matched: int) -> Route | None:
        if taken == captured:
            return (at,) if at == target and matched == len(through) else None
        state = (at, king, taken, matched)
        if state in dead:
            return None
        for landing, crowned, victim in jumper.hops(at, king, taken):
            if victim not in captured:
                continue
            after = taken | {victim}
            hit = after != captured and matched < len(through) and landing == through[matched]
            if exact and not hit and after != captured:
                continue
            rest = follow(landing, crowned, after, matched + hit)
            if rest is not None:
                return (at, *rest)
        dead.add(state)
        return None

    return follow(origin, jumper.king, frozenset(), 0)


def find_partial(placement: Placement, squares: Route) -> tuple[int, bool] | None:
    """Whether the squares describe jumps that the piece on the first of them can make, legal in full or not.

    Returns:
        The most men such jumps take and whether the piece could go on jumping afterwards; ``None`` if there are none.
    """
    jumper = Jumper(placement, squares[0])
    target, through = squares[-1], squares[1:-1]
    seen: set[tuple[int, bool, frozenset[int], int]] = set()
    found: tuple[int, bool] | None = None
    stack = [(squares[0], jumper.king, frozenset[int](), 0)]
    while stack and len(seen) < _EFFORT:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        at, king, taken, matched = state
        if taken and at == target and matched == len(through) and (found is None or len(taken) > found[0]):
            found = len(taken), jumper.can_go_on(at, king, taken)
        for landing, crowned, victim in jumper.hops(at, king, taken):
            hit = matched < len(through) and landing == through[matched]
            stack.append((landing, crowned, taken | {victim}, matched + hit))
    return found
