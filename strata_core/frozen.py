"""`dataclass`, `field` and `replace` of the standard library, for frozen values, defined in a fraction of the time.

A compiler has some two hundred kinds of values. The standard library writes, compiles and runs the source of six
methods for each, which takes longer than to check a small project. Here a kind shares the code of its methods with
all others of its size. Meaning, type checking and reflection (`fields`, `is_dataclass`, `asdict`) are those of the
standard library; only what this package uses is there: frozen values, `slots`, `order`, `eq`, `init`.

That a value is frozen is what the type checker holds: no assignment passes it. It is not held a second time while the
program runs, since values whose assignments are watched take twice as long to make, and to make values is a sixth of
what a check does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
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

    def dataclass(cls=None, /, *, frozen, slots=False, order=False, eq=True, init=True):
        """As `dataclasses.dataclass`, of frozen values."""
        if not frozen:
            raise TypeError("values are frozen")
        if cls is None:
            return lambda cls: _made(cls, slots, order, eq, init)
        return _made(cls, slots, order, eq, init)

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

    def _made(cls, slots, order, eq, init):
        own = _own_fields(cls)
        inherited = [f for base in reversed(cls.__mro__[1:]) for f in base.__dict__.get("__value_fields__", ())]
        names = [f.name for f in own]
        fields = (*(f for f in inherited if f.name not in names), *own)
        attributes = dict(cls.__dict__)
        for one in own:
            if one.default is _MISSING or slots:
                attributes.pop(one.name, None)
            else:
                attributes[one.name] = one.default
        for name in ("__dict__", "__weakref__"):
            attributes.pop(name, None)
        if slots:
            above = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
            attributes["__slots__"] = tuple(name for name in names if name not in above)
            attributes.setdefault("__getstate__", _getstate)
            attributes.setdefault("__setstate__", _setstate)
        attributes["__value_fields__"] = fields
        attributes["__match_args__"] = tuple(f.name for f in fields if f.init)
        attributes["__dataclass_fields__"] = _REFLECTED
        attributes["__dataclass_params__"] = SimpleNamespace(
            init=init, repr=True, eq=eq, order=order, unsafe_hash=False, frozen=True
        )
        attributes.setdefault("__repr__", _repr)
        if eq:
            compared = tuple(f.name for f in fields if f.compare)
            get = _getter(compared)
            if "__eq__" not in attributes:
                attributes["__eq__"] = _with(_eq, get=get)
            if cls.__dict__.get("__hash__") is None:
                attributes["__hash__"] = _with(_hash, get=get)
            if order:
                for name, function in _ORDER.items():
                    attributes[name] = _with(function, get=get)
        qualified = cls.__qualname__
        made = type(cls)(cls.__name__, cls.__bases__, attributes)
        made.__qualname__ = qualified
        if init and "__init__" not in cls.__dict__:
            made.__init__ = _init(made, fields)
        return made

    def _own_fields(cls):
        found = []
        for name, type_ in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063 (`inspect` is slow to load)
            given = cls.__dict__.get(name, _MISSING)
            one = given if isinstance(given, _Field) else _Field(given)
            one.name, one.type = name, type_
            found.append(one)
        return found

    def _init(cls, fields):
        """`__init__`: the code that all kinds of this size share, with this kind's names."""
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

    _ORDER = {"__lt__": _lt, "__le__": _le, "__gt__": _gt, "__ge__": _ge}

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

__all__ = ["dataclass", "field", "replace"]
