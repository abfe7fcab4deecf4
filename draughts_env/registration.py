"""The environments' ids in Gymnasium's registry."""

from __future__ import annotations

import gymnasium

from draughts_env.variants import VARIANTS

#: Version of the ids. It grows whenever the same actions would lead to other games, rewards or observations.
VERSION = 0

#: The registered ids, such as ``Draughts/English-v0``.
IDS: tuple[str, ...] = tuple(f"Draughts/{v.name.capitalize()}-v{VERSION}" for v in VARIANTS)
#: The id of English with huffing, an environment of its own.
HUFFING_ID = f"Draughts/EnglishHuffing-v{VERSION}"


def register() -> None:
    """Register every variant; does nothing for ids that are registered already."""
    for name, v in zip(IDS, VARIANTS):
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="draughts_env.env:DraughtsEnv",
                vector_entry_point="draughts_env.vector_env:DraughtsVectorEnv",
                kwargs={"variant": v.name},
            )
    if HUFFING_ID not in gymnasium.registry:
        gymnasium.register(id=HUFFING_ID, entry_point="draughts_env.huffing_env:HuffingEnv")


register()
