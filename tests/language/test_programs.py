"""The example of language.md as one literal tree, spans included where they matter."""

from __future__ import annotations

from strata_core.language.parser import parse_module

PROGRAM = """\
domain country_code = string

source orders(ns: "crm", dataset: "orders") {   // resource clause: where the table is
  columns: {                                    // declared schema
    order_id: int64 nonnull primary_key,
    country:  country_code nonnull,
    amount:   money(EUR) nonnull,
    placed:   timestamp,
    tags:     array(string),
  }
  freshness: <= 1d
  filter: amount > cast(0, "money(EUR)")
}

contract PaidOrders {
  order_id : int64 primary_key
  country  : string nonnull enum {ES, MX, "CO"}
  email    : string protected classification: "pii" mask: hash
}

model paid_orders -> contract PaidOrders {
  owner: "finance"  description: "orders that were paid"
  from orders
  join_left customers on orders.customer_id == customers.customer_id expect many_to_one
  filter orders.amount > cast(0, "money(EUR)")
  derive { day = date_trunc(placed, day) }
  select { order_id, country = upper(country), email = customers.email, amount }
}
"""

TREE = [
    "Domain(name=country_code type=TypeExpr(name=string))",
    "Source(name=orders resource=[ns: 'crm', dataset: 'orders'] columns=["
    "FieldDecl(name=order_id type=TypeExpr(name=int64) annotations=[Flag(word=nonnull), Flag(word=primary_key)]), "
    "FieldDecl(name=country type=TypeExpr(name=country_code) annotations=[Flag(word=nonnull)]), "
    "FieldDecl(name=amount type=TypeExpr(name=money currency=EUR) annotations=[Flag(word=nonnull)]), "
    "FieldDecl(name=placed type=TypeExpr(name=timestamp)), "
    "FieldDecl(name=tags type=TypeExpr(name=array arguments=[TypeExpr(name=string)]))] "
    "freshness=Freshness(limits=[86400s]) filter=(amount > Call(function=cast arguments=[0, 'money(EUR)'])))",
    "Contract(name=PaidOrders fields=["
    "FieldDecl(name=order_id type=TypeExpr(name=int64) annotations=[Flag(word=primary_key)]), "
    "FieldDecl(name=country type=TypeExpr(name=string) annotations=[Flag(word=nonnull), EnumOf(values=[ES, MX, CO])]), "
    "FieldDecl(name=email type=TypeExpr(name=string) annotations=[Flag(word=protected), Classification(label=pii), "
    "Mask(rule=hash)])])",
    "Model(name=paid_orders contract=PaidOrders attributes=[owner: 'finance', description: 'orders that were paid'] "
    "statements=[From(table=orders), "
    "Join(kind=left table=customers on=(orders.customer_id == customers.customer_id) expect=many_to_one), "
    "Filter(condition=(orders.amount > Call(function=cast arguments=[0, 'money(EUR)']))), "
    "Derive(items=[day = Call(function=date_trunc arguments=[placed, day])]), "
    "Select(items=[order_id, country = Call(function=upper arguments=[country]), email = customers.email, amount])])",
]


def test_the_example_of_the_design(spell):
    result = parse_module(PROGRAM, "orders.strata")
    assert result.diagnostics == ()
    assert [spell(declaration) for declaration in result.module.declarations] == TREE


def test_each_declaration_spans_its_own_text():
    lines = PROGRAM.split("\n")
    spans = [d.span for d in parse_module(PROGRAM, "orders.strata").module.declarations]
    assert [(s.line, s.column, s.end_line, s.end_column) for s in spans] == [
        (1, 1, 1, 29),
        (3, 1, 13, 2),
        (15, 1, 19, 2),
        (21, 1, 28, 2),
    ]
    assert all(lines[s.end_line - 1][: s.end_column - 1].endswith(("string", "}")) for s in spans)
