"""The pages about rules: each diagram shows its position, and the moves below it are the legal ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from draughts_env import Position, Reason, variant
from draughts_env.huffing import HuffingGame
from draughts_env.openings import deck
from draughts_env.variants import MORE_VARIANTS, VARIANTS

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "rules").glob("*.md")}
DIAGRAMS = [
    pytest.param(name, block.splitlines(), id=f"{page}-{number}")
    for page, text in sorted(PAGES.items())
    for number, (name, block) in enumerate(
        re.findall(r"^```draughts (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    )
]


def listed(line: str, label: str) -> set[str]:
    assert line.startswith(f"{label}: ")
    return set(line.removeprefix(f"{label}: ").split(", ")) - {"none"}


@pytest.mark.parametrize(("name", "lines"), DIAGRAMS)
def test_diagrams(name: str, lines: list[str]) -> None:
    rules = variant(name)
    position = Position.from_fen(lines[0], rules.without_huffing())
    board = [line.rstrip() for line in position.text().splitlines()]
    assert lines[1 : 1 + rules.size] == board
    rest = lines[1 + rules.size :]
    if rules.huffing:
        game = HuffingGame(rules, lines[0])
        [played] = listed(rest[0], "played")
        game.push(played)
        assert listed(rest[1], "then") == {str(action) for action in game.legal_actions()}
    else:
        assert listed(rest[0], "legal") == {move.full for move in position.legal_moves()}
        assert len(rest) == 1


def test_every_variant_has_a_page() -> None:
    assert set(PAGES) == {"README", "huffing", "italian", *(v.name for v in VARIANTS)}
    assert len(DIAGRAMS) >= 20


def test_the_table_says_what_the_code_says() -> None:
    rows = {}
    for line in PAGES["README"].splitlines():
        if line.startswith("| "):
            label, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            rows[label] = cells

    def moves(plies: int | None) -> str:
        return "-" if plies is None else str(plies // 2)

    for place, of in enumerate((*VARIANTS, *MORE_VARIANTS)):
        start = of.start[0].bit_count()
        assert rows["board, men a side"][place] == f"{of.size}x{of.size}, {start}"
        assert rows["moves first"][place] == of.first.capitalize()
        assert rows["men capture backwards"][place] == ("yes" if of.men_capture_backwards else "no")
        assert rows["kings"][place] == ("fly" if of.flying_kings else "one step")
        assert rows["which capture"][place].partition(",")[0] == ("most pieces" if of.most else "any")
        assert ("by rank" in rows["which capture"][place]) == of.ranked_captures
        last = "goes on as a king" if of.crown_in_flight else "goes on as a man"
        assert rows["man on the last row in mid-capture"][place] in (last, "is crowned, stops")
        assert rows["draw: moves of kings only, each side"][place] == moves(of.draws.quiet_plies)
        kings = " (kings)" if of.draws.three_kings_only else ""
        assert rows["draw: three against one king"][place] == moves(of.draws.three_v_one_plies) + kings
        assert rows["draw: two or one against one king"][place] == moves(of.draws.two_v_one_plies)
        assert rows["PDN game type"][place] == str(of.gametype)


def test_the_openings_page_counts_right() -> None:
    text = (DOCS / "openings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+), (\w+-move) \| \d+ \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 5
    for name, which, cards in rows:
        assert len(deck(name, which)) == int(cards)


def test_reasons_are_what_the_pages_say() -> None:
    assert Reason.REFUSAL.value == "draw refused, no advantage in 40 moves"
    assert variant("english").draws.refusal_moves == 40
