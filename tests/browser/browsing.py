"""A running server and the pages of a browser that looks at it: what the fixtures of ``conftest`` hand out."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


class Served:
    """A running ``brain serve``. ``address`` has no slash at its end; ``link`` lets a browser in once.

    ``cookies`` are those of the browser that used the link up, None before.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        environment = {**os.environ, "BRAIN_HOME": str(home), "PYTHONUNBUFFERED": "1"}
        environment = {name: value for name, value in environment.items() if not name.endswith("DISPLAY")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "second_brain.entry", "serve", "--open", "--port", "0"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.link = self._process.stdout.readline().strip()
        if not self.link.startswith("http"):
            self.stop()
            raise AssertionError(f"`brain serve --open` ended with {self._process.returncode}, without a link")
        self.address = self.link.partition("/login")[0]
        self.cookies: Any = None

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(20)
        self._process.stdout.close()


def come_in(browser: Any, server: Served) -> Any:
    """The cookies of the browser that came by a server's one-time link, which this one does if none did yet."""
    if server.cookies is None:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.link)
        page.wait_for_url(server.address + "/")
        server.cookies = context.storage_state()
        context.close()
    return server.cookies


def until_held(page: Any, held: list[Any], count: int = 1) -> None:
    """Wait until so many requests are held back."""
    for _ in range(500):
        if len(held) >= count:
            return
        page.wait_for_timeout(20)
    raise AssertionError("nothing was asked")


class Look:
    """Opens pages, and keeps what went wrong in them."""

    def __init__(self, browser: Any, server: Served, state: Any, pictures: list[Path]) -> None:
        self.address = server.address
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._browser = browser
        self._state = state
        self._pictures = pictures
        self._open = contextlib.ExitStack()

    def __call__(
        self, path: str, *, theme: str = "light", phone: bool = False, language: str = "en", script: bool = True
    ) -> Any:
        """A page in a new window. ``path`` is of the server, or a whole address."""
        context = self._browser.new_context(
            storage_state=self._state,
            viewport=PHONE if phone else DESK,
            device_scale_factor=2 if phone else 1,
            has_touch=phone,
            color_scheme=theme,
            locale=language,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        self._open.callback(context.close)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"a dialog: {dialog.message}"))
        page.on("request", self._asked)
        page.goto(path if path.startswith("http") else self.address + path)
        return page

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Any) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"a request to another host: {request.url}")

    def picture(self, page: Any, name: str, *, whole: bool = False, docs: bool = True) -> None:
        """Keep a picture of the page, as ``web-<name>.png``; without ``docs`` only as an artifact."""
        for folder in self._pictures if docs else self._pictures[:1]:
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=folder / f"web-{name}.png", full_page=whole, animations="disabled")

    def accessible(self, page: Any) -> None:
        """Fail on what axe-core finds serious or critical."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: make axe")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node['failureSummary'][:300]}"
            for violation in found["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]
        assert not told, "\n".join(told)

    def expect(self, pattern: str) -> None:
        """Take back the problems that match: they were provoked."""
        self.problems = [problem for problem in self.problems if not re.search(pattern, problem)]

    def close(self) -> None:
        """Close the windows."""
        self._open.close()
