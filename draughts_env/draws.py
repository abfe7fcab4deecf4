"""Draws by rule, as numbers per variant.

All limits are in plies (half-moves); ``None`` means that the variant has no such rule. The kernels
(:mod:`draughts_env.kernels`) count; this file says how far.

A position carries two clocks:

* ``quiet``: plies in a row by kings without a capture. At ``quiet_plies`` the game is drawn.
* ``ending``: plies left in a small ending, ``-1`` while none has begun. It starts at ``three_v_one_plies``
  when three pieces, a king among them, stand against a single king, at ``two_v_one_plies`` when two or
  one do, and never grows again: a piece taken on the way shortens the rest to the smaller limit.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DrawRules:
    """Limits of one variant, in plies.

    Attributes:
        quiet_plies: plies in a row without a capture and without a move of a man.
        three_v_one_plies: length of the ending of three pieces (one or more kings) against one king.
        three_kings_only: whether all three of them must be kings.
        two_v_one_plies: length of the ending of two pieces (one or more kings), or one king, against one king.
        two_v_two: whether that holds for two kings against two kings or a king and a man, too.
        repetitions: occurrences of a position, same side to move, that draw the game.
        refusal_moves: moves of its own within which a side that declined a draw has to win or show a decisive advantage
            (:mod:`draughts_env.offers`); the only limit that is not in plies.
    """

    quiet_plies: int
    three_v_one_plies: int | None = None
    two_v_one_plies: int | None = None
    repetitions: int = 3
    refusal_moves: int | None = None
    three_kings_only: bool = False
    two_v_two: bool = False


#: English (WCDF rules 1.32): 40 moves by each side without progress. The claim is applied automatically.
#: Who declines a draw has 40 moves of its own to show an increased advantage (the old "count on moves", 1.32 too).
ENGLISH_DRAWS = DrawRules(quiet_plies=80, refusal_moves=40)

#: International (FMJD annex 1, article 6): 25 moves by each side with kings only, 16 for 3 v 1, 5 for 2 v 1 and 1 v 1.
#: The text keeps the maximum of 16 when a piece is taken on the way; the 5 moves then count inside it.
INTERNATIONAL_DRAWS = DrawRules(quiet_plies=50, three_v_one_plies=32, two_v_one_plies=10)

#: Russian (IDF): 15 moves by each side with kings only, 15 for three kings against one; 5 for 2 v 1 and 1 v 1.
#: Not applied: the 5 moves against a king on the main road, and the longer limits of endings with four to seven pieces.
RUSSIAN_DRAWS = DrawRules(quiet_plies=30, three_v_one_plies=30, two_v_one_plies=10, three_kings_only=True)

#: Brazilian (CBD): 20 moves by each side with kings only; 5 for 1 v 1, 2 v 1 and 2 v 2 with one man at most among them.
BRAZILIAN_DRAWS = DrawRules(quiet_plies=40, three_v_one_plies=None, two_v_one_plies=10, two_v_two=True)

#: Pool (APCA): 13 moves for three kings against one. The other limit is the English one, as the rules name none.
POOL_DRAWS = DrawRules(quiet_plies=80, three_v_one_plies=26, three_kings_only=True)

#: Italian: 40 moves by each side without progress, as in English; nothing follows from declining a draw.
ITALIAN_DRAWS = DrawRules(quiet_plies=80)
