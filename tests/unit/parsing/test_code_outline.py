"""The functions and classes of a program are found in every language that has a grammar."""

from __future__ import annotations

import pytest

from second_brain.parsing import syntax
from second_brain.parsing.syntax import MAX_DEPTH, outline


def stretches(text: str, language: str) -> list[tuple[tuple[str, ...], str]]:
    """Path and text of each stretch that is not blank."""
    borders = outline(text, language)
    assert borders is not None
    ends = [at for at, _ in borders[1:]] + [len(text)]
    return [(path, text[at:end]) for (at, path), end in zip(borders, ends, strict=True) if text[at:end].strip()]


def paths(text: str, language: str) -> list[tuple[str, ...]]:
    return [path for path, _ in stretches(text, language)]


def test_what_stands_right_above_a_definition_belongs_to_it():
    """Comments and decorators; not a comment that a blank line parts from it."""
    text = "# of the file\n\n# about run\n@cached\ndef run(a):\n    return a\n\n\nX = 1\n"
    assert stretches(text, "python") == [
        ((), "# of the file\n\n"),
        (("def run(a)",), "# about run\n@cached\ndef run(a):\n    return a\n"),
        ((), "\n\nX = 1\n"),
    ]


def test_a_class_is_its_head_and_its_functions():
    """What is in a function is no definition of its own; what follows the last one belongs to the class."""
    text = "class A(B):\n    x = 1\n\n    def one(self):\n        def inner(): ...\n\n    y = 2\n"
    assert stretches(text, "python") == [
        (("class A(B)",), "class A(B):\n    x = 1\n\n"),
        (("class A(B)", "def one(self)"), "    def one(self):\n        def inner(): ...\n"),
        (("class A(B)",), "\n    y = 2\n"),
    ]


def test_a_signature_is_one_line_without_what_is_behind_it():
    """Line breaks, a last comma and comments go."""
    text = "async def run(\n    a: int,\n    b: str = '',\n) -> list[int]:  # slow\n    return []\n"
    assert paths(text, "python") == [("async def run(a: int, b: str = '') -> list[int]",)]


def test_two_functions_of_the_same_signature_are_two():
    """As overloads are."""
    assert len(stretches("def f(): pass\ndef f(): pass\n", "python")) == 2


def test_two_functions_on_one_line_are_one_stretch():
    """A passage begins with its line."""
    assert stretches("function a() {} function b() {}\n", "javascript") == [
        (("function a()",), "function a() {} function b() {}\n")
    ]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "javascript",
            "/** d */\nexport function f(a) {}\nconst g = async (x) => {\n}\napp.use = function use() {}\nvar x = 1\n",
            [("function f(a)",), ("const g = async (x)",), ("app.use = function use()",), ()],
        ),
        (
            "tsx",
            "interface P { a: string }\nexport default function App(p: P): JSX.Element {\n  return <b/>\n}\n"
            "export abstract class Q<T> {\n  private k(): void {}\n}\ntype X = string\nenum E { A }\n",
            [
                ("interface P",),
                ("function App(p: P): JSX.Element",),
                ("abstract class Q<T>",),
                ("abstract class Q<T>", "private k(): void"),
                ("abstract class Q<T>",),
                ("type X = string",),
                ("enum E",),
            ],
        ),
        (
            "go",
            "package main\n\n// Run runs.\nfunc (t *T) Run(a int) (int, error) {\n}\n\ntype T struct {\n}\n",
            [(), ("func (t *T) Run(a int) (int, error)",), ("type T struct",)],
        ),
        (
            "rust",
            "/// d\n#[derive(Debug)]\npub struct S { a: u8 }\n"
            "impl Foo for S {\n    /// m\n    pub fn run(&self) -> u8 { 1 }\n}\nmod other;\n",
            [
                ("pub struct S",),
                ("impl Foo for S",),
                ("impl Foo for S", "pub fn run(&self) -> u8"),
                ("impl Foo for S",),
                (),
            ],
        ),
        (
            "java",
            "package a;\n/** d */\npublic class A extends B {\n  public A() {}\n"
            "  <T> List<T> run(int a) throws E { return null; }\n}\n",
            [
                (),
                ("public class A extends B",),
                ("public class A extends B", "public A()"),
                ("public class A extends B", "<T> List<T> run(int a) throws E"),
                ("public class A extends B",),
            ],
        ),
        (
            "c",
            "#ifndef X_H\n#define X_H\nstatic int f(int a)\n{\n}\nstruct s { int a; };\nstruct s make(void);\n#endif\n",
            [(), ("static int f(int a)",), ("struct s",), ()],
        ),
        (
            "cpp",
            "namespace n {\ntemplate <typename T>\nclass A : public B {\n  int run() const { return 1; }\n};\n}\n"
            'extern "C" {\nvoid f() {}\n}\n',
            [
                ("namespace n",),
                ("namespace n", "class A : public B"),
                ("namespace n", "class A : public B", "int run() const"),
                ("namespace n", "class A : public B"),
                ("namespace n",),
                (),
                ("void f()",),
                (),
            ],
        ),
        (
            "csharp",
            "namespace N;\npublic class C : D {\n  /// m\n  public async Task<int> Run(int a) { return 1; }\n}\n",
            [
                (),
                ("public class C : D",),
                ("public class C : D", "public async Task<int> Run(int a)"),
                ("public class C : D",),
            ],
        ),
        (
            "ruby",
            "module M\n  # d\n  class A < B\n    def run(a)\n    end\n  end\nend\n",
            [
                ("module M",),
                ("module M", "class A < B"),
                ("module M", "class A < B", "def run(a)"),
                ("module M", "class A < B"),
                ("module M",),
            ],
        ),
        (
            "php",
            "<?php\nnamespace N;\nclass A extends B {\n  function run(int $a): int { return 1; }\n}\nfunction f() {}\n",
            [
                (),
                ("class A extends B",),
                ("class A extends B", "function run(int $a): int"),
                ("class A extends B",),
                ("function f()",),
            ],
        ),
        ("bash", "# d\nfoo() {\n  echo\n}\nfoo\n", [("foo()",), ()]),
        (
            "kotlin",
            "package a\n\nclass A(val x: Int) : B() {\n  fun run(a: Int): Int = 1\n\n"
            "  companion object {\n    fun k() {}\n  }\n}\n",
            [
                (),
                ("class A(val x: Int) : B()",),
                ("class A(val x: Int) : B()", "fun run(a: Int): Int"),
                ("class A(val x: Int) : B()", "companion object"),
                ("class A(val x: Int) : B()", "companion object", "fun k()"),
                ("class A(val x: Int) : B()", "companion object"),
                ("class A(val x: Int) : B()",),
            ],
        ),
        (
            "swift",
            "/// d\nclass A: B {\n  init(a: Int) {}\n  func run() -> Int { return 1 }\n}\nextension A { }\n",
            [
                ("class A: B",),
                ("class A: B", "init(a: Int)"),
                ("class A: B", "func run() -> Int"),
                ("class A: B",),
                ("extension A",),
            ],
        ),
        (
            "lua",
            "-- d\nlocal function f(a)\nend\nfunction M.g(x)\nend\n",
            [("local function f(a)",), ("function M.g(x)",)],
        ),
    ],
)
def test_definitions_are_found_in(language: str, text: str, expected: list[tuple[str, ...]]):
    """Each language names them as its own people write them."""
    assert paths(text, language) == expected


def test_broken_code_is_read_as_far_as_it_goes():
    """An open bracket hides what follows it, not what was before."""
    assert paths("def f():\n    return 1\n\ndef g(:\n    (((\n", "python")[0] == ("def f()",)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "(" * 200_000),
        ("javascript", "{" * 100_000),
        ("c", "#if A\n" * 5_000),
        ("python", "".join("  " * depth + f"class A{depth}:\n" for depth in range(300))),
    ],
    ids=["brackets", "braces", "conditions", "classes"],
)
def test_nesting_without_end_ends(language: str, text: str):
    """No recursion follows the text; definitions deeper than ``MAX_DEPTH`` belong to those around them."""
    borders = outline(text, language)
    assert borders is not None
    assert max(len(path) for _, path in borders) <= MAX_DEPTH


def test_a_language_without_a_grammar_has_no_outline(monkeypatch: pytest.MonkeyPatch):
    """One that is not known, and one whose package is not installed."""
    assert outline("BEGIN", "cobol") is None
    monkeypatch.setitem(syntax._GRAMMARS, "made-up", ("tree_sitter_that_is_not_there", "language"))
    assert outline("def f(): pass", "made-up") is None
