"""The order in which models are compiled: each after the models it reads. E026 names the models of a cycle.

Linear in models and reads, and without recursion, so that chains may be as long as they like.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping

from ..diagnostics import Diagnostic, Related, Report
from ..frozen import dataclass
from ..language import ast


@dataclass(frozen=True, slots=True)
class Order:
    """All models, each after what it reads; `knotted` ones lie on a cycle or behind one and come last."""

    names: tuple[str, ...]
    knotted: frozenset[str]


def reads(model: ast.Model) -> dict[str, ast.Name]:
    """The tables that a model names, each with the first place where it does."""
    named: dict[str, ast.Name] = {}
    for statement in model.statements:
        if isinstance(statement, ast.From | ast.Join | ast.AsofJoin | ast.SetOperation):
            named.setdefault(statement.table.text, statement.table)
    return named


def order(models: Mapping[str, ast.Model], read: Mapping[str, Mapping[str, ast.Name]], report: Report) -> Order:
    """Sort `models` topologically, those that are free to go in the order of declaration; `read` has their `reads`."""
    upstream = {name: {t: n for t, n in read[name].items() if t in models} for name in models}
    readers: dict[str, list[str]] = {name: [] for name in models}
    for name, tables in upstream.items():
        for table in tables:
            readers[table].append(name)
    waits = {name: len(tables) for name, tables in upstream.items()}
    ready = deque(name for name, count in waits.items() if count == 0)
    done: list[str] = []
    while ready:
        name = ready.popleft()
        done.append(name)
        for reader in readers[name]:
            waits[reader] -= 1
            if waits[reader] == 0:
                ready.append(reader)
    knotted = {name: {t: n for t, n in upstream[name].items() if waits[t]} for name in models if waits[name]}
    _report_cycles(knotted, report)
    return Order((*done, *knotted), frozenset(knotted))


def _report_cycles(knotted: Mapping[str, Mapping[str, ast.Name]], report: Report) -> None:
    """Walk from each model to the first knotted one it reads until a walk meets itself: a cycle, told once."""
    seen: set[str] = set()
    for start in knotted:
        walk: dict[str, None] = {}
        at = start
        while at not in seen:
            seen.add(at)
            walk[at] = None
            at = next(iter(knotted[at]))
        if at in walk:
            members = [*walk][[*walk].index(at) :]
            report(_cycle([*members, at], knotted))


def _cycle(members: list[str], knotted: Mapping[str, Mapping[str, ast.Name]]) -> Diagnostic:
    places = [knotted[a][b].span for a, b in itertools.pairwise(members)]
    reads_ = [f"`{a}` reads `{b}`" for a, b in itertools.pairwise(members)]
    return Diagnostic(
        "E026",
        f"models form a cycle: {' → '.join(members)}",
        places[0],
        label=f"{reads_[0]} here",
        fix="let one of them read a source, or a model outside the cycle",
        related=tuple(Related(p, text) for p, text in zip(places[1:], reads_[1:], strict=True)),
    )
