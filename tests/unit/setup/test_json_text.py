"""One member of a JSON file is set or removed; every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.setup.json_text import NotJson, with_item, with_member, without_item, without_member

ENTRY = {"command": "/opt/brain", "args": ["mcp"]}


def test_a_member_is_added_in_the_layout_of_the_file():
    """Indent and line ends as they are there; numbers, escapes and order untouched."""
    text = '{\n    "a": 1.0,\n    "mcpServers": {\n        "x": {"y": "\\u3042"}\n    },\n    "z": [1,2]\n}\n'
    assert with_member(text, ["mcpServers"], "b", ENTRY) == (
        '{\n    "a": 1.0,\n    "mcpServers": {\n        "x": {"y": "\\u3042"},\n        "b": {\n'
        '            "command": "/opt/brain",\n            "args": [\n                "mcp"\n            ]\n        }\n'
        '    },\n    "z": [1,2]\n}\n'
    )
    windows = text.replace("\n", "\r\n")
    assert with_member(windows, ["mcpServers"], "b", ENTRY) == with_member(text, ["mcpServers"], "b", ENTRY).replace(
        "\n", "\r\n"
    )


def test_comments_and_trailing_commas_stay():
    """As editors write and allow them."""
    text = '// mine\n{\n  /* servers */ "servers": {\n    "x": 1, // one\n  },\n}\n'
    added = with_member(text, ["servers"], "b", 2)
    assert added == '// mine\n{\n  /* servers */ "servers": {\n    "x": 1,\n    "b": 2 // one\n  },\n}\n'
    assert with_member(text, ["servers"], "x", 3) == text.replace('"x": 1', '"x": 3')


@pytest.mark.parametrize(
    "text", ["", "  \n", "{}", "{ }", "{\n}\n", '{"a":1}', '{"mcpServers":{}}', '{"mcpServers": {\n}}']
)
def test_objects_on_the_way_are_made(text):
    """In an empty file too; what was there is still there."""
    after = json.loads(with_member(text, ["mcpServers"], "b", ENTRY))
    before = json.loads(text) if text.strip() else {}
    assert after == {**before, "mcpServers": {"b": ENTRY}}


@pytest.mark.parametrize(
    "text",
    ["[]", "1", "{", '{"a"}', '{"a":}', '{"a":1 "b":2}', "{'a': 1}", '{"a": nope}', '{"a":1} x', '{"mcpServers": []}',
     '{"mcpServers": null}', '{"a": "\n"}', "\x00"],
)  # fmt: skip
def test_what_cannot_be_read_is_not_touched(text):
    """The error names the line."""
    with pytest.raises(NotJson, match=r"line \d"):
        with_member(text, ["mcpServers"], "b", ENTRY)


def test_removing_takes_its_own_comma_and_lines():
    """First, middle, last, only one, with a trailing comma, and none."""
    assert without_member('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', [], "b") == '{\n  "a": 1,\n  "c": 3\n}'
    assert without_member('{\n  "a": 1,\n  "b": 2\n}', [], "a") == '{\n  "b": 2\n}'
    assert without_member('{\n  "a": 1,\n  "b": 2\n}', [], "b") == '{\n  "a": 1\n}'
    assert json.loads(without_member('{"m": {"b": 1}}', ["m"], "b")) == {"m": {}}
    assert json.loads(without_member('{"m": {"b": 1,}}', ["m"], "b")) == {"m": {}}
    assert without_member('{"m": 1}', ["x", "y"], "b") == '{"m": 1}'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(
    OBJECTS,
    st.dictionaries(st.text(max_size=3), VALUES, max_size=3),
    st.text(max_size=4),
    VALUES,
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_in_values_it_is_a_dictionarys_assignment_and_removal(others, servers, key, value, indent):
    """Whatever the file holds and however it is laid out."""
    whole = {**others, "servers": servers}
    text = json.dumps(whole, indent=indent)
    added = with_member(text, ["servers"], key, value)
    assert json.loads(added) == {**whole, "servers": {**servers, key: value}}
    assert list(json.loads(added)) == list(whole)
    removed = without_member(added, ["servers"], key)
    assert json.loads(removed)["servers"] == {name: kept for name, kept in servers.items() if name != key}
    if key not in servers and servers:
        assert removed == text


@given(OBJECTS, st.lists(VALUES, max_size=3), VALUES, st.sampled_from([None, 1, 4, "\t"]))
def test_in_values_it_is_appending_to_a_list_once(others, items, item, indent):
    """An item that is there stays where it is; taking it out again gives the text of before."""
    whole = {**others, "hooks": {"Stop": items}}
    text = json.dumps(whole, indent=indent)
    added = with_item(text, ["hooks", "Stop"], item)
    known = any(json.dumps(other) == json.dumps(item) or other == item for other in items)
    assert json.loads(added) == (whole if known else {**whole, "hooks": {"Stop": [*items, item]}})
    assert with_item(added, ["hooks", "Stop"], item) == added
    if not known and items:
        assert without_item(added, ["hooks", "Stop"], item) == text


def test_a_list_is_made_where_there_is_none_and_nothing_else_is_taken_for_one():
    """Also in an empty text."""
    assert json.loads(with_item("", ["hooks", "Stop"], 1)) == {"hooks": {"Stop": [1]}}
    assert without_item("", ["hooks", "Stop"], 1) == ""
    assert without_item('{"hooks": {}}', ["hooks", "Stop"], 1) == '{"hooks": {}}'
    with pytest.raises(NotJson, match="is no list, line 1"):
        with_item('{"hooks": {"Stop": 1}}', ["hooks", "Stop"], 1)
