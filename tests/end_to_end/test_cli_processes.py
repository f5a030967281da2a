"""The command as a whole process, as a shell runs it: start-up, terminals, pipes, signals, locales."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

COMMAND = [sys.executable, "-m", "second_brain.cli"]
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
HOSTILE = "osprey \x1b[2J\x1b]0;owned\x07 \u202egnp.exe \x9b31m \x7f end"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home with the hashing embedder and four indexed notes, as environment variables."""
    root = tmp_path_factory.mktemp("processes")
    home, notes = root / "home", root / "notes"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    (notes / "日記").mkdir(parents=True)
    (notes / "pump.md").write_text("# Pump room\n\nThe valve torque is 42 Nm.\n", encoding="utf-8")
    (notes / "日記" / "倉庫.md").write_text("# 倉庫\n\n排水ポンプを交換した。\n", encoding="utf-8")
    (notes / "hostile.md").write_text(f"# Bad \x1b[31m title\n\n{HOSTILE}\n", encoding="utf-8")
    (notes / "evening.md").write_text("---\ndate: 2031-05-01T21:30:00Z\n---\n# Evening\n\nlantern\n", encoding="utf-8")
    variables = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    variables |= {"HOME": str(root), "BRAIN_HOME": str(home), "BRAIN_MODEL_CACHE": str(root / "models")}
    for arguments in (["add", str(notes)], ["index", "--quiet"]):
        subprocess.run([*COMMAND, *arguments], env=variables, check=True, capture_output=True)
    return variables


def brain(environment: Mapping[str, str], *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run it with its streams in pipes; ``more`` are environment variables."""
    return subprocess.run([*COMMAND, *arguments], env={**environment, **more}, capture_output=True, timeout=60)


def on_terminal(environment: Mapping[str, str], *arguments: str, keys: bytes = b"", **more: str) -> tuple[int, str]:
    """Run it on a terminal of its own and type ``keys``; the exit code and all that the terminal got."""
    ours, theirs = pty.openpty()
    variables = {**environment, "TERM": "xterm-256color", "COLUMNS": "100", **more}
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, keys)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    return process.wait(timeout=60), seen.decode("utf-8").replace("\r\n", "\n")


def imported(environment: Mapping[str, str], *arguments: str) -> set[str]:
    """The modules that a run has imported when it ends."""
    program = "import sys; from second_brain.cli.__main__ import main; main(); sys.stderr.write(' '.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return set(run.stderr.split())


# -- start-up ------------------------------------------------------------------------------------------------


def test_help_imports_no_engine(environment: dict[str, str]) -> None:
    """Neither the library nor what it needs, nor rich: `brain --help` answers at once."""
    modules = imported(environment, "--help")
    assert "second_brain.cli.search" in modules
    assert not modules & {"numpy", "apsw", "yaml", "rich", "second_brain.library", "second_brain.types"}


@pytest.mark.parametrize("arguments", [("search", "pump", "--json"), ("search", "pump"), ("get", "pump")])
def test_a_search_imports_what_it_needs(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """No rich, no other command, no evaluation, no model but the one that is set."""
    modules = imported(environment, *arguments)
    others = {f"second_brain.cli.{name}" for name in ("indexing", "health", "sources", "evaluation", "display")}
    assert "second_brain.library" in modules
    assert not modules & {"rich", "onnxruntime", "second_brain.evals", *others}


# -- terminals -----------------------------------------------------------------------------------------------


def test_a_terminal_gets_styles_and_links(environment: dict[str, str]) -> None:
    """Titles stand out, the query's words are marked, and the path opens the file."""
    code, seen = on_terminal(environment, "search", "torque", "-n", "1", VTE_VERSION="7600")
    assert code == 0
    assert "\x1b[1mPump room\x1b[0m" in seen
    assert re.search(r"\x1b\[33m\x1b\[1mtorque\x1b\[0m", seen)
    assert re.search(r"\x1b\]8;;file:///\S+/pump\.md\x1b\\", seen)


def test_an_unknown_terminal_gets_no_links(environment: dict[str, str]) -> None:
    """It might print them as rubbish."""
    assert "\x1b]8" not in on_terminal(environment, "search", "torque")[1]


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_styles_can_be_turned_off(environment: dict[str, str], variables: dict[str, str]) -> None:
    """By the user, or by a terminal that has none: not one escape sequence."""
    for arguments in (("search", "torque", "--explain"), ("status",), ("get", "gone"), ("sources",)):
        assert "\x1b" not in on_terminal(environment, *arguments, VTE_VERSION="7600", **variables)[1]


@pytest.mark.parametrize(
    "arguments", [("search", "osprey"), ("get", "hostile"), ("recent",), ("search", "osprey", "--json")]
)
def test_a_note_cannot_steer_the_terminal(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """Escape sequences, C1 controls and overrides of direction in a note's text are shown, not obeyed."""
    seen = on_terminal(environment, *arguments)[1]
    left = re.sub(r"\x1b\[[0-9;]*m", "", seen)
    assert "Bad" in left
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", left)
    assert "\x1b[31m" not in seen


def test_a_piped_note_is_exact(environment: dict[str, str]) -> None:
    """Into a file `brain get` writes what the note holds."""
    assert HOSTILE.encode() in brain(environment, "get", "hostile", PYTHONIOENCODING="utf-8").stdout


@pytest.mark.parametrize(("key", "left"), [(b"n\n", 1), (b"y\n", 0)])
def test_removing_asks_on_a_terminal(tmp_path: Path, key: bytes, left: int) -> None:
    """What it will forget is named; no means no."""
    (tmp_path / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    (tmp_path / "notes").mkdir()
    variables = {"BRAIN_HOME": str(tmp_path), "HOME": str(tmp_path)}
    brain(variables, "add", str(tmp_path / "notes"))
    code, seen = on_terminal(variables, "remove", "notes", keys=key)
    assert code == 0
    assert "Forget source 'notes' (0 documents)? No file is touched. [y/N]" in seen
    assert len(json.loads(brain(variables, "sources", "--json").stdout)["sources"]) == left


def test_progress_is_drawn_on_stderr_only(environment: dict[str, str]) -> None:
    """Bars on the terminal, one JSON object in the pipe."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "index", "--rebuild", "--json"],
        env={**environment, "TERM": "xterm-256color"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    out = process.communicate(timeout=60)[0]
    drawn = os.read(ours, 65536)
    os.close(ours)
    assert b"notes" in drawn
    assert json.loads(out)["sources"][0]["source"] == "notes"


# -- pipes and signals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("search", "torque"), ("search", "torque", "--json"), ("--help",), ("status",)])
def test_a_reader_that_leaves_is_no_error(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """`| head -1`: no traceback, no message."""
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments", [("search", "torque"), ("search", "torque", "--json"), ("--help",), ("get", "pump"), ("status",)]
)
def test_a_full_disk_behind_stdout_is_one_line(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """Exit code 1, no traceback, and nobody is told that second-brain is at fault."""
    with Path("/dev/full").open("wb") as full:
        outcome = subprocess.run(
            [*COMMAND, *arguments], env=environment, stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert (outcome.returncode, outcome.stderr) == (1, b"error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_that_is_closed_is_no_error(environment: dict[str, str], closed: str) -> None:
    """As some schedulers start their jobs: what would be written there goes nowhere."""
    for arguments in (("search", "torque"), ("status", "--json"), ("sources",)):
        outcome = subprocess.run(
            ["/bin/sh", "-c", f'"$@" {closed}', "sh", *COMMAND, *arguments], env=environment, capture_output=True
        )
        assert outcome.returncode == 0
        assert b"rror" not in outcome.stderr + outcome.stdout


def test_ctrl_c_leaves_an_index_to_go_on_with(tmp_path: Path) -> None:
    """In the middle of a long run: exit code 130, a sound index, and the next run does only the rest."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(2500):
        text = "\n\n".join(f"## Part {part}\n\nword{number}x{part} and more words {number}" for part in range(8))
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")
    (tmp_path / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    variables = {"BRAIN_HOME": str(tmp_path), "HOME": str(tmp_path)}
    brain(variables, "add", str(notes))
    process = subprocess.Popen(
        [*COMMAND, "index", "--no-embed"],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has SIGINT ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    log = tmp_path / "index.db-wal"
    deadline = time.monotonic() + 30
    while not (log.exists() and log.stat().st_size > 2_000_000) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert re.match(rb"error: stopped at \d+ of 2500 files of source 'notes'; ", err)
    assert b"hint: go on with `brain index`" in err
    assert brain(variables, "doctor").returncode == 0
    (report,) = json.loads(brain(variables, "index", "--no-embed", "--json").stdout)["sources"]
    assert report["unchanged"] > 0
    assert report["added"] > 0
    assert report["unchanged"] + report["added"] == 2500


# -- locales and time zones ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variables", [C_LOCALE, {"LC_ALL": "C.UTF-8"}])
def test_japanese_arguments_are_understood_in_every_locale(
    environment: dict[str, str], variables: dict[str, str]
) -> None:
    """Under a C locale, too, a query, a path prefix and a note's name are what was typed."""
    for arguments in (("search", "排水ポンプ"), ("search", "交換", "--path-prefix", "日記/"), ("get", "倉庫")):
        outcome = brain(environment, *arguments, "--json", **variables)
        assert (outcome.returncode, outcome.stderr) == (0, b"")
        assert "排水ポンプを交換した。" in outcome.stdout.decode("utf-8")


def test_a_japanese_folder_is_added_and_indexed_in_a_c_locale(tmp_path: Path) -> None:
    """The same source and the same index as under UTF-8."""
    notes = tmp_path / "会議の記録"
    notes.mkdir()
    (notes / "議事録.md").write_text("# 議事録\n\n排水ポンプ\n", encoding="utf-8")
    (tmp_path / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    variables = {"HOME": str(tmp_path), "BRAIN_HOME": str(tmp_path), **C_LOCALE}
    for arguments in (("add", str(notes)), ("index", str(notes)), ("index", "会議の記録")):
        outcome = brain(variables, *arguments)
        assert outcome.returncode == 0, outcome.stderr.decode()
    (hit,) = json.loads(brain(variables, "search", "排水", "--json").stdout)["hits"]
    assert hit["path"] == str(notes / "議事録.md")
    assert hit["notes"] == []


def test_days_are_those_of_the_local_time_zone(environment: dict[str, str]) -> None:
    """RK-9: half past nine in the evening in UTC is half past six of the next morning in Tokyo."""
    for since, found in (("2031-05-02", True), ("2031-05-03", False)):
        outcome = brain(environment, "search", "lantern", "--since", since, "--json", TZ="Asia/Tokyo")
        hits = [hit for hit in json.loads(outcome.stdout)["hits"] if hit["title"] == "Evening"]
        assert [hit["date"] for hit in hits] == ["2031-05-02T06:30:00+09:00"] * found
    shown = brain(environment, "search", "lantern", "--since", "2031-05-02", "--until", "2031-05-02", TZ="Asia/Tokyo")
    assert b"2031-05-02 06:30" in shown.stdout
    elsewhere = brain(environment, "search", "lantern", "--until", "2031-05-01", "--json", TZ="America/Los_Angeles")
    assert "2031-05-01T14:30:00-07:00" in elsewhere.stdout.decode()
