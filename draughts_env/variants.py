"""The rules of each variant as data. The engine reads flags; no code asks for a variant's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from draughts_env.draws import (
    BRAZILIAN_DRAWS,
    ENGLISH_DRAWS,
    INTERNATIONAL_DRAWS,
    ITALIAN_DRAWS,
    POOL_DRAWS,
    RUSSIAN_DRAWS,
    DrawRules,
)
from draughts_env.errors import VariantError, quoted
from draughts_env.geometry import Geometry, geometry

Color = Literal["black", "white"]

_HUFFING = "-huffing"


@dataclass(frozen=True)
class Variant:
    """One kind of draughts.

    Attributes:
        name: canonical lower-case name.
        size: rows of the board, 8 or 10.
        rows_of_men: rows each side fills at the start.
        first: colour that moves first. Black's men stand on the low squares and move towards the high ones.
        men_capture_backwards: whether men capture in all four directions.
        flying_kings: whether kings move and capture over any distance.
        most: whether only captures of the greatest number of men are legal.
        crown_in_flight: whether a man that reaches the last row while capturing goes on as a king at once;
            otherwise it is crowned only where its move ends.
        draws: draw limits.
        gametype: type number of the PDN ``GameType`` tag.
        algebraic: whether squares are customarily written a1-h8 (numbers are always understood).
        aliases: further names :func:`variant` understands.
        ranked_captures: whether men do not take kings, and among captures of most men those come first that are made by
            a king, take most kings, and come to a king soonest (:mod:`draughts_env.ranked_kernels`).
        mirrored: whether the dark corner is on the right of each player.
        huffing: whether captures may be missed and the opponent may huff (:mod:`draughts_env.huffing`). Positions and
            strict games know nothing of it.
    """

    name: str
    size: int
    rows_of_men: int
    first: Color
    men_capture_backwards: bool
    flying_kings: bool
    most: bool
    crown_in_flight: bool
    draws: DrawRules
    gametype: int
    algebraic: bool = False
    aliases: tuple[str, ...] = ()
    ranked_captures: bool = False
    mirrored: bool = False
    huffing: bool = False

    def with_huffing(self) -> Variant:
        """The variant played with huffing, such as ``english-huffing``.

        Raises:
            VariantError: not a game of short kings and free choice of captures, which huffing is for.
        """
        if self.huffing:
            return self
        if self.flying_kings or self.most or self.draws.two_v_one_plies is not None:
            raise VariantError(f"{self} cannot be played with huffing")
        return replace(
            self,
            name=self.name + _HUFFING,
            aliases=tuple(alias + _HUFFING for alias in self.aliases),
            huffing=True,
        )

    def without_huffing(self) -> Variant:
        """The strict variant, where captures are compulsory."""
        if not self.huffing:
            return self
        return replace(
            self,
            name=self.name.removesuffix(_HUFFING),
            aliases=tuple(alias.removesuffix(_HUFFING) for alias in self.aliases),
            huffing=False,
        )

    @property
    def geometry(self) -> Geometry:
        """Tables of the variant's board."""
        return geometry(self.size, self.mirrored)

    @property
    def rules(self) -> int:
        """The rules packed into one integer for the kernels (layout: :mod:`draughts_env.kernels`)."""
        return (
            self.size // 2
            | self.men_capture_backwards << 4
            | self.flying_kings << 5
            | self.most << 6
            | self.crown_in_flight << 7
            | self.draws.three_kings_only << 8
            | self.draws.two_v_two << 9
            | self.mirrored << 10
            | self.ranked_captures << 11
            | self.draws.quiet_plies << 16
            | (self.draws.three_v_one_plies or 0) << 24
            | (self.draws.two_v_one_plies or 0) << 32
            | self.draws.repetitions << 40
        )

    @property
    def start(self) -> tuple[int, int]:
        """Bit sets of White's and Black's men in the starting position."""
        men = self.rows_of_men * self.size // 2
        board = self.geometry
        return board.mask(range(board.squares + 1 - men, board.squares + 1)), board.mask(range(1, men + 1))

    def __str__(self) -> str:
        return self.name


ENGLISH = Variant(
    name="english",
    size=8,
    rows_of_men=3,
    first="black",
    men_capture_backwards=False,
    flying_kings=False,
    most=False,
    crown_in_flight=False,
    draws=ENGLISH_DRAWS,
    gametype=21,
    aliases=("american", "checkers"),
)
INTERNATIONAL = Variant(
    name="international",
    size=10,
    rows_of_men=4,
    first="white",
    men_capture_backwards=True,
    flying_kings=True,
    most=True,
    crown_in_flight=False,
    draws=INTERNATIONAL_DRAWS,
    gametype=20,
    aliases=("polish",),
)
RUSSIAN = Variant(
    name="russian",
    size=8,
    rows_of_men=3,
    first="white",
    men_capture_backwards=True,
    flying_kings=True,
    most=False,
    crown_in_flight=True,
    draws=RUSSIAN_DRAWS,
    gametype=25,
    algebraic=True,
)
BRAZILIAN = Variant(
    name="brazilian",
    size=8,
    rows_of_men=3,
    first="white",
    men_capture_backwards=True,
    flying_kings=True,
    most=True,
    crown_in_flight=False,
    draws=BRAZILIAN_DRAWS,
    gametype=26,
    algebraic=True,
)

#: American pool checkers: Russian rules, but a man is crowned only where its capture ends, and Black moves first.
POOL = Variant(
    name="pool",
    size=8,
    rows_of_men=3,
    first="black",
    men_capture_backwards=True,
    flying_kings=True,
    most=False,
    crown_in_flight=False,
    draws=POOL_DRAWS,
    gametype=23,
    aliases=("pool-checkers",),
)

#: Italian draughts: short kings, ranked captures, the board the other way round.
ITALIAN = Variant(
    name="italian",
    size=8,
    rows_of_men=3,
    first="white",
    men_capture_backwards=False,
    flying_kings=False,
    most=True,
    crown_in_flight=False,
    draws=ITALIAN_DRAWS,
    gametype=22,
    ranked_captures=True,
    mirrored=True,
)

#: The variants that the project is about: each has an environment, its documentation, and configurations.
VARIANTS: tuple[Variant, ...] = (ENGLISH, INTERNATIONAL, RUSSIAN, BRAZILIAN)
#: Further variants that the same rules engine plays.
MORE_VARIANTS: tuple[Variant, ...] = (POOL, ITALIAN)
_BY_NAME = {name: v for v in (*VARIANTS, *MORE_VARIANTS, ENGLISH.with_huffing()) for name in (v.name, *v.aliases)}


def variant(name: str | Variant) -> Variant:
    """The variant of a name or alias, in any case; a Variant is returned as it is.

    Raises:
        VariantError: no such name.
    """
    if isinstance(name, Variant):
        return name
    try:
        return _BY_NAME[name.strip().lower()]
    except (KeyError, AttributeError):
        shown = quoted(name) if isinstance(name, str) else repr(name)
        raise VariantError(f"unknown variant {shown}; known are {', '.join(sorted(_BY_NAME))}") from None
