"""An asset in Python beside dbt's and Strata's: which share of all fuel costs each airline has.

What it promises stands here, in its metadata: a fragment of the contract `finance.fuel_costs`. The contract engine
reads it from this file and runs nothing.
"""

from pathlib import Path

import dagster as dg
import polars as pl

from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_, open_project

ROOT = Path(__file__).resolve().parent.parent


@dg.asset(
    deps=["fuel_cost_by_carrier"],
    group_name="reports",
    kinds={"python", "polars"},
    description="Each airline's share of the estimated fuel costs.",
    metadata={
        "contract": {
            "product": "finance.fuel_costs",
            "asset": "fuel_cost_shares",
            "kind": "dagster_asset",
            "description": "Each airline's share of the estimated fuel costs.",
            "location": "data/reports/fuel_cost_shares.csv",
            "columns": [
                {"name": "carrier", "type": "string", "primary_key": True, "description": "Code of the airline."},
                {"name": "airline_name", "type": "string", "nullable": False, "description": "Name of the airline."},
                {"name": "share", "type": "float64", "description": "Its part of all fuel costs, from 0 to 1."},
            ],
            "tests": [
                {
                    "id": "shares_are_parts",
                    "kind": "expectation",
                    "severity": "degrading",
                    "asset": "fuel_cost_shares",
                    "expectation": {"type": "range", "column": "share", "min": 0, "max": 1},
                }
            ],
        }
    },
)
def fuel_cost_shares() -> dg.MaterializeResult[None]:
    """Write the shares as a CSV file, from the rows that are live."""
    project = open_project(project=ROOT)
    rows = published_rows(project, compile_(project), "fuel_cost_by_carrier", "prod").reader.read_all()
    costs = pl.DataFrame(rows).select("carrier", "airline_name", cost=pl.col("fuel_cost").cast(pl.Float64))
    shares = costs.select("carrier", "airline_name", share=pl.col("cost") / pl.col("cost").sum()).sort("carrier")
    path = ROOT / "data/reports/fuel_cost_shares.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    shares.write_csv(path)
    columns = [dg.TableColumn("carrier", "string"), dg.TableColumn("airline_name", "string")]
    schema = dg.TableSchema([*columns, dg.TableColumn("share", "float64")])
    return dg.MaterializeResult(metadata={"dagster/row_count": len(shares), "dagster/column_schema": schema})
