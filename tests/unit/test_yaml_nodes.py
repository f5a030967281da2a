"""YAML as it was written."""

from __future__ import annotations

import re

import pytest
import yaml

from second_brain import yaml_nodes
from second_brain.yaml_nodes import YamlError, YamlResult, load_yaml


@pytest.fixture(params=["CBaseLoader", "BaseLoader"], autouse=True)
def _either_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with libyaml and with the reader in Python, for installations without it."""
    monkeypatch.setattr(yaml_nodes, "_Loader", getattr(yaml, request.param))


def test_scalars_stay_as_written() -> None:
    """Dates, numbers and truth values are the characters that stand there."""
    read = load_yaml("title: 2031-04-05\ntags: [2031, true, 1.10]\nversion: 1.10\non: no\nhex: 0x1F\n")
    assert read.value == {
        "title": "2031-04-05",
        "tags": ["2031", "true", "1.10"],
        "version": "1.10",
        "on": "no",
        "hex": "0x1F",
    }


def test_only_unquoted_nothing_is_none() -> None:
    """A key without value, ``~`` and ``null`` are None; the same in quotes is text."""
    read = load_yaml("a:\nb: ~\nc: null\nd: ''\ne: '~'\nf: \"null\"\n")
    assert read.value == {"a": None, "b": None, "c": None, "d": "", "e": "~", "f": "null"}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_nothing_is_none(text: str) -> None:
    """An empty document has no value."""
    assert load_yaml(text) == YamlResult(None, {}, ())


def test_block_scalars_and_quotes_are_read_by_the_rules_of_yaml() -> None:
    """What YAML folds is folded, what it keeps is kept."""
    read = load_yaml("kept: |\n  a: b\n  c\nfolded: >\n  one\n  two\nquoted: \"a\\tb\"\nsingle: 'it''s'\n")
    assert read.value == {"kept": "a: b\nc\n", "folded": "one two\n", "quoted": "a\tb", "single": "it's"}


def test_every_key_and_item_knows_its_line() -> None:
    """Lines are those of the file: counted from ``first_line``, reachable by path."""
    read = load_yaml("sources:\n  - name: notes\n    path: ~/notes\n  -\n    name: work\nlimit: 5\n", first_line=11)
    assert read.lines == {
        ("sources",): 11,
        ("sources", 0): 12,
        ("sources", 0, "name"): 12,
        ("sources", 0, "path"): 13,
        ("sources", 1): 15,
        ("sources", 1, "name"): 15,
        ("limit",): 16,
    }


def test_the_last_of_two_equal_keys_counts_and_is_told() -> None:
    """A key that is written twice is a warning with the second line; lines of the first are forgotten."""
    read = load_yaml("tags: [a, b]\nx: 1\ntags: [c]\n")
    assert read.value == {"tags": ["c"], "x": "1"}
    assert read.lines == {("tags",): 3, ("tags", 0): 3, ("x",): 2}
    assert read.warnings == ("line 3: the key 'tags' is written twice; the last one counts",)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\ntitle: Pump: weekly\n", 2, "a second ':' in a value"),
        ("created: {{date}}\n", 1, "a key is a list or a mapping; expected text"),
        ("? [a]\n: b\n", 1, "a key is a list or a mapping; expected text"),
        ('ok: 1\nopen: "never closed\nmore: 2\n', 2, "a quotation mark is not closed"),
        ("a: 1\n---\nb: 2\n", 2, "a second document begins"),
        ("a: 会議\nb: \x01\n", 2, "the control character U+0001 is not allowed"),
        ("a: \ud800\n", 1, "the control character U+D800 is not allowed"),
        ("x: &a [*a]\n", 1, "nested deeper than 100 levels, or an anchor that contains itself"),
        ("[" * 5000, 1, "nested deeper than 100 levels"),
        ("a: " + "[" * 150 + "]" * 150, 1, "nested deeper than 100 levels"),
        ("ok: 1\nglob: *.md\n", 2, "begins with * or & is the name of an anchor"),
        ("ok: 1\nglob: *md\n", 2, "begins with * or & is the name of an anchor"),
        ("by: @mika\n", 1, "begins with @, ` or %"),
        ("a:\n\tb: 1\n", 2, "a tab as indent"),
        ("a: %x\n", 1, "begins with @, ` or %"),
    ],
)
def test_an_error_names_the_line_and_the_trouble(text: str, line: int, words: str) -> None:
    """What cannot be read is a YamlError in plain words, whatever PyYAML raised."""
    with pytest.raises(YamlError, match=re.escape(words)) as caught:
        load_yaml(text)
    assert caught.value.line == line
    assert str(caught.value) == f"line {line}: {caught.value.problem}"


def test_an_alias_bomb_is_refused() -> None:
    """Aliases that would make 300 characters a gigabyte are an error, quickly."""
    lines = ["a0: &a0 [lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    with pytest.raises(YamlError, match="aliases repeat so much text"):
        load_yaml("\n".join(lines))


def test_a_plain_alias_is_what_it_stands_for() -> None:
    """Anchors as people use them work; merge keys are keys like any other."""
    read = load_yaml("base: &b {path: x}\nother: *b\n<<: *b\n")
    assert read.value == {"base": {"path": "x"}, "other": {"path": "x"}, "<<": {"path": "x"}}


def test_tags_construct_nothing() -> None:
    """A tag that would make PyYAML call a function leaves the text that it stands before."""
    assert load_yaml("a: !!python/object/apply:os.system [echo]\n").value == {"a": ["echo"]}


def test_every_error_of_pyyaml_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of its exceptions PyYAML raises, callers see a YamlError."""

    def classes(root: type[Exception]) -> list[type[Exception]]:
        return [root, *(inner for child in root.__subclasses__() for inner in classes(child))]

    for error in classes(yaml.YAMLError):
        arguments = ("<text>", 0, 0, "utf-8", "bad") if issubclass(error, yaml.reader.ReaderError) else ()

        def fail(
            *_: object, error: type[Exception] = error, arguments: tuple[object, ...] = arguments, **__: object
        ) -> None:
            raise error(*arguments)

        monkeypatch.setattr(yaml, "compose", fail)
        with pytest.raises(YamlError):
            load_yaml("a: b")
