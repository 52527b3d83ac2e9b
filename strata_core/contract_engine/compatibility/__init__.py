"""Compatibility: what changed since the promoted version, what that does to consumers, and whether the version says so.

The rows of a table's columns are those of `contract/changes.py`; `rules.py` adds what only a product has.
"""
