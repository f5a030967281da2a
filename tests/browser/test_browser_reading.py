"""Reading notes and sessions, with a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from browsing import Look, Served, come_in

from second_brain import Brain

NOTE = "/note/vault/projects/kotori-electric-refit.md"
SESSION = "/note/sessions/-boats-kotori/5f0c1f6e-0f4b-4a55-9d0e-2f6a4f0e7b11.jsonl"


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_notes_and_sessions_fit_and_are_accessible(look: Any, theme: str, phone: bool) -> None:
    """With tables, callouts, tasks, footnotes and everything beside them unfolded."""
    for path, name in ((NOTE, "note"), (SESSION, "session")):
        page = look(path, theme=theme, phone=phone)
        page.locator(".box", has_text="Similar notes").wait_for()
        wanted = (theme == "dark") is phone  # one of each pair is enough for the guide
        look.picture(page, f"{name}-{theme}-{'phone' if phone else 'desktop'}", docs=wanted)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        look.accessible(page)


def test_a_japanese_note_is_shown_in_japanese(look: Any) -> None:
    """The page's language and the note's are marked, so that the right glyphs are chosen."""
    page = look("/note/" + quote("vault/decisions/0007-船内のキャッシュレス決済.md"), language="ja")
    assert page.locator("html").get_attribute("lang") == "ja"
    assert page.locator(".prose").get_attribute("lang") == "ja"
    look.picture(page, "note-ja", docs=False)


def test_a_passage_is_led_to_and_links_lead_on(look: Any) -> None:
    """The span of the address is in view and marked; a link opens the other note; back is where it was."""
    page = look(f"{NOTE}?heading=Software#at-here")
    here = page.locator("#at-here")
    assert here.inner_text() == "Software"
    assert 0 <= here.bounding_box()["y"] < 400
    page.get_by_role("link", name="kotori-battery-limits").first.click()
    page.locator("h1", has_text="battery limits").wait_for()
    page.go_back()
    assert 0 <= page.locator("#at-here").bounding_box()["y"] < 400
    page.locator(".outline").get_by_role("link", name="Training").click()
    assert 0 <= page.get_by_role("heading", name="Training").bounding_box()["y"] < 400


def test_what_an_agent_did_is_folded(look: Any) -> None:
    """Until it is looked at."""
    page = look(SESSION)
    deeds = page.locator(".deeds").first
    assert not deeds.locator("pre").is_visible()
    deeds.locator("summary").click()
    deeds.get_by_text("rg -n 'bilge' troubleshooting").wait_for()


HOSTILE = """# Hostile

<script>window.acted = 1</script><img src=x onerror="window.acted = 2"><svg onload="window.acted = 3"></svg>
<iframe srcdoc="<script>parent.acted = 4</script>"></iframe><style>body { display: none }</style>
<div id="main" class="top" style="position: fixed; inset: 0; z-index: 99" onclick="window.acted = 5">cover</div>
<form action="https://elsewhere.example"><input name="a"></form><meta http-equiv="refresh" content="0;url=/login">

[go](javascript:window.acted=6) [data](data:text/html,<script>1</script>) <a href="javascript:window.acted=7">raw</a>
![picture](https://elsewhere.example/a.png) ![[https://elsewhere.example/b.png]] ![](//elsewhere.example/c.png)

Left\u202eright.

"""


@pytest.fixture(scope="module")
def hostile(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Any]]:
    """A server over notes that would do harm, and the cookies of its owner."""
    folder = tmp_path_factory.mktemp("hostile")
    notes = folder / "notes"
    notes.mkdir()
    (folder / "home").mkdir()
    (folder / "home" / "models.yaml").write_text("embedder: hashing\n")
    table = "|" + "cell|" * 40 + "\n|" + "-|" * 40 + "\n" + ("|" + "word|" * 40 + "\n") * 500
    files = {
        "acts": HOSTILE,
        "table": table,
        "line": "x" * 5_000_000,
        "links": "[[a]] [b](c.md)\n" * 50_000,
        "deep": "\n".join(" " * depth + "- item" for depth in range(300)) + "\n" + "<div>" * 5_000,
        "quotes": ">" * 5_000 + " end",
    }
    for name, text in files.items():
        (notes / f"{name}.md").write_text(text)
    with Brain.open(folder / "home", environment={}) as brain:
        brain.add(notes, name="notes")
        brain.sync()
    server = Served(folder / "home")
    yield server, come_in(chromium, server)
    server.stop()


@pytest.fixture
def look_at_hostile(chromium: Any, hostile: tuple[Served, Any]) -> Iterator[Look]:
    """Opens pages of the hostile notes."""
    opened = Look(chromium, *hostile, [])
    yield opened
    opened.close()
    assert not opened.problems, "\n".join(opened.problems)


def test_hostile_notes_are_inert_and_quick(look_at_hostile: Look) -> None:
    """Nothing acts, covers the page or asks another host; each page can be read soon."""
    times = {}
    for name in ("acts", "table", "line", "links", "deep", "quotes"):
        page = look_at_hostile(f"/note/notes/{name}.md")
        times[name] = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        assert page.locator("h1").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    page = look_at_hostile("/note/notes/acts.md")
    for words in ("go", "raw", "cover"):
        page.get_by_text(words, exact=True).first.click()
    assert page.evaluate("window.acted") is None
    assert page.get_by_text("Left⟨U+202E⟩right.").is_visible()
    assert page.get_by_text("elsewhere.example").first.is_visible()
    assert page.url.endswith("/note/notes/acts.md")
    assert look_at_hostile("/?q=acted").locator(".hit").count()
    assert max(times.values()) < 10_000, times


def test_pictures_of_another_host_are_loaded_only_with_leave(look_at_hostile: Look) -> None:
    """Then, and for this page alone, the browser asks that host."""
    asked: list[str] = []
    page = look_at_hostile("/note/notes/acts.md")
    page.route("https://elsewhere.example/**", lambda route: (asked.append(route.request.url), route.abort()))
    page.reload(wait_until="networkidle")
    assert asked == []
    page.get_by_role("link", name="Load them once").click()
    page.wait_for_url("**images=**")
    page.wait_for_load_state("networkidle")
    assert "https://elsewhere.example/a.png" in asked
    look_at_hostile.expect(r"elsewhere\.example")


def test_a_note_that_changes_while_it_is_read_says_so(look_at_hostile: Look, hostile: tuple[Served, Any]) -> None:
    """On disk, then in the index, then gone; the text that was being read stays until the reader wants the new one."""
    home = hostile[0].home
    path = home.parent / "notes" / "passing.md"
    path.write_text("# Passing\n\nThe first text.\n")
    with Brain.open(home, environment={}) as brain:
        brain.sync([path])
        page = look_at_hostile("/note/notes/passing.md")
        path.write_text("# Passing\n\nThe second text.\n")
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.get_by_text("the file changed since it was indexed").wait_for()
        brain.sync([path])
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.get_by_text("This note was changed.").wait_for()
        assert page.get_by_text("The first text.").is_visible()
        page.get_by_role("link", name="Show it anew").click()
        page.get_by_text("The second text.").wait_for()
        path.unlink()
        brain.sync([path])
        page.evaluate("dispatchEvent(new Event('focus'))")
        page.get_by_text("This note is not in the index any more").wait_for()
        assert page.get_by_text("The second text.").is_visible()
