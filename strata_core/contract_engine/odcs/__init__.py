"""The Open Data Contract Standard: contracts are read from it (3.0 to 3.2) and written to it (3.1, 3.2).

What both can say stands in the standard's own fields. What it has no field for goes into custom properties
`strata.…`; what contracts have no field for is kept under `extensions.odcs`. So nothing is lost either way, and each
such thing is told (W170). `write` and `read` are inverse; `rest` is what keeps the remainder.
"""
