"""The files of the documentation: `index.html`, `llms.txt`, and per product a page, its Markdown and its JSON."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Any

from ...diagnostics.listing import listed
from ...diagnostics.markdown import markdown_cell
from ...diagnostics.render import legible
from ...diagnostics.wording import plural
from ..collation.candidate import TIERS
from ..runtime_view import RuntimeView
from .content import STATES, page
from .documented import Documented
from .html import filled, page_html
from .markdown import page_markdown
from .schema import anchor

_SHOWN = 12
"""Of more assets, an index names the first."""


def site(products: Sequence[Documented]) -> Mapping[str, bytes]:
    """The files by path: pages are at `<domain>/<product>.html`. No text of a contract steers a terminal or turns the
    writing of a page; the JSON has all texts as they are."""
    names = {p.view.id: p.view.contract.name for p in products}
    files = {"index.html": index_html(products), "llms.txt": llms_text(products)}
    for product in products:
        place = product.view.id.replace(".", "/")
        stem = place.rpartition("/")[2]
        content = page(product, names)
        beside = {"Markdown": f"{stem}.md", "JSON for agents": f"{stem}.json"}
        files[f"{place}.html"] = page_html(content, _beside("html", names), "../index.html", beside)
        files[f"{place}.md"] = page_markdown(content, _beside("md", names))
        files[f"{place}.json"] = json.dumps(for_agents(product), indent=2, ensure_ascii=False) + "\n"
    return {path: (text if path.endswith(".json") else legible(text)).encode() for path, text in files.items()}


def _beside(suffix: str, names: Mapping[str, str]) -> Callable[[str], str]:
    """Addresses as seen from a product's page; of a product without page, that of the index."""

    def href(product: str) -> str:
        if product in names:
            return f"../{product.replace('.', '/')}.{suffix}"
        return "../index.html" if suffix == "html" else "../llms.txt"

    return href


def for_agents(product: Documented) -> dict[str, Any]:
    """What the page says, as data: the view, where its values come from, its versions and its readers."""
    return {
        "apiVersion": "strata/v0",
        "kind": "DataProductDocumentation",
        "view": product.view.plain(),
        "values": {path: f"{TIERS[p.tier]} {p.span.file}:{p.span.line}" for path, p in product.sources},
        "column_origins": {
            f"{asset}.{column}": [f"{o.table}.{o.column}" for o in origins]
            for (asset, column), origins in product.origins.items()
        },
        "versions": [
            {
                "version": p.version,
                "verdict": p.verdict,
                "at": p.at,
                "by": p.by,
                "commit": p.commit,
                "changes": list(p.changes),
            }
            for p in product.history
        ],
        "not_promoted": product.pending,
        "readers": [{"product": r.product, "asset": r.asset, "reads": r.upstream} for r in product.readers],
    }


def llms_text(products: Sequence[Documented]) -> str:
    """The index for language models (llmstxt.org): every product with its purpose, and where its page is."""
    lines = [
        "# Data products",
        "",
        "> What each data product offers, what it may be used for, and how it stands. Read a product's page before you",
        "> use it, and keep to its prohibited usage and its agent permissions.",
        "",
        "The same as data is in the `.json` beside each `.md`: `view.contract` is what is promised (assets, columns,",
        "usage, tests), `view.agent_permissions` what agents may do, `view.status` and `view.freshness` how it stood",
        "when this was written, `column_origins` what columns are made of, `values` the file and line of each value.",
    ]
    for domain, members in _by_domain(products).items():
        lines += ["", f"## {domain}", ""]
        for product in members:
            view = product.view
            place = view.id.replace(".", "/")
            told = f"`{view.id}`, {view.contract.layer}, {view.contract.status}, {view.status.state}"
            purpose = f" {markdown_cell(view.contract.purpose)}" if view.contract.purpose else ""
            assets = listed([a.id for a in view.contract.assets], _SHOWN)
            lines.append(
                f"- [{markdown_cell(view.contract.name)}]({place}.md): {told}, version {view.version}.{purpose}"
                f" Assets: {assets}. As data: [JSON]({place}.json)"
            )
    return "\n".join(lines) + "\n"


def index_html(products: Sequence[Documented]) -> str:
    """All products by domain, and a search over their names, assets, columns and texts."""
    groups = "\n".join(
        f'<section class="domain" aria-labelledby="domain-{escape(domain)}"><h2 id="domain-{escape(domain)}">'
        f"{escape(domain.replace('_', ' '))}</h2>"
        f'<ul class="cards">{"".join(_card(p.view) for p in members)}</ul></section>'
        for domain, members in _by_domain(products).items()
    )
    data = json.dumps([_searched(p.view) for p in products], ensure_ascii=True, separators=(",", ":"))
    layers = tuple(dict.fromkeys(p.view.contract.layer for p in products))
    states = [s for s in ("healthy", "degraded", "blocked") if any(p.view.status.state == s for p in products)]
    count = plural(len(products), "data product")
    values = {
        "count": count,
        "groups": groups or "<p>No product is documented yet.</p>",
        "layers": _choices("layer", layers),
        "states": _choices("state", states),
        # `<` could end the element that holds the data.
        "data": data.replace("<", "\\u003c"),
    }
    return filled("index.html", values, script="index.js")


def _by_domain(products: Iterable[Documented]) -> Mapping[str, list[Documented]]:
    found: dict[str, list[Documented]] = defaultdict(list)
    for product in products:
        found[product.view.contract.domain].append(product)
    return dict(sorted(found.items()))


def _choices(name: str, values: Sequence[str]) -> str:
    """What can be chosen; nothing where there is one alone."""
    if len(values) < 2:
        return ""
    return "".join(
        f'<label><input type="checkbox" name="{name}" value="{escape(v)}"><span>{escape(v)}</span></label>'
        for v in values
    )


def _card(view: RuntimeView) -> str:
    contract = view.contract
    assets = ", ".join(a.id for a in contract.assets)
    purpose = f'<p class="purpose">{escape(contract.purpose)}</p>' if contract.purpose else ""
    return (
        f'<li class="card" data-id="{escape(view.id)}"><h3><a href="{escape(view.id.replace(".", "/"))}.html">'
        f"{escape(contract.name)}</a></h3>"
        f'<p class="marks"><span class="mark key">v{escape(view.version)}</span>'
        f'<span class="mark plain">{escape(contract.layer)}</span>'
        f'<span class="mark plain">{escape(contract.status)}</span>'
        f'<span class="mark {STATES[view.status.state]}">{view.status.state}</span></p>{purpose}'
        f'<p class="about">{escape(assets)} · {escape(contract.owner.team)}</p><ul class="hits"></ul></li>'
    )


def _searched(view: RuntimeView) -> dict[str, Any]:
    """What the search knows of a product: texts by what they are, each with the place on the page where it stands."""
    contract = view.contract
    semantics = contract.semantics
    assets = [("asset", a.id, a.description or "", anchor(a.id)) for a in contract.assets]
    columns = [
        ("column", f"{a.id}.{c.name}", " ".join(filter(None, (c.description, c.classification))), anchor(a.id, c.name))
        for a in contract.assets
        for c in a.columns
    ]
    measures = [
        ("measure", m.name, m.description or "", "semantics") for m in (semantics.measures if semantics else ())
    ]
    entities = [("entity", e.name, e.description or "", "semantics") for e in (semantics.entities if semantics else ())]
    usage = [("usage", text, "", "usage") for text in (contract.usage.intended if contract.usage else ())]
    tests = [("test", t.id, t.description or "", f"test-{t.id}") for t in contract.tests]
    return {
        "id": view.id,
        "name": contract.name,
        "text": " ".join(filter(None, (contract.purpose, contract.owner.team, contract.layer, contract.status))),
        "layer": contract.layer,
        "state": view.status.state,
        "parts": list(chain(assets, columns, measures, entities, usage, tests)),
    }
