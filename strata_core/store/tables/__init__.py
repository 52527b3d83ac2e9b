"""Tables with three clocks (Seed 1): landed in runs, folded into snapshots, read as of any instant of each clock.

Nothing here loads pyarrow, polars or pydantic before a table is declared, landed on or read.
"""

from .errors import StoreError
from .table import Table
from .tables import Tables

__all__ = ["StoreError", "Table", "Tables"]
