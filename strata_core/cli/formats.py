"""How findings are told."""

from __future__ import annotations

FORMATS = ("text", "json", "sarif", "junit", "github")
"""The first is for people, the others are for other programs."""
