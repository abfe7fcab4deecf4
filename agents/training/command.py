"""The command behind ``train.py``: arguments, help, starting, going on, stopping."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from agents.files import replace_file
from agents.options import type_name, walk_options
from agents.training.compose import (
    CHANGEABLE,
    compose_config,
    config_groups,
    config_text,
    differences,
    read_config,
)
from agents.training.config import TrainConfig
from draughts_env.errors import DraughtsError

if TYPE_CHECKING:
    from agents.training.reporting import Display
    from agents.training.run_folder import RunFolder

_EXAMPLES = """\
Examples:
  python train.py                                   English draughts from nothing, about 11 minutes on 2 cores
  python train.py variant=international             another game
  python train.py run=hour                          an hour
  python train.py network=sparse_large search.simulations=96 run.name=large
  python train.py run.minutes=30                    30 minutes in all; a run of that name goes on where it was
  python train.py run.initial=checkpoints/english.safetensors run.name=more     more training for a network
  python train.py run.minutes=null run.iterations=50 run.name=exact      the same weights every time
  tensorboard --logdir runs                         curves of all runs

A run lives in RUN.FOLDER/RUN.NAME. Stop it with Ctrl-C, or however you like: the same command goes on.
"""


def help_text(folder: Path) -> str:
    """What ``--help`` prints."""
    lines = [
        "Usage: python train.py [GROUP=CHOICE ...] [OPTION=VALUE ...]",
        "",
        "Trains a network by self-play and measures it against fixed agents.",
        "",
        "  --help         this text",
        "  --show-config  print the whole configuration and exit",
        "",
        "Groups (a choice sets several options; the files are in configs/):",
    ]
    lines += [f"  {group + '=':12} {', '.join(choices)}" for group, choices in config_groups(folder).items()]
    lines += ["", _EXAMPLES, "Options (with the values of the default run):"]
    default = compose_config([], folder)
    section = ""
    for name, kind, help in walk_options(TrainConfig):
        group, _, own = name.partition(".")
        if group != section:
            section = group
            lines.append("")
        value = getattr(getattr(default, group), own)
        shown = "null" if value is None else str(value)
        if isinstance(value, list):
            lines.append(f"  {name:34} {type_name(kind)}: {help}")
        else:
            lines.append(f"  {name + '=' + shown:34} {help}")
    lines += ["", "Between sessions of one run these may change: " + ", ".join(CHANGEABLE) + "."]
    return "\n".join(lines)


class _Stop:
    """Remembers that the user wants to stop. The second signal ends the process at once."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self.signal = 0

    def __call__(self) -> bool:
        return self.signal != 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            # Like SIGKILL: whatever is being written has not been put into place yet.
            os._exit(128 + number)
        self.signal = number
        self._display.say("stopping at the next safe point (again: at once, with what was saved last) ...")

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Signals mean stop within this block."""
        before = {number: signal.signal(number, self.handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def main(arguments: Sequence[str], configs: Path) -> int:
    """Run the command.

    Args:
        arguments: after the program's name.
        configs: folder of the configuration files.

    Returns:
        Exit code: 0 the run is finished, 2 wrong arguments or an unusable folder, 128 + signal when it was stopped.
    """
    if any(argument in ("-h", "--help", "help") for argument in arguments):
        print(help_text(configs))
        return 0
    show = "--show-config" in arguments
    try:
        config = compose_config([a for a in arguments if a != "--show-config"], configs)
        if show:
            print(config_text(config), end="")
            return 0
        return _train(config, " ".join(["python train.py", *arguments]))
    except DraughtsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: there is not enough memory: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error}; what was saved last stands, and the same command goes on from it", file=sys.stderr)
        return 2


def _train(config: TrainConfig, command: str) -> int:
    # PyTorch's threads wait by spinning, and on cores that others use too that is a hundred times slower than sleeping.
    # The variable is read when PyTorch is loaded, which nothing has done so far.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from agents.training.evaluation import check_opponent
    from agents.training.reporting import Display
    from agents.training.run_folder import RunFolder

    for opponent in {*config.evaluation.opponents, *(match.opponent for match in config.evaluation.final)}:
        check_opponent(opponent, config.rules)
    with RunFolder(Path(config.run.folder) / config.run.name) as folder, Display() as display:
        _prepare(config, folder)
        stop = _Stop(display)
        with stop.listening():
            return _session(config, folder, display, stop, command)


def _prepare(config: TrainConfig, folder: RunFolder) -> None:
    """Compare with the configuration the run was begun with, or note it.

    Raises:
        RunError: it is another run's.
    """
    from agents.training.run_folder import RunError

    path = folder.file("config.yaml")
    if folder.has_state:
        if not path.is_file():
            raise RunError(f"{folder.path} holds a run without its config.yaml; choose another run.name")
        changed = differences(read_config(path.read_text(encoding="utf-8", errors="replace"), str(path)), config)
        if changed:
            raise RunError(
                f"the run in {folder.path} was begun with other options; choose another run.name, or put back\n  "
                + "\n  ".join(changed)
            )
    replace_file(path, config_text(config).encode())


def _session(config: TrainConfig, folder: RunFolder, display: Display, stop: _Stop, command: str) -> int:
    from agents.training.loop import Stopped, Training
    from agents.training.reporting import clock, closing_table

    began = time.perf_counter()
    known = folder.peek()[0] if folder.has_state else None
    training = Training(config, folder, display, stop=stop)
    counters = training.counters
    if known is None:
        display.say(f"training {config.variant.name} with network {config.network.name} in {folder.path}")
        if training.before:
            display.say(
                f"beginning with the weights of {config.run.initial}, behind which are "
                f"{training.before['games']:,} games and {clock(60 * training.before['minutes'])} of training"
            )
    else:
        display.say(
            f"going on with {folder.path}: iteration {known.iteration}, {known.games:,} games, "
            f"{known.positions:,} positions, {known.steps:,} steps, {clock(known.seconds)} of training"
        )
    if known is not None and known.finished and training.progress() >= 1:
        display.say(
            "this run is finished; run.minutes=... or run.iterations=... extends it, run.name=... begins another"
        )
    else:
        try:
            training.run()
        except Stopped:
            display.say(f"stopped after iteration {counters.iteration}; the same command goes on: {command}")
            return 128 + stop.signal
    display.close()
    if training.final:
        display.show(closing_table(training.final))
    best = folder.file("best.safetensors")
    display.say(
        f"{counters.iteration:,} iterations, {counters.games:,} games, {counters.positions:,} positions, "
        f"{counters.steps:,} steps; training took {clock(counters.seconds)} "
        f"({clock(counters.cpu_seconds)} of processor time), "
        f"this session {clock(time.perf_counter() - began)}"
    )
    display.say(f"the network: {best}")
    display.say(f"play it:     draughts play --terminal --variant {config.variant.name} --agent {best}")
    display.say(f"its curves:  tensorboard --logdir {config.run.folder}")
    return 0
