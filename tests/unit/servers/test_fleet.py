"""Who asks a brain from elsewhere: remembered across restarts, bounded, and judged against the generation."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.cli.__main__ import run
from second_brain.config import Settings
from second_brain.errors import NotFound, UsageError
from second_brain.servers import fleet
from second_brain.servers.fleet import Consumer, Fleet

NOW = datetime(2031, 5, 2, 9, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "models.yaml").write_text("embedder: hashing\n")
    with Brain.open(tmp_path, environment={}) as brain:
        return brain.settings


def _consumer(name: str, expects: str = "", *, days: float = 0) -> Consumer:
    return Consumer(name, "0.1.0", expects, NOW - timedelta(days=days))


@pytest.mark.parametrize(
    ("expects", "days", "state"),
    [
        ("", 0, "current"),
        ("g10", 0, "current"),
        ("g9", 0, "stale"),
        ("g11", 0, "ahead"),
        ("g9", 6.9, "stale"),
        ("g9", 7.1, "silent"),
        ("", 30, "silent"),
    ],
)
def test_a_consumer_is_judged_by_what_it_expects_and_when_it_asked(expects: str, days: float, state: str) -> None:
    """Generations are compared by their number, not as text."""
    assert _consumer("a", expects, days=days).state("g10", NOW) == state


def test_what_was_seen_survives_a_restart(settings: Settings) -> None:
    """And each server adds to what others saw; the later sight counts."""
    first, second = Fleet(), Fleet()
    first.met(_consumer("laptop", "g1", days=2))
    first.met(_consumer("phone"))
    first.save(settings)
    second.met(_consumer("laptop", "g2", days=1))
    second.met(_consumer("phone", "g9", days=3))
    second.save(settings)
    assert fleet.consumers(settings) == [_consumer("laptop", "g2", days=1), _consumer("phone")]


def test_only_so_many_are_remembered_those_seen_last(settings: Settings) -> None:
    """In memory and on disk."""
    seen = Fleet()
    for number in range(fleet.MOST_CONSUMERS + 50):
        seen.met(_consumer(f"c{number}", days=number / 1000))
    seen.save(settings)
    older = Fleet()
    older.met(_consumer("ancient", days=99))
    older.save(settings)
    names = {consumer.name for consumer in fleet.consumers(settings)}
    assert len(names) == fleet.MOST_CONSUMERS
    assert "c0" in names
    assert not names & {"ancient", f"c{fleet.MOST_CONSUMERS}"}


def test_servers_that_save_at_once_lose_nothing(settings: Settings) -> None:
    """One file, many writers."""
    fleets = [Fleet() for _ in range(8)]
    for number, one in enumerate(fleets):
        one.met(_consumer(f"c{number}"))
    threads = [threading.Thread(target=one.save, args=(settings,)) for one in fleets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(fleet.consumers(settings)) == 8


@pytest.mark.parametrize("damage", ["", "{", "[1]", '[{"name": "a"}]', "[" * 90_000])
def test_a_damaged_list_is_begun_anew(settings: Settings, damage: str) -> None:
    """It is a convenience, and must not stop a server."""
    (settings.home / fleet.FILE).write_text(damage)
    seen = Fleet()
    seen.met(_consumer("laptop"))
    seen.save(settings)
    assert [consumer.name for consumer in fleet.consumers(settings)] == ["laptop"]


def test_what_could_not_be_written_is_written_the_next_time(settings: Settings, monkeypatch: Any) -> None:
    """A full disk for a moment loses nobody."""
    seen = Fleet()
    seen.met(_consumer("laptop"))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as now:
        now.setattr(fleet, "write_atomically", full)
        with pytest.raises(fleet.StorageError, match="No space left"):
            seen.save(settings)
    seen.save(settings)
    assert [consumer.name for consumer in fleet.consumers(settings)] == ["laptop"]


@pytest.mark.parametrize(
    "told",
    [("", "1", ""), ("a" * 65, "1", ""), ("a\nb", "1", ""), ("a", "<b>", ""), ("a", "1", "newest"), ("a", "1", "g0")],
)
def test_a_consumer_cannot_call_itself_just_anything(told: tuple[str, str, str]) -> None:
    """What is kept and shown is a name, a version, a generation."""
    with pytest.raises(UsageError):
        fleet.named(*told, now=NOW)


def test_a_promotion_learns_who_would_be_refused(settings: Settings) -> None:
    """Those that pin another generation and still ask."""
    seen = Fleet()
    moment = datetime.now(UTC)
    for name, expects, days in (("old", "g1", 1), ("new", "g2", 1), ("any", "", 1), ("gone", "g1", 30)):
        seen.met(Consumer(name, "", expects, moment - timedelta(days=days)))
    seen.save(settings)
    assert [consumer.name for consumer in fleet.stale(settings, "g2")] == ["old"]


def test_forgetting_takes_one_out_and_names_the_others(settings: Settings) -> None:
    """Until it asks again."""
    seen = Fleet()
    seen.met(_consumer("laptop"))
    seen.met(_consumer("phone"))
    seen.save(settings)
    fleet.forget(settings, "phone")
    with pytest.raises(NotFound, match="laptop"):
        fleet.forget(settings, "phone")


def test_the_command_line_shows_the_fleet(settings: Settings, capfdbinary: Any) -> None:
    """As a table, and as JSON; and forgets one."""

    def out(*arguments: str) -> str:
        assert run(["--home", str(settings.home), "fleet", *arguments]) == 0
        text: str = capfdbinary.readouterr().out.decode()
        return text

    assert "nobody has asked" in out("status")
    seen = Fleet()
    seen.met(Consumer("laptop of 春", "0.1.0", "g7", datetime.now(UTC)))
    seen.save(settings)
    table = out("status")
    assert all(word in table for word in ("generation g1 answers", "laptop of 春", "ahead", "g7", "0.1.0"))
    told = json.loads(out("status", "--json"))
    assert told["generation"] == "g1"
    assert told["aliases_elsewhere"] == {}
    (one,) = told["consumers"]
    assert (one["name"], one["state"], one["expects"]) == ("laptop of 春", "ahead", "g7")
    assert "forgotten" in out("forget", "laptop of 春")
    assert json.loads(out("status", "--json"))["consumers"] == []


def test_only_who_sees_everything_sees_the_fleet(settings: Settings) -> None:
    """Names of machines are nobody else's."""
    assert run(["--home", str(settings.home), "--privacy", "work", "fleet", "status"]) != 0


def test_an_alias_of_qdrant_that_leads_elsewhere_is_named(
    settings: Settings, monkeypatch: Any, capfdbinary: Any
) -> None:
    """It is a state of the fleet, not quietly worse recall."""
    from second_brain import wiring

    class Collections:
        aliases: Callable[[], dict[str, str]] = staticmethod(
            lambda: {"brain-vault": "brain-vault-g1", "brain-code": "brain-code-g3"}
        )

    monkeypatch.setattr(wiring, "backend_collections", lambda settings: Collections())
    assert run(["--home", str(settings.home), "fleet", "status", "--json"]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert told["aliases_elsewhere"] == {"brain-code": "brain-code-g3"}
    assert run(["--home", str(settings.home), "fleet", "status"]) == 0
    shown = capfdbinary.readouterr()
    assert b"'brain-code' leads to 'brain-code-g3'" in shown.err
