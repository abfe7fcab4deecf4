"""Writing PDN: it is read back as it was, and by others; the command that checks files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pdn_helpers import ALL, AMBIGUOUS, RULES, pushed, random_game, read_one, short
from typer.testing import CliRunner

from draughts_env import Game, Position, variant
from draughts_env.pdn import write_game

# --- writing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_is_read_back(name: str) -> None:
    rng = random.Random(7)
    for number in range(12):
        fen = random_game(name, rng, plies=rng.randint(1, 40)).fen if number % 2 else None
        game = random_game(name, rng, fen)
        text = write_game(game, {"White": 'A "B" \\C', "Event": f"{number}"})
        for default in (None, "international"):
            record = read_one(text.encode(), default)
            assert record.problems == []
            assert (record.start, record.moves, record.quiet) == (game.start, game.moves, Game(name, fen).quiet)
            assert record.game() == game
            outcome = game.outcome()
            assert record.winner == (outcome.winner if outcome else None)
            assert write_game(record) == text
        assert max(map(len, text.split("\n\n")[1].splitlines())) <= 80


def test_everything_about_a_game_is_written() -> None:
    text = (
        '[Event "x"]\n[Result "0-2"]\n[GameType "20"]\n\n{before} 1. 32-28 $1 {a comment that is long enough for more '
        "than one line, so that it must be wrapped somewhere} 19-23 (1... 18-23 {c} 2. 38-32 (2. 37-32 ? 23-29) 12-18) "
        '(1... 17-22) 2. 28x19 ! 14x23 /FEN "W:W28,33:B17,18"/ 3. 28-23 {end} 1-0'
    )
    game = read_one(text)
    written = write_game(game)
    again = read_one(written)
    game.problems.clear()
    again.problems.clear()
    again.line = game.line
    assert again == game
    assert max(map(len, written.splitlines())) <= 80
    assert "(2. 37-32 ? 23-29)" in written.replace("\n", " ")
    assert read_one(write_game(game, {"Event": "y"}, "2-0")).result == "2-0"


def test_ambiguous_captures_are_written_in_full() -> None:
    for case in AMBIGUOUS:
        name, fen = RULES[case]["variant"], RULES[case]["fen"]
        for move in Position.from_fen(fen, name).legal_moves():
            game = pushed(Game(name, fen), move.full)
            record = read_one(write_game(game))
            assert (record.moves, record.problems) == ([move], [])


def test_landing_squares_are_those_of_the_standard() -> None:
    """Where the piece does not turn, it lands right behind the man that it takes."""
    fen = RULES["IN-22"]["fen"]
    written = {
        write_game(pushed(Game("international", fen), move.full)).split()[-2]
        for move in Position.from_fen(fen, "international").legal_moves()
    }
    assert written == set(RULES["IN-22"]["legal"])


def written_moves(game: Game) -> list[str]:
    words = write_game(game).split("\n\n")[1].split()
    return [word.rpartition("...")[2] for word in words[:-1] if not word.endswith(".")]


def strewn(name: str, rng: random.Random) -> Position:
    """A position of two white kings amid black pieces, full of ambiguous captures."""
    board = variant(name).geometry
    squares = rng.sample(range(1, board.squares + 1), rng.randint(5, board.squares // 2))
    white, black = board.mask(squares[:2]), board.mask(squares[2:])
    return Position(name, white, black, white | black & board.bottom, "white")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALL)
def test_pydraughts_reads_what_is_written(name: str) -> None:
    """Not games that begin with Black from a FEN: it takes their first move twice, its own games' as well."""
    reader = pytest.importorskip("draughts.PDN").PDNReader
    rng = random.Random(3)
    games = [random_game(name, rng) for _ in range(8)]
    for game in games:
        [record] = reader(write_game(game, {"Event": "x"})).games
        assert record.moves == written_moves(game)
        assert record.tags["Event"] == "x"
        assert record.game_ending == read_one(write_game(game)).result
    together = reader("\n".join(map(write_game, games))).games
    assert [record.moves for record in together] == [written_moves(game) for game in games]
    if variant(name).first == "white":
        fen = next(g.position for g in _games(name, rng) if g.turn == "white").fen
        game = random_game(name, rng, fen)
        assert reader(write_game(game)).games[0].moves == written_moves(game)


def _games(name: str, rng: random.Random) -> Iterator[Game]:
    while True:
        yield random_game(name, rng, plies=rng.randint(10, 30))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["english", "international", "russian", "brazilian"])
def test_py_draughts_reads_what_is_written(name: str) -> None:
    """It knows no English draughts; its American board starts with White, and plays our games if a FEN says Black."""
    boards = pytest.importorskip("draughts.boards.american").__package__
    module = {"english": "american", "international": "standard"}.get(name, name)
    board = pytest.importorskip(f"{boards}.{module}").Board
    rng = random.Random(3)
    for number in range(10):
        fen = random_game(name, rng, plies=rng.randint(1, 40)).position.fen if number % 2 else None
        game = random_game(name, rng, fen)
        tags = {"SetUp": "1", "FEN": game.start.fen} if name == "english" else None
        end = board.from_pdn(write_game(game, tags))
        assert Position.from_fen(end.fen.split('"')[1], name) == game.position
    ambiguous = 0
    while ambiguous < 30 and name != "english":
        position = strewn(name, rng)
        for move in position.legal_moves():
            if len(move.path) == 2 and sum(short(other) == short(move) for other in position.legal_moves()) > 1:
                continue  # 10x3 in full, where 10x17x3 is possible too: it takes 10x3 for either
            game = pushed(Game(name, position.fen), move.full)
            end = board.from_pdn(write_game(game))
            assert Position.from_fen(end.fen.split('"')[1], name) == game.position
            ambiguous += len(move.short_path) > 2


def test_their_pdn_is_read() -> None:
    pytest.importorskip("draughts.boards.standard")
    from draughts.boards.standard import Board

    board = Board()
    for _ in range(30):
        board.push(board.legal_moves[0])
    record = read_one(board.pdn)
    assert (record.variant, len(record.moves)) == (variant("international"), 30)
    assert not record.errors


# --- the command ------------------------------------------------------------------------------------


def check(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    from draughts_play.cli import app

    result = CliRunner().invoke(app, ["pdn", "check", *arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_check_reports(tmp_path: Path) -> None:
    good, bad, empty = (tmp_path / f"{name}.pdn" for name in ("good", "bad", "empty"))
    good.write_text("1. 32x28 19-23 *")
    bad.write_text("1. 32-28 a b c 19-23 1-0\n\n36x27 1-0\n")
    empty.write_text("nothing\n")
    assert check(str(good)) == (
        0,
        f"{good}: 1 game, 2 plies, 0 errors, 1 warning\n"
        "  game 1, move 1 (ply 1), line 1, column 4: warning: 32x28 is written as a capture but takes nothing\n",
        "",
    )
    status, out, _ = check("--limit", "2", "-v", "polish", str(bad), str(empty))
    lines = out.splitlines()
    assert status == 1
    assert lines[0] == f"{bad}: 2 games, 2 plies, 1 error, 3 warnings"
    assert lines[1].startswith("  game 2, move 1 (ply 1), line 3, column 1: error: 36x27: ")
    assert lines[2].startswith("  game 1, move 1 (ply 1), line 1, column 10: warning: 'a'")
    assert lines[3:] == ["  and 2 more", f"{empty}: 0 games, 0 plies, 0 errors, 0 warnings", "  there is no game in it"]


def test_check_goes_on_after_unreadable_files(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pdn"
    bad.write_text("1. 11-11 *")
    status, out, err = check(str(tmp_path / "none.pdn"), str(tmp_path), str(bad))
    assert status == 2
    assert out.startswith(f"{bad}: 1 game, 0 plies, 1 error")
    assert [line.partition(" cannot")[0] for line in err.splitlines()] == [
        f"draughts: {tmp_path / 'none.pdn'}",
        f"draughts: {tmp_path}",
    ]
    assert check("-", stdin="1. 11-15 *")[:2] == (0, "-: 1 game, 1 ply, 0 errors, 0 warnings\n")
    assert check("-v", "chess", str(bad))[0] == 2
