"""The store: artifacts of models on disk and the environments that name them. What is committed is a log entry.

Nothing here loads pyarrow before rows are written or read: plan, history and rollback stay quick.
"""

from .artifacts import Artifact, Candidate
from .environments import Environment, EnvironmentVersion, Pointer
from .log import CommitLog, Entry, LogConflictError
from .manifest import ColumnStatistics, Field, Manifest, Part
from .store import Store
from .tables import StoreError, Table

__all__ = [
    "Artifact",
    "Candidate",
    "ColumnStatistics",
    "CommitLog",
    "Entry",
    "Environment",
    "EnvironmentVersion",
    "Field",
    "LogConflictError",
    "Manifest",
    "Part",
    "Pointer",
    "Store",
    "StoreError",
    "Table",
]
