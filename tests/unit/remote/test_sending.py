"""``brain index --remote``: the box holds and indexes what lies here, whatever happens on the way."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.config import load
from second_brain.errors import GenerationMismatch, NotAllowed, Unreachable, UsageError
from second_brain.remote.brain import RemoteBrain
from second_brain.remote.sending import Sent, send
from second_brain.testing.cutting_proxy import CuttingProxy

Laptop = Callable[..., RemoteBrain]


def notes(count: int, size: int = 300) -> dict[str, str]:
    return {
        f"n{n:03}.md": f"# Note {n}\n\n" + f"heron{n} and the pump number {n}. " * (size // 30) for n in range(count)
    }


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The folder of notes on the laptop."""
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def named(tmp_path: Path, folder: Path, *, name: str = "vault", home: str = "laptop", **more: str) -> None:
    """Make a folder a source of a machine."""
    (tmp_path / home).mkdir(exist_ok=True)
    with Brain.open(tmp_path / home, environment={}) as brain:
        brain.add(folder, name=name, **more)  # type: ignore[arg-type]


def held(box: Any, source: str = "vault") -> dict[str, str]:
    """The files that the box received, by path."""
    root = box.home / "received" / source
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


def here(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.md")}


def test_what_lies_here_is_found_there(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """A first run sends all, the next nothing; changes, moves and removals follow; times of change come along."""
    write(vault, {"a.md": "# Alpha heron\n", "sub/b.md": "# Beta heron\n", "c.md": "# Gamma\n"})
    os.utime(vault / "a.md", ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    named(tmp_path, vault, privacy="work")
    remote = laptop()
    sent = send(remote)
    assert (sent.files, sent.waiting) == (3, 0)
    assert [(r.source, r.added) for r in sent.report.sources] == [("vault", 3)]
    assert held(box) == here(vault)
    found = remote.search("heron", mode="lexical")
    assert {hit.uri for hit in found.hits} == {"vault/a.md", "vault/sub/b.md"}
    assert {hit.privacy for hit in found.hits} == {"work"}
    assert {hit.path for hit in found.hits} == {str(vault / "a.md"), str(vault / "sub/b.md")}  # learnt by sending
    assert remote.get(str(vault / "a.md")).document.modified.timestamp() == pytest.approx(1_700_000_000.123, abs=0.01)
    stages: list[str] = []
    again = send(remote, progress=lambda stage, done, total: stages.append(stage))
    assert "vault: the box is indexing" not in stages  # nothing came: no run is begun
    assert (again.files, again.report.sources[0].added, again.report.sources[0].unchanged) == (0, 0, 3)
    (vault / "a.md").write_text("# Alpha ibis\n")
    (vault / "sub/b.md").rename(vault / "moved.md")
    (vault / "c.md").unlink()
    changed = send(remote)
    (report,) = changed.report.sources
    assert (changed.files, report.changed, report.moved, report.deleted) == (2, 1, 1, 1)
    assert held(box) == here(vault)
    (setting,) = box.brain.settings.sources
    assert (setting.name, setting.kind, setting.privacy) == ("vault", "markdown", "work")


def test_only_a_file_whose_time_changed_sends_no_bytes(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """A touched file is as it was; the box takes over its time."""
    write(vault, {"a.md": "# Alpha\n"})
    named(tmp_path, vault)
    remote = laptop()
    send(remote)
    os.utime(vault / "a.md", ns=(1_600_000_000 * 10**9,) * 2)
    assert send(remote).files == 0
    assert (box.home / "received" / "vault" / "a.md").stat().st_mtime == 1_600_000_000


@pytest.mark.parametrize("direction", ["up", "down"])
def test_cut_at_every_step_nothing_is_lost_or_doubled(
    direction: str, box: Any, line: CuttingProxy, tmp_path: Path, vault: Path, laptop: Laptop
) -> None:
    """The line is cut again and again after more and more bytes; in the end the box holds each file once."""
    write(vault, notes(60, 1_200))
    named(tmp_path, vault)
    remote = laptop(url=line.url, timeout_s=5)
    steps = [0, 40, 300, 700, 3_000, 9_000, 20_000, 60_000, 100_000] if direction == "up" else [0, 30, 150, 300, 900]
    for bytes in steps:
        setattr(line, direction, bytes)
        line.cuts = 2  # also of the second try
        line.cut_all()
        with contextlib.suppress(Unreachable):  # or the second try went through
            send(remote, patience_s=0)
        known = here(vault)
        assert all(known[path] == text for path, text in held(box).items())
        wait_for_the_line(remote)
    line.restore()
    write(vault, {"last.md": "# Last\n"})
    report = send(remote).report.sources[0]
    assert report.failures == ()
    assert held(box) == here(vault)
    assert line.cut >= len(steps)
    assert box.brain.status().documents == 61
    assert sorted(document.uri for document in box.brain.recent(limit=100)) == sorted(
        f"vault/{name}" for name in here(vault)
    )


def wait_for_the_line(remote: RemoteBrain) -> None:
    """The rest that the box is given after a failure is over at once."""
    remote.line._rests_until = 0.0


def test_a_box_that_ends_in_between_goes_on_afterwards(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """Sending waits for a box that is started again, says what it must, and comes to its end."""
    write(vault, notes(200, 600))
    named(tmp_path, vault)
    remote = laptop(timeout_s=5)
    done: list[Sent] = []
    stages: list[str] = []

    def stop_once(stage: str, count: int, total: int | None) -> None:
        if stage.endswith(": sending") and "stopped" not in stages:
            stages.append("stopped")
            box.stop()
            threading.Timer(0.5, box.start).start()
        stages.append(stage)

    done.append(send(remote, progress=stop_once))
    assert "vault: waiting for the box" in stages
    assert held(box) == here(vault)
    assert done[0].report.sources[0].failures == ()
    assert box.brain.status().documents == 200


def test_what_came_before_the_box_ended_is_indexed_by_the_next_run(
    box: Any, tmp_path: Path, vault: Path, laptop: Laptop
) -> None:
    """Files that no run has seen wait, also over a restart; a sender who brings nothing new has them indexed."""
    write(vault, notes(3))
    named(tmp_path, vault)
    remote = laptop(timeout_s=5)
    posted: list[Any] = []
    ask = remote.line.ask

    def until_the_last_step(*args: Any, **options: Any) -> Any:
        posted.append(ask(*args, **options))
        if posted[-1].stored:
            raise KeyboardInterrupt
        return posted[-1]

    remote.line.ask = until_the_last_step  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        send(remote)
    remote.line.ask = ask  # type: ignore[method-assign]
    assert len(held(box)) == 3
    assert box.brain.status().documents == 0
    box.stop()
    box.start()
    sent = send(laptop(timeout_s=5))
    assert (sent.files, sent.report.sources[0].added) == (0, 3)


def test_eight_senders_at_once_do_the_work_once(
    box: Any, tmp_path: Path, vault: Path, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is taken once, runs do not overlap and are fewer than senders, and each sender sees the end."""
    from second_brain.servers.api import syncing

    monkeypatch.setattr(syncing, "MOST_LEASED", 20)
    write(vault, notes(150))
    named(tmp_path, vault)
    runs: list[tuple[float, float]] = []
    index = syncing._Runs._index

    def watched(self: Any, brain: Brain, run: Any) -> None:
        began = time.monotonic()
        index(self, brain, run)
        runs.append((began, time.monotonic()))

    monkeypatch.setattr(syncing._Runs, "_index", watched)
    senders = [laptop(timeout_s=30) for _ in range(8)]
    done: list[Sent] = []
    threads = [threading.Thread(target=lambda own=own: done.append(send(own))) for own in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(done) == 8
    assert sum(sent.files for sent in done) == 150
    assert sum(sent.files > 0 for sent in done) > 1
    assert held(box) == here(vault)
    assert box.brain.status().documents == 150
    assert 1 <= len(runs) < 8
    assert all(one[1] <= other[0] for one, other in zip(sorted(runs), sorted(runs)[1:], strict=False))
    assert Counter(report.failures for sent in done for report in sent.report.sources) == {(): 8}


def test_eight_machines_with_a_source_each(box: Any, tmp_path: Path, laptop: Laptop) -> None:
    """Different sources come at once as well, and each is whole."""
    senders = []
    for number in range(8):
        folder = tmp_path / f"vault{number}"
        folder.mkdir()
        write(folder, notes(12))
        named(tmp_path, folder, name=f"vault{number}", home=f"laptop{number}")
        senders.append(laptop(timeout_s=30, home=f"laptop{number}", name=f"laptop{number}"))
    done: list[Sent] = []
    threads = [threading.Thread(target=lambda own=own: done.append(send(own))) for own in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [sent.files for sent in done] == [12] * 8
    assert box.brain.status().documents == 96
    assert all(len(held(box, f"vault{number}")) == 12 for number in range(8))


def test_a_vanished_folder_does_not_empty_the_box(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """An unmounted disk, an empty folder and most files gone remove nothing until --prune."""
    write(vault, notes(80))
    named(tmp_path, vault)
    remote = laptop()
    send(remote)
    for path in list(vault.iterdir())[:70]:
        path.unlink()
    (report,) = send(remote).report.sources
    assert "lists only 10 of 80" in report.unavailable
    assert report.kept == 70
    for path in vault.iterdir():
        path.unlink()
    (report,) = send(remote).report.sources
    assert "lists no files" in report.unavailable
    vault.rmdir()
    (report,) = send(remote).report.sources
    assert report.unavailable
    assert box.brain.status().documents == 80
    vault.mkdir()
    write(vault, notes(2))
    (report,) = send(remote, prune=True).report.sources
    assert (report.unavailable, report.deleted) == ("", 78)
    assert box.brain.status().documents == 2


def test_an_unreadable_file_is_kept_on_the_box(
    box: Any, tmp_path: Path, vault: Path, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be read now is named, and stays there as it was."""
    write(vault, {"a.md": "# Alpha\n", "b.md": "# Beta\n"})
    named(tmp_path, vault)
    remote = laptop()
    send(remote)
    (vault / "a.md").write_text("# Alpha 2\n")
    read = Path.read_bytes

    def locked(path: Path) -> bytes:
        if path.name == "a.md" and path.parent == vault:
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", locked)
    (report,) = send(remote).report.sources
    assert [failure.message for failure in report.failures] == [f"{vault / 'a.md'}: Permission denied"]
    assert held(box)["a.md"] == "# Alpha\n"


def test_labels_and_tokens(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """Only a token that may change sends; no source above its label; a label becomes stricter, never looser."""
    write(vault, {"a.md": "# Alpha\n"})
    named(tmp_path, vault, privacy="work")
    with pytest.raises(NotAllowed, match="may not change"):
        send(laptop(token="reader"))
    send(laptop(token="work"))
    assert [source.privacy for source in box.brain.settings.sources] == ["work"]
    sources = tmp_path / "laptop" / "sources.yaml"
    text = sources.read_text()
    sources.write_text(text.replace("work", "public"))
    send(laptop())
    assert [source.privacy for source in load(box.home, environment={}).sources] == ["work"]
    sources.write_text(text.replace("work", "secret"))
    with pytest.raises(UsageError, match="shows up to 'work'"):
        send(laptop(token="work"))
    send(laptop())
    assert [source.privacy for source in load(box.home, environment={}).sources] == ["secret"]
    (vault / "a.md").write_text("# Alpha changed\n")
    send(laptop())
    assert box.brain.get("Alpha changed").document.privacy == "secret"
    sources.write_text(text)
    with pytest.raises(UsageError, match="the name 'vault' is taken"):
        send(laptop(token="work"))


def test_who_pins_another_generation_sends_all_the_same(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """Files go to whichever generation answers; questions still do not."""
    write(vault, {"a.md": "# Alpha\n"})
    named(tmp_path, vault)
    remote = laptop(expects="g7")
    assert send(remote).files == 1
    with pytest.raises(GenerationMismatch):
        remote.search("alpha")


def test_names_that_are_taken_and_kinds_that_are_not_sent(
    box: Any, tmp_path: Path, vault: Path, laptop: Laptop
) -> None:
    """The box's own sources are not written to; another machine's source keeps its files; exports are named."""
    write(vault, {"a.md": "# Alpha\n"})
    box.index({"own.md": "# Own\n"}, source="vault")
    named(tmp_path, vault)
    with pytest.raises(UsageError, match="the name 'vault' is taken"):
        send(laptop())
    named(tmp_path, vault, home="one", name="shared")
    named(tmp_path, vault, home="two", name="shared")
    send(laptop(home="one", name="one"))
    with pytest.raises(UsageError, match="another folder or machine"):
        send(laptop(home="two", name="two"))
    box.brain.follow()
    box.brain.remove("shared")
    assert not (box.home / "received" / "shared").exists()
    assert send(laptop(home="two", name="two")).files == 1


def test_a_source_that_is_a_single_file_is_named_as_not_sent(box: Any, tmp_path: Path, laptop: Laptop) -> None:
    """An export stays where it is; the report says what to do instead."""
    export = tmp_path / "conversations.json"
    export.write_text("[]")
    named(tmp_path, export, name="chats", kind="chatgpt-export")
    (report,) = send(laptop()).report.sources
    assert ["is not sent" in failure.message for failure in report.failures] == [True]


def test_a_file_that_the_box_does_not_take_is_named(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """Its reason is among the failures; the rest of the source is indexed."""
    write(vault, {"a.md": "# Alpha\n", "b.md": "# Beta\n"})
    named(tmp_path, vault)
    send(laptop())
    root = box.home / "received" / "vault"
    os.link(root / "a.md", root / "A.md")  # as a disk would show it that ignores letter case
    write(vault, {"A.md": "# Another\n", "c.md": "# Gamma\n"})
    (report,) = send(laptop()).report.sources
    assert [f.message for f in report.failures] == [
        "the box does not take it: on the box's disk it would be the same file as 'a.md'"
    ]
    assert held(box)["a.md"] == "# Alpha\n"
    assert "c.md" in held(box)


def test_the_tool_that_indexes_sends(box: Any, tmp_path: Path, vault: Path, laptop: Laptop) -> None:
    """``index_paths`` over a box sends the sources of this machine."""
    from second_brain.servers.brains import Brains
    from second_brain.servers.calls import call
    from second_brain.servers.desk import Desk
    from second_brain.servers.toolsets import chosen

    write(vault, {"a.md": "# Alpha\n"})
    named(tmp_path, vault)
    remote = laptop()
    desk = Desk(Brains(lambda: remote, models_elsewhere=True), project=vault)
    tools = {tool.name: tool for tool in chosen(["sources"])}
    outcome = call(tools["index_paths"], desk, {"paths": [str(vault)]}, lambda *told: None)
    assert outcome.value is not None, outcome.text
    assert outcome.value["added"] == 1
    refused = call(tools["remove_source"], desk, {"name": "vault", "confirm": True}, lambda *told: None)
    assert "typed on the box" in refused.text
