"""A box that does not answer is a state with a name; what is kept here answers in its place, and says so."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.config import RemoteSettings
from second_brain.errors import Busy, ConfigError, GenerationMismatch, NotAllowed, NotFound, Unreachable
from second_brain.remote.answers import Answers, Kept
from second_brain.remote.brain import RemoteBrain
from second_brain.remote.connection import Line
from second_brain.testing.cutting_proxy import CuttingProxy
from second_brain.testing.loopback import Answer, Asked, Loopback
from second_brain.types import Filter
from second_brain.wire import SearchAnswer

NOTES = {"pump.md": "# Pump\n\nThe pump cavitates when the strainer clogs.\n", "soup.md": "# Soup\n\nMiso and clams.\n"}


class Clock:
    """Monotonic seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def refuse(line: CuttingProxy) -> None:
    line.mode = "refuse"


def swallow(line: CuttingProxy) -> None:
    line.mode = "swallow"


def cut_head(line: CuttingProxy) -> None:
    line.down = 20


def cut_body(line: CuttingProxy) -> None:
    line.down = 700


def slow(line: CuttingProxy) -> None:
    line.delay_s = 1.5


STATES: dict[str, tuple[Callable[[CuttingProxy], None], str]] = {
    "refused": (refuse, "ended the connection before its answer was complete"),
    "swallowed": (swallow, "did not answer in time"),
    "cut in the head": (cut_head, "ended the connection before its answer was complete"),
    "cut in the answer": (cut_body, "ended the connection before its answer was complete"),
    "slow": (slow, "did not answer in time"),
}


@pytest.mark.parametrize("state", STATES)
def test_each_way_to_lose_the_box_is_told_and_the_kept_answer_comes(
    state: str, box: Any, line: CuttingProxy, laptop: Callable[..., RemoteBrain]
) -> None:
    """The same question is answered by what was answered before, with the time and the reason; another one fails."""
    box.index(NOTES)
    remote = laptop(url=line.url, timeout_s=1)
    before = remote.search("strainer")
    break_line, words = STATES[state]
    box.index({"more.md": "# More\n\nOther words.\n"})  # so that the answer is a whole one, not "unchanged"
    line.cut_all()
    break_line(line)
    after = remote.search("strainer")
    assert after.hits == before.hits
    assert re.match(r"answered from the cache of (\d{4}-\d\d-\d\d )?\d\d:\d\d, the box", after.notices[0])
    assert f"the box cannot be reached: {line.url} {words}" in after.notices[0]
    with pytest.raises(Unreachable, match=words) as caught:
        remote.search("another question")
    assert "brain serve" in caught.value.hint
    assert "brain index" in caught.value.hint


def test_it_recovers_by_itself(box: Any, line: CuttingProxy, laptop: Callable[..., RemoteBrain]) -> None:
    """When the box is back, the next question after the rest is answered by it, without a word of the past."""
    box.index(NOTES)
    remote = laptop(url=line.url, timeout_s=5)
    line.mode = "refuse"
    with pytest.raises(Unreachable):
        remote.search("strainer")
    line.restore()
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        try:
            result = remote.search("strainer")
            break
        except Unreachable:
            time.sleep(0.1)
    assert result.notices == box.brain.search("strainer").notices


def test_while_the_box_rests_no_question_waits(box: Any, line: CuttingProxy) -> None:
    """After a failure nobody is connected for a while, which doubles; then one question tries, and others do not."""
    clock = Clock()
    settings = RemoteSettings(url=line.url, timeout_s=5)
    own = Line(settings, box.tokens["all"], "laptop", clock=clock)
    line.mode = "refuse"
    rests = []
    for _ in range(8):
        with pytest.raises(Unreachable, match="ended the connection"):
            own.reply("GET", "/status")
        taken = line.connections
        with pytest.raises(Unreachable, match=r"tried again in \d+ s"):
            own.reply("GET", "/status")
        assert line.connections == taken
        began = clock.now
        while True:
            clock.now += 0.25
            try:
                own._may_try()
                own._trying = False
                break
            except Unreachable:
                continue
        rests.append(clock.now - began)
    assert rests[0] < 2
    assert 20 < rests[-1] <= 39
    line.restore()
    assert own.reply("GET", "/status").status == 200
    assert own.reply("GET", "/status").status == 200
    own.close()


def test_without_an_answer_the_local_index_answers_by_word(
    box: Any, line: CuttingProxy, tmp_path: Path, laptop: Callable[..., RemoteBrain]
) -> None:
    """Search, notes, recents and status come from this machine's own index, each with the state of the box."""
    box.index(NOTES)
    remote = laptop(url=line.url, timeout_s=5)
    with Brain.open(tmp_path / "laptop", environment={}) as own:
        (tmp_path / "local").mkdir()
        (tmp_path / "local" / "heron.md").write_text("# Heron\n\nThe heron by the pump.\n")
        own.add(tmp_path / "local", name="local")
        own.sync()
    line.mode = "refuse"
    result = remote.search("heron")
    assert [hit.uri for hit in result.hits] == ["local/heron.md"]
    assert result.mode == "lexical"
    assert result.notices[0].startswith("answered by this machine's own index, by word only, the box cannot be reached")
    assert remote.get("Heron").notes[0].startswith("from this machine's own index, the box cannot be reached")
    assert [document.uri for document in remote.recent()] == ["local/heron.md"]
    assert remote.status().notices[0].startswith("of this machine's own index, the box cannot be reached")
    assert remote.facets().documents == 1
    with pytest.raises(Unreachable):
        remote.search("heron", filter=Filter(sources=("notes",)))


def test_a_note_is_read_from_its_file_when_nothing_else_is_left(
    box: Any, line: CuttingProxy, laptop: Callable[..., RemoteBrain]
) -> None:
    """A hit of before can be read from the file that it stands for here: by id, place and path."""
    root = box.index({"pump.md": "# Pump\n\nSee [[soup]]. token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'\n"})
    remote = laptop(url=line.url, timeout_s=5, paths={root: root})
    (hit,) = remote.search("pump").hits
    line.mode = "refuse"
    (short,) = remote.short_ids([hit.id]).values()
    for name in (hit.id, short, hit.uri, f"{hit.uri}:3", str(root / "pump.md")):
        note = remote.get(name)
        assert note.text.startswith("# Pump\n\nSee [[soup]]")
        assert "ghp_0123456789" not in note.text
        assert note.notes[0].startswith(f"the file {root / 'pump.md'} as it is on this machine now, the box cannot")
    with pytest.raises(Unreachable):
        remote.get("Soup")


@pytest.fixture
def strange() -> Iterator[tuple[Loopback, list[Answer]]]:
    """A server that gives these answers, the last one again and again."""
    answers: list[Answer] = []

    def respond(asked: Asked) -> Answer:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    with Loopback(respond).running() as server:
        yield server, answers


BRAIN = {"Brain-Generation": "g1", "Brain-Index": "x"}


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (Answer({"error": {"kind": "Oops", "message": "boom"}}, 500), Unreachable, r"failed \(HTTP 500\): boom"),
        (Answer(data=b"<html>bad gateway</html>", status=502), Unreachable, r"failed \(HTTP 502\).*bad gateway"),
        (Answer(data=b"<html>log in</html>"), Unreachable, "it is no brain"),
        (Answer(data=b"", status=302, headers={"Location": "/login"}), Unreachable, "it is no brain"),
        (Answer(data=b"<html>log in</html>", headers=BRAIN), Unreachable, "something else than a brain would"),
        (Answer(data=b'{"hits": 3}', headers=BRAIN), Unreachable, "something else than a brain would"),
        (Answer(data=b'{"query": "x", "mode"', headers=BRAIN), Unreachable, "something else than a brain would"),
        (Answer(data=b"{}", headers=BRAIN, cut_at=1), Unreachable, "before its answer was complete"),
        (Answer(data=b"Unauthorized", status=401), NotAllowed, "does not take the token"),
        (Answer({"error": {"kind": "NotAllowed", "message": "no"}}, 403), NotAllowed, "does not take the token: no"),
        (
            Answer({"error": {"kind": "GenerationMismatch", "message": "'g2' answers here"}}, 409),
            GenerationMismatch,
            "'g2' answers here",
        ),
        (Answer({"error": {"kind": "Busy", "message": "full", "retry_after_s": 2}}, 503), Busy, "full"),
    ],
)
def test_each_strange_answer_has_words_of_its_own(
    answer: Answer, error: type[Exception], words: str, strange: tuple[Loopback, list[Answer]], laptop: Any
) -> None:
    """A server's failure, a login page, half an answer, a refused token and another generation are told apart."""
    server, answers = strange
    answers.append(answer)
    with pytest.raises(error, match=words):
        laptop(url=server.url, timeout_s=5).search("pump")


def test_a_certificate_that_nobody_vouches_for_is_named(tmp_path: Path, box: Any, laptop: Any) -> None:
    """TLS that does not agree is its own state: here a server that speaks none."""
    with pytest.raises(Unreachable, match="cannot be trusted"):
        laptop(url=box.url.replace("http:", "https:"), timeout_s=5).search("pump")


def test_a_refused_token_shows_nothing_that_was_kept(
    box: Any, line: CuttingProxy, laptop: Callable[..., RemoteBrain]
) -> None:
    """What a token showed is not shown when it was taken back, although it is kept here."""
    from second_brain.servers.tokens import remove

    box.index(NOTES)
    remote = laptop(url=line.url)
    assert remote.search("strainer").hits
    remove(box.brain.settings, "all")
    with pytest.raises(NotAllowed, match="does not take the token"):
        remote.search("strainer")
    with pytest.raises(NotAllowed):
        remote.get("Pump")


def test_an_answer_of_another_generation_is_never_served(
    box: Any, line: CuttingProxy, laptop: Callable[..., RemoteBrain], tmp_path: Path
) -> None:
    """A kept answer counts while the generation is the one that answered last, or the pinned one."""
    box.index(NOTES)
    remote = laptop(url=line.url)
    remote.search("strainer")
    remote.search("miso")
    (kept_file,) = (tmp_path / "laptop").rglob("seen.json")
    kept_file.write_text('{"generation": "g7"}\n')
    line.mode = "refuse"
    line.cut_all()
    again = laptop(url=line.url)
    with pytest.raises(Unreachable):
        again.search("strainer")
    kept_file.write_text('{"generation": "g1"}\n')
    assert laptop(url=line.url).search("strainer").hits


def test_an_answer_that_still_holds_is_not_made_again(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """The box says 'unchanged' (304) while its index is; after a change it answers anew."""
    root = box.index(NOTES)
    remote = laptop()
    replies = []
    reply = remote.line.reply

    def counted(*args: Any, **options: Any) -> Any:
        replies.append(reply(*args, **options))
        return replies[-1]

    remote.line.reply = counted  # type: ignore[method-assign]
    first = remote.search("strainer")
    assert remote.search("strainer") == first
    assert remote.search("strainer", limit=3) == box_like(first)
    (root / "new.md").write_text("# New\n\nAnother strainer.\n")
    box.brain.sync()
    assert len(remote.search("strainer").hits) == len(first.hits) + 1
    assert [found.status for found in replies] == [200, 304, 200, 200]


def box_like(result: Any) -> Any:
    """Equal to a result of the same hits, whatever its timings."""

    class Same:
        def __eq__(self, other: object) -> bool:
            return getattr(other, "hits", None) == result.hits

        __hash__ = None  # type: ignore[assignment]

    return Same()


def test_the_cache_is_bounded_and_private(tmp_path: Path) -> None:
    """What was used longest ago goes; nobody else may read what is there; a damaged file is no answer."""
    answers = Answers(tmp_path / "answers", 20_000)
    now = datetime.now().astimezone()
    for number in range(200):
        text = f"{number} " + "".join(f"{n * number * 7919 % 100_003:x}" for n in range(200))
        answers.put(b"%d" % number, Kept("g1", "m", now - timedelta(minutes=1), SearchAnswer(text, "hybrid", (), ())))
    files = list((tmp_path / "answers").iterdir())
    assert sum(file.stat().st_size for file in files) < 40_000
    assert answers.get(b"0") is None
    kept = answers.get(b"199")
    assert kept is not None
    assert kept.answer.query.startswith("199 ")
    assert {file.stat().st_mode & 0o077 for file in files} == {0}
    assert (tmp_path / "answers").stat().st_mode & 0o077 == 0
    for file in files:
        file.write_bytes(file.read_bytes()[:-3])
    assert answers.get(b"199") is None
    off = Answers(tmp_path / "off", 0)
    off.put(b"1", kept)
    assert off.get(b"1") is None
    assert not (tmp_path / "off").exists()


def test_a_token_that_is_not_set_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """The variable is named, and what belongs into it."""
    (tmp_path / "settings.yaml").write_text("remote: {url: 'http://box:8765', token: $BOX_TOKEN}\n")
    with pytest.raises(ConfigError, match=r"from \$BOX_TOKEN, which is not set"):
        RemoteBrain.open(tmp_path, environment={})
    (tmp_path / "settings.yaml").write_text("")
    with pytest.raises(ConfigError, match="no box is named"):
        RemoteBrain.open(tmp_path, environment={})
    with pytest.raises(ConfigError, match="is no address"):
        RemoteBrain.open(tmp_path, url="ftp://box", environment={})


def test_errors_of_the_question_are_no_lost_connection(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """What the box says is wrong with a question never opens the local index."""
    box.index(NOTES)
    with pytest.raises(NotFound):
        laptop().get("nothing of this name")
