"""The version of what programs mean, apart from all that knows it: who only compares it loads nothing else."""

SEMANTICS_VERSION = "2"
"""Version of what programs mean and how artifacts are written; raise it when either changes."""
