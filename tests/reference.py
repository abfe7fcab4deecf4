"""A slow, obvious move generator that the fast kernels are checked against.

It shares no code with them: the board is a 2-D grid of cells, walked one diagonal step at a time, and every capture is
tried out in full. Nothing is cached and nothing is clever, so that each rule can be read off one place.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

Piece = tuple[str, bool]  # (colour, is it a king)
Board = dict[int, Piece]  # PDN square -> piece; empty squares are absent
Path = tuple[int, ...]  # origin, each landing square, target
Move = tuple[int, int, frozenset[int]]  # origin, target, captured squares
Cell = tuple[int, int]  # (row, column), row 0 at the top
Grid = list[list[Piece | None]]

FORWARD = {"white": -1, "black": 1}  # the row step of a man
OPPONENT = {"white": "black", "black": "white"}
DIAGONALS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]


@dataclass(frozen=True)
class Rules:
    size: int
    men_capture_backwards: bool
    flying_kings: bool
    most: bool  # only the captures of the most pieces are legal
    crown_in_flight: bool  # a man that reaches the last row in mid-capture goes on as a king


ENGLISH = Rules(8, men_capture_backwards=False, flying_kings=False, most=False, crown_in_flight=False)
INTERNATIONAL = Rules(10, men_capture_backwards=True, flying_kings=True, most=True, crown_in_flight=False)
RUSSIAN = Rules(8, men_capture_backwards=True, flying_kings=True, most=False, crown_in_flight=True)
BRAZILIAN = Rules(8, men_capture_backwards=True, flying_kings=True, most=True, crown_in_flight=False)


def cell_of(rules: Rules, square: int) -> Cell:
    """Even rows have their dark squares at columns 1, 3, 5, ..., odd rows at 0, 2, 4, ..."""
    row, place = divmod(square - 1, rules.size // 2)
    return row, 2 * place + (1 if row % 2 == 0 else 0)


def square_of(rules: Rules, cell: Cell) -> int:
    row, column = cell
    return row * (rules.size // 2) + column // 2 + 1


def crown_row(rules: Rules, colour: str) -> int:
    return 0 if colour == "white" else rules.size - 1


def start(rules: Rules) -> Board:
    """Men on every dark square except those of the two middle rows."""
    last = rules.size**2 // 2
    men = last // 2 - rules.size // 2
    black = dict.fromkeys(range(1, men + 1), ("black", False))
    return black | dict.fromkeys(range(last - men + 1, last + 1), ("white", False))


def parse_fen(text: str) -> tuple[Board, str]:
    """Read `W:W31-50,K1:BK2,3`: sections in either order, ranges, `K` before a square or a range, a trailing dot."""
    colours = {"W": "white", "B": "black"}
    side, *sections = text.strip().rstrip(".").split(":")
    board: Board = {}
    for section in sections:
        for item in filter(None, section[1:].split(",")):
            first, _, last = item.removeprefix("K").partition("-")
            for square in range(int(first), int(last or first) + 1):
                board[square] = (colours[section[0]], item.startswith("K"))
    return board, colours[side]


def _grid(rules: Rules, board: Board) -> Grid:
    grid: Grid = [[None] * rules.size for _ in range(rules.size)]
    for square, piece in board.items():
        row, column = cell_of(rules, square)
        grid[row][column] = piece
    return grid


def _ray(rules: Rules, cell: Cell, direction: Cell) -> list[Cell]:
    """The cells from `cell`, not included, to the edge."""
    cells = [(cell[0] + n * direction[0], cell[1] + n * direction[1]) for n in range(1, rules.size)]
    return [(row, column) for row, column in cells if 0 <= row < rules.size and 0 <= column < rules.size]


def _empties(rules: Rules, grid: Grid, ray: list[Cell], king: bool) -> list[Cell]:
    """The cells at the beginning of `ray` on which a piece can stop: up to the first piece, or one if not flying."""
    free = list(takewhile(lambda cell: grid[cell[0]][cell[1]] is None, ray))
    return free if king and rules.flying_kings else free[:1]


def _quiet_targets(rules: Rules, grid: Grid, cell: Cell, piece: Piece) -> list[Cell]:
    colour, king = piece
    directions = [d for d in DIAGONALS if king or d[0] == FORWARD[colour]]
    return [target for d in directions for target in _empties(rules, grid, _ray(rules, cell, d), king)]


def _jumps(
    rules: Rules, grid: Grid, cell: Cell, piece: Piece, taken: frozenset[Cell]
) -> Iterator[tuple[Cell, list[Cell]]]:
    """Each single jump from `cell`: the piece jumped and the cells on which the jump can land.

    Pieces taken earlier in the move still stand on the grid: they block, and are not jumped again.
    """
    colour, king = piece
    for direction in DIAGONALS:
        if not king and not rules.men_capture_backwards and direction[0] != FORWARD[colour]:
            continue
        ray = _ray(rules, cell, direction)
        distance = next((n for n, (row, column) in enumerate(ray) if grid[row][column] is not None), None)
        if distance is None or (distance > 0 and not (king and rules.flying_kings)):
            continue
        victim = ray[distance]
        standing = grid[victim[0]][victim[1]]
        assert standing is not None
        landings = _empties(rules, grid, ray[distance + 1 :], king)
        if standing[0] != colour and victim not in taken and landings:
            yield victim, landings


def _routes_from(
    rules: Rules, grid: Grid, path: tuple[Cell, ...], piece: Piece, taken: frozenset[Cell]
) -> Iterator[tuple[tuple[Cell, ...], frozenset[Cell]]]:
    """Every way to complete a capture that has come along `path`, as the whole path and all the pieces taken."""
    jumps = list(_jumps(rules, grid, path[-1], piece, taken))
    if not jumps and taken:
        yield path, taken
    for victim, landings in jumps:
        options = []
        for landing in landings:
            # Where men do not capture backwards, a man on the last row has nowhere to jump: crowning ends its move.
            crowned = rules.crown_in_flight and landing[0] == crown_row(rules, piece[0])
            options.append((landing, (piece[0], piece[1] or crowned)))
        if not rules.most:
            # A capture must be completed: of the cells behind the victim, one where it goes on comes first. Under the
            # majority rule, stopping short is ruled out by the count.
            going_on = [o for o in options if any(_jumps(rules, grid, o[0], o[1], taken | {victim}))]
            options = going_on or options
        for landing, mover in options:
            yield from _routes_from(rules, grid, (*path, landing), mover, taken | {victim})


def capture_routes(rules: Rules, board: Board, turn: str) -> Iterator[tuple[Path, frozenset[int]]]:
    """Every completed capture of the side to move, one at a time, before the majority rule is applied."""
    for square, piece in board.items():
        if piece[0] != turn:
            continue
        grid = _grid(rules, board)
        cell = cell_of(rules, square)
        grid[cell[0]][cell[1]] = None  # the origin counts as empty while its piece is on the way
        for path, taken in _routes_from(rules, grid, (cell,), piece, frozenset()):
            yield tuple(square_of(rules, c) for c in path), frozenset(square_of(rules, c) for c in taken)


def legal_moves(rules: Rules, board: Board, turn: str) -> dict[Move, set[Path]]:
    """The legal moves, each with its paths: routes alike in origin, target and captured set are one move."""
    routes = list(capture_routes(rules, board, turn))
    if rules.most:
        most = max((len(captured) for _, captured in routes), default=0)
        routes = [route for route in routes if len(route[1]) == most]
    if not routes:  # captures are compulsory
        grid = _grid(rules, board)
        for square, piece in board.items():
            if piece[0] == turn:
                for target in _quiet_targets(rules, grid, cell_of(rules, square), piece):
                    routes.append(((square, square_of(rules, target)), frozenset()))
    moves: dict[Move, set[Path]] = {}
    for path, captured in routes:
        moves.setdefault((path[0], path[-1], captured), set()).add(path)
    return moves


def play(
    rules: Rules, board: Board, turn: str, origin: int, target: int, captured: frozenset[int], path: Path
) -> Board:
    """The board after a legal move.

    The path says whether a man was crowned in flight. All paths of one move agree: a man gets to the last row only over
    a piece on the row before it, and a man that takes such a piece always lands on the last row.
    """
    colour, king = board[origin]
    assert colour == turn
    reached = path[1:] if rules.crown_in_flight else (target,)
    crowned = any(cell_of(rules, square)[0] == crown_row(rules, turn) for square in reached)
    after = {square: piece for square, piece in board.items() if square != origin and square not in captured}
    after[target] = (turn, king or crowned)
    return after


def perft(rules: Rules, board: Board, turn: str, depth: int) -> int:
    """The number of lines of `depth` moves."""
    if depth == 0:
        return 1
    moves = legal_moves(rules, board, turn)
    if depth == 1:
        return len(moves)
    return sum(
        perft(rules, play(rules, board, turn, origin, target, captured, min(paths)), OPPONENT[turn], depth - 1)
        for (origin, target, captured), paths in moves.items()
    )


def _place(rules: Rules, rng: random.Random, board: Board, squares: list[int], colour: str, count: int) -> None:
    """Put up to `count` pieces on free squares of `squares`, with any share of kings, but no man on its crown row."""
    share = rng.choice([0.0, 0.0, 0.1, 0.3, 0.6, 1.0])
    free = [square for square in squares if square not in board]
    for square in rng.sample(free, min(count, len(free))):
        king = rng.random() < share
        if king or cell_of(rules, square)[0] != crown_row(rules, colour):
            board[square] = (colour, king)


def _scattered(rules: Rules, rng: random.Random) -> Board:
    """Pieces anywhere, from almost none to as many as a game starts with."""
    squares = list(range(1, rules.size**2 // 2 + 1))
    most = len(start(rules)) // 2
    board: Board = {}
    for colour in rng.sample(["white", "black"], 2):
        _place(rules, rng, board, squares, colour, rng.choice([rng.randint(1, 4), rng.randint(1, most)]))
    return board


def _baited(rules: Rules, rng: random.Random, turn: str) -> Board:
    """Captures for `turn`, often long ones.

    Pieces on rows of one parity never touch diagonally, so there is a gap behind each of them; and a jump by a man
    keeps to the rows of the other parity, from where it meets one after another. A few pieces anywhere break the
    pattern.
    """
    cells = {square: cell_of(rules, square) for square in range(1, rules.size**2 // 2 + 1)}
    parity = rng.randint(0, 1)
    inner = range(1, rules.size - 1)
    bait = [s for s, (row, column) in cells.items() if row in inner and column in inner and row % 2 == parity]
    board: Board = {}
    _place(rules, rng, board, bait, OPPONENT[turn], rng.randint(2, len(bait)))
    _place(rules, rng, board, [s for s, (row, _) in cells.items() if row % 2 != parity], turn, rng.randint(1, 4))
    for colour in ("white", "black"):
        _place(rules, rng, board, list(cells), colour, rng.randint(0, 2))
    return board


def random_positions(rules: Rules, count: int, seed: int, route_limit: int = 20_000) -> Iterator[tuple[Board, str]]:
    """Yield `count` positions, the same for the same seed: scattered, baited, and reached by random play.

    A side may have no move, or no piece. Positions with more than `route_limit` capture routes are left out: those
    of many flying kings can be beyond counting.
    """
    rng = random.Random(seed)

    def bounded(board: Board, turn: str) -> bool:
        return next(islice(capture_routes(rules, board, turn), route_limit, None), None) is None

    game: tuple[Board, str] | None = None
    while count > 0:
        turn = rng.choice(["white", "black"])
        kind = rng.choice(["scattered", "baited", "baited", "played"])
        if kind == "scattered":
            position = _scattered(rules, rng), turn
        elif kind == "baited":
            position = _baited(rules, rng, turn), turn
        else:  # the game goes on by a few moves each time, and a new one starts when it is over
            position = game or (start(rules), turn)
            for _ in range(rng.randint(1, 6)):
                moves = legal_moves(rules, *position) if bounded(*position) else {}
                if not moves:
                    break
                move = rng.choice(sorted(moves, key=lambda m: (m[0], m[1], sorted(m[2]))))
                origin, target, captured = move
                board, mover = position
                position = play(rules, board, mover, origin, target, captured, min(moves[move])), OPPONENT[mover]
            game = position if moves and rng.random() < 0.98 else None  # kings left alone could move for ever
        if bounded(*position):
            count -= 1
            yield position
