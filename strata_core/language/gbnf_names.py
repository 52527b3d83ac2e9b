"""The grammar with names that exist: a table, column, contract or function that does not can then not be written.

Two steps: `with_places` marks in the text of grammar.lark where a name refers to something, `restricted` puts the
names of a `Vocabulary` there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..frozen import dataclass
from .gbnf_source import IN_WORD, OTHER, Grammar, Terminal
from .gbnf_tokens import identifiers, literal
from .names import can_be_written


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that exist: `tables` with the columns of each, and `columns` that are in no table (those of `let`).

    `generators` are the project's compile-time functions, as far as a module may call them; `functions` has them too.
    `words` are what the functions in `word_functions` take beside expressions (`date_trunc(placed, day)`).
    """

    tables: Mapping[str, tuple[str, ...]]
    columns: frozenset[str] = frozenset()
    contracts: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    generators: frozenset[str] = frozenset()
    word_functions: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


# The rules of grammar.lark in which a `name` (or a `_label`, a name or text) refers to something, and to what.
PLACES = {
    "_chosen": "table",
    "test": "table",
    "given": "table",
    "header": "column",
    "from": "table",
    "join": "table",
    "cross_join": "table",
    "asof_join": "table",
    "set_operation": "table",
    "override": "table",
    "conforms": "contract",
    "except": "column",
    "freshness_column": "column",
    "_names": "column",
    "cursor": "column",
    "cdc_column": "column",
    "call": "function",
    "value_call": "function",
    "generated": "generator",
}
# Rules that are replaced altogether.
REPLACED = {
    "other_table": "existing_table",
    "generator_name": "existing_generator",
    "column": "existing_column | qualified_column",
}
_WORD_CALL = """\
    | existing_word_function "(" (_word_argument ("," _word_argument)* ","?)? ")"
_word_argument: _argument | existing_word
"""


def with_places(source: str) -> str:
    """The grammar with `existing_…` in place of `name` where a rule of `PLACES` says so."""
    for rule, kind in PLACES.items():
        start, end = _extent(source, rule)
        source = source[:start] + re.sub(r"\b(name|_label)\b", f"existing_{kind}", source[start:end]) + source[end:]
    for rule, body in REPLACED.items():
        start, end = _extent(source, rule)
        source = f"{source[:start]}{rule}: {body}\n{source[end:]}"
    _, end = _extent(source, "call")
    source = source[:end] + _WORD_CALL + source[end:]
    kinds = {*(f"existing_{kind}" for kind in PLACES.values()), "existing_word_function", "existing_word"}
    return source + "".join(f'{kind}: "\\x01{kind}"\n' for kind in sorted(kinds | {"qualified_column"}))


def _extent(source: str, rule: str) -> tuple[int, int]:
    """Where the definition of `rule` begins and ends."""
    found = re.search(rf"^[!?]*{rule}:.*\n(?:[ \t]+\S.*\n)*", source, re.MULTILINE)
    assert found is not None, f"grammar.lark has no rule {rule}"
    return found.span()


def restricted(grammar: Grammar, vocabulary: Vocabulary) -> Grammar:
    """`grammar`, made of a source `with_places`, with the names of `vocabulary`."""
    productions, terminals, rules = dict(grammar.productions), dict(grammar.terminals), dict(grammar.rules)
    words = {terminals[t].text: t for t in _derived("name", productions) if terminals[t].text.startswith('"')}

    def one_of(rule: str, names: frozenset[str]) -> list[tuple[str, ...]]:
        """Terminals for `names`: those that can be written bare, and those in backquotes."""
        bare = sorted(n for n in names if _is_bare(n) and (n not in grammar.reserved or literal(n) in words))
        quoted = sorted(f"`{n}`" for n in names - set(bare) if can_be_written(n))
        found: list[tuple[str, ...]] = []
        for name, texts, ends in ((rule, bare, IN_WORD), (f"{rule}-quoted", quoted, OTHER)):
            if texts:
                rules[name] = " | ".join(map(literal, texts))
                terminals[name] = Terminal(name, ends == IN_WORD, None if ends == IN_WORD else name, ends)
                found.append((name,))
        return found

    tables = vocabulary.tables
    any_column = one_of("existing-column", vocabulary.columns.union(*tables.values()))
    productions |= {
        "existing_column": any_column,
        "existing_table": one_of("existing-table", frozenset(tables)),
        "existing_contract": one_of("existing-contract", vocabulary.contracts),
        "existing_function": one_of("existing-function", vocabulary.functions),
        "existing_generator": one_of("existing-generator", vocabulary.generators),
        "existing_word_function": one_of("existing-word-function", vocabulary.word_functions),
        "existing_word": one_of("existing-word", vocabulary.words),
    }
    # Behind the name of a table stand its columns; behind any other, which must be an alias, those of all tables.
    rules |= identifiers("existing-alias", grammar.reserved | set(filter(_is_bare, tables)))
    terminals["existing-alias"] = Terminal("existing-alias", True, None, IN_WORD)
    aliases = ["existing-alias", *(terminal for text, terminal in words.items() if text[1:-1] not in tables)]
    dot = next(name for name, terminal in terminals.items() if terminal.text == literal("."))
    qualified = [(alias, dot, *column) for alias in aliases for column in any_column]
    for number, table in enumerate(sorted(tables), 1):
        own = one_of(f"column-of-{number}", frozenset(tables[table]))
        qualified += [(*name, dot, *column) for name in one_of(f"table-{number}", frozenset({table})) for column in own]
    productions["qualified_column"] = qualified
    return Grammar(productions, terminals, rules, grammar.reserved)


def _derived(name: str, productions: Mapping[str, list[tuple[str, ...]]]) -> list[str]:
    """The terminals that `name` comes to."""
    found = [name]
    for symbol in found:
        found += [s for alternative in productions.get(symbol, ()) for s in alternative if s not in found]
    return [symbol for symbol in found if symbol not in productions]


def _is_bare(name: str) -> bool:
    return name.isascii() and name.isidentifier()
