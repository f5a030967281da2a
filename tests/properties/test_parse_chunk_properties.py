"""Parsing and chunking over texts that nobody would write, and some that somebody did."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from second_brain.chunking.cutting import DENSE_WEIGHT, fits, reach
from second_brain.chunking.markdown import SLACK, MarkdownChunker
from second_brain.graph.links import LinkResolver
from second_brain.parsing.frontmatter import read_frontmatter
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.chunker_contract import check_chunks
from second_brain.testing.parser_contract import check_document, make_blob
from second_brain.types import Json
from second_brain.yaml_nodes import YamlError, load_yaml

PIECES = st.sampled_from(
    [
        *"\n\n\n \t#-*+>`~|[](){}<>!$%&\\:;'\"=_^.0aA会か\u3099。é\u200d🚰\u00a0\u3000\u2028\x0c\x85",
        *("---\n", "...\n", "```\n", "# ", "## ", "- ", "1. ", "> ", "[[", "]]", "![[", "](", "|-|\n", "$$", "%%"),
        *("<div>\n", "<!--", "-->", "[a]: b\n", "[^1]", "title: x\n", "tags: [a, b]\n", "#tag ", "word ", "\r\n"),
        *("data:image/png;base64,", "A" * 210, "lorem ipsum " * 20, "排水ポンプ" * 30, "=====\n", "date: 2031-04-05\n"),
    ]
)
MARKDOWN = st.lists(PIECES, max_size=60).map("".join)


@settings(deadline=None)
@given(text=MARKDOWN, budget=st.integers(min_value=1, max_value=80))
def test_markdown_is_read_soundly_and_chunks_quote_and_cover_it(text: str, budget: int) -> None:
    """Whatever the marks, spans are sound, chunks are quotes that leave out blanks only, and none is too long."""
    blob = make_blob(text)
    (document,) = MarkdownParser().parse(blob)
    check_document(document, blob)
    chunks = MarkdownChunker(max_chars=budget).chunk(document)
    check_chunks(document, chunks)
    for chunk in chunks:
        assert fits(chunk.text, 0, len(chunk.text), max(budget * SLACK, 1)) or len(chunk.text) == 1


@settings(deadline=None)
@given(data=st.binary(max_size=400))
def test_random_bytes_are_read_and_chunked(data: bytes) -> None:
    """Markdown's parser refuses nothing: any bytes give one document, and its chunks cover it."""
    blob = make_blob(data)
    (document,) = MarkdownParser().parse(blob)
    check_document(document, blob)
    check_chunks(document, MarkdownChunker().chunk(document))


WEIGHTS = dict.fromkeys("aé ก😀", 1.0) | dict.fromkeys("会か한。", DENSE_WEIGHT)


@given(text=st.text("".join(WEIGHTS), max_size=200), budget=st.integers(min_value=1, max_value=300))
def test_reach_is_the_longest_piece_within_the_budget(text: str, budget: int) -> None:
    """One character more would be too heavy; the weight is the sum over characters; one is always in reach."""
    stop = reach(text, 0, len(text), budget)
    assert stop <= 1 or sum(WEIGHTS[character] for character in text[:stop]) <= budget
    assert stop == len(text) or (stop and sum(WEIGHTS[character] for character in text[: stop + 1]) > budget)


ONE_LINE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=10)
TEXTS: st.SearchStrategy[Json] = st.recursive(
    ONE_LINE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ONE_LINE, inner, max_size=3),
    max_leaves=10,
)


@given(value=TEXTS)
def test_json_is_yaml(value: Json) -> None:
    """JSON of texts, lists and objects is read as it is."""
    assert load_yaml(json.dumps(value, ensure_ascii=False)).value == value


@given(text=MARKDOWN)
def test_yaml_gives_text_lists_and_mappings_or_its_own_error(text: str) -> None:
    """Nothing else comes out of the reader, and every line it names is in the text."""
    try:
        result = load_yaml(text)
    except YamlError:
        return
    _check_json(result.value)
    assert all(line >= 1 for line in result.lines.values())


def _check_json(value: Json) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str)
            _check_json(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_json(inner)
    else:
        assert value is None or isinstance(value, str)


@given(block=MARKDOWN)
def test_frontmatter_takes_nothing_or_the_whole_block(block: str) -> None:
    """The body begins at the start, or right behind a closing line."""
    text = f"---\n{block.replace(chr(13), '')}\n---\nbody"
    start = read_frontmatter(text).body_start
    assert start == 0 or text[:start].rstrip(" \t\n").endswith(("\n---", "\n..."))


NAMES = st.text("aAbB会é/. ", min_size=1, max_size=6).map(lambda name: name.strip("/") or "x")


@given(names=st.sets(NAMES, min_size=1, max_size=8), target=NAMES, order=st.randoms())
def test_resolution_does_not_depend_on_the_order_of_files(names: set[str], target: str, order: random.Random) -> None:
    """Links lead to the same file however the disk lists them, and only to files that exist."""
    paths = [f"{name}.md" for name in names]
    shuffled = list(paths)
    order.shuffle(shuffled)
    found = LinkResolver((path, ()) for path in paths).resolve(target, paths[0])
    assert found == LinkResolver((path, ()) for path in shuffled).resolve(target, paths[0])
    assert found.path is None or found.path in paths
    assert set(found.candidates) <= set(paths)
