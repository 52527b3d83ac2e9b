"""The tree of a declaration that does not parse: what its author most likely means. For editors.

Where the parser cannot go on, the shortest row of tokens is put in that lets it; where none is found, the token is
passed over. What was put in stands in the tree as names of no width, `MISSING`, so that the rest keeps its place:
completion, hover and the like work while a declaration is half typed. Diagnostics come from the strict parser alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Span, has_errors
from . import ast
from .build import ACTIONS
from .lalr import Failure, advance, parse
from .limits import within_limits
from .parser import MAX_ERRORS, MAX_NESTING, Chunk, ParseResult, chunks, parse_module
from .pieces import Piece
from .scanner import CLOSING, ERROR, Lines, Token, scan
from .tables import Tables, load_tables

MISSING = "\0missing"
"""The text of a name that was put in."""

CURSOR = "\0cursor"
"""The text of the name that stands at the cursor."""

MAX_REPAIRS = 50
_LONGEST = 6
# States of the parser that agree in their last few are taken for one: what lies below is not reached by so few tokens.
_DEEP = 12
# What may be put in, in the order of likelihood, with its text in the tree.
_FILLERS = {
    ",": ",",
    "}": "}",
    ")": ")",
    "]": "]",
    "IDENT": MISSING,
    ":": ":",
    "=": "=",
    "==": "==",
    "on": "on",
    "at": "at",
    "{": "{",
    "(": "(",
    "[": "[",
    "as": "as",
    "contract": "contract",
    "INT": "1",
    ">": ">",
    "|": "|",
    "..": "..",
    "none": "none",
    "many_to_one": "many_to_one",
    "append": "append",
    "DURATION": "1d",
}


def recover_module(text: str, file: str) -> ast.Module:
    """The tree of `text` with a repaired declaration in place of each broken one that can be repaired."""
    return recovered(parse_module(text, file))


def recovered(parsed: ParseResult) -> ast.Module:
    """The tree of what was parsed, broken declarations repaired where that can be done; others are the same nodes."""
    module = parsed.module
    if not has_errors(parsed.diagnostics):
        return module
    found: list[ast.Declaration] = []
    left = MAX_ERRORS  # a file that is no Strata at all is not worth the time
    for piece in parsed.pieces:
        whole = [part.declaration for part in piece.parts if part.declaration is not None]
        broken = any(has_errors(part.diagnostics) for part in piece.parts)
        if broken and left:
            left -= 1
            found += _repaired_piece(piece, whole, module.path)
        else:
            found += whole
    return ast.Module(module.path, tuple(found), module.span)


def _repaired_piece(piece: Piece, whole: Sequence[ast.Declaration], file: str) -> Iterator[ast.Declaration]:
    tables, lines = load_tables(), Lines(file, piece.text, piece.line)
    known: dict[Span, ast.Declaration] = {d.span: d for d in whole}
    for chunk in chunks(scan(piece.text, tables), piece.text, tables):
        span = lines.span(chunk.tokens[0].start, chunk.tokens[-1].end)
        declaration = known.get(span)
        if declaration is None or isinstance(declaration, ast.Broken):
            declaration = recover(chunk.tokens, lines, tables) or declaration
        if declaration is not None:
            yield declaration


def recover(tokens: Sequence[Token], lines: Lines, tables: Tables) -> ast.Declaration | None:
    """The declaration that `tokens` most likely mean; None where nothing can be made of them."""
    whole = [*_completed(tokens, tables)]
    if not whole:
        return None
    tree = parse(whole, tables, lambda name, c, start, end: ACTIONS[name](c, lines.span(start, end), _ignored))
    if isinstance(tree, Failure):
        return None
    declaration, beyond = within_limits(tree, MAX_NESTING)
    return None if beyond else declaration


def _ignored(_: object) -> None:
    """Diagnostics are the strict parser's matter."""


def repaired(tokens: Sequence[Token], tables: Tables) -> list[Token]:
    """`tokens` made into the beginning of a declaration: some put in, some left out."""
    return [*_Repair(tables).put_right(tokens)]


def _completed(tokens: Sequence[Token], tables: Tables) -> Iterator[Token]:
    repair = _Repair(tables)
    yield from repair.put_right(tokens)
    yield from repair.to_end()


class _Repair:
    """One pass over the tokens of a declaration: the parser's states, and the brackets that are to be closed."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.states = [tables.start]
        self.closers: list[str] = []
        self.repairs = 0
        self.at = 0

    def put_right(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """`tokens` as the parser takes them."""
        for token in tokens:
            if token.kind == ERROR:
                continue
            if not self._moves(token.kind):
                filling = self._filling(token.kind) if self.repairs < MAX_REPAIRS else None
                self.repairs += 1
                if filling is None or (len(filling) > 1 and self.tables.spelling[token.kind] in CLOSING.values()):
                    continue
                for kind in filling:
                    yield self._step(self._filler(kind))
            yield self._step(token)

    def to_end(self) -> Iterator[Token]:
        """What is missing to the end of the declaration."""
        end = self.tables.kinds.index("$END")
        closing = {text: kind for kind, text in enumerate(self.tables.spelling) if text in CLOSING.values()}
        while not self._moves(end):
            target = closing[self.closers[-1]] if self.closers else end
            filling = () if self._moves(target) else self._filling(target)
            if filling is None or self.repairs > MAX_NESTING + MAX_REPAIRS:
                return
            self.repairs += 1
            for kind in (*filling, *(() if target == end else (target,))):
                yield self._step(self._filler(kind))

    def _step(self, token: Token) -> Token:
        advance(self.states, token.kind, self.tables)
        spelling = self.tables.spelling[token.kind]
        if spelling in CLOSING:
            self.closers.append(CLOSING[spelling])
        elif self.closers and spelling == self.closers[-1]:
            self.closers.pop()
        self.at = token.end
        return token

    def _filler(self, kind: int) -> Token:
        return Token(kind, _FILLERS[self.tables.spelling[kind] or self.tables.kinds[kind]], self.at, self.at)

    def _moves(self, kind: int) -> bool:
        return advance([*self.states], kind, self.tables)

    def _filling(self, wanted: int) -> tuple[int, ...] | None:
        """The shortest row of fillers after which a token of the kind `wanted` is accepted."""
        kinds = _kinds_of_fillers(self.tables)
        rows: list[tuple[tuple[int, ...], list[int]]] = [((), self.states)]
        seen: set[tuple[int, ...]] = set()
        for _ in range(_LONGEST):
            longer: list[tuple[tuple[int, ...], list[int]]] = []
            for row, before in rows:
                for kind in kinds:
                    after = [*before]
                    if not advance(after, kind, self.tables):
                        continue
                    if advance([*after], wanted, self.tables):
                        return (*row, kind)
                    if (reached := tuple(after[-_DEEP:])) not in seen:
                        seen.add(reached)
                        longer.append(((*row, kind), after))
            rows = longer
        return None


def _kinds_of_fillers(tables: Tables) -> list[int]:
    numbers = {text or name: kind for kind, (text, name) in enumerate(zip(tables.spelling, tables.kinds, strict=True))}
    return [numbers[filler] for filler in _FILLERS]


def chunk_at(text: str, offset: int, tables: Tables) -> Chunk | None:
    """The tokens of the declaration in which `offset` stands; None between two declarations."""
    for chunk in chunks(scan(text, tables), text, tables):
        first, last = chunk.tokens[0], chunk.tokens[-1]
        if first.start > offset:
            return None
        closed = offset >= last.end and tables.spelling[last.kind] == "}" and _is_balanced(chunk.tokens, tables)
        if not closed and (offset <= last.end or offset <= chunk.after.start):
            return chunk
    return None


def _is_balanced(tokens: Sequence[Token], tables: Tables) -> bool:
    spellings = [tables.spelling[token.kind] for token in tokens if token.kind != ERROR]
    return sum(s in CLOSING for s in spellings) <= sum(s in CLOSING.values() for s in spellings)
