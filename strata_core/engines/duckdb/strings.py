"""String functions and hashes in DuckDB. Positions are code points; numbers are cut to what DuckDB takes."""

from __future__ import annotations

from sqlglot import exp

from ...relation.expressions import Call
from . import sql
from .operators import Builder, native
from .sql import SqlExpr

FARTHEST = 2**31 - 1
INTEGER = exp.DataType(this=exp.DataType.Type.INT)
CHARACTERS = "(?s)."


def bounded(count: SqlExpr) -> SqlExpr:
    """A length or position; DuckDB refuses what no text reaches. Nulls stay, which `greatest` skips."""

    def cut(n: SqlExpr) -> SqlExpr:
        least = sql.fn("least", n.copy(), sql.number(FARTHEST))
        return sql.when((exp.Not(this=sql.is_null(n.copy())), sql.fn("greatest", least, sql.number(-FARTHEST))))

    if isinstance(count, exp.Cast) and isinstance(count.this, exp.Literal):
        return count
    return sql.once("count", count, cut)


def natural(count: SqlExpr) -> SqlExpr:
    """A length, not below zero; null stays null."""

    def cut(n: SqlExpr) -> SqlExpr:
        positive = sql.fn("greatest", n.copy(), sql.number(0))
        return sql.when((exp.Not(this=sql.is_null(n.copy())), positive))

    return sql.once("length", bounded(count), cut)


def _substring(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    text, start = args[0], bounded(args[1])
    if len(args) == 2:
        return sql.fn("substring", text, start)
    return sql.fn("substring", text, start, natural(args[2]))


def _side(name: str) -> Builder:
    """`left` and `right`: of a negative count, nothing."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return sql.fn(name, args[0], natural(args[1]))

    return build


def _pad(name: str) -> Builder:
    """`lpad` and `rpad`: where the filling is empty, DuckDB refuses and Strata only cuts."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        text, length, fill = args

        def with_text(t: SqlExpr) -> SqlExpr:
            def with_length(n: SqlExpr) -> SqlExpr:
                def with_fill(f: SqlExpr) -> SqlExpr:
                    empty = exp.EQ(this=f.copy(), expression=sql.string(""))
                    padded = sql.fn(name, t.copy(), n.copy(), f.copy())
                    return sql.when((empty, sql.fn("left", t.copy(), n.copy())), otherwise=padded)

                return sql.once("fill", fill, with_fill)

            return sql.once("length", sql.cast(natural(length), INTEGER), with_length)

        return sql.once("text", text, with_text)

    return build


def _split_part(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """Where the separator is empty, DuckDB takes the letters apart and Strata nothing: it is what no text holds."""
    text, separator, number = args

    def with_text(t: SqlExpr) -> SqlExpr:
        def with_separator(s: SqlExpr) -> SqlExpr:
            empty = exp.EQ(this=s.copy(), expression=sql.string(""))
            apart = sql.when((empty, sql.join(t.copy(), sql.string("."))), otherwise=s.copy())

            def with_number(n: SqlExpr) -> SqlExpr:
                none = exp.EQ(this=n.copy(), expression=sql.number(0))
                part = sql.fn("split_part", t.copy(), apart.copy(), n.copy())
                return sql.when((none, _empty_unless_null(t, s)), otherwise=part)

            return sql.once("part", bounded(number), with_number)

        return sql.once("separator", separator, with_separator)

    return sql.once("text", text, with_text)


def _empty_unless_null(*texts: SqlExpr) -> SqlExpr:
    return sql.fn("left", sql.join(*(sql.paren(t.copy()) for t in texts)), sql.number(0))


UNMAPPED = {
    "upper": "ßᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ",
    "lower": "İ",
}
"""Characters that `upper` and `lower` leave alone, since one would become several; DuckDB maps them to another one."""


def _mapped(name: str) -> Builder:
    """Case mapping: DuckDB's own of ASCII and of texts without `UNMAPPED` characters, else by character."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        def of(text: SqlExpr) -> SqlExpr:
            ascii_only = exp.EQ(this=sql.fn("strlen", text.copy()), expression=sql.fn("length", text.copy()))
            unmapped = sql.string(UNMAPPED[name])
            special = sql.fn("regexp_matches", text.copy(), sql.string(f"[{UNMAPPED[name]}]"))
            character = sql.column(f"{sql.RESERVED}character")
            kept = (sql.fn("contains", unmapped, character.copy()), character.copy())
            mapped = sql.when(kept, otherwise=sql.fn(name, character.copy()))
            characters = sql.fn("regexp_extract_all", text.copy(), sql.string(CHARACTERS))
            each = sql.fn("list_transform", characters, sql.lambda_of([character.name], mapped))
            by_character = sql.fn("array_to_string", each, sql.string(""))
            whole = sql.fn(name, text.copy())
            return sql.when((ascii_only, whole), (special, by_character), otherwise=whole.copy())

        return sql.once("text", args[0], of)

    return build


def _trim(name: str) -> Builder:
    """Only spaces are trimmed."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return sql.fn(name, args[0], sql.string(" "))

    return build


def _extract(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """The group is a literal."""
    text, pattern, *group = args
    return sql.fn("regexp_extract", text, pattern, *(sql.cast(g, INTEGER) for g in group))


def _replace_all(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("regexp_replace", *args, sql.string("g"))


def _split(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """Where the separator is empty, DuckDB takes the characters apart; where it is null, it does nothing."""

    def with_text(text: SqlExpr) -> SqlExpr:
        def with_separator(separator: SqlExpr) -> SqlExpr:
            empty = exp.EQ(this=separator.copy(), expression=sql.string(""))
            whole = sql.when((exp.Not(this=sql.is_null(text.copy())), exp.Array(expressions=[text.copy()])))
            apart = exp.Not(this=sql.is_null(separator.copy())), sql.fn("string_split", text.copy(), separator.copy())
            return sql.when((empty, whole), apart)

        return sql.once("separator", args[1], with_separator)

    return sql.once("text", args[0], with_text)


def _count(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.fn("len", sql.fn("regexp_extract_all", *args))


def _reverse(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """By code points, where DuckDB's own goes by graphemes."""
    characters = sql.fn("regexp_extract_all", args[0], sql.string(CHARACTERS))
    return sql.fn("array_to_string", sql.fn("list_reverse", characters), sql.string(""))


def _codepoint(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """DuckDB's is -1 of an empty text."""
    return sql.cast(sql.fn("nullif", sql.fn("unicode", args[0]), sql.number(-1)), sql.BIGINT)


STRINGS: dict[str, Builder] = {
    "upper": _mapped("upper"),
    "lower": _mapped("lower"),
    "trim": _trim("trim"),
    "ltrim": _trim("ltrim"),
    "rtrim": _trim("rtrim"),
    "length": native("length"),
    "substring": _substring,
    "left": _side("left"),
    "right": _side("right"),
    "replace": native("replace"),
    "lpad": _pad("lpad"),
    "rpad": _pad("rpad"),
    "split_part": _split_part,
    "startswith": native("starts_with"),
    "endswith": native("ends_with"),
    "contains": native("contains"),
    "regexp_replace": _replace_all,
    "regexp_extract": _extract,
    "regexp_extract_all": native("regexp_extract_all"),
    "regexp_count": _count,
    "split": _split,
    "position": native("strpos"),
    "reverse": _reverse,
    "codepoint": _codepoint,
    "sha1": native("sha1"),
    "md5": native("md5"),
    "sha256": native("sha256"),
}
