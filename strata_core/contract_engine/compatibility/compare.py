"""What changed from one contract of a product to the next: values to values, no version and no approval looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ...contract.ages import parse_age
from ...contract.changes import Change, ChangeRule, Impact, compare_contracts
from ...contract.model import TableContract
from ...diagnostics import Span
from ...digests import hexdigest
from ...frozen import dataclass
from ..authored import (
    AgentPermission,
    Asset,
    AuthoredContract,
    ExpectationTest,
    Governance,
    Measure,
    Semantics,
    SqlTest,
)
from ..candidate import Candidate
from ..documents import Path
from ..levels import Levels
from ..lowering import table_contracts
from ..merge_rules import canonical
from .rules import PRODUCT_RULES

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ProductChange:
    """One change. `where` is the field as people read it, `impact` what it does to consumers (the heaviest of them)."""

    rule: ChangeRule
    where: str
    before: str | None
    after: str | None
    impact: Impact
    before_span: Span | None
    after_span: Span | None
    asset: str | None = None
    column: str | None = None
    consumers: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What an approval is given to: the same in every commit that leaves the change as it is."""
        return hexdigest("product-change-1", self.rule.id, self.where, self.before or "", self.after or "")

    @property
    def short(self) -> str:
        """The fingerprint as people write it."""
        return self.fingerprint[:12]


@dataclass(frozen=True, slots=True)
class _Sides:
    """The two contracts, with the places of their values."""

    before: Candidate
    after: Candidate

    def change(
        self,
        rule: str,
        where: str,
        before: object,
        after: object,
        before_path: Path = (),
        after_path: Path = (),
        **more: Any,
    ) -> ProductChange:
        """A change by a row of the product's table."""
        row = PRODUCT_RULES[rule]
        return ProductChange(
            row,
            where,
            _text(before),
            _text(after),
            row.impact,
            self.before.span(before_path),
            self.after.span(after_path),
            **more,
        )


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else canonical(value)


def compare(before: Candidate, after: Candidate, levels: Levels) -> tuple[ProductChange, ...]:
    """Every change from `before` to `after`, in the order of the contract's fields."""
    sides = _Sides(before, after)
    old, new = before.contract, after.contract
    return (
        *_head(sides, old, new),
        *_assets(sides, old, new, levels),
        *_semantics(sides, old, new),
        *_freshness(sides, old, new),
        *_tests(sides, old, new),
        *_governance(sides, old, new, levels),
        *_agents(sides, old, new),
        *_compatibility(sides, old, new),
    )


def _head(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
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


def _by_id(items: Iterable[Item], key: str = "id") -> dict[str, tuple[int, Item]]:
    return {getattr(item, key): (i, item) for i, item in enumerate(items)}


def _assets(sides: _Sides, old: AuthoredContract, new: AuthoredContract, levels: Levels) -> Iterator[ProductChange]:
    before, after = _by_id(old.assets), _by_id(new.assets)
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
    sides: _Sides, tables: tuple[TableContract, TableContract], assets: tuple[Asset, Asset], levels: Levels
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
        )


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


def _semantics(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
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
    measures = _by_id(before.measures, "name"), _by_id(after.measures, "name")
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


def _freshness(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    said = old.freshness.max_age if old.freshness else None
    says = new.freshness.max_age if new.freshness else None
    direction = _age_direction(said, says)
    if direction:
        rule = "product-freshness-loosened" if direction > 0 else "product-freshness-tightened"
        yield sides.change(rule, "freshness.max_age", said, says, ("freshness",), ("freshness",))


def _age_direction(before: str | None, after: str | None) -> int:
    """1 where the age may be greater than before, -1 where it may not be as great, 0 where it is the same."""
    old, new = (parse_age(text) if text else None for text in (before, after))
    if old == new:
        return 0
    if old is None or new is None:
        return 1 if new is None else -1
    return 1 if new > old else -1


_WEIGHT = {"blocking": 3, "degrading": 2, "informational": 1, "experimental": 0}


def _tests(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    before, after = _by_id(old.tests), _by_id(new.tests)
    for id_, (i, test) in before.items():
        where, path = f"tests[{id_}]", ("tests", i)
        if id_ not in after:
            rule = "blocking-test-removed" if test.severity == "blocking" else "test-removed"
            yield sides.change(rule, where, test.severity, None, path, ("tests",), asset=test.asset)
            continue
        j, now = after[id_]
        paths: tuple[Path, Path] = path, ("tests", j)
        weight = _WEIGHT[now.severity] - _WEIGHT[test.severity]
        if weight:
            demoted = "blocking-test-demoted" if test.severity == "blocking" else "text-changed"
            rule = demoted if weight < 0 else "test-tightened"
            yield sides.change(rule, f"{where}.severity", test.severity, now.severity, *paths, asset=test.asset)
        said, says = _asked(test), _asked(now)
        if said == says:
            continue
        direction = _expected(test, now)
        if direction is None:
            rule = "test-changed"
        elif direction < 0:
            rule = "test-tightened"
        else:
            rule = "blocking-test-loosened" if test.severity == "blocking" else "text-changed"
        yield sides.change(rule, where, said, says, *paths, asset=test.asset)
    for id_, (j, now) in after.items():
        if id_ not in before:
            yield sides.change("test-added", f"tests[{id_}]", None, now.severity, ("tests",), ("tests", j))


def _asked(test: Any) -> Any:
    if isinstance(test, SqlTest):
        # Layout of a query is no change of it.
        return {"sql": " ".join(test.sql.split()), "asset": test.asset, "dialect": test.dialect}
    return test.plain(("id", "severity", "description"))


def _expected(before: Any, after: Any) -> int | None:
    """-1 where the test passes less than before, 1 where it passes more, None where nobody can tell."""
    if not isinstance(before, ExpectationTest) or not isinstance(after, ExpectationTest):
        return None
    if before.asset != after.asset or before.expectation.type != after.expectation.type:
        return None
    old, new = before.expectation.plain(), after.expectation.plain()
    moved = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    match before.expectation.type:
        case "range" | "row_count" if moved <= {"min", "max"}:
            return _together(_bound(old.get("min"), new.get("min"), 1), _bound(old.get("max"), new.get("max"), -1))
        case "accepted_values" if moved == {"values"}:
            said, says = set(map(canonical, old["values"])), set(map(canonical, new["values"]))
            return -1 if says < said else 1 if said < says else None
        case "freshness" if moved == {"max_age"}:
            return _age_direction(old["max_age"], new["max_age"])
        case "not_null" if moved == {"columns"}:
            columns = set(old["columns"]), set(new["columns"])
            return -1 if columns[0] < columns[1] else 1 if columns[1] < columns[0] else None
        case "unique" if moved == {"columns"}:
            columns = set(old["columns"]), set(new["columns"])
            return -1 if columns[1] < columns[0] else 1 if columns[0] < columns[1] else None
        case _:
            return None


def _bound(before: Any, after: Any, sign: int) -> int | None:
    """How a bound moved: -1 inwards, 1 outwards, 0 not. `sign` is 1 for a lower bound."""
    if before == after:
        return 0
    if before is None or after is None:
        return -1 if before is None else 1
    if isinstance(before, str) != isinstance(after, str):
        return None
    return -sign if after > before else sign


def _together(*directions: int | None) -> int | None:
    found = {d for d in directions if d != 0}
    return found.pop() if len(found) == 1 else None


def _governance(sides: _Sides, old: AuthoredContract, new: AuthoredContract, levels: Levels) -> Iterator[ProductChange]:
    before, after = old.governance or Governance(), new.governance or Governance()
    path: Path = ("governance",)
    if before.classification != after.classification:
        change = levels.rank(after.classification) - levels.rank(before.classification)
        rule = "classification-raised" if change > 0 else "classification-lowered"
        texts = before.classification, after.classification
        yield sides.change(rule, "governance.classification", *texts, path, (*path, "classification"))
    ages = tuple(g.retention.period if g.retention else None for g in (before, after))
    if direction := _age_direction(ages[0], ages[1]):
        rule = "retention-extended" if direction > 0 else "retention-cut"
        yield sides.change(rule, "governance.retention", ages[0], ages[1], path, (*path, "retention"))
    had, has = before.availability or 0.0, after.availability or 0.0
    if had != has:
        rule = "availability-cut" if has < had else "availability-raised"
        texts = (f"{had:g}" if had else None), (f"{has:g}" if has else None)
        yield sides.change(rule, "governance.availability", *texts, path, (*path, "availability"))
    if set(before.residency) != set(after.residency):
        texts_ = sorted(before.residency), sorted(after.residency)
        yield sides.change("residency-changed", "governance.residency", *texts_, path, (*path, "residency"))
    if before.lawful_basis != after.lawful_basis:
        bases = before.lawful_basis, after.lawful_basis
        yield sides.change("lawful-basis-changed", "governance.lawful_basis", *bases, path, (*path, "lawful_basis"))
    masks = {m.column: m.rule for m in before.masking}, {m.column: m.rule for m in after.masking}
    for column in sorted(masks[0].keys() | masks[1].keys()):
        said, says = masks[0].get(column), masks[1].get(column)
        if said != says:
            rule = "masking-added" if said is None else "masking-dropped" if says is None else "masking-changed"
            yield sides.change(rule, f"governance.masking[{column}]", said, says, path, (*path, "masking"))


def _agents(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    before, after = _by_id(old.agent_permissions, "agent"), _by_id(new.agent_permissions, "agent")
    path: Path = ("agent_permissions",)
    for agent, (i, had) in before.items():
        where = f"agent_permissions[{agent}]"
        if agent not in after:
            yield sides.change("agent-removed", where, _granted(had), None, (*path, i), path)
            continue
        j, has = after[agent]
        said, says = _granted(had), _granted(has)
        if said == says:
            continue
        wider, narrower = _granted_more(had, has), _granted_more(has, had)
        for rule, holds in (("agent-widened", wider), ("agent-narrowed", narrower)):
            if holds:
                yield sides.change(rule, where, said, says, (*path, i), (*path, j))
        if not wider and not narrower:
            yield sides.change("text-changed", where, said, says, (*path, i), (*path, j))
    for agent, (j, has) in after.items():
        if agent not in before:
            yield sides.change("agent-added", f"agent_permissions[{agent}]", None, _granted(has), path, (*path, j))


def _granted(permission: AgentPermission) -> dict[str, Any]:
    return permission.plain(("agent",), defaults=False)


def _granted_more(before: AgentPermission, after: AgentPermission) -> bool:
    """Whether `after` grants anything that `before` does not."""
    old, new = before.constraints, after.constraints
    return (
        not set(after.actions) <= set(before.actions)
        or _beyond(before.assets, after.assets)
        or _beyond(old.columns, new.columns)
        or (before.expires is not None and (after.expires is None or after.expires > before.expires))
        or (old.row_limit is not None and (new.row_limit is None or new.row_limit > old.row_limit))
        or (bool(old.masked) and not new.masked)
        or (bool(old.requires_approval) and not new.requires_approval)
        or (old.max_classification is not None and old.max_classification != new.max_classification)
    )


def _beyond(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether `after` names more than `before`; an empty list names all."""
    return bool(before) and (not after or not set(after) <= set(before))


def _compatibility(sides: _Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    said = old.compatibility.deprecation if old.compatibility else None
    says = new.compatibility.deprecation if new.compatibility else None
    # A window that a later breaking change opens anew is another one.
    if said and says and says.announced == said.announced and says.sunset < said.sunset:
        path: Path = ("compatibility", "deprecation", "sunset")
        yield sides.change("sunset-earlier", "compatibility.deprecation.sunset", said.sunset, says.sunset, path, path)


def changes_of(changes: Iterable[ProductChange], *impacts: Impact) -> tuple[ProductChange, ...]:
    """The changes of some impacts."""
    return tuple(c for c in changes if c.impact in impacts)
