"""The bodies of requests: what may stand in them, and nothing else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from draughts_play.web.table import MOST_PLIES

_Ply = Annotated[int, Field(ge=0, le=MOST_PLIES)]
_Square = Annotated[int, Field(ge=1, le=50)]
_Name = Annotated[str, Field(max_length=40)]
_Fen = Annotated[str, Field(max_length=1_000)]
_Pdn = Annotated[str, Field(max_length=200_000)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class ClockBody(_Body):
    """Time for each side."""

    minutes: Annotated[float, Field(ge=0.05, le=600)]
    increment: Annotated[float, Field(ge=0, le=600)] = 0.0


class NewGame(_Body):
    """A game to set up. ``colour`` and ``opponent`` are another way to give the seats of a game against an agent."""

    variant: _Name
    huffing: bool = False
    fen: _Fen | None = None
    pdn: _Pdn | None = None
    black: _Name | None = None
    white: _Name | None = None
    colour: Literal["black", "white", "lot"] | None = None
    opponent: _Name | None = None
    clock: ClockBody | None = None
    mode: Literal["play", "two", "watch", "analysis"] = "play"


class PlyBody(_Body):
    """Anything that is about the position on the board."""

    ply: _Ply


class MoveBody(PlyBody):
    """A move: all squares on which the piece stands."""

    path: Annotated[list[_Square], Field(min_length=2, max_length=50)]


class HuffBody(PlyBody):
    """A huff; insisting when no square is given."""

    square: _Square | None = None


class AnswerBody(PlyBody):
    """The answer to a draw offer."""

    accept: bool


class PauseBody(_Body):
    """Whether agents wait."""

    paused: bool


class AnalyseBody(PlyBody):
    """For how long to think about which ply."""

    seconds: Annotated[float, Field(ge=0.05, le=60)] = 10.0


class ParseBody(_Body):
    """A FEN or a PDN to look at."""

    variant: _Name
    text: _Pdn
