"""Retrieval sets in BEIR form, answered by the product: its chunker, index, embedder and retriever.

A set is a folder of ``corpus.jsonl`` (``_id``, ``title``, ``text``), ``queries.jsonl`` (``_id``, ``text``) and
``qrels.tsv`` (query, document, grade; a header may stand first). Thakur et al., NeurIPS 2021.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from .. import ingest, wiring
from ..config import Settings
from ..errors import UsageError
from ..index.lock import sync_lock
from ..index.sqlite.records import Change, Removal, Replacement
from ..index.sqlite.store import SqliteIndex
from ..protocols import Embedder, Progress
from ..retrieval import Retriever
from ..types import MODES, Block, Chunk, Document, Item, Mode, Query, SearchResult, Section
from .caching import caching
from .grep import Grep
from .measures import DEPTH, Run, measure
from .questions import NOW, Question, ask, read_lines
from .results import Evaluation, digest, provenance

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
    documents = {id: (title, text) for id, title, text in _rows(corpus)}
    judged = _judgements(qrels)
    questions = tuple(Question(id, text, judged[id]) for id, _, text in _rows(queries) if id in judged)
    unknown = sum(document not in documents for question in questions for document in question.relevant)
    notices = [f"{unknown} judgements name documents that the corpus lacks: they count as not found"] if unknown else []
    data = digest(path.read_bytes() for path in (corpus, queries, qrels))
    return BeirSet(folder.name, documents, questions, data, tuple(notices))


def _rows(file: Path) -> Iterator[tuple[str, str, str]]:
    """(id, title, text) of each line's object."""
    for number, line in read_lines(file):
        try:
            row = json.loads(line)
            title, text = row.get("title") or "", row["text"]
            if not isinstance(title, str) or not isinstance(text, str):
                raise TypeError("title and text are to be strings")
            yield str(row["_id"]), title, text
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


def run_beir(folder: Path, cache: Path, settings: Settings, embedder: Embedder, progress: Progress) -> Evaluation:
    """Ask the questions of one set in every mode, and of grep.

    Args:
        folder: the set.
        cache: where its index and the vectors of its questions are kept, one folder for each set and embedder.
        settings: whose fusion is measured.
        embedder: whose vectors are measured.
        progress: told what is being done.

    Raises:
        UsageError: the set is not well formed.
        MissingExtra: ir-measures is not installed.
    """
    corpus = load_beir(folder)
    place = cache / corpus.name / digest([embedder.identity.encode("utf-8")])[:8]
    remembering = caching(embedder, place / "queries.npz")
    index = SqliteIndex(place.absolute() / "index.db")
    try:
        failures = index_corpus(index, corpus, embedder, progress, late=settings.late)
        retriever = Retriever(index, lambda: remembering, settings.fusion, late=settings.late)

        def search(text: str, mode: Mode) -> SearchResult:
            return retriever.search(Query(text, NOW, DEPTH, mode, per_document=1))

        grep = Grep({id: f"{title}\n{text}" for id, (title, text) in corpus.documents.items()})
        runs: dict[str, Run] = {"grep": {question.id: grep.search(question.text) for question in corpus.questions}}
        for mode in MODES:
            answers = ask(search, corpus.questions, mode, corpus.name, progress)
            runs[mode] = {id: [document_id(hit.uri) for hit in answer.hits] for id, answer in answers.items()}
        remembering.save()
        qrels = {question.id: question.relevant for question in corpus.questions}
        return Evaluation(
            name=corpus.name,
            documents=len(corpus.documents),
            chunks=index.chunk_count(),
            primary="nDCG@10",
            values={system: measure(qrels, run) for system, run in runs.items()},
            groups={question.id: question.groups for question in corpus.questions},
            provenance=provenance(settings, embedder.identity, corpus.data),
            notices=(*corpus.notices, *failures),
        )
    finally:
        index.close()


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
        uri=f"{name}/{id}/_",
        source=name,
        kind=KINDS.get(name, "markdown"),
        type="",
        title=title,
        text=body,
        modified=WHEN,
        sections=(Section(0, (), 0, len(body)),),
        blocks=tuple(Block("paragraph", *found.span()) for found in _PARAGRAPH.finditer(body)),
    )


def document_id(uri: str) -> str:
    """The id of a document in its corpus."""
    return uri.partition("/")[2].removesuffix("/_")


def _hash(document: Document, chunks: tuple[Chunk, ...]) -> str:
    """What the index would hold of a document, as a hash."""
    cuts = [(chunk.id, chunk.context) for chunk in chunks]
    return digest([document.kind.encode("utf-8"), document.text.encode("utf-8"), repr(cuts).encode("utf-8")])
