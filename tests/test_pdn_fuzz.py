"""Whatever is read as FEN or PDN, nothing but the project's own errors come out, and PDN raises none at all.

A few seconds by default; ten minutes with ``-m slow`` (or the seconds in the environment variable FUZZ_SECONDS).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from cases import DATA, rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from draughts_env import DraughtsError, Game, Position
from draughts_env.fen import read
from draughts_env.pdn import PdnGame, read_games, write_game
from draughts_env.variants import MORE_VARIANTS, VARIANTS

SECONDS = float(os.environ.get("FUZZ_SECONDS", "600"))
NAMES = [v.name for v in (*VARIANTS, *MORE_VARIANTS)]
CASES = rows("pdn_cases.jsonl")
FENS = [row["input"] for row in CASES if row["kind"] == "fen"]
FENS += [row["fen"] for row in rows("rules.jsonl") if "fen" in row]
GAMES = [row["input"] for row in CASES if row["kind"] == "pdn"]
GAMES += [
    f'[FEN "{row["fen"]}"]\n1. {" ".join(row["legal"][:2])} *\n' for row in rows("rules.jsonl") if row.get("legal")
]

# --- what is tried ----------------------------------------------------------------------------------

PIECES = [*"WBKwbk:,-.? 0123456789", "31-50", "a1", "h8", "j10", "K5", "H7", "F2", ":", "²", "İ", "\n", "9" * 5000]
TOKENS = [
    *'{}()[]"%;/*-.!? \n',
    *("\n\n", "\r\n", "1.", "1...", " - ", "x", "1-0", "1/2-1/2", "0-2", "½", "$1", "!?", "(!)", "4-6", "- -", "\\"),
    *('[Event "a"]\n', '[FEN "', '"]', '[Result "4-6"]', '[GameType "25"]', '[GameType "40"]', '[Huffing "1"]'),
    *('/FEN "W:W31:B1"/', '/FEN "?:W31:B1"/', '[FEN "?:W31,K2:B20"]', "{[%eval 1]}", "% note\n", "; note\n"),
    *("11-15", "32-28", "c3-d4", "a3b4", "3228", "47x36", "36x27", "1-18", "İ5-ı4", "٣-٤", "\0", "é", "\ufeff"),
]


def mutations(originals: list[str], pieces: list[str]) -> st.SearchStrategy[str]:
    """Real texts, cut, doubled, and with pieces put in."""

    @st.composite
    def mutated(draw: Callable[..., object]) -> str:
        text = "".join(draw(st.lists(st.sampled_from(originals), min_size=1, max_size=3)))  # type: ignore[arg-type]
        for _ in range(draw(st.integers(0, 8))):  # type: ignore[call-overload]
            at = draw(st.integers(0, len(text)))
            kind = draw(st.integers(0, 3))
            if kind == 0:
                text = text[:at] + text[at + draw(st.integers(1, 8)) :]  # type: ignore[operator]
            elif kind == 1:
                text = text[:at] + text[at - 12 : at] + text[at:]  # type: ignore[operator]
            else:
                text = text[:at] + draw(st.sampled_from(pieces)) + text[at:]  # type: ignore[operator]
        return text

    return mutated()


ANY_FEN = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join), mutations(FENS, PIECES))
ANY_PDN = st.one_of(st.text(), st.lists(st.sampled_from(TOKENS)).map("".join), mutations(GAMES, TOKENS))
ANY_BYTES = st.one_of(
    st.binary(),
    st.builds(
        lambda text, code: text.encode(code, "replace"),
        ANY_PDN,
        st.sampled_from(["utf-8", "cp1252", "utf-16", "utf-8-sig"]),
    ),
)
NAME = st.sampled_from(NAMES)
DEFAULT = st.sampled_from([None, *NAMES])


# --- what must hold ---------------------------------------------------------------------------------


def fen_holds(text: str, name: str) -> None:
    try:
        position = Position.from_fen(text, name)
        game = Game(name, text)
    except DraughtsError:
        return
    assert Position.from_fen(position.fen, name) == position
    assert read(game.fen, name).quiet == game.quiet
    for move in position.legal_moves():
        assert position.parse(move.full) == move


def move_holds(text: str, name: str) -> None:
    try:
        move = Position.start(name).parse(text)
    except DraughtsError:
        return
    assert move in Position.start(name).legal_moves()


def pdn_holds(content: bytes | str, name: str | None) -> None:
    for number, game in enumerate(read_games(content, name), start=1):
        assert game.number == number
        assert len(list(game.positions())) == (len(game.moves) + 1 if game.start or game.setups else 0)
        assert all(problem.line >= 1 and problem.column >= 1 and str(problem) for problem in game.problems)
        assert game.winner in ("black", "white", None)
        assert repr(game)
        if game.start is not None and not game.setups:
            game.game(until_over=True)
        written_holds(game)


def written_holds(game: PdnGame) -> None:
    """What is written of it is read as the same moves, without errors, and written again in the same way."""
    text = write_game(game)
    [again] = read_games(text, game.variant)
    assert again.moves == game.moves
    if game.start is not None:
        assert not again.errors
        assert (again.start, again.setups, again.variant) == (game.start, game.setups, game.variant)
        assert list(again.variations) == list(game.variations)
        assert write_game(again) == text


# --- for a while ------------------------------------------------------------------------------------

_QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@_QUICK
@given(ANY_FEN, NAME)
def test_fen(text: str, name: str) -> None:
    fen_holds(text, name)


@_QUICK
@given(st.one_of(st.text(), st.lists(st.sampled_from(TOKENS + PIECES), max_size=6).map("".join)), NAME)
def test_moves(text: str, name: str) -> None:
    move_holds(text, name)


@_QUICK
@given(ANY_BYTES, DEFAULT)
def test_pdn_bytes(content: bytes, name: str | None) -> None:
    pdn_holds(content, name)


@_QUICK
@given(ANY_PDN, DEFAULT)
def test_pdn_text(text: str, name: str | None) -> None:
    if not text.lower().endswith(".pdn"):
        pdn_holds(text, name)


def test_every_case_in_every_variant() -> None:
    for name in (None, *NAMES):
        for text in GAMES:
            pdn_holds(text, name)
        pdn_holds("\n".join(GAMES).encode("cp1252", "replace"), name)
    pdn_holds((DATA / "pdn_cases.jsonl").read_bytes(), None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fen", "pdn"])
def test_for_ten_minutes(kind: str) -> None:
    """Both kinds together take the time."""
    until = time.monotonic() + SECONDS / 2
    while time.monotonic() < until:
        if kind == "fen":

            @settings(max_examples=2000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(ANY_FEN, NAME)
            def trial(text: str, name: str) -> None:
                fen_holds(text, name)
                move_holds(text, name)

            trial()
        else:

            @settings(max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(ANY_BYTES, DEFAULT)
            def trial_pdn(content: bytes, name: str | None) -> None:
                pdn_holds(content, name)

            trial_pdn()
