"""Posts JSON to a model behind HTTP: with a deadline, few retries where they are safe, and errors that say what to do.

What is sent leaves this process: callers ask for consent first.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import Any

from ..errors import DeadlineMissed, ModelError
from .transport import CutOff, NotReached, Reply, TooLate, TooMuch, Transport

MAX_ANSWER_BYTES = 32 << 20
FIRST_WAIT_S = 0.5
"""Before the second try; doubled for each further one, with up to half of it at random on top."""

NOT_TAKEN = (429, 503)
"""Statuses by which a server says that it did not begin the work."""


class Refused(ModelError):
    """The endpoint understood the request and will not answer it; ``status`` is its HTTP status, ``said`` its words."""

    def __init__(self, message: str, *, status: int, said: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.said = said


class Endpoint:
    """One base URL. Safe to use from many threads; connections are kept open.

    Args:
        url: with scheme; a path is kept.
        key: sent as a bearer token, if there is one, and never shown.
    """

    def __init__(self, url: str, *, key: str = "") -> None:
        self.url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._transport = Transport(self.url, headers, purpose="a model behind HTTP")

    def post(self, path: str, body: Mapping[str, Any], *, deadline_s: float, repeatable: bool) -> Any:
        """The JSON that the endpoint answers.

        A request that surely was not begun (no connection, 429, 503) is sent again until the deadline; one whose fate
        is unknown (cut off, a server error) only if ``repeatable``, and once.

        Raises:
            DeadlineMissed: no answer within ``deadline_s`` seconds of wall time, waiting included.
            Refused: a status of 400 and above that will not change by waiting.
            ModelError: no connection, a cut answer, or no JSON.
        """
        ends = time.monotonic() + deadline_s
        wait, repeats = FIRST_WAIT_S, int(repeatable)
        while True:
            try:
                return self._once(path, body, ends)
            except _Again as again:
                if not again.untouched:
                    if not repeats:
                        raise again.error from again.__cause__
                    repeats -= 1
                pause = max(again.wait_s, wait * (1 + random.random() / 2))
                if time.monotonic() + pause >= ends:
                    raise again.error from again.__cause__
                time.sleep(pause)
                wait *= 2

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _once(self, path: str, body: Mapping[str, Any], ends: float) -> Any:
        try:
            reply = self._transport.exchange(
                "POST",
                self.url + path,
                content=json.dumps(body).encode("utf-8"),
                headers={"Content-Type": "application/json"},
                ends=ends,
                most_bytes=MAX_ANSWER_BYTES,
            )
        except NotReached as error:
            hint = "start the server, or correct the url in models.yaml"
            raise _Again(ModelError(str(error), hint=hint), untouched=True) from error
        except TooLate as error:
            raise DeadlineMissed(str(error)) from error
        except CutOff as error:
            raise _Again(ModelError(str(error)), untouched=False) from error
        except TooMuch as error:
            raise ModelError(str(error)) from error
        return self._answer(self.url + path, reply)

    def _answer(self, url: str, reply: Reply) -> Any:
        status, data = reply.status, reply.data
        said = _words(data)
        if status in NOT_TAKEN:
            busy = ModelError(f"{url} is busy (HTTP {status}): {said}", hint="wait, or ask for less at once")
            raise _Again(busy, untouched=True, wait_s=_seconds(reply.headers.get("retry-after", "")))
        if status >= 500:
            raise _Again(ModelError(f"{url} failed (HTTP {status}): {said}"), untouched=False)
        if status >= 300:
            hint = {
                401: "check the key: models.yaml names the environment variable that holds it",
                403: "check the key: models.yaml names the environment variable that holds it",
                404: "check url and model in models.yaml",
            }.get(status, "check url and model in models.yaml")
            raise Refused(f"{url} refused (HTTP {status}): {said}", status=status, said=said, hint=hint)
        try:
            return json.loads(data)
        except ValueError as error:
            raise ModelError(f"{url} answered no JSON: {said}", hint="check the url in models.yaml") from error


class _Again(Exception):
    """A try that failed and may be repeated; ``untouched``: the server surely did nothing."""

    def __init__(self, error: ModelError, *, untouched: bool, wait_s: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.untouched = untouched
        self.wait_s = wait_s


def _words(data: bytes) -> str:
    """The message in an error's body, shortened to a line."""
    text = data[:4096].decode("utf-8", "replace")
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        found = found.get("message", found) if isinstance(found, dict) else found
        text = found if isinstance(found, str) else json.dumps(found)
    except ValueError:
        pass
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:199] + "…"


def _seconds(retry_after: str) -> float:
    """The header's seconds; 0 where it is missing or a date."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return 0.0
