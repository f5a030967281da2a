from __future__ import annotations

import io
import json

import pytest

from second_brain.sources.json_lines import Losses, elements, records


def read(data: bytes, **options):
    losses = Losses()
    return list(records(io.BytesIO(data), losses, **options)), losses


def cut_up(data: bytes, **options):
    losses = Losses()
    return list(elements(io.BytesIO(data), losses, **options)), losses


def test_each_line_is_an_object():
    """Blank lines count for nothing; a last line without an end counts if it is whole."""
    found, losses = read(b'{"a":1}\n\n  \r\n{"b":2}\r\n{"c":3}')
    assert (found, losses) == ([{"a": 1}, {"b": 2}, {"c": 3}], Losses())


def test_a_character_that_ends_lines_elsewhere_ends_none_here():
    """U+2028, U+0085 and a form feed stand in texts."""
    text = "a\u2028b\u0085c\u000cd"
    found, losses = read((json.dumps({"t": text}, ensure_ascii=False) + "\n").encode())
    assert (found, losses) == ([{"t": text}], Losses())


@pytest.mark.parametrize(
    ("line", "expected", "broken"),
    [
        (b'{"type":"a"}{"type":"b"}', [{"type": "a"}, {"type": "b"}], 0),
        (b'{"type":"a"} \0\0 {"type":"b"}', [{"type": "a"}, {"type": "b"}], 0),
        (b'{"type":"a","x":"cut off {"parentUuid":null,"n":1}', [{"parentUuid": None, "n": 1}], 1),
        (b'{"type":"a","x":"raw \x01\x1b[0m"}', [{"type": "a", "x": "raw \x01\x1b[0m"}], 0),
        (b'{"type":"\xff\xfe"}', [{"type": "\ufffd\ufffd"}], 0),
        (rb'{"type":"\ud83d","\udc00":["\ud800 x"]}', [{"type": "\ufffd", "\ufffd": ["\ufffd x"]}], 0),
        (rb'{"type":"\ud83d\ude00"}', [{"type": "😀"}], 0),
        (b'{"type":"a"', [], 1),
        (b"12", [], 1),
        (b"nothing", [], 1),
        (b"\0\0\0", [], 0),
        (b"[" * 100_000, [], 1),
        (b'{"type":' * 100_000, [], 1),
    ],
)
def test_what_can_be_found_in_a_broken_line(line, expected, broken):
    """Objects are found where records begin; the line counts as broken once, when something of it was lost."""
    found, losses = read(b'{"first":1}\n' + line + b'\n{"last":1}\n')
    assert found == [{"first": 1}, *expected, {"last": 1}]
    assert losses.broken == broken


def test_a_line_that_is_still_written_is_no_loss():
    """Half a record at the end is left for the next time, whatever could be found in it."""
    found, losses = read(b'{"a":1}\n{"type":"user","content":[{"type":"text"}')
    assert (found, losses) == ([{"a": 1}], Losses())


def test_a_line_over_the_limit_is_passed_over():
    """It is counted, the next line is read."""
    found, losses = read(b'{"a":"' + b"x" * 5_000_000 + b'"}\n{"b":2}\n', max_bytes=1_000)
    assert found == [{"b": 2}]
    assert (losses.long, losses.broken) == (1, 0)
    assert losses.warnings() == ("records that could not be read: 1 of more than 64 MB",)


def test_a_line_of_the_length_of_the_limit_is_read():
    """The limit counts its end too."""
    line = b'{"a":"' + b"x" * 91 + b'"}\n'
    assert len(line) == 100
    assert len(read(line, max_bytes=100)[0]) == 1
    assert read(line, max_bytes=99)[1].long == 1


def test_the_elements_of_an_array():
    """Brackets and quotes inside texts, nesting and blanks change nothing; what is no object is passed over."""
    values = [{"a": '[}"\\'}, {"b": [{"c": "]"}, "{"]}, {}, {"é": "海\u2028"}]
    for indent in (None, 2):
        for ascii in (True, False):
            data = json.dumps([1, "x", *values, None], indent=indent, ensure_ascii=ascii).encode()
            assert cut_up(data) == (values, Losses())


def test_an_object_instead_of_an_array_is_one_element():
    """An export that wraps its list is read all the same."""
    assert cut_up(b' {"conversations": [{"a": 1}]} ')[0] == [{"conversations": [{"a": 1}]}]


def test_elements_over_many_blocks(monkeypatch):
    """Where the blocks end that are read makes no difference, not even behind a backslash."""
    values = [{"text": 'a "quoted\\" \\\\', "n": number, "more": [["x"]]} for number in range(20)]
    data = json.dumps(values).encode()
    for size in range(1, 40):
        monkeypatch.setattr("second_brain.sources.json_lines._BLOCK", size)
        assert cut_up(data)[0] == values


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes():
    """The last element is missing and counted; what is no JSON counts as well."""
    data = json.dumps([{"a": 1}, {"b": 2}, {"c": 3}]).encode()
    assert cut_up(data[:-5]) == ([{"a": 1}, {"b": 2}], Losses(broken=1))
    assert cut_up(data[:-1]) == ([{"a": 1}, {"b": 2}, {"c": 3}], Losses(broken=1))
    assert cut_up(b"") == cut_up(b"[]\n") == ([], Losses())
    assert cut_up(b"nothing") == cut_up(b'["') == ([], Losses(broken=1))


def test_an_element_over_the_limit_is_passed_over(monkeypatch):
    """It is counted, the next is read."""
    monkeypatch.setattr("second_brain.sources.json_lines._BLOCK", 100)
    data = json.dumps([{"a": 1}, {"b": ["x" * 50] * 100}, {"c": 3}]).encode()
    found, losses = cut_up(data, max_bytes=1_000)
    assert found == [{"a": 1}, {"c": 3}]
    assert losses.long == 1
