"""A store in a bucket: what it refuses, answers that are lost, copies of parts, and the whole of it on an S3 server."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.store import Artifact, Store, Table, bucket
from strata_core.store.artifacts import FetchedPaths
from strata_core.store.bucket import BucketPath
from strata_core.store.files import UnclearError
from strata_core.store.manifest import Part
from strata_core.store.part_cache import PartCache, drop_damaged
from strata_core.store.s3 import ObstoreObjects
from strata_core.store.unnamed import unnamed
from tests.buckets import make_bucket
from tests.store.conftest import Rows

KEYED = '[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\nretain_runs = "1d"\n'


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    return make_bucket(monkeypatch, tmp_path / "cache") + "/strata"


def refusal(call: Callable[[], object]) -> Diagnostic:
    with pytest.raises(StrataError) as error:
        call()
    (found,) = error.value.diagnostics
    return found


# --- the whole of it, on an S3 server


def test_artifacts_are_staged_adopted_published_and_read(url: str, rows: Rows, tmp_path: Path) -> None:
    store = Store.open(url)
    candidate = rows.stage(store, "orders", 1, 2)
    assert candidate.reader().read_all().column("n").to_pylist() == [1, 2]
    assert list(store.files.below(store.root)) == []  # a candidate is on this machine alone
    artifact = store.adopt(candidate, "c0ffee", {"fingerprint": "f"})
    assert not candidate.directory.exists()
    part = artifact.manifest.parts[0]
    assert sorted(str(path) for path in store.files.below(store.root)) == [
        f"{url}/tables/orders/data/artifacts/c0ffee/_manifest.json",
        f"{url}/tables/orders/data/artifacts/c0ffee/part-00000-{part.sha256[:16]}.parquet",
    ]
    environment = store.environment("prod")
    environment.publish(environment.head(), {"orders": rows.pointer(artifact)})
    # another machine, which has no copies
    other = Store.open(url, create=False)
    object.__setattr__(other.files, "copies", PartCache(tmp_path / "elsewhere"))
    found = other.artifact("orders", other.environment("prod").head().models["orders"])
    assert isinstance(found.paths, FetchedPaths)
    assert not (tmp_path / "elsewhere").exists()
    assert rows.read(other, found) == [1, 2]
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [f"{part.sha256}.parquet"]
    assert found.verify() == ()
    assert other.environments() == ("prod",)


def test_the_same_rows_at_one_address_are_kept_once_and_other_rows_refused(url: str, rows: Rows) -> None:
    store = Store.open(url)
    first = rows.adopt(store, "orders", 1)
    assert rows.adopt(store, "orders", 1) == first
    found = refusal(lambda: store.adopt(rows.stage(store, "orders", 2), first.address, {}))
    assert (found.code, "with other rows" in found.message) == ("E094", True)
    assert rows.read(store, first) == [1]


def spoil(cache_folder: Path) -> None:
    """Changes the bytes of all copies, not their size."""
    for copy in (cache_folder / "parts").iterdir():
        copy.write_bytes(bytes(reversed(copy.read_bytes())))


def test_a_damaged_copy_of_an_artifact_is_removed_and_fetched_anew(url: str, rows: Rows, tmp_path: Path) -> None:
    store = Store.open(url)
    artifact = rows.adopt(store, "orders", 1)
    spoil(tmp_path / "cache")
    found = refusal(lambda: rows.read(store, artifact))
    assert (found.code, found.fix) == ("E094", "run the same again: the part is fetched anew")
    assert "was damaged, and is removed" in found.message
    assert rows.read(store, artifact) == [1]


def test_a_damaged_copy_of_a_table_is_removed_and_fetched_anew(url: str, tmp_path: Path) -> None:
    store = Store.open(url)
    store.declare(KEYED)
    store.table("t").land(pa.table({"k": [1, 2]}), run_id="a")
    assert store.table("t").read().arrow().num_rows == 2
    spoil(tmp_path / "cache")
    found = refusal(lambda: Store.open(url).table("t").read().arrow())
    assert (found.code, "StorePartDamaged" in found.message) == ("E094", True)
    assert found.fix == "run the same again: the part is fetched anew"
    assert Store.open(url).table("t").read(columns=["k"]).arrow().column("k").to_pylist() == [1, 2]


def test_a_sound_copy_and_what_is_no_copy_stay(url: str, rows: Rows, tmp_path: Path) -> None:
    store = Store.open(url)
    artifact = rows.adopt(store, "orders", 1)
    (copy,) = artifact.paths
    (other := tmp_path / copy.name).write_bytes(b"another file of that name")
    assert (drop_damaged(copy), drop_damaged(other), artifact.drop_damaged_copies()) == (False, False, ())
    assert (copy.exists(), other.exists()) == (True, True)


@pytest.mark.parametrize("damage", ["gone", "changed", "manifest"])
def test_a_damaged_artifact_is_found_and_repaired_by_recomputation(url: str, rows: Rows, damage: str) -> None:
    store = Store.open(url)
    artifact = rows.adopt(store, "orders", 1)
    path = artifact.directory / artifact.manifest.parts[0].path
    content = store.files.read(path) or b""
    match damage:
        case "gone":
            store.files.remove(path)
        case "changed":
            store.files.put(path, content[:9] + b"?" + content[10:])
        case _:
            store.files.put(artifact.directory / "_manifest.json", b"{")
    if damage != "manifest":
        (finding,) = artifact.verify()
        assert (finding.code, str(path) in finding.message) == ("E094", True)
    again = rows.adopt(store, "orders", 1)
    assert again.verify() == ()
    assert store.files.read(path) == content
    assert store.find("orders", artifact.address) == again


def test_tables_land_fold_collect_and_verify(url: str) -> None:
    store = Store.open(url)
    (table,) = store.declare(KEYED)
    for value in (1, 2, 3):
        table.land(pa.table({"k": ["a"], "v": [value]}), run_id=f"r{value}")
    assert table.land(pa.table({"k": ["a"], "v": [3]}), run_id="r3").repeated
    at = [entry.at for entry in table.history()][1]
    snapshot = table.fold()
    assert snapshot is not None
    again = Store.open(url, create=False).table("t")
    assert again.read().arrow().to_pylist() == [{"k": "a", "v": 3}]
    assert again.read(as_of=at).arrow().to_pylist() == [{"k": "a", "v": 2}]
    again.hold("audit")
    assert again.verify().findings == ()
    assert (again.verify().runs, again.verify().snapshots) == (3, 1)
    assert list(unnamed(store)) == []


def test_what_nothing_names_is_listed(url: str, rows: Rows) -> None:
    store = Store.open(url)
    (table,) = store.declare(KEYED)
    table.land(pa.table({"k": ["a"], "v": [1]}))
    rows.adopt(store, "orders", 1)
    left = [
        store.root / "tables/orders/data/artifacts/dead/part-00000-0123.parquet",
        store.root / "tables/t/data/runs/killed/00000000000000000001-abcd/part-00000.parquet",
    ]
    for path in left:
        store.files.put(path, b"x")
    assert list(unnamed(store)) == left
    table.collect()
    assert list(unnamed(store)) == left[:1]


# --- what is refused


def test_a_bucket_that_is_not_there_is_told_wherever_it_is_used(url: str, rows: Rows) -> None:
    root = url.replace("s3://lake-", "s3://pond-")
    store = Store.at(root)
    for call in (
        lambda: Store.open(root),
        lambda: store.environment("prod").head(),
        lambda: store.find("orders", "c0ffee"),
        lambda: rows.adopt(store, "orders", 1),
        lambda: store.declare(KEYED),
    ):
        found = refusal(call)
        assert (found.code, "there is no such bucket" in found.message) == ("E092", True)
        assert found.fix == "make the bucket, or name another one in [store] root"
    assert list(store.staging.iterdir()) == []


@pytest.mark.parametrize(
    "root", ["gs://lake/x", "s3://", "s3://Lake", "s3://lake/../x", "s3://lake/a?b", "s3://u:secret@l", "s3:/lake/x"]
)
def test_a_url_that_names_no_store(root: str) -> None:
    found = refusal(lambda: Store.at(root))
    assert (found.code, found.fix) == (
        "E092",
        "write s3://bucket/prefix; keys and endpoint stand in the environment",
    )
    assert "secret" not in found.message


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers every request with the status and code that the server was given."""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, code = self.server.answer  # type: ignore[attr-defined]
        body = f"<Error><Code>{code}</Code><Signature>{self.headers.get('Authorization')}</Signature></Error>".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def answering(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "says", "fix"),
    [
        (403, "InvalidAccessKeyId", "the access key is not known there", "set AWS_ACCESS_KEY_ID and"),
        (403, "SignatureDoesNotMatch", "the secret key is not the one of the access key", "set AWS_ACCESS_KEY_ID and"),
        (403, "AccessDenied", "access is denied", "of a user that may list, read, write and delete in this bucket"),
        (400, "ExpiredToken", "the credentials have expired", "set AWS_ACCESS_KEY_ID and"),
        (400, "AuthorizationHeaderMalformed", "the bucket is in another region", "set [store] region"),
        (501, "NotImplemented", "it knows no conditional writes", "use a bucket that takes `If-None-Match: *`"),
        (418, "Teapot", "answered 418 Teapot", "look up that answer"),
    ],
)
def test_what_a_provider_refuses_is_said_without_what_it_quotes(
    url: str, answering: Any, status: int, code: str, says: str, fix: str
) -> None:
    answering.answer = (status, code)
    store = Store.at(url)
    for call in (lambda: store.environments(), lambda: store.files.create(store.root / "x", b"")):
        found = refusal(call)
        assert found.code == "E092"
        assert says in found.message
        assert fix in (found.fix or "")
        told = f"{found.message} {found.fix} {found.notes}"
        assert not any(word in told for word in ("key-of-tests", "secret-of-tests", "Signature=", "<Error>"))


def test_an_endpoint_that_does_not_answer(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:secret@127.0.0.1:9")
    found = refusal(lambda: Store.at(url).environments())
    assert found.message == f"cannot list {url}/environments: no answer from http://127.0.0.1:9"
    assert found.fix == "check [store] endpoint (or AWS_ENDPOINT_URL) and the network"


@pytest.mark.parametrize(
    "endpoint",
    [
        "not a url",
        "127.0.0.1:9000",
        "http://",
        "ftp://secret@s3",
        "http://[::1",
        "http://[1]:9000",
        "http://h:65536",
        "http://secret:p@h h",
        "http://h/?secret=1",
        "http://hölle",
    ],
)
@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "[store] endpoint"])
def test_an_endpoint_that_no_request_can_be_sent_to(
    url: str, endpoint: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = endpoint if name.startswith("[") else None
    if given is None:
        monkeypatch.delenv("AWS_ENDPOINT_URL")
        monkeypatch.setenv(name, endpoint)
    found = refusal(lambda: Store.at(url, endpoint=given))
    assert (found.code, found.message) == ("E092", f"{name} is no URL that a bucket can be asked for at")
    assert found.fix == 'it takes a URL such as "https://s3.example.com" or "http://127.0.0.1:9000"'


@pytest.mark.parametrize(
    "name",
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"],
)
def test_a_line_break_behind_a_key(url: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "secret\n")
    found = refusal(lambda: Store.at(url))
    assert (found.code, found.message) == (
        "E092",
        f"{name} has a line break in it, or another sign that no request can carry",
    )
    assert found.fix == f'set it without: `{name}="$(cat FILE)"` leaves out the line break at the end of a file'


def test_what_the_library_does_not_take_is_named_and_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_CA")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CHECKSUM_ALGORITHM", "secret")
    found = refusal(lambda: Store.at(url))
    told = "the environment says of buckets what is not understood, in one of AWS_CHECKSUM_ALGORITHM"
    assert (found.code, found.message, found.fix) == ("E092", told, "unset those that you do not need")


@pytest.mark.parametrize("said", ["disabled", "dynamo:commits"])
def test_commits_are_conditional_whatever_the_environment_says(
    url: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", said)
    store = Store.open(url)
    assert [store.files.create(store.root / "x", content) for content in (b"1", b"2")] == [True, False]
    assert store.files.read(store.root / "x") == b"1"


def test_a_cache_folder_that_cannot_be_is_told_as_what_it_is(
    url: str, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = rows.adopt(Store.open(url), "orders", 1)
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "file"))
    again = Store.open(url)
    found = again.find("orders", artifact.address)
    assert found is not None
    for call in (lambda: list(found.paths), lambda: rows.stage(again, "orders", 1)):
        told = refusal(call)
        assert (told.code, told.fix) == (
            "E092",
            "a file stands where a folder is needed: move it away, or set STRATA_CACHE_DIR elsewhere",
        )


def test_no_library_of_buckets(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    monkeypatch.setenv("AWS_PROFILE", "another environment")  # its client was not made before
    found = refusal(lambda: Store.at(url))
    assert (found.code, found.fix) == ("E092", "pip install 'strata-tables[object-store]'")


# --- answers that are lost


@dataclass
class Losing:
    """Objects in memory; each creation goes as `fates` says: `before` and `after` lose the answer of one that had, or
    had not, an effect; `raced` lets somebody else create first."""

    fates: list[str]
    held: dict[str, bytes] = field(default_factory=dict)

    def create(self, key: str, content: bytes) -> None:
        from obstore.exceptions import AlreadyExistsError, GenericError

        fate = self.fates.pop(0) if self.fates else ""
        if fate == "raced":
            self.held[key] = b"theirs"
        if fate != "before" and key in self.held:
            raise AlreadyExistsError("412")
        if fate != "before":
            self.held[key] = content
        if fate:
            raise GenericError("HTTP error: error sending request")

    def get(self, key: str) -> list[bytes]:
        if key not in self.held:
            raise FileNotFoundError(key)
        return [self.held[key]]


@pytest.fixture
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket.time, "sleep", lambda seconds: None)


@pytest.mark.usefixtures("_no_pause")
@pytest.mark.parametrize(
    ("fates", "made", "content"),
    [
        ([], True, b"ours"),
        (["after"], True, b"ours"),
        (["before"], True, b"ours"),
        (["before", "after"], True, b"ours"),
        (["before", "raced"], False, b"theirs"),
        (["raced"], False, b"theirs"),
    ],
)
def test_an_unclear_answer_is_settled_by_what_stands_there(
    fates: list[str], made: bool, content: bytes, tmp_path: Path
) -> None:
    objects = Losing(fates)
    files = bucket.BucketFiles(objects, PartCache(tmp_path))  # type: ignore[arg-type]
    assert files.create(BucketPath("s3://lake/log/1.json"), b"ours") is made
    assert objects.held == {"log/1.json": content}


@pytest.mark.usefixtures("_no_pause")
def test_where_not_even_that_is_known_nothing_is_removed(tmp_path: Path) -> None:
    files = bucket.BucketFiles(Losing(["before"] * 9), PartCache(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(UnclearError) as error:
        files.create(BucketPath("s3://lake/log/1.json"), b"ours")
    (found,) = error.value.diagnostics
    assert found.code == "E092"
    assert found.notes == ("it may have been written all the same, or may be yet: nothing that it names was removed",)


# --- copies of parts


def _part(content: bytes) -> Part:
    import hashlib

    return Part("p.parquet", 1, len(content), hashlib.sha256(content).hexdigest())


def test_copies_are_checked_when_they_arrive(tmp_path: Path) -> None:
    copies = PartCache(tmp_path)
    part = _part(b"right")
    assert copies.find(part) is None
    found = refusal(lambda: copies.keep(PurePath("p"), part, [b"wro", b"ng"]))
    assert (found.code, "has the SHA-256" in found.message) == ("E094", True)
    assert list(tmp_path.iterdir()) == []
    path = copies.keep("p", part, [b"ri", b"ght"])
    assert (copies.find(part), path.read_bytes()) == (path, b"right")
    path.write_bytes(b"rig")  # a disk that was cut off
    assert copies.find(part) is None


def test_what_was_used_longest_ago_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    copies = PartCache(tmp_path, limit=10)
    parts = [_part(bytes([number]) * 4) for number in range(4)]
    paths = [copies.keep("p", part, [bytes([number]) * 4]) for number, part in enumerate(parts)]
    assert all(path.exists() for path in paths)  # all within the hour
    for path, age in zip(paths, (4, 9, 3, 0), strict=True):
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    assert copies.find(parts[1]) == paths[1]  # used now
    copies.keep("p", _part(b"more"), [b"more"])
    assert [path.exists() for path in paths] == [False, True, False, False]


# --- how many requests it takes (docs/store.md tells them)


@dataclass
class Counted:
    """Objects of which each request is counted."""

    objects: Any
    requests: int = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        real = getattr(self.objects, name)

        def request(*arguments: Any) -> Any:
            self.requests += 1
            return real(*arguments)

        return request

    def taken(self, call: Callable[[], object]) -> int:
        before = self.requests
        call()
        return self.requests - before


def test_requests_of_commits_and_reads(tmp_path: Path, rows: Rows) -> None:
    from obstore.store import MemoryStore

    objects = Counted(ObstoreObjects(MemoryStore(), None))
    machines, values = iter(range(100)), iter(range(1_000))

    def store() -> Store:
        copies = PartCache(tmp_path / str(next(machines)))
        return Store(BucketPath("s3://lake"), bucket.BucketFiles(objects, copies), tmp_path / "staging")

    def land(table: Table) -> object:
        return table.land(pa.table({"k": ["a"], "v": [next(values)]}))

    one = store()
    (table,) = one.declare(KEYED)
    assert objects.taken(lambda: land(table)) == 4
    for _ in range(98):
        land(table)  # 100 runs with the next one
    assert objects.taken(lambda: land(store().table("t"))) == 8
    assert objects.taken(lambda: store().table("t").read().arrow()) == 303
    assert table.read().arrow().num_rows == 1
    assert objects.taken(lambda: table.read().arrow()) == 1
    assert objects.taken(table.fold) == 4
    assert objects.taken(lambda: store().table("t").read().arrow()) == 7
    candidate = rows.stage(one, "orders", 1)
    made: list[Artifact] = []
    assert objects.taken(lambda: made.append(one.adopt(candidate, "c0ffee", {}))) == 2
    prod = one.environment("prod")
    assert objects.taken(lambda: prod.publish(prod.head(), {"orders": rows.pointer(made[0])})) == 4
