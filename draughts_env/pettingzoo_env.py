"""Draughts as a PettingZoo environment: two agents, ``"black"`` and ``"white"``, that move in turn (AEC).

>>> from draughts_env import pettingzoo_env
>>> env = pettingzoo_env.env("english")
>>> env.reset(seed=1)
>>> env.agent_selection
'black'

It needs the extra ``pettingzoo``.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from draughts_env import actions
from draughts_env.env import DraughtsEnv
from draughts_env.game import Game
from draughts_env.registration import VERSION
from draughts_env.variants import Color, Variant

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError(
        "draughts_env.pettingzoo_env needs PettingZoo: pip install 'draughts-zero[pettingzoo]'"
    ) from error


def env(variant: Variant | str = "english", **arguments: Any) -> AECEnv:
    """The environment in PettingZoo's order-enforcing wrapper.

    Args:
        variant: the variant or its name.
        **arguments: of :class:`DraughtsAEC`.

    Raises:
        DraughtsError: an argument has no such value.
    """
    return wrappers.OrderEnforcingWrapper(DraughtsAEC(variant, **arguments))


class DraughtsAEC(AECEnv):  # type: ignore[misc]  # PettingZoo is optional and may be missing when types are checked
    """One game of draughts for two agents; a step is one complete move.

    An agent's observation is a dictionary: ``observation``, the planes (:mod:`draughts_env.observation`) as seen from
    its own side, and ``action_mask``, int8, its legal actions (:mod:`draughts_env.actions`): all 0 when it is not on
    turn or the game has ended. Rewards are 1.0 and -1.0 at a decided end, else 0.0; they sum to zero. Draws by rule
    terminate, ``max_plies`` truncates. Infos have ``outcome`` and ``winner``.

    Args:
        variant: the variant or its name.
        fen: where games start, if not from the starting position.
        illegal_action: ``"lose"``: the game ends as a loss of the offender; ``"raise"``: :class:`ActionError`.
        max_plies: length at which a game is cut short.
        render_mode: ``"human"``, ``"ansi"``, ``"rgb_array"`` or ``"svg"``.

    Raises:
        DraughtsError: an argument has no such value.
    """

    metadata: dict[str, Any] = {
        **DraughtsEnv.metadata,
        "name": f"draughts_v{VERSION}",
        "is_parallelizable": False,
    }

    def __init__(
        self,
        variant: Variant | str = "english",
        *,
        fen: str | None = None,
        illegal_action: str = "lose",
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._core = DraughtsEnv(
            variant, fen=fen, illegal_action=illegal_action, max_plies=max_plies, render_mode=render_mode
        )
        self.render_mode = render_mode
        first = self._core.variant.first
        self.possible_agents: list[Color] = [first, _other(first)]
        self.agents: list[Color] = []
        n = self._n = actions.action_space(self._core.variant).n
        space = gymnasium.spaces.Dict(
            {"observation": self._core.observation_space, "action_mask": gymnasium.spaces.MultiBinary(n)}
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: gymnasium.spaces.Discrete(n) for agent in self.possible_agents}

    def observation_space(self, agent: Color) -> gymnasium.Space[Any]:
        """The space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: Color) -> gymnasium.Space[Any]:
        """The space of an agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    @property
    def variant(self) -> Variant:
        """The rules that are played."""
        return self._core.variant

    @property
    def game(self) -> Game:
        """The game so far, a copy for the caller to keep."""
        return self._core.game

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: accepted as PettingZoo wants it; nothing here is random.
            options: ``fen`` and ``moves``, as for :meth:`DraughtsEnv.reset`. Others are ignored: PettingZoo's own test
                of its API gives one.

        Raises:
            DraughtsError: a start that cannot be.
        """
        known = {name: value for name, value in (options or {}).items() if name in ("fen", "moves")}
        _, info = self._core.reset(seed=seed, options=known)
        self.agents = self.possible_agents[:]
        self.agent_selection: Color = self._core.turn
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._tell(info)

    def step(self, action: Any) -> None:
        """Play a move of the agent on turn; ``None`` for an agent whose game has ended.

        Raises:
            ActionError: a number that is no action at all, or with ``illegal_action="raise"``, no legal one.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        _, reward, terminated, truncated, info = self._core.step(action)
        other = _other(agent)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {agent: float(reward), other: 0.0 - float(reward)}
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.agent_selection = other
        self._tell(info)
        self._accumulate_rewards()

    def _tell(self, info: dict[str, Any]) -> None:
        self.infos = {agent: {"outcome": info["outcome"], "winner": info["winner"]} for agent in self.agents}

    def observe(self, agent: Color) -> dict[str, npt.NDArray[Any]]:
        """What an agent sees, on turn or not."""
        if agent == self._core.turn:
            mask = self._core.action_masks().view(np.int8)
        else:
            mask = np.zeros(self._n, np.int8)
        return {"observation": self._core.observe(agent), "action_mask": mask}

    def render(self) -> Any:
        """The board in the way of ``render_mode``."""
        return self._core.render()

    def close(self) -> None:
        """Nothing to release."""


def _other(color: Color) -> Color:
    return "white" if color == "black" else "black"
