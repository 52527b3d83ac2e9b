"""The registry of diagnostic codes: one row per code, with the meaning that never changes.

To add a code is to add a row and a page below `pages/`; tests hold that every code that is raised stands here, is
raised by some test, and that the page's examples do what it says.
"""

from __future__ import annotations

from types import MappingProxyType

CODES = MappingProxyType(
    {
        # E00x syntax
        "E001": "syntax error",
        "E002": "source text cannot be read or written",
        "E003": "literal out of range",
        # E01x contract conformance, phase A (Seed 0 §5 A)
        "E010": "contract field missing from the output",
        "E011": "type does not conform to the contract",
        "E012": "nullable column where the contract promises nonnull",
        "E013": "protected or primary-key column missing",
        "E014": "value outside the contract's enum",
        "E015": "column outside a closed contract",
        # E02x names
        "E020": "unknown table",
        "E021": "unknown column",
        "E022": "ambiguous column",
        "E023": "duplicate name",
        "E024": "unknown contract or domain",
        "E025": "unknown function",
        "E026": "models form a cycle",
        "E027": "unknown model in a pipeline or command",
        "E028": "modules import one another",
        # E03x planning, phase B (Seed 0 §5 B)
        "E030": "source or column missing",
        "E031": "column renamed upstream",
        "E032": "column narrower upstream than its readers were checked against",
        "E033": "source cannot be read",
        "E034": "revision cannot be read",
        "E035": "environment cannot be promoted",
        "E036": "table cannot be guarded",
        "E037": "partition cannot be applied",
        # E04x compile-time functions
        "E040": "unknown name in a compile-time function",
        "E041": "compile-time types do not fit",
        "E042": "compile-time evaluation cannot go on",
        "E043": "compile-time code out of place",
        # E05x types (Seed 0 §1, §2)
        "E050": "operand types do not fit",
        "E051": "types cannot be compared",
        "E052": "mixed currency",
        "E053": "condition is not bool",
        "E054": "branches have no common type",
        "E055": "unresolved column type",
        "E056": "cast is not possible",
        "E057": "money needs an explicit rounding",
        # E06x functions and windows
        "E060": "wrong arguments",
        "E061": "aggregate outside an aggregate",
        "E062": "column that is neither grouped nor aggregated",
        "E063": "window not allowed here",
        "E064": "function depends on an order and none is given",
        "E065": "function is not deterministic",
        "E066": "function has no translation for the engine",
        # E07x declarations
        "E070": "declaration is not valid",
        "E071": "statement is not valid here",
        "E072": "type is not valid",
        "E073": "project configuration is not valid",
        "E074": "value does not fit its column",
        # E08x write pin, phase C (Seed 0 §5 C)
        "E080": "physical type differs from the contract",
        "E081": "null in a nonnull column",
        "E082": "value outside the enum",
        "E083": "duplicate in a unique column or key",
        "E084": "column missing from the data",
        "E085": "data is older than the contract's freshness",
        "E086": "assertion violated",
        "E087": "join matched more rows than expected",
        "E088": "column in the data that a closed contract does not name",
        "E089": "unit test failed",
        # E09x engines and store
        "E090": "computation failed",
        "E091": "engine out of resources",
        "E092": "store cannot be read or written",
        "E093": "another apply published first",
        "E094": "artifact does not match its manifest",
        "E095": "nothing published under this name",
        "E096": "table cannot answer this read",
        "E097": "landing is refused",
        "E098": "table declaration is not valid",
        "E099": "compiled manifest cannot be used",
        # E10x contract files (Seed 2, "Discover", "Parse")
        "E100": "contract file cannot be read",
        "E101": "contract file is not well-formed",
        "E102": "field given twice",
        "E103": "values without end",
        "E104": "unknown field",
        "E105": "value of the wrong kind",
        "E106": "field missing",
        "E107": "value not allowed",
        "E108": "generated metadata cannot be read",
        "E109": "path leads out of the project",
        # E11x collation (Seed 2, "Collate")
        "E110": "fragment names no target",
        "E111": "fragment has two targets",
        "E112": "fragment names a target that is not there",
        "E113": "two contracts for one product",
        "E114": "sources disagree",
        "E115": "contract lies in another place than its id says",
        # E12x the contract as a whole (Seed 2, "Validate")
        "E120": "layer asks for more",
        "E121": "unknown layer",
        "E122": "reference leads nowhere",
        "E123": "products form a cycle",
        "E124": "placeholder was left",
        # E13x compatibility (Seed 2, "Compatibility Rules")
        "E130": "version does not cover the changes",
        "E131": "breaking change lacks what it needs",
        "E132": "change has to be reviewed by the owner",
        "E133": "removed name comes back",
        # E14x tests (Seed 2, "Evaluate Tests")
        "E140": "SQL test is not one read-only query",
        "E141": "unknown dbt test",
        "E142": "expectation does not fit its asset",
        "E143": "nothing runs this test",
        "E144": "blocking test fails on a candidate",
        # E15x governance and agents
        "E150": "classified lower than what it is made of",
        "E151": "governance intent does not hold together",
        "E152": "agent permission cannot be meant",
        # E16x promotion (Seed 2, "Promotion Rules")
        "E160": "promotion is not possible",
        "E161": "promotion record cannot be used",
        # E17x exchange with other standards
        "E170": "not a contract of the Open Data Contract Standard",
        # E18x suggestions (Seed 2, "Generate Pull Requests")
        "E180": "suggestion cannot be made",
        # W0xx lints
        "W001": "model has no contract",
        "W004": "classified column without a mask",
        "W005": "join is not used",
        "W006": "order is not kept",
        "W007": "aggregate over rows that a join repeats",
        "W008": "filter undoes an outer join",
        "W009": "group of rows without a match",
        "W010": "function is never called",
        "W011": "taken rows are not told apart",
        "W012": "floats compared for equality",
        "W013": "money as a float",
        "W014": "hidden column is not used",
        "W015": "rows without a key match each other",
        "W016": "vintages are read without a bound",
        "W017": "table of another project is taken over",
        "W018": "join compares nothing",
        "W019": "comment reads as a divisor",
        "W020": "comparison with a value that never is",
        "W030": "lineage of a dbt model is not known whole",
        "W090": "allowance of no use",
        # W1xx contracts
        "W110": "columns that the contract does not name",
        "W111": "sources word it differently",
        "W112": "project has no contract",
        "W113": "folder of the configuration is not there",
        "W114": "text names what was removed",
        "W115": "table of two products",
        "W116": "contract file is ignored by git",
        "W153": "classification has no level",
        "W170": "kept aside, for the other standard has no field for it",
        "W180": "contract could say more",
        "W181": "declined suggestion is not made",
    }
)

FAMILIES = MappingProxyType(
    {
        "E00": "syntax",
        "E01": "contract conformance",
        "E02": "names",
        "E03": "planning",
        "E04": "compile-time functions",
        "E05": "types",
        "E06": "functions and windows",
        "E07": "declarations",
        "E08": "write pin",
        "E09": "engines and store",
        "E10": "contract files",
        "E11": "collation",
        "E12": "contracts as a whole",
        "E13": "compatibility",
        "E14": "tests of contracts",
        "E15": "governance and agents",
        "E16": "promotion",
        "E17": "exchange with other standards",
        "E18": "suggestions",
        "W0": "lints",
        "W1": "notes on contracts",
    }
)
"""What codes that begin so are about, in the order in which they are listed."""


def family(code: str) -> str:
    """The beginning of `code` that names its family."""
    return next(prefix for prefix in FAMILIES if code.startswith(prefix))
