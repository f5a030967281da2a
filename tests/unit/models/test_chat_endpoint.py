"""A chat model behind HTTP, against a real server on loopback that misbehaves in every way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from second_brain.errors import BrainError, DeadlineMissed, ModelError
from second_brain.models.chat import OpenAiChat
from second_brain.models.endpoint import Refused
from second_brain.protocols import ChatModel, Completion, Message
from second_brain.testing.loopback import Answer, Asked, Loopback, chat_answer

HELLO = (Message("system", "Be brief."), Message("user", "ポンプ?"))


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    """Starts a server that gives these answers one after the other, the last one for ever."""
    with ExitStack() as stack:

        def start(*answers: Answer) -> Loopback:
            left: list[Answer] = list(answers)

            def respond(asked: Asked) -> Answer:
                return left.pop(0) if len(left) > 1 else left[0]

            return stack.enter_context(Loopback(respond).running())

        yield start


def ask(server: Loopback, *, key: str = "", deadline_s: float = 20.0) -> Completion:
    """What a model behind the server answers."""
    model = OpenAiChat(server.url + "/v1", "small", key=key)
    assert isinstance(model, ChatModel)
    return model.complete(HELLO, max_tokens=50, deadline_s=deadline_s)


def test_it_speaks_the_protocol(serve):
    """Path, model, messages, limit and bearer key go out; text and token counts come back."""
    server = serve(chat_answer("It leaks.", prompt_tokens=12, completion_tokens=3))
    assert ask(server, key="k-1") == Completion("It leaks.", 12, 3)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == "Bearer k-1"
    assert asked.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ポンプ?"}],
        "stream": False,
        "max_tokens": 50,
    }


def test_without_a_key_none_is_sent(serve):
    """Local servers have none."""
    server = serve(chat_answer("x"))
    ask(server)
    assert "Authorization" not in server.asked[0].headers


def test_thoughts_are_left_out_and_a_cut_answer_says_so(serve):
    """A reasoning model's <think> block is no answer; finish_reason 'length' is told."""
    server = serve(chat_answer("<think>hm\nhm</think>\n\nYes. <think> is a tag.", finish="length"))
    assert ask(server) == Completion("Yes. <think> is a tag.", 10, 5, truncated=True)


def test_a_busy_server_is_asked_again_after_the_time_it_names(serve):
    """429 with Retry-After: the wait is kept, then the answer comes."""
    server = serve(Answer({"error": {"message": "slow down"}}, 429, {"Retry-After": "1"}), chat_answer("now"))
    began = time.monotonic()
    assert ask(server).text == "now"
    assert time.monotonic() - began >= 1
    assert len(server.asked) == 2


def test_a_wait_longer_than_the_deadline_is_not_begun(serve):
    """The error comes at once and names status and words."""
    server = serve(Answer({"error": {"message": "tomorrow"}}, 429, {"Retry-After": "86400"}))
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"busy \(HTTP 429\): tomorrow"):
        ask(server, deadline_s=5)
    assert time.monotonic() - began < 4
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer({"error": {"message": "boom"}}, 500), r"failed \(HTTP 500\): boom"),
        (Answer(data=b'{"choices": [', cut_at=5), "ended the connection"),
        (Answer(data=b"<html>login</html>"), "answered no JSON"),
        (Answer({"data": []}), "another form"),
        (Answer({"choices": []}), "another form"),
        (Answer([1]), "another form"),
        (chat_answer("  "), "without text"),
        (Answer({"choices": [{"message": {"content": None, "refusal": "I will not."}}]}), "declined: I will not"),
    ],
)
def test_what_may_have_been_paid_for_is_not_sent_twice(serve, answer, problem):
    """A cut, broken or failed answer is an error after one request."""
    server = serve(answer)
    with pytest.raises(ModelError, match=problem):
        ask(server)
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", [Answer(chat_answer("late").body, delay_s=3), chat_answer("x")])
def test_a_slow_answer_misses_the_deadline(serve, answer):
    """So does one that never had time."""
    server = serve(answer)
    with pytest.raises(DeadlineMissed):
        ask(server, deadline_s=0.3 if answer.delay_s else 0.0)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 302])
def test_a_refusal_names_status_and_words_and_never_the_key(serve, status):
    """It will not change by waiting: one request."""
    server = serve(Answer({"error": {"message": "no such\nmodel"}}, status))
    with pytest.raises(Refused) as caught:
        ask(server, key="sk-very-secret")
    assert f"HTTP {status}" in str(caught.value)
    assert "no such model" in str(caught.value)
    assert "models.yaml" in caught.value.hint
    assert "sk-very-secret" not in str(caught.value) + caught.value.hint + repr(caught.value.__cause__)
    assert len(server.asked) == 1


def test_a_model_that_knows_the_limit_by_its_newer_name_is_told_so(serve):
    """The refusal costs nothing, and the name is remembered."""
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server = serve(Answer({"error": {"message": words}}, 400), chat_answer("one"), chat_answer("two"))
    model = OpenAiChat(server.url, "new")
    assert model.complete(HELLO, max_tokens=9, deadline_s=20).text == "one"
    assert model.complete(HELLO, max_tokens=9, deadline_s=20).text == "two"
    assert [asked.body.get("max_completion_tokens") for asked in server.asked] == [None, 9, 9]
    assert "max_tokens" not in server.asked[2].body


def test_a_server_that_is_not_there_is_named(serve):
    """The url, and what to do."""
    server = serve(chat_answer("x"))
    model = OpenAiChat("http://127.0.0.1:9", "small")
    assert server.asked == []
    with pytest.raises(ModelError, match=r"http://127.0.0.1:9/chat/completions cannot be reached") as caught:
        model.complete(HELLO, max_tokens=5, deadline_s=1)
    assert isinstance(caught.value, BrainError)
    assert "models.yaml" in caught.value.hint
