"""The environments' pages: their examples run, their numbers are those of the code."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import gymnasium
import pytest

from draughts_env import PLANES, Reason, registration
from draughts_env.env_arguments import ILLEGAL_ACTION
from draughts_env.variants import VARIANTS, Variant

PAGES = Path(__file__).parent.parent / "docs" / "environments"


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(examples.examples) > 4
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_every_variant_has_a_page() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {"README", "examples", *(v.name for v in VARIANTS)}


@pytest.mark.parametrize(("of", "name"), zip(VARIANTS, registration.IDS), ids=lambda x: str(x))
def test_numbers(of: Variant, name: str) -> None:
    text = (PAGES / f"{of.name}.md").read_text(encoding="utf-8")
    env = gymnasium.make(name)
    assert f"# {name}\n" in text
    assert f"| Action space | `{env.action_space}` |" in text
    assert f"`{env.observation_space}`" in text
    planes = re.findall(r"^\| (\d) \| ([^|]+) \|", text, re.MULTILINE)
    assert planes == [(str(i), plane) for i, plane in enumerate(PLANES)]
    assert f"plies by kings without a capture / {of.draws.quiet_plies}," in text
    assert f"drawn: {of.draws.quiet_plies // 2} moves by each side" in text
    for plies in (of.draws.three_v_one_plies, of.draws.two_v_one_plies):
        assert plies is None or f"{plies // 2} moves by each side with" in text
    assert ("with three kings against one king" in text) == of.draws.three_kings_only
    assert ("two against two" in text) == of.draws.two_v_two
    assert ("endgame move limit" in text) == (of.draws.two_v_one_plies is not None)
    for outcome in (Reason.NO_PIECES, Reason.NO_MOVES, Reason.REPETITION, Reason.QUIET_LIMIT, ILLEGAL_ACTION):
        assert f'`"{outcome}"`' in text
    assert f"`{env.unwrapped.spec.id}`" in text or f"# {env.unwrapped.spec.id}" in text
