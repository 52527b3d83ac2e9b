"""Levels of sensitivity: labels become numbers, so that one can be as high as another."""

from __future__ import annotations

from ..frozen import dataclass
from ..planning.config import ClassificationConfig


@dataclass(frozen=True, slots=True)
class Levels:
    """The order of `[classification] levels`. A label that is no level and has none stands above all: what is not
    known is not shown."""

    config: ClassificationConfig

    def known(self, label: str | None) -> bool:
        """Whether the rank of `label` was said by somebody."""
        return label is None or self.config.labels.get(label, label) in self.config.levels

    def rank(self, label: str | None) -> int:
        """How sensitive; 0 without a label.

        >>> levels = Levels(ClassificationConfig())
        >>> [levels.rank(label) for label in (None, "public", "restricted", "pii", "odd")]
        [0, 1, 4, 4, 5]
        """
        if label is None:
            return 0
        level = self.config.labels.get(label, label)
        names = self.config.levels
        return names.index(level) + 1 if level in names else len(names) + 1

    def named(self) -> tuple[str, ...]:
        """All labels that are known, the levels first."""
        return (*self.config.levels, *sorted(self.config.labels))
