"""Configuration: the files agree with the schema, mistakes are named, help is complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from agents.options import OptionError, walk_options
from agents.training.command import help_text, main
from agents.training.compose import compose_config, config_groups, config_text, differences, read_config
from agents.training.config import SearchConfig, TrainConfig
from draughts_env.errors import DraughtsError, VariantError

ROOT = Path(__file__).parent.parent
CONFIGS = ROOT / "configs"


def test_every_choice_composes() -> None:
    for group, choices in config_groups(CONFIGS).items():
        for choice in choices:
            compose_config([f"{group}={choice}"], CONFIGS)


def test_files_explain_every_option_they_set() -> None:
    for file in CONFIGS.rglob("default.yaml"):
        for line in file.read_text().splitlines():
            if line and line[0] not in " #" and not line.startswith("final:"):
                assert " # " in line, f"{file}: {line}"


def test_every_option_has_an_explanation_and_is_in_the_help() -> None:
    text = help_text(CONFIGS)
    for name, _, help in walk_options(TrainConfig):
        assert help, name
        assert name in text
        assert help in text
    for group, choices in config_groups(CONFIGS).items():
        assert f"{group}=" in text
        assert all(choice in text for choice in choices)
    assert "Examples:" in text


def test_overrides_and_aliases() -> None:
    config = compose_config(
        ["variant=polish", "search.simulations=96", "run.minutes=2", "network=sparse_large"], CONFIGS
    )
    assert config.variant.name == "international"
    assert config.search.simulations == 96
    assert config.run.minutes == 2
    assert config.network.hidden1 == 512
    assert config.run.name == "international-sparse_large"
    assert compose_config(["variant.name=checkers"], CONFIGS).variant.name == "english"
    assert compose_config(["evaluation.final=[{opponent: random, games: 4}]"], CONFIGS).evaluation.final[0].games == 4
    assert (
        compose_config(
            ["selfplay.games_per_iteration=7", "variant=international"], CONFIGS
        ).selfplay.games_per_iteration
        == 7
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("search.simulatons=3", "there is no option search.simulatons; did you mean search.simulations?"),
        ("simulations=3", "there is no option simulations; did you mean search.simulations?"),
        ("bogus=3", "there is no option bogus"),
        ("network=cnn", "there is no network=cnn; choices are resmlp, resnet, sparse"),
        ("variant=chess", "unknown variant 'chess'"),
        ("variant.name=chess", "unknown variant 'chess'"),
        ("search.simulations=many", "search.simulations must be a whole number"),
        ("search.simulations=1.5", "search.simulations must be a whole number"),
        ("search.simulations=null", "search.simulations must be a whole number"),
        ("search.simulations=0", "search.simulations must be at least 1, not 0"),
        ("search.root=ucb", "search.root must be one of gumbel, puct, not 'ucb'"),
        ("learner.learning_rate=0", "learner.learning_rate must be greater than 0"),
        ("learner.learning_rate=nan", "learner.learning_rate must be greater than 0"),
        ("learner.learning_rate=inf", "learner.learning_rate must be a finite number, not inf"),
        ("search.simulations=99999999999999", "search.simulations must be at most 1000000"),
        ("selfplay.max_plies=99999999999999", "selfplay.max_plies must be at most 10000"),
        ("network.hidden1=99999999999999", "network.hidden1 must be at most 8192"),
        ("run.seed=99999999999999999999999", "run.seed must be at most 9223372036854775807"),
        ("variant=italian", "there is no variant=italian; choices are brazilian, english"),
        ("learner.reuse=true", "learner.reuse must be a number"),
        ("learner.value_mix=1.5", "learner.value_mix must be at most 1"),
        ("run.minutes=null", "the run would never end"),
        ("run.name=a/b", "run.name must be the name of a folder"),
        ("run.name=..", "run.name must be the name of a folder"),
        ("evaluation.opponents=random", "evaluation.opponents must be a list"),
        ("evaluation.final=[{opponent: random, game: 4}]", "Key 'game' not in 'MatchConfig'"),
        ("evaluation.final=[{opponent: random, games: 0}]", "evaluation.final[0].games must be at least 2"),
        ("selfplay.simulations_start=100", "selfplay.simulations_start must not be greater than search.simulations"),
        ("learner.window_end=10", "learner.window_start must not be greater than learner.window_end"),
        ("+search.new=1", "options can be set, name=value, but not added or removed"),
        ("~search", "options can be set, name=value, but not added or removed"),
        ("search.simulations=1,2", "is a sweep over several values"),
        ("search.simulations", "cannot read 'search.simulations'"),
        ("--multirun", "there is no option --multirun"),
        ("hydra.run.dir=x", "there is no option hydra.run.dir"),
    ],
)
def test_mistakes_are_one_clear_message(argument: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([argument], CONFIGS) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1


def test_errors_are_of_the_project() -> None:
    with pytest.raises(VariantError):
        compose_config(["variant=chess"], CONFIGS)
    with pytest.raises(DraughtsError):
        compose_config(["bogus=1"], CONFIGS)
    with pytest.raises(OptionError, match="there is no configuration in"):
        compose_config([], ROOT / "docs")


def test_an_unknown_opponent_is_found_before_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluation.opponents=[stockfish]", f"run.folder={tmp_path}"], CONFIGS) == 2
    assert "error: unknown agent 'stockfish'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_text_round_trip_and_differences() -> None:
    config = compose_config(["variant=international", "search=puct"], CONFIGS)
    assert read_config(config_text(config), "here") == config
    assert differences(config, config) == []
    other = compose_config(
        ["variant=international", "search=puct", "run.minutes=99", "evaluation.games=4", "search.c_puct=2.25"], CONFIGS
    )
    assert differences(config, other) == [f"search.c_puct: {config.search.c_puct} -> 2.25"]
    # Options that came later take their defaults.
    older = OmegaConf.create(config_text(config))
    del older.search["c_puct"]
    assert read_config(OmegaConf.to_yaml(older), "here").search.c_puct == SearchConfig().c_puct
    for text in ("a: 1", "- 3", "search: {simulations: x}", "{", ""):
        if text:
            with pytest.raises(OptionError, match="here is not a configuration of this version"):
                read_config(text, "here")


def test_show_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-config", "run.minutes=3"], CONFIGS) == 0
    assert read_config(capsys.readouterr().out, "here").run.minutes == 3


def test_the_script_neither_changes_folder_nor_leaves_files(tmp_path: Path) -> None:
    for arguments, code in ((["--help"], 0), (["search.simulatons=3"], 2)):
        done = subprocess.run(
            [sys.executable, str(ROOT / "train.py"), *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert ("Usage: python train.py" in done.stdout) == (code == 0)
    assert list(tmp_path.iterdir()) == []
