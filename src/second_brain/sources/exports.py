"""The conversations of ChatGPT and Claude.ai, as their exports hold them.

Both are a ``conversations.json`` (large ones in parts, ``conversations-000.json`` and so on), in a folder or still in
the zip. Which of the two it is, its shape says: ``mapping`` is ChatGPT's, ``chat_messages`` is Claude.ai's.
"""

from __future__ import annotations

import os
import re
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from ..errors import ParseError, SourceError
from ..protocols import Scan
from ..transcripts import MEDIA_TYPE, Transcript
from ..types import Item, Json
from .conversation import Conversation, moment
from .fingerprints import fingerprint, modified
from .json_lines import Losses, elements, listing, mapping, text_of
from .paths import compose
from .sessions import SessionFolder
from .walking import Reach, reach_of_file

_NAMED = re.compile(r"conversations(?:[-_ (].*)?\.json", re.IGNORECASE)
_ZIP = b"PK\x03\x04"


class _Export(SessionFolder):
    """An export: a folder with its files or with zips, one such file, or a zip.

    The user put it there, so that what is taken away is taken back.
    """

    exhaustive = True
    takes_files = True

    def __init__(
        self,
        name: str,
        root: Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        skip_dirs: Sequence[Path] = (),
    ) -> None:
        super().__init__(name, root, include=include, exclude=exclude, skip_dirs=skip_dirs)
        self._file = b""
        if os.path.isfile(self._root):
            self._root, self._file = os.path.split(self._root)

    def wanted(self, name: str) -> bool:
        """Whether a file is a part of an export, or a zip that may be one."""
        return bool(_NAMED.fullmatch(name)) or name.lower().endswith(".zip")

    def scan(self) -> Scan:
        """List the files of the export, or the one that it is. Raises SourceError when there is none."""
        if not self._file:
            return super().scan()
        path = os.path.join(self._root, self._file)
        try:
            status = os.stat(path)
        except OSError as error:
            raise SourceError(
                f"source '{self.name}': {os.fsdecode(path)}: {error.strerror}", hint="restore the file"
            ) from error
        uri = f"{self.name}/{compose(self._file.decode('utf-8', 'replace'))}"
        shown = path.decode("utf-8", "replace")
        mark = fingerprint(status, time.time_ns())
        return Scan((Item(uri, self.name, shown, MEDIA_TYPE, mark, modified(status), status.st_size),))

    def reach(self) -> Reach:
        """Where the files of the export can lie, or the one that it is. Raises SourceError when there is no folder."""
        return reach_of_file(self._root, self._file) if self._file else super().reach()

    def binary(self, head: bytes) -> bool:
        """A zip is binary, and is opened."""
        return not head.startswith(_ZIP) and super().binary(head)

    def condense(self, item: Item, stream: IO[bytes]) -> Transcript | None:
        """What is kept of every conversation in a file."""
        losses, made = Losses(), Conversation(self.kind.removesuffix("-export"))
        known: set[str] = set()
        try:
            for element in _elements(item, stream, losses):
                for conversation in _conversations(element):
                    key = _text(conversation, "uuid", "conversation_id", "id") or f"{len(known) + 1}"
                    if key not in known and conversation.get("is_do_not_remember") is not True:
                        add = _chatgpt if "mapping" in conversation else _claude
                        add(made, key, conversation)
                    known.add(key)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            # RuntimeError: it has a password
            message = f"{item.path} is a zip that cannot be read: {error}"
            raise ParseError(message, hint="unpack it, or download it again") from error
        if not known and (losses.broken or losses.long):
            return None
        return made.transcript(warnings=losses.warnings())


class ChatGptExport(_Export):
    """What ChatGPT sends by mail: conversations, the branch that was last shown of each."""

    kind = "chatgpt-export"


class ClaudeExport(_Export):
    """What Claude.ai sends by mail."""

    kind = "claude-export"


def _elements(item: Item, stream: IO[bytes], losses: Losses) -> Iterator[dict[str, Json]]:
    """The objects of the file itself, or of those in the zip that hold conversations, in order of name."""
    first = stream.read(len(_ZIP))
    stream.seek(0)
    if first != _ZIP:
        yield from elements(stream, losses)
        return
    with zipfile.ZipFile(stream) as archive:
        names = sorted(name for name in archive.namelist() if _NAMED.fullmatch(name.rpartition("/")[2]))
        if not names:
            message = f"{item.path} holds no conversations.json"
            raise ParseError(message, hint="take other zips out of the folder, or exclude them")
        for name in names:
            with archive.open(name) as part:
                yield from elements(part, losses)


def _conversations(element: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """An element of the array if it is a conversation, or those inside it."""
    if "mapping" in element or "chat_messages" in element:
        yield element
    for inner in map(mapping, listing(element.get("conversations"))):
        yield from _conversations(inner)


def _text(value: dict[str, Json], *names: str) -> str:
    """The first of these fields that is a text and not empty."""
    return next(filter(None, (text_of(value.get(name)) for name in names)), "")


# -- ChatGPT -----------------------------------------------------------------------------------------------------


def _chatgpt(made: Conversation, key: str, conversation: dict[str, Json]) -> None:
    made.note("custom-title", text_of(conversation.get("title")), session=key)
    made.note("model", text_of(conversation.get("default_model_slug")), session=key)
    for message in _branch(conversation):
        role, told = mapping(message.get("author")).get("role"), mapping(message.get("metadata"))
        hidden = told.get("is_visually_hidden_from_conversation") is True or told.get("is_user_system_message") is True
        if hidden or role not in ("user", "assistant") or message.get("recipient") not in ("all", None):
            continue
        content = mapping(message.get("content"))
        if content.get("content_type") in ("text", "multimodal_text", "code", None):
            made.say(
                "user" if role == "user" else "assistant",
                "\n\n".join(filter(None, map(_part, [*listing(content.get("parts")), content.get("text")]))),
                time=moment(message.get("create_time") or conversation.get("create_time")),
                id=text_of(message.get("id")),
                session=key,
            )


def _part(part: Json) -> str:
    if isinstance(part, str):
        return part
    asset = mapping(part)
    return text_of(asset.get("text")) or ("[picture]" if "asset_pointer" in asset else "")


def _branch(conversation: dict[str, Json]) -> list[dict[str, Json]]:
    """The messages from the first to the current one; all by time where that way is cut or a circle."""
    nodes = mapping(conversation.get("mapping"))
    at, way, passed = text_of(conversation.get("current_node")), [], set()
    while at in nodes and at not in passed:
        passed.add(at)
        node = mapping(nodes[at])
        way.append(mapping(node.get("message")))
        parent = node.get("parent")
        if parent is None:
            return way[::-1]
        at = text_of(parent)
    messages = [mapping(mapping(node).get("message")) for node in nodes.values()]
    return sorted(messages, key=lambda message: moment(message.get("create_time")))


# -- Claude.ai ---------------------------------------------------------------------------------------------------


def _claude(made: Conversation, key: str, conversation: dict[str, Json]) -> None:
    made.note("custom-title", text_of(conversation.get("name")), session=key)
    for message in map(mapping, listing(conversation.get("chat_messages"))):
        blocks = map(mapping, listing(message.get("content")))
        words = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
        text = "\n\n".join(filter(None, words)) or text_of(message.get("text"))
        files = [*listing(message.get("attachments")), *listing(message.get("files"))]
        names = dict.fromkeys(filter(None, (text_of(mapping(file).get("file_name")) for file in files)))
        made.say(
            "user" if message.get("sender") == "human" else "assistant",
            "\n\n".join(filter(None, (text, *(f"[{name}]" for name in names)))),
            time=moment(message.get("created_at") or conversation.get("created_at")),
            id=text_of(message.get("uuid")),
            session=key,
        )
