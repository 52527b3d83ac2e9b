"""Project: the runtime-served view of a product, from its contract, its promotion and what was seen (Seed 2, step 6).

A snapshot that is small: the latest of each thing, lineage of one hop, and links to what keeps more. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from ...diagnostics import Diagnostic, Span
from ...frozen import replace
from ...instants import iso_seconds
from ...types import widens
from ...types.spelling import TypeSpellingError, parse_type
from ..authored import AgentPermission, Asset, AuthoredContract, Governance, MaskingIntent
from ..collation.candidate import Candidate
from ..observations import WRITE_PIN, Observations, SeenCheck, SeenRun, SeenSchema
from ..parse.parsed import Parsed
from ..promotions import Promotion
from ..runtime_view import (
    CheckStatus,
    FreshnessState,
    InputDigest,
    LineageEdge,
    Link,
    LiveRows,
    ObservedColumn,
    ProductStatus,
    RunSummary,
    RuntimeView,
    SchemaState,
    StatusReason,
    TestStatus,
    ViewProvenance,
)
from ..schemas import RUNTIME_VIEW
from ..shapes import valid
from .ages import age_state, age_told, latest_of, loaded_of_live


class _Dated(Protocol):
    @property
    def at(self) -> str | None: ...


D = TypeVar("D", bound=_Dated)
K = TypeVar("K", bound=Hashable)


def _latest(seen: Iterable[D], key: Callable[[D], K]) -> dict[K, D]:
    """The latest of each key; the last of those that are as late. What bears no time was before all others."""
    found: dict[K, D] = {}
    for one in seen:
        before = found.get(key(one))
        if before is None or _second(one) >= _second(before):
            found[key(one)] = one
    return found


def _second(one: _Dated) -> str:
    return iso_seconds(one.at) if one.at else ""


class Known:
    """What is known around all products, by the names that are asked for: built once, asked for each view."""

    def __init__(self, parsed: Parsed, seen: Observations, candidates: Iterable[Candidate]) -> None:
        self.digests = parsed.digests
        self.tests = _latest(seen.tests, lambda t: (t.product, t.test))
        self.dbt_names = {t.unique_id: t.name for file in parsed.files for t in file.tests}
        self.schemas = {s.ref: s for s in seen.schemas}
        self.runs = _latest(seen.runs, lambda r: r.ref)
        self.made = _latest((r for r in seen.runs if r.state == "succeeded"), lambda r: r.ref)
        self.published = {r.ref: r for r in seen.runs if r.published}
        self.latest_values, self.loaded = seen.latest_values, seen.loaded
        self.checks: dict[str, list[SeenCheck]] = {}
        for check in _latest(seen.checks, lambda c: (c.ref, c.check)).values():
            self.checks.setdefault(check.ref, []).append(check)
        lineage = [a for a in parsed.generated if a.compiled or a.kind == "dbt_model"]
        self.upstream = {ref: a.upstream for a in lineage for ref in a.refs}
        self.edges: dict[str, list[str]] = {}
        for edge in seen.edges:
            self.edges.setdefault(edge.ref, []).append(edge.upstream)
        self.owners: dict[str, str] = {}
        for candidate in candidates:
            for asset in candidate.contract.assets if candidate.sound else ():
                self.owners.setdefault(asset.ref or asset.id, candidate.id)

    def latest_run(self, asset: Asset) -> SeenRun | None:
        """The run that was seen last of an asset."""
        return max((self.runs[r] for r in _refs(asset) if r in self.runs), key=_second, default=None)

    def guarded(self, asset: Asset) -> SeenRun | None:
        """What the store has live of a table that others make, and that is kept there where it keeps its contract."""
        live = (self.published[name] for name in asset.stored if name in self.published)
        return next((run for run in live if run.guarded), None)


def project(
    candidate: Candidate, known: Known, promotion: Promotion | None, engine_version: str, now: datetime
) -> RuntimeView:
    """The view of a sound candidate at the instant `now` (UTC)."""
    contract = candidate.contract
    tests = tuple(_tests(contract, known))
    freshness = tuple(_freshness(contract, known, now))
    schemas = tuple(_schemas(contract, known))
    checks = tuple(_checks(contract, known))
    runs = tuple(_runs(contract, known))
    return RuntimeView(
        apiVersion="strata/v0",
        kind="DataProductRuntimeView",
        id=contract.id,
        version=contract.version,
        provenance=replace(_provenance(candidate, known, promotion, engine_version), projected_at=iso_seconds(now)),
        contract=contract,
        status=_status(tests, checks, freshness, schemas, runs),
        tests=tests,
        checks=checks,
        freshness=freshness,
        observed_schema=schemas,
        latest_runs=runs,
        live=tuple(_live(contract, known)),
        lineage=tuple(_lineage(contract, known)),
        governance=_governance(contract),
        agent_permissions=tuple(_agents(contract, now)),
        links=tuple(_links(candidate)),
    )


def document(view: RuntimeView) -> dict[str, object]:
    """The view as it is served: what is absent is left out."""
    return view.plain()


def view_faults(view: RuntimeView, candidate: Candidate) -> tuple[Diagnostic, ...]:
    """E160 where the view does not have the shape of its schema; nothing is published then."""
    if valid(document(view), RUNTIME_VIEW):
        return ()
    message = f"the runtime view of `{view.id}` does not have the shape of its schema"
    fix = "report this: what is projected from a valid contract is a valid view"
    return (Diagnostic("E160", message, Span(candidate.file, 1, 1, 1, 1), fix=fix),)


def _provenance(candidate: Candidate, known: Known, promotion: Promotion | None, version: str) -> ViewProvenance:
    if promotion is None:
        digests = {p: known.digests[p] for p in candidate.inputs if p in known.digests}
        return ViewProvenance(inputs=_inputs(digests), engine_version=version)
    return ViewProvenance(
        # Of what was promoted, whatever its files say by now.
        git_commit=promotion.commit,
        inputs=_inputs(promotion.inputs),
        promoted_at=iso_seconds(promotion.at) if promotion.at else None,
        promoted_by=promotion.by,
        promotion=promotion.number or None,
        engine_version=version,
    )


def _inputs(digests: Mapping[str, str]) -> tuple[InputDigest, ...]:
    return tuple(InputDigest(path=p, sha256=digests[p]) for p in digests)


def _tests(contract: AuthoredContract, known: Known) -> Iterator[TestStatus]:
    hidden = tuple(dict.fromkeys((contract.owner.team, *contract.owner.approvers)))
    for test in contract.tests:
        found = known.tests.get((contract.id, test.id))
        if found is None and test.kind == "dbt":
            found = known.tests.get((None, known.dbt_names.get(test.ref, test.ref)))
        yield TestStatus(
            id=test.id,
            kind=test.kind,
            severity=test.severity,
            asset=test.asset,
            outcome=found.outcome if found else "not_run",
            offenders=found.offenders if found else None,
            at=found.at if found else None,
            message=found.message if found else None,
            visible_to=hidden if test.severity == "experimental" else (),
        )


def _refs(asset: Asset) -> tuple[str, ...]:
    """The names under which what was seen of an asset may be told."""
    return tuple(dict.fromkeys((*asset.names, *asset.stored)))


def _checks(contract: AuthoredContract, known: Known) -> Iterator[CheckStatus]:
    """What checks say of the assets, but for dbt's tests that the contract names: these are among its tests."""
    named = {known.dbt_names.get(t.ref, t.ref) for t in contract.tests if t.kind == "dbt"}
    for asset in contract.assets:
        found = {c.check: c for ref in reversed(_refs(asset)) for c in known.checks.get(ref, ())}
        for check in sorted(found.keys() - named):
            one = found[check]
            at = iso_seconds(one.at) if one.at else None
            yield CheckStatus(
                asset=asset.id, check=check, outcome=one.outcome, weight=one.weight, at=at, message=one.message
            )


def _freshness(contract: AuthoredContract, known: Known, now: datetime) -> Iterator[FreshnessState]:
    for asset in contract.assets:
        promised = asset.freshness.max_age if asset.freshness else None
        promised = promised or (contract.freshness.max_age if contract.freshness else None)
        if promised is None:
            continue
        column = asset.freshness.column if asset.freshness else None
        made = {ref: run.at for ref in _refs(asset) if (run := known.made.get(ref)) is not None}
        live, loaded = known.guarded(asset), known.loaded
        if live is not None:  # whatever ran since: it is not what readers have
            made, loaded = {live.ref: live.at}, loaded_of_live(loaded, live.at)
        latest = latest_of(_refs(asset), column, known.latest_values, loaded, made)
        yield FreshnessState(
            asset=asset.id,
            expected=promised,
            latest=iso_seconds(latest) if latest else None,
            state=age_state(latest, promised, now),
        )


def _schemas(contract: AuthoredContract, known: Known) -> Iterator[SchemaState]:
    for asset in contract.assets:
        schema = next((known.schemas[r] for r in _refs(asset) if r in known.schemas), None)
        if schema is not None:
            yield SchemaState(
                asset=asset.id,
                columns=tuple(
                    ObservedColumn(name=n, type=t or "unknown", nullable=null) for n, t, null in schema.columns
                ),
                drift=tuple(_drift(asset, schema)),
            )


def _drift(asset: Asset, schema: SeenSchema) -> Iterator[str]:
    """How a schema that was seen differs from what is promised."""
    found = {name: type_ for name, type_, _ in schema.columns}
    for column in asset.columns:
        if column.name not in found:
            yield f"`{column.name}` is promised and not there"
            continue
        seen = found[column.name]
        if seen is None or column.type is None:
            continue
        try:
            promised, has = parse_type(column.type), parse_type(seen)
        except TypeSpellingError:
            continue
        if promised != has and not widens(has, promised):
            yield f"`{column.name}` is {has}, and {promised} is promised"
    names = {c.name for c in asset.columns}
    extra = sorted(found.keys() - names)
    if asset.closed and extra:
        yield f"the contract is closed and does not name {', '.join(f'`{n}`' for n in extra)}"


def _runs(contract: AuthoredContract, known: Known) -> Iterator[RunSummary]:
    for asset in contract.assets:
        run, live = known.latest_run(asset), known.guarded(asset)
        if run is not None:
            at = iso_seconds(run.at) if run.at else None
            yield RunSummary(
                asset=asset.id,
                run_id=run.run_id,
                state=run.state,
                at=at,
                url=run.url,
                data_version=run.data_version,
                rows=run.rows,
                live=False if live is not None and _passed_over(run, live) else None,
            )


def _passed_over(run: SeenRun, live: SeenRun) -> bool:
    """Whether a run made rows since that are not `live`. Whoever guards what it makes (Dagster) tells of no run whose
    rows were refused, and of the others with the version of the rows."""
    made = run.state == "succeeded" and not run.published and run.data_version is None
    return made and _second(run) > _second(live)


def _live(contract: AuthoredContract, known: Known) -> Iterator[LiveRows]:
    for asset in contract.assets:
        run = next((known.published[r] for r in asset.stored if r in known.published), None)
        if run is not None:
            at = iso_seconds(run.at) if run.at else None
            yield LiveRows(asset=asset.id, version=run.run_id, at=at, data_version=run.data_version, rows=run.rows)


def _lineage(contract: AuthoredContract, known: Known) -> Iterator[LineageEdge]:
    """One hop: what is declared, what the compiler knows, what was seen; each pair once, by the best basis."""
    for asset in contract.assets:
        compiled = next((known.upstream[r] for r in asset.names if r in known.upstream), ())
        observed = [u for r in asset.names for u in known.edges.get(r, ()) if u not in compiled]
        for upstream in compiled:
            product = known.owners.get(upstream)
            yield LineageEdge(asset=asset.id, upstream=upstream, product=product, basis="compiled")
        for upstream in dict.fromkeys(observed):
            product = known.owners.get(upstream)
            yield LineageEdge(asset=asset.id, upstream=upstream, product=product, basis="observed")
    for upstream_ in contract.lineage.upstream if contract.lineage else ():
        name = upstream_.asset or upstream_.product
        if name is not None:
            yield LineageEdge(asset="*", upstream=name, product=upstream_.product, basis="declared")


def _governance(contract: AuthoredContract) -> Governance:
    """What is intended, with the masks that stand at columns."""
    intended = contract.governance or Governance()
    named = {m.column for m in intended.masking}
    masks = [
        MaskingIntent(column=f"{a.id}.{c.name}", rule=c.mask)
        for a in contract.assets
        for c in a.columns
        if c.mask is not None and f"{a.id}.{c.name}" not in named
    ]
    return replace(intended, masking=(*intended.masking, *masks))


def _agents(contract: AuthoredContract, now: datetime) -> Iterator[AgentPermission]:
    """The permissions that hold now; of a product that is retired, none."""
    today = now.date().isoformat()
    for permission in contract.agent_permissions:
        if contract.status != "retired" and (permission.expires is None or permission.expires >= today):
            yield permission


def _links(candidate: Candidate) -> Iterator[Link]:
    place = candidate.id.replace(".", "/")
    if candidate.file:  # which an old record of a promotion does not say
        yield Link(rel="source", href=candidate.file, title="the authored contract")
    yield Link(rel="docs", href=f"docs/{place}.html", title="documentation")


def _status(
    tests: tuple[TestStatus, ...],
    checks: tuple[CheckStatus, ...],
    freshness: tuple[FreshnessState, ...],
    schemas: tuple[SchemaState, ...],
    runs: tuple[RunSummary, ...],
) -> ProductStatus:
    blocked: list[StatusReason] = []
    degraded: list[StatusReason] = []
    for test in tests:
        if test.outcome in ("failed", "error"):
            reason = StatusReason(
                code="test-failed", message=test.message or f"{test.id} {test.outcome}", asset=test.asset, test=test.id
            )
            if test.severity == "blocking":
                blocked.append(reason)
            elif test.severity == "degrading":
                degraded.append(reason)
    for check in checks:
        if check.outcome in ("failed", "error") and check.weight != "informational":
            told = f"{check.check} {check.outcome}" + (f": {check.message}" if check.message else "")
            reason = StatusReason(code="check-failed", message=told, asset=check.asset)
            (blocked if check.weight == "blocking" else degraded).append(reason)
    for age in freshness:
        if age.state == "unknown":
            message = f"at most {age.expected} old is promised, and nothing tells how old it is"
            degraded.append(StatusReason(code="age-unknown", message=message, asset=age.asset))
        if age.state == "stale":
            message = age_told(str(age.latest), str(age.expected))
            degraded.append(StatusReason(code="stale", message=message, asset=age.asset))
    for run in runs:
        if run.live is False:
            message = (
                f"the rows that `{run.run_id}` made at {run.at} are not live: {_why_not(run, checks)}; older ones are"
            )
            degraded.append(StatusReason(code="not-live", message=message, asset=run.asset))
    for schema in schemas:
        for drift in schema.drift:
            degraded.append(StatusReason(code="schema-drift", message=drift, asset=schema.asset))
    state: Literal["healthy", "degraded", "blocked"] = "blocked" if blocked else "degraded" if degraded else "healthy"
    return ProductStatus(state=state, reasons=(*blocked, *degraded))


def _why_not(run: RunSummary, checks: Iterable[CheckStatus]) -> str:
    """Why what a run made is not live: who looked at the rows since has refused them."""
    for check in checks:
        held = check.asset == run.asset and check.check == WRITE_PIN and check.outcome == "failed"
        if held and check.at is not None and run.at is not None and check.at >= run.at:
            return f"the write pin refused them at {check.at}"
    return "nobody has held them against the contract (`strata guard`)"
