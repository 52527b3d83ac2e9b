"""Window functions; aggregates may stand over a window as well.

Where rows that the order does not tell apart would matter, the relation completes the order (`build.window_rows`).
"""

from __future__ import annotations

from ..inferred import Inferred
from ..values import FLOAT64, INT64
from .aggregates import any_value
from .operands import branch_type
from .shapes import always, takes, whole_constant
from .signature import Argument, Example, Function, Kind, Resolution, Rule, arity

MOST_ROWS = 2**31 - 1
TILES = "ntile(count: literal int64) -> int64"


def _row(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.WINDOW, "windows", signature, rule, doc, examples, ordered=True)


def _rank(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}() -> int64"
    return _row(name, signature, takes(signature, (), always(INT64, nullable=False)), doc, *examples)


def _shifted(name: str) -> Rule:
    signature = f"{name}(x: T[, rows: literal int64[, default: T]]) -> T"

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 1, 3, signature)
        if len(arguments) > 1:
            whole_constant(arguments, 1, signature, "the number of rows", 0, MOST_ROWS)
        choices = [(i, a) for i, a in enumerate(arguments) if i != 1]
        common = branch_type(choices)
        any_value(name, arguments[:1])
        nullable = len(arguments) < 3 or any(a.nullable for _, a in choices)
        return Resolution((common, INT64, common)[: len(arguments)], Inferred(common, nullable))

    return rule


def _edge(name: str) -> Rule:
    return lambda arguments: any_value(name, arguments)


def _ntile(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 1, 1, TILES)
    whole_constant(arguments, 0, TILES, "the number of tiles", 1, MOST_ROWS)
    return Resolution((INT64,), Inferred(INT64, nullable=False, nonzero=True))


NTH = "nth_value(x: T, number: literal int64) -> T"


def _nth(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 2, 2, NTH)
    whole_constant(arguments, 1, NTH, "the number of the row", 1, MOST_ROWS)
    return Resolution((arguments[0].type, INT64), any_value("nth_value", arguments[:1]).result)


def _distribution(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}() -> float64"
    return _row(name, signature, takes(signature, (), always(FLOAT64, nullable=False)), doc, *examples)


WINDOWS = (
    _rank(
        "row_number",
        "The number of the row, from 1.",
        Example("row_number() over (sort: [x])", [2, 1], (20, 10)),
        Example("row_number() over (sort: [x desc])", [1, 2], (20, 10)),
    ),
    _rank(
        "rank",
        "The number of the first row that the order does not tell apart from this one.",
        Example("rank() over (sort: [x])", [1, 1, 3], (5, 5, 6)),
        Example("rank() over (sort: [x])", [2, 1], (None, 1)),
    ),
    _rank(
        "dense_rank",
        "How many values of the order there are up to this one.",
        Example("dense_rank() over (sort: [x])", [1, 1, 2], (5, 5, 6)),
        Example("dense_rank() over (sort: [x desc])", [2, 2, 1], (5, 5, 6)),
    ),
    _row(
        "lag",
        "lag(x: T[, rows: literal int64[, default: T]]) -> T",
        _shifted("lag"),
        "The value so many rows before (1 unless said); the default, or null, where there is none.",
        Example("lag(x) over (sort: [x])", [None, 1, 2], (1, 2, 3)),
        Example("lag(x, 2, 0) over (sort: [x])", [0, 0, 1], (1, 2, 3)),
    ),
    _row(
        "lead",
        "lead(x: T[, rows: literal int64[, default: T]]) -> T",
        _shifted("lead"),
        "The value so many rows after (1 unless said); the default, or null, where there is none.",
        Example("lead(x) over (sort: [x])", [2, 3, None], (1, 2, 3)),
        Example("lead(x, 1, 9) over (sort: [x])", [2, 3, 9], (1, 2, 3)),
    ),
    _row(
        "first_value",
        "first_value(x: T) -> T",
        _edge("first_value"),
        "The value in the first row of the frame.",
        Example("first_value(x) over (sort: [x])", [1, 1], (1, 2)),
        Example("first_value(x) over (sort: [x desc])", [2, 2], (1, 2)),
    ),
    _row(
        "last_value",
        "last_value(x: T) -> T",
        _edge("last_value"),
        "The value in the last row of the frame, which without `rows` ends at the current row.",
        Example("last_value(x) over (sort: [x])", [1, 2], (1, 2)),
        Example("last_value(x) over (sort: [x], rows: 0..1)", [2, 2], (1, 2)),
    ),
    _row(
        "ntile",
        TILES,
        _ntile,
        "In which of `count` equal parts the row lies, from 1; the first parts are larger by one where need be.",
        Example("ntile(2) over (sort: [x])", [1, 1, 2], (1, 2, 3)),
        Example("ntile(1) over (sort: [x])", [1, 1], (1, 2)),
    ),
    _distribution(
        "percent_rank",
        "The rank less 1 over the number of rows less 1; 0 where there is one row.",
        Example("percent_rank() over (sort: [x])", [0.0, 0.5, 1.0], (1, 2, 3)),
        Example("percent_rank() over (sort: [x])", [0.0], (1,)),
    ),
    _distribution(
        "cume_dist",
        "How many rows there are up to this one and its peers, over the number of rows.",
        Example("cume_dist() over (sort: [x])", [0.5, 1.0], (1, 2)),
        Example("cume_dist() over (sort: [x])", [1.0, 1.0], (1, 1)),
    ),
    _row(
        "nth_value",
        NTH,
        _nth,
        "The value in row `number` of the frame, from 1; null where the frame is shorter.",
        Example("nth_value(x, 2) over (sort: [x])", [None, 2, 2], (1, 2, 3)),
        Example("nth_value(x, 1) over (sort: [x desc])", [3, 3], (1, 3)),
    ),
)
