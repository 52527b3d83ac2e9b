"""Layer profiles: what a contract must say, by its layer (Seed 2, "Layer profile validation").

Layers are `[layers.NAME]` of `strata.toml`; without any, bronze, silver and gold have the defaults below. Requirements
are the rows of `REQUIREMENTS`. Codes: E120 (missing), E121 (no such layer), E073 (a layer that cannot be).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...diagnostics import Diagnostic, Report
from ...diagnostics.suggest import did_you_mean
from ...frozen import dataclass
from ...planning.config import LayerConfig, ProjectConfig
from ..authored import AuthoredContract
from ..collation.candidate import Candidate
from ..documents import Path

DEFAULTS: Mapping[str, LayerConfig] = {
    "bronze": LayerConfig(None, ("owner", "assets")),
    "silver": LayerConfig("bronze", ("purpose", "columns", "column_types", "column_descriptions", "key")),
    "gold": LayerConfig("silver", ("usage", "freshness", "grain", "blocking_test", "agent_permissions")),
}

Places = Callable[[AuthoredContract], Iterator[tuple[Path, str]]]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A row: what is required, where it is missing (with what is said of it), and how to add it."""

    says: str
    missing: Places
    fix: str


def _absent(*path: str) -> Places:
    """Missing where nothing stands at `path`."""

    def places(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
        value: object = contract
        for step in path:
            value = getattr(value, step, None)
        if not value:
            yield tuple(path), f"`{'.'.join(path)}` is missing"

    return places


def _columns(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
    for i, asset in enumerate(contract.assets):
        if not asset.columns:
            yield ("assets", i), f"asset `{asset.id}` has no columns"


def _of_columns(field: str, word: str) -> Places:
    def places(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
        for i, asset in enumerate(contract.assets):
            for j, column in enumerate(asset.columns):
                if getattr(column, field) is None:
                    yield ("assets", i, "columns", j), f"column `{asset.id}.{column.name}` has no {word}"

    return places


def _key(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
    for i, asset in enumerate(contract.assets):
        keyed = any(c.primary_key or c.unique for c in asset.columns)
        tested = any(
            t.kind == "expectation" and t.asset == asset.id and t.expectation.type == "unique" for t in contract.tests
        )
        if asset.columns and not keyed and not tested:
            yield ("assets", i), f"asset `{asset.id}` has no key"


def _blocking(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
    if not any(t.severity == "blocking" for t in contract.tests):
        yield ("tests",), "no test is blocking"


def _usage(contract: AuthoredContract) -> Iterator[tuple[Path, str]]:
    if contract.usage is None or not (contract.usage.intended and contract.usage.prohibited):
        yield ("usage",), "`usage` does not say both what is intended and what is prohibited"


REQUIREMENTS: Mapping[str, Requirement] = {
    "owner": Requirement("the owning team", _absent("owner"), "add `owner: {team: …}`"),
    "owner_contact": Requirement("where the owner is reached", _absent("owner", "contact"), "add `contact: …`"),
    "approvers": Requirement("who may approve", _absent("owner", "approvers"), "add `approvers: [person@example]`"),
    "assets": Requirement("at least one asset", _absent("assets"), "add an asset"),
    "purpose": Requirement("what the product is for", _absent("purpose"), "add `purpose: …`"),
    "columns": Requirement("columns of each asset", _columns, "list its columns under `columns`"),
    "column_types": Requirement("a type of each column", _of_columns("type", "type"), "add `type: …`"),
    "column_descriptions": Requirement(
        "a description of each column", _of_columns("description", "description"), "add `description: …`"
    ),
    "key": Requirement(
        "a key of each asset", _key, "mark its key with `primary_key: true`, or add an expectation `unique`"
    ),
    "usage": Requirement("intended and prohibited usage", _usage, "add `usage: {intended: […], prohibited: […]}`"),
    "freshness": Requirement("how old it may be", _absent("freshness"), "add `freshness: {max_age: 24h}`"),
    "grain": Requirement("what a row is", _absent("semantics", "grain"), "add `semantics: {grain: one row per …}`"),
    "measures": Requirement("its measures", _absent("semantics", "measures"), "add `semantics.measures`"),
    "blocking_test": Requirement("a blocking test", _blocking, "give a test `severity: blocking`"),
    "agent_permissions": Requirement(
        "what agents may do", _absent("agent_permissions"), "add `agent_permissions: [{agent: …, actions: [discover]}]`"
    ),
    "lineage": Requirement("what it is made of", _absent("lineage", "upstream"), "add `lineage: {upstream: […]}`"),
    "governance": Requirement("governance", _absent("governance"), "add `governance: {classification: …}`"),
    "retention": Requirement(
        "how long rows are kept", _absent("governance", "retention"), "add `retention: {period: …}`"
    ),
    "classification": Requirement(
        "a classification", _absent("governance", "classification"), "add `governance: {classification: internal}`"
    ),
}
"""What a layer may require, by the name that `[layers.NAME] requires` gives it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A layer and all that it requires."""

    name: str
    requires: tuple[str, ...]


def profiles(config: ProjectConfig, report: Report) -> Mapping[str, Profile]:
    """The layers of a project. E073 for a layer that extends none, or itself, or requires what is not known."""
    layers = {**DEFAULTS, **config.layers} if not config.layers or _extends_defaults(config) else dict(config.layers)
    found: dict[str, Profile] = {}
    for name in layers:
        requires: list[str] = []
        seen: list[str] = []
        at: str | None = name
        while at is not None:
            if at in seen or at not in layers:
                what = "in a circle" if at in seen else f"`{at}`, which is no layer"
                fix = did_you_mean(at, [n for n in layers if n != name], f"layers are {', '.join(layers)}")
                where = f"layers.{name}.extends"
                report(Diagnostic("E073", f"the layer `{name}` extends {what}", fix=fix, field_path=where))
                break
            seen.append(at)
            requires = [*layers[at].requires, *requires]
            at = layers[at].extends
        for one in dict.fromkeys(requires):
            if one not in REQUIREMENTS:
                fix = did_you_mean(one, REQUIREMENTS, f"known are {', '.join(REQUIREMENTS)}")
                where = f"layers.{name}.requires"
                message = f"the layer `{name}` requires `{one}`, which is not known"
                report(Diagnostic("E073", message, fix=fix, field_path=where))
        found[name] = Profile(name, tuple(r for r in dict.fromkeys(requires) if r in REQUIREMENTS))
    return found


def _extends_defaults(config: ProjectConfig) -> bool:
    """Whether a layer of the project is built on a default one: then those stay."""
    return any(layer.extends in DEFAULTS and layer.extends not in config.layers for layer in config.layers.values())


def check_profile(candidate: Candidate, known: Mapping[str, Profile], report: Report) -> None:
    """E120 for each thing that the layer requires and the contract has not; E121 for a layer that is none."""
    contract = candidate.contract
    profile = known.get(contract.layer)
    if profile is None:
        fix = did_you_mean(contract.layer, known, f"layers are {', '.join(known)}")
        report(candidate.finding("E121", f"there is no layer `{contract.layer}`", ("layer",), fix))
        return
    for name in profile.requires:
        requirement = REQUIREMENTS[name]
        for path, what in requirement.missing(contract):
            message = f"{what}, which the layer `{profile.name}` requires"
            report(candidate.finding("E120", message, path, requirement.fix))
