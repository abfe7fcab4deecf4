"""The examples run, and what they learn is what they promise: shortly in every run, in earnest with ``-m slow``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
NAMES = sorted(file.stem for file in FOLDER.glob("*.py"))
#: What each needs beyond the project itself.
NEEDS = {"maskable_ppo": "sb3_contrib", "selfplay_pettingzoo": "pettingzoo"}

pytestmark = pytest.mark.train


def example(name: str) -> Callable[[list[str]], Any]:
    """The ``main`` of an example."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main  # type: ignore[no-any-return]


def test_all_are_here() -> None:
    assert NAMES == ["dqn_vector", "maskable_ppo", "selfplay_pettingzoo", "td_endgame"]


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        example(name)(["--help"])
    assert end.value.code == 0
    assert f"examples/{name}.py" in capsys.readouterr().out


# --- short ------------------------------------------------------------------------------------------


def test_maskable_ppo_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--steps", "128", "--envs", "2", "--rollout", "64", "--games", "2", "--save", str(tmp_path / "model")]
    won = example("maskable_ppo")(arguments)
    assert 0.0 <= won <= 1.0
    assert (tmp_path / "model.zip").exists()
    assert "128 steps" in capsys.readouterr().out


def test_dqn_runs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--steps", "60", "--envs", "16", "--batch", "32", "--width", "32", "--buffer", "500", "--games", "4"]
    won = example("dqn_vector")(arguments)
    assert 0.0 <= won <= 1.0
    assert "    60 steps" in capsys.readouterr().out


def test_selfplay_runs(capsys: pytest.CaptureFixture[str]) -> None:
    won = example("selfplay_pettingzoo")(["--updates", "2", "--batch", "2", "--width", "16", "--games", "2"])
    assert 0.0 <= won <= 1.0
    assert "    2 updates" in capsys.readouterr().out


def test_td_finds_the_win_of_the_tablebase() -> None:
    """Quick enough to be asked in full: White wins in 13 plies, so the value fades 12 times."""
    value, kept, result = example("td_endgame")([])
    assert value == pytest.approx(0.95**12, abs=0.01)
    assert kept == 1.0
    assert result == 1


# --- in earnest -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_maskable_ppo_beats_a_random_player() -> None:
    assert example("maskable_ppo")([]) >= 0.8


@pytest.mark.slow
def test_dqn_beats_a_random_player() -> None:
    assert example("dqn_vector")([]) >= 0.8


@pytest.mark.slow
def test_selfplay_gets_better_than_a_random_player() -> None:
    """A random player wins about half of its games against another."""
    assert example("selfplay_pettingzoo")([]) >= 0.65
