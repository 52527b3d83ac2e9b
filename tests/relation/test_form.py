"""What it costs to tell a relation: what is asked for, not what is at hand."""

from __future__ import annotations

from strata_core.analysis import compile_project
from strata_core.language.parser import parse_module
from strata_core.relation.form import fingerprint_form
from strata_core.relation.nodes import Relation

from ..counting import steps


def joined(joins: int) -> Relation:
    """A table of many columns joined with itself, of which the columns of the first are left, as it was written."""
    columns = ", ".join(f"c{i}: int64" for i in range(30))
    statements = "\n".join(f"  join_left s as t{i} on s.id == t{i}.id" for i in range(joins))
    source = f"source s {{ columns: {{ id: int64 nonnull primary_key, {columns} }} }}\n"
    compiled = compile_project([parse_module(f"{source}model m {{ from s\n{statements}\n}}", "m.strata").module])
    assert compiled.errors == ()
    return compiled.models["m"].written


def test_columns_that_a_join_carries_and_nobody_reads_are_not_told() -> None:
    few, many = joined(10), joined(40)
    small, large = steps(lambda: fingerprint_form(few)), steps(lambda: fingerprint_form(many))
    assert large < 4.6 * small
