"""The training loop: self-play, replay, learner, matches, state on disk; again, until the budget is used."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from agents.network.checkpoint import save_checkpoint
from agents.network.models import PolicyValueNet, build_model
from agents.training import evaluation
from agents.training.config import TrainConfig
from agents.training.evaluation import Referee, Score, clearly_worse
from agents.training.learner import Learner
from agents.training.lineage import load_initial
from agents.training.replay import Replay, window_size
from agents.training.reporting import Display, Scalars, Stopwatch, clock, score_line
from agents.training.run_folder import Counters, RunError, RunFolder, State
from agents.training.samples import SampleBlock
from draughts_env.actions import action_space

_MEASURED = 4096  # new samples on which the network is measured before it learns from them


class PlayedGames(Protocol):
    """What self-play gives: samples, and totals of games, positions, plies, draws and so on."""

    @property
    def block(self) -> SampleBlock: ...
    @property
    def stats(self) -> dict[str, float]: ...


class Player(Protocol):
    """Self-play, as the loop needs it (:class:`agents.training.selfplay.SelfPlay`)."""

    def play(
        self,
        model: PolicyValueNet,
        first_game: int,
        games: int,
        simulations: int,
        on_progress: Callable[[int, int], None],
    ) -> PlayedGames: ...


class Stopped(Exception):
    """The user asked the run to stop."""


class Training:
    """One session of a run: from its beginning, or from where the last session left its folder.

    Args:
        config: the run.
        folder: its folder, held by this process.
        display: the screen.
        player: self-play; by default the real one.
        referee: plays matches; by default the real ones.
        stop: asked now and then whether to stop.
    """

    def __init__(
        self,
        config: TrainConfig,
        folder: RunFolder,
        display: Display,
        player: Player | None = None,
        referee: Referee = evaluation.play,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.config = config
        self.folder = folder
        self.display = display
        self.variant = config.rules
        self._referee = referee
        self._stop = stop
        if player is None:
            from agents.training.selfplay import SelfPlay

            player = SelfPlay(self.variant, config.search, config.selfplay, config.run.seed)
        self._player = player
        self.counters = Counters()
        self.final: list[Score] = []
        self.replay = Replay(self.variant)
        self._unsaved: dict[int, SampleBlock] = {}
        self._chance = np.random.default_rng(config.run.seed)
        torch.manual_seed(config.run.seed)
        device = config.run.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        elif device == "cuda" and not torch.cuda.is_available():
            raise RunError("run.device=cuda, but PyTorch finds no CUDA device here")
        threads = config.run.threads or evaluation.cores()
        initial = config.run.initial
        model = build_model(config.network, self.variant)
        self.before: dict[str, Any] = {}
        if initial is not None and not folder.has_state:
            trained, self.before = load_initial(Path(initial), self.variant, config.network)
            model.load_state_dict(trained.state_dict())
        self.learner = Learner(model, config.learner, device, threads, trained=initial is not None)
        if folder.has_state:
            self._resume(folder.load())
        self._watch = Stopwatch(self.counters.seconds)
        self._work = Stopwatch(self.counters.cpu_seconds, time.process_time)
        self._saved_at = self._watch.seconds
        folder.cut_metrics(self.counters.iteration)
        self._scalars = Scalars(folder.path, self.counters.positions)

    # --- state ------------------------------------------------------------------------------------------

    def _resume(self, state: State) -> None:
        self.counters, self.before = state.counters, state.before
        try:
            self.learner.restore(state.tensors, state.counters.steps)
            torch.set_rng_state(state.tensors["chance/torch"])
            self._chance.bit_generator.state = state.chance
            self.final = [Score.from_dict(row) for row in state.final]
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(f"the state of {self.folder.path} does not fit its configuration: {error}") from None
        for iteration, block in state.blocks.items():
            if block is not None:
                self.replay.append(iteration, block)

    def _commit(self) -> None:
        """Make the present state the one that a later session begins from."""
        self.display.phase("saving", 1)
        self._save_network("latest")
        tensors = self.learner.tensors() | {"chance/torch": torch.get_rng_state()}
        blocks = {iteration: self._unsaved.get(iteration) for iteration in self.replay.iterations}
        self.counters.seconds, self.counters.cpu_seconds = self._watch.seconds, self._work.seconds
        self.folder.commit(
            State(
                self.counters,
                dict(self._chance.bit_generator.state),
                tensors,
                blocks,
                [s.to_dict() for s in self.final],
                self.before,
            )
        )
        self._unsaved.clear()
        self._saved_at = self._watch.seconds

    def _save_network(self, name: str, **notes: Any) -> Path:
        """Write the averaged network to the run's folder."""
        path = self.folder.file(f"{name}.safetensors")
        c = self.counters
        meta = {
            "run": self.config.run.name,
            "seed": self.config.run.seed,
            "iteration": c.iteration,
            "games": c.games,
            "positions": c.positions,
            "simulations": c.simulations,
            "steps": c.steps,
            "minutes": round(self._watch.seconds / 60, 2),
            "cpu_minutes": round(self._work.seconds / 60, 2),
            **({"before": self.before} if self.before else {}),
            **notes,
        }
        save_checkpoint(path, self.learner.ema, self.config.network, self.variant, meta)
        return path

    # --- budget -----------------------------------------------------------------------------------------

    def progress(self) -> float:
        """Share of the budget that is used; 1 or more when the run is at its end."""
        run = self.config.run
        used = [0.0]
        if run.minutes is not None:
            used.append(self._watch.seconds / (60 * run.minutes))
        if run.iterations is not None:
            used.append(self.counters.iteration / run.iterations)
        return max(used)

    def left(self) -> str:
        """Time left, as text."""
        run, seconds = self.config.run, self._watch.seconds
        found = []
        if run.minutes is not None:
            found.append(60 * run.minutes - seconds)
        if run.iterations is not None and self.counters.iteration:
            found.append((run.iterations - self.counters.iteration) * seconds / self.counters.iteration)
        return clock(min(found)) if found else "?"

    def simulations(self, progress: float) -> int:
        """Simulations a move at a share of the budget: growing by a constant factor for each unit of it."""
        end, play = self.config.search.simulations, self.config.selfplay
        if play.simulations_start is None or progress >= play.simulations_growth:
            return end
        return round(play.simulations_start * (end / play.simulations_start) ** (progress / play.simulations_growth))

    # --- the loop ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Train until the budget is used, then measure. Commits on the way.

        Raises:
            Stopped: the user asked to stop; everything finished so far is saved.
            OSError: the disk is full, or the like; the last commit stands.
        """
        torch.set_num_threads(self.config.run.threads or evaluation.cores())
        try:
            if self.progress() < 1:
                self.counters.finished = False
                self.final = []
            while self.progress() < 1:
                self._iteration(self.progress())
                seconds = self._watch.seconds
                if seconds - self.counters.evaluated_at >= 60 * self.config.evaluation.every_minutes:
                    self._evaluate()
                if seconds - self._saved_at >= self.config.run.checkpoint_seconds:
                    self._commit()
                self._ask()
            self._finish()
        except Stopped:
            self._commit()
            raise
        finally:
            self._scalars.close()

    def _ask(self) -> None:
        if self._stop():
            raise Stopped

    def _iteration(self, progress: float) -> None:
        """One round of self-play and learning. Until self-play is over, nothing has changed."""
        config, counters, display = self.config, self.counters, self.display
        games, simulations = config.selfplay.games_per_iteration, self.simulations(progress)
        display.run(progress, f"{self.left()} left")
        display.phase(f"iteration {counters.iteration + 1}: self-play", games)

        def on_progress(done: int, positions: int) -> None:
            display.advance(done, f"{done}/{games} games, {positions:,} positions")
            self._ask()

        # A copy: whoever evaluates it may move it to another device.
        played = self._player.play(copy.deepcopy(self.learner.ema), counters.games, games, simulations, on_progress)
        block, stats = played.block, played.stats
        block.validate(action_space(self.variant).n)

        counters.iteration += 1
        counters.games += games
        counters.positions += len(block)
        counters.simulations += int(stats["simulations"])
        row: dict[str, Any] = {
            "iteration": counters.iteration,
            "games": counters.games,
            "positions": counters.positions,
        }
        started = time.perf_counter()
        if len(block):
            self.replay.append(counters.iteration, block)
            self._unsaved[counters.iteration] = block
        c = config.learner
        self.replay.prune(window_size(counters.positions, c.window_start, c.window_growth, c.window_end))
        for iteration in self._unsaved.keys() - set(self.replay.iterations):
            del self._unsaved[iteration]
        count = min(len(block), _MEASURED)
        newest = len(self.replay) - len(block) + np.linspace(0, max(len(block) - 1, 0), count).astype(np.int64)
        measured = self.learner.measure(self.replay, newest)
        row |= {f"new_{name}" if name.endswith("loss") else name: value for name, value in measured.items()}

        # In all, reuse * positions samples are drawn, whatever the sizes of iterations.
        steps = max(0, int(counters.positions * c.reuse / c.batch_size) - counters.steps) if len(self.replay) else 0
        display.phase(f"iteration {counters.iteration}: learning", steps)
        learning = time.perf_counter()
        row["policy_loss"], row["value_loss"] = self.learner.train(
            self.replay, steps, self._chance, progress, lambda done: display.advance(done, f"{done}/{steps} steps")
        )
        now = time.perf_counter()
        counters.steps = self.learner.steps
        played_seconds = max(stats["seconds"], 1e-9)
        row |= {
            "steps": counters.steps,
            "seconds": round(self._watch.seconds, 3),
            "cpu_minutes": round(self._work.seconds / 60, 3),
            "left": self.left(),
            "simulations_per_move": simulations,
            "learning_rate": self.learner.learning_rate(progress),
            "window": len(self.replay),
            "draw_rate": stats["draws"] / games,
            "first_rate": stats["first_wins"] / games,
            "truncated_rate": stats["truncated"] / games,
            "mean_length": stats["mean_length"],
            "positions_per_second": stats["positions"] / played_seconds,
            "simulations_per_second": stats["simulations"] / played_seconds,
            "evaluations_per_second": stats["evaluations"] / played_seconds,
            "samples_per_second": steps * c.batch_size / max(now - learning, 1e-9),
            "learner_share": (now - started) / (now - started + played_seconds),
        }
        self.folder.append_metrics(row)
        self._scalars.iteration(row)
        display.iteration(row)

    # --- matches ----------------------------------------------------------------------------------------

    def _match(self, checkpoint: Path, opponent: str, simulations: int, games: int, seed: int) -> Score:
        done = 0
        self.display.phase(f"match against {opponent}", games)

        def on_game() -> None:
            nonlocal done
            done += 1
            self.display.advance(done, f"{done}/{games} games")
            self._ask()

        score = self._referee(checkpoint, self.variant, opponent, simulations, games, seed, on_game)
        self.display.say(score_line(score))
        self.folder.append_metrics(
            {"iteration": self.counters.iteration, "seconds": round(self._watch.seconds, 3), "match": score.to_dict()}
        )
        return score

    def _evaluate(self) -> None:
        """Matches against the fixed agents; the network becomes the best unless it is clearly worse than that one."""
        c, config = self.counters, self.config.evaluation
        latest = self._save_network("latest")
        scores = [
            self._match(latest, opponent, config.simulations, config.games, self.config.run.seed)
            for opponent in config.opponents
        ]
        for score in scores:
            self._scalars.match(score, c.positions)
        c.evaluated_at, c.evaluated_iteration = self._watch.seconds, c.iteration
        points = float(np.mean([score.points for score in scores])) if scores else 0.0
        has_best = c.best_score is not None and self.folder.file("best.safetensors").is_file()
        if has_best and clearly_worse(points, c.best_score or 0.0, sum(score.games for score in scores)):
            self.display.say("the network of an earlier evaluation remains the best")
            return
        c.best_score = max(points, c.best_score or 0.0) if has_best else points
        self._save_network("best", scores=[score.to_dict() for score in scores])

    def _finish(self) -> None:
        """The last evaluation and the closing table."""
        best = self.folder.file("best.safetensors")
        self._commit()
        if self.counters.evaluated_iteration < self.counters.iteration or not best.is_file():
            self._evaluate()
            self._commit()
        if not self.counters.finished:
            self.final = [
                self._match(best, match.opponent, match.simulations, match.games, self.config.run.seed + 1)
                for match in self.config.evaluation.final
            ]
            for score in self.final:
                self._scalars.match(score, self.counters.positions, "final")
            self.counters.finished = True
            self._commit()
