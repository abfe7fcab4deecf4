"""What describes a network: kind and sizes. Kept apart from the networks, so that reading it needs no PyTorch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from agents.options import check_options, option

KINDS = ("sparse", "resmlp", "resnet")


@dataclass
class NetworkConfig:
    """Kind and sizes of a network. Sizes that a kind does not use are ignored."""

    name: str = option("sparse", "name of this choice; part of the run's default name")
    kind: str = option(
        "sparse", "sparse: runs inside the search loop; resmlp, resnet: PyTorch in batches", choices=KINDS
    )
    hidden1: int = option(256, "sparse: width of the first layer, the sum of about 24 rows", minimum=1, maximum=1 << 13)
    hidden2: int = option(
        64, "sparse: width of the second layer, on which value and policy stand", minimum=1, maximum=1 << 13
    )
    width: int = option(256, "resmlp: width of its layers", minimum=1, maximum=1 << 13)
    blocks: int = option(2, "resmlp, resnet: number of residual blocks", minimum=0, maximum=1000)
    channels: int = option(32, "resnet: channels of its convolutions", minimum=1, maximum=1 << 13)

    def check(self) -> None:
        """Raises: OptionError: a value out of range."""
        check_options(self, "network")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file's header."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> NetworkConfig:
        """From :meth:`to_dict`'s values; names that are missing take their defaults.

        Raises:
            OptionError: a name or value that no network has.
        """
        known = {f.name for f in fields(cls)}
        from agents.options import OptionError

        for name in values:
            if name not in known:
                raise OptionError(f"network.{name} is not known to this version")
        config = cls(**values)
        config.check()
        return config
