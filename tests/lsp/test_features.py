"""Each feature of the server over its streams, on a small project, with the values that an editor gets."""

from __future__ import annotations

from typing import Any

import pytest

from .client import Client, RequestError, at, shown


def uri(shop: Client, name: str) -> str:
    return (shop.folder / "models" / f"{name}.strata").as_uri()


def places(shop: Client, locations: Any) -> list[str]:
    """`paid 3:2-3:8`, with lines counted from 0."""
    return [f"{one['uri'].rsplit('/', 1)[1].removesuffix('.strata')} {shown(one['range'])}" for one in locations]


def test_what_it_can_do_is_told(shop: Client) -> None:
    capabilities = shop.initialized["capabilities"]
    assert shop.initialized["serverInfo"]["name"] == "strata"
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == 2
    assert capabilities["renameProvider"] == {"prepareProvider": True}
    assert {
        "hoverProvider", "completionProvider", "definitionProvider", "referencesProvider", "documentSymbolProvider",
        "workspaceSymbolProvider", "documentFormattingProvider", "codeActionProvider", "inlayHintProvider",
        "semanticTokensProvider", "signatureHelpProvider", "foldingRangeProvider", "documentHighlightProvider",
    } <= capabilities.keys()  # fmt: skip


def test_definition_into_the_template_of_a_generated_model(shop: Client) -> None:
    text = (
        "fn only(countries: List<Str>) -> List<Model> {\n"
        '  [model "in_${c}" { from paid  filter country == c  select { twice = total * 2 } } for c in countries]\n'
        '}\nonly(["ES", "MX"])\nmodel spain { from in_ES  select { twice } }\n'
    )
    other = shop.open(shop.folder / "models" / "made.strata", text)
    assert [f for f in shop.findings(other) if f[0].startswith("E")] == []
    last = "model spain { from in_ES  select { twice } }"
    assert places(shop, shop.at("definition", other, last.replace("in_ES", "in_‸ES"))) == ["made 1:9-1:18"]
    assert places(shop, shop.at("definition", other, last.replace("{ twice", "{ tw‸ice"))) == ["made 1:62-1:67"]
    assert places(shop, shop.at("definition", other, 'on‸ly(["ES", "MX"])')) == ["made 0:3-0:7"]
    template = (
        '  [model "in_${c}" { from paid  filter country == c  select { twice = tot‸al * 2 } } for c in countries]'
    )
    assert places(shop, shop.at("definition", other, template)) == ["paid 14:39-14:44"]
    hover = shop.at("hover", other, template.replace("‸", "").replace("twice", "tw‸ice"))["contents"]["value"]
    assert hover.startswith("```strata\nin_ES.twice: decimal(")
    hover = shop.at("hover", other, 'on‸ly(["ES", "MX"])')["contents"]["value"]
    assert hover == "```strata\nfn only(countries: List<Str>) -> List<Model>\n```\n\nmakes `in_ES`, `in_MX`"
    with pytest.raises(RequestError, match="named by a compile-time function"):
        shop.at("prepareRename", other, last.replace("in_ES", "in_‸ES"))
    labels = [item["label"] for item in shop.at("completion", other, template.replace("tot‸al", "‸total"))]
    assert labels[:4] == ["order_id", "country", "email", "total"]
    assert "only" in [item["label"] for item in shop.at("completion", other, 'on‸ly(["ES", "MX"])')]
    shop.close(other)


def test_a_function_of_an_engine_is_known_as_one_of_the_catalog(shop: Client) -> None:
    model = "model m { from orders  select { order_id, x = halved(order_id) } }"
    text = 'extern fn halved(n: int64) -> int64 nonnull deterministic { duckdb: "n // 2" }\n' + model + "\n"
    other = shop.open(shop.folder / "models" / "halved.strata", text)
    marked = model.replace("halved", "hal‸ved")
    signature = "extern fn halved(n: int64) -> int64 nonnull"
    assert shop.at("hover", other, marked)["contents"]["value"].startswith(f"```strata\n{signature}\n```")
    assert places(shop, shop.at("definition", other, marked)) == ["halved 0:10-0:16"]
    details = {item["label"]: item.get("detail") for item in shop.at("completion", other, model.replace("= h", "= ‸h"))}
    assert details["halved"] == signature
    assert details["order_id"] == "int64 nonnull"
    shop.close(other)


def test_findings_of_all_files(shop: Client) -> None:
    assert shop.findings(uri(shop, "paid")) == []
    assert shop.findings(uri(shop, "totals")) == [("W001", "0:6-0:12", "the model `totals` has no contract")]


HOVERS = {
    ("paid", "  filter am‸ount > 0"): (
        "```strata\norders.amount: decimal(10,2) nonnull\n```\n\ndeclared: `decimal(10,2) nonnull`"
    ),
    ("paid", '  select { order_id, country, p.ema‸il, total = cast(amount, "decimal(12,2)") }'): (
        "```strata\npaid.email: string\n```\n\nfrom `people.email` (passthrough, through a join)\n\n"
        "- type: proven (type inference: string, carried from people.email)"
    ),
    ("paid", '  select { order_id, countr‸y, p.email, total = cast(amount, "decimal(12,2)") }'): (
        "```strata\npaid.country: string nonnull\n```\n\nvalues: `ES`, `MX`\n\nfrom `orders.country` (passthrough)\n\n"
        "- type: proven (type inference: string nonnull, carried from orders.country)\n"
        "- nonnull: proven (type inference: string nonnull, carried from orders.country)\n"
        "- enum: proven (value set: its values are ES, MX)"
    ),
    ("totals", "  fro‸m paid"): None,
    ("totals", "  from pa‸id"): (
        "```strata\nmodel paid -> contract Paid {\n  order_id: int64 nonnull\n  country: string nonnull\n"
        "  email: string\n  total: decimal(12,2) nonnull\n}\n```\n\nowner: `finance`\n\nreads `orders`, `people`"
    ),
    ("paid", "model paid -> contract Pai‸d {"): (
        "```strata\ncontract Paid {\n  order_id: int64 primary_key\n  country: string nonnull enum {ES, MX}\n"
        "  email: string\n  total: decimal(12,2) nonnull\n}\n```\n\n"
        "model `paid`: 9 proven, 0 asserted at the write pin"
    ),
    ("sources", "    country: co‸de nonnull enum {ES, MX},"): "```strata\ndomain code = string\n```",
}  # fmt: skip


@pytest.mark.parametrize("place", HOVERS, ids=lambda place: place[1].strip())
def test_hover(shop: Client, place: tuple[str, str]) -> None:
    file, marked = place
    answer = shop.at("hover", uri(shop, file), marked)
    assert (answer and answer["contents"]["value"]) == HOVERS[place]


def test_hover_of_a_function_has_its_signature_meaning_examples_and_type_here(shop: Client) -> None:
    marked = "  group { country } ( aggregate { n = count(), total = su‸m(total) } )"
    shown_ = shop.at("hover", uri(shop, "totals"), marked)["contents"]["value"]
    assert shown_.startswith(
        "```strata\nsum(x: number | money) -> the type of x\n```\n\nExact sum of the non-null values"
    )
    cast = '  select { order_id, country, p.email, total = ca‸st(amount, "decimal(12,2)") }'
    assert shop.at("hover", uri(shop, "paid"), cast)["contents"]["value"].endswith("here: `decimal(12,2) nonnull`")


DEFINITIONS = {
    ("totals", "  from pa‸id"): ["paid 9:6-9:10"],
    ("totals", "  group { country } ( aggregate { n = count(), total = sum(tot‸al) } )"): ["paid 14:39-14:44"],
    ("totals", "test paid { expect tot‸al > 0 }"): ["paid 14:39-14:44"],
    ("paid", '  select { order_id, country, p.ema‸il, total = cast(amount, "decimal(12,2)") }'): [
        "sources 10:64-10:69"
    ],
    ("paid", '  select { order_id, country, ‸p.email, total = cast(amount, "decimal(12,2)") }'): ["paid 12:22-12:23"],
    ("paid", "  join_left peo‸ple as p on orders.buyer == p.id expect many_to_one"): ["sources 10:7-10:13"],
    ("paid", "model paid -> contract Pai‸d {"): ["paid 2:9-2:13"],
    ("paid", "import sour‸ces"): ["sources 0:0-0:0"],
    ("sources", "    country: co‸de nonnull enum {ES, MX},"): ["sources 0:7-0:11"],
    ("paid", "  owner: \"fin‸ance\""): [],
}  # fmt: skip


@pytest.mark.parametrize("place", DEFINITIONS, ids=lambda place: place[1].strip())
def test_definition(shop: Client, place: tuple[str, str]) -> None:
    assert places(shop, shop.at("definition", uri(shop, place[0]), place[1])) == DEFINITIONS[place]


def test_references_across_files(shop: Client) -> None:
    marked = "  to‸tal: decimal(12,2) nonnull"
    found = shop.at("references", uri(shop, "paid"), marked, context={"includeDeclaration": True})
    assert places(shop, found) == ["paid 6:2-6:7", "paid 14:39-14:44", "totals 2:59-2:64", "totals 5:19-5:24"]
    found = shop.at("references", uri(shop, "paid"), marked, context={"includeDeclaration": False})
    assert places(shop, found) == ["totals 2:59-2:64", "totals 5:19-5:24"]


def test_implementations_of_a_promise_are_what_keeps_it(shop: Client) -> None:
    found = shop.at("implementation", uri(shop, "paid"), "  to‸tal: decimal(12,2) nonnull")
    assert places(shop, found) == ["paid 14:39-14:44"]
    found = shop.at("implementation", uri(shop, "paid"), "contract Pai‸d {")
    assert places(shop, found) == ["paid 9:6-9:10"]


def test_highlights_in_the_file(shop: Client) -> None:
    found = shop.at("documentHighlight", uri(shop, "paid"), "  to‸tal: decimal(12,2) nonnull")
    assert [(shown(one["range"]), one["kind"]) for one in found] == [("6:2-6:7", 3), ("14:39-14:44", 3)]


def test_completion_has_types_and_explains_itself(shop: Client) -> None:
    items = shop.at("completion", uri(shop, "paid"), "  filter amo‸unt > 0")
    first = items[1]
    assert (first["label"], first["detail"], first["kind"]) == ("country", "string nonnull", 5)
    assert first["textEdit"] == {"newText": "country", "range": {"start": at(13, 9), "end": at(13, 12)}}
    upper = next(item for item in items if item["label"] == "upper")
    assert (upper["insertTextFormat"], upper["textEdit"]["newText"]) == (2, "upper($0)")
    resolved = shop.request("completionItem/resolve", upper)
    assert resolved["documentation"]["value"].startswith("```strata\nupper(text: string) -> string\n```")


def test_a_quote_offers_what_a_string_holds_and_nothing_where_it_ends_one(shop: Client) -> None:
    paid = uri(shop, "paid")
    typed = {"triggerKind": 2, "triggerCharacter": '"'}

    def labels(line: str) -> list[str]:
        before = shop.texts[paid]
        shop.change(paid, before.replace("  filter amount > 0", line))
        place = {"textDocument": {"uri": paid}, "position": at(13, len(line))}
        items = shop.request("textDocument/completion", {**place, "context": typed})
        shop.change(paid, before)
        return [one["label"] for one in items]

    assert labels('  filter country == "') == ["ES", "MX"]
    assert labels('  filter country == "ES"') == []


def test_signature_help(shop: Client) -> None:
    paid = uri(shop, "paid")
    marked = '  select { order_id, country, p.email, total = cast(amount, ‸"decimal(12,2)") }'
    found = shop.at("signatureHelp", paid, marked)
    assert found["signatures"][0]["label"] == "cast(x, type: literal string) -> type"
    assert found["activeParameter"] == 1
    assert [p["label"] for p in found["signatures"][0]["parameters"]] == ["x", "type: literal string"]
    assert shop.at("signatureHelp", paid, "  filter amount ‸> 0") is None


def test_document_symbols(shop: Client) -> None:
    found = shop.about("documentSymbol", uri(shop, "paid"))
    told = [(s["name"], s["detail"], [c["name"] for c in s.get("children") or []]) for s in found]
    assert told == [
        ("Paid", "contract", ["order_id", "country", "email", "total"]),
        ("paid", "model -> contract Paid", ["order_id", "country", "email", "total"]),
    ]


def test_workspace_symbols(shop: Client) -> None:
    found = shop.request("workspace/symbol", {"query": "tota"})
    assert [(s["name"], s.get("containerName")) for s in found] == [
        ("total", "Paid"), ("total", "paid"), ("totals", None), ("total", "totals"),
    ]  # fmt: skip


def test_folding(shop: Client) -> None:
    found = shop.about("foldingRange", uri(shop, "sources"))
    assert [(f["startLine"], f["endLine"]) for f in found] == [(1, 8), (2, 6)]


def test_inlay_hints(shop: Client) -> None:
    found = shop.about("inlayHint", uri(shop, "totals"), range={"start": at(0, 0), "end": at(9, 0)})
    assert [(h["position"]["line"], h["position"]["character"], h["label"]) for h in found] == [
        (2, 17, ": string nonnull"), (2, 35, ": int64 nonnull"), (2, 52, ": decimal(12,2) nonnull"),
    ]  # fmt: skip


def test_semantic_tokens(shop: Client) -> None:
    legend = shop.initialized["capabilities"]["semanticTokensProvider"]["legend"]
    data = shop.about("semanticTokens/full", uri(shop, "totals"))["data"]
    found, line, character = [], 0, 0
    for down, right, length, type_, modifiers in zip(*[iter(data)] * 5, strict=True):
        line, character = line + down, right + (character if down == 0 else 0)
        found.append((line, character, length, legend["tokenTypes"][type_], modifiers))
    assert found[:6] == [
        (0, 6, 6, "class", 1), (1, 7, 4, "class", 0), (2, 10, 7, "property", 1), (2, 34, 1, "property", 1),
        (2, 38, 5, "function", 0), (2, 47, 5, "property", 1),
    ]  # fmt: skip


def test_rename_through_the_contract_and_the_readers(shop: Client) -> None:
    marked = "  to‸tal: decimal(12,2) nonnull"
    assert shop.at("prepareRename", uri(shop, "paid"), marked) == {
        "range": {"start": at(6, 2), "end": at(6, 7)}, "placeholder": "total",
    }  # fmt: skip
    edit = shop.at("rename", uri(shop, "paid"), marked, newName="sum paid")["changes"]
    told = {key.rsplit("/", 1)[1]: [(shown(e["range"]), e["newText"]) for e in edits] for key, edits in edit.items()}
    assert told == {
        "paid.strata": [("6:2-6:7", "`sum paid`"), ("14:39-14:44", "`sum paid`")],
        "totals.strata": [("2:59-2:64", "`sum paid`"), ("5:19-5:24", "`sum paid`")],
    }


REFUSED = {
    ("paid", "  to‸tal: decimal(12,2) nonnull", "email"): "there is already a column `email` of `paid`",
    ("paid", "model pa‸id -> contract Paid {", "orders"): "there is already a table `orders`",
    ("paid", "model pa‸id -> contract Paid {", "a b"): "`a b` cannot name a table",
    ("paid", "  to‸tal: decimal(12,2) nonnull", ""): "a name has at least one character",
    ("paid", '  select { order_id, country, p.email, total = ca‸st(amount, "decimal(12,2)") }', "x"): "is a function",
    ("paid", "  owner: \"fin‸ance\"", "x"): "there is no name here",
}  # fmt: skip


@pytest.mark.parametrize("place", REFUSED, ids=lambda place: f"{place[1].strip()} {place[2]}")
def test_a_rename_that_cannot_be_is_refused_in_words(shop: Client, place: tuple[str, str, str]) -> None:
    with pytest.raises(RequestError, match=REFUSED[place]) as error:
        shop.at("rename", uri(shop, place[0]), place[1], newName=place[2])
    assert error.value.code == -32803


def test_a_rename_of_what_a_source_declares_warns_of_its_data(shop: Client) -> None:
    shop.messages.clear()
    shop.at("rename", uri(shop, "sources"), "    am‸ount: decimal(10,2) nonnull,", newName="price")
    assert [m["params"]["message"] for m in shop.messages] == [
        "the declared columns of `orders` changed: the data must have the new name too"
    ]


def test_formatting_touches_only_the_lines_that_it_changes(shop: Client) -> None:
    options = {"tabSize": 2, "insertSpaces": True}
    other = shop.open("untitled:layout", "domain a = string\ndomain   b=string\ndomain c = string\n")
    assert shop.about("formatting", other, options=options) == [
        {"range": {"start": at(1, 0), "end": at(1, 17)}, "newText": "domain b = string"}
    ]
    shop.change(other, "domain a = string\n")
    assert shop.about("formatting", other, options=options) == []
    shop.change(other, "domain a = \n")
    assert shop.about("formatting", other, options=options) is None
    shop.close(other)


def test_code_actions(shop: Client) -> None:
    totals = uri(shop, "totals")
    here = {"start": at(0, 7), "end": at(0, 7)}
    found = shop.about("codeAction", totals, range=here, context={"diagnostics": []})
    assert [(a["title"], a["kind"]) for a in found] == [
        ("allow W001 here, with a reason", "quickfix"),
        ("promise its columns in a contract `Totals`", "refactor.rewrite"),
    ]
    assert found[1]["edit"]["changes"][totals] == [
        {
            "range": {"start": at(0, 0), "end": at(0, 0)},
            "newText": 'contract Totals {\n  country: string primary_key enum {"ES", "MX"}\n  n: int64 nonnull\n'
            "  total: decimal(12,2) nonnull\n}\n\n",
        },
        {"range": {"start": at(0, 12), "end": at(0, 12)}, "newText": " -> contract Totals"},
    ]


FIXES = [
    ("model x { from orderz }", 15, "write `orders`", "model x { from orders }"),
    ("model x { from orders filter amont > 1 }", 31, "write `amount`", "model x { from orders filter amount > 1 }"),
    (
        "model x -> contract Paid { from paid select { order_id, country, total } }",
        22,
        "add `email`",
        "model x -> contract Paid { from paid select { order_id, country, total, email } }",
    ),
]


@pytest.mark.parametrize(("text", "character", "title", "mended"), FIXES)
def test_a_code_action_mends_what_was_found(shop: Client, text: str, character: int, title: str, mended: str) -> None:
    other = shop.open(shop.folder / "models" / "new.strata", text)
    here = {"start": at(0, character), "end": at(0, character)}
    actions = shop.about("codeAction", other, range=here, context={"diagnostics": []})
    (action,) = [a for a in actions if a["title"] == title]
    assert [d["code"] for d in action["diagnostics"]]
    for edit in action["edit"]["changes"][other]:
        start, end = edit["range"]["start"], edit["range"]["end"]
        shop.type(other, start["line"], start["character"], edit["newText"], (end["line"], end["character"]))
    shop.change(other, mended)
    assert [f for f in shop.findings(other) if f[0].startswith("E")] == []
    shop.close(other)
    shop.settled(uri(shop, "paid"))
    assert shop.found[other] == []
