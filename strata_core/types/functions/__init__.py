"""The function catalog: one table of everything that can be called, operators included.

To add a function: add a row here in its family's module (rule, documentation, two examples), its
meaning in `engines/reference/functions.py` and its translation in each engine's own table. Tests run
the examples on every engine and fail where a translation is missing.
"""

from types import MappingProxyType

from .aggregates import AGGREGATES, tighten_in_group
from .arithmetic import ARITHMETIC
from .comparison import PREDICATES
from .conditionals import CONDITIONALS
from .dates import DATES
from .documents import DOCUMENTS
from .floats import FLOATS
from .lists import LISTS
from .maths import MATHS
from .nested import NESTED
from .operands import SYMBOLS, branch_type
from .signature import Argument, Constant, Example, Function, Kind, LiteralValue, Resolution, SignatureError
from .strings import HASHES, STRINGS
from .windows import WINDOWS

FAMILIES = (
    *(ARITHMETIC, PREDICATES, CONDITIONALS, STRINGS, DATES, MATHS, FLOATS, NESTED, LISTS, DOCUMENTS, HASHES),
    *(AGGREGATES, WINDOWS),
)
CATALOG = MappingProxyType({f.name: f for family in FAMILIES for f in family})

__all__ = [
    "CATALOG",
    "SYMBOLS",
    "Argument",
    "Constant",
    "Example",
    "Function",
    "Kind",
    "LiteralValue",
    "Resolution",
    "SignatureError",
    "branch_type",
    "tighten_in_group",
]
