"""Which models a selection names, in the syntax of dbt.

A text is a union of terms between spaces; a term is an intersection of parts between commas. A part is a name of a
model, which may hold `*` and `?`, or `tag:`, `path:` or `source:`; `+` before it adds what it reads, `+` behind it what
reads it, `2+` and `+2` as far as two steps, `@` everything downstream and what that reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import NoReturn

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.listing import listed
from ..diagnostics.suggest import did_you_mean
from ..frozen import dataclass
from .kept.outline import ModelOutline, Outline, outline
from .project import Project

Tags = Mapping[str, str]

_PART = re.compile(r"(?P<around>@)?(?:(?P<up>\d*)\+)?(?P<what>[^+@]+?)(?:\+(?P<down>\d*))?")
_OPERATORS = re.compile(r"[\s+@:,*?]")
"""What tells a selection from a plain name."""


def tags_of(model: ModelOutline) -> Tags:
    """The model's label, its contract, and the classifications of its columns."""
    tags = {"strata/label": model.attributes.get("label", ""), "strata/contract": model.contract or ""}
    classes = {f"classification/{c.classification}": "" for c in model.columns if c.classification}
    return {key: value for key, value in tags.items() if value} | classes


def models_named(project: Project, texts: Sequence[str]) -> tuple[str, ...]:
    """The models that the arguments of a command name, in the order of the project. Plain names are handed on: what is
    wrong with one is for those to say who look it up. Raises `StrataError` E027 for a part that names nothing, and
    where no model is left, which is not to mean all of them."""
    if not any(_OPERATORS.search(text) for text in texts):
        return (*texts,)
    found = outline(project)
    chosen = chosen_models(found, texts)
    if not chosen:
        raise _nothing(
            f"`{' '.join(texts)}` names no model", "`source:NAME+` is what reads a source, a comma means both"
        )
    return tuple(name for name in found.models if name in chosen)


def chosen_models(
    outline: Outline, texts: Iterable[str], tags: Callable[[ModelOutline], Tags] = tags_of
) -> frozenset[str]:
    """The names of the models, sound or broken, that `texts` name together. Raises `StrataError` E027 for a part that
    names nothing."""
    scope = _Scope(outline, tags, frozenset({*outline.models, *outline.broken}), _readers(outline))
    return frozenset().union(*(_term(scope, term) for text in texts for term in text.split()))


@dataclass(frozen=True, slots=True)
class _Scope:
    outline: Outline
    tags: Callable[[ModelOutline], Tags]
    names: frozenset[str]
    readers: Mapping[str, Sequence[str]]

    def upstream(self, name: str) -> Sequence[str]:
        model = self.outline.models.get(name)
        return model.upstream if model is not None else ()

    def downstream(self, name: str) -> Sequence[str]:
        return self.readers.get(name, ())


def _readers(outline: Outline) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for model in outline.models.values():
        for upstream in model.upstream:
            found.setdefault(upstream, []).append(model.name)
    return found


def _term(scope: _Scope, term: str) -> set[str]:
    return set.intersection(*(_part(scope, part) for part in term.split(",")))


def _part(scope: _Scope, part: str) -> set[str]:
    match = _PART.fullmatch(part)
    if match is None:
        raise _nothing(f"`{part}` is no selection", "write `model`, `+model`, `model+`, `tag:…`, `path:…`")
    start = _start(scope, match["what"])
    found = set(start)
    if match["up"] is not None:
        found |= _reached(start, scope.upstream, match["up"])
    if match["down"] is not None or match["around"]:
        found |= _reached(start, scope.downstream, match["down"] or "")
    if match["around"]:
        found |= _reached(found, scope.upstream, "")
    return found & scope.names


def _reached(start: Iterable[str], following: Callable[[str], Sequence[str]], steps: str) -> set[str]:
    """What lies within so many `steps` of `start`, however many where that is empty."""
    found, edge, left = set(start), set(start), int(steps) if steps else None
    while edge and left != 0:
        edge = {after for name in edge for after in following(name)} - found
        found |= edge
        left = None if left is None else left - 1
    return found


def _start(scope: _Scope, what: str) -> set[str]:
    method, colon, value = what.partition(":")
    if not colon:
        return _matching(scope.names, what) or _fail("model", what, scope.names)
    if method not in METHODS:
        raise _nothing(f"`{method}:` is no method of selection", did_you_mean(method, METHODS, _METHODS_ARE))
    return METHODS[method](scope, value)


def _by_tag(scope: _Scope, value: str) -> set[str]:
    """`tag:classification/pii` or `tag:strata/label=core`."""
    tags = {name: scope.tags(model) for name, model in scope.outline.models.items()}
    key, equals, wanted = value.partition("=")
    found = {n for n, own in tags.items() if key in own and (not equals or own[key] == wanted)}
    return found or _fail("tag", value, {t for own in tags.values() for t in own})


def _by_path(scope: _Scope, value: str) -> set[str]:
    """`path:models/finance` or `path:models/finance/revenue.strata`; `*` matches within and across folders."""
    wanted = PurePosixPath(value).as_posix()
    files = {name: model.span.file for name, model in scope.outline.models.items()}
    found = {n for n, f in files.items() if f.startswith(f"{wanted}/") or fnmatchcase(f, wanted)}
    return found or _fail("path", value, set(files.values()))


def _by_source(scope: _Scope, value: str) -> set[str]:
    """`source:orders+` is what reads a source; the source itself is no model."""
    sources = scope.outline.sources
    return _matching(sources, value) or _fail("source", value, sources)


METHODS: Mapping[str, Callable[[_Scope, str], set[str]]] = {"tag": _by_tag, "path": _by_path, "source": _by_source}
"""How models are named other than by name."""
_METHODS_ARE = f"methods are {', '.join(METHODS)}"


def _matching(names: Iterable[str], pattern: str) -> set[str]:
    return {name for name in names if fnmatchcase(name, pattern)}


def _fail(kind: str, asked: str, known: Iterable[str]) -> NoReturn:
    names = sorted(known)
    there = f"{kind}s are {listed(names, 8)}" if names else f"the project has no {kind}"
    raise _nothing(f"there is no {kind} `{asked}`", did_you_mean(asked, names, there))


def _nothing(message: str, fix: str) -> StrataError:
    return StrataError(Diagnostic("E027", message, fix=fix))
