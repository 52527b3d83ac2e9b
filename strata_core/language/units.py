"""The units of a duration, apart from the language, for who reads nothing else of it."""

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
"""The seconds of each."""
