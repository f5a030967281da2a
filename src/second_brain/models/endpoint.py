"""Posts JSON to a model behind HTTP: with a deadline, few retries where they are safe, and errors that say what to do.

The one module that imports an HTTP client. What is sent leaves this process: callers ask for consent first.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import DeadlineMissed, MissingExtra, ModelError

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 32 << 20
FIRST_WAIT_S = 0.5
"""Before the second try; doubled for each further one, with up to half of it at random on top."""

NOT_TAKEN = (429, 503)
"""Statuses by which a server says that it did not begin the work."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Refused(ModelError):
    """The endpoint understood the request and will not answer it; ``status`` is its HTTP status, ``said`` its words."""

    def __init__(self, message: str, *, status: int, said: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.said = said


def is_loopback(url: str) -> bool:
    """Whether what is sent there stays on this machine."""
    return (urlsplit(url).hostname or "") in LOOPBACK


class Endpoint:
    """One base URL. Safe to use from many threads; connections are kept open.

    Args:
        url: with scheme; a path is kept.
        key: sent as a bearer token, if there is one, and never shown.
    """

    def __init__(self, url: str, *, key: str = "") -> None:
        self.url = url.rstrip("/")
        self._key = key
        self._client: httpx2.Client | None = None

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
        if self._client is not None:
            self._client.close()
            self._client = None

    def _once(self, path: str, body: Mapping[str, Any], ends: float) -> Any:
        httpx = _library()
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            # A proxy from the environment must not see what is meant for this machine.
            self._client = httpx.Client(headers=headers, trust_env=not is_loopback(self.url), follow_redirects=False)
        url = self.url + path
        left = ends - time.monotonic()
        if left <= 0:
            raise DeadlineMissed(f"{url} did not answer in time")
        try:
            with self._client.stream("POST", url, json=body, timeout=httpx.Timeout(left)) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if time.monotonic() > ends:
                        raise DeadlineMissed(f"{url} did not finish its answer in time")
                    if len(data) > MAX_ANSWER_BYTES:
                        raise ModelError(f"{url} answered more than {MAX_ANSWER_BYTES >> 20} MB")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            hint = "start the server, or correct the url in models.yaml"
            raise _Again(ModelError(f"{url} cannot be reached: {error}", hint=hint), untouched=True) from error
        except httpx.TimeoutException as error:
            raise DeadlineMissed(f"{url} did not answer in time") from error
        except httpx.HTTPError as error:
            cut = ModelError(f"{url} ended the connection before its answer was complete: {error}")
            raise _Again(cut, untouched=False) from error
        return self._answer(url, response.status_code, response.headers.get("retry-after", ""), bytes(data))

    def _answer(self, url: str, status: int, retry_after: str, data: bytes) -> Any:
        said = _words(data)
        if status in NOT_TAKEN:
            busy = ModelError(f"{url} is busy (HTTP {status}): {said}", hint="wait, or ask for less at once")
            raise _Again(busy, untouched=True, wait_s=_seconds(retry_after))
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


def _library() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise MissingExtra("a model behind HTTP", "http") from error
    return httpx2


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
