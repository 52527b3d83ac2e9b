"""The nearest known name: what "did you mean" offers, for names, columns, functions and keywords alike."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 64


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` most likely misspells, or None if none is near. Equal names do not count.

    A difference in case alone is the nearest; ties go to the first in the alphabet, so that the answer does
    not depend on the order of the candidates.

    >>> nearest("ammount", ["order_id", "amount", "mount"])
    'amount'
    >>> nearest("colour", ["amount"]) is None
    True
    """
    if not name or len(name) > _LONGEST:
        return None
    from difflib import SequenceMatcher  # slow to load, and a sound project asks for no suggestion

    wanted = name.lower()
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, best_ratio = None, _cutoff(len(wanted))
    for candidate in sorted(set(candidates)):
        if candidate == name or abs(len(candidate) - len(name)) > max(2, len(name) // 2):
            continue
        matcher.set_seq1(candidate.lower())
        if matcher.real_quick_ratio() < best_ratio or matcher.quick_ratio() < best_ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio or (best is None and ratio == best_ratio):
            best, best_ratio = candidate, ratio
    return best


def did_you_mean(name: str, candidates: Iterable[str], otherwise: str) -> str:
    """The fix for a `name` that is none of `candidates`: the nearest of them, or `otherwise`.

    >>> did_you_mean("ammount", ["order_id", "amount"], "declare it")
    'did you mean `amount`?'
    """
    near = nearest(name, candidates)
    return otherwise if near is None else f"did you mean `{near}`?"


def _cutoff(length: int) -> float:
    """Short names share letters by chance, so they must be nearer."""
    return 0.75 if length <= 3 else 0.66
