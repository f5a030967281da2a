"""Who asks over HTTP, and what they get to work with: by token, and by nothing else."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Sequence

import anyio
import anyio.abc

from .adapter import Sessions, make_server
from .brains import Brains
from .desk import Desk
from .places import graph_file
from .tokens import Token, matching, tokens
from .toolsets import chosen


class Callers:
    """The desks and sessions of those who may ask. Tokens are read anew: a removed one is worthless at once."""

    def __init__(self, brains: Brains, toolsets: Sequence[str], *, read_only: bool) -> None:
        self._brains = brains
        self._toolsets = toolsets
        self._read_only = read_only
        self._sessions: dict[Token, Sessions] = {}
        self._tasks: anyio.abc.TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which they are answered."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def token(self, authorization: str) -> Token | None:
        """Who sends this header, None for nobody."""
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            return None
        return matching(tokens(self._brains.seen_by("").settings), text.strip())

    def desk(self, token: Token) -> Desk:
        """A place to work for whoever has this token: what it shows, and whether it may change anything."""
        read_only = self._read_only or not token.changes
        return Desk(self._brains, token.privacy, read_only, graph=graph_file(None, os.environ))

    async def sessions(self, token: Token) -> Sessions:
        """The sessions of whoever has this token."""
        assert self._tasks is not None, "asked outside of `running`"
        if token not in self._sessions:
            desk = self.desk(token)
            tools = chosen(self._toolsets, read_only=desk.read_only)
            self._sessions[token] = Sessions(make_server(tools, desk))
            await self._tasks.start(_keep, self._sessions[token])
        return self._sessions[token]


async def _keep(sessions: Sessions, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    async with sessions.running():
        task_status.started()
        await anyio.sleep_forever()
