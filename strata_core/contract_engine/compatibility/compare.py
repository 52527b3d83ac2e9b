"""What changed from one contract of a product to the next: values to values, no version and no approval looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...contract.changes import Change, ChangeRule, Impact, compare_contracts
from ...contract.model import TableContract
from ..authored import Asset, AuthoredContract, Measure, Semantics
from ..collation.candidate import Candidate
from ..documents import Path
from ..levels import Levels
from ..lowering import table_contracts
from .changes import ProductChange, Sides, age_direction, by_id
from .compare_governance import compare_agents, compare_governance, compare_window
from .compare_tests import compare_tests
from .rules import PRODUCT_RULES


def compare(before: Candidate, after: Candidate, levels: Levels) -> tuple[ProductChange, ...]:
    """Every change from `before` to `after`, in the order of the contract's fields."""
    sides = Sides(before, after)
    old, new = before.contract, after.contract
    return (
        *_head(sides, old, new),
        *_assets(sides, old, new, levels),
        *_semantics(sides, old, new),
        *_freshness(sides, old, new),
        *compare_tests(sides, old, new),
        *compare_governance(sides, old, new, levels),
        *compare_agents(sides, old, new),
        *compare_window(sides, old, new),
    )


def _head(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    if old.status != new.status:
        rule = {"deprecated": "status-deprecated", "retired": "status-retired"}.get(new.status, "status-changed")
        yield sides.change(rule, "status", old.status, new.status, ("status",), ("status",))
    if old.layer != new.layer:
        yield sides.change("layer-changed", "layer", old.layer, new.layer, ("layer",), ("layer",))
    if old.owner != new.owner:
        before, after = old.owner.plain(defaults=False), new.owner.plain(defaults=False)
        yield sides.change("owner-changed", "owner", before, after, ("owner",), ("owner",))
    forbidden = _usage(old, "prohibited"), _usage(new, "prohibited")
    for text in forbidden[1]:
        if text not in forbidden[0]:
            at: Path = ("usage", "prohibited", forbidden[1].index(text))
            yield sides.change("usage-prohibited", "usage.prohibited", None, text, ("usage",), at)
    for text in forbidden[0]:
        if text not in forbidden[1]:
            at = ("usage", "prohibited", forbidden[0].index(text))
            yield sides.change("usage-allowed", "usage.prohibited", text, None, at, ("usage",))
    texts: tuple[tuple[str, object, object], ...] = (
        ("name", old.name, new.name),
        ("purpose", old.purpose, new.purpose),
        ("usage.intended", list(_usage(old, "intended")), list(_usage(new, "intended"))),
        ("extensions", old.extensions, new.extensions),
    )
    for where, said, says in texts:
        if said != says:
            path = tuple(where.split("."))
            yield sides.change("text-changed", where, said or None, says or None, path, path)
    if old.lineage != new.lineage:
        path = ("lineage",)
        yield sides.change("upstream-changed", "lineage.upstream", _upstream(old), _upstream(new), path, path)


def _usage(contract: AuthoredContract, which: str) -> tuple[str, ...]:
    return tuple(getattr(contract.usage, which)) if contract.usage else ()


def _upstream(contract: AuthoredContract) -> list[Any]:
    return [u.plain() for u in contract.lineage.upstream] if contract.lineage else []


def _assets(sides: Sides, old: AuthoredContract, new: AuthoredContract, levels: Levels) -> Iterator[ProductChange]:
    before, after = by_id(old.assets), by_id(new.assets)
    tables = table_contracts(sides.before, lambda _: None), table_contracts(sides.after, lambda _: None)
    for id_, (i, asset) in before.items():
        where = f"assets[{id_}]"
        if id_ not in after:
            yield sides.change("asset-removed", where, asset.kind, None, ("assets", i), ("assets",), asset=id_)
            continue
        j, now = after[id_]
        at: tuple[Path, Path] = ("assets", i), ("assets", j)
        if asset.location != now.location:
            rule = "asset-moved" if asset.location else "asset-source-changed"
            yield sides.change(rule, f"{where}.location", asset.location, now.location, *at, asset=id_)
        for name in ("kind", "ref"):
            if getattr(asset, name) != getattr(now, name):
                texts = getattr(asset, name), getattr(now, name)
                yield sides.change("asset-source-changed", f"{where}.{name}", *texts, *at, asset=id_)
        for name in ("documentation", "tags"):
            if getattr(asset, name) != getattr(now, name):
                texts = getattr(asset, name), getattr(now, name)
                yield sides.change("text-changed", f"{where}.{name}", *texts, *at, asset=id_)
        yield from _columns(sides, (tables[0][id_], tables[1][id_]), (asset, now), levels)
    for id_, (j, asset) in after.items():
        if id_ not in before:
            yield sides.change("asset-added", f"assets[{id_}]", None, asset.kind, ("assets",), ("assets", j), asset=id_)


def _columns(
    sides: Sides, tables: tuple[TableContract, TableContract], assets: tuple[Asset, Asset], levels: Levels
) -> Iterator[ProductChange]:
    """The rows of the table contract; those that a product knows more about by its own rows."""
    asset = assets[0].id
    told = sides.after.contract.compatibility
    renames = [r for r in told.renames if r.asset == asset] if told else []
    renamed = {r.before: r.after for r in renames}
    aliased = {r.before for r in renames if r.alias}
    for change in compare_contracts(*tables, renamed):
        rule = _own_rule(change, assets[0], aliased, levels)
        where = f"assets[{asset}]" + (f".columns[{change.column}]" if change.column else "")
        impact = rule.impact if rule is not change.rule and not change.protected else change.impact
        if rule is not change.rule and change.protected and rule.impact is not Impact.PATCH:
            impact = Impact.MAJOR
        yield ProductChange(
            rule,
            where,
            change.before,
            change.after,
            impact,
            change.before_span,
            change.after_span,
            asset=asset,
            column=change.column,
            of_table=None if rule.id in _BY_MORE_THAN_THE_CHANGE else change.fingerprint,
        )


_BY_MORE_THAN_THE_CHANGE = ("column-aliased", "partitioning-moved")
"""Rules by what stands beside the change: the alias, the location. What is approved with it is no plan's change."""


def _own_rule(change: Change, asset: Asset, aliased: set[str], levels: Levels) -> ChangeRule:
    match change.rule.id:
        case "column-renamed" if change.column in aliased:
            return PRODUCT_RULES["column-aliased"]
        case "classification-changed" if levels.known(change.before) and levels.known(change.after):
            raised = levels.rank(change.after) - levels.rank(change.before)
            rules = "classification-raised", "classification-lowered"
            return change.rule if raised == 0 else PRODUCT_RULES[rules[raised < 0]]
        case "partitioning-changed" if asset.location:
            return PRODUCT_RULES["partitioning-moved"]
        case _:
            return change.rule


def _semantics(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    before, after = old.semantics or Semantics(), new.semantics or Semantics()
    same = new.compatibility.meaning_unchanged if new.compatibility else ()
    for name in ("grain", "meaning"):
        said, says = getattr(before, name), getattr(after, name)
        if said != says and said is not None:
            path: Path = ("semantics", name)
            rule = "wording-changed" if name in same else f"{name}-changed"
            yield sides.change(rule, f"semantics.{name}", said, says, path, path)
        elif said != says:
            yield sides.change("text-changed", f"semantics.{name}", said, says, (), ("semantics", name))
    measures = by_id(before.measures, "name"), by_id(after.measures, "name")
    for name in dict.fromkeys((*measures[0], *measures[1])):
        where = f"semantics.measures[{name}]"
        had, has = measures[0].get(name), measures[1].get(name)
        paths: tuple[Path, Path] = (
            ("semantics", "measures", had[0]) if had else ("semantics",),
            ("semantics", "measures", has[0]) if has else ("semantics",),
        )
        if had is None or has is None:
            rule = "measure-removed" if has is None else "measure-added"
            yield sides.change(rule, where, name if had else None, name if has else None, *paths)
        elif _quantity(had[1]) != _quantity(has[1]):
            yield sides.change("measure-changed", where, _quantity(had[1]), _quantity(has[1]), *paths)
        elif had[1] != has[1]:
            yield sides.change("text-changed", where, had[1].description, has[1].description, *paths)
    known, knows = ({e.name: list(e.keys) for e in s.entities} for s in (before, after))
    if known != knows:
        path = ("semantics", "entities")
        yield sides.change("entity-changed", "semantics.entities", known, knows, path, path)


def _quantity(measure: Measure) -> dict[str, Any]:
    return measure.plain(("name", "description"))


def _freshness(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    said = old.freshness.max_age if old.freshness else None
    says = new.freshness.max_age if new.freshness else None
    direction = age_direction(said, says)
    if direction:
        rule = "product-freshness-loosened" if direction > 0 else "product-freshness-tightened"
        yield sides.change(rule, "freshness.max_age", said, says, ("freshness",), ("freshness",))
