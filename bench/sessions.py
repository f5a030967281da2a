"""Makes a store of agent sessions and measures how it is indexed.

    python bench/sessions.py [--mb 1000] [--live-mb 100]

The proportions are near those of 276 MB of sessions of Claude Code in a public repository, in bytes: 43 % results of
tools as the program keeps them, 24 % progress, 15 % results as the model reads them, 5 % thinking, 3 % calls of tools,
1.5 % what people and agents said, the rest envelopes; to that some pictures, sub-agents and resumed sessions.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from notes import Writer

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


class Store:
    """Writes sessions below a folder: the same seed gives the same bytes."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.writer = Writer(seed)
        self.output = "\n".join(self.writer.sentence(12) for _ in range(30_000))
        self.encoded = "".join(self.rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789+/", k=1 << 20))
        self.now = START
        self.bytes = 0

    def key(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128)))

    def shown(self, size: int) -> str:
        """Output of a tool of about so many bytes."""
        at = self.rng.randrange(len(self.output) - size)
        return self.output[at : at + size]

    def record(self, session: str, kind: str, **more: Any) -> dict[str, Any]:
        self.now += timedelta(seconds=self.rng.randint(1, 40))
        return {
            "parentUuid": self.key(),
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/mina/pump-control",
            "sessionId": session,
            "version": "2.1.40",
            "gitBranch": "main",
            "type": kind,
            "uuid": self.key(),
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **more,
        }

    def exchange(self, session: str, number: int, **more: Any) -> list[dict[str, Any]]:
        """A prompt, an answer, and some fifteen uses of tools between them."""
        rng, writer = self.rng, self.writer
        prompt = " ".join(
            writer.japanese() if number % 10 == 9 else writer.sentence() for _ in range(rng.randint(1, 5))
        )
        lines = [self.record(session, "user", message={"role": "user", "content": prompt}, **more)]
        for _ in range(rng.randint(5, 25)):
            lines += self.tool_use(session, more)
        lines.append(self.said(session, "\n\n".join(writer.sentence(60) for _ in range(rng.randint(1, 8))), more))
        return lines

    def said(self, session: str, text: str, more: dict[str, Any]) -> dict[str, Any]:
        block = {"type": "text", "text": text}
        return self.record(session, "assistant", message=self.message([block]), **more)

    def message(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        usage = {"input_tokens": 9, "cache_read_input_tokens": 40_000, "output_tokens": 300, "service_tier": "standard"}
        return {
            "id": f"msg_{self.rng.getrandbits(64):x}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": content,
            "stop_reason": None,
            "usage": usage,
        }

    def tool_use(self, session: str, more: dict[str, Any]) -> list[dict[str, Any]]:
        rng = self.rng
        key = f"toolu_{rng.getrandbits(64):x}"
        size = int(min(rng.paretovariate(0.9) * 700, 60_000))
        file = f"/home/mina/pump-control/src/{self.writer.sentence(1)[:-1].lower()}.py"
        name, given = rng.choice(
            (
                ("Bash", {"command": f"pytest -q {file}", "description": self.writer.sentence(5)}),
                ("Read", {"file_path": file}),
                ("Grep", {"pattern": self.writer.sentence(1)[:-1], "path": "src"}),
                ("Edit", {"file_path": file, "old_string": self.shown(300), "new_string": self.shown(400)}),
            )
        )
        result = self.shown(size)
        failed = name == "Bash" and rng.random() < 0.1
        thinking = {"type": "thinking", "thinking": self.shown(400), "signature": self.encoded[:400]}
        block = {"type": "tool_result", "tool_use_id": key, "content": result, **({"is_error": True} if failed else {})}
        lines = [
            self.record(session, "assistant", message=self.message([thinking]), **more),
            self.record(
                session,
                "assistant",
                message=self.message([{"type": "tool_use", "id": key, "name": name, "input": given}]),
                **more,
            ),
            *(
                self.record(session, "progress", data={"type": "bash_progress", "output": self.shown(2_000)})
                for _ in range(2)
            ),
            self.record(
                session,
                "user",
                message={"role": "user", "content": [block]},
                toolUseResult={"stdout": result, "originalFile": self.shown(min(size * 2, 60_000))},
                **more,
            ),
        ]
        if rng.random() < 0.5:
            lines.append(self.said(session, self.writer.sentence(40), more))
        if rng.random() < 0.004:
            picture = {"type": "base64", "media_type": "image/png", "data": self.encoded}
            content = [{"type": "image", "source": picture}]
            lines.append(self.record(session, "user", isMeta=True, message={"role": "user", "content": content}))
        return lines

    def session(self) -> None:
        """One session; of ten one has a sub-agent, one is resumed under another name."""
        session, folder = self.key(), self.folder / f"-home-mina-project{self.rng.randrange(12)}"
        lines = [self.said(session, self.writer.sentence(12), {})]
        for number in range(max(1, int(self.rng.paretovariate(1.2) * 3)) if self.rng.random() < 0.9 else 30):
            lines += self.exchange(session, number)
            snapshot = {"messageId": self.key(), "trackedFileBackups": {self.key(): self.key() for _ in range(20)}}
            lines.append({"type": "file-history-snapshot", "messageId": self.key(), "snapshot": snapshot})
        lines.append({"type": "ai-title", "aiTitle": self.writer.sentence(6)[:-1], "sessionId": session})
        self.write(folder / f"{session}.jsonl", lines)
        chance = self.rng.random()
        if chance < 0.1:
            agent = f"{self.rng.getrandbits(28):07x}"
            more = {"isSidechain": True, "agentId": agent}
            work = [line for number in range(2) for line in self.exchange(session, number, **more)]
            self.write(folder / session / "subagents" / f"agent-{agent}.jsonl", work)
        elif chance < 0.2:
            resumed = self.key()
            copies = [{**line, "sessionId": resumed, "uuid": self.key()} for line in lines if "uuid" in line]
            self.write(folder / f"{resumed}.jsonl", [*copies, *self.exchange(resumed, 1)])

    def write(self, path: Path, lines: list[dict[str, Any]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for line in lines:
                self.bytes += file.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))


def write_store(folder: Path, megabytes: int, *, seed: int = 1) -> int:
    """Fill a folder with about so many megabytes of sessions; the characters that were written."""
    store = Store(folder, seed)
    while store.bytes < megabytes * 1_000_000:
        store.session()
    return store.bytes


def write_live(folder: Path, megabytes: int) -> Path:
    """One session of so many megabytes."""
    store = Store(folder, seed=7)
    session, lines, size = store.key(), [], 0
    while size < megabytes * 1_000_000:
        exchange = store.exchange(session, 1)
        size += sum(len(json.dumps(line)) for line in exchange)
        lines += exchange
    path = folder / "-home-mina-live" / f"{session}.jsonl"
    store.write(path, lines)
    return path


def session_store(work: Path, megabytes: int) -> dict[str, float]:
    """The lexical pass over a store of sessions: seconds, MB/s, and the index as a share of the store."""
    from second_brain import Brain

    root = work / "projects"
    with Brain.open(work / "sessions-home", index=work / "sessions-home" / "index.db", environment={}) as brain:
        brain.add(root, name="sessions", kind="claude-session-jsonl")
        started = time.perf_counter()
        report = brain.sync()
        seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    with Brain.open(work / "sessions-home", index=work / "sessions-home" / "index.db", environment={}) as brain:
        stats = brain.index.stats()
    archive = sum(path.stat().st_size for path in (work / "sessions-home" / "archive").rglob("*.z"))
    return {
        "store_mb": size / 1e6,
        "seconds": seconds,
        "mb_per_s": size / 1e6 / seconds,
        "sessions": report.sources[0].added,
        "text_mb": stats.text_bytes / 1e6,
        "passages": stats.chunks,
        "index_to_store": stats.file_bytes / size,
        "archive_to_store": archive / size,
    }


def live_file(work: Path, megabytes: int) -> dict[str, float]:
    """What it costs to index one session again after it grew by one exchange."""
    from second_brain import Brain

    path = next((work / "live").rglob("*.jsonl"))
    with Brain.open(work / "live-home", index=work / "live-home" / "index.db", environment={}) as brain:
        brain.add(work / "live", name="sessions", kind="claude-session-jsonl")
        started = time.perf_counter()
        brain.sync()
        first = time.perf_counter() - started
        store = Store(work / "live", seed=9)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in store.exchange(path.stem, 1))
        started = time.perf_counter()
        brain.sync()
        again = time.perf_counter() - started
    return {"live_mb": path.stat().st_size / 1e6, "first_s": first, "again_s": again}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mb", type=int, default=1_000)
    parser.add_argument("--live-mb", type=int, default=100)
    parser.add_argument("--stage", choices=("write", "session_store", "live_file"))
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    if options.stage == "write":
        write_store(options.work / "projects", options.mb)
        write_live(options.work / "live", options.live_mb)
    elif options.stage:
        from run import peak_mb

        result = {"session_store": session_store, "live_file": live_file}[options.stage](options.work, options.mb)
        print(json.dumps({**result, "peak_mb": peak_mb()}))
    else:
        with tempfile.TemporaryDirectory(prefix="brain-sessions-") as folder:
            sizes = ["--mb", str(options.mb), "--live-mb", str(options.live_mb)]
            for stage in ("write", "session_store", "live_file"):
                command = [sys.executable, __file__, "--stage", stage, "--work", folder, *sizes]
                print(stage, subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
