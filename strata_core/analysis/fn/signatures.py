"""The compile-time functions of a project by name, with the types that they declare. Codes: E023, E072."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...diagnostics import Diagnostic, Report
from ...frozen import dataclass
from ...language import ast
from ..expressions import CALLABLE
from ..names import duplicate
from .builtins import BUILTINS
from .types import Type, read_type


@dataclass(frozen=True, slots=True)
class Signature:
    """A declared function. A type that is `None` was reported."""

    declared: ast.Fn
    parameters: Mapping[str, Type | None]
    returns: Type | None

    @property
    def spelled(self) -> str:
        """The signature for people: `by_country(names: List<Str>)`."""
        parameters = ", ".join(f"{name}: {type_ or '?'}" for name, type_ in self.parameters.items())
        return f"{self.declared.name}({parameters})"


def signatures(
    declared: Iterable[ast.Fn], domains: Mapping[str, ast.TypeExpr], externs: Mapping[str, ast.Name], report: Report
) -> dict[str, Signature]:
    """The functions by name. E023 for the second of two, and for one that the catalog has, or engines (`externs`)."""
    found: dict[str, Signature] = {}
    for fn in declared:
        name = fn.name.text
        if name in found:
            first = found[name].declared.name.span
            report(duplicate("the function", fn.name, first, "rename one of the two"))
            continue
        if name in externs:
            report(duplicate("the function", fn.name, externs[name].span, "rename one of the two"))
        elif name in CALLABLE or name in BUILTINS:
            message = f"`{name}` is a function of the language"
            report(Diagnostic("E023", message, fn.name.span, fix="give this one another name"))
        parameters: dict[str, Type | None] = {}
        for parameter in fn.parameters:
            if parameter.name.text in parameters:
                first = next(p.name.span for p in fn.parameters if p.name.text == parameter.name.text)
                report(duplicate("the parameter", parameter.name, first, "rename one of the two"))
            parameters[parameter.name.text] = read_type(parameter.type, domains, report)
        found[name] = Signature(fn, parameters, read_type(fn.returns, domains, report))
    return found
