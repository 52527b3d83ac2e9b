"""Descriptions of columns that nothing describes: that of a column which has the same values, upstream or beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ...diagnostics import Span
from ...frozen import dataclass
from ..collation.candidate import Candidate, Confidence, SuggestedEdit
from ..documents import Document
from .known import Known, assets_of
from .proofs import TableColumn


@dataclass(frozen=True, slots=True)
class _Described:
    """What is said of a column, and where."""

    column: TableColumn
    text: str
    span: Span


def descriptions(document: Document, candidate: Candidate, known: Known) -> Iterator[SuggestedEdit]:
    """The edits, in the order of the columns."""
    told = {(a.id, c.name) for a in candidate.contract.assets for c in a.columns if c.description}
    beside: Mapping[TableColumn, list[_Described]] | None = None
    for number, asset in assets_of(document):
        for place, column in enumerate(asset.get("columns", ())):
            if (asset["id"], column["name"]) in told:
                continue
            own = (known.name_of(asset), column["name"])
            found = next((d for c in known.same_values(own) if (d := _described(c, known))), None)
            how = "has the values of"
            if found is None:
                beside = _by_origin(known) if beside is None else beside
                found = _agreed(beside.get(_origin(own, known), ()))
                how = f"has the values of `{_spelled(_origin(own, known))}`, as has"
            if found is not None:
                path = ("assets", number, "columns", place, "description")
                reason = f"`{column['name']}` {how} `{_spelled(found.column)}`, which is described so"
                yield SuggestedEdit(document.file, path, found.text, None, reason, found.span, Confidence.MEDIUM)


def _described(column: TableColumn, known: Known) -> _Described | None:
    """What a contract says of a column, else a tool."""
    table, name = column
    offered, tool = known.offered.get(table), known.tables.get(table)
    promised = next((c for c in offered.asset.columns if c.name == name), None) if offered else None
    if offered and promised and promised.description:
        return _Described(column, promised.description, offered.column_span(name))
    seen = next((c for c in tool.columns if c.name == name), None) if tool else None
    if tool and seen and seen.description:
        return _Described(column, seen.description, seen.span or tool.span)
    return None


def _origin(column: TableColumn, known: Known) -> TableColumn:
    """The column that the values come from in the end."""
    return [*known.same_values(column)][-1]


def _by_origin(known: Known) -> Mapping[TableColumn, list[_Described]]:
    """The columns of contracts that are described, by where their values come from."""
    found: dict[TableColumn, list[_Described]] = defaultdict(list)
    for table, offered in known.offered.items():
        for column in offered.asset.columns:
            if (told := _described((table, column.name), known)) is not None:
                found[_origin(told.column, known)].append(told)
    return found


def _agreed(told: Sequence[_Described]) -> _Described | None:
    """The first, where all say the same."""
    return told[0] if len({one.text for one in told}) == 1 else None


def _spelled(column: TableColumn) -> str:
    return ".".join(column)
