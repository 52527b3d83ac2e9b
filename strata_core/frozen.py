"""`dataclass`, `field`, `replace` and `NamedTuple` of the standard library, for frozen values, defined in a fraction of
the time.

A compiler has some two hundred kinds of values. The standard library writes, compiles and runs the source of six
methods for each, which takes longer than to check a small project. Here a kind shares the code of its methods with
all others of its size, and they are made when its first value asks for them. Meaning, type checking and reflection
(`fields`, `is_dataclass`, `asdict`) are those of the standard library; only what this package uses is there: frozen
values, `slots`, `order`, `eq`.

That a value is frozen is what the type checker holds: no assignment passes it. It is not held a second time while the
program runs, since values whose assignments are watched take twice as long to make, and to make values is a sixth of
what a check does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
    from typing import NamedTuple
else:
    from collections import namedtuple
    from functools import cache
    from operator import attrgetter
    from types import FunctionType, SimpleNamespace

    _MISSING = object()

    class _Field:
        """What `field()` says."""

        __slots__ = ("compare", "default", "default_factory", "init", "name", "repr", "type")

        def __init__(self, default=_MISSING, default_factory=_MISSING, init=True, repr=True, compare=True):
            self.default, self.default_factory = default, default_factory
            self.init, self.repr, self.compare = init, repr, compare

    def field(*, default=_MISSING, default_factory=_MISSING, init=True, repr=True, compare=True):
        """As `dataclasses.field`."""
        return _Field(default, default_factory, init, repr, compare)

    def dataclass(cls=None, /, *, frozen, slots=False, order=False, eq=True):
        """As `dataclasses.dataclass`, of frozen values."""
        if not frozen:
            raise TypeError("values are frozen")
        if cls is None:
            return lambda cls: _made(cls, slots, order, eq)
        return _made(cls, slots, order, eq)

    def replace(value, /, **changes):
        """As `dataclasses.replace`."""
        cls = value.__class__
        names = cls.__match_args__
        arguments = dict(zip(names, _arguments(cls)(value), strict=True)) | changes
        if len(arguments) > len(names):
            raise TypeError(f"{cls.__name__} has no field {', '.join({*changes}.difference(names))} to replace")
        return cls(*arguments.values())

    @cache
    def _arguments(cls):
        """Gives what a value of `cls` was made of, in the order of `__init__`."""
        return _getter(cls.__match_args__)

    class _Later:
        """What a kind has besides its fields, made when it is first asked for: of most kinds a check makes no value."""

        __slots__ = ("make", "name", "of")

        def __init__(self, make):
            self.make = make

        def __set_name__(self, owner, name):
            self.of, self.name = owner, name

        def __get__(self, value, owner):
            made = self.make(self.of)
            setattr(self.of, self.name, made)
            return made.__get__(value, owner) if isinstance(made, FunctionType) else made

    def _made(cls, slots, order, eq):
        attributes = dict(cls.__dict__)
        attributes.pop("__dict__", None)
        attributes.pop("__weakref__", None)
        annotations = attributes.get("__annotations__", ())
        given = {name: attributes.pop(name, _MISSING) for name in annotations}
        above = cls.__mro__[1:-1]
        if slots:
            there = {name for base in above for name in base.__dict__.get("__slots__", ())}
            attributes["__slots__"] = tuple(name for name in annotations if name not in there)
            attributes.setdefault("__getstate__", _getstate)
            attributes.setdefault("__setstate__", _setstate)
        else:
            attributes |= {n: g for n, g in given.items() if g is not _MISSING and not isinstance(g, _Field)}
        attributes["__value_given__"] = given
        attributes["__value_fields__"] = _Later(_fields)
        named = dict.fromkeys(n for base in reversed(above) for n in base.__dict__.get("__match_args__", ()))
        named |= {n: None for n, g in given.items() if not isinstance(g, _Field) or g.init}
        attributes["__match_args__"] = (*named,)
        attributes["__dataclass_fields__"] = _REFLECTED
        attributes["__dataclass_params__"] = _parameters(eq, order)
        attributes.setdefault("__repr__", _repr)
        if eq:
            attributes.setdefault("__eq__", _Later(_equal))
            if attributes.get("__hash__") is None:
                attributes["__hash__"] = _Later(_hashed)
            if order:
                attributes |= {name: _Later(make) for name, make in _ORDER.items()}
        attributes.setdefault("__init__", _Later(_init))
        attributes["__qualname__"] = cls.__qualname__
        return type(cls)(cls.__name__, cls.__bases__, attributes)

    @cache
    def _parameters(eq, order):
        return SimpleNamespace(init=True, repr=True, eq=eq, order=order, unsafe_hash=False, frozen=True)

    def _fields(cls):
        """The fields, those of bases first."""
        bases = [base for base in reversed(cls.__mro__[1:]) if "__value_fields__" in base.__dict__]
        found = {field.name: field for base in bases for field in base.__value_fields__}
        for name, given in cls.__value_given__.items():
            one = found[name] = given if isinstance(given, _Field) else _Field(given)
            one.name, one.type = name, cls.__annotations__[name]
        return (*found.values(),)

    def _compared(cls):
        return _getter(tuple(f.name for f in cls.__value_fields__ if f.compare))

    def _equal(cls):
        return _with(_eq, get=_compared(cls))

    def _hashed(cls):
        return _with(_hash, get=_compared(cls))

    def _init(cls):
        """`__init__`: the code that all kinds of this size share, with this kind's names."""
        fields = cls.__value_fields__
        given = [f for f in fields if f.init]
        made = [f for f in fields if f.default_factory is not _MISSING]
        checked = hasattr(cls, "__post_init__")
        code = _init_code(len(given), tuple(given.index(f) for f in made if f.init), checked)
        names = tuple(f.name for f in given)
        own = {f"own{i}": name for i, name in enumerate(names)}
        code = code.replace(co_varnames=("self", *names), co_names=tuple(own.get(n, n) for n in code.co_names))
        function_globals = {f"make{given.index(f)}": f.default_factory for f in made if f.init}
        function_globals["missing"] = _MISSING
        defaults = tuple(
            _MISSING if f.default_factory is not _MISSING else f.default
            for f in given
            if f.default is not _MISSING or f.default_factory is not _MISSING
        )
        later = [f for f in made if not f.init]
        function = FunctionType(code, function_globals, "__init__", defaults)
        function.__qualname__ = f"{cls.__qualname__}.__init__"
        function.__annotations__ = {f.name: f.type for f in given} | {"return": None}
        function.__module__ = cls.__module__
        return _then(function, later) if later else function

    def _then(function, later):
        def init(self, *args, **named):
            for one in later:
                setattr(self, one.name, one.default_factory())
            function(self, *args, **named)

        init.__wrapped__ = function
        return init

    @cache
    def _init_code(count, made, checked):
        arguments = "".join(f", a{i}" for i in range(count))
        lines = [f" if a{i} is missing: a{i} = make{i}()" for i in made]
        lines += [f" self.own{i} = a{i}" for i in range(count)]
        lines += [" self.__post_init__()"] if checked else []
        names: dict = {}
        exec(f"def __init__(self{arguments}):\n" + ("\n".join(lines) or " pass"), names)
        return names["__init__"].__code__

    def _getter(names):
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda value: (getattr(value, names[0]),)) if names else (lambda value: ())

    def _with(function, **names):
        made = FunctionType(function.__code__, names, function.__name__)
        made.__qualname__ = function.__qualname__
        return made

    def _eq(self, other):
        if self is other:
            return True
        if self.__class__ is other.__class__:
            return get(self) == get(other)  # noqa: F821
        return NotImplemented

    def _hash(self):
        return hash(get(self))  # noqa: F821

    def _lt(self, other):
        return get(self) < get(other) if self.__class__ is other.__class__ else NotImplemented  # noqa: F821

    def _le(self, other):
        return get(self) <= get(other) if self.__class__ is other.__class__ else NotImplemented  # noqa: F821

    def _gt(self, other):
        return get(self) > get(other) if self.__class__ is other.__class__ else NotImplemented  # noqa: F821

    def _ge(self, other):
        return get(self) >= get(other) if self.__class__ is other.__class__ else NotImplemented  # noqa: F821

    def _ordered(function):
        return lambda cls: _with(function, get=_compared(cls))

    _ORDER = {f.__name__.replace("_", "__", 1) + "__": _ordered(f) for f in (_lt, _le, _gt, _ge)}

    def _repr(self):
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in self.__value_fields__ if f.repr)
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    def _getstate(self):
        return [getattr(self, f.name) for f in self.__value_fields__]

    def _setstate(self, state):
        for one, value in zip(self.__value_fields__, state, strict=True):
            setattr(self, one.name, value)

    class _Reflected:
        """The fields as the standard library tells of them, made when they are asked for."""

        def __get__(self, value, owner):
            import dataclasses

            found = {}
            for one in owner.__value_fields__:
                default = dataclasses.MISSING if one.default is _MISSING else one.default
                factory = dataclasses.MISSING if one.default_factory is _MISSING else one.default_factory
                made = (
                    dataclasses.field(default=default, init=one.init, repr=one.repr, compare=one.compare)
                    if factory is dataclasses.MISSING
                    else dataclasses.field(default_factory=factory, init=one.init, repr=one.repr, compare=one.compare)
                )
                made.name, made.type, made._field_type, made.kw_only = one.name, one.type, dataclasses._FIELD, False
                found[one.name] = made
            return found

    _REFLECTED = _Reflected()

    class _NamedTuple(type):
        def __new__(metaclass, name, bases, namespace):
            if not bases:
                return super().__new__(metaclass, name, bases, namespace)
            names = namespace["__annotations__"]
            defaults = [namespace.pop(n) for n in names if n in namespace]
            made = namedtuple(name, names, defaults=defaults, module=namespace["__module__"])
            return type(name, (made,), namespace | {"__slots__": ()})

    class NamedTuple(metaclass=_NamedTuple):
        """As `typing.NamedTuple`, which compiles each annotation."""


__all__ = ["NamedTuple", "dataclass", "field", "replace"]
