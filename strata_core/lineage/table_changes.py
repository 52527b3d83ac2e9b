"""What changed of one table between two revisions: its promises, how its columns are computed, which rows it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..analysis.compiled import CompiledModel, Source
from ..contract.changes import RULES, Aspect, Change, ChangeRule, Direction, compare_contracts, spelled_values
from ..contract.model import TableContract
from ..contract.published import published_contract
from ..relation.derivation import Derivation, Step, StepKind, derivation, order_identity
from ..relation.spelling import contrasted, spelled_expression, spelled_output
from .matching import Declared, Names, Pair
from .rules import MEANINGS, STEPS, Meaning

Promises = Mapping[str, TableContract]


def table_changes(pair: Pair, names: Names, before: Promises, after: Promises) -> Iterator[Change]:
    """The changes of a table that is there on both sides.

    `before` and `after` hold what models are held to, where that is more than their contract says.
    """
    old, new = pair.before, pair.after
    if old is new:
        return
    if old.name != new.name:
        renamed = Meaning.MODEL_RENAMED if isinstance(new, CompiledModel) else Meaning.SOURCE_RENAMED
        yield _of(pair, MEANINGS[renamed], None, old.name, new.name)
    yield from compare_contracts(_published(old, before), _published(new, after), pair.columns)
    if isinstance(old, Source) and isinstance(new, Source):
        if old.resource != new.resource:
            yield _of(pair, MEANINGS[Meaning.SOURCE_MOVED], None, _place(old), _place(new))
    elif isinstance(old, CompiledModel) and isinstance(new, CompiledModel):
        yield from _model(pair, old, new, names)
    else:
        yield _of(pair, MEANINGS[Meaning.KIND], None, _kind(old), _kind(new))


def _model(pair: Pair, old: CompiledModel, new: CompiledModel, names: Names) -> Iterator[Change]:
    before, after = pair.derived_before, pair.derived_after
    assert before is not None
    assert after is not None
    yield from _computed(pair, old, new, before, after, names)
    yield from _possible(pair, old, new)
    if before.rows != after.rows:
        # Canonical relations spell conditions without the names of lets.
        yield from _rows(pair, derivation(old.relation), derivation(new.relation, names.before))
    yield from _proven(pair, old, new)
    if order_identity(old.order, before.columns) != order_identity(new.order, after.columns):
        yield _of(pair, MEANINGS[Meaning.ORDER], None)
    yield from _stored(pair, old, new)
    owners = [_owner(model) for model in (old, new)]
    if owners[0] != owners[1]:
        yield _of(pair, MEANINGS[Meaning.OWNER], None, *owners)


def _stored(pair: Pair, old: CompiledModel, new: CompiledModel) -> Iterator[Change]:
    """What changed about how the table is laid out, beyond its contract, and how rows are added to it."""
    laid_out = [pair.columns.get(name, name) for name in old.partition]
    by_contract = [{f.name for f in m.contract.fields if f.partition_by} if m.contract else set() for m in (old, new)]
    if laid_out != [*new.partition] and by_contract[0] == by_contract[1]:
        told = (", ".join(model.partition) or None for model in (old, new))
        yield _of(pair, RULES[Aspect.PARTITIONING, Direction.BOTH], None, *told)
    before, after = (_added(old, pair.columns), _added(new, {}))
    if before != after:
        yield _of(pair, MEANINGS[Meaning.INCREMENTAL], None, before, after)


def _added(model: CompiledModel, columns: Mapping[str, str]) -> str | None:
    """How rows are added, in the names of the side after."""
    if model.incremental is None:
        return None
    keys = ", ".join(columns.get(key, key) for key in model.incremental.keys)
    cursor = columns.get(model.incremental.cursor, model.incremental.cursor)
    return f"{model.incremental.strategy} after {cursor}{f' by {keys}' if keys else ''}"


def _of(
    pair: Pair, rule: ChangeRule, column: str | None, before: str | None = None, after: str | None = None
) -> Change:
    protected = column is not None and isinstance(pair.before, CompiledModel) and _is_protected(pair.before, column)
    return Change(rule, column, before, after, protected, pair.before.span, pair.after.span)


def _is_protected(model: CompiledModel, column: str) -> bool:
    return model.contract is not None and column in model.contract and model.contract[column].protected


def _kind(table: Declared) -> str:
    return "a model" if isinstance(table, CompiledModel) else "a source"


def _place(source: Source) -> str:
    return f"{source.resource.kind} {source.resource.location}"


def _owner(model: CompiledModel) -> str | None:
    owner = model.attributes.get("owner")
    return None if owner is None else str(owner)


def _published(table: Declared, promised: Promises) -> TableContract:
    if isinstance(table, Source):
        return table.contract
    contract = promised.get(table.name, table.contract)
    return published_contract(table.name, table.written.schema.columns, contract, table.span)


def _computed(
    pair: Pair, old: CompiledModel, new: CompiledModel, before: Derivation, after: Derivation, names: Names
) -> Iterator[Change]:
    """Columns that are computed otherwise; where one holds what another held that does not any more, that is said."""
    kept = {name for name, now in pair.columns.items() if before.columns[name] == after.columns[now]}
    held = {identity: name for name, identity in reversed([*before.columns.items()]) if name not in kept}
    for name, now in pair.columns.items():
        if before.columns[name] == after.columns[now]:
            continue
        other = held.get(after.columns[now])
        if other is not None and other != name:
            yield _of(pair, MEANINGS[Meaning.VALUES_MOVED], name, f"`{name}`", f"what `{other}` held")
            continue
        origins_before = {(o.node, o.column) for o in old.written.schema[name].origins}
        origins_after = {names.before(o.node, o.column) for o in new.written.schema[now].origins}
        rule = MEANINGS[Meaning.VALUE if origins_before == origins_after else Meaning.ORIGIN]
        told = contrasted(spelled_output(old.relation, name), spelled_output(new.relation, now))
        yield _of(pair, rule, name, *told)


def _possible(pair: Pair, old: CompiledModel, new: CompiledModel) -> Iterator[Change]:
    """Value sets that are proven and not promised: an enum is compared as the promise that it is."""
    for name, now in pair.columns.items():
        before, after = old.written.schema[name].inferred.values, new.written.schema[now].inferred.values
        if before == after or _promises_enum(old, name) or _promises_enum(new, now):
            continue
        if before is None or (after is not None and after < before):
            meaning = Meaning.VALUES_NARROWED
        else:
            meaning = Meaning.VALUES_WIDENED if after is None or before < after else Meaning.VALUES_CHANGED
        yield _of(pair, MEANINGS[meaning], name, *(None if v is None else spelled_values(v) for v in (before, after)))


def _promises_enum(model: CompiledModel, column: str) -> bool:
    return model.contract is not None and column in model.contract and model.contract[column].enum is not None


def _rows(pair: Pair, before: Derivation, after: Derivation) -> Iterator[Change]:
    """What changed about which rows there are, a change for each kind of step."""
    known_before, known_after = ({s.identity for s in d.steps} for d in (before, after))
    gone = [s for s in before.steps if s.identity not in known_after]
    come = [s for s in after.steps if s.identity not in known_before]
    kinds = [k for k in StepKind if any(s.kind is k for s in (*gone, *come))]
    for kind in kinds:
        told = (_steps(s for s in steps if s.kind is kind) for steps in (gone, come))
        yield _of(pair, STEPS[kind], None, *contrasted(*told))
    if not kinds:
        yield _of(pair, MEANINGS[Meaning.ROWS], None)


def _steps(steps: Iterable[Step]) -> str | None:
    """Steps of one kind, as people read them."""
    found = [" ".join(filter(None, (s.word, ", ".join(map(spelled_expression, s.exprs))))) for s in steps]
    return "; ".join(sorted(found)) or None


def _proven(pair: Pair, old: CompiledModel, new: CompiledModel) -> Iterator[Change]:
    """Keys that were proven and are not, or the other way round; a promised key is compared as a promise."""
    back = {now: name for name, now in pair.columns.items()}
    for model, other, called, lost in ((old, new, pair.columns, True), (new, old, back, False)):
        promised = frozenset(model.contract.key) if model.contract else frozenset()
        for key in sorted(model.written.schema.keys - {promised, frozenset()}, key=sorted):
            if key <= called.keys() and other.written.schema.is_unique(frozenset(called[c] for c in key)):
                continue
            told = ", ".join(sorted(key))
            meaning = Meaning.PROOF_LOST if lost else Meaning.PROOF_GAINED
            yield _of(pair, MEANINGS[meaning], None, *((told, None) if lost else (None, told)))
