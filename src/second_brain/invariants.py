"""Does each part still reach the one that uses it? What a session's start and ``brain doctor`` look at.

A pipe that broke silently is found the same day: a server that cannot be launched, a hook that is not wired, a source
that is gone, a fact whose file was deleted, a lesson nobody can read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from .analysis.tokens import estimated_tokens
from .errors import BrainError
from .index.sqlite.check import Finding
from .journal import decisions, lessons
from .library import Brain
from .memory.file import MemoryFile
from .memory.location import memory_file
from .memory.sources import dangling, unfounded

CONTEXT_TOKENS = 5_000
"""What a project's instructions may take of every session's context."""

INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md")

SHOWN = 10
"""Lines that a session's start is told at most."""


def project_findings(brain: Brain, project: Path) -> list[Finding]:
    """What is wrong, or right, with all that a project relies on; the index itself is ``Brain.doctor``'s."""
    found: list[Finding] = []
    for look in (_servers, _sources, _hooks, _decisions, _lessons, _graph, _context):
        found.extend(look(brain, project))
    return found


def in_short(findings: list[Finding]) -> str:
    """At most ten lines of what is wrong, '' when all is well: for the start of a session."""
    wrong = [f for f in findings if f.severity in ("warning", "error") or f.name == "fresh"]
    lines = [f"{finding.message}; {finding.remedy}".rstrip("; ") for finding in wrong]
    if len(lines) > SHOWN:
        lines = [*lines[: SHOWN - 1], f"and {len(lines) - SHOWN + 1} more: `brain doctor` names them"]
    return "\n".join(f"- {line}" for line in lines)


def _servers(brain: Brain, project: Path) -> Iterator[Finding]:
    if find_spec("mcp") is None:
        yield Finding(
            "servers",
            "note",
            "the MCP server needs the extra 'mcp'",
            "pip install 'second-brain[mcp]', if agents shall ask",
        )
    else:
        yield Finding("servers", "ok", "the MCP server can be launched")
    for file in (project / ".mcp.json",):
        for name, command in _launched(file):
            if os.path.sep in command and not Path(command).exists():
                yield Finding(
                    "servers", "error", f"{file}: server '{name}' starts {command}, which is not there",
                    f"brain setup project --project '{project}' --yes",
                )  # fmt: skip


def _launched(file: Path) -> Iterator[tuple[str, str]]:
    """Our servers in a client's file: name and program."""
    servers = _loaded(file).get("mcpServers")
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        if name.startswith("second-brain") and isinstance(entry, dict) and isinstance(entry.get("command"), str):
            yield name, entry["command"]


def _sources(brain: Brain, project: Path) -> Iterator[Finding]:
    for source in brain.sources():
        if not os.access(source.path, os.R_OK):
            state = "cannot be read" if source.path.exists() else "is not there"
            yield Finding(
                "sources", "warning", f"source '{source.name}': {source.path} {state}; what was indexed of it is kept",
                f"mount or mend it, or: brain remove '{source.name}'",
            )  # fmt: skip
    try:
        notices = brain.status().notices
    except BrainError:
        return  # the index is damaged: its own doctor says so
    for notice in notices:
        yield Finding("fresh", "note", notice)


def _hooks(brain: Brain, project: Path) -> Iterator[Finding]:
    """Hooks that were written into the project; those of the plugin look after themselves."""
    file = project / ".claude" / "settings.json"
    groups = _loaded(file).get("hooks")
    text = json.dumps(groups) if isinstance(groups, dict) else ""
    ours = (
        [event for event, entries in groups.items() if " hook " in json.dumps(entries)]
        if isinstance(groups, dict)
        else []
    )
    if not ours or "brain" not in text:
        return
    missing = [event for event in ("SessionStart", "PreCompact", "PostToolUse", "SessionEnd") if event not in ours]
    if missing:
        yield Finding(
            "hooks", "warning", f"{file}: no hook of ours for {', '.join(missing)}",
            f"brain setup project --project '{project}' --yes",
        )  # fmt: skip
    else:
        yield Finding("hooks", "ok", "the hooks are wired")


def _decisions(brain: Brain, project: Path) -> Iterator[Finding]:
    folder = decisions.folder_of(project)
    known = decisions.read_all(folder)
    for problem in decisions.problems(known):
        yield Finding("decisions", "warning", f"{folder.name}/{problem}", "correct the file")


def _lessons(brain: Brain, project: Path) -> Iterator[Finding]:
    for problem in lessons.problems(project):
        yield Finding("lessons", "warning", problem, "correct the file; ids never change")


def _graph(brain: Brain, project: Path) -> Iterator[Finding]:
    file = MemoryFile(memory_file(project, os.environ))
    if not file.path.exists():
        return
    graph = file.read()
    roots = [project, *(source.path for source in brain.sources())]
    facts = [fact for fact in unfounded(graph, lambda s: any((root / s).exists() for root in roots)) if fact.source]
    loose = dangling(graph)
    if graph.bad:
        yield Finding("graph", "warning", f"{file.path}: {len(graph.bad)} lines cannot be read", "brain graph check")
    if facts:
        names = ", ".join(sorted({fact.source for fact in facts})[:3])
        yield Finding("graph", "warning", f"{len(facts)} facts name files that are gone: {names}", "brain graph check")
    if loose:
        yield Finding("graph", "warning", f"{len(loose)} relations lead nowhere", "brain graph check")


def _context(brain: Brain, project: Path) -> Iterator[Finding]:
    spent = 0
    there = [name for name in INSTRUCTIONS if (project / name).is_file()]
    for name in there:
        try:
            spent += estimated_tokens((project / name).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    if spent > CONTEXT_TOKENS:
        yield Finding(
            "context", "warning", f"the project's instructions take {spent:,} tokens of every session",
            f"shorten {' and '.join(there)}: what is rarely needed can be a note",
        )  # fmt: skip


def _loaded(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
