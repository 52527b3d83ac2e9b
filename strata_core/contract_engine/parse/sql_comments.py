"""A `contract:` block in the comments at the head of a SQL file: a fragment at the table that the file makes.

    -- contract:                          /* contract:
    --   product: flights.punctuality          product: flights.punctuality
    --   columns:                              columns:
    --     - {name: carrier}                     - {name: carrier} */
    select …                              select …

All that is no value is blanked, so that what is left is YAML whose places are those of the file. The comments are found
here and not by sqlglot, which keeps no places of them, and nothing at all of a file whose query is not finished; tests
hold the two together.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ...diagnostics import Diagnostic, Report, Span
from ...frozen import dataclass
from ..discover import Input
from ..sql_tables import tables_of
from ..tree import Tree
from ..yaml_text import decoded, read_yaml_text
from .contracts import fragment_of, too_large_beside
from .parsed import FragmentText, GeneratedAsset, GeneratedColumn, ParsedFile


def parse_sql(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The fragments at the head of a SQL file. E100 to E107 where it has any."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    if too_large_beside(one, "a SQL file", report):
        return nothing
    content = tree.read(one.path)
    if b"contract:" not in content:
        return nothing
    text = decoded(one.path, content, report)
    blocks = () if text is None else tuple(comment_blocks(text, one.path, report))
    if text is None or not blocks:
        return nothing
    beside = posixpath.basename(one.path).removesuffix(".sql")
    fragments = (_fragment(block, one.path, beside, report) for block in blocks)
    known = tuple(query_facts(text, one.path, beside))
    return ParsedFile(
        one.path, one.kind, one.digest, fragments=tuple(f for f in fragments if f is not None), generated=known
    )


def _fragment(block: str, path: str, beside: str, report: Report) -> FragmentText | None:
    if not block.strip():
        line = block.count("\n") + 1
        message = "nothing stands below `contract:`"
        fix = "write the fields of a fragment below it, indented, or remove it"
        report(Diagnostic("E106", message, Span(path, line, 1, line, 1), fix=fix))
        return None
    document = read_yaml_text(path, block, report)
    return None if document is None else fragment_of(document, beside, report)


def query_facts(sql: str, path: str, name: str) -> Iterator[GeneratedAsset]:
    """What sqlglot knows of the query in a SQL file: the names of its columns, and the tables that it reads.

    Nothing of a template (dbt's manifest knows it), of several statements, or of what is no query.
    """
    if "{{" in sql or "{%" in sql:
        return
    import sqlglot  # 100 ms that a tree without such files does not need
    from sqlglot import exp

    try:
        query = sqlglot.parse_one(sql, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return
    if isinstance(query, exp.Create) and isinstance(query.expression, exp.Query):
        query = query.expression
    if not isinstance(query, exp.Query):
        return
    names = query.named_selects
    complete = bool(names) and all(names) and "*" not in names
    span = Span(path, 1, 1, 1, 1)
    columns = tuple(GeneratedColumn(n) for n in names if n and n != "*") if len(set(names)) == len(names) else ()
    upstream = tuple(sorted({name for name, _ in tables_of(query)}))
    yield GeneratedAsset("sql", (name, path), columns, upstream, span, complete=complete and bool(columns))


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: where its text begins in the file, without its signs, and where it ends."""

    start: int
    end: int
    lines: bool
    """Whether it is one of `--`, which goes to the end of its line."""


_SPACE = re.compile(r"\s+")
_TEMPLATES = (("{#", "#}"), ("{{", "}}"), ("{%", "%}"))
"""What dbt takes out or evaluates before the text is SQL."""


def leading_comments(sql: str) -> Iterator[Comment]:
    """The comments before the first word of `sql`.

    >>> [(c.start, c.end) for c in leading_comments("-- a\\n/* b */ select 1 -- c")]
    [(2, 4), (7, 10)]
    """
    at = 0
    while at < len(sql):
        if space := _SPACE.match(sql, at):
            at = space.end()
        elif sql.startswith("--", at):
            end = sql.find("\n", at)
            end = len(sql) if end < 0 else end
            yield Comment(at + 2, end, True)
            at = end
        elif sql.startswith("/*", at):
            end = _closed(sql, at + 2)
            if end < 0:
                return
            yield Comment(at + 2, end, False)
            at = end + 2
        else:
            close = next((c for o, c in _TEMPLATES if sql.startswith(o, at)), None)
            end = sql.find(close, at) if close else -1
            if close is None or end < 0:
                return
            at = end + len(close)


def _closed(sql: str, start: int) -> int:
    """Where the comment ends whose text begins at `start`; -1 where it does not. Comments nest, as in DuckDB; where
    they do not close so, the first end counts, as in dialects in which they do not nest."""
    depth = 1
    for sign in re.finditer(r"/\*|\*/", sql[start:]):
        depth += 1 if sign[0] == "/*" else -1
        if depth == 0:
            return start + sign.start()
    return sql.find("*/", start)


_BEGIN = re.compile(r"[\s*]*?contract:(?=\s|$)")


def comment_blocks(sql: str, path: str, report: Report) -> Iterator[str]:
    """The YAML of each block in the leading comments of `sql`, every value where it stands in the file. E101 for a line
    that goes on behind a block and is not part of it.

    >>> list(comment_blocks("-- about\\n-- contract:\\n--   product: a.b\\nselect 1", "m.sql", print))
    ['        \\n            \\n     product: a.b']
    """
    waiting = list(leading_comments(sql))
    while waiting:
        comment = waiting.pop(0)
        begin = _BEGIN.match(sql, comment.start, comment.end)
        if begin is None:
            continue
        kept = [(begin.end(), comment.end)]
        if comment.lines:
            indent = len(begin[0]) - len("contract:")
            while waiting and waiting[0].lines and (more := waiting[0]):
                text = sql[more.start : more.end]
                apart = sql.count("\n", kept[-1][1], more.start) > 1 or not sql[slice(*kept[-1])].strip()
                if text.strip() and len(text) - len(text.lstrip()) <= indent:
                    if not (apart and len(kept) > 1):
                        report(_beside(sql, path, more))
                    break
                kept.append((more.start, more.end))
                waiting.pop(0)
        yield _only(sql, kept, decorated=not comment.lines)


def _beside(sql: str, path: str, comment: Comment) -> Diagnostic:
    line, column = sql.count("\n", 0, comment.start) + 1, comment.start - sql.rfind("\n", 0, comment.start)
    span = Span(path, line, column, line, column + comment.end - comment.start)
    message = "this line stands beside `contract:`, not below it"
    return Diagnostic("E101", message, span, fix="indent it below `contract:`, or put an empty line before it")


def _only(sql: str, kept: list[tuple[int, int]], *, decorated: bool) -> str:
    """The text of `sql` up to the last part that is kept, all others blanked; with `decorated`, the stars around
    a comment too, those that lead every line of it or stand at its end."""
    out, at = [], 0
    for start, end in kept:
        text = sql[start:end]
        rest = text.split("\n")[1:]
        if decorated:
            text = text.rstrip("*")
        if decorated and rest and all(line.lstrip().startswith("*") for line in rest if line.strip()):
            text = re.sub(r"(?m)(?<=\n)(\s*)\*", r"\1 ", text)
        out += [_BLANK.sub(" ", sql[at:start]), text]
        at = end
    return "".join(out)


_BLANK = re.compile(r"[^\r\n]")
