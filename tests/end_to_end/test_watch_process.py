"""``brain watch`` and ``brain serve --watch`` as processes: how they begin, what they say, and how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from second_brain import Brain
from watch_process import WatchProcess

BRAIN = [sys.executable, "-m", "second_brain.entry"]


def brain(home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """How a command of the same home ended."""
    return subprocess.run(
        [*BRAIN, "--home", str(home), *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def home(notes):
    """The home of the notes, with one note that is not indexed yet."""
    notes.write({"a.md": "gannet"})
    return notes.home


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_the_midst_of_an_index_run(notes, home, number):
    """At once, with exit code 0 and a sound index; the next run goes on."""
    notes.write({f"{number}.md": f"gannet {number} " * 300 for number in range(2000)})
    watch = WatchProcess(home)
    watch.until(lambda: watch.named("watching"))
    with Brain.open(home, environment={}) as reader:
        watch.until(lambda: reader.status().documents)
    began = time.monotonic()
    code, said = watch.end(number)
    assert (code, said) == (0, "")
    assert time.monotonic() - began < 15
    assert watch.events[-1]["event"] == "stopped"
    assert 0 < notes.brain.status().documents < 2000
    assert [finding.message for finding in notes.brain.doctor() if finding.severity == "error"] == []
    assert notes.sync().failures == ()
    assert notes.brain.status().documents == 2001


def test_a_second_one_says_who_watches_and_ends(home):
    """And ``brain status`` says it too, until the first one is gone, killed or not."""
    watch = WatchProcess(home).ready()
    second = brain(home, "watch")
    assert (second.returncode, second.stdout) == (0, "")
    assert f"process {watch.process.pid} since" in second.stderr
    assert json.loads(brain(home, "status", "--json").stdout)["watching"]["pid"] == watch.process.pid
    assert f"(process {watch.process.pid})" in brain(home, "status").stdout
    watch.end(signal.SIGKILL)
    assert json.loads(brain(home, "status", "--json").stdout)["watching"] is None
    third = WatchProcess(home).ready()
    assert third.end()[0] == 0


def test_a_promoted_generation_is_followed(notes, home):
    """What is written afterwards is found in it; who watches, and whose jobs there are, stays known by the home."""
    notes.index()
    before = json.loads(brain(home, "schedule", "status", "--json").stdout)
    watch = WatchProcess(home).ready()
    try:
        assert brain(home, "index", "--new-generation", "--quiet").returncode == 0
        assert brain(home, "promote", "g2", "--force").returncode == 0
        notes.write({"b.md": "avocet"})
        with Brain.open(home, environment={}) as reader:
            assert reader.generation == "g2"
            watch.until(lambda: reader.search("avocet", mode="dense").hits[:1] and reader.status().documents == 2)
        status = json.loads(brain(home, "status", "--json").stdout)
        assert (status["generation"], status["watching"]["pid"]) == ("g2", watch.process.pid)
        assert status["schedule"] == before
    finally:
        assert watch.end()[0] == 0


def test_lines_for_people_say_what_was_done(notes, home):
    """One for each run that found something; none for what is as it was."""
    notes.index()
    process = subprocess.Popen(
        [*BRAIN, "--home", str(home), "watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stdout
        assert process.stdout.readline()[9:] == "watching notes\n"
        notes.write({"b.md": "avocet", "c.md": "bittern"})
        assert process.stdout.readline()[9:] == "notes: 2 added\n"
        assert process.stdout.readline()[9:].startswith("2 vectors made")
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert (out[9:], err) == ("stopped\n", "")


UNSHARE = shutil.which("unshare") or ""
OWN_LIMITS = ["unshare", "-Ur", "sh", "-c", 'echo {} > /proc/sys/user/max_inotify_{} && exec "$@"', "sh"]


def allowed() -> bool:
    """Whether a process may have limits of its own here."""
    if not UNSHARE:
        return False
    words = [word.format(0, "watches") for word in OWN_LIMITS]
    return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not allowed(), reason="needs user namespaces")
@pytest.mark.parametrize("limit", ["watches", "instances"])
def test_at_the_systems_own_limit_changes_are_polled(notes, home, limit):
    """With the real refusals of the kernel: ENOSPC, and EMFILE."""
    wrapped = [word.format(0, limit) for word in OWN_LIMITS]
    watch = WatchProcess(home, "--poll", "0.3", wrapped=wrapped).ready()
    try:
        (told,) = watch.named("polling")
        assert "limit" in told["reason"]
        notes.write({"b.md": "avocet"})
        watch.until(lambda: notes.found("avocet"))
        assert "polling 'notes'" in brain(home, "status").stdout
    finally:
        watch.end()


def test_a_server_that_watches_finds_what_was_written_since(notes, home):
    """``brain serve --watch`` is the watcher of its home as long as it runs, and ends with its threads."""
    server = subprocess.Popen(
        [*BRAIN, "--home", str(home), "serve", "--port", "0", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        ends = time.monotonic() + 40
        while not notes.found("gannet"):
            assert time.monotonic() < ends
            assert server.poll() is None, server.stderr and server.stderr.read()
            time.sleep(0.05)
        assert json.loads(brain(home, "status", "--json").stdout)["watching"]["pid"] == server.pid
        notes.write({"b.md": "avocet"})
        while not notes.found("avocet"):
            assert time.monotonic() < ends
            time.sleep(0.05)
    finally:
        server.terminate()
        _, said = server.communicate(timeout=30)
    assert b"notes: 1 added" in said
    assert server.returncode in (0, -signal.SIGTERM, 143)
