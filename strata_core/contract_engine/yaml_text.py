"""YAML with the place of every key and value: PyYAML's C composer and a walk over its nodes.

Scalars are read by the core schema of YAML 1.2, so that `no` is a text and a version is not a number; duplicate keys,
aliases that expand without end, deep nesting, size and encoding are findings with a place, never an exception.
Contracts are small: what lies beyond the bounds is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

import yaml

from ..diagnostics import Diagnostic, Related, Report, Span
from .documents import Document, Mark, Path

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 200_000
DEEPEST = 64
_MOST_DIGITS = 400


class _CoreLoader(yaml.CSafeLoader):
    """The C composer with the tags of the YAML 1.2 core schema."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


_NULL, _BOOL, _INT, _FLOAT = (f"tag:yaml.org,2002:{word}" for word in ("null", "bool", "int", "float"))
_STR, _BINARY = "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary"
for _tag, _pattern, _first in (
    (_NULL, r"~|null|Null|NULL|", [*"~nN", ""]),
    (_BOOL, r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    (_INT, r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    (
        _FLOAT,
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        [*"-+.0123456789"],
    ),
):
    _CoreLoader.add_implicit_resolver(_tag, re.compile(rf"^(?:{_pattern})$"), _first)

_READ: dict[str, Callable[[str], Any]] = {
    _NULL: lambda text: None,
    _BOOL: lambda text: text.lower() == "true",
    _INT: lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text),
    _FLOAT: lambda text: float(re.sub(r"\.(?=[iInN])", "", text)),
}


def read_yaml(file: str, content: bytes, report: Report) -> Document | None:
    """The document of a file; None where it is empty or cannot be read at all.

    E100 (size, encoding), E101 (form), E102 (duplicate keys), E103 (aliases, depth).
    """
    text = decoded(file, content, report)
    return None if text is None else read_yaml_text(file, text, report)


def decoded(file: str, content: bytes, report: Report) -> str | None:
    """The text of a file that must be small and UTF-8; None, and E100, where it is not."""
    if len(content) > MOST_BYTES:
        message = f"the file has {len(content):,} bytes; more than {MOST_BYTES:,} are not read"
        report(Diagnostic("E100", message, Span(file, 1, 1, 1, 1), fix="split it; data has no place in a contract"))
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        message = f"byte {error.start} (0x{content[error.start]:02x}) is no UTF-8"
        report(Diagnostic("E100", message, Span(file, line, column, line, column + 1), fix="save the file as UTF-8"))
        return None


def read_yaml_text(file: str, text: str, report: Report) -> Document | None:
    """As `read_yaml`, of text."""
    node = composed(file, text, report)
    return None if node is None else document_of(file, node, report)


def composed(file: str, text: str, report: Report) -> yaml.Node | None:
    """The nodes of a text; None where it is empty or, with E101, not well-formed."""
    loader = _CoreLoader(text)
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        report(_malformed(file, text, error))
        return None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1
        message = f"the character U+{_code_point(error.character):04X} has no place in YAML"
        report(Diagnostic("E101", message, Span(file, line, column, line, column + 1), fix="remove it, or escape it"))
        return None
    except yaml.YAMLError as error:
        report(Diagnostic("E101", f"this is no YAML: {error}", Span(file, 1, 1, 1, 1)))
        return None
    finally:
        loader.dispose()
    return node


def document_of(file: str, node: yaml.Node, report: Report) -> Document | None:
    """The values below `node`, whose path is empty; None, and E103, where they have no end."""
    walk = _Walk(file, report)
    try:
        data = walk.value(node, (), 0)
    except _TooMuchError as stop:
        report(Diagnostic("E103", str(stop), _span(file, stop.node), fix="write the values out, without aliases"))
        return None
    return Document(file, data, walk.values, walk.keys, walk.written)


def _code_point(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


class _TooMuchError(Exception):
    def __init__(self, node: yaml.Node, message: str) -> None:
        super().__init__(message)
        self.node = node


class _Walk:
    """Nodes become values; places and findings are gathered on the way."""

    def __init__(self, file: str, report: Report) -> None:
        self.file, self.report = file, report
        self.values: dict[Path, Mark] = {}
        self.keys: dict[Path, Mark] = {}
        self.written: dict[Path, str] = {}

    def value(self, node: yaml.Node, path: Path, depth: int) -> Any:
        if depth > DEEPEST:
            raise _TooMuchError(node, f"values nest deeper than {DEEPEST}, or an alias holds itself")
        if len(self.values) > MOST_VALUES:
            raise _TooMuchError(node, f"there are more than {MOST_VALUES:,} values, aliases written out")
        self.values[path] = _mark(node)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, i), depth + 1) for i, item in enumerate(node.value)]
        return self.scalar(node, path)

    def mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, yaml.Node] = {}
        for key, item in self.rejoined(node) if node.flow_style else node.value:
            if not isinstance(key, yaml.ScalarNode):
                message = "a field name is a text, not a list or a mapping"
                self.report(Diagnostic("E101", message, _span(self.file, key)))
                continue
            name = key.value
            here = (*path, name)
            if name in first:
                related = (Related(_span(self.file, first[name]), "first given here"),)
                fix = "keep one of the two"
                message = f"the field `{name}` is given twice"
                self.report(Diagnostic("E102", message, _span(self.file, key), fix=fix, related=related))
                continue
            first[name] = key
            self.keys[here] = _mark(key)
            found[name] = self.value(item, here, depth + 1)
        return found

    def rejoined(self, node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
        """The fields of a mapping in braces, a value that its own comma cut in two as one again: E101."""
        pairs, found = list(node.value), []
        while pairs:
            key, item = pairs.pop(0)
            parts = [item.value] if isinstance(item, yaml.ScalarNode) and not item.style else []
            count = 0
            while parts and _open(",".join(parts)) and count < len(pairs) and _is_bare(*pairs[count]):
                parts.append(pairs[count][0].value)
                count += 1
            if count and not _open(",".join(parts)):
                whole = ",".join(parts)
                message = f"the comma ends the value: this is `{parts[0]}`, and a field `{parts[1]}`"
                self.report(Diagnostic("E101", message, _span(self.file, item), fix=f'put it in quotes: `"{whole}"`'))
                item = yaml.ScalarNode(_STR, whole, item.start_mark, pairs[count - 1][0].end_mark)
                del pairs[:count]
            found.append((key, item))
        return found

    def scalar(self, node: yaml.Node, path: Path) -> Any:
        read = _READ.get(node.tag)
        if read is None:
            if node.tag not in (_STR, "!"):
                fix = "write a plain text, number, boolean, list or mapping"
                message = f"the tag `{node.tag}` is not known here"
                self.report(Diagnostic("E101", message, _span(self.file, node), fix=fix))
            return str(node.value)
        if len(node.value) > _MOST_DIGITS:
            return str(node.value)
        try:
            value = read(node.value)
            if isinstance(value, float) and not isfinite(value):
                raise ValueError
            if str(value) != node.value and value is not None:
                self.written[path] = node.value
            return value
        except ValueError:
            message = f"`{node.value}` is no number that a contract can hold"
            fix = "put it in quotes, if it is meant as a text"
            self.report(Diagnostic("E105", message, _span(self.file, node), fix=fix))
            return None


def _open(text: str) -> bool:
    """Whether a bracket is open at the end of `text`."""
    return text.count("(") > text.count(")") or text.count("<") > text.count(">")


def _is_bare(key: yaml.Node, item: yaml.Node) -> bool:
    """Whether a field is a word without anything behind it."""
    plain = isinstance(key, yaml.ScalarNode) and not key.style
    return plain and isinstance(item, yaml.ScalarNode) and item.value == "" and not item.style


def _mark(node: yaml.Node) -> Mark:
    start, end = node.start_mark, node.end_mark
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        # The end of a block is the start of what follows it: it is shown by its first line.
        first, *rest = node.value[0] if isinstance(node, yaml.MappingNode) else (node.value[0],)
        # What an alias stands for lies elsewhere, before it.
        here = [n for n in (first, *rest) if n.start_mark.index >= start.index and n.end_mark.line == start.line]
        end = here[-1].end_mark if here else start
    return start.line + 1, start.column + 1, end.line + 1, end.column + 1


def _span(file: str, node: yaml.Node) -> Span:
    return Span(file, *_mark(node))


_HINTS = (
    ("cannot start any token", "\t", "indent with spaces: YAML takes no tabs there"),
    ("tab character", "", "indent with spaces: YAML takes no tabs there"),
    ("mapping values are not allowed", "", "a `:` with a space behind it belongs in quotes; or the line is indented"),
    (
        "expected '-' indicator",
        "",
        "indent the items of one list equally far, and the fields of an item below its first",
    ),
    ("expected <block end>", "", "indent the fields of one mapping, and the items of one list, equally far"),
    ("could not find expected ':'", "", "a field is written `name: value`, with a space behind the colon"),
    ("found undefined alias", "", "write `&name` at the value that `*name` stands for, before it"),
    ("unexpected end of stream", "", "close the quote"),
    ("exceeded max", "", "nest less deep"),
)


_NO_FIELDS = "what stands before it is a whole value: write a mapping, each line as `name: value`"


def _malformed(file: str, text: str, error: yaml.MarkedYAMLError) -> Diagnostic:
    if "expected a single document" in (error.context or ""):
        return _second(file, text, error)
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = text.split("\n")
    if line > len(lines):  # libyaml counts a line behind the end
        line, column = len(lines), len(lines[-1]) + 1
    shown = lines[line - 1] if line <= len(lines) else ""
    told = " ".join(p for p in (error.context, error.problem) if p)
    character = shown[column - 1 : column]
    fix = next((hint for words, c, hint in _HINTS if words in told and (not c or c == character)), None)
    if "expected <document start>" in told:
        ended = any(text.strip() == "..." for text in lines[: line - 1])
        fix = "the `...` before it ends the document: remove it, or what follows" if ended else _NO_FIELDS
    if "\t" in shown[: column or 1] and shown.strip():
        tab = shown.index("\t") + 1
        if not shown[: tab - 1].strip():
            line, column, fix = line, tab, "indent with spaces: YAML takes no tabs there"
    related: tuple[Related, ...] = ()
    if error.context_mark and mark and error.context_mark.line != mark.line:
        begun = error.context_mark
        at = Span(file, begun.line + 1, begun.column + 1, begun.line + 1, begun.column + 2)
        related = (Related(at, error.context or "begun here"),)
    return Diagnostic(
        "E101",
        f"this is not well-formed YAML: {error.problem or error.context}",
        Span(file, line, column, line, column + 1),
        fix=fix,
        related=related,
    )


def _second(file: str, text: str, error: yaml.MarkedYAMLError) -> Diagnostic:
    """A file with a second document, at the `---` that begins it."""
    first, begun = error.context_mark, error.problem_mark
    line = begun.line + 1 if begun else 1
    shown = text.split("\n")[line - 1]
    message = "a second YAML document begins here: a file holds one, and nothing of this file is read"
    fix = "move what follows the `---` into a file of its own; where both belong together, remove the `---`"
    related: tuple[Related, ...] = ()
    if first is not None:
        at = Span(file, first.line + 1, first.column + 1, first.line + 1, first.column + 2)
        related = (Related(at, "the first one begins here"),)
    span = Span(file, line, 1, line, 1 + max(1, len(shown.rstrip())))
    return Diagnostic("E101", message, span, fix=fix, related=related)
