"""Environments against a plain list of maps, alone and with other writers beside."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.store import Environment, Pointer, Store


def pointer(rows: str, fingerprint: str = "f") -> Pointer:
    return Pointer(f"address-{rows}", f"digest-{rows}", fingerprint)


def environment(store: Store, name: str) -> Environment:
    """Its pointers name no artifacts: what keeps those there is of `test_orphans.py`."""
    return replace(store.environment(name), settle=lambda _model, _pointer: None)


def live(environment: Environment) -> dict[str, str]:
    return {model: p.digest.removeprefix("digest-") for model, p in environment.head().models.items()}


def refusal(error: pytest.ExceptionInfo[StrataError]) -> Diagnostic:
    (diagnostic,) = error.value.diagnostics
    return diagnostic


@pytest.fixture
def prod(store: Store) -> Environment:
    return environment(store, "prod")


def test_an_environment_starts_empty_at_version_zero(store: Store, prod: Environment) -> None:
    assert (prod.head().number, dict(prod.head().models)) == (0, {})
    assert list(prod.history()) == []
    assert store.environments() == ()


def test_many_models_publish_in_one_version(store: Store, prod: Environment) -> None:
    version = prod.publish(
        prod.head(), {"a": pointer("1"), "b": pointer("2")}, message="first", tags={"run": "r1", "by": "ada"}
    )
    assert (version.number, version.message, version.cause, version.restores) == (1, "first", "publish", None)
    assert version.tags == {"run": "r1", "by": "ada"}
    assert live(prod) == {"a": "1", "b": "2"}
    assert prod.head() == version
    assert store.environments() == ("prod",)
    assert sorted(p.name for p in (store.root / "environments" / "prod").iterdir()) == ["00000000000000000001.json"]


def test_a_reader_needs_one_json_file(store: Store, prod: Environment) -> None:
    prod.publish(prod.head(), {"a": pointer("1")}, message="first")
    entry = json.loads((store.root / "environments" / "prod" / "00000000000000000001.json").read_text())
    assert (entry["number"], entry["kind"], entry["payload"]["message"]) == (1, "publish", "first")
    model = entry["payload"]["models"]["a"]
    assert (model["address"], model["digest"], model["fingerprint"]) == ("address-1", "digest-1", "f")


def test_models_keep_the_instant_of_their_own_publication(prod: Environment) -> None:
    first = prod.publish(prod.head(), {"a": pointer("1"), "b": pointer("1")})
    second = prod.publish(first, {"a": pointer("1"), "b": pointer("2")})
    third = prod.publish(second, {"a": pointer("1", "other meaning, same rows")})
    at = [v.models["a"].published_at for v in (first, second, third)]
    assert at[0] is not None
    assert at[1] == at[0]
    assert at[2] is not None
    assert at[2] > at[0]
    assert second.models["b"].published_at == third.models["b"].published_at
    assert second.models["b"].published_at != at[0]


def test_environments_do_not_see_each_other(store: Store, prod: Environment) -> None:
    prod.publish(prod.head(), {"a": pointer("1")})
    branch = environment(store, "pr_123")
    branch.publish(branch.head(), {"a": pointer("2")})
    assert (live(prod), live(branch)) == ({"a": "1"}, {"a": "2"})
    assert store.environments() == ("pr_123", "prod")


def test_changes_of_other_models_are_kept(prod: Environment) -> None:
    base = prod.publish(prod.head(), {"a": pointer("1"), "b": pointer("1"), "c": pointer("1")})
    prod.publish(base, {"a": pointer("2")}, removed={"c"})
    version = prod.publish(base, {"b": pointer("2")})
    assert version.number == 3
    assert live(prod) == {"a": "2", "b": "2"}


def test_the_loser_of_a_model_publishes_nothing_and_is_told_who_won(prod: Environment) -> None:
    base = prod.publish(prod.head(), {"a": pointer("1"), "b": pointer("1")})
    won = prod.publish(base, {"a": pointer("2")}, message="nightly")
    prod.publish(won, {"z": pointer("1")}, message="unrelated")
    with pytest.raises(StrataError) as error:
        prod.publish(base, {"a": pointer("3"), "b": pointer("3")})
    assert refusal(error).code == "E093"
    assert 'version 2 "nightly" of 20' in refusal(error).message
    assert "has other rows of a than this apply was planned on (version 1)" in refusal(error).message
    assert live(prod) == {"a": "2", "b": "1", "z": "1"}


def test_two_that_computed_the_same_rows_both_win(prod: Environment) -> None:
    base = prod.head()
    first = prod.publish(base, {"a": pointer("1")})
    second = prod.publish(base, {"a": pointer("1")})
    assert (first.number, second.number) == (1, 2)
    assert second.models == first.models


def test_removal_of_what_another_changed_is_refused(prod: Environment) -> None:
    base = prod.publish(prod.head(), {"a": pointer("1")})
    prod.publish(base, {"a": pointer("2")})
    with pytest.raises(StrataError, match="E093"):
        prod.publish(base, {}, removed={"a"})
    prod.publish(prod.head(), {}, removed={"a"})
    assert live(prod) == {}


def test_changes_computed_from_rows_that_are_no_longer_live_are_refused(prod: Environment) -> None:
    base = prod.publish(prod.head(), {"up": pointer("1"), "down": pointer("1"), "other": pointer("1")})
    prod.publish(base, {"other": pointer("2")})
    assert prod.publish(base, {"down": pointer("2")}, reads={"up": "digest-1"}).number == 3
    prod.publish(prod.head(), {"up": pointer("2")}, message="up moved")
    with pytest.raises(StrataError) as error:
        prod.publish(base, {"x": pointer("1")}, reads={"up": "digest-1"})
    assert 'version 4 "up moved"' in refusal(error).message
    assert "other rows of up " in refusal(error).message


def test_reads_of_models_that_are_published_together_hold(prod: Environment) -> None:
    base = prod.publish(prod.head(), {"up": pointer("1")})
    prod.publish(base, {"up": pointer("2"), "down": pointer("1")}, reads={"up": "digest-2"})
    assert live(prod) == {"up": "2", "down": "1"}
    with pytest.raises(StrataError, match="E093"):
        prod.publish(prod.head(), {"down": pointer("2")}, removed={"up"}, reads={"up": "digest-2"})


def test_rollback_is_a_new_version_with_the_old_map(prod: Environment) -> None:
    first = prod.publish(prod.head(), {"a": pointer("1"), "b": pointer("1")})
    prod.publish(first, {"a": pointer("2"), "c": pointer("1")}, removed={"b"})
    back = prod.rollback(1)
    assert (back.number, back.cause, back.restores, back.message) == (3, "rollback", 1, "rollback to version 1")
    assert back.models == first.models
    assert [v.number for v in prod.history()] == [3, 2, 1]
    assert live(prod) == {"a": "1", "b": "1"}
    assert {m: p.digest for m, p in prod.at(2).models.items()} == {"a": "digest-2", "c": "digest-1"}


@pytest.mark.parametrize("number", [-1, 0, 2])
def test_an_unknown_version_is_an_error_that_says_which_there_are(prod: Environment, number: int) -> None:
    with pytest.raises(StrataError) as error:
        prod.rollback(number)
    assert (refusal(error).code, refusal(error).fix) == ("E095", "publish something first")
    prod.publish(prod.head(), {"a": pointer("1")})
    with pytest.raises(StrataError) as error:
        prod.at(number)
    assert (refusal(error).code, refusal(error).fix) == ("E095", "use a version from 1 to 1")


def test_an_apply_that_comes_between_a_rollback_wins(prod: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    base = prod.publish(prod.head(), {"a": pointer("1")})
    real = Environment.at

    def at(environment: Environment, number: int) -> object:
        prod.publish(base, {"b": pointer("1")})
        return real(environment, number)

    monkeypatch.setattr(Environment, "at", at)
    with pytest.raises(StrataError, match="E093"):
        prod.rollback(1)
    assert live(prod) == {"a": "1", "b": "1"}


def test_an_entry_that_is_no_version_is_named(prod: Environment) -> None:
    prod.log.append("publish", {"models": {"a": {"address": 1}}, "message": "", "tags": {}, "restores": None})
    with pytest.raises(StrataError) as error:
        prod.head()
    assert refusal(error).code == "E094"
    assert refusal(error).message.endswith("is not a version of an environment: model a")
    prod.log.append("run", {})
    with pytest.raises(StrataError, match="E094"):
        prod.head()


MODELS = st.sampled_from("abcd")
PUBLISH = st.tuples(
    st.integers(0, 5),  # how many versions the base lies behind the head
    st.dictionaries(MODELS, st.sampled_from("123"), max_size=3),
    st.frozensets(MODELS, max_size=2),
    st.dictionaries(MODELS, st.sampled_from("123"), max_size=1),
)


@given(st.lists(PUBLISH | st.integers(0, 6), max_size=8))
@settings(deadline=None, max_examples=60)
def test_an_environment_is_a_list_of_maps(steps: list[object]) -> None:
    with TemporaryDirectory() as directory:
        prod = environment(Store.open(Path(directory)), "prod")
        versions: list[dict[str, str]] = [{}]
        for step in steps:
            expected = after(versions, step)
            assert (refused(prod, step) is None) == (expected is not None)
            versions.extend([expected] if expected is not None else [])
            assert live(prod) == versions[-1]
        assert [v.number for v in prod.history()] == list(range(len(versions) - 1, 0, -1))
        found = [
            {m: p.digest.removeprefix("digest-") for m, p in prod.at(n).models.items()} for n in range(1, len(versions))
        ]
        assert found == versions[1:]
        instants = [v.at for v in prod.history()]
        assert instants == sorted(set(instants), reverse=True)


def refused(prod: Environment, step: object) -> str | None:
    try:
        do(prod, step)
    except StrataError as error:
        return error.diagnostics[0].code
    return None


def do(prod: Environment, step: object) -> None:
    match step:
        case int(to):
            prod.rollback(to)
        case (int(behind), dict(changes), frozenset() as removed, dict(reads)):
            head = prod.head()
            number = max(0, head.number - behind)
            prod.publish(
                prod.at(number) if number else Store.open(prod.log.directory).environment("none").head(),
                {m: pointer(r) for m, r in changes.items()},
                removed,
                reads={m: f"digest-{r}" for m, r in reads.items()},
            )


def after(versions: list[dict[str, str]], step: object) -> dict[str, str] | None:
    """The map that the step publishes, or None when it must be refused: the definition, written plainly."""
    head = versions[-1]
    match step:
        case int(to):
            return versions[to] if 0 < to < len(versions) else None
        case (int(behind), dict(changes), frozenset() as removed, dict(reads)):
            base = versions[max(0, len(versions) - 1 - behind)]
            wanted = {**changes, **dict.fromkeys(removed)}
            result = {m: r for m, r in {**head, **wanted}.items() if r is not None}
            for model, rows in wanted.items():
                if base.get(model) != head.get(model) and head.get(model) != rows:
                    return None
            if any(result.get(m) != r for m, r in reads.items()):
                return None
            return result
    raise AssertionError(step)


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from strata_core.diagnostics import StrataError
from strata_core.store import Pointer, Store

prod = replace(Store.open(Path(sys.argv[1])).environment("prod"), settle=lambda _model, _pointer: None)
print("ready", flush=True)
sys.stdin.readline()
outcomes = []
for turn in range(int(sys.argv[4])):
    base = prod.at(1)
    try:
        version = prod.publish(base, {sys.argv[2].format(turn): Pointer("a", sys.argv[3], "f")})
        outcomes.append(version.number)
    except StrataError as refused:
        outcomes.append(refused.diagnostics[0].code)
print(*outcomes)
"""


def two_writers(store: Store, first: tuple[str, ...], second: tuple[str, ...]) -> list[list[str]]:
    """What each of two processes got that publish at once, both on version 1."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.root), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for arguments in (first, second)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate()[0].split() for process in started]


def test_two_processes_that_publish_one_model_at_once_have_one_winner(store: Store, prod: Environment) -> None:
    prod.publish(prod.head(), {"a": pointer("1")})
    outcomes = two_writers(store, ("a", "left", "1"), ("a", "right", "1"))
    assert sorted(outcomes) == [["2"], ["E093"]]
    assert prod.head().number == 2
    assert prod.head().models["a"].digest == ("left" if outcomes[0] == ["2"] else "right")


def test_two_processes_that_publish_other_models_at_once_both_win(store: Store, prod: Environment) -> None:
    prod.publish(prod.head(), {"a": pointer("1")})
    outcomes = two_writers(store, ("left_{}", "1", "20"), ("right_{}", "1", "20"))
    assert sorted(int(n) for numbers in outcomes for n in numbers) == list(range(2, 42))
    expected = {"a", *(f"{side}_{turn}" for side in ("left", "right") for turn in range(20))}
    assert set(prod.head().models) == expected
