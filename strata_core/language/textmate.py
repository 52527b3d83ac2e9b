"""A TextMate grammar for editors, made from the parser's own tables: the words, and the form of numbers and names.

What a word is for is asked of the parser (`word_classes`): a new statement or annotation is coloured without a line
here. TextMate sees one line at a time and no context, so a word that may be a name counts as a keyword only where no
`=`, `:`, `.` or bracket follows it; the language server's semantic tokens are exact.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..types import TYPE_NAMES
from .lalr import keywords_after
from .names import reserved_words
from .scanner import scan
from .tables import Tables, load_tables

SCOPE = "source.strata"
_PROBES = {
    "declaration": "",
    "statement": "model m { from t",
    "operator": "model m { from t select { b = a",
    "negation": "model m { from t filter",
    "annotation": "contract C { a: b",
}
"""The beginning of a program, behind which the words of a class are accepted; those of a class before are left out."""


def word_classes() -> dict[str, frozenset[str]]:
    """The keywords of the language by what they are for; `other` has the rest. Each stands in one class."""
    tables = load_tables()
    values = _words_after("model m { owner:", tables) & reserved_words()
    found = {"constant": values}
    for name, text in _PROBES.items():
        known = frozenset[str]().union(*found.values())
        found[name] = _words_after(text, tables) - known
    return {**found, "other": frozenset(tables.keywords).difference(*found.values())}


def _words_after(text: str, tables: Tables) -> frozenset[str]:
    """The keywords that can stand behind `text`, those left out that would only be names there."""
    return frozenset(keywords_after([token.kind for token in scan(text, tables)[:-1]], tables))


def textmate() -> str:
    """The grammar as JSON, for `strata grammar --format textmate`."""
    return json.dumps(_grammar(), indent=2, ensure_ascii=False) + "\n"


def _grammar() -> dict[str, Any]:
    tables, words = load_tables(), word_classes()
    name = f"(?:{_terminal('IDENT', tables)}|{_terminal('QUOTED', tables)})"
    soft = frozenset(tables.keywords) - reserved_words()
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Strata",
        "scopeName": SCOPE,
        "fileTypes": ["strata"],
        "comment": "Made by `strata grammar --format textmate`; do not edit.",
        "patterns": [{"include": f"#{part}"} for part in _ORDER],
        "repository": {
            "comments": {
                "patterns": [
                    _match("comment.line.double-slash", "//.*$"),
                    _match("comment.line.number-sign", "#.*$"),
                    {"name": "comment.block.strata", "begin": "/\\*", "end": "\\*/"},
                ]
            },
            "strings": {
                "name": "string.quoted.double.strata",
                "begin": '"',
                "end": '"',
                "patterns": [
                    _match("constant.character.escape", "\\\\."),
                    {
                        "name": "meta.interpolation.strata",
                        "begin": "\\$\\{",
                        "end": "\\}",
                        "contentName": "source.strata.embedded",
                    },
                ],
            },
            "declarations": {
                "patterns": [
                    {
                        "match": f"{_before(words['declaration'])}\\s+({name})",
                        "captures": {
                            "1": {"name": "keyword.control.declaration.strata"},
                            "2": {"name": "entity.name.type.strata"},
                        },
                    },
                    {
                        "match": f"(->)\\s*(contract)\\s+({name})",
                        "captures": {
                            "1": {"name": "keyword.operator.arrow.strata"},
                            "2": {"name": "keyword.control.declaration.strata"},
                            "3": {"name": "entity.name.type.strata"},
                        },
                    },
                ]
            },
            "quoted-names": _match("variable.other.quoted", _terminal("QUOTED", tables)),
            "numbers": {
                "patterns": [
                    _match("constant.numeric.duration", f"(?<![A-Za-z0-9_]){_terminal('DURATION', tables)}"),
                    _match("constant.numeric.float", f"(?<![A-Za-z0-9_]){_terminal('FLOAT', tables)}"),
                    _match("constant.numeric.integer", f"(?<![A-Za-z0-9_]){_terminal('INT', tables)}"),
                ]
            },
            "typed-names": {
                "match": f"({_terminal('IDENT', tables)})\\s*(:)(?!:)",
                "captures": {
                    "1": {"name": "variable.other.property.strata"},
                    "2": {"name": "punctuation.separator.strata"},
                },
            },
            "constants": _match("constant.language", _words(words["constant"])),
            "words": {
                "patterns": [
                    _match("keyword.control.declaration", _words(words["declaration"], soft)),
                    _match("keyword.control.statement", _words(words["statement"], soft)),
                    _match("keyword.operator.word", _words(words["operator"] | words["negation"], soft)),
                    _match("storage.modifier", _words(words["annotation"], soft)),
                    _match("keyword.other", _words(words["other"], soft)),
                ]
            },
            "types": _match("support.type", f"\\b(?:{'|'.join(TYPE_NAMES)})\\b(?!\\s*[=.:])"),
            "functions": _match("entity.name.function", f"{_terminal('IDENT', tables)}(?=\\s*\\()"),
            "operators": _match("keyword.operator", _symbols(tables)),
            "names": _match("variable.other", _terminal("IDENT", tables)),
        },
    }


_ORDER = (
    "comments",
    "strings",
    "quoted-names",
    "declarations",
    "typed-names",
    "numbers",
    "constants",
    "words",
    "types",
    "functions",
    "operators",
    "names",
)
_PUNCTUATION = frozenset("()[]{},;.:")


def _match(scope: str, pattern: str) -> dict[str, str]:
    return {"name": f"{scope}.strata", "match": pattern}


def _before(words: frozenset[str]) -> str:
    return f"\\b({'|'.join(sorted(words))})\\b"


def _words(words: frozenset[str], soft: frozenset[str] = frozenset()) -> str:
    """A pattern for `words`; those in `soft` are names where what follows says so, or a `.` before."""
    hard, maybe = sorted(words - soft), sorted(words & soft)
    parts = [f"\\b(?:{'|'.join(hard)})\\b"] if hard else []
    parts += [f"(?<![.`])\\b(?:{'|'.join(maybe)})\\b(?!\\s*(?:=|\\.|,|\\)|\\]))"] if maybe else []
    return "|".join(parts) or "(?!)"


def _symbols(tables: Tables) -> str:
    """A pattern for the operators, the longest first."""
    symbols = {s for s in tables.spelling if s and s not in tables.keywords and s not in _PUNCTUATION}
    return "|".join(re.escape(s) for s in sorted(symbols, key=lambda s: (-len(s), s)))


def _terminal(kind: str, tables: Tables) -> str:
    """The regular expression of a terminal, taken out of the scanner's."""
    head = f"(?P<k{tables.kinds.index(kind)}>"
    start = tables.pattern.index(head) + len(head)
    depth, at = 1, start
    in_class = False
    while depth:
        character = tables.pattern[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character in "()":
            depth += 1 if character == "(" else -1
        at += 1
    return tables.pattern[start : at - 1]
