"""Manifests: their JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.store import ColumnStatistics, Field, Manifest, Part
from strata_core.store import manifest as manifests
from strata_core.store.arrow_schema import fields_of, schema_of, stored_schema
from strata_core.store.files import LOCAL

MANIFEST = Manifest(
    id="m1",
    kind="artifact",
    table="orders",
    parts=(Part("part-00000.parquet", 2, 700, "ab" * 32), Part("node-1/part-00001.parquet", 1, 600, "cd" * 32)),
    schema=(
        Field("id", "int64", False, {}),
        Field("paid", "decimal128(38, 2)", True, {"strata.type": "money(EUR)"}),
    ),
    rows=3,
    digest="ef" * 32,
    columns={"id": "0a" * 32, "paid": "0b" * 32},
    created_at=1_700_000_000_000_000_001,
    statistics={"id": ColumnStatistics(0, 1, 3), "paid": ColumnStatistics(3)},
    provenance={"fingerprint": "f", "inputs": {"raw": "99"}, "duration": 1.5, "findings": [], "contract": None},
)


def test_a_manifest_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / manifests.NAME
    path.write_bytes(manifests.encode(MANIFEST))
    assert manifests.read(path, LOCAL) == MANIFEST
    assert MANIFEST.bytes == 1300


def test_the_json_says_what_a_reader_without_strata_needs() -> None:
    document = json.loads(manifests.encode(MANIFEST))
    assert document["format"] == 1
    assert document["created_at"] == "2023-11-14T22:13:20.000000001Z"
    assert document["parts"][0] == {"path": "part-00000.parquet", "rows": 2, "bytes": 700, "sha256": "ab" * 32}
    assert document["schema"][1] == {
        "name": "paid",
        "type": "decimal128(38, 2)",
        "nullable": True,
        "metadata": {"strata.type": "money(EUR)"},
    }


def test_no_file_is_no_manifest(tmp_path: Path) -> None:
    assert manifests.read(tmp_path / manifests.NAME, LOCAL) is None


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / manifests.NAME
    path.write_bytes(manifests.encode(MANIFEST).replace(b'"format":1', b'"format":4'))
    with pytest.raises(StrataError, match=r"E092: .* has format 4; this release reads formats up to 3"):
        manifests.read(path, LOCAL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"rows":3', b'"rows":4'),
        (b'"rows":3', b'"rows":"3"'),
        (b'"part-00000.parquet"', b'"../part-00000.parquet"'),
        (b'"part-00000.parquet"', b'"/part-00000.parquet"'),
        (b'"sha256"', b'"sha"'),
        (b'"nullable":true', b'"nullable":1'),
        (b'"null_count":0', b'"null_count":null'),
        (b"2023-11-14", b"2023-14-14"),
        (b"}", b""),
    ],
)
def test_a_damaged_manifest_is_an_error_that_names_it(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / manifests.NAME
    path.write_bytes(manifests.encode(MANIFEST).replace(old, new))
    with pytest.raises(StrataError) as error:
        manifests.read(path, LOCAL)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "E094"
    assert str(path) in diagnostic.message


SIMPLE = st.sampled_from(
    [
        *(pa.int64(), pa.uint8(), pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.binary(), pa.date32()),
        *(pa.decimal128(38, 2), pa.decimal256(60, 0), pa.timestamp("us"), pa.timestamp("ns", "Europe/Madrid")),
        *(pa.time64("us"), pa.duration("ms"), pa.binary(16), pa.uuid()),
    ]
)
TYPES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda t, n: pa.list_(pa.field("element", t, n)), inner, st.booleans()),
        st.builds(lambda t: pa.list_(t, 3), inner),
        st.builds(lambda t, n: pa.map_(pa.field("key", pa.string(), False), pa.field("v", t, n)), inner, st.booleans()),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda ts: pa.struct([pa.field(f"f{i}", t) for i, t in enumerate(ts)])
        ),
    ),
    max_leaves=5,
)


@given(st.lists(st.tuples(TYPES, st.booleans()), max_size=4))
def test_every_stored_schema_survives_json(types: list[tuple[pa.DataType, bool]]) -> None:
    schema = pa.schema([pa.field(f"c{i}", t, n, {"k": "é"}) for i, (t, n) in enumerate(types)])
    assert stored_schema(schema).equals(schema, check_metadata=True)
    assert schema_of(json_round_trip(fields_of(schema))).equals(schema, check_metadata=True)


def json_round_trip(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field(f.name, json.loads(json.dumps(f.type)), f.nullable, f.metadata) for f in fields)
