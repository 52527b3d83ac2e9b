"""Which models `select` and `exclude` name, in the syntax of dbt or as Dagster's own `AssetSelection`.

A text is a union of terms between spaces; a term is an intersection of parts between commas. A part is a name of a
model, which may hold `*` and `?`, or `tag:`, `path:` or `source:`; `+` before it adds what it reads, `+` behind it what
reads it, `2+` and `+2` as far as two steps, `@` everything downstream and what that reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import NoReturn

from dagster import AssetKey, AssetSelection, AssetSpec, DagsterInvalidDefinitionError, multi_asset

from strata_core.diagnostics.suggest import did_you_mean
from strata_core.planning.kept.outline import ModelOutline

from .project import StrataProject, quietly
from .translator import DagsterStrataTranslator

Choice = str | Collection[str] | AssetSelection
"""What `select` and `exclude` take."""
Specs = Callable[[], Mapping[str, AssetSpec]]

_PART = re.compile(r"(?P<around>@)?(?:(?P<up>\d*)\+)?(?P<what>[^+@]+?)(?:\+(?P<down>\d*))?")


@dataclass(frozen=True, slots=True)
class _Scope:
    project: StrataProject
    translator: DagsterStrataTranslator
    names: frozenset[str]

    @property
    def models(self) -> Mapping[str, ModelOutline]:
        return self.project.outline.models


def chosen_models(
    project: StrataProject,
    translator: DagsterStrataTranslator,
    specs: Specs,
    select: Choice | None,
    exclude: Choice,
) -> set[str]:
    """The names of the models that `select` (all, by default) names and `exclude` does not; `specs` gives those of all
    models by name, which Dagster's own selections are of. Raises `DagsterInvalidDefinitionError` E027 for a part that
    names nothing."""
    scope = _Scope(project, translator, frozenset({*project.outline.models, *project.outline.broken}))
    wanted = set(scope.names) if select is None else _named(scope, specs, select)
    return wanted - _named(scope, specs, exclude)


def _named(scope: _Scope, specs: Specs, choice: Choice) -> set[str]:
    if isinstance(choice, AssetSelection):
        return _resolved(specs(), choice)
    texts = [choice] if isinstance(choice, str) else choice
    return set().union(*(_term(scope, term) for text in texts for term in text.split()))


def _resolved(specs: Mapping[str, AssetSpec], selection: AssetSelection) -> set[str]:
    """Dagster's own selection, of the graph of models alone."""
    if not specs:
        return set()
    with quietly():
        models = multi_asset(name="models", specs=list(specs.values()), can_subset=True)(lambda: None)
        keys = selection.resolve([models])
    by_key: dict[AssetKey, str] = {spec.key: name for name, spec in specs.items()}
    return {by_key[key] for key in keys if key in by_key}


def _term(scope: _Scope, term: str) -> set[str]:
    return set.intersection(*(_part(scope, part) for part in term.split(",")))


def _part(scope: _Scope, part: str) -> set[str]:
    match = _PART.fullmatch(part)
    if match is None:
        raise _nothing(scope, f"`{part}` is no selection", "write `model`, `+model`, `model+`, `tag:…`, `path:…`")
    start = _start(scope, match["what"])
    found = set(start)
    readers, models = scope.project.readers, scope.models
    if match["up"] is not None:
        found |= _reached(start, lambda name: models[name].upstream if name in models else (), match["up"])
    if match["down"] is not None or match["around"]:
        found |= _reached(start, lambda name: readers.get(name, ()), match["down"] or "")
    if match["around"]:
        found |= _reached(found, lambda name: models[name].upstream if name in models else (), "")
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
        found = _matching(scope.names, what)
        return found or _fail(scope, "model", what, scope.names)
    if method not in METHODS:
        fix = did_you_mean(method, METHODS, f"methods are {', '.join(METHODS)}; others are for an AssetSelection")
        raise _nothing(scope, f"`{method}:` is no method of selection", fix)
    return METHODS[method](scope, value)


def _by_tag(scope: _Scope, value: str) -> set[str]:
    """`tag:classification/pii` or `tag:strata/label=core`, of the tags that the translator gives."""
    tags = {n: scope.translator.get_tags(scope.project, model) for n, model in scope.models.items()}
    key, equals, wanted = value.partition("=")
    found = {n for n, own in tags.items() if key in own and (not equals or own[key] == wanted)}
    return found or _fail(scope, "tag", value, {t for own in tags.values() for t in own})


def _by_path(scope: _Scope, value: str) -> set[str]:
    """`path:models/finance` or `path:models/finance/revenue.strata`; `*` matches within and across folders."""
    wanted = PurePosixPath(value).as_posix()
    files = {n: model.span.file for n, model in scope.models.items()}
    found = {n for n, f in files.items() if f.startswith(f"{wanted}/") or fnmatchcase(f, wanted)}
    return found or _fail(scope, "path", value, set(files.values()))


def _by_source(scope: _Scope, value: str) -> set[str]:
    """`source:orders+` is what reads a source; the source itself is no model."""
    sources = scope.project.outline.sources
    found = _matching(sources, value)
    return found or _fail(scope, "source", value, sources)


METHODS: Mapping[str, Callable[[_Scope, str], set[str]]] = {"tag": _by_tag, "path": _by_path, "source": _by_source}
"""How models are named other than by name."""


def _matching(names: Iterable[str], pattern: str) -> set[str]:
    return {name for name in names if fnmatchcase(name, pattern)}


def _fail(scope: _Scope, kind: str, asked: str, known: Iterable[str]) -> NoReturn:
    names = sorted(known)
    fix = did_you_mean(asked, names, f"{kind}s are {', '.join(names[:8])}" if names else f"there is no {kind}")
    raise _nothing(scope, f"the project {scope.project.name} has no {kind} `{asked}`", fix)


def _nothing(scope: _Scope, message: str, fix: str) -> DagsterInvalidDefinitionError:
    return DagsterInvalidDefinitionError(f"E027: {message}: {fix}")
