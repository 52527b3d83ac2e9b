"""A run that renews products: collate, validate, classify, observe, project, document, publish; events tell of it.

What is wrong with a contract fails its checks and nothing else: the view of what was promoted is published all the
same, since those who read it must see its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    DataVersion,
    Failure,
    MaterializeResult,
    MetadataValue,
)

from strata_core.contract_engine.observations import Observations, SeenTest, utc_now
from strata_core.contract_engine.pipeline import Checked, examine, open_setting
from strata_core.contract_engine.runtime_view import RuntimeView
from strata_core.contract_engine.serving.ages import stale_after
from strata_core.contract_engine.serving.products import Product, inputs_digest, listed, live_versions
from strata_core.contract_engine.serving.refresh import Refreshed, refresh
from strata_core.diagnostics import Diagnostic, Severity, StrataError
from strata_core.diagnostics.listing import headline
from strata_core.digests import hexdigest

from ..findings import findings, list_of
from ..names import INPUTS, STALE_AT
from ..tables import markdown_table
from .assets import COMPATIBLE, VALID, ContractAssets
from .contract_check import contract_tests
from .observing import seen_in_dagster
from .results import result_of

ERROR, WARN = AssetCheckSeverity.ERROR, AssetCheckSeverity.WARN
Told = MaterializeResult[None] | AssetCheckResult
Metadata = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContractRun:
    """A run of the op of contract assets: of those that `context` selects, and of the checks that it selects."""

    context: AssetExecutionContext
    contracts: ContractAssets

    def stream(self) -> Iterator[Told]:
        """Renew, and tell. Raises `Failure` where the project, or the place that is published to, cannot be used."""
        root = self.contracts.project.root
        try:
            checked = examine(open_setting(root))
            # Before the views: what is published in between asks for its products again.
            live = live_versions(checked.setting, self.contracts.environment)[1]
            out = root / checked.setting.config.contract_engine.out
            products = {p.place: p for p in listed(checked).products}
            places = {key: place for place, key in self.contracts.keys.items()}
            wanted = self._wanted()
            ids = {products[places[key]].id for key in wanted if places[key] in products}
            done = refresh(
                checked,
                out,
                utc_now,
                version("strata-tables"),
                ids,
                environment=self.contracts.environment,
                others=self._seen,
            )
        except StrataError as error:
            self.context.log.error(findings(error.diagnostics, None))
            raise Failure(f"no product was renewed: {error}") from None
        for key in wanted:
            product = products.get(places[key])
            if product is None:
                self.context.log.warning(f"{key.to_user_string()}: its contract is gone; reload the code location")
                yield from self._gone(key)
                continue
            yield from self._told(key, _Renewed(product, checked, done, out), inputs_digest(product, live))

    def _wanted(self) -> list[AssetKey]:
        checks = {check.asset_key for check in self.context.selected_asset_check_keys}
        return sorted(self.context.selected_asset_keys | checks)

    def _seen(self) -> Observations:
        names: dict[AssetKey, tuple[str, ...]] = {}
        for covered in self.contracts.covers.values():
            for key, told in covered.items():
                names[key] = tuple(dict.fromkeys((*names.get(key, ()), *told)))
        return seen_in_dagster(self.context.instance, self.contracts.here, names)

    def _told(self, key: AssetKey, renewed: _Renewed, inputs: str) -> Iterator[Told]:
        chosen = {check.name for check in self.context.selected_asset_check_keys if check.asset_key == key}
        results = [r for r in renewed.checks(key, self._tests(key)) if r.check_name in chosen]
        if key in self.context.selected_asset_keys:
            metadata = renewed.metadata() | {INPUTS: inputs}
            yield MaterializeResult(
                asset_key=key, metadata=metadata, data_version=renewed.data_version(), check_results=results
            )
        else:
            yield from results

    def _gone(self, key: AssetKey) -> Iterator[AssetCheckResult]:
        for check in sorted(self.context.selected_asset_check_keys):
            if check.asset_key == key:
                yield _unknown(key, check.name, "there is no such contract any more: reload the code location")

    def _tests(self, key: AssetKey) -> list[AssetCheckSpec]:
        """The checks of tests that the code location knows."""
        return [spec for spec, _ in contract_tests(self.context.assets_def.check_specs) if spec.asset_key == key]


@dataclass(frozen=True, slots=True)
class _Renewed:
    """What became of one product."""

    product: Product
    checked: Checked
    done: Refreshed
    out: Path

    @property
    def served(self) -> RuntimeView | None:
        return self.done.views.get(self.product.id)

    @property
    def view(self) -> RuntimeView | None:
        return self.served or self.done.drafts.get(self.product.id)

    def data_version(self) -> DataVersion:
        """The same where what is said of the product is the same, whenever that was said."""
        view = self.view
        if view is None:
            return DataVersion(self.product.digest)
        plain = view.plain()
        plain["provenance"] = {k: v for k, v in plain["provenance"].items() if k != "projected_at"}
        return DataVersion(hexdigest(repr(plain)))

    def metadata(self) -> Metadata:
        product, view, served = self.product, self.view, self.served
        found: Metadata = {
            "product": product.id,
            "state": _state(served, view),
            "promoted": served is not None,
            "contract": MetadataValue.path(self.checked.setting.root / product.file),
        }
        if product.version is not None:
            found["version"] = product.version
        if product.verdict is not None:
            found["verdict"] = product.verdict
        if view is not None:
            found["standing"] = MetadataValue.md(_standing(view))
            found |= {"tests": MetadataValue.md(_tests(view))} if view.tests else {}
            stale = [
                s for a in view.freshness if a.state == "fresh" and (s := stale_after(a.latest or "", a.expected or ""))
            ]
            found |= {STALE_AT: MetadataValue.timestamp(min(stale))} if stale else {}
        if served is not None:
            place = served.id.replace(".", "/")
            page = self.out / "current" / "docs" / f"{place}.html"
            found |= {
                "served_version": served.version,
                "docs": MetadataValue.url(page.absolute().as_uri()),
                "docs_markdown": MetadataValue.path(page.with_suffix(".md")),
                "runtime_view": MetadataValue.path(self.out / "current" / "views" / f"{place}.json"),
            }
        return found

    def checks(self, key: AssetKey, tests: Sequence[AssetCheckSpec]) -> Iterator[AssetCheckResult]:
        """The result of every check of the product; `tests` are the checks of tests that Dagster knows."""
        yield _findings(key, VALID, self.product.about_contract, "the contract and what it is made of hold")
        if self.product.verdict is None:
            yield _unknown(key, COMPATIBLE, "nothing can be told of its version: it is not valid")
        else:
            since = f" since {self.product.against}" if self.product.against else ""
            fine = f"{self.product.verdict}: version {self.product.version} covers what changed{since}"
            yield _findings(key, COMPATIBLE, self.product.about_version, fine)
        results, there = self._results(), {t.id for t in self.product.tests}
        for spec, asked in contract_tests(tests):
            if asked.test in there:
                yield result_of(spec, results.get(asked.test))
            else:
                yield _unknown(key, spec.name, "the contract has no such test any more: reload the code location")

    def _results(self) -> Mapping[str, SeenTest]:
        """The latest result of each test: one that ran now, else the one that the view has."""
        view = self.view
        shown = {
            t.id: SeenTest(self.product.id, t.id, t.outcome, t.at, t.offenders, t.message)
            for t in (view.tests if view is not None else ())
        }
        ran = {t.test: t for t in self.done.tests if t.product == self.product.id and t.outcome != "not_run"}
        away = {t.test: t for t in self.done.tests if t.product == self.product.id}
        return away | shown | ran


def _state(served: RuntimeView | None, view: RuntimeView | None) -> str:
    if served is not None:
        return served.status.state
    return f"not promoted; as a draft it would be {view.status.state}" if view is not None else "not promoted"


def _standing(view: RuntimeView) -> str:
    """Why the product stands as it does, and what was seen of its assets."""
    reasons = "\n".join(f"- **{r.code}** {f'`{r.asset}`: ' if r.asset else ''}{r.message}" for r in view.status.reasons)
    ages = {a.asset: f"{a.state}, at most {a.expected} old" for a in view.freshness}
    rows = [
        (r.asset, r.told, r.at or "", "" if r.rows is None else f"{r.rows:,}", ages.get(r.asset, ""))
        for r in view.latest_runs
    ]
    seen = (
        markdown_table(("asset", "latest run", "at", "rows", "age"), rows) if rows else "No run of its assets was seen."
    )
    return f"**{view.status.state}**\n\n{reasons}\n\n{seen}\n"


def _tests(view: RuntimeView) -> str:
    """How the tests fared, wherever they are checks. What an experimental one found is for the owners."""
    rows = (
        (t.id, t.severity, t.asset or "", "for its owners" if t.visible_to else t.outcome.replace("_", " "), t.at or "")
        for t in view.tests
    )
    return markdown_table(("test", "severity", "asset", "outcome", "at"), rows)


def _unknown(key: AssetKey, check: str, told: str) -> AssetCheckResult:
    """The result of a check that nothing can be told of: it warns."""
    return AssetCheckResult(passed=False, asset_key=key, check_name=check, severity=WARN, description=told)


def _findings(key: AssetKey, check: str, found: Sequence[Diagnostic], fine: str) -> AssetCheckResult:
    """The findings, each at its file and line; an error fails the check, a warning warns."""
    errors = [d for d in found if d.severity is Severity.ERROR]
    if not found:
        return AssetCheckResult(passed=True, asset_key=key, check_name=check, description=fine)
    first = (errors or found)[0]
    metadata: Metadata = {
        "findings": MetadataValue.md(list_of(found)),
        "errors": len(errors),
        "warnings": len(found) - len(errors),
    }
    if first.span is not None:
        metadata["place"] = str(first.span)
    return AssetCheckResult(
        passed=False,
        asset_key=key,
        check_name=check,
        severity=ERROR if errors else WARN,
        metadata=metadata,
        description=headline([first, *(d for d in found if d is not first)], placed=True),
    )
