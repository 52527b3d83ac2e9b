"""Shapes: the values that documents are made of, and how they are built from plain data and become plain again.

A shape is a frozen value. Its fields' types say what may stand there, `Rule` what a type cannot; pydantic makes the
JSON Schema of both (`schemas.py`), which is what data is held against. At run time nothing of pydantic is loaded: what
has the shape of the schema is built as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin

Made = TypeVar("Made", bound="Shape")


class Rule:
    """What a JSON Schema says of a value besides its type: `minLength`, `pattern`, `examples`, … .

    `discriminator` names the field that tells the members of a union apart.
    """

    def __init__(self, *, discriminator: str | None = None, **keywords: Any) -> None:
        self.discriminator, self.keywords = discriminator, keywords

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        told = {} if self.discriminator is None else {"discriminator": self.discriminator}
        return {**handler(core_schema), **self.keywords, **told}


class Shape:
    """What all shapes have in common: no fields but their own."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "use_attribute_docstrings": True}
    __value_fields__: ClassVar[tuple[Any, ...]]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """The value of plain data, which has the shape of the schema."""
        readers = _readers(cls)
        return cls(**{name: read(value) if (read := readers[name]) else value for name, value in data.items()})

    def plain(self, without: Collection[str] = (), *, defaults: bool = True) -> dict[str, Any]:
        """The value as plain data, `None` left out; with `defaults=False` also what is as if it were not given."""
        found: dict[str, Any] = {}
        for one in self.__value_fields__:
            value = getattr(self, one.name)
            if value is None or one.name in without or (not defaults and value == one.default):
                continue
            found[one.name] = _plain(value, defaults)
        return found


def _plain(value: Any, defaults: bool) -> Any:
    match value:
        case Shape():
            return value.plain(defaults=defaults)
        case tuple() | list():
            return [_plain(item, defaults) for item in value]
        case _:
            return value


Reader = Callable[[Any], Any]


class _Readers(dict[str, Reader | None]):
    """How each field's data becomes its value, None where it is one already; found when the field is first given, since
    to read the types of all fields takes longer than to build the values of a contract."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def __missing__(self, name: str) -> Reader | None:
        reader = self[name] = _reader(_type(self.cls, name))
        return reader


_READERS: dict[type[Any], _Readers] = {}


def _readers(cls: type[Any]) -> _Readers:
    if cls not in _READERS:
        _READERS[cls] = _Readers(cls)
    return _READERS[cls]


def _type(cls: type[Any], name: str) -> Any:
    """The type of a field. Annotations are texts: this is `typing.get_type_hints` of one of them."""
    return eval(cls.__annotations__[name], vars(sys.modules[cls.__module__]))


def _reader(hint: Any) -> Reader | None:
    if isinstance(hint, type) and issubclass(hint, Shape):
        return hint.of
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        return _reader(arguments[0])
    if get_origin(hint) is tuple:
        inner = _reader(arguments[0])
        return partial(_tuple, inner) if inner else tuple
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in arguments if member is not NoneType]
        if len(members) == 1:
            return _reader(members[0])
        shapes = [m for m in members if isinstance(m, type) and issubclass(m, Shape)]
        return partial(_chosen, _told_apart(shapes)) if shapes else None
    return None


def _tuple(inner: Reader, values: Any) -> tuple[Any, ...]:
    return tuple(map(inner, values))


def _told_apart(shapes: list[type[Shape]]) -> tuple[str, Mapping[str, Reader]]:
    """The field that tells shapes apart, by its one literal in each, and the reader for each."""
    for word in shapes[0].__annotations__:
        hint = _type(shapes[0], word)
        if get_origin(hint) is Literal and len(get_args(hint)) == 1:
            return word, {get_args(_type(shape, word))[0]: shape.of for shape in shapes}
    raise TypeError(f"nothing tells {[shape.__name__ for shape in shapes]} apart")


def _chosen(told: tuple[str, Mapping[str, Reader]], data: Any) -> Any:
    word, readers = told
    return readers[data[word]](data)
