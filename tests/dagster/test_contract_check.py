"""What a check asks of a contract is written into its spec and read from there, once for all who ask."""

from __future__ import annotations

import dagster as dg
import pytest

from strata_dagster.contracts.contract_check import ContractCheck, contract_ages, contract_check, contract_tests


def spec(metadata: dict[str, str] | None) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec("one", asset="orders", metadata=metadata)


TRIED = ContractCheck("shop.orders", "orders", "few", "experimental", ("finance", "risk"))
AGE = ContractCheck("shop.orders", "orders")


def test_what_is_written_is_read() -> None:
    assert TRIED.metadata() == {
        "strata/product": "shop.orders",
        "strata/asset": "orders",
        "strata/test": "few",
        "strata/severity": "experimental",
        "strata/visible_to": "finance, risk",
    }
    assert AGE.metadata() == {"strata/product": "shop.orders", "strata/asset": "orders"}
    assert [contract_check(spec(one.metadata())) for one in (TRIED, AGE)] == [TRIED, AGE]


@pytest.mark.parametrize("metadata", [None, {}, {"strata/test": "few"}])
def test_other_checks_are_none_of_a_contract(metadata: dict[str, str] | None) -> None:
    assert contract_check(spec(metadata)) is None


def test_tests_and_ages_are_told_apart() -> None:
    tried, age, other = (spec(m) for m in (TRIED.metadata(), AGE.metadata(), None))
    assert contract_tests([tried, age, other]) == [(tried, TRIED)]
    assert contract_ages([tried, age, other]) == [age]
