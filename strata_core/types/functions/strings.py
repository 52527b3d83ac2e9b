"""String functions. Positions count code points from 1; case mapping is one character to one."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..inferred import Inferred
from ..values import BOOL, INT64, STRING, Array, Map, String, Struct, Unknown
from .regex import groups, to_python
from .shapes import TEXT, WHOLE, Parameter, Result, always, misfit, pattern, takes, whole_constant
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, any_nullable, arity


def _row(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.SCALAR, "strings", signature, rule, doc, examples)


def _text(
    name: str, parameters: str, kinds: tuple[Parameter, ...], doc: str, *examples: Example, optional: int = 0
) -> Function:
    signature = f"{name}({parameters}) -> string"
    return _row(name, signature, takes(signature, kinds, always(STRING), optional=optional), doc, *examples)


def _test(name: str, doc: str, *examples: Example) -> Function:
    signature = f"{name}(text: string, part: string) -> bool"
    return _row(name, signature, takes(signature, (TEXT, TEXT), always(BOOL)), doc, *examples)


def _mapped(name: str, change: Callable[[str], str], doc: str, *examples: Example, ascii_only: bool) -> Function:
    """A function of one string that maps a value set (of ASCII strings alone, where engines agree on no more)."""
    signature = f"{name}(text: string) -> string"

    def result(arguments: tuple[Argument, ...]) -> Inferred:
        values = arguments[0].inferred.values
        if values is not None and ascii_only and not all(v.isascii() for v in values):
            values = None
        return Inferred(STRING, arguments[0].nullable, None if values is None else frozenset(map(change, values)))

    return _row(name, signature, takes(signature, (TEXT,), result), doc, *examples)


CONCAT = "concat(x, …) -> string"
REPLACE = "regexp_replace(text: string, pattern: literal string, replacement: string) -> string"
EXTRACT = "regexp_extract(text: string, pattern: literal string[, group: literal int64]) -> string"


def _concat(arguments: tuple[Argument, ...]) -> Resolution:
    """Of one array its elements, nullable as Seed 0 §2 has it: nothing joined is no value."""
    arity(arguments, 1, None, CONCAT)
    match [a.type for a in arguments]:
        case [Array(element=String() | Array() as element) as whole]:
            return Resolution((whole,), Inferred(element, nullable=True))
        case _:
            pass
    for position, argument in enumerate(arguments):
        if isinstance(argument.type, Array | Map | Struct | Unknown):
            raise misfit(CONCAT, "a simple value", argument, position)
    return Resolution((STRING,) * len(arguments), Inferred(STRING, any_nullable(arguments)))


def _regexp_replace(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes(REPLACE, (TEXT, TEXT, TEXT), always(STRING))(arguments)
    _require_some_text(pattern(arguments, 1, REPLACE))
    return resolution


def _require_some_text(spelled: str) -> None:
    """E060 for an expression that matches nothing at all, which engines find in different places."""
    if re.fullmatch(to_python(spelled), ""):
        raise SignatureError(
            "E060", f"`{spelled}` matches the empty text, which engines replace differently", 1, "use `+` for `*`"
        )


def _regexp_extract(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes(EXTRACT, (TEXT, TEXT, WHOLE), always(STRING), optional=1)(arguments)
    spelled = pattern(arguments, 1, EXTRACT)
    if len(arguments) == 3:
        whole_constant(arguments, 2, EXTRACT, "the number of the group", 0, groups(spelled))
    return resolution


_CASES = (
    _mapped(
        "upper",
        str.upper,
        "The text in upper case; a character without a single counterpart stays.",
        Example('upper("aé1")', "AÉ1"),
        Example('upper(cast(none, "string"))', None),
        ascii_only=True,
    ),
    _mapped(
        "lower",
        str.lower,
        "The text in lower case; a character without a single counterpart stays.",
        Example('lower("AÉ1")', "aé1"),
        Example('lower("")', ""),
        ascii_only=True,
    ),
    _mapped(
        "trim",
        lambda text: text.strip(" "),
        "The text without spaces at both ends (spaces alone, not tabs or line ends).",
        Example('trim("  a b ")', "a b"),
        Example('trim("\\ta ")', "\ta"),
        ascii_only=False,
    ),
    _mapped(
        "ltrim",
        lambda text: text.lstrip(" "),
        "The text without spaces at its beginning.",
        Example('ltrim("  a ")', "a "),
        Example('ltrim("")', ""),
        ascii_only=False,
    ),
    _mapped(
        "rtrim",
        lambda text: text.rstrip(" "),
        "The text without spaces at its end.",
        Example('rtrim(" a  ")', " a"),
        Example('rtrim("   ")', ""),
        ascii_only=False,
    ),
    _row(
        "length",
        "length(text: string) -> int64",
        takes("length(text: string) -> int64", (TEXT,), always(INT64)),
        "How many code points the text has.",
        Example('length("héllo")', 5),
        Example('length("")', 0),
    ),
    _text(
        "substring",
        "text: string, start: int64[, length: int64]",
        (TEXT, WHOLE, WHOLE),
        "The characters at `start` to `start + length - 1` that exist; a negative start counts from the end.",
        Example('substring("strata", 2, 3)', "tra"),
        Example('substring("strata", -2)', "ta"),
        optional=1,
    ),
    _text(
        "left",
        "text: string, count: int64",
        (TEXT, WHOLE),
        "The first `count` characters; none where it is not positive.",
        Example('left("strata", 2)', "st"),
        Example('left("strata", -1)', ""),
    ),
    _text(
        "right",
        "text: string, count: int64",
        (TEXT, WHOLE),
        "The last `count` characters; none where it is not positive.",
        Example('right("strata", 2)', "ta"),
        Example('right("strata", 9)', "strata"),
    ),
    _text(
        "replace",
        "text: string, search: string, replacement: string",
        (TEXT, TEXT, TEXT),
        "Every `search` replaced; nothing where it is empty.",
        Example('replace("a-b-c", "-", "+")', "a+b+c"),
        Example('replace("abc", "", "x")', "abc"),
    ),
    _text(
        "lpad",
        "text: string, length: int64, fill: string",
        (TEXT, WHOLE, TEXT),
        "The text cut to `length`, or filled up to it on the left; unfilled where `fill` is empty.",
        Example('lpad("7", 3, "0")', "007"),
        Example('lpad("strata", 3, "0")', "str"),
    ),
    _text(
        "rpad",
        "text: string, length: int64, fill: string",
        (TEXT, WHOLE, TEXT),
        "The text cut to `length`, or filled up to it on the right; unfilled where `fill` is empty.",
        Example('rpad("a", 4, "xy")', "axyx"),
        Example('rpad("a", 4, "")', "a"),
    ),
    _text(
        "split_part",
        "text: string, separator: string, number: int64",
        (TEXT, TEXT, WHOLE),
        "Part `number` of the text, from 1, or from the end where negative; empty where there is none.",
        Example('split_part("a,b,c", ",", 2)', "b"),
        Example('split_part("a,b,c", ",", -1)', "c"),
    ),
    _test(
        "startswith",
        "Whether the text begins with `part`.",
        Example('startswith("strata", "str")', True),
        Example('startswith("strata", "x")', False),
    ),
    _test(
        "endswith",
        "Whether the text ends with `part`.",
        Example('endswith("strata", "ta")', True),
        Example('endswith("strata", "")', True),
    ),
    _test(
        "contains",
        "Whether `part` stands somewhere in the text.",
        Example('contains("strata", "rat")', True),
        Example('contains("strata", "tar")', False),
    ),
    _row(
        "concat",
        CONCAT,
        _concat,
        "The values as text, joined; null as soon as one is. Of one array its elements, texts or arrays: null of none.",
        Example('concat("a", 1, true)', "a1true"),
        Example('concat(list("a", none))', None),
    ),
    _row(
        "regexp_replace",
        REPLACE,
        _regexp_replace,
        "Every match replaced; `\\1` to `\\9` in the replacement are the groups of the match, `\\0` all of it.",
        Example('regexp_replace("a1b22", "[0-9]+", "#")', "a#b#"),
        Example('regexp_replace("ab", "(a)(b)", "\\\\2\\\\1")', "ba"),
    ),
    _row(
        "regexp_extract",
        EXTRACT,
        _regexp_extract,
        "The first match, or a group of it; empty where nothing matches.",
        Example('regexp_extract("tail N12AB", "N[0-9]+")', "N12"),
        Example('regexp_extract("N12AB", "N([0-9]+)", 1)', "12"),
    ),
)

ALL = "regexp_extract_all(text: string, pattern: literal string) -> array(string nonnull)"
COUNT = "regexp_count(text: string, pattern: literal string) -> int64"
SPLIT = "split(text: string, separator: string) -> array(string nonnull)"


def _matches(signature: str, result: Result) -> Rule:
    """A function of all matches of an expression, none of which is empty."""
    shape = takes(signature, (TEXT, TEXT), result)

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        resolution = shape(arguments)
        _require_some_text(pattern(arguments, 1, signature))
        return resolution

    return rule


def _texts(arguments: tuple[Argument, ...]) -> Inferred:
    return Inferred(Array(STRING, element_nullable=False), any_nullable(arguments))


STRINGS: tuple[Function, ...] = (
    *_CASES,
    _row(
        "regexp_extract_all",
        ALL,
        _matches(ALL, _texts),
        "All matches, in the order of the text.",
        Example('regexp_extract_all("a1b22", "[0-9]+")', ["1", "22"]),
        Example('regexp_extract_all("ab", "[0-9]+")', []),
    ),
    _row(
        "regexp_count",
        COUNT,
        _matches(COUNT, always(INT64)),
        "How many matches there are.",
        Example('regexp_count("a1b22", "[0-9]+")', 2),
        Example('regexp_count("ab", "[0-9]")', 0),
    ),
    _row(
        "split",
        SPLIT,
        takes(SPLIT, (TEXT, TEXT), _texts),
        "The parts of the text between the separators; the text itself where the separator is empty.",
        Example('split("a,b,", ",")', ["a", "b", ""]),
        Example('split("ab", "")', ["ab"]),
    ),
    _row(
        "position",
        "position(text: string, part: string) -> int64",
        takes("position(text: string, part: string) -> int64", (TEXT, TEXT), always(INT64)),
        "Where `part` first stands in the text, from 1; 0 where it does not.",
        Example('position("strata", "ra")', 3),
        Example('position("strata", "x")', 0),
    ),
    _text(
        "reverse",
        "text: string",
        (TEXT,),
        "The code points from the last to the first.",
        Example('reverse("abé")', "éba"),
        Example('reverse("")', ""),
    ),
    _row(
        "codepoint",
        "codepoint(text: string) -> int64",
        takes("codepoint(text: string) -> int64", (TEXT,), always(INT64, nullable=True)),
        "The number of the first code point; null of an empty text.",
        Example('codepoint("é")', 233),
        Example('codepoint("")', None),
    ),
)

HASHES = tuple(
    Function(
        name,
        Kind.SCALAR,
        "hashing",
        f"{name}(text: string) -> string",
        takes(f"{name}(text: string) -> string", (TEXT,), always(STRING)),
        f"The {spelled} digest of the text in UTF-8, in lower-case hexadecimal digits.",
        (Example(f'{name}("a")', digest), Example(f'{name}("é")', accented)),
    )
    for name, spelled, digest, accented in (
        ("md5", "MD5", "0cc175b9c0f1b6a831c399e269772661", "66ddcd97cfdeabb2f6fb8a999b4bc76f"),
        (
            "sha1",
            "SHA-1",
            "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
            "bf15be717ac1b080b4f1c456692825891ff5073d",
        ),
        (
            "sha256",
            "SHA-256",
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
            "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c",
        ),
    )
)
