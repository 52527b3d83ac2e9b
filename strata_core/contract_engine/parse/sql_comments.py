"""A `-- contract:` block in the comments at the head of a SQL file: a fragment at the table that the file makes.

    -- contract:
    --   product: flights.punctuality
    --   columns:
    --     - {name: carrier, description: IATA code}
    select …

The comment signs are blanked, so that what is left is YAML whose places are those of the file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ...diagnostics import Report, Span
from ..discover import Input
from ..documents import Document
from ..tree import Tree
from ..yaml_text import MOST_BYTES, decoded, read_yaml_text
from .contracts import fragment_of
from .parsed import GeneratedAsset, GeneratedColumn, ParsedFile

_BEGIN = re.compile(r"\s*--\s*contract:\s*(#.*)?$")
_LINE = re.compile(r"(\s*)--(.*)$")


def parse_sql(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The fragment at the head of a SQL file. E100 to E107 where it has one."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    if one.size > MOST_BYTES:
        return nothing
    content = tree.read(one.path)
    if b"contract:" not in content:
        return nothing
    text = decoded(one.path, content, report)
    block = None if text is None else comment_block(text)
    document = None if block is None else read_yaml_text(one.path, block, report)
    inner = None if document is None else _inside(document)
    if inner is None:
        return nothing
    beside = posixpath.basename(one.path).removesuffix(".sql")
    fragment = fragment_of(inner, beside, report)
    known = () if text is None else tuple(query_facts(text, one.path, beside))
    return ParsedFile(one.path, one.kind, one.digest, fragments=(fragment,) if fragment else (), generated=known)


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
    ctes = {cte.alias for cte in query.find_all(exp.CTE)}
    read = sorted({".".join(p.name for p in t.parts) for t in query.find_all(exp.Table) if t.name})
    names = query.named_selects
    complete = bool(names) and all(names) and "*" not in names
    span = Span(path, 1, 1, 1, 1)
    columns = tuple(GeneratedColumn(n) for n in names if n and n != "*") if len(set(names)) == len(names) else ()
    upstream = tuple(t for t in read if t not in ctes)
    yield GeneratedAsset("sql", (name, path), columns, upstream, span, complete=complete and bool(columns))


def comment_block(sql: str) -> str | None:
    """The YAML in the leading comments of `sql`, line by line where it stands; None where there is none.

    >>> comment_block("-- about\\n-- contract:\\n--   product: a.b\\nselect 1")
    '\\n   contract:\\n     product: a.b'
    """
    lines: list[str] = []
    begun = False
    for line in sql.split("\n"):
        line = line.removesuffix("\r")
        comment = _LINE.match(line)
        if comment is None and (begun or line.strip()):
            break
        begun = begun or _BEGIN.match(line) is not None
        lines.append(f"{comment[1]}  {comment[2]}" if begun and comment else "")
    return "\n".join(lines) if begun else None


def _inside(document: Document) -> Document | None:
    """What stands below `contract`."""
    if not isinstance(document.data, dict) or "contract" not in document.data:
        return None
    values = {path[1:]: mark for path, mark in document.values.items() if path[:1] == ("contract",)}
    keys = {path[1:]: mark for path, mark in document.keys.items() if path[:1] == ("contract",) and path[1:]}
    written = {path[1:]: text for path, text in document.written.items() if path[:1] == ("contract",)}
    return Document(document.file, document.data["contract"], values, keys, written)
