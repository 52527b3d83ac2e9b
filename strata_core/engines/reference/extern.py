"""Declared functions (`extern fn`) in the reference engine: an entry in Python, held to the declaration."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pyarrow as pa

from ...diagnostics import Diagnostic, StrataError
from ...relation.extern import Extern
from ...types.physical import arrow_type
from ..protocol import no_translation
from .values import MisfitError, Value, failure, fit


def extern_function(extern: Extern) -> Callable[[list[Value]], Value]:
    """The function of argument values; null where one of them is. E066 without an entry, E090 where it fails, gives a
    value of another type, or null against its declaration."""
    function = _entry(extern)

    def compute(values: list[Value]) -> Value:
        if any(v is None for v in values):
            return None
        try:
            given = function(*values)
        except (Exception, SystemExit) as error:  # whatever the function of somebody else raises
            raise failure(extern.name, f"{type(error).__name__}: {error}", values) from None
        if given is None and extern.nonnull:
            raise failure(extern.name, "it gave null, and its declaration says nonnull", values)
        try:
            held: Value = pa.scalar(given, arrow_type(extern.type)).as_py()
            return fit(held, extern.type)
        except (pa.ArrowException, MisfitError, TypeError, ValueError, OverflowError) as error:
            raise failure(extern.name, f"its value is no {extern.type}: {error}", values) from None

    return compute


def _entry(extern: Extern) -> Callable[..., Value]:
    entry = extern.binding("reference")
    if entry is None:
        raise no_translation(extern, "reference")
    module, _, name = entry.partition(":")
    try:
        function: Callable[..., Value] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        fix = "name a module that Python finds, and a function in it"
        raise StrataError(Diagnostic("E066", f"`{extern.name}`: {error}", fix=fix)) from None
    except (Exception, SystemExit) as error:  # whatever the module of somebody else raises
        message = f"`{extern.name}`: importing `{module}` failed: {type(error).__name__}: {error}"
        raise StrataError(Diagnostic("E066", message, fix="mend the module, or name another")) from None
    return function
