"""The names of tags and of metadata: those of Strata, and those of Dagster and dagster-dbt that have no constant."""

from __future__ import annotations

# Of assets and their dependencies.
MODEL = "strata/model"
"""Metadata of an asset: the model that it is."""
SOURCE = "strata/source"
"""Metadata of a dependency on a file, or of its asset: the source that it is."""
READERS = "strata/readers"
"""Metadata of an asset: the models that read it, with their keys. They may be assets of other ops."""
CONTRACT = "strata/contract"
"""Metadata of a guarded asset: the contract that it is held to."""
LOCATION = "strata/location"
"""Metadata of an asset: the file of its rows, from the project's folder, where its contract does not say. With
`{partition}` in it, it is that of a partition."""
TABLE = "strata/table"
"""Metadata of an asset: the table that it lands in, where that is not the asset's name."""
MODE = "strata/mode"
"""Metadata of an asset: `append` (the default) or `replace`."""
LAYER, STATUS, VERSION = "strata/layer", "strata/status", "strata/version"
"""Tags of a data product's asset."""

# Of checks, and of what is told of data products.
PRODUCT = "strata/product"
"""Metadata of a check, an asset or a run's tag: the data product that it is of."""
ASSET, TEST, SEVERITY, VISIBLE_TO = "strata/asset", "strata/test", "strata/severity", "strata/visible_to"
"""Metadata of a check: the product's asset, the test, its severity, and who is meant to look at an experimental one."""
INPUTS = "strata/inputs"
"""Metadata of a materialization: the digest of what was renewed, by which the sensor knows that it was."""
STALE_AT = "strata/stale_at"
"""Metadata of a materialization: when, in seconds, the first of its assets is late, though nothing happens."""
BECAUSE = "strata/because"
"""Tag of a run: why the sensor asked for it."""

# Of ops and runs.
ON_ERROR = "strata/on_error"
"""Tag of an op: what a run does where the project has errors (`StrataProject.on_error`)."""
PROMOTE_FROM = "strata/promote_from"
"""Tag of a run: the environment whose artifacts go live in that of the run's `StrataResource`, instead of an apply."""
ENVIRONMENT = "strata/environment"
"""Tag of a run: the environment that it published in."""
FINGERPRINT = "strata/fingerprint"
"""Tag of a run: a digest of what all models of the project mean, equal for runs of the same code, however laid out."""

# Dagster's.
DATA_VERSION_TAG = "dagster/data_version"
USER_VERSION_TAG = "dagster/data_version_is_user_provided"
CODE_VERSION_TAG = "dagster/code_version"
INPUT_VERSION_TAG = "dagster/input_data_version"
INPUT_POINTER_TAG = "dagster/input_event_pointer"
RUN_ID = "dagster/run_id"
ROW_COUNT, PARTITION_ROW_COUNT = "dagster/row_count", "dagster/partition_row_count"
COLUMN_SCHEMA, COLUMN_LINEAGE = "dagster/column_schema", "dagster/column_lineage"
TABLE_NAME, CODE_REFERENCES = "dagster/table_name", "dagster/code_references"
DBT_UNIQUE_ID = "dagster_dbt/unique_id"
DBT_FAILED_ROWS = "dagster_dbt/failed_row_count"
