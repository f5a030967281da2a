"""What is written for systemd, launchd and cron: each starts the very command, whatever the home is called."""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.config import Daily, Every
from second_brain.errors import UsageError
from second_brain.schedule import cron, launchd, systemd, tasks
from second_brain.schedule.jobs import Job

JOBS = (Job("index", Every(60)), Job("distill", Daily(4, 30)), Job("embed", Daily(5, 0)))
PATHS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=12)


def words_of(line: str) -> list[str]:
    """The words of a command line in a unit, read by the rules of systemd.service(5) and systemd.unit(5)."""
    found = []
    for inner in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
        data = inner.replace("%%", "%").encode()
        data = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), data.replace(b"\\\\", b"\\x5c"))
        found.append(data.replace(b'\\"', b'"').decode("utf-8", "surrogateescape"))
    return found


def test_a_unit_starts_the_command_itself(home):
    """Word by word, with our variables, at low priority, and with our mark on top."""
    texts = {write.path.name: write.text for write in systemd.writes(home, JOBS, {"XDG_CONFIG_HOME": "/c"})}
    assert len(texts) == 6
    service = texts["second-brain-0a1b2c3d-index.service"]
    assert home.marker in service.splitlines()[0]
    values = dict(line.split("=", 1) for line in service.splitlines() if "=" in line)
    assert words_of(values["ExecStart"]) == [f":{home.command('index')[0]}", *home.command("index")[1:]]
    assert words_of(values["Environment"]) == [f"XDG_STATE_HOME={home.folder}"]
    assert (values["Type"], values["Nice"], values["CPUWeight"]) == ("oneshot", "10", "20")
    assert "%" not in values["ExecStart"].replace("%%", "")
    timers = {name: text for name, text in texts.items() if name.endswith(".timer")}
    assert [name for name, text in timers.items() if "OnStartupSec" in text] == ["second-brain-0a1b2c3d-index.timer"]
    assert all("Persistent=true" in text and "WantedBy=timers.target" in text for text in timers.values())


@given(PATHS)
def test_any_text_comes_out_of_a_unit_as_it_went_in(text):
    """And stays on its line."""
    quoted = systemd.quoted(text)
    assert "\n" not in quoted
    assert words_of(quoted) == [text]


def test_systemd_accepts_the_units(home, tmp_path):
    """As its own program says, where that is installed; also a program that it would not start by itself."""
    for program in (tmp_path / "a b%" / "brain", tmp_path / 'it\'s "$X" \\' / "brain"):
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        made = systemd.writes(
            replace(home, brain=(str(program), *home.brain[1:])), JOBS, {"XDG_CONFIG_HOME": str(tmp_path)}
        )
        for write in made:
            write.path.parent.mkdir(parents=True, exist_ok=True)
            write.path.write_text(write.text)
        try:
            done = subprocess.run(
                ["systemd-analyze", "--user", "verify", *(str(write.path) for write in made)],
                capture_output=True, text=True, check=False, env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
            )  # fmt: skip
        except FileNotFoundError:
            pytest.skip("no systemd-analyze here")
        assert (done.returncode, done.stderr) == (0, "")


def test_an_agent_of_launchd_starts_the_command_itself(home, monkeypatch, tmp_path):
    """Its property list says so when it is read again, and bears our mark."""
    monkeypatch.setenv("HOME", str(tmp_path))
    writes = launchd.writes(home, JOBS)
    read = [plistlib.loads(write.text.encode()) for write in writes]
    assert [tuple(entry["ProgramArguments"]) for entry in read] == [home.command(job.name) for job in JOBS]
    assert [entry["RunAtLoad"] for entry in read] == [True, False, False]
    assert read[0]["EnvironmentVariables"] == {"XDG_STATE_HOME": str(home.folder)}
    assert read[1]["StartCalendarInterval"] == [{"Hour": 4, "Minute": 30}]
    assert [write.path for write in writes] == [
        tmp_path / "Library/LaunchAgents" / f"{entry['Label']}.plist" for entry in read
    ]
    assert all(home.marker in write.text for write in writes)


def test_what_a_property_list_cannot_hold_is_said(home):
    """A bell or a carriage return would come back as something else, or not at all."""
    for letter in "\a\r\x1b":
        with pytest.raises(UsageError, match="launchd cannot be told") as caught:
            launchd.writes(replace(home, brain=("/b", f"/home/a{letter}b")), JOBS)
        assert caught.value.hint


def test_a_line_of_the_crontab_starts_the_command_itself(home, tmp_path):
    """The shell that cron starts hands on each word as it was; to cron itself there is no % and no second line."""
    teller = tmp_path / "tell it"
    told = "ascii([os.environ['XDG_STATE_HOME'], *sys.argv[1:]])"
    teller.write_text(f"#!{sys.executable}\nimport os, sys\nprint({told})\n")
    teller.chmod(0o755)
    home = replace(home, brain=(str(teller), *home.brain[1:]))
    first, *lines, last = cron.block(home, JOBS).decode().splitlines()
    assert home.marker in first
    assert home.marker in last
    assert [line.split()[0] for line in lines] == ["0", "@reboot", "30", "0"]
    assert "%" not in "".join(lines)
    for line, job in zip(lines, ("index", "index", "distill", "embed"), strict=True):
        command = line.removeprefix("@reboot ") if line.startswith("@") else line.split(" ", 5)[5]
        path = {"PATH": os.environ["PATH"]}
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True, env=path)
        assert done.stdout.decode().strip() == ascii([str(home.folder), *home.command(job)[1:]])


@given(PATHS.filter(lambda text: not text.endswith("\n")))
def test_any_text_comes_out_of_the_shell_as_it_went_in(text):
    """Whatever is special to cron or to the shell."""
    word = cron.word(text)
    assert "\n" not in word
    assert "%" not in word
    done = subprocess.run(["/bin/sh", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout == text.encode()


def test_a_word_that_ends_in_a_newline_is_refused_by_cron():
    """The shell would drop it."""
    with pytest.raises(UsageError, match="newline"):
        cron.word("/home/a\n")


def test_what_to_type_on_windows(home):
    """A task for each trigger, and the same names to take them away."""
    made = tasks.commands(home, JOBS)
    names = [re.search(r"second-brain\\\S+", line)[0] for line in made]
    assert names == [f"second-brain\\0a1b2c3d-{name}" for name in ("index", "index-login", "distill", "embed")]
    assert [re.search(r"second-brain\\\S+", line)[0] for line in tasks.removals(home, JOBS)] == names
    assert "/SC ONLOGON" in made[1]
    assert all("schedule run" in line for line in made)
    assert Path(home.brain[0]).name in made[0]
