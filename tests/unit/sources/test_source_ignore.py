import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from second_brain.sources.ignore import (
    MAX_IGNORE_BYTES,
    IgnoreRules,
    compile_patterns,
    covers,
    ignore_text,
    rules_above,
    verdict,
)
from second_brain.sources.markdown import MarkdownSource

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def relatives(root: Path, **settings: object) -> list[str]:
    return [item.relative for item in MarkdownSource("n", root, **settings).scan().items]


def git(root: Path, *arguments: str) -> str:
    """Git's answer, with every setting outside the repository neutralised."""
    neutral = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": str(root),
        "XDG_CONFIG_HOME": str(root / "none"),
    }
    done = subprocess.run(["git", *arguments], cwd=root, env=neutral, capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def git_lists(root: Path) -> list[str]:
    """What git would add: untracked files that no rule leaves out, hidden files apart."""
    names = git(root, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    return sorted(name for name in names if name and not any(part.startswith(".") for part in name.split("/")))


# -- one file of patterns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "left_out", "kept"),
    [
        ("build", ["build", "build/", "a/build", "a/build/"], ["builds", "a/rebuild", "build/x.md"]),
        ("build/", ["build/", "a/build/"], ["build", "build/x.md"]),
        ("/build", ["build", "build/"], ["a/build"]),
        ("a/b", ["a/b", "a/b/"], ["x/a/b", "a/b/c"]),
        ("*.md", ["x.md", "a/.md", "a/x.md"], ["x.mdx", "md"]),
        ("a/**", ["a/x", "a/b/c/"], ["a/", "b/a/x"]),
        ("a/**/", ["a/x/", "a/b/c/"], ["a/", "a/x"]),
        ("**/a", ["a", "x/y/a/"], ["ab"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["ab", "a/b/c"]),
        ("*", ["x", "a/", "a/b"], []),
        ("**/", ["x/", "a/b/"], ["x", "a/b"]),
        ("*/", ["x/", "a/b/"], ["x", "a/b"]),
        ("***/x.md", ["x.md", "a/b/x.md"], ["a/y.md"]),
        ("?.md", ["a.md", "会.md"], ["ab.md", "a/.md"]),
        ("[a-c].md", ["a.md", "x/b.md"], ["d.md"]),
        ("[!a].md", ["b.md"], ["a.md"]),
        ("a[!b]c", ["axc"], ["abc", "a/c"]),
        ("[[]draft].md", ["[draft].md"], ["d.md"]),
        ("[[:digit:]]*.md", ["2031.md", "2 a.md"], ["a2.md", ":.md"]),
        ("\\#a.md", ["#a.md"], ["\\#a.md"]),
        ("\\!a.md", ["!a.md"], ["a.md"]),
        ("a\\*.md", ["a*.md"], ["ab.md"]),
        ("a b  ", ["a b"], ["a b  "]),
        ("a\\ ", ["a "], ["a"]),
        ("a\t", ["a\t"], ["a"]),
        ("a.md\r", ["a.md"], ["a.md\r"]),
        ("会議/", ["会議/", "x/会議/"], ["会議", "会議録/"]),
        ("Cafe\u0301.md", ["Café.md"], []),
        ("# a", [], ["a", "# a"]),
        ("", [], ["a"]),
        ("!", [], ["a", "!"]),
        ("/", [], ["a", "a/"]),
        ("a\\", [], ["a", "a\\"]),
        ("[z-a].md", [], ["b.md"]),
        ("[ab", [], ["a", "[ab"]),
    ],
)
def test_a_pattern_means_what_it_means_to_git(pattern, left_out, kept):
    """A match is of the entry itself: what lies below is the walker's business, which does not go there."""
    patterns = compile_patterns(pattern)
    assert [path for path in left_out if not verdict(patterns, path)] == []
    assert [path for path in kept if verdict(patterns, path)] == []


def test_the_last_pattern_that_matches_decides():
    """``!`` brings back what an earlier line left out, and a later line leaves it out again."""
    patterns = compile_patterns("*.md\n!keep*.md\nkeep-not.md\n")
    assert verdict(patterns, "a.md") is True
    assert verdict(patterns, "keep.md") is False
    assert verdict(patterns, "keep-not.md") is True
    assert verdict(patterns, "a.txt") is None


def test_a_pattern_covers_what_lies_below_a_match():
    """As needed for ``include``: the folder counts for its files, the nearest decision wins."""
    patterns = compile_patterns("notes/\n!notes/private/\n/top.md")
    covered = ["notes/a.md", "x/notes/b/c.md", "top.md"]
    assert [path for path in [*covered, "notes/private/a.md", "x/top.md", "a.md"] if covers(patterns, path)] == covered


# -- folders -----------------------------------------------------------------------------------------------


def test_the_folder_nearest_to_the_entry_decides():
    """Rules of an inner folder come before those of the folders above."""
    rules = IgnoreRules().within("", git="*.md").within("a/", git="!b.md")
    assert rules.exclude("b.md")
    assert not rules.exclude("a/b.md")
    assert rules.exclude("a/c.md")


def test_indexignore_comes_before_gitignore_of_any_folder():
    """It is about this index, so it may bring back what git leaves out, and leave out what git keeps."""
    rules = IgnoreRules().within("", git="drafts/", index="!drafts/\nprivate/").within("a/", git="!private/\ndrafts/")
    assert not rules.exclude("drafts/")
    assert not rules.exclude("a/drafts/")
    assert rules.exclude("a/private/")


def test_files_below_a_folder_left_out_cannot_be_brought_back(tmp_path, grow):
    """As in git: the folder is not entered, so what its own ignore file says is never read."""
    grow(tmp_path, "a/x.md", "b/x.md", "b/y.md", ("a/.gitignore", "!x.md"))
    grow(tmp_path, (".gitignore", "a/\nb/*\n!a/x.md\n!b/x.md"))
    assert relatives(tmp_path) == ["b/x.md"]


def test_both_files_hold_in_every_folder(tmp_path, grow):
    """Nested .gitignore and .indexignore are anchored at their own folder."""
    grow(tmp_path, "one.md", "a/one.md", "a/two.md", "a/b/two.md", "b/two.md")
    grow(tmp_path, ("a/.gitignore", "/one.md"), ("a/.indexignore", "two.md"))
    assert relatives(tmp_path) == ["b/two.md", "one.md"]


def test_the_rules_of_the_repository_around_the_root_hold(tmp_path, grow):
    """From the repository's top down to the root, and the repository's own exclude file."""
    grow(tmp_path, ("repo/.git/info/exclude", "excluded.md\n/docs/top.md"), ("repo/.gitignore", "/docs/notes/a.md"))
    grow(tmp_path, ("repo/docs/.gitignore", "b.md"), ("repo/docs/.indexignore", "c.md"), (".gitignore", "d.md"))
    for name in ("a", "b", "c", "d", "excluded", "top"):
        grow(tmp_path, f"repo/docs/notes/{name}.md")
    assert relatives(tmp_path / "repo" / "docs" / "notes") == ["d.md", "top.md"]


def test_a_root_that_its_repository_leaves_out_is_listed(tmp_path, grow):
    """Whoever adds an ignored folder as a source wants it: a home folder under git often ignores everything."""
    grow(tmp_path, (".git/config", ""), (".gitignore", "*"), "notes/a.md", "notes/b.md", ("notes/.gitignore", "b.md"))
    assert relatives(tmp_path) == []
    assert relatives(tmp_path / "notes") == ["a.md"]


def test_a_root_reached_through_a_link_has_the_rules_of_where_it_is(tmp_path, grow):
    """The repository around the real folder counts, not the one around the link."""
    grow(tmp_path, (".git/config", ""), (".gitignore", "a.md"), "real/a.md", "real/b.md")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to("../real")
    assert relatives(link) == ["b.md"]


@needs_git
def test_a_work_tree_has_the_exclude_file_of_its_repository(tmp_path, grow):
    """There ``.git`` is a file that leads, over two steps, to the folder with ``info/exclude``."""
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", str(tree))
    grow(main, (".git/info/exclude", "left out.md"))
    grow(tree, "left out.md", "kept.md")
    assert relatives(tree) == git_lists(tree) == ["kept.md"]


# -- ignore files that are none ----------------------------------------------------------------------------


def test_a_pipe_or_a_link_is_no_ignore_file(tmp_path):
    """As in git; a pipe of that name must not block."""
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "rules").write_text("*.md")
    (tmp_path / ".indexignore").symlink_to("rules")
    (tmp_path / "a.md").touch()
    scan = MarkdownSource("n", tmp_path).scan()
    assert ([item.relative for item in scan.items], scan.failures) == (["a.md"], ())


def test_a_huge_ignore_file_is_told_and_not_applied(tmp_path):
    """Above 256 KiB it is no list that a person wrote."""
    (tmp_path / ".gitignore").write_text("*.md\n" * (MAX_IGNORE_BYTES // 4))
    (tmp_path / "a.md").touch()
    scan = MarkdownSource("n", tmp_path).scan()
    assert [item.relative for item in scan.items] == ["a.md"]
    (failure,) = scan.failures
    assert (failure.uri, failure.kind) == ("n/", "walk")
    assert "rules are not applied" in failure.message


def test_an_unreadable_ignore_file_is_told(open_folder, without_privileges):
    """Its rules cannot be applied, and the reason is named."""
    (open_folder / ".indexignore").write_text("a.md")
    (open_folder / ".indexignore").chmod(0)
    (open_folder / "a.md").touch()
    with without_privileges():
        scan = MarkdownSource("n", open_folder).scan()
    assert len(scan.items) == 1
    assert ["Permission denied" in failure.message for failure in scan.failures] == [True]


def test_a_mark_at_the_start_of_an_ignore_file_is_no_pattern(tmp_path):
    """Windows editors write one; bytes that are not UTF-8 spoil their own line only."""
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.md\r\ncaf\xe9.md\r\nb.md\r\n")
    problems: list[str] = []
    patterns = compile_patterns(ignore_text(os.fsencode(tmp_path / ".gitignore"), problems))
    assert [bool(verdict(patterns, name)) for name in ("a.md", "b.md", "c.md")] == [True, True, False]
    assert problems == []


def test_outside_a_repository_nothing_above_the_root_counts(tmp_path, grow):
    """An .indexignore in a parent folder is somebody else's, unless git says that the two belong together."""
    grow(tmp_path, (".indexignore", "*.md"), "notes/a.md")
    if rules_above(os.fsencode(tmp_path), []) != IgnoreRules():
        pytest.skip("the temporary folder lies in a repository")
    assert relatives(tmp_path / "notes") == ["a.md"]


# -- equal to git ------------------------------------------------------------------------------------------

FOLDERS = ["a", "b", "build", "src", "会議", "x y", "[d]", "#h"]
SEGMENTS = [
    *["*", "**", "?", "a", "b", "build", "src", "*.md", "a*", "?.md", "[ab]", "[ab].md", "[!a]", "[^b]*", "[a-c].md"],
    *[
        "b*d",
        "b**d",
        "x y",
        "x\\ y",
        "\\[d\\]",
        "[[]d]",
        "\\#h",
        "会議",
        "会*",
        "a\\*",
        "[[:alpha:]]",
        "[[:alnum:]].md",
    ],
    *["**.md", "*a*", "[]a]", "[!]a]", "***", "a[!x]a.md", "src[!x]a.md", "a.md", "b.md", "会議.md"],
]


def any_pattern(generator: random.Random) -> str:
    pattern = "/".join(generator.choice(SEGMENTS) for _ in range(generator.choice([1, 1, 1, 1, 2, 2, 3])))
    pattern = generator.choice(["", "", "", "/"]) + pattern + generator.choice(["", "", "/"])
    pattern = generator.choice(["", "", "", "!"]) + pattern + generator.choice([""] * 9 + [" ", "  ", "\t", "\r"])
    return generator.choice(["#", *[""] * 30]) + pattern


@needs_git
@pytest.mark.parametrize("seed", range(60))
def test_the_same_files_as_git_lists(tmp_path, grow, seed):
    """In a random tree with random ignore files, scanned from the top and from a folder inside."""
    generator = random.Random(seed)
    folders = {""}
    for _ in range(40):
        path = "".join(f"{generator.choice(FOLDERS)}/" for _ in range(generator.choice([0, 1, 1, 2, 2, 3])))
        grow(tmp_path, path + generator.choice(["a.md", "b.md", "d.md", "aaa.md", "会議.md", "[d].md", "#h.md"]))
        folders.update(path[:end] for end in range(1, len(path) + 1) if path[end - 1] == "/")
    for folder in ["", *generator.sample(sorted(folders), 4)]:
        lines = [any_pattern(generator) for _ in range(generator.randint(1, 4))]
        grow(tmp_path, (f"{folder}.gitignore", "\n".join(lines) + generator.choice(["", "\n"])))
    git(tmp_path, "init", "-q")
    grow(tmp_path, (".git/info/exclude", any_pattern(generator)))

    listed = git_lists(tmp_path)
    assert relatives(tmp_path) == listed
    for folder in generator.sample(sorted(folders - {""}), 2):
        inside = [name.removeprefix(folder) for name in listed if name.startswith(folder)]
        if inside:  # git lists nothing in a folder that is left out itself; a source does
            assert relatives(tmp_path / folder) == inside
