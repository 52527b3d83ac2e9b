"""The values of compile-time functions, and how they are written in messages, names and models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ...diagnostics import Span
from ...frozen import dataclass
from ...language import ast


@dataclass(frozen=True, slots=True)
class Real:
    """A `Float`, with the digits it was written in: a decimal column reads them without loss."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """A `Map`, or a `Struct` by its fields."""

    entries: Mapping[str | int, Value]


@dataclass(frozen=True, slots=True)
class Instance:
    """A model that a call gave. `function` is the one that holds its template, `bindings` what the template was made
    with, `named` where the template makes names of them."""

    model: ast.Model
    function: str
    bindings: tuple[tuple[str, Value], ...]
    named: frozenset[Span] = frozenset()


Value = str | bool | int | Real | tuple["Value", ...] | Record | Instance

_SHOWN = 60


def text_of(value: Value) -> str:
    """The text that stands for a value in a name or string: that of `Str Int Float Bool`."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case Real():
            return value.text
        case int():
            return str(value)
        case _:
            raise AssertionError(value)


def real(value: float) -> Real:
    """A `Float` that was computed."""
    return Real(value, repr(value))


def literal_of(value: str | bool | int | Real, span: Span) -> ast.Literal:
    """The literal that stands for a value in a model."""
    if isinstance(value, Real):
        return ast.Literal(value.value, span, value.text)
    return ast.Literal(value, span)


def spelled(value: Value) -> str:
    """The value for people, cut where it is long."""
    text = ""
    for part in _parts(value):
        text += part
        if len(text) > _SHOWN:
            return f"{text[: _SHOWN - 1]}…"
    return text


def _parts(value: Value) -> Iterator[str]:
    match value:
        case str():
            yield json.dumps(value[: _SHOWN + 1], ensure_ascii=False)
        case tuple():
            for i, element in enumerate(value):
                yield ", " if i else "["
                yield from _parts(element)
            yield "]" if value else "[]"
        case Record():
            for i, (name, element) in enumerate(value.entries.items()):
                yield f"{', ' if i else '{'}{name}: "
                yield from _parts(element)
            yield "}" if value.entries else "{}"
        case Instance():
            yield f"model {json.dumps(value.model.name.text, ensure_ascii=False)}"
        case _:
            yield text_of(value)
