"""Retrieval sets in BEIR form, answered by the product: its chunker, index, embedder and retriever.

A set is a folder of ``corpus.jsonl`` (``_id``, ``title``, ``text``), ``queries.jsonl`` (``_id``, ``text``, and under
``metadata`` perhaps ``class`` and ``lang``) and ``qrels.tsv`` (query, document, grade; a header may stand first).
Thakur et al., NeurIPS 2021.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from .. import ingest, wiring
from ..config import Settings
from ..errors import UsageError
from ..index.lock import sync_lock
from ..index.sqlite.store import SqliteIndex
from ..protocols import Embedder, Progress
from ..records import Change, Removal, Replacement
from ..types import Block, Chunk, Document, Item, Section
from .answers import Place
from .caching import caching
from .questions import Question, read_lines
from .results import Evaluation, digest
from .systems import Plan, QuestionSet, evaluate

KINDS = {"cosqa-dev": "code"}
"""The kind of a set's documents where it is not prose: a source would know it, this form has no place for it."""

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")
WRITTEN_AT_ONCE = 500
WHEN = datetime(2000, 1, 1, tzinfo=UTC)
"""The date of every document: none is newer than another."""

_PARAGRAPH = re.compile(r"(?:^[^\S\n]*\S.*\n?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BeirSet:
    """A set, read. ``documents`` are (title, text) by id; ``data`` is the hash of the three files."""

    name: str
    documents: Mapping[str, tuple[str, str]]
    questions: tuple[Question, ...]
    data: str
    notices: tuple[str, ...] = ()


def load_beir(folder: Path) -> BeirSet:
    """Read a set; questions without a judgement are left out, as usual.

    Raises:
        UsageError: a file is missing or a line is not as described above; the message names it.
    """
    corpus, queries, qrels = (folder / name for name in FILES)
    documents = {id: (title, text) for id, title, text, _ in _rows(corpus)}
    questions = load_questions(folder)
    unknown = sum(document not in documents for question in questions for document in question.relevant)
    notices = [f"{unknown} judgements name documents that the corpus lacks: they count as not found"] if unknown else []
    data = digest(path.read_bytes() for path in (corpus, queries, qrels))
    return BeirSet(folder.name, documents, questions, data, tuple(notices))


def load_questions(folder: Path) -> tuple[Question, ...]:
    """The questions of a set that have a judgement, with the ids of the documents that answer.

    Raises:
        UsageError: a file is missing or a line is not as described above; the message names it.
    """
    _, queries, qrels = (folder / name for name in FILES)
    judged = _judgements(qrels)
    return tuple(Question(id, text, judged[id], groups) for id, _, text, groups in _rows(queries) if id in judged)


def _rows(file: Path) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """(id, title, text, groups) of each line's object."""
    for number, line in read_lines(file):
        try:
            row = json.loads(line)
            title, text = row.get("title") or "", row["text"]
            if not isinstance(title, str) or not isinstance(text, str):
                raise TypeError("title and text are to be strings")
            metadata = row.get("metadata") or {}
            groups = tuple(str(metadata[key]) for key in ("class", "lang") if metadata.get(key))
            yield str(row["_id"]), title, text, groups
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{file}:{number}: expected an object with '_id' and 'text', found {line[:60]!r} ({error})",
                hint="correct that line",
            ) from error


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    """By question the grades that are above 0. A first line whose grade is no number is the header."""
    judged: dict[str, dict[str, int]] = {}
    for number, line in read_lines(file):
        fields = line.rstrip("\r").split("\t")
        try:
            question, document, grade = fields[0], fields[1], int(fields[2])
        except (ValueError, IndexError) as error:
            if number == 1 and len(fields) == 3:
                continue
            raise UsageError(
                f"{file}:{number}: expected query, document and a whole number between tabs, found {line[:60]!r}",
                hint="correct that line",
            ) from error
        if grade > 0:
            judged.setdefault(question, {})[document] = grade
    return judged


def run_beir(
    folder: Path, cache: Path, settings: Settings, embedder: Embedder, plan: Plan, progress: Progress
) -> Evaluation:
    """Ask the questions of one set.

    Args:
        folder: the set.
        cache: where its index and the vectors of its questions are kept, one folder for each set and embedder.
        settings: whose fusion is measured.
        embedder: whose vectors are measured.
        plan: what is wanted.
        progress: told what is being done.

    Raises:
        UsageError: the set is not well formed.
        MissingExtra: ir-measures, or a peer, is not installed.
    """
    corpus = load_beir(folder)
    place = cache / corpus.name / digest([embedder.identity.encode("utf-8")])[:8]
    settings = replace(settings, index=place.absolute() / "index.db", generation="", sources=())
    with closing(SqliteIndex(settings.index)) as index:
        failures = index_corpus(index, corpus, embedder, progress, late=settings.late)
    texts = {uri_of(corpus.name, id): f"{title}\n{text}" for id, (title, text) in corpus.documents.items()}
    asked = QuestionSet(
        name=corpus.name,
        questions=[
            replace(question, relevant={uri_of(corpus.name, id): grade for id, grade in question.relevant.items()})
            for question in corpus.questions
        ],
        texts={Place(uri, 0, len(text)): text for uri, text in texts.items()},
        documents=len(corpus.documents),
        primary="nDCG@10",
        data=corpus.data,
        notices=(*corpus.notices, *failures),
    )
    remembered = caching(embedder, place / "queries.npz")
    result = evaluate(asked, settings, embedder, plan, progress, remembered=remembered)
    remembered.save()
    return result


def index_corpus(
    index: SqliteIndex, corpus: BeirSet, embedder: Embedder, progress: Progress, *, late: bool = True
) -> tuple[str, ...]:
    """Bring an index in step with a corpus; returns what could not be embedded.

    Every document is chunked each time (it costs a second or two), and written only if its chunks differ from
    those in the index: so a new chunker embeds only what it cut differently, and a new analyzer nothing.
    """
    with sync_lock(index.path, progress=progress):
        index.put_source(corpus.name, "corpus", corpus.name)
        known = {uri: state.hash for uri, state in index.items(corpus.name).items()}
        changes: list[Change] = []
        listed = set()
        for done, (id, (title, text)) in enumerate(corpus.documents.items(), start=1):
            if not (title + text).strip():
                continue  # there is nothing to find, nor to embed
            document = plain_document(corpus.name, id, title, text)
            chunks = tuple(_chunks(document))
            hash = _hash(document, chunks)
            listed.add(document.uri)
            if known.get(document.uri) != hash:
                item = Item(document.uri, corpus.name, "", "text/plain", hash, WHEN, len(text))
                changes.append(Replacement(item, hash, ((document, chunks),)))
            if len(changes) >= WRITTEN_AT_ONCE:
                index.write(corpus.name, changes)
                changes = []
            progress(f"{corpus.name} index", done, len(corpus.documents))
        changes.extend(Removal(uri) for uri in known if uri not in listed)
        if changes:
            index.write(corpus.name, changes)
        report = ingest.embed(index, embedder, progress=progress, late=late)
    return tuple(f"{failure.uri}: {failure.message}" for failure in report.failures)


def _chunks(document: Document) -> Sequence[Chunk]:
    """Cut by the chunker of the document's kind, else by the one for Markdown, which sections and blocks suffice."""
    chunked = document if document.kind in wiring.names("chunkers") else replace(document, kind="markdown")
    return wiring.chunker(chunked).chunk(chunked)


def plain_document(name: str, id: str, title: str, text: str) -> Document:
    """A document of plain text: one section, a block for each paragraph; never read as Markdown.

    In a corpus of code ``# comment`` is no heading and indented lines are no code block. Text that consists of a
    title only is searched as text. The uri ends in ``/_`` because the index also searches a file's name, and an
    id such as '3' is not a word of the document.
    """
    body = (text if text.strip() else title).replace("\r\n", "\n").replace("\r", "\n")
    return Document(
        uri=uri_of(name, id),
        source=name,
        kind=KINDS.get(name, "markdown"),
        type="",
        title=title,
        text=body,
        modified=WHEN,
        sections=(Section(0, (), 0, len(body)),),
        blocks=tuple(Block("paragraph", *found.span()) for found in _PARAGRAPH.finditer(body)),
    )


def uri_of(name: str, id: str) -> str:
    """The uri of a document of a set."""
    return f"{name}/{id}/_"


def _hash(document: Document, chunks: tuple[Chunk, ...]) -> str:
    """What the index would hold of a document, as a hash."""
    cuts = [(chunk.id, chunk.context) for chunk in chunks]
    return digest([document.kind.encode("utf-8"), document.text.encode("utf-8"), repr(cuts).encode("utf-8")])
