"""Projects of contracts in a folder, and what the engine says of them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from strata_core.contract_engine.pipeline import Checked, examine, open_setting
from strata_core.diagnostics import Diagnostic

TODAY = date(2026, 11, 30)
HEAD = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.orders
name: Orders
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {team: orders}
"""
"""How the contract of the product `shop.orders` begins; its assets follow."""
ORDERS = f"""\
{HEAD.replace("orders}", "orders, approvers: [head-of-orders]}")}\
assets:
  - id: orders
    kind: table
    columns:
      - {{name: order_id, type: int64, primary_key: true}}
      - {{name: amount, type: "decimal(10,2)"}}
"""
"""The contract at `contracts/shop/orders/contract.yaml`."""
PLACE = "contracts/shop/orders/contract.yaml"


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Lay `files` out below `root`."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
    return root


def checked(root: Path, files: Mapping[str, str | bytes], toml: str = "") -> Checked:
    """What the engine says of a project with `files`."""
    write(root, {"strata.toml": f'[project]\nname = "p"\n{toml}', **files})
    return examine(open_setting(root, TODAY))


def told(root: Path, files: Mapping[str, str | bytes], toml: str = "") -> list[str]:
    """The findings of a project, as `CODE file:line:column field`."""
    return [line(d) for d in checked(root, files, toml).diagnostics]


def line(diagnostic: Diagnostic) -> str:
    """A finding in a line."""
    return " ".join(filter(None, (diagnostic.code, str(diagnostic.span or ""), diagnostic.field_path)))
