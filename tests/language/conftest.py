"""What the tests of the language share: a compact spelling of trees, and parsers of parts of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from strata_core.language import ast
from strata_core.language.parser import parse_module


def spell(node: Any) -> str:
    """A tree in one line, without spans and empty parts."""
    match node:
        case ast.Name(text):
            return text
        case ast.Literal(value, _, text):
            return text or repr(value)
        case ast.ColumnRef(qualifier, name):
            return f"{qualifier}.{name}" if qualifier else name.text
        case ast.Duration(seconds):
            return f"{seconds}s"
        case ast.Binary(op, left, right):
            return f"({spell(left)} {op} {spell(right)})"
        case ast.Unary(op, operand):
            return f"({op} {spell(operand)})"
        case ast.Assign(name, expr):
            return f"{name} = {spell(expr)}"
        case ast.Entry(key, value):
            return f"{key}: {spell(value)}"
        case tuple():
            return "[" + ", ".join(map(spell, node)) + "]"
        case _ if is_dataclass(node) and not isinstance(node, type):
            parts = [(f.name, getattr(node, f.name)) for f in fields(node) if f.name != "span"]
            shown = [
                f"{name}={spell(value)}"
                for name, value in parts
                if value is not None and value is not False and value != ()
            ]
            return f"{type(node).__name__}({' '.join(shown)})"
        case _:
            return str(node)


@pytest.fixture(name="spell")
def spell_fixture() -> Callable[[Any], str]:
    return spell


@pytest.fixture
def declaration() -> Callable[[str], str]:
    """The one declaration of a program, spelled."""

    def parse(text: str) -> str:
        result = parse_module(text, "a.strata")
        assert result.diagnostics == ()
        (node,) = result.module.declarations
        return spell(node)

    return parse


@pytest.fixture
def statements() -> Callable[[str], str]:
    """The statements of a model with this body, spelled."""

    def parse(text: str) -> str:
        result = parse_module(f"model m {{ {text} }}", "a.strata")
        assert result.diagnostics == ()
        (model,) = result.module.declarations
        assert isinstance(model, ast.Model)
        return "; ".join(map(spell, model.statements))

    return parse


@pytest.fixture
def expression() -> Callable[[str], str]:
    """One expression, spelled."""

    def parse(text: str) -> str:
        result = parse_module(f"model m {{ filter {text} }}", "a.strata")
        assert result.diagnostics == ()
        (model,) = result.module.declarations
        assert isinstance(model, ast.Model)
        (statement,) = model.statements
        assert isinstance(statement, ast.Filter)
        return spell(statement.condition)

    return parse


@pytest.fixture
def errors() -> Callable[[str], list[str]]:
    """The diagnostics of a program, one line each: place, code, message, fix."""

    def parse(text: str) -> list[str]:
        found = parse_module(text, "a.strata").diagnostics
        return [f"{d.span.line}:{d.span.column} {d.code} {d.message} | {d.fix}" for d in found if d.span]

    return parse
