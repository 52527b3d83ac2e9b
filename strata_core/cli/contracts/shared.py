"""What the verbs share: the option that says where the project is, and which products and contracts are meant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...contract_engine.discover import Inventory, contract_path, discover, without_contract
from ...contract_engine.pipeline import Setting, examine, open_setting
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.suggest import did_you_mean
from ...planning.config import CONTRACT_FILE
from ...whole_files import write_whole
from .answering import answered_for, tell

if TYPE_CHECKING:  # who asks for an unchanged tree needs neither
    from ...contract_engine.collation.candidate import Candidate
    from ...contract_engine.pipeline import Checked


def on_contracts(verb: Callable[..., int]) -> Callable[..., int]:
    """Give `verb` the option `--project`, and the opened setting in its place; tell what keeps it from working."""

    @click.option(
        "--project",
        "project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="The project's folder (default: the nearest strata.toml upwards, else this folder).",
    )
    @wraps(verb)
    def run(project: Path | None, **options: Any) -> int:
        return answered_for(lambda setting: verb(setting, **options), project, options.get("format_", "text"))

    return run


def product_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The products that a shell offers: by where contracts lie, none of which is read."""
    try:
        setting = open_setting(context.params.get("project"))
    except StrataError:
        return []
    roots = (setting.root / folder for folder in setting.config.contracts)
    places = (place.parent for root in roots for place in root.glob(f"*/*/{CONTRACT_FILE}"))
    return sorted(id_ for p in places if (id_ := f"{p.parent.name}.{p.name}").startswith(incomplete))


def examined(setting: Setting) -> Checked:
    """Every step up to validation. Tells where there is no contract (W112); raises E073 where there is no project."""
    inventory = discover(setting.tree, setting.config, setting.root)
    require_contract(setting, inventory)
    return examine(setting, inventory)


def require_contract(setting: Setting, inventory: Inventory) -> None:
    """Tells where there is no contract in a project (W112); raises E073 where there is no project either."""
    found = without_contract(inventory, setting.config, setting.tree, setting.root)
    if any(d.blocks for d in found):
        raise StrataError(*found)
    tell(found, setting.root, "text", err=True)


def named(checked: Checked, products: Iterable[str]) -> list[Candidate]:
    """The candidates of products, all where none is named; raises E073 where there is none of a name."""
    known = checked.collated.by_id
    require_known(products, known, checked.unread())
    return [known[product] for product in products] or [*known.values()]


def require_known(products: Iterable[str], known: Collection[str], unread: Iterable[Diagnostic] = ()) -> None:
    """Raises E073 where one of `products` is not among those that are `known`, with what keeps files that are `unread`
    from being contracts: it may be one of them."""
    for product in products:
        if product not in known:
            fault = Diagnostic("E073", f"there is no product `{product}`", fix=_nearest(product, known))
            raise StrataError(*unread, fault)


def _nearest(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known, "`contract-engine discover` lists contracts")


def chosen(checked: Checked, contract: Path | None) -> tuple[list[Candidate], list[Diagnostic]]:
    """The candidate of a contract, and what blocks it; where none is named all, and what keeps files from being one.
    Raises E073 where the contract is none of the project."""
    root = checked.setting.root
    candidates = checked.collated.candidates
    if contract is None:
        return [*candidates], [*checked.blocking(*candidates), *checked.unread()]
    found = [c for c in candidates if (root / c.file).resolve() == contract.resolve()]
    if not found:
        fix = _nearest(str(contract), [c.file for c in candidates])
        raise StrataError(Diagnostic("E073", f"`{contract}` is no contract of this project", fix=fix))
    return found, [*checked.blocking(*found)]


def place_contract(setting: Setting, product: str, text: str) -> str:
    """Write the first contract of `product` to its place below `contracts/`, which it gives. Raises `StrataError` E073
    where there is one already, or none can be written."""
    from ...contract_engine.draft import taken

    folder = setting.config.contracts[0] if setting.config.contracts else "contracts"
    place = setting.root / folder / contract_path(product)
    shown = place.relative_to(setting.root).as_posix()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StrataError(taken(product, shown)) from None
    except OSError as error:
        fix = "give leave to write there, or name another folder in `[project] contracts`"
        raise StrataError(Diagnostic("E073", f"`{shown}` cannot be written: {error.strerror}", fix=fix)) from None
    return shown


def write(path: Path, content: bytes) -> None:
    """The file as a whole, or as it was. Raises `StrataError` E073 where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        fix = "give leave to write there, or name another place with `--out`"
        raise StrataError(Diagnostic("E073", f"`{path}` cannot be written: {error.strerror}", fix=fix)) from None
