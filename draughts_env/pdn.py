"""Games as PDN text (Portable Draughts Notation): reading real files, and writing what others can read.

>>> from draughts_env.pdn import read_games
>>> [game] = read_games('[GameType "21"] 1. 11-15 23-19 2. 8-11 0-1')
>>> [str(move) for move in game.moves], game.winner
(['11-15', '23-19', '8-11'], 'white')

What is understood, and what is made of it, is described in ``docs/pdn.md``.
"""

from draughts_env.errors import PdnError
from draughts_env.pdn_game import PdnGame, Problem, Variation
from draughts_env.pdn_reader import read_games
from draughts_env.pdn_writer import result_text, write_game

__all__ = ["PdnError", "PdnGame", "Problem", "Variation", "read_games", "result_text", "write_game"]
