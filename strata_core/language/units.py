"""The units of a duration that the language has, for who reads nothing else of it."""

from ..durations import SECOND, UNITS

SECONDS = {unit: UNITS[unit] // SECOND for unit in ("s", "min", "m", "h", "d", "w")}
"""The seconds of each."""
