"""How llama.cpp matches: all ways to go on are kept as stacks, one for each; many stacks make each token slow."""

from __future__ import annotations

import re
from itertools import count

PART = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-zA-Z0-9-]+|[()|?*+]')
CHARACTER = re.compile(r"\\x([0-9A-F]{2})|\\(.)|(.)", re.DOTALL)
PLAIN = {"n": "\n", "r": "\r", "t": "\t"}


class Stacks:
    """A matcher for the GBNF `text`. A stack is `(elements, position, what comes after)`, None at the end."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, list[tuple]] = {}
        self.fresh = (f"_{n}" for n in count())
        for line in text.splitlines():
            name, body = re.fullmatch(r"(\S+)\s+::= (.*)", line).groups()
            self.rules[name] = self.alternatives(PART.findall(body)[::-1])

    def alternatives(self, parts: list[str]) -> list[tuple]:
        """The alternatives of `parts`, which are taken from the end; repetition becomes a rule, as llama.cpp does."""
        found: list[list[list]] = [[]]
        while parts and parts[-1] != ")":
            match parts.pop():
                case "|":
                    found.append([])
                case "(":
                    found[-1].append([self.rule(self.alternatives(parts))])
                    parts.pop()
                case "?":
                    found[-1][-1] = [self.rule([tuple(found[-1][-1]), ()])]
                case "*" | "+" as times:
                    unit, name = found[-1][-1], next(self.fresh)
                    self.rules[name] = [(*unit, name), ()]
                    found[-1][-1] = [name] if times == "*" else [*unit, name]
                case literal if literal[0] == '"':
                    found[-1].append([(False, ((c, c),)) for c in characters(literal[1:-1])])
                case group if group[0] == "[":
                    found[-1].append([group_of(group[1:-1])])
                case name:
                    found[-1].append([name])
        return [tuple(element for unit in way for element in unit) for way in found]

    def rule(self, alternatives: list[tuple]) -> str:
        name = next(self.fresh)
        self.rules[name] = alternatives
        return name

    def most(self, text: str) -> int:
        """The most stacks that are alive at once while `text` is matched; 0 if it is refused."""
        stacks = self.settled([(("root",), 0, None)])
        most = len(stacks)
        for character in text:
            going_on = [(e, n + 1, up) for e, n, up in filter(None, stacks) if is_in(character, e[n])]
            stacks = self.settled(going_on)
            most = max(most, len(stacks))
        return most if None in stacks else 0

    def settled(self, pending: list) -> set:
        """The stacks at a character that `pending` come to."""
        seen: set = set()
        while pending:
            stack = pending.pop()
            while stack and stack[1] == len(stack[0]):
                stack = stack[2]
            if stack in seen:
                continue
            seen.add(stack)
            if stack and isinstance(stack[0][stack[1]], str):
                elements, n, up = stack
                after = up if n + 1 == len(elements) else (elements, n + 1, up)
                pending += [(alternative, 0, after) for alternative in self.rules[elements[n]]]
        return {stack for stack in seen if stack is None or not isinstance(stack[0][stack[1]], str)}


def characters(text: str) -> list[str]:
    return [chr(int(h, 16)) if h else PLAIN.get(e, e) or c for h, e, c in CHARACTER.findall(text)]


def group_of(body: str) -> tuple[bool, tuple]:
    """A class: whether it is negated, and its ranges."""
    negated = body.startswith("^")
    found = re.findall(r"((?:\\x..|\\.|[^\\]))(?:-((?:\\x..|\\.|[^\\])))?", body[negated:], re.DOTALL)
    return negated, tuple((characters(low)[0], characters(high or low)[0]) for low, high in found)


def is_in(character: str, group: tuple[bool, tuple]) -> bool:
    negated, ranges = group
    return negated != any(low <= character <= high for low, high in ranges)
