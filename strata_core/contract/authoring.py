"""Phase A, authoring: does what inference knows of a model's output keep the contract's promises (Seed 0 §5 A)?

Pure, and quick enough for an editor. Every promise that holds ends as a `Proof`: proven here, with by what, or
asserted, which means measured at the write pin. Every other one ends as a diagnostic: E010 to E015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ..diagnostics import Diagnostic, Related, Severity, Span
from ..diagnostics.listing import listed
from ..diagnostics.suggest import nearest
from ..frozen import dataclass
from ..language.names import spelled
from ..relation.schema import Column, Role, Schema, Transform
from ..types import Decimal, Float64, Money, Unknown, ValueType, castable, widens
from .assertions import Assertion
from .model import ContractField, TableContract
from .rules import Fact, Promise, Rule, promises

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Ground:
    """What a proof rests on, put into words only when somebody asks: a check proves thousands and prints none."""

    words: Callable[..., str]
    about: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What holds up one promise: `by` says what proves it, or where it is measured if it is not `proven`."""

    fact: Fact
    proven: bool
    ground: Ground | str

    @property
    def by(self) -> str:
        """The ground of the proof in words."""
        return self.ground if isinstance(self.ground, str) else self.ground.words(*self.ground.about)

    @property
    def field(self) -> str:
        """The columns that the promise is about."""
        return self.fact.field

    @property
    def rule(self) -> Rule:
        """The kind of promise."""
        return self.fact.rule

    def __str__(self) -> str:
        return f"{self.field}: {self.rule} {'proven' if self.proven else 'asserted'} ({self.by})"


@dataclass(frozen=True, slots=True)
class Conformance:
    """The outcome of phase A.

    `casts` names the columns that widen to the promised type: insert them with `relation.expressions.coerce`.
    `asserted` are the promises left to the pin, `proofs` has one entry for each promise that was not broken.
    """

    diagnostics: tuple[Diagnostic, ...]
    casts: Mapping[str, ValueType]
    asserted: tuple[Promise, ...]
    proofs: tuple[Proof, ...]

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What is left to measure, whenever that is: all but freshness, whose bound moves with the clock."""
        return tuple(q for p in self.asserted if (q := p.question()) is not None)


def proven(proofs: Iterable[Proof]) -> frozenset[Fact]:
    """The promises that need no measurement, because the compiler proved them."""
    return frozenset(p.fact for p in proofs if p.proven)


def conform(
    schema: Schema, contract: TableContract, model_span: Span | None, column_spans: Mapping[str, Span]
) -> Conformance:
    """Hold a model's output `schema` against `contract`.

    `model_span` marks the model's reference to the contract, `column_spans` the expressions of output columns.
    A column of unknown type was reported where it went wrong: nothing more is said of it.
    """
    output = _Output(schema, contract, model_span, column_spans)
    missing = [f for f in contract.fields if f.name not in schema]
    findings: list[Diagnostic] = [*lint(contract), *(_missing(f, output) for f in missing)]
    silent = {f.name for f in missing} | {c.name for c in schema.columns if isinstance(c.inferred.type, Unknown)}
    proofs: list[Proof] = []
    asserted: list[Promise] = []
    for promise in promises(contract):
        if silent and not silent.isdisjoint(promise.fact.columns):
            continue
        match CHECKS[promise.fact.rule](promise, output):
            case Diagnostic() as finding:
                findings.append(finding)
            case Proof() as proof:
                proofs.append(proof)
                if not proof.proven:
                    asserted.append(promise)
            case None:
                pass
    conforming = {p.fact.columns[0] for p in proofs if p.rule is Rule.TYPE}
    casts = {n: contract[n].type for n in contract.names if n in conforming and output.type(n) != contract[n].type}
    return Conformance(tuple(findings), casts, tuple(asserted), tuple(proofs))


def lint(contract: TableContract) -> tuple[Diagnostic, ...]:
    """W004 for each classified field that no mask protects at the storage boundary (Seed 0 §3)."""
    return tuple(
        Diagnostic(
            "W004",
            f"`{f.name}` is classified as `{f.classification}` but has no mask",
            f.span,
            Severity.WARNING,
            label="readable by everyone who reads the table",
            fix="add a mask, such as `mask: hash` (or `null`, `drop`, `partial(4)`)",
            field_path=_path(contract, f.name),
        )
        for f in contract.fields
        if f.classification is not None and f.mask is None
    )


@dataclass(frozen=True, slots=True)
class _Output:
    """What the checks look at."""

    schema: Schema
    contract: TableContract
    model_span: Span | None
    column_spans: Mapping[str, Span]

    def type(self, name: str) -> ValueType:
        return self.schema[name].inferred.type

    def finding(self, code: str, field: str, message: str, label: str, fix: str, *notes: str) -> Diagnostic:
        """An error at the column (else at the model), with the promise as its second place."""
        promised = self.contract.by_name.get(field)
        span = promised.span if promised else self.contract.span
        said = f"promised here: {promised.promise}" if promised else "closed here"
        return Diagnostic(
            code,
            message,
            self.column_spans.get(field, self.model_span),
            label=label,
            fix=fix,
            notes=notes,
            related=(Related(span, said),) if span else (),
            field_path=_path(self.contract, field),
        )


Verdict = Diagnostic | Proof | None


def _missing(field: ContractField, output: _Output) -> Diagnostic:
    """E010, or E013 where consumers rely on the column by its key or by `protected`."""
    contract = output.contract
    near = nearest(field.name, (n for n in output.schema.names if n not in contract))
    fix = f"add `{field.name}` to the `select`, or take it out of the contract"
    if near is not None:
        fix = f"did you mean `{near}`? Name it so: `{spelled(field.name)} = {spelled(near)}`"
    code, what = "E010", f"promised by contract `{contract.name}`"
    if field.primary_key:
        code, what = "E013", f"in the primary key of contract `{contract.name}`"
    elif field.protected:
        code, what = "E013", f"protected by contract `{contract.name}`: consumers rely on it"
    return output.finding(code, field.name, f"the output has no `{field.name}`, which is {what}", "is not here", fix)


def _type(promise: Promise, output: _Output) -> Verdict:
    (name,) = promise.fact.columns
    column, promised = output.schema[name], output.contract[name].type
    found = column.inferred.type
    if isinstance(promised, Unknown):
        return None
    if found == promised:
        return Proof(promise.fact, True, Ground(_inferred, (column,)))
    if widens(found, promised):
        return Proof(promise.fact, True, Ground(_widened, (found, promised)))
    message = f"`{name}` is {found}, but contract `{output.contract.name}` promises {promised}"
    fix = _cast_fix(spelled(name), _operand(column), found, promised)
    return output.finding("E011", name, message, f"is {found}", *fix)


def _operand(column: Column) -> str:
    """What a cast of `column` stands around: its name, or what it is computed of, which is not at hand here."""
    passed = all(o.column == column.name and o.transform is Transform.PASSTHROUGH for o in column.origins)
    return spelled(column.name) if passed and not any(o.joined for o in column.origins) else "…"


def _cast_fix(name: str, operand: str, found: ValueType, promised: ValueType) -> tuple[str, ...]:
    """How to make `promised` of `operand`, which is `found`, and what to know about it."""
    rounded = f'`{name} = cast(round({operand}, 2, half_even), "{promised}")`'
    match found, promised:
        case Money(), Money():
            fix = f"`{name} = convert({operand}, rate, {promised.currency})`, with the rate's own column"
            return fix, "one currency becomes another only by a rate"
        case Float64(), Money():
            return rounded, "money has two digits after the point, so the rounding is said"
        case Decimal(), Money() if found.scale > 2:
            return rounded, "money has two digits after the point, so the rounding is said"
        case Money(), Decimal() if promised.whole_digits >= 36 and promised.scale >= 2:
            return f'`{name} = cast({operand}, "{promised}")`', "the cast gives up the currency, which has to be said"
        case _ if castable(found, promised):
            note = "narrowing is never implicit: the cast stops the run at a value that does not fit"
            return f'`{name} = cast({operand}, "{promised}")`', note
        case _:
            return (f"compute {promised} some other way, or promise {found}: no cast leads from one to the other",)


def _nested(promise: Promise, output: _Output) -> Verdict:
    (name,) = promise.fact.columns
    found = output.type(name)
    # Where the type does not conform, E011 has said so, nested nulls included.
    if not widens(found, output.contract[name].type):
        return None
    return Proof(promise.fact, True, Ground(_of_type, (found,)))


def _nonnull(promise: Promise, output: _Output) -> Verdict:
    (name,) = promise.fact.columns
    column = output.schema[name]
    if not column.inferred.nullable:
        return Proof(promise.fact, True, Ground(_inferred, (column, output.schema)))
    written = spelled(name)
    fix = f"keep the rows that have one (`filter {written} is not none`), or fill it in (`coalesce({written}, …)`)"
    message = f"`{name}` can be none, but contract `{output.contract.name}` promises {promise.text}"
    return output.finding("E012", name, message, "can be none", fix, *_why_nullable(column))


def _why_nullable(column: Column) -> Iterable[str]:
    joined = sorted({f"{o.node}.{o.column}" for o in column.origins if o.joined})
    if joined:
        yield f"{listed(joined, _SHOWN)} came through a join: a left or full join gives none where no row matches"
    if any(o.transform is Transform.AGGREGATED for o in column.origins):
        yield "an aggregate is none where it sees no value (`count` is the exception)"


def _enum(promise: Promise, output: _Output) -> Verdict:
    (name,) = promise.fact.columns
    column = output.schema[name]
    values = column.inferred.values
    if values is None:
        return Proof(promise.fact, False, "measured at the write pin: its values are not known before the run")
    outside = sorted(values.difference(promise.values))
    if not outside:
        return Proof(promise.fact, True, Ground(_value_set, (column, values, output.schema)))
    can_be = listed([f'"{v}"' for v in outside], _SHOWN)
    meant = [f'"{v}" is near "{near}"' for v in outside if (near := nearest(v, promise.values)) is not None]
    allowed = ", ".join(f'"{v}"' for v in promise.values)
    message = f"`{name}` can be {can_be}, outside the enum of contract `{output.contract.name}`"
    fix = f"keep what is promised (`filter {spelled(name)} in [{allowed}]`), map it with `case`, or extend the enum"
    return output.finding("E014", name, message, f"can be {can_be}", fix, *meant)


def _unique(promise: Promise, output: _Output) -> Verdict:
    columns = frozenset(promise.fact.columns)
    keys = sorted((k for k in output.schema.keys if k <= columns), key=lambda k: (len(k), sorted(k)))
    if not keys:
        return Proof(promise.fact, False, "measured at the write pin: no known key of the output implies it")
    if not keys[0]:
        return Proof(promise.fact, True, "the output has at most one row")
    return Proof(promise.fact, True, Ground(_key, tuple(output.schema[n] for n in sorted(keys[0]))))


def _fresh(promise: Promise, _: _Output) -> Verdict:
    return Proof(promise.fact, False, "measured at the write pin: the age depends on when it runs")


def _closed(promise: Promise, output: _Output) -> Verdict:
    extra = [n for n in output.schema.names if n not in output.contract]
    if not extra:
        return Proof(promise.fact, True, "the output has exactly the contract's columns")
    verb = "is no field" if len(extra) == 1 else "are no fields"
    names = listed([f"`{n}`" for n in extra], _SHOWN)
    message = f"{names} {verb} of contract `{output.contract.name}`, which is closed"
    fix = "take it out of the `select`, or add it to the contract"
    return output.finding("E015", extra[0], message, "is not in the contract", fix)


CHECKS: Mapping[Rule, Callable[[Promise, _Output], Verdict]] = MappingProxyType(
    {
        Rule.TYPE: _type,
        Rule.NONNULL: _nonnull,
        Rule.NESTED: _nested,
        Rule.ENUM: _enum,
        Rule.UNIQUE: _unique,
        Rule.PRIMARY_KEY: _unique,
        Rule.FRESHNESS: _fresh,
        Rule.CLOSED: _closed,
    }
)


def _inferred(column: Column, filtered: Schema | None = None) -> str:
    """What inference found of a column, and whether a filter on the way to the schema `filtered` looked at it."""
    return f"type inference: {_source(column)}{_filtered(column, filtered) if filtered is not None else ''}"


def _of_type(found: ValueType) -> str:
    return f"type inference: {found}"


def _widened(found: ValueType, promised: ValueType) -> str:
    return f"{found} widens to {promised} by a cast that the compiler adds"


def _value_set(column: Column, values: frozenset[str], schema: Schema) -> str:
    shown = f"its values are {listed(sorted(values), _SHOWN)}" if values else "it has no values"
    return f"value set: {shown}{_filtered(column, schema)}"


def _key(*columns: Column) -> str:
    grouped = all(any(o.transform is Transform.GROUPED for o in c.origins) for c in columns)
    return f"{'key of the group' if grouped else 'key'}: {', '.join(c.name for c in columns)}"


def _source(column: Column) -> str:
    """Where the column's facts come from, in words."""
    inputs = sorted({f"{o.node}.{o.column}" for o in column.origins})
    if not inputs:
        return f"{column.inferred}, computed from no column"
    transforms = {o.transform for o in column.origins}
    if transforms <= {Transform.PASSTHROUGH, Transform.RENAMED}:
        return f"{column.inferred}, carried from {listed(inputs, _SHOWN)}"
    if transforms == {Transform.GROUPED}:
        return f"{column.inferred}, a key of the group, from {listed(inputs, _SHOWN)}"
    return f"{column.inferred}, computed from {listed(inputs, _SHOWN)}"


def _filtered(column: Column, schema: Schema) -> str:
    filtered = {(e.node, e.column) for e in schema.edges if e.role is Role.FILTER}
    return ", after a filter on it" if any((o.node, o.column) in filtered for o in column.origins) else ""


def _path(contract: TableContract, field: str) -> str:
    return f"contracts.{contract.name}.{field}"
