"""The signatures of what is called, as people read them: of casts, and of functions that a project declares."""

from __future__ import annotations

from ...language import ast

CAST_DOC = {
    "cast": (
        "cast(x, type: literal string) -> type",
        "The value as another type; stops the run where it does not fit.",
    ),
    "try_cast": ("try_cast(x, type: literal string) -> type", "The value as another type; null where it does not fit."),
}
"""Signature and meaning of what is called like a function and is none of the catalog."""


def signature_of(fn: ast.Fn | ast.Extern) -> str:
    """The first line of a function that is declared."""
    parameters = ", ".join(f"{p.name}: {_written(p.type)}" for p in fn.parameters)
    head = f"fn {fn.name}({parameters}) -> {_written(fn.returns)}"
    return head if isinstance(fn, ast.Fn) else f"extern {head}{' nonnull' if fn.nonnull else ''}"


def _written(type_: ast.TypeExpr) -> str:
    arguments = []
    for argument in type_.arguments:
        match argument:
            case ast.TypeExpr():
                arguments.append(_written(argument))
            case ast.TypeField():
                arguments.append(f"{argument.name}: {_written(argument.type)}")
            case ast.Literal():
                arguments.append(str(argument.value))
    return f"{type_.name}<{', '.join(arguments)}>" if arguments else str(type_.name)
