"""The table contract: derived rules by construction (Seed 0 §3), JSON, and the laws of its digest."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.contract.encoding import contract_from_json, contract_to_json
from strata_core.contract.model import ContractError, ContractField, Freshness, Mask, MaskRule, TableContract
from strata_core.diagnostics import Span
from strata_core.types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    JSON,
    STRING,
    TIMESTAMP,
    UUID,
    Array,
    Decimal,
    Map,
    Money,
    Struct,
    StructField,
    ValueType,
)

SIMPLE = [INT64, FLOAT64, STRING, BOOL, DATE, TIMESTAMP, UUID, JSON, Decimal(10, 2), Money("EUR"), Money("USD")]
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)


def nested(inner: st.SearchStrategy[ValueType]) -> st.SearchStrategy[ValueType]:
    member = st.builds(StructField, NAMES, inner, st.booleans())
    members = st.lists(member, min_size=1, max_size=3, unique_by=lambda f: f.name)
    return st.one_of(
        st.builds(Array, inner, st.booleans()),
        st.builds(Map, inner, st.booleans()),
        members.map(lambda fields: Struct(tuple(fields))),
    )


TYPES: st.SearchStrategy[ValueType] = st.recursive(st.sampled_from(SIMPLE), nested, max_leaves=3)
AGES = st.integers(1, 10**7).map(lambda s: timedelta(seconds=s))
MASKS = st.sampled_from(
    [Mask(MaskRule.HASH), Mask(MaskRule.NULL), Mask(MaskRule.DROP), Mask(MaskRule.PARTIAL), Mask(MaskRule.PARTIAL, 2)]
)


@st.composite
def contract_fields(draw: st.DrawFn, name: str) -> ContractField:
    type_ = draw(TYPES)
    comparable = not isinstance(type_, Array | Map | Struct | type(JSON))
    enums = st.none() | st.lists(st.text(max_size=4), min_size=1, max_size=4).map(tuple)
    return ContractField(
        name,
        type_,
        nullable=draw(st.booleans()),
        unique=comparable and draw(st.booleans()),
        primary_key=comparable and draw(st.booleans()),
        protected=draw(st.booleans()),
        enum=draw(enums) if type_ == STRING else None,
        classification=draw(st.none() | st.text(max_size=5)),
        mask=draw(st.none() | MASKS),
        partition_by=draw(st.booleans()),
        freshness=draw(st.none() | AGES) if type_ in (DATE, TIMESTAMP) else None,
        description=draw(st.none() | st.text(max_size=5)),
        span=draw(st.none() | st.just(Span("a.strata", 3, 1, 3, 9))),
    )


@st.composite
def contracts(draw: st.DrawFn) -> TableContract:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    fields = tuple(draw(contract_fields(n)) for n in names)
    dated = [f.name for f in fields if f.type in (DATE, TIMESTAMP)]
    column = st.sampled_from([None, *dated])
    freshness = draw(st.none() | st.builds(Freshness, AGES, column))
    return TableContract(draw(NAMES), fields, freshness, draw(st.booleans()), draw(st.none() | st.text(max_size=5)))


def test_seed0_s3_primary_key_is_nonnull_and_unique() -> None:
    contract = TableContract("Orders", (ContractField("id", STRING, nullable=True, primary_key=True),))
    assert not contract["id"].nullable
    assert contract["id"].unique
    assert contract.key == ("id",)


def test_seed0_s3_several_primary_key_fields_are_one_composite_key() -> None:
    fields = (ContractField("a", STRING, primary_key=True), ContractField("b", INT64, primary_key=True))
    contract = TableContract("Orders", fields)
    assert contract.key == ("a", "b")
    assert [(f.nullable, f.unique) for f in contract.fields] == [(False, False), (False, False)]


def test_seed0_s3_protected_fields_are_named() -> None:
    contract = TableContract("C", (ContractField("a", STRING, protected=True), ContractField("b", STRING)))
    assert contract.protected == ("a",)


def test_hidden_is_what_is_classified_or_masked() -> None:
    contract = TableContract(
        "C",
        (
            ContractField("a", STRING, classification="pii"),
            ContractField("b", STRING, mask=Mask(MaskRule.HASH)),
            ContractField("c", STRING),
        ),
    )
    assert contract.hidden == {"a", "b"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ContractField("a", INT64, enum=("x",)), "an enum lists strings, but `a` is int64"),
        (lambda: ContractField("a", STRING, enum=()), "the enum of `a` is empty"),
        (
            lambda: ContractField("a", Array(INT64), unique=True),
            "`unique` needs values that can be compared, not array(int64)",
        ),
        (
            lambda: ContractField("a", JSON, primary_key=True),
            "`primary_key` needs values that can be compared, not json",
        ),
        (
            lambda: ContractField("a", INT64, freshness=timedelta(days=1)),
            "freshness is told from a date or timestamp, but `a` is int64",
        ),
        (lambda: ContractField("a", DATE, freshness=timedelta(0)), "a freshness is some whole seconds"),
        (lambda: Mask(MaskRule.HASH, 3), "the mask `hash` keeps no characters"),
        (lambda: Mask(MaskRule.PARTIAL, 65), "a partial mask keeps 1 to 64 characters"),
        (
            lambda: TableContract("C", (ContractField("a", STRING), ContractField("a", INT64))),
            "`a` is promised twice",
        ),
        (
            lambda: TableContract("C", (), Freshness(timedelta(days=1), "t")),
            "the freshness column `t` is no field of `C`",
        ),
        (
            lambda: TableContract("C", (ContractField("t", BOOL),), Freshness(timedelta(days=1), "t")),
            "freshness is told from a date or timestamp, but `t` is bool",
        ),
    ],
)
def test_a_contract_that_cannot_be_is_never_made(make: object, message: str) -> None:
    with pytest.raises(ContractError) as error:
        make()
    assert error.value.message == message


def test_json_is_what_a_person_would_write() -> None:
    contract = TableContract(
        "Paid",
        (
            ContractField("id", UUID, primary_key=True),
            ContractField("country", STRING, nullable=False, enum=("ES", "MX")),
            ContractField("email", STRING, classification="pii", mask=Mask(MaskRule.PARTIAL)),
            ContractField("placed", TIMESTAMP, freshness=timedelta(days=1)),
        ),
    )
    assert contract_to_json(contract) == {
        "name": "Paid",
        "fields": [
            {"name": "id", "type": "uuid", "nonnull": True, "unique": True, "primary_key": True},
            {"name": "country", "type": "string", "nonnull": True, "enum": ["ES", "MX"]},
            {"name": "email", "type": "string", "classification": "pii", "mask": {"rule": "partial", "keep": 4}},
            {"name": "placed", "type": "timestamp", "freshness_seconds": 86400},
        ],
    }


@settings(max_examples=150, deadline=None)
@given(contracts())
def test_json_round_trip(contract: TableContract) -> None:
    back = contract_from_json(json.loads(json.dumps(contract_to_json(contract))))
    assert back == contract
    assert back.digest == contract.digest
    assert [f.span for f in back.fields] == [f.span for f in contract.fields]
    assert pickle.loads(pickle.dumps(contract)) == contract


@settings(max_examples=100, deadline=None)
@given(contracts(), st.randoms(use_true_random=False))
def test_digest_law_order_names_and_descriptions_do_not_matter(contract: TableContract, rng: random.Random) -> None:
    shuffled = [
        replace(f, enum=tuple(rng.sample(f.enum, len(f.enum))) if f.enum else None, description="other", span=None)
        for f in contract.fields
    ]
    rng.shuffle(shuffled)
    other = replace(contract, name="Other", fields=tuple(shuffled), description="other", span=None)
    assert other.digest == contract.digest


BASE = TableContract(
    "Base",
    (
        ContractField("a", STRING, enum=("x", "y"), classification="pii", mask=Mask(MaskRule.HASH)),
        ContractField("t", TIMESTAMP, freshness=timedelta(days=1)),
    ),
    Freshness(timedelta(days=2), "t"),
)


def with_field(**changes: object) -> TableContract:
    return replace(BASE, fields=(replace(BASE["a"], **changes), BASE["t"]))


CHANGED = {
    "renamed": with_field(name="b"),
    "type": with_field(type=UUID, enum=None),
    "no enum": with_field(enum=None),
    "nonnull": with_field(nullable=False),
    "unique": with_field(unique=True),
    "primary key": with_field(primary_key=True),
    "protected": with_field(protected=True),
    "partitioned": with_field(partition_by=True),
    "smaller enum": with_field(enum=("x",)),
    "joined enum": with_field(enum=("xy",)),
    "classification": with_field(classification="secret"),
    "no classification": with_field(classification=None),
    "empty classification": with_field(classification=""),
    "mask": with_field(mask=Mask(MaskRule.PARTIAL)),
    "longer mask": with_field(mask=Mask(MaskRule.PARTIAL, 2)),
    "no mask": with_field(mask=None),
    "field freshness": replace(BASE, fields=(BASE["a"], replace(BASE["t"], freshness=timedelta(hours=1)))),
    "no field freshness": replace(BASE, fields=(BASE["a"], replace(BASE["t"], freshness=None))),
    "freshness": replace(BASE, freshness=Freshness(timedelta(days=3), "t")),
    "freshness without column": replace(BASE, freshness=Freshness(timedelta(days=2))),
    "no freshness": replace(BASE, freshness=None),
    "closed": replace(BASE, closed=True),
    "one field less": replace(BASE, fields=(BASE["t"],)),
}


def test_digest_law_each_promise_matters() -> None:
    digests = {BASE.digest, *(c.digest for c in CHANGED.values())}
    assert len(digests) == 1 + len(CHANGED)


def test_digest_is_stable_over_versions_of_this_program() -> None:
    assert BASE.digest == "1484fcf720c814933f4fc2dd0fa0c180647308061379da78b604b52a99fca849"
