"""A small shop in a temporary folder, worked on as `strata` does, by the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strata_core.engines.protocol import Engine
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.results import Event, ModelResult, Outcome
from strata_core.planning.fingerprints import Fingerprint, fingerprints
from strata_core.planning.plan import Plan
from strata_core.planning.project import Project, compile_sound, open_project
from strata_core.planning.workspace import Workspace, open_workspace

ORDERS = """\
order_id,customer_id,country,amount,placed
1,10,ES,12.50,2026-01-01
2,10,ES,7.25,2026-01-02
3,11,MX,3.00,2026-01-02
4,,CO,99.99,2026-01-03
"""
CUSTOMERS = "customer_id,email\n10,a@x.es\n11,b@x.mx\n12,\n"
SOURCES = """\
source orders(csv: "orders.csv") {
  columns: {
    order_id: int64 nonnull primary_key,
    customer_id: int64,
    country: string nonnull enum {ES, MX, CO},
    amount: decimal(10,2) nonnull,
    placed: date nonnull,
  }
}
source customers(csv: "customers.csv") {
  columns: {
    customer_id: int64 nonnull primary_key,
    email: string classification: "pii" mask: hash,
  }
}
"""
ENRICHED = """\
contract Order {
  order_id: int64 primary_key
  country: string nonnull enum {ES, MX, CO}
  email: string classification: "pii" mask: hash
  amount: decimal(10,2) nonnull
  placed: date nonnull
}
model enriched -> contract Order {
  from orders
  join_left customers on orders.customer_id == customers.customer_id expect many_to_one
  select { order_id, country, email = customers.email, amount, placed }
}
"""
BY_COUNTRY = """\
contract ByCountry {
  country: string primary_key
  orders: int64 nonnull
  total: decimal(38,2) nonnull
}
model by_country -> contract ByCountry {
  from enriched
  group { country } ( aggregate { orders = count(), total = sum(amount) } )
}
"""
BY_DAY = """\
contract Day {
  placed: date primary_key
  orders: int64 nonnull
}
model by_day -> contract Day {
  from enriched
  group { placed } ( aggregate { orders = count() } )
}
"""
TOP = """\
contract Top {
  country: string nonnull
  total: decimal(38,2) nonnull
}
model top -> contract Top {
  from by_country
  sort { -total, country }
  take 1
  select { country, total }
}
"""
SHOP = {
    "models/sources.strata": SOURCES,
    "models/enriched.strata": ENRICHED,
    "models/by_country.strata": BY_COUNTRY,
    "models/by_day.strata": BY_DAY,
    "models/top.strata": TOP,
    "orders.csv": ORDERS,
    "customers.csv": CUSTOMERS,
    "strata.toml": '[project]\nname = "shop"\n[engine]\nname = "reference"\n',
}


class Shop:
    """A project's folder; what it computes is read back as Python values."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        self.write(path, text.replace(old, new))

    @property
    def project(self) -> Project:
        return open_project(project=self.root)

    def workspace(self, environment: str = "prod") -> Workspace:
        return open_workspace(self.project, environment, compile_sound(self.project))

    def plan(self, *models: str, environment: str = "prod", force: bool = False) -> Plan:
        return self.workspace(environment).plan(models or None, force=force)

    def reasons(self, *models: str) -> dict[str, list[str]]:
        return {m.name: [str(c) for c in m.causes] for m in self.plan(*models).stale}

    def events(
        self,
        *models: str,
        environment: str = "prod",
        force: bool = False,
        publish: str = "together",
        engine: Engine | None = None,
    ) -> Iterator[Event]:
        workspace = self.workspace(environment)
        plan = workspace.plan(models or None, force=force)
        return apply_plan(workspace, plan, engine or ReferenceEngine(), publish=publish)

    def carry_out(self, plan: Plan) -> None:
        list(apply_plan(self.workspace(plan.environment), plan, ReferenceEngine()))

    def apply(self, *models: str, **how: object) -> Outcome:
        *_, outcome = self.events(*models, **how)
        assert isinstance(outcome, Outcome)
        return outcome

    def statuses(self, *models: str, **how: object) -> dict[str, str]:
        return {name: str(r.status) for name, r in self.apply(*models, **how).results.items()}

    def result(self, model: str, *models: str, **how: object) -> ModelResult:
        return self.apply(*models, **how).results[model]

    def rows(self, model: str, environment: str = "prod") -> list[dict[str, object]]:
        store = self.workspace(environment).store
        artifact = store.artifact(model, store.environment(environment).head().models[model])
        return store.reader(artifact).read_all().to_pylist()

    def head(self, environment: str = "prod") -> int:
        return self.workspace(environment).store.environment(environment).head().number

    def fingerprint(self, model: str) -> Fingerprint:
        return fingerprints(compile_sound(self.project))[model]

    def artifact_bytes(self, model: str) -> bytes:
        store = self.workspace().store
        artifact = store.artifact(model, store.environment("prod").head().models[model])
        return b"".join(path.read_bytes() for path in artifact.paths)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def new_shop(tmp_path: Path) -> Callable[[str], Shop]:
    """A folder of the shop's project, under a name of its own."""

    def make(name: str) -> Shop:
        made = Shop(tmp_path / name)
        for path, text in SHOP.items():
            made.write(path, text)
        return made

    return make


@pytest.fixture
def empty_shop(tmp_path: Path) -> Callable[[str], Shop]:
    """A folder without files, under a name of its own."""
    return lambda name: Shop(tmp_path / name)


@pytest.fixture
def shop(new_shop: Callable[[str], Shop]) -> Shop:
    return new_shop("shop")
