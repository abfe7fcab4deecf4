"""A game against an agent in a terminal."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from agents.agent import Agent, Limit
from agents.files import replace_file
from draughts_env.errors import DraughtsError, IllegalMoveError, OfferError
from draughts_env.game import Game
from draughts_env.pdn import result_text, write_game
from draughts_env.variants import Color, Variant
from draughts_play.board_picture import board_picture, move_text

_OTHER: dict[Color, Color] = {"black": "white", "white": "black"}
#: Up to this value of its own, the agent accepts a draw.
_CONTENT = 0.05
_YES = ("y", "yes")
_NO = ("n", "no", "q", "quit", "exit")


class _Quit(Exception):
    """The person wants to leave."""


class Terminal:
    """Games of a person against an agent, one after the other, colours swapped each time.

    Args:
        variant: the rules.
        agent: the opponent, which also gives the hints.
        color: the person's colour in the first game; None lets chance decide.
        limit: the agent's time for a move, if not its own limit.
        fen: where games start, if not from the starting position.
        console: where to print.
        read: asks for a line of input, given the prompt; raises EOFError at the end of the input.
        seed: decides the random colour.

    Raises:
        FenError: the FEN cannot be read.
    """

    def __init__(
        self,
        variant: Variant,
        agent: Agent,
        *,
        color: Color | None = None,
        limit: Limit | None = None,
        fen: str | None = None,
        console: Console | None = None,
        read: Callable[[str], str] = input,
        seed: int | None = None,
    ) -> None:
        self._variant = variant
        self._fen = fen
        self._game = self._new_game()
        self._agent = agent
        self._limit = limit
        self._console = console or Console(highlight=False)
        self._read = read
        by_chance: Color = "black" if random.Random(seed).random() < 0.5 else "white"
        self._color: Color = color or by_chance
        self._flipped = False
        self._ended: tuple[Color | None, str] | None = None  # winner and reason, off the board too
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "help": (self._help, "this list"),
            "moves": (self._show_moves, "the legal moves with their numbers"),
            "board": (self._show_board, "the board"),
            "hint": (self._hint, "what the agent would play in your place"),
            "undo": (self._undo, "take back your last move"),
            "flip": (self._flip, "turn the board"),
            "pdn": (self._pdn, "the game as PDN text; pdn FILE writes it to a file"),
            "draw": (self._draw, "offer a draw"),
            "resign": (self._resign, "give up this game"),
            "quit": (self._quit, "leave"),
        }

    def run(self) -> None:
        """Play until the person has had enough; returns normally at the end of input too."""
        try:
            while True:
                self._play_game()
                self._color = _OTHER[self._color]
                self._game = self._new_game()
        except _Quit:
            self._say("Goodbye.")

    # --- what other ways of playing replace ---------------------------------------------------------

    def _new_game(self) -> Any:
        """A game at its start."""
        return Game(self._variant, self._fen)

    def _choices(self) -> list[Any]:
        """What the side to move can do, in the order of its numbers."""
        return self._game.legal_moves()

    def _name(self, choice: Any) -> str:
        """How the person reads and writes one of the choices."""
        return move_text(choice, self._game.position)

    def _ask_agent(self, game: Any) -> tuple[Any, float | None]:
        """What the agent would do in a game, and its value for the side to move."""
        decision = self._agent.choose(game, self._limit)
        return decision.move, decision.value

    def _lead_in(self) -> str:
        """What stands before the list of choices."""
        moves = self._game.legal_moves()
        return "You must capture" if moves and moves[0].is_capture else "Moves"

    def _written(self, tags: dict[str, str]) -> str:
        """The game as text."""
        result = result_text(self._ended[0], self._game.variant) if self._ended else None
        return write_game(self._game, tags, result)

    # --- one game -----------------------------------------------------------------------------------

    def _play_game(self) -> None:
        self._flipped = self._color == "black"
        self._ended = None
        self._agent.new_game()
        self._say(
            f"\nYou play {self._color.capitalize()} against {escape(self._agent.name)} ({self._game.variant}). "
            "Type a move, its number, or [bold]help[/bold]."
        )
        while True:
            while not self._over():
                if self._game.turn == self._color:
                    self._person_moves()
                else:
                    self._agent_moves()
            self._show_board()
            self._say(f"[bold]{self._verdict()}[/bold]")
            if self._another():
                return

    def _over(self) -> bool:
        outcome = self._game.outcome()
        if outcome is not None:
            self._ended = outcome.winner, str(outcome.reason)
        return self._ended is not None

    def _verdict(self) -> str:
        assert self._ended is not None
        winner, reason = self._ended
        if winner is None:
            return f"Draw: {reason}."
        if reason.startswith("no "):
            reason = f"{_OTHER[winner].capitalize()} has {reason} left"
        return f"{winner.capitalize()} wins: {reason}. You have {'won' if winner == self._color else 'lost'}."

    def _another(self) -> bool:
        """Ask for another game; False when the last move was taken back and this one goes on."""
        while True:
            answer = self._ask("Another game with colours swapped? (yes, no, undo, pdn) ")
            word, _, rest = answer.partition(" ")
            if word.lower() in ("", *_YES):
                return True
            if word.lower() in _NO:
                raise _Quit
            if word.lower() == "undo":
                self._undo()
                if not self._over():
                    return False
            elif word.lower() == "pdn":
                self._pdn(rest)

    def _person_moves(self) -> None:
        """Show the board and obey until it is no longer the person's turn, or the position changes."""
        self._show_board()
        self._show_moves()
        ply = self._game.ply
        while self._game.ply == ply and self._ended is None:
            answer = self._ask(f"{self._color.capitalize()} to move: ")
            name, _, rest = answer.partition(" ")
            if name.lower() in self._commands:
                self._commands[name.lower()][0](rest.strip())
            elif answer:
                self._try_move(answer)

    def _try_move(self, text: str) -> None:
        moves = self._choices()
        if text.isascii() and text.isdigit() and len(text) <= 3:
            if not 1 <= int(text) <= len(moves):
                self._say(f"There is no move number {int(text)}: there are {len(moves)}.")
                return
            self._game.push(moves[int(text) - 1])
            return
        try:
            self._game.push(text)
        except IllegalMoveError as error:
            self._say(f"{escape(str(error))}." + ("" if "-" in text else " Type help for the commands."))

    def _agent_moves(self) -> None:
        side = self._game.turn.capitalize()
        try:
            choice, _ = self._think(f"{side} is thinking")
            shown = self._name(choice)
            self._game.push(choice)
        except Exception as error:  # whatever is wrong with the agent, the person's session goes on
            self._say(f"The agent has failed: {escape(str(error) or type(error).__name__)}.")
            self._ended = self._color, "the agent has failed"
            return
        self._say(f"{side} plays [bold]{shown}[/bold].")

    def _think(self, what: str) -> tuple[Any, float | None]:
        """Let the agent choose in a thread, so that Ctrl-C is heard meanwhile."""
        answers: queue.Queue[tuple[Any, float | None] | Exception] = queue.Queue()
        game = self._game.copy()

        def choose() -> None:
            try:
                answers.put(self._ask_agent(game))
            except Exception as error:
                answers.put(error)

        threading.Thread(target=choose, daemon=True).start()
        while True:
            try:
                with self._console.status(f"{what} ..."):
                    while True:
                        try:
                            answer = answers.get(timeout=0.2)  # an endless wait would not hear Ctrl-C everywhere
                            break
                        except queue.Empty:
                            continue
                break
            except KeyboardInterrupt:
                self._confirm_quit()
        if isinstance(answer, Exception):
            raise answer
        return answer

    # --- commands -----------------------------------------------------------------------------------

    def _help(self, _: str = "") -> None:
        self._say("Type a move such as 11-15 or 22x15 (or c3-d4), its number in the list, or:")
        for name, (_command, text) in self._commands.items():
            self._say(f"  [bold]{name:<7}[/bold] {text}")

    def _show_board(self, _: str = "") -> None:
        marked = self._marked()
        self._console.print()
        self._console.print(
            board_picture(self._game.position, self._console, flipped=self._flipped, marked=marked), end=""
        )

    def _marked(self) -> tuple[int, ...]:
        """Squares to set off: the last move's."""
        moves = self._game.moves
        return moves[-1].path if moves else ()

    def _show_moves(self, _: str = "") -> None:
        names = (self._name(choice).replace(" ", "\u00a0") for choice in self._choices())
        listed = "   ".join(f"{i})\u00a0{name}" for i, name in enumerate(names, start=1))
        self._console.print(Padding(f"{self._lead_in()}:   {listed}", (0, 0, 0, 2)))

    def _hint(self, _: str = "") -> None:
        try:
            choice, value = self._think("Looking for a hint")
        except DraughtsError as error:
            self._say(f"No hint: {escape(str(error))}.")
            return
        text = f"Hint: [bold]{self._name(choice)}[/bold]"
        if value is not None:
            text += f", expected result {value:+.2f} (from -1, lost, to 1, won)"
        self._say(text + ".")

    def _undo(self, _: str = "") -> None:
        """Take back to the person's last turn; after resigning or agreeing to a draw, only that."""
        if self._ended is not None:
            with suppress(OfferError):
                self._game.reopen()
            if self._game.outcome() is None:
                self._ended = None
                return
        own = [ply for ply, position in enumerate(self._game.positions[:-1]) if position.turn == self._color]
        if not own:
            self._say("You have not moved yet.")
            return
        while self._game.ply > own[-1]:
            self._game.pop()
        self._ended = None
        self._agent.new_game()

    def _flip(self, _: str = "") -> None:
        self._flipped = not self._flipped
        self._show_board()

    def _pdn(self, file: str = "") -> None:
        tags = {
            "Event": "Game in the terminal",
            self._color.capitalize(): "You",
            _OTHER[self._color].capitalize(): self._agent.name,
        }
        text = self._written(tags)
        if not file:
            self._console.print(text, markup=False)
            return
        try:
            replace_file(Path(file).expanduser(), text.encode())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._say(f"{escape(file)} cannot be written: {escape(reason)}.")
            return
        self._say(f"Written to {escape(file)}.")

    def _draw(self, _: str = "") -> None:
        """Offer a draw; the agent accepts unless it believes it is better."""
        try:
            if self._game.draw_offer is None:
                self._game.offer_draw(self._color)
            _, value = self._think("The agent considers the offer")
        except DraughtsError as error:
            self._say(f"No draw: {escape(str(error))}.")
            return
        if value is None or -value <= _CONTENT:
            self._game.accept_draw()
            self._over()
            return
        self._game.decline_draw()
        agent = _OTHER[self._color].capitalize()
        left = [count.moves_left for count in self._game.refusals if count.color != self._color]
        self._say(
            f"{agent} declines"
            + (f": it has {left[0]} moves to win or show an advantage, or the game is drawn." if left else ".")
        )

    def _resign(self, _: str = "") -> None:
        self._game.resign(self._color)
        self._over()

    def _quit(self, _: str = "") -> None:
        raise _Quit

    # --- input and output ---------------------------------------------------------------------------

    def _ask(self, prompt: str) -> str:
        """A line of input without blanks around it; leaves at the end of input, asks after Ctrl-C."""
        while True:
            try:
                return self._read(prompt).strip()
            except EOFError:
                self._console.print()
                raise _Quit from None
            except UnicodeDecodeError:
                self._say("That was not text.")
            except KeyboardInterrupt:
                self._confirm_quit()

    def _confirm_quit(self) -> None:
        """Leave if the person confirms, presses Ctrl-C again or ends the input; otherwise go on."""
        try:
            self._console.print()
            answer = self._read("Leave the game? (y/N) ")
        except (EOFError, KeyboardInterrupt):
            self._console.print()
            raise _Quit from None
        if answer.strip().lower() in _YES:
            raise _Quit

    def _say(self, text: str) -> None:
        self._console.print(text)
