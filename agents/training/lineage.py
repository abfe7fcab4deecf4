"""Where a run begins when not from nothing: another run's weights, and all the training behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.network.checkpoint import CheckpointError, load_checkpoint
from agents.network.config import NetworkConfig
from agents.network.models import PolicyValueNet
from draughts_env.variants import Variant

#: What a checkpoint counts of its own run, and under ``before`` of the runs before that one.
COUNTED = ("games", "positions", "simulations", "steps", "minutes", "cpu_minutes")


def totals(meta: Mapping[str, Any]) -> dict[str, Any]:
    """All the training behind a checkpoint: its own run's and that of the runs it goes back to.

    Args:
        meta: the checkpoint's notes. What they do not say (checkpoints of other makers) counts as nothing.

    Returns:
        The sum of each of :data:`COUNTED`, and ``runs``: the names of the runs, the first one first.
    """
    before = meta.get("before")
    before = before if isinstance(before, Mapping) else {}
    found: dict[str, Any] = {name: _number(meta.get(name)) + _number(before.get(name)) for name in COUNTED}
    runs = before.get("runs")
    return found | {"runs": [*(runs if isinstance(runs, list) else ()), str(meta.get("run", "?"))]}


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0
    return value if isinstance(value, int) else round(value, 2)


def load_initial(path: Path, variant: Variant, network: NetworkConfig) -> tuple[PolicyValueNet, dict[str, Any]]:
    """The network that a new run begins with.

    Returns:
        The network of the checkpoint, and the training behind it as :func:`totals` gives it.

    Raises:
        CheckpointError: no checkpoint, one of another variant, or one whose network differs from the run's.
    """
    checkpoint = load_checkpoint(path, variant)
    theirs, ours = asdict(checkpoint.network), asdict(network)
    wrong = [f"{name}={theirs[name]}" for name in theirs if name != "name" and theirs[name] != ours[name]]
    if wrong:
        options = ", ".join(f"network.{option}" for option in wrong)
        raise CheckpointError(f"run.initial={path} holds another network than this run's; it has {options}")
    return checkpoint.model, totals(checkpoint.meta)
