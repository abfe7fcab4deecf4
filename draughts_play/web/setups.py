"""New games: what a request asks for, as a setup and the events that come with it."""

from __future__ import annotations

import random
from typing import Any

from draughts_env.fen import read
from draughts_env.variants import Color, Variant
from draughts_play.web.bodies import NewGame
from draughts_play.web.levels import level
from draughts_play.web.table import HUMAN, OTHER, Setup, TurnError
from draughts_play.web.texts import recorded
from draughts_play.web.variants import offered_variant


def new_game(body: NewGame) -> tuple[Setup, list[list[Any]]]:
    """The setup of a request, and the moves that have been played already.

    Raises:
        DraughtsError: something in it does not exist or cannot be read.
    """
    rules = offered_variant(body.variant)
    of = rules.with_huffing() if body.huffing else rules
    if body.fen is not None and body.pdn is not None:
        raise TurnError("a game starts from a FEN or a PDN, not from both")
    seats = _seats(body, of)
    fen, events = body.fen, list[list[Any]]()
    if body.fen is not None:
        read(body.fen, rules)
    if body.pdn is not None:
        if of.huffing:
            raise TurnError("a PDN cannot be gone on with under the rules of huffing")
        fen, events = recorded(body.pdn, rules)
    people = [color for color, seat in seats.items() if seat == HUMAN]
    view: Color = people[0] if body.mode == "play" and len(people) == 1 else of.first
    if body.mode == "analysis":
        view = "white"
    clock = (body.clock.minutes, body.clock.increment) if body.clock is not None else None
    return Setup(of, fen, seats, body.mode, clock, view), events


def _seats(body: NewGame, of: Variant) -> dict[Color, str]:
    seats: dict[Color, str] = {"black": body.black or HUMAN, "white": body.white or HUMAN}
    if body.colour is not None or body.opponent is not None:
        if body.black is not None or body.white is not None:
            raise TurnError("give black and white, or colour and opponent")
        lots: tuple[Color, Color] = ("black", "white")
        person = random.choice(lots) if body.colour is None or body.colour == "lot" else body.colour
        seats = {person: HUMAN, OTHER[person]: body.opponent or HUMAN}
    for seat in seats.values():
        if seat != HUMAN:
            level(of, seat)
    agents = sum(seat != HUMAN for seat in seats.values())
    wanted = {"play": (1,), "two": (0,), "watch": (2,), "analysis": (0,)}[body.mode]
    if agents not in wanted:
        needs = {"play": "one person and one level", "watch": "a level on either side"}
        raise TurnError(f"the mode {body.mode} needs {needs.get(body.mode, 'a human on either side')}")
    return seats
