"""The evaluation of compile-time functions: pure, strict but for the branches of `if`, and bounded. Code: E042.

What is evaluated was checked (`check.py`), so that only bounds, numbers beyond int64 and keys that are not there can
stop it. The bounds are the project's: one budget pays for all its calls, so that no program keeps the compiler busy for
more than moments, whatever it says.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...diagnostics import Diagnostic
from ...frozen import dataclass, field
from ...language import ast
from ...language.literals import INT_MAX
from .builtins import BUILTINS
from .check import bound_arguments
from .instantiate import Filling, fill
from .signatures import Signature
from .templates import Template, template_of
from .types import FLOAT, ListOf, MapOf, StructOf, Type, holds
from .values import Instance, Real, Record, Value, real, text_of

MAX_DEPTH = 200
MAX_STEPS = 3_000_000
MAX_CHARACTERS = 20_000_000
MAX_MODELS = 50_000

Scope = Mapping[str, Value]


class EvaluationError(Exception):
    """An evaluation that cannot go on, and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Cost(NamedTuple):
    """Values looked at or made, characters, and models."""

    steps: int
    characters: int
    models: int

    def less(self, other: Cost) -> Cost:
        """What is left of this after `other`."""
        return Cost(self.steps - other.steps, self.characters - other.characters, self.models - other.models)


class Budget:
    """What may still be spent by the calls of one project."""

    def __init__(self) -> None:
        self.steps, self.characters, self.models = MAX_STEPS, MAX_CHARACTERS, MAX_MODELS

    @property
    def left(self) -> Cost:
        """What is left of it."""
        return Cost(self.steps, self.characters, self.models)

    @property
    def exhausted(self) -> bool:
        """Whether something has run out."""
        return min(self.left) < 0

    def affords(self, cost: Cost) -> bool:
        """Whether there is enough for `cost`."""
        return min(self.left.less(cost)) >= 0

    def pay(self, cost: Cost) -> None:
        """Pay for what was done before."""
        self.steps, self.characters, self.models = self.left.less(cost)

    def spend(self, steps: int, characters: int, node: ast.Expr | ast.Name) -> None:
        """Pay; raises `EvaluationError` where there is not enough."""
        self.steps -= steps
        self.characters -= characters
        if self.steps < 0:
            raise _exceeded(f"more than {MAX_STEPS:,} steps", node)
        if self.characters < 0:
            raise _exceeded(f"texts of more than {MAX_CHARACTERS:,} characters", node)

    def spend_model(self, node: ast.Expr) -> None:
        """Pay for one more model."""
        self.models -= 1
        if self.models < 0:
            raise _exceeded(f"more than {MAX_MODELS:,} models", node)


def _exceeded(what: str, node: ast.Expr | ast.Name) -> EvaluationError:
    message = f"the compile-time functions of the project come to {what}"
    return EvaluationError(Diagnostic("E042", message, node.span, fix="generate less, or end the recursion"))


@dataclass(frozen=True, slots=True)
class Run:
    """What evaluation works with. `functions` are sound; `templates` keeps what was found out about each model."""

    functions: Mapping[str, Signature]
    budget: Budget
    templates: dict[int, Template] = field(default_factory=dict)


def evaluate(node: ast.Expr, scope: Scope, run: Run, depth: int = 0, function: str = "") -> Value:
    """The value of `node` where names mean what `scope` says; `function` is the one whose body it is in.

    Raises `EvaluationError`. A level takes two frames at most, so that `MAX_DEPTH` of them fit the stack.
    """
    run.budget.spend(1, 0, node)
    if depth > MAX_DEPTH:
        message = f"calls and expressions nest more than {MAX_DEPTH} deep here"
        fix = "end the recursion, or go through a list with `for`"
        raise EvaluationError(Diagnostic("E042", message, node.span, fix=fix))
    below = (scope, run, depth + 1, function)
    match node:
        case ast.Template():
            text = "".join([part if isinstance(part, str) else text_of(_named(part, scope)) for part in node.parts])
            run.budget.spend(0, len(text), node)
            return text
        case ast.Literal():
            return _constant(node)
        case ast.ColumnRef():
            return _named(node, scope)
        case ast.Unary():
            return _unary(node, evaluate(node.operand, *below))
        case ast.Binary(op="and"):
            return evaluate(node.left, *below) and evaluate(node.right, *below)
        case ast.Binary(op="or"):
            return evaluate(node.left, *below) or evaluate(node.right, *below)
        case ast.Binary():
            return _binary(node.op, evaluate(node.left, *below), evaluate(node.right, *below), node, run)
        case ast.Chain():
            value = evaluate(node.first, *below)
            for link in node.links:
                value = _binary(link.op, value, evaluate(link.operand, *below), link.operand, run)
            return value
        case ast.In():
            return _contains(evaluate(node.values, *below), evaluate(node.operand, *below), node, run)
        case ast.ListExpr(items=parts):
            pass
        case ast.Comprehension():
            return _comprehension(node, scope, run, depth, function)
        case ast.Call(function=ast.Name(text="if"), arguments=(condition, then, otherwise)):
            return evaluate(then if evaluate(condition, *below) else otherwise, *below)
        case ast.Call(function=ast.Name(text=name)) if name in run.functions:
            return _call(node, scope, run, depth, function)
        case ast.Call(arguments=parts):
            pass
        case ast.ModelLiteral():
            return _instance(node, scope, run, depth, function)
        case ast.Like() | ast.RLike() | ast.IsNone() | ast.Over():
            raise AssertionError(node)
    values = []
    for part in parts:
        values.append(evaluate(part, *below))
    return _builtin(node, values, run) if isinstance(node, ast.Call) else tuple(values)


def _constant(node: ast.Literal) -> Value:
    value = node.value
    assert value is not None
    return Real(value, node.text) if isinstance(value, float) else value


def _named(node: ast.ColumnRef, scope: Scope) -> Value:
    if node.qualifier is None:
        return scope[node.name.text]
    record = scope[node.qualifier.text]
    assert isinstance(record, Record)
    return record.entries[node.name.text]


def _unary(node: ast.Unary, operand: Value) -> Value:
    match operand:
        case bool():
            return not operand
        case int():
            return _in_range(-operand, node)
        case Real():
            return real(-operand.value)
        case _:
            raise AssertionError(operand)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def _binary(op: ast.BinaryOp, left: Value, right: Value, node: ast.Expr, run: Run) -> Value:
    """The value of an operation; `node` is where it is told of."""
    match op:
        case "==" | "!=":
            return _same(left, right, node, run) == (op == "==")
        case "<" | "<=" | ">" | ">=":
            return _ORDER[op](_plain(left), _plain(right))
    match left, right:
        case str(), str():
            run.budget.spend(0, len(left) + len(right), node)
            return left + right
        case tuple(), tuple():
            run.budget.spend(len(left) + len(right), 0, node)
            return left + right
        case int(), int():
            return _in_range(int(_ARITHMETIC[op](left, right)), node)
        case _:
            result = _ARITHMETIC[op](_number(left), _number(right))
            if result in (float("inf"), float("-inf")):
                raise EvaluationError(Diagnostic("E042", "the number does not fit into float64", node.span))
            return real(result)


def _number(value: Value) -> float:
    assert isinstance(value, int | Real)
    return value.value if isinstance(value, Real) else float(value)


def _plain(value: Value) -> Any:
    return value.value if isinstance(value, Real) else value


def _in_range(value: int, node: ast.Expr) -> int:
    if -INT_MAX - 1 <= value <= INT_MAX:
        return value
    message = "the integer does not fit into int64"
    raise EvaluationError(Diagnostic("E042", message, node.span, fix="compute it in the model, as a decimal"))


def _same(left: Value, right: Value, node: ast.Expr, run: Run) -> bool:
    """Whether two values are equal. Each part is paid for: a small program can make large values of shared parts."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        run.budget.spend(1, 0, node)
        match a, b:
            case tuple(), tuple():
                if len(a) != len(b):
                    return False
                pending += zip(a, b, strict=True)
            case Record(), Record():
                if a.entries.keys() != b.entries.keys():
                    return False
                pending += [(a.entries[key], b.entries[key]) for key in a.entries]
            case _:
                if _plain(a) != _plain(b):
                    return False
    return True


def _contains(values: Value, wanted: Value, node: ast.Expr, run: Run) -> bool:
    assert isinstance(values, tuple)
    return any(_same(value, wanted, node, run) for value in values)


def _comprehension(node: ast.Comprehension, scope: Scope, run: Run, depth: int, function: str) -> Value:
    scopes: list[Scope] = [scope]
    for loop in node.loops:
        found: list[Scope] = []
        for outer in scopes:
            values = evaluate(loop.values, outer, run, depth + 1, function)
            assert isinstance(values, tuple)
            for value in values:
                run.budget.spend(1 + len(outer), 0, loop.values)
                within: Scope = {**outer, loop.name.text: value}
                if loop.condition is None or evaluate(loop.condition, within, run, depth + 1, function):
                    found.append(within)
        scopes = found
    elements: list[Value] = []
    for within in scopes:
        elements.append(evaluate(node.element, within, run, depth + 1, function))
    return tuple(elements)


def _call(node: ast.Call, scope: Scope, run: Run, depth: int, function: str) -> Value:
    name = node.function.text
    signature = run.functions[name]
    bound: dict[str, Value] = {}
    for parameter, argument in bound_arguments(node, signature).items():
        value = evaluate(argument, scope, run, depth + 1, function)
        bound[parameter] = _meant(value, signature.parameters[parameter], node, run)
    result = evaluate(signature.declared.body, bound, run, depth + 1, name)
    return _meant(result, signature.returns, node, run)


def _builtin(node: ast.Call, values: Sequence[Value], run: Run) -> Value:
    try:
        result = BUILTINS[node.function.text].apply(values)
    except KeyError as error:
        message = f"the map has no key `{error.args[0]}`"
        raise EvaluationError(Diagnostic("E042", message, node.span, fix="look among `map_keys(…)` first")) from None
    match result:
        case str():
            run.budget.spend(0, len(result) + sum(len(v) for v in values if isinstance(v, str)), node)
        case tuple() | Record():
            run.budget.spend(len(result.entries) if isinstance(result, Record) else len(result), 0, node)
        case _:
            pass
    return result


def _meant(value: Value, type_: Type | None, node: ast.Expr, run: Run) -> Value:
    """The value as a parameter or result of `type_` takes it: an `Int` for a `Float` is one."""
    if type_ is None or not holds(type_, FLOAT):
        return value
    run.budget.spend(1, 0, node)
    match value, type_:
        case int(), _ if type_ == FLOAT:
            return Real(float(value), f"{value}.0")
        case tuple(), ListOf():
            return tuple([_meant(element, type_.element, node, run) for element in value])
        case Record(), MapOf():
            return Record({key: _meant(element, type_.value, node, run) for key, element in value.entries.items()})
        case Record(), StructOf():
            return Record({key: _meant(v, type_.fields[str(key)], node, run) for key, v in value.entries.items()})
        case _:
            return value


def _instance(node: ast.ModelLiteral, scope: Scope, run: Run, depth: int, function: str) -> Value:
    run.budget.spend_model(node)
    template = run.templates.get(id(node))
    if template is None:
        template = run.templates[id(node)] = template_of(node.model, scope.keys(), run.functions)

    def value(part: ast.Expr, at: int) -> Value:
        return evaluate(part, scope, run, at + 1, function)

    filling = Filling(template.filled, scope, run.functions, value, run.budget.spend)
    model = fill(node.model, filling, depth + 1)
    assert isinstance(model, ast.Model)
    return Instance(model, function, tuple((name, scope[name]) for name in template.names), template.named)
