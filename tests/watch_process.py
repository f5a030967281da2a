"""``brain watch --json`` as a process of its own, and the events that it tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WAIT_S = 30.0


class WatchProcess:
    """Started at once, and ready when it has compared everything for the first time.

    ``wrapped`` is a command line before that of the brain.
    """

    def __init__(self, home: Path, *options: str, wrapped: Sequence[str] = ()) -> None:
        self.events: list[dict[str, Any]] = []
        command = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "watch", "--json", *options]
        self.process = subprocess.Popen(
            [*wrapped, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOME": str(home.parent), "XDG_STATE_HOME": str(home.parent / "state")},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def named(self, name: str) -> list[dict[str, Any]]:
        """The events of one kind so far."""
        return [event for event in list(self.events) if event["event"] == name]

    def until(self, holds: Callable[[], Any], what: str = "") -> Any:
        """Wait until something holds; what it returned."""
        ends = time.monotonic() + WAIT_S
        while time.monotonic() < ends:
            if found := holds():
                return found
            if self.process.poll() is not None and not self._reader.is_alive():
                break
            time.sleep(0.02)
        raise AssertionError(f"{what or 'it'} did not come to be; {self.events[-10:]}; exit {self.process.poll()}")

    def ready(self) -> WatchProcess:
        """Wait until it watches and the first comparison is done."""
        self.until(lambda: self.named("watching") and (self.named("compared") or self.named("unavailable")), "start")
        return self

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Ask it to end; exit code and what it said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        assert self.process.stderr
        assert self.process.stdout
        said = self.process.stderr.read().decode("utf-8", "replace")
        self.process.stderr.close()
        self.process.stdout.close()
        return code, said
