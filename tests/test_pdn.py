"""Reading PDN: what is understood, what is made of it, and where problems are reported.

The cases of tests/data are in test_pdn_cases.py, writing is in test_pdn_writing.py.
"""

from __future__ import annotations

import io
import random
import re
from pathlib import Path
from typing import Any

import pytest
from pdn_helpers import AMBIGUOUS, RULES, pushed, random_game, read_one, short, texts, warned

from draughts_env import DraughtsError, Game, GameOverError, Move, Position, VariantError, pdn_lines, variant
from draughts_env.pdn import PdnError, read_games, write_game
from draughts_env.pdn_builder import MAX_PROBLEMS

# --- ambiguous captures -----------------------------------------------------------------------------


def continued(position: Position, others: list[Position], rng: random.Random) -> list[Move] | None:
    """Moves that are legal from a position and, written short, from none of the others."""
    for _ in range(300):
        now, moves, alive = position, [], others
        for _ in range(12):
            legal = now.legal_moves()
            if not legal:
                break
            move = rng.choice(legal)
            moves.append(move)
            now = now.play(move)
            alive = [
                other.play(same)
                for other in alive
                for same in other.legal_moves()
                if (same.origin, same.target) == (move.origin, move.target)
            ]
            if not alive:
                return moves
    return None


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_the_rest_of_the_game_decides(case: str) -> None:
    name, fen = RULES[case]["variant"], RULES[case]["fen"]
    position = Position.from_fen(fen, name)
    rng = random.Random(1)
    decided = 0
    for move in position.legal_moves():
        others = [m for m in position.legal_moves() if short(m) == short(move) and m != move]
        rest = continued(position.play(move), [position.play(m) for m in others], rng) if others else None
        if rest is not None:
            text = f'[FEN "{fen}"]\n{" ".join(map(short, [move, *rest]))} *'
            game = read_one(text, name)
            assert game.moves == [move, *rest]
            assert game.problems == []
            decided += 1
    assert decided >= 2


def test_what_stays_ambiguous_is_said() -> None:
    games = list(read_games('1. 32-28 *\n[FEN "W:WK47:B14,19,29,31,42"]\n1. 47x36 1-0', "international"))
    [warning] = games[1].problems
    assert games[1].moves == [Position.from_fen("W:WK47:B14,19,29,31,42", "international").legal_moves()[0]]
    assert (warning.kind, warning.game, warning.ply, warning.line, warning.column) == ("warning", 2, 1, 3, 4)
    assert "47x36 is ambiguous" in warning.message
    assert "x20x9x36" in warning.message
    assert "x24x13x36" in warning.message


def test_readings_that_come_to_the_same_position() -> None:
    """Whichever of 32 and 37 was taken first, the king on 46 takes the other."""
    text = '[FEN "W:WK4,K46:B1,13,20,32,37"] 1. 4x15 1-6 2. 46x23 6-11 *'
    game = read_one(text, "international")
    assert len(game.moves) == 4
    assert game.moves[0].captured | game.moves[2].captured == {13, 20, 32, 37}
    [warning] = game.problems
    assert warning.ply == 1
    assert "4x15 is ambiguous" in warning.message
    list(game.positions())


def test_a_capture_in_full_is_not_ambiguous() -> None:
    game = read_one('[FEN "W:WK47:B14,19,29,31,42"]\n1. 47x38x20x9x36 *', "international")
    assert (game.moves[0].captured, game.problems) == ({14, 29, 31, 42}, [])
    game = read_one('[FEN "W:WK47:B14,19,29,31,42"]\n1. 47x24x36 *', "international")
    assert (game.moves[0].captured, game.problems) == ({19, 29, 31, 42}, [])


def test_captured_men_in_the_place_of_landing_squares() -> None:
    game = read_one('[FEN "W:WK47:B14,19,29,31,42"]\n1. 47x36x42x29x14x31 *', "international")
    assert game.moves[0].captured == {14, 29, 31, 42}
    assert "captured men" in warned(game)[0]


def test_readings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdn_lines, "MAX_READINGS", 1)
    game = read_one('[FEN "W:WK47:B14,19,29,31,42"]\n1. 47x36 *', "international")
    assert len(game.moves) == 1
    assert "not all were followed" in warned(game)[0]


# --- problems and their places ----------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places(end: str) -> None:
    lines = ['[Event "a"]', "", "1. 32-28 19-23", "2. 28x19 14x24 3. 37-32 *", "", "1. 33-29 x *"]
    first, second = read_games(end.join(lines).encode(), "international")
    [error] = first.problems
    assert (error.kind, error.game, error.ply, error.line, error.column) == ("error", 1, 4, 4, 10)
    assert error.message.startswith("14x24: ")
    assert error.message.endswith("; 1 further move is not read")
    assert str(error).startswith("game 1, move 2 (ply 4), line 4, column 10: error: 14x24")
    assert (texts(first), first.unread) == (["32-28", "19-23", "28x19"], 2)
    assert texts(second) == ["33-29"]
    assert (second.line, second.problems[0].line, second.problems[0].column) == (6, 6, 10)


def test_places_far_into_a_file() -> None:
    text = "1. 32-28 19-23 2. 28x19 14x23 *\n\n" * 4_000 + "  1. 32-27 19-24 2. 99-98 *"
    *_, last = read_games(text.encode(), "international")
    assert last.number == 4_001
    assert (last.problems[0].line, last.problems[0].column) == (8_001, 21)


def test_problems_are_counted_not_all_listed() -> None:
    game = read_one("1. 32-28 " + "what " * 1000 + "19-23 *", "international")
    assert texts(game) == ["32-28", "19-23"]
    assert len(game.problems) == MAX_PROBLEMS + 1
    assert game.problems[-1].message == "900 further problems are not listed"


def test_wrong_signs_are_one_warning() -> None:
    game = read_one("1. 32x28 19x23 2. 28-19 14-23 3. 37x32 *", "international")
    assert len(game.moves) == 5
    [message] = warned(game)
    assert message == "32x28 is written as a capture but takes nothing (so are 4 more of this game)"


@pytest.mark.parametrize(
    "broken",
    [
        "1. 32-28 { never closed",
        "1. 32-28 19-23 (18-23 2. 37-32",
        "1. 32-28 19-23 (18-23 ((2. 37-32 1-0",
        '[Event "never closed\n1. 32-28 *',
        '[FEN "W:W99:B1"]\n1. 32-28 *',
        '[GameType "40"]\n1. 32-28 *',
        "1. 32-28 }}}] ))) *",
        "1. 32-28 1a-b *",
        '1. 32-28 /FEN "rubbish"/ 19-23 *',
        "1. 32-28 \x00\x01\xff\xfe *",
        "1. 36x27 1-0",
        "word 1956 ((( [ {} words 12-05-2019",
    ],
)
def test_a_broken_game_does_not_lose_the_next(broken: str) -> None:
    text = f'[Event "1"]\n1. 33-29 *\n\n[Event "2"]\n{broken}\n\n[Event "3"]\n1. 34-29 {{fine}} 19-23 1-0\n'
    for encoding in ("utf-8", "cp1252"):
        games = list(read_games(text.encode(encoding), "international"))
        assert (games[0].tag("Event"), texts(games[0])) == ("1", ["33-29"])
        assert (games[-1].tag("Event"), texts(games[-1]), games[-1].problems) == ("3", ["34-29", "19-23"], [])
        assert any(game.problems for game in games[1:-1])


def test_games_without_tags_and_results() -> None:
    games = list(read_games("1. 32-28 19-23 2. 28x19\n\n1. 33-29 18-22\n\n1. 34-29 ( 1. 33-29 18-23", "international"))
    assert [texts(game) for game in games] == [["32-28", "19-23", "28x19"], ["33-29", "18-22"], ["34-29"]]


def test_nothing_to_read() -> None:
    for text in ("", "\n\n", "% escaped\n", "; note", "{ note }", "\ufeff"):
        assert list(read_games(text)) == list(read_games(text.encode())) == []


# --- sources ----------------------------------------------------------------------------------------

CONTENT = '[White "Bertè"]\n1. 32-28 {où} 19-23 *\n\n[White "é—x"]\n1. 33-29 *\n'


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "games.pdn"
    path.write_text(CONTENT, encoding="utf-8")
    content = CONTENT.encode()
    with open(path, encoding="utf-8") as as_text, open(path, "rb") as as_bytes:
        sources: list[Any] = [CONTENT, content, bytearray(content), memoryview(content), path, str(path)]
        sources += [as_text, as_bytes, io.StringIO(CONTENT), io.BytesIO(content)]
        for source in sources:
            games = list(read_games(source))
            assert [game.tags["White"] for game in games] == ["Bertè", "é—x"]
            assert games[0].comments == {1: ["où"]}


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(PdnError, match="int"):
        read_games(5)  # type: ignore[arg-type]
    assert issubclass(PdnError, DraughtsError)
    with pytest.raises(VariantError):
        read_games("*", "chess")
    with pytest.raises(FileNotFoundError):
        list(read_games(tmp_path / "none.pdn"))
    with pytest.raises(OSError, match="directory"):
        list(read_games(tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        CONTENT.encode(),
        CONTENT.encode("utf-8-sig"),
        CONTENT.encode("cp1252"),
        CONTENT.encode("utf-16"),
        CONTENT.replace("\n", "\r\n").encode("utf-16"),
        CONTENT.replace("\n", "\r").encode("cp1252"),
        b"".join(game.encode(code) for game, code in zip(CONTENT.partition("\n\n"), ("utf-8", "utf-8", "cp1252"))),
        b"".join(game.encode("utf-8-sig") for game in CONTENT.partition("\n\n")),
    ],
)
def test_encodings(content: bytes) -> None:
    for source in (content, io.BufferedReader(_Trickle(content))):
        first, second = read_games(source)
        assert (first.tags, first.comments, texts(first)) == ({"White": "Bertè"}, {1: ["où"]}, ["32-28", "19-23"])
        assert (second.tags, texts(second)) == ({"White": "é—x"}, ["33-29"])
        assert not first.problems + second.problems


class _Trickle(io.RawIOBase):
    """A file that yields a few bytes at a time, in the middle of characters and line ends."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        piece = self._content[self._at : self._at + min(3, len(room))]
        room[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class _Endless:
    """A file without end, which counts what has been read."""

    def __init__(self, game: bytes) -> None:
        self._game = game
        self.read_so_far = 0

    def read(self, size: int, /) -> bytes:
        piece = self._game * (size // len(self._game))
        self.read_so_far += len(piece)
        return piece


def test_games_come_while_the_file_is_read() -> None:
    file = _Endless(b"1. 32-28 19-23 *\n")
    games = read_games(file, "international")
    for number in range(1, 5001):
        assert next(games).number == number
    assert file.read_so_far < 5000 * 17 + 200_000


# --- tags and variants ------------------------------------------------------------------------------


def test_odd_tags() -> None:
    text = (
        '[Event  "The "Big" one"]\n[Site "a \\"b\\" \\\\ c"]\n[ Round "1" ] [Date"2000.??.??"]\n[White Smith]\n'
        '[Black "Jones\n[FEN "W:W31-50:\nB1-20"]\n[GAMETYPE "20,W,10,10,N1,0"]\n[Round "2"]\n1. 32-28 *'
    )
    game = read_one(text)
    assert game.tags == {
        "Event": 'The "Big" one',
        "Site": 'a "b" \\ c',
        "Round": "1",
        "Date": "2000.??.??",
        "White": "Smith",
        "Black": "Jones",
        "FEN": "W:W31-50:\nB1-20",
        "GAMETYPE": "20,W,10,10,N1,0",
    }
    assert next(iter(game.tags)) == "Event"
    assert (game.tag("gametype"), texts(game)) == ("20,W,10,10,N1,0", ["32-28"])
    assert [message.partition(";")[0] for message in warned(game)] == [
        "a tag without quotation marks",
        "a tag that is not closed",
        "a second tag Round",
    ]


@pytest.mark.parametrize(
    ("text", "default", "name", "source"),
    [
        ('[GameType "25"] 1. c3-d4 *', "english", "russian", "tag"),
        ('[GameType "20,W,10,10,N1,0"] *', None, "international", "tag"),
        ('[GameType "English"] *', None, "english", "tag"),
        ('[Variant "Standard"] *', None, "international", "tag"),
        ('[GameType "21"] [Variant "Russian"] *', None, "english", "tag"),
        ('[GameType "?"] 1. 32-28 *', "polish", "international", "caller"),
        ("1. 11-15 *", "pool", "pool", "caller"),
        ("1. 11-15 *", "english-huffing", "english", "caller"),
        ("1. 11-15 *", None, "english", "guess"),
        ("1. 32-28 *", None, "international", "guess"),
        ("1. 33-29 *", None, "international", "guess"),
        ("1. c3-d4 *", None, "russian", "guess"),
        ("1. 22-18 *", None, "russian", "guess"),
        ("1. d4-c5 *", None, "international", "guess"),
        ('[FEN "W:WK1,36:B45,15"] *', None, "international", "guess"),
        ('[FEN "W:Wa1:Bb8,h8"] *', None, "russian", "guess"),
        ('[FEN "W:Wa1:Bj10"] *', None, "international", "guess"),
        ('[FEN "W:W31,27,19:B17,12,5."] 0-1', None, "english", "guess"),
        ("*", None, None, "guess"),
    ],
)
def test_rules(text: str, default: str | None, name: str | None, source: str) -> None:
    game = read_one(text, default)
    assert game.variant_from == source
    assert (game.variant and game.variant.name) == name
    assert not game.problems


def test_a_guess_is_corrected_by_a_later_move() -> None:
    """Brazilian games are taken for Russian ones until a move is legal only in the former."""
    rng = random.Random(4)
    found = 0
    for _ in range(60):
        game = random_game("brazilian", rng, plies=60)
        text = "\n".join(line for line in write_game(game).splitlines() if not line.startswith("[GameType"))
        record = read_one(text)
        assert record.moves == game.moves
        assert not record.errors
        found += record.variant == variant("brazilian")
    assert 5 < found < 60


def test_games_of_other_rules() -> None:
    for number, what in ((40, "Frisian draughts"), (27, "Canadian draughts"), (99, "no game that is known here")):
        game = read_one(f'[GameType "{number}"]\n1. 32-28 19-23 *', "international")
        assert (
            game.errors[0].message
            == f"GameType {number} is {what}: its moves are not read; 2 further moves are not read"
        )
        assert (game.variant, game.start, game.moves, game.result, game.winner) == (None, None, [], "*", None)
        with pytest.raises(PdnError):
            game.game()
        assert read_one(write_game(game)).tags["GameType"] == str(number)
    assert "huffing" in read_one('[GameType "21"]\n[Huffing "1"]\n1. 11-15 *').errors[0].message
    assert "not understood" in warned(read_one('[GameType "weiqi"]\n1. 11-15 *'))[0]


# --- positions --------------------------------------------------------------------------------------


def test_the_side_to_move_may_be_unknown() -> None:
    for move, turn in (("31-26", "white"), ("20-25", "black")):
        game = read_one(f'[FEN "?:W31:B20"]\n{move} *', "international")
        assert (game.start and game.start.turn, texts(game), game.problems) == (turn, [move], [])
    game = read_one('[FEN "?:W31:B20"] *', "international")
    assert game.start == Position.from_fen("W:W31:B20", "international")
    assert warned(game) == ["the side to move is unknown; taken is White"]


def test_bad_and_empty_positions() -> None:
    game = read_one('[Event "x"]\n[FEN "W:W31,31:B20"]\n1. 31-26 20-25 *', "international")
    [error] = game.problems
    assert "a second piece on square 31" in error.message
    assert (error.line, error.column, game.start, game.moves, game.unread) == (2, 1, None, [], 2)
    game = read_one('[FEN ""]\n1. 32-28 *', "international")
    assert texts(game) == ["32-28"]
    assert "empty" in warned(game)[0]


def test_clocks_of_the_position() -> None:
    game = read_one('[FEN "W:WK31:BK20:H7:F12"]\n1. 31-26 *', "international")
    assert (game.quiet, game.game().quiet) == (7, 8)
    assert read_one(write_game(game)).quiet == 7


def test_positions_set_up_in_mid_game() -> None:
    text = '1. 32-28 19-23 2. 99-98 /FEN "B:W28,33:B17,18"/ 5... 17-22 6. 28x17 /FEN "W:WK1:BK50"/ *'
    game = read_one(text, "international")
    assert texts(game) == ["32-28", "19-23", "17-22", "28x17"]
    assert {ply: position.fen for ply, position in game.setups.items()} == {2: "B:W28,33:B17,18", 4: "W:WK1:BK50"}
    assert [len(game.errors), game.unread] == [1, 1]
    positions = list(game.positions())
    assert len(positions) == 5
    assert [positions[2], positions[4]] == list(game.setups.values())
    with pytest.raises(PdnError, match="ply 2"):
        game.game()
    again = read_one(write_game(game))
    assert (again.moves, again.setups, again.problems) == (game.moves, game.setups, [])


def test_to_play_on() -> None:
    assert read_one("1. 11-15 *").game() == pushed(Game("english"), "11-15")
    fen = "W:WK30:BK3:H79"
    record = read_one(f'[GameType "21"]\n[FEN "{fen}"]\n30-26 3-7 26-30 *')
    assert len(record.moves) == 3
    with pytest.raises(GameOverError):
        record.game()
    assert record.game(until_over=True) == pushed(Game("english", fen), "30-26")


# --- results ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "score"),
    [
        ("1-0", (1, 0)),
        ("0-1", (0, 1)),
        ("1/2-1/2", (0.5, 0.5)),
        ("½-½", (0.5, 0.5)),
        ("1/2", (0.5, 0.5)),
        ("2-0", (2, 0)),
        ("0-2", (0, 2)),
        ("1-1", (1, 1)),
        ("0-0", (0, 0)),
        ("1 - 0", (1, 0)),
        ("10-0", (10, 0)),
        ("0-12", (0, 12)),
        ("*", None),
    ],
)
def test_results(result: str, score: tuple[float, float] | None) -> None:
    for gametype, move, first, second in ((21, "11-15", "black", "white"), (20, "32-28", "white", "black")):
        game = read_one(f'[GameType "{gametype}"]\n[Result "{result}"]\n1. {move} {result}\n')
        assert (len(game.moves), game.problems, game.score) == (1, [], score)
        expected = None if score is None or score[0] == score[1] else first if score[0] > score[1] else second
        assert game.winner == expected
        assert read_one(write_game(game)).winner == expected


def test_either_result_will_do() -> None:
    assert read_one('[GameType "21"]\n[Result "0-1"]\n1. 11-15 *').winner == "white"
    assert read_one('[GameType "20"]\n[Result "2-0 (forfeit)"]\n1. 32-28').winner == "white"
    game = read_one('[Result "0-1"]\n1. 34-30 1-0', "international")
    assert (game.tag_result, game.result, game.winner) == ("0-1", "1-0", "white")
    assert warned(game) == ["the moves end in 1-0, but the Result tag says 0-1"]
    assert not read_one('[Result "1-0"]\n1. 34-30 2-0', "international").problems
    assert "second result" in warned(read_one("1. 34-30 1-0 0-1", "international"))[0]


def test_results_that_look_like_moves() -> None:
    """2-8 is the result where it repeats the tag at the end of the moves, and a move before."""
    fen = "B:WK46:B2,K40"
    first, second = read_games(
        f'[Result "2-8"]\n[FEN "{fen}"]\n1... 2-8 2. 46-41 2-8 {{agreed}}\n\n[FEN "{fen}"]\n1... 2-8', "international"
    )
    assert (texts(first), first.result, first.winner, first.problems) == (["2-8", "46-41"], "2-8", "black", [])
    assert (texts(second), second.result) == (["2-8"], None)
    game = read_one('[Result "4-6"]\n1. 34-29 4-6', "international")
    assert (texts(game), game.result) == (["34-29"], "4-6")
    assert read_one("1. 34-29 4-6", "international").errors


# --- moves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1. 32-28 19-23 2. 28x19 14x23",
        "1.32-28 19-23 2.28x19 14x23",
        "01.32-28 19-23 02.28:19 14:23",
        "1. 32 - 28 19- 23 2. 28 x 19 14 x23",
        "1. 32-\n28 19-23 2. 28x\n 19 14x23",
        "1... 32-28 1 ... 19-23 2… 28×19 2. ... 14*23",
        "1 32-28 19-23 2 28x19 14x23",
        "1.3228 1923 2.2819 1423",
        "32–28 19—23 28X19 14X23.",
        "1.32-28!19-23?2.28x19!!14x23?!",
        "32-28;one\n19-23\n% two 1. 99-99\n28x19{three}14x23",
        "1. 32-28$1 19-23 $2 2. 28x19(!) 14x23(!?!!!)",
        "1. 32-28* 19-23* 2. 28x19* 14x23",
        "1. 32-28 + 19-23 = 2. 28x19 and 14x23",
        "1. 32-28 19-23 (1... 18-23 2. 38-32 (37-32 1-0) 12-18) 2. 28x19 (2. 37-32 *) 14x23",
    ],
)
def test_ways_to_write_moves(text: str) -> None:
    for end in ("", " *", "\n\n1-0\n", "*", "{end}"):
        game = read_one(text + end, "international")
        assert [move.full for move in game.moves] == ["32-28", "19-23", "28x19", "14x23"]
        assert not game.errors


def test_names_of_squares() -> None:
    for text in ("c3-d4 f6-g5 d4-e5", "C3-D4 F6-G5 D4-E5", "c3d4 f6g5 d4e5", "c3 - d4 f6:g5 d4*e5"):
        assert texts(read_one(f"1. {text} *", "russian")) == ["22-18", "11-16", "18-15"]
    game = read_one("1. d4-c5 *")
    assert (game.variant, texts(game)) == (variant("international"), ["32-27"])


def test_unknown_moves() -> None:
    game = read_one("1. 32-28 19-23 2. - - 3. 37-32 -- 1-0", "international")
    assert (texts(game), game.unread, game.result) == (["32-28", "19-23"], 1, "1-0")
    assert warned(game) == ["the move is not known; 1 further move is not read"]
    game = read_one("1. 32-28 - 2. 28-22 *", "international")
    assert (texts(game), game.unread) == (["32-28"], 1)
    assert read_one("1. - - *").warnings[0].message == "the move is not known"


def test_words_that_are_no_moves() -> None:
    game = read_one("1. 32-28 a7 19-23 *", "international")
    assert game.errors[0].message == "'a7' is not understood as a move; 1 further move is not read"
    assert "no square of this board" in read_one("1. 32-99 *", "international").errors[0].message


# --- comments and variations ------------------------------------------------------------------------


def test_comments_and_marks() -> None:
    text = (
        "{before}\n1. {first} 32-28! {a\n  b} ;c\n19-23 $4?? "
        '{[%eval 0.1][Event "x"]} 2. 28x19 * {after}\n{next} 1. 33-29 *'
    )
    first, second = read_games(text, "international")
    assert first.comments == {0: ["before", "first"], 1: ["a b", "c"], 2: ['[%eval 0.1][Event "x"]'], 3: ["after"]}
    assert first.nags == {1: ["!"], 2: ["$4", "??"]}
    assert second.comments == {0: ["next"]}
    assert not first.problems + second.problems


def test_variations_are_kept() -> None:
    text = (
        "1. 32-28 19-23 ({b} 1... 18-23 {c} 2. 38-32 $1 (2. 37-32? 23-29! {d}) 12-18) (1... 17-22) 2. 28x19 "
        "(2. 99-98) (see below) 14x23 *"
    )
    game = read_one(text, "international")
    assert texts(game) == ["32-28", "19-23", "28x19", "14x23"]
    first, second = game.variations[2]
    assert (texts(first), first.ply, first.comments, first.nags) == (
        ["18-23", "38-32", "12-18"],
        2,
        {1: ["b"], 2: ["c"]},
        {3: ["$1"]},
    )
    [inner] = first.variations[3]
    assert (texts(inner), inner.ply, inner.nags) == (["37-32", "23-29"], 3, {3: ["?"], 4: ["!"]})
    assert texts(second) == ["17-22"]
    assert list(game.variations) == [2]
    assert [message.partition(":")[0] for message in warned(game)] == [
        "in a variation",
        "'see' is passed over",
        "'below' is passed over",
    ]


def test_deep_variations() -> None:
    deep = "1. 32-28 " + "(33-28 " * 5000 + ")" * 5000 + " 19-23 *"
    game = read_one(deep, "international")
    assert texts(game) == ["32-28", "19-23"]
    assert repr(game)
    assert "passed over" in warned(game)[0]


def test_the_page_about_pdn_runs() -> None:
    page = (Path(__file__).parent.parent / "docs" / "pdn.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "docs/pdn.md", "exec"), {})
