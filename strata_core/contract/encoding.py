"""Contracts and pin reports as JSON objects, as an artifact's manifest keeps them; types are spelled as in a cast."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ..diagnostics import Span
from ..types import parse_type
from .model import ContractField, Freshness, Mask, MaskRule, TableContract
from .report import PinReport, RuleResult, Status
from .rules import Fact, Rule


def contract_to_json(contract: TableContract) -> dict[str, Any]:
    """A JSON object that `contract_from_json` reads back."""
    return _without_defaults(
        {
            "name": contract.name,
            "fields": [_field_to_json(f) for f in contract.fields],
            "freshness": contract.freshness and _freshness_to_json(contract.freshness),
            "closed": contract.closed,
            "description": contract.description,
            "span": _span_to_json(contract.span),
        }
    )


def contract_from_json(data: Mapping[str, Any]) -> TableContract:
    """The contract that `contract_to_json` wrote; raises `ContractError`, `TypeSpellingError` or `KeyError`."""
    return TableContract(
        data["name"],
        tuple(map(_field_from_json, data["fields"])),
        _freshness_from_json(data.get("freshness")),
        data.get("closed", False),
        data.get("description"),
        _span_from_json(data.get("span")),
    )


def report_to_json(report: PinReport) -> dict[str, Any]:
    """A JSON object that `report_from_json` reads back."""
    rules = [_rule_to_json(r) for r in report.rules]
    return {"contract": report.contract, "source": report.source, "rows": report.rows, "rules": rules}


def report_from_json(data: Mapping[str, Any]) -> PinReport:
    """The report that `report_to_json` wrote; raises `ValueError` or `KeyError`."""
    return PinReport(data["contract"], tuple(map(_rule_from_json, data["rules"])), data["rows"], data["source"])


def _field_to_json(one: ContractField) -> dict[str, Any]:
    return _without_defaults(
        {
            "name": one.name,
            "type": str(one.type),
            "nonnull": not one.nullable,
            "unique": one.unique,
            "primary_key": one.primary_key,
            "protected": one.protected,
            "enum": list(one.enum) if one.enum is not None else None,
            "classification": one.classification,
            "mask": {"rule": one.mask.rule.value, "keep": one.mask.keep} if one.mask else None,
            "partition_by": one.partition_by,
            "freshness_seconds": _seconds(one.freshness),
            "description": one.description,
            "span": _span_to_json(one.span),
        }
    )


def _field_from_json(data: Mapping[str, Any]) -> ContractField:
    mask = data.get("mask")
    seconds = data.get("freshness_seconds")
    return ContractField(
        data["name"],
        parse_type(data["type"]),
        nullable=not data.get("nonnull", False),
        unique=data.get("unique", False),
        primary_key=data.get("primary_key", False),
        protected=data.get("protected", False),
        enum=tuple(data["enum"]) if "enum" in data else None,
        classification=data.get("classification"),
        mask=Mask(MaskRule(mask["rule"]), mask["keep"]) if mask else None,
        partition_by=data.get("partition_by", False),
        freshness=None if seconds is None else timedelta(seconds=seconds),
        description=data.get("description"),
        span=_span_from_json(data.get("span")),
    )


def _freshness_to_json(freshness: Freshness) -> dict[str, Any]:
    return _without_defaults({"seconds": _seconds(freshness.max_age), "column": freshness.column})


def _freshness_from_json(data: Mapping[str, Any] | None) -> Freshness | None:
    return Freshness(timedelta(seconds=data["seconds"]), data.get("column")) if data else None


def _seconds(age: timedelta | None) -> int | None:
    return None if age is None else age // timedelta(seconds=1)


def _without_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """JSON without the members that say nothing: absent and false ones."""
    return {k: v for k, v in data.items() if v is not None and v is not False}


def _rule_to_json(r: RuleResult) -> dict[str, Any]:
    data = {
        "rule": r.rule.value,
        "columns": list(r.fact.columns),
        "path": list(r.fact.path),
        "promise": r.promise,
        "status": r.status.value,
        "how": r.how,
        "offenders": r.offenders,
        "samples": [dict(s) for s in r.samples],
        "code": r.code,
        "found": r.found,
        "fix": r.fix,
        "span": _span_to_json(r.span),
    }
    return {k: v for k, v in data.items() if v is not None}


def _rule_from_json(data: Mapping[str, Any]) -> RuleResult:
    return RuleResult(
        Fact(Rule(data["rule"]), tuple(data["columns"]), tuple(data["path"])),
        data["promise"],
        Status(data["status"]),
        data["how"],
        data["offenders"],
        tuple(dict(s) for s in data["samples"]),
        data.get("code"),
        data.get("found"),
        data.get("fix"),
        _span_from_json(data.get("span")),
    )


def _span_to_json(span: Span | None) -> list[Any] | None:
    """`[file, line, column, end line, end column]`."""
    return [span.file, span.line, span.column, span.end_line, span.end_column] if span else None


def _span_from_json(data: list[Any] | None) -> Span | None:
    return Span(*data) if data else None
