"""Text to syntax tree: `parse_module` for text, `read_module` for a file. Neither ever raises.

Each declaration is parsed on its own, so that a broken one (E001, E003) leaves the others whole; it stays
in the tree as `Broken`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import get_args

from ..diagnostics import Diagnostic, Related, Span, has_errors
from ..diagnostics.placing import placed
from ..frozen import dataclass, replace
from ..regular_files import read_regular
from . import ast
from .build import ACTIONS
from .divisions import divisions
from .due import INFIX, value_is_due
from .lalr import Failure, parse
from .limits import looks_special, nests_deep, within_limits
from .numbering import Numbering, lower
from .pieces import UNKNOWN, Known, Parser, Part, Piece, cut, parsed
from .scanner import ERROR, Lines, Sound, Token
from .shapes import program_of, run
from .tables import Tables, load_tables

MAX_NESTING = 100
MAX_ERRORS = 100


@dataclass(frozen=True)
class ParseResult:
    """The tree of all that could be read, and what is wrong with the rest; `pieces` are what parsing an edited text
    starts from.

    The tree names lines by their numbers (`numbering`), findings are where the text has them.
    """

    module: ast.Module
    diagnostics: tuple[Diagnostic, ...]
    pieces: tuple[Piece, ...] = ()

    @cached_property
    def numbering(self) -> Numbering:
        """The numbers of the lines."""
        return Numbering((piece.line, piece.lines) for piece in self.pieces)


def read_module(path: Path, file: str) -> ParseResult:
    """Parse the file at `path`, shown to people as `file`. E002 if it cannot be read or is not UTF-8."""
    try:
        data = read_regular(path)
    except OSError as error:
        reason = error.strerror or str(error)
        return _unread(
            file, Diagnostic("E002", f"`{file}` cannot be read: {reason}", fix="check the path and its mode")
        )
    return parse_bytes(data, file)


def parse_bytes(data: bytes, file: str, known: Known = UNKNOWN) -> ParseResult:
    """Parse the content of a file, of which pieces may be `known`. E002 if it is not UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        read = data[: error.start].decode("utf-8-sig")
        span = Lines(file, read).span(len(read), len(read))
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        return _unread(file, Diagnostic("E002", message, span, fix="save the file as UTF-8"))
    return parse_module(text, file, known)


def parse_module(text: str, file: str, known: Known = UNKNOWN) -> ParseResult:
    """Parse the text of one module. Spans name `file`; diagnostics come in the order of the text.

    Pieces that are `known` are taken over, as the very same nodes.
    """
    tables = load_tables()
    pieces = tuple(cut(text, file, tables, PARSER, known))
    declarations: list[ast.Declaration] = []
    diagnostics: list[Diagnostic] = []
    errors = 0
    for part, down in _moved_parts(pieces):
        if part.declaration is not None:
            declarations.append(part.declaration)
        if part.diagnostics:
            diagnostics += placed(part.diagnostics, partial(lower, by=down))
            errors += has_errors(part.diagnostics)
        if errors == MAX_ERRORS:
            # A file that is no Strata at all would otherwise repeat itself without end.
            break
    end_column = len(text) - text.rfind("\n")
    span = Span(file, 1, 1, text.count("\n") + 1, end_column)
    return ParseResult(ast.Module(file, tuple(declarations), span), tuple(diagnostics), pieces)


def _moved_parts(pieces: Sequence[Piece]) -> Iterator[tuple[Part, int]]:
    """The parts of `pieces`, each with how many lines further down the text has what is wrong with it than its spans
    say: also what marks how the next piece begins, whose own lines may have other numbers."""
    line = 1
    for piece in pieces:
        down = line - piece.line
        for part in piece.parts:
            yield part, down
        line += piece.lines


def parse_piece(text: str, line: int, following: str, file: str) -> Piece:
    """The piece of that text, number of its first line and following word, as `parse_module` makes it."""
    piece = parsed(text, line, following, file, load_tables(), PARSER)
    assert piece is not None, "it was a piece before"
    return piece


def _parts(text: str, tokens: list[Token], lines: Lines) -> tuple[Part, ...]:
    tables = load_tables()
    parts = [_part(chunk, lines, tables) for chunk in chunks(tokens, text, tables)]
    beside = _beside(text, lines, tables)
    spans = [d.span for part in beside for d in part.diagnostics if d.span is not None]
    if spans:
        parts = [replace(part, diagnostics=tuple(_after(d, spans) for d in part.diagnostics)) for part in parts]
    return (*parts, *beside)


def _after(finding: Diagnostic, comments: Sequence[Span]) -> Diagnostic:
    """A syntax error that points at the last of the `comments` before it, which took the rest of its line away."""
    before = [span for span in comments if finding.span is not None and span.start < finding.span.start]
    if finding.code != "E001" or not before:
        return finding
    return replace(finding, related=(*finding.related, Related(before[-1], "this begins a comment: is `/` meant?")))


def _beside(text: str, lines: Lines, tables: Tables) -> tuple[Part, ...]:
    """What is told of the comments of a piece, which belong to no declaration."""
    told = (*divisions(text, lines, tables),)
    return (Part(None, told),) if told else ()


def _alike(
    text: str, found: Sound, after: int, lines: Lines, tokens: Callable[[], list[Token] | None]
) -> tuple[Part, ...] | None:
    """The declaration of a piece whose shape was met before, if it holds nothing that has to be looked at."""
    tables = load_tables()
    program = program_of((*found.kinds, after), tables, lambda: _is_one(tokens(), text, tables))
    if program is None or looks_special((text,), (found.texts[n] for n in program.numbers)):
        return None
    problems: list[Diagnostic] = []
    node = run(program, found, lines, problems.append)
    return None if problems else (Part(node, ()), *_beside(text, lines, tables))


PARSER = Parser(_alike, _parts)


def _is_one(tokens: list[Token] | None, text: str, tables: Tables) -> bool:
    """Whether `tokens`, but for the last, are one sound declaration, as is seen by their kinds alone."""
    if tokens is None:
        return False
    kinds, marks = [token[0] for token in tokens], _marks(tables)
    within = (kind for before, kind in pairwise(kinds[:-1]) if before != marks.arrow)
    if ERROR in kinds or kinds[0] not in marks.heads or not marks.heads.isdisjoint(within):
        return False
    found = [*chunks(tokens, text, tables)]
    whole = [len(one.tokens) for one in found] == [len(tokens) - 1] and found[0].too_deep is None
    return whole and not nests_deep(kinds, found[0].nesting, MAX_NESTING, tables)


def _unread(file: str, diagnostic: Diagnostic) -> ParseResult:
    return ParseResult(ast.Module(file, (), Span(file, 1, 1, 1, 1)), (diagnostic,))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one declaration, the token after it, how deep its brackets nest, and the first that is nested too
    deep, if any."""

    tokens: list[Token]
    after: Token
    nesting: int
    too_deep: Token | None


@dataclass(frozen=True, slots=True)
class _Marks:
    """The kinds of tokens by which declarations are told apart."""

    heads: frozenset[int]
    opening: frozenset[int]
    closing: frozenset[int]
    name_follows: frozenset[int]
    names: frozenset[int]
    callable_: frozenset[int]
    parenthesis: int
    opening_brace: int
    brace: int
    arrow: int
    test: int
    string: int
    model: int
    fn: int
    extern: int


@cache
def _marks(tables: Tables) -> _Marks:
    heads = frozenset(tables.keywords[word] for word in get_args(ast.DeclarationWord))
    kind_of = {text: kind for kind, text in enumerate(tables.spelling) if text}
    return _Marks(
        heads,
        frozenset(kind_of[c] for c in "([{"),
        frozenset(kind_of[c] for c in ")]}"),
        heads | {kind_of[c] for c in ".=:"},
        frozenset(tables.kinds.index(kind) for kind in ("IDENT", "QUOTED", "STRING")),
        frozenset(tables.kinds.index(kind) for kind in ("IDENT", "QUOTED")),
        kind_of["("],
        kind_of["{"],
        kind_of["}"],
        kind_of["->"],
        tables.keywords["test"],
        tables.kinds.index("STRING"),
        tables.keywords["model"],
        tables.keywords["fn"],
        tables.keywords["extern"],
    )


def chunks(tokens: list[Token], text: str, tables: Tables) -> Iterator[Chunk]:
    """Cut the tokens into declarations: at a `}` that closes the last bracket, and before a declaration's keyword.

    Within brackets such a keyword begins a new declaration only first on its line and before a name: then a
    closing bracket is missing above it. Stray text between two declarations is one chunk. `test` may also be a
    name: it begins a declaration where none is due, within brackets where a brace follows its name or title. Outside
    brackets, a name before a parenthesis begins a call that generates models. In a function, a `model` where a value
    is due is one, and a brace that closes one ends no function whose value goes on.
    """
    marks = _marks(tables)
    heads, opening, closing = marks.heads, marks.opening, marks.closing
    start, depth, nesting, deep, stray = 0, 0, 0, None, False
    for i, token in enumerate(tokens[:-1]):
        kind = token.kind
        head = kind in heads and i > start and tokens[i - 1].kind not in (marks.arrow, marks.extern)
        if kind == marks.test and head:
            before = tokens[i - 1].kind
            named = i - 1 == start if before == marks.test else before in marks.name_follows
            titled = tokens[i + 2].kind == marks.string if i + 2 < len(tokens) else False
            behind = tokens[min(i + 2 + titled, len(tokens) - 1)].kind
            head = behind == marks.opening_brace if depth else not named
        if head and kind in (marks.test, marks.model) and tokens[start].kind == marks.fn:
            head = not value_is_due(tokens, i, depth)
        if head and stray and (tokens[start].text, token.text) == ("from", "import"):
            head = _first_on_line(text, token.start)  # `from a import b` is one slip, and imports no `b`
        if head and tokens[i - 1].text == ":" and depth == 0:
            head = _first_on_line(text, token.start)  # `model m: contract C` is one slip, and declares no contract
        if head and (depth == 0 or (tokens[i + 1].kind in marks.names and _first_on_line(text, token.start))):
            yield Chunk(tokens[start:i], token, nesting, deep)
            start, depth, nesting, deep = i, 0, 0, None
        if i == start:
            stray = kind not in heads and not (kind in marks.callable_ and tokens[i + 1].kind == marks.parenthesis)
        if kind in opening:
            if kind == marks.parenthesis and depth == 0 and not stray and _begins_call(tokens, start, i - 1, marks):
                yield Chunk(tokens[start : i - 1], tokens[i - 1], nesting, deep)
                start, nesting, deep = i - 1, 0, None
            depth += 1
            if depth > nesting:
                nesting = depth
            deep = deep or (token if depth > MAX_NESTING else None)
        elif kind in closing and depth:
            depth -= 1
            if kind == marks.brace and depth == 0 and not (stray and tokens[i + 1].kind not in heads):
                if tokens[start].kind == marks.fn and tokens[i + 1].text in INFIX:
                    continue
                yield Chunk(tokens[start : i + 1], tokens[i + 1], nesting, deep)
                start, nesting, deep = i + 1, 0, None
    if start < len(tokens) - 1:
        yield Chunk(tokens[start:-1], tokens[-1], nesting, deep)


def _begins_call(tokens: list[Token], start: int, i: int, marks: _Marks) -> bool:
    """Whether the name `i`, which stands before a parenthesis, begins a declaration of its own: a call."""
    if i <= start or tokens[i].kind not in marks.callable_:
        return False
    ends_type = tokens[i - 1].text == ">" and tokens[start].text == "domain"
    return ends_type or not value_is_due(tokens, i, 0)


def _first_on_line(text: str, offset: int) -> bool:
    return not text[text.rfind("\n", 0, offset) + 1 : offset].strip()


def _part(chunk: Chunk, lines: Lines, tables: Tables) -> Part:
    """The declaration that `chunk` holds; `Broken` (None where it has no name) if it is not valid."""
    found: list[Diagnostic] = []
    kinds, number = [token[0] for token in chunk.tokens], tables.kinds.index("INT")
    if ERROR in kinds or chunk.too_deep is not None:
        return _broken(chunk, found, None, lines, tables)
    span_of, add = lines.span, found.append
    made = parse(chunk.tokens, tables, lambda name, c, start, end: ACTIONS[name](c, span_of(start, end), add))
    if isinstance(made, Failure):
        return _broken(chunk, found, made, lines, tables)
    numbers = (token.text for token in chunk.tokens if token[0] == number)
    texts = (token.text for token in chunk.tokens)
    if nests_deep(kinds, chunk.nesting, MAX_NESTING, tables) or looks_special(texts, numbers):
        made, beyond = within_limits(made, MAX_NESTING)
        found += beyond
    return _broken(chunk, found, None, lines, tables) if has_errors(found) else Part(made, tuple(found))


def _broken(chunk: Chunk, found: list[Diagnostic], failure: Failure | None, lines: Lines, tables: Tables) -> Part:
    """What is left of a declaration that is not valid, and what is wrong with it beside what was `found`."""
    from .syntax_errors import broken, lexical_error, syntax_error  # not loaded for a text without a fault

    kinds = [token[0] for token in chunk.tokens]
    if ERROR in kinds:
        found.append(lexical_error(chunk.tokens, kinds.index(ERROR), lines))
    elif chunk.too_deep is not None:
        span = lines.span(chunk.too_deep.start, chunk.too_deep.end)
        fix = "give parts of it names with `let`"
        found.append(Diagnostic("E001", f"brackets are nested more than {MAX_NESTING} deep", span, fix=fix))
    elif failure is not None:
        found.append(syntax_error(chunk.tokens, chunk.after, failure.position, lines, tables))
    return Part(broken(chunk.tokens, lines, tables), tuple(found))
