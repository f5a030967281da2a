"""`brain --privacy work`: what is above the label does not exist, for no command, error, count or suggestion."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from running_brain import Brain, Outcome

from second_brain.cli.app import COMMANDS

MARKERS = re.compile("quartz|obelisk|marzipan|gryphon|tourmaline", re.IGNORECASE)
"""Words that stand in nothing but what is above `work`: texts, names, titles, tags, aliases, paths, sources."""

SEEN = {
    "pub/heron.md": "---\ntags: [birds/heron]\ntype: log\ndate: 2031-05-02\n---\n# Heron\n\n"
    "The heron nests by the weir.\n",
    "office/pump.md": "---\ntags: [ops]\ntype: runbook\ndate: 2031-04-01\n---\n# Pump\n\n"
    "The pump has a valve. See [[plan]] and [[nowhere]] and [[heron]].\n",
    "office/notes/plan.md": "---\ntags: [ops]\n---\n# Plan\n\nThe plan for the pump in spring. A heron was seen.\n",
}
HIDDEN = {
    # Above the label by its own word, in a source that may be seen; its name is nearer to the link than the other plan.
    "office/plan.md": "---\nprivacy: secret\ntags: [obelisk]\naliases: [Marzipan]\ntype: gryphon\n"
    "project: quartz\n---\n# Obelisk plan\n\nThe quartz pump of the heron. [[pump]] [[heron]]\n",
    "office/quartz/obelisk.md": "---\nprivacy: personal\n---\n# Quartz\n\nA gryphon looks at the pump. [[../pump]]\n\n"
    "password = 'Tr0ub4dor'\n",
    # In sources above the label.
    "gryphon/pump.md": "# Tourmaline\n\nThe pump of the quartz heron.\n",
    "obelisk/diary.md": "---\ntags: [quartz]\n---\n# Diary of marzipan\n\nThe heron and the pump. [[Tourmaline]]\n",
}
LABELS = {"pub": "public", "office": "work", "gryphon": "personal", "obelisk": "secret"}


@pytest.fixture
def world(brain: Brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four sources, one of each label, and stricter notes in one of them; indexed. The working folder is empty."""
    root = tmp_path / "world"
    for name, text in {**SEEN, **HIDDEN}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for name, label in LABELS.items():
        assert brain("add", root / name, "--privacy", label).code == 0
    assert brain("index", "--quiet").code == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return root


COMMAND_LINES: dict[str, list[list[str]]] = {
    "search": [
        ["pump"], ["heron", "--json"], ["quarts"], ["obelisk plan"], ["heron", "--explain", "--facets"],
        ["pump", "--mode", "lexical", "--json", "--facets", "--explain"], ["pump", "--mode", "dense", "--json"],
        ["pump", "--source", "gryphom"], ["pump", "--source", "gryph"], ["pump", "--tag", "obelis", "--json"],
        ["pump", "--type", "gryfon"], ["pump", "--project", "quart"], ["pump", "--title", "obelis"],
        ["pump", "--path-prefix", "{world}", "--json"], ["pump", "--per-document", "0", "-n", "50", "--json"],
    ],
    "facets": [[], ["--json"], ["pump", "--json"], ["--source", "obelis"]],
    "get": [
        ["plan"], ["plan", "--json"], ["pump", "--json"], ["heron", "--json"], ["office/pump.md", "--json"],
        ["obelis"], ["Diary"], ["diary"], ["plan.md"], ["pump.md", "--json"],
    ],
    "recent": [[], ["--json"], ["-n", "100", "--json"], ["--source", "offic"]],
    "status": [[], ["--json"]],
    "sources": [[], ["--json"]],
    "doctor": [[], ["--json"], ["--fix"]],
    "index": [[], ["office"], ["--json"], ["{world}"], ["{world}/office/plan.mdx"], ["offic"]],
    "embed": [[], ["--json"]],
    "compact": [[]],
    "add": [["{world}"], ["{world}/office", "--name", "office"], ["{world}/offic"]],
    "remove": [["offic"], ["--yes", "offic"], ["--yes", "office"]],
    "models": [[], ["--json"], ["--fetch"]],
    "eval": [[], ["--vault", "{world}/office"]],
}  # fmt: skip
"""What is typed holds no marker, so that none may be in the answer."""


def command_lines(world: Path) -> list[list[str]]:
    lines = [[name, *words] for name in COMMANDS for words in COMMAND_LINES.get(name, [[], ["--json"], ["--help"]])]
    return [[word.replace("{world}", str(world)) for word in line] for line in lines]


def test_no_command_shows_anything_of_what_is_above_the_label(brain: Brain, world: Path) -> None:
    """No marker is in stdout or stderr of any command, plain, verbose and as JSON, whatever is asked for."""
    told = {}
    for line in command_lines(world):
        for options in (["--privacy", "work"], ["--verbose", "--privacy", "WORK"]):
            outcome = brain(*options, *line)
            told[" ".join([*options, *line])] = MARKERS.findall(outcome.out + outcome.err)
    assert {line: found for line, found in told.items() if found} == {}
    assert len(told) > 80


def test_the_markers_are_there_for_those_who_may_see_them(brain: Brain, world: Path) -> None:
    """The same commands without the option show them: the test above can fail."""
    for line in (["search", "pump"], ["recent"], ["sources"], ["facets"], ["get", "plan.md"], ["doctor"]):
        outcome = brain(*line)
        assert MARKERS.search(outcome.out + outcome.err), line


def test_a_hidden_name_is_answered_like_one_that_does_not_exist(brain: Brain, world: Path) -> None:
    """Note, path, source, alias, id and tag: the messages differ in nothing but the name that was typed."""
    (hit,) = json.loads(brain("search", "gryphon looks", "--mode", "lexical", "-n", 1, "--json").out)["hits"]
    for line, hidden in (
        (["get", "{}"], "Marzipan"),
        (["get", "{}"], "office/plan.md"),
        (["get", "{}"], str(world / "office" / "plan.md")),
        (["get", "{}", "--json"], hit["id"]),
        (["search", "pump", "--source", "{}"], "gryphon"),
        (["search", "pump", "--source", "{}", "--json"], "obelisk"),
        (["search", "pump", "--tag", "{}"], "obelisk"),
        (["recent", "--source", "{}"], "gryphon"),
        (["remove", "--yes", "{}"], "gryphon"),
        (["index", "{}"], "gryphon"),
        (["index", "{}"], str(world / "obelisk")),
    ):
        absent = "0" * len(hidden) if hidden == hit["id"] else "zzzzzz"
        answers = []
        for name in (hidden, absent):
            outcome = brain("--privacy", "work", *(word.format(name) for word in line))
            answers.append((outcome.code, outcome.out.replace(name, "NAME"), outcome.err.replace(name, "NAME")))
        assert answers[0] == answers[1]


def test_a_view_answers_as_an_index_that_never_held_the_rest(brain: Brain, world: Path, tmp_path: Path) -> None:
    """Counts, facets, links, backlinks, recents, notices and the order of hits equal those without the hidden notes."""
    lines = [
        line for line in command_lines(world) if line[0] in ("search", "facets", "get", "recent", "status", "sources")
    ]
    lines.append(["doctor", "--json"])
    with_all = [plain(brain("--privacy", "work", *line)) for line in lines]
    for name in HIDDEN:
        (world / name).unlink()
    for name, label in LABELS.items():
        if label in ("personal", "secret"):
            assert brain("remove", "--yes", name).code == 0
            shutil.rmtree(world / name)
    for left in (tmp_path / "home").glob("index.db*"):
        left.unlink()
    assert brain("index", "--quiet").code == 0
    without = [plain(brain("--privacy", "work", *line)) for line in lines]
    assert json.loads(brain("--privacy", "work", "status", "--json").out)["index_bytes"] == 0
    for line, one, other in zip(lines, with_all, without, strict=True):
        assert one == other, line


def plain(outcome: Outcome) -> object:
    """An outcome without times of runs and without scores, which FTS5 makes of all chunks."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", outcome.out)
    if text.startswith("{"):
        return outcome.code, without_scores(json.loads(text)), outcome.err
    if "signal" in text:
        text = re.sub(r"(?m)^ .*(lexical|dense|late|name|signal).*$", "", text)
    return outcome.code, text, outcome.err


def without_scores(value: Any) -> Any:
    if isinstance(value, dict):
        left_out = ("score", "explanation", "last_sync", "synced", "confidence")
        return {key: without_scores(inner) for key, inner in value.items() if key not in left_out}
    return [without_scores(inner) for inner in value] if isinstance(value, list) else value


def test_a_view_only_reads(brain: Brain, world: Path, tmp_path: Path) -> None:
    """What would change the index or the settings is refused, and nothing is changed."""
    before = {path: path.read_bytes() for path in (tmp_path / "home").glob("*.yaml")}
    for line in (
        ["add", world / "office"], ["remove", "--yes", "office"], ["index"], ["embed"], ["compact"],
        ["doctor", "--fix"], ["models", "--fetch"],
    ):  # fmt: skip
        outcome = brain("--privacy", "work", *line)
        assert outcome.code == 1, line
        assert "who sees documents up to 'work' only may not" in outcome.err
        assert "leave out --privacy" in outcome.err
    assert {path: path.read_bytes() for path in before} == before
    assert len(json.loads(brain("recent", "--json").out)["documents"]) == len(SEEN) + len(HIDDEN)


def test_the_label_comes_from_the_option_the_variable_or_the_settings(
    brain: Brain, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order; the highest label, and none at all, show everything."""

    def seen(*options: str) -> int:
        return len(json.loads(brain(*options, "recent", "--json").out)["documents"])

    everything = len(SEEN) + len(HIDDEN)
    assert (seen(), seen("--privacy", "secret"), seen("--privacy", "public")) == (everything, everything, 1)
    (tmp_path / "home" / "settings.yaml").write_text("see: work\n")
    assert (seen(), seen("--privacy", "personal"), seen("--privacy", "secret")) == (3, 5, everything)
    monkeypatch.setenv("BRAIN_PRIVACY", "public")
    assert (seen(), seen("--privacy", "work")) == (1, 3)


def test_an_unknown_label_is_refused_with_those_there_are(brain: Brain, world: Path, tmp_path: Path) -> None:
    """On the command line and in settings.yaml; behind the command the option is not taken."""
    outcome = brain("--privacy", "wrok", "recent")
    assert (outcome.code, outcome.out) == (1, "")
    assert "'wrok' is not one of: public, work, personal, secret" in outcome.err
    misplaced = brain("recent", "--privacy", "work")
    assert (misplaced.code, misplaced.out) == (2, "")
    assert "stands before the command" in misplaced.err
    (tmp_path / "home" / "settings.yaml").write_text("see: wrok\n")
    assert "allowed: public, work, personal, secret" in brain("recent").err


def test_broken_settings_say_nothing_of_what_they_hold(brain: Brain, world: Path, tmp_path: Path) -> None:
    """A wrong entry may be that of a source which may not be seen."""
    (tmp_path / "home" / "sources.yaml").write_text(f"- {{name: quartz, path: {world}, privacy: quartz}}\n")
    assert "quartz" in brain("recent").err
    outcome = brain("--privacy", "work", "recent")
    assert outcome.code == 1
    assert "a settings file is wrong" in outcome.err
    assert not MARKERS.search(outcome.err)


def test_trouble_in_what_is_hidden_is_not_told(brain: Brain, world: Path) -> None:
    """Lost folders, unreadable files and changes count only where something may be seen."""
    (world / "gryphon" / "quartz.md").write_bytes(b"\x00\x01binary\x00")
    (world / "office" / "quartz" / "new.md").write_text("---\nprivacy: secret\n---\nnew\n")
    shutil.rmtree(world / "obelisk")
    assert brain("index", "--quiet").code == 3
    (world / "office" / "quartz" / "newer.md").write_text("newer\n")
    (world / "gryphon" / "newer.md").write_text("newer\n")
    for line in (["status"], ["search", "pump"], ["doctor"]):
        full, view = brain("--verbose", *line), brain("--verbose", "--privacy", "work", *line)
        assert "note:" in full.err or line == ["doctor"]
        assert "note:" not in view.err, line
        assert not MARKERS.search(view.out + view.err)
    (world / "office" / "notes" / "new.md").write_text("new\n")
    assert "source 'office' were added" in brain("--privacy", "work", "search", "pump").err
