"""Many games of draughts as one Gymnasium vector environment: all of them step in one call of a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

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
    BLACK,
    BOTH_SIDES,
    KINGS,
    LEARNER,
    RNG,
    TRUNCATED,
    UP,
    VERDICT,
    WHITE,
    row_length,
    row_of,
    scratch,
)
from draughts_env.errors import ActionError, GameOverError, OptionError
from draughts_env.game_kernels import ONGOING
from draughts_env.observation import observation_shape
from draughts_env.opponents import RANDOM
from draughts_env.position import Position
from draughts_env.variants import Variant
from draughts_env.vector_kernels import begin_many, draw_actions, first_illegal, kept_room, step_many

_Bools = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float32]
_Ints = npt.NDArray[np.int64]

_OPTIONS = ("fen", "moves", "color", "reset_mask")
_COLORS = np.array(["black", "white"], object)
_OUTCOMES = np.array(OUTCOMES, object)
#: Games below which a thread more does not pay.
_GAMES_A_THREAD = 128


class DraughtsVectorEnv(VectorEnv[_Floats, _Ints, npt.NDArray[Any]]):
    """Games of one variant, side by side. For the same actions and seeds, each is the game of a
    :class:`~draughts_env.env.DraughtsEnv`; observations, actions, rewards, and ``info`` (as arrays over the games) are
    documented there.

    Args:
        num_envs: number of games.
        variant, fen, color, illegal_action, max_plies: as for the single environment.
        opponent: ``None`` or ``"random"``. Other opponents: ``make_vec(..., vectorization_mode="sync")``.
        autoreset_mode: what happens when a game has ended: ``NextStep`` starts anew in the next step, which ignores its
            action; ``SameStep`` at once, with ``final_obs`` and ``final_info`` in ``info``; ``Disabled`` waits for
            ``reset(options={"reset_mask": ...})``.
        copy: whether each call returns new arrays; otherwise observations and masks are written over in place.
        threads: number of threads; by default one for each CPU there is, fewer for few games.
        render_mode: ``"ansi"``, ``"rgb_array"`` or ``"svg"``; :meth:`render` returns a picture of every game.

    Raises:
        DraughtsError: as for the single environment.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array", "svg"], "render_fps": 2}

    _pool: ThreadPoolExecutor | None = None  # made when first needed; closing must work before that
    _pool_process: int

    def __init__(
        self,
        num_envs: int = 1,
        variant: Variant | str = "english",
        *,
        fen: str | None = None,
        opponent: str | None = None,
        color: str = "random",
        illegal_action: str = "lose",
        max_plies: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = positive("num_envs", num_envs)
        self.variant = to_variant(variant)
        self.render_mode = one_of("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        modes = {mode.value: mode for mode in AutoresetMode}
        chosen = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self.autoreset_mode = modes[one_of("autoreset_mode", chosen, tuple(modes))]
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.copy = copy
        self._raises = one_of("illegal_action", illegal_action, ("lose", "raise")) == "raise"
        self._max_plies = 0 if max_plies is None else positive("max_plies", max_plies)
        if opponent is not None and opponent != RANDOM:
            raise OptionError(
                f"the vector environment has the opponent 'random' only, not {opponent!r}; "
                "gymnasium.make_vec(..., vectorization_mode='sync') takes any"
            )
        self._random = opponent == RANDOM
        if not self._random and color != "random":
            raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
        self._learner = learner_of(color) if self._random else BOTH_SIDES
        self._default = start_game(self.variant, fen, ())
        self._bind()
        if threads is None:
            cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            self.threads = max(1, min(cpus, self.num_envs // _GAMES_A_THREAD))
        else:
            self.threads = min(positive("threads", threads), self.num_envs)

        self.single_observation_space = gymnasium.spaces.Box(0.0, 1.0, self._shape, np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(self._n)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        n = self.num_envs
        self._states = np.zeros((n, row_length(self._rules)), np.int64)
        self._done = np.zeros(n, np.bool_)
        self._started = False
        self._sampler = np.zeros((n, 1), np.int64)
        self._planes, self._masks = self._room()
        self._masks[:] = 0  # no game, no legal action

    def _bind(self) -> None:
        """Look up what follows from the variant."""
        space = action_space(self.variant)
        self._n = space.n
        self._shape = observation_shape(self.variant)
        self._rules = self.variant.rules
        self._tables = (self._rules, space.keys, space.ids)
        self._default_row = row_of(self._default)[np.newaxis]
        self._kept = kept_room(self.num_envs)
        self._pool = None
        self._pool_process = 0

    def _room(self) -> tuple[_Floats, npt.NDArray[np.int8]]:
        n = self.num_envs
        return np.empty((n, *self._shape), np.float32), np.empty((n, self._n), np.int8)

    # --- episodes -----------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Floats, dict[str, Any]]:
        """Start all games, or those of a mask.

        Args:
            seed: start of the random numbers of the first game, the next ones count on from it; or one for each.
            options: for these games only: ``fen``, ``moves``, ``color`` as for the single environment, or a list of one
                for each game; ``reset_mask``, bool of shape ``(num_envs,)``: which games to start.

        Returns:
            Observations, shape ``(num_envs, 8, rows, rows / 2)``, and info.

        Raises:
            OptionError: an unknown option or value.
            DraughtsError: as for the single environment.
        """
        seeds = self._seeds(seed)
        options = dict(known_options(options, _OPTIONS))
        chosen = self._reset_mask(options.get("reset_mask"))
        starts, start_of = self._starts(options.get("fen"), options.get("moves"))
        learners = self._learners(options.get("color"))
        super().reset(seed=seed if isinstance(seed, int) else None)
        if not self._started:
            self._states[:, RNG] = self.np_random.integers(-(2**63), 2**63, self.num_envs, np.int64)
            self._sampler[:, 0] = self.np_random.integers(-(2**63), 2**63, self.num_envs, np.int64)
        for i, number in enumerate(seeds):
            if number is not None and chosen[i]:
                generator = seeding.np_random(number)[0]
                self._states[i, RNG] = random_word(generator)
                self._sampler[i, 0] = random_word(generator)
        self._started = True
        self._begin(chosen, starts, start_of, learners)
        self._done = self._done & ~chosen
        return self._planes, self._infos()

    def step(self, actions: npt.ArrayLike) -> tuple[_Floats, npt.NDArray[np.float64], _Bools, _Bools, dict[str, Any]]:
        """Play an action in every game.

        Args:
            actions: whole numbers, shape ``(num_envs,)``.

        Returns:
            Observations, rewards, ended by rule, cut short, info; all over the games.

        Raises:
            ActionError: numbers that are no actions at all, or with ``illegal_action="raise"``, no legal ones. Then no
                game has moved.
            GameOverError: the games were never started, or without autoreset, one has ended.
        """
        if not self._started:
            raise GameOverError("no games: call reset() first")
        stale = self._done if self.autoreset_mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._done.any():
            ended = np.flatnonzero(self._done)
            raise GameOverError(f"game {ended[0]} has ended: call reset(options={{'reset_mask': ...}})")
        choices = self._choices(actions, stale)
        planes, masks = self._room() if self.copy else (self._planes, self._masks)
        rewards = np.empty(self.num_envs, np.float64)
        self._run(
            step_many,
            self._states,
            self._kept,
            choices,
            stale,
            self._default_row,
            self._learner,
            self._random,
            self._max_plies,
            *self._tables,
            planes,
            masks,
            rewards,
        )
        self._planes, self._masks = planes, masks
        if self._random and stale.any():
            self._check_openings(stale)
        verdicts = self._states[:, VERDICT].copy()  # rows are long: read the column once
        truncated = verdicts == TRUNCATED
        terminated = (verdicts != ONGOING) & ~truncated
        self._done = terminated | truncated
        final = None
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            final = self._final(self._done)
            zeros = np.zeros(self.num_envs, np.int64)
            self._begin(self._done, self._default_row, zeros, zeros + self._learner, all_shown=False)
            self._done = np.zeros(self.num_envs, np.bool_)
        infos = self._infos()
        if final is not None:
            infos.update(final)
        return self._planes, rewards, terminated, truncated, infos

    def _begin(self, chosen: _Bools, starts: _Ints, start_of: _Ints, learners: _Ints, all_shown: bool = True) -> None:
        """Start the chosen games and write their observations and masks, or those of all games."""
        if self.copy and all_shown:
            self._planes, self._masks = self._room()
        self._run(
            begin_many,
            self._states,
            self._kept,
            chosen,
            starts,
            start_of,
            learners,
            self._random,
            all_shown,
            *self._tables,
            self._planes,
            self._masks,
        )
        self._check_openings(chosen)

    def _check_openings(self, begun: _Bools) -> None:
        ended = np.flatnonzero(begun & (self._states[:, VERDICT] != ONGOING))
        if len(ended):
            self._started = False
            outcome = OUTCOMES[self._states[ended[0], VERDICT]]
            raise GameOverError(f"the opponent's first move ends game {ended[0]}: {outcome}")

    def _run(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call a kernel for all games, in stretches, one for each thread."""

        def stretch(first: int, last: int) -> None:
            kernel(first, last, *arguments, *scratch.room)  # the scratch space of the thread that runs this

        if self.threads == 1:
            stretch(0, self.num_envs)
            return
        if self._pool is None or self._pool_process != os.getpid():  # threads do not outlive a fork
            self._pool = ThreadPoolExecutor(self.threads - 1, "draughts")
            self._pool_process = os.getpid()
        ends = [self.num_envs * t // self.threads for t in range(self.threads + 1)]
        others = [self._pool.submit(stretch, ends[t], ends[t + 1]) for t in range(1, self.threads)]
        stretch(ends[0], ends[1])
        for other in others:
            other.result()

    # --- what is given out --------------------------------------------------------------------------

    def _infos(self) -> dict[str, Any]:
        return self._described(np.ones(self.num_envs, np.bool_), self._masks)

    def _described(self, of: _Bools, masks: npt.NDArray[np.int8]) -> dict[str, Any]:
        """Info of the games ``of``; each entry has its mask, ``_name``, as Gymnasium wants it."""
        up = self._states[:, UP].copy()
        verdicts = self._states[:, VERDICT].copy()
        lost = (verdicts == LOST[0]) | (verdicts == LOST[1]) | (verdicts == LOST[2])
        infos: dict[str, npt.NDArray[Any]] = {
            "action_mask": masks,
            "turn": _COLORS[up],
            "outcome": _OUTCOMES[verdicts],
            "winner": np.full(self.num_envs, None, object),
        }
        infos["winner"][lost] = _COLORS[1 - up[lost]]
        if self._random:
            infos["color"] = _COLORS[self._states[:, LEARNER]]
        for name in list(infos):
            infos[f"_{name}"] = of.copy()
        return infos

    def _final(self, done: _Bools) -> dict[str, Any]:
        """Last observation and info of the games that are done, before they start anew."""
        games = np.flatnonzero(done)
        masks = np.zeros_like(self._masks)
        masks[games] = self._masks[games]
        described = self._described(done, masks)
        for name in ("turn", "outcome", "winner", "color"):
            if name in described:
                described[name][~done] = None
        observations = np.full(self.num_envs, None, object)
        for i in games:
            observations[i] = self._planes[i].copy()
        return {
            "final_obs": observations,
            "_final_obs": done.copy(),
            "final_info": described,
            "_final_info": done.copy(),
        }

    def action_masks(self) -> _Bools:
        """True for each legal action, shape ``(num_envs, n)``."""
        return self._masks.astype(np.bool_)

    def sample_actions(self) -> _Ints:
        """A random legal action for each game, shape ``(num_envs,)``; 0 where there is none.

        Like ``action_space.sample()``, but with the masks, and fast. Seeded by :meth:`reset`.
        """
        if not self._started:
            raise GameOverError("no games: call reset() first")
        chosen = np.empty(self.num_envs, np.int64)
        self._run(draw_actions, self._states, self._kept, self._sampler, chosen, *self._tables)
        return chosen

    def position(self, i: int) -> Position:
        """The position of a game."""
        row = self._states[i]
        words = (int(row[WHITE]), int(row[BLACK]), int(row[KINGS]))
        return Position(self.variant, *words, "white" if row[UP] else "black")

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every game in the way of ``render_mode``, from the caller's side (White's if it plays both)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called, but the environment was made without a render_mode")
            return None
        draw: dict[str, Callable[..., Any]] = {"ansi": render.ansi, "rgb_array": render.rgb_array, "svg": render.svg}
        black = (self._states[:, LEARNER] == 0) & self._random
        return tuple(draw[self.render_mode](self.position(i), flipped=bool(black[i])) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    # --- what is given in ---------------------------------------------------------------------------

    def _choices(self, actions: npt.ArrayLike, stale: _Bools) -> _Ints:
        """Actions as the kernels take them."""
        try:
            given = np.asarray(actions)
        except ValueError:  # lists of different lengths
            given = np.asarray(None)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ActionError(
                f"actions are whole numbers of shape ({self.num_envs},), not {given.dtype} of {given.shape}"
            )
        choices = given.astype(np.int64)
        wrong = ((choices < 0) | (choices >= self._n)) & ~stale
        if wrong.any():
            i = np.flatnonzero(wrong)[0]
            raise ActionError(
                f"action {given[i]} of game {i} is out of range: {self.variant} has actions 0 to {self._n - 1}"
            )
        if self._raises:
            i = first_illegal(self._states, self._kept, choices, stale, *self._tables, *scratch.room)
            if i >= 0:
                raise ActionError(f"action {choices[i]} of game {i} is no legal move in {self.position(i).fen}")
        return choices

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return range(int(seed), int(seed) + self.num_envs)
        if not isinstance(seed, (Sequence, np.ndarray)):
            raise OptionError(f"a seed is a whole number or a list of one for each game, not {seed!r}")
        if len(seed) != self.num_envs:
            raise OptionError(f"{len(seed)} seeds were given for {self.num_envs} games")
        return seed

    def _reset_mask(self, mask: Any) -> _Bools:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise OptionError(f"reset_mask is a bool array of shape ({self.num_envs},)")
        if not self._started:
            raise GameOverError("no games: the first reset() has no reset_mask")
        return mask

    def _each(self, name: str, value: Any) -> list[Any]:
        """A value for each game, from one for all or a list."""
        if value is None or isinstance(value, str):
            return [value] * self.num_envs
        if not isinstance(value, (Sequence, np.ndarray)):
            raise OptionError(f"{name} is a text or a list of one for each game, not {value!r}")
        if len(value) != self.num_envs:
            raise OptionError(f"{name} is given for {len(value)} games, there are {self.num_envs}")
        return list(value)

    def _starts(self, fen: Any, moves: Any) -> tuple[_Ints, _Ints]:
        """The different starts as rows, and which of them each game has."""
        if fen is None and not moves:
            return self._default_row, np.zeros(self.num_envs, np.int64)
        rows: list[_Ints] = []
        place: dict[Any, int] = {}
        start_of = np.empty(self.num_envs, np.int64)
        for i, start in enumerate(zip(self._each("fen", fen), self._openings(moves))):
            if start not in place:
                place[start] = len(rows)
                rows.append(row_of(start_game(self.variant, *start, self._default)))
            start_of[i] = place[start]
        return np.stack(rows), start_of

    def _openings(self, moves: Any) -> list[Any]:
        """The opening of each game, hashable. One text is for all; a list has a text or a list of moves for each."""
        return [
            () if opening is None else tuple(opening) if isinstance(opening, (list, tuple, np.ndarray)) else opening
            for opening in self._each("moves", moves)
        ]

    def _learners(self, color: Any) -> _Ints:
        if color is None:
            return np.full(self.num_envs, self._learner, np.int64)
        if not self._random:
            raise OptionError("color is the caller's side against an opponent; without one it plays both sides")
        return np.array([self._learner if c is None else learner_of(c) for c in self._each("color", color)], np.int64)

    # --- as an object -------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for derived in ("_tables", "_default_row", "_kept", "_pool", "_pool_process"):
            del state[derived]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()
