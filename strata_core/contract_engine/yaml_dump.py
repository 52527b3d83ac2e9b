"""Plain data as YAML that is read as it was meant, by versions 1.1 and 1.2 of YAML alike.

PyYAML writes for version 1.1, and this program reads 1.2: texts that either takes for something else are quoted.
"""

from __future__ import annotations

import re
from typing import Any

import yaml


class _Careful(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists are indented below their fields, as people write them."""
        super().increase_indent(flow, False)

    def text(self, value: str) -> yaml.ScalarNode:
        """Signs that end a line somewhere, and those that cannot be seen, are spelled out."""
        style = '"' if _UNSEEN.search(value) else None
        return self.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_Careful.add_representer(str, _Careful.text)


_Careful.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^0o[0-7]+$"), ["0"])
_Careful.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def yaml_text(data: Any) -> str:
    """The text of `data`, fields in their order."""
    text: str = yaml.dump(data, Dumper=_Careful, sort_keys=False, allow_unicode=True, width=110)
    return text
