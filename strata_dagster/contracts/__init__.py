"""Data products in Dagster: assets, their sensor, their tests as checks, and what Dagster saw of them."""
