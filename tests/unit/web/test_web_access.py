"""Who gets in, and what they may do then."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import Any

import pytest

from second_brain.servers.tokens import add, remove
from second_brain.servers.web.page import own_path
from second_brain.servers.web.visitors import IDLE_S, LINK_S, LONGEST_S, MOST_SESSIONS, Visitors


@pytest.fixture
def two_labels(notes: Any) -> Any:
    """A note for everybody at work and one for nobody else, in a public source."""
    (notes.home / "sources.yaml").write_text(
        f"sources:\n  - name: notes\n    kind: markdown\n    path: {notes.root}\n    privacy: public\n"
    )
    notes.reopen()
    notes.index(
        {
            "open.md": "# Open valve\n\nThe pump valve. [[hidden]]\n",
            "hidden.md": "---\nprivacy: secret\ntags: [sesame]\n---\n# Hidden valve\n\nThe valve code. [[open]]\n",
        }
    )
    return notes


def test_strangers_are_led_to_the_login_page_and_back(site: Any) -> None:
    """The address that was asked for is kept, and shown after the login."""
    answer = site.stranger().get("/?q=pump&tag=a")
    assert (answer.status, answer.headers["location"]) == (303, "/login?next=%2F%3Fq%3Dpump%26tag%3Da")
    client = site.stranger()
    client.csrf = client.get("/login").csrf
    again = client.post("/login", {"once": site.visitors.link_key(), "next": "/?q=pump"})
    assert (again.status, again.headers["location"]) == (303, "/?q=pump")
    assert client.get("/?q=pump").status == 200


@pytest.mark.parametrize("path", ["/found?q=pump", "/similar/notes/a.md", "/fresh/notes/a.md", "/file/notes/a.md?of=x"])
def test_what_scripts_fetch_answers_401_to_strangers(site: Any, path: str) -> None:
    """No login page is put into a page."""
    assert site.stranger().get(path).status == 401


def test_a_link_from_elsewhere_works_although_the_cookie_is_strict(site: Any) -> None:
    """The browser withholds the cookie from what another site leads to: the page asks once more, by itself."""
    answer = site.stranger().get("/?q=a&tag=b", sec_fetch_site="cross-site")
    assert answer.status == 200
    assert 'content="0;url=/?q=a&amp;tag=b"' in answer.text
    assert site.stranger().get("/?q=a", sec_fetch_site="same-origin").status == 303


def test_a_one_time_link_is_used_up_by_the_form_not_by_a_look_at_it(site: Any) -> None:
    """A preview of the link leaves it as it is; the second who uses it is refused."""
    key = site.visitors.link_key()
    for _ in range(3):
        assert site.stranger().get(f"/login?once={key}").status == 200
    first, second = site.stranger(), site.stranger()
    assert first.log_in(once=key).status == 303
    assert second.log_in(once=key).status == 403
    assert second.get("/").status == 303


def test_a_one_time_link_ends(make_web: Any) -> None:
    """Ten minutes later it is worthless."""
    now = [1000.0]
    site = make_web(clock=lambda: now[0])
    key = site.visitors.link_key()
    now[0] += LINK_S + 1
    assert site.stranger().log_in(once=key).status == 403


def test_a_session_ends_when_it_is_idle_or_old(make_web: Any) -> None:
    """Twelve hours without a request, or a week in all."""
    now = [1000.0]
    site = make_web(clock=lambda: now[0])
    idle = site.owner()
    now[0] += IDLE_S + 1
    assert idle.get("/").status == 303
    busy = site.owner()
    for _ in range(int(LONGEST_S / IDLE_S)):
        now[0] += IDLE_S - 1
        assert busy.get("/").status == 200
    now[0] += IDLE_S - 1
    assert busy.get("/").status == 303


def test_a_removed_token_ends_its_sessions_at_once(site: Any, notes: Any) -> None:
    """And a token of the same name made anew does not revive them."""
    guest = site.guest("work")
    assert guest.get("/").status == 200
    remove(notes.brain.settings, "work")
    assert guest.get("/").status == 303
    add(notes.brain.settings, "work", "work", changes=False)
    assert guest.get("/").status == 303


def test_a_token_that_is_no_token_is_refused_and_not_repeated(site: Any) -> None:
    """The answer does not hold what was typed."""
    answer = site.stranger().log_in(token="sb_not-a-token")
    assert answer.status == 403
    assert "sb_not-a-token" not in answer.text


def test_logging_out_ends_the_session_for_every_copy_of_the_cookie(site: Any) -> None:
    """The key in the cookie is worthless afterwards."""
    client = site.owner()
    copy = dict(client.cookies)
    answer = client.post("/logout")
    assert (answer.status, answer.headers["location"]) == (303, "/login")
    client.cookies = copy
    assert client.get("/").status == 303


def test_a_post_without_the_pages_proof_is_refused(site: Any) -> None:
    """Neither none, nor that of another session, nor anything odd counts."""
    client, other = site.owner(), site.owner()
    for proof in ("", other.csrf, "ü", client.csrf[:-1]):
        assert client.post("/logout", {"csrf": proof}).status == 403
    assert client.get("/").status == 200
    assert client.post("/logout", origin="http://elsewhere.example").status == 403
    assert client.get("/").status == 200
    assert site.stranger().post("/login", {"csrf": "", "token": "x"}).status == 403


def test_cookies_are_for_this_server_only(site: Any) -> None:
    """No script reads them, no other site sends them; servers on other ports have their own. Secure with TLS."""
    client = site.stranger()
    client.csrf = client.get("/login").csrf
    cookie = client.post("/login", {"once": site.visitors.link_key()}).headers["set-cookie"]
    assert cookie.startswith("brain-session-8765=")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
    assert "secure" not in cookie.lower()
    safe = site.stranger()
    safe.scheme = "https"
    assert "secure" in safe.get("/login").headers["set-cookie"].lower()


@pytest.mark.parametrize("path", ["/", "/login", "/note/notes/nothing", "/found?q=a"])
def test_every_page_forbids_what_it_does_not_need(site: Any, path: str) -> None:
    """No inline script or style, no other host, no frame around it; nothing guessed from content."""
    answer = site.owner().get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    assert " onclick" not in answer.text


def test_a_visitor_sees_up_to_their_label(site: Any, two_labels: Any) -> None:
    """What is above it exists on no page: not as a hit, note, link, facet, count, recent or similar note."""
    guest, owner = site.guest("work"), site.owner()
    paths = (
        "/",
        "/?q=valve",
        "/found?q=valve",
        "/note/notes/open.md",
        "/similar/notes/open.md",
        "/?tag=sesame&q=valve",
    )
    for path in paths:
        answer = guest.get(path)
        assert answer.status == 200, path
        assert "Hidden valve" not in answer.text, path
    assert "sesame" not in guest.get("/").text
    assert guest.get("/note/notes/hidden.md").status == 404
    assert guest.get("/raw/notes/hidden.md").status == 404
    assert guest.get("/fresh/notes/hidden.md").words == guest.get("/fresh/notes/no-such.md").words
    assert "Hidden valve" in owner.get("/?q=valve").text
    assert owner.get("/note/notes/hidden.md").status == 200
    assert "Hidden valve" in owner.get("/note/notes/open.md").text


def test_what_is_missing_and_what_is_hidden_are_told_in_the_same_words(site: Any, two_labels: Any) -> None:
    """A guest cannot learn that a note exists."""
    guest = site.guest("work")
    hidden, missing = guest.get("/note/notes/hidden.md"), guest.get("/note/notes/absent.md")
    assert hidden.words.replace("hidden", "X") == missing.words.replace("absent", "X")


@pytest.mark.parametrize(
    ("path", "led"),
    [
        ("/?q=a", "/?q=a"),
        ("//evil.example/", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("", "/"),
    ],
)
def test_a_way_back_leads_nowhere_else(path: str, led: str) -> None:
    """Only to a path of this server."""
    assert own_path(path) == led


def test_language_and_light_are_kept(site: Any) -> None:
    """What was chosen, else what the browser prefers."""
    client = site.stranger()
    assert '<html lang="ja"' in client.get("/login", accept_language="fr, ja;q=0.9, en;q=0.8").text
    client.csrf = client.get("/login").csrf
    answer = client.post("/preferences", {"language": "ja", "theme": "dark", "next": "/login"})
    assert (answer.status, answer.headers["location"]) == (303, "/login")
    assert '<html lang="ja" data-theme="dark">' in client.get("/login").text
    client.post("/preferences", {"language": "xx", "theme": "<b>"})
    assert '<html lang="ja" data-theme="dark">' in client.get("/login").text


def test_sessions_are_bounded() -> None:
    """The one that was used longest ago makes room."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    visitors = Visitors(clock)
    keys = [visitors.begin(None) for _ in range(MOST_SESSIONS + 1)]
    assert visitors.who(keys[0], list) is None
    assert visitors.who(keys[1], list) is not None
    assert visitors.who(keys[-1], list) is not None


def test_static_files_are_kept_and_compressed(site: Any) -> None:
    """For a year under their own address, not at all under another one; nothing else is served from there."""
    client = site.stranger()
    address = client.get("/login").text.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = client.get(address)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    zipped = client.get(address, accept_encoding="gzip, br")
    assert zipped.headers["content-encoding"] == "gzip"
    assert len(zipped.body) < len(answer.body) / 2
    assert client.get(address, if_none_match=answer.headers["etag"]).status == 304
    older = "/static/000000/" + address.rpartition("/")[2]
    assert client.get(older).headers["cache-control"] == "no-cache"
    assert client.get("/static/0/..%2fassets.py").status == 404


def test_a_form_that_is_too_long_is_refused(site: Any) -> None:
    """Before it is read whole."""
    assert site.owner().post("/login", {"token": "x" * 100_000}).status == 413


def test_brain_serve_open_prints_a_link_that_lets_in(notes: Any) -> None:
    """A real process: the link stands alone on standard output, and its form leads to the first page."""
    notes.index({"pump.md": "# Pump\n\nThe valve."})
    environment = {key: value for key, value in os.environ.items() if not key.endswith("DISPLAY")}
    command = [sys.executable, "-m", "second_brain.entry", "serve", "--open", "--port", "0"]
    environment |= {"BRAIN_HOME": str(notes.home), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            link = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/login\?once=[\w-]{43}", link)
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            page = browser.open(link).read().decode()
            proof = re.search(r'name="csrf" value="([^"]+)"', page)[1]
            key = re.search(r'name="once" value="([^"]+)"', page)[1]
            form = urllib.parse.urlencode({"csrf": proof, "once": key, "next": "/?q=valve"}).encode()
            first = browser.open(link.partition("?")[0], form)
            assert first.url.endswith("/?q=valve")
            assert "Pump</a>" in first.read().decode()
        finally:
            process.terminate()
