"""`extern fn` on the engines: arguments in the tree of the template, results held to the declaration."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import Engine, EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import project, ref, scan
from strata_core.relation.expressions import extern_call
from strata_core.relation.extern import Extern, ExternParameter
from strata_core.relation.nodes import Item, Relation
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Decimal, Inferred, ValueType

from .conformance import check_conformance, table_of

DUCKDB = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))
COLUMNS = (Column("s", Inferred(STRING, nullable=True)), Column("n", Inferred(INT64, nullable=True)))
ROWS = [["a'b\"; --", 2], ["", 0], [None, 1], ["x", None]]


def repeated(text: str, count: int) -> str:
    return text * count


def nothing(*_: object) -> None:
    return None


def raising(*_: object) -> None:
    raise RuntimeError("no")


def leaving(*_: object) -> None:
    raise SystemExit(0)


def relation(*, nonnull: bool = False, type_: ValueType = STRING, **bindings: str) -> Relation:
    base = scan("t", COLUMNS)
    parameters = (ExternParameter("s", STRING, False), ExternParameter("n", INT64, False))
    extern = Extern("f", parameters, type_, nonnull, tuple(sorted(bindings.items())))
    return project(base, [Item("x", extern_call(extern, [ref(base, "s"), ref(base, "n")]))])


def run(engine: Engine, asked: Relation) -> list[object]:
    return engine.execute(asked, {"t": table_of(COLUMNS, ROWS)}).read_all()["x"].to_pylist()


def refused(engine: Engine, asked: Relation) -> Diagnostic:
    with pytest.raises(StrataError) as error:
        run(engine, asked)
    (found,) = error.value.diagnostics
    return found


def test_arguments_are_values_and_never_text() -> None:
    asked = relation(nonnull=True, duckdb="repeat($s, $n)", reference=f"{__name__}:repeated")
    assert run(DUCKDB, asked) == ["a'b\"; --a'b\"; --", "", None, None]
    check_conformance(DUCKDB, asked, {"t": table_of(COLUMNS, ROWS)})


def test_a_template_may_read_an_argument_often_or_never() -> None:
    assert run(DUCKDB, relation(duckdb="$s || $s || length($s)")) == ["a'b\"; --a'b\"; --8", "0", None, None]
    assert run(DUCKDB, relation(duckdb="'k'")) == ["k", "k", None, None]


def test_the_result_has_the_declared_type() -> None:
    assert [str(v) for v in run(DUCKDB, relation(type_=Decimal(10, 2), duckdb="$n / 3.0"))[:2]] == ["0.67", "0.00"]
    assert refused(DUCKDB, relation(type_=INT64, duckdb="$s")).code == "E090"
    assert refused(ReferenceEngine(), relation(type_=INT64, reference=f"{__name__}:repeated")).code == "E090"


def test_a_null_against_the_declaration_aborts() -> None:
    for engine in (DUCKDB, ReferenceEngine()):
        asked = relation(nonnull=True, duckdb="nullif($s, '')", reference=f"{__name__}:nothing")
        found = refused(engine, asked)
        assert found.code == "E090"
        assert "null, and its declaration says nonnull" in found.message
    assert run(DUCKDB, relation(duckdb="nullif($s, '')")) == ["a'b\"; --", None, None, None]


def test_a_function_that_raises() -> None:
    found = refused(ReferenceEngine(), relation(reference=f"{__name__}:raising"))
    assert (found.code, "RuntimeError: no" in found.message) == ("E090", True)


def test_a_function_that_ends_the_program_does_not() -> None:
    found = refused(ReferenceEngine(), relation(reference=f"{__name__}:leaving"))
    assert (found.code, "SystemExit: 0" in found.message) == ("E090", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:", "SyntaxError: invalid syntax (mine.py, line 1)"),
        ("raise ValueError('no')", "ValueError: no"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_a_module_that_cannot_be_imported(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    found = refused(ReferenceEngine(), relation(reference="mine:f"))
    assert (found.code, found.message) == ("E066", f"`f`: importing `mine` failed: {message}")


@pytest.mark.parametrize("entry", ["no_such_module:f", f"{__name__}:no_such_function"])
def test_an_entry_that_is_not_there(entry: str) -> None:
    assert refused(ReferenceEngine(), relation(reference=entry)).code == "E066"


def test_an_engine_without_a_translation() -> None:
    found = refused(DUCKDB, relation(spark="upper($s)"))
    assert (found.code, found.message) == ("E066", "`f` has no translation for duckdb")
    assert found.fix == 'add `duckdb: "…"` to its declaration, which has `spark`'
    assert refused(ReferenceEngine(), relation(duckdb="upper($s)")).code == "E066"
