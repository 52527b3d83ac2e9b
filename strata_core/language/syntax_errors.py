"""What is said about a syntax error: what was found, what would be accepted, and a fix where one is near.

Works from the states of the parser at the error; runs only when there is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import get_args

from ..diagnostics import Diagnostic, Related
from ..diagnostics.diagnostic import Edit, Suggestion, replacement
from ..diagnostics.suggest import nearest
from ..frozen import dataclass
from . import ast
from .clauses import clause_at, form_of
from .field_fixes import FIELD_FIXES
from .found import Found, first_fix
from .habits import BEGINNING, JINJA, advice, beginning
from .lalr import accepted
from .scanner import CLOSING, Lines, Problem, Token
from .syntax_fixes import OPERATORS, SYNTAX_FIXES
from .tables import Tables


# What readers call a set of tokens: where all of `needs` are accepted, `covers` is said in one phrase.
@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    needs: frozenset[str]
    covers: frozenset[str]


def _phrase(text: str, needs: str, covers: str = "") -> _Phrase:
    return _Phrase(text, frozenset(needs.split()), frozenset(f"{needs} {covers}".split()))


_PHRASES = (
    _phrase(
        "a declaration (`source`, `contract`, `model`, …)",
        "source contract model",
        "domain pipeline import test fn extern IDENT QUOTED",
    ),
    _phrase("an expression", "IDENT INT (", "QUOTED FLOAT STRING - [ not true false none null"),
    _phrase("an operator", "+ * ==", "- || / % != < <= > >= like rlike in is and or ( . over"),
    _phrase(
        "a statement (`from`, `filter`, `select`, …)",
        "from filter select",
        "where let derive group aggregate sort take union intersect except dedup expand freshness partition_by "
        "incremental join_inner join_left join_full join_semi join_anti join_cross join_asof join_asof_inner",
    ),
    _phrase("a join condition (`on …`)", "on"),
    _phrase(
        "an annotation (`nonnull`, `primary_key`, …)",
        "nonnull unique",
        "primary_key protected partition_by enum classification mask freshness ( <",
    ),
    _phrase("a value", "IDENT STRING INT", "QUOTED FLOAT true false none null DURATION"),
    # An attribute may be called as a setting of `incremental` is.
    _phrase("a name", "IDENT", "QUOTED strategy key cursor append upsert replace"),
)
_KIND_WORDS = {
    "IDENT": "a name",
    "QUOTED": "a quoted name",
    "INT": "a whole number",
    "FLOAT": "a number",
    "STRING": "a string",
    "DURATION": "a duration such as `1d`",
    "$END": "the end of the file",
}
_MOST_PHRASES = 5
_NEAR = 8
"""Tokens on each side of an error among which a habit is looked for."""
_BEHIND_NAMES = OPERATORS | {":", "=", ",", "}", ")", "]", "{", "as", "on", "asc", "desc"}
"""Tokens that follow a word of the language where it was meant as a name."""


def syntax_error(tokens: Sequence[Token], after: Token, at: int, lines: Lines, tables: Tables) -> Diagnostic:
    """The E001 for the parser's failure at `tokens[at]`, or at their end, before the token `after`.

    `tokens` are those of one declaration.
    """
    if at == 1 and tables.kinds[tokens[0].kind] in ("IDENT", "QUOTED"):
        at = 0  # a word that begins no declaration, and is no call that generates models either
    kinds = [token.kind for token in tokens[:at]]
    expected = accepted(kinds, tables)
    token = tokens[at] if at < len(tokens) else after
    before = tokens[at - 1] if at else None
    near = max(0, at - _NEAR)
    # A field of that name is a field, however people ask for distinct rows elsewhere.
    field = token.text in tables.keywords and at + 1 < len(tokens) and tokens[at + 1].text == ":"
    habit = beginning(token.text) if at == 0 else None
    if at == 0 and token.text == "from" and (module := "".join(_until("import", tokens[1:]))):
        habit = f"a module is imported whole: `import {module}`"
    if habit is None and not field:
        habit = advice([t.text for t in (*tokens[near : at + _NEAR], after)], at - near, expected)
    if habit is None and before is not None and (word := _misspelled(before, accepted(kinds[:-1], tables), tables)):
        span = lines.span(before.start, before.end)
        change = replacement(span, word)
        message = f"unknown word `{before.text}`"
        return Diagnostic("E001", message, span, fix=f"did you mean `{word}`?", suggestions=(change,))
    fix, text = (habit, None) if habit else _fix(tokens, at, token, expected, tables)
    place = lines.span(token.start, token.end)
    changes: tuple[Suggestion, ...] = () if text is None else (replacement(place, text),)
    related: tuple[Related, ...] = ()
    if at == len(tokens) and (bracket := _unclosed(tokens, tables)):
        closer = CLOSING[bracket.text]
        fix = f"add `{closer}`"
        related = (Related(lines.span(bracket.start, bracket.end), f"this `{bracket.text}` is not closed"),)
        end = lines.span(tokens[-1].end, tokens[-1].end)
        changes = (Suggestion(fix, (Edit(end, f"\n{closer}" if closer == "}" else closer),)),)
    return Diagnostic(
        "E001",
        f"expected {_either(_phrases(expected, tables))}, found {_found(token, tables)}",
        place,
        label="unexpected",
        fix=fix,
        related=(*related, *_long_string(tokens[: at + 1], lines)),
        suggestions=changes,
    )


def _until(word: str, tokens: Sequence[Token]) -> list[str]:
    """The texts of the tokens before `word`; none where it does not follow."""
    texts = [token.text for token in tokens]
    return texts[: texts.index(word)] if word in texts else []


def lexical_error(tokens: Sequence[Token], at: int, lines: Lines) -> Diagnostic:
    """The E001 for `tokens[at]`, which is no token."""
    token = tokens[at]
    problem = token.problem or Problem(f"unexpected `{token.text}`")
    fix = problem.fix
    texts = [t.text for t in tokens[:at]]
    if ("{", "{") in itertools.pairwise(texts):
        fix = JINJA
    span = lines.span(token.start, token.end)
    related = _long_string(tokens[:at], lines)
    changes = () if problem.instead is None else (replacement(span, problem.instead),)
    return Diagnostic("E001", problem.message, span, label=problem.label, fix=fix, related=related, suggestions=changes)


def broken(tokens: Sequence[Token], lines: Lines, tables: Tables) -> ast.Broken | None:
    """The broken declaration by its name, if its first tokens tell one."""
    if len(tokens) < 2 or tables.kinds[tokens[1].kind] not in ("IDENT", "QUOTED", "STRING"):
        return None
    words: tuple[ast.DeclarationWord, ...] = get_args(ast.DeclarationWord)
    first, name = tokens[0], tokens[1]
    word = next((w for w in words if w in (first.text, nearest(first.text, words))), None)
    if word is None:
        return None
    text = name.text if tables.kinds[name.kind] == "IDENT" else name.text[1:-1]
    span = lines.span(first.start, tokens[-1].end)
    return ast.Broken(word, ast.Name(text, lines.span(name.start, name.end)), span)


def _phrases(expected: set[str], tables: Tables) -> list[str]:
    """`expected` in the words of readers: what closes or separates first, then what is open to many."""
    left, said = expected - names_only(expected, tables), []
    for phrase in _PHRASES:
        if phrase.needs <= left:
            said.append(phrase.text)
            left -= phrase.covers
    return [_KIND_WORDS.get(kind, f"`{kind}`") for kind in sorted(left)] + said


def names_only(expected: set[str], tables: Tables) -> set[str]:
    """The soft keywords that would only be names here."""
    domain, word, equals = tables.keywords["domain"], tables.kinds.index("IDENT"), tables.spelling.index("=")
    plain = accepted([domain, word, equals], tables)
    annotation_words = accepted([domain], tables) - plain
    if not plain <= expected:
        return set()
    # Where a field may end, the word of an annotation is one.
    words = plain if "," in expected else plain | annotation_words
    return words & tables.keywords.keys()


def _either(phrases: list[str]) -> str:
    shown = phrases if len(phrases) <= _MOST_PHRASES else [*phrases[:_MOST_PHRASES], "…"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _found(token: Token, tables: Tables) -> str:
    match tables.kinds[token.kind]:
        case "$END":
            return "the end of the file"
        case "STRING":
            return "a string"
        case "QUOTED":
            return f"the name {token.text}"
        case _:
            return f"`{token.text if len(token.text) <= 40 else token.text[:37] + '…'}`"


def _misspelled(word: Token, expected: set[str], tables: Tables) -> str | None:
    if tables.kinds[word.kind] != "IDENT":
        return None
    return nearest(word.text, (expected & tables.keywords.keys()) - names_only(expected, tables))


def _fix(
    tokens: Sequence[Token], at: int, token: Token, expected: set[str], tables: Tables
) -> tuple[str | None, str | None]:
    """What helps, in words, and the text that stands right in the place of `token`."""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    run = tuple(t.text for t in tokens[max(0, at - 3) : at])
    word = tokens[0].text if tokens else ""
    clause = clause_at([t.text for t in tokens[:at]])
    found = Found(run[-1] if run else "", token.text, after, expected, word, clause, run)
    if fix := first_fix((*FIELD_FIXES, *SYNTAX_FIXES), found):
        return fix
    if meant := _misspelled(token, expected, tables):
        return f"did you mean `{meant}`?", meant
    if "," in expected and _is_operand(token, tables) and at and _is_operand(tokens[at - 1], tables):
        return "separate two entries by a comma", None
    if "IDENT" in expected and token.text in tables.keywords and after in _BEHIND_NAMES:
        return f"`{token.text}` is a reserved word; as a name it is written in backquotes", f"`{token.text}`"
    return form_of(clause) or BEGINNING, None


def _is_operand(token: Token, tables: Tables) -> bool:
    return tables.kinds[token.kind] in ("IDENT", "QUOTED", "INT", "FLOAT", "STRING")


def _long_string(tokens: Sequence[Token], lines: Lines) -> tuple[Related, ...]:
    """The last string over several lines: a quote that is missing there turns what follows inside out."""
    for token in reversed(tokens):
        if token.text.startswith('"') and "\n" in token.text:
            quote = lines.span(token.start, token.start + 1)
            return (Related(quote, "this string goes over several lines; is a quote missing here?"),)
    return ()


def _unclosed(tokens: Sequence[Token], tables: Tables) -> Token | None:
    stack: list[Token] = []
    for token in tokens:
        spelling = tables.spelling[token.kind]
        if spelling in CLOSING:
            stack.append(token)
        elif spelling in CLOSING.values() and stack:
            stack.pop()
    return stack[-1] if stack else None
