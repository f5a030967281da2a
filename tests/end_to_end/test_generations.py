"""Generations over real processes: who answers while one is built, promoted, rolled back, killed, or out of room."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mcp_client import Pipes, wait_until

from second_brain import Brain, builds, generations
from second_brain.errors import StorageError, UsageError

COMMAND = [sys.executable, "-m", "second_brain.cli"]
OTHER_EMBEDDER = '''
import time
from second_brain.models.hashing import HashingEmbedder


class Slow(HashingEmbedder):
    """As wide as it is slow, so that it is caught in the middle of its work."""

    def __init__(self, cache_dir=None):
        super().__init__(cache_dir, dimensions=64)
        self.identity = "slow-64/1"

    def embed_documents(self, texts):
        time.sleep(0.004 * len(texts))
        return super().embed_documents(texts)
'''

ASKING = """
import json, sys, threading
from second_brain import Brain
from second_brain.servers.brains import Brains

brains = Brains(lambda: Brain.open(sys.argv[1]))
wrong, generations, ended = [], {}, threading.Event()


def ask():
    result = brains.seen_by("").search("pump weir", limit=10)
    seasons = {season for hit in result.hits for season in ("spring", "autumn") if season in hit.text}
    return result.generation, tuple(sorted(seasons)), len(result.hits), result.mode


def keep_asking():
    while not ended.is_set():
        try:
            answer = ask()
        except BaseException as error:
            wrong.append(repr(error))
            raise
        generations[answer] = generations.get(answer, 0) + 1


threads = [threading.Thread(target=keep_asking) for _ in range(3)]
for thread in threads:
    thread.start()
for line in sys.stdin:
    print(json.dumps(ask()), flush=True)
ended.set()
for thread in threads:
    thread.join()
print(json.dumps({"wrong": wrong, "answers": [[*answer, count] for answer, count in generations.items()]}))
"""
"""A server's way to ask, from three threads all the time and once for each line that comes in."""


LIMITED = """
import resource, signal, sys
from second_brain import config, generations

settings = config.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    generations.promote(settings, "g2", than="g1")
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""
"""Promotes where no file may grow beyond a hundred bytes."""


class Home:
    """A home with notes, and the command over it in processes of its own."""

    def __init__(self, root: Path) -> None:
        self.home, self.notes = root / "home", root / "notes"
        for folder in (self.home, self.notes, root / "more"):
            folder.mkdir(parents=True)
        (root / "more" / "slow_embedder.py").write_text(OTHER_EMBEDDER)
        entry = root / "more" / "slow_embedder-1.dist-info"
        entry.mkdir()
        (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-embedder\nVersion: 1\n")
        (entry / "entry_points.txt").write_text("[second_brain.embedders]\nslow = slow_embedder:Slow\n")
        self.environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        self.environment |= {"HOME": str(root), "BRAIN_HOME": str(self.home), "PYTHONPATH": str(root / "more")}
        self.embedder("hashing")

    def embedder(self, name: str) -> None:
        (self.home / "models.yaml").write_text(f"embedder: {name}\n")

    def write(self, count: int, season: str) -> None:
        for number in range(count):
            text = f"# Note {number}\n\nIn {season} the pump {number} at the weir was looked at.\n"
            (self.notes / f"{number}.md").write_text(text)

    def index(self) -> None:
        """`brain index`, in this process."""
        with Brain.open(self.home, environment={}) as brain:
            if not brain.sources():
                brain.add(self.notes, name="notes")
            brain.sync()
            brain.embed()

    def build(self) -> None:
        """`brain index --new-generation`, in this process."""
        with Brain.open(self.home, environment={}) as brain, builds.new_generation(brain) as (new, _):
            new.sync()
            builds.take_over(new)
            new.embed()
            builds.finish(new)

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *arguments], env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *arguments], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def listed(self) -> dict[str, Mapping[str, object]]:
        found = json.loads(self.run("generations", "--json").stdout)
        return {generation["name"]: generation for generation in found["generations"]}

    def answer(self, *words: str) -> tuple[str, str, list[str]]:
        """Which generation answered, in which mode, and where the hits lie."""
        found = json.loads(self.run("search", "--json", "--limit", "5", *words).stdout)
        return found["generation"], found["mode"], [hit["uri"] for hit in found["hits"]]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Sixty notes of spring, indexed."""
    made = Home(tmp_path)
    made.write(60, "spring")
    made.index()
    return made


def test_a_new_embedder_is_built_promoted_and_rolled_back_while_the_old_one_answers(home: Home) -> None:
    """The old one answers by meaning throughout, hourly runs keep it fresh, and afterwards they follow the new one."""
    home.write(600, "spring")
    home.index()
    home.embedder("slow")
    build = home.start("index", "--new-generation", "--quiet")
    assert wait_until(lambda: (home.home / "index.g2.db").exists())
    (home.notes / "heron.md").write_text("# Heron\n\nA heron stood there.\n")
    hourly = home.run("index", "--quiet")
    assert build.poll() is None  # it was still at work
    assert hourly.stderr == ""
    generation, _, found = home.answer("heron")
    assert (generation, found[0]) == ("g1", "notes/heron.md")
    assert build.wait(timeout=60) == 0
    assert home.answer("pump")[:2] == ("g1", "hybrid")
    built = home.listed()["g2"]
    assert (built["state"], built["embedder"], built["waiting"]) == ("ready", "slow-64/1", 0)

    home.run("promote", "g2")
    assert home.answer("pump")[:2] == ("g2", "hybrid")
    (home.notes / "heron.md").write_text("# Heron\n\nAn avocet stood there.\n")
    home.run("index", "--quiet")
    generation, mode, found = home.answer("avocet")
    assert (generation, mode, found[0]) == ("g2", "hybrid", "notes/heron.md")
    home.run("rollback")
    generation, mode, _ = home.answer("pump")
    assert (generation, mode) == ("g1", "hybrid")  # with its own embedder, whatever models.yaml says


def test_fifty_promotions_and_no_answer_is_mixed(home: Home) -> None:
    """Three threads of a server ask all the time: no error, every hit of the generation that the answer names.

    The first question after a promotion is answered by what was promoted.
    """
    home.write(60, "autumn")
    home.build()
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING, str(home.home)],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert asking.stdin
    assert asking.stdout

    def asked() -> tuple[str, list[str]]:
        assert asking.stdin
        assert asking.stdout
        asking.stdin.write("\n")
        asking.stdin.flush()
        generation, seasons, _, _ = json.loads(asking.stdout.readline())
        return generation, seasons

    seasons = {"g1": ["spring"], "g2": ["autumn"]}
    with Brain.open(home.home) as brain:
        assert asked() == ("g1", ["spring"])
        for turn in range(50):
            current = (builds.promote(brain, "g2") if turn == 0 else builds.rollback(brain)).current
            assert asked() == (current, seasons[current])
    asking.stdin.close()
    with asking.stdout:
        told = json.loads(asking.stdout.read())
    assert asking.wait(timeout=30) == 0
    assert told["wrong"] == []
    assert {(generation, tuple(found), mode) for generation, found, _, mode, _ in told["answers"]} == {
        ("g1", ("spring",), "hybrid"),
        ("g2", ("autumn",), "hybrid"),
    }
    assert {count for _, _, count, _, _ in told["answers"]} == {10}


def test_an_agents_server_follows_within_one_question(home: Home) -> None:
    """`brain mcp` was started before the promotion; its next answer is of the new one."""
    home.write(60, "autumn")
    home.build()
    with Pipes(home.home, "--alone") as pipes:
        pipes.shake_hands()
        assert "In spring" in pipes.text("search_knowledge", query="pump weir")
        home.run("promote", "g2")
        after = pipes.text("search_knowledge", query="pump weir")
        assert "In autumn" in after
        assert "In spring" not in after


def test_a_build_that_is_killed_again_and_again_goes_on(home: Home) -> None:
    """SIGKILL at any moment: the one that serves never notices, and each run continues the same generation."""
    home.write(300, "spring")
    home.index()
    home.embedder("slow")
    moments = random.Random(1)
    for _ in range(4):
        build = home.start("index", "--new-generation", "--quiet")
        time.sleep(moments.uniform(0.15, 0.9))
        build.send_signal(signal.SIGKILL)
        build.wait()
        with Brain.open(home.home) as brain:
            assert brain.generation == "g1"
            assert len(brain.search("pump", limit=5).hits) == 5
            assert {generation.name for generation in brain.roster().generations} <= {"g1", "g2"}
            assert all(finding.severity != "error" for finding in brain.doctor())
    home.run("index", "--new-generation", "--quiet")
    found = home.listed()
    assert {name: (one["state"], one["vectors"]) for name, one in found.items()} == {
        "g1": ("current", 300),
        "g2": ("ready", 300),
    }
    home.run("promote", "g2")
    assert home.answer("pump")[:2] == ("g2", "hybrid")
    assert home.run("doctor").stdout.endswith("no damage found\n")


def test_a_promotion_that_is_killed_leaves_one_of_two_states(home: Home) -> None:
    """SIGKILL at any moment of `brain promote`: the old one or the new one is current, whole, and promoting goes on."""
    home.build()
    moments = random.Random(7)
    for _ in range(6):
        promotion = home.start("promote", "g2")
        time.sleep(moments.uniform(0.1, 0.6))
        promotion.send_signal(signal.SIGKILL)
        promotion.wait()
        with Brain.open(home.home) as brain:
            assert brain.generation in ("g1", "g2")
            assert brain.search("pump").generation == brain.generation
            assert all(finding.severity in ("ok", "note") for finding in brain.doctor())
            if brain.generation == "g2":
                builds.rollback(brain)
    home.run("promote", "g2")
    assert home.answer("pump")[0] == "g2"


def test_of_two_promotions_at_once_one_wins_and_the_other_says_so(home: Home) -> None:
    """Of different generations, compared with the same one: the second does not overwrite the first."""
    home.run("index", "--new-generation", "--quiet")
    home.embedder("slow")
    home.run("index", "--new-generation", "--quiet")
    with Brain.open(home.home) as one, Brain.open(home.home) as other:

        def meanwhile(current: str, candidate: str) -> generations.Comparison:
            assert builds.promote(one, "g2").current == "g2"
            told = generations.Measured("nDCG@5", 1.0, 1, one.search("pump").hits[0].date)
            return generations.Comparison(told, told)

        with pytest.raises(UsageError, match="'g2' became the current generation meanwhile"):
            builds.promote(other, "g3", compare=meanwhile)
        assert other.roster().current == "g2"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.name != "posix" or not shutil.which("mount"):
        pytest.skip("there is nothing to mount with")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "brain-test", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_full_disk_while_building(small_disk: Path) -> None:
    """The build ends with an error that says so; the old one answers, and with room again the same build goes on."""
    home = Home(small_disk)
    home.write(150, "spring")
    home.index()
    filler = small_disk / "filler"
    with Brain.open(home.home) as serving:
        assert serving.search("pump").generation == "g1"
        free = shutil.disk_usage(small_disk).free
        filler.write_bytes(b"x" * (free - 250_000))
        failed = home.run("index", "--new-generation", "--quiet", code=1)
        assert "no room" in failed.stderr
        assert "hint: free some space" in failed.stderr
        assert len(serving.search("pump").hits) == 10
        assert home.answer("pump")[0] == "g1"
    file = os.open(filler, os.O_WRONLY | os.O_APPEND)
    with contextlib.suppress(OSError):
        while os.write(file, b"x" * 4096):
            pass
    os.close(file)
    assert shutil.disk_usage(small_disk).free == 0
    with Brain.open(home.home) as serving:
        assert len(serving.search("pump").hits) == 10
        filler.unlink()
        (home.notes / "heron.md").write_text("# Heron\n\nA heron stood there.\n")
        home.index()
        assert serving.search("heron", mode="lexical").hits  # what was written since is seen
    assert home.listed()["g2"]["state"] == "building"
    home.run("index", "--new-generation", "--quiet")
    assert (home.listed()["g2"]["state"], home.listed()["g2"]["vectors"]) == ("ready", 151)
    assert "g3" not in home.listed()


def test_no_room_for_the_pointer_leaves_the_old_one(home: Home) -> None:
    """Not even the pointer can be written: the promotion fails and says why, and the old pointer holds."""
    home.build()
    pointer = home.home / "index.generations.json"
    before = pointer.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(home.home)],
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "DiskFull: " in done.stdout, done.stderr
    assert pointer.read_bytes() == before
    assert not list(home.home.glob("*.tmp"))
    assert home.answer("pump")[0] == "g1"


def test_a_damaged_pointer_is_an_error_that_says_how_to_choose(home: Home) -> None:
    """No command takes the first generation for the current one."""
    home.build()
    home.run("promote", "g2")
    (home.home / "index.generations.json").write_bytes(b'{"current": "g2", "prev')
    for command in (["search", "pump"], ["index"], ["rollback"]):
        failed = home.run(*command, code=1)
        assert "it is unknown which index is the current one" in failed.stderr
        assert "brain generations repair NAME" in failed.stderr
        assert "g1, g2" in failed.stderr
    assert "brain generations repair NAME" in home.run("doctor", code=3).stdout
    home.run("generations", "repair", "g2")
    assert home.answer("pump")[0] == "g2"
    home.run("rollback")
    assert home.answer("pump")[0] == "g1"


def test_the_file_of_the_current_one_is_gone(home: Home) -> None:
    """Nothing is made anew in its place; the one before answers again after `brain rollback`."""
    home.build()
    home.run("promote", "g2")
    for part in home.home.glob("index.g2.db*"):
        part.unlink()
    failed = home.run("search", "pump", code=1)
    assert "is gone" in failed.stderr
    assert "brain rollback" in failed.stderr
    assert not (home.home / "index.g2.db").exists()
    home.run("rollback")
    assert home.answer("pump")[0] == "g1"
    with Brain.open(home.home, generation="g2") as brain, pytest.raises(StorageError, match="is gone"):
        brain.search("pump")
    home.run("generations", "prune", "g2")
    assert list(home.listed()) == ["g1"]
