"""What lark makes of grammar.lark: LALR(1) tables as plain numbers, for `tables.py` to load without it.

lark takes some tenths of a second for that. Run this module to write `tables.json`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .tables import END, GRAMMAR, SHIPPED, headed, made_from

START = "declaration"


def shipped_tables() -> bytes:
    """What `tables.json` holds for the grammar as it is."""
    grammar = GRAMMAR.read_bytes()
    return headed(make_tables(grammar.decode()), made_from(grammar))


def make_tables(grammar: str) -> bytes:
    """The tables of `grammar` in the shape of `tables.json`; raises its GrammarError on a conflict."""
    from lark import Lark
    from lark.grammar import NonTerminal
    from lark.lexer import PatternStr, TerminalDef
    from lark.parsers.lalr_analysis import Shift

    made = Lark(grammar, parser="lalr", lexer="basic", start=[START], maybe_placeholders=False)
    table = made.parser.parser._parse_table
    terminals = {t.name: t for t in made.terminals if t.name not in made.ignore_tokens}
    kinds = [*terminals, END]
    targets = sorted({rule.origin.name for rule in made.rules})
    number = {name: i for i, name in enumerate(kinds)} | {name: i for i, name in enumerate(targets)}
    ordered = sorted(made.rules, key=lambda rule: (rule.origin.name, [s.name for s in rule.expansion]))
    rules = {rule: i for i, rule in enumerate(ordered)}
    states = _numbered(table.start_states[START], table.states, Shift)

    def fixed(terminal: TerminalDef | None) -> str | None:
        return terminal.pattern.value if terminal and isinstance(terminal.pattern, PatternStr) else None

    def rule_row(rule: Any) -> list[Any]:
        keep, splice = [], []
        for position, symbol in enumerate(rule.expansion):
            if isinstance(symbol, NonTerminal):
                keep.append(position)
                splice.append(symbol.name.startswith("_"))
            elif rule.options.keep_all_tokens or not symbol.filter_out:
                keep.append(position)
                splice.append(False)
        action = rule.alias or rule.origin.name
        if action.startswith("_"):
            action = None
        elif rule.options.expand1 and not rule.alias and splice == [False]:
            action = ""
        return [number[rule.origin.name], len(rule.expansion), action, keep, splice]

    actions, gotos = [], []
    for state in states:
        row, goto = [], []
        for symbol, (kind, argument) in sorted(table.states[state].items(), key=lambda item: item[0]):
            if symbol in terminals or symbol == END:
                row += [number[symbol], states[argument] if kind is Shift else -1 - rules[argument]]
            else:
                goto += [number[symbol], states[argument]]
        same = set(row[1::2])
        only = same.pop() if len(same) == 1 else 0
        # A state that only reduces by one rule does so whatever follows; a wrong token is found one step later.
        actions.append(only if only < 0 else row)
        gotos.append(goto)

    word = made.get_terminal("IDENT").pattern
    patterns = sorted(made.terminals, key=lambda t: (-t.priority, fixed(t) is not None, -t.pattern.max_width, t.name))
    fullmatch = re.compile(word.to_regexp()).fullmatch
    keywords = {text: number[t.name] for t in patterns if (text := fixed(t)) and fullmatch(text)}
    skipped = "|".join(t.pattern.to_regexp() for t in patterns if t.name in made.ignore_tokens)
    groups = [f"(?P<_>(?:{skipped})+)"]
    groups += [
        f"(?P<k{number[t.name]}>{t.pattern.to_regexp()})"
        for t in patterns
        if t.name in terminals and fixed(t) not in keywords
    ]
    tables = {
        "kinds": kinds,
        "spelling": [fixed(terminals.get(name)) for name in kinds],
        "keywords": keywords,
        "pattern": "|".join(groups),
        "actions": actions,
        "gotos": gotos,
        "rules": [rule_row(rule) for rule in ordered],
        "start": states[table.start_states[START]],
        "end": states[table.end_states[START]],
    }
    return json.dumps(tables, separators=(",", ":")).encode()


def _numbered(start: int, states: dict[int, dict[str, Any]], shift: Any) -> dict[int, int]:
    """New numbers for lark's states, in the order in which they are reached: lark's own differ from run to run."""
    numbers = {start: 0}
    pending = [start]
    for state in pending:
        for _, (kind, target) in sorted(states[state].items(), key=lambda item: item[0]):
            if kind is shift and target not in numbers:
                numbers[target] = len(numbers)
                pending.append(target)
    return numbers


if __name__ == "__main__":
    SHIPPED.write_bytes(shipped_tables())
