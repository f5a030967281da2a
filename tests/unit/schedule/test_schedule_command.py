"""``brain schedule`` as it is typed, with a crontab and a systemctl that write down what they are told."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from second_brain import Brain
from second_brain.cli.__main__ import run
from second_brain.errors import UsageError
from second_brain.schedule import forms, running, systemd
from second_brain.schedule.jobs import home_of, jobs_of

CRONTAB = """#!/bin/sh
file="$HOME/crontab"
case "$1" in
-l) if [ -e "$file" ]; then cat "$file"; else echo "no crontab for kim" >&2; exit 1; fi ;;
-r) rm "$file" ;;
-) cat > "$file" ;;
esac
"""
FORBIDDEN = """#!/bin/sh
echo 'you are not allowed' >&2
[ "$1" = -l ] && exit 1
touch $HOME/written
"""
USERS_OWN = b"# my jobs\nMAILTO=kim@example.org\n\n*/5 * * * * /usr/bin/backup 100\\% \xff done\n"


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Machine:
    """A user's folder with a home of a brain in it, and programs that stand for the system's."""

    user: Path
    home: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def brain(self, *arguments: str, home: Path | None = None, stdin: str = "") -> Outcome:
        """How a command ended."""
        self.patch.setattr(sys, "stdin", io.StringIO(stdin))
        self.capture.readouterr()
        code = run(["--home", str(home or self.home), *arguments])
        return Outcome(code, *self.capture.readouterr())

    def status(self, home: Path | None = None) -> dict[str, object]:
        """What ``status --json`` says."""
        found: dict[str, object] = json.loads(self.brain("schedule", "status", "--json", home=home).stdout)
        return found

    def states(self) -> list[str]:
        """How the jobs stand."""
        jobs = self.status()["jobs"]
        assert isinstance(jobs, list)
        return [job["state"] for job in jobs]

    @property
    def crontab(self) -> bytes | None:
        """What the crontab holds, None where there is none."""
        file = self.user / "crontab"
        return file.read_bytes() if file.exists() else None


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    """With cron and without systemd; the home has a name that shells and crontabs stumble over."""
    user = tmp_path / "user"
    home = user / "my 'brain' 100% $HOME"
    home.mkdir(parents=True)
    (home / "models.yaml").write_text("embedder: hashing\n")
    program(tmp_path / "bin", "crontab", CRONTAB)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(running, "step_back", lambda: None)  # this process is the tests' own
    return Machine(user, home, capsys, monkeypatch)


def test_everything_is_shown_before_anything_is_written(machine):
    """A dry run, and a user who does not agree, leave no trace."""
    dry = machine.brain("schedule", "install", "--dry-run")
    assert (dry.returncode, dry.stdout.count("schedule run")) == (0, 4)
    assert "run crontab -" in dry.stdout
    assert "nothing was done" in dry.stderr
    refused = machine.brain("schedule", "install", stdin="n\n")
    assert "do this? [y/N]" in refused.stderr
    assert (machine.crontab, machine.states()) == (None, ["absent"] * 3)
    agreed = machine.brain("schedule", "install", stdin="y\n")
    assert agreed.returncode == 0
    assert machine.states() == ["installed"] * 3


def test_a_users_own_lines_stay_byte_for_byte(machine):
    """Above and below ours, also those that are no text, through install, change and removal."""
    (machine.user / "crontab").write_bytes(USERS_OWN)
    assert machine.brain("schedule", "install", "--yes").returncode == 0
    assert machine.crontab
    assert machine.crontab.startswith(USERS_OWN)
    below = b"@daily echo mine\n"
    (machine.user / "crontab").write_bytes(machine.crontab + below)
    (machine.home / "settings.yaml").write_text("schedule: {index: every 15 min, distill: off}\n")
    assert machine.states() == ["outdated", "off", "installed"]
    assert "brain schedule install" in machine.brain("schedule", "status").stderr
    assert machine.brain("schedule", "install", "--yes").returncode == 0
    assert machine.states() == ["installed", "off", "installed"]
    assert b"distill" not in machine.crontab
    assert b"*/15 * * * * " in machine.crontab
    again = machine.brain("schedule", "install", "--yes")
    assert "nothing to do" in again.stderr
    assert machine.brain("schedule", "remove", "--yes").returncode == 0
    assert machine.crontab == USERS_OWN + below
    assert "nothing to do" in machine.brain("schedule", "remove", "--yes").stderr


def test_a_crontab_of_ours_alone_goes_with_us(machine):
    """None was there before, none is left."""
    machine.brain("schedule", "install", "--yes")
    machine.brain("schedule", "remove", "--yes")
    assert machine.crontab is None


def test_two_homes_of_a_machine_have_jobs_of_their_own(machine):
    """What is done for one leaves the other's as they are."""
    other = machine.user / "other"
    other.mkdir()
    machine.brain("schedule", "install", "--yes")
    first = machine.crontab
    machine.brain("schedule", "install", "--yes", home=other)
    assert first
    assert machine.crontab
    assert machine.crontab.startswith(first)
    assert len(machine.crontab) > len(first)
    machine.brain("schedule", "remove", "--yes", home=other)
    assert (machine.crontab, machine.states()) == (first, ["installed"] * 3)


def test_a_crontab_that_cannot_be_read_is_not_overwritten(machine, tmp_path):
    """Nor is one that lacks one of our marks: nobody can tell where ours end."""
    program(
        tmp_path / "bin",
        "crontab",
        "#!/bin/sh\necho 'you are not allowed' >&2\n[ \"$1\" = -l ] && exit 1\ntouch $HOME/written\n",
    )
    failed = machine.brain("schedule", "install", "--yes")
    assert (failed.returncode, "you are not allowed" in failed.stderr) == (1, True)
    assert not (machine.user / "written").exists()
    assert "you are not allowed" in machine.brain("status").stderr
    program(tmp_path / "bin", "crontab", CRONTAB)
    machine.brain("schedule", "install", "--yes")
    assert machine.crontab
    torn = b"".join(line for line in machine.crontab.splitlines(keepends=True) if b"<<<" not in line)
    (machine.user / "crontab").write_bytes(torn)
    for deed in ("install", "remove"):
        assert "crontab -e" in machine.brain("schedule", deed, "--yes").stderr
    assert machine.crontab == torn


def test_the_lines_of_the_crontab_do_their_work(machine):
    """Run as cron runs them: from another folder, with next to no variables."""
    notes = machine.user / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("gannet")
    machine.brain("add", str(notes))
    machine.brain("schedule", "install", "--yes")
    assert machine.crontab
    commands = {line.split(" ", 5)[5] for line in machine.crontab.decode().splitlines() if line[0].isdigit()}
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, check=False, cwd="/",
            env={"HOME": str(machine.user), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    with Brain.open(machine.home, environment={}) as brain:
        assert (brain.status().documents, brain.status().waiting) == (1, 0)
    jobs = machine.status()["jobs"]
    assert isinstance(jobs, list)
    assert [job["last"]["exit"] for job in jobs] == [0, 0, 0]
    assert jobs[1]["last"]["words"] == {"distill": "no chat model in models.yaml; nothing to do"}
    assert all(Path(job["log"]).exists() for job in jobs)
    assert all(job["next"] for job in jobs)


def test_a_broken_source_and_a_broken_model_are_told_and_keep_nothing_from_its_turn(machine):
    """The run says so by its exit code, in the log, in ``status``; the whole rest is done."""
    for name in ("good", "gone"):
        (machine.user / name).mkdir()
        machine.brain("add", str(machine.user / name))
    (machine.user / "good/a.md").write_text("gannet")
    (machine.user / "gone").rmdir()
    (machine.home / "models.yaml").write_text("embedder: none-such\n")
    done = machine.brain("schedule", "run", "index")
    assert done.returncode == 1
    assert "index: 1 added, gone not available" in done.stderr
    assert "embed: failed" in done.stderr
    assert "embed: failed" in machine.brain("schedule", "status").stderr
    (machine.home / "models.yaml").write_text("embedder: hashing\n")
    assert machine.brain("schedule", "run", "embed").returncode == 3
    assert machine.brain("search", "gannet", "--mode", "dense").returncode == 0


def test_runs_of_the_same_job_do_not_pile_up(machine, tmp_path):
    """One that finds the index being written by somebody else has nothing to do either."""
    from second_brain.index.lock import file_lock

    notes = machine.user / "notes"
    notes.mkdir()
    machine.brain("add", str(notes))
    with file_lock(machine.home / "index.db.index.lock", wait_s=0):
        done = machine.brain("schedule", "run", "index")
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "index: another brain is indexing; nothing to do")
    (state,) = (tmp_path / "state/second-brain/schedule").iterdir()
    with file_lock(state / "index.lock", wait_s=0):
        done = machine.brain("schedule", "run", "index")
    assert (done.returncode, done.stderr) == (0, "another run of this job is working; nothing to do\n")


SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$HOME/systemctl.log"
wants="$XDG_CONFIG_HOME/systemd/user/timers.target.wants"
case "$2" in
enable) shift 2; mkdir -p "$wants"; for unit; do ln -sf "../$unit" "$wants/$unit"; done ;;
disable) shift 3; for unit; do rm -f "$wants/$unit"; done ;;
esac
"""


@pytest.fixture
def units(tmp_path, monkeypatch) -> Callable[[], list[str]]:
    """A machine that systemd runs, for this process; lists the user's units."""
    program(tmp_path / "bin", "systemctl", SYSTEMCTL)
    (tmp_path / "run/systemd").mkdir(parents=True)
    monkeypatch.setattr(systemd, "_BOOTED", tmp_path)
    for name, value in (
        ("HOME", str(tmp_path)),
        ("XDG_CONFIG_HOME", str(tmp_path / "config")),
        ("XDG_STATE_HOME", str(tmp_path / "state")),
        ("XDG_RUNTIME_DIR", str(tmp_path / "run")),
        ("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"),
    ):
        monkeypatch.setenv(name, value)
    folder = tmp_path / "config/systemd/user"
    return lambda: sorted(path.name for path in folder.glob("second-brain-*"))


def test_timers_of_systemd_are_written_enabled_and_taken_away(notes, units, tmp_path):
    """Only what bears our mark goes; a unit of the same name that somebody else wrote is left and named."""
    home, jobs = home_of(notes.brain.settings, os.environ), jobs_of(notes.brain.settings)
    assert forms.chosen() == ("systemd", None)
    forms.installation("systemd", home, jobs).carry_out()
    assert len(units()) == 6
    assert forms.standings(home, jobs) == (
        "systemd",
        {"index": "installed", "distill": "installed", "embed": "installed"},
    )
    assert forms.installation("systemd", home, jobs).empty
    log = (tmp_path / "systemctl.log").read_text().splitlines()
    assert [line.split()[1] for line in log] == ["daemon-reload", "enable", "restart"]
    fewer = [job for job in jobs if job.name != "distill"]
    forms.installation("systemd", home, fewer).carry_out()
    assert len(units()) == 4
    own = tmp_path / "config/systemd/user" / units()[0]
    text = own.read_text()
    own.write_text("[Unit]\nDescription=mine\n")
    with pytest.raises(UsageError, match="not ours"):
        forms.installation("systemd", home, fewer)
    forms.removal("systemd", home).carry_out()
    assert units() == [own.name]
    own.write_text(text)
    forms.removal("systemd", home).carry_out()
    assert (units(), forms.standings(home, jobs)[0]) == ([], None)
    assert forms.removal("systemd", home).empty


def test_a_timer_that_is_not_enabled_is_not_called_installed(notes, units, tmp_path):
    """So that a second install mends what a first one left half done."""
    home, jobs = home_of(notes.brain.settings, os.environ), jobs_of(notes.brain.settings)
    program(tmp_path / "bin", "systemctl", "#!/bin/sh\necho 'no bus' >&2\nexit 1\n")
    with pytest.raises(UsageError, match="no bus") as caught:
        forms.installation("systemd", home, jobs).carry_out()
    assert "brain schedule remove" in caught.value.hint
    assert set(forms.standings(home, jobs)[1].values()) == {"outdated"}
    program(tmp_path / "bin", "systemctl", SYSTEMCTL)
    forms.installation("systemd", home, jobs).carry_out()
    assert set(forms.standings(home, jobs)[1].values()) == {"installed"}


def test_another_form_takes_the_place_of_the_one_before(notes, units, tmp_path):
    """Never do two of them start the same job."""
    program(tmp_path / "bin", "crontab", CRONTAB)
    home, jobs = home_of(notes.brain.settings, os.environ), jobs_of(notes.brain.settings)
    forms.installation("systemd", home, jobs).carry_out()
    forms.installation("cron", home, jobs).carry_out()
    assert (units(), forms.standings(home, jobs)[0]) == ([], "cron")
    forms.installation("systemd", home, jobs).carry_out()
    assert (len(units()), (tmp_path / "crontab").exists()) == (6, False)


@pytest.fixture
def bare(machine, monkeypatch, tmp_path) -> Machine:
    """A Linux machine with neither systemd nor cron."""
    monkeypatch.setattr(systemd, "_BOOTED", tmp_path / "none")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(machine.user / "config"))
    return machine


def test_where_nothing_can_start_jobs_the_reasons_are_told(bare):
    """And what to do; nothing is written."""
    refused = bare.brain("schedule", "install", "--yes")
    assert refused.returncode == 1
    assert "nothing here can start jobs: systemd does not run this machine, and there is no program `crontab`" in (
        refused.stderr
    )
    assert "brain watch" in refused.stderr
    launchd = bare.brain("schedule", "install", "--yes", "--with", "launchd")
    assert (launchd.returncode, "that is of macOS" in launchd.stderr) == (1, True)
    assert not (bare.user / "config").exists()
    assert bare.states() == ["absent"] * 3
    assert "nothing to do" in bare.brain("schedule", "remove", "--yes").stderr


@pytest.mark.parametrize(
    ("asked", "shown", "said"),
    [
        ((), "systemd/user/second-brain-", "nothing here can start jobs: systemd does not run this machine"),
        (("--with", "systemd"), "OnCalendar=*-*-* 04:30:00", "systemd cannot be used here: systemd does not run"),
        (("--with", "cron"), "run crontab -\n    # >>> second-brain", "cron cannot be used here: there is no program"),
        (("--with", "launchd"), "<key>StartCalendarInterval</key>", "launchd cannot be used here: that is of macOS"),
    ],
)
def test_a_dry_run_shows_also_what_nothing_here_could_start(bare, asked, shown, said):
    """The scheduler that is asked for, else the platform's own; that it is not here is said, and nothing is done."""
    before = sorted(bare.user.rglob("*"))
    dry = bare.brain("schedule", "install", "--dry-run", *asked)
    assert dry.returncode == 0
    assert shown in dry.stdout
    for job in ("index", "distill", "embed"):
        assert job in dry.stdout
    assert said in dry.stderr
    assert "brain watch" in dry.stderr
    assert dry.stderr.endswith("nothing was done\n")
    assert sorted(bare.user.rglob("*")) == before


def test_a_dry_run_for_windows_says_what_to_type_there(bare):
    """There is nothing that we would write."""
    dry = bare.brain("schedule", "install", "--dry-run", "--with", "tasks")
    assert dry.returncode == 0
    assert "schtasks /Create /F" in dry.stderr
    assert "tasks cannot be used here: that is of Windows" in dry.stderr
