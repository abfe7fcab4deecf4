"""How a long job is shown to people: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

#: Seconds between the lines where there is no terminal; also how long a job stays silent.
_LINE_EVERY = 30.0
_SILENT_FOR = 2.0


@contextmanager
def shown_progress(title: str, console: Console | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on stderr for as long as the block runs, if that is more than two seconds.

    Args:
        title: said before the rest.
        console: where to show it.

    Yields:
        A function to report with: what is being done, how much of it is done, and how much there is. With nothing in
        all, the text is a message, shown at once.
    """
    console = console or Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=console
    )
    tasks: dict[str, TaskID] = {}
    started = time.monotonic()
    said = started + _SILENT_FOR
    titled = False
    lock = threading.Lock()

    def say_title() -> None:
        nonlocal titled
        if not titled:
            console.print(title, highlight=False, soft_wrap=True)
            if console.is_terminal:
                bar.start()
        titled = True

    def report(what: str, done: int, total: int) -> None:
        nonlocal said
        with lock:
            if total <= 0:
                say_title()
                console.print(what, highlight=False, soft_wrap=True)
                return
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)
            now = time.monotonic()
            if not titled and now - started > _SILENT_FOR:
                say_title()
            if titled and not console.is_terminal and now - said >= _LINE_EVERY:
                said = now
                console.print(f"{what}: {done / total:.0%} of {total:,}", highlight=False, soft_wrap=True)

    try:
        yield report
    finally:
        if titled and console.is_terminal:
            bar.stop()
