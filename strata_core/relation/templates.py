"""Templates of `extern fn`: one scalar expression each, that reads nothing but its parameters. Needs sqlglot."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..types.functions.banned import BANNED

SHAPE = "write one scalar expression, such as `st_geohash($lat, $lon)`"
REFUSED: tuple[tuple[tuple[type, ...], str], ...] = (
    ((exp.Query, exp.Table, exp.From), "a query"),
    ((exp.DDL, exp.DML, exp.Command), "a statement"),
    ((exp.UDTF, exp.Explode), "a function that makes rows"),
    ((exp.Window,), "a window"),
    ((exp.AggFunc,), "an aggregate"),
    ((exp.Star,), "`*`"),
)
"""What is no part of a scalar expression."""
LONGEST, DEEPEST = 10_000, 100
"""How long a template may be, and how deep its tree: what renders SQL recurses."""
Fault = tuple[str, str, str]
TOO_LARGE: Fault = (
    "E070",
    f"a template has at most {LONGEST:,} characters and nests {DEEPEST} deep",
    "define what it computes as a function of the engine, and call that",
)


def parsed(template: str, dialect: str) -> exp.Expr:
    """The tree of a template that has no fault."""
    (tree,) = sqlglot.parse(template, dialect=dialect)
    assert isinstance(tree, exp.Expr)
    return tree


def parameter(node: exp.Expr) -> str | None:
    """The name of the parameter that a node stands for: `$lat`, which dialects read in two ways."""
    if isinstance(node, exp.Placeholder):
        return node.name or None
    return node.this.name if isinstance(node, exp.Parameter) and isinstance(node.this, exp.Expr) else None


def fault(template: str, dialect: str, parameters: frozenset[str]) -> Fault | None:
    """What is wrong with a template: a code, a message and a fix."""
    try:
        trees = sqlglot.parse(template[: LONGEST + 1], dialect=dialect)
    except RecursionError:
        return TOO_LARGE
    except SqlglotError as error:
        return "E070", f"this is no expression of {dialect}: {str(error).splitlines()[0]}", SHAPE
    if len(trees) != 1 or trees[0] is None:
        return "E070", "a template is one expression", SHAPE
    (tree,) = trees
    assert tree is not None
    if len(template) > LONGEST or _depth(tree) > DEEPEST:
        return TOO_LARGE
    variables = {v.name for made in tree.find_all(exp.Lambda) for v in made.expressions}
    for node in tree.walk():
        for kinds, what in REFUSED:
            if isinstance(node, kinds):
                return "E070", f"a template is a scalar expression, and this holds {what}", SHAPE
        name = parameter(node)
        if name is not None and name not in parameters:
            known = ", ".join(f"`${p}`" for p in sorted(parameters)) or "none"
            return "E070", f"there is no parameter `${name}`", f"parameters are {known}"
        if isinstance(node, exp.Column) and node.name not in variables:
            return (
                "E070",
                f"`{node.sql(dialect)}` is no parameter",
                f"write `${node.name}` for a parameter of that name",
            )
        if isinstance(node, exp.Func) and (word := _banned(node)) is not None:
            return "E065", f"`{word}` does not give equal values for equal arguments", BANNED.get(word, SHAPE)
    return None


def _depth(tree: exp.Expr) -> int:
    """How deep a tree nests."""
    level, depth = [tree], 0
    while level:
        level = [child for node in level for child in node.iter_expressions()]
        depth += 1
    return depth


def _banned(node: exp.Func) -> str | None:
    names = [node.name] if isinstance(node, exp.Anonymous) else list(node.sql_names())
    return next((n.lower() for n in names if n.lower() in BANNED or n.lower() == "random"), None)
