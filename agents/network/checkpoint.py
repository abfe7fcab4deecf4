"""Networks on disk: safetensors files that carry their own description. Nothing here unpickles.

The header holds ``format``, ``format_version``, ``variant``, ``network`` and ``meta``, the last two as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from agents.files import replace_file
from agents.network.config import NetworkConfig
from agents.network.models import PolicyValueNet, build_model
from draughts_env.errors import DraughtsError
from draughts_env.variants import Variant, variant

FORMAT = "draughts-zero network"
FORMAT_VERSION = 1


class CheckpointError(DraughtsError, ValueError):
    """A checkpoint that is missing, torn, foreign, or made for something else."""


@dataclass(frozen=True)
class Checkpoint:
    """A network from a file.

    Attributes:
        model: in evaluation mode, on the CPU.
        network: its kind and sizes.
        variant: the rules it was trained for.
        meta: what else its maker noted (JSON values).
    """

    model: PolicyValueNet
    network: NetworkConfig
    variant: Variant
    meta: dict[str, Any]


def save_checkpoint(
    path: str | Path, model: PolicyValueNet, network: NetworkConfig, variant: Variant, meta: Mapping[str, Any]
) -> None:
    """Write a network with its description, whole or not at all.

    Args:
        path: the file; its folder must exist.
        model: the network; ``network`` and ``variant`` must be those it was built from.
        meta: further notes, as JSON values.

    Raises:
        OSError: the file cannot be written.
    """
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    header = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "variant": variant.name,
        "network": json.dumps(network.to_dict()),
        "meta": json.dumps(dict(meta)),
    }
    replace_file(Path(path), safetensors.torch.save(tensors, header))


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    """Header and tensors of a safetensors file.

    Raises:
        CheckpointError: no such file, or not a whole safetensors file.
    """
    if not path.is_file():
        raise CheckpointError(f"no checkpoint at {path}")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (safetensors.SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path} is no safetensors file, or only part of one ({error})") from None
    return header, tensors


def load_checkpoint(path: str | Path, expected: Variant | None = None) -> Checkpoint:
    """Read a network that :func:`save_checkpoint` wrote.

    Args:
        path: the file.
        expected: the variant it is wanted for, if that is to be checked.

    Raises:
        CheckpointError: the file is missing, torn, foreign, of a later version, or made for another variant.
    """
    path = Path(path)
    header, tensors = read_tensors(path)
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but no checkpoint of this project")
    try:
        version = int(header["format_version"])
        if version > FORMAT_VERSION:
            raise CheckpointError(
                f"{path} has checkpoint format {version}; this version of the project reads up to {FORMAT_VERSION}"
            )
        rules = variant(header["variant"])
        network = NetworkConfig.from_dict(json.loads(header["network"]))
        meta = json.loads(header["meta"])
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path} has a header that cannot be read: {error}") from None
    if expected is not None and expected.rules != rules.rules:
        raise CheckpointError(f"{path} was trained for {rules}, not for {expected}")
    # Sizes in the header are not to be trusted before they are found to fit the tensors, hence "meta".
    with torch.device("meta"):
        model = build_model(network, rules)
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if wanted != found:
        wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise CheckpointError(f"{path} does not hold the network its header describes: {', '.join(wrong[:4])}")
    for name, value in tensors.items():
        if not (value.is_floating_point() and torch.isfinite(value).all()):
            raise CheckpointError(f"{path} has weights that are not finite numbers: {name}")
    with torch.random.fork_rng(devices=[]):  # reading a file must not disturb the caller's chance
        model = build_model(network, rules)
    model.load_state_dict(tensors)
    return Checkpoint(model.eval().requires_grad_(False), network, rules, meta if isinstance(meta, dict) else {})
