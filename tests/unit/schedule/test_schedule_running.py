"""One run of a job: alone, step by step, in a log."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from second_brain.errors import StorageError, UsageError
from second_brain.index.lock import file_lock
from second_brain.schedule import running
from second_brain.schedule.running import BUSY, Step, Told, last_run, log_path, run


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """The priority of the tests' own process is left alone."""
    monkeypatch.setattr(running, "step_back", lambda: None)


def fail(error: Exception):
    def work() -> Told:
        raise error

    return work


def test_steps_follow_each_other_and_are_told(tmp_path):
    """In the log with time and process, to the caller, and in what is remembered of the run."""
    said: list[str] = []
    steps = [Step("index", lambda: Told("2 added")), Step("embed", lambda: Told("9 vectors"))]
    assert run(tmp_path / "state", "index", steps, say=said.append) == 0
    assert said == ["index: 2 added", "embed: 9 vectors"]
    lines = log_path(tmp_path / "state", "index").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [f"INFO [{os.getpid()}] {words}" for words in said]
    made = last_run(tmp_path / "state", "index")
    assert made is not None
    assert (made.exit, made.words) == (0, {"index": "2 added", "embed": "9 vectors"})
    assert made.began <= made.ended
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "error", [UsageError("no such thing", hint="try it"), RuntimeError("broken"), OSError(5, "gone")]
)
def test_a_step_that_fails_keeps_no_other_from_running(tmp_path, error):
    """The run has failed nevertheless, and its log says which step and why."""
    done: list[str] = []
    steps = [Step("index", fail(error)), Step("embed", lambda: done.append("embed") or Told("fine"))]
    assert run(tmp_path, "index", steps, say=lambda line: None) == 1
    assert done == ["embed"]
    made = last_run(tmp_path, "index")
    assert made is not None
    assert made.words["index"].startswith("failed: ")
    assert "ERROR" in log_path(tmp_path, "index").read_text()


def test_what_was_skipped_is_no_failure(tmp_path):
    """Exit code 3; a failure weighs more."""
    some = Step("index", lambda: Told("1 unreadable", incomplete=True))
    assert run(tmp_path, "index", [some, Step("embed", lambda: Told("x"))], say=lambda line: None) == 3
    assert run(tmp_path, "index", [some, Step("embed", fail(UsageError("no")))], say=lambda line: None) == 1


def test_a_run_that_finds_another_one_working_ends_at_once(tmp_path):
    """With one line and exit code 0; what came of the last run stays known; other jobs are not kept."""
    done: list[str] = []
    step = Step("index", lambda: done.append("x") or Told("well"))
    said: list[str] = []
    with file_lock(tmp_path / "index.lock", wait_s=0):
        assert run(tmp_path, "index", [step], say=said.append) == 0
        assert (said, done, last_run(tmp_path, "index")) == ([BUSY], [], None)
        assert len(log_path(tmp_path, "index").read_text().splitlines()) == 1
        assert run(tmp_path, "embed", [step], say=said.append) == 0
    assert done == ["x"]


def test_the_log_does_not_grow_for_ever(tmp_path, monkeypatch):
    """Older parts are kept beside it, so many and no more."""
    monkeypatch.setattr(running, "LOG_BYTES", 2000)

    def told(number: int) -> Told:
        return Told(f"run {number} " + "x" * 50)

    for number in range(200):
        run(
            tmp_path,
            "index",
            [Step("index", lambda number=number: Told(f"run {number} " + "x" * 50))],
            say=lambda line: None,
        )
    logs = sorted(path.name for path in tmp_path.glob("index.log*"))
    assert logs == ["index.log", "index.log.1", "index.log.2", "index.log.3"]
    assert sum((tmp_path / name).stat().st_size for name in logs) <= 8000
    assert "run 199" in log_path(tmp_path, "index").read_text()


def test_words_of_several_lines_are_one_line_of_the_log(tmp_path):
    """Also with what no file could hold."""
    run(tmp_path, "index", [Step("index", lambda: Told("a\nb \udcff"))], say=lambda line: None)
    assert log_path(tmp_path, "index").read_text().endswith("index: a | b \\udcff\n")
    assert last_run(tmp_path, "index") is not None


def test_a_record_that_cannot_be_read_is_as_none(tmp_path):
    """A half-written one, or one of another version."""
    for text in ("", "{", '{"began": 1}'):
        (tmp_path / "index.json").write_text(text)
        assert last_run(tmp_path, "index") is None


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """With what to set."""
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StorageError, match="state") as caught:
        run(tmp_path / "state", "index", [], say=lambda line: None)
    assert "XDG_STATE_HOME" in caught.value.hint


@pytest.mark.skipif(not hasattr(os, "setpriority"), reason="has no priorities")
def test_a_run_steps_back(tmp_path):
    """Its process has a low priority, and one that has a lower one keeps it."""
    script = "import os; from second_brain.schedule.running import step_back; step_back(); print(os.nice(0))"
    for before, after in ((0, 10), (15, 15)):
        done = subprocess.run(
            [sys.executable, "-c", f"import os; os.nice({before}); {script}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert int(done.stdout) >= after
