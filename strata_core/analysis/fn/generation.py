"""The calls of compile-time functions in a project, and the models that they give. Needed only where there is one.

A call that cannot be evaluated gives no models; the names that nobody declares are then taken for its models, so that
reading them is no second error. Codes: E023 (two tables of one name), E041 (a call that gives no models), W010, those
of `check` and `evaluate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...diagnostics import Diagnostic, Related, Report, Severity, Span, has_errors
from ...diagnostics.listing import listed
from ...frozen import replace
from ...language import ast
from ...language.ast.parts import children
from ..order import reads
from .check import Known, check_function, infer
from .evaluate import Budget, EvaluationError, Run, evaluate
from .expansion import Evaluated, Expansion, Origin, calls_of
from .signatures import Signature, signatures
from .types import MODEL, ListOf, Type
from .values import Instance, Value


def generate(modules: Sequence[ast.Module], before: Mapping[Span, Evaluated], report: Report) -> Expansion:
    """Replace the calls in `modules` by their models; see `expansion.expand`."""
    fns = [d for m in modules for d in m.declarations if isinstance(d, ast.Fn)]
    broken = frozenset(b.name.text for b in _broken(modules) if b.word == "fn")
    found: list[Diagnostic] = []
    domains = _domains(modules)
    externs = {d.name.text: d.name for m in modules for d in m.declarations if isinstance(d, ast.Extern)}
    known = Known(signatures(fns, domains, externs, found.append), broken, found.append)
    generation = _Generation(known, _called_by(known.functions), tuple(domains.values()), before, _tables(modules))
    generation.check(found)
    calls = [call for m in modules for d in m.declarations for call in calls_of(d)]
    found += _unused(generation.called_by, calls, known.functions)
    generators = {
        id(d): generation.add(d.call, again=False)[1]
        for m in modules
        for d in m.declarations
        if isinstance(d, ast.Generator)
    }
    expanded = [_expanded(module, generators, generation) for module in modules]
    if generation.failed or broken:
        expanded.append(_unknown_models(expanded))
    for diagnostic in found:
        report(diagnostic)
    return Expansion(tuple(expanded), generation.origins, generation.evaluated, frozenset(known.functions))


def _domains(modules: Sequence[ast.Module]) -> dict[str, ast.TypeExpr]:
    found: dict[str, ast.TypeExpr] = {}
    for module in modules:
        for declaration in module.declarations:
            if isinstance(declaration, ast.Domain):
                found.setdefault(declaration.name.text, declaration.type)
    return found


def _broken(modules: Sequence[ast.Module]) -> Iterator[ast.Broken]:
    return (d for m in modules for d in m.declarations if isinstance(d, ast.Broken))


def _tables(modules: Sequence[ast.Module]) -> dict[str, ast.Name]:
    """The tables that are written by hand, by name."""
    found: dict[str, ast.Name] = {}
    for module in modules:
        for declaration in module.declarations:
            match declaration:
                case ast.Source() | ast.Model() | ast.Broken(word="source" | "model"):
                    found.setdefault(declaration.name.text, declaration.name)
                case _:
                    pass
    return found


def _called_by(declared: Mapping[str, Signature]) -> dict[str, frozenset[str]]:
    """The functions that each function calls."""
    return {name: frozenset(_called(signature.declared.body)) for name, signature in declared.items()}


def _called(root: ast.Expr) -> Iterator[str]:
    pending: list[object] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            yield node.function.text
        pending += children(node)


def _unused(
    called_by: Mapping[str, frozenset[str]], calls: Sequence[ast.Call], declared: Mapping[str, Signature]
) -> Iterator[Diagnostic]:
    used = {name for call in calls for name in _called(call)}
    for name, called in called_by.items():
        used |= called - {name}
    for name, signature in declared.items():
        if name not in used:
            message = f"the function `{name}` is never called"
            span = signature.declared.name.span
            fix = f"call it, `{name}(…)`, in a module or pipeline, or take it out"
            yield Diagnostic("W010", message, span, Severity.WARNING, fix=fix, about=name)


class _Generation:
    """The models that the calls of a project gave so far."""

    def __init__(
        self,
        known: Known,
        called_by: Mapping[str, frozenset[str]],
        domains: tuple[object, ...],
        before: Mapping[Span, Evaluated],
        tables: dict[str, ast.Name],
    ) -> None:
        self.known = known
        self.called_by = called_by
        self.domains = domains
        self.before = before
        self.tables = tables
        self.run = Run({}, Budget())
        self.reached: dict[frozenset[str], tuple[Signature, ...]] = {}
        self.evaluated: dict[Span, Evaluated] = {}
        self.models: dict[str, ast.Model] = {}
        self.origins: dict[str, Origin] = {}
        self.failed = False

    def check(self, found: list[Diagnostic]) -> None:
        """Check every function; those that are sound, in themselves and in all that they call, can be evaluated."""
        unsound: list[str] = []
        callers: dict[str, list[str]] = {}
        for name, signature in self.known.functions.items():
            before = len(found)
            check_function(signature, self.known)
            complete = signature.returns is not None and None not in signature.parameters.values()
            if has_errors(found[before:]) or not complete or self.called_by[name] & self.known.broken:
                unsound.append(name)
            for called in self.called_by[name]:
                callers.setdefault(called, []).append(name)
        reached = set(unsound)
        for name in unsound:
            fresh = [caller for caller in callers.get(name, ()) if caller not in reached]
            reached.update(fresh)
            unsound += fresh
        self.run = Run({n: s for n, s in self.known.functions.items() if n not in reached}, self.run.budget)

    def models_of(self, call: ast.Call) -> tuple[Instance, ...]:
        """The models that a call gives; none where something was reported of it."""
        named = frozenset(_called(call))
        if named not in self.reached:
            self.reached[named] = self.reached_from(named)
        reached = self.reached[named]
        declarations = (self.domains, *(signature.declared for signature in reached))
        one = self.before.get(call.span)
        budget = self.run.budget
        if one is not None and one.holds(call, declarations) and (one.left == budget.left or budget.affords(one.cost)):
            budget.pay(one.cost)
        else:
            one = self.evaluate(call, declarations, reached)
        self.evaluated[call.span] = one
        for diagnostic in one.diagnostics:
            self.known.report(diagnostic)
        self.failed = self.failed or one.instances is None
        return one.instances or ()

    def reached_from(self, names: frozenset[str]) -> tuple[Signature, ...]:
        """The functions of these names, and all that they call, directly or not."""
        reached = dict.fromkeys(sorted(names))
        pending = list(reached)
        for name in pending:
            fresh = [other for other in sorted(self.called_by.get(name, ())) if other not in reached]
            reached |= dict.fromkeys(fresh)
            pending += fresh
        return tuple(self.known.functions[name] for name in reached if name in self.known.functions)

    def evaluate(self, call: ast.Call, declarations: tuple[object, ...], reached: Iterable[Signature]) -> Evaluated:
        """Check the call and evaluate it, if all that it reaches is sound."""
        found: list[Diagnostic] = []
        type_ = infer(call, {}, replace(self.known, report=found.append))
        if type_ is not None and not has_errors(found) and not _gives_models(type_):
            message = f"`{call.function}` gives {type_}, and only models can be added"
            fix = "call a function that gives a Model or a List<Model>"
            found.append(Diagnostic("E041", message, call.span, fix=fix))
        sound = all(signature.declared.name.text in self.run.functions for signature in reached)
        instances = None
        before = self.run.budget.left
        if type_ is not None and not has_errors(found) and sound and not self.run.budget.exhausted:
            try:
                instances = tuple(_flat(evaluate(call, {}, self.run), call, self.run.budget))
            except EvaluationError as error:
                related = (*error.diagnostic.related, Related(call.span, "generated by this call"))
                found.append(replace(error.diagnostic, related=related))
        return Evaluated(call, declarations, instances, tuple(found), before, before.less(self.run.budget.left))

    def add(self, call: ast.Call, *, again: bool) -> tuple[list[ast.Name], list[ast.Model]]:
        """The names of the models that `call` gives, and those that are new. With `again`, what an equal call gave
        already is the same model; else every name is to be new (E023)."""
        names: list[ast.Name] = []
        new: list[ast.Model] = []
        twice: list[Origin] = []
        for instance in self.models_of(call):
            model, origin = instance.model, Origin(instance, call.span)
            name = model.name.text
            if again and self.models.get(name) == model:
                names.append(ast.Name(name, call.span))
            elif name in self.tables:
                twice.append(origin)
            else:
                self.tables[name], self.models[name], self.origins[name] = model.name, model, origin
                names.append(ast.Name(name, call.span))
                new.append(model)
        if twice:
            self.known.report(self._twice(twice))
        return names, new

    def _twice(self, twice: Sequence[Origin]) -> Diagnostic:
        """E023 for the tables of a call that bear a name which is taken, told once."""
        origin = twice[0]
        name = origin.instance.model.name.text
        related = [Related(origin.instance.model.name.span, f"named here, by {origin.call}")]
        before = self.origins.get(name)
        if before is None:
            related.append(Related(self.tables[name].span, "first here"))
        elif before.site == origin.site:
            related.append(Related(before.site, f"first by {before.call}, in the same call"))
        else:
            related.append(Related(before.site, f"first by {before.call}"))
        others = sorted({o.instance.model.name.text for o in twice} - {name})
        return Diagnostic(
            "E023",
            f"the table `{name}` is given twice",
            origin.site,
            fix='make the name depend on every value that differs: `model "orders_${a}_${b}"`',
            notes=(_and_others(others),) if others else (),
            related=tuple(related),
        )


def _and_others(names: Sequence[str]) -> str:
    return f"so is {listed([f'`{name}`' for name in names], 5)}"


def _gives_models(type_: Type) -> bool:
    match type_:
        case ListOf():
            return _gives_models(type_.element)
        case _:
            return type_ == MODEL


_ADDING = 20
"""Steps that a model costs each time it is added."""


def _flat(value: Value, call: ast.Call, budget: Budget) -> Iterator[Instance]:
    match value:
        case Instance():
            budget.spend(_ADDING, 0, call)
            yield value
        case tuple():
            budget.spend(len(value), 0, call)
            for element in value:
                yield from _flat(element, call, budget)
        case _:
            raise AssertionError(value)


def _expanded(module: ast.Module, generated: Mapping[int, Sequence[ast.Model]], generation: _Generation) -> ast.Module:
    """The module with the `generated` models in the place of their calls, and those that its pipelines add."""
    if not any(isinstance(d, ast.Fn | ast.Generator) or calls_of(d) for d in module.declarations):
        return module
    declarations: list[ast.Declaration] = []
    for declaration in module.declarations:
        match declaration:
            case ast.Fn():
                pass
            case ast.Generator():
                declarations += generated[id(declaration)]
            case ast.Pipeline() if calls_of(declaration):
                names: list[ast.Name | ast.Call] = []
                for chosen in declaration.models:
                    if isinstance(chosen, ast.Call):
                        given, new = generation.add(chosen, again=True)
                        declarations += new
                        names += given
                    else:
                        names.append(chosen)
                declarations.append(replace(declaration, models=tuple(names)))
            case _:
                declarations.append(declaration)
    return replace(module, declarations=tuple(declarations))


def _unknown_models(modules: Iterable[ast.Module]) -> ast.Module:
    """Names that are referred to and declared nowhere, as models that are broken."""
    modules = list(modules)
    known = _tables(modules)
    named: dict[str, ast.Name] = {}
    for module in modules:
        for declaration in module.declarations:
            match declaration:
                case ast.Model():
                    named |= reads(declaration)
                case ast.Test():
                    named.setdefault(declaration.name.text, declaration.name)
                case ast.Pipeline():
                    named |= {name.text: name for name in declaration.models if isinstance(name, ast.Name)}
                case _:
                    pass
    missing = [ast.Broken("model", name, name.span) for text, name in named.items() if text not in known]
    path = modules[0].path
    return ast.Module(path, tuple(missing), modules[0].span)
