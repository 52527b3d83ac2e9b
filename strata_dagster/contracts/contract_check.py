"""What a check asks of a product's contract, as its metadata has it: a test, or whether an asset is fresh."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dagster import AssetCheckSpec

from ..names import ASSET, PRODUCT, SEVERITY, TEST, VISIBLE_TO


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """The test `test` of `product`, and what that is about; without a test, the age of its `asset`."""

    product: str
    asset: str | None = None
    test: str | None = None
    severity: str = ""
    visible_to: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The product and the test, by which results are known."""
        return self.product, self.test or ""

    def metadata(self) -> dict[str, str]:
        """As the check's spec bears it."""
        told = {
            PRODUCT: self.product,
            ASSET: self.asset,
            TEST: self.test,
            SEVERITY: self.severity,
            VISIBLE_TO: ", ".join(self.visible_to),
        }
        return {name: value for name, value in told.items() if value}


def contract_check(spec: AssetCheckSpec) -> ContractCheck | None:
    """What `spec` asks of a product's contract, None where it asks something else."""
    told = {name: value for name, value in (spec.metadata or {}).items() if isinstance(value, str)}
    if PRODUCT not in told:
        return None
    visible_to = tuple(told[VISIBLE_TO].split(", ")) if VISIBLE_TO in told else ()
    return ContractCheck(told[PRODUCT], told.get(ASSET), told.get(TEST), told.get(SEVERITY, ""), visible_to)


def contract_tests(specs: Iterable[AssetCheckSpec]) -> list[tuple[AssetCheckSpec, ContractCheck]]:
    """Those that ask a test."""
    known = ((spec, contract_check(spec)) for spec in specs)
    return [(spec, check) for spec, check in known if check is not None and check.test is not None]


def contract_ages(specs: Iterable[AssetCheckSpec]) -> list[AssetCheckSpec]:
    """Those that ask whether an asset is fresh."""
    return [spec for spec in specs if (check := contract_check(spec)) is not None and check.test is None]
