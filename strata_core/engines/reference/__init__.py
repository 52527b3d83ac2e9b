"""The reference engine: a small interpreter of the relation in plain Python, which defines the semantics.

`interpreter.py` runs relation nodes, `evaluate.py` expressions, `functions.py` names the meaning of every catalog
function, `values.py` says how values compare. Everything heavy (pyarrow, duckdb) is in `reading.py` and `engine.py`.
"""
