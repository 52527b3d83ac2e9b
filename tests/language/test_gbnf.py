"""Seed 0 §7: the GBNF of the grammar, in real libraries for constrained decoding.

Both directions: what is sampled under the GBNF parses, and what parses the matcher lets through.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args

import pytest
from lark import Lark
from lark.exceptions import LarkError
from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import gbnf_to_lark
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from strata_core.language import ast
from strata_core.language.ast.parts import children
from strata_core.language.gbnf import gbnf
from strata_core.language.gbnf_names import PLACES, REPLACED, Vocabulary
from strata_core.language.lalr import accepted
from strata_core.language.parser import parse_module
from strata_core.language.scanner import scan
from strata_core.language.tables import GRAMMAR, load_tables

from .llama import Stacks

ROOT = Path(__file__).parents[2]
MODULES = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("models/*.strata"))]
PAGES = "\n".join(path.read_text(encoding="utf-8") for path in [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"])
EXAMPLES = re.findall(r"```strata\n(.*?)```", PAGES, re.DOTALL)
# What the tests of the language write between quotes: bodies of models, whole programs, and much that is neither.
QUOTED = [
    found[1:-1].replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
    for path in sorted((ROOT / "tests" / "language").glob("test_[!g]*.py"))
    for found in re.findall(r'"[^"\\\n]*(?:\\[ntr][^"\\\n]*)*"', path.read_text(encoding="utf-8"))
]
QUOTED += [
    found
    for path in sorted((ROOT / "tests").glob("*/*.py"))
    for found in re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)
]
STATEMENTS = {kind.__name__ for kind in get_args(ast.Statement)}
DECLARATIONS = {kind.__name__ for kind in get_args(ast.Declaration)} - {"Broken"}


class Decoder:
    """llguidance with a byte-pair tokenizer that is trained on the programs here."""

    def __init__(self, tokenizer: Tokenizer, grammar: str) -> None:
        self.tokenizer = tokenizer
        self.end = tokenizer.token_to_id("<end>")
        self.engine = LLTokenizer(tokenizer.to_str(), eos_token=self.end)
        self.grammar = LLMatcher.grammar_from_lark(gbnf_to_lark(grammar))
        assert LLMatcher.validate_grammar(self.grammar, self.engine) == ""
        self.fresh = LLMatcher(self.engine, self.grammar, log_level=0)

    def accepts(self, text: str) -> bool:
        """Whether the grammar lets `text` through, token by token, and lets it end there."""
        matcher = self.fresh.deep_copy()
        tokens = self.engine.tokenize_str(text)
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def train() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([*MODULES, *EXAMPLES], trainer)
    tokenizer.add_tokens([*load_tables().keywords])
    return tokenizer


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return Decoder(train(), gbnf())


@pytest.fixture(scope="module")
def lark() -> Lark:
    """lark's own parser of the same grammar: it knows nothing of our scanner and our tables."""
    return Lark(GRAMMAR.read_text(), parser="lalr", lexer="basic", start="module", maybe_placeholders=False)


def parses(lark: Lark, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    return "\0" not in text


# --- the text itself


RULE = re.compile(r"([^\s:]+)\s+::= (.*)")
PART = re.compile(
    r"""(?P<literal>"(?:[^"\\]|\\.)*")|(?P<class>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-zA-Z0-9-]+)|(?P<sign>[()|?*+])|\s+"""
)


def rules(text: str) -> dict[str, list[tuple[str, str]]]:
    """Each rule's parts; fails on what is no GBNF."""
    found = {}
    for line in text.splitlines():
        name, body = RULE.fullmatch(line).groups()
        assert name not in found
        parts = list(PART.finditer(body))
        assert "".join(match.group() for match in parts) == body
        found[name] = [(match.lastgroup, match.group()) for match in parts if match.lastgroup]
    return found


def alternatives(parts: list[tuple[str, str]]) -> list[list]:
    """The parts as nested alternatives: a way is a list of `(unit, may be left out)`, a unit a part or such a list."""
    stack = [[[]]]
    for kind, text in parts:
        match kind, text:
            case "sign", "(":
                stack.append([[]])
            case "sign", ")":
                group = stack.pop()
                stack[-1][-1].append((group, False))
            case "sign", "|":
                stack[-1].append([])
            case "sign", "?" | "*" | "+":
                unit, _ = stack[-1][-1].pop()
                stack[-1][-1].append((unit, text != "+"))
            case _:
                stack[-1][-1].append(((kind, text), False))
    (whole,) = stack
    return whole


def firsts(ways: list[list], nullable: set[str]) -> tuple[set[str], bool]:
    """The rules that `ways` can begin with, and whether they can be empty."""
    found, empty = set(), False
    for way in ways:
        for unit, optional in way:
            if isinstance(unit, list):
                inner, may_be_empty = firsts(unit, nullable)
                found |= inner
            else:
                kind, text = unit
                found |= {text} if kind == "name" else set()
                may_be_empty = kind == "name" and text in nullable
            if not (optional or may_be_empty):
                break
        else:
            empty = True
    return found, empty


def well_formed(text: str) -> None:
    parts = rules(text)
    assert next(iter(parts)) == "root"
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in parts)
    used = {text for body in parts.values() for kind, text in body if kind == "name"}
    assert used | {"root"} == parts.keys()
    bodies = {name: alternatives(body) for name, body in parts.items()}
    nullable: set[str] = set()
    while new := {name for name, ways in bodies.items() if firsts(ways, nullable)[1]} - nullable:
        nullable |= new
    edges = {name: firsts(ways, nullable)[0] for name, ways in bodies.items()}
    done: set[str] = set()
    while ready := {name for name, below in edges.items() if below <= done} - done:
        done |= ready
    assert edges.keys() - done == set(), "left recursion"


def test_seed0_s7_the_gbnf_is_well_formed_and_has_no_left_recursion():
    well_formed(gbnf())


def test_the_check_of_well_formedness_sees_left_recursion_behind_what_may_be_empty():
    with pytest.raises(AssertionError, match="left recursion"):
        well_formed('root ::= space root "a" | "b"\nspace ::= " "*\n')
    with pytest.raises(AssertionError):
        well_formed("root ::= a\n")
    with pytest.raises(AssertionError):
        well_formed('root ::= a_b\na_b ::= "x"\n')


def test_the_gbnf_is_the_same_each_time():
    assert gbnf() == gbnf()


# --- what parses is let through


def programs() -> list[str]:
    bodies = [f"model m {{ {text} }}" for text in QUOTED] + [f"model m {{ filter {text} }}" for text in QUOTED]
    return sorted({*MODULES, *EXAMPLES, *QUOTED, *bodies})


def test_seed0_s7_every_program_of_the_tests_is_let_through_and_nothing_else(decoder, lark):
    verdicts = Counter()
    for program in programs():
        valid = parses(lark, program)
        verdicts[valid] += 1
        assert decoder.accepts(program) == valid, program
    assert verdicts[True] > 300
    assert verdicts[False] > 300


# --- what is sampled parses


# How often each kind of token is drawn, while the program grows and when it is long enough. Drawn by the number of
# tokens alone, nearly all of them would be letters of one endless name.
WEIGHTS = {
    "statement": (30.0, 1.0),
    "word": (4.0, 0.5),
    "name": (2.0, 1.0),
    "sign": (4.0, 1.0),
    "closing": (0.5, 50.0),
    "blank": (2.0, 2.0),
    "more blank": (0.1, 0.1),
    "more of a word": (0.2, 0.1),
    "string": (0.3, 0.3),
    "comment": (0.05, 0.01),
}


class Sampler:
    """Random programs under the grammar: first the kind of the next token is drawn, then the token."""

    def __init__(self, decoder: Decoder, seed: int) -> None:
        self.decoder = decoder
        self.rng = random.Random(seed)
        size = decoder.tokenizer.get_vocab_size()
        self.texts = [decoder.tokenizer.decode([token]) for token in range(size)]
        # The kind of each token depends on what the last one ended with.
        self.kinds = {last: [kind(text, last) for text in self.texts] for last in ("a", " ", "/", "")}
        self.after = [ending(text) for text in self.texts]
        self.leaving = [n for n, text in enumerate(self.texts) if text in ('"', "`", "\n", "*")]

    def program(self, start: str = "") -> str:
        """A program that begins so."""
        matcher = self.decoder.fresh.deep_copy()
        tokens: list[int] = [*self.decoder.engine.tokenize_str(start)]
        assert matcher.consume_tokens(tokens)
        length = self.rng.randint(10, 60)
        while True:
            mask = matcher.compute_logit_bias()
            allowed = [token for token, bias in enumerate(mask) if bias]
            late = len(tokens) > length
            if allowed == [self.decoder.end] or (late and mask[self.decoder.end]):
                return self.decoder.tokenizer.decode(tokens)
            token = self.draw(allowed, tokens[-1] if tokens else None, late)
            assert matcher.consume_token(token)
            tokens.append(token)

    def draw(self, allowed: list[int], last: int | None, late: bool) -> int:
        if len(allowed) > 850 and self.rng.random() < 0.8:
            # Within a string, a name in backquotes or a comment all is allowed: time to leave it.
            after_star = last is not None and self.texts[last] == "*"
            return self.texts.index("/") if after_star else self.rng.choice([t for t in self.leaving if t in allowed])
        kinds = self.kinds[" " if last is None else self.after[last]]
        by_kind: dict[str, list[int]] = {}
        for token in allowed:
            if token != self.decoder.end:
                by_kind.setdefault(kinds[token], []).append(token)
        weights = [WEIGHTS[kind][late] for kind in by_kind]
        return self.rng.choice(by_kind[self.rng.choices(list(by_kind), weights)[0]])


STATEMENT_WORDS = accepted([token.kind for token in scan("model m {", load_tables())[:-1]], load_tables()) | {"model"}


def ending(text: str) -> str:
    return "a" if re.search(r"\w$", text) else " " if text[-1:].isspace() else "/" * (text[-1:] == "/")


def kind(text: str, last: str) -> str:
    """The kind of token `text` behind a text that ends like `last`."""
    bare = text.strip()
    if last == " " and text[:1].isspace():
        return "more blank"
    if last == "a" and re.match(r"\w", text):
        return "more of a word"
    if not bare:
        return "blank"
    if bare in load_tables().keywords:
        return "statement" if bare in STATEMENT_WORDS else "word"
    if re.search("[/#]", text) or (last == "/" and text[:1] == "*"):
        return "comment"
    if bare[0] in '"`':
        return "string"
    if set(bare) <= set(")]}"):
        return "closing"
    return "name" if re.match(r"\w", bare) else "sign"


BEGINNINGS = ("", "", "model m { from t\n", "model m {", *(f"{word} " for word in get_args(ast.DeclarationWord)))


@pytest.mark.slow
def test_seed0_s7_a_thousand_random_programs_parse(decoder, lark):
    sampler = Sampler(decoder, seed=10)
    kinds: Counter[str] = Counter()
    for number in range(1000):
        # A name may begin a call, so that few programs would begin with anything else.
        program = sampler.program(BEGINNINGS[number % len(BEGINNINGS)])
        assert parses(lark, program), program
        result = parse_module(program, "sampled.strata")
        for diagnostic in result.diagnostics:
            assert is_about_values(diagnostic), (program, diagnostic)
        for declaration in result.module.declarations:
            kinds[type(declaration).__name__] += 1
            for model in (declaration, *models_within(declaration)):
                kinds.update(type(statement).__name__ for statement in getattr(model, "statements", ()))
    assert kinds.keys() >= STATEMENTS | DECLARATIONS


def is_about_values(diagnostic) -> bool:
    """Whether the parser understood the text and refuses what it says."""
    said = ("is given twice", "`${…}` is only allowed", "`${` takes", "a name is empty", "nested more than")
    return diagnostic.code in ("E003", "E023") or any(part in diagnostic.message for part in said)


# --- names that exist

NAMES = Vocabulary(
    tables={"orders": ("id", "amount", "order date"), "old legs": ("leg",), "rows": ("row",)},
    columns=frozenset({"total"}),
    contracts=frozenset({"Paid"}),
    functions=frozenset({"sum", "count", "row_number"}),
    generators=frozenset({"by_country"}),
    word_functions=frozenset({"date_trunc"}),
    words=frozenset({"day", "month"}),
)
EXISTING = (
    "from orders filter id > 1 and amount < 2",
    "from `old legs` filter leg is none",
    "from rows filter`order date` in [1]",
    "from orders join_left orders as o on o.amount == orders.id expect many_to_one",
    "from orders join_semi `old legs` on `old legs`.leg == id",
    "from orders join_cross rows",
    "from orders union orders union all orders intersect orders except `old legs`",
    "from orders derive { d = date_trunc(`order date`, day) }",
    "from orders aggregate { anything = sum(amount), n = count(*), m = count(distinct id) }",
    "from orders select { * except {id, amount}, orders.* }",
    "let total = 1 filter total > 1",
    "from orders derive { n = row_number() over (partition_by: [id], sort: [amount desc]) }",
    "from orders freshness 1d freshness_column: id",
)
INVENTED = (
    "from nix",
    "from order",
    "from orderss",
    "from leg",
    "from orders join_left nix on id == id",
    "from orders join_left nix as n on id == id",
    "from orders join_cross nix",
    "from orders union nix",
    "from orders union all nix",
    "from orders except nix",
    "from orders intersect nix",
    "from orders filter nix",
    "from orders filter o.nix",
    "from orders filter orders.leg",
    "from orders filter day",
    "from orders filter `leg`",
    "from orders filter nix(id)",
    "from orders filter sum(nix)",
    "from orders filter sum(id, day)",
    "from orders filter date_trunc(id, nix)",
    "from orders filter date_trunc(day + 1)",
    "from orders select { nix }",
    "from orders select { * except {nix} }",
    "from orders derive { x = nix }",
    "from orders group { nix } ( aggregate { n = count(*) } )",
    "from orders sort { nix desc }",
    "from orders partition_by [nix]",
    "from orders expand nix as n",
    "from orders dedup by nix",
    "from orders freshness 1d freshness_column: nix",
    "from orders derive { n = row_number() over (partition_by: [nix]) }",
)


@pytest.fixture(scope="module")
def knowing() -> Decoder:
    return Decoder(train(), gbnf(NAMES))


@pytest.mark.parametrize("body", EXISTING)
def test_seed0_s7_names_that_exist_are_let_through(knowing, decoder, body):
    program = f"model m -> contract Paid {{ {body} }}"
    assert parse_module(program, "m").diagnostics == ()
    assert knowing.accepts(program)
    assert decoder.accepts(program)


@pytest.mark.parametrize("body", INVENTED)
def test_seed0_s7_no_table_column_or_function_can_be_invented(knowing, decoder, body):
    program = f"model m {{ {body} }}"
    assert parse_module(program, "m").diagnostics == ()
    assert not knowing.accepts(program)
    assert decoder.accepts(program)


def test_seed0_s7_no_contract_can_be_invented(knowing):
    assert knowing.accepts("model m -> contract Paid { from orders }")
    assert not knowing.accepts("model m -> contract Unpaid { from orders }")
    assert knowing.accepts("contract Unpaid { new: int64 }")


def test_the_gbnf_with_names_is_well_formed():
    well_formed(gbnf(NAMES))
    well_formed(gbnf(Vocabulary(tables={"t": ()})))


def test_what_is_sampled_with_names_refers_to_nothing_else(knowing):
    sampler = Sampler(knowing, seed=11)
    seen: Counter[str] = Counter()
    for _ in range(250):
        module = parse_module(sampler.program(), "sampled.strata").module
        for node in nodes(module):
            match node:
                case ast.From(table) | ast.Join(table=table):
                    assert table.text in NAMES.tables
                    seen["table"] += 1
                case ast.ColumnRef(qualifier, name) if qualifier and qualifier.text in NAMES.tables:
                    assert name.text in NAMES.tables[qualifier.text]
                    seen["column"] += 1
                case ast.ColumnRef(_, name):
                    assert name.text in {*NAMES.columns, *NAMES.words, *(c for t in NAMES.tables.values() for c in t)}
                    seen["column"] += 1
    assert seen["table"] > 5
    assert seen["column"] > 20


def test_seed0_s7_no_generator_can_be_invented_and_a_new_one_can_be_declared(knowing):
    assert knowing.accepts('by_country(["ES"])')
    assert knowing.accepts('pipeline p { models: [orders, by_country(["ES"])] }')
    assert not knowing.accepts('by_nothing(["ES"])')
    assert not knowing.accepts("pipeline p { models: [by_nothing([1])] }")
    assert knowing.accepts('fn f(cs: List<Str>) -> List<Model> { [model "m_${c}" { from orders } for c in cs] }')
    assert not knowing.accepts('fn f(cs: List<Str>) -> List<Model> { [model "m_${c}" { from nix } for c in cs] }')
    assert not knowing.accepts("fn f(cs: List<Str>) -> Str { nix(cs) }")


def nodes(root):
    """All nodes of a tree that refer to what a project has: in the values of a function, only its models do."""
    yield root
    if isinstance(root, ast.Fn):
        for literal in models_within(root):
            yield from nodes(literal)
        return
    for field in fields(root):
        value = getattr(root, field.name)
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child):
                yield from nodes(child)


def models_within(root):
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ModelLiteral):
            yield node.model
        else:
            pending += children(node)


# --- llama.cpp, and a grammar that grows


def test_llama_cpp_has_no_more_to_keep_in_mind_the_deeper_a_program_nests():
    stacks = Stacks(gbnf())
    flat, nested = (f"model m {{ filter {'(' * n}a + 1{')' * n} > f(b) sort {{ a desc }} }}" for n in (1, 12))
    assert 0 < stacks.most(flat) == stacks.most(nested) < 500
    assert stacks.most("model m { filter a andb }") == 0
    assert all(stacks.most(program) for program in EXAMPLES[:3])


# Rules in which a name is given, or is one of something that no project lists.
GIVING = {
    *("import", "source", "contract", "domain", "model", "pipeline", "env", "field", "plain_field", "property"),
    *("entry", "_value", "enum", "classification", "mask", "type", "type_field", "alias", "let", "assign", "expand"),
    *("fn", "parameter", "value_type", "value_field", "for", "value_for", "variable", "value_keyword"),
    "generator_name",
    *(
        "extern",
        "binding",
        "word",
        "member",
        "star",
        "keyword",
        "_limit",
        "_label",
        "identifier",
        "name",
        "plain_name",
        "_plain_name",
    ),
}


def test_a_rule_that_refers_to_a_name_says_to_what():
    found = re.finditer(r"^[!?]*([a-z_]+):(.*\n(?:[ \t]+\S.*\n)*)", GRAMMAR.read_text(encoding="utf-8"), re.MULTILINE)
    naming = {m[1] for m in found if re.search(r"\b(name|_label|plain_name|_plain_name|_plain_word)\b", m[2])}
    assert naming - GIVING - PLACES.keys() - REPLACED.keys() == set()


# --- both directions at once, near what is written by hand


def test_seed0_s7_grammar_and_parser_agree_on_programs_with_other_spaces_and_other_tokens(decoder, lark):
    rng = random.Random(19)
    tables = load_tables()
    verdicts = Counter()
    known = [p for p in programs() if len(p) < 400 and parses(lark, p) and scan(p, tables)[:-1]]
    every = sorted({token.text for p in known for token in scan(p, tables)[:-1]})
    for program in rng.choices(known, k=5000):
        texts = [token.text for token in scan(program, tables)[:-1]]
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            at = rng.randrange(len(texts))
            texts[at : at + rng.choice([0, 1, 2])] = rng.choice([[], [rng.choice(every)], texts[at : at + 1] * 2])
            texts = texts or ["x"]
        spaces = rng.choice([(" ",), ("", " "), ("",), ("", " ", "\n", "/**/", "# c\n", "//\n", "/***/ ")])
        mutant = "".join(text + rng.choice(spaces) for text in texts)
        valid = parses(lark, mutant)
        verdicts[valid] += 1
        assert decoder.accepts(mutant) == valid, mutant
    assert verdicts[True] > 300
    assert verdicts[False] > 300
