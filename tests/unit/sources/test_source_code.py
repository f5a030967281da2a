"""A folder of code lists what people wrote in it, and nothing that programs or others did."""

from __future__ import annotations

import subprocess
from pathlib import Path

from second_brain.sources.code import CODE, MAX_BYTES, PROSE, CodeSource
from second_brain.testing.source_contract import SourceContract


class TestCodeSource(SourceContract):
    def source(self, root: Path) -> CodeSource:
        return CodeSource("code", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        path = root / f"{name}.py"
        path.write_text(text, encoding="utf-8", newline="")
        return path


def relatives(source: CodeSource) -> list[str]:
    return [item.relative for item in source.scan().items]


def test_code_configuration_and_prose_are_listed(tmp_path, grow):
    """Each with a media type that says who reads it; data, pictures and licences are not."""
    grow(
        tmp_path, "a.py", "Makefile", "b/c.GO", "pyproject.toml", "README.md", "data.json", "x.png", "LICENSE", "t.txt"
    )
    types = {item.relative: item.media_type for item in CodeSource("n", tmp_path).scan().items}
    assert types == {"a.py": CODE, "Makefile": CODE, "b/c.GO": CODE, "pyproject.toml": CODE, "README.md": PROSE}


def test_vendored_and_generated_files_are_left_out(tmp_path, grow):
    """By the names that tools give them, at any depth."""
    grow(tmp_path, "src/a.py", "node_modules/x/i.js", "web/vendor/v.go", "dist/b.js", "pkg/build/c.py", "a.min.js")
    grow(tmp_path, "api_pb2.py", "api.pb.go", "pnpm-lock.yaml", "poetry.lock", "site-packages/p.py")
    assert relatives(CodeSource("n", tmp_path)) == ["src/a.py"]


def test_the_settings_bring_back_what_is_left_out_by_name(tmp_path, grow):
    """A ``!`` pattern in ``exclude``; other patterns there leave out more."""
    grow(tmp_path, "build/a.py", "dist/b.py", "c.py")
    assert relatives(CodeSource("n", tmp_path, exclude=["!build/", "c.py"])) == ["build/a.py"]


def test_what_git_attributes_mark_is_left_out(tmp_path, grow):
    """Generated and vendored; a later line takes back."""
    lines = "*.gen.py linguist-generated=true\ndeps/** linguist-vendored\nkeep.gen.py -linguist-generated\n# *.py x\n"
    grow(tmp_path, (".gitattributes", lines), "a.py", "b.gen.py", "keep.gen.py", "deps/deep/c.py", "text.py")
    assert relatives(CodeSource("n", tmp_path)) == ["a.py", "keep.gen.py", "text.py"]


def test_gits_rules_hold(tmp_path, grow):
    """As for notes."""
    grow(tmp_path, (".gitignore", "out/\n"), "out/a.py", "b.py")
    assert relatives(CodeSource("n", tmp_path)) == ["b.py"]


def test_large_files_are_counted_and_not_listed(tmp_path, grow):
    """They are data: no failure that comes back with each run."""
    grow(tmp_path, "a.py", ("big.sql", "x" * (MAX_BYTES + 1)))
    scan = CodeSource("n", tmp_path).scan()
    assert [item.relative for item in scan.items] == ["a.py"]
    assert scan.skipped == {"too large": 1}


def test_repositories_inside_are_somebody_elses(tmp_path, grow):
    """A clone has a folder ``.git``, a work tree and a submodule a file of that name; both are passed over."""
    grow(tmp_path, "a.py", ".git/HEAD", "clone/.git/HEAD", "clone/b.py", ("submodule/.git", "gitdir: ../.git/x"))
    grow(tmp_path, "submodule/c.py")
    main = tmp_path / "main"
    main.mkdir()
    run = ["git", "-C", str(main), "-c", "user.name=Mika", "-c", "user.email=mika@example.com"]
    subprocess.run([*run, "init", "-q"], check=True)
    subprocess.run([*run, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*run, "worktree", "add", "-q", str(tmp_path / "tree")], check=True, capture_output=True)
    (tmp_path / "tree" / "d.py").write_text("x = 1\n")
    scan = CodeSource("n", tmp_path).scan()
    assert [item.relative for item in scan.items] == ["a.py"]
    assert scan.skipped == {"repository": 4}
    assert relatives(CodeSource("n", tmp_path / "tree")) == ["d.py"]
