"""Group HT: the server over HTTP, as a whole process on a loopback socket."""

from __future__ import annotations

import html.parser
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from second_brain import Brain

WAIT_S = 40.0
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


class Server:
    """``brain serve`` on a free port, and requests to it."""

    def __init__(self, home: Path, *arguments: str) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "second_brain.entry",
                "--home",
                str(home),
                "serve",
                "--port",
                str(self.port),
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOME": str(home.parent)},
        )
        ends = time.monotonic() + WAIT_S
        while time.monotonic() < ends:
            try:
                if self.get("/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server did not come up")

    def ask(
        self, body: Any, *, token: str = "", session: str = "", path: str = "/mcp", method: str = "POST", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Status, headers and what JSON-RPC answers (the text where it is none)."""
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if session:
            sent["Mcp-Session-Id"] = session
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        with closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        got = {name.lower(): value for name, value in response.getheaders()}
        for line in text.splitlines():
            if line.startswith("data:") and line[5:].strip():
                return response.status, got, json.loads(line[5:])
        try:
            return response.status, got, json.loads(text)
        except ValueError:
            return response.status, got, text

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], Any]:
        """A GET."""
        return self.ask(None, path=path, method="GET", **headers)

    def session(self, token: str) -> str:
        """The id of a new session."""
        status, headers, answer = self.ask(INITIALIZE, token=token)
        assert (status, answer["result"]["serverInfo"]["name"]) == (200, "second-brain")
        session = headers["mcp-session-id"]
        self.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, token=token, session=session)
        return session

    def call(self, token: str, session: str, tool: str, **given: Any) -> dict[str, Any]:
        """A tool's result."""
        request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": given}}
        status, _, answer = self.ask(request, token=token, session=session)
        assert status == 200, answer
        result: dict[str, Any] = answer["result"]
        return result

    def end(self) -> int:
        """Ask the process to end; its exit code."""
        self.process.terminate()
        code = self.process.wait(20)
        assert self.process.stderr
        self.process.stderr.close()
        return code


@pytest.fixture
def home(heron_home: Path) -> Path:
    """Two notes, one of them secret, for a server that is called ``notes.example`` too."""
    (heron_home / "settings.yaml").write_text("public_hosts: [notes.example]\n")
    return heron_home


@pytest.fixture
def token(home: Path) -> Callable[..., str]:
    """Makes tokens with the command."""

    def make(name: str, *options: str) -> str:
        command = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "token", "add", name, *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return make


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers; all are ended."""
    with ExitStack() as stack:

        def started(*arguments: str) -> Server:
            server = Server(home, *arguments)
            stack.callback(lambda: server.process.poll() is None and server.end())
            return server

        yield started


def test_a_token_shows_what_its_label_allows(start, token, home):
    """Search and read work over HTTP; a token of a lower label sees nothing of the secret note, and changes nothing."""
    everything, limited = token("me", "--privacy", "secret", "--changes"), token("laptop", "--privacy", "work")
    server = start()
    mine, theirs = server.session(everything), server.session(limited)
    assert "4711" in str(server.call(everything, mine, "search_knowledge", query="bittern code", mode="lexical"))
    assert "4711" not in str(server.call(limited, theirs, "search_knowledge", query="bittern code", mode="lexical"))
    assert "heron" in str(server.call(limited, theirs, "search_knowledge", query="heron pump", mode="lexical"))
    assert server.call(limited, theirs, "index_paths")["isError"]
    assert not server.call(everything, mine, "index_paths").get("isError")
    # a session that somebody else began shows no more than one's own token does
    assert "4711" not in str(server.ask(
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call",
         "params": {"name": "search_knowledge", "arguments": {"query": "bittern", "mode": "lexical"}}},
        token=limited, session=mine,
    ))  # fmt: skip
    kept = json.loads((home / "tokens.json").read_text())
    assert everything not in json.dumps(kept)
    assert (home / "tokens.json").stat().st_mode & 0o077 == 0


def test_without_a_valid_token_nothing_is_answered(start, token, home):
    """None, a wrong one, a removed one; health alone is open."""
    good = token("laptop")
    server = start()
    session = server.session(good)
    for bad in ("", "sb_wrong", "é"):
        status, headers, answer = server.ask(INITIALIZE, token=bad)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert "brain token add" in answer
    command = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "token", "remove", "laptop"]
    subprocess.run(command, check=True, capture_output=True)
    assert server.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"}, token=good, session=session)[0] == 401
    assert server.get("/healthz")[2] == {"status": "ready"}


def test_ht_1_named_and_loopback_hosts_work_and_others_are_refused(start, token):
    """With any port, for a proxy or a tunnel may have another; the refusal and a line of the log name the setting."""
    good = token("laptop")
    server = start()
    for host in (f"127.0.0.1:{server.port}", "localhost:1234", "[::1]:1234", "127.0.0.1", "notes.example",
                 "notes.example:8080", "NOTES.example"):  # fmt: skip
        assert server.ask(INITIALIZE, token=good, Host=host)[0] == 200, host
    for host in ("evil.example", "evil.example:80", "notes.example.evil.example", "[::1", "a@localhost", ""):
        status, _, answer = server.ask(INITIALIZE, token=good, Host=host)
        assert status == 421, host
        assert "public_hosts" in answer
    server.process.send_signal(signal.SIGTERM)
    assert b"refused a request for the host 'evil.example': see `public_hosts`" in server.process.stderr.read()
    server.end()


def test_ht_2_a_session_of_before_a_restart_is_unknown_and_a_new_one_works(start, token):
    """404, so that clients begin anew."""
    good = token("laptop")
    first = start()
    session = first.session(good)
    first.end()
    second = start()
    assert second.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"}, token=good, session=session)[0] == 404
    assert second.session(good) != session


def test_ht_4_no_page_of_another_origin_may_ask(start, token):
    """Not even with a token; no answer names an origin that may; only loopback listens."""
    good = token("laptop")
    server = start()
    for origin in ("https://x.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        status, headers, _ = server.ask(INITIALIZE, token=good, Origin=origin)
        assert status == 403
        assert "access-control-allow-origin" not in headers
    status, headers, _ = server.ask(INITIALIZE, token=good, Origin=f"http://127.0.0.1:{server.port}")
    assert (status, headers.get("access-control-allow-origin", "")) == (200, "")
    with closing(socket.socket()) as probe:
        probe.settimeout(2)
        address = next((a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)), "127.0.0.1")
        if not address.startswith("127."):
            assert probe.connect_ex((address, server.port)) != 0


def test_ht_4_a_server_listens_on_this_machine_only_unless_told(start, token, home):
    """Its one socket is bound to 127.0.0.1; wider, it needs a token and warns of what travels in the open."""
    token("laptop")
    server = start()
    sockets = psutil.Process(server.process.pid).net_connections("tcp")
    bound = {found.laddr for found in sockets if found.status == psutil.CONN_LISTEN}
    assert bound == {("127.0.0.1", server.port)}
    wide = start("--host", "0.0.0.0")
    wide.process.send_signal(signal.SIGTERM)
    assert b"0.0.0.0 can be reached from other machines; tokens travel in the open" in wide.process.stderr.read()
    wide.end()


class Quoted(html.parser.HTMLParser):
    """The elements of a page that a note's text could have made, and the text that is shown."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_ht_6_what_a_note_contains_is_shown_as_text(start, token, home):
    """Its tags make no element in the page of a search or of the note; the word that was sought is marked."""
    (home.parent / "notes" / "pwn.md").write_text(
        "# <b onclick=alert(1)>t</b>\n\n<img src=x onerror=alert(1)> pwn <script>1</script> <svg/onload=alert(2)>\n"
    )
    with Brain.open(home, environment={}) as brain:
        brain.sync()
        brain.embed()
    server = start()
    typed = token("me", "--privacy", "secret")
    _, headers, page = server.get("/login")
    cookie = headers["set-cookie"].partition(";")[0]
    proof = next(given["value"] for _, given in Quoted(page).elements if given.get("name") == "csrf")
    form = urllib.parse.urlencode({"csrf": proof, "token": typed, "next": "/"})
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)) as connection:
        sent = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
        connection.request("POST", "/login", form, sent)
        response = connection.getresponse()
        response.read()
    assert response.status == 303
    cookie = str(response.getheader("set-cookie")).partition(";")[0]
    for path in ("/?q=pwn&mode=lexical", "/note/notes/pwn.md"):
        status, headers, page = server.get(path, Cookie=cookie)
        assert status == 200, path
        assert "script-src" in headers["content-security-policy"]
        found = Quoted(page)
        assert "pwn" in found.text
        for tag, attributes in found.elements:
            assert not [name for name in attributes if name.startswith("on")], (path, tag)
            assert attributes.get("src") != "x", (path, tag)
            assert tag != "script" or "src" in attributes or attributes.get("type") == "application/json", path
        assert "<script>1" not in page
        assert "<svg/onload" not in page
    assert any(tag == "mark" for tag, _ in Quoted(server.get("/?q=pwn&mode=lexical", Cookie=cookie)[2]).elements)


def test_ht_8_what_a_killed_server_left_behind_stops_nobody(start, token, home):
    """Its socket for local clients is taken over; the next server comes up and answers."""
    good = token("laptop")
    first = start()
    first.process.kill()
    assert first.end() == -signal.SIGKILL
    second = start()
    assert second.session(good)


def test_ht_8_a_taken_port_is_named_at_once_and_nobody_is_killed(home, token):
    """Held by a program that never answers: the message says which port and what to type."""
    token("laptop")
    with closing(socket.socket()) as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "second_brain.entry", "--home", str(home), "serve", "--port", str(port)],
            capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert f"127.0.0.1:{port} cannot be used" in done.stderr
    assert "--port" in done.stderr


def test_without_a_token_nobody_else_is_let_near(home, start):
    """Of other machines the server stays away; on this one it says how to make a token, and takes it at once."""
    command = [sys.executable, "-m", "second_brain.entry", "--home", str(home)]
    wide = [*command, "serve", "--port", "0", "--host", "0.0.0.0"]
    done = subprocess.run(wide, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1
    assert "brain token add" in done.stderr
    server = start()
    assert server.ask(INITIALIZE)[0] == 401
    made = subprocess.run([*command, "token", "add", "late"], capture_output=True, text=True, check=True)
    server.session(made.stdout.strip())


def test_it_ends_when_it_is_asked_to(start, token):
    """Within seconds, also with a session open."""
    good = token("laptop")
    server = start()
    server.session(good)
    began = time.monotonic()
    assert server.end() in (0, -signal.SIGTERM, 143)
    assert time.monotonic() - began < 15


def test_a_huge_request_is_refused(start, token):
    """Above a megabyte nothing is read into memory."""
    good = token("laptop")
    server = start()
    status, _, _ = server.ask({**INITIALIZE, "x": "y" * (2 << 20)}, token=good)
    assert status == 413
