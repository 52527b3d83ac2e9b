"""The documents that an editor has open, the projects that they belong to, and the states of these.

Edits are gathered for a moment, then the project is made anew (what the edit reaches) in a thread, and the findings of
files whose findings changed are sent. A request waits for that, so that its positions mean the text as it is; if it
takes long, it is answered from the last state.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lsprotocol import types as lsp

from ..diagnostics import Diagnostic
from ..planning.config import CONFIG_NAME
from ..planning.kept.revisions import changed_findings
from .findings import shown
from .projects import EditedProject, Home, home_of, path_of
from .state import State
from .text import Text

log = logging.getLogger("strata.lsp")

DEBOUNCE = 0.02
"""Seconds without an edit after which the project is made anew; a project that takes long waits as long."""
LONGEST_WAIT = 1.0
PATIENCE = 2.0
"""Seconds after which a request is answered from the last state."""

Publish = Callable[[lsp.PublishDiagnosticsParams], None]


class Desk:
    """What an editor works on. Positions are counted in `encoding`; `uris` are the folders of its workspace. `publish`
    sends findings; `refresh` says that what was asked for before there was an answer can be asked for again."""

    def __init__(
        self, encoding: str, uris: Callable[[], Iterable[str]], publish: Publish, refresh: Callable[[], None]
    ) -> None:
        self.encoding = encoding
        self.versions: dict[str, int] = {}
        self.documents: dict[str, Text] = {}
        self._uris = uris
        self._publish = publish
        self._refresh = refresh
        self._homes: dict[str, Home] = {}
        self._projects: dict[Home, EditedProject] = {}
        self._timers: dict[Home, asyncio.TimerHandle] = {}
        self._tasks: dict[Home, asyncio.Task[None]] = {}
        self._spent: dict[Home, float] = {}
        self._worker = ThreadPoolExecutor(1, "strata")

    @property
    def folders(self) -> list[Path]:
        """The folders of the workspace."""
        return [path for path in map(path_of, self._uris()) if path is not None]

    def begin(self) -> None:
        """Take up the projects of the workspace's folders."""
        for folder in self.folders:
            if (folder / CONFIG_NAME).is_file():
                self._schedule(self._project(Home(folder.resolve())))

    def project_of(self, uri: str) -> EditedProject:
        """The project that a document belongs to."""
        home = self._homes.get(uri)
        if home is None:
            home = self._homes[uri] = home_of(uri, self.folders)
        return self._project(home)

    def _project(self, home: Home) -> EditedProject:
        return self._projects.setdefault(home, EditedProject(home, self.encoding))

    # --- what the editor says

    def change(self, uri: str, changes: Iterable[tuple[lsp.Range | None, str]], version: int | None) -> None:
        """A document was edited: each change is of what the one before it left."""
        text = self.documents.get(uri) or Text("", self.encoding)
        for range_, new in changes:
            text = text.changed(range_, new)
        self._put(uri, text, version)

    def saved(self, uri: str) -> None:
        """A document was saved: what it says of a project counts from now on."""
        path = path_of(uri)
        if path is not None and path.name == CONFIG_NAME:
            self.rehome()
        elif uri in self.documents:
            self._look(self.project_of(uri))

    def _look(self, project: EditedProject) -> None:
        project.look()
        if project.unsettled:
            self._schedule(project)

    def write(self, uri: str, content: str, version: int | None) -> None:
        """A document has this text now."""
        self._put(uri, Text(content, self.encoding), version)

    def _put(self, uri: str, text: Text, version: int | None) -> None:
        self.documents[uri] = text
        self.versions[uri] = version or 0
        project = self.project_of(uri)
        project.written(uri, text)
        self._schedule(project)

    def close(self, uri: str) -> None:
        """The editor lets go of a document."""
        if self.documents.pop(uri, None) is None:
            return
        self.versions.pop(uri, None)
        project = self.project_of(uri)
        self._homes.pop(uri, None)
        project.closed(uri)
        if project.home.alone is not None:
            self._let_go(project)
        else:
            self._schedule(project)

    def moved(self, uris: Iterable[str]) -> None:
        """Files were changed, made or deleted on disk."""
        paths = [path for path in map(path_of, uris) if path is not None]
        if any(path.name == CONFIG_NAME for path in paths):
            self.rehome()
            return
        for path in paths:
            home = home_of(path.as_uri(), self.folders)
            if home in self._projects and home.alone is None:
                project = self._projects[home]
                project.moved(project.path(path.as_uri()))
                self._look(project)

    def rehome(self) -> None:
        """Documents may belong to other projects now: a configuration came, went or changed, or a folder did."""
        before = dict(self._homes)
        self._homes.clear()
        for uri, text in self.documents.items():
            project = self.project_of(uri)
            old = before.get(uri)
            if old is not None and old != project.home and old in self._projects:
                self._projects[old].closed(uri)
            project.written(uri, text)
        wanted = {*self._homes.values(), *(Home(folder.resolve()) for folder in self.folders)}
        for home in [home for home in self._projects if home not in wanted]:
            self._let_go(self._projects[home])
        for project in self._projects.values():
            project.reread()
            self._schedule(project)
        self.begin()

    def _let_go(self, project: EditedProject) -> None:
        self._projects.pop(project.home, None)
        timer = self._timers.pop(project.home, None)
        if timer is not None:
            timer.cancel()
        self._send(project, dict.fromkeys(project.published, ()))

    # --- states

    async def state_of(self, uri: str) -> tuple[State, str] | None:
        """The state of the project of a document, and the document's path in it; None where there is none yet."""
        if uri not in self.documents and path_of(uri) is None:
            return None
        project = self.project_of(uri)
        await self._settled(project)
        return None if project.state is None else (project.state, project.path(uri))

    async def all_states(self) -> list[State]:
        """The states of all projects."""
        for project in [*self._projects.values()]:
            await self._settled(project)
        return [project.state for project in self._projects.values() if project.state is not None]

    async def _settled(self, project: EditedProject) -> None:
        if project.unsettled or self._busy(project):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._settle(project)), PATIENCE)

    def _busy(self, project: EditedProject) -> bool:
        task = self._tasks.get(project.home)
        return task is not None and not task.done()

    def _schedule(self, project: EditedProject) -> None:
        """Settle `project` as soon as nothing is typed for a moment."""
        timer = self._timers.pop(project.home, None)
        if timer is not None:
            timer.cancel()
        delay = max(DEBOUNCE, min(self._spent.get(project.home, 0.0), LONGEST_WAIT))
        self._timers[project.home] = asyncio.get_running_loop().call_later(delay, self._settle, project)

    def _settle(self, project: EditedProject) -> asyncio.Task[None]:
        """The task after which the project's state is that of its texts as they are now."""
        task = self._tasks.get(project.home)
        if task is None or task.done():
            task = self._tasks[project.home] = asyncio.get_running_loop().create_task(self._make(project))
        return task

    async def _make(self, project: EditedProject) -> None:
        loop = asyncio.get_running_loop()
        while project.unsettled:
            timer = self._timers.pop(project.home, None)
            if timer is not None:
                timer.cancel()
            before, job, started = project.state, project.job(), loop.time()
            try:
                state = await loop.run_in_executor(self._worker, job)
            except Exception:  # the last line of defence: the next edit starts afresh
                log.exception("the project in %s could not be compiled", project.home.root)
                project.forget()
                return
            self._spent[project.home] = loop.time() - started
            project.state = state
            if project.home in self._projects:
                self._tell(project, before, state)
                if before is None:
                    self._refresh()

    # --- findings

    def _tell(self, project: EditedProject, before: State | None, state: State) -> None:
        """Send what is found in the files whose findings changed."""
        changed = changed_findings(before.revision if before is not None else None, state.revision)
        changed.pop("", None)
        found = {project.uri(path): shown(those, state) for path, those in changed.items()}
        faults = (*state.faults, *(d for d in state.revision.diagnostics if d.span is None))
        if project.home.alone is None and (faults or project.config_uri in project.published):
            found[project.config_uri] = shown(faults, state)
        # A file that has just been opened, maybe under another name than before, is told of again.
        for path, uri in project.uris.items():
            if uri not in project.published and uri not in found:
                found[uri] = shown((d for d in state.revision.diagnostics if _file(d) == path), state)
        self._send(project, found)

    def _send(self, project: EditedProject, found: dict[str, tuple[lsp.Diagnostic, ...]]) -> None:
        for uri, those in found.items():
            self._publish(lsp.PublishDiagnosticsParams(uri, list(those), self.versions.get(uri)))
        project.published = (project.published - found.keys()) | {uri for uri, those in found.items() if those}


def _file(finding: Diagnostic) -> str:
    return finding.span.file if finding.span is not None else ""
