"""What players say to each other: draw offers and their answers, resignation, counting.

A draw may be offered at any time by either side. The offer stands until it is answered: accepted, the game is drawn;
declined, whether in words or by playing on, it binds the one who declined where the variant's rules say so
(:attr:`DrawRules.refusal_moves`; English: 40). From then on that side has so many moves of its own to win or to show a
*decisive advantage*; when they are used up and neither has happened, the game is drawn. The move that follows the
refusal counts as the first. A count that runs is neither stopped nor started anew by further offers.

What a decisive advantage is, the rule books leave to a referee. Here a function decides, and :func:`decisive_advantage`
is only the default: it is asked after every move, by either side, while a count runs, and the first yes ends the count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from draughts_env.errors import GameOverError, OfferError
from draughts_env.outcome import Outcome, Reason
from draughts_env.variants import Color

if TYPE_CHECKING:
    from draughts_env.position import Position
    from draughts_env.variants import Variant

#: A king in men, short and flying.
KING_VALUES = (1.5, 3.0)
#: A lead of so many men is decisive, however large it was before.
CLEAR_LEAD = 2.0

_OTHER: dict[Color, Color] = {"black": "white", "white": "black"}

#: Test ``f(position, color, refused)``: whether ``color`` has a decisive advantage in ``position``, given the position
#: in which it declined a draw.
AdvantageTest = Callable[["Position", Color, "Position"], bool]


def lead(position: Position, color: Color) -> float:
    """By how many men a side is ahead; a king counts 1.5, a flying king 3."""
    king = KING_VALUES[position.variant.flying_kings]
    men, kings = position.men_and_kings(color)
    their_men, their_kings = position.men_and_kings(_OTHER[color])
    return men - their_men + king * (kings - their_kings)


def decisive_advantage(position: Position, color: Color, refused: Position) -> bool:
    """The default test: in a settled position, a lead greater than at the refusal, or of two men or more.

    A position is settled when the side to move has nothing to capture, so that a man lent for a moment does not count.
    The lead is that of :func:`lead`: crowning a man makes it greater, too.
    """
    moves = position.legal_moves()
    if moves and moves[0].is_capture:
        return False
    now = lead(position, color)
    return now > lead(refused, color) or now >= CLEAR_LEAD


@dataclass(frozen=True)
class Refusal:
    """A count that runs against a side that declined a draw.

    Attributes:
        color: the side that declined.
        position: where it did.
        moves_left: moves of its own that are left to it.
    """

    color: Color
    position: Position
    moves_left: int


@dataclass(frozen=True)
class Talk:
    """What has been said, as far as it matters.

    Attributes:
        offer: the side that offers a draw and waits for an answer.
        refusals: the counts that run, one a side at most.
    """

    offer: Color | None = None
    refusals: tuple[Refusal, ...] = ()

    def declined(self, position: Position, limit: int | None) -> Talk:
        """After the other side has declined the offer; ``limit`` is the variant's ``refusal_moves``."""
        assert self.offer is not None
        color = _OTHER[self.offer]
        if limit is None or any(r.color == color for r in self.refusals):
            return _said(None, self.refusals)
        return Talk(None, (*self.refusals, Refusal(color, position, limit)))

    def moved(self, before: Position, after: Position, limit: int | None, test: AdvantageTest) -> Talk:
        """After a move. Who plays on while the other side's offer stands, declines it."""
        talk = self.declined(before, limit) if self.offer == after.turn else self
        left = [replace(r, moves_left=r.moves_left - (r.color == before.turn)) for r in talk.refusals]
        return _said(talk.offer, tuple(r for r in left if not test(after, r.color, r.position)))

    @property
    def expired(self) -> bool:
        """Whether a count has come to its end."""
        return any(r.moves_left <= 0 for r in self.refusals)


#: Nothing has been said.
SILENCE = Talk()


def _said(offer: Color | None, refusals: tuple[Refusal, ...]) -> Talk:
    """What has been said; always the same object when it is nothing, which games notice quickly."""
    return Talk(offer, refusals) if offer or refusals else SILENCE


#: The draw of an expired count.
REFUSED = Outcome(None, Reason.REFUSAL)


class Agreements:
    """The part of a game that is about what players say. Games mix it in and give it the abstract members."""

    __slots__ = ()

    @property
    def variant(self) -> Variant:
        """The rules that are played."""
        raise NotImplementedError

    @property
    def position(self) -> Position:
        """The position on the board."""
        raise NotImplementedError

    @property
    def turn(self) -> Color:
        """The side to move."""
        raise NotImplementedError

    def outcome(self) -> Outcome | None:
        """How the game ended; ``None`` while it goes on."""
        raise NotImplementedError

    @property
    def _talk(self) -> Talk:
        raise NotImplementedError

    def _say(self, talk: Talk, outcome: Outcome | None) -> None:
        """Replace what was said and how the game stands; moves stay."""
        raise NotImplementedError

    # --- draws --------------------------------------------------------------------------------------

    @property
    def draw_offer(self) -> Color | None:
        """The side whose draw offer waits for an answer."""
        return self._talk.offer

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The counts that run against sides that declined a draw."""
        return self._talk.refusals

    def offer_draw(self, color: Color | None = None) -> None:
        """Offer a draw, by default for the side to move. Offering when the other side offers is accepting.

        Raises:
            OfferError: the offer stands already, or there is no such side.
            GameOverError: the game has ended.
        """
        side = self._side(color)
        offer = self._talk.offer
        if offer == side:
            raise OfferError(f"{side.capitalize()} has already offered a draw; it stands until it is answered")
        if offer is not None:
            self.accept_draw()
            return
        self._say(Talk(side, self._talk.refusals), None)

    def accept_draw(self) -> Outcome:
        """Accept the draw that is offered; returns the outcome.

        Raises:
            OfferError: no draw is offered.
            GameOverError: the game has ended.
        """
        self._offered()
        return self._end(Outcome(None, Reason.AGREEMENT))

    def decline_draw(self) -> None:
        """Decline the draw that is offered; the variant may bind the decliner (:mod:`draughts_env.offers`).

        Raises:
            OfferError: no draw is offered.
            GameOverError: the game has ended.
        """
        self._offered()
        self._say(self._talk.declined(self.position, self.variant.draws.refusal_moves), None)

    def _offered(self) -> None:
        self._ongoing()
        if self._talk.offer is None:
            raise OfferError("no draw is offered")

    # --- the other ends -----------------------------------------------------------------------------

    def resign(self, color: Color | None = None) -> Outcome:
        """Give the game up, by default for the side to move; returns the outcome.

        Raises:
            OfferError: there is no such side.
            GameOverError: the game has ended.
        """
        return self._end(Outcome(_OTHER[self._side(color)], Reason.RESIGNATION))

    def count(self) -> Color | None:
        """Who would win if the pieces were counted now: who has more, or else more kings; ``None`` for a draw."""
        white, black = (
            (men + kings, kings) for men, kings in (self.position.men_and_kings(c) for c in ("white", "black"))
        )
        return None if white == black else "white" if white > black else "black"

    def stop(self) -> Outcome:
        """Cut the game short and count the pieces (:meth:`count`); returns the outcome.

        Raises:
            GameOverError: the game has ended.
        """
        return self._end(Outcome(self.count(), Reason.COUNT))

    def reopen(self) -> None:
        """Take back an agreement, a resignation, or a stop; what was offered before is offered again.

        Raises:
            OfferError: the game has not ended in this way.
        """
        outcome = self.outcome()
        if outcome is None or outcome.reason not in (Reason.AGREEMENT, Reason.RESIGNATION, Reason.COUNT):
            raise OfferError("nobody has agreed to a draw, resigned, or stopped the game")
        self._say(self._talk, None)

    def _end(self, outcome: Outcome) -> Outcome:
        self._ongoing()
        self._say(self._talk, outcome)
        return outcome

    def _side(self, color: Color | None) -> Color:
        self._ongoing()
        if color is None:
            return self.turn
        if color not in ("white", "black"):
            raise OfferError(f"a side is 'white' or 'black', not {color!r}")
        return color

    def _ongoing(self) -> None:
        outcome = self.outcome()
        if outcome is not None:
            raise GameOverError(f"the game is over: {outcome}")
