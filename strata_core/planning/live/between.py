"""The two environments of a promotion, and what contracts have to say of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ...contract.model import TableContract
from ...diagnostics import Diagnostic
from ...frozen import dataclass
from ...store.environments import EnvironmentVersion
from ..applying.blocking_tests import Find, no_tests
from ..catalog import Approved
from ..workspace import Workspace

Promised = Callable[[Mapping[str, str]], Mapping[str, TableContract | tuple[Diagnostic, ...]]]
"""The contracts of this project as its text has them, or what is wrong with them: by the table's name, of the contracts
that are named. The contract engine knows them."""


def _nothing_promised(_contracts: Mapping[str, str]) -> Mapping[str, TableContract | tuple[Diagnostic, ...]]:
    return {}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a promotion asks of the contract engine (`contract_engine/governed.py`): what owners `approvals` let pass,
    what guarded tables are `promised` to be, and the blocking `tests` of products. Without one it is ruled by none."""

    approvals: Callable[[], Collection[Approved]] = tuple
    promised: Promised = _nothing_promised
    tests: Find = no_tests


UNGOVERNED = Rules()


@dataclass(frozen=True, slots=True)
class Between:
    """From version `there` of the environment `source` into that of the workspace, whose version is `base`."""

    workspace: Workspace
    source: str
    there: EnvironmentVersion
    base: EnvironmentVersion

    @property
    def target(self) -> str:
        """The environment that it goes into."""
        return self.workspace.environment

    @property
    def applied_here(self) -> str:
        """What to do where `source` was applied from another revision than this."""
        source = self.source
        return f"check out the revision that {source} was applied from, or run `strata apply --env {source}` here"
