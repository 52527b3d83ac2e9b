"""Digests of lists of parts, told apart: what every fingerprint, contract digest, address and cache key is made of."""

from __future__ import annotations

import binascii
import hashlib


def packed(*parts: bytes | str) -> bytes:
    """`parts`, each after its length, so that no two lists of parts share a form.

    Text is UTF-8; half of a surrogate pair, which a name of a column may hold, is kept as it is.
    """
    encoded = (p.encode(errors="surrogatepass") if isinstance(p, str) else p for p in parts)
    return b"".join(len(p).to_bytes(8, "big") + p for p in encoded)


def digest(*parts: bytes | str) -> bytes:
    """SHA-256 of `packed(*parts)`."""
    return hashlib.sha256(packed(*parts)).digest()


def hexdigest(*parts: bytes | str) -> str:
    """SHA-256 of `packed(*parts)`, in hexadecimal digits."""
    return digest(*parts).hex()


def policy_source(text: str) -> str:
    """What allows a page the inline script or style `text` in its `Content-Security-Policy`.

    >>> policy_source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{binascii.b2a_base64(hashlib.sha256(text.encode()).digest(), newline=False).decode()}'"
