"""Classify: what the changes amount to, whether the version says so, and whether what breaks is allowed (Seed 2).

Codes: E130 (version), E131 (a breaking change without what it needs), E132 (to be reviewed), E133 (a name comes back).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta

from ...contract.changes import Demand, Impact
from ...diagnostics import Diagnostic, Related, Severity
from ...diagnostics.listing import listed
from ...diagnostics.wording import plural
from ..approvals import approved, who_approves
from ..authored import AuthoredContract
from ..authored import Compatibility as Told
from ..collation.candidate import Candidate
from ..documents import Path
from ..naming import is_draft
from ..promotions import Promotion
from .changes import ProductChange, changes_of
from .verdict import Compatibility, Verdict

_SHOWN = 12
_CORE = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


def version_key(version: str) -> tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]:
    """The order of semantic versions: a pre-release comes before its release.

    >>> sorted(["1.0.0", "1.0.0-rc.2", "1.0.0-rc.10", "0.9.1"], key=version_key)
    ['0.9.1', '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0']
    """
    match = _CORE.match(version)
    if match is None:
        raise ValueError(f"no semantic version: {version}")
    pre = tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in (match[4].split(".") if match[4] else ())
    )
    return int(match[1]), int(match[2]), int(match[3]), 0 if pre else 1, pre


def classify(
    after: Candidate, promotion: Promotion, changes: tuple[ProductChange, ...], before: AuthoredContract, today: date
) -> Compatibility:
    """The verdict of `today` on `changes` since `promotion`, whose contract is `before`."""
    contract = after.contract
    draft = is_draft(contract.version)
    found: list[Diagnostic] = []
    tombstones = _tombstones(promotion, changes, contract)
    if not promotion.live:
        found += _order(after, promotion, changes)
        return Compatibility(
            Verdict.DRAFT if draft else Verdict.FIRST, promotion.version, changes, tombstones, tuple(found)
        )
    verdict = verdict_of(changes)
    found += _version(after, promotion, changes, verdict)
    found += _breaking(after, promotion, before, changes, today)
    found += _returning(after, promotion)
    return Compatibility(verdict, promotion.version, changes, tombstones, tuple(found))


def verdict_of(changes: Iterable[ProductChange]) -> Verdict:
    """What changes of a live contract amount to: the heaviest of them."""
    heaviest = max((c.impact for c in changes), key=lambda impact: impact.weight, default=Impact.PATCH)
    return {Impact.MAJOR: Verdict.MAJOR, Impact.MINOR: Verdict.MINOR, Impact.REVIEW: Verdict.MINOR}.get(
        heaviest, Verdict.PATCH
    )


def _order(after: Candidate, promotion: Promotion, changes: tuple[ProductChange, ...]) -> Iterator[Diagnostic]:
    """Drafts may break, but a version is never another thing than it was."""
    version = after.contract.version
    was, now = version_key(promotion.version), version_key(version)
    if now < was or (now == was and changes):
        message = f"version {version} does not come after {promotion.version}, which was promoted"
        fix = f"write for instance `version: {next_version(promotion.version, Verdict.DRAFT)}`"
        yield after.finding("E130", message, ("version",), fix)


def _version(
    after: Candidate, promotion: Promotion, changes: tuple[ProductChange, ...], verdict: Verdict
) -> Iterator[Diagnostic]:
    """E130 where the version does not say what the changes are."""
    version = after.contract.version
    was, now = version_key(promotion.version), version_key(version)
    if now < was:
        message = f"version {version} goes back behind {promotion.version}, which was promoted"
        yield after.finding(
            "E130", message, ("version",), f"write `version: {next_version(promotion.version, verdict)}` or higher"
        )
        return
    if not changes:
        return
    major, minor = was[0], was[1]
    covered = {
        Verdict.MAJOR: now[0] > major,
        Verdict.MINOR: now[0] > major or now[1] > minor,
        Verdict.PATCH: now > was,
    }[verdict]
    if covered:
        return
    heaviest = max(changes, key=lambda c: c.impact.weight)
    what = f"{heaviest.where}: {heaviest.rule.says} ({heaviest.rule.id})"
    message = f"version {version} does not cover what changed since {promotion.version}: this is {verdict}"
    yield Diagnostic(
        "E130",
        message,
        after.span(("version",)),
        fix=f"write `version: {next_version(promotion.version, verdict)}`",
        related=(Related(heaviest.after_span, what),) if heaviest.after_span else (),
        field_path="version",
    )


def next_version(promoted: str, verdict: Verdict) -> str:
    """The least version after one that was promoted that says that the changes amount to `verdict`.

    >>> next_version("1.4.2", Verdict.MAJOR), next_version("1.4.2", Verdict.MINOR), next_version("1.4.2", Verdict.PATCH)
    ('2.0.0', '1.5.0', '1.4.3')
    """
    major, minor, patch = version_key(promoted)[:3]
    match verdict:
        case Verdict.MAJOR:
            return f"{major + 1}.0.0"
        case Verdict.MINOR | Verdict.DRAFT | Verdict.FIRST:
            return f"{major}.{minor + 1}.0"
        case Verdict.PATCH:
            return f"{major}.{minor}.{patch + 1}"


def _breaking(
    after: Candidate,
    promotion: Promotion,
    before: AuthoredContract,
    changes: tuple[ProductChange, ...],
    today: date,
) -> Iterator[Diagnostic]:
    """E131 for each thing that a breaking change needs and has not; E132 for what the owner has to look at."""
    told = after.contract.compatibility or Told()
    approvers = who_approves(after.contract, before)
    owner = [f for f, _ in approved(told.approvals, "owner", approvers)]
    governance = [f for f, _ in approved(told.approvals, "governance", approvers)]
    breaking = changes_of(changes, Impact.MAJOR)
    if breaking:
        missing = [c for c in breaking if not _covered(c, owner)]
        if missing:
            fix = f"let {_people(approvers)} approve them under `compatibility.approvals`, `kind: owner`"
            verb = ("is not approved", "are not approved")
            yield _needs(after, missing, verb, "by the owner", fix, _not_theirs("owner", told, approvers))
        yield from _told(after, promotion, before, len(breaking), today)
    weaker = [c for c in changes if c.rule.demand is Demand.APPROVAL and not _covered(c, governance)]
    if weaker:
        fix = f"let {_people(approvers)} approve them under `compatibility.approvals`, `kind: governance`"
        others = _not_theirs("governance", told, approvers)
        yield _needs(after, weaker, ("needs", "need"), "a governance approval", fix, others)
    for change in changes_of(changes, Impact.REVIEW):
        if _covered(change, owner) or _covered(change, governance):
            continue
        declared = {"grain-changed": "grain", "meaning-changed": "meaning"}.get(change.rule.id)
        fix = f"let the owner approve `{change.short}` under `compatibility.approvals`"
        if declared:
            fix += f", or declare `compatibility.meaning_unchanged: [{declared}]` where it says the same as before"
        yield Diagnostic(
            "E132",
            f"`{change.where}`: {change.rule.says}; whether it breaks consumers, only its owner can say",
            change.after_span,
            Severity.WARNING,
            fix=fix,
            notes=_sides(change),
            field_path=change.where,
            blocking=True,
        )


def _told(
    after: Candidate, promotion: Promotion, before: AuthoredContract, breaking: int, today: date
) -> Iterator[Diagnostic]:
    """E131 for each thing that readers of a breaking change are to be told and are not: what was said of the one
    before, and a window that was over when it was announced, tell them nothing."""
    told, earlier = after.contract.compatibility or Told(), before.compatibility or Told()
    broke = promotion.verdict == Verdict.MAJOR
    count = f"{plural(breaking, 'breaking change')} of a live contract, and"
    window = f"{{announced: {today}, sunset: {today + timedelta(days=90)}}}"
    for name, missing, example in (
        ("consumer_impact", "nothing says what it does to consumers", "…"),
        ("migration_notes", "nothing says how consumers migrate", "…"),
        ("deprecation", "there is no deprecation window", window),
    ):
        said = getattr(told, name)
        where: Path = ("compatibility", name)
        if said is None:
            where = ("compatibility",) if after.contract.compatibility else ("version",)
            yield after.finding("E131", f"{count} {missing}", where, f"add `compatibility.{name}: {example}`")
        elif name == "deprecation" and said.sunset > today.isoformat():
            continue
        elif broke and said == getattr(earlier, name):
            message = f"{count} `{name}` is still that of what broke with {promotion.version}"
            yield after.finding("E131", message, where, f"write it anew: `{name}: {example}`")
        elif name == "deprecation" and said != earlier.deprecation:
            message = f"{count} the version before was readable until {said.sunset} alone, and nobody was told before"
            yield after.finding("E131", message, (*where, "sunset"), f"leave consumers some time: `{name}: {window}`")


def _not_theirs(kind: str, told: Told, approvers: tuple[str, ...]) -> tuple[str, ...]:
    """The approvals of a kind that do not count, since others may give them."""
    given = dict.fromkeys(a.by for a in told.approvals if a.kind == kind and a.by not in approvers)
    return tuple(
        f"the approval by `{by}` does not count: the promoted version names {_people(approvers)}" for by in given
    )


def _needs(
    after: Candidate,
    changes: list[ProductChange],
    verb: tuple[str, str],
    what: str,
    fix: str,
    others: tuple[str, ...],
) -> Diagnostic:
    first = changes[0]
    notes = tuple(f"{c.short}  {c.where}: {c.rule.says} ({c.rule.id}){_reach(c)}" for c in changes[:_SHOWN])
    more = (f"and {len(changes) - _SHOWN} more",) if len(changes) > _SHOWN else ()
    count = plural(len(changes), "change")
    return Diagnostic(
        "E131",
        f"{count} of a live contract {verb[len(changes) > 1]} {what}",
        first.after_span or after.span(("compatibility",)),
        fix=f"{fix}, `changes: [{first.short}{', …' if len(changes) > 1 else ''}]`",
        notes=(*notes, *more, *others),
        field_path=first.where,
    )


def _reach(change: ProductChange) -> str:
    if not change.consumers:
        return ""
    return f"; reaches {listed(change.consumers, 4)}"


def _sides(change: ProductChange) -> tuple[str, ...]:
    return (f"before: {change.before or 'nothing'}", f"now: {change.after or 'nothing'}")


def _people(approvers: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in approvers)


def _covered(change: ProductChange, fingerprints: Iterable[str]) -> bool:
    return any(change.fingerprint.startswith(f) for f in fingerprints)


def _tombstones(
    promotion: Promotion, changes: Iterable[ProductChange], contract: AuthoredContract
) -> Mapping[str, str]:
    """The names that were removed up to and with these changes, with what they were."""
    found = dict(promotion.tombstones)
    for change in changes:
        if change.rule.id == "asset-removed" and change.asset:
            found[change.asset] = change.before or ""
        elif change.rule.id in ("column-removed", "column-renamed") and change.asset and change.column:
            found[f"{change.asset}.{change.column}"] = change.before or ""
    alive = {a.id for a in contract.assets} | {f"{a.id}.{c.name}" for a in contract.assets for c in a.columns}
    return {name: was for name, was in sorted(found.items()) if name not in alive}


def _returning(after: Candidate, promotion: Promotion) -> Iterator[Diagnostic]:
    """E133 for a name that was removed once and comes back as something else."""
    for i, asset in enumerate(after.contract.assets):
        was = promotion.tombstones.get(asset.id)
        if was is not None and was != asset.kind:
            yield _returned(after, asset.id, was, ("assets", i, "id"))
        for j, column in enumerate(asset.columns):
            was = promotion.tombstones.get(f"{asset.id}.{column.name}")
            if was is not None and was.partition(" ")[0] != (column.type or "").partition(" ")[0]:
                yield _returned(after, f"{asset.id}.{column.name}", was, ("assets", i, "columns", j, "name"))


def _returned(after: Candidate, name: str, was: str, path: tuple[str | int, ...]) -> Diagnostic:
    message = f"`{name}` was removed once (it was `{was}`) and comes back as something else"
    return after.finding("E133", message, path, "take another name: who knew the old one would misread this")
