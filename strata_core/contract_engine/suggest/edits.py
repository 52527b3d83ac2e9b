"""Edits of YAML text that leave the rest of it as it is: comments, order, quotes, spacing.

ruamel.yaml keeps comments and order but lays some lines out anew. So the document is written twice by it, without and
with the edits; what differs between the two is laid upon the text as it stands, line by line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import LiteralScalarString

from ..collation.candidate import SuggestedEdit
from ..yaml_dump import yaml_text

_END = re.compile(r"^\.\.\.[ \t]*(?:#[^\n]*)?\n?(?:[ \t]*(?:#[^\n]*)?\n)*\Z", re.MULTILINE)
"""The mark of the end of a document, and the comments behind it."""
_TABS = re.compile(r"\t+(?=[ \t]*(?:#|$))", re.MULTILINE)
"""Tabs before a comment or the end of a line, which ruamel.yaml does not read."""


def edited_files(
    read: Callable[[str], str], edits: Iterable[SuggestedEdit]
) -> tuple[Mapping[str, str], tuple[SuggestedEdit, ...]]:
    """The new texts of the files that `edits` are about, as far as they change, and the edits that could be made.
    `read` gives the text of a file by its path. An edit of no path inside a file is a file that is to be made."""
    by_file: dict[str, list[SuggestedEdit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    texts: dict[str, str] = {}
    all_made: list[SuggestedEdit] = []
    for file, own in by_file.items():
        text, made = (yaml_text(own[0].value), own[:1]) if own[0].path == () else edited(read(file), own)
        if made:
            texts[file] = text
            all_made += made
    return texts, tuple(all_made)


def edited(text: str, edits: Iterable[SuggestedEdit]) -> tuple[str, tuple[SuggestedEdit, ...]]:
    """`text` with the edits, and those of them that could be made: where the text says by now what an edit would
    replace, or says something already where it would add, it is left alone."""
    if "\r\n" in text:
        changed, made = edited(text.replace("\r\n", "\n"), edits)
        return (changed.replace("\n", "\r\n") if made else text), made
    end = _END.search(text)
    if end is not None:  # what is added stands before the mark
        changed, made = edited(text[: end.start()], edits)
        return (changed + text[end.start() :] if made else text), made
    ended = text if text.endswith(("\n", "\r")) else f"{text}\n"
    untabbed = _TABS.sub(" ", ended)
    readable = untabbed if _says(untabbed) == _says(ended) else ended
    try:
        plain = _written(readable, ())[0]
        changed, made = _written(readable, edits)
    except YAMLError:  # what is odd enough to be read by others alone
        return text, ()
    if not made:
        return text, ()
    merged = _merged(ended, plain, changed)
    # Rather a text that is laid out anew than one that says something else.
    return (merged if _says(merged) == _says(changed) else changed), made


def _says(text: str) -> object:
    try:
        return yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        return error


def _written(text: str, edits: Iterable[SuggestedEdit]) -> tuple[str, tuple[SuggestedEdit, ...]]:
    ruamel = YAML(typ="rt")
    ruamel.preserve_quotes = True
    ruamel.width = 110
    offset = _offset(text)
    ruamel.indent(mapping=2, sequence=offset + 2, offset=offset)
    data = ruamel.load(text)
    made = tuple(edit for edit in edits if _set(data, edit))
    out = io.StringIO()
    ruamel.dump(data, out)
    return out.getvalue(), made


def _offset(text: str) -> int:
    """How far the items of lists stand to the right of their field."""
    found = re.search(r"^( *)[^\s#-][^\n]*:[ ]*\n(?:[ ]*#[^\n]*\n|[ ]*\n)*( *)- ", text, re.MULTILINE)
    return max(len(found[2]) - len(found[1]), 0) if found else 2


def _set(data: Any, edit: SuggestedEdit) -> bool:
    here = data
    for step, after in zip(edit.path, edit.path[1:], strict=False):
        if isinstance(step, str) and isinstance(here, CommentedMap):
            if step not in here:
                here[step] = CommentedSeq() if isinstance(after, int) else CommentedMap()
            here = here[step]
        elif isinstance(step, int) and isinstance(here, CommentedSeq) and step < len(here):
            here = here[step]
        else:
            return False
    return _put(here, edit.path[-1], edit)


def _put(here: Any, last: str | int, edit: SuggestedEdit) -> bool:
    if isinstance(last, int) and isinstance(here, CommentedSeq):
        if last < len(here):
            if edit.replaces is None or here[last] != edit.replaces:
                return False
            here[last] = _value(edit.value, here)
        else:
            here.append(_value(edit.value, here))
        return True
    if isinstance(last, str) and isinstance(here, CommentedMap) and here.get(last) == edit.replaces:
        here[last] = _value(edit.value, None)
        return True
    return False


def _value(value: Any, beside: Any) -> Any:
    """A value as a node, in the style of the items that it comes to stand beside."""
    match value:
        case dict():
            node = CommentedMap((k, _value(v, None)) for k, v in value.items())
            others = [i for i in beside or () if isinstance(i, CommentedMap)]
            if others and all(i.fa.flow_style() for i in others):
                node.fa.set_flow_style()
            return node
        case list() | tuple():
            items = CommentedSeq(_value(v, None) for v in value)
            items.fa.set_flow_style()
            return items
        case str() if "\n" in value:
            return LiteralScalarString(value)
    return value


def _merged(text: str, plain: str, changed: str) -> str:
    """`text` with what differs between `plain` and `changed`: a line that both have stands as in `text`."""
    lines, before, after = (t.splitlines(keepends=True) for t in (text, plain, changed))
    blocks = list(_blocks(before, lines))
    out: list[str] = []
    next_block = 0
    for kind, start, end, there, there_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            out += after[there:there_end]
            continue
        at = start
        while next_block < len(blocks) and blocks[next_block][0] < start:
            next_block += 1
        while next_block < len(blocks) and blocks[next_block][1] <= end:
            first, last, own, own_end = blocks[next_block]
            out += after[there + at - start : there + first - start] if first > at else []
            out += lines[own:own_end]
            at = last
            next_block += 1
        out += after[there + at - start : there_end]
    return "".join(out)


def _blocks(before: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Which lines of `before` are which of `lines`: single ones where that can be told, else as blocks."""
    for kind, start, end, own, own_end in SequenceMatcher(None, before, lines, autojunk=False).get_opcodes():
        if kind == "equal" or end - start == own_end - own:
            yield from ((start + n, start + n + 1, own + n, own + n + 1) for n in range(end - start))
        else:
            yield start, end, own, own_end
