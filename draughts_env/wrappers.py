"""Other shapes of the observation, for single and for vector environments.

* :class:`FullBoard`: the full chequerboard, ``(8, rows, rows)``, light squares 0;
* :class:`FlatVector`: one vector, the four planes of pieces and then one number for each clock.

Both come as ``Vector...`` for vector environments. The functions under them take any leading dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from draughts_env.observation import PLANES

if TYPE_CHECKING:
    _VectorWrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:  # its number of parameters differs between versions of Gymnasium
    _VectorWrapper = VectorWrapper

_Floats = npt.NDArray[np.float32]

_PIECES = 4  # planes of pieces
_CLOCKS = slice(4, 7)  # planes with one value everywhere


def full_board(observation: _Floats) -> _Floats:
    """Planes of the dark squares spread over the full board, shape ``(..., 8, rows, rows)``.

    Row 0 is the far side as the mover sees it. The planes of pieces are 0 on light squares. Those of the clocks keep
    their one value everywhere, and the last plane, the row parity, becomes 1 on dark squares: both would otherwise mix
    with the pattern of the board.
    """
    *lead, planes, rows, half = observation.shape
    full = np.zeros((*lead, planes, rows, 2 * half), np.float32)
    full[..., 0::2, 1::2] = observation[..., 0::2, :]
    full[..., 1::2, 0::2] = observation[..., 1::2, :]
    full[..., _CLOCKS, :, :] = observation[..., _CLOCKS, :1, :1]
    dark = full[..., -1, :, :]
    dark[..., 0::2, 1::2] = 1.0
    dark[..., 1::2, 0::2] = 1.0
    return full


def flat_vector(observation: _Floats) -> _Floats:
    """One vector, shape ``(..., 4 * squares + 3)``.

    Own men, own kings, opponent's men, opponent's kings, each square by square; then quiet clock, ending clock, earlier
    occurrences.
    """
    *lead, _, rows, half = observation.shape
    pieces = observation[..., :_PIECES, :, :].reshape(*lead, _PIECES * rows * half)
    return np.concatenate([pieces, observation[..., _CLOCKS, 0, 0]], axis=-1)


def _full_space(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    planes, rows, _ = _planes_shape(space)
    return gymnasium.spaces.Box(0.0, 1.0, (planes, rows, rows), np.float32)


def _flat_space(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    _, rows, half = _planes_shape(space)
    return gymnasium.spaces.Box(0.0, 1.0, (_PIECES * rows * half + 3,), np.float32)


def _planes_shape(space: gymnasium.Space[Any]) -> tuple[int, ...]:
    shape = space.shape
    if shape is None or len(shape) != 3 or shape[0] != len(PLANES) or shape[1] != 2 * shape[2]:
        raise TypeError(f"this wrapper takes the planes of a draughts environment, not observations of {space}")
    return shape


class FullBoard(gymnasium.ObservationWrapper[_Floats, SupportsIndex, _Floats], RecordConstructorArgs):
    """Observations as the full chequerboard (:func:`full_board`).

    Raises:
        TypeError: the environment's observations are no planes of draughts.
    """

    def __init__(self, env: gymnasium.Env[_Floats, SupportsIndex]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        self.observation_space = _full_space(env.observation_space)

    def observation(self, observation: _Floats) -> _Floats:
        """The planes, spread out."""
        return full_board(observation)


class FlatVector(gymnasium.ObservationWrapper[_Floats, SupportsIndex, _Floats], RecordConstructorArgs):
    """Observations as one vector (:func:`flat_vector`).

    Raises:
        TypeError: the environment's observations are no planes of draughts.
    """

    def __init__(self, env: gymnasium.Env[_Floats, SupportsIndex]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        self.observation_space = _flat_space(env.observation_space)

    def observation(self, observation: _Floats) -> _Floats:
        """The planes as a vector."""
        return flat_vector(observation)


class _VectorObservation(_VectorWrapper):
    """Changes all observations of a vector environment, the last ones of games that start anew in the same step too.

    (Gymnasium's own wrapper for observations refuses that mode.)
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], space: gymnasium.Space[Any], change: Callable[[_Floats], _Floats]
    ) -> None:
        super().__init__(env)
        self.single_observation_space = space
        self.observation_space = batch_space(space, env.num_envs)
        self._change = change

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Floats, dict[str, Any]]:
        """As the environment's own."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._change(observations), infos

    def step(self, actions: Any) -> tuple[_Floats, Any, Any, Any, dict[str, Any]]:
        """As the environment's own."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos:
            for i in np.flatnonzero(infos["_final_obs"]):
                infos["final_obs"][i] = self._change(infos["final_obs"][i])
        return self._change(observations), rewards, terminated, truncated, infos


class VectorFullBoard(_VectorObservation):
    """:class:`FullBoard` for vector environments.

    Raises:
        TypeError: the environment's observations are no planes of draughts.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env, _full_space(env.single_observation_space), full_board)


class VectorFlatVector(_VectorObservation):
    """:class:`FlatVector` for vector environments.

    Raises:
        TypeError: the environment's observations are no planes of draughts.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env, _flat_space(env.single_observation_space), flat_vector)
