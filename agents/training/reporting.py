"""What a run shows: a live display on a terminal, plain lines elsewhere, scalars for TensorBoard."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from agents.training.evaluation import Score

#: Scalars for TensorBoard: name in a row of metrics, tag.
SCALARS = {
    "policy_loss": "loss/policy",
    "value_loss": "loss/value",
    "new_policy_loss": "new samples/policy loss",
    "new_value_loss": "new samples/value loss",
    "policy_entropy": "policy/entropy",
    "target_entropy": "policy/target entropy",
    "policy_kl": "policy/KL of target from network",
    "value_error": "value/mean absolute error",
    "value_calibration": "value/calibration error",
    "draw_rate": "games/draw rate",
    "first_rate": "games/win rate of the side that moves first",
    "truncated_rate": "games/broken off",
    "mean_length": "games/mean length",
    "games": "run/games",
    "iteration": "run/iteration",
    "learning_rate": "run/learning rate",
    "window": "run/replay window",
    "simulations_per_move": "run/simulations a move",
    "cpu_minutes": "run/minutes of processor time",
    "learner_share": "run/share of time in the learner",
    "positions_per_second": "speed/positions per second of self-play",
    "simulations_per_second": "speed/simulations per second of self-play",
    "evaluations_per_second": "speed/evaluations per second of self-play",
    "samples_per_second": "speed/samples per second of the learner",
}


def clock(seconds: float) -> str:
    """A duration as ``m:ss`` or ``h:mm:ss``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def short(number: float) -> str:
    """A count in few letters: ``950``, ``12.3k``, ``4.56M``."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def _loss(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "-"


def iteration_line(row: Mapping[str, Any]) -> str:
    """An iteration in one line."""
    return (
        f"iteration {row['iteration']:4} | {row['games']:,} games, {row['positions']:,} positions | "
        f"policy loss {_loss(row['policy_loss'])}, value loss {_loss(row['value_loss'])} | "
        f"{row['simulations_per_move']} simulations a move, {short(row['simulations_per_second'])}/s, "
        f"learner {short(row['samples_per_second'])}/s | {clock(row['seconds'])}, {row['left']} left"
    )


def score_line(score: Score) -> str:
    """A match in one line."""
    return (
        f"against {score.opponent} at {score.simulations} simulations: {score.points:6.1%} of the points "
        f"(+{score.won} ={score.drawn} -{score.lost}), Elo {elo_text(score)}"
    )


def elo_text(score: Score) -> str:
    """Elo difference with its interval; ``>`` and ``<`` where an end is infinite."""
    low = "" if score.elo_low is None else f"{score.elo_low:+.0f}"
    high = "" if score.elo_high is None else f"{score.elo_high:+.0f}"
    if score.elo is not None:
        return f"{score.elo:+.0f} ({low or '-inf'} to {high or 'inf'})"
    bound = low if score.points > 0.5 else high
    return f"{'>' if score.points > 0.5 else '<'} {bound}" if bound else "unknown"


def closing_table(scores: Iterable[Score]) -> Table:
    """The matches of the run's end."""
    table = Table(title="Strength of the trained network", title_justify="left")
    table.add_column("opponent")
    for name in ("simulations", "games", "won", "drawn", "lost", "points", "95% interval", "Elo"):
        table.add_column(name, justify="right")
    for s in scores:
        table.add_row(
            escape(s.opponent),
            f"{s.simulations:,}",
            str(s.games),
            str(s.won),
            str(s.drawn),
            str(s.lost),
            f"{s.points:.1%}",
            f"{s.points_low:.1%}-{s.points_high:.1%}",
            elo_text(s),
        )
    return table


class _Bars(Progress):
    """Progress bars, and the figures of the last iteration under them."""

    figures: RenderableType = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        yield self.figures


class Display:
    """The run on the screen.

    On a terminal: a bar for the whole run, one for what it does now, the figures of the last iteration. Elsewhere
    (a pipe, a log file): a line for each iteration and match.

    Args:
        console: where to; by default standard output.
    """

    def __init__(self, console: Console | None = None) -> None:
        if console is None:
            console = Console()
            if not console.is_terminal:
                console = Console(width=200)  # a log has no edge
        self.console = console
        self.live = self.console.is_terminal
        self._progress = _Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.fields[note]}"),
            console=self.console,
            transient=True,
            disable=not self.live,
        )
        self._run: TaskID | None = None
        self._phase: TaskID | None = None

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bars away; lines can still be said."""
        self._progress.stop()

    def say(self, text: str, style: str | None = None) -> None:
        """A line that stays."""
        self.console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    def show(self, table: Table) -> None:
        """A table that stays."""
        self.console.print(table)

    def run(self, fraction: float, note: str) -> None:
        """How far the run is (0 to 1)."""
        if self._run is None:
            self._run = self._progress.add_task("run", total=1.0, note="")
        self._progress.update(self._run, completed=min(fraction, 1.0), note=note)

    def phase(self, name: str, total: int) -> None:
        """Something new begins, of so many parts."""
        if self._phase is None:
            self._phase = self._progress.add_task(name, total=max(total, 1), note="")
        self._progress.reset(self._phase, description=name, total=max(total, 1), note="")

    def advance(self, done: int, note: str = "") -> None:
        """So many parts of it are done."""
        if self._phase is not None:
            self._progress.update(self._phase, completed=done, note=note)

    def iteration(self, row: Mapping[str, Any]) -> None:
        """The figures of an iteration."""
        if not self.live:
            self.say(iteration_line(row))
            return
        table, values = Table(box=None, padding=(0, 2, 0, 0)), []
        for name, value in (
            ("iteration", str(row["iteration"])),
            ("games", f"{row['games']:,}"),
            ("positions", f"{row['positions']:,}"),
            ("policy loss", _loss(row["policy_loss"])),
            ("value loss", _loss(row["value_loss"])),
            ("simulations/s", short(row["simulations_per_second"])),
            ("learner samples/s", short(row["samples_per_second"])),
        ):
            table.add_column(name, justify="right")
            values.append(value)
        table.add_row(*values)
        self._progress.figures = table
        self._progress.refresh()


class Scalars:
    """Scalars for TensorBoard, over the number of positions.

    Args:
        folder: where the event files go.
        positions: number of positions this session begins with; later points, of a session that was killed, are void.
    """

    def __init__(self, folder: Path, positions: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=positions + 1 if positions else None)

    def iteration(self, row: Mapping[str, Any]) -> None:
        """The figures of an iteration."""
        for name, tag in SCALARS.items():
            self._add(tag, row[name], row["positions"])
        self._writer.flush()

    def match(self, score: Score, positions: int, group: str = "match") -> None:
        """A match's score and Elo difference with interval."""
        name = f"{score.opponent} at {score.simulations} simulations"
        self._add(f"{group} points/{name}", score.points, positions)
        for part, value in (("Elo", score.elo), ("Elo low", score.elo_low), ("Elo high", score.elo_high)):
            self._add(f"{group} {part}/{name}", value, positions)
        self._writer.flush()

    def _add(self, tag: str, value: float | None, positions: int) -> None:
        if value is not None and math.isfinite(value):
            self._writer.add_scalar(tag, value, positions)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


class Stopwatch:
    """Seconds, from those of earlier sessions on.

    Args:
        before: what earlier sessions took.
        clock: what is counted: by default time, or the work of the processor with :func:`time.process_time`.
    """

    def __init__(self, before: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._before = before
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self._before + self._clock() - self._began
