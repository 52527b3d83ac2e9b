"""Values of `strata_core.frozen` beside those of the standard library: the same definition, the same behaviour."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from strata_core import frozen


def kinds(module: Any) -> tuple[type[Any], type[Any]]:
    """The same two kinds of values, as `module` makes them."""

    @module.dataclass(frozen=True, order=True)
    class Base:
        first: int
        second: str = "b"

    @module.dataclass(frozen=True, order=True)
    class Value(Base):
        many: dict[str, int] = module.field(default_factory=dict, compare=False)
        hidden: int = module.field(default=7, repr=False)
        made: int = module.field(default=0, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "made", self.first + self.hidden)

    return Base, Value


OURS, THEIRS = kinds(frozen), kinds(dataclasses)


def test_values_are_those_of_the_standard_library() -> None:
    told = []
    for module, (base, value) in ((frozen, OURS), (dataclasses, THEIRS)):
        one, two = value(1), value(1, "c", {"x": 1}, hidden=2)
        told.append(
            (
                [repr(v).replace(v.__class__.__qualname__, "V") for v in (base(3), one, two)],
                [one == value(1), one == two, one == base(1), hash(one) == hash(value(1)), one < two, two >= one],
                [one.many is value(1).many, one.made, two.made],
                dataclasses.asdict(two),
                [(f.name, f.init, f.repr, f.compare) for f in dataclasses.fields(value)],
                [dataclasses.is_dataclass(value), value.__match_args__],
                dataclasses.asdict(module.replace(two, first=5)),
                copy.copy(two) == two,
            )
        )
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, 3, 4, 5, 6), {}), ((1,), {"made": 3}), ((1,), {"no": 1})]
)
def test_what_no_value_is_made_of_is_refused_as_there(given: tuple[int, ...], named: dict[str, int]) -> None:
    for _, value in (OURS, THEIRS):
        with pytest.raises(TypeError):
            value(*given, **named)


def test_a_field_that_is_not_there_is_not_replaced() -> None:
    with pytest.raises(TypeError, match="has no field no to replace"):
        frozen.replace(OURS[1](1), no=1)


@frozen.dataclass(frozen=True, slots=True)
class Slotted:
    name: str
    deep: tuple[int, ...] = ()


def test_values_with_slots_have_no_other_attributes_and_outlive_a_process() -> None:
    value = Slotted("a", (1, 2))
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.other = 1  # type: ignore[attr-defined]


def test_that_values_do_not_change_is_left_to_the_type_checker() -> None:
    with pytest.raises(TypeError, match="values are frozen"):
        frozen.dataclass(frozen=False)(type("Changing", (), {}))  # type: ignore[call-overload]
