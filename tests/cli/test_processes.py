"""Applies as processes: two at once, killed ones, and what a terminal or a pipe gets."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys

import pytest

from strata_core.store import Store

RUN = "import sys; sys.argv[0] = 'strata'; from strata_core.cli.main import main; main()"

KILLED_AT = """
import os, signal, sys
at, seen = int(sys.argv.pop(1)), 0

def fatal(real):
    def call(*arguments, **options):
        global seen
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return call

for name in ("fsync", "link", "rename", "mkdir"):
    setattr(os, name, fatal(getattr(os, name)))
import strata_core.caches
strata_core.caches.keep = lambda *_: False  # what one run keeps would spare the next some steps
from strata_core.cli.main import main
try:
    main()
finally:
    print("steps", seen)
"""

MEETING = """
import sys
from strata_core.cli.main import main
from strata_core.store.environments import Environment
real = Environment.publish

def publish(*arguments, **options):
    print("ready", flush=True)
    sys.stdin.readline()
    return real(*arguments, **options)

Environment.publish = publish
main()
"""


def start(program, *arguments, cwd, **how):
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A suite that runs in the background of a shell ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **how,
    )


def totals(cli, version=None):
    chosen = [] if version is None else ["--version", str(version)]
    return cli("show", "totals", "--format", "csv", *chosen).out


def verified(cli):
    """Every artifact that any version names is there, with the bytes that its manifest says."""
    store = Store.open(cli.root / ".strata/store", create=False)
    for version in store.environment("prod").history():
        for model, pointer in version.models.items():
            assert store.artifact(model, pointer).verify() == ()


@pytest.mark.slow
def test_an_apply_killed_at_any_moment_leaves_the_store_as_before_or_as_after(cli):
    cli("apply")
    before = totals(cli)
    cli.edit("sales.csv", "2.50", "3.50")
    after = before.replace("2.50", "3.50")
    store, kept = cli.root / ".strata/store", cli.root / "kept"
    shutil.copytree(store, kept)
    steps = int(start(KILLED_AT, "0", "apply", cwd=cli.root).communicate()[0].rsplit("steps ", 1)[1])
    assert (steps > 15, totals(cli)) == (True, after)
    seen = []
    for at in (1, steps // 3, 2 * steps // 3, steps - 1, steps):
        shutil.rmtree(store)
        shutil.copytree(kept, store)
        killed = start(KILLED_AT, str(at), "apply", cwd=cli.root)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        verified(cli)
        seen.append(totals(cli))
        ran = cli("apply")
        assert (ran.code, ran.clean, totals(cli)) == (0, True, after)
        verified(cli)
    # The last step makes the folder of the log durable: by then the version is already there to be seen.
    assert seen == [before, before, before, before, after]


def test_two_applies_at_once_one_wins_and_the_other_is_told(cli, project_files, tmp_path):
    """Two checkouts with different models publish into one store; both computed before either committed."""
    other = tmp_path / "other"
    project_files(other)
    for root in (cli.root, other):
        text = (root / "strata.toml").read_text()
        (root / "strata.toml").write_text(f'{text}[store]\nroot = "{tmp_path / "store"}"\n')
    (other / "models/totals.strata").write_text(
        (other / "models/totals.strata").read_text().replace("sum(amount)", "max(amount)")
    )
    both = [start(MEETING, "apply", cwd=root) for root in (cli.root, other)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    told = [process.communicate("go\n") for process in both]
    assert sorted(process.returncode for process in both) == [0, 4]
    winner = 0 if both[0].returncode == 0 else 1
    out, err = told[1 - winner]
    assert "error[E093]: nothing was published in prod: version 1 " in err
    assert "has other rows of totals than this apply was planned on (version 0)" in err
    assert "= help: run the apply again" in err
    assert "Traceback" not in err
    assert out == ""
    # `paid` is the same in both checkouts: whoever comes second finds the artifact that the other has just made.
    assert told[winner][0] in (
        "prod: version 1 is live (2 computed)\n",
        "prod: version 1 is live (1 reused, 1 computed)\n",
    )
    assert totals(cli) == ("country,total\nES,15.25\nMX,2.50\n", "country,total\nES,10.00\nMX,2.50\n")[winner]
    again = subprocess.run(
        [sys.executable, "-c", RUN, "apply"], cwd=(cli.root, other)[1 - winner], capture_output=True, text=True
    )
    assert (again.returncode, again.stdout) == (0, "prod: version 2 is live (1 fresh, 1 reused)\n")


def test_two_equal_applies_at_once_both_win(cli):
    both = [start(MEETING, "apply", cwd=cli.root) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    told = [process.communicate("go\n") for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all("Traceback" not in err for _, err in told)
    verified(cli)
    assert totals(cli) == "country,total\nES,15.25\nMX,2.50\n"


def test_an_interrupted_apply_says_so(cli):
    process = start(MEETING, "apply", cwd=cli.root)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.endswith("interrupted: what was not told as live above was not published\n")
    assert "Traceback" not in err
    assert cli("history").code == 2


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_reader_that_has_enough_is_no_fault(cli, form):
    records = "".join(f"{i},ES,1.00\n" for i in range(20_000))
    cli.write("sales.csv", f"id,country,amount\n{records}")
    cli("apply", "paid")
    process = start(RUN, "show", "paid", "--limit", "20000", "--format", form, cwd=cli.root)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() in ("", "20,000 rows\n")
    assert process.wait() == 141  # as of `cat`


def on_a_terminal(arguments, cwd, **environment):
    """What a terminal of 80 columns shows."""
    environment = {**os.environ, "TERM": "xterm", **environment}
    mine, theirs = pty.openpty()
    os.set_blocking(mine, True)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(mine, 65536)
        except OSError:  # Linux tells the end of a terminal so
            break
        if not chunk:
            break
        shown += chunk
    os.close(mine)
    process.wait()
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_unless_it_wants_none(cli):
    cli.edit("models/paid.strata", "from sales", "from sale")
    assert "\x1b[1;31merror[E020]\x1b[0m" in on_a_terminal(["check"], cli.root)
    assert "\x1b[" not in on_a_terminal(["check"], cli.root, NO_COLOR="1")


def test_a_pipe_gets_no_colours_unless_it_wants_them(cli, monkeypatch):
    cli.edit("models/paid.strata", "from sales", "from sale")
    assert "\x1b[" not in cli("check").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("check").out


SHOWN_LATE = """
import sys
from strata_core.cli import progress
progress.PATIENCE = progress.PAUSE = 0.001
from strata_core.engines.reference.engine import ReferenceEngine
real = ReferenceEngine.execute

def slow(*arguments):
    import threading
    threading.Event().wait(0.2)
    return real(*arguments)

ReferenceEngine.execute = slow
from strata_core.cli.main import main
main()
"""


def test_a_terminal_is_told_what_goes_on(cli, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "RUN", SHOWN_LATE)
    shown = on_a_terminal(["apply"], cli.root)
    assert "\x1b[2K[1/2] paid  0 s" in shown
    assert "\x1b[2K[2/2] totals  0 s" in shown
    assert shown.endswith("prod: version 1 is live (2 computed)\n")


def test_a_narrow_terminal_gets_the_columns_that_fit(empty):
    names = [f"a_long_name_of_a_column_{i}" for i in range(5)]
    columns = ", ".join(f"{n}: string nonnull" for n in names)
    empty.write("strata.toml", '[engine]\nname = "reference"\n')
    empty.write("models/m.strata", f'source s(csv: "s.csv") {{ columns: {{ {columns} }} }}\nmodel m {{ from s }}\n')
    empty.write("s.csv", ",".join(names) + "\n" + ",".join(["\x1b[31mx"] + ["y" * 60] * 4) + "\n")
    empty("apply")
    shown = on_a_terminal(["show", "m"], empty.root, NO_COLOR="1")
    head, row, rows = shown.splitlines()
    assert head == "a_long_name_of_a_column_0  a_long_name_of_a_column_1"
    assert row == "␛[31mx" + " " * 21 + "y" * 39 + "…"
    assert rows == (
        "1 row, without a_long_name_of_a_column_2, a_long_name_of_a_column_3, a_long_name_of_a_column_4, "
        "which fit no more (--format csv has all)"
    )


@pytest.mark.parametrize(("unbuffered", "code"), [("1", 141), ("", 1)])  # "": all is said before the pipe is seen
def test_errors_that_nobody_reads_are_not_taken_for_a_clean_check(cli, monkeypatch, unbuffered, code):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    cli.edit("models/paid.strata", "from sales", "from sale")
    check = start(RUN, "check", cwd=cli.root)
    check.stdout.close()
    assert check.wait() == code


@pytest.mark.parametrize("arguments", [["grammar"], ["--help"], ["nowhere"], ["show", "nowhere"]])
def test_whoever_reads_nothing_of_a_verb_is_told_so(cli, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    assert (
        subprocess.run([sys.executable, "-c", RUN, *arguments], cwd=cli.root, stdout=writer, stderr=writer).returncode
        == 141
    )
    os.close(writer)


@pytest.mark.parametrize("verb", ["check", "plan"])
def test_closed_streams_leave_the_exit_code(cli, verb):
    cli.edit("models/paid.strata", "from sales", "from sale")
    ended = subprocess.run([sys.executable, "-c", RUN, verb], cwd=cli.root, preexec_fn=lambda: os.closerange(0, 3))
    assert ended.returncode == 1


@pytest.mark.parametrize("arguments", [["check"], ["plan"], ["lineage", "--format", "json"], ["grammar"]])
@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_a_disk_that_is_full_is_no_fault_of_ours(cli, monkeypatch, unbuffered, arguments):
    if arguments == ["check"]:
        cli.edit("models/paid.strata", "from sales", "from sale")
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-c", RUN, *arguments], cwd=cli.root, stdout=full, stderr=subprocess.PIPE
        )
    told = ended.stderr.decode().splitlines()
    assert (ended.returncode, told[-1]) == (4, "strata: the output cannot be written: No space left on device")


def test_what_a_terminal_has_no_sign_for_is_spelled_out(cli, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    cli.edit("models/paid.strata", "from sales", "from größe")
    ended = subprocess.run([sys.executable, "-c", RUN, "check"], cwd=cli.root, capture_output=True)
    assert ended.returncode == 1
    assert b"gr\\xf6\\xdfe" in ended.stdout + ended.stderr


def test_a_folder_that_is_gone_is_told(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    run = f"import os\nos.rmdir({str(gone)!r})\n{RUN}"
    ended = subprocess.run([sys.executable, "-c", run, "plan"], cwd=gone, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (2, "strata: the folder that this was called in is gone\n")
