"""Imports: `import a.b` says that a file relies on the module `a/b.strata`.

All modules of a project share one namespace, so that an import makes no name known; it says what a reader needs to
know, and is held to it. A module is found beside the file that imports it, or in any folder of the project.
Codes: E028 (modules that import one another), E070 (a module that is not there).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from ..diagnostics import Diagnostic, Related, Report, Span
from ..diagnostics.suggest import nearest
from ..language import ast

MAX_CIRCLES = 20
"""Circles that are told: where there are many, they mostly have one cause."""
MAX_SHOWN = 8

Imports = Mapping[str, Mapping[str, Span]]
"""The modules that each module imports, by path, with the first place where it does."""


def check_imports(modules: Sequence[ast.Module], report: Report) -> None:
    """Find every module that is imported. Linear in modules and imports."""
    named = [(m, d) for m in modules for d in m.declarations if isinstance(d, ast.Import)]
    if not named:
        return
    by_end: dict[tuple[str, ...], list[str]] = {}
    for module in modules:
        parts = PurePosixPath(module.path).with_suffix("").parts
        for length in range(1, len(parts) + 1):
            by_end.setdefault(parts[-length:], []).append(module.path)
    imports: dict[str, dict[str, Span]] = {}
    for module, declaration in named:
        path = tuple(part.text for part in declaration.path)
        if path in by_end:
            found = _nearest_to(module.path, path, by_end[path])
            imports.setdefault(module.path, {}).setdefault(found, declaration.span)
        else:
            report(_missing(path, declaration.span, by_end))
    for diagnostic in itertools.islice(_circles(imports), MAX_CIRCLES):
        report(diagnostic)


def _nearest_to(importing: str, path: tuple[str, ...], found: Sequence[str]) -> str:
    """Of several modules that end so, the one beside the file that imports it, else the first."""
    beside = (PurePosixPath(importing).parent.joinpath(*path)).with_suffix(".strata").as_posix()
    return beside if beside in found else found[0]


def _missing(path: tuple[str, ...], span: Span, known: Mapping[tuple[str, ...], object]) -> Diagnostic:
    dotted = ".".join(path)
    near = nearest(dotted, [".".join(other) for other in known])
    fix = f"write `import {near}`" if near else f"add the file `{'/'.join(path)}.strata`"
    return Diagnostic("E070", f"no module `{dotted}` belongs to this project", span, fix=fix)


def _circles(imports: Imports) -> Iterator[Diagnostic]:
    """E028 for each import that closes a circle, found by a walk that enters every module once."""
    done: set[str] = set()
    for start in imports:
        if start in done:
            continue
        walk: dict[str, Iterator[str]] = {start: iter(imports[start])}
        while walk:
            at = next(reversed(walk))
            following = next(walk[at], None)
            if following is None:
                walk.pop(at)
                done.add(at)
            elif following in walk:
                members = [*walk]
                yield _circle([*members[members.index(following) :], following], imports)
            elif following not in done:
                walk[following] = iter(imports.get(following, {}))


def _circle(members: Sequence[str], imports: Imports) -> Diagnostic:
    *others, (last, first) = itertools.pairwise(members)
    if not others:
        message = f"`{first}` imports itself"
        return Diagnostic("E028", message, imports[last][first], fix="take the import out")
    between = members[1:-1] if len(members) <= MAX_SHOWN else [*members[1 : MAX_SHOWN - 2], "…", members[-2]]
    message = f"modules import one another: {' → '.join((first, *between, first))}"
    related = tuple(Related(imports[a][b], f"`{a}` imports `{b}` here") for a, b in others[:MAX_SHOWN])
    fix = "take one of the imports out: every name of the project is known without it"
    return Diagnostic("E028", message, imports[last][first], fix=fix, related=related)
