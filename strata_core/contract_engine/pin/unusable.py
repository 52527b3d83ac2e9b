"""The blocking tests that nobody can ask, as what says them cannot be used: they fail closed (Seed 0 §5 C).

A contract that does not pass validation, or has not the shape of one, stands for the tests in its text, and for those
that were promoted last: readers rest on these until another version is promoted. So does one that cannot be read, or
is gone while its product is live (E131). What was never promoted, and cannot be read, nobody knows: E143 says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...diagnostics import Diagnostic, Severity, Span
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean
from ...frozen import dataclass
from ..authored_tests import DbtTest
from ..collation.candidate import Candidate
from ..discover import InputKind, contract_path, is_contract
from ..naming import model_of, split_ref
from ..pipeline import Checked
from ..promotions import Promotion, record_file

MOST_FAULTS = 3
"""Findings of a contract that a message names."""
_SPEAKING = frozenset(
    {InputKind.CONTRACT, InputKind.FRAGMENT, InputKind.DBT_YAML, InputKind.SQL, InputKind.PYTHON},
)
"""The kinds of files in which tests are written."""
_REPAIR = "repair it; `contract-engine validate` says what is wrong"
_RETIRE = "bring it back; a product goes by `status: retired`"


@dataclass(frozen=True, slots=True)
class Refused:
    """A blocking test that cannot be asked of `models`, each of which it refuses."""

    product: str
    test: str
    models: frozenset[str]
    finding: Diagnostic


def unread_files(checked: Checked) -> dict[str, Diagnostic]:
    """The files that may hold blocking tests and are part of no sound contract, with what is wrong in each."""
    used = {path for c in checked.collated.candidates if c.sound for path in c.inputs}
    speaking = {i.path for i in checked.inventory.of_kind(*_SPEAKING)}
    below = tuple(f"{folder.rstrip('/')}/" for folder in checked.setting.config.contracts)
    found: dict[str, Diagnostic] = {}
    for d in checked.diagnostics:
        file = d.span.file if d.span is not None else None
        if file is not None and file not in used and d.blocks and (file in speaking or d.code == "E161"):
            found.setdefault(file, d)
    for d in checked.inventory.diagnostics:
        if d.span is not None and (d.blocks or d.span.file.startswith(below)):
            found.setdefault(d.span.file, d)
    return found


def not_known(unread: Mapping[str, Diagnostic]) -> tuple[Diagnostic, ...]:
    """E143, a warning, in each file whose tests nobody knows."""
    return tuple(
        Diagnostic(
            "E143",
            f"what was promoted is not known: {fault.message}"
            if fault.code == "E161"
            else f"`{file}` is part of no contract: blocking tests in it are not asked",
            fault.span,
            Severity.WARNING,
            fix=_REPAIR,
            notes=(f"{fault.code} {fault.message}",),
        )
        for file, fault in unread.items()
    )


def unknown_models(checked: Checked) -> Iterator[Diagnostic]:
    """E143 for each asset of a product with blocking tests that is to be a model of this project, and is none."""
    models = {name for made in checked.parsed.compiled if made.kind == "strata_model" for name in made.refs}
    for candidate in checked.collated.candidates if models else ():
        if not checked.usable(candidate):
            continue
        contract = candidate.contract
        asked = any(t.severity == "blocking" and not isinstance(t, DbtTest) for t in contract.tests)
        for position, asset in enumerate(contract.assets if asked else ()):
            name = asset.model if asset.kind == "strata_model" else None
            if name is not None and name not in models:
                message = f"`{name}` is no model of this project: blocking tests of `{contract.id}` are not asked of it"
                place = candidate.span(("assets", position, "ref" if asset.ref else "id"))
                fix = did_you_mean(name, sorted(models), "name the model by the `ref` of the asset")
                yield Diagnostic("E143", message, place, Severity.WARNING, fix=fix)


def refused(checked: Checked, unread: Mapping[str, Diagnostic]) -> Iterator[Refused]:
    """The blocking tests that cannot be asked, product by product."""
    candidates = checked.collated.by_id
    for product in sorted(candidates.keys() | checked.promotions.keys()):
        candidate, promotion = candidates.get(product), checked.promotions.get(product)
        if candidate is not None and checked.usable(candidate):
            yield from _lost(candidate, promotion, unread)
        elif candidate is not None:
            yield from _at_fault(candidate, promotion, checked)
        elif promotion is not None:
            yield from _gone(promotion, checked, unread)


def _at_fault(candidate: Candidate, promotion: Promotion | None, checked: Checked) -> Iterator[Refused]:
    """Those in the text of a contract that does not pass, and those of what was promoted."""
    faults = [d for d in checked.diagnostics if d.blocks and d.span and d.span.file in candidate.inputs]
    first = next((d.span for d in faults if d.span and d.span.file == candidate.file), None)
    told: set[str] = set()
    for position, test, models in _blocking(candidate.data):
        told.add(test)
        place = candidate.span(("tests", position, "id")) if candidate.sound else first
        why = "its contract does not pass validation"
        yield _refused(candidate.id, test, models, f"cannot be asked: {why}", place, faults)
    for _, test, models in _blocking(promotion.contract) if promotion is not None else ():
        if test not in told:
            why = "was promoted, and its contract does not pass validation"
            yield _refused(candidate.id, test, models, why, first, faults)


def _lost(candidate: Candidate, promotion: Promotion | None, unread: Mapping[str, Diagnostic]) -> Iterator[Refused]:
    """Those that a file said which is a part of the contract no more, as it cannot be read."""
    faults = [unread[file] for file in promotion.inputs if file in unread] if promotion is not None else []
    if promotion is None or not faults:
        return
    there = {test for _, test, _ in _blocking(candidate.data)}
    for _, test, models in _blocking(promotion.contract):
        if test not in there:
            why = "was promoted, and a file that the contract was made of cannot be read"
            yield _refused(candidate.id, test, models, why, faults[0].span, faults)


def _gone(promotion: Promotion, checked: Checked, unread: Mapping[str, Diagnostic]) -> Iterator[Refused]:
    """Those of a product that has no contract: one of the files that cannot be read may be it."""
    faults = [unread[file] for file in _maybe(promotion, checked, unread)]
    if not faults and (not promotion.live or promotion.contract.get("status") == "retired"):
        return
    record = Span(record_file(checked.setting.config.contract_engine.promotions, promotion.number), 1, 1, 1, 1)
    for _, test, models in _blocking(promotion.contract):
        if faults:
            why = "was promoted, and its contract cannot be read"
            yield _refused(promotion.product, test, models, why, faults[0].span, faults)
        else:
            why = f"was promoted, and its contract is gone, though {promotion.version} is live"
            yield _refused(promotion.product, test, models, why, record, (), _RETIRE)


def _maybe(promotion: Promotion, checked: Checked, unread: Mapping[str, Diagnostic]) -> list[str]:
    """The files that may be the contract of a product: that of its place, else each that is nobody's by its place."""
    owned = {_place(root, product): product for root in checked.setting.config.contracts for product in _known(checked)}
    owned |= {file: product for product, p in checked.promotions.items() for file in p.inputs if is_contract(file)}
    files = [file for file in unread if is_contract(file)]
    own = [file for file in files if owned.get(file) == promotion.product]
    # A folder that cannot be read may hold any.
    return own or [file for file in unread if file not in owned and (is_contract(file) or "." not in file)]


def _known(checked: Checked) -> set[str]:
    return {*checked.promotions, *checked.collated.by_id}


def _place(root: str, product: str) -> str:
    return f"{root.rstrip('/')}/{contract_path(product)}"


def _refused(
    product: str,
    test: str,
    models: frozenset[str],
    why: str,
    place: Span | None,
    faults: Iterable[Diagnostic],
    fix: str = "repair the contract; `contract-engine validate` says what is wrong",
) -> Refused:
    told = [f"{d.code} {d.message} ({d.span})" for d in faults]
    notes = (listed(told, MOST_FAULTS),) if told else ()
    message = f"the blocking test `{test}` of `{product}` {why}"
    return Refused(product, test, models, Diagnostic("E144", message, place, fix=fix, notes=notes))


def _blocking(data: Mapping[str, Any]) -> Iterator[tuple[int, str, frozenset[str]]]:
    """The blocking tests in the text of a contract, whatever else is wrong with it: position, id, and the models that
    each may be about. Of one that names no asset, any may be meant."""
    assets = {a["id"]: a for a in _mappings(data.get("assets")) if isinstance(a.get("id"), str)}
    tests = data.get("tests")
    for position, test in enumerate(tests if isinstance(tests, list | tuple) else ()):
        if not isinstance(test, Mapping) or test.get("severity") != "blocking" or test.get("kind") == "dbt":
            continue
        named = {
            id_ for id_ in (test.get("asset"), *_looked_into(test, data.get("id"))) if isinstance(id_, str)
        } & assets.keys()
        about = named if test.get("asset") in named else assets.keys()
        models = frozenset(name for id_ in about if (name := _model(assets[id_])) is not None)
        if models:
            yield position, str(test.get("id", f"tests[{position}]")), models


def _looked_into(test: Mapping[str, Any], own: object) -> Iterator[str]:
    """The assets of its product, which is `own`, that a test of references looks into."""
    expectation = test.get("expectation")
    to = expectation.get("to") if isinstance(expectation, Mapping) else None
    columns = [str(column) for column in (to if isinstance(to, list | tuple) else ())]
    yield from (asset for product, asset, _ in map(split_ref, columns) if product in (None, own))


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in (value if isinstance(value, list | tuple) else ()) if isinstance(one, Mapping))


def _model(asset: Mapping[str, Any]) -> str | None:
    """The model of Strata that an asset is, which may have another shape than one."""
    return model_of(asset.get("kind"), str(asset.get("ref") or asset["id"]), asset.get("location"))
