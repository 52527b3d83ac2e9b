"""The DuckDB engine, the default: relations as SQL trees, executed in memory with spilling, streamed as Arrow."""
