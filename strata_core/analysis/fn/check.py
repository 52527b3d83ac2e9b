"""What can be said of a compile-time function without a call: names, types and arguments of all that it holds.

`infer` answers `None` where an error was reported: nothing more is said of it. What holds here holds in every call, so
that evaluation meets no wrong type.
Codes: E022 (a parameter or a column), E025, E040 (names), E041 (types), E043 (what only rows have), E060 (arguments).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Related, Report, Span
from ...frozen import dataclass
from ...language import ast
from ..names import unknown
from .builtins import BUILTINS, IF
from .signatures import Signature
from .templates import Occurrence, occurrences
from .types import BOOL, FLOAT, INT, MODEL, NOTHING, STR, TEXTUAL, ListOf, MapOf, StructOf, Type, common, fits, holds

Scope = Mapping[str, Type | None]


@dataclass(frozen=True, slots=True)
class Known:
    """The functions that can be called (those in `broken` did not parse), and where to report."""

    functions: Mapping[str, Signature]
    broken: frozenset[str]
    report: Report

    @property
    def callable(self) -> tuple[str, ...]:
        """The names of all functions."""
        return (*self.functions, *BUILTINS, IF)


def check_function(signature: Signature, known: Known) -> None:
    """Check the body of a function against the types that it declares."""
    fn = signature.declared
    found = infer(fn.body, signature.parameters, known)
    if found is not None and signature.returns is not None and not fits(found, signature.returns):
        related = (Related(fn.returns.span, f"{signature.returns} is declared here"),)
        message = f"`{fn.name}` gives {found}, not {signature.returns}"
        fix = f"declare `-> {found}`, or give what is declared" if _can_be_written(found) else "give what is declared"
        known.report(Diagnostic("E041", message, fn.body.span, fix=fix, related=related))


def _can_be_written(type_: Type) -> bool:
    match type_:
        case ListOf():
            return _can_be_written(type_.element)
        case _:
            return type_ != NOTHING


def infer(node: ast.Expr, scope: Scope, known: Known) -> Type | None:
    """The type of a compile-time value."""
    match node:
        case ast.Template():
            for part in node.parts:
                if isinstance(part, ast.ColumnRef):
                    _interpolated(part, scope, known)
            return STR
        case ast.Literal():
            return _literal(node, known)
        case ast.ColumnRef():
            return _variable(node, scope, known)
        case ast.Unary():
            wanted = (BOOL,) if node.op == "not" else (INT, FLOAT)
            return _expected(node.operand, wanted, f"`{node.op}`", scope, known)
        case ast.Binary():
            return _binary(node, scope, known)
        case ast.Chain():
            return _chain(node, scope, known)
        case ast.In():
            return _in(node, scope, known)
        case ast.ListExpr():
            return _list(node, scope, known)
        case ast.Comprehension():
            return _comprehension(node, scope, known)
        case ast.Call():
            return _call(node, scope, known)
        case ast.ModelLiteral():
            for occurrence in occurrences(node.model, scope, known.functions):
                _check_filled(occurrence, scope, known)
            return MODEL
        case ast.Like() | ast.RLike() | ast.IsNone() | ast.Over():
            message = "this is asked of rows, and compile-time code sees none"
            known.report(Diagnostic("E043", message, node.span, fix="compare with `==` or `in`"))
            return None


def _literal(node: ast.Literal, known: Known) -> Type | None:
    match node.value:
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case str():
            return STR
        case None:
            message = "`none` is no compile-time value"
            known.report(Diagnostic("E043", message, node.span, fix='write a value, such as `""` or `[]`'))
            return None


def _variable(node: ast.ColumnRef, scope: Scope, known: Known) -> Type | None:
    name = node.name if node.qualifier is None else node.qualifier
    if name.text not in scope:
        message = f"no parameter or variable `{name}`"
        called = f"`{name}` is a function: call it" if name.text in known.functions else None
        known.report(unknown("E040", message, name, scope.keys(), called or _in_scope(scope)))
        return None
    type_ = scope[name.text]
    if node.qualifier is None or type_ is None:
        return type_
    if not isinstance(type_, StructOf):
        message = f"`{name}` is {type_}, and only a Struct has fields"
        known.report(Diagnostic("E041", message, node.span, fix=f"write `{name}` alone"))
        return None
    if node.name.text not in type_.fields:
        message = f"`{name}` has no field `{node.name}`"
        known.report(unknown("E040", message, node.name, type_.fields.keys()))
        return None
    return type_.fields[node.name.text]


def _in_scope(scope: Scope) -> str:
    if not scope:
        return "nothing is in scope here: write a literal"
    return f"in scope is {', '.join(f'`{name}`' for name in scope)}; columns are not known at compile time"


def _interpolated(node: ast.ColumnRef, scope: Scope, known: Known) -> None:
    type_ = _variable(node, scope, known)
    if type_ is not None and type_ not in TEXTUAL:
        message = f"{type_} has no text that could stand in a string"
        known.report(Diagnostic("E041", message, node.span, fix="interpolate a Str, an Int, a Float or a Bool"))


def _expected(node: ast.Expr, wanted: tuple[Type, ...], what: str, scope: Scope, known: Known) -> Type | None:
    """The type of `node`, which is to be one of `wanted`."""
    found = infer(node, scope, known)
    if found is None or found in wanted:
        return found
    message = f"{what} takes {' or '.join(map(str, wanted))}, and this is {found}"
    known.report(Diagnostic("E041", message, node.span, fix=f"give {' or '.join(map(str, wanted))}"))
    return None


def _binary(node: ast.Binary, scope: Scope, known: Known) -> Type | None:
    op = node.op
    if op in ("and", "or"):
        sides = [_expected(side, (BOOL,), f"`{op}`", scope, known) for side in (node.left, node.right)]
        return None if None in sides else BOOL
    left, right = infer(node.left, scope, known), infer(node.right, scope, known)
    if left is None or right is None:
        return None
    return _operation(op, left, right, node.span, known)


def _chain(node: ast.Chain, scope: Scope, known: Known) -> Type | None:
    found = infer(node.first, scope, known)
    operands = [infer(link.operand, scope, known) for link in node.links]
    for link, operand in zip(node.links, operands, strict=True):
        if found is None or operand is None:
            return None
        found = _operation(link.op, found, operand, link.span, known)
    return found


def _operation(op: str, left: Type, right: Type, span: Span, known: Known) -> Type | None:
    """The type of a comparison or of arithmetic; E041 where it takes no such values."""
    result = _result(op, common(left, right))
    if result is None:
        message = f"`{op}` does not take {left} and {right}"
        known.report(Diagnostic("E041", message, span, fix=_OPERANDS.get(op, "compare two texts or two numbers")))
    return result


_OPERANDS = {
    "+": "add two numbers, two texts or two lists",
    "||": "join two texts; `concat` joins texts and numbers",
    "-": "subtract numbers",
    "*": "multiply numbers",
    "==": "compare values of one type",
    "!=": "compare values of one type",
    "/": "divide in the model: compile-time code has `+`, `-` and `*`",
    "%": "divide in the model: compile-time code has `+`, `-` and `*`",
}


def _result(op: str, both: Type | None) -> Type | None:
    """The result of a comparison or of arithmetic; `both` is the type that holds either side."""
    match op:
        case "==" | "!=":
            return BOOL if both is not None and not holds(both, MODEL) else None
        case "<" | "<=" | ">" | ">=":
            return BOOL if both in (INT, FLOAT, STR) else None
        case "||":
            return STR if both == STR else None
        case "+":
            return both if both in (INT, FLOAT, STR) or isinstance(both, ListOf) else None
        case "-" | "*":
            return both if both in (INT, FLOAT) else None
        case _:
            return None


def _in(node: ast.In, scope: Scope, known: Known) -> Type | None:
    operand, values = infer(node.operand, scope, known), infer(node.values, scope, known)
    if operand is None or values is None:
        return None
    if not isinstance(values, ListOf) or common(operand, values.element) is None or holds(operand, MODEL):
        message = f"`in` looks for {operand} in a list of it, and this is {values}"
        known.report(Diagnostic("E041", message, node.values.span, fix=f"give a List<{operand}>"))
        return None
    return BOOL


def _list(node: ast.ListExpr, scope: Scope, known: Known) -> Type | None:
    types = [infer(item, scope, known) for item in node.items]
    element: Type = NOTHING
    for item, type_ in zip(node.items, types, strict=True):
        if type_ is None:
            return None
        joint = common(element, type_)
        if joint is None:
            message = f"a list holds values of one type: {element} before this, and this is {type_}"
            known.report(Diagnostic("E041", message, item.span, fix=f"give {element}"))
            return None
        element = joint
    return ListOf(element)


def _comprehension(node: ast.Comprehension, scope: Scope, known: Known) -> Type | None:
    empty = False
    for loop in node.loops:
        values = infer(loop.values, scope, known)
        if values is not None and not isinstance(values, ListOf):
            message = f"`for` goes through a list, and this is {values}"
            fix = "write `map_keys(…)` for its keys" if isinstance(values, MapOf) else f"write a list: `[{values}, …]`"
            known.report(Diagnostic("E041", message, loop.values.span, fix=fix))
        element = values.element if isinstance(values, ListOf) else None
        # Nothing is known of the elements of `[]`, and there are none that it could be said of.
        empty = empty or element == NOTHING
        scope = {**scope, loop.name.text: None if element == NOTHING else element}
        if loop.condition is not None:
            _expected(loop.condition, (BOOL,), "`if`", scope, known)
    element = infer(node.element, scope, known)
    if empty:
        return ListOf(NOTHING)
    return None if element is None else ListOf(element)


def _call(node: ast.Call, scope: Scope, known: Known) -> Type | None:
    name = node.function.text
    if node.star or node.distinct:
        message = "this counts rows, and compile-time code sees none"
        known.report(Diagnostic("E043", message, node.span, fix="`length(xs)` counts the elements of a list"))
        return None
    if name in known.functions:
        return _declared(node, known.functions[name], scope, known)
    types = [infer(argument, scope, known) for argument in (*node.arguments, *(k.value for k in node.keywords))]
    if name in known.broken:
        return None
    if name != IF and name not in BUILTINS:
        message = f"no compile-time function `{name}`"
        known.report(unknown("E025", message, node.function, known.callable))
        return None
    if node.keywords:
        message = f"`{name}` takes no argument by name"
        fix = "give it by its place"
        known.report(Diagnostic("E060", message, node.keywords[0].name.span, fix=fix))
        return None
    given = [type_ for type_ in types if type_ is not None]
    if len(given) < len(types):
        return None
    if name == IF:
        return _if(node, given, known)
    result = BUILTINS[name].result(given, node.arguments)
    if result is None:
        message = f"`{name}` does not take {_listed(given)}"
        known.report(Diagnostic("E060", message, node.span, fix=f"it takes {BUILTINS[name].takes}"))
    return result


def _listed(types: list[Type]) -> str:
    return f"({', '.join(map(str, types))})"


def _if(node: ast.Call, types: list[Type], known: Known) -> Type | None:
    if len(types) != 3:
        fix = "write `if(condition, a, b)`"
        known.report(Diagnostic("E060", f"`if` takes three arguments, not {len(types)}", node.span, fix=fix))
        return None
    condition, then, otherwise = types
    if condition != BOOL:
        message = f"`if` takes Bool, and this is {condition}"
        known.report(Diagnostic("E041", message, node.arguments[0].span, fix="compare it: `x == 1`"))
        return None
    joint = common(then, otherwise)
    if joint is None:
        message = f"the branches have no common type: {then} and {otherwise}"
        known.report(Diagnostic("E041", message, node.arguments[2].span, fix=f"give {then}"))
    return joint


def _declared(node: ast.Call, signature: Signature, scope: Scope, known: Known) -> Type | None:
    """A call of a declared function: an argument for each parameter, by its place or name."""
    given = bound_arguments(node, signature)
    names = list(signature.parameters)
    for argument in node.arguments[len(names) :]:
        message = f"`{signature.spelled}` takes {_counted(len(names))}"
        known.report(Diagnostic("E060", message, argument.span, fix="leave it out"))
    for keyword in node.keywords:
        if keyword.name.text not in signature.parameters:
            message = f"`{signature.declared.name}` has no parameter `{keyword.name}`"
            known.report(unknown("E060", message, keyword.name, names, f"the signature is `{signature.spelled}`"))
        elif given.get(keyword.name.text) is not keyword.value:
            message = f"`{keyword.name}` is given twice"
            known.report(Diagnostic("E060", message, keyword.span, fix="keep one of the two"))
    unknown_names = any(keyword.name.text not in signature.parameters for keyword in node.keywords)
    if not unknown_names and (missing := [name for name in names if name not in given]):
        message = f"the argument {', '.join(f'`{m}`' for m in missing)} is missing"
        fix = f"the signature is `{signature.spelled}`"
        known.report(Diagnostic("E060", message, node.span, fix=fix))
    for name, value in given.items():
        found, wanted = infer(value, scope, known), signature.parameters[name]
        if found is not None and wanted is not None and not fits(found, wanted):
            parameter = next(p for p in signature.declared.parameters if p.name.text == name)
            related = (Related(parameter.span, "the parameter is declared here"),)
            message = f"`{name}` of `{signature.declared.name}` takes {wanted}, and this is {found}"
            fix = f"give {wanted}"
            known.report(Diagnostic("E041", message, value.span, fix=fix, related=related))
    return signature.returns


def bound_arguments(node: ast.Call, signature: Signature) -> dict[str, ast.Expr]:
    """The arguments of a call by parameter; what is surplus or given twice is left out."""
    given = dict(zip(signature.parameters, node.arguments, strict=False))
    for keyword in node.keywords:
        if keyword.name.text in signature.parameters:
            given.setdefault(keyword.name.text, keyword.value)
    return given


def _counted(count: int) -> str:
    return "no argument" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _check_filled(occurrence: Occurrence, scope: Scope, known: Known) -> None:
    """What a call fills in a model: that it has a value, and one that can stand there."""
    node, place, hidden = occurrence
    match node:
        case ast.NameTemplate():
            for part in node.parts:
                if isinstance(part, ast.ColumnRef):
                    _interpolated(part, scope, known)
            return
        case ast.ColumnRef(qualifier=ast.Name(text=qualifier)) if not isinstance(scope[qualifier], StructOf):
            return  # a column of the table that bears the name
        case ast.Name():
            raise AssertionError(node)
    if place == "column":
        message = (
            f"`{node.name}` is a value here, and a column is to be named" if isinstance(node, ast.ColumnRef) else ""
        )
        fix = f"write `` `${{{node.name}}}` `` for the column that it names" if isinstance(node, ast.ColumnRef) else ""
        known.report(Diagnostic("E043", message, node.span, fix=fix))
        return
    if hidden is not None:
        related = (Related(hidden.span, "the column is named here"),)
        message = f"`{hidden}` is a parameter or variable here, and a column as well"
        known.report(Diagnostic("E022", message, node.span, fix="rename one of the two", related=related))
        return
    type_ = infer(node, scope, known)
    element = type_.element if isinstance(type_, ListOf) and place == "value" else type_
    if element is not None and element not in (*TEXTUAL, NOTHING):
        message = f"{type_} is nothing that could stand here"
        fix = "use a Str, an Int, a Float or a Bool" + (", or a list of them" if place == "value" else "")
        known.report(Diagnostic("E041", message, node.span, fix=fix))
