"""A real browser over a real ``brain serve``, with the example vault and an invented session, indexed once.

    def test_the_map_is_drawn(look):
        page = look("/map", theme="dark", phone=True, language="ja")
        page.get_by_role("heading", name="...").wait_for()
        look.picture(page, "map-dark-phone")     # an artifact; in docs/images too with BRAIN_SCREENSHOTS
        look.accessible(page)                    # axe-core: nothing serious or critical

The pages' policy forbids ``page.wait_for_function``: wait for a locator instead. Any error on the console, and any
request to another host, fails the test that opened the page.
Without Chromium (Debian: ``apt-get install chromium``) all of these tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Look, Served, come_in
from filelock import FileLock

from second_brain import Brain

HERE = Path(__file__).parent
VAULT = HERE.parents[1] / "example-vault"

SESSION = [
    ("user", "The bilge pump of Kotori runs again and again, a few seconds each time. Where do I look first?"),
    ("assistant", "First at the check valve: water that runs back lifts the float again. Let me look at the notes."),
    ("tool", "rg -n 'bilge' troubleshooting"),
    ("tool", "cat troubleshooting/bilge-pump-short-cycling.md"),
    (
        "assistant",
        "The note says so too:\n\n1. check valve stuck open\n2. float hung on the strum box\n\n"
        "```sh\n# run the pump by hand for one minute\npumpctl run --seconds 60\n```",
    ),
    ("user", "The valve it was. Write that down, please."),
    ("edit", "troubleshooting/bilge-pump-short-cycling.md"),
    ("assistant", "Done: the cause, how it was found, and when it was last cleaned."),
]


@pytest.fixture(scope="session")
def program() -> str:
    """The browser's program; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    return found


@pytest.fixture(scope="module")
def chromium(program: str) -> Iterator[Any]:
    """The browser, without a window.

    Not for longer than a file: as long as the driver lives, its event loop runs in this thread, and no other test of
    the same process could run one.
    """
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def indexed(program: str, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder with ``vault``, ``sessions`` and their ``home``, indexed with the real embedder, once for all."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "browser"
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            shutil.copytree(VAULT, folder / "vault")
            _write_session(folder / "sessions" / "-boats-kotori" / "5f0c1f6e-0f4b-4a55-9d0e-2f6a4f0e7b11.jsonl")
            with Brain.open(folder / "home", environment={}) as brain:
                brain.add(folder / "vault", name="vault")
                brain.add(folder / "sessions", name="sessions", kind="claude-session-jsonl")
                brain.sync()
                brain.embed()
            (folder / "ready").touch()
    return folder


def _write_session(path: Path) -> None:
    path.parent.mkdir(parents=True)
    lines = []
    for number, (kind, text) in enumerate(SESSION):
        common = {"sessionId": path.stem, "cwd": "/boats/kotori", "timestamp": f"2026-04-03T08:{number:02}:00Z"}
        if kind == "user":
            lines.append({**common, "type": "user", "message": {"role": "user", "content": text}})
            continue
        content: dict[str, Any] = {"type": "text", "text": text}
        if kind != "assistant":
            name, field = ("Bash", "command") if kind == "tool" else ("Edit", "file_path")
            content = {"type": "tool_use", "id": f"t{number}", "name": name, "input": {field: text}}
        message = {"role": "assistant", "id": f"m{number}", "content": [content]}
        lines.append({**common, "type": "assistant", "message": message})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="session")
def served(indexed: Path) -> Iterator[Served]:
    """The server that all pages are looked at from."""
    server = Served(indexed / "home")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def logged_in(chromium: Any, served: Served) -> Any:
    """The cookies of a browser that came by the one-time link."""
    return come_in(chromium, served)


@pytest.fixture
def look(chromium: Any, served: Served, logged_in: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Look]:
    """Opens pages as the owner."""
    artifacts = os.environ.get("BRAIN_ARTIFACTS")
    pictures = [Path(artifacts) if artifacts else tmp_path_factory.getbasetemp() / "pictures"]
    if os.environ.get("BRAIN_SCREENSHOTS"):
        pictures.append(Path(os.environ["BRAIN_SCREENSHOTS"]))
    opened = Look(chromium, served, logged_in, pictures)
    yield opened
    opened.close()
    assert not opened.problems, "\n".join(opened.problems)
