"""`strata_contract_sensor`: products are renewed when what they are made of changes, or something happens to their
assets.

A tick that finds nothing costs a look at the file system's signatures and a question to the event log. Its cursor
has a fixed size: how many products there are, and how long the sensor was off, does not matter to it. What a product
was renewed with stands in its last materialization, so that nothing is renewed twice, and nothing lost stays lost.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetSelection,
    DagsterInstance,
    DagsterInvalidDefinitionError,
    DefaultSensorStatus,
    EventLogEntry,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
)

from strata_core.contract_engine.pipeline import Setting, open_setting
from strata_core.contract_engine.serving.products import Products, inputs_digest, live_versions, products_of
from strata_core.contract_engine.serving.watching import Seen, look
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.digests import hexdigest

from ..findings import findings
from ..names import BECAUSE, INPUTS, PRODUCT, STALE_AT
from .assets import ContractAssets, asset_key
from .event_pages import KINDS, EventReader, Marks, behind_everything
from .observing import portions

SECONDS_BETWEEN = 30
_SHORT = 16


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the last tick ended: the digest of all inputs, how far each kind of event was read, when the first product
    grows old though nothing happens, and what was told that belongs to no product."""

    inputs: str = ""
    marks: Marks = field(default_factory=Marks)
    due: float | None = None
    told: str = ""

    def text(self) -> str:
        """The cursor as Dagster keeps it."""
        return json.dumps(asdict(self), separators=(",", ":"))


def cursor_of(text: str | None) -> Cursor | None:
    """The cursor that was kept; None at the first tick, and where somebody set it to something else."""
    try:
        told = json.loads(text or "")
        numbers = told["marks"]
        read, recent, settled = ({k: int(numbers[name][k]) for k in KINDS} for name in ("read", "recent", "settled"))
        readings = int(numbers.get("readings", 0))  # cursors of earlier releases have none
        marks = Marks(read, recent, settled, float(numbers["since"]), readings)
        due = None if told["due"] is None else float(told["due"])
        return Cursor(str(told["inputs"]), marks, due, str(told["told"]))
    except (ValueError, KeyError, TypeError):
        return None


def strata_contract_sensor(
    contracts: ContractAssets,
    *,
    name: str = "strata_contracts",
    minimum_interval_seconds: int = SECONDS_BETWEEN,
    default_status: DefaultSensorStatus = DefaultSensorStatus.STOPPED,
) -> SensorDefinition:
    """A sensor that renews the products of `contracts` (`strata_contract_assets`), each in a run of its own.

    A product is renewed when its contract, a fragment, metadata of tools about it or its promotion changed, when an
    asset that it covers was materialized, observed, checked or failed to be, when the store published one, and when an
    asset grows older than is promised.
    """
    _require_products(contracts)
    watch = _Watch(contracts)
    keys = sorted(contracts.keys.values())
    return SensorDefinition(
        name=name,
        evaluation_fn=watch.tick,
        minimum_interval_seconds=minimum_interval_seconds,
        default_status=default_status,
        asset_selection=AssetSelection.assets(*keys),
        description="Renews data products when what they are made of changes, or something happens to their assets.",
    )


def _require_products(given: object) -> None:
    if not isinstance(given, ContractAssets):
        told = f"the sensor takes what `strata_contract_assets` gives, and not a {type(given).__name__}"
        raise DagsterInvalidDefinitionError(told)


@dataclass(frozen=True, slots=True)
class Wish:
    """Why a product is to be renewed: the digest of what it is made of, where that changed, and of the events that ask
    for it; the number of the last one, or of the materialization that is to be replaced."""

    digest: str
    number: int
    why: str


class _Watch:
    """A tick, with what this process saw of the files at the last one: it only saves reading them again."""

    def __init__(self, contracts: ContractAssets) -> None:
        self.contracts = contracts
        self.seen: Seen | None = None
        self.events = EventReader()
        self.setting: Setting | None = None
        self.known = hexdigest(*(key.to_string() for key in sorted(contracts.covers)))
        self.products: dict[AssetKey, list[AssetKey]] = {}
        for product, covered in contracts.covers.items():
            for asset in covered:
                self.products.setdefault(asset, []).append(product)

    def tick(self, context: SensorEvaluationContext) -> SensorResult | SkipReason:
        """What is to be renewed."""
        instance, now = context.instance, time.time()
        before = cursor_of(context.cursor)
        if before is None and context.cursor:
            context.log.warning("the cursor is none of this sensor's: everything is looked at anew")
        # Marks before the look: what happens in between is seen by the next tick.
        marks = before.marks if before is not None else behind_everything(instance, now)
        cursor = replace(before or Cursor(), marks=marks)
        seen = look(self.contracts.project.root, self.seen, time.monotonic())
        if seen.faults:
            self.seen = seen
            told = _told_once(context, cursor, seen.faults)
            context.update_cursor(told.text())
            again = "nothing is renewed until what was told is mended"
            return SkipReason(findings(seen.faults, None) if told != cursor else again)
        wanted: dict[AssetKey, Wish] = {}
        try:
            if seen is not self.seen or self.setting is None:
                self.seen, self.setting = seen, open_setting(self.contracts.project.root)
            inputs = self._inputs(self.setting, seen)
            if inputs != cursor.inputs:
                cursor = replace(self._changed(context, self.setting, cursor, wanted), inputs=inputs)
        except StrataError as error:  # somebody wrote in between: the next tick sees what it has become
            return SkipReason(findings(error.diagnostics, None))
        if cursor.due is not None and now >= cursor.due:
            cursor = replace(cursor, due=self._grown_old(instance, now, wanted))
        due = cursor.due

        def take(asset: AssetKey, number: int, entry: EventLogEntry) -> None:
            nonlocal due
            for product in self.products.get(asset, ()):
                # Of all events, not of the last alone: one that came to light late has a lower number. And of nothing
                # else: a process that begins anew reads some again, and asks for the same then.
                before = wanted[product].digest if product in wanted else ""
                digest = hexdigest(before, str(number), str(entry.timestamp))
                what = entry.dagster_event_type
                wanted[product] = Wish(digest, number, f"{what.value if what else 'event'} of {asset.to_user_string()}")
            if asset in self.contracts.covers and (at := _stale_at(entry.asset_materialization)) is not None:
                due = at if due is None else min(due, at)

        reading = self.events.read(instance, cursor.marks, now, take)
        cursor = replace(cursor, marks=reading.marks, due=due)
        context.update_cursor(cursor.text())
        if not wanted:
            return SkipReason("nothing changed" if not reading.more else "there are more events to read")
        return SensorResult([_request(product, wish) for product, wish in wanted.items()])

    def _inputs(self, setting: Setting, seen: Seen) -> str:
        """One digest of files, of what the store has published, of the products that the code location knows, and of
        the day, by which approvals and deprecations count."""
        number = live_versions(setting, self.contracts.environment)[0]
        return hexdigest(seen.digest, str(number), datetime.now(UTC).date().isoformat(), self.known)

    def _changed(
        self,
        context: SensorEvaluationContext,
        setting: Setting,
        cursor: Cursor,
        wanted: dict[AssetKey, Wish],
    ) -> Cursor:
        """Ask for the products that were not renewed with what they are made of now."""
        found = products_of(setting)
        live = live_versions(setting, self.contracts.environment)[1]
        latest = self._latest(context.instance)
        for product in found.products:
            key = self.contracts.keys.get(product.place)
            if key is None:
                continue
            digest = inputs_digest(product, live)
            number, made = latest.get(key, (0, None))
            if made is None or _text(made, INPUTS) != digest:
                wanted[key] = Wish(digest, number, f"{product.file}, or what it is made of, changed")
        return _told_once(context, cursor, found.other_findings, _strangers(self.contracts, found))

    def _grown_old(self, instance: DagsterInstance, now: float, wanted: dict[AssetKey, Wish]) -> float | None:
        """Ask for the products that grew old by `now`; when the next one does."""
        later = []
        for key, (number, made) in self._latest(instance).items():
            at = _stale_at(made)
            if at is not None and at > now:
                later.append(at)
            elif at is not None and made is not None:
                wanted.setdefault(key, Wish(_text(made, INPUTS) or "", number, "an asset grew older than is promised"))
        return min(later, default=None)

    def _latest(self, instance: DagsterInstance) -> dict[AssetKey, tuple[int, AssetMaterialization | None]]:
        """The last materialization of each product, with its number."""
        found = {}
        for keys in portions(self.contracts.covers):
            for record in instance.get_asset_records(keys):
                made = record.asset_entry.last_materialization_record
                if made is not None:
                    found[record.asset_entry.asset_key] = made.storage_id, made.asset_materialization
        return found


def _request(product: AssetKey, wish: Wish) -> RunRequest:
    """A run for a product. Its key says what for: what the product is made of, the events that ask for it, and the last
    of them or the materialization that it replaces, so that what is on its way is not asked for again."""
    name = "/".join(product.path[1:])
    return RunRequest(
        run_key=f"{name}:{wish.digest[:_SHORT]}:{wish.number}",
        asset_selection=[product],
        tags={PRODUCT: name, BECAUSE: wish.why},
    )


def _told_once(
    context: SensorEvaluationContext, cursor: Cursor, found: Iterable[Diagnostic], more: Iterable[str] = ()
) -> Cursor:
    """Log what belongs to no product, unless it is what was logged last."""
    told, lines = list(found), list(more)
    digest = hexdigest(*map(repr, told), *lines)[:_SHORT] if told or lines else ""
    if digest != cursor.told:
        if told:
            context.log.warning(findings(told, None))
        for line in lines:
            context.log.warning(line)
    return replace(cursor, told=digest)


def _strangers(contracts: ContractAssets, found: Products) -> Iterable[str]:
    """Products that the code location does not know, and those that it knows and are gone."""
    taken = contracts.here.keys.union(contracts.keys.values())
    for product in found.products:
        if product.place not in contracts.keys:
            key = asset_key(product.place)
            why = "another asset has its key" if key in taken else "it is new"
            told = f"{product.file} is no asset `{key.to_user_string()}` yet: {why}."
            yield f"{told} Reload the code location once that is settled."
    there = {p.place for p in found.products}
    for place, known in contracts.keys.items():
        if place not in there:
            yield f"the contract of {known.to_user_string()} is gone: reload the code location"


def _text(made: AssetMaterialization, name: str) -> str | None:
    found = made.metadata.get(name)
    return str(found.value) if found is not None else None


def _stale_at(made: AssetMaterialization | None) -> float | None:
    found: Any = made.metadata.get(STALE_AT) if made is not None else None
    return float(found.value) if found is not None else None
