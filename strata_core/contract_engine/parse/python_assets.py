"""Dagster assets in Python files, read and never run: the `contract` of their metadata is a fragment.

    @asset(key=["flights", "carrier_month"], metadata={"contract": {"product": "flights.punctuality", …}})
    def carrier_month(): …

also in `AssetSpec(key, metadata=…)` and `AssetOut(…)`. Only literals count: what has to be computed is told (E110).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...diagnostics import Diagnostic, Report, Severity, Span
from ..discover import Input
from ..documents import Document, Mark, Path
from ..tree import Tree
from ..yaml_text import decoded
from .contracts import fragment_of, too_large_beside
from .parsed import FragmentText, ParsedFile

_CALLS = frozenset({"asset", "AssetSpec", "AssetOut", "observable_source_asset", "SourceAsset"})


def parse_python(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The fragments of a Python file. E100 to E107 where it has any."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    if too_large_beside(one, "a Python file", report):
        return nothing
    content = tree.read(one.path)
    if b"contract" not in content or not any(name.encode() in content for name in _CALLS):
        return nothing
    text = decoded(one.path, content, report)
    if text is None:
        return nothing
    try:
        module = ast.parse(text, one.path)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(1, error.offset or 1)
        span = Span(one.path, line, column, line, column + 1)
        report(Diagnostic("E101", f"this is no Python: {error.msg}", span, fix="correct it: it is read, not run"))
        return nothing
    except (ValueError, RecursionError, MemoryError) as error:
        report(Diagnostic("E101", f"this Python cannot be read: {error}", Span(one.path, 1, 1, 1, 1)))
        return nothing
    lines = text.split("\n")
    fragments: list[FragmentText] = []
    for beside, node in _places(module):
        reader = _Literals(one.path, lines)
        try:
            data = reader.value(node, ())
        except _NotLiteralError as stop:
            message = "the contract of this asset is not written out: it would have to be run to be known"
            fix = "write it with literals alone, or in a `*.contract.yaml` beside this file"
            span = reader.span(stop.node)
            report(Diagnostic("E110", message, span, Severity.WARNING, fix=fix))
            continue
        document = Document(one.path, data, reader.values, reader.keys)
        fragment = fragment_of(document, beside, report)
        if fragment is not None:
            fragments.append(fragment)
    return ParsedFile(one.path, one.kind, one.digest, fragments=tuple(fragments))


def _places(module: ast.Module) -> Iterator[tuple[str | None, ast.expr]]:
    """The key of each asset whose metadata has a `contract`, and the expression of that."""
    decorated: dict[int, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                decorated[id(decorator)] = node.name
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or _called(node) not in _CALLS:
            continue
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        contract = _entry(keywords.get("metadata"), "contract")
        if contract is not None:
            given = keywords.get("key") or keywords.get("name") or (node.args[0] if node.args else None)
            key = _key(given) or decorated.get(id(node))
            prefix = _key(keywords.get("key_prefix"))
            yield (f"{prefix}/{key}" if prefix and key and "key" not in keywords else key), contract


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _entry(node: ast.expr | None, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Dict):
        return None
    pairs = zip(node.keys, node.values, strict=True)
    return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == name), None)


def _key(node: ast.expr | None) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            return "/".join(texts) if texts and len(texts) == len(parts) else None
        case ast.Call(args=[only]) if _called(node) == "AssetKey":
            return _key(only)
        case _:
            return None


class _NotLiteralError(Exception):
    def __init__(self, node: ast.expr) -> None:
        super().__init__()
        self.node = node


class _Literals:
    """The value of a literal, with places."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file, self.lines = file, lines
        self.values: dict[Path, Mark] = {}
        self.keys: dict[Path, Mark] = {}

    def value(self, node: ast.expr, path: Path) -> Any:
        self.values[path] = self.mark(node)
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str()):
                return node.value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.value(item, (*path, i)) for i, item in enumerate(items)]
            case ast.Dict():
                return self.mapping(node, path)
            case _:
                raise _NotLiteralError(node)

    def mapping(self, node: ast.Dict, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise _NotLiteralError(key or item)
            here = (*path, key.value)
            self.keys[here] = self.mark(key)
            found[key.value] = self.value(item, here)
        return found

    def mark(self, node: ast.expr) -> Mark:
        line, end_line = node.lineno, node.end_lineno or node.lineno
        return line, self._column(line, node.col_offset), end_line, self._column(end_line, node.end_col_offset or 0)

    def span(self, node: ast.expr) -> Span:
        return Span(self.file, *self.mark(node))

    def _column(self, line: int, offset: int) -> int:
        """From bytes of UTF-8, as `ast` counts, to characters from 1."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode("utf-8", "replace")) + 1
