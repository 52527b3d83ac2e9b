"""What a product's page says, section by section (Seed 2, "Minimum docs output"). A section without content is left
out, but for those that readers look for: their absence is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..authored import AgentPermission, Asset, AuthoredContract
from ..authored_tests import Custom, DbtTest, ExpectationTest, SqlTest, Test
from ..collation.candidate import TIERS, Tier
from ..naming import split_ref
from ..serving.runtime_view import TestStatus
from .blocks import (
    Block,
    Code,
    Drawing,
    Facts,
    Folded,
    Inline,
    Line,
    Listing,
    Mark,
    Page,
    Paragraph,
    Part,
    Row,
    Section,
    Source,
    Table,
    To,
    Tone,
    compact,
)
from .documented import Documented
from .drawing import drawing
from .expectations import in_words
from .schema import anchor, schema, source
from .stacked import stacked

STATES: Mapping[str, Tone] = {"healthy": "good", "degraded": "warn", "blocked": "bad"}
_AGES: Mapping[str, Tone] = {"fresh": "good", "stale": "bad", "unknown": "soft"}
_OUTCOMES: Mapping[str, Tone] = {"passed": "good", "failed": "bad", "error": "bad", "not_run": "soft"}
_STATUS: Mapping[str, Tone] = {"active": "good", "deprecated": "warn", "retired": "bad"}
_VERDICTS: Mapping[str, Tone] = {"major-breaking": "bad", "minor-compatible": "good", "patch-compatible": "good"}
_SHOWN = 24
"""A longer table of values' sources is folded."""


def page(product: Documented, names: Mapping[str, str]) -> Page:
    """The page of a product; `names` holds the names of all products that have pages."""
    view, contract = product.view, product.view.contract
    marks: list[Inline] = [
        Mark(f"v{view.version}", "key", "version"),
        Mark(contract.layer, "plain", "layer"),
        Mark(contract.status, _STATUS.get(contract.status, "plain"), "status of the contract"),
        Mark(view.status.state, STATES[view.status.state], "state of the product"),
    ]
    if contract.governance and contract.governance.classification:
        marks.append(Mark(contract.governance.classification, "secret", "classification"))
    made = ((anchor_, title, tuple(make(product, names))) for anchor_, title, make in SECTIONS)
    sections = tuple(Section(anchor_, title, blocks) for anchor_, title, blocks in made if blocks)
    return Page(view.id, contract.name, contract.purpose, tuple(marks), sections)


def _overview(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    view, contract = product.view, product.view.contract
    owner = contract.owner
    rows: list[tuple[str, Line]] = [
        ("Product", (Code(view.id),)),
        ("Layer", (contract.layer,)),
        ("Domain", (contract.domain,)),
        ("Owner", (owner.team,)),
    ]
    if owner.contact:
        rows.append(("Contact", (owner.contact,)))
    if owner.approvers:
        rows.append(("Approvers", (", ".join(owner.approvers),)))
    rows.append(("Status", (Mark(contract.status, _STATUS.get(contract.status, "plain")),)))
    yield Facts((*rows, ("State", (Mark(view.status.state, STATES[view.status.state]),))))
    if view.status.reasons:
        yield Listing(
            tuple(
                (*((Code(r.asset), ": ") if r.asset else ()), r.message, *((" (", Code(r.test), ")") if r.test else ()))
                for r in view.status.reasons
            )
        )


def _usage(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    usage = product.view.contract.usage
    if usage is None:
        yield Paragraph(("The contract does not say what the product is, or is not, meant for.",))
        return
    if usage.intended:
        yield Part("intended", ("Meant for",), (Listing(tuple((u,) for u in usage.intended)),))
    if usage.prohibited:
        heading = (Mark("prohibited", "bad"), " Not to be used for")
        yield Part("prohibited", heading, (Listing(tuple((u,) for u in usage.prohibited)),))


def _semantics(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    told = product.view.contract.semantics
    if told is None:
        return
    rows: list[tuple[str, Line]] = []
    if told.grain:
        rows.append(("Grain", (told.grain,)))
    if told.meaning:
        rows.append(("Meaning", (told.meaning,)))
    if rows:
        yield Facts(tuple(rows))
    if told.entities:
        entities = tuple(
            Row(((e.name,), _joined(_columns(product, e.keys)), (e.description or "",))) for e in told.entities
        )
        yield compact(Table("Entities", ("entity", "keys", "description"), entities))
    if told.measures:
        measures = tuple(
            Row(
                (
                    (m.name,),
                    _joined(_columns(product, (m.column,) if m.column else ())),
                    (" ".join(filter(None, (m.unit, m.currency))),),
                    (m.aggregation or "",),
                    (m.description or "",),
                )
            )
            for m in told.measures
        )
        yield compact(Table("Measures", ("measure", "column", "unit", "rolled up by", "description"), measures))


def _columns(product: Documented, references: tuple[str, ...]) -> Iterator[Inline]:
    """References to columns as links."""
    for reference in references:
        other, asset, column = split_ref(reference)
        yield To(other or product.view.id, reference, anchor(asset, column))


def _joined(parts: Iterator[Inline]) -> Line:
    found: list[Inline] = []
    for part in parts:
        found += [", ", part] if found else [part]
    return tuple(found)


def _freshness(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    view, promised = product.view, product.view.contract.freshness
    if promised is not None:
        told = f"At most {promised.max_age} old" + (f", {promised.schedule}" if promised.schedule else "")
        yield Paragraph((f"{told}.",))
    if view.freshness:
        runs = {r.asset: r for r in view.latest_runs}
        rows = tuple(
            Row(
                (
                    (Code(f.asset),),
                    (f.expected or "",),
                    (_moment(f.latest) if f.latest else "not seen",),
                    (Mark(f.state, _AGES[f.state]),),
                    (f"{runs[f.asset].state}: {runs[f.asset].run_id}" if f.asset in runs else "",),
                )
            )
            for f in view.freshness
        )
        yield compact(Table("Freshness", ("asset", "at most", "latest", "state", "latest run"), rows))
    elif promised is None:
        yield Paragraph(("The contract promises nothing about how old the data may be.",))


def _tests(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    if product.view.contract.tests:
        yield from _own_tests(product)
    else:
        yield Paragraph(("The contract has no tests.",))
    if product.view.checks:
        rows = tuple(
            Row(
                (
                    (Code(c.asset),),
                    (Code(c.check),),
                    (Mark(c.outcome, _OUTCOMES.get(c.outcome, "warn")), f" at {_moment(c.at)}" if c.at else ""),
                    (c.message or "",),
                )
            )
            for c in product.view.checks
        )
        yield compact(Table("Checks of the assets", ("asset", "check", "latest result", "what it says"), rows))


def _own_tests(product: Documented) -> Iterator[Block]:
    statuses = {t.id: t for t in product.view.tests}
    tests = product.view.contract.tests
    rows = tuple(
        Row(
            (
                (Code(test.id),),
                _checked(test),
                (Mark(test.severity, "key" if test.severity == "blocking" else "plain"),),
                _outcome(statuses.get(test.id)),
            ),
            f"test-{test.id}",
        )
        for test in tests
    )
    yield Table("Tests", ("test", "checks", "severity", "latest result"), rows)
    for test in tests:
        if isinstance(test, SqlTest):
            yield Folded(f"SQL of {test.id}", (Source(test.sql.rstrip(), "sql"),))


def _checked(test: Test) -> Line:
    said: Line
    match test:
        case SqlTest():
            said = ("no row is wrong: SQL below",)
        case DbtTest():
            said = ("dbt test ", Code(test.ref))
        case ExpectationTest():
            expectation = test.expectation
            of = (Code(test.asset), ": ")
            told: Inline = in_words(expectation)
            said = (*of, Code(expectation.expression) if isinstance(expectation, Custom) else told)
    return (*((test.description, " — ") if test.description else ()), *said)


def _outcome(status: TestStatus | None) -> Line:
    if status is None or status.outcome == "not_run":
        return (Mark("not run", "soft"),)
    said: list[Inline] = [Mark(status.outcome, _OUTCOMES.get(status.outcome, "warn"))]
    if status.offenders:
        said.append(f" {status.offenders} {'row' if status.offenders == 1 else 'rows'}")
    if status.at:
        said.append(f" at {_moment(status.at)}")
    if status.message and status.outcome != "passed":
        said.append(f": {status.message}")
    return tuple(said)


def _moment(instant: str) -> str:
    """An instant of a view to the minute, for people."""
    return f"{instant[:10]} {instant[11:16]} UTC"


def _lineage(product: Documented, names: Mapping[str, str]) -> Iterator[Block]:
    view = product.view
    if not view.lineage and not product.readers:
        yield Paragraph(("Nothing is known of what it is made of, and no product here is made of it.",))
        return
    yield Drawing(drawing(product, names) + stacked(product, names))
    if view.lineage:
        rows = tuple(
            Row(
                (
                    (Code(e.upstream),),
                    (To(e.product, names[e.product]),) if e.product and e.product in names else (e.product or "",),
                    (Code(e.asset) if e.asset != "*" else "the product",),
                    (e.basis,),
                )
            )
            for e in view.lineage
        )
        yield compact(Table("Made of", ("made of", "of product", "into", "known by"), rows))
    if product.readers:
        rows = tuple(
            Row(
                (
                    (To(r.product, names.get(r.product, r.product)),),
                    (Code(r.asset) if r.asset != "*" else "the product",),
                    (Code(r.upstream),),
                )
            )
            for r in product.readers
        )
        yield Table("Read by", ("read by", "into", "reads"), rows)


def _governance(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    told = product.view.governance
    rows: list[tuple[str, Line]] = []
    if told.classification:
        rows.append(("Classification", (Mark(told.classification, "secret"),)))
    if told.retention:
        basis = f" ({told.retention.basis})" if told.retention.basis else ""
        rows.append(("Kept for", (f"{told.retention.period}{basis}",)))
    if told.residency:
        rows.append(("Residency", (", ".join(told.residency),)))
    if told.lawful_basis:
        rows.append(("Lawful basis", (told.lawful_basis.replace("_", " "),)))
    if told.availability is not None:
        rows.append(("Availability", (f"{told.availability:g} %",)))
    if rows:
        yield Facts(tuple(rows))
    if told.masking:
        masks = tuple(Row((tuple(_columns(product, (m.column,))), (Code(m.rule),))) for m in told.masking)
        yield Table("Masks", ("column", "seen without clearance as"), masks)
    if not rows and not told.masking:
        yield Paragraph(("The contract states no intent.",))


def _agents(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    permissions = product.view.agent_permissions
    if not permissions:
        yield Paragraph(("No agent may use this product.",))
        return
    rows = tuple(
        Row(
            (
                (Code(p.agent),),
                (", ".join(p.actions),),
                (", ".join(p.assets) or "all assets",),
                (p.purpose or "",),
                (_bounds(p),),
            )
        )
        for p in permissions
    )
    yield compact(Table("Agent permissions", ("agent", "may", "on", "for", "within"), rows))


def _bounds(permission: AgentPermission) -> str:
    bounds = permission.constraints
    said = (
        f"{bounds.row_limit} rows" if bounds.row_limit is not None else None,
        f"columns {', '.join(bounds.columns)}" if bounds.columns else None,
        f"at most {bounds.max_classification}" if bounds.max_classification else None,
        "masked values only" if bounds.masked else None,
        "with a person's approval" if bounds.requires_approval else None,
        f"until {permission.expires}" if permission.expires else None,
    )
    return "; ".join(filter(None, said)) or "no further bounds"


def _versions(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    if product.pending:
        tone = _VERDICTS.get(product.pending, "plain")
        yield Paragraph((f"{product.view.version} is not promoted: ", Mark(product.pending, tone), "."))
    if product.history:
        rows = tuple(
            Row(
                (
                    (Code(p.version),),
                    (Mark(p.verdict, _VERDICTS.get(p.verdict, "plain")),),
                    (p.at[:10],),
                    (p.by,),
                    (Code(p.commit[:12]) if p.commit else "",),
                    _joined(iter([Code(c) for c in p.changes])),
                )
            )
            for p in reversed(product.history)
        )
        head = ("version", "verdict", "promoted", "by", "commit", "what changed for readers")
        yield compact(Table("Versions", head, rows))
    yield from _compatibility(product.view.contract)


def _compatibility(contract: AuthoredContract) -> Iterator[Block]:
    told = contract.compatibility
    if told is None:
        return
    rows: list[tuple[str, Line]] = []
    if told.deprecation:
        rows.append(("Version before", (f"announced {told.deprecation.announced}, gone {told.deprecation.sunset}",)))
    if told.consumer_impact:
        rows.append(("Impact on readers", (told.consumer_impact,)))
    if told.migration_notes:
        rows.append(("How to migrate", (told.migration_notes,)))
    for rename in told.renames:
        says = f"{rename.asset}.{rename.before} is now {rename.after}"
        rows.append(("Renamed", (says + (", and the old name still works" if rename.alias else ""),)))
    if rows:
        yield Facts(tuple(rows))


def _provenance(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    made = product.view.provenance
    facts: list[tuple[str, Line]] = [("Engine", (made.engine_version,))]
    if made.promoted_at:
        facts.append(("Promoted", (f"{made.promoted_at} by {made.promoted_by or 'nobody named'}",)))
    if made.git_commit:
        facts.append(("Commit", (Code(made.git_commit),)))
    yield Facts(tuple(facts))
    inputs = tuple(Row(((Code(i.path),), (Code(i.sha256),))) for i in made.inputs)
    if inputs:
        yield Folded(f"Made of {len(inputs)} files", (Table("Files", ("file", "sha256"), inputs),))
    values = tuple(
        Row(((Code(path),), (TIERS[p.tier],), (Code(f"{p.span.file}:{p.span.line}"),))) for path, p in product.sources
    )
    if values:
        table = Table("Where each value comes from", ("value", "from", "at"), values)
        yield Folded(f"Where each of {len(values)} values comes from", (table,)) if len(values) > _SHOWN else table


def _extensions(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    import json

    told = product.view.contract.extensions
    if told:
        yield Source(json.dumps(told, indent=2, ensure_ascii=False), "json")


def _assets(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    for number, asset in enumerate(product.view.contract.assets):
        yield _asset(product, number, asset)


def _asset(product: Documented, number: int, asset: Asset) -> Part:
    blocks: list[Block] = []
    if asset.description:
        blocks.append(Paragraph((asset.description,)))
    facts: list[tuple[str, Line]] = [("Made as", (asset.kind.replace("_", " "), " ", Code(asset.ref or asset.id)))]
    if asset.location:
        facts.append(("Location", (Code(asset.location),)))
    if asset.freshness:
        by = f", by {asset.freshness.column}" if asset.freshness.column else ""
        facts.append(("At most", (f"{asset.freshness.max_age} old{by}",)))
    if asset.tags:
        facts.append(("Tags", (", ".join(asset.tags),)))
    if asset.closed:
        facts.append(("Closed", ("it has no column besides these",)))
    usual = source(product, number, asset)
    if usual is not None and usual[0] is not Tier.CANONICAL:
        facts.append(("Types and descriptions from", (f"{TIERS[usual[0]]} ", Code(usual[1]))))
    blocks.append(Facts(tuple(facts)))
    if asset.documentation:
        blocks.append(Paragraph((asset.documentation,)))
    blocks += schema(product, number, asset)
    return Part(anchor(asset.id), (Code(asset.id),), tuple(blocks))


SECTIONS: tuple[tuple[str, str, Callable[[Documented, Mapping[str, str]], Iterator[Block]]], ...] = (
    ("overview", "Overview", _overview),
    ("usage", "Usage", _usage),
    ("assets", "Assets and schema", _assets),
    ("semantics", "Semantics", _semantics),
    ("freshness", "Freshness", _freshness),
    ("tests", "Tests", _tests),
    ("lineage", "Lineage", _lineage),
    ("governance", "Governance", _governance),
    ("agents", "Agent permissions", _agents),
    ("versions", "Versions", _versions),
    ("extensions", "Extensions", _extensions),
    ("provenance", "Provenance", _provenance),
)
"""The sections of a page, in their order."""
