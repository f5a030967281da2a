"""Passages of code are whole functions and classes where they fit."""

from __future__ import annotations

from second_brain.chunking.code import CodeChunker
from second_brain.parsing.code import CodeParser
from second_brain.testing.chunker_contract import ChunkerContract
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Chunk, Document

LONG = "    value = compute(value)  # and again\n"


def document(text: str, path: str = "pumps/valve.py") -> Document:
    (found,) = CodeParser().parse(make_blob(text, f"repo/{path}"))
    return found


def chunks(text: str, path: str = "pumps/valve.py") -> list[Chunk]:
    return list(CodeChunker().chunk(document(text, path)))


def function(name: str, lines: int = 8) -> str:
    return f"def {name}(value):\n{LONG * lines}    return value\n\n\n"


def method(name: str, lines: int = 8) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in function(name, lines).split("\n")[:-2])


class TestCodeChunker(ChunkerContract):
    def chunker(self) -> CodeChunker:
        return CodeChunker()

    def documents(self) -> list[Document]:
        empty = document("x")
        return [
            document("import os\n\n\n" + function("one") + function("two", 80)),
            document("class A:\n" + method("one") + method("two", 40) + "\n    y = 1\n\nprint(A)\n"),
            document("x = 1\n\n" * 900, "a.sql"),
            Document("repo/e.py", "repo", "code", "code", "e.py", "", empty.modified),
        ]


def test_each_function_is_a_passage_with_its_signature_as_heading():
    """The context names the module, and does not repeat what the text begins with."""
    one, two = chunks(function("one") + function("two"))
    assert (one.heading_path, two.heading_path) == (("def one(value)",), ("def two(value)",))
    assert one.text.startswith("def one(value):")
    assert one.context == two.context == "pumps/valve.py"


def test_a_class_that_fits_is_one_passage():
    """Its functions are not torn apart."""
    (whole,) = chunks("class A:\n" + method("one", 3) + method("two", 3))
    assert whole.heading_path == ("class A",)


def test_a_class_that_does_not_fit_is_cut_along_its_functions():
    """The head of the class goes with its first one; each is told its class."""
    one, two, three = chunks(
        'class A:\n    """Doc."""\n\n' + "".join(method(name, 11) for name in ("one", "two", "three"))
    )
    assert one.text.startswith('class A:\n    """Doc."""')
    assert [chunk.heading_path for chunk in (one, two, three)] == [
        ("class A", f"def {name}(value)") for name in ("one", "two", "three")
    ]
    assert two.context == "pumps/valve.py\nclass A"


def test_a_function_that_does_not_fit_is_cut_and_its_later_parts_are_told_its_signature():
    """Between lines."""
    first, *others = chunks(function("one", 60))
    assert first.context == "pumps/valve.py"
    assert others
    for chunk in others:
        assert chunk.context == "pumps/valve.py\ndef one(value)"
        assert chunk.text.startswith("    value = compute")


def test_a_few_lines_outside_of_functions_are_no_passage_by_themselves():
    """They go with what follows them, else with what is before."""
    text = "import os\n\n\n" + function("one") + "if __name__ == '__main__':\n    one(os)\n"
    (only,) = chunks(text)
    assert only.heading_path == ("def one(value)",)
    assert only.text.startswith("import os")
    assert only.text.endswith("one(os)")
