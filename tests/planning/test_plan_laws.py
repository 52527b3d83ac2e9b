"""Laws of the plan over random graphs of models and random edits, held against an oracle in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.analysis.compiled import CompiledProject
from strata_core.language.parser import parse_module
from strata_core.planning.fingerprints import address, data_digest, fingerprints
from strata_core.planning.plan import Applied, Plan, make_plan
from strata_core.store.environments import EMPTY, EnvironmentVersion, Pointer


@dataclass(frozen=True)
class Graph:
    """Models `m0`, `m1`, … each reading some before it, or the source `s`; `constants` is what each adds."""

    reads: tuple[tuple[int, ...], ...]
    constants: tuple[int, ...]
    promised: tuple[bool, ...]
    data: int = 0

    def text(self) -> str:
        parts = ['source s(csv: "s.csv") { columns: { k: int64 nonnull primary_key, v: int64 nonnull } }']
        for i, reads in enumerate(self.reads):
            first = f"m{reads[0]}" if reads else "s"
            joins = "".join(f"  join_semi m{r} on {first}.k == m{r}.k\n" for r in reads[1:])
            nonnull = " nonnull" if self.promised[i] else ""
            parts.append(f"contract C{i} {{ k: int64 nonnull  v: int64{nonnull} }}")
            chosen = f"select {{ k, v = {first}.v + {self.constants[i]} }}"
            parts.append(f"model m{i} -> contract C{i} {{\n  from {first}\n{joins}  {chosen}\n}}")
        return "\n".join(parts)

    def compiled(self) -> CompiledProject:
        result = parse_module(self.text(), "m.strata")
        compiled = compile_project([result.module])
        assert not [d for d in (*result.diagnostics, *compiled.diagnostics) if d.blocks], compiled.diagnostics
        return compiled

    def values(self, model: int) -> frozenset[int]:
        """The models whose constant is in the column `v` of `model`; joins only ask for `k`, which is that of `s`."""
        return frozenset({model}).union(*(self.values(first) for first in self.reads[model][:1]))

    def ancestors(self, model: int) -> frozenset[int]:
        return frozenset(self.reads[model]).union(*(self.ancestors(r) for r in self.reads[model]))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 6))
    reads = tuple(tuple(sorted(draw(st.sets(st.integers(0, i - 1), max_size=3)))) if i else () for i in range(size))
    return Graph(reads, tuple(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))), (True,) * size)


@dataclass(frozen=True)
class Edit:
    """A graph before and after an edit: the models that add another constant, those that promise less, other data."""

    before: Graph
    after: Graph
    own: frozenset[int]
    contract: frozenset[int]
    data: bool

    def other_values(self, model: int) -> bool:
        return bool(self.after.values(model) & self.own)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    before = draw(graphs())
    size = len(before.reads)
    own = draw(st.sets(st.integers(0, size - 1), max_size=2))
    contract = draw(st.sets(st.integers(0, size - 1), max_size=1))
    data = draw(st.booleans())
    # A model that reads a weaker promise than its own would not compile: let all that read it promise less too.
    weaker = {i for i in range(size) if i in contract or before.ancestors(i) & contract}
    after = Graph(
        before.reads,
        tuple(c + (10 if i in own else 0) for i, c in enumerate(before.constants)),
        tuple(i not in weaker for i in range(size)),
        int(data),
    )
    return Edit(before, after, frozenset(own), frozenset(weaker), data)


def columns(graph: Graph, model: int) -> dict[str, str]:
    """What the columns of a model would be known by: everything that they depend on, spelled out."""
    data = f"data{graph.data}"
    reads = graph.reads[model]
    return {"k": data, "v": f"({graph.constants[model]}:{columns(graph, reads[0])['v'] if reads else data})"}


def applied(graph: Graph) -> tuple[EnvironmentVersion, dict[str, Applied]]:
    """The environment after everything of `graph` was applied."""
    compiled, prints = graph.compiled(), fingerprints(graph.compiled())
    of = {f"m{i}": columns(graph, i) for i in range(len(graph.reads))}
    pointers, notes = {}, {}
    for name in compiled.models:
        own = prints[name]
        read = {u: {c: of[u][c] for c in r.columns} for u, r in own.readings.items() if u in of}
        inputs = {u: data_digest(read[u]) if u in of else f"data{graph.data}" for u in own.readings}
        pointers[name] = Pointer(address(own.local, inputs), of[name]["v"], own.merkle)
        ground = f"data{graph.data}"
        grounds = dict.fromkeys(read, ground)
        notes[name] = Applied(own.own, own.contract, inputs, read, own.readings, grounds, of[name], own.meaning, ground)
    version = EnvironmentVersion(1, "id", 1, pointers, "", {}, "publish", None)
    return version, notes


def plan(graph: Graph, base: EnvironmentVersion, notes: dict[str, Applied], *selected: str) -> Plan:
    compiled = graph.compiled()
    return make_plan(
        compiled,
        fingerprints(compiled),
        "prod",
        base,
        {"s": f"data{graph.data}"},
        lambda name, _: notes.get(name),
        selected=selected or None,
    )


@settings(max_examples=60, deadline=None)
@given(edits())
def test_seed0_s6_law_stale_is_what_changed_and_what_reads_it_and_nothing_else(edit):
    made = plan(edit.after, *applied(edit.before))
    everything = range(len(edit.after.reads))
    assert {m.name for m in made.stale} == {
        f"m{i}" for i in everything if edit.data or i in edit.contract or edit.other_values(i)
    }


@settings(max_examples=60, deadline=None)
@given(edits())
def test_seed0_s6_law_each_is_planned_after_what_it_reads(edit):
    names = [m.name for m in plan(edit.after, *applied(edit.before)).models]
    reads = enumerate(edit.after.reads)
    assert all(names.index(f"m{r}") < names.index(f"m{i}") for i, below in reads for r in below)


@settings(max_examples=60, deadline=None)
@given(edits())
def test_seed0_s6_law_a_cause_names_what_is_its_cause(edit):
    made = plan(edit.after, *applied(edit.before))
    for planned in made.stale:
        i = int(planned.name[1:])
        reads = edit.after.reads[i]
        told = {str(c.reason): set(c.upstream) for c in planned.causes}
        assert ("own change" in told, "contract change" in told) == (i in edit.own, i in edit.contract)
        assert told.get("data change", set()) == ({"s"} if edit.data and not reads else set())
        with_values = {f"m{r}" for r in reads[:1] if edit.other_values(r)}
        assert told.get("upstream change", set()) == ({f"m{r}" for r in reads} if edit.data else with_values)


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_seed0_s6_law_what_was_applied_is_fresh_and_everything_is_missing_before(graph):
    assert plan(graph, *applied(graph)).stale == ()
    assert len(plan(graph, EMPTY, {}).stale) == len(graph.reads)


@settings(max_examples=40, deadline=None)
@given(edits(), st.data())
def test_seed0_s6_law_a_selection_plans_what_the_whole_plan_has_of_it_and_of_what_it_reads(edit, data):
    base, notes = applied(edit.before)
    chosen = data.draw(st.integers(0, len(edit.after.reads) - 1))
    inside = {f"m{i}" for i in (chosen, *edit.after.ancestors(chosen))}
    whole = {m.name: m.causes for m in plan(edit.after, base, notes).stale}
    part = {m.name: m.causes for m in plan(edit.after, base, notes, f"m{chosen}").stale}
    assert part == {name: causes for name, causes in whole.items() if name in inside}


def test_the_oracle_reads_the_text_that_it_plans():
    graph = Graph(((), (0,), (0, 1)), (1, 2, 3), (True, True, False))
    assert list(graph.compiled().models) == ["m0", "m1", "m2"]
    assert columns(graph, 2) == {"k": "data0", "v": "(3:(1:data0))"}
    assert fingerprints(graph.compiled())["m2"].readings["m1"].columns == ("k",)
