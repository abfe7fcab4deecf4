"""Draughts as a Gymnasium environment: both sides by one caller, or one side against an opponent."""

from __future__ import annotations

import operator
from typing import Any, SupportsFloat, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt

from draughts_env import render
from draughts_env.actions import action_space
from draughts_env.env_arguments import (
    LOST,
    OUTCOMES,
    known_options,
    learner_of,
    one_of,
    positive,
    random_word,
    start_game,
    to_variant,
)
from draughts_env.env_kernels import (
    BOTH_SIDES,
    ILLEGAL,
    LEARNER,
    RNG,
    TRUNCATED,
    UP,
    VERDICT,
    begin_one,
    mask_one,
    row_length,
    row_of,
    scratch,
    step_one,
    view_one,
)
from draughts_env.errors import ActionError, GameOverError, OptionError
from draughts_env.game import Game
from draughts_env.game_kernels import ONGOING
from draughts_env.observation import observation_shape
from draughts_env.opponents import RANDOM, Opponent
from draughts_env.variants import Color, Variant

_OPTIONS = ("fen", "moves", "color")


class DraughtsEnv(gymnasium.Env[npt.NDArray[np.float32], SupportsIndex]):
    """One game of draughts; one step is one complete move, multi-jump included.

    Without an opponent the caller moves for both sides, and a reward is that of the player who just moved. With one,
    the caller plays one side, the opponent answers within the step, and rewards are the caller's.

    Observations: :mod:`draughts_env.observation`. Actions: :mod:`draughts_env.actions`. ``info`` has

    * ``action_mask``: int8 of shape ``(n,)``, 1 for each legal action; all 0 only when the game has ended;
    * ``turn``: side to move; ``outcome``: ``None``, or why the game ended; ``winner``: ``None``, or who won;
    * ``color``: the caller's side (only with an opponent).

    Rewards are 1.0 for a win, -1.0 for a loss and 0.0 otherwise. Draws by rule terminate, ``max_plies`` truncates.

    Args:
        variant: the variant or its name.
        fen: where games start, if not from the starting position.
        opponent: ``None``, ``"random"``, or what :mod:`draughts_env.opponents` understands.
        color: the caller's side when there is an opponent: ``"black"``, ``"white"``, or ``"random"`` for a new one
            each game.
        illegal_action: ``"lose"``: the game ends as a loss of the offender, outcome ``"illegal action"``; ``"raise"``:
            :class:`ActionError`, and nothing has happened.
        max_plies: length at which a game is cut short, moves of both sides counted. With an opponent it is cut when it
            is the caller's turn.
        render_mode: ``"human"`` (prints the board), ``"ansi"``, ``"rgb_array"`` or ``"svg"``.

    Raises:
        OptionError: an argument has no such value.
        OpponentError: no such opponent.
        FenError, VariantError: no such start.
        GameOverError: the game is over where it would start.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array", "svg"], "render_fps": 2}

    def __init__(
        self,
        variant: Variant | str = "english",
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
        self._max_plies = 0 if max_plies is None else positive("max_plies", max_plies)
        self._learner = BOTH_SIDES
        self._random = opponent == RANDOM if isinstance(opponent, str) else False
        self._opponent = None if opponent is None or self._random else Opponent(opponent, self.variant)
        if opponent is None:
            if color != "random":
                raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
        else:
            self._learner = learner_of(color)
        self._default = start_game(self.variant, fen, ())
        self._bind()
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, self._shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(self._n)
        self._states = np.zeros((1, row_length(self._rules)), np.int64)
        self._started = False
        self._begun_with = self._default  # the game as it was when the episode began
        self._played: list[int] = []  # actions of both sides since
        self._game: Game | None = None  # with the first plies of _played, made when asked for

    def _bind(self) -> None:
        """Look up what follows from the variant."""
        space = action_space(self.variant)
        self._n = space.n
        self._shape = observation_shape(self.variant)
        self._rules = self.variant.rules
        self._tables = (self._rules, space.keys, space.ids)
        self._default_row = row_of(self._default)[np.newaxis]

    # --- episodes -----------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start a game.

        Args:
            seed: start of the random numbers (the caller's side, the opponent's choices).
            options: for this game only: ``fen``, where it starts; ``moves``, an opening played from there (texts or
                moves, or one text with blanks between); ``color``, the caller's side.

        Returns:
            Observation, info. An opponent that moves first has moved.

        Raises:
            OptionError: an unknown option or value.
            FenError, IllegalMoveError: a start that cannot be.
            GameOverError: the game is over where it would start, or after the opponent's first move.
        """
        super().reset(seed=seed)
        learner, start, row = self._learner, self._default, self._default_row
        options = dict(known_options(options, _OPTIONS))
        if options:
            if options.get("color") is not None:
                if self._learner == BOTH_SIDES:
                    raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
                learner = learner_of(options["color"])
            if options.get("fen") is not None or options.get("moves"):
                start = start_game(self.variant, options.get("fen"), options.get("moves") or (), self._default)
                row = row_of(start)[np.newaxis]
        if seed is not None or not self._started:
            self._states[0, RNG] = random_word(self.np_random)
        if self._opponent is not None:
            self._opponent.begin(int(self.np_random.integers(2**31)) if seed is not None else None)
        planes, mask = np.empty(self._shape, np.float32), np.empty(self._n, np.int8)
        verdict, up, reply, side = begin_one(
            self._states, row, learner, self._random, *self._tables, *scratch.room, planes, mask
        )
        self._begun_with, self._game, self._played = start, None, [] if reply < 0 else [reply]
        self._started = True
        if self._opponent is not None and side != up:
            try:
                verdict, up, _ = self._answer(planes, mask, 0)
            except BaseException:
                self._started = False
                raise
        if verdict != ONGOING:
            self._started = False
            raise GameOverError(f"the opponent's first move ends the game: {OUTCOMES[verdict]}")
        if self.render_mode == "human":
            self.render()
        return planes, self._info(mask, verdict, up)

    def step(self, action: SupportsIndex) -> tuple[npt.NDArray[np.float32], SupportsFloat, bool, bool, dict[str, Any]]:
        """Play a move; an opponent answers it.

        Returns:
            Observation, reward, whether the game ended by its rules, whether it was cut short, info.

        Raises:
            ActionError: a number that is no action at all, or with ``illegal_action="raise"``, no legal one.
            GameOverError: the game has ended or was never started.
            OpponentError: the opponent did not answer with a legal move. Then, and when it raises an error of its own,
                the environment is as it was before the step.
        """
        number = self._number(action)
        states = self._states
        if not self._started or states.item(VERDICT) != ONGOING:
            raise GameOverError("the game has ended: call reset()" if self._started else "no game: call reset() first")
        planes, mask = np.empty(self._shape, np.float32), np.empty(self._n, np.int8)
        if self._opponent is not None:
            before, played = states.copy(), len(self._played)
        verdict, up, reply, reward = step_one(
            states,
            number,
            self._random,
            0 if self._opponent is not None else self._max_plies,
            *self._tables,
            *scratch.room,
            planes,
            mask,
        )
        if verdict == ILLEGAL:
            if self._raises:
                states[0, VERDICT] = ONGOING
                raise ActionError(f"action {number} is no legal move in {self._sync().fen}")
        else:
            self._played.append(number)
            if reply >= 0:
                self._played.append(reply)
            if self._opponent is not None and verdict == ONGOING:
                try:
                    verdict, up, theirs = self._answer(planes, mask, self._max_plies)
                except BaseException:
                    self._states[:] = before
                    del self._played[played:]
                    raise
                reward = 0.0 - theirs
        if self.render_mode == "human":
            self.render()
        truncated = verdict == TRUNCATED
        return planes, reward, verdict != ONGOING and not truncated, truncated, self._info(mask, verdict, up)

    def _answer(
        self, planes: npt.NDArray[np.float32], mask: npt.NDArray[np.int8], max_plies: int
    ) -> tuple[int, int, float]:
        """Let the opponent move; returns verdict, side to move, the opponent's reward."""
        assert self._opponent is not None
        game = self._sync()
        action = action_space(self.variant).encode(game.position, self._opponent.move(game))
        verdict, up, _, reward = step_one(
            self._states, action, False, max_plies, *self._tables, *scratch.room, planes, mask
        )
        self._played.append(action)
        return verdict, up, reward

    def _number(self, action: SupportsIndex) -> int:
        try:
            number = operator.index(action)
        except TypeError:
            raise ActionError(f"an action is a whole number, not {action!r}") from None
        if not 0 <= number < self._n:
            raise ActionError(f"action {number} is out of range: {self.variant} has actions 0 to {self._n - 1}")
        return number

    def _info(self, mask: npt.NDArray[np.int8], verdict: int, up: int) -> dict[str, Any]:
        info: dict[str, Any] = {
            "action_mask": mask,
            "turn": "white" if up else "black",
            "outcome": OUTCOMES[verdict],
            "winner": ("black" if up else "white") if verdict in LOST else None,
        }
        if self._learner != BOTH_SIDES:
            info["color"] = self.color
        return info

    # --- what can be asked --------------------------------------------------------------------------

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """True for each legal action, shape ``(n,)``; all false when the game has ended. (MaskablePPO calls this.)"""
        mask = np.zeros(self._n, np.int8)
        if self._started:
            mask_one(self._states, *self._tables, *scratch.room, mask)
        return mask.view(np.bool_)

    def observe(self, view: Color) -> npt.NDArray[np.float32]:
        """The observation as seen from a side, on turn or not."""
        planes = np.empty(self._shape, np.float32)
        view_one(self._states, int(one_of("view", view, ("black", "white")) == "white"), self._rules, planes)
        return planes

    @property
    def color(self) -> Color | None:
        """The caller's side; ``None`` when it plays both."""
        learner = self._states.item(LEARNER)
        return None if self._learner == BOTH_SIDES else "white" if learner else "black"

    @property
    def turn(self) -> Color:
        """The side to move."""
        return "white" if self._states.item(UP) else "black"

    @property
    def game(self) -> Game:
        """The game so far, a copy for the caller to keep; the opening of ``options`` included.

        It knows nothing of an illegal action that ended the episode.

        Raises:
            GameOverError: no game was started.
        """
        return self._sync().copy()

    def _sync(self) -> Game:
        """The game so far, kept and brought up to date from one call to the next."""
        if not self._started:
            raise GameOverError("no game: call reset() first")
        game, start = self._game, self._begun_with
        if game is None or game.ply - start.ply > len(self._played):
            game = self._game = start.copy()
        space = action_space(self.variant)
        for action in self._played[game.ply - start.ply :]:
            game.push(space.decode(game.position, action))
        return game

    # --- pictures -----------------------------------------------------------------------------------

    def render(self) -> Any:
        """The board in the way of ``render_mode``, from the caller's side (White's if the caller plays both)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called, but the environment was made without a render_mode")
            return None
        game = self._sync()
        last = game.moves[-1] if game.ply else None
        flipped = self.color == "black"
        if self.render_mode == "rgb_array":
            return render.rgb_array(game.position, last, flipped)
        if self.render_mode == "svg":
            return render.svg(game.position, last, flipped)
        text = render.ansi(game.position, last, flipped)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    # --- as an object -------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for derived in ("_tables", "_default_row", "_game"):
            del state[derived]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._game = None
        self._bind()
