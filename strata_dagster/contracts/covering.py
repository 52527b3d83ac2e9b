"""Which assets of a code location the assets of data products are: contracts name tables, Dagster has keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dagster import AssetCheckKey, AssetKey, AssetsDefinition, AssetSpec

from ..names import DBT_UNIQUE_ID, MODEL, SOURCE
from .contract_check import contract_check

Given = AssetsDefinition | AssetSpec


@dataclass(frozen=True, slots=True)
class Landscape:
    """The assets of a code location by the names that contracts may give them, with their checks. `dbt` are those that
    dbt makes: their checks are dbt's tests. `tests` are the checks that are tests of a contract (product and id), or of
    the age that one promises (no id)."""

    by_name: Mapping[str, frozenset[AssetKey]]
    checks: Mapping[AssetKey, tuple[AssetCheckKey, ...]]
    dbt: frozenset[AssetKey]
    tests: Mapping[AssetCheckKey, tuple[str, str | None]]

    @property
    def keys(self) -> frozenset[AssetKey]:
        """All assets."""
        return frozenset(key for found in self.by_name.values() for key in found)

    def key_of(self, names: Iterable[str]) -> AssetKey | None:
        """The asset of the first of `names` that is that of one asset alone; None where there is no such."""
        for name in names:
            found = self.by_name.get(name, frozenset())
            if len(found) == 1:
                return next(iter(found))
        return None


def landscape(assets: Iterable[Given]) -> Landscape:
    """What `assets` are and how they are checked."""
    by_name: dict[str, set[AssetKey]] = defaultdict(set)
    loose: dict[str, set[AssetKey]] = defaultdict(set)
    checks: dict[AssetKey, list[AssetCheckKey]] = defaultdict(list)
    dbt = set()
    tests: dict[AssetCheckKey, tuple[str, str | None]] = {}
    for given in assets:
        for spec in _specs(given):
            unique_id = spec.metadata.get(DBT_UNIQUE_ID)
            if unique_id is not None:
                dbt.add(spec.key)
            for name in names_of(spec):
                by_name[name].add(spec.key)
            loose[spec.key.path[-1]].add(spec.key)
        for check in given.check_specs if isinstance(given, AssetsDefinition) else ():
            checks[check.asset_key].append(check.key)
            if (asked := contract_check(check)) is not None:
                tests[check.key] = asked.product, asked.test
    for name, keys in loose.items():
        by_name.setdefault(name, keys)  # the last part of a key alone, where nothing bears it as its whole name
    return Landscape(
        {name: frozenset(keys) for name, keys in by_name.items()},
        {key: tuple(found) for key, found in checks.items()},
        frozenset(dbt),
        tests,
    )


def _specs(given: Given) -> Sequence[AssetSpec]:
    return [given] if isinstance(given, AssetSpec) else list(given.specs)


def names_of(spec: AssetSpec) -> Iterator[str]:
    """The names by which contracts may mean an asset: its key, what Strata and dbt call what it is of."""
    yield spec.key.to_user_string()
    yield spec.key.to_python_identifier()
    for name in (MODEL, SOURCE):
        if isinstance(found := spec.metadata.get(name), str):
            yield found
    unique_id = spec.metadata.get(DBT_UNIQUE_ID)
    if isinstance(unique_id, str):
        parts = unique_id.split(".")
        yield unique_id
        yield ".".join(parts[-2:]) if parts[0] == "source" else parts[-1]
