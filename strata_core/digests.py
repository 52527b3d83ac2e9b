"""Digests of lists of parts, told apart: what every fingerprint, contract digest, address and cache key is made of.

What is told to others is SHA-256. What only this installation reads again, as keys and checksums of caches, is BLAKE2,
from where `hashlib` itself takes it: to load `hashlib` loads OpenSSL, which takes longer than to look up what is kept.
Pythons that are built without BLAKE2, or forbid it (FIPS), know caches by SHA-256.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum


def _local() -> Callable[[bytes, int], bytes]:
    """The digest of a content in so many bytes that this installation uses for itself."""
    try:
        from _blake2 import blake2b

        blake2b()
    except (ImportError, ValueError):
        from hashlib import sha256

        return lambda content, size: sha256(content).digest()[:size]
    return lambda content, size: blake2b(content, digest_size=size).digest()


_LOCAL = _local()


def packed(*parts: bytes | str) -> bytes:
    """`parts`, each after its length, so that no two lists of parts share a form.

    Text is UTF-8; half of a surrogate pair, which a name of a column may hold, is kept as it is.
    """
    encoded = (p.encode(errors="surrogatepass") if isinstance(p, str) else p for p in parts)
    return b"".join(len(p).to_bytes(8, "big") + p for p in encoded)


def digest(*parts: bytes | str) -> bytes:
    """SHA-256 of `packed(*parts)`."""
    import hashlib  # loads OpenSSL, which a check does not need

    return hashlib.sha256(packed(*parts)).digest()


def hexdigest(*parts: bytes | str) -> str:
    """SHA-256 of `packed(*parts)`, in hexadecimal digits."""
    return digest(*parts).hex()


def local_key(*parts: bytes | str) -> str:
    """What a cache knows `packed(*parts)` by, in hexadecimal digits."""
    return checksum(packed(*parts), 32).hex()


def checksum(content: bytes, size: int = 16) -> bytes:
    """What tells `content` from any other, in `size` bytes (at most 32): is it what was written, or was seen before?"""
    return _LOCAL(content, size)


def of_value(value: object) -> bytes:
    """The digest of a value and of all that it holds: the same in every process for equal values of the same kinds.

    Values are dataclasses, enumerations, tuples, lists, sets and mappings of such, down to what `repr` spells whole:
    text, bytes, numbers, instants, paths. What stands in several places is gone through once.

    Raises `TypeError` for a value that says nothing of itself.

    >>> of_value((1, frozenset({"a", "b"}))) == of_value((1, frozenset({"b", "a"}))) != of_value((True, "ab"))
    True
    """
    done: dict[int, tuple[object, bytes]] = {}  # holds the values, so that no other takes the place of one
    waiting: list[tuple[object, tuple[object, ...] | None]] = [(value, None)]
    while waiting:
        one, parts = waiting.pop()
        if id(one) in done:
            continue
        if parts is None:
            parts = _parts(one)
            if missing := [(part, None) for part in parts if id(part) not in done]:
                waiting.append((one, parts))
                waiting.extend(missing)
                continue
        digests: Iterable[bytes] = (done[id(part)][1] for part in parts)
        if isinstance(one, (set, frozenset, Mapping)):
            digests = sorted(digests)
        spelled = "" if parts or isinstance(one, _HOLDERS) else repr(one)
        done[id(one)] = (one, digest(one.__class__.__module__, one.__class__.__qualname__, spelled, *digests))
    return done[id(value)][1]


_HOLDERS = (tuple, list, set, frozenset, Mapping)


def _parts(value: object) -> tuple[object, ...]:
    if isinstance(value, Enum):
        return ()
    if isinstance(value, Mapping):
        return tuple(value.items())
    if isinstance(value, _HOLDERS):
        return tuple(value)
    if value.__class__.__repr__ is object.__repr__:
        raise TypeError(f"{value.__class__.__qualname__} has no digest: nothing tells its values apart")
    return tuple(getattr(value, name) for name in getattr(value, "__match_args__", ()))


def policy_source(text: str) -> str:
    """What allows a page the inline script or style `text` in its `Content-Security-Policy`.

    >>> policy_source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    import binascii
    import hashlib

    return f"'sha256-{binascii.b2a_base64(hashlib.sha256(text.encode()).digest(), newline=False).decode()}'"
