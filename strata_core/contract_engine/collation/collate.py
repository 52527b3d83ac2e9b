"""Collate: contracts, fragments and generated metadata become one candidate per product (Seed 2, step 3).

Nothing depends on the order of the files, on one being there twice, or on how fragments are cut: parts are sorted by
their tier and value before any counts. Codes: E023 (a name twice), E111 to E115, W110, W111.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ...diagnostics import Diagnostic, Related, Report, Severity
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ...diagnostics.wording import plural
from ...frozen import dataclass, replace
from ..discover import contract_path
from ..documents import Document, Mark, Path, finding, value_at
from ..parse.parsed import ContractText, FragmentText, GeneratedAsset, GeneratedColumn, Parsed
from ..schemas import AUTHORED
from ..shapes import valid
from .alone import provenance_alone
from .candidate import Candidate, Confidence, Provenance, SuggestedEdit, Tier
from .merge import Merge, Part

_SHOWN = 8


@dataclass(frozen=True)
class Collated:
    """The candidates, and what was found while merging."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Candidate]:
        """The candidates by their products' ids."""
        return {c.id: c for c in self.candidates}


class _Product:
    """A contract, and what is said about it elsewhere, as it is gathered."""

    def __init__(self, text: ContractText) -> None:
        self.text = text
        self.parts: list[Part] = []
        self.inputs = {text.document.file}


def collate(parsed: Parsed, roots: Sequence[str] = ("contracts",)) -> Collated:
    """The candidates of all products. `roots` are the folders that hold contracts."""
    found: list[Diagnostic] = []
    products = _products(parsed, roots, found.append)
    index = _Index(products)
    for file in parsed.files:
        for fragment in file.fragments:
            _place(fragment, products, index, found.append)
    owners = index.owners()
    generated = _generated(parsed, index)
    candidates = []
    for id_, product in sorted(products.items()):
        candidates.append(_candidate(id_, product, generated.get(id_, ()), owners, found.append))
    return Collated(tuple(candidates), tuple(found))


def _products(parsed: Parsed, roots: Sequence[str], report: Report) -> dict[str, _Product]:
    """The sound contracts by id. E113 where an id has two, E115 where one lies in another place than its id says."""
    products: dict[str, _Product] = {}
    for file in sorted(parsed.files, key=lambda f: f.path):
        text = file.contract
        if (
            text is None
            or not isinstance(text.document.data, dict)
            or not isinstance(text.document.data.get("id"), str)
        ):
            continue
        id_ = text.document.data["id"]
        if id_ in products:
            first = products[id_].text.document
            related = (Related(first.span(("id",)), "the first is here"),)
            message, fix = f"there are two contracts of `{id_}`", "give one of them another id, or remove it"
            report(finding("E113", message, text.document, ("id",), fix, related=related))
            continue
        _check_place(text.document, roots, report)
        products[id_] = _Product(text)
    return products


def _check_place(document: Document, roots: Sequence[str], report: Report) -> None:
    id_, domain = document.data["id"], document.data.get("domain")
    if isinstance(domain, str) and id_.partition(".")[0] != domain:
        message = f"the domain is `{domain}`, but the id `{id_}` begins with `{id_.partition('.')[0]}`"
        report(finding("E115", message, document, ("domain",), f"write `domain: {id_.partition('.')[0]}`"))
    wanted = contract_path(id_)
    for root in roots:
        place = document.file.removeprefix(f"{root.rstrip('/')}/")
        if place != document.file and place != wanted:
            message = f"the contract of `{id_}` lies in `{document.file}`"
            report(finding("E115", message, document, ("id",), f"move it to `{root.rstrip('/')}/{wanted}`"))


class _Index:
    """Which assets of which products a name may mean."""

    def __init__(self, products: Mapping[str, _Product]) -> None:
        self.by_name: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.names: dict[str, dict[str, str]] = {}
        for id_, product in products.items():
            own = self.names.setdefault(id_, {})
            for asset in _assets(product.text.document):
                for name in dict.fromkeys((asset["id"], asset.get("ref", asset["id"]))):
                    own[name] = asset["id"]
                    self.by_name[name].add((id_, asset["id"]))

    def owners(self) -> Mapping[str, str]:
        """The product that an asset's name belongs to, where it is one alone."""
        return {n: next(iter(f))[0] for n, f in self.by_name.items() if len({product for product, _ in f}) == 1}


def _assets(document: Document) -> Iterator[Mapping[str, Any]]:
    assets = document.data.get("assets")
    for asset in assets if isinstance(assets, list) else ():
        if isinstance(asset, dict) and isinstance(asset.get("id"), str) and isinstance(asset.get("ref", ""), str):
            yield asset


def _place(fragment: FragmentText, products: Mapping[str, _Product], index: _Index, report: Report) -> None:
    """Add a fragment to the product that it is about. E111, E112."""
    document, data = fragment.document, fragment.document.data
    product, name = data.get("product"), data.get("asset", fragment.beside)
    if product is not None and product not in products:
        fix = did_you_mean(product, products, "write its contract first, or correct the name")
        report(finding("E112", f"there is no contract of a product `{product}`", document, ("product",), fix))
        return
    if product is None:
        meant = index.by_name.get(name, set())
        if not meant:
            fix = did_you_mean(str(name), index.by_name, "name the product that it belongs to: `product: …`")
            report(finding("E112", f"no contract has an asset `{name}`", document, ("asset",), fix))
            return
        if len({p for p, _ in meant}) > 1:
            listed = ", ".join(f"`{p}`" for p in sorted({p for p, _ in meant}))
            message = f"`{name}` is an asset of several products: {listed}"
            report(finding("E111", message, document, ("asset",), "say which is meant: `product: …`"))
            return
        product = next(iter(meant))[0]
    own = index.names[product]
    if "asset" in data and fragment.beside is not None:
        stands = index.by_name.get(fragment.beside, set())
        if stands and own.get(data["asset"]) not in {asset for p, asset in stands if p == product}:
            message = f"the fragment stands at `{fragment.beside}` and names `{data['asset']}`: it has two targets"
            fix = "take the name away, or move the fragment to the asset that it is about"
            report(finding("E111", message, document, ("asset",), fix))
            return
    id_ = own.get(name) if name is not None else None
    if name is not None and id_ is None and "asset" in data:
        if "kind" not in data:
            fix = did_you_mean(name, own, f"add it to the contract of `{product}`, or give the fragment a `kind`")
            report(finding("E112", f"`{product}` has no asset `{name}`", document, ("asset",), fix))
            return
        id_ = name
    if name is not None and id_ is None and "asset" not in data and data.keys() & _OF_ASSET:
        fix = "add `asset: …` with the asset's id"
        message = f"the fragment stands at `{name}`, which is no asset of `{product}`"
        report(finding("E112", message, document, (), fix))
        return
    products[product].parts += _parts(fragment, id_)
    products[product].inputs.add(document.file)


_OF_ASSET = frozenset({"kind", "ref", "description", "documentation", "tags", "location", "freshness", "columns"})


def _parts(fragment: FragmentText, asset: str | None) -> Iterator[Part]:
    """The fragment in the form of a contract."""
    document, data = fragment.document, fragment.document.data
    of_asset = {k: v for k, v in data.items() if k in _OF_ASSET}
    moved: dict[str, Any] = {k: data[k] for k in ("tests", "lineage") if k in data}
    if asset is not None:
        moved["assets"] = [{"id": asset, **of_asset}]
    head: Path = ("assets", 0)

    def place(path: Path) -> Path:
        return (*head, *path) if path[:1] and path[0] in _OF_ASSET else path

    values = {place(path): mark for path, mark in document.values.items()}
    keys = {place(path): mark for path, mark in document.keys.items()}
    if ("asset",) in document.values:
        values[head] = values[(*head, "id")] = document.values["asset",]
    yield Part(Tier.FRAGMENT, Document(document.file, moved, values, keys, document.written), (), moved)


def _generated(parsed: Parsed, index: _Index) -> Mapping[str, list[tuple[str, GeneratedAsset]]]:
    """The generated assets that each product's assets are, by product: (asset id, what is known of it)."""
    found: dict[str, dict[tuple[str, int], GeneratedAsset]] = defaultdict(dict)
    for number, asset in enumerate(sorted(parsed.generated, key=lambda a: (a.refs, a.span, a.kind))):
        for ref in asset.refs:
            for product, id_ in index.by_name.get(ref, ()):
                found[product][id_, number] = asset
    return defaultdict(
        list, {p: [(id_, a) for (id_, _), a in sorted(f.items(), key=_number)] for p, f in found.items()}
    )


def _number(item: tuple[tuple[str, int], GeneratedAsset]) -> tuple[str, int]:
    return item[0]


_KINDS = {
    "strata_model": ("strata_model",),
    "dbt_model": ("dbt_model",),
    "dlt_resource": ("dlt_resource",),
    "sql": ("sql", "dbt_model", "table"),
    "table": ("table", "dbt_model", "strata_model"),
    "dagster_asset": ("strata_model", "dbt_model", "table"),
}
"""Which generated metadata may speak of an asset of each kind; what was seen in a run may speak of any."""


def _candidate(
    id_: str,
    product: _Product,
    generated: Sequence[tuple[str, GeneratedAsset]],
    owners: Mapping[str, str],
    report: Report,
) -> Candidate:
    document = product.text.document
    if not product.text.sound:
        return Candidate(document.file, id_, document.data, {}, False, inputs=(document.file,))
    kinds = {a["id"]: str(a.get("kind")) for a in _assets(document)}
    known = [
        (asset, facts)
        for asset, facts in generated
        if facts.kind in _KINDS.get(kinds.get(asset, ""), ()) or (facts.kind == "table" and not facts.compiled)
    ]
    columns = {a["id"]: a.get("columns") for a in _assets(document)}
    known = [(asset, _as_authored(facts, columns.get(asset))) for asset, facts in known]
    if not known and not product.parts and (places := provenance_alone(document)) is not None:
        return Candidate(document.file, id_, document.data, places, True, inputs=(document.file,))
    parts = [Part(Tier.CANONICAL, document, (), document.data), *product.parts]
    parts += [part for asset, facts in known for part in _generated_parts(asset, facts, id_, owners)]
    merge = Merge(document.file, report)
    data = merge.fields("", (), parts)
    edits = [*merge.edits, *_drift(document, data, known, merge.provenance, report)]
    files = {facts.span.file for _, facts in known}
    inputs = (document.file, *sorted((product.inputs | files) - {document.file}))
    return Candidate(document.file, id_, data, merge.provenance, valid(data, AUTHORED), tuple(edits), inputs)


def _as_authored(facts: GeneratedAsset, columns: Any) -> GeneratedAsset:
    """A warehouse folds the case of names as it likes: its columns take the spelling of the contract."""
    names = [c["name"] for c in columns or () if isinstance(c, dict) and isinstance(c.get("name"), str)]
    folded = {name.casefold(): name for name in names}
    if facts.compiled or len(folded) != len(names):
        return facts
    spelled = tuple(replace(c, name=folded.get(c.name.casefold(), c.name)) for c in facts.columns)
    return replace(facts, columns=spelled) if len({c.name for c in spelled}) == len(spelled) else facts


def _generated_parts(asset: str, facts: GeneratedAsset, id_: str, owners: Mapping[str, str]) -> Iterator[Part]:
    """What is generated, in the form of a contract: what tools know, and what a Strata contract promises."""

    def part(tier: Tier, data: dict[str, Any]) -> Part:
        own = facts.span
        mark = (own.line, own.column, own.end_line, own.end_column)
        values: dict[Path, Mark] = {(): mark}
        for i, column in enumerate(facts.columns):
            if column.span is not None and column.span.file == own.file:
                s = column.span
                values["assets", 0, "columns", i] = (s.line, s.column, s.end_line, s.end_column)
        return Part(tier, Document(own.file, data, values, {}), (), data)

    columns = [
        _present(name=c.name, type=c.type, description=c.description, nullable=c.nullable) for c in facts.columns
    ]
    known = _present(id=asset, description=facts.description, columns=columns or None)
    made_of = sorted({owners[u] for u in facts.upstream if u in owners} - {id_})
    lineage = {"upstream": [{"product": p} for p in made_of]} if made_of else None
    yield part(Tier.GENERATED, _present(assets=[known], lineage=lineage))
    if facts.promised:
        promised = [
            _present(
                name=c.name,
                type=c.type,
                nullable=False if c.nullable is False else None,
                unique=c.unique,
                primary_key=c.primary_key,
                protected=c.protected,
                enum=list(c.enum) or None,
                classification=c.classification,
            )
            for c in facts.columns
        ]
        yield part(Tier.FRAGMENT, {"assets": [{"id": asset, "columns": promised}]})


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _drift(
    document: Document,
    data: Mapping[str, Any],
    known: Iterable[tuple[str, GeneratedAsset]],
    provenance: Mapping[Path, Provenance],
    report: Report,
) -> Iterator[SuggestedEdit]:
    """Columns that the contract has and a tool has not (E114), and the other way round (W110; E114 where closed)."""
    assets = {a["id"]: (i, a) for i, a in enumerate(data.get("assets", ()))}
    authored = {a["id"]: i for i, a in enumerate(_assets(document))}
    for id_, facts in known:
        number, asset = assets[id_]
        columns = asset.get("columns", [])
        if not columns or not facts.complete:
            continue
        names, found = {c["name"] for c in columns}, {c.name for c in facts.columns}
        for i, column in enumerate(columns):
            path: Path = ("assets", number, "columns", i)
            if column["name"] not in found and path in provenance:
                message = f"`{id_}` has no column `{column['name']}`, which the contract promises"
                fix = did_you_mean(column["name"], sorted(found - names), "add it where the table is made")
                related = (Related(facts.span, f"made here, with {plural(len(found), 'column')}"),)
                span = provenance[path].span
                where = f"assets[{id_}].columns[{column['name']}]"
                report(Diagnostic("E114", message, span, fix=fix, related=related, field_path=where))
        extra = [c for c in facts.columns if c.name not in names]
        if not extra:
            continue
        own = authored.get(id_)
        span = document.span(("assets", own, "columns") if own is not None else ())
        yield from _additions(document, own, extra, facts)
        shown = listed([f"`{c.name}`" for c in extra], _SHOWN)
        message = f"`{id_}` has columns that the contract does not name: {shown}"
        related = (Related(facts.span, "made here"),)
        where = f"assets[{id_}].columns"
        if asset.get("closed"):
            fix = "add them to the contract, or do not put them out: it is closed"
            report(Diagnostic("E114", message, span, fix=fix, related=related, field_path=where))
        else:
            fix = "add them to promise them; `contract-engine suggest` writes them"
            report(Diagnostic("W110", message, span, Severity.INFO, fix=fix, related=related, field_path=where))


def _additions(
    document: Document, asset: int | None, extra: Iterable[GeneratedColumn], facts: GeneratedAsset
) -> Iterator[SuggestedEdit]:
    if asset is None:
        return
    confidence = Confidence.HIGH if facts.compiled else Confidence.MEDIUM
    columns = value_at(document.data, ("assets", asset, "columns"))
    count = len(columns) if isinstance(columns, list) else 0
    for offset, column in enumerate(extra):
        value = _present(name=column.name, type=column.type, description=column.description)
        reason = f"the table has a column `{column.name}`"
        path = ("assets", asset, "columns", count + offset)
        yield SuggestedEdit(document.file, path, value, None, reason, column.span or facts.span, confidence)
