"""Where the functions and classes of a program begin; the only place that knows tree-sitter.

Its grammars come with the extra ``code``: packages of the tree-sitter project and its community, one a language,
compiled, nothing downloaded. A language without a grammar here, or whose package is not installed, has no outline.

The same few rules hold for all languages. A node that is named a function or class in its grammar is a definition.
What stands above it without a blank line between (comments, decorators, attributes) belongs to it. Definitions in the
body of a class, module or namespace are definitions of their own; those in a function are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from .text import code_points

if TYPE_CHECKING:
    from tree_sitter import Language, Node

Border: TypeAlias = "tuple[int, tuple[str, ...]]"
"""Where a stretch of code begins, and the definitions it lies in, outermost first; none on the top level."""

MAX_NAME = 120
"""Characters of a signature."""

MAX_DEPTH = 6
"""Definitions within definitions that are told apart."""

MAX_NESTING = 50
"""Conditions and errors within each other that are looked into."""

_GRAMMARS: Final = {
    "bash": ("tree_sitter_bash", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "python": ("tree_sitter_python", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "swift": ("tree_sitter_swift", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}

_CONTAINERS = frozenset(
    (
        "abstract_class_declaration",
        "class",
        "class_declaration",
        "class_definition",
        "class_specifier",
        "companion_object",
        "enum_declaration",
        "impl_item",
        "interface_declaration",
        "internal_module",
        "mod_item",
        "module",
        "namespace_declaration",
        "namespace_definition",
        "object_declaration",
        "protocol_declaration",
        "record_declaration",
        "struct_declaration",
        "struct_specifier",
        "trait_declaration",
        "trait_item",
        "union_specifier",
    )
)
_FUNCTIONS = frozenset(
    (
        "constructor_declaration",
        "enum_item",
        "enum_specifier",
        "function_declaration",
        "function_definition",
        "function_item",
        "generator_function_declaration",
        "init_declaration",
        "macro_definition",
        "method",
        "method_declaration",
        "method_definition",
        "secondary_constructor",
        "singleton_method",
        "struct_item",
        "type_alias_declaration",
        "type_declaration",
        "type_definition",
        "union_item",
    )
)
_VALUES = frozenset(("arrow_function", "function_expression", "generator_function", "class"))
"""What a variable of JavaScript holds when it is a function or class by another name."""
_VARIABLES = frozenset(("assignment_expression", "lexical_declaration", "variable_declaration"))
_WRAPPERS = frozenset(
    ("ambient_declaration", "decorated_definition", "export_statement", "expression_statement", "template_declaration")
)
"""Belong to the definition in them: they begin it, and give it no name."""
_TRANSPARENT = frozenset(
    (
        "ERROR",
        "declaration_list",
        "linkage_specification",
        "preproc_elif",
        "preproc_else",
        "preproc_if",
        "preproc_ifdef",
    )
)
"""Are looked into as if they were not there: an include guard is around all of a header."""
_COMMENTS = frozenset(("block_comment", "comment", "line_comment", "multiline_comment"))
_LEADING = _COMMENTS | {"attribute_item", "attribute_list", "decorator"}
_WITH_BODY = frozenset(
    (
        "class_specifier",
        "enum_specifier",
        "mod_item",
        "module",
        "namespace_declaration",
        "namespace_definition",
        "struct_specifier",
        "union_specifier",
    )
)
"""Define nothing without a body: ``struct point p;`` and ``namespace a;`` only name something."""
_END_OF_SIGNATURE = re.compile(r"\s*(?:=>|[:{=])?\s*\Z")
_INSIDE_BRACKETS = re.compile(r"(?<=[(\[]) |,? (?=[)\]])")


def outline(text: str, language: str) -> list[Border] | None:
    """The borders of the stretches of ``text``, in code points, in order; the first is at 0. None without a grammar.

    Each is at the beginning of a line. Broken code is read as far as it goes. Cost: linear, some 0.4 ms for a
    kilobyte.
    """
    grammar = _grammar(language)
    if grammar is None:
        return None
    from tree_sitter import Parser

    data = text.encode()
    walk = _Walk(data)
    walk.visit(Parser(grammar).parse(data).root_node, ())
    place = code_points(text, 0, (at for at, _ in walk.borders))
    return [(place(at), path) for at, path in walk.borders]


@cache
def _grammar(language: str) -> Language | None:
    module, function = _GRAMMARS.get(language, ("", ""))
    if not module:
        return None
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(module), function)())
    except ImportError:
        return None


class _Walk:
    """One pass over a tree, keeping bytes."""

    def __init__(self, data: bytes) -> None:
        self.borders: list[Border] = [(0, ())]
        self._data = data

    def visit(self, parent: Node, path: tuple[str, ...], depth: int = 0) -> None:
        """Note the definitions among the children of a node, and those in them."""
        lead = lead_end = -1  # the comments right above
        for child in parent.named_children:
            if child.type in _LEADING:
                if lead < 0 or not self._touches(lead_end, child.start_byte):
                    lead = child.start_byte
                lead_end = child.end_byte
                continue
            inner = _definition(child)
            if inner is None:
                if child.type in _TRANSPARENT and depth < MAX_NESTING:
                    self.visit(child, path, depth + 1)
            else:
                above = lead if lead >= 0 and self._touches(lead_end, child.start_byte) else child.start_byte
                self._define(child, inner, above, path)
            lead = -1

    def _define(self, outer: Node, inner: Node, above: int, path: tuple[str, ...]) -> None:
        start = self._line(above)
        if start < self.borders[-1][0] or self._data[start:above].strip():
            return  # something else stands before it on its line
        body = _body(inner)
        own = (*path, self._name(inner, body))
        self._begin(start, own)
        if inner.type in _CONTAINERS and body is not None and len(own) < MAX_DEPTH:
            self.visit(body, own)
        end = self._data.find(b"\n", outer.end_byte)
        self._begin(end + 1 if end >= 0 else len(self._data), path)

    def _begin(self, at: int, path: tuple[str, ...]) -> None:
        if at == self.borders[-1][0]:
            self.borders.pop()
        self.borders.append((at, path))

    def _line(self, at: int) -> int:
        return self._data.rfind(b"\n", 0, at) + 1

    def _touches(self, end: int, start: int) -> bool:
        """Whether there is no blank line between; some grammars count the line break to a comment."""
        written = len(self._data[:end].rstrip()) if self._data[end - 1 : end].isspace() else end
        return self._data.count(b"\n", written, start) <= 1

    def _name(self, node: Node, body: Node | None) -> str:
        """The signature: all up to the body, on one line."""
        end = node.end_byte if body is None else body.start_byte
        end = min((end, *(child.start_byte for child in node.named_children if child.type in _COMMENTS)))
        head = self._data[node.start_byte : min(end, node.start_byte + 4 * MAX_NAME)].decode("utf-8", "ignore")
        if body is None:
            head = head.partition("\n")[0]
        signature = _INSIDE_BRACKETS.sub("", " ".join(head.split()))
        return _END_OF_SIGNATURE.sub("", signature)[:MAX_NAME].rstrip() or node.type


def _definition(node: Node) -> Node | None:
    """The node that names a definition: itself or, of a wrapper, what is in it."""
    while node.type in _WRAPPERS:
        inside = [child for child in node.named_children if child.type not in _LEADING]
        if not inside:
            return None
        node = inside[-1]
    if node.type in _VARIABLES:
        return node if any(value.type in _VALUES for value in _values(node)) else None
    if node.type in _CONTAINERS or node.type in _FUNCTIONS:
        return None if _body(node) is None and node.type in _WITH_BODY else node
    return None


def _values(node: Node) -> Iterator[Node]:
    """What the variables are given: ``const f = ...`` and ``app.use = ...``."""
    assigned = node.child_by_field_name("right")
    if assigned is not None:
        yield assigned
    for child in node.named_children:
        value = child.child_by_field_name("value")
        if value is not None:
            yield value


def _body(node: Node) -> Node | None:
    """Where the inside of a definition begins."""
    if node.type in _VARIABLES:
        node = next(value for value in _values(node) if value.type in _VALUES)
    found = node.child_by_field_name("body")
    if found is not None:
        return found
    return next((child for child in reversed(node.named_children) if child.type.endswith("_body")), None)
