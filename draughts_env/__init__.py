"""Draughts: exact rules, positions and games of several variants, and the environments built on them.

>>> from draughts_env import Game
>>> game = Game("english")
>>> game.push("11-15")
<Move 11-15>
>>> game.turn
'white'
"""

from draughts_env import registration as registration  # makes the ids known to Gymnasium
from draughts_env.actions import ActionSpace, action_space
from draughts_env.errors import (
    ActionError,
    DraughtsError,
    FenError,
    GameOverError,
    IllegalMoveError,
    OfferError,
    OpponentError,
    OptionError,
    PositionError,
    VariantError,
)
from draughts_env.game import Game, Outcome, Reason
from draughts_env.moves import Move
from draughts_env.observation import PLANES, observation_shape, observe
from draughts_env.position import Position
from draughts_env.variants import BRAZILIAN, ENGLISH, INTERNATIONAL, RUSSIAN, VARIANTS, Variant, variant

__all__ = [
    "BRAZILIAN",
    "ENGLISH",
    "INTERNATIONAL",
    "PLANES",
    "RUSSIAN",
    "VARIANTS",
    "ActionError",
    "ActionSpace",
    "DraughtsError",
    "FenError",
    "Game",
    "GameOverError",
    "IllegalMoveError",
    "Move",
    "OfferError",
    "OpponentError",
    "OptionError",
    "Outcome",
    "Position",
    "PositionError",
    "Reason",
    "Variant",
    "VariantError",
    "action_space",
    "observation_shape",
    "observe",
    "variant",
]
