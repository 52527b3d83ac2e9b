"""References inside and between contracts: E122 where one leads nowhere, E123 where products form a cycle, E023 where
there are two of one name; E109 where rows are said to lie outside of the project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...diagnostics import Diagnostic, Related, Report, Severity
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ..authored import AuthoredContract
from ..collation.candidate import Candidate
from ..collation.collate import Collated
from ..discover import leads_out
from ..documents import Path
from ..naming import split_ref


def check_references(candidate: Candidate, collated: Collated, report: Report) -> None:
    """E122 for each asset, column or product that is named and not there."""
    contract = candidate.contract
    products = collated.by_id
    for reference, path in _column_refs(contract):
        problem = _missing(reference, contract, products)
        if problem is not None:
            report(candidate.finding("E122", problem[0], path, problem[1]))
    for kind in ("entities", "measures"):
        first: dict[str, Path] = {}
        for i, item in enumerate(getattr(contract.semantics, kind, ())):
            path = ("semantics", kind, i, "name")
            if item.name in first:
                related = (Related(candidate.span(first[item.name]), "the first is here"),)
                message, fix = f"`{item.name}` is listed twice", "keep one of the two"
                report(candidate.finding("E023", message, path, fix, related=related))
            first.setdefault(item.name, path)
    for i, asset in enumerate(contract.assets):
        if asset.location is not None and leads_out(asset.location):
            message = f"`{asset.location}` leads out of the project: nothing here reads it"
            fix = "give a path below the folder of `strata.toml`, or the address of a store such as `s3://…`"
            path = ("assets", i, "location")
            report(candidate.finding("E109", message, path, fix, severity=Severity.WARNING))
    ids = [a.id for a in contract.assets]
    for name, path in _asset_refs(contract):
        if name not in ids:
            fix = did_you_mean(name, ids, f"assets are {', '.join(ids)}")
            report(candidate.finding("E122", f"the product has no asset `{name}`", path, fix))
    for i, upstream in enumerate(contract.lineage.upstream if contract.lineage else ()):
        path = ("lineage", "upstream", i)
        if (upstream.product is None) == (upstream.asset is None):
            fix = "name either a `product` or an `asset`"
            report(candidate.finding("E107", "an upstream is a product or an asset", path, fix))
        elif upstream.product is not None and upstream.product not in products:
            fix = did_you_mean(upstream.product, products, "write its contract, or name it as an `asset`")
            message = f"there is no contract of a product `{upstream.product}`"
            report(candidate.finding("E122", message, (*path, "product"), fix))


def _column_refs(contract: AuthoredContract) -> Iterator[tuple[str, Path]]:
    for i, asset in enumerate(contract.assets):
        for j, column in enumerate(asset.columns):
            for k, ref in enumerate(column.derived_from.columns if column.derived_from else ()):
                yield ref, ("assets", i, "columns", j, "derived_from", "columns", k)
    if contract.semantics:
        for i, entity in enumerate(contract.semantics.entities):
            for k, ref in enumerate(entity.keys):
                yield ref, ("semantics", "entities", i, "keys", k)
        for i, measure in enumerate(contract.semantics.measures):
            if measure.column:
                yield measure.column, ("semantics", "measures", i, "column")
    for i, mask in enumerate(contract.governance.masking if contract.governance else ()):
        yield mask.column, ("governance", "masking", i, "column")
    for i, permission in enumerate(contract.agent_permissions):
        for k, ref in enumerate(permission.constraints.columns):
            yield ref, ("agent_permissions", i, "constraints", "columns", k)
    for i, test in enumerate(contract.tests):
        if test.kind == "expectation" and test.expectation.type == "referential":
            for k, ref in enumerate(test.expectation.to):
                yield ref, ("tests", i, "expectation", "to", k)


def _asset_refs(contract: AuthoredContract) -> Iterator[tuple[str, Path]]:
    for i, permission in enumerate(contract.agent_permissions):
        for k, name in enumerate(permission.assets):
            yield name, ("agent_permissions", i, "assets", k)
    for i, test in enumerate(contract.tests):
        if test.asset is not None:
            yield test.asset, ("tests", i, "asset")
    for i, rename in enumerate(contract.compatibility.renames if contract.compatibility else ()):
        yield rename.asset, ("compatibility", "renames", i, "asset")


def _missing(reference: str, contract: AuthoredContract, products: Mapping[str, Candidate]) -> tuple[str, str] | None:
    """What is wrong with a column reference, and how to mend it."""
    product, name, column = split_ref(reference)
    if product is not None and product != contract.id:
        other = products.get(product)
        if other is None:
            return f"there is no contract of a product `{product}`", did_you_mean(product, products, "write it first")
        if not other.sound:
            return None
        contract = other.contract
    assets = {a.id: a for a in contract.assets}
    if name not in assets:
        fix = did_you_mean(name, assets, f"assets of `{contract.id}` are {', '.join(assets)}")
        return f"`{contract.id}` has no asset `{name}`", fix
    columns = [c.name for c in assets[name].columns]
    if columns and column not in columns:
        fix = did_you_mean(column, columns, f"columns of `{name}` are {listed(columns, 12)}")
        return f"`{name}` has no column `{column}`", fix
    return None


def check_cycles(candidates: Sequence[Candidate], report: Report) -> None:
    """E123 once for each cycle of products, at the entry that closes it. Linear, and without recursion."""
    by_id = {c.id: c for c in candidates}
    edges = {
        c.id: [
            (u.product, i)
            for i, u in enumerate(c.contract.lineage.upstream if c.contract.lineage else ())
            if u.product in by_id
        ]
        for c in candidates
    }
    done: set[str] = set()
    for start in sorted(by_id):
        stack: list[tuple[str, Iterator[tuple[str | None, int]]]] = [(start, iter(edges[start]))]
        on_path: dict[str, None] = {} if start in done else {start: None}
        if start in done:
            continue
        while stack:
            here, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                on_path.pop(here)
                done.add(here)
                continue
            there, number = step
            if there in on_path:
                report(_cycle(by_id, here, number, list(on_path), str(there)))
            elif there is not None and there not in done:
                on_path[there] = None
                stack.append((there, iter(edges[there])))


def _cycle(by_id: Mapping[str, Candidate], here: str, number: int, path: list[str], there: str) -> Diagnostic:
    ring = path[path.index(there) :]
    candidate = by_id[here]
    related = tuple(Related(by_id[one].span(("lineage",)), f"`{one}` names the next") for one in ring if one != here)
    message = f"products are made of one another: {' → '.join([*ring, there])}"
    fix = "take one of the upstreams out, or split the product"
    return candidate.finding("E123", message, ("lineage", "upstream", number), fix, related=related)
