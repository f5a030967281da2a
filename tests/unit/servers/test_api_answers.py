"""The API over a real socket: the same answers as the library's, to those who may have them, whatever they send."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from api_box import Box, indexed_home, running_box

from second_brain import Brain, wire
from second_brain.errors import DeadlineMissed, UsageError
from second_brain.models.rerank import HttpReranker
from second_brain.records import Facets, Note, Status, StoredDocument
from second_brain.servers import fleet
from second_brain.servers.api import asking, limits, routes
from second_brain.types import Filter, SearchResult

NOW = datetime(2031, 5, 2, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_home(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def box(home: Path) -> Iterator[Box]:
    with running_box(home) as box:
        yield box


# -- the same answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid", "agentic"])
@pytest.mark.parametrize(
    "query", ["heron pump", "水やりの間隔", "nothing of that kind", "compost AND -pump tag:plants"]
)
def test_a_search_answers_exactly_as_the_library_does(box: Box, mode: Any, query: str) -> None:
    """Hits, scores, explanations and notices; only the clock differs."""
    request = wire.SearchRequest(query, mode, 7, now=NOW, condensed=True, per_document=None)
    reply = box.ask("POST", "/search", wire.encode(request))
    far = wire.decode(reply.data, wire.SearchAnswer).result
    near = box.brain.search(query, mode=mode, limit=7, now=NOW, condensed=True, per_document=None)
    assert replace(far, timings_ms={}) == replace(near, timings_ms={})


def test_pages_follow_each_other_over_the_api(box: Box) -> None:
    """A cursor of one page leads to the next, without repeating a hit."""
    first = box.search("heron", limit=5, now=NOW.isoformat())
    second = box.search("heron", limit=5, now=NOW.isoformat(), cursor=first["cursor"])
    ids = [hit["id"] for page in (first, second) for hit in page["hits"]]
    assert len(ids) == len(set(ids)) == 10


def test_documents_facets_status_sources_and_collections_are_the_librarys(box: Box) -> None:
    """Each value decodes to the one that the library returns."""
    assert wire.decode(box.ask("GET", "/documents/Pump").data, Note) == box.brain.get("Pump")
    name = quote("vault/水やり.md")
    assert wire.decode(box.ask("GET", f"/documents/{name}").data, Note) == box.brain.get("vault/水やり.md")
    recent = wire.decode(box.ask("GET", "/documents?limit=3").data, tuple[StoredDocument, ...])
    assert recent == tuple(box.brain.recent(limit=3))
    assert wire.decode(box.ask("GET", "/facets?text=heron").data, Facets) == box.brain.facets("heron")
    assert wire.decode(box.ask("GET", "/status").data, Status) == box.brain.status()
    assert box.ask("GET", "/sources").value[0]["name"] == "vault"
    (collection,) = box.ask("GET", "/collections").value
    assert (collection["name"], collection["default"], collection["documents"]) == ("vault", True, 35)


def test_a_filter_narrows_documents_and_facets(box: Box) -> None:
    """In the query it is JSON."""
    filter = quote(json.dumps({"tags": ["plants"]}))
    assert [d["title"] for d in box.ask("GET", f"/documents?filter={filter}").value] == ["Garden"]
    assert box.ask("GET", f"/facets?filter={filter}").value["documents"] == 1


def test_a_search_of_a_collection_asks_its_sources_only(box: Box) -> None:
    """And one that nobody knows is named."""
    assert box.search("heron", collections=["vault"])["hits"]
    reply = box.ask("POST", "/search", {"query": "heron", "collections": ["team"]})
    assert (reply.status, reply.error["kind"]) == (404, "NotFound")
    assert "vault" in reply.error["hint"]


def test_links_say_where_documents_lead(box: Box) -> None:
    """By name, in their order; of what nobody knows, nothing."""
    found = box.ask("POST", "/links", {"names": ["Pump", "nobody"]}).value["links"]
    assert [d["title"] for d in found["Pump"]] == ["Garden", "Diary"]
    assert found["nobody"] == []


def test_every_answer_names_generation_index_and_version(box: Box) -> None:
    """Errors too."""
    for reply in (box.ask("GET", "/status"), box.ask("GET", "/documents/nobody"), box.ask("GET", "/documents?limit=x")):
        assert reply.headers["brain-generation"] == box.brain.generation
        assert len(reply.headers["brain-index"]) == 32
        assert reply.headers["brain-version"]


# -- who may see what ----------------------------------------------------------------------------------------


def test_what_is_above_a_tokens_label_does_not_exist(box: Box) -> None:
    """In no hit, document, link, count or error."""

    def guest(method: str, path: str, body: Any = None) -> Any:
        return box.ask(method, path, body, token=box.guest)

    assert b"Zanzibar" in box.ask("POST", "/search", {"query": "Zanzibar"}).data
    everything = [
        guest("POST", "/search", {"query": "Zanzibar", "mode": mode}) for mode in ("lexical", "hybrid", "agentic")
    ]
    everything += [guest("POST", "/search/stream", {"query": "Zanzibar"}), guest("GET", "/documents?limit=1000")]
    everything += [guest("POST", "/links", {"names": ["Pump"]})]
    everything += [guest("POST", "/search", {"query": "Zanzibar", "filter": {"privacy": ["secret"]}})]
    for reply in everything:
        assert reply.status == 200
        assert b"Zanzibar called" not in reply.data
        assert b"iary" not in reply.data
    hidden, missing = guest("GET", "/documents/diary.md"), guest("GET", "/documents/nobody.md")
    assert (hidden.status, hidden.error["kind"]) == (missing.status, missing.error["kind"]) == (404, "NotFound")
    assert guest("GET", "/facets").value["documents"] == 34
    assert guest("GET", "/status").value["documents"] == 34
    assert guest("GET", "/status").value["index_bytes"] == 0


def test_a_request_may_ask_to_see_less_never_more(box: Box) -> None:
    """A laptop that shows its screen asks with a lower label."""
    less = box.ask("GET", "/status", Brain_Privacy="public")
    more = box.ask("GET", "/status", token=box.guest, Brain_Privacy="secret")
    assert less.value["documents"] == more.value["documents"] == 34
    assert box.ask("GET", "/status", Brain_Privacy="nonsense").status == 400


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer sb_wrong", "Basic abc", "Bearer \xff"])
def test_without_a_valid_token_nothing_is_answered(box: Box, header: str) -> None:
    """And nothing is said of what there is."""
    reply = box.ask("GET", "/status", token="", Authorization=header)
    assert (reply.status, reply.error["kind"]) == (401, "NotAllowed")
    assert "brain token add" in reply.error["hint"]
    assert "brain-generation" not in reply.headers


def test_a_token_that_changes_nothing_cannot_send_files(box: Box) -> None:
    """It is told so before its megabytes are read."""
    reply = box.ask("POST", "/documents/sync", {"source": "laptop"}, token=box.guest)
    assert (reply.status, reply.error["kind"]) == (403, "NotAllowed")


# -- wrong requests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/search", {"query": "a", "lmit": 3}, 400, "there is no field 'lmit'"),
        ("POST", "/search", {"query": "a", "limit": 0}, 400, "'limit' is 0, expected 1 to 100"),
        ("POST", "/search", {"query": "a", "limit": 101}, 400, "/search/stream takes up to 1000"),
        ("POST", "/search", {"query": "a", "limit": 10**30}, 400, "'limit' is 1000"),
        ("POST", "/search", {"query": "a", "per_document": 0}, 400, "'per_document' is 0, expected 1 or more"),
        ("POST", "/search", {"query": "a", "now": "2031-05-02T00:00:00"}, 400, "'now' names no time zone"),
        ("POST", "/search", {"query": "a", "filter": {"sources": ["nobody"]}}, 404, "nobody"),
        ("POST", "/search", {"query": "a", "cursor": "x"}, 400, "no cursor"),
        ("POST", "/search/stream", {"query": "a", "cursor": "x"}, 400, "a stream has no cursor"),
        ("POST", "/search/stream", {"query": "a", "limit": 1001}, 400, "expected 1 to 1000"),
        ("POST", "/search", b"", 400, "not JSON"),
        ("POST", "/search", b"\xff", 400, "not JSON"),
        ("GET", "/documents?limit=-1", None, 400, "expected a whole number from 1 to 1000"),
        ("GET", "/documents?limit=1&colour=red", None, 400, "there is no parameter 'colour'"),
        ("GET", "/documents?filter={", None, 400, "not JSON"),
        ("GET", "/documents?filter=%7B%22tag%22:1%7D", None, 400, "there is no field 'tag'"),
        ("POST", "/links", {"names": ["a"] * 101}, 400, "expected at most 100"),
        ("POST", "/embeddings", {"input": ["a", " "]}, 400, "'input[1]' is blank"),
        ("POST", "/embeddings", {"input": []}, 400, "expected 1 to 256"),
        ("POST", "/embeddings", {"input": "a", "model": "big"}, 400, "this brain embeds with 'hashing-256/1'"),
        ("POST", "/rerank", {"query": "a", "documents": ["b"]}, 404, "no cross-encoder"),
        ("GET", "/nothing", None, 404, "there is no GET /api/v1/nothing"),
        ("DELETE", "/search", None, 405, "there is no DELETE /api/v1/search"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    box: Box, method: str, path: str, body: Any, status: int, said: str
) -> None:
    """What was found, what was expected."""
    reply = box.ask(method, path, body)
    assert reply.status == status
    assert said in reply.error["message"]


@pytest.mark.parametrize(
    "request_",
    [
        {"query": "heron", "filter": {"until": "9999-12-31T00:00:00Z"}},
        {"query": "heron", "filter": {"until": "9999-12-31T23:59:59-12:00"}},
        {"query": "heron", "filter": {"since": "0001-01-01T00:00:00+14:00"}},
        {"query": "heron yesterday", "now": "0001-01-01T00:00:00Z"},
        {"query": "heron next year", "now": "9999-12-31T23:59:59Z"},
        {"query": "heron \0 pump"},
        {"query": ""},
        {"query": "(" * 5_000},
        {"query": '"' * 999 + " AND OR NOT NEAR(" * 50},
        {"query": "heron " * 20_000},
        {"query": "a\u0300" * 5_000},
        {"query": "heron", "per_document": 10**30},
        {"query": "heron", "filter": {"titles": ["\0"], "path_prefix": "\0/../.."}},
        {"query": "heron", "filter": {"privacy": []}},
        {"query": "heron", "filter": {"tags": [f"t{n}" for n in range(3000)]}},
        {"query": "heron", "filter": {"uris": [f"vault/{n}.md" for n in range(10_000)]}},
        {"query": "heron \ud800", "mode": "agentic"},
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "agentic"])
def test_whatever_is_asked_gets_an_answer(box: Box, mode: str, request_: dict[str, Any]) -> None:
    """Never a fault of ours, never silence."""
    reply = box.ask("POST", "/search", {"mode": mode, **request_})
    assert reply.status in (200, 400), reply.data
    assert box.ask("GET", "/documents/a%00b%ED%A0%80").status == 404


def test_a_body_that_is_too_large_is_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its length where it names one, else as soon as it is too long; the client is heard out so that it hears us."""
    monkeypatch.setattr(routes, "PATIENCE_S", 0.3)
    reply = box.ask("POST", "/search", b" " * (asking.QUESTION_BYTES + 1))
    assert (reply.status, reply.headers["connection"]) == (413, "close")
    with box.raw() as connection:
        head = f"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {box.token}\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        for _ in range(asking.QUESTION_BYTES // 65536 + 1):
            connection.sendall(piece)
        assert b" 413 " in connection.recv(100)


def test_a_head_that_is_too_large_is_refused(box: Box) -> None:
    """Headers have a limit of their own."""
    with box.raw() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 4")


def test_more_at_once_than_a_token_may_have_is_told_to_come_again(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some run, some wait, the rest gets 429 with Retry-After; other tokens do not notice; then all is as before."""
    monkeypatch.setattr(limits, "MOST_WAITING", 2)
    hold, running, waiting = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)
    search, patiently = Brain.search, limits.Turns._wait

    def slow(self: Brain, text: str, **more: Any) -> SearchResult:
        if text == "slow":
            running.release()
            assert hold.wait(30)
        return search(self, text, **more)

    async def wait(self: limits.Turns, turn: limits.Turn) -> None:
        waiting.release()
        await patiently(self, turn)

    monkeypatch.setattr(Brain, "search", slow)
    monkeypatch.setattr(limits.Turns, "_wait", wait)
    replies: list[Any] = []

    def ask() -> None:
        replies.append(box.ask("POST", "/search", {"query": "slow", "mode": "lexical"}))

    threads = [threading.Thread(target=ask) for _ in range(limits.AT_ONCE + 2)]
    for thread in threads:
        thread.start()
    for _ in range(limits.AT_ONCE):
        assert running.acquire(timeout=20)
    for _ in range(2):
        assert waiting.acquire(timeout=20)
    refused = box.ask("POST", "/search", {"query": "heron"})
    assert (refused.status, refused.error["kind"]) == (429, "Busy")
    assert int(refused.headers["retry-after"]) >= 1
    assert box.ask("POST", "/search", {"query": "heron"}, token=box.guest).status == 200
    hold.set()
    for thread in threads:
        thread.join(30)
    assert [reply.status for reply in replies] == [200] * (limits.AT_ONCE + 2)
    assert box.ask("POST", "/search", {"query": "heron"}).status == 200


def _until(true: Any) -> None:
    ends = time.monotonic() + 20
    while not true():
        assert time.monotonic() < ends, "it did not come about"
        time.sleep(0.01)


def test_a_request_that_takes_too_long_is_answered_with_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its turn is not free before its work has ended, however many give up."""
    hurried = tuple(replace(endpoint, deadline_s=0.3) for endpoint in routes.ENDPOINTS)
    monkeypatch.setattr(routes, "ENDPOINTS", hurried)
    monkeypatch.setattr(limits, "AT_ONCE", 1)
    monkeypatch.setattr(limits, "WAIT_S", 0.1)
    hold = threading.Event()
    monkeypatch.setattr(Brain, "recent", lambda self, **more: [hold.wait(30)][:0])
    with running_box(indexed_home(tmp_path)) as box:
        try:
            reply = box.ask("GET", "/documents")
            assert (reply.status, reply.error["kind"]) == (504, "DeadlineMissed")
            assert isinstance(wire.error_of(reply.status, reply.data), DeadlineMissed)
            assert box.ask("GET", "/sources").status == 429
        finally:
            hold.set()
        _until(lambda: box.ask("GET", "/sources").status == 200)


# -- models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["query", "document"])
def test_vectors_over_http_are_those_of_the_embedder_to_the_last_bit(box: Box, kind: str) -> None:
    """Numbers in JSON lose nothing."""
    texts = ["the heron", "水やりの間隔", "a b c " * 500]
    answer = box.ask("POST", "/embeddings", {"input": texts, "input_type": kind}).value
    embedder = box.brain.embedder()
    near = embedder.embed_queries(texts) if kind == "query" else embedder.embed_documents(texts)
    far = np.array([entry["embedding"] for entry in answer["data"]], dtype=np.float32)
    assert (far == near).all()
    assert (answer["model"], answer["dimensions"]) == (embedder.identity, embedder.dimensions)
    assert [entry["index"] for entry in answer["data"]] == [0, 1, 2]


def test_the_forms_of_other_clients_are_understood(box: Box) -> None:
    """One text alone, and the fields that OpenAI's client sends."""
    reply = box.ask("POST", "/embeddings", {"input": "heron", "model": "hashing-256/1", "encoding_format": "float"})
    assert (reply.value["object"], reply.value["data"][0]["object"]) == ("list", "embedding")


class _Longest:
    """A cross-encoder that likes long passages."""

    identity = "longest/1"

    def score(self, query: str, texts: list[str], *, deadline_s: float) -> Any:
        return np.array([len(text) / 3 for text in texts], dtype=np.float32)


def test_a_brain_can_rerank_for_another(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the client that models.yaml of the other brain makes, scores are the same."""
    monkeypatch.setattr(Brain, "reranker", lambda self: _Longest())
    settings = box.brain.settings
    named = replace(settings, models=replace(settings.models, reranker="some/model"))
    monkeypatch.setattr(Brain, "settings", property(lambda self: named))
    far = HttpReranker(f"http://127.0.0.1:{box.port}/api/v1", key=box.token)
    texts = ["aa", "a", "水やり", "aaaa"]
    assert list(far.score("q", texts, deadline_s=20)) == list(_Longest().score("q", texts, deadline_s=1))
    far._endpoint.close()
    best = box.ask("POST", "/rerank", {"query": "q", "documents": texts, "top_n": 1}).value
    assert [entry["index"] for entry in best["results"]] == [3]


# -- generations and consumers -------------------------------------------------------------------------------


def test_another_generation_than_expected_is_refused_aloud(box: Box) -> None:
    """Never a silently different answer; who expects the current one, or none, is answered."""
    for path, body in (("/search", {"query": "heron"}), ("/search/stream", {"query": "heron"})):
        refused = box.ask("POST", path, body, Brain_Expects="g7")
        assert (refused.status, refused.error["kind"]) == (409, "GenerationMismatch")
        assert "'g7' is expected" in refused.error["message"]
        assert box.ask("POST", path, body, Brain_Expects=box.brain.generation).status == 200


def test_a_consumer_that_names_itself_is_remembered(box: Box) -> None:
    """Name, version and what it expects: no address, no token, no question."""
    told = {"Brain_Consumer": "laptop of 春", "Brain_Consumer_Version": "0.1.0", "Brain_Expects": "g7"}
    sent = {name: value.encode().decode("latin-1") for name, value in told.items()}
    assert box.ask("POST", "/search", {"query": "hush"}, **sent).status == 409
    _until(lambda: (box.brain.settings.home / fleet.FILE).exists())
    (known,) = [c for c in fleet.consumers(box.brain.settings) if c.name == "laptop of 春"]
    assert (known.version, known.expects) == ("0.1.0", "g7")
    written = (box.brain.settings.home / fleet.FILE).read_text()
    assert not any(secret in written for secret in ("127.0.0.1", "hush", box.token[:12]))
    assert [c.name for c in fleet.stale(box.brain.settings, "g8")] == ["laptop of 春"]
    refused = box.ask("GET", "/status", Brain_Consumer="a" * 65)
    assert (refused.status, refused.error["kind"]) == (400, "UsageError")


# -- counts --------------------------------------------------------------------------------------------------


def test_metrics_count_requests_searches_and_tokens_and_name_nothing(box: Box) -> None:
    """By endpoint, status, mode and stage; never a query, a path or a name."""
    box.ask("POST", "/search", {"query": "unmistakable heron", "mode": "agentic"})
    box.ask("GET", "/documents/unmistakable")
    text = box.metrics()
    assert 'brain_requests_total{endpoint="document",status="404"}' in text
    assert 'brain_search_seconds_count{mode="agentic",stage="all"}' in text
    assert 'brain_search_seconds_bucket{le="0.1",mode="agentic",stage="lexical"}' in text
    assert "brain_index_documents 35.0" in text
    assert f'brain_index_info{{generation="{box.brain.generation}"' in text
    assert not any(word in text for word in ("unmistakable", "vault", "heron", "pump.md", "all up"))
    answer, document = (float(_value(text, f"brain_{which}_tokens_total")) for which in ("answer", "document"))
    assert answer > 0
    assert document > 0


def _value(text: str, name: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(name + " ")]
    return line.split()[1]


def test_metrics_are_for_this_machine_and_for_tokens(box: Box) -> None:
    """A request that a proxy handed on names another host: it needs a token, and sees what that shows."""
    (box.brain.settings.home / "settings.yaml").write_text("public_hosts: [notes.example]\n")
    try:
        assert box.ask("GET", "//metrics", token="", Host="notes.example").status == 401
        shown = box.ask("GET", "//metrics", token=box.guest, Host="notes.example")
        assert b"brain_index_documents 34.0" in shown.data
    finally:
        (box.brain.settings.home / "settings.yaml").unlink()


def test_searches_of_agents_over_http_are_counted_too(box: Box) -> None:
    """The tools and the API share their counts."""

    def count() -> float:
        name = 'brain_search_seconds_count{mode="lexical",stage="all"}'
        return float(next((line.split()[-1] for line in box.metrics().splitlines() if line.startswith(name)), "0"))

    before = count()
    headers = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opened = box.ask("POST", "//mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, **headers)
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"], **headers}
    box.ask("POST", "//mcp", {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}, **session)
    call = {"name": "search_knowledge", "arguments": {"query": "heron", "mode": "lexical"}}
    answer = box.ask("POST", "//mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, **session)
    assert b"heron" in answer.data
    assert count() == before + 1


def test_a_kept_connection_answers_without_delay(box: Box) -> None:
    """Head and body of a small answer leave at once: 40 requests take no 40 times the system's delayed ACK (40 ms)."""
    connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=30)
    taken = []
    for _ in range(15):
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        taken.append(time.perf_counter() - began)
    connection.close()
    assert min(taken[1:]) < 0.03


def test_a_server_that_only_reads_takes_no_files_from_anybody(tmp_path: Path) -> None:
    """Whatever the token may do elsewhere."""
    with running_box(indexed_home(tmp_path), read_only=True) as box:
        assert box.ask("POST", "/documents/sync", {"source": "laptop"}).status == 403
        assert box.ask("POST", "/search", {"query": "heron"}).status == 200


def test_an_unknown_filter_type_is_never_taken_for_everything(box: Box) -> None:
    """A filter that is null, a list or a text is refused."""
    for wrong in (None, [], "x", 5):
        reply = box.ask("POST", "/search", {"query": "heron", "filter": wrong})
        assert isinstance(wire.error_of(reply.status, reply.data), UsageError)
    assert Filter().privacy is None
