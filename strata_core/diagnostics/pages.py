"""The page of each code: what it means, and an example that fails beside one that is clean, or the remedy.

The pages are the Markdown files in the folder `pages`, one a code; nothing else says what stands in them. A code that
the text of a program or a contract raises has the examples `Wrong` and `Right` (both behind `Given`, if there is one),
which are run as tests; the others have `When` and `Remedy`.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..frozen import dataclass

FOLDER = Path(__file__).with_name("pages")

_TITLE = re.compile(r"# (?P<title>.+)\n\n(?P<meaning>.+?)\n")
_SECTION = re.compile(r"^## (\w+)\n\n(.+?)\n(?=\n## |\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"```(strata|yaml)\n(.*)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: a program or a contract, in the `language` named, or prose."""

    name: str
    text: str
    language: str | None = None

    @property
    def is_program(self) -> bool:
        """Whether it is something to run."""
        return self.language is not None


@dataclass(frozen=True, slots=True)
class Page:
    """What is told about one code. `title` begins with the code."""

    title: str
    meaning: str
    sections: tuple[Section, ...]

    def program(self, name: str, language: str = "strata") -> str | None:
        """The whole program of the example `name`; None where the page has none in that language."""
        found = {section.name: section.text for section in self.sections if section.language == language}
        return found.get("Given", "") + found[name] if name in found else None


def read_page(code: str) -> Page:
    """The page of a registered code."""
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    head = _TITLE.match(text)
    assert head is not None
    return Page(head["title"], head["meaning"], tuple(_section(*found) for found in _SECTION.findall(text)))


def _section(name: str, body: str) -> Section:
    program = _CODE.fullmatch(body)
    return Section(name, program[2], program[1]) if program else Section(name, body)
