"""Signatures: how many men and kings each side has; their sizes, names and the order in which they can be solved."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import NamedTuple

from draughts_env.variants import Variant


class Signature(NamedTuple):
    """Numbers of pieces, seen by the side to move.

    Attributes:
        own_men, own_kings: of the side to move.
        opp_men, opp_kings: of its opponent.
    """

    own_men: int
    own_kings: int
    opp_men: int
    opp_kings: int

    @property
    def pieces(self) -> int:
        """Pieces in all."""
        return sum(self)

    @property
    def swapped(self) -> Signature:
        """The same pieces with the other side to move."""
        return Signature(self.opp_men, self.opp_kings, self.own_men, self.own_kings)

    @property
    def code(self) -> int:
        """The signature as one number (:func:`agents.tablebase.indexing.signature_code`)."""
        return ((self.own_men * 8 + self.own_kings) * 8 + self.opp_men) * 8 + self.opp_kings

    @property
    def name(self) -> str:
        """Such as ``KKMvK``, the side to move first."""
        return f"{'K' * self.own_kings}{'M' * self.own_men}v{'K' * self.opp_kings}{'M' * self.opp_men}"

    def size(self, rules: Variant) -> int:
        """Number of positions."""
        half, squares = rules.size // 2, rules.geometry.squares
        men = sum(
            comb(half, low)
            * comb(squares - 2 * half, self.own_men - low)
            * comb(squares - half - self.own_men + low, self.opp_men)
            for low in range(self.own_men + 1)
        )
        free = squares - self.own_men - self.opp_men
        return men * comb(free, self.own_kings) * comb(free - self.own_kings, self.opp_kings)


@cache
def signatures(pieces: int) -> tuple[Signature, ...]:
    """All signatures of exactly so many pieces, both sides with one at least.

    In the order in which they can be solved: moves within this number of pieces never lead to more men. A signature and
    its :attr:`~Signature.swapped` depend on each other and are neighbours.
    """
    found = [
        Signature(own_men, own - own_men, opp_men, pieces - own - opp_men)
        for own in range(1, pieces)
        for own_men in range(own + 1)
        for opp_men in range(pieces - own + 1)
    ]
    return tuple(sorted(found, key=lambda s: (s.own_men + s.opp_men, max(s, s.swapped), s)))


def pairs(pieces: int) -> list[tuple[Signature, ...]]:
    """The signatures of so many pieces in the order of solving, those that depend on each other together."""
    return [(s,) if s == s.swapped else (s, s.swapped) for s in signatures(pieces) if s <= s.swapped]
