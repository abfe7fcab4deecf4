"""The web server: games, moves, offers, sessions, restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from web_server import Connect, do, new, play, post, server, settled

from draughts_env.game import Game
from draughts_env.pdn import read_games

CAPTURES = "B:W18,22,K30:B1,2,14,27"


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    with server(tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def client(connect: Connect) -> TestClient:
    return connect()


def test_information_for_the_page(client: TestClient) -> None:
    info = client.get("/api/info").json()
    assert info["ready"]
    assert info["progress"] is None
    assert {variant["name"] for variant in info["variants"]} == {"english", "international", "russian", "brazilian"}
    for variant in info["variants"]:
        assert len(variant["squares_layout"]) == len(variant["square_names"]) == variant["squares"]
        assert len(variant["rules"]) >= 6
        assert Game(variant["name"]).fen == variant["start_fen"]
        assert info["levels"][variant["name"]][0]["id"] == "beginner"
    english, international = info["variants"][0], info["variants"][1]
    assert english["colours"] == {"black": "Red", "white": "White"}
    assert english["squares_layout"][0] == [0, 1]
    assert english["huffing"]
    assert not international["huffing"]


@pytest.mark.parametrize("variant", ["english", "international", "russian", "brazilian"])
def test_a_game_against_an_agent_ends_as_the_rules_say(client: TestClient, variant: str) -> None:
    state = settled(client, new(client, variant=variant, mode="play", colour="lot", opponent="easy"))
    game = Game(variant)
    while state["outcome"] is None and state["ply"] < 30:
        assert state["players"][state["turn"]]["kind"] == "human"
        assert {move["text"] for move in state["legal"]} == {
            move.named(8) if variant in ("russian", "brazilian") else str(move) for move in _at(state).legal_moves()
        }
        state = settled(client, play(client, state, *state["legal"][-1]["path"]))
    for move in state["moves"]:
        game.push("-".join(map(str, move["path"])))
        assert game.fen == move["fen"]
    assert game.fen == state["fen"]


def _at(state: dict) -> Game:  # type: ignore[type-arg]
    return Game(state["variant"], state["fen"])


def test_why_a_piece_cannot_move(client: TestClient) -> None:
    state = new(client, fen=CAPTURES)
    assert state["must_capture"]
    assert state["movable"] == [14]
    assert state["reasons"]["1"] == "capturing is compulsory: the man on 14 must take"
    assert play(client, state, 1, 5, status=400)["error"].startswith("1-5: capturing is compulsory")
    blocked = new(client)["reasons"]["1"]
    assert blocked == "the man on 1 is blocked: no square to go to is free"
    most = new(client, variant="international", fen="W:W37,30:B32,24,14,15")
    assert "the most pieces (2) must be taken: the man on 30 takes 2, the man on 37 only 1" in most["reasons"].values()


def test_every_route_of_a_capture_is_listed(client: TestClient) -> None:
    """One move, two ways around the square: the same men are taken."""
    state = new(client, fen="W:WK32:B27,19,26,18,10")
    fen = "W:WK31:B26,27,18,19,10,11"
    state = new(client, fen=fen)
    paths = [move["path"] for move in state["legal"]]
    assert len(paths) == len({tuple(path) for path in paths})
    for path in paths:
        again = new(client, fen=fen)
        after = play(client, again, *path)
        assert after["moves"][0]["path"] == path
    round_trip = new(client, fen="W:WK6:B9,10,17,18")
    paths = [move["path"] for move in round_trip["legal"]]
    assert [6, 13, 22, 15, 6] in paths
    assert [6, 15, 22, 13, 6] in paths
    assert play(client, round_trip, 6, 15, 22, 13, 6)["moves"][0]["path"] == [6, 15, 22, 13, 6]


def test_a_request_that_comes_too_late(client: TestClient) -> None:
    state = new(client)
    play(client, state, 11, 15)
    late = play(client, state, 11, 15, status=409)
    assert late["error"] == "the game is at ply 1, not at 0"
    assert late["state"]["ply"] == 1


def test_taking_back(client: TestClient) -> None:
    state = settled(client, new(client, mode="play", black="human", white="easy"))
    do(client, state, "takeback", 409)
    state = settled(client, play(client, state, 11, 15))
    assert state["ply"] == 2
    state = do(client, state, "takeback")
    assert state["ply"] == 0
    state = do(client, state, "resign")
    assert state["outcome"] == {"winner": "white", "reason": "resignation", "text": "White wins: Red has resigned."}
    assert state["legal"] == []
    assert do(client, state, "takeback")["outcome"] is None


def test_a_draw_that_is_refused_obliges(client: TestClient) -> None:
    fen = "B:W21-32:B1,2,3"  # White is far ahead, and will not agree
    state = new(client, fen=fen, mode="play", black="human", white="easy")
    state = settled(client, do(client, state, "offer"))
    assert state["offer"]["status"] == "refused"
    assert state["offer"]["obliged"] == "white"
    assert state["offer"]["moves_left"] == 40
    assert {key: value for key, value in state["draw_counts"][0].items() if key != "text"} == {
        "name": "refusal",
        "count": 0,
        "limit": 40,
    }


def test_two_people_agree_to_a_draw(client: TestClient) -> None:
    state = do(client, new(client), "offer")
    assert state["offer"]["status"] == "open"
    assert do(client, state, "answer", accept=False)["offer"]["moves_left"] == 40
    state = do(client, do(client, new(client), "offer"), "answer", accept=True)
    assert state["outcome"]["reason"] == "agreement"
    do(client, state, "answer", 400, accept=True)


def test_the_next_game_swaps_colours(client: TestClient) -> None:
    state = new(client, mode="play", black="human", white="easy")
    after = do_next = client.post(f"/api/games/{state['id']}/next").json()
    assert do_next["players"]["white"]["kind"] == "human"
    assert after["view"] == "white"
    assert state["view"] == "black"
    assert after["id"] != state["id"]


def test_huffing(client: TestClient) -> None:
    state = new(client, huffing=True, fen=CAPTURES)
    assert not state["must_capture"]
    state = play(client, state, 1, 5)
    assert state["huff"] == {
        "squares": [14],
        "may_insist": True,
        "text": "Red missed a capture: huff 14, insist on the capture, or play on.",
    }
    huffed = do(client, state, "huff", square=14)
    assert "14" not in huffed["board"]
    assert huffed["moves"][-1]["text"] == "huff 14"
    back = do(client, huffed, "takeback")
    insisted = do(client, back, "huff", square=None)
    assert insisted["must_capture"]
    assert insisted["turn"] == "black"
    assert do(client, insisted, "huff", 400, square=3)["error"]
    assert 'Huffing "1"' in client.get(f"/api/games/{state['id']}/pdn").text
    agent = new(client, huffing=True, mode="play", black="human", white="club", fen=CAPTURES)
    agent = settled(client, play(client, agent, 1, 5))
    assert agent["turn"] == "black"
    assert agent["ply"] >= 2
    new(client, 400, variant="russian", huffing=True)


def test_analysis(client: TestClient) -> None:
    pdn = '[GameType "21"]\n\n1. 11-15 23-19 2. 8-11 22-17 *'
    state = new(client, mode="analysis", pdn=pdn)
    assert [move["text"] for move in state["moves"]] == ["11-15", "23-19", "8-11", "22-17"]
    other = post(client, f"/api/games/{state['id']}/move", ply=2, path=[9, 13])
    assert [move["text"] for move in other["moves"]] == ["11-15", "23-19", "9-13"]
    post(client, f"/api/games/{state['id']}/move", 400, ply=1, path=[9, 13])
    assert client.get(f"/api/games/{state['id']}").json()["ply"] == 3
    thinking = post(client, f"/api/games/{state['id']}/analyse", ply=1, seconds=30)
    assert thinking["thinking"]
    assert not post(client, f"/api/games/{state['id']}/stop")["thinking"]
    post(client, f"/api/games/{new(client)['id']}/analyse", 409, ply=0, seconds=1)


def test_a_hint(client: TestClient) -> None:
    state = new(client, variant="russian", fen="W:WK1:BK5,10", mode="play", white="human", black="easy")
    hint = post(client, f"/api/games/{state['id']}/hint")
    assert hint["move"] in state["legal"]
    assert hint["text"].startswith(f"Hint: {hint['move']['text']}")


def test_agents_play_each_other_and_wait(client: TestClient) -> None:
    state = new(client, mode="watch", black="easy", white="casual")
    assert state["thinking"]
    state = post(client, f"/api/games/{state['id']}/pause", paused=True)
    assert state["paused"]
    assert not state["thinking"]
    assert state["ply"] <= 1
    assert post(client, f"/api/games/{state['id']}/pause", paused=False)["thinking"]
    client.delete(f"/api/games/{state['id']}")
    assert client.get(f"/api/games/{state['id']}").status_code == 404


def test_clocks(client: TestClient) -> None:
    state = new(client, clock={"minutes": 0.05, "increment": 0})
    assert state["clock"] == {"black": 3.0, "white": 3.0, "running": None, "increment": 0.0}
    state = play(client, state, 11, 15)
    assert state["clock"]["running"] == "white"
    while state["outcome"] is None:
        assert state["clock"]["white"] >= 0
        state = client.get(f"/api/games/{state['id']}").json()
    assert state["outcome"] == {"winner": "black", "reason": "time", "text": "Red wins: White's time is up."}
    assert 'Result "1-0"' in client.get(f"/api/games/{state['id']}/pdn").text


def test_sessions_are_separate(connect: Connect) -> None:
    mine, other = connect(), connect()
    state = new(mine)
    path = f"/api/games/{state['id']}"
    for answer in (other.get(path), other.delete(path), other.get(path + "/pdn"), other.get(path + "/events")):
        assert answer.status_code == 404
    post(other, path + "/move", 404, ply=0, path=[11, 15])
    assert other.get("/api/games").json() == {"games": []}
    assert [game["id"] for game in mine.get("/api/games").json()["games"]] == [state["id"]]


def test_games_survive_a_restart(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with server(tmp_path) as connect:
        first = connect()
        state = do(first, play(first, play(first, new(first), 11, 15), 23, 19), "offer")
        state = do(first, state, "answer", accept=False)
        watched = new(first, mode="watch", black="easy", white="easy")
        cookies = dict(first.cookies)
    with server(tmp_path) as connect:
        again = connect()
        again.cookies.update(cookies)
        found = again.get(f"/api/games/{state['id']}").json()
        assert found == state
        assert again.get(f"/api/games/{watched['id']}").json()["thinking"]
        assert play(again, found, 8, 11)["ply"] == 3


def test_pdn_of_a_game(client: TestClient) -> None:
    state = play(client, new(client), 11, 15)
    answer = client.get(f"/api/games/{state['id']}/pdn")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "attachment" in answer.headers["content-disposition"]
    (game,) = read_games(answer.content)
    assert not game.problems
    assert [str(move) for move in game.moves] == ["11-15"]
    assert new(client, pdn=answer.text)["fen"] == state["fen"]
