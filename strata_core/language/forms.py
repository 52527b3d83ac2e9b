"""The form of each rule of the grammar: `FORMS` says how its trees are laid out; `format.py` tells the style."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from ..frozen import dataclass
from .concrete import PAREN, SEPARATORS, Comment, Leaf, Part, Tree, first_leaf, opened
from .layout import SPACE, Doc, Fill, Group, IfBroken, Indent, Leading, Line, Trailing
from .literal_tables import cells_of, widths_of
from .scanner import CLOSING
from .tables import load_tables

Form = Callable[[Tree], Doc]
"""How the trees of one rule are laid out."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """How a bracket holds its members.

    `pad` stands inside it on one line. `lines` gives each member a line of its own, always. `commas` stand between
    all members or none, or are `kept` before names that are words of the language, which need them.
    `spaced` parts it from what stands before it, `tight` writes no space behind a comma.
    """

    pad: str = ""
    lines: bool = False
    commas: Literal["all", "none", "kept"] = "all"
    spaced: bool = True
    tight: bool = False


_BLOCK = Bracket(lines=True, commas="none")
_RECORD = Bracket(pad=" ")
_LIST = Bracket()
_ARGUMENTS = Bracket(spaced=False)
_LEVELS: Mapping[str, int] = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and",), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "like", "rlike", "in"), 3),
    **dict.fromkeys(("+", "-", "||"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}


# --- parts


def doc(part: Part) -> Doc:
    """The layout of a tree or token."""
    if isinstance(part, Tree):
        return FORMS[part.rule](part)
    return _leaf(part)


def _leaf(leaf: Leaf) -> Doc:
    """A token with its comments."""
    if not leaf.leading and not leaf.trailing:
        return leaf.text
    return (*leading(leaf), leaf.text, *(Trailing(comment) for comment in leaf.trailing))


def leading(leaf: Leaf) -> Iterable[Doc]:
    """The comments before a token."""
    last = len(leaf.leading) - 1
    return [Leading(comment, apart=leaf.blank and i == last) for i, comment in enumerate(leaf.leading)]


def blank(part: Part) -> bool:
    """Whether a blank line stands above `part` and its comments."""
    leaf = first_leaf(part)
    return leaf is not None and (leaf.leading[0].blank if leaf.leading else leaf.blank)


def one_line(declaration: Tree) -> bool:
    """Whether a declaration is laid out without braces, so that several may stand without blank lines."""
    return declaration.rule != "fn" and not any(
        isinstance(part, Leaf) and part.text == "{" for part in declaration.parts
    )


def _joined(parts: Sequence[Part], bracket: Bracket = _LIST, glued: bool = False) -> Doc:
    """`parts` with a space between them, except around dots, before colons, commas and resources, and where `glued`.

    What stands in brackets is laid out by `bracket`.
    """
    docs: list[Doc] = []
    tight = True
    i = 0
    while i < len(parts):
        part = parts[i]
        text = part.text if isinstance(part, Leaf) else ""
        opens = text in CLOSING
        joins = text in (".", ":", ",") or (opens and not bracket.spaced)
        joins = joins or (text == ".." and not (i and _is(parts[i - 1], ":")))
        joins = joins or (isinstance(part, Tree) and part.rule == "resource")
        if not (tight or joins or glued):
            docs.append(SPACE)
        if opens:
            end = next(n for n in range(i, len(parts)) if _is(parts[n], CLOSING[text]))
            docs.append(_bracketed(parts[i : end + 1], bracket))
            i = end
        else:
            docs.append(doc(part))
        tight = text in (".", "..")
        i += 1
    return tuple(docs)


def _is(part: Part, text: str) -> bool:
    return isinstance(part, Leaf) and part.text == text


def _bracketed(parts: Sequence[Part], style: Bracket, step: int = 1) -> Doc:
    """A bracket from its opening to its closing token. Broken, `step` members stand on one line."""
    opening, *inside, closing = parts
    assert isinstance(opening, Leaf)
    assert isinstance(closing, Leaf)
    members, separated = _members(inside)
    body: list[Doc] = []
    for i, member in enumerate(members):
        if i:
            comma = style.commas == "all" or (style.commas == "kept" and separated[i] and _is_word(member[0]))
            body += [","] if comma else []
            body.append(_between(member, style, i % step == 0))
        body.append(_joined(member))
    if members and style.commas == "all" and not any(_is_clause(part) for part in members[-1]):
        body.append(IfBroken(","))
    for comment in closing.leading:
        body += [Line(hard=True), Leading(Comment(comment.text, blank=comment.blank))]
    open_doc, close_doc = _leaf(opening), _leaf(Leaf(closing.text, (), closing.trailing))
    if not body:
        return (open_doc, close_doc)
    edge = Line(style.pad, hard=style.lines)
    return Group((open_doc, Indent((edge, *body)), edge, close_doc))


def _between(member: Sequence[Part], style: Bracket, breaks: bool) -> Doc:
    if style.lines:
        return Line(hard=True, blank=blank(member[0]))
    if not breaks:
        return SPACE
    return Line("" if style.tight else " ")


def _members(inside: Sequence[Part]) -> tuple[list[list[Part]], list[bool]]:
    """The members of a bracket, and whether a separator stands before each."""
    members: list[list[Part]] = []
    separated: list[bool] = []
    separator = follows = False
    for part in inside:
        if isinstance(part, Leaf) and part.text in SEPARATORS:
            separator = True
        elif follows:
            members[-1].append(part)
            follows = False
        else:
            members.append([part])
            separated.append(separator)
            separator = False
            follows = isinstance(part, Tree) and part.rule == "distinct"
    return members, separated


def _is_clause(part: Part) -> bool:
    """`distinct` and `*` as arguments, after which no comma may stand."""
    return isinstance(part, Tree) and part.rule in ("distinct", "all_rows")


def _is_word(member: Part) -> bool:
    leaf = first_leaf(member)
    return leaf is not None and leaf.text in load_tables().keywords


# --- forms


def _held(bracket: Bracket) -> Form:
    """Parts in a row, with a bracket of that style among them."""
    return lambda tree: _joined(tree.parts, bracket)


def _row(tree: Tree) -> Doc:
    return _joined(tree.parts)


def _glued(tree: Tree) -> Doc:
    return _joined(tree.parts, glued=True)


def _binary(tree: Tree) -> Doc:
    """Operands of one level of precedence, an operator first on each line but the first."""
    level = _level(tree)
    spine: list[tuple[Part, Part]] = []
    left: Part = tree
    while isinstance(left, Tree) and left.rule == "binary" and _level(left) == level:
        left, operator, right = left.parts
        spine.append((operator, right))
    rest = [(Line(" "), doc(operator), SPACE, doc(right)) for operator, right in reversed(spine)]
    return Group((doc(left), Indent(tuple(rest))))


def _level(tree: Tree) -> int:
    operator = tree.parts[1]
    assert isinstance(operator, Leaf)
    return _LEVELS[operator.text]


def _unary(tree: Tree) -> Doc:
    return _joined(tree.parts, glued=_is(tree.parts[0], "-"))


def _paren(tree: Tree) -> Doc:
    return _bracketed(tree.parts, Bracket(commas="none"))


def _call(tree: Tree) -> Doc:
    """A function and its arguments; those of a `case` stand in pairs."""
    function, *arguments = tree.parts
    leaf = first_leaf(function)
    pairs = leaf is not None and leaf.text == "case"
    return (doc(function), _bracketed(arguments, _ARGUMENTS, step=2 if pairs else 1))


JOIN_CLAUSES = ("expect", "available_as_of", "within")


def _join(tree: Tree) -> Doc:
    """A join on one line, or its condition and what follows it on lines of their own."""
    rows: list[list[Part]] = [[]]
    for part in tree.parts:
        if _is(part, "on") or _is(part, "at") or (isinstance(part, Tree) and part.rule in JOIN_CLAUSES):
            rows.append([])
        rows[-1].append(part)
    first, *more = rows
    return Group((_joined(first), Indent(tuple((Line(" "), _joined(row)) for row in more))))


def _group(tree: Tree) -> Doc:
    """`group { keys } ( body )`."""
    word, opening, keys, closing, *body = tree.parts
    assert isinstance(keys, Tree)
    return (
        doc(word),
        SPACE,
        _bracketed((opening, *keys.parts, closing), _RECORD),
        SPACE,
        _bracketed(body, Bracket(pad=" ", commas="none")),
    )


def _field(tree: Tree) -> Doc:
    name, colon, type_, *annotations = tree.parts
    return (_joined((name, colon, type_)), Indent(Fill(tuple(doc(annotation) for annotation in annotations))))


def _type(tree: Tree) -> Doc:
    """`array(T)`, in whichever brackets it is written; the digits of a `decimal(18,2)` stand together."""
    name, *arguments = tree.parts
    if not arguments:
        return doc(name)
    opening, *inside, closing = arguments
    assert isinstance(opening, Leaf)
    assert isinstance(closing, Leaf)
    round_ = (_spelled(opening, "("), *inside, _spelled(closing, ")"))
    digits = isinstance(inside[0], Tree) and inside[0].rule == "int"
    return (doc(name), _bracketed(round_, Bracket(tight=digits)))


def _value_type(tree: Tree) -> Doc:
    """`Map<Str, Int>`."""
    name, *arguments = tree.parts
    return (doc(name), _bracketed(arguments, _ARGUMENTS)) if arguments else doc(name)


def _spelled(leaf: Leaf, text: str) -> Leaf:
    return Leaf(text, leaf.leading, leaf.trailing, leaf.blank)


def _fn(tree: Tree) -> Doc:
    """`fn f(a: Str) -> List<Model> { value }`, the braces put in where they were left out."""
    arrow = next(i for i, part in enumerate(tree.parts) if _is(part, "->"))
    head, body = tree.parts[: arrow + 2], tree.parts[arrow + 2 :]
    if len(body) == 1:
        returns, trailing = _untrailed(head[-1])
        head = (*head[:-1], returns)
        body = (Leaf("{", (), trailing), _opened(body[0]), Leaf("}"))
    return (_joined(head, _ARGUMENTS), SPACE, _bracketed(body, _BLOCK))


def _opened(part: Part) -> Part:
    """`part` behind a bracket that was put in."""
    if isinstance(part, Leaf):
        return opened(part)
    return Tree(part.rule, (_opened(part.parts[0]), *part.parts[1:]))


def _untrailed(part: Part) -> tuple[Part, tuple[Comment, ...]]:
    """`part` without the comments that trail it, and those."""
    if isinstance(part, Leaf):
        return Leaf(part.text, part.leading, (), part.blank), part.trailing
    last, trailing = _untrailed(part.parts[-1])
    return Tree(part.rule, (*part.parts[:-1], last)), trailing


def _comprehension(tree: Tree) -> Doc:
    """`[value for x in xs if condition]`, each `for` on a line of its own where it does not fit."""
    opening, element, *loops, closing = tree.parts
    return _bracketed((opening, element, *loops, closing), Bracket(commas="none"))


def _freshness(tree: Tree) -> Doc:
    """`freshness: <= 1d`, the colon and the sign put in where they were left out."""
    word, *rest = tree.parts
    colon = rest.pop(0) if _is(rest[0], ":") else Leaf(":")
    sign = [Leaf("<=")] if isinstance(rest[0], Tree) and rest[0].rule == "duration" else []
    return _joined((word, colon, *sign, *rest))


def _partition_by(tree: Tree) -> Doc:
    """`partition_by: [a, b]`, the colon put in where it was left out."""
    word, *rest = tree.parts
    return _joined((word, *([] if _is(rest[0], ":") else [Leaf(":")]), *rest))


def _extern(tree: Tree) -> Doc:
    """`extern fn` with its parameters in a list and a line for each translation."""
    at = next(i for i, part in enumerate(tree.parts) if _is(part, "{"))
    opening = next(i for i, part in enumerate(tree.parts) if _is(part, "("))
    closing = next(i for i, part in enumerate(tree.parts) if _is(part, ")"))
    head, parameters = tree.parts[:opening], tree.parts[opening : closing + 1]
    return (
        _joined(head),
        _bracketed(parameters, _ARGUMENTS),
        SPACE,
        _joined(tree.parts[closing + 1 : at]),
        SPACE,
        _bracketed(tree.parts[at:], Bracket(lines=True)),
    )


def _table(tree: Tree) -> Doc:
    """A table of literals: a line for each row, its columns below one another."""
    opening, *rows, closing = tree.parts
    lines = [cells_of(row) for row in rows if isinstance(row, Tree)]
    widths = widths_of(lines)
    body: list[Doc] = []
    for row, line in zip(rows, lines, strict=True):
        assert isinstance(row, Tree)
        body += [Line(hard=True, blank=blank(row)), doc(row) if line is None else _aligned(row, line, widths)]
    assert isinstance(closing, Leaf)
    for comment in closing.leading:
        body += [Line(hard=True), Leading(Comment(comment.text, blank=comment.blank))]
    return (doc(opening), Indent(tuple(body)), Line(hard=True), _leaf(Leaf("}", (), closing.trailing)))


def _aligned(row: Tree, texts: Sequence[str], widths: Mapping[int, int]) -> Doc:
    """A row whose only comments stand before and behind it."""
    first, last = row.parts[0], row.parts[-1]
    assert isinstance(first, Leaf)
    assert isinstance(last, Leaf)
    cells = "".join(f" {text.ljust(widths[column])} |" for column, text in enumerate(texts))
    return (*leading(first), f"|{cells}", *(Trailing(comment) for comment in last.trailing))


def _moment(tree: Tree) -> Doc:
    day, time = tree.parts[:5], tree.parts[5:]
    return (_joined(day, glued=True), *((SPACE, _joined(time, glued=True)) if time else ()))


_CALLED = _held(_ARGUMENTS)

FORMS: Mapping[str, Form] = {
    # declarations
    "import": _row,
    "source": _held(_BLOCK),
    "resource": _CALLED,
    "entry": _row,
    "property": _row,
    "columns": _held(Bracket(lines=True)),
    "source_filter": _row,
    "contract": _held(Bracket(lines=True, commas="kept")),
    "domain": _row,
    "model": _held(_BLOCK),
    "conforms": _row,
    "pipeline": _held(_BLOCK),
    "fn": _fn,
    "extern": _extern,
    "promise": _row,
    "parameter": _row,
    "value_type": _value_type,
    "model_literal": _row,
    "generator": _call,
    "test": _held(_BLOCK),
    "expectation": _row,
    "given": _row,
    "expected": _row,
    "table": _table,
    "header": _row,
    "row": _row,
    "moment": _moment,
    "word": _row,
    "cells": _row,
    "record": _row,
    "member": _row,
    "env": _row,
    "models": _row,
    "overrides": _held(_RECORD),
    "override": _row,
    # fields and types
    "field": _field,
    "flag": _row,
    "enum": _row,
    "classification": _row,
    "mask": _CALLED,
    "type": _type,
    "element": _row,
    "nonnull_element": _row,
    "type_field": _row,
    # statements
    "from": _row,
    "alias": _row,
    "join": _join,
    "join_kind": _row,
    "cross_join": _row,
    "asof_join": _join,
    "asof_kind": _row,
    "available_as_of": _row,
    "within": _row,
    "expect": _row,
    "filter": _row,
    "let": _row,
    "derive": _held(_RECORD),
    "select": _held(_RECORD),
    "aggregate": _held(_RECORD),
    "group": _group,
    "keys": _row,
    "sort": _held(_RECORD),
    "sort_key": _row,
    "take": _row,
    "set_operation": _row,
    "dedup": _row,
    "dedup_keys": _row,
    "expand": _row,
    "freshness": _freshness,
    "freshness_column": _row,
    "partition_by": _partition_by,
    "incremental": _held(_RECORD),
    "strategy": _row,
    "increment_key": _row,
    "cursor": _row,
    "assign": _row,
    "star": _row,
    "except": _row,
    # expressions
    "binary": _binary,
    "unary": _unary,
    "is_none": _row,
    PAREN: _paren,
    "column": _row,
    "list": _row,
    "comprehension": _comprehension,
    "for": _row,
    "call": _call,
    "distinct": _row,
    "all_rows": _row,
    "keyword": _row,
    "over": _row,
    "over_partition": _row,
    "over_sort": _row,
    "frame": _row,
    "frame_first": _glued,
    "frame_last": _glued,
    "int": _row,
    "float": _row,
    "string": _row,
    "true": _row,
    "false": _row,
    "none": _row,
    "duration": _row,
    "name": _row,
    "text_name": _row,
}
