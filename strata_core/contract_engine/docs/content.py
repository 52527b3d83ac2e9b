"""What a product's page says, section by section (Seed 2, "Minimum docs output"). A section without content is left
out, but for those that readers look for: their absence is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...diagnostics.wording import plural
from ..authored import AgentPermission, Asset
from ..collation.candidate import TIERS, Tier
from ..naming import split_ref
from .blocks import (
    Block,
    Code,
    Facts,
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
    joined,
)
from .documented import Documented
from .edges import lineage
from .observed import freshness, tests
from .origins import provenance, versions
from .schema import anchor, schema, source

STATES: Mapping[str, Tone] = {"healthy": "good", "degraded": "warn", "blocked": "bad"}
_STATUS: Mapping[str, Tone] = {"active": "good", "deprecated": "warn", "retired": "bad"}


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


def _columns(product: Documented, references: tuple[str, ...]) -> Iterator[Inline]:
    """References to columns as links."""
    for reference in references:
        other, asset, column = split_ref(reference)
        yield To(other or product.view.id, reference, anchor(asset, column))


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
            Row(((e.name,), joined(_columns(product, e.keys)), (e.description or "",))) for e in told.entities
        )
        yield compact(Table("Entities", ("entity", "keys", "description"), entities))
    if told.measures:
        measures = tuple(
            Row(
                (
                    (m.name,),
                    joined(_columns(product, (m.column,) if m.column else ())),
                    (" ".join(filter(None, (m.unit, m.currency))),),
                    (m.aggregation or "",),
                    (m.description or "",),
                )
            )
            for m in told.measures
        )
        yield compact(Table("Measures", ("measure", "column", "unit", "rolled up by", "description"), measures))


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
        plural(bounds.row_limit, "row") if bounds.row_limit is not None else None,
        f"columns {', '.join(bounds.columns)}" if bounds.columns else None,
        f"at most {bounds.max_classification}" if bounds.max_classification else None,
        "masked values only" if bounds.masked else None,
        "with a person's approval" if bounds.requires_approval else None,
        f"until {permission.expires}" if permission.expires else None,
    )
    return "; ".join(filter(None, said)) or "no further bounds"


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
    ("freshness", "Freshness", freshness),
    ("tests", "Tests", tests),
    ("lineage", "Lineage", lineage),
    ("governance", "Governance", _governance),
    ("agents", "Agent permissions", _agents),
    ("versions", "Versions", versions),
    ("extensions", "Extensions", _extensions),
    ("provenance", "Provenance", provenance),
)
"""The sections of a page, in their order."""
