"""Expressions of the language become typed expressions over the columns of one relation (Seed 0 §2).

`expression` answers `None` where an error was reported, here or upstream: nothing more is said of it. The rules
of operators and functions are rows of the catalog; a `SignatureError` is put at the operand it speaks of.
Codes: those of the catalog, E003 (texts that are cast), E020 to E022 (names), E025, E043, E053, E055, E060, E061, E063,
E065, E072, W012, W013.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..diagnostics import Diagnostic, Report, Severity, Span
from ..diagnostics.diagnostic import Suggestion, wrapping
from ..frozen import dataclass, field, replace
from ..language import ast
from ..language.chains import last_apart
from ..relation.expressions import Call, Chain, Expr, Link, call, cast, extern_call, link, literal
from ..relation.extern import Extern
from ..types import Array, Bool, Decimal, Float64, Money, Unknown
from ..types.elsewhere import FUNCTIONS
from ..types.functions import CATALOG, Function, Kind, SignatureError
from ..types.functions.banned import BANNED
from ..types.functions.operands import decimal_of
from ..types.spelling import SIMPLE
from .comparisons import EQUALITIES, doubtful
from .names import unknown
from .types import Domains, no_type_in_quotes, spelled_type

BINARY = {
    "or": "or",
    "and": "and",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "%": "modulo",
    "||": "concat_op",
}
UNARY = {"-": "negate", "not": "not"}
MONEY_SCALING = {"*": "money_multiply", "/": "money_divide"}
CASTS = ("cast", "try_cast")
CAST_FIX = "casts lead between numbers, between date and timestamp, and to and from string"
CALLABLE = (*CASTS, *(f.name for f in CATALOG.values() if f.surface))

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """How expressions are read in one place of a model.

    `resolve` gives the column behind a name. `computed` holds what calls of aggregates and windows became, by the
    identity of their node; any other such call is not allowed in this `place`. `match`, where there is one, gives
    the column that already holds the value of a whole expression (a key of the group).
    """

    resolve: Callable[[ast.ColumnRef], Expr | None]
    domains: Domains
    report: Report
    place: str
    computed: Mapping[int, Expr | None] = field(default_factory=dict)
    match: Callable[[ast.Expr], Expr | None] | None = None
    externs: Mapping[str, Extern] = field(default_factory=dict)


def expression(node: ast.Expr, context: Context) -> Expr | None:
    """The typed expression that `node` means in `context`."""
    if context.match is not None and not isinstance(node, ast.Literal | ast.ColumnRef):
        matched = context.match(node)
        if matched is not None:
            return matched
    match node:
        case ast.Literal():
            return literal(node.value)
        case ast.ColumnRef():
            return context.resolve(node)
        case ast.Binary():
            return _apply(BINARY[node.op], (node.left, node.right), node.span, context)
        case ast.Chain():
            return _chain(node, context)
        case ast.Unary():
            return _apply(UNARY[node.op], (node.operand,), node.span, context)
        case ast.Like():
            return _apply("like", (node.operand, node.pattern), node.span, context)
        case ast.RLike():
            return _apply("rlike", (node.operand, node.pattern), node.span, context)
        case ast.IsNone():
            return _apply("is_not_null" if node.negated else "is_null", (node.operand,), node.span, context)
        case ast.In(values=ast.ListExpr(items=items)):
            return _apply("in", (node.operand, *items), node.span, context)
        case ast.In(values=ast.Comprehension() as values):
            return expression(values, context)
        case ast.In(values=ast.Call(function=ast.Name(text=name)) as values) if name not in CALLABLE:
            return expression(values, context)
        case ast.In():
            return _contained(node, context)
        case ast.ListExpr(items=()):
            fix = 'give its type: `cast(none, "array(string)")` is null, a list of values has theirs'
            context.report(Diagnostic("E055", "an empty list has no type of its own", node.span, fix=fix))
            return None
        case ast.ListExpr(items=items):
            return _apply("list", items, node.span, context)
        case ast.Comprehension() | ast.ModelLiteral():
            message = "this is compile-time code, and stands in a function"
            fix = "move it into an `fn`, or write the list out"
            context.report(Diagnostic("E043", message, node.span, fix=fix))
            return None
        case ast.Over():
            return _over(node, context)
        case ast.Call():
            return _call(node, context)


def predicate(node: ast.Expr, context: Context) -> Expr | None:
    """A condition; E053 where it is not bool."""
    condition = expression(node, context)
    if condition is None or isinstance(condition.inferred.type, Bool):
        return condition
    message = f"{context.place} needs a condition, but this is {condition.inferred.type}"
    context.report(Diagnostic("E053", message, node.span, fix="compare it, as in `x > 0` or `x is not none`"))
    return None


def typed(node: ast.Expr, context: Context) -> Expr | None:
    """An expression that becomes a column; E055 where nothing gives it a type."""
    value = expression(node, context)
    if value is None or not isinstance(value.inferred.type, Unknown):
        return value
    context.report(unresolved(node.span))
    return None


def unresolved(span: Span) -> Diagnostic:
    """E055 for a column whose values are all `none`."""
    return Diagnostic("E055", "`none` alone gives the column no type", span, fix='write `cast(none, "int64")`')


def _apply(name: str, nodes: Sequence[ast.Expr], span: Span, context: Context) -> Expr | None:
    """The call of the catalog's `name` with `nodes` as arguments."""
    values = [expression(n, context) for n in nodes]
    arguments = [v for v in values if v is not None]
    if len(arguments) < len(values):
        return None
    made = resolved(lambda: call(name, *exact(nodes, arguments)), span, nodes, context)
    if name in EQUALITIES and isinstance(made, Call):
        for finding in doubtful(made, nodes, span):
            context.report(finding)
    return made


def _contained(node: ast.In, context: Context) -> Expr | None:
    """`x in xs`, where `xs` is an array: one that the rows hold, not a list that is written out."""
    operand, values = expression(node.operand, context), expression(node.values, context)
    if operand is None or values is None:
        return None
    if not isinstance(values.inferred.type, Array):
        message = f"`in` looks into a list or an array, and this is {values.inferred.type}"
        context.report(Diagnostic("E060", message, node.values.span, fix="write the values: `x in [1, 2]`"))
        return None
    nodes = (node.values, node.operand)
    return resolved(lambda: call("array_contains", values, operand), node.span, nodes, context)


def resolved(
    make: Callable[[], T], span: Span, nodes: Sequence[ast.Expr], context: Context, fix: str | None = None
) -> T | None:
    """What `make` gives, or `None` and the diagnostic of its `SignatureError`, at the argument at fault.

    `fix` is what is advised where the error advises nothing.
    """
    try:
        return make()
    except SignatureError as error:
        context.report(_misfit(error, span, [n.span for n in nodes], fix))
        return None


def _misfit(error: SignatureError, span: Span, operands: Sequence[Span], fix: str | None = None) -> Diagnostic:
    """The diagnostic of an error in a call that stands at `span`, its arguments at `operands`."""
    at_fault = error.argument is not None and error.argument < len(operands)
    place = operands[error.argument or 0] if at_fault else span
    return Diagnostic(error.code, error.message, place, fix=error.fix or fix, suggestions=_cast_of(error, operands))


def _cast_of(error: SignatureError, operands: Sequence[Span]) -> tuple[Suggestion, ...]:
    """The cast of an operand that mends the call."""
    if error.cast is None or error.cast[0] >= len(operands):
        return ()
    position, type_ = error.cast
    return (wrapping(f"cast it to {type_}", operands[position], "cast(", f', "{type_}")'),)


def _chain(node: ast.Chain, context: Context) -> Expr | None:
    """A long chain of arithmetic, link by link: the same readings and findings as of nested calls."""
    first = expression(node.first, context)
    operands = [expression(one.operand, context) for one in node.links]
    if first is None:
        return None
    links: list[Link] = []
    before, place = first.inferred, node.first.span
    for written, operand in zip(node.links, operands, strict=True):
        if operand is None:
            return None
        value = _digits(written.operand, operand) if isinstance(before.type, Decimal) else operand
        try:
            links.append(link(before, BINARY[written.op], value))
        except SignatureError as error:
            context.report(_misfit(error, written.span, [place, written.operand.span]))
            return None
        before, place = links[-1].inferred, written.span
    return Chain(first, tuple(links))


def exact(nodes: Sequence[ast.Expr], values: Sequence[Expr]) -> Sequence[Expr]:
    """`values`, where one is a decimal with the float literals beside it read digit by digit, as they are written."""
    for value in values:  # a plain loop: it runs for every call
        if isinstance(value.inferred.type, Decimal):
            return [_digits(n, v) for n, v in zip(nodes, values, strict=True)]
    return values


def _digits(node: ast.Expr, value: Expr) -> Expr:
    match node:
        case ast.Literal(value=float() as number, text=text) if text:
            written = decimal.Decimal(text)
            if written != decimal.Decimal(str(number)) and decimal_of(written) is not None:
                return literal(written)
        case _:
            pass
    return value


def _call(node: ast.Call, context: Context) -> Expr | None:
    if id(node) in context.computed:
        return context.computed[id(node)]
    match node:
        case ast.Call(function=ast.Name(text="cast" | "try_cast" as name)):
            return _cast(node, name == "try_cast", context)
        case ast.Call(
            function=ast.Name(text="round"), arguments=(ast.Binary(op="*" | "/") as product, _, _), keywords=()
        ):
            if context.match is None or context.match(product) is None:
                return _rounded_product(node, product, context)
        case ast.Call(function=ast.Name(text="round"), arguments=(ast.Chain() as chain, _, _), keywords=()):
            if chain.links[-1].op in MONEY_SCALING and (context.match is None or context.match(chain) is None):
                return _rounded_product(node, last_apart(chain), context)
        case _:
            pass
    if (extern := context.externs.get(node.function.text)) is not None:
        return _extern_call(node, extern, context)
    function = find_function(node, context)
    given = arguments(node, function, context) if function is not None else None
    if function is None or given is None:
        return None
    match function.kind:
        case Kind.AGGREGATE:
            message = f"the aggregate `{function.name}` is not allowed in {context.place}"
            fix = (
                "compute it first: `group { key } ( aggregate { x = … } )`, of all rows `aggregate { x = … }`, "
                "or beside them `derive { x = … over (partition_by: [key]) }`"
            )
            context.report(Diagnostic("E061", message, node.span, fix=fix))
            return None
        case Kind.WINDOW:
            message = f"`{function.name}` needs a window"
            fix = f"write `{function.name}(…) over (sort: […])`"
            context.report(Diagnostic("E063", message, node.span, fix=fix))
            return None
        case Kind.SCALAR:
            if node.star or node.distinct:
                report_distinct(node, context)
                return None
            return resolved(lambda: call(function.name, *given.values), node.span, given.nodes, context)


def _extern_call(node: ast.Call, extern: Extern, context: Context) -> Expr | None:
    """A call of a declared function. What is wrong with its declaration was said there."""
    if node.star or node.distinct or node.keywords:
        fix = f"the signature is `{extern.signature}`"
        context.report(Diagnostic("E060", f"`{extern.name}` takes values alone", node.span, fix=fix))
        return None
    values = [expression(a, context) for a in node.arguments]
    known = [v for v in values if v is not None]
    if len(known) < len(values) or not extern.is_known:
        return None
    return resolved(lambda: extern_call(extern, exact(node.arguments, known)), node.span, node.arguments, context)


def find_function(node: ast.Call, context: Context) -> Function | None:
    """The row of the catalog that a call names; E025 where there is none, E065 where there cannot be."""
    name = node.function.text
    function = CATALOG.get(name)
    if function is None and (instead := BANNED.get(name.lower())) is not None:
        message = f"`{name}` does not give equal rows for equal inputs"
        context.report(Diagnostic("E065", message, node.function.span, fix=instead))
        return None
    if function is None or not function.surface:
        context.report(_no_function(node.function, context))
        return None
    return function


def _no_function(name: ast.Name, context: Context) -> Diagnostic:
    """E025, with what does the same where the name is one of another language, or a type."""
    message = f"no function `{name}`"
    known = name.text.lower()
    here = f'cast(x, "{known}")' if known in SIMPLE else FUNCTIONS.get(known)
    if here is None:
        return unknown("E025", message, name, (*CALLABLE, *context.externs))
    return Diagnostic("E025", message, name.span, fix=f"write `{here}`", about=name.text)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The typed arguments of a call, and where each is written."""

    values: Sequence[Expr]
    nodes: Sequence[ast.Expr]


def arguments(node: ast.Call, function: Function, context: Context) -> Arguments | None:
    """The arguments of a call, bare words among them; all are looked at, also where one is in error.

    A keyword stands for a value and a word: `date_add(x, days: 3)` is `date_add(x, 3, day)`; or it names an argument,
    which then takes its place: `random(seed: 1, key: x)` is `random(1, x)`.
    """
    node = _in_place(node, function, context)
    values = [_argument(n, i, function, context) for i, n in enumerate(node.arguments)]
    nodes = [*node.arguments]
    for keyword in node.keywords:
        value = expression(keyword.value, context)
        word = function.keywords.get(keyword.name.text)
        if word is None:
            message = f"`{node.function}` has no argument `{keyword.name}`"
            fix = f"the signature is `{function.signature}`"
            if function.keywords:
                context.report(unknown("E060", message, keyword.name, function.keywords.keys(), fix))
            else:
                context.report(Diagnostic("E060", message, keyword.name.span, fix=fix))
            value = None
        values += [value, literal(word)]
        nodes += [keyword.value, keyword.value]
    known = [v for v in values if v is not None]
    return Arguments(exact(nodes, known), nodes) if len(known) == len(values) else None


def _in_place(node: ast.Call, function: Function, context: Context) -> ast.Call:
    """The call with the arguments that are given by name behind the others, in the order of the signature."""
    by_name = {k.name.text: k for k in node.keywords if k.name.text in function.named}
    missing = [name for name in function.named[len(node.arguments) :] if name in by_name]
    if not by_name:
        return node
    if [*missing] != [*function.named[len(node.arguments) :]][: len(missing)] or len(missing) < len(by_name):
        fix = f"the signature is `{function.signature}`"
        message = f"an argument of `{function.name}` is missing, or given twice"
        context.report(Diagnostic("E060", message, node.span, fix=fix))
        return replace(node, keywords=())
    named = tuple(by_name[name].value for name in missing)
    others = tuple(k for k in node.keywords if k.name.text not in by_name)
    return replace(node, arguments=(*node.arguments, *named), keywords=others)


def _argument(node: ast.Expr, position: int, function: Function, context: Context) -> Expr | None:
    words = function.words.get(position)
    if words is None:
        return expression(node, context)
    match node:
        case ast.ColumnRef(qualifier=None, name=ast.Name(text=word) as name):
            pass
        case ast.Literal(value=str(word)):
            name = ast.Name(word, node.span)
        case _:
            word, name = "", ast.Name("", node.span)
    if word in words:
        return literal(word)
    context.report(unknown("E060", f"`{function.name}` takes a word here", name, words))
    return None


def report_distinct(node: ast.Call, context: Context) -> None:
    """E060 for a `*` or `distinct` where only `count` takes one."""
    given = "*" if node.star else "distinct"
    message = f"`{node.function}` takes no `{given}`"
    context.report(Diagnostic("E060", message, node.span, fix=f"only `count` takes `{given}`"))


def _cast(node: ast.Call, safe: bool, context: Context) -> Expr | None:
    match node:
        case ast.Call(arguments=(operand, ast.Literal(value=str()) as spelling), keywords=(), distinct=False):
            value = expression(operand, context)
            type_ = spelled_type(spelling, context.domains, context.report)
            if value is None or type_ is None:
                return None
            if isinstance(operand, ast.Literal) and isinstance(operand.value, str) and not safe:
                from .text_casts import unreadable  # few casts are of a text that is written out

                if (fault := unreadable(operand, operand.value, type_)) is not None:
                    context.report(fault)
                    return None
            if isinstance(type_, Decimal | Money):
                value = _digits(operand, value)
            if isinstance(type_, Float64) and isinstance(value.inferred.type, Money):
                message = f"{value.inferred.type} as a float: sums of it are not exact to the cent"
                fix = "keep it as money, or cast it to a decimal"
                context.report(Diagnostic("W013", message, node.span, Severity.WARNING, fix=fix))
            return resolved(lambda: cast(value, type_, safe=safe), node.span, [operand], context, CAST_FIX)
        case _:
            context.report(no_type_in_quotes(node, context.domains))
            return None


def _rounded_product(node: ast.Call, product: ast.Binary, context: Context) -> Expr | None:
    """`round(x ⊕ y, 2, mode)`: with money on one side one exact operation, else `round` of the product or quotient."""
    nodes: list[ast.Expr] = [product.left, product.right, *node.arguments[1:]]
    left, right = expression(product.left, context), expression(product.right, context)
    function = find_function(node, context)
    digits = expression(node.arguments[1], context)
    mode = None if function is None else _argument(node.arguments[2], 2, function, context)
    if left is None or right is None or digits is None or mode is None:
        return None
    left, right = exact(nodes[:2], [left, right])
    amounts = [isinstance(side.inferred.type, Money) for side in (left, right)]
    if amounts == [False, True] and product.op == "*":
        left, right, amounts = right, left, [True, False]
        nodes[:2] = nodes[1::-1]
    if amounts == [True, False]:
        return resolved(lambda: call(MONEY_SCALING[product.op], left, right, digits, mode), node.span, nodes, context)
    value = resolved(lambda: call(BINARY[product.op], left, right), product.span, nodes, context)
    if value is None:
        return None
    return resolved(lambda: call("round", value, digits, mode), node.span, node.arguments, context)


def _over(node: ast.Over, context: Context) -> Expr | None:
    if id(node) in context.computed:
        return context.computed[id(node)]
    message = f"a window is not allowed in {context.place}"
    fix = "compute it in `derive` or `select`, and use its column in the next statement"
    context.report(Diagnostic("E063", message, node.span, fix=fix))
    return None
