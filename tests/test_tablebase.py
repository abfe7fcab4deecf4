"""Tablebases: published totals, a slow reference, files that are damaged or cut off, and probes from either side."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import reference
from typer.testing import CliRunner

from agents.tablebase import (
    NOT_COVERED,
    Signature,
    Tablebase,
    TablebaseError,
    build,
    no_tablebase,
    probe_wdl,
    signatures,
)
from agents.tablebase.build import Solver
from agents.tablebase.files import SHIPPED, Counts, TableFile, file_name
from agents.tablebase.indexing import position_at, position_index
from agents.tablebase.signatures import pairs
from agents.tablebase.verification import verify_tables
from draughts_env.position import Position
from draughts_env.variants import ENGLISH, VARIANTS, Variant, variant
from draughts_play.cli import app

# Positions, wins, draws and losses for the side to move, distance of the longest win in plies.
TOTALS = {
    ("english", 2): (3_488, 716, 2_370, 402, 13),
    ("english", 3): (196_032, 100_250, 8_477, 87_305, 61),
    ("international", 2): (8_845, 3_205, 3_678, 1_962, 17),
    ("international", 3): (806_300, 265_795, 394_163, 146_342, 33),
}
ENGLISH_4 = (6_209_316, 2_574_304, 1_717_922, 1_917_090, 109)

RULES = {
    "english": reference.ENGLISH,
    "international": reference.INTERNATIONAL,
    "russian": reference.RUSSIAN,
    "brazilian": reference.BRAZILIAN,
}
SMALL = {"english": 3, "international": 2, "russian": 3, "brazilian": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small tables of all variants, built here."""
    path = tmp_path_factory.mktemp("tables")
    for name, pieces in SMALL.items():
        build(name, pieces, path, workers=1)
    return path


@pytest.fixture(scope="module", params=SMALL)
def tables(request: pytest.FixtureRequest, folder: Path) -> Iterator[Tablebase]:
    base = Tablebase.open(request.param, SMALL[request.param], folder)
    yield base
    base.close()


@pytest.fixture(scope="module")
def english(folder: Path) -> Tablebase:
    return Tablebase.open("english", 3, folder)


def figures(file: TableFile) -> tuple[int, ...]:
    return astuple(file.counts)[:5]


# --- numbering --------------------------------------------------------------------------------------


def test_every_index_is_a_placement_and_every_placement_has_one() -> None:
    # squares of a placement of 3 pieces, counted by brute force
    board = ENGLISH.geometry
    word = np.uint64(ENGLISH.rules)
    for signature in (Signature(1, 0, 1, 1), Signature(2, 0, 1, 0), Signature(0, 2, 0, 1)):
        placements = set()
        for index in range(signature.size(ENGLISH)):
            own, opp, kings = (int(bits) for bits in position_at(signature.code, index, word))
            assert not own & opp
            assert not own & ~kings & board.top
            assert not opp & ~kings & board.bottom
            counts = [(bits & mask).bit_count() for bits in (own, opp) for mask in (~kings, kings)]
            assert Signature(*counts) == signature
            placements.add((own, opp, kings))
        assert len(placements) == signature.size(ENGLISH)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_index_of_many_pieces(rules: Variant) -> None:
    rng = random.Random(1)
    word = np.uint64(rules.rules)
    for signature in random.Random(2).sample(signatures(7), 40):
        size = signature.size(rules)
        for index in (0, size - 1, *(rng.randrange(size) for _ in range(20))):
            assert position_index(*position_at(signature.code, index, word), word) == index


def test_signatures_come_after_those_they_lead_to() -> None:
    for pieces in (2, 3, 4, 5):
        order = [signature for pair in pairs(pieces) for signature in pair]
        assert order == list(signatures(pieces))
        assert len(set(order)) == len(order)
        men = [s.own_men + s.opp_men for s in order]
        assert men == sorted(men)
    assert sum(s.size(variant("english")) for s in signatures(5)) == 139_450_808
    assert sum(s.size(variant("international")) for s in signatures(4)) == 41_971_200


# --- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "pieces"), [("english", 2), ("english", 3), ("international", 2)])
def test_totals(folder: Path, name: str, pieces: int) -> None:
    file = TableFile(folder / f"{name}-{pieces}.dtb", variant(name), pieces)
    assert figures(file) == TOTALS[name, pieces]


@pytest.mark.parametrize(("name", "pieces"), [*TOTALS, ("english", 4)])
def test_shipped_tables(name: str, pieces: int) -> None:
    file = TableFile(SHIPPED / f"{name}-{pieces}.dtb", variant(name), pieces)
    file.verify()
    assert figures(file) == (TOTALS | {("english", 4): ENGLISH_4})[name, pieces]


def test_shipped_tables_are_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.glob("*.dtb")) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_totals_of_the_larger_tables(tmp_path: Path, name: str) -> None:
    """English of 4 and International of 3 pieces, built afresh, agree with the published totals and those that ship."""
    pieces = 3 if name == "international" else 4
    path = build(name, pieces, tmp_path)[-1]
    file = TableFile(path, variant(name), pieces)
    if name == "english":
        assert figures(file) == ENGLISH_4
    elif name == "international":
        assert figures(file) == TOTALS[name, 3]
    shipped = SHIPPED / path.name
    if shipped.exists():
        assert TableFile(shipped, variant(name), pieces).counts == file.counts
    assert len(list(verify_tables(variant(name), tmp_path, deep=True))) == pieces - 1


def solve_slowly(rules: reference.Rules, name: str) -> dict[tuple[tuple, str], int | None]:
    """Distances of all positions of two pieces by plain iteration; None for draws; even: the side to move loses."""
    squares = rules.size**2 // 2
    after: dict[tuple[tuple, str], list[tuple[tuple, str] | None]] = {}
    for turn in ("white", "black"):
        for a in range(1, squares + 1):
            for b in range(1, squares + 1):
                for kings in ((False, False), (False, True), (True, False), (True, True)):
                    board = {a: ("white", kings[0]), b: ("black", kings[1])}
                    low, high = rules.size // 2, squares - rules.size // 2
                    if a == b or (not kings[0] and a <= low) or (not kings[1] and b > high):
                        continue
                    moves = []
                    for (origin, target, captured), paths in reference.legal_moves(rules, board, turn).items():
                        left = reference.play(rules, board, turn, origin, target, captured, min(paths))
                        moves.append((tuple(sorted(left.items())), reference.OPPONENT[turn]) if len(left) > 1 else None)
                    after[tuple(sorted(board.items())), turn] = moves
    found: dict[tuple[tuple, str], int] = {}
    distance = 0
    while True:
        news = {}
        for key, moves in after.items():
            if key in found:
                continue
            ends = [0 if move is None else found.get(move) for move in moves]
            if any(end is not None and end % 2 == 0 for end in ends):
                best = min(end for end in ends if end is not None and end % 2 == 0) + 1
            elif all(end is not None for end in ends):
                best = max((end for end in ends if end is not None), default=-1) + 1
            else:
                continue
            if best == distance:
                news[key] = best
        if not news and distance > 40:
            return {key: found.get(key) for key in after}
        found |= news
        distance += 1


@pytest.mark.parametrize("name", ["english", "russian"])
def test_two_pieces_by_a_slow_reference(folder: Path, name: str) -> None:
    expected = solve_slowly(RULES[name], name)
    base = Tablebase.open(name, 2, folder)
    assert len(expected) == 2 * 3_488
    for (board, turn), plies in expected.items():
        position = to_position(name, dict(board), turn)
        assert base.plies(position) == plies, position.fen
        assert base.wdl(position) == (0 if plies is None else 1 if plies % 2 else -1)


def to_position(name: str, board: reference.Board, turn: str) -> Position:
    bits = variant(name).geometry.mask
    return Position(
        name,
        bits(s for s, (colour, _) in board.items() if colour == "white"),
        bits(s for s, (colour, _) in board.items() if colour == "black"),
        bits(s for s, (_, king) in board.items() if king),
        turn,  # type: ignore[arg-type]
    )


def to_board(position: Position) -> reference.Board:
    pieces = {s: position.piece_at(s) for s in range(1, position.geometry.squares + 1)}
    return {square: piece for square, piece in pieces.items() if piece is not None}


def test_values_follow_from_the_moves_of_the_reference(tables: Tablebase) -> None:
    name = tables.variant.name
    rules, rng = RULES[name], random.Random(4)
    for _ in range(300):
        position = tables.sample(rng, tables.pieces)
        board, turn = to_board(position), position.turn
        ends = []
        for (origin, target, captured), paths in reference.legal_moves(rules, board, turn).items():
            left = reference.play(rules, board, turn, origin, target, captured, min(paths))
            over = len({colour for colour, _ in left.values()}) < 2
            ends.append(0 if over else tables.plies(to_position(name, left, reference.OPPONENT[turn])))
        losses = [end for end in ends if end is not None and end % 2 == 0]
        if losses:
            expected = min(losses) + 1
        elif None in ends:
            expected = None
        else:
            expected = max((end for end in ends if end is not None), default=-1) + 1
        assert tables.plies(position) == expected, position.fen


def test_every_value_agrees_with_those_after_its_moves(folder: Path) -> None:
    for name, pieces in SMALL.items():
        checked = list(verify_tables(variant(name), folder, deep=True, workers=1))
        assert [path.name for path, _ in checked[: pieces - 1]] == [f"{name}-{n}.dtb" for n in range(2, pieces + 1)]


def test_the_deep_check_finds_a_wrong_value(folder: Path) -> None:
    with Solver(ENGLISH, 2, workers=2) as solver:
        file = TableFile(folder / "english-2.dtb", ENGLISH, 2)
        for signature in file.records:
            solver.load(file, signature)
        signature = Signature(0, 1, 1, 0)
        assert solver.check(signature) == (0, -1)
        solver.part(signature)[100] += 2
        faults, first = solver.check(signature)
        assert faults >= 1
        assert 0 <= first <= 100


# --- probes -----------------------------------------------------------------------------------------


def test_probes_are_the_same_for_both_colours(tables: Tablebase) -> None:
    rng = random.Random(5)
    for _ in range(200):
        position = tables.sample(rng, rng.randint(2, tables.pieces))
        there, back = tables.probe(position), tables.probe(position.turned())
        assert (there.value, there.plies, len(there.best_moves)) == (back.value, back.plies, len(back.best_moves))


def test_best_moves_keep_the_value(tables: Tablebase) -> None:
    rng = random.Random(6)
    for _ in range(200):
        position = tables.sample(rng, tables.pieces)
        found = tables.probe(position)
        assert bool(found.best_moves) == bool(position.legal_moves())
        for move in found.best_moves:
            after = position.play(move)
            if not (after.white and after.black):
                assert (found.value, found.plies) == ("win", 1)
                continue
            then = tables.probe(after)
            assert then.score == -found.score
            assert then.plies == (None if found.plies is None else found.plies - 1)


def test_play_by_best_moves_ends_on_time(english: Tablebase) -> None:
    rng = random.Random(7)
    position = Position.from_fen("W:WK30,K31:BK3")
    plies = english.plies(position)
    assert plies == 33
    while (found := english.probe(position)).best_moves:
        position = position.play(rng.choice(found.best_moves))
        plies -= 1
        if not (position.white and position.black):
            break
    assert plies == 0


def test_kings_against_one_king_in_english() -> None:
    """With the move, three kings always beat one; two do, but for 34 placements where they lose one of them."""
    base = Tablebase.open("english", 4, SHIPPED)
    counts = {signature.name: counts for _, signature, counts in base.counts()}
    assert counts["KvK"].wins + counts["KvK"].losses < counts["KvK"].draws
    assert counts["KKvK"] == Counts(14_880, 14_846, 34, 0, 33, 0)
    assert counts["KKKvK"] == Counts(143_840, 143_840, 0, 0, 29, 0)
    assert base.probe(Position.from_fen("W:WK11,K18:BK1,K5")).value == "draw"
    fork = base.probe(Position.from_fen("W:WK6,K7:BK2"))
    assert (fork.value, fork.plies) == ("draw", None)


def test_what_is_not_covered(english: Tablebase) -> None:
    four = Position.from_fen("W:WK30,K31:BK3,4")
    alone = Position.from_fen("W:WK30,K31:B")
    polish = Position.from_fen("W:WK30:BK3", "international")
    men_on_their_crown_row = Position("english", 1, 1 << 10, 0, "white")
    for position in (four, alone, polish, men_on_their_crown_row):
        assert not english.contains(position)
        with pytest.raises(TablebaseError):
            english.probe(position)
    assert english.contains(Position.from_fen("B:WK30:BK3"))
    with pytest.raises(TablebaseError, match="2 to 3 pieces"):
        english.sample(random.Random(0), 4)


def test_kernel_probe(english: Tablebase) -> None:
    rng = random.Random(8)
    for _ in range(300):
        p = english.sample(rng, rng.randint(2, 3))
        bits = np.uint64(p.white), np.uint64(p.black), np.uint64(p.kings), p.turn == "white"
        assert probe_wdl(english.arrays, *bits) == english.wdl(p)
        assert probe_wdl(no_tablebase(), *bits) == NOT_COVERED
    start = Position.start("english")
    assert probe_wdl(english.arrays, np.uint64(start.white), np.uint64(start.black), np.uint64(0), False) == NOT_COVERED


# --- files ------------------------------------------------------------------------------------------


def damage_is_noticed(path: Path, rules: Variant, pieces: int, right: dict[Position, int | None]) -> None:
    """The damaged file is refused when it is verified; and whoever does not verify it is never told anything wrong."""
    with pytest.raises(TablebaseError, match=path.name):
        TableFile(path, rules, pieces).verify()
    try:
        base = Tablebase.open(rules, pieces, path.parent)
    except TablebaseError:
        return
    for position, plies in right.items():
        with suppress(TablebaseError):
            assert base.plies(position) == plies


def test_every_flipped_byte_is_noticed(folder: Path, tmp_path: Path) -> None:
    rng = random.Random(9)
    for pieces, share in ((2, 1.0), (3, 0.002)):
        good = (folder / f"english-{pieces}.dtb").read_bytes()
        path = tmp_path / f"english-{pieces}.dtb"
        path.write_bytes(good)
        base = Tablebase.open("english", pieces, tmp_path)
        right = {p: base.plies(p) for p in (base.sample(rng, pieces) for _ in range(8))}
        for place in range(len(good)):
            if rng.random() > share:
                continue
            path.write_bytes(good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :])
            damage_is_noticed(path, ENGLISH, pieces, right)
        for length in (0, 5, 23, 24, 60, len(good) // 2, len(good) - 1):
            path.write_bytes(good[:length])
            damage_is_noticed(path, ENGLISH, pieces, right)
        path.write_bytes(good + b"\0")
        damage_is_noticed(path, ENGLISH, pieces, right)
        path.write_bytes(good)


def test_files_of_something_else(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "english-2.dtb").write_bytes((folder / "russian-2.dtb").read_bytes())
    with pytest.raises(TablebaseError, match="other rules"):
        Tablebase.open("english", 2, tmp_path)
    (tmp_path / "english-2.dtb").write_bytes((folder / "english-3.dtb").read_bytes())
    with pytest.raises(TablebaseError, match="3 pieces, not of 2"):
        Tablebase.open("english", 2, tmp_path)
    (tmp_path / "english-2.dtb").write_bytes(b"something else")
    with pytest.raises(TablebaseError, match="not a tablebase"):
        Tablebase.open("english", 2, tmp_path)


KILLED = """
import os, signal, sys
from agents.tablebase import build

def report(what, done, total):
    if "3 pieces" in what and done > 0.6 * total:
        os.kill(os.getpid(), signal.SIGKILL)

build("english", 3, sys.argv[1], workers=1, report=report)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_build_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, timeout=120)
    assert run.returncode == -signal.SIGKILL, run.stderr
    part = tmp_path / "english-3.part"
    assert (tmp_path / "english-2.dtb").exists()
    assert part.exists()
    assert not (tmp_path / "english-3.dtb").exists()
    with open(part, "ab") as file:
        file.write(b"SLIC" + bytes(100))  # a record that was being written
    seen: list[int] = []
    build("english", 3, tmp_path, workers=1, report=lambda what, done, total: seen.append(done))
    assert seen[0] > 10_000  # the first signatures were there already
    assert not part.exists()
    for pieces in (2, 3):
        name = file_name(ENGLISH, pieces)
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_damaged_partial_file_is_mended(folder: Path, tmp_path: Path) -> None:
    good = (folder / "english-3.dtb").read_bytes()
    for data in (good[:20_000], good[:3_000] + b"\xff" + good[3_001:], b"", b"rubbish" * 10):
        (tmp_path / "english-3.part").write_bytes(data)
        (tmp_path / "english-3.dtb").unlink(missing_ok=True)
        build("english", 3, tmp_path, workers=1)
        assert (tmp_path / "english-3.dtb").read_bytes() == good


def test_a_damaged_file_is_built_again(folder: Path, tmp_path: Path) -> None:
    good = (folder / "english-2.dtb").read_bytes()
    (tmp_path / "english-2.dtb").write_bytes(good[:-1] + bytes([good[-1] ^ 4]))
    said: list[str] = []
    build("english", 2, tmp_path, workers=1, report=lambda what, done, total: said.append(what))
    assert "damaged" in said[0]
    assert (tmp_path / "english-2.dtb").read_bytes() == good


def test_open_builds_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.tablebase.files.SHIPPED", tmp_path / "nothing")
    with pytest.raises(TablebaseError, match="draughts tablebase build --variant russian --pieces 2"):
        Tablebase.open("russian", 2, tmp_path)
    with pytest.raises(TablebaseError, match="no russian tablebase of 2 pieces"):
        Tablebase.open("russian", folder=tmp_path)
    base = Tablebase.open("russian", 2, tmp_path, build=True, workers=1)
    assert base.pieces == 2
    assert Tablebase.open("russian", folder=tmp_path).pieces == 2


def test_the_folder_is_found(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAUGHTS_TABLEBASE_DIR", str(folder))
    assert Tablebase.open("english", 3).files[3].path.parent == folder
    monkeypatch.setenv("DRAUGHTS_TABLEBASE_DIR", str(tmp_path))
    assert Tablebase.open("english", 3).files[3].path.parent == SHIPPED
    assert Tablebase.open("english", 3, folder).files[3].path.parent == folder


@pytest.mark.parametrize("pieces", [-1, 0, 1, 9])
def test_impossible_numbers_of_pieces(tmp_path: Path, pieces: int) -> None:
    with pytest.raises(TablebaseError, match="2 to 8 pieces"):
        build("english", pieces, tmp_path)
    with pytest.raises(TablebaseError, match="2 to 8 pieces"):
        Tablebase.open("english", pieces, tmp_path)


def test_no_tables_with_huffing(tmp_path: Path) -> None:
    with pytest.raises(TablebaseError, match="huffing"):
        build("english-huffing", 2, tmp_path)
    with pytest.raises(TablebaseError, match="huffing"):
        Tablebase.open("english-huffing")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TablebaseError, match="cannot write"):
        build("english", 2, tmp_path / "file" / "below")


# --- commands ---------------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["tablebase", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_commands(folder: Path, tmp_path: Path) -> None:
    status, out, _ = run("build", "--variant", "checkers", "--pieces", "2", "--dir", str(tmp_path), "--workers", "1")
    assert status == 0
    assert "3,488 positions, 716 won, 2,370 drawn, 402 lost, longest win 13 plies" in out
    status, out, _ = run("info", "--dir", str(folder), "--variant", "english", "--signatures")
    assert status == 0
    assert "english, 3 pieces: 196,032 positions" in out
    assert "KKvK" in out
    status, out, _ = run("probe", "W:WK30,K31:BK3", "--dir", str(folder))
    assert status == 0
    assert out.splitlines()[0] == "value  win in 33 plies for White"
    assert out.splitlines()[1].startswith("best   ")
    status, out, _ = run("probe", "B:WK30,K31:BK3", "--dir", str(folder))
    assert out.splitlines()[0] == "value  loss in 30 plies for Black"
    status, out, _ = run("verify", "--dir", str(folder), "--variant", "russian")
    assert status == 0
    assert out.count("sound") == 2


def test_command_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "english-2.dtb"
    damaged.write_bytes((folder / "english-2.dtb").read_bytes()[:-1] + b"\1")
    for arguments, what in (
        (("probe", "W:W31-32,21-24:BK1", "--dir", str(folder)), "up to"),
        (("probe", "nonsense"), "nonsense"),
        (("probe", "W:WK1:BK9", "--variant", "chess"), "chess"),
        (("build", "--pieces", "9"), "2 to 8 pieces"),
        (("build", "--pieces", "many"), "--pieces"),
        (("verify", "--dir", str(tmp_path), "-v", "english"), "english-2.dtb is damaged"),
        (("info", "--variant", "english-huffing"), "huffing"),
    ):
        status, _, err = run(*arguments)
        assert status == 2, arguments
        assert what in err
        assert len(err.strip().splitlines()) == 1, err
