"""Value types (Seed 0 §1): what a single cell can hold. Nullability is a flag of the column, not of the type.

`Unknown` is the type of `none` and of what could not be resolved; it exists only during inference and
no finished relation carries it.
"""

from __future__ import annotations

from ..frozen import dataclass

MAX_PRECISION = 38
MONEY_SCALE = 2


@dataclass(frozen=True, slots=True)
class Int64:
    """Whole numbers of 64 bits; overflow is an error, never a wrap."""

    def __str__(self) -> str:
        return "int64"


@dataclass(frozen=True, slots=True)
class Float64:
    """IEEE 754 doubles; NaN equals NaN and is larger than every number, -0.0 equals 0.0."""

    def __str__(self) -> str:
        return "float64"


@dataclass(frozen=True, slots=True)
class Decimal:
    """Exact decimals of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= MAX_PRECISION and 0 <= self.scale <= self.precision):
            raise ValueError(f"decimal({self.precision},{self.scale}) is outside decimal(1..38, 0..precision)")

    @property
    def whole_digits(self) -> int:
        """How many digits stand before the point."""
        return self.precision - self.scale

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class String:
    """Unicode text, ordered by code point."""

    def __str__(self) -> str:
        return "string"


@dataclass(frozen=True, slots=True)
class Bool:
    """Truth values."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class Date:
    """Days of the proleptic Gregorian calendar."""

    def __str__(self) -> str:
        return "date"


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Zone-free UTC civil time in microseconds."""

    def __str__(self) -> str:
        return "timestamp"


@dataclass(frozen=True, slots=True)
class Uuid:
    """UUIDs, spelled in lower case with hyphens."""

    def __str__(self) -> str:
        return "uuid"


@dataclass(frozen=True, slots=True)
class Json:
    """JSON text."""

    def __str__(self) -> str:
        return "json"


@dataclass(frozen=True, slots=True)
class Money:
    """Decimal(38,2) refined by an ISO 4217 currency; arithmetic never mixes currencies (Seed 0 §1)."""

    currency: str

    def __str__(self) -> str:
        return f"money({self.currency})"


@dataclass(frozen=True, slots=True)
class Array:
    """Lists of one element type; invariant (Seed 0 §1)."""

    element: ValueType
    element_nullable: bool = True

    def __str__(self) -> str:
        return f"array({self.element}{'' if self.element_nullable else ' nonnull'})"


@dataclass(frozen=True, slots=True)
class Map:
    """Maps from strings to one value type."""

    value: ValueType
    value_nullable: bool = True

    def __str__(self) -> str:
        return f"map(string, {self.value}{'' if self.value_nullable else ' nonnull'})"


@dataclass(frozen=True, slots=True)
class StructField:
    """One named member of a struct."""

    name: str
    type: ValueType
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.type}{'' if self.nullable else ' nonnull'}"


@dataclass(frozen=True, slots=True)
class Struct:
    """Records of named fields, compared field by field in order."""

    fields: tuple[StructField, ...]

    def __str__(self) -> str:
        return f"struct<{', '.join(map(str, self.fields))}>"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not yet known: the type of `none`, or of a column whose own error was already reported."""

    def __str__(self) -> str:
        return "unknown"


ValueType = (
    Int64 | Float64 | Decimal | String | Bool | Date | Timestamp | Uuid | Json | Money | Array | Map | Struct | Unknown
)

INT64 = Int64()
FLOAT64 = Float64()
STRING = String()
BOOL = Bool()
DATE = Date()
TIMESTAMP = Timestamp()
UUID = Uuid()
JSON = Json()
UNKNOWN = Unknown()


def is_numeric(type_: ValueType) -> bool:
    """Whether arithmetic applies: int64, float64 and decimal (money has rules of its own)."""
    return isinstance(type_, Int64 | Float64 | Decimal)
