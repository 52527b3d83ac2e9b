"""How a command ends: every way out has a documented exit code and no traceback."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import IO, NoReturn

from .exits import FAILED, INTERRUPTED, UNREAD, USAGE

OBJECTS_BETWEEN_SEARCHES = 500_000
"""What a command loads and makes lives to its end: to search it for garbage at every 700th object, as Python does,
takes longer than to load it. Half a million objects are some fifty megabytes."""


def end_with(answer: Callable[[], int], name: str, interrupted: str) -> NoReturn:
    """Exit with what `answer` gives, as the program `name`; `interrupted` is what Ctrl-C says."""
    code = _code(answer, name, interrupted)
    # What is left goes with the process: to search it for garbage first takes a quarter of a `check` of many models.
    gc.freeze()
    sys.exit(code)


def end_at_once(answer: Callable[[], int], name: str, interrupted: str) -> NoReturn:
    """As `end_with`, of an answer that leaves nothing open, no file, thread or engine: what was loaded is not taken
    apart, which takes a tenth of a small check. It is no use to search it for garbage before."""
    gc.disable()
    code = _code(answer, name, interrupted)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def _code(answer: Callable[[], int], name: str, interrupted: str) -> int:
    # Arrow loads numpy, whose linear algebra starts a thread a core that spins for work that never comes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
    for name_of in ("stdout", "stderr"):
        stream = getattr(sys, name_of)
        if stream is None:  # closed by whoever called (`>&-`): what is said is lost, the exit code is not
            setattr(sys, name_of, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, TextIOWrapper):  # what the encoding of a terminal has no sign for is spelled out
            stream.reconfigure(errors="backslashreplace")
    try:
        return answer()
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _say_to_nobody(sys.stdout, sys.stderr)
        return UNREAD
    except SystemExit:
        raise
    except OSError as error:
        if (told := _of_surroundings(error)) is None:
            return _own_fault(name, error)
        code, why = told
        print(f"{name}: {why}", file=sys.stderr)
        return code
    except BaseException as error:  # the last line of defence: a panic of a library in Rust is no `Exception`
        return _own_fault(name, error)


def _of_surroundings(error: OSError) -> tuple[int, str] | None:
    """The exit code and the reason where what was called is sound and the place that it was called in is not."""
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        _say_to_nobody(sys.stdout)
        return FAILED, f"the output cannot be written: {error.strerror}"
    try:
        os.getcwd()
    except OSError:
        return USAGE, "the folder that this was called in is gone"
    return None


def _say_to_nobody(*streams: IO[str]) -> None:
    """What `streams` still hold is written nowhere."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _own_fault(name: str, error: BaseException) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix=f"{name}-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"This is a fault of Strata, not of your project; the details are in {log.name}", file=sys.stderr)
    return FAILED
