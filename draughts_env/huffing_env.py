"""English draughts with huffing as a Gymnasium environment, and how an agent of the strict game plays it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt

from draughts_env import render
from draughts_env.env_arguments import ILLEGAL_ACTION, known_options, one_of, positive, to_variant
from draughts_env.errors import ActionError, GameOverError, IllegalMoveError, OpponentError, OptionError
from draughts_env.game import Game
from draughts_env.huffing import Action, HuffingGame
from draughts_env.huffing_actions import HUFFING_PLANES, HuffingActions, observe_huffing
from draughts_env.huffing_text import rights
from draughts_env.moves import Move
from draughts_env.opponents import RANDOM, Opponent
from draughts_env.variants import Color, Variant

_OTHER: dict[Color, Color] = {"black": "white", "white": "black"}


class HuffingEnv(gymnasium.Env[npt.NDArray[np.float32], SupportsIndex]):
    """One game of draughts with huffing; one step is one move, one huff, or insisting.

    Sides alternate, except that who huffs acts again: the huff is no move. ``info["turn"]`` says whose turn it is.
    Everything else is as in :class:`draughts_env.env.DraughtsEnv`: rewards are those of the side that just acted, or
    the caller's when there is an opponent.

    Actions and observations: :mod:`draughts_env.huffing_actions`.

    Args:
        variant: a variant with huffing or its name.
        fen: where games start, if not from the starting position.
        opponent: ``None``: the caller plays both sides; ``"random"``; a function of a :class:`HuffingGame` that returns
            an action or its text; or an agent of the strict game or its text, which never misses a capture and
            otherwise plays by :func:`choose_action`.
        color: the caller's side when there is an opponent: ``"black"``, ``"white"``, or ``"random"``.
        illegal_action: ``"lose"`` or ``"raise"``.
        max_plies: number of actions after which a game is cut short.
        render_mode: ``"human"``, ``"ansi"``, ``"rgb_array"`` or ``"svg"``.

    Raises:
        OptionError: an argument has no such value.
        OpponentError: no such opponent.
        FenError, VariantError: no such start.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array", "svg"], "render_fps": 2}

    def __init__(
        self,
        variant: Variant | str = "english-huffing",
        *,
        fen: str | None = None,
        opponent: Any = None,
        color: str = "random",
        illegal_action: str = "lose",
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.variant = to_variant(variant)
        self.render_mode = one_of("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self._raises = one_of("illegal_action", illegal_action, ("lose", "raise")) == "raise"
        self._max_plies = None if max_plies is None else positive("max_plies", max_plies)
        self._wish = one_of("color", color, ("black", "white", "random"))
        if opponent is None and color != "random":
            raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
        self._face: Opponent | None = None  # of an opponent that is neither None nor random
        if opponent is not None and not (isinstance(opponent, str) and opponent == RANDOM):
            self._face = Opponent(opponent, self.variant.without_huffing())
        self._alone = opponent is None
        self._actions = HuffingActions(self.variant)
        self._fen = fen
        self._start = HuffingGame(self.variant, fen)
        if self._start.is_over:
            raise GameOverError(f"no episode can start where the game is over: {self._start.fen}")
        self._game: HuffingGame | None = None
        self._ended: tuple[str | None, Color | None] | None = None  # outcome and winner, once the episode is over
        self.color: Color | None = None
        shape = (len(HUFFING_PLANES), self.variant.size, self.variant.size // 2)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(self._actions.n)

    @property
    def game(self) -> HuffingGame:
        """The game so far, a copy for the caller to keep.

        Raises:
            GameOverError: no game was started.
        """
        if self._game is None:
            raise GameOverError("no game: call reset() first")
        return self._game.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a game. ``options``: ``fen`` and ``color``, for this game only.

        Raises:
            OptionError: an unknown option or value.
            FenError: a start that cannot be.
            GameOverError: the game is over where it would start.
        """
        super().reset(seed=seed)
        options = dict(known_options(options, ("fen", "color")))
        game = self._start.copy() if options.get("fen") is None else HuffingGame(self.variant, options["fen"])
        if game.is_over:
            raise GameOverError(f"no episode can start where the game is over: {game.fen}")
        color = one_of("color", options.get("color") or self._wish, ("black", "white", "random"))
        if self._alone and color != "random":
            raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
        if not self._alone:
            self.color = ("black", "white")[self.np_random.integers(2)] if color == "random" else color
        if self._face is not None:
            self._face.begin(int(self.np_random.integers(2**31)) if seed is not None else None)
        self._game, self._ended = game, None
        self._answer()
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(self, action: SupportsIndex) -> tuple[npt.NDArray[np.float32], SupportsFloat, bool, bool, dict[str, Any]]:
        """Act; an opponent answers as long as it is its turn.

        Raises:
            ActionError: a number that is no action at all, or with ``illegal_action="raise"``, no legal one.
            GameOverError: the game has ended or was never started.
            OpponentError: the opponent did not answer with a legal action. Then the game is as it was before the step.
        """
        if self._game is None or self._ended is not None:
            raise GameOverError("the game has ended: call reset()" if self._game else "no game: call reset() first")
        try:
            number = operator.index(action)
        except TypeError:
            raise ActionError(f"an action is a whole number, not {action!r}") from None
        if not 0 <= number < self._actions.n:
            raise ActionError(f"action {number} is out of range: there are actions 0 to {self._actions.n - 1}")
        game, acted = self._game, self._game.turn
        before = game.ply
        try:
            game.push(self._actions.decode(game, number))
        except ActionError:
            if self._raises:
                raise
            self._ended = ILLEGAL_ACTION, _OTHER[acted]
        else:
            try:
                self._answer()
            except BaseException:
                while game.ply > before:
                    game.pop()
                raise
        outcome = game.outcome()
        if self._ended is None and outcome is not None:
            self._ended = outcome.reason.value, outcome.winner
        terminated = self._ended is not None
        truncated = not terminated and self._max_plies is not None and game.ply >= self._max_plies
        if truncated:
            self._ended = None, None
        winner = self._ended[1] if self._ended else None
        reward = 0.0 if winner is None else 1.0 if winner == (self.color or acted) else -1.0
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, terminated, truncated, self._info()

    def _answer(self) -> None:
        """Let the opponent act while it is on turn."""
        game = self._game
        assert game is not None
        while not self._alone and not game.is_over and game.turn != self.color:
            action = self._opponents_action(game.copy())
            try:
                game.push(action)
            except (IllegalMoveError, AttributeError, TypeError) as error:
                raise OpponentError(f"the opponent answered {action!r}: {error}") from error

    def _opponents_action(self, game: HuffingGame) -> Any:
        if self._face is None:
            actions = game.legal_actions()
            return actions[self.np_random.integers(len(actions))]
        player = self._face.player
        choose = getattr(player, "choose", None)
        return choose_action(game, choose) if callable(choose) else player(game)

    def _observe(self) -> npt.NDArray[np.float32]:
        assert self._game is not None
        return observe_huffing(self._game, self.color)

    def _info(self) -> dict[str, Any]:
        assert self._game is not None
        over = self._ended is not None and self._ended != (None, None)
        info: dict[str, Any] = {
            "action_mask": np.zeros(self._actions.n, np.int8) if over else self._actions.mask(self._game),
            "turn": self._game.turn,
            "outcome": self._ended[0] if self._ended else None,
            "winner": self._ended[1] if self._ended else None,
        }
        if self.color is not None:
            info["color"] = self.color
        return info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """True for each legal action, shape ``(n,)``. (MaskablePPO calls this.)"""
        if self._game is None:
            return np.zeros(self._actions.n, np.bool_)
        mask: npt.NDArray[np.int8] = self._info()["action_mask"]
        return mask.view(np.bool_)

    def render(self) -> Any:
        """The board in the way of ``render_mode``; pieces that may be huffed are set off, the text names them."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called, but the environment was made without a render_mode")
            return None
        game = self.game
        last = game.actions[-1] if game.ply else None
        move = last if isinstance(last, Move) else None
        flipped = self.color == "black"
        if self.render_mode == "rgb_array":
            return render.rgb_array(game.position, move, flipped, marked=game.huffable)
        if self.render_mode == "svg":
            return render.svg(game.position, move, flipped, marked=game.huffable)
        text = render.ansi(game.position, move, flipped)
        if last is not None and move is None:
            text += f", after {last}"
        said = rights(game)
        text += f"\n{said}" if said else ""
        if self.render_mode == "ansi":
            return text
        print(text)
        return None


# --- players ----------------------------------------------------------------------------------------


def choose_action(game: HuffingGame, choose: Callable[[Game], Any]) -> Action:
    """What a player of the strict game does in a game with huffing.

    It never misses a capture itself. After an offence it compares, by the value it gives each: playing on, every huff,
    and insisting; between equals a huff comes first, then insisting. A player without values huffs what it can.

    Args:
        game: the game, not over.
        choose: the player: makes of a strict game a decision with ``move`` and ``value`` (for the side to move).
    """
    position = game.position
    if not game.huffable:
        move: Move = choose(Game.from_position(position, game.quiet)).move
        return move
    best: tuple[float, Action] | None = None
    for action in reversed(game.legal_actions()):
        if isinstance(action, Move):
            break
        after = game.copy()
        after.push(action)
        value = _value(after, choose) * (1 if after.turn == game.turn else -1)
        if best is None or value > best[0] or (value == best[0] and str(best[1]) == "insist"):
            best = value, action
    assert best is not None
    if position.legal_moves():
        decision = choose(Game.from_position(position, game.quiet))
        if decision.value is not None and decision.value > best[0]:
            passing: Move = decision.move
            return passing
    return best[1]


def _value(game: HuffingGame, choose: Callable[[Game], Any]) -> float:
    """What a player thinks of a game, for the side to act; 0 if it does not say."""
    outcome = game.outcome()
    if outcome is not None:
        return 0.0 if outcome.winner is None else 1.0 if outcome.winner == game.turn else -1.0
    strict = Game.from_position(game.position, game.quiet)
    if strict.is_over:
        return 0.0
    value = choose(strict).value
    return 0.0 if value is None else float(value)
