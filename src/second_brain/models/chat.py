"""A chat model behind an OpenAI-compatible endpoint: Ollama, LM Studio, vLLM, OpenAI, Gemini, Anthropic's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import ModelError
from ..protocols import Completion, Message
from .endpoint import Endpoint, Refused

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


class OpenAiChat:
    """``POST <url>/chat/completions``. A request that may have been paid for is never sent twice.

    Args:
        url: up to and with the version, ``http://127.0.0.1:11434/v1``.
        model: as the endpoint names it.
        key: the bearer token, '' for none.
    """

    def __init__(self, url: str, model: str, *, key: str = "") -> None:
        self._endpoint = Endpoint(url, key=key)
        self._model = model
        self._limit_name = "max_tokens"

    @property
    def identity(self) -> str:
        """Endpoint and model."""
        return f"{self._endpoint.url} {self._model}"

    def complete(self, messages: Sequence[Message], *, max_tokens: int, deadline_s: float) -> Completion:
        """The answer, without a model's thoughts in ``<think>`` tags.

        Raises:
            DeadlineMissed: nothing complete in time; the endpoint may have worked, and counted, all the same.
            Refused: the request was not taken (key, model, content).
            ModelError: no connection, a cut answer, or one of another form.
        """
        asked: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": False,
        }
        try:
            answer = self._post({**asked, self._limit_name: max_tokens}, deadline_s)
        except Refused as refused:
            if self._limit_name not in refused.said or "max_completion_tokens" not in refused.said:
                raise
            self._limit_name = "max_completion_tokens"  # newer models of OpenAI know only this name
            answer = self._post({**asked, self._limit_name: max_tokens}, deadline_s)
        return self._completion(answer)

    def _post(self, body: dict[str, Any], deadline_s: float) -> Any:
        return self._endpoint.post("/chat/completions", body, deadline_s=deadline_s, repeatable=False)

    def _completion(self, answer: Any) -> Completion:
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text = message.get("content")
            refusal = message.get("refusal")
            usage = answer.get("usage") or {}
            prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ModelError(
                f"{self.identity} answered in another form than a chat completion", hint="check the url in models.yaml"
            ) from error
        if refusal and not text:
            raise ModelError(f"{self.identity} declined: {str(refusal)[:200]}")
        if not isinstance(text, str) or not text.strip():
            raise ModelError(f"{self.identity} answered without text")
        return Completion(
            text=_THOUGHTS.sub("", text),
            prompt_tokens=prompt if isinstance(prompt, int) else 0,
            completion_tokens=completion if isinstance(completion, int) else 0,
            truncated=choice.get("finish_reason") == "length",
        )
