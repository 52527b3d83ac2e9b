"""What semantic tokens can say of a name: told to the client in the greeting, so kept apart from all that is heavy."""

from __future__ import annotations

from lsprotocol.types import SemanticTokensLegend

TYPES = {
    "table": "class",
    "column": "property",
    "contract": "interface",
    "field": "property",
    "domain": "type",
    "pipeline": "namespace",
    "alias": "variable",
    "function": "function",
    "module": "namespace",
}
"""The type of token for each kind of symbol, by the kind's value."""
LEGEND = SemanticTokensLegend([*dict.fromkeys(TYPES.values())], ["declaration"])
