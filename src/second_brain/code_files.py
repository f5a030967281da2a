"""What is this file of a code repository: in which language, and of what type? By its name alone.

Useful for: choosing the files of a repository, and reading them. Not for: what stands in them (``parsing``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

LANGUAGES: Final[Mapping[str, str]] = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ino", ".cu"), "cpp"),
    ".cs": "csharp",
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
    ".php": "php",
    **dict.fromkeys((".sh", ".bash", ".zsh", ".bats"), "bash"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    ".swift": "swift",
    ".lua": "lua",
    **dict.fromkeys((".scala", ".sbt"), "scala"),
    **dict.fromkeys((".groovy", ".gradle"), "groovy"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    **dict.fromkeys((".erl", ".hrl"), "erlang"),
    **dict.fromkeys((".hs", ".lhs"), "haskell"),
    **dict.fromkeys((".ml", ".mli"), "ocaml"),
    **dict.fromkeys((".fs", ".fsx"), "fsharp"),
    **dict.fromkeys((".clj", ".cljs", ".cljc", ".edn"), "clojure"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".m", ".mm"), "objective-c"),
    ".r": "r",
    ".jl": "julia",
    ".dart": "dart",
    ".zig": "zig",
    ".nim": "nim",
    ".el": "emacs-lisp",
    ".vim": "vim",
    **dict.fromkeys((".ps1", ".psm1"), "powershell"),
    ".fish": "fish",
    ".sql": "sql",
    ".proto": "protobuf",
    **dict.fromkeys((".graphql", ".gql"), "graphql"),
    **dict.fromkeys((".tf", ".hcl"), "terraform"),
    ".nix": "nix",
    **dict.fromkeys((".css", ".scss", ".less"), "css"),
    **dict.fromkeys((".vue", ".svelte", ".astro"), "components"),
    ".cmake": "cmake",
    **dict.fromkeys((".mk", ".mak"), "make"),
    ".toml": "toml",
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".ini", ".cfg", ".conf", ".properties"), "ini"),
}
"""By suffix, in lower case. JSON is not among them: nearly all of it is data."""

NAMED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("makefile", "gnumakefile"), "make"),
    **dict.fromkeys(("dockerfile", "containerfile"), "docker"),
    **dict.fromkeys(("rakefile", "gemfile", "vagrantfile", "podfile"), "ruby"),
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    "justfile": "just",
    **dict.fromkeys(("package.json", "tsconfig.json", "composer.json", "deno.json"), "json"),
}
"""By whole name, in lower case."""

NOTES: Final = (".md", ".markdown", ".mdx", ".rst")
"""Suffixes of prose: Markdown and reStructuredText."""

_CONFIGURATION = frozenset(("toml", "yaml", "ini", "json", "make", "cmake", "docker"))
_TEST_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "testdata", "testing"))
_TEST_NAME = re.compile(r"test_.*|conftest\.py|.*[_.-](?:test|spec)s?\.[^.]+|.*[a-z0-9]Tests?\.[^.]+")
_FOR_AGENTS = frozenset(("agents", "claude", "gemini", "copilot-instructions"))
_DECISIONS = frozenset(("adr", "adrs", "decisions", "decision-records"))
_NOTE_TYPES = (("readme", "readme"), ("changelog", "changelog"), ("changes", "changelog"), ("history", "changelog"))


def language_of(path: str) -> str:
    """The programming or configuration language of a file, '' for what is no code."""
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    return NAMED.get(name) or LANGUAGES.get(suffix) or ("docker" if name.startswith("dockerfile.") else "")


def is_prose(path: str) -> bool:
    """Whether a file is prose."""
    return path.lower().endswith(NOTES)


def type_of(path: str) -> str:
    """What a file is for.

    Of prose: agent-instructions, readme, changelog, decision or doc. Of code: test, config or code.
    """
    *folders, name = path.split("/")
    if is_prose(path):
        stem = name.partition(".")[0].lower()
        if stem in _FOR_AGENTS:
            return "agent-instructions"
        for beginning, type in _NOTE_TYPES:
            if stem.startswith(beginning):
                return type
        return "decision" if _DECISIONS & {folder.lower() for folder in folders} else "doc"
    if _TEST_FOLDERS & {folder.lower() for folder in folders} or _TEST_NAME.fullmatch(name):
        return "test"
    return "config" if language_of(path) in _CONFIGURATION else "code"
