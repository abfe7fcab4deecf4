"""From the command line and the files in ``configs/`` to a checked :class:`TrainConfig`.

Hydra composes; the classes of :mod:`agents.training.config` are the schema. Every mistake becomes one
:class:`OptionError` that names the option.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from agents.options import OptionError, type_name, walk_options
from agents.training.config import TrainConfig
from draughts_env.variants import variant

#: What may differ between the sessions of one run: budget, measuring, and what does not change the result.
CHANGEABLE = (
    "run.minutes",
    "run.iterations",
    "run.folder",
    "run.name",
    "run.checkpoint_seconds",
    "run.device",
    "run.threads",
    "selfplay.workers",
    "evaluation",
)

ConfigStore.instance().store(name="schema", node=TrainConfig)


def config_groups(folder: Path) -> dict[str, list[str]]:
    """Groups of a configuration folder and the choices of each."""
    return {
        group.name: sorted(file.stem for file in group.glob("*.yaml"))
        for group in sorted(folder.iterdir())
        if group.is_dir()
    }


def compose_config(overrides: Sequence[str], folder: Path) -> TrainConfig:
    """The configuration of a command line.

    Args:
        overrides: as Hydra writes them: ``variant=international search.simulations=96``.
        folder: the folder with ``train.yaml`` and the groups.

    Raises:
        OptionError: an unknown option or choice, a wrong type, a value out of range.
        VariantError: an unknown variant.
    """
    if not (folder / "train.yaml").is_file():
        raise OptionError(f"there is no configuration in {folder}")
    groups = config_groups(folder)
    checked = [_checked(text, groups) for text in overrides]
    try:
        with initialize_config_dir(str(folder.resolve()), version_base="1.3"):
            composed = compose("train", checked)
        config = OmegaConf.to_object(composed)
    except (HydraException, OmegaConfBaseException) as error:
        raise OptionError(_explain(error)) from None
    assert isinstance(config, TrainConfig)
    config.check()
    config.variant.name = config.rules.name
    return config


def config_text(config: TrainConfig) -> str:
    """The configuration as YAML."""
    return OmegaConf.to_yaml(OmegaConf.structured(config))


def read_config(text: str, where: str) -> TrainConfig:
    """The configuration of what :func:`config_text` wrote; options it lacks take their defaults.

    Raises:
        OptionError: something else; ``where`` names it.
    """
    try:
        merged = OmegaConf.merge(OmegaConf.structured(TrainConfig), OmegaConf.create(text))
        config = OmegaConf.to_object(merged)
    except Exception as error:  # of OmegaConf, of the YAML parser, of the classes
        raise OptionError(f"{where} is not a configuration of this version: {_explain(error)}") from None
    assert isinstance(config, TrainConfig)
    return config


def differences(before: TrainConfig, now: TrainConfig) -> list[str]:
    """Options that differ and may not between sessions of one run, each as ``name: before -> now``."""
    found = []
    for name, _, _ in walk_options(TrainConfig):
        if any(name == free or name.startswith(free + ".") for free in CHANGEABLE):
            continue
        old, new = _value(before, name), _value(now, name)
        if old != new:
            found.append(f"{name}: {old} -> {new}")
    return found


def _value(config: TrainConfig, name: str) -> object:
    value: object = config
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _checked(text: str, groups: dict[str, list[str]]) -> str:
    """An override that names something that exists, with aliases of variants replaced by their names."""
    if text.startswith("-"):
        raise OptionError(f"there is no option {text}; see --help")
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException:
        raise OptionError(f"cannot read {text!r}; options are written name=value, for example run.minutes=30") from None
    name = override.key_or_group
    options = [option for option, _, _ in walk_options(TrainConfig)]
    if override.is_delete() or override.is_add() or override.package is not None:
        raise OptionError(f"{text!r}: options can be set, name=value, but not added or removed")
    if override.is_sweep_override():
        raise OptionError(f"{text!r} is a sweep over several values; each run takes one")
    if name in groups:
        choice = override.value()
        if name == "variant" and isinstance(choice, str):
            choice = variant(choice).name
            text = f"variant={choice}"
        if choice not in groups[name]:
            raise OptionError(f"there is no {name}={choice}; choices are {', '.join(groups[name])}")
    elif name not in options:
        near = difflib.get_close_matches(name, [*options, *groups], n=1)
        last = [option for option in options if option.split(".")[-1] == name.split(".")[-1]]
        hint = f"; did you mean {(last or near)[0]}?" if last or near else "; --help lists all options"
        raise OptionError(f"there is no option {name}{hint}")
    return text


def _explain(error: BaseException) -> str:
    """One line that says what Hydra or OmegaConf found wrong."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    line = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
    name = getattr(cause, "full_key", None) or ""
    kinds = {option: kind for option, kind, _ in walk_options(TrainConfig)}
    if name in kinds:
        return f"{name} must be {type_name(kinds[name])}: {line}"
    return f"{name}: {line}" if name and name not in line else line
