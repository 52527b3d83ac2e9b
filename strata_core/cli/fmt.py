"""`strata fmt`: the canonical layout of modules, written back, checked or shown as a diff."""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.wording import plural
from ..planning.project import SUFFIX, module_paths, open_project
from ..regular_files import read_regular
from ..whole_files import write_whole
from .exits import CLEAN, FINDINGS, exit_code
from .report import tell

STDIN = "-"


@click.command("fmt")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True), metavar="[PATH]...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change, and exit with 1 if anything would.")
def fmt_command(paths: tuple[str, ...], check: bool, diff: bool) -> int:
    """Lay out modules in the one canonical way.

    PATH is a .strata file, a folder, or - for standard input, whose layout goes to standard output; without it all
    modules of the project are laid out. What does not parse is left as it is, and its findings are told.
    """
    told: list[Diagnostic] = []
    texts: dict[str, str] = {}
    done: Counter[str] = Counter()
    for path, shown in _wanted(paths, told):
        state, found = _one(path, shown, texts, write=not (check or diff), diff=diff)
        done[state] += 1
        told += found
    if told:
        tell(told, texts.get)
    if STDIN not in paths:
        click.echo(_summary(done, write=not (check or diff)), err=True)
    return max(exit_code(told), FINDINGS if done["changed"] and (check or diff) else CLEAN)


def _wanted(paths: Sequence[str], told: list[Diagnostic]) -> Iterable[tuple[Path, str]]:
    """The modules that `paths` name, with the names that people read; faults are `told`."""
    if not paths:
        try:
            project = open_project()
        except StrataError as error:
            told += error.diagnostics
            return
        for file in project.files:
            yield project.root / file.path, file.path
    seen: set[Path] = set()
    for given in paths:
        path = Path(given)
        if path.is_file() and path.suffix != SUFFIX:
            told.append(Diagnostic("E073", f"`{path}` is no `{SUFFIX}` file", fix="give a module or a folder"))
            continue
        for module in module_paths(path) if path.is_dir() else [path]:
            if module.resolve() not in seen:
                seen.add(module.resolve())
                yield module, module.as_posix()


def _one(path: Path, shown: str, texts: dict[str, str], *, write: bool, diff: bool) -> tuple[str, Sequence[Diagnostic]]:
    """Lay out one module: `changed`, `unchanged` or `broken`, and its diagnostics."""
    from ..language.format import format_bytes

    stdin = shown == STDIN
    try:
        before = sys.stdin.buffer.read() if stdin else read_regular(path)
    except OSError as error:
        return "broken", [Diagnostic("E002", f"`{shown}` cannot be read: {error.strerror}")]
    texts[shown] = before.decode("utf-8", errors="replace")
    formatted = format_bytes(before, shown)
    if formatted.text is None:
        return "broken", formatted.diagnostics
    after = formatted.text.encode()
    if diff:
        click.echo(_difference(texts[shown], formatted.text, shown), nl=False)
    elif stdin and write:
        click.echo(after, nl=False)
    if after == before:
        return "unchanged", ()
    if write and not stdin:
        try:
            write_whole(path, after)
        except OSError as error:
            return "broken", [Diagnostic("E002", f"`{shown}` cannot be written: {error.strerror}")]
    if not (diff or stdin):
        click.echo(f"{'formatted' if write else 'would change'}  {shown}")
    return "changed", ()


def _difference(before: str, after: str, shown: str) -> str:
    place = shown.lstrip("/")  # as Git spells it, so that `patch` takes it
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{place}", f"b/{place}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _summary(done: Counter[str], *, write: bool) -> str:
    changed = f"{plural(done['changed'], 'file')} {'formatted' if write else 'would change'}"
    broken = f", {done['broken']} left as found" if done["broken"] else ""
    return f"{changed}, {done['unchanged']} unchanged{broken}"
