"""Games in the terminal, played by scripts."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from agents import Agent, Decision, Limit, load_agent
from agents.random_agent import RandomAgent
from draughts_env import Game, Position
from draughts_env.variants import Color, variant
from draughts_play.board_picture import board_picture
from draughts_play.terminal import Terminal


def play(
    *answers: str | type[BaseException],
    name: str = "english",
    color: Color = "black",
    agent: Agent | None = None,
    fen: str | None = None,
) -> str:
    """What a session prints when the answers are given one after the other, then the input ends."""
    out = io.StringIO()
    console = Console(file=out, width=100, highlight=False)
    script = iter(answers)

    def read(prompt: str) -> str:
        out.write(prompt)
        answer = next(script, EOFError)
        if isinstance(answer, str):
            out.write(answer + "\n")
            return answer
        raise answer

    rules = variant(name)
    opponent = agent or load_agent("alphabeta:depth=1", rules)
    Terminal(rules, opponent, color=color, fen=fen, console=console, read=read).run()
    assert next(script, None) is None, "the session ended early"
    return out.getvalue()


def test_end_of_input_leaves() -> None:
    assert play().endswith("Goodbye.\n")


def test_moves_by_text_and_by_number() -> None:
    text = play("11-15", "1", "quit")
    assert "1)\u00a09-13" in text
    assert text.count("White plays") == 2


def test_bad_input_never_ends_the_session() -> None:
    text = play(
        "",
        "   ",
        "0",
        "8",
        "999",
        "99999999999",
        "-",
        "xyzzy",
        "11-11",
        "1-99",
        "21-17",
        "11-20",
        "[bold]",
        "\u2603",
        "11-15",
    )
    assert "There is no move number 8: there are 7." in text
    assert "'xyzzy' is not understood as a move" in text
    assert "the piece on 21 is White's" in text
    assert "the man on 11 cannot go to 20" in text
    assert "'[bold]' is not understood" in text
    assert text.count("White plays") == 1


def test_says_why_a_capture_is_compulsory() -> None:
    text = play("9-14", fen="B:W22,32:B9,18")
    assert "You must capture" in text
    assert "capturing is compulsory" in text


def test_ambiguous_capture_is_asked_for_in_full() -> None:
    text = play("4x15", "pdn", "4x27x38x15", name="international", color="white", fen="W:WK4:B13,20,32,37")
    assert "1)\u00a04x27x38x15   2)\u00a04x31x42x15" in text
    assert "4x15 is ambiguous: 4x27x38x15 or 4x31x42x15" in text


def test_the_persons_men_are_nearest() -> None:
    black = play(color="black").splitlines()
    white = play(color="white").splitlines()
    assert next(line for line in black if "32" in line).split()[:2] == ["32", "w"]
    assert next(line for line in white if " 32 w" in line)
    rows = [line for line in black if " w " in line or " b " in line]
    assert " w" in rows[0]
    assert " b" in rows[-1]
    rows = [line for line in white if " w " in line or " b " in line]
    assert " b" in rows[0]
    assert " w" in rows[-1]


def test_flip_help_board_moves() -> None:
    text = play("flip", "board", "moves", "help", "HELP")
    assert text.count("1)\u00a09-13") == 2
    for command in ("help", "moves", "board", "hint", "undo", "flip", "pdn", "resign", "quit"):
        assert f"  {command:<7} " in text
    tops = [
        line.split()[0] for line in text.splitlines() if line.split()[1:2] in (["w"], ["b"]) and len(line.split()) == 8
    ]
    assert tops.count("32") == 1
    assert tops.count("1") == 2


def test_hint_plays_for_the_person() -> None:
    text = play("hint", fen="B:W18,20,25:B4,8,11")
    assert "Hint: 11-16, expected result +1.00" in text


def test_undo_takes_back_both_moves() -> None:
    text = play("undo", "11-15", "undo", "undo", "pdn")
    assert text.count("You have not moved yet.") == 2
    assert "\n*\n" in text  # no move is left


def test_undo_as_second_player_keeps_the_agents_first_move() -> None:
    text = play("1", "undo", "undo", "pdn", color="white")
    assert "You have not moved yet." in text
    body = text.split("[GameType")[1].splitlines()[2]
    assert body.startswith("1. ")
    assert body.endswith("*")
    assert len(body.split()) == 3


def test_win_is_announced_and_colours_are_swapped() -> None:
    text = play("11-16", "1", "yes", "quit", fen="B:W18,20,25:B4,8,11")
    assert "Black wins: White has no pieces left. You have won." in text
    assert "You play White against" in text


def test_loss_by_resignation_and_pdn(tmp_path: Path) -> None:
    file = tmp_path / "game.pdn"
    text = play("11-15", "resign", "what", f"pdn {file}", "pdn", "no")
    assert "White wins: resignation. You have lost." in text
    saved = file.read_text()
    assert '[Black "You"]' in saved
    assert '[White "alphabeta:depth=1"]' in saved
    assert '[Result "0-1"]' in saved
    assert saved.splitlines()[-1].endswith(" 0-1")
    assert saved in text


def test_game_goes_on_after_taking_back_at_the_end() -> None:
    text = play("resign", "undo", "11-15", "resign", "undo", "quit")
    assert text.count("You have lost") == 2
    assert text.count("White plays") == 1


def test_draw_is_announced() -> None:
    text = play("pdn", fen="B:WK30:BK3:H80")
    assert "Draw: " in text


def test_unwritable_file() -> None:
    text = play("pdn no/such/folder/game.pdn")
    assert "cannot be written: No such file or directory" in text


def test_algebraic_variants_show_names() -> None:
    text = play("c3-d4", "quit", name="russian", color="white")
    assert "c3-b4" in text
    assert "Black plays" in text


class Failing(RandomAgent):
    def choose(self, game: Game, limit: Limit | None = None) -> Decision:
        raise RuntimeError("no [idea]")


def test_an_agent_that_fails_does_not_end_the_session() -> None:
    text = play("11-15", "no", agent=Failing())
    assert "The agent has failed: no [idea]." in text
    assert "Black wins: the agent has failed." in text


def test_interrupt_asks() -> None:
    text = play(KeyboardInterrupt, "n", "11-15", KeyboardInterrupt, "yes")
    assert text.count("Leave the game?") == 2
    assert "White plays" in text
    assert text.endswith("Goodbye.\n")
    assert play(KeyboardInterrupt, KeyboardInterrupt).endswith("Goodbye.\n")
    assert play(KeyboardInterrupt, EOFError).endswith("Goodbye.\n")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupt_while_the_agent_thinks() -> None:
    code = "from draughts_play.cli import main; main()"
    command = [sys.executable, "-u", "-c", code, "play", "-t", "-c", "white", "-a", "alphabeta:depth=40"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while "You play White" not in process.stdout.readline():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate("y\n", timeout=30)
    assert process.returncode == 0, err
    assert "Goodbye" in out
    assert "Traceback" not in err


def test_colour_by_chance() -> None:
    def color(seed: int) -> str:
        out = io.StringIO()

        def read(_: str) -> str:
            raise EOFError

        rules = variant("english")
        Terminal(rules, RandomAgent(), console=Console(file=out), read=read, seed=seed).run()
        return out.getvalue().split("You play ")[1].split()[0]

    assert {color(seed) for seed in range(10)} == {"Black", "White"}
    assert color(3) == color(3)


def picture(position: Position, make: Callable[[io.TextIOWrapper], Console], **options: object) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    console = make(stream)
    console.print(board_picture(position, console, **options))  # type: ignore[arg-type]
    stream.seek(0)
    return stream.read()


def test_picture_in_colour_and_without() -> None:
    position = Position.from_fen("W:W31,K1:B20,K32", "english")
    plain = picture(position, lambda file: Console(file=file, color_system=None))
    assert "\x1b" not in plain
    for cell in (" 1 W", "31 w", "20 b", "32 B"):
        assert cell in plain
    colored = picture(position, lambda file: Console(file=file, force_terminal=True, color_system="truecolor"))
    assert "\x1b[" in colored
    assert colored.count("●") == 2
    assert colored.count("♛") == 2


def test_a_draw_is_offered_and_accepted() -> None:
    text = play("draw", "undo", "draw", "no", fen="B:W32,31:B1,2")
    assert text.count("Draw: agreement.") == 2
    assert "  draw    offer a draw" in play("help")


def test_an_agent_that_stands_better_declines_and_is_bound() -> None:
    text = play("draw", "draw", "resign", "no", fen="B:WK32,K31,K30:BK1,2")
    assert "White declines: it has 40 moves to win or show an advantage, or the game is drawn." in text
    text = play("draw", "resign", "no", name="russian", color="white", fen="W:W32:B5,6,7,8")
    assert "Black declines." in text
